/*
 * Lives: the memory of each operation and the uses of each tensor, from one run
 * without checkpoints. The memory of any choice of checkpoints follows from
 * these.
 */
#ifndef NETC_MEMORY_CHECKPOINT_LIVES_H
#define NETC_MEMORY_CHECKPOINT_LIVES_H

#include "memory/step/training.h"

#define NO_OP UINT32_MAX

/* A tensor that an operation makes, including views and in-place results. */
struct life {
  int64_t bytes, stored; /* stored: bytes saved for backward */
  uint32_t made;         /* operation; NO_OP: none */
  uint32_t saved;        /* first operation that saves it; NO_OP: none */
  bool held;             /* to the end of the step: an output, or `stays` */
  bool stays;            /* a module keeps it; a recomputed one replaces it */
  bool packs;            /* the saved tensor is a packed copy: saved_dtype= */
};

/* A tensor that an operation reads or makes. */
struct use_of {
  uint32_t storage, next; /* next: the next operation with it, or NO_OP */
};

/* When a recomputed tensor is freed after a use: if its checkpoint starts at
 * most at `made`, and ends at most at `idle`. */
struct read_end {
  uint32_t made, idle;
  int64_t bytes;
};

struct lives {
  const struct tape *tape;
  struct life *life;       /* by storage */
  struct op_level *levels; /* by operation, and one after the last */
  struct op_level *again;  /* the same inside a checkpoint */
  struct use_of *uses; /* of operation i: [first_use[i + 1], first_use[i]) */
  uint32_t *first_use;
  struct read_end *ends; /* of operation i: [first_end[i], first_end[i + 1]) */
  uint32_t *first_end;
  int64_t *made;        /* bytes that each operation makes */
  uint32_t *saves;      /* storages that operation i is the first to save: */
  uint32_t *first_save; /* [first_save[i], first_save[i + 1]) */
  bool single;          /* the batch is 1, so that some copies are views */
};

/* Runs a step without checkpoints; false if a sum passes 2^63 - 1. */
bool lives_open(struct lives *lives, const struct step *step,
                struct training *training, struct arena *arena);

/* The storage that contains it. */
static inline uint32_t lives_root(const struct lives *lives, uint32_t storage) {
  const struct tape_storage *at = lives->tape->storages.at;
  while (lives->single && at[storage].view_of)
    storage = at[storage].view_of - 1;
  return storage;
}

#endif
