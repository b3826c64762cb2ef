/*
 * Files of weights that others published, and what servers print: the tables
 * tests/data/published/files.csv and serving.csv have a row for each, and here
 * is a test. All bytes are accounted for where the exact size is known; else
 * netc's figure lies in what rounding leaves open.
 */
#define _XOPEN_SOURCE 700
#include "tests/csv.h"
#include "tests/report.h"

/* The columns, in the order of the table. */
enum column {
  ID,
  NET,
  OPTIONS,
  FIELD,
  PRINTED,
  BYTES,
  ROUNDING,
  BESIDES,
  SOURCE,
  WHERE,
  WHY,
  COLUMNS
};

static const char header[] =
    "\n# "
    "id,net,options,field,printed,bytes,rounding,besides,source,where,why\n";

_Static_assert((int)COLUMNS <= (int)CSV_COLUMNS, "tests/csv.h");

/* "34.8 GB + 23 GB": the sum of the parts, in bytes. */
static double sum_printed(const char *text) {
  double sum = 0;
  for (;;) {
    char *end;
    double value = strtod(text, &end);
    assert_true(end > text);
    sum += value * (strncmp(end, " GB", 3) == 0    ? 1e9
                    : strncmp(end, " GiB", 4) == 0 ? 0x1p30
                    : strncmp(end, " MB", 3) == 0  ? 1e6
                    : strncmp(end, " MiB", 4) == 0 ? 0x1p20
                                                   : 1);
    text = strchr(end, '+');
    if (!text)
      return sum;
    text++;
  }
}

static void check_row(void **state) {
  const struct row *row = *state;
  int64_t bytes = strtoll(row->at[BYTES], NULL, 10);
  int64_t rounding = strtoll(row->at[ROUNDING], NULL, 10);
  int64_t besides = strtoll(row->at[BESIDES], NULL, 10);
  json_t *json = compile_file(row->at[NET], row->at[OPTIONS]);
  int64_t mine = number(json, row->at[FIELD]);
  json_decref(json);
  if (rounding == 0)
    assert_int_equal(mine + besides, bytes);
  assert_true(mine <= bytes + rounding);
  assert_true(mine + besides >= bytes - rounding);
  /* The unexplained rest is less than 2.5 % of the file. */
  assert_true(besides + rounding < bytes / 40);
  assert_true(sum_printed(row->at[PRINTED]) - (double)bytes < 1 &&
              (double)bytes - sum_printed(row->at[PRINTED]) < 1);
  assert_non_null(strstr(row->at[SOURCE], "https://"));
  assert_true(*row->at[WHERE] && *row->at[WHY]);
}

int main(void) {
  enum { MOST = 200 };
  static struct row rows[MOST];
  size_t count = 0;
  char *files = read_text("tests/data/published/files.csv", NULL);
  char *servers = read_text("tests/data/published/serving.csv", NULL);
  if (!read_rows(files, header, COLUMNS, rows, MOST, &count) ||
      !read_rows(servers, header, COLUMNS, rows, MOST, &count))
    return 1;
  int failed =
      run_table("weight files", rows, count, sizeof *rows, check_row, NULL, 0);
  free(files);
  free(servers);
  return failed;
}
