/*
 * What a step keeps, and its peak, against PyTorch: tests/data/steps.csv has
 * small nets with what PyTorch itself saves and allocates
 * (tools/step_truth.py), and here is a test for each. Equal byte for byte.
 */
#include "tests/report.h"

enum { NOT_MEASURED = -1 };

struct row {
  char name[560], net[400], settings[96];
  long long batch, saved, gradients, peak;
};

/* The statements of a row are apart by semicolons. */
static json_t *compile_row(const struct row *row) {
  char options[200];
  snprintf(options, sizeof options, "batch=%lld loss=sum%s%s" CPU, row->batch,
           *row->settings ? " " : "", row->settings);
  return strncmp(row->net, "examples/", 9) == 0
             ? compile_file(row->net, options)
             : compile(row->net, options);
}

static int64_t peak_of(json_t *json) {
  int64_t forward = training(json, "forward_peak_bytes");
  int64_t backward = training(json, "backward_peak_bytes");
  return (forward > backward ? forward : backward) -
         training(json, "parameter_bytes") - training(json, "buffer_bytes") -
         training(json, "input_bytes") - training(json, "optimizer_bytes");
}

static void check_row(void **state) {
  const struct row *row = *state;
  json_t *json = compile_row(row);
  long long saved = training(json, "saved_bytes"), peak = peak_of(json);
  long long gradients = training(json, "gradient_bytes");
  json_decref(json);
  if (row->peak == NOT_MEASURED)
    peak = NOT_MEASURED;
  if (saved != row->saved || gradients != row->gradients || peak != row->peak)
    fail_msg("saved %lld, gradients %lld, peak %lld; measured %lld, %lld, %lld",
             saved, gradients, peak, row->saved, row->gradients, row->peak);
}

int main(void) {
  size_t count = 0, room = 0;
  char *text = read_text("tests/data/steps.csv", NULL);
  struct row *rows = NULL;
  for (char *line = text ? strtok(text, "\n") : NULL; line;
       line = strtok(NULL, "\n")) {
    if (*line == '#')
      continue;
    if (count == room)
      rows = realloc(rows, (room = room * 2 + 64) * sizeof *rows);
    struct row *row = &rows[count++];
    memset(row, 0, sizeof *row);
    int end = 0;
    if (sscanf(line, "\"%399[^\"]\",%lld,\"%n", row->net, &row->batch, &end) !=
            2 ||
        !end)
      return 1;
    line += end;
    size_t length = strcspn(line, "\"");
    if (length >= sizeof row->settings)
      return 1;
    memcpy(row->settings, line, length);
    row->peak = NOT_MEASURED;
    if (sscanf(line + length, "\",%lld,%lld,%lld", &row->saved, &row->gradients,
               &row->peak) < 2)
      return 1;
    snprintf(row->name, sizeof row->name, "%s, batch %lld %s", row->net,
             row->batch, row->settings);
  }
  int failed = count == 0 || run_table("steps", rows, count, sizeof *rows,
                                       check_row, NULL, 0);
  free(rows);
  free(text);
  return failed;
}
