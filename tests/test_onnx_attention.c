/*
 * Attention in ONNX files: what exporters write out, and what ONNX Runtime
 * fuses, becomes a layer that gives the same values. The zoo's nets, written
 * and read again, keep their counts and stay short.
 */
#define _XOPEN_SOURCE 700
#include "tests/imported.h"

#define FOLDER "tests/data/import/onnx/attention"

static const struct onnx_model {
  const char *name, *found;
  int64_t params;
} models[] = {
    {"llama", "rmsnorm eps=1e-06; attention 4 kv=2 causal rope nobias }", 3104},
    {"phi", "attention 4 causal rope rotary=4 }", 4256},
    {"gemma", "attention 4 kv=1 window=3 causal qknorm rope softcap=5 nobias",
     2608},
    {"far", "attention 4 kv=2 causal rope base=500000 nobias }", 3104},
    {"linear", "kv=2 causal rope base=1000000 stretch=8 nobias\n", 3104},
    {"llama3", "rope base=500000 stretch=8 trained=8192 nobias\n", 3104},
    {"neox", "\nattention 4 causal rope rotary=4 packed\n", 4224},
    {"gptj", "\nattention 4 causal rope rotary=4 nobias\n", 4096},
    {"meta", "\nattention 4 causal rope nobias packed\n", 4096},
    {"t5", "distances 6 buckets=8 causal; embed 8 4", 4128},
    {"torch", "attention 4 cross=", 9504},
    {"window", "\nattention 4 relative=3x3 packed\n", 4324},
    {"added", "\nattention 4 mask=", 4224},
    {"masked", "\nembed 20 32 -> 6x32\nattention 4 causal rope nobias\n", 4736},
    {"fused_bert",
     "add { attention 4 packed } {}\nln\n"
     "add { linear 24 gelu(approximate=tanh); linear 32 } {}\nln\n",
     5944},
    {"fused_llama", "add {} { rmsnorm; attention 4 kv=2 causal rope nobias }\n",
     6112},
    {"fused_gqa",
     "\nattention 4 kv=2 window=3 causal rope rotary=4 softcap=2 nobias "
     "packed\n",
     3072},
    {"fused_mha", "\nattention 4 causal rope nobias\nattention 4 bias=qkv\n",
     8288},
    {"cached",
     "\nadd {} { rmsnorm eps=1e-06; attention 4 kv=2 causal rope nobias }\n",
     3744},
    {"cached_joined",
     "\nadd {} { rmsnorm eps=1e-06; attention 4 kv=2 causal rope nobias }\n",
     3744},
};

static void attention_of_exporters_gives_its_values(void **state) {
  (void)state;
  const char *folder = scratch("attention");
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    const struct onnx_model *m = &models[i];
    char options[1024], net[512];
    struct run r =
        run("%s import %s/%s.onnx --weights %s/w.safetensors -o %s/x.net", NETC,
            FOLDER, m->name, folder, folder);
    if (r.status)
      print_error("%s: %s", m->name, r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
    snprintf(net, sizeof net, "%s/x.net", folder);
    char *source = read_text(net, NULL);
    assert_holds(source, m->found);
    if (totals_of(net, source).param_count != m->params)
      print_error("%s:\n%s", m->name, source);
    assert_int_equal(totals_of(net, source).param_count, m->params);
    snprintf(options, sizeof options,
             "--weights %s/w.safetensors --input %s/%s.x.npy", folder, FOLDER,
             m->name);
    char *values = values_of(folder, net, options);
    r = run("od -An -tfF -j128 %s/%s.y.npy", FOLDER, m->name);
    assert_near(values, r.out);
    run_free(&r);
    free(values);
    free(source);
  }
}

