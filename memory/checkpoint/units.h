/* Units: parts of a net of which long spans are joined from runs of three. */
#ifndef NETC_MEMORY_CHECKPOINT_UNITS_H
#define NETC_MEMORY_CHECKPOINT_UNITS_H

#include "memory/step/simulate.h"

enum { LINKED = 3 }; /* units of a run: the first, one between, the last */

/* Units [cut[i], cut[i + 1]) of the nodes, on a tape of all of them. */
struct units {
  const struct model *model;
  const struct trace *trace;
  const struct segment *segments; /* checkpointed, in order, apart */
  size_t segment_count;
  const int64_t *cut; /* nodes before each, and all after the last */
  size_t count;
  const size_t *far; /* by unit: those before it that cannot be joined */
};

/* Finds which of them may be joined. */
void units_open(struct units *units, struct arena *arena);

/*
 * Whether what [from, to) takes can be joined. One tensor alone leads from
 * each unit to the next, so that between two neighbours a unit adds the same
 * to what is alive, wherever the span begins and ends; runs of three units say
 * what. Not where something reaches further: a shared parameter, a checkpoint
 * over a cut, a tensor that is read two units later; nor fewer than three.
 */
bool units_are_near(const struct units *units, size_t from, size_t to);

/* What a unit adds to what is alive before it. */
struct unit_link {
  int64_t forward, backward; /* the most, over what is there before */
  int64_t rises, cached;     /* what it leaves, forward */
  int64_t falls;             /* what its backward frees */
  int64_t saved;
};

struct unit_linked {
  struct unit_link first, middle, last;
  int64_t turns; /* after the last, backward over forward */
  bool plain;
};

/* Runs three units from one on, as `run` says, which has its arena. */
struct unit_linked units_link(const struct units *units, size_t from,
                              struct simulation *run);

/* What a span takes, as struct simulation has it. Bytes. */
struct unit_joined {
  int64_t saved;
  int64_t forward, backward; /* the most alive, of what legs count */
};

/*
 * As if units [from, to) were run at once; linked[i] are the three from i on.
 * False if one of these is not plain, or a sum passes 2^63 - 1.
 */
bool units_join(const struct unit_linked *const *linked, size_t from, size_t to,
                struct unit_joined *joined);

#endif
