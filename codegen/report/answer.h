/* The first lines of a report: does it fit, and how much does it take? */
#ifndef NETC_CODEGEN_REPORT_ANSWER_H
#define NETC_CODEGEN_REPORT_ANSWER_H

#include "codegen/section.h"

/*
 * "The training step fits: ..." on one line, or the same of a prediction;
 * nothing if no device was named.
 */
enum verdict answer_put_verdict(const struct compiled *c, struct text *out);

/* "training", "353.14 MiB", "batch 1, momentum". */
struct answer_line {
  const char *what;
  struct slice size, more;
};
enum { ANSWER_LINES = 3 };

/* How much it takes; their number. */
int answer_lines(const struct compiled *c,
                 struct answer_line lines[ANSWER_LINES]);

/*
 * What a device's bytes are not free for: ", of which the framework has 408.12
 * MiB and 1.45 GiB are a reserve", or ", less than the framework's own 408.12
 * MiB".
 */
void answer_put_taken(struct text *out, enum text_units units, int64_t device,
                      int64_t taken, int64_t reserve);

void answer_put(const struct compiled *c, struct text *out);

#endif
