/*
 * netc verify: programs that agree and that do not, that are absent, late or
 * interrupted; and values that no weights can be. Programs for Python and Node
 * are fakes here, but for the slow test.
 */
#include "tests/run.h"

#include <math.h>

static char folder[1024];

/* Writes an executable script into the folder. */
static void write_script(const char *name, const char *text) {
  struct run r = run("cd %s/bin && { echo '#!/bin/sh'; cat <<'END'\n%s\nEND\n"
                     "} >%s && chmod +x %s",
                     folder, text, name, name);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static const char *const absent = "echo \"$(basename \"$0\") has none\"; "
                                  "exit 77";

/* Of a net, with the scripts of the folder first; its temporary folder is in
 * F/tmp, of which nothing may be left. */
static struct run verify(const char *net, const char *options) {
  struct run r =
      run("cd %s && printf '%s' >n.net && PATH=$PWD/bin:$PATH TMPDIR=$PWD/tmp "
          "NETC_VERIFY_SECONDS=60 timeout 100 " NETC_PATH " verify n.net %s",
          folder, net, options);
  struct run left = run("ls -A %s/tmp", folder);
  assert_string_equal(left.out, "");
  run_free(&left);
  return r;
}

static void ends_with(const struct run *r, int status, const char *out,
                      const char *err) {
  if (r->status != status || !strstr(r->out, out) || !strstr(r->err, err))
    fail_msg("status %d, not %d\n%s%s", r->status, status, r->out, r->err);
}

static const char small[] = "input 7x5x3\\nconv 4 3x3 nobias\\nbn\\nrelu\\n"
                            "flatten\\nfc 3\\n";

static void a_program_of_x_c_computes_the_same(void **state) {
  (void)state;
  write_script("python3", absent);
  write_script("node", absent);
  struct run r = verify(small, "");
  ends_with(&r, 0, "runtime   x.c ", "");
  ends_with(&r, 0, "\nx.onnx    skipped: python3 has none; node has none\n",
            "");
  ends_with(&r, 0, "\nx.py      skipped: python3 has none\n", "");
  ends_with(&r, 0, "\nalike: the bound is 1e-04", "");
  run_free(&r);
}

/* Indices of 64 bits, compared as numbers. */
static void outputs_may_be_indices(void **state) {
  (void)state;
  write_script("python3", absent);
  write_script("node", absent);
  struct run r = verify("input 6x3x4\\nfork { topk 2 h indices; output order }"
                        "\\nconv 4 3x3\\n",
                        "");
  ends_with(&r, 0, "\nalike: the bound is 1e-04", "");
  run_free(&r);
}

/* In int8 all bytes are equal; others would compute in float32. */
static void nets_of_int8_are_compared_by_bytes(void **state) {
  (void)state;
  write_script("python3", absent);
  write_script("node", absent);
  struct run r = verify("input 7x5x3 : i8\nconv 4 3x3 pad prelu\nup 2 "
                        "bilinear\ndeconv 3 2x2 /2\ngap\nfc 3 softmax\n",
                        "");
  ends_with(&r, 0, "runtime   x.c                0           0\n", "");
  ends_with(&r, 0,
            "\nx.onnx    skipped: random weights have no scales for it\n", "");
  ends_with(&r, 0, "\nalike: of int8, all bytes are equal\n", "");
  run_free(&r);
}

/* An engine that says what x.c says, in float32 of the same reals, or a step
 * more or two. */
static void int8_is_compared_with_onnx(void **state) {
  (void)state;
  static const char net[] = "input 16x16x3\nconv 8 3x3 pad relu\ngap\nfc 2\n"
                            "infer dtype=i8\n";
  write_script("node", absent);
  write_script("python3", "test $(wc -c <\"$4/in_real0\") = 6144 && "
                          "grep -q 'in f32 2x16x16x3 in_real0' \"$4/ends\" && "
                          "grep -q 'out f32 2x2 out0' \"$4/ends\" && "
                          "cp \"$4/c.out0\" \"$4/onnx.out0\" && echo a copy");
  struct run r = run("cd %s && printf '%s' >n.net && " NETC_PATH
                     " weights n.net --random 1 --quantize "
                     "$OLDPWD/tests/data/import/quant/x.npy -o w.st",
                     folder, net);
  assert_int_equal(r.status, 0);
  run_free(&r);
  r = verify(net, "--weights w.st");
  ends_with(&r, 0, "runtime   x.onnx             0           0\n", "");
  ends_with(&r, 0, "all bytes are equal, those of x.onnx to a step\n", "");
  run_free(&r);
  write_script("python3", "head -c 4 \"$4/c.out0\" >\"$4/onnx.out0\"; "
                          "printf '\\0\\0\\200\\77' >>\"$4/onnx.out0\"; "
                          "tail -c 8 \"$4/c.out0\" >>\"$4/onnx.out0\"");
  r = verify(net, "--weights w.st");
  ends_with(&r, 1, "too far\n", "");
  ends_with(&r, 1, "too far apart: of int8, all bytes must be equal", "");
  run_free(&r);
}

static float *outputs_of(const char *options, size_t *count) {
  struct run r = run("cd %s && " NETC_PATH " run n.net --random 1 %s -o o.npy",
                     folder, options);
  size_t length;
  assert_int_equal(r.status, 0);
  run_free(&r);
  char *file = read_text(text_of("%s/o.npy", folder), &length);
  assert_true(length > 128);
  memmove(file, file + 128, length - 128);
  *count = (length - 128) / sizeof(float);
  return (float *)(void *)file;
}

/* The largest difference of two runs. */
static double apart(const char *one, const char *other) {
  size_t count, again;
  float *a = outputs_of(one, &count), *b = outputs_of(other, &again);
  double most = 0;
  assert_int_equal(count, again);
  for (size_t i = 0; i < count; i++)
    most = fmax(most, fabs((double)a[i] - (double)b[i]));
  free(a);
  free(b);
  return most;
}

/* Engines of float32 get weights that give what fewer bits give, though norms
 * are folded into them before they are rounded. */
static void engines_get_rounded_weights(void **state) {
  (void)state;
  static const char net[] =
      "input 9x8x3\nconv 8 3x3 pad bn relu\ndwconv 3x3 bn\nconv 6 1x1 "
      "groups=2\nflatten\nlinear 16 relu\nreshape 4x4\n"
      "attention 2 packed\nfc 5\n";
  static const char *const types[] = {"i8", "f16", "bf16"};
  write_script("node", absent);
  write_script(
      "python3",
      text_of("cp \"$4/net.safetensors\" %s/rounded.st; exit 77", folder));
  struct run r = run("cd %s && printf '%s' >n.net && " NETC_PATH
                     " weights n.net --random 5 -o w.st",
                     folder, net);
  assert_int_equal(r.status, 0);
  run_free(&r);
  for (size_t i = 0; i < 3; i++) {
    char option[64];
    snprintf(option, sizeof option, "--weights w.st --weight-dtype %s",
             types[i]);
    r = verify(net, text_of("%s --cc no-such-cc", option));
    ends_with(&r, 2, "", "nothing was compared");
    run_free(&r);
    double rounded = apart(option, "--weights rounded.st");
    double whole = apart(option, "--weights w.st");
    if (rounded > 4e-6 || whole < 20 * rounded)
      fail_msg("%s: %g from rounded weights, %g from others", types[i], rounded,
               whole);
  }
  write_script("python3", absent);
  r = verify("input 8x4\nconv 6 3 wnorm\n",
             "--weight-dtype f16 --cc no-such-cc");
  ends_with(&r, 2, "", "nothing was compared");
  ends_with(&r, 2,
            "\nx.onnx    skipped: only x.c has weights that are computed and "
            "then rounded\n",
            "");
  run_free(&r);
}

static void nothing_compared_is_an_error(void **state) {
  (void)state;
  write_script("python3", absent);
  write_script("node", absent);
  struct run r = verify(small, "--cc no-such-cc");
  ends_with(&r, 2, "x.c       skipped: there is no program `no-such-cc`",
            "nothing was compared");
  run_free(&r);
  r = verify(small, "--qemu lm3s6965evb");
  ends_with(&r, 2, "", "--qemu takes mps2-an385, mps2-an386 or mps2-an500");
  run_free(&r);
}

/* A PyTorch that says 6 zeros, or what is no number. */
static void what_differs_is_told(void **state) {
  (void)state;
  static const struct {
    const char *bytes, *told;
  } fakes[] = {{"\\000\\000\\000\\000", "  too far\n"},
               {"\\000\\000\\300\\177", "x.py: 6 of 6 values of fc1 are NaN"}};
  for (size_t i = 0; i < 2; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "case \"$2\" in *run_torch.py) ;; *) exit 77;; esac\n"
             "for i in 1 2 3 4 5 6; do printf '%s'; done >$3/py.out0\n"
             "echo PyTorch 0",
             fakes[i].bytes);
    write_script("python3", text);
    struct run r = verify(small, "--cc no-such-cc");
    ends_with(&r, 1, "x.py      PyTorch 0\n", "");
    ends_with(&r, 1, fakes[i].told, "");
    ends_with(&r, 1, "\ntoo far apart: the bound", "");
    run_free(&r);
  }
  write_script("python3", "exit 77");
  write_script("cc", "echo 'no such header' >&2; exit 1");
  struct run r = verify(small, "--cc cc");
  ends_with(&r, 1, "x.c       skipped: it failed",
            "cc failed with status 1\n"
            "  | no such header");
  run_free(&r);
  struct run gone = run("rm %s/bin/cc", folder);
  run_free(&gone);
}

