/*
 * Recipes: each stands for its settings, what the user says wins, and published
 * runs check it: tests/data/published/recipes.csv, whose medians are those of
 * recipes.def.
 */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "tests/csv.h"
#include "tests/report.h"
#include "tests/run.h"

enum column {
  ID,
  RECIPE,
  NET,
  OPTIONS,
  MEASURED,
  PRINTED,
  RATIO,
  SOURCE_COLUMN
};
enum { COLUMNS = SOURCE_COLUMN + 1, MOST = 200 };

static const char header[] =
    "\n# id,recipe,net,options,measured,printed,netc,source\n";

static void recipes_are_documented(void **state) {
  (void)state;
  struct run made = run(NETC " help recipes --markdown");
  check_file("docs/recipes.md", made.out);
  run_free(&made);
}

/* A report in JSON without the name of the recipe. */
static json_t *answer_of(const char *options) {
  struct run got = run(NETC " %s --emit=json", options);
  if (got.status != 0)
    print_error("%s: %s", options, got.err);
  assert_int_equal(got.status, 0);
  json_t *json = json_loads(got.out, 0, NULL);
  assert_non_null(json);
  json_object_set_new(find(json, "settings.train"), "like", json_null());
  run_free(&got);
  return json;
}

/* --like NAME, and the options that `netc help recipe NAME` prints. */
static void a_recipe_is_its_options(void **state) {
  (void)state;
  static const char net[] = "examples/zoo/gpt2.net -D n_layer=2";
  struct netc_recipe recipe = {.size = sizeof recipe};
  for (size_t i = 0; netc_recipe(i, &recipe) == NETC_OK; i++) {
    char like[256], flags[1024];
    size_t length = (size_t)snprintf(flags, sizeof flags, "%s", net);
    struct run help = run(NETC " help recipe %s", recipe.name);
    assert_int_equal(help.status, 0);
    for (char *at = help.out; (at = strstr(at, "\n  --")); at++) {
      int option = (int)strcspn(at + 3, "\n");
      length += (size_t)snprintf(flags + length, sizeof flags - length, " %.*s",
                                 option, at + 3);
    }
    run_free(&help);
    /* ZeRO alone has nothing to divide. */
    const char *devices = strstr(flags, "--zero") ? " --data-parallel 8" : "";
    snprintf(like, sizeof like, "%s --like %s%s", net, recipe.name, devices);
    snprintf(flags + length, sizeof flags - length, "%s", devices);
    json_t *named = answer_of(like), *spelt = answer_of(flags);
    if (!json_equal(named, spelt))
      print_error("%s\n%s\n", like, flags);
    assert_true(json_equal(named, spelt));
    json_decref(named);
    json_decref(spelt);
  }
}

static void says(const char *arguments, int status, const char *text) {
  struct run got = run(NETC " %s", arguments);
  assert_int_equal(got.status, status);
  assert_holds(status ? got.err : got.out, text);
  run_free(&got);
}

#define LM                                                     \
  "input tokens 16 : i32\nembed 100 32\nrepeat 3 { add { ln; " \
  "attention 4 causal } {} }\nlinear 100\n"

static void what_the_user_says_wins(void **state) {
  (void)state;
  const char *path = BUILD "/tests/recipes.net",
             *bare = BUILD "/tests/bare.net";
  const char *net = LM "train optimizer=lion like=hf/lora batch=2\n";
  write_text(path, net, strlen(net));
  net = "input 8\nfc 3\ntrain loss=crossentropy\n";
  write_text(bare, net, strlen(net));
  struct {
    const char *options, *text;
  } cases[] = {
      /* beside its own `like` the source wins, over the source the option */
      {"", "train, batch 2, Lion, LoRA of rank 16 in f32 on all"},
      {"--lora 4", "LoRA of rank 4 in f32 on all dense"},
      {"--lora 4:bf16", "LoRA of rank 4 in bf16 on all dense"},
      {"--like hf/full", "train, batch 2, AdamW, bfloat16"},
      {"--like hf/full --optimizer sgd", "train, batch 2, SGD, bfloat16"},
      {"--optimizer sgd --like hf/full", "train, batch 2, SGD, bfloat16"},
      {"--like hf/qlora", "recipe     hf/qlora; of 4 published runs, 0.9"},
      {"--like torchtitan", "recipe     torchtitan; of 4 published runs, 1.03"},
      {"--like torchtitan", "fused attention"}, /* no word on devices */
  };
  char arguments[256];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(arguments, sizeof arguments, "%s %s", path, cases[i].options);
    says(arguments, 0, cases[i].text);
  }
  snprintf(arguments, sizeof arguments, "%s --like hf/qlra", path);
  says(arguments, 2, "did you mean `hf/qlora`?");
  says("help recipe megatrom", 2, "did you mean `megatron`?");
  snprintf(arguments, sizeof arguments, "%s --checkpoint blocks", bare);
  says(arguments, 1, "`--checkpoint 8`");
  snprintf(arguments, sizeof arguments, "%s --checkpoint ops", bare);
  says(arguments, 1, "`--checkpoint 8`");
  snprintf(arguments, sizeof arguments, "%s --like hf/full,timm/amp", path);
  says(arguments, 0, "timm/amp");
  says(arguments, 0, ": training, simulated"); /* no optimizer serves both */
}

