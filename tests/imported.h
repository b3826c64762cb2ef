/* Sources that `netc import` gives, as tests count them. */
#ifndef NETC_TESTS_IMPORTED_H
#define NETC_TESTS_IMPORTED_H

#include "tests/report.h"

static inline int line_count(const char *text) {
  int lines = 0;
  for (; *text; text++)
    lines += *text == '\n';
  return lines;
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

#endif