/* A child that would take long, and its own child. */
static void a_late_child_and_an_interrupt_end_all(void **state) {
  (void)state;
  write_script("python3",
               text_of("sleep 50 & echo $$ $! >>%s/pids; sleep 50", folder));
  write_script("node", absent);
  struct run r =
      run("cd %s && rm -f pids && printf '%s' >n.net && "
          "PATH=$PWD/bin:$PATH TMPDIR=$PWD/tmp NETC_VERIFY_SECONDS=1 "
          "sh -c 'cd tmp && " NETC_PATH " verify ../n.net --cc none'",
          folder, small);
  ends_with(&r, 3, "", "x.py: python3 took more than 1 seconds");
  run_free(&r);
  r = run("cd %s && rm -f pids && set -m; PATH=$PWD/bin:$PATH "
          "TMPDIR=$PWD/tmp env --default-signal=INT -C tmp " NETC_PATH
          " verify ../n.net --cc none >log 2>&1 & "
          "for i in 1 2 3 4 5 6 7 8 9 10; do test -s pids && break; "
          "sleep 0.2; done; kill -INT $!; wait $!; echo $?; ls -A tmp; "
          /* A killed process may run until its next system call ends. */
          "for p in $(cat pids); do for i in $(seq 50); do "
          "s=$(grep -s '^State:[^Z]*$' /proc/$p/status) || break; sleep 0.2; "
          "done; printf %%s \"$s\"; done",
          folder);
  assert_string_equal(r.out, "130\n");
  run_free(&r);
}

