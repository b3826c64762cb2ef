/*
 * Simulation of one training step: what is alive after each operation.
 * The simulator knows no layer; all it needs is on the tape.
 */
#ifndef NETC_SEMA_SIMULATE_H
#define NETC_SEMA_SIMULATE_H

#include "sema/trace.h"

enum phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_STEP };

/* What bytes are alive for. */
enum part { PART_GRADIENTS, PART_SAVED, PART_TEMPORARY, PART_COUNT };

/* A moment of the step. Parameters and the batch are not in it. */
struct moment {
  int64_t bytes; /* the sum of the parts */
  int64_t parts[PART_COUNT];
  enum phase phase;
  int64_t node;
  const char *op;
};

/* A tensor that is alive at the peak. */
struct alive {
  int64_t node;
  int64_t bytes;
  enum part part;
};

typedef void moment_fn(void *user, const struct moment *moment);

struct simulation {
  /* What to run. */
  const struct trace *trace;
  const struct model *model;
  int64_t batch;
  int element;           /* that the net computes in: enum element */
  bool gradients_before; /* they are there when forward begins */
  moment_fn *each;       /* called at every sample; may be NULL */
  void *user;
  struct arena *arena;

  /* What was found. Bytes. */
  struct moment forward, backward; /* the peaks */
  int64_t saved;                   /* unique storages kept for backward */
  int64_t outputs;                 /* alive after the step's backward */
  int64_t *saved_by_node;          /* NULL: not asked for */
  bool overflow;                   /* a sum passed 2^63 - 1 */
};

void simulate(struct simulation *s);

/* Bytes of an extent, as they are allocated. */
int64_t extent_bytes(const struct extent *extent, int64_t batch, int element,
                     int64_t block, bool *overflow);

#endif
