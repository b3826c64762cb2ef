/*
 * What netc says of steps whose memory others measured on GPUs:
 * tests/data/published/gpu.csv has a row for each, and here a test. netc's
 * figure is the one that was compared with the published one, to the byte, and
 * is not above it by more than the row allows and gives a reason for.
 */
#define _XOPEN_SOURCE 700
#include <math.h>

#include "tests/csv.h"
#include "tests/report.h"

/* The columns, in the order of the table. */
enum column {
  ID,
  MODEL,
  NET,
  OPTIONS,
  LESS,
  FIELD,
  PRINTED,
  BYTES,
  MEASURED,
  GPU,
  FRAMEWORK,
  SOURCE,
  WHERE,
  FIGURE,
  OVER,
  UNDER,
  CAUSES,
  WHY,
  COLUMNS
};

static const char header[] =
    "\n# id,model,net,options,less,field,printed,bytes,measured,gpu,framework,"
    "source,where,netc,over,under,causes,why\n";

_Static_assert((int)COLUMNS <= (int)CSV_COLUMNS, "tests/csv.h");

/* The sum of the numbers that the field names, joined by +. */
static int64_t figure(const struct row *row, const char *options) {
  char fields[128], *rest = fields;
  int64_t sum = 0;
  struct run got = run("%s %s %s --emit=json=-", NETC, row->at[NET], options);
  if (got.status != 0)
    print_error("%s", got.err);
  assert_int_equal(got.status, 0);
  json_t *json = json_loads(got.out, 0, NULL);
  assert_non_null(json);
  snprintf(fields, sizeof fields, "%s", row->at[FIELD]);
  for (char *field; (field = strtok_r(rest, "+", &rest));)
    sum += number(json, field);
  json_decref(json);
  run_free(&got);
  return sum;
}

/* The number that is printed, in bytes. */
static bool is_printed(const char *text, double bytes) {
  static const double units[] = {1, 1e6, 1e9, 0x1p20, 0x1p30};
  double value = strtod(text + (*text == '~'), NULL);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (fabs(value * units[i] - bytes) <= 0.5)
      return true;
  return false;
}

static void check_row(void **state) {
  const struct row *row = *state;
  double bytes = strtod(row->at[BYTES], NULL);
  double over = strtod(row->at[OVER], NULL);
  int64_t mine = figure(row, row->at[OPTIONS]);
  if (*row->at[LESS])
    mine -= figure(row, row->at[LESS]);
  assert_int_equal(mine, strtoll(row->at[FIGURE], NULL, 10));
  assert_true(is_printed(row->at[PRINTED], bytes));
  assert_true((double)mine <= bytes * (1 + over / 100));
  assert_true(!*row->at[UNDER] ||
              (double)mine >= bytes * (1 - strtod(row->at[UNDER], NULL) / 100));
  /* No tolerance without need, none without a reason. */
  assert_true(over == 0 || (double)mine > bytes * (1 + (over - 0.1) / 100));
  assert_true(over == 0 || *row->at[CAUSES] || *row->at[WHY]);
  assert_non_null(strstr(row->at[SOURCE], "https://"));
  assert_true(*row->at[MODEL] && *row->at[MEASURED] && *row->at[GPU] &&
              *row->at[FRAMEWORK] && *row->at[WHERE]);
}

int main(void) {
  enum { MOST = 200 };
  static struct row rows[MOST];
  size_t count = 0;
  char *text = read_text("tests/data/published/gpu.csv", NULL);
  if (!read_rows(text, header, COLUMNS, rows, MOST, &count))
    return 1;
  int failed =
      run_table("published", rows, count, sizeof *rows, check_row, NULL, 0);
  free(text);
  return failed;
}
