/*
 * What servers print: tests/data/published/servers.csv has a row for each
 * figure. Weights, keys and values and positions are within 3 %, of buffers
 * nine in ten within 15 %. A row that a constant was read off is shown, and
 * proves nothing.
 */
#define _XOPEN_SOURCE 700
#include "tests/csv.h"
#include "tests/report.h"

/* The columns, in the order of the table. */
enum column {
  ID,
  QUANTITY,
  NET,
  OPTIONS,
  FIELD,
  PRINTED,
  FITTED,
  SOURCE,
  WHERE,
  COLUMNS
};

static const char header[] =
    "\n# id,quantity,net,options,field,printed,fitted,source,where\n";

_Static_assert((int)COLUMNS <= (int)CSV_COLUMNS, "tests/csv.h");

/* Buffers of rows that no constant was read off. */
static struct { int all, held; } buffers;

/* "3402.96 MiB + 223.33 MiB" */
static double sum_printed(const char *text) {
  double sum = 0;
  while (text) {
    char *unit;
    sum += strtod(text, &unit) * (strncmp(unit, " GiB", 4) == 0   ? 0x1p30
                                  : strncmp(unit, " MiB", 4) == 0 ? 0x1p20
                                                                  : 1);
    text = strchr(unit, '+');
    text = text ? text + 1 : NULL;
  }
  return sum;
}

/* "serving.sampler_bytes|serving.prefill_bytes": the larger; with `+` the sum.
 */
static int64_t figure(json_t *json, char *fields) {
  bool sum = strchr(fields, '+') != NULL;
  int64_t result = 0;
  for (char *field; (field = strtok_r(fields, "|+", &fields));) {
    int64_t found = number(json, field);
    result = sum ? result + found : found > result ? found : result;
  }
  return result;
}

static void check_row(void **state) {
  const struct row *row = *state;
  char fields[80];
  bool buffer = strcmp(row->at[QUANTITY], "buffer") == 0;
  bool fitted = strcmp(row->at[FITTED], "yes") == 0;
  json_t *json = predict_file(row->at[NET], row->at[OPTIONS]);
  snprintf(fields, sizeof fields, "%s", row->at[FIELD]);
  double ratio = (double)figure(json, fields) / sum_printed(row->at[PRINTED]);
  json_decref(json);
  assert_true(fitted || strcmp(row->at[FITTED], "no") == 0);
  assert_non_null(strstr(row->at[SOURCE], "https://"));
  assert_true(*row->at[WHERE]);
  if (fitted || buffer)
    print_message("%s: %.3f of what is printed%s\n", row->at[ID], ratio,
                  fitted ? "; a constant was read off it" : "");
  if (buffer && !fitted) {
    buffers.all++;
    buffers.held += ratio > 0.85 && ratio < 1.15;
  } else if (!fitted) {
    assert_true(ratio > 0.97 && ratio < 1.03);
  }
}

/* After all rows. */
static void nine_in_ten_buffers_hold(void **state) {
  (void)state;
  assert_true(buffers.all >= 10);
  assert_true(buffers.held * 10 >= buffers.all * 9);
}

int main(void) {
  enum { MOST = 100 };
  static struct row rows[MOST];
  static const struct CMUnitTest last[] = {
      cmocka_unit_test(nine_in_ten_buffers_hold)};
  size_t count = 0;
  char *text = read_text("tests/data/published/servers.csv", NULL);
  if (!read_rows(text, header, COLUMNS, rows, MOST, &count))
    return 1;
  int failed = run_table("servers", rows, count, sizeof *rows, check_row, last,
                         sizeof last / sizeof *last);
  free(text);
  return failed;
}
