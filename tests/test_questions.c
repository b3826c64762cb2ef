/*
 * Questions that people asked in public, with the right values:
 * tests/data/questions.txt. A case fails if a line of it is not in the answer,
 * in order.
 */
#define _GNU_SOURCE /* asprintf, open_memstream, strsep */
#include <ctype.h>

#include "tests/cases.h"

/* Layout and line breaks are no part of an answer: one blank for each run. */
static void fold_blanks(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    bool blank = isspace((unsigned char)*from);
    if (!blank || (to > text && to[-1] != ' '))
      *to++ = blank ? ' ' : *from;
  }
  while (to > text && to[-1] == ' ')
    to--;
  *to = '\0';
}

static bool is_digit(char c) {
  return isdigit((unsigned char)c);
}

/* True if the match from `at` to `end` cuts no number short. */
static bool is_whole(const char *text, const char *at, const char *end) {
  char before = at > text ? at[-1] : ' ';
  bool cut =
      is_digit(*at) && (is_digit(before) || before == ',' || before == '.');
  bool runs_on = is_digit(end[0]) ||
                 ((end[0] == ',' || end[0] == '.') && is_digit(end[1]));
  return !cut && !(is_digit(end[-1]) && runs_on);
}

/* Behind the first place of `line` from `at` on, or NULL. */
static const char *find_answer(const char *text, const char *at,
                               const char *line) {
  size_t length = strlen(line);
  for (; (at = strstr(at, line)); at++)
    if (is_whole(text, at, at + length))
      return at + length;
  return NULL;
}

/* Runs the lines that begin with `$`; each answer ends in its exit status. */
static char *answer_of(const struct text_case *c) {
  char *given = strdup(c->given), *rest = given, *answer = strdup("");
  int commands = 0;
  for (char *line; (line = strsep(&rest, "\n"));) {
    if (strncmp(line, "$ netc ", 7) != 0)
      continue;
    commands++;
    struct run r = run(NETC " %s", line + 7);
    char *longer = NULL;
    size_t length;
    FILE *out = open_memstream(&longer, &length);
    assert_non_null(out);
    fprintf(out, "%s%s%s exit %d\n", answer, r.out, r.err, r.status);
    assert_int_equal(fclose(out), 0);
    free(answer);
    answer = longer;
    if (!strstr(c->expected, "exit "))
      assert_int_equal(r.status, 0);
    run_free(&r);
  }
  assert_true(commands > 0);
  free(given);
  fold_blanks(answer);
  return answer;
}

/*
 * The lines that are expected, so that the case holds; those from the first one
 * that is missing on are replaced by the answer.
 */
static char *check_answer(const struct text_case *c) {
  assert_true(strncmp(c->given, "source ", 7) == 0);
  assert_holds(c->given, "\nask ");
  char *answer = answer_of(c), *lines = strdup(c->expected), *rest = lines;
  const char *at = answer;
  int found = 0;
  char *result = NULL;
  for (char *line; !result && (line = strsep(&rest, "\n"));) {
    size_t begin = (size_t)(line - lines);
    fold_blanks(line);
    if (!*line)
      continue;
    at = find_answer(answer, at, line);
    found++;
    if (!at && asprintf(&result, "%.*s(missing: %s)\nThe answer was: %s\n",
                        (int)begin, c->expected, line, answer) < 0)
      result = NULL;
  }
  assert_true(found > 0);
  free(lines);
  free(answer);
  return result ? result : strdup(c->expected);
}

int main(int argc, char **argv) {
  static const struct case_file files[] = {
      {"tests/data/questions.txt", check_answer}};
  unsetenv("BLESS"); /* right values come from sources, never from netc */
  return run_cases(files, 1, argc > 1 ? argv[1] : "", NULL, 0);
}
