/* Nets in tests: what went wrong with one is printed. */
#ifndef NETC_TESTS_NETS_H
#define NETC_TESTS_NETS_H

#include "netc.h"
#include "tests/run.h"

static inline bool print_piece(void *user, const char *bytes, size_t length) {
  (void)user;
  print_error("%.*s", (int)length, bytes);
  return true;
}

/* Prints the errors of the last load; returns its status. */
static inline enum netc_status show_errors(struct netc *netc,
                                           enum netc_status status) {
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    netc_diagnostic(netc, i, &d);
    if (d.severity == NETC_SEVERITY_ERROR)
      netc_diagnostic_emit(netc, i, NETC_STYLE_TEXT, print_piece, NULL);
  }
  return status;
}

#endif
