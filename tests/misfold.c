/*
 * netc import whose folds go wrong: the linker puts this around the function
 * of import/fold.c, and what it has folded loses its last statement. A test
 * sees that such a source is not written; the product has nothing of it.
 */
#include "import/statement.h"

void __real_source_fold(struct source_plan *plan);
void __wrap_source_fold(struct source_plan *plan);

void __wrap_source_fold(struct source_plan *plan) {
  __real_source_fold(plan);
  plan->top.all.count--;
}
