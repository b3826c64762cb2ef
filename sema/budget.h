/* Budgets: what a net promises not to exceed. */
#ifndef NETC_SEMA_BUDGET_H
#define NETC_SEMA_BUDGET_H

#include "sema/cost.h"

/* Reports every promise of `budget` that the net breaks. */
void check_budget(const struct model *model, const struct settings *settings,
                  const struct rule *rule, struct diags *diags);

#endif
