/* Formulas: how each number of a row is computed. */
#ifndef NETC_CODEGEN_FORMULA_H
#define NETC_CODEGEN_FORMULA_H

#include "codegen/rows.h"

/* Writes lines below a row of the report, each with `mark` in front: its sizes,
 * parameters and MACs. */
void formula_put_row(struct text *out, const struct compiled *c,
                     const struct row *row, const char *mark, size_t indent);

#endif