static void values_that_are_no_weights(void **state) {
  (void)state;
  /* running_var is the last of bn: -1 in its first place, then NaN. */
  static const struct {
    const char *tensor, *bytes, *told;
  } values[] = {
      {"bn1.running_var", "\\000\\000\\200\\277",
       "tensor `bn1.running_var` has 1 variance below 0, the first at 0"},
      {"conv1.weight", "\\000\\000\\300\\177",
       "tensor `conv1.weight` has 1 value that is NaN or infinite, the first "
       "at "
       "0"},
  };
  for (size_t i = 0; i < 2; i++) {
    struct run r =
        run("cd %s && printf '%s' >n.net && " NETC_PATH
            " weights n.net --random 3 -o w.safetensors && at=$(" NETC_PATH
            " weights n.net | awk '$1 == \"%s\" {print $4}') && "
            "head=$(($(wc -c <w.safetensors) - $(" NETC_PATH
            " weights n.net | awk '/ tensors, / {print $3}') "
            ")); printf '%s' | dd of=w.safetensors bs=1 seek=$((head + at)) "
            "conv=notrunc 2>&1 >/dev/null | tail -n 1 >&2; " NETC_PATH
            " weights n.net --check w.safetensors; echo $?; " NETC_PATH
            " run n.net --random 1 --weights w.safetensors >/dev/null; echo $?",
            folder, small, values[i].tensor, values[i].bytes);
    ends_with(&r, 0, "1\n0\n", values[i].told);
    ends_with(&r, 0, "", "warning: output `fc1`: 3 of 3 values are NaN");
    ends_with(&r, 0, "",
              "`conv` of `conv1` is the first operation that produces one");
    run_free(&r);
    r = verify(small, "--weights w.safetensors");
    ends_with(&r, 1, "", values[i].told);
    run_free(&r);
  }
}

