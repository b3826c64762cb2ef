/*
 * Simulation of one training step: what is alive after each operation.
 * The simulator knows no layer; all it needs is on the tape.
 */
#ifndef NETC_MEMORY_STEP_SIMULATE_H
#define NETC_MEMORY_STEP_SIMULATE_H

#include "memory/step/trace.h"

enum step_phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_STEP };

/* What bytes are alive for. */
enum memory_part { PART_GRADIENTS, PART_SAVED, PART_TEMPORARY, PART_COUNT };

/* A moment of the step. Parameters and the batch are not in it. */
struct moment {
  int64_t bytes; /* the sum of the parts */
  int64_t parts[PART_COUNT];
  enum step_phase phase;
  int64_t node;
  const char *op;
  size_t number; /* of the moment, from 1 */
};

/* A tensor that is alive at a moment. */
struct step_alive {
  int64_t node;
  int64_t bytes;
  enum memory_part part;
};

/* Bytes that are asked of an allocator, or given back: below 0. */
struct step_request {
  size_t key; /* of what they are for; 0: of the latest request of as many */
  int64_t bytes;
  enum memory_part part;
};

typedef void moment_fn(void *user, const struct moment *moment);

/* Operations [first, end) of which only the inputs are kept for backward. */
struct segment {
  size_t first, end;
};

/* Between two operations, where one tensor alone leads on. */
struct step_mark {
  size_t op;                 /* the one after it */
  size_t value;              /* that leads on */
  int64_t forward, backward; /* bytes there, without what is cached */
  int64_t cached;            /* forward: copies of segments' weights */
  bool plain; /* backward, its gradient is a whole one, and nobody else's */
};

/* The most that was alive between two marks, and what was kept there. */
struct leg {
  int64_t forward, backward, saved;
};

/*
 * What an operation has in a step without checkpoints, beside tensors that are
 * kept for backward: whatever is checkpointed, its backward has the same.
 */
struct op_level {
  int64_t forward;     /* its own room; -1: it is not looked at */
  int64_t stays;       /* gradients of parameters, and 16-bit copies */
  int64_t kept;        /* for its backward, besides tensors */
  int64_t cached;      /* of that, what a segment has until forward has ended */
  int64_t back, after; /* the most of its backward, before and after the
                          release of what it kept; -1: none */
  int64_t rest;        /* after its backward */
};

struct simulation {
  /* What to run. */
  struct arena *arena;
  const struct trace *trace;
  const struct model *model;
  int64_t batch;
  int element;    /* that the net computes in: enum element */
  int summed;     /* that gradients are summed in; 0: the same */
  int saved_bits; /* of each value that is kept, in groups; 0: as it is */
  bool offload;   /* what is kept lies in the host's memory */
  const struct train_settings *stepped; /* each parameter once its gradient is
                                           there, which is then freed; NULL:
                                           after backward */
  bool gradients_before;                /* they are there when forward begins */
  const struct segment *segments;       /* checkpointed, in order, apart */
  size_t segment_count;
  size_t first, end; /* operations that run; both 0: all */
  bool own_inputs;   /* what a part reads from before it is counted, too */
  moment_fn *each;   /* called at every moment; may be NULL */
  void *user;
  bool saves_only; /* what is kept is found, and nothing runs */
  bool peaks_only; /* what is kept is not summed up */
  bool skips;      /* iterations that are alike need not all run */
  bool lists;      /* the tensors at the peak are collected */
  bool asks;       /* requests of the allocator are listed */
  int64_t most;    /* bytes; more than these count as too many; 0: any */
  struct step_mark *marks; /* in order; what is there is filled in */
  size_t mark_count;
  struct leg *legs;        /* one more */
  struct op_level *levels; /* by operation, and one more; NULL: not asked */
  int64_t *packed; /* likewise, by storage, as it is kept; 0: as it is */

  /* What was found. Bytes. */
  struct moment forward, backward; /* the peaks */
  int64_t saved;                   /* unique storages kept for backward */
  int64_t *saved_by_node;          /* NULL: not asked for */
  VEC(struct step_alive)
  alive; /* at the peak of the passes, if it was asked for */
  VEC(struct step_request) requests;
  bool overflow; /* a sum passed 2^63 - 1, or `most` */
  bool
      uneven; /* the trace must not leave out any iterations: it did overflow */
};

/*
 * Runs forward and, if the tape is one of training, backward: each operation
 * in reverse order allocates the gradients of its inputs and parameters
 * while its output's gradient and what it saved are alive, then frees these;
 * a tensor that several read gets the sum. Rules: docs/memory.md, section 2.
 */
void simulate(struct simulation *s);

/* Bytes of an extent, as they are allocated. */
int64_t extent_bytes(const struct extent *extent, int64_t batch, int element,
                     int64_t block, bool *overflow);

#endif
