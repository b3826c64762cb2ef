/*
 * Spans: what parts of a net take in a step, each run by itself, so that
 * checkpoints can be chosen between them without running the whole again.
 */
#ifndef NETC_STEP_SPANS_H
#define NETC_STEP_SPANS_H

#include "step/alike.h"
#include "step/cuts.h"

/* What units [from, to) take by themselves. Bytes, and MACs of a sample. */
struct span_cost {
  int64_t forward, backward; /* the most; with gradients of parameters */
  int64_t again; /* backward, if that runs it again from its inputs: then the
                    gradient of its result is there all the time */
  int64_t kept;  /* for backward, of what it makes */
  int64_t past;  /* of that, what is kept by units that are not next to it */
  int64_t reads; /* of units before the last one, which nobody else keeps */
  bool keeps_input, keeps_result; /* the tensors at its ends are kept */
  int64_t gradients, macs;
};

/* A tensor that not only the unit behind its maker's reads. */
struct far_value {
  size_t made, read; /* the unit of its maker; the last one that reads it */
  int64_t reader;    /* node */
  int64_t bytes;
  bool saved;  /* the unit of its maker keeps it for backward */
  bool stays;  /* one that is not next to it does */
  bool result; /* of the last node of its unit */
};

struct spans {
  const struct step *step; /* traced without checkpoints */
  struct arena *arena;
  size_t units;
  int64_t *cut; /* nodes before each, units + 1 of them */
  struct alike alike;
  struct span_cost *costs; /* of [from, to) at from * (units + 1) + to */
  int64_t *boundary;       /* bytes of the result that leads over each cut */
  int64_t *stands_from;    /* beside what runs backward before each: outputs,
                              gradients of units behind and of far values */
  int64_t *holds;          /* behind each unit that is run once, of its own */
  bool *result_stays;      /* what leads over a cut is kept further behind */
  int64_t *passes;         /* far values that lead over each cut, and go */
  VEC(struct far_value) far;
};

/* Cuts the net, and runs each span that takes no more than `most` bytes. */
void spans_open(struct spans *s, int64_t most);

static inline struct span_cost *span_at(const struct spans *s, size_t from,
                                        size_t to) {
  return &s->costs[from * (s->units + 1) + to];
}

#endif