/* Rope by other angles is said, and what is left out of a file. */
static void differences_are_said(void **state) {
  (void)state;
  char *source = import(FOLDER "/fused_llama.onnx", "");
  char *far = import(FOLDER "/other.onnx", "");
  assert_holds(far, "The file's rope does not follow from a base (yarn, "
                    "longrope): netc uses base");
  assert_holds(far, "attention 4 kv=2 causal rope nobias }");
  free(far);
  assert_holds(source, "# `present.key` and 1 more are left out");
  assert_holds(source, "# `attention_mask` and 2 more are left out");
  free(source);
  source = import(FOLDER "/cached.onnx", "");
  assert_holds(source,
               "# `past_key_values.0.key` and 1 more are left out: all");
  assert_holds(
      source,
      "# `present.0.key` and 1 more are left out: there is no KV cache.\n");
  free(source);
  source = import(FOLDER "/masked.onnx", "");
  assert_holds(source,
               "# `attention_mask` is left out: no token is padding.\n");
  assert_holds(source,
               "# `position_ids` is left out: positions count up from 0.\n");
  free(source);
}

/* Through ONNX and back, with heads and joins of all kinds. */
static void attention_comes_back(void **state) {
  (void)state;
  static const char text[] =
      "net small\n"
      "input 12x32\n"
      "add { rmsnorm; attention 4 kv=2 causal rope nobias qknorm window=5 } "
      "{}\n"
      "m: linear 24\n"
      "attention 4 qkln kv=1 dim=6 causal\n"
      "attention 3 rope base=500000 nobias\n"
      "attention 2 rope base=20000 stretch=2.5 nobias\n"
      "attention 2 rope base=500000 stretch=8 trained=8192 kv=1 nobias\n"
      "attention 4 softcap=5 causal bias=qkv out=40\n"
      "attention 4 packed kv=2\n"
      "add { rmsnorm; attention 8 cross=m nobias scale=none } {}\n";
  static const char *const found[] = {
      "attention 4 kv=2 window=5 causal qknorm rope nobias",
      "attention 4 kv=1 causal qkln",
      "attention 3 rope base=500000 nobias",
      "attention 2 rope base=20000 stretch=2.5 nobias",
      "attention 2 kv=1 rope base=500000 stretch=8 trained=8192 nobias",
      "attention 4 causal softcap=5 bias=qkv out=40",
      "attention 4 kv=2 packed",
      "attention 8 scale=none nobias cross="};
  const char *folder = scratch("heads");
  char options[1024], path[512];
  snprintf(path, sizeof path, "%s/small.net", folder);
  write_text(path, text, strlen(text));
  struct run r = run("cd %s && %s weights small.net --random 3 -o a && "
                     "%s small.net --weights a --no-source -o x.onnx && "
                     "%s import x.onnx --weights b -o x.net",
                     folder, NETC_PATH, NETC_PATH, NETC_PATH);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  snprintf(options, sizeof options, "--weights %s/a --random 5", folder);
  char *first = values_of(folder, path, options);
  snprintf(options, sizeof options, "--weights %s/b --random 5", folder);
  snprintf(path, sizeof path, "%s/x.net", folder);
  char *source = read_text(path, NULL);
  for (size_t i = 0; i < sizeof found / sizeof *found; i++)
    assert_holds(source, found[i]);
  char *second = values_of(folder, path, options);
  assert_near(first, second);
  free(first);
  free(second);
  free(source);
}

/* A mask of 2048x2048 that 300 layers have: 8 s when each of them reads it. */
static void equal_masks_are_read_once(void **state) {
  (void)state;
  static const char text[] =
      "net a\ninput 2048x8\nrepeat 300 { attention 2 causal }\n";
  const char *folder = scratch("masks");
  char path[512];
  snprintf(path, sizeof path, "%s/a.net", folder);
  write_text(path, text, strlen(text));
  struct run r = run("cd %s && %s a.net --no-source -o a.onnx && "
                     "ulimit -t %d && "
                     "%s import a.onnx",
                     folder, NETC_PATH, SANITIZED ? 30 : 3, NETC_PATH);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.out, text);
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attention_of_exporters_gives_its_values),
      cmocka_unit_test(differences_are_said),
      cmocka_unit_test(attention_comes_back),
      cmocka_unit_test(equal_masks_are_read_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
