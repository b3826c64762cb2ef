/* State that structure.c, cells.c and region.c share while they turn a graph
 * into statements. */
#ifndef NETC_IMPORT_BUILDER_H
#define NETC_IMPORT_BUILDER_H

#include "import/dominate.h"
#include "import/statement.h"

/* How a layer's operands are written: the current tensor; blocks on the tensor
 * before a join; names; or, for cells, the best of these for each operand. */
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
  int *stamp, now; /* of the current region */
  VEC(int) region;
  int *side_of; /* node at which a head's branch forks off, by node; -1 */
  struct source_heads
      *heads;  /* by node: outputs whose branches fork off there */
  int *listed; /* outputs to write, by place in the file's list; or -1 */
  int next;    /* place of the first of them */
  bool disordered;
  int depth;
  struct cell_node *cells; /* by node, if layout.cells */
};

/* Regions: the nodes between a tensor and one that is computed from it. */

/*
 * Stamps the nodes between `top` and `bottom`, with `bottom`, and lists them in
 * `region`. Returns false if there are too many, or if some are already
 * written.
 */
bool region_stamp(struct source_builder *b, int top, int bottom);
void region_new(struct source_builder *b);
/* True if every user of a stamped node is stamped, or is `end`. */
bool region_keeps(const struct source_builder *b, int node, int end);
bool region_is_private(const struct source_builder *b, int end);

enum source_form source_form_of(struct source_builder *b,
                                const struct graph_node *node);

/* Statements. */

/* Writes a `from` that makes a tensor the current one. */
void source_put_from(struct source_builder *b, struct source_block *out,
                     int node);
/* Writes one layer after its operands, then its output and its heads' forks. */
void source_put_node(struct source_builder *b, struct source_block *out,
                     int *current, int index, enum source_form form);

/* cells.c: writes all that `target` needs, and makes it the current tensor. */
void cells_open(struct source_builder *b);
void cells_emit(struct source_builder *b, struct source_block *out,
                int *current, int target);
/* The block, on the current tensor, of an operand without other users. */
struct source_block *cells_operand(struct source_builder *b, int current,
                                   int operand);

#endif
