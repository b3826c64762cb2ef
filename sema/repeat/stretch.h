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

/* All of them, in order; the first nodes of one may also be the last ones of
 * another. Nodes are alike if they have one key and, if that is asked for, read
 * alike. A stretch begins where a node is like the last one of its key. */
stretch_list stretches_find(const struct model *model, const uint64_t *keys,
                            bool reads, struct arena *arena);

/* Both nodes read the same, or what is as far before each of them. */
bool stretch_reads_alike(const struct model *model, int64_t a, int64_t b);

/* By node, the last one that reads it; an output of the net is read after all:
 * INT64_MAX. -1: nobody reads it. */
int64_t *stretch_readers(const struct model *model, struct arena *arena);

#endif
