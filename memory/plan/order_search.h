/* Order search: the best order of chains, given the bytes of each. */
#ifndef NETC_MEMORY_PLAN_ORDER_SEARCH_H
#define NETC_MEMORY_PLAN_ORDER_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A chain; bytes on top of those in memory before it. */
struct order_chain {
  int64_t first; /* while its first task runs and overwrites nothing */
  int64_t later; /* maximum of the other tasks, before subtracting what the
                    first one frees */
  int64_t left;  /* after it, before subtracting the same */
  uint32_t reads, reads_end;         /* indices into the problem's arrays */
  uint32_t needs, needs_end;         /* chains that run before it */
  uint32_t followers, followers_end; /* chains that need it */
};

/* A value that a chain reads; replaces: its first task may overwrite it. */
struct order_read {
  uint32_t value;
  bool replaces;
};

/* A value, which is freed after its last reader. */
struct order_value {
  int64_t bytes;
  uint32_t readers, readers_end;
};

/* Chains are in a valid order. */
struct order_problem {
  struct arena *arena;
  struct order_chain *chains;
  size_t count;
  VEC(struct order_read) reads;
  VEC(struct order_value) values;
  VEC(uint32_t) needs;
  uint32_t *readers, *followers;
  int64_t live;  /* bytes before all chains */
  int64_t least; /* orders that need no more are equally good */
  int64_t bound; /* of the current order; the search looks for less */
};

struct order_found {
  bool better;   /* `sequence` is an order that needs less than the bound */
  bool complete; /* no order needs less than that, or than `least` */
  int64_t least; /* proven: no order needs less */
  uint64_t effort;
};

/* Writes the order of chains that is found to `sequence`. */
struct order_found order_search(const struct order_problem *problem,
                                uint32_t *sequence);

#endif
