/* Running commands and comparing texts, for all test programs. */
#ifndef NETC_TESTS_RUN_H
#define NETC_TESTS_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The program, as the tests name it and by its whole path; the products. */
#ifndef NETC
#define NETC "build/netc"
#define NETC_PATH "build/netc"
#define BUILD "build"
#endif

/* 1 if ASan is in the program, which takes ten times as long. */
#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/*
 * A test of seconds: `make check` leaves it out, which sets PART to fast in
 * the environment, and `make check-long`, with slow, runs it alone.
 */
#define SLOW "slow: " /* before such a test's name */
#define slow_test(f) \
  { SLOW #f, f, NULL, NULL, NULL }

/*
 * The same for a set: the fast part is each n-th member, the slow one the
 * others. Then all tests are run in both.
 */
bool in_part(size_t member, size_t n);
void run_in_both_parts(void);

/* A tenth of so many random cases; with FULL in the environment all. */
int tenth(int cases);

/* The result of a shell command; free with run_free. */
struct run {
  char *out, *err;
  int status;
};

struct run run(const char *format, ...) __attribute__((format(printf, 1, 2)));
void run_free(struct run *run);

/* A text of at most 1,023 bytes, until the next call. */
const char *text_of(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Runs a command that must end like that and say these things. */
void expect(const char *command, int status, const char *out, const char *err);

/* A whole file with a NUL behind it, or NULL. */
char *read_text(const char *path, size_t *length);
void write_text(const char *path, const char *text, size_t length);
void write_in(const char *folder, const char *name, const char *text);

/* Number of places at which a text has `what`. */
int count_of(const char *text, const char *what);

/* True if the shell finds a command. */
bool on_path(const char *command);

/* Skips the test where Debian's Python lacks one of these modules. */
void skip_without_python(const char *modules);

/* Prints the lines that differ and fails. */
void assert_same_text(const char *name, const char *expected,
                      const char *actual);

/*
 * A file of the repository that the program makes: with BLESS in the
 * environment it is written, else it has to be there and the same.
 */
void check_file(const char *path, const char *made);
/*
 * The rows of a table made anew, up to the first one that differs. A comment
 * and what is in front of the first row stay.
 */
void check_rows(const char *path, char quote,
                void (*put)(FILE *, const char *));

/* The same for the lines of a page between two marks; make docs. */
void check_part(const char *path, const char *begin, const char *end,
                const char *made);

/* Asserts that a text holds another. */
void assert_holds(const char *text, const char *part);

/*
 * Runs `check` on every row of a table, whose first member is the test's
 * name in an array, and a few other tests. Returns what main returns; an
 * empty table fails.
 */
int run_table(const char *name, void *rows, size_t count, size_t row_size,
              CMUnitTestFunction check, const struct CMUnitTest *others,
              size_t other_count);

/* A fresh folder among the products for a test's files. */
const char *scratch(const char *name);

/* Sorted paths below a folder whose names end in `suffix`. */
struct paths {
  char **at;
  size_t count;
};

struct paths find_paths(const char *folder, const char *suffix);
void paths_free(struct paths *paths);

#endif
