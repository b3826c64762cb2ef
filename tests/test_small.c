/*
 * Small layers against PyTorch: tests/data/small.csv holds nets with what
 * PyTorch 1.13 did on a CPU (tools/small_truth.py): parameters, multiply-
 * accumulates, bytes that are kept for backward. The peak is there to be read:
 * it holds what kernels take besides.
 */
#include "tests/report.h"

struct truth {
  char name[320], net[300];
  long long batch, params, macs, saved, peak;
};

static void check_row(void **state) {
  const struct truth *truth = *state;
  char options[64];
  snprintf(options, sizeof options,
           "batch=%lld loss=none profile=torch1-cpu optimizer=sgd",
           truth->batch);
  json_t *json = compile(truth->net, options);
  assert_int_equal(number(json, "totals.param_count"), truth->params);
  assert_int_equal(number(json, "totals.mac_count"), truth->macs);
  assert_int_equal(number(json, "training.saved_bytes"), truth->saved);
  json_decref(json);
}

int main(void) {
  size_t length, count = 0, room = 0;
  char *text = read_text("tests/data/small.csv", &length);
  struct truth *rows = NULL;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (count == room)
      rows = realloc(rows, (room = room * 2 + 64) * sizeof *rows);
    struct truth *t = &rows[count++];
    if (sscanf(line, "\"%299[^\"]\",%lld,%lld,%lld,%lld,%lld", t->net,
               &t->batch, &t->params, &t->macs, &t->saved, &t->peak) != 6)
      return 1;
    snprintf(t->name, sizeof t->name, "%s, batch %lld", t->net, t->batch);
  }
  struct CMUnitTest *tests = calloc(count + 1, sizeof *tests);
  for (size_t i = 0; i < count; i++)
    tests[i] = (struct CMUnitTest){.name = rows[i].name,
                                   .test_func = check_row,
                                   .initial_state = &rows[i]};
  int failed =
      count ? _cmocka_run_group_tests("small", tests, count, NULL, NULL) : 1;
  free(tests);
  free(rows);
  free(text);
  return failed;
}
