/* The weights of a net, and where their values come from. */
#ifndef NETC_DRIVER_RUN_WEIGHT_SET_H
#define NETC_DRIVER_RUN_WEIGHT_SET_H

#include "base/arena.h"
#include "driver/command.h"
#include "import/tensors/safetensors.h"

struct weight_set {
  struct netc *netc;
  struct arena *arena;
  VEC(struct netc_weight) weights;   /* as files have them */
  VEC(struct netc_tensor) tensors;   /* as a prediction reads them */
  const struct stored_tensor **from; /* by weight; NULL: it is made up */
  uint64_t seed;                     /* of what is made up */
};

/* Those of the net that is loaded; all of them made up. */
void weight_set_open(struct weight_set *set, struct netc *netc,
                     struct arena *arena);

/* "64x3x7x7" */
struct sizes_text {
  char text[SAFETENSORS_RANK * 21];
};
struct sizes_text sizes_text(int rank, const int64_t *sizes);

enum weight_match {
  MATCH_EXACTLY,  /* names and shapes */
  MATCH_LOOSELY,  /* axes of 1 do not count: 1x197x768 is 197x768 */
  MATCH_BY_ORDER, /* so they do here; names do not matter */
};

/*
 * Takes the values from a file. Says what is missing, superfluous or of a
 * wrong shape on standard error; an exit status.
 */
int weight_set_match(struct weight_set *set, const char *path,
                     const struct safetensors *file, enum weight_match match);

/*
 * `count` values of a weight from the one at `first` on, in the file's order.
 * Those that are made up are the same on every machine.
 */
void weight_set_values(const struct weight_set *set, size_t weight,
                       int64_t first, int64_t count, float *to);

/* Values of the block that a prediction reads; what folds is folded. */
int64_t weight_set_block_count(const struct weight_set *set);
void weight_set_block(const struct weight_set *set, float *block);

#endif
