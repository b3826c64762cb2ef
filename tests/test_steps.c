/*
 * What a step keeps, and its peak, against PyTorch: tests/data/steps.csv and
 * layout.csv have small nets with what PyTorch itself saves and allocates
 * (tools/step_truth.py, layout_truth.py; the latter in a prediction, too), as
 * losses.csv has for each loss (loss_truth.py), and
 * here is a test for each. Equal byte for byte.
 */
#define _XOPEN_SOURCE 700
#include "tests/torch2.h"

enum { NOT_MEASURED = -1 };

struct row {
  char name[560], net[400], settings[96];
  long long batch, saved, gradients, peak, prediction;
  bool torch2;
};

/* The statements of a row are apart by semicolons. */
static json_t *compile_row(const struct row *row) {
  char options[200];
  const char *profile = row->torch2 ? " profile=torch2-cpu" : CPU;
  snprintf(options, sizeof options, "batch=%lld %s %s%s", row->batch,
           row->settings, strstr(row->settings, "loss=") ? "" : "loss=sum",
           strstr(row->settings, "profile=") ? "" : profile);
  return strncmp(row->net, "examples/", 9) == 0
             ? compile_file(row->net, options)
             : compile(row->net, options);
}

static int64_t peak_of(json_t *json) {
  int64_t forward = training(json, "forward_peak_bytes");
  int64_t backward = training(json, "backward_peak_bytes");
  return (forward > backward ? forward : backward) -
         training(json, "parameter_bytes") - training(json, "buffer_bytes") -
         training(json, "input_bytes") - training(json, "optimizer_bytes") -
         training(json, "rounding_bytes");
}

static long long of_row(const struct row *row, const char *figure,
                        long long measured) {
  return measured == NOT_MEASURED
             ? NOT_MEASURED
             : expected(row->torch2, row->net, row->batch, figure, measured);
}

static void check_row(void **state) {
  struct row own = *(const struct row *)*state, *row = &own;
  row->saved = of_row(row, "saved", row->saved);
  row->peak = of_row(row, "peak", row->peak);
  row->prediction = of_row(row, "predict", row->prediction);
  json_t *json = compile_row(row);
  long long saved = training(json, "saved_bytes"), peak = peak_of(json);
  long long gradients = training(json, "gradient_bytes");
  long long prediction = inference(json, "framework_peak_bytes");
  json_decref(json);
  if (row->peak == NOT_MEASURED)
    peak = NOT_MEASURED;
  if (row->prediction != NOT_MEASURED && row->prediction != prediction)
    fail_msg("prediction %lld; measured %lld", prediction, row->prediction);
  if (saved != row->saved || gradients != row->gradients || peak != row->peak)
    fail_msg("saved %lld, gradients %lld, peak %lld; measured %lld, %lld, %lld",
             saved, gradients, peak, row->saved, row->gradients, row->peak);
}

struct table {
  struct row *rows;
  size_t count, room;
};

/* "NET",BATCH,"SETTINGS",SAVED,GRADIENTS,PEAK,PREDICTION */
static bool read_row(struct row *row, const char *line) {
  int end = 0;
  *row = (struct row){.peak = NOT_MEASURED, .prediction = NOT_MEASURED};
  if (sscanf(line, "\"%399[^\"]\",%lld,\"%n", row->net, &row->batch, &end) !=
          2 ||
      !end)
    return false;
  line += end;
  size_t length = strcspn(line, "\"");
  if (length >= sizeof row->settings)
    return false;
  memcpy(row->settings, line, length);
  snprintf(row->name, sizeof row->name, "%s, batch %lld %s", row->net,
           row->batch, row->settings);
  return sscanf(line + length, "\",%lld,%lld,%lld,%lld", &row->saved,
                &row->gradients, &row->peak, &row->prediction) >= 2;
}

static bool read_rows(struct table *table, const char *path, bool torch2) {
  size_t before = table->count;
  char *text = read_text(path, NULL);
  bool good = text != NULL;
  for (char *line = text ? strtok(text, "\n") : NULL; line && good;
       line = strtok(NULL, "\n")) {
    if (*line == '#')
      continue;
    if (table->count == table->room)
      table->rows = realloc(table->rows, (table->room = table->room * 2 + 64) *
                                             sizeof *table->rows);
    struct row *row = &table->rows[table->count++];
    good = read_row(row, line);
    row->torch2 = torch2;
  }
  free(text);
  return good && table->count > before;
}

int main(void) {
  struct table table = {0};
  int failed = !read_rows(&table, "tests/data/steps.csv", false) ||
               !read_rows(&table, "tests/data/layout.csv", false) ||
               !read_rows(&table, TORCH2 "steps.csv", true) ||
               !read_rows(&table, TORCH2 "layout.csv", true) ||
               !read_rows(&table, "tests/data/losses.csv", false) ||
               !read_rows(&table, TORCH2 "losses.csv", true) ||
               run_table("steps", table.rows, table.count, sizeof *table.rows,
                         check_row, NULL, 0);
  free(table.rows);
  return failed;
}
