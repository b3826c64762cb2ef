/*
 * What netc writes in C: every compiler takes it without a warning, every
 * number is that of the report, and the tables run.
 */
#include "tests/report.h"

#define STRICT "-Wall -Wextra -Wconversion -pedantic -Werror -I runtime"

static const char *const nets[] = {
    "lenet5",       "alexnet",  "resnet",    "mobilenet_v3", "dcgan_g",
    "inception_v3", "m5",       "r3d_18",    "lstm_lm",      "seq2seq",
    "transformer",  "gpt2",     "swin",      "clip",         "shufflenet_v2",
    "unet",         "densenet", "yolov3",    "llama",        "whisper",
    "vit",          "convnext", "googlenet", "bert",         "mlp_mixer"};

enum { NETS = sizeof nets / sizeof *nets };

static char folder[256];

static int write_headers(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "%s", scratch("headers"));
  for (size_t i = 0; i < NETS; i++) {
    struct run r =
        run("%s examples/zoo/%s.net -o %s/%s.h --emit=json=%s/%s.json", NETC,
            nets[i], folder, nets[i], folder, nets[i]);
    if (r.status)
      print_error("%s: %s", nets[i], r.err);
    int status = r.status;
    run_free(&r);
    if (status)
      return status;
  }
  return 0;
}

