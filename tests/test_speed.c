/*
 * How long inference takes: constants follow from published runs, seconds are
 * those of the formula by hand, and a bound says that it is one.
 */
#include <math.h>

#include "tests/report.h"

#define LLAMA                                              \
  "examples/zoo/llama.net -Dnum_key_value_heads=8 "        \
  "-Dintermediate_size=14336 -Dvocab_size=128256 --dtype " \
  "f16 --predict "
#define Q4 LLAMA "--weight-dtype q4_k_m --runtime llama.cpp "

static json_t *time_of(const char *options, const char *path, json_t **report) {
  struct run got = run(NETC " %s --emit json=-", options);
  print_message("%s\n", options);
  assert_true(got.status == 0);
  *report = json_loads(got.out, 0, NULL);
  run_free(&got);
  return find(*report, path);
}

static double real(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

static const char *word(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

static void assert_near(double value, double expected) {
  print_message("%.9g, by hand %.9g\n", value, expected);
  assert_true(expected > 0 && fabs(value / expected - 1) < 1e-5);
}

static void the_table_is_what_published_runs_give(void **state) {
  (void)state;
  struct run got = run("/usr/bin/python3 tools/speed.py %s --check", NETC);
  assert_string_equal(got.err, "");
  assert_int_equal(got.status, 0);
  /* The page has the lines of errors. */
  char *page = read_text("docs/serving.md", NULL);
  int lines = 0;
  for (char *line = strtok(got.out, "\n"); line; line = strtok(NULL, "\n"))
    if (strstr(line, "left out") || strstr(line, "not fitted")) {
      assert_holds(page, line);
      lines++;
    }
  assert_true(lines > 20);
  free(page);
  run_free(&got);
}

/* A row of speeds.def. */
struct speed {
  double weights, cache, layer, products, scores;
};

static struct speed speed_of(int capability) {
  char *text = read_text("memory/serving/speeds.def", NULL), key[32];
  struct speed found;
  snprintf(key, sizeof key, "\nSPEED(%d,", capability);
  const char *row = strstr(text, key);
  assert_non_null(row);
  assert_int_equal(sscanf(row + strlen(key), "%lf, %lf, %lf, %lf, %lf",
                          &found.weights, &found.cache, &found.layer,
                          &found.products, &found.scores),
                   5);
  free(text);
  return found;
}

/* Llama 3 8B: all tensors but the table of words, which has 4.5 bits and is in
 * the host's memory. */
static double read_bytes(json_t *report) {
  double table = 128256.0 * 4096 * 4.5 / 8, norms = 65 * 4096 * 4;
  json_t *serving = find(report, "serving");
  assert_true(real(find(serving, "host"), "weight_bytes") == table);
  return real(serving, "weight_bytes") - norms;
}

enum { LAYERS = 32, WIDTH = 4096, KEYS = 1024, INNER = 14336, WORDS = 128256 };

/* MACs of a token's matrices in all layers. */
static double token_macs(void) {
  return LAYERS * (2.0 * WIDTH * (WIDTH + KEYS) + 3.0 * WIDTH * INNER);
}

/* A GeForce RTX 4090 has 1,008 GB/s and 660.6 * 10^12 operations in 8 bits. */
static void seconds_are_those_of_the_formula(void **state) {
  (void)state;
  json_t *report;
  json_t *time =
      time_of(Q4 "--gpu rtx4090 --context 4096", "serving.time", &report);
  struct speed speed = speed_of(89);
  double kept = 2.0 * LAYERS * KEYS * 2 * 4096, weights = read_bytes(report);
  double decode = speed.weights * weights / 1008e9 +
                  speed.cache * kept / 1008e9 + speed.layer * 1e-6 * LAYERS;
  double pairs = 4096.0 * 4096 / 2;
  double products = 2 * (token_macs() * 4096 + (double)WIDTH * WORDS);
  double scores = 2 * LAYERS * 2.0 * WIDTH * pairs;
  double prompt =
      (speed.products * products + speed.scores * scores) / 660.6e12;
  assert_near(real(time, "predicted_seconds"), decode);
  assert_near(real(time, "tokens_per_second"), 1 / decode);
  assert_near(real(time, "prefill_seconds"), prompt);
  assert_near(real(time, "bound_seconds"),
              (weights + kept - (128 << 20)) / 1008e9);
  assert_string_equal(word(time, "basis"), "calibrated");
  assert_string_equal(word(time, "prefill_basis"), "calibrated");
  assert_true(real(time, "runs") == 59 && real(time, "cards") == 7);
  json_decref(report);
}

/* An H100 reads 3,350 GB/s and computes 989.5 * 10^12 in bf16. */
static void without_runs_there_is_a_bound(void **state) {
  (void)state;
  json_t *report;
  json_t *time = time_of(LLAMA "--gpu h100 --context 8192 --sequences 512",
                         "serving.time", &report);
  double weights = token_macs() + (double)WIDTH * WORDS;
  double kept = 512 * 2.0 * LAYERS * KEYS * 2 * 8192;
  double bound = (2 * weights + kept - (128 << 20)) / 3350e9;
  assert_true(json_is_null(json_object_get(time, "predicted_seconds")));
  assert_near(real(time, "bound_seconds"), bound);
  assert_near(real(time, "tokens_per_second"), 512 / bound);
  assert_string_equal(word(time, "basis"), "bound");
  json_decref(report);
}

static void what_is_missing_is_reported(void **state) {
  (void)state;
  static const struct {
    const char *options, *missing;
  } cases[] = {
      {LLAMA "--gpu rtx4090", "are of llama.cpp"},
      {Q4 "--gpu mi300x", "of this architecture"},
      {Q4 "--gpu rtx4090 --gpu-layers 20", "on one card"},
      {Q4 "--gpu rtx4090 --sequences 4", "decode one sequence"},
      {"examples/zoo/mixtral.net --predict --gpu a100-80 --runtime llama.cpp",
       "have no experts"},
      {Q4 "--gpu apple-64", "the bandwidth of its memory"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    json_t *report, *time = time_of(cases[i].options, "serving.time", &report);
    assert_holds(word(time, "missing"), cases[i].missing);
    assert_string_equal(word(time, "basis"), "bound");
    assert_true(json_is_null(json_object_get(time, "predicted_seconds")));
    json_decref(report);
  }
  json_t *report;
  assert_null(
      time_of(Q4 "--memory 24GiB --context 512", "serving.time", &report));
  json_decref(report);
}

/* A token of Mixtral passes two of eight experts. */
static void experts_are_read_as_tokens_pass_them(void **state) {
  (void)state;
  json_t *report;
  json_t *time = time_of("examples/zoo/mixtral.net --predict --gpu h200 "
                         "--context 1024",
                         "serving.time", &report);
  json_t *totals = find(report, "totals");
  double active = real(totals, "active_param_count");
  double table = 32000.0 * 4096;
  double seconds = real(find(time, "parts"), "weight_seconds");
  assert_true(active > 0 &&
              fabs(seconds * 4800e9 / (2 * (active - table)) - 1) < 1e-3);
  json_decref(report);
}

/* A T4 computes 8.1 * 10^12 in f32 and reads 320 GB/s. */
static void a_batch_has_a_bound(void **state) {
  (void)state;
  json_t *report;
  json_t *time = time_of("examples/zoo/resnet.net --predict --gpu t4",
                         "inference.time", &report);
  double macs = real(find(report, "totals"), "mac_count");
  assert_near(real(time, "bound_seconds"), 2 * macs / 8.1e12);
  assert_string_equal(word(time, "basis"), "bound");
  assert_true(json_is_null(json_object_get(time, "predicted_seconds")));
  json_decref(report);
  /* In 8 bits, which it does not have, it computes in 16. */
  time = time_of("examples/zoo/resnet.net --predict --gpu t4 --dtype fp8",
                 "inference.time", &report);
  assert_near(real(time, "bound_seconds"), 2 * macs / 65e12);
  json_decref(report);
  /* Weights of 1 GiB, less 128 MiB: memory takes longer. */
  static const char wide[] = "input 16384\nfc 16384 nobias\n";
  write_text(BUILD "/tests/scratch/wide.net", wide, sizeof wide - 1);
  time = time_of(BUILD "/tests/scratch/wide.net --predict --gpu t4",
                 "inference.time", &report);
  assert_near(real(time, "bound_seconds"), ((1 << 30) - (128 << 20)) / 320e9);
  json_decref(report);
  /* A GB10 has 273 GB/s and no published rates. */
  time = time_of(BUILD "/tests/scratch/wide.net --predict --gpu gb10",
                 "inference.time", &report);
  assert_near(real(time, "bound_seconds"), ((1 << 30) - (128 << 20)) / 273e9);
  assert_holds(word(time, "missing"), "its operations per second in that type");
  json_decref(report);
  assert_null(
      time_of("examples/zoo/resnet.net --predict", "inference.time", &report));
  json_decref(report);
}

static void the_report_has_lines(void **state) {
  (void)state;
  expect(NETC " " Q4 "--gpu rtx4090 --context 1024", 0,
         "  about 129 tokens/s (calibrated on 59 runs of 7 cards, median", "");
  expect(NETC " " Q4 "--gpu rtx4090 --context 1024", 0,
         " ms for 1,024 tokens (median error 38 %)\n", "");
  expect(NETC " " LLAMA "--gpu h100", 0,
         " tokens/s (upper bound: published runs are of llama.cpp)\n", "");
  expect(NETC " examples/zoo/resnet.net --predict --gpu t4", 0,
         " ms for batch 1 (lower bound; no published run to", "");
}

/* bf16 needs compute capability 8.0, fp8 8.9. */
static void a_type_without_units_is_reported(void **state) {
  (void)state;
  static const struct {
    const char *options, *type, *instead;
  } cases[] = {
      {"--gpu t4 --predict --dtype bf16", "bf16", "vLLM refuses it"},
      {"--gpu v100-32 --dtype bf16", "bf16", "PyTorch converts"},
      {"--gpu t4 --predict --weight-dtype fp8", "fp8", "Marlin"},
      {"--gpu v100 --predict --weight-dtype fp8_128", "fp8", "refuse it"},
      {"--gpu a100-80 --predict --dtype fp8", "fp8", "Marlin"},
      {"--gpu l4 --predict --dtype fp8", NULL, NULL},
      {"--gpu a100-80 --predict --dtype bf16", NULL, NULL},
      {"--gpu t4 --predict --dtype f16", NULL, NULL},
      {"--gpu mi300x --predict --dtype bf16", NULL, NULL},
      {"--gpu t4 --predict --dtype bf16 --weight-dtype q4_k_m --runtime "
       "llama.cpp",
       NULL, NULL},
      {"--gpu t4 --dtype f32 --precision mixed", NULL, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char options[256];
    json_t *report, *lacks;
    snprintf(options, sizeof options, "examples/zoo/gpt2.net %s",
             cases[i].options);
    lacks = time_of(options, "answer.lacking_type", &report);
    assert_true(!lacks == !cases[i].type);
    if (lacks) {
      assert_string_equal(word(lacks, "type"), cases[i].type);
      assert_holds(word(lacks, "instead"), cases[i].instead);
      assert_true(real(lacks, "capability") < real(lacks, "needed_capability"));
    }
    json_decref(report);
  }
  expect(NETC " examples/zoo/gpt2.net --gpu t4 --predict --dtype bf16", 0,
         "T4 has no units for bf16: compute capability 7.5, needs 8.0", "");
}

static void cards_are_known(void **state) {
  (void)state;
  static const char *const names[] = {
      "GB10",
      "NVIDIA B300 SXM6 AC",
      "NVIDIA GB200",
      "A800",
      "NVIDIA H800",
      "NVIDIA L20",
      "rtxpro6000",
      "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
      "NVIDIA RTX 5000 Ada Generation"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct run got = run(NETC " examples/zoo/lenet5.net --gpu '%s'", names[i]);
    assert_string_equal(got.err, "");
    assert_int_equal(got.status, 0);
    run_free(&got);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_is_what_published_runs_give),
      cmocka_unit_test(seconds_are_those_of_the_formula),
      cmocka_unit_test(without_runs_there_is_a_bound),
      cmocka_unit_test(what_is_missing_is_reported),
      cmocka_unit_test(experts_are_read_as_tokens_pass_them),
      cmocka_unit_test(a_batch_has_a_bound),
      cmocka_unit_test(the_report_has_lines),
      cmocka_unit_test(a_type_without_units_is_reported),
      cmocka_unit_test(cards_are_known)};
  return cmocka_run_group_tests_name("speed", tests, NULL, NULL);
}
