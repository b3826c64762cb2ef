/* Units: parts of a net whose long spans are joined from runs of three. */
#ifndef NETC_MEMORY_CHECKPOINT_UNITS_H
#define NETC_MEMORY_CHECKPOINT_UNITS_H

#include "memory/step/simulate.h"

enum { LINKED = 3 }; /* units of a run: first, middle and last */

/* Units [cut[i], cut[i + 1]) of the nodes, on one tape of all. */
struct units {
  const struct model *model;
  const struct trace *trace;
  const struct segment *segments; /* checkpointed, in order, disjoint */
  size_t segment_count;
  const int64_t *cut; /* nodes before each, and at the end all */
  size_t count;
  const size_t *far; /* by unit: units before it that cannot be joined */
};

/* Finds the units that can be joined. */
void units_open(struct units *units, struct arena *arena);

/*
 * True if the memory of [from, to) can be joined. One tensor alone leads from
 * each unit to the next, so that between two neighbours a unit adds the same
 * memory wherever the span begins and ends; runs of three units give it. False
 * if something reaches further (a shared parameter, a checkpoint over a cut, a
 * tensor that is read two units later), and for fewer than three units.
 */
bool units_are_near(const struct units *units, size_t from, size_t to);

/* Memory that a unit adds to the memory in use before it. */
struct unit_link {
  int64_t forward, backward; /* peaks on top of that */
  int64_t rises, cached;     /* left after forward */
  int64_t falls;             /* freed by its backward */
  int64_t saved;
};

struct unit_linked {
  struct unit_link first, middle, last;
  int64_t turns; /* backward minus forward, between the two */
  bool plain;
};

/* Runs three units from `from` on in simulation `run`, which has the arena. */
struct unit_linked units_link(const struct units *units, size_t from,
                              struct simulation *run);

/* Memory of a span, as in struct simulation. Bytes. */
struct unit_joined {
  int64_t saved;
  int64_t forward, backward; /* peaks, as legs count them */
};

/*
 * Gives the result of running units [from, to) at once; linked[i] is the run of
 * three from i on. False if one of them is not plain, or a sum passes 2^63 - 1.
 */
bool units_join(const struct unit_linked *const *linked, size_t from, size_t to,
                struct unit_joined *joined);

#endif
