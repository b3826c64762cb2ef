/*
 * Lives: of one run without checkpoints, what each operation has for itself
 * and who uses each tensor. What any choice of checkpoints takes follows.
 */
#ifndef NETC_MEMORY_CHECKPOINT_LIVES_H
#define NETC_MEMORY_CHECKPOINT_LIVES_H

#include "memory/step/training.h"

#define NO_OP UINT32_MAX

/* A tensor that an operation makes; of views and what is in place, all. */
struct life {
  int64_t bytes, stored; /* stored: kept for backward */
  uint32_t made;         /* operation; NO_OP: none makes it */
  uint32_t saved;        /* the first that keeps it; NO_OP: none does */
  bool held;             /* to the end of the step: an output, or `stays` */
  bool stays; /* a module has it; what is computed again takes its place */
  bool packs; /* what is kept is another tensor, in groups: saved_dtype= */
};

/* An operation reads a tensor, or makes it. */
struct use_of {
  uint32_t storage, next; /* the operation that does so next, or NO_OP */
};

struct lives {
  const struct tape *tape;
  struct life *life;       /* by storage */
  struct op_level *levels; /* by operation, and one after the last */
  struct op_level *again;  /* likewise, in a checkpoint */
  struct use_of *uses;     /* of operation i [first_use[i + 1], first_use[i]) */
  uint32_t *first_use;
  uint32_t *saves; /* storages that i is the first to keep: [first_save[i], */
  uint32_t *first_save; /* first_save[i + 1]) */
  bool single;          /* a batch of 1, at which some copies are views */
};

/* Runs a step without checkpoints; false if a sum passes 2^63 - 1. */
bool lives_open(struct lives *lives, const struct step *step,
                struct training *training, struct arena *arena);

/* The storage that holds it. */
static inline uint32_t lives_root(const struct lives *lives, uint32_t storage) {
  const struct tape_storage *at = lives->tape->storages.at;
  while (lives->single && at[storage].view_of)
    storage = at[storage].view_of - 1;
  return storage;
}

#endif
