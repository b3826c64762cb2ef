/*
 * Writes nets of cells, in which a layer takes several tensors. A node with
 * several users is an anchor: it has a label, and anchors keep the order of the
 * file. Every other node is written with its only user: before it on its line,
 * or as a block among its operands. The block begins with `from` if it does not
 * start at the current tensor.
 */
#include <stdlib.h>

#include "import/builder.h"

enum {
  SHORT = 3,  /* layers; a shorter branch is a block */
  LARGE = 24, /* layers; a larger join of branches ends a cell */
  MOST_PRIVATE = 64,
};

struct cell_node {
  int readers; /* among the nodes to write; 0: not to be written */
  bool anchor;
  enum source_form form;
  int main;       /* the operand written before it; -1: none */
  int size, deep; /* layers written with it; nesting of its blocks */
};

typedef VEC(int) node_list;

void cells_open(struct source_builder *b) {
  b->cells = arena_alloc(b->arena, b->graph->nodes.count + 1, sizeof *b->cells);
}

static int by_number(const void *a, const void *b) {
  const int *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Number of tensors after which a layer's statement is written. */
static size_t source_count(const struct source_builder *b, int index) {
  return b->cells[index].form == FORM_BLOCKS
             ? 1
             : graph_feeds(graph_at(b->graph, index));
}

static int source(const struct source_builder *b, int index, size_t i) {
  return b->cells[index].form == FORM_BLOCKS
             ? b->tree.parent[index]
             : graph_feed(graph_at(b->graph, index), i);
}

/* Lists the nodes that `target` needs and that are not yet written, in the
 * order of the file. */
static void list_needed(struct source_builder *b, int target, node_list *list) {
  *VEC_PUSH(b->arena, list) = target;
  b->cells[target] = (struct cell_node){.readers = 1, .anchor = true};
  for (size_t next = 0; next < list->count; next++) {
    int at = list->at[next];
    const struct graph_node *node = graph_at(b->graph, at);
    struct cell_node *cell = &b->cells[at];
    enum source_form form = source_form_of(b, node);
    cell->form = form == FORM_LABELS ? FORM_MIXED : form;
    for (size_t i = 0; i < source_count(b, at); i++) {
      int from = source(b, at, i);
      if (b->written[from])
        continue;
      if (b->cells[from].readers == 0)
        *VEC_PUSH(b->arena, list) = from;
      b->cells[from].readers++;
      bool named = i >= node->inputs.count; /* by a key */
      b->cells[from].anchor = b->cells[from].anchor || named;
    }
  }
  qsort(list->at, list->count, sizeof *list->at, by_number);
}

static bool hangs(const struct source_builder *b, int node) {
  return !b->written[node] && !b->cells[node].anchor;
}

/* Chooses the operand that comes first, and makes anchors of operands that are
 * too large for a block. */
static void weigh_join(struct source_builder *b, int index) {
  const struct graph_node *node = graph_at(b->graph, index);
  struct cell_node *cell = &b->cells[index];
  int large = 0;
  for (size_t i = 0; i < node->inputs.count; i++) {
    int operand = node->inputs.at[i];
    if (!hangs(b, operand) || b->cells[operand].size <= SHORT)
      continue;
    cell->main = operand;
    large++;
  }
  if (large > 1)
    cell->main = -1;
  for (size_t i = 0; i < node->inputs.count; i++) {
    int operand = node->inputs.at[i];
    if (!hangs(b, operand))
      continue;
    struct cell_node *in = &b->cells[operand];
    int deep = in->deep + (operand != cell->main);
    if (operand != cell->main &&
        (deep > b->layout.cells || in->size > MOST_PRIVATE))
      in->anchor = true;
    cell->size += in->anchor ? 0 : in->size;
    cell->deep = !in->anchor && deep > cell->deep ? deep : cell->deep;
  }
  cell->anchor = cell->anchor || (large > 1 && cell->size > LARGE);
}

static void weigh(struct source_builder *b, int index) {
  struct cell_node *cell = &b->cells[index];
  const struct graph_node *node = graph_at(b->graph, index);
  cell->size = 1;
  cell->main = -1;
  if (cell->form == FORM_MIXED && node->inputs.count > 1) {
    weigh_join(b, index);
  } else if (source_count(b, index) > 0) {
    cell->main = source(b, index, 0);
    if (hangs(b, cell->main)) {
      cell->size += b->cells[cell->main].size;
      cell->deep = b->cells[cell->main].deep;
    }
    if (cell->form == FORM_BLOCKS) {
      cell->size += SHORT;
      cell->deep += cell->deep == 0;
    }
  }
  cell->anchor = cell->anchor || cell->readers > 1 || node->output ||
                 node->shared || b->heads[index].all.count > 0;
}

/* Writes a layer and the layers between it and the nearest anchor. */
static void put_chain(struct source_builder *b, struct source_block *out,
                      int *current, int target) {
  node_list chain = {0};
  int at = target;
  for (bool more = true; more; more = at >= 0 && hangs(b, at)) {
    *VEC_PUSH(b->arena, &chain) = at;
    at = b->cells[at].main;
  }
  if (at >= 0 && *current != at) {
    source_put_from(b, out, at);
    *current = at;
  }
  while (chain.count > 0) {
    at = chain.at[--chain.count];
    source_put_node(b, out, current, at, b->cells[at].form);
  }
}

struct source_block *cells_operand(struct source_builder *b, int current,
                                   int operand) {
  struct source_block *block = ARENA_NEW(b->arena, struct source_block);
  if (operand != current)
    put_chain(b, block, &current, operand);
  return block;
}

/* Appends the sources of an anchor to `order` once all their readers are
 * listed. A node that is no anchor has only one reader. */
static void place_sources(struct source_builder *b, int anchor,
                          node_list *order) {
  node_list open = {0};
  *VEC_PUSH(b->arena, &open) = anchor;
  while (open.count > 0) {
    int at = open.at[--open.count];
    for (size_t i = source_count(b, at); i-- > 0;) {
      int from = source(b, at, i);
      if (b->written[from] || --b->cells[from].readers > 0)
        continue;
      *VEC_PUSH(b->arena, b->cells[from].anchor ? order : &open) = from;
    }
  }
}

/* Orders the anchors from the end: each tensor comes right before the first
 * layer that needs it, together with the layer's other sources. */
static void order_late(struct source_builder *b, int target, node_list *list) {
  node_list order = {0}, open = {0};
  *VEC_PUSH(b->arena, &order) = target;
  *VEC_PUSH(b->arena, &open) = target;
  while (open.count > 0) {
    size_t first = order.count;
    place_sources(b, open.at[--open.count], &order);
    for (size_t i = order.count; i > first; i--)
      *VEC_PUSH(b->arena, &open) = order.at[i - 1];
  }
  list->count = 0;
  while (order.count > 0)
    *VEC_PUSH(b->arena, list) = order.at[--order.count];
}

void cells_emit(struct source_builder *b, struct source_block *out,
                int *current, int target) {
  node_list list = {0};
  if (!b->written[target]) {
    list_needed(b, target, &list);
    for (size_t i = 0; i < list.count; i++)
      weigh(b, list.at[i]);
    if (b->layout.late)
      order_late(b, target, &list);
  }
  for (size_t i = 0; i < list.count; i++)
    if (b->cells[list.at[i]].anchor && !b->written[list.at[i]])
      put_chain(b, out, current, list.at[i]);
  if (*current != target)
    source_put_from(b, out, target);
  *current = target;
}
