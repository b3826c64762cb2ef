/*
 * Spans: memory of parts of a net in a step, from which checkpoints are chosen.
 * The results equal those of a run of the whole net.
 *
 * Whatever is checkpointed, the backward of an operation has the same gradients
 * and workspace besides. The rest is what earlier spans keep, and what its own
 * span has kept until then. So the memory of a span is a sum of the bytes held
 * before it and its own bytes, except for tensors that cross cuts: such a
 * tensor is held once, whoever keeps it.
 */
#ifndef NETC_MEMORY_CHECKPOINT_SPANS_H
#define NETC_MEMORY_CHECKPOINT_SPANS_H

#include "memory/checkpoint/cuts.h"
#include "memory/checkpoint/lives.h"

enum {
  MOST_UNITS = 48,   /* parts of the net to choose from; one bit each */
  MOST_CROSSING = 64 /* tensors over a cut that are tracked */
};

/* Tensors that cross the same cuts and have the same uses after them. */
struct span_crossing {
  size_t made;           /* unit */
  uint64_t uses, keeps;  /* by unit: it reads or saves it; it saves it */
  int64_t bytes, stored; /* while read; as saved */
  bool packs;            /* the saved tensor is a packed copy */
};

/* Part of a unit's run, until a tensor from before the unit is freed. */
struct turn {
  int64_t bytes;   /* peak without crossing tensors; -1: none */
  size_t crossing; /* freed at the end; SIZE_MAX: the last part */
  int64_t goes;
};

/* A unit without recomputation. Bytes. */
struct unit_cost {
  size_t forward, backward; /* their first parts */
  int64_t holds;            /* saved for backward, of the tensors it makes */
};

/* Units [from, to) as one checkpoint. Bytes, and MACs of a sample. */
struct span_cost {
  int64_t forward;  /* peak on top of the bytes held before it */
  int64_t backward; /* the same with recomputed forward */
  int64_t cached;   /* freed at the end of forward */
  int64_t macs;     /* recomputed; -1: nothing in it needs a gradient */
};

struct spans {
  const struct step *step; /* traced without checkpoints */
  bool fenced;             /* some choices need less than reported: spans.c */
  struct lives lives;
  struct training training; /* of the step without checkpoints */
  struct arena *arena;
  size_t units;            /* and one more for the operations of the loss */
  int64_t *cut;            /* nodes before each; units + 1 */
  size_t *op;              /* operations before each; units + 2 */
  struct unit_cost *alone; /* units + 1 */
  struct span_cost *costs; /* of [from, to) at from * (units + 1) + to */
  int64_t *outputs;        /* of the net, made before each unit */
  VEC(struct turn) turns;
  VEC(struct span_crossing) crossings;
  /* Crossings made in units [0, c] and used from c on, for each cut c: */
  uint32_t *over;
  size_t *first_over; /* [first_over[c], first_over[c + 1]) */
  uint64_t *bits; /* of crossing i over cut c at i * (units + 2) + c; 0: it does
                     not cross, or is not tracked */
};

/* Runs the step without checkpoints; false if a sum passes 2^63 - 1. */
bool spans_measure(struct spans *s);

/* Cuts the measured step, and finds the memory of each span. */
void spans_open(struct spans *s);

static inline struct span_cost *span_at(const struct spans *s, size_t from,
                                        size_t to) {
  return &s->costs[from * (s->units + 1) + to];
}

/* The bit for a tensor that is kept over a cut. */
static inline uint64_t span_bit(const struct spans *s, size_t crossing,
                                size_t cut) {
  return s->bits[crossing * (s->units + 2) + cut];
}

static inline bool leads_over(const struct span_crossing *c, size_t cut) {
  return c->made < cut && c->uses >> cut != 0;
}

/* Units [from, to), as bits. */
static inline uint64_t span_bits(size_t from, size_t to) {
  return ((uint64_t)1 << to) - ((uint64_t)1 << from);
}

#endif
