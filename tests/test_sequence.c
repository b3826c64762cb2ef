/*
 * Layers of sequences against PyTorch: tests/data/sequence.csv holds nets
 * with what PyTorch 1.13 did on a CPU (tools/sequence_truth.py): parameters,
 * multiply-accumulates, bytes that are kept for backward, and the peak.
 */
#include "tests/report.h"

struct truth {
  char name[640], net[600];
  long long batch, params, macs, saved, peak;
};

static int64_t peak_of(json_t *json) {
  int64_t forward = training(json, "forward_peak_bytes");
  int64_t backward = training(json, "backward_peak_bytes");
  return (forward > backward ? forward : backward) -
         training(json, "parameter_bytes") - training(json, "buffer_bytes") -
         training(json, "input_bytes");
}

static void check_row(void **state) {
  const struct truth *truth = *state;
  char options[64];
  snprintf(options, sizeof options, "batch=%lld loss=sum optimizer=sgd" CPU,
           truth->batch);
  json_t *json = compile(truth->net, options);
  assert_int_equal(number(json, "totals.param_count"), truth->params);
  assert_int_equal(number(json, "totals.mac_count"), truth->macs);
  assert_int_equal(training(json, "saved_bytes"), truth->saved);
  assert_int_equal(peak_of(json), truth->peak);
  json_decref(json);
}

int main(void) {
  size_t length, count = 0, room = 0;
  char *text = read_text("tests/data/sequence.csv", &length);
  struct truth *rows = NULL;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (*line == '#')
      continue;
    if (count == room)
      rows = realloc(rows, (room = room * 2 + 64) * sizeof *rows);
    struct truth *t = &rows[count++];
    if (sscanf(line, "\"%599[^\"]\",%lld,%lld,%lld,%lld,%lld", t->net,
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
      count ? _cmocka_run_group_tests("sequence", tests, count, NULL, NULL) : 1;
  free(tests);
  free(rows);
  free(text);
  return failed;
}