/* A block is an iteration of an innermost loop. */
static void blocks_are_iterations(void **state) {
  (void)state;
  static const struct {
    const char *net;
    int blocks;
  } cases[] = {{"llama", 32}, {"bert", 12}, {"resnet", 16}, {"t5", 12}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct run got =
        run(NETC " zoo:%s --checkpoint blocks --emit=json", cases[i].net);
    json_t *json = json_loads(got.out, 0, NULL);
    assert_non_null(json);
    assert_int_equal(json_array_size(find(json, "training.checkpoints")),
                     cases[i].blocks);
    json_decref(json);
    run_free(&got);
  }
}

/* Keys, the output of attention and the second linear of each block. */
static void every_second_product_is_repeated(void **state) {
  (void)state;
  struct run got = run(NETC " zoo:llama --checkpoint ops --emit=json");
  json_t *json = json_loads(got.out, 0, NULL);
  assert_non_null(json);
  int64_t each = 2 * 4096 * 4096 + 4096 * 11008, times = 32 * 2048;
  assert_int_equal(number(json, "training.extra_mac_count"), each * times);
  json_decref(json);
  run_free(&got);
}

/* Published runs */

static double bytes_of(json_t *json, const char *measured) {
  json_t *training = json_object_get(json, "training");
  bool parts = json_array_size(find(training, "parallel.stages")) > 0;
  if (strcmp(measured, "limit") == 0)
    return (double)(number(json, "answer.bytes") +
                    number(json, "answer.framework_bytes"));
  const char *field =
      strcmp(measured, "reserved") == 0 ? "reserved_bytes" : "allocated_bytes";
  json_t *value = json_object_get(training, field);
  bool known = json_is_integer(value) && json_integer_value(value) > 0 &&
               (!parts || strcmp(measured, "reserved") == 0);
  return (double)(known ? json_integer_value(value)
                        : number(json, "training.peak_bytes"));
}

static double ratio_of(const struct row *row) {
  char options[1024];
  snprintf(options, sizeof options, "%s --like %s %s", row->at[NET],
           row->at[RECIPE], row->at[OPTIONS]);
  json_t *json = answer_of(options);
  double ratio = bytes_of(json, row->at[MEASURED]) / 0x1p30 /
                 strtod(row->at[PRINTED], NULL);
  json_decref(json);
  return ratio;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(double *values, size_t count) {
  qsort(values, count, sizeof *values, by_value);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void published_runs_check_them(void **state) {
  (void)state;
  static struct row rows[MOST];
  size_t count = 0, seen = 0;
  char *text = read_text("tests/data/published/recipes.csv", NULL);
  assert_true(read_rows(text, header, COLUMNS, rows, MOST, &count));
  struct netc_recipe recipe = {.size = sizeof recipe};
  for (size_t i = 0; netc_recipe(i, &recipe) == NETC_OK; i++) {
    double ratios[MOST];
    size_t runs = 0;
    for (size_t k = 0; k < count; k++) {
      if (strcmp(rows[k].at[RECIPE], recipe.name) != 0)
        continue;
      double ratio = ratios[runs++] = ratio_of(&rows[k]);
      if (fabs(ratio - strtod(rows[k].at[RATIO], NULL)) > 0.0005001)
        print_error("%s: %.3f\n", rows[k].at[ID], ratio);
      assert_true(fabs(ratio - strtod(rows[k].at[RATIO], NULL)) <= 0.0005001);
      assert_true(*rows[k].at[SOURCE_COLUMN]);
    }
    seen += runs;
    double median = runs ? median_of(ratios, runs) : 0;
    if (runs != recipe.runs || fabs(median - recipe.median) > 0.005001)
      print_error("%s: %zu runs, %.2f\n", recipe.name, runs, median);
    assert_int_equal(runs, recipe.runs);
    assert_true(fabs(median - recipe.median) <= 0.005001);
  }
  assert_int_equal(seen, count);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recipes_are_documented),
      cmocka_unit_test(a_recipe_is_its_options),
      cmocka_unit_test(what_the_user_says_wins),
      cmocka_unit_test(blocks_are_iterations),
      cmocka_unit_test(every_second_product_is_repeated),
      cmocka_unit_test(published_runs_check_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
