/* Lint: warnings about legal but awkward nets. */
#ifndef NETC_SEMA_LINT_LINT_H
#define NETC_SEMA_LINT_LINT_H

#include "sema/expand.h"

/* Warns about the built net; needs its costs. */
void lint_model(const struct expansion *expansion, const struct block *program,
                struct model *model);

/* Warns, from the text alone, of statements that look like others. */
void lint_statements(const struct expansion *expansion,
                     const struct block *program);

/* Warns, from the text alone, of unused names. */
void lint_names(struct diags *diags, const struct block *program);

#endif
