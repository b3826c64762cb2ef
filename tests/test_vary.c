/*
 * Lengths that differ from batch to batch: each has the peak of a step of that
 * length, and what cannot be read is refused.
 */
#define _XOPEN_SOURCE 700
#include <inttypes.h>

#include "tests/report.h"
#include "tests/run.h"

#define NET                                                          \
  "examples/zoo/llama.net -D num_hidden_layers=2 -D hidden_size=64 " \
  "-D intermediate_size=128 -D num_attention_heads=4 "               \
  "-D vocab_size=1000 --optimizer sgd --loss crossentropy "

static json_t *answer_to(const char *options) {
  struct run got = run(NETC " " NET "%s --emit=json", options);
  if (got.status)
    print_error("%s", got.err);
  assert_int_equal(got.status, 0);
  json_t *json = json_loads(got.out, 0, NULL);
  assert_non_null(json);
  run_free(&got);
  return json;
}

/* The peak of one length alone. */
static int64_t peak_at(int64_t length) {
  char options[64];
  snprintf(options, sizeof options, "--length %" PRId64, length);
  json_t *json = answer_to(options);
  int64_t peak = (int64_t)number(json, "training.peak_bytes");
  json_decref(json);
  return peak;
}

static void check_length(json_t *json, const char *which, int64_t length) {
  char path[64];
  snprintf(path, sizeof path, "lengths.%s.length", which);
  assert_int_equal((int64_t)number(json, path), length);
  snprintf(path, sizeof path, "lengths.%s.peak_bytes", which);
  assert_int_equal((int64_t)number(json, path), peak_at(length));
}

static void each_length_has_its_peak(void **state) {
  (void)state;
  char options[600];
  const char *path = BUILD "/tests/lengths.txt", *lines = "100\n900\n200\n";
  json_t *json = answer_to("--vary 64..512");
  check_length(json, "shortest", 64);
  check_length(json, "mean", 288);
  check_length(json, "longest", 512);
  assert_true(peak_at(64) < peak_at(288) && peak_at(288) < peak_at(512));
  assert_int_equal((int64_t)number(json, "training.peak_bytes"), peak_at(512));
  assert_true(number(json, "lengths.held_most_bytes") >
              number(json, "training.peak_bytes"));
  json_decref(json);
  write_text(path, lines, strlen(lines));
  snprintf(options, sizeof options, "--vary %s", path);
  json = answer_to(options);
  check_length(json, "shortest", 100);
  check_length(json, "mean", 400);
  check_length(json, "longest", 900);
  json_decref(json);
  json = answer_to("");
  assert_null(json_object_get(json, "lengths"));
  json_decref(json);
}

static void what_is_no_length_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *arguments, *text;
  } cases[] = {
      {NET "--vary 512..64", "give the shortest and the longest length"},
      {NET "--vary 0..64", "give A..B, such as 91..8192, or a file"},
      {NET "--vary 5..99999999999999999999", "--vary 5..9"},
      {NET "--vary no-such-file", "no-such-file"},
      {NET "--vary " BUILD "/tests/words.txt",
       ":2: this is not a number of tokens; write a length on each line"},
      {NET "--vary " BUILD "/tests/empty.txt", "the file has no length"},
      {"examples/zoo/resnet.net --vary 1..3",
       "this net has no input of tokens"},
  };
  write_text(BUILD "/tests/words.txt", "10\nten\n", 7);
  write_text(BUILD "/tests/empty.txt", "\n", 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct run got = run(NETC " %s", cases[i].arguments);
    assert_in_range(got.status, 1, 3);
    assert_string_equal(got.out, "");
    assert_holds(got.err, cases[i].text);
    run_free(&got);
  }
}

/* Recipes that pad a batch to its longest sample, and one that does not. */
static void a_recipe_says_that_lengths_vary(void **state) {
  (void)state;
  static const char line[] = "each batch is padded to its longest sample";
  static const struct {
    const char *arguments, *text;
    bool there;
  } cases[] = {
      {NET "--like hf/full", line, true},
      {NET "--like hf/full --vary 64..512", line, false},
      {NET "--like hf/full --predict", line, false},
      {NET "--like megatron", line, false},
      {"examples/zoo/resnet.net --like hf/full", line, false},
      {"help recipe torchtune/lora", "padded_collate_sft", true},
      {"help recipe megatron", "Lengths differ", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct run got = run(NETC " %s", cases[i].arguments);
    assert_int_equal(got.status, 0);
    assert_true(!strstr(got.out, cases[i].text) == !cases[i].there);
    run_free(&got);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_length_has_its_peak),
      cmocka_unit_test(what_is_no_length_is_refused),
      cmocka_unit_test(a_recipe_says_that_lengths_vary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
