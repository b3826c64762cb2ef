/*
 * Streaming models: states that come in and go out, and numbers that a file
 * leaves open. The values are PyTorch's, after several steps:
 * tools/state_models.py.
 */
#define _XOPEN_SOURCE 700
#include "tests/imported.h"

#define FOLDER "tests/data/import/states/"
enum { STEPS = 3 };

static const struct streaming {
  const char *name, *options, *states, *holds;
  int64_t params;
} streaming[] = {
    {"gru", "", "h", "gru 12 state=at_h\n", 913},
    {"lstm", "", "h c", "lstm 12 keepcell state=g_Slice cell=g_Slice_1", 2369},
    {"dtln", "", "h", "output hn\n", 4705},
    {"silero", "--dim samples=64 --value sr=16000", "h c", "pad 4 reflect",
     1673},
};

/* Runs a step on the states in FOLDER/NAME.KEY.npy, which it replaces. */
static void run_step(const struct streaming *m, const char *folder, int step) {
  char states[1000] = "";
  size_t used = 0;
  for (const char *key = m->states; *key; key += key[1] ? 2 : 1)
    used += (size_t)snprintf(states + used, sizeof states - used,
                             " --input at_%c=%s/%c.npy -o %cn=%s/%c.npy", *key,
                             folder, *key, *key, folder, *key);
  struct run r = run("%s run %s/a.net --weights %s/a.st --input "
                     "x_=" FOLDER "%s.x%d.npy%s -o y=%s/y.npy",
                     NETC, folder, folder, m->name, step, states, folder);
  assert_string_equal(r.err, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* The outputs have the order of the file: y, then the states. */
static void check_order(const struct streaming *m, const char *source) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_end end = {.size = sizeof end};
  const char *key = m->states;
  assert_int_equal(netc_load_text(netc, m->name, source, strlen(source)),
                   NETC_OK);
  assert_int_equal(netc_output(netc, 0, &end), NETC_OK);
  assert_string_equal(end.name, "y");
  for (size_t i = 1; *key; i++, key += key[1] ? 2 : 1) {
    const char name[] = {*key, 'n', '\0'};
    assert_int_equal(netc_output(netc, i, &end), NETC_OK);
    assert_string_equal(end.name, name);
  }
  netc_close(netc);
}

static void check_streaming(const struct streaming *m) {
  const char *folder = scratch("streaming");
  char path[200], flat[200];
  snprintf(path, sizeof path, FOLDER "%s.onnx", m->name);
  char *source = import(path, m->options);
  assert_holds(source, m->holds);
  assert_int_equal(totals_of(path, source).param_count, m->params);
  check_order(m, source);
  free(source);
  snprintf(flat, sizeof flat, "%s --flat", m->options);
  source = import(path, flat);
  check_order(m, source);
  free(source);
  struct run r =
      run("%s import %s %s -o %s/a.net --weights %s/a.st && for k "
          "in %s; do cp " FOLDER "%s.$k.npy %s/$k.npy; done",
          NETC, path, m->options, folder, folder, m->states, m->name, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  for (int step = 0; step < STEPS; step++)
    run_step(m, folder, step);
  r = run("od -An -tfF -j128 %s/y.npy", folder);
  struct run truth = run("od -An -tfF -j128 " FOLDER "%s.y.npy", m->name);
  assert_near(r.out, truth.out);
  run_free(&truth);
  run_free(&r);
}

static void streams_give_the_values_of_pytorch(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof streaming / sizeof *streaming; i++)
    check_streaming(&streaming[i]);
}

/* Files for other programs have the states, too. */
static void written_files_have_the_states(void **state) {
  (void)state;
  const char *folder = scratch("written");
  struct run r = run("%s import " FOLDER "lstm.onnx -o %s/a.net && cd %s && "
                     "%s a.net --no-source -o a.onnx && %s import a.onnx && %s "
                     "a.net -o a.py && cat a.py",
                     NETC, folder, folder, NETC_PATH, NETC_PATH, NETC_PATH);
  if (r.status != 0)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "lstm 12 keepcell state=");
  assert_holds(r.out, "with_cell(*self.");
  run_free(&r);
}

static void one_error_asks_for_all_that_is_open(void **state) {
  (void)state;
  static const char *const asked[][2] = {
      {"", "silero.onnx: error: the file leaves open: axis 1 of the input `x` "
           "(`samples`), the number `sr`\n   = help: give it: netc " FOLDER
           "silero.onnx --dim samples=VALUE --value sr=16000\n"},
      {"--dim samples=64",
       "the file leaves open: the number `sr`\n   = help: give it: netc " FOLDER
       "silero.onnx --value sr=16000\n"},
      {"--value rate=1", "--value: the file has no input `rate`"},
      {"--dim samples=64 --value sr=1 --value h=1",
       "--value: the input `h` has more than one value"},
  };
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    struct run r = run("%s import " FOLDER "silero.onnx %s", NETC, asked[i][0]);
    assert_int_equal(r.status, 1);
    assert_holds(r.err, asked[i][1]);
    run_free(&r);
  }
  struct run r = run("%s import " FOLDER "silero.onnx --value sr=fast; %s "
                     "import tests/data/import/ncnn/squeezenet.param --value "
                     "sr=1",
                     NETC, NETC);
  assert_int_equal(r.status, 2);
  assert_holds(r.err, "--value takes NAME=NUMBER: --value sr=16000");
  assert_holds(r.err, "--value needs an ONNX file, whose inputs may be single "
                      "numbers");
  run_free(&r);
}

/* The branches of an If read the state, which has the batch in the middle.
 * Names of the command line are the file's, also where netc's differ. */
static void a_branch_reads_a_state(void **state) {
  (void)state;
  const char *file = FOLDER "nested.onnx";
  struct run r = run("%s %s", NETC, file);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "the file leaves open: axis 1 of the input `input`, the "
                      "number `sr`\n   = help: give it: netc " FOLDER
                      "nested.onnx --input input=SIZES --value sr=16000\n");
  run_free(&r);
  char *source = import(file, "--input input=8 --value sr=16000");
  assert_holds(source, "input input_ 8\ninput state 2x8\n");
  assert_holds(source, "lstm 8 ");
  assert_int_equal(totals_of(file, source).param_count, 576);
  free(source);
  r = run("%s %s --input input=16 --value sr=8000 --emit=json", NETC, file);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "\"param_count\": 576");
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams_give_the_values_of_pytorch),
      cmocka_unit_test(written_files_have_the_states),
      cmocka_unit_test(one_error_asks_for_all_that_is_open),
      cmocka_unit_test(a_branch_reads_a_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
