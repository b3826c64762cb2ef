/* The first lines of a report: whether the net fits, and how much it takes. */
#ifndef NETC_CODEGEN_REPORT_SUMMARY_H
#define NETC_CODEGEN_REPORT_SUMMARY_H

#include "codegen/backend.h"

/* Writes "The training step fits: ..." on one line, or the same for inference;
 * nothing if no device was named. */
enum fit_verdict summary_put_verdict(const struct compiled *c,
                                     struct text *out);

/* "training", "353.14 MiB", "batch 1, momentum"; a step's time is "step". */
struct summary_line {
  const char *what;
  struct slice size, more;
};
enum { SUMMARY_LINES = 4 };

/* Fills in the requirements, the answer first; returns the number of lines. */
int summary_lines(const struct compiled *c,
                  struct summary_line lines[SUMMARY_LINES]);

void summary_put(const struct compiled *c, struct text *out);

/* Repeats the answer below the report, wrapped if it is long. */
void summary_put_last(const struct compiled *c, struct text *out);

#endif
