/*
 * What papers and programs print of the memory of large models, beside what
 * netc says: tests/data/published/large.csv has a row for each, and here a
 * test. An expression over netc's own numbers must give what is printed: to
 * the byte where the source is a formula, within its rounding otherwise.
 */
#define _XOPEN_SOURCE 700
#include <ctype.h>
#include <math.h>

#include "tests/csv.h"
#include "tests/report.h"

/* The columns, in the order of the table. */
enum column {
  ID,
  WHAT,
  NET,
  OPTIONS,
  LESS,
  VALUE,
  PRINTED,
  UNIT,
  WITHIN,
  WHERE,
  SOURCE,
  DIFFERS,
  COLUMNS
};

static const char header[] =
    "\n# id,what,net,options,less,value,printed,unit,within,where,source,"
    "differs\n";

_Static_assert((int)COLUMNS <= (int)CSV_COLUMNS, "tests/csv.h");

/* Values: + - * / and max(a,b), numbers, numbers of the JSON. */
struct reader {
  const char *at;
  json_t *json, *less; /* of the two runs; `less.` begins the second's */
  const char *name;    /* of the row */
};

static double read_sum(struct reader *r);

static double read_path(struct reader *r) {
  char path[160];
  size_t length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_.");
  assert_in_range(length, 1, 100);
  bool less = strncmp(r->at, "less.", 5) == 0;
  snprintf(path, sizeof path, "%.*s", (int)length, r->at);
  const char *name = less ? path + 5 : path;
  char full[200];
  r->at += length;
  if (strncmp(name, "stage.", 6) == 0)
    snprintf(full, sizeof full, "training.parallel.stages.0.%s", name + 6);
  else
    snprintf(full, sizeof full, "%s", name);
  json_t *at = find(less ? r->less : r->json, full);
  if (!at && !strstr(full, "_bytes"))
    print_error("%s: no number at %s\n", r->name, full);
  assert_true(at || strstr(full, "_bytes")); /* what is nothing is left out */
  return json_number_value(at);
}

static void take_mark(struct reader *r, char mark) {
  if (*r->at != mark)
    print_error("%s: `%c` at `%s`\n", r->name, mark, r->at);
  assert_int_equal(*r->at, mark);
  r->at++;
}

static double read_value(struct reader *r) {
  if (isdigit((unsigned char)*r->at)) {
    char *end;
    double value = strtod(r->at, &end);
    r->at = end;
    return value;
  }
  if (*r->at == '(') {
    r->at++;
    double value = read_sum(r);
    take_mark(r, ')');
    return value;
  }
  if (strncmp(r->at, "max(", 4) == 0) {
    r->at += 4;
    double a = read_sum(r);
    take_mark(r, ';');
    double b = read_sum(r);
    take_mark(r, ')');
    return a > b ? a : b;
  }
  return read_path(r);
}

static double read_product(struct reader *r) {
  double value = read_value(r);
  while (*r->at == '*' || *r->at == '/') {
    char mark = *r->at++;
    double other = read_value(r);
    value = mark == '*' ? value * other : value / other;
  }
  return value;
}

static double read_sum(struct reader *r) {
  double value = read_product(r);
  while (*r->at == '+' || *r->at == '-') {
    char mark = *r->at++;
    double other = read_product(r);
    value = mark == '+' ? value + other : value - other;
  }
  return value;
}

static void check_row(void **state) {
  const struct row *row = *state;
  double unit = strtod(row->at[UNIT], NULL);
  double within = strtod(row->at[WITHIN], NULL);
  struct reader r = {.at = row->at[VALUE], .name = row->name};
  r.json = compile_file(row->at[NET], row->at[OPTIONS]);
  if (*row->at[LESS])
    r.less = compile_file(row->at[NET], row->at[LESS]);
  double mine = read_sum(&r);
  assert_int_equal(*r.at, '\0');
  struct reader printed = {.at = row->at[PRINTED], .name = row->name};
  printed.json = r.json;
  double said = read_sum(&printed);
  assert_int_equal(*printed.at, '\0');
  double off = fabs(mine / unit - said);
  double most = within * (1 + 1e-9) + fabs(said) * 1e-13; /* of doubles */
  if (off > most)
    print_error("%s: %.10g, but printed is %s, +- %s\n", row->name, mine / unit,
                row->at[PRINTED], row->at[WITHIN]);
  assert_true(off <= most);
  assert_non_null(strstr(row->at[SOURCE], "https://"));
  assert_true(*row->at[WHAT] && *row->at[WHERE]);
  json_decref(r.json);
  json_decref(r.less);
}

int main(void) {
  enum { MOST = 200 };
  static struct row rows[MOST];
  size_t count = 0;
  char *text = read_text("tests/data/published/large.csv", NULL);
  if (!read_rows(text, header, COLUMNS, rows, MOST, &count))
    return 1;
  int failed =
      run_table("large", rows, count, sizeof *rows, check_row, NULL, 0);
  free(text);
  return failed;
}
