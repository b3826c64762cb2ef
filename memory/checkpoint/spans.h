/*
 * Spans: what parts of a net take in a step, so that checkpoints can be chosen
 * between them. Exactly what a run of the whole would find there.
 *
 * Whatever is checkpointed, the backward of an operation has the same beside
 * it: gradients, and its own room. Else there is what spans before it keep,
 * and what its own span has kept until then. So a span is a sum of what is
 * held before it and of what it takes by itself, but for tensors that lead
 * over cuts: one of them is held once, whoever keeps it.
 */
#ifndef NETC_MEMORY_CHECKPOINT_SPANS_H
#define NETC_MEMORY_CHECKPOINT_SPANS_H

#include "memory/checkpoint/cuts.h"
#include "memory/checkpoint/lives.h"

enum {
  MOST_UNITS = 48,   /* parts of the net that are chosen between; a bit each */
  MOST_CROSSING = 64 /* of the tensors over a cut it is known who keeps them */
};

/* Tensors that lead over the same cuts, and are used alike after them. */
struct span_crossing {
  size_t made;           /* unit */
  uint64_t uses, keeps;  /* by unit: reads or keeps it; keeps it */
  int64_t bytes, stored; /* while they are read; as they are kept */
  bool packs;            /* that is another tensor */
};

/* While a unit runs, until a tensor from before it goes. */
struct turn {
  int64_t bytes;   /* the most, without what is counted as crossing; -1: none */
  size_t crossing; /* this goes then; SIZE_MAX: nothing, it is the last turn */
  int64_t goes;
};

/* A unit that is run once. Bytes. */
struct unit_cost {
  size_t forward, backward; /* their first turns */
  int64_t holds;            /* for backward, of what it makes */
};

/* Units [from, to) as one checkpoint. Bytes, and MACs of a sample. */
struct span_cost {
  int64_t forward;  /* the most, beside what is held before it */
  int64_t backward; /* likewise, with its forward once more */
  int64_t cached;   /* until forward has ended */
  int64_t macs;     /* that are computed again; -1: nothing in it learns */
};

struct spans {
  const struct step *step; /* traced without checkpoints */
  bool fenced;             /* some choices take less than is said: spans.c */
  struct lives lives;
  struct training training; /* of the step without any */
  struct arena *arena;
  size_t units; /* after the last come the operations of the loss: one more */
  int64_t *cut; /* nodes before each, units + 1 of them */
  size_t *op;   /* operations before each, units + 2 of them */
  struct unit_cost *alone; /* units + 1 */
  struct span_cost *costs; /* of [from, to) at from * (units + 1) + to */
  int64_t *outputs;        /* of the net, made before each unit */
  VEC(struct turn) turns;
  VEC(struct span_crossing) crossings;
  uint64_t *bits; /* of crossing i among those over cut c, at
                     i * (units + 2) + c; 0: not over it, or one too many */
};

/* Runs the step without checkpoints; false if a sum passes 2^63 - 1. */
bool spans_measure(struct spans *s);

/* Cuts what has been measured, and finds what each span takes. */
void spans_open(struct spans *s);

static inline struct span_cost *span_at(const struct spans *s, size_t from,
                                        size_t to) {
  return &s->costs[from * (s->units + 1) + to];
}

/* The bit by which it is known whether a tensor over a cut is kept. */
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
