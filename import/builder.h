/* How structure.c, cells.c and region.c make statements of a graph. */
#ifndef NETC_IMPORT_BUILDER_H
#define NETC_IMPORT_BUILDER_H

#include "import/dominate.h"
#include "import/statement.h"

/*
 * How a layer gets its tensors: the current one; blocks on the tensor before a
 * join; names; or, for cells, each operand as is best for it.
 */
enum source_form { FORM_CHAIN, FORM_BLOCKS, FORM_LABELS, FORM_MIXED };

struct source_heads {
  VEC(int) all;
};

struct source_builder {
  struct source_plan *plan;
  struct graph *graph;
  struct arena *arena;
  struct dominators tree;
  struct source_layout layout;
  bool *written;
  int *stamp, now; /* of the region that is looked at */
  VEC(int) region;
  int *side_of; /* the node at which a head's branch forks off; -1 */
  struct source_heads
      *heads; /* by node: outputs whose branches fork off there */
  int outputs;
  int depth;
  struct cell_node *cells; /* by node, for LAYOUT_CELLS */
};

/* Regions: what lies between a tensor and one that is made of it. */

/*
 * Stamps what lies between `top` and `bottom`, with `bottom`, and lists it in
 * `region`; false if that is too much, or some of it is written already.
 */
bool region_stamp(struct source_builder *b, int top, int bottom);
void region_new(struct source_builder *b);
/* Whether all that uses a stamped node is stamped, or is `end`. */
bool region_keeps(const struct source_builder *b, int node, int end);
bool region_is_private(const struct source_builder *b, int end);

enum source_form source_form_of(struct source_builder *b,
                                const struct graph_node *node);

/* Statements. */

/* Makes a tensor the current one, by its name. */
void source_put_from(struct source_builder *b, struct source_block *out,
                     int node);
/* One layer after its operands, its tail's place kept, its heads forked. */
void source_put_node(struct source_builder *b, struct source_block *out,
                     int *current, int index, enum source_form form);

/* cells.c: writes what is needed for `target`, then the current tensor. */
void cells_open(struct source_builder *b);
void cells_emit(struct source_builder *b, struct source_block *out,
                int *current, int target);
/* An operand that nothing else uses, as a block on the current tensor. */
struct source_block *cells_operand(struct source_builder *b, int current,
                                   int operand);

#endif
