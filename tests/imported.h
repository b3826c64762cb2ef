/* Sources that `netc import` gives, as tests count them. */
#ifndef NETC_TESTS_IMPORTED_H
#define NETC_TESTS_IMPORTED_H

#include "tests/report.h"

/* Those of the net: what it allows is one more. */
static inline int line_count(const char *text) {
  int lines = 0;
  for (const char *c = text; *c; c++)
    lines += *c == '\n';
  return lines - (strstr(text, "\nallow \"") != NULL);
}

/* The source that a file gives, to be freed. */
static inline char *import(const char *path, const char *options) {
  struct run r = run("%s import %s %s", NETC, options, path);
  if (r.status)
    print_error("%s: %s", path, r.err);
  assert_int_equal(r.status, 0);
  char *source = strdup(r.out);
  run_free(&r);
  return source;
}

/* What the import of a text gives that sed has changed, to be freed; status 1
 * also if nothing changed. */
static inline struct run import_changed(const char *folder, const char *file,
                                        const char *change) {
  const char *to = scratch("changed");
  return run("sed '%s' %s%s >%s/%s && ! cmp -s %s/%s %s%s && timeout 10 " NETC
             " import %s/%s -o %s/x.net",
             change, folder, file, to, file, to, file, folder, file, to, file,
             to);
}

static inline struct netc_totals totals_of(const char *path,
                                           const char *source) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_totals totals = {.size = sizeof totals};
  if (netc_load_text(netc, path, source, strlen(source)) != NETC_OK)
    print_error("%s: it does not compile:\n%s", path, source);
  assert_int_equal(netc_totals(netc, &totals), NETC_OK);
  netc_close(netc);
  return totals;
}

/* The bytes of a run of the net in `folder`, by what `options` say. */
static inline char *values_of(const char *folder, const char *net,
                              const char *options) {
  struct run r = run("%s run %s %s -o %s/y.npy && od -An -tfF -j128 %s/y.npy",
                     NETC, net, options, folder, folder);
  if (r.status)
    print_error("%s: %s", net, r.err);
  assert_int_equal(r.status, 0);
  char *values = strdup(r.out);
  run_free(&r);
  return values;
}

static inline void assert_near(char *a, char *b) {
  for (;;) {
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    assert_int_equal(end_a == a, end_b == b);
    if (end_a == a)
      return;
    assert_true(x - y < 1e-4 * (1 + (x < 0 ? -x : x)));
    assert_true(y - x < 1e-4 * (1 + (x < 0 ? -x : x)));
    a = end_a;
    b = end_b;
  }
}

#endif
