/* Warnings: what is legal but awkward. */
#ifndef NETC_SEMA_LINT_LINT_H
#define NETC_SEMA_LINT_LINT_H

#include "sema/expand.h"

/* Warns about the net that was built; needs its costs. */
void lint_model(const struct expansion *expansion, const struct block *program,
                struct model *model);

/* Statements that compile, and look like another: by the text alone. */
void lint_statements(const struct expansion *expansion,
                     const struct block *program);

/* Names that are defined and never used: by the text alone. */
void lint_names(struct diags *diags, const struct block *program);

#endif
