/*
 * netc import whose folds go wrong: the linker puts this around the function
 * of import/fold.c, and what it has folded loses its last statement. With
 * MISCOUNT in the environment instead, readers count a parameter too many.
 * Tests see that such sources are not written; the product has nothing of it.
 */
#include <stdlib.h>

#include "import/statement.h"

void __real_source_fold(struct source_plan *plan);
void __wrap_source_fold(struct source_plan *plan);
void __real_graph_tensor(struct graph_node *node, const int64_t *sizes,
                         size_t count);
void __wrap_graph_tensor(struct graph_node *node, const int64_t *sizes,
                         size_t count);

void __wrap_source_fold(struct source_plan *plan) {
  __real_source_fold(plan);
  if (!getenv("MISCOUNT"))
    plan->top.all.count--;
}

void __wrap_graph_tensor(struct graph_node *node, const int64_t *sizes,
                         size_t count) {
  __real_graph_tensor(node, sizes, count);
  node->params += getenv("MISCOUNT") != NULL;
}
