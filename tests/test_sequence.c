/*
 * Layers of sequences against PyTorch: tests/data/sequence.csv holds nets
 * with what PyTorch 1.13 did on a CPU (tools/sequence_truth.py): parameters,
 * multiply-accumulates, bytes that are kept for backward, and the peak.
 */
#define _XOPEN_SOURCE 700
#include "tests/torch2.h"

struct truth {
  char name[640], net[600];
  long long batch, params, macs, saved, peak;
  bool torch2;
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
  char options[80];
  snprintf(options, sizeof options,
           "batch=%lld loss=sum optimizer=sgd profile=%s", truth->batch,
           truth->torch2 ? "torch2-cpu" : "torch1-cpu");
  json_t *json = compile(truth->net, options);
  assert_int_equal(number(json, "totals.param_count"), truth->params);
  assert_int_equal(number(json, "totals.mac_count"), truth->macs);
  assert_int_equal(training(json, "saved_bytes"), truth->saved);
  assert_int_equal(peak_of(json), expected(truth->torch2, truth->net,
                                           truth->batch, "peak", truth->peak));
  json_decref(json);
}

struct table {
  struct truth *rows;
  size_t count, room;
};

static bool read_rows(struct table *table, const char *path, bool torch2) {
  char *text = read_text(path, NULL);
  bool good = text != NULL;
  for (char *line = text ? strtok(text, "\n") : NULL; line && good;
       line = strtok(NULL, "\n")) {
    if (*line == '#')
      continue;
    if (table->count == table->room)
      table->rows = realloc(table->rows, (table->room = table->room * 2 + 64) *
                                             sizeof *table->rows);
    struct truth *t = &table->rows[table->count++];
    t->torch2 = torch2;
    good = sscanf(line, "\"%599[^\"]\",%lld,%lld,%lld,%lld,%lld", t->net,
                  &t->batch, &t->params, &t->macs, &t->saved, &t->peak) == 6;
    snprintf(t->name, sizeof t->name, "%s, batch %lld", t->net, t->batch);
  }
  free(text);
  return good && table->count;
}

int main(void) {
  struct table table = {0};
  int failed = !read_rows(&table, "tests/data/sequence.csv", false) ||
               !read_rows(&table, TORCH2 "sequence.csv", true) ||
               run_table("sequence", table.rows, table.count,
                         sizeof *table.rows, check_row, NULL, 0);
  free(table.rows);
  return failed;
}