/* Of every layer, x.c beside netc's fast kernels, with a batch of 2; what the
 * runtime does not know is said. -O0 takes a third of the time. */
static void every_layer_in_c(void **state) {
  (void)state;
  write_script("python3", absent);
  write_script("node", absent);
  write_script("fastcc", "exec cc \"$@\" -O0");
  struct paths nets = find_paths("tests/golden/layers", ".net");
  size_t alike = 0;
  for (size_t i = 0; i < nets.count; i++) {
    if (strstr(nets.at[i], ".out.net"))
      continue;
    struct run r = run("PATH=%s/bin:$PATH " NETC " verify %s --cc fastcc",
                       folder, nets.at[i]);
    bool known = !strstr(r.err, "netc can measure this net, but not run it");
    if (known)
      ends_with(&r, 0, "\nalike: the bound is 1e-04", "");
    alike += known;
    run_free(&r);
  }
  assert_true(alike >= 32);
  paths_free(&nets);
}

/* By all that is installed; tools/verify_all.sh tries the others. */
static void nets_of_every_kind(void **state) {
  (void)state;
  static const char *const nets[] = {
      "tests/data/run/maps.net",
      "tests/data/run/sequences.net",
      "tests/data/run/states.net",
      "tests/data/run/variants.net",
      "tests/data/onnx/windows.net",
      "tests/golden/layers/best-rows-and-no-gradient.net",
      "examples/zoo/lenet5.net",
  };
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    struct run r =
        run("NODE_PATH=$(cd " BUILD " && pwd)/node_modules " NETC " verify %s",
            nets[i]);
    ends_with(&r, 0, "\nalike: the bound", "");
    run_free(&r);
  }
  if (on_path("qemu-system-arm") && on_path("arm-none-eabi-gcc")) {
    struct run r = run("cd %s && printf '%s' >n.net && " NETC_PATH
                       " verify n.net --qemu mps2-an500",
                       folder, small);
    ends_with(&r, 0, "x.c       arm-none-eabi-gcc, QEMU's mps2-an500", "");
    run_free(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_of_x_c_computes_the_same),
      cmocka_unit_test(outputs_may_be_indices),
      cmocka_unit_test(nets_of_int8_are_compared_by_bytes),
      cmocka_unit_test(int8_is_compared_with_onnx),
      cmocka_unit_test(engines_get_rounded_weights),
      cmocka_unit_test(nothing_compared_is_an_error),
      cmocka_unit_test(what_differs_is_told),
      cmocka_unit_test(a_late_child_and_an_interrupt_end_all),
      cmocka_unit_test(values_that_are_no_weights),
      slow_test(every_layer_in_c),
      slow_test(nets_of_every_kind),
  };
  char *here = realpath(scratch("verify"), NULL);
  if (!here)
    return 1;
  snprintf(folder, sizeof folder, "%s", here);
  free(here);
  struct run made = run("mkdir -p %s/bin %s/tmp", folder, folder);
  run_free(&made);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
