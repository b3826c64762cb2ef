/*
 * Stretches: nodes [first, end), each of which is like the one `length` before
 * it.
 */
#ifndef NETC_SEMA_REPEAT_STRETCH_H
#define NETC_SEMA_REPEAT_STRETCH_H

#include "sema/model/model.h"

struct node_stretch {
  int64_t first, end, length;
};

typedef VEC(struct node_stretch) stretch_list;

/* Finds all stretches, in order; one may begin with the last nodes of another.
 * Nodes are alike if their keys are equal and, with `reads`, if they read
 * alike. A stretch begins where a node is like the last node with its key. */
stretch_list stretches_find(const struct model *model, const uint64_t *keys,
                            bool reads, struct arena *arena);

/* True if both nodes read the same, or nodes at the same distance before
 * them. */
bool stretch_reads_alike(const struct model *model, int64_t a, int64_t b);

/* By node, the last node that reads it; INT64_MAX for an output of the net, -1
 * if no node reads it. */
int64_t *stretch_readers(const struct model *model, struct arena *arena);

#endif