static void put(const char *name, const char *text) {
  char path[1300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  write_text(path, text, strlen(text));
}

static bool has(const char *command) {
  struct run r = run("command -v %s", command);
  bool there = r.status == 0;
  run_free(&r);
  return there;
}

static void expect_compiles(const char *command) {
  struct run r = run("%s", command);
  if (r.status)
    print_error("%s\n%s", command, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* All of them in one file, twice each. */
static void every_compiler_takes_the_headers(void **state) {
  (void)state;
  static const char *const compilers[] = {
      "gcc -std=c99 -x c",     "gcc -std=c11 -x c",
      "clang -std=c99 -x c",   "clang -std=c11 -x c",
      "g++ -std=c++11 -x c++", "clang++ -std=c++11 -x c++"};
  char text[8192] = "", command[4096];
  for (size_t i = 0; i < 2 * NETS; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "#include \"%s.h\"\n", nets[i % NETS]);
  strcat(text, "#include \"netrt.h\"\n#include \"lenet5.h\"\n"
               "#if LENET5_INPUT_0_HEIGHT != 32 || ALEXNET_BATCH != 1\n"
               "#error numbers\n#endif\n"
               "extern unsigned char arena[LENET5_ARENA_BYTES];\n"
               "extern int64_t step, count;\n"
               "int64_t step = LENET5_TRAIN_BYTES(8);\n"
               "int64_t count = (int64_t)sizeof lenet5_model;\n");
  put("all.c", text);
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(compilers[i], " "),
             compilers[i]);
    if (!has(name))
      continue;
    snprintf(command, sizeof command, "%s " STRICT " -fsyntax-only %s/all.c",
             compilers[i], folder);
    expect_compiles(command);
  }
}

/* A budget and what the user has to spare are checked when it is compiled. */
static void limits_are_checked(void **state) {
  (void)state;
  static const char *const standards[] = {"-std=c99", "-std=c11"};
  char command[2048];
  put("limit.c", "#include \"lenet5.h\"\nextern int nothing;\n");
  for (size_t i = 0; i < 2; i++)
    for (int fits = 0; fits < 2; fits++) {
      snprintf(command, sizeof command,
               "${CC:-cc} %s " STRICT " -fsyntax-only "
               "-DLENET5_ARENA_LIMIT_BYTES=%d %s/limit.c",
               standards[i], fits ? 23552 : 23551, folder);
      struct run r = run("%s", command);
      assert_int_equal(r.status == 0, fits);
      if (!fits)
        assert_holds(r.err, "lenet5_arena_exceeds_the_limit");
      run_free(&r);
    }
}

/* Numbers */

/* The number of a macro, which must be there. */
static int64_t macro(const char *header, const char *net, const char *name) {
  char line[256];
  size_t length = (size_t)snprintf(line, sizeof line, "\n#define ");
  for (const char *c = net; *c; c++)
    line[length++] = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
  snprintf(line + length, sizeof line - length, "_%s ", name);
  const char *at = strstr(header, line);
  if (!at)
    print_error("%s has no%s\n", net, line + 8);
  assert_non_null(at);
  return strtoll(at + strlen(line), NULL, 10);
}

static void check_layers(const char *header, const char *net, json_t *json) {
  json_t *layer, *rows = find(json, "layers");
  size_t index;
  json_array_foreach(rows, index, layer) {
    const char *name = json_string_value(find(layer, "name"));
    char stem[128], full[160];
    if (index == 0 || strchr(name, '.') || strchr(name, '_') ||
        strcmp(json_string_value(find(layer, "op")), "input") == 0)
      continue;
    size_t length = 0;
    for (const char *c = name; *c && length < 100; c++)
      stem[length++] = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    stem[length] = '\0';
    if (number(layer, "mac_count") > 0) {
      snprintf(full, sizeof full, "%s_MAC_COUNT", stem);
      assert_int_equal(macro(header, net, full), number(layer, "mac_count"));
    }
    int64_t values = 1;
    size_t i;
    json_t *size;
    json_array_foreach(find(layer, "out.0"), i, size) values *=
        json_integer_value(size);
    snprintf(full, sizeof full, "%s_COUNT", stem);
    assert_int_equal(macro(header, net, full), values);
  }
}

/* Where it lies is where the report has a buffer of it. */
static void check_input(const char *header, const char *net, json_t *json) {
  json_t *buffer = find(json, "inference.arena.buffers.0");
  assert_int_equal(macro(header, net, "INPUT_0_OFFSET"),
                   number(buffer, "offset"));
  assert_int_equal(macro(header, net, "INPUT_0_BYTES"),
                   number(buffer, "bytes"));
}

static void numbers_are_those_of_the_report(void **state) {
  (void)state;
  static const struct {
    const char *macro, *path;
  } all[] = {{"PARAM_COUNT", "totals.param_count"},
             {"MAC_COUNT", "totals.mac_count"},
             {"ARENA_BYTES", "inference.arena.bytes"},
             {"ARENA_LOWER_BOUND_BYTES", "inference.arena.lower_bound_bytes"},
             {"PEAK_LIVE_BYTES", "inference.peak_live_bytes"},
             {"WEIGHT_BYTES", "inference.weight_bytes"},
             {"TRAIN_PEAK_BYTES", "training.peak_bytes"}};
  for (size_t i = 0; i < NETS; i++) {
    char path[1300];
    snprintf(path, sizeof path, "%s/%s.h", folder, nets[i]);
    char *header = read_text(path, NULL);
    snprintf(path, sizeof path, "%s/%s.json", folder, nets[i]);
    json_t *json = json_load_file(path, 0, NULL);
    assert_non_null(header);
    assert_non_null(json);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
      assert_int_equal(macro(header, nets[i], all[k].macro),
                       number(json, all[k].path));
    check_layers(header, nets[i], json);
    check_input(header, nets[i], json);
    json_decref(json);
    free(header);
  }
}

/* At the batches that were counted, the lines are not below a step. */
static void no_counted_batch_trains_in_more_than_the_macro_says(void **state) {
  (void)state;
  static const char *const some[] = {"lenet5", "resnet", "lstm_lm", "bert"};
  for (size_t i = 0; i < 4; i++) {
    char path[1300], options[64], *at;
    snprintf(path, sizeof path, "%s/%s.h", folder, some[i]);
    char *header = read_text(path, NULL);
    assert_non_null(header);
    at = strstr(header, "((batch) <= ");
    assert_non_null(at);
    long long low[2], high[2], until = strtoll(at + 12, &at, 10);
    low[0] = strtoll(at + 3, &at, 10);
    low[1] = strtoll(at + 3, &at, 10);
    at = strchr(at, ':');
    high[0] = strtoll(at + 2, &at, 10);
    high[1] = strtoll(at + 3, &at, 10);
    for (int batch = 1; batch <= 64; batch *= 4) {
      const long long *line = batch <= until ? low : high;
      snprintf(path, sizeof path, "examples/zoo/%s.net", some[i]);
      snprintf(options, sizeof options, "batch=%d", batch);
      int64_t peak = ask_file(path, options, "peak_bytes");
      int64_t said = line[0] + line[1] * batch;
      if (said < peak || said > peak + peak / 10)
        print_error("%s at %d: %lld, not %lld\n", some[i], batch,
                    (long long)said, (long long)peak);
      assert_true(said >= peak && said <= peak + peak / 10);
    }
    free(header);
  }
}

/* Tables */

static const char runner[] =
    "#include <stdio.h>\n#include <stdlib.h>\n"
    "#define LENET5_ARENA_LIMIT_BYTES 23552\n"
    "#include \"netrt.h\"\n#include \"lenet5.h\"\n#include \"m5.h\"\n"
    "static NETRT_ALIGNED unsigned char arena[M5_ARENA_BYTES];\n"
    "static NETRT_ALIGNED float weights[LENET5_WEIGHT_BYTES / 4];\n"
    "static void go(const struct netrt_model *m, size_t bytes, size_t n) {\n"
    "  struct netrt net;\n  size_t i;\n  const float *out;\n"
    "  enum netrt_status s = netrt_open(&net, m, weights, bytes, arena,\n"
    "                                   sizeof arena);\n"
    "  if (s != NETRT_OK) { puts(netrt_status_text(s)); exit(1); }\n"
    "  for (i = 0; i < n; i++)\n"
    "    ((float *)netrt_input(&net, 0))[i] = (float)(i % 7) - 3;\n"
    "  s = netrt_run(&net);\n"
    "  if (s != NETRT_OK) { puts(netrt_status_text(s)); exit(1); }\n"
    "  out = (const float *)netrt_output(&net, 0);\n"
    "  printf(\"%s %.4f\\n\", m->name, (double)out[0]);\n}\n"
    "int main(void) {\n  size_t i;\n"
    "  for (i = 0; i < LENET5_WEIGHT_BYTES / 4; i++) weights[i] = 0.01f;\n"
    "  go(&lenet5_model, LENET5_WEIGHT_BYTES, LENET5_INPUT_0_COUNT);\n"
    "  go(&m5_model, M5_WEIGHT_BYTES, M5_INPUT_0_COUNT);\n"
    "  return 0;\n}\n";

/* Two models in one program, in C and in C++. */
static void tables_run(void **state) {
  (void)state;
  char command[4096];
  snprintf(command, sizeof command,
           "%s examples/zoo/lenet5.net -o %s/lenet5.c && "
           "%s examples/zoo/m5.net -o %s/m5.c",
           NETC, folder, NETC, folder);
  expect_compiles(command);
  put("runner.c", runner);
  snprintf(command, sizeof command,
           "for f in lenet5 m5; do ${CC:-cc} -std=c99 " STRICT
           " -c %s/$f.c -o %s/$f.o || exit 1; done; ${CC:-cc} -std=c99 " STRICT
           " %s/runner.c %s/lenet5.o %s/m5.o %s/libnetrt.a -lm -o %s/run-c && "
           "%s/run-c",
           folder, folder, folder, folder, folder, BUILD, folder, folder);
  struct run r = run("%s", command);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "lenet5 ");
  assert_holds(r.out, "m5 -3.5553"); /* log of 1/35: all weights are equal */
  run_free(&r);
  if (!has("g++"))
    return;
  snprintf(command, sizeof command,
           "g++ -std=c++11 " STRICT " -x c++ %s/runner.c -x none %s/lenet5.o "
           "%s/m5.o %s/libnetrt.a -lm -o %s/run-c++ && %s/run-c++",
           folder, folder, folder, BUILD, folder, folder);
  expect_compiles(command);
}

