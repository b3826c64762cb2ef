/* The first lines of a report: does it fit, and how much does it take? */
#ifndef NETC_CODEGEN_ANSWER_H
#define NETC_CODEGEN_ANSWER_H

#include "codegen/backend.h"

void answer_put(const struct compiled *c, const struct emit_options *options,
                struct text *out);

#endif
