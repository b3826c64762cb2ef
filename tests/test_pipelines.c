/*
 * What netc says of the stages of pipelines that others measured, and of runs
 * without one that ran out of memory: tests/data/published/pipelines.csv has a
 * row for each, with their own cut, and here a test.
 */
#define _XOPEN_SOURCE 700
#include "tests/csv.h"
#include "tests/report.h"

/* The columns, in the order of the table. */
enum column {
  ID,
  WHAT,
  NET,
  OPTIONS,
  VALUE,
  PRINTED,
  UNIT,
  LEAST,
  MOST_OF_IT,
  WHERE,
  SOURCE,
  WHY,
  COLUMNS
};

static const char header[] =
    "\n# id,what,net,options,value,printed,unit,least,most,where,source,why\n";

_Static_assert((int)COLUMNS <= (int)CSV_COLUMNS, "tests/csv.h");

static double most_loaded(json_t *json) {
  json_t *stages = find(json, "training.parallel.stages"), *stage;
  int64_t most = stages ? 0 : number(json, "training.peak_bytes");
  size_t i;
  json_array_foreach(stages, i, stage) {
    int64_t peak = number(stage, "peak_bytes");
    most = peak > most ? peak : most;
  }
  return (double)most;
}

static double of_last(json_t *json) {
  json_t *stages = find(json, "training.parallel.stages");
  size_t count = json_array_size(stages);
  assert_true(count > 0);
  return (double)number(json_array_get(stages, count - 1), "peak_bytes");
}

/* A sum of what the first stage holds. */
static double of_first(json_t *json, const char *fields) {
  char path[96], copy[128], *rest = copy;
  double sum = 0;
  snprintf(copy, sizeof copy, "%s", fields);
  for (char *field; (field = strtok_r(rest, "+", &rest));) {
    snprintf(path, sizeof path, "training.parallel.stages.0.%s", field);
    sum += (double)number(json, path);
  }
  return sum;
}

/* The allocator's reserved over its allocated bytes. */
static double held(json_t *json) {
  return (double)number(json, "training.reserved_bytes") /
         (double)number(json, "training.allocated_bytes");
}

static void check_row(void **state) {
  const struct row *row = *state;
  struct run got = run("%s %s %s -Wno-uneven-stages --emit=json=-", NETC,
                       row->at[NET], row->at[OPTIONS]);
  if (got.status != 0)
    print_error("%s", got.err);
  assert_int_equal(got.status, 0);
  json_t *json = json_loads(got.out, 0, NULL);
  assert_non_null(json);
  const char *value = row->at[VALUE];
  double mine = strcmp(value, "peak") == 0   ? most_loaded(json)
                : strcmp(value, "last") == 0 ? of_last(json)
                : strcmp(value, "held") == 0 ? held(json)
                                             : of_first(json, value);
  double ratio =
      mine / strtod(row->at[PRINTED], NULL) / strtod(row->at[UNIT], NULL);
  double least = strtod(row->at[LEAST], NULL);
  double most = strtod(row->at[MOST_OF_IT], NULL);
  if (ratio < least || ratio > most)
    print_error("%s: %.3f of %s\n", row->name, ratio, row->at[PRINTED]);
  assert_true(least > 0.5 && ratio >= least && ratio <= most);
  assert_non_null(strstr(row->at[SOURCE], "https://"));
  assert_true(*row->at[WHAT] && *row->at[WHERE] && *row->at[WHY]);
  json_decref(json);
  run_free(&got);
}

int main(void) {
  enum { MOST = 80 };
  static struct row rows[MOST];
  size_t count = 0;
  char *text = read_text("tests/data/published/pipelines.csv", NULL);
  if (!read_rows(text, header, COLUMNS, rows, MOST, &count))
    return 1;
  int failed =
      run_table("pipelines", rows, count, sizeof *rows, check_row, NULL, 0);
  free(text);
  return failed;
}