static void what_cannot_run_says_why(void **state) {
  (void)state;
  expect(NETC " examples/zoo/llama.net --emit=source", 2, "",
         "the runtime computes in float32");
  expect(NETC " examples/zoo/lenet5.net --emit=source --dtype f16", 2, "",
         "--dtype f32");
}

static void names_begin_as_one_wants(void **state) {
  (void)state;
  expect(NETC " examples/zoo/lenet5.net --emit=h --prefix=my-net", 0,
         "#define MY_NET_ARENA_BYTES 23552", NULL);
  expect(NETC " examples/zoo/lenet5.net --emit=h --prefix=3d", 0,
         "#define NET_3D_ARENA_BYTES 23552", NULL);
  expect(NETC " examples/zoo/lenet5.net --emit=c --prefix=My_Net", 0,
         "const struct netrt_model my_net_model", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_compiler_takes_the_headers),
      cmocka_unit_test(limits_are_checked),
      cmocka_unit_test(numbers_are_those_of_the_report),
      cmocka_unit_test(no_counted_batch_trains_in_more_than_the_macro_says),
      cmocka_unit_test(tables_run),
      cmocka_unit_test(what_cannot_run_says_why),
      cmocka_unit_test(names_begin_as_one_wants),
  };
  return cmocka_run_group_tests(tests, write_headers, NULL);
}
