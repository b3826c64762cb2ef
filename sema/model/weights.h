/* Weights: the types that only they have, and what files mix of these. */
#ifndef NETC_SEMA_MODEL_WEIGHTS_H
#define NETC_SEMA_MODEL_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/* The values of `weight_dtype`, from 1, in the order of its words. */
enum weight_element {
  WEIGHTS_NONE, /* that of the other values */
#define WEIGHTS(constant, ...) WEIGHTS_##constant,
#define LINEARS(constant, ...) LINEARS_##constant,
#define TILES(constant, ...) TILES_##constant,
#define KERNELS(constant, ...) KERNELS_##constant,
#define MIX(constant, ...) MIX_##constant,
#include "sema/model/elements.def"
};

/* Which tensors a type is for. */
enum weights_scope {
  SCOPE_MATRICES, /* all with two axes and more */
  SCOPE_LINEARS,  /* matrices, but not tables, the output and routers */
  SCOPE_KERNELS,  /* of convolutions and dense layers, attention's among them */
  SCOPE_FILE,     /* all, each with a type of its own */
};

/* Bits of 8 values; values and bits of a block's scale, and of one over these;
   0 values: there is none. */
struct block_type {
  int eight, block, block_bits, outer, outer_bits;
};

/* The types that the tensors of a file have. */
enum blocks {
  BLOCKS_NONE,
#define BLOCKS(constant, ...) BLOCKS_##constant,
#include "sema/model/elements.def"
};

/* Layers of `count`, from 0. ENDS: the first and last eighth; MORE: these, and
   of the others every third. */
enum some {
  SOME_ALL,
  SOME_TWO,
  SOME_FOUR,
  SOME_SIXTEENTH,
  SOME_EIGHTH,
  SOME_ENDS,
  SOME_MORE
};

struct some_blocks {
  enum blocks first;
  enum some where;
  enum blocks others;
};

/* What a file of llama.cpp has: elements.def. 0: as most. */
struct weights_mix {
  enum blocks most;
  enum blocks head;  /* the output, and the table that is one; 0: Q6_K */
  enum blocks table; /* of words, where it is no output */
  enum blocks query, key;
  struct some_blocks value;
  enum blocks value_of_four; /* where four heads of queries or more share it */
  enum blocks joint;         /* queries, keys and values in one matrix */
  struct some_blocks linear, back;         /* `back`: to the net's width */
  enum blocks attended, attended_of_eight; /* where there are eight experts */
  bool few; /* of less than three bits, which keys and values are spared of */
};

struct weights_type {
  const char *word, *source;
  enum weights_scope scope;
  struct block_type block;            /* not of a file */
  int by_output, by_input, by_tensor; /* of linears: bits for each, */
  int tile, by_tile;      /* and for each so many rows and columns */
  struct weights_mix mix; /* of a file */
};

/* The words of `weight_dtype`, each after a blank. */
extern const char weights_words[];

/* Those of `base`: types in blocks, whatever the tensor is to the net. */
extern const char base_words[];

const struct weights_type *weights_type(int weights);

/* Whether the runtime reads weights of that type. */
static inline bool weights_run(int weights) {
  return !weights || (weights >= KERNELS_F16 && weights <= KERNELS_I8);
}

/* "nf4"; and how many bits a value has with its scales, and whose it is. */
const char *weights_word(int weights);
const char *weights_source(int weights);

/* How blocks of files lie; and of how many values the largest part is. */
const struct block_type *blocks_type(enum blocks blocks);
int blocks_values(enum blocks blocks);

/*
 * Bytes of a tensor of `count` values with the scales of its blocks; false if
 * they pass 2^63 - 1. A last block that is not full counts its values and whole
 * scales.
 */
bool block_bytes(const struct block_type *type, int64_t count, int64_t *bytes);

#endif
