/* Cases as text: files of tests/cases, and what runs them. */
#ifndef NETC_TESTS_CASES_H
#define NETC_TESTS_CASES_H

#include "tests/run.h"

/*
 * A file has a comment, then cases:
 *
 *   == name
 *   lines that the test is given
 *   --
 *   lines that must come of them
 *
 * `given` and `expected` end in a line's end; a case has an empty line behind
 * it, which belongs to neither.
 */
struct text_case {
  const char *name, *given, *expected;
};

/* The cases of a file that one function tries; it returns a new text. */
struct case_file {
  const char *path;
  char *(*result)(const struct text_case *);
};

/*
 * Runs each case as a test and prints the lines that differ. With `part` it
 * runs those whose names have that part. With BLESS in the environment the
 * files are written with the results of these cases. Returns what main returns.
 */
int run_cases(const struct case_file *files, size_t count, const char *part,
              const struct CMUnitTest *others, size_t other_count);

#endif
