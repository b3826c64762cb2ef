/* Turns: where a net has the same layers again and again. */
#ifndef NETC_STEP_TURNS_H
#define NETC_STEP_TURNS_H

#include "model/model.h"

enum { LEAST_TURNS = 16 }; /* fewer are traced one by one */

/*
 * Nodes [first, first + length * count): each turn is `length` nodes like
 * those before, which read the same of their own turn and of the one before,
 * and are read as often, from nowhere else but behind the last turn.
 */
struct turns {
  int64_t first, length, count;
};

struct turns_list {
  struct turns *at;
  size_t count, room;
};

/* All of a net, in order. `readers`: how often each node is read. */
void turns_find(const struct model *model, const int32_t *readers,
                struct arena *arena, struct turns_list *all);

#endif
