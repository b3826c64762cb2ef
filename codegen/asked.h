/* Asked: the question that an output answers, found once for all of it. */
#ifndef NETC_CODEGEN_ASKED_H
#define NETC_CODEGEN_ASKED_H

#include "codegen/backend.h"

/* NULL: a size passes 2^63 - 1. */
const struct answer *asked_of(const struct compiled *c);

/* "bfloat16": of what was asked; of both, where they have others. */
void asked_put_types(struct text *out, const struct compiled *c);

#endif
