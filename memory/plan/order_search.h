/* Order search: the best order of chains, whose memory is given in numbers. */
#ifndef NETC_MEMORY_PLAN_ORDER_SEARCH_H
#define NETC_MEMORY_PLAN_ORDER_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Bytes beside what is alive before a chain begins. */
struct order_chain {
  int64_t first; /* while its first task runs, if it overwrites nothing */
  int64_t later; /* at most while others run, before what the first one frees */
  int64_t left;  /* what it leaves, likewise */
  uint32_t reads, reads_end;         /* in the problem's arrays */
  uint32_t needs, needs_end;         /* chains that run before it */
  uint32_t followers, followers_end; /* chains that need it */
};

/* A chain's read of a value; its first task may take the value's place. */
struct order_read {
  uint32_t value;
  bool replaces;
};

/* What dies when the last of its readers has run. */
struct order_value {
  int64_t bytes;
  uint32_t readers, readers_end;
};

/* Chains are in an order that works. */
struct order_problem {
  struct arena *arena;
  struct order_chain *chains;
  size_t count;
  VEC(struct order_read) reads;
  VEC(struct order_value) values;
  VEC(uint32_t) needs;
  uint32_t *readers, *followers;
  int64_t live;  /* bytes before all of them */
  int64_t least; /* orders that need no more are equally good */
  int64_t bound; /* of the current order: one is sought that needs less */
};

struct order_found {
  bool better;   /* `sequence` has an order that needs less than the bound */
  bool complete; /* nothing needs less than that, or than the least */
  int64_t least; /* no order needs less */
  uint64_t effort;
};

/* `sequence`: the chains, in the order that was found. */
struct order_found order_search(const struct order_problem *problem,
                                uint32_t *sequence);

#endif
