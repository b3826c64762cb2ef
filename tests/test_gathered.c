/*
 * docs/import.md says of the files that were gathered what the rows of
 * tests/data/import/gathered.csv say: how many of each kind are read, and why
 * the others are refused. `make check-gathered` asks the files themselves.
 */
#define _XOPEN_SOURCE 700
#include "tests/run.h"

enum { MOST = 1024, KINDS = 32 };

/* A field of a row, without its quotes; what follows it. */
static const char *field(const char *at, char *to) {
  bool quoted = *at == '"';
  size_t length = 0;
  for (at += quoted; quoted || (*at != ',' && *at != '\n'); at++) {
    if (*at == '"' && at[1] != '"') {
      at++;
      break;
    }
    at += *at == '"';
    assert_true(*at && length + 1 < MOST);
    to[length++] = *at;
  }
  to[length] = '\0';
  return at + (*at == ',');
}

struct kind {
  char *name;
  int files, refused;
};

static struct kind *find(struct kind *kinds, int *count, const char *name) {
  for (int i = 0; i < *count; i++)
    if (strcmp(kinds[i].name, name) == 0)
      return &kinds[i];
  assert_true(*count < KINDS);
  kinds[*count].name = strdup(name);
  assert_non_null(kinds[*count].name);
  return &kinds[(*count)++];
}

static void the_manual_has_their_sums(void **state) {
  (void)state;
  static struct kind kinds[KINDS];
  static char at[5][MOST], line[4 * MOST], row_there[MOST];
  int count = 0, files = 0, refused = 0;
  char *page = read_text("docs/import.md", NULL);
  char *rows = read_text("tests/data/import/gathered.csv", NULL);
  const char *row = strchr(rows, '\n') + 1;
  for (; *row; row++) {
    for (int i = 0; i < 5; i++)
      row = field(row, at[i]);
    assert_int_equal(*row, '\n');
    assert_true(!*at[3] != !*at[4]); /* read, or a reason */
    struct kind *kind = find(kinds, &count, at[0]);
    kind->files++;
    if (!*at[4])
      continue;
    kind->refused++;
    snprintf(line, sizeof line, "\n| %s/%s | %s |\n", at[0], at[1], at[4]);
    assert_holds(page, line);
  }
  for (int i = 0; i < count; i++) {
    const struct kind *k = &kinds[i];
    snprintf(line, sizeof line, "\n| `%s` | ", k->name);
    const char *there = strstr(page, line);
    assert_non_null(there);
    snprintf(row_there, sizeof row_there, "%.*s\n",
             (int)strcspn(there + 1, "\n"), there + 1);
    snprintf(line, sizeof line, " | %d | %d | %d |\n", k->files,
             k->files - k->refused, k->refused);
    assert_holds(row_there, line);
    files += k->files;
    refused += k->refused;
    free(k->name);
  }
  snprintf(line, sizeof line, "\n| all | | %d | %d | %d |\n", files,
           files - refused, refused);
  assert_holds(page, line);
  free(rows);
  free(page);
}

/* So are the sums of public.csv; a file is read or has a reason. */
static void the_manual_has_the_sums_of_public_files(void **state) {
  (void)state;
  static char at[9][MOST], line[MOST];
  char *page = read_text("docs/import.md", NULL);
  char *rows = read_text("tests/data/import/public.csv", NULL);
  int files = 0, read = 0, compared = 0;
  for (const char *row = strchr(rows, '\n') + 1; *row; row++) {
    for (int i = 0; i < 9; i++)
      row = field(row, at[i]);
    assert_int_equal(*row, '\n');
    assert_true(!*at[6] != !*at[8]);
    assert_int_equal(!*at[6], !*at[7]);
    files++;
    read += *at[6] != '\0';
    compared += *at[7] && strcmp(at[7], "not counted") != 0;
  }
  snprintf(line, sizeof line, "lists %d further files", files);
  assert_holds(page, line);
  snprintf(line, sizeof line, "\n%d are read. %d counts were compared", read,
           compared);
  assert_holds(page, line);
  free(rows);
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_manual_has_their_sums),
      cmocka_unit_test(the_manual_has_the_sums_of_public_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
