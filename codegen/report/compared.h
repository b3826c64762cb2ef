/* Compared: training steps with other settings than the net's own. */
#ifndef NETC_CODEGEN_REPORT_COMPARED_H
#define NETC_CODEGEN_REPORT_COMPARED_H

#include "codegen/backend.h"

/* The first one has the net's own settings, "as set". */
struct compared_step {
  struct slice name; /* "checkpoint=8 precision=mixed" */
  const struct settings *settings;
  const struct memory *memory;
  int64_t peak; /* on the most loaded device */
};
struct compared_step compared_step(const struct compiled *c, size_t index);

/* "43 % less", "as much" */
void compared_put_change(struct text *out, int64_t bytes, int64_t than);

/* "recomputes 92 % of a forward pass", "8 devices"; false: no price. */
bool compared_put_price(struct text *out, const struct compiled *c,
                        const struct compared_step *step);

/* The table in the report. */
void compared_report(const struct compiled *c, struct text *out);

#endif
