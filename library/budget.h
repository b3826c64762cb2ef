/* Budgets: limits that a net promises to keep. */
#ifndef NETC_LIBRARY_BUDGET_H
#define NETC_LIBRARY_BUDGET_H

#include "memory/memory.h"

/* Reports every limit of `budget` that the net exceeds. */
void budget_check(const struct model *model, const struct settings *settings,
                  const struct memory *memory, struct diags *diags);

#endif
