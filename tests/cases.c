/* Reads, runs and blesses cases that are text. */
#define _XOPEN_SOURCE 700
#include "tests/cases.h"

struct tried {
  struct text_case given;
  const struct case_file *file;
  char *blessed; /* with BLESS: the result */
};

struct case_list {
  struct tried *at;
  size_t count;
};

/* Ends the line at `at` and returns the next one. */
static char *next_line(char *at) {
  at += strcspn(at, "\n");
  if (*at)
    *at++ = '\0';
  return at;
}

/* The line that is `mark` alone, or begins so if `mark` ends in a blank. */
static char *find_line(char *at, const char *mark) {
  size_t length = strlen(mark);
  for (; *at; at += *at == '\n') {
    if (strncmp(at, mark, length) == 0 &&
        (mark[length - 1] == ' ' || at[length] == '\n'))
      return at;
    at += strcspn(at, "\n");
  }
  return NULL;
}

/* A new text up to `end`, without the empty line before that. */
static char *copy_lines(const char *from, const char *end) {
  if (end - from > 1 && end[-1] == '\n' && end[-2] == '\n')
    end--;
  return strndup(from, (size_t)(end - from));
}

static void read_cases(struct case_list *all, const struct case_file *file) {
  char *text = read_text(file->path, NULL);
  if (!text) {
    fprintf(stderr, "%s is missing\n", file->path);
    exit(1);
  }
  for (char *at = find_line(text, "== "), *next; at; at = next) {
    char *name = at + 3, *given = next_line(at);
    char *mark = find_line(given, "--");
    next = find_line(given, "== ");
    if (!mark || (next && next < mark)) {
      fprintf(stderr, "%s: %s has no `--`\n", file->path, name);
      exit(1);
    }
    char *end = next ? next : mark + strlen(mark);
    all->at = realloc(all->at, (all->count + 1) * sizeof *all->at);
    all->at[all->count++] =
        (struct tried){.given = {.name = strdup(name),
                                 .given = copy_lines(given, mark),
                                 .expected = copy_lines(mark + 3, end)},
                       .file = file};
  }
  free(text);
}

static void check_case(void **state) {
  struct tried *tried = *state;
  char *result = tried->file->result(&tried->given);
  assert_non_null(result);
  if (getenv("BLESS")) {
    tried->blessed = result;
    return;
  }
  assert_same_text(tried->given.name, tried->given.expected, result);
  free(result);
}

/* The comment of a file stays, and so do cases that did not run. */
static void bless(const struct case_list *all, const struct case_file *file) {
  char *text = read_text(file->path, NULL), *first = find_line(text, "== ");
  FILE *out = fopen(file->path, "w");
  assert_non_null(out);
  fwrite(text, 1, (size_t)(first - text), out);
  const char *gap = "";
  for (size_t i = 0; i < all->count; i++) {
    const struct tried *tried = &all->at[i];
    if (tried->file != file)
      continue;
    fprintf(out, "%s== %s\n%s--\n%s", gap, tried->given.name,
            tried->given.given,
            tried->blessed ? tried->blessed : tried->given.expected);
    gap = "\n";
  }
  assert_int_equal(fclose(out), 0);
  free(text);
}

int run_cases(const struct case_file *files, size_t count, const char *part,
              const struct CMUnitTest *others, size_t other_count) {
  struct case_list all = {0};
  for (size_t i = 0; i < count; i++)
    read_cases(&all, &files[i]);
  struct CMUnitTest *tests = calloc(all.count + other_count, sizeof *tests);
  size_t wanted = 0;
  for (size_t i = 0; i < all.count; i++)
    if (strstr(all.at[i].given.name, part))
      tests[wanted++] = (struct CMUnitTest){.name = all.at[i].given.name,
                                            .test_func = check_case,
                                            .initial_state = &all.at[i]};
  if (!wanted) {
    fprintf(stderr, "no case has `%s` in its name\n", part);
    return 1;
  }
  for (size_t i = 0; i < other_count; i++)
    tests[wanted++] = others[i];
  int failed = _cmocka_run_group_tests("cases", tests, wanted, NULL, NULL);
  for (size_t i = 0; i < count && getenv("BLESS"); i++)
    bless(&all, &files[i]);
  for (size_t i = 0; i < all.count; i++) {
    free((char *)all.at[i].given.name);
    free((char *)all.at[i].given.given);
    free((char *)all.at[i].given.expected);
    free(all.at[i].blessed);
  }
  free(all.at);
  free(tests);
  return failed;
}
