/* Formulas: where each number of a row comes from, with its values. */
#ifndef NETC_CODEGEN_FORMULA_H
#define NETC_CODEGEN_FORMULA_H

#include "codegen/rows.h"

/* Lines under a row of the report: its sizes, parameters and MACs. Each begins
 * with the mark. */
void formula_put_row(struct text *out, const struct compiled *c,
                     const struct row *row, const char *mark, size_t indent);

#endif
