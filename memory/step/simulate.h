/*
 * Simulation of one training step: bytes in memory after each operation. The
 * simulator knows no layer; the tape has all it needs.
 */
#ifndef NETC_MEMORY_STEP_SIMULATE_H
#define NETC_MEMORY_STEP_SIMULATE_H

#include "memory/step/trace.h"

enum step_phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_STEP };

/* The purpose of bytes in memory. */
enum memory_part { PART_GRADIENTS, PART_SAVED, PART_TEMPORARY, PART_COUNT };

/* A moment of the step. Parameters and the batch are not counted. */
struct moment {
  int64_t bytes; /* the sum of the parts */
  int64_t parts[PART_COUNT];
  enum step_phase phase;
  int64_t node;
  const char *op;
  size_t number; /* of the moment, from 1 */
};

/* A tensor that is in memory at a moment. */
struct step_alive {
  int64_t node;
  int64_t bytes;
  enum memory_part part;
};

/* An allocation, or a free if bytes are below 0. */
struct step_request {
  size_t key; /* of the tensor; 0: matches the latest request of equal size */
  int64_t bytes;
  enum memory_part part;
};

typedef void moment_fn(void *user, const struct moment *moment);

/* Operations [first, end) whose inputs alone are kept for backward. */
struct segment {
  size_t first, end;
};

/* A place between operations that only one tensor crosses. */
struct step_mark {
  size_t op;                 /* the operation after it */
  size_t value;              /* the tensor that crosses it */
  int64_t forward, backward; /* bytes there, without `cached` */
  int64_t cached;            /* forward: 16-bit copies of segments' weights */
  bool plain;                /* its gradient is whole and not shared */
};

/* Maximum bytes between two marks, and bytes saved there. */
struct leg {
  int64_t forward, backward, saved;
};

/*
 * Bytes of an operation in a step without checkpoints, besides saved tensors.
 * The backward pass has the same bytes whatever is checkpointed.
 */
struct op_level {
  int64_t forward;     /* work space; -1: not measured */
  int64_t stays;       /* gradients of parameters, and 16-bit copies */
  int64_t kept;        /* for its backward, besides tensors */
  int64_t cached;      /* of `kept`, in a segment until forward ends */
  int64_t back, after; /* peaks of its backward, before and after it frees its
                          saves; -1: none */
  int64_t rest;        /* after its backward */
};

struct simulation {
  /* Inputs */
  struct arena *arena;
  const struct trace *trace;
  const struct model *model;
  int64_t batch;
  int element;    /* the net's type: enum element */
  int summed;     /* the type that gradients are summed in; 0: the net's */
  int saved_bits; /* bits of each saved value, in groups; 0: unchanged */
  bool offload;   /* saved tensors are moved to the host's memory */
  /* Steps each parameter once its gradient is complete, which is then freed.
   * NULL: steps after backward. */
  const struct train_settings *stepped;
  bool gradients_before;          /* in memory before forward */
  const struct segment *segments; /* checkpointed, in order, disjoint */
  size_t segment_count;
  size_t first, end; /* operations to run; both 0: all */
  bool own_inputs;   /* also count what a part reads from before it */
  moment_fn *each;   /* called at every moment; may be NULL */
  void *user;
  bool saves_only; /* find what is saved, run nothing */
  bool peaks_only; /* do not sum up what is saved */
  bool skips;      /* iterations that are alike need not all run */
  bool lists;      /* collect the tensors at the peak */
  bool asks;       /* list the allocator's requests */
  int64_t most;    /* limit in bytes, above which the run overflows; 0: none */
  struct step_mark *marks; /* in order; the simulation fills in the bytes */
  size_t mark_count;
  struct leg *legs;        /* one more than the marks */
  struct op_level *levels; /* by operation, and one more; or NULL */
  int64_t *packed; /* by storage: bytes in groups, 0: not in groups; or NULL */

  /* Results, in bytes */
  struct moment forward, backward; /* the peaks */
  int64_t saved;                   /* distinct storages saved for backward */
  int64_t *saved_by_node;          /* may be NULL */
  VEC(struct step_alive)
  alive; /* at the peak of the passes, with `lists` */
  VEC(struct step_request) requests;
  bool overflow; /* a sum passed 2^63 - 1 or `most` */
  bool uneven;   /* overflow as well: the trace must leave out no iterations */
};

/*
 * Runs forward and, on a training tape, backward. Each operation, in reverse
 * order, allocates the gradients of its inputs and parameters while its
 * output's gradient and its saved tensors are in memory, then frees those. A
 * tensor with several readers gets the sum of their gradients. Rules:
 * docs/memory.md, section 2.
 */
void simulate(struct simulation *s);

/* Bytes of an extent as allocated. */
int64_t extent_bytes(const struct extent *extent, int64_t batch, int element,
                     int64_t block, bool *overflow);

#endif
