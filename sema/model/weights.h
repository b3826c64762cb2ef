/* Weights: types only for weights, and mixes of them in files. */
#ifndef NETC_SEMA_MODEL_WEIGHTS_H
#define NETC_SEMA_MODEL_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Values of `weight_dtype`, from 1, in the order of its words. */
enum weight_element {
  WEIGHTS_NONE, /* type of the other values */
#define WEIGHTS(constant, ...) WEIGHTS_##constant,
#define LINEARS(constant, ...) LINEARS_##constant,
#define TILES(constant, ...) TILES_##constant,
#define KERNELS(constant, ...) KERNELS_##constant,
#define MIX(constant, ...) MIX_##constant,
#include "sema/model/elements.def"
  WEIGHTS_LISTED /* those after it are GROUPED */
};

/* Parts of a language model whose matrices files distinguish. */
#define WEIGHTS_PARTS(part)                                                 \
  part(WEIGHTS_OF_TABLE, "table") part(WEIGHTS_OF_HEAD, "head")             \
      part(WEIGHTS_OF_ROUTER, "router") part(WEIGHTS_OF_LATENTS, "latents") \
          part(WEIGHTS_OF_Q, "q") part(WEIGHTS_OF_K, "k")                   \
              part(WEIGHTS_OF_V, "v") part(WEIGHTS_OF_QKV, "qkv")           \
                  part(WEIGHTS_OF_O, "o") part(WEIGHTS_OF_UP, "up")         \
                      part(WEIGHTS_OF_DOWN, "down")                         \
                          part(WEIGHTS_OF_EXPERTS_UP, "experts_up")         \
                              part(WEIGHTS_OF_EXPERTS_DOWN, "experts_down") \
                                  part(WEIGHTS_OF_SHARED, "shared")         \
                                      part(WEIGHTS_OF_DECAY, "decay")       \
                                          part(WEIGHTS_OF_VISION, "vision")
#define WEIGHTS_PART(constant, word) constant,
enum weights_part {
  WEIGHTS_OF_OTHER,
  WEIGHTS_PARTS(WEIGHTS_PART) WEIGHTS_OF_COUNT
};
#undef WEIGHTS_PART

/* The tensors that a type applies to. */
enum weights_scope {
  SCOPE_MATRICES, /* all with two or more axes */
  SCOPE_LINEARS,  /* matrices, except embeddings, head and routers */
  SCOPE_KERNELS,  /* convolutions and dense layers, also in attention */
  SCOPE_FILE,     /* all, each with its own type */
};

/* Bits of 8 values; values and bits of a block's scale, and of a scale over
 * these scales; 0 values: none. */
struct block_type {
  int eight, block, block_bits, outer, outer_bits;
};

/* Types of a file's tensors. */
enum blocks {
  BLOCKS_NONE,
#define BLOCKS(constant, ...) BLOCKS_##constant,
#include "sema/model/elements.def"
};

/* Some of `count` layers. ENDS: the first and last eighth; MORE: these, and
 * every third of the others. */
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

/* Types in a llama.cpp file: elements.def. 0: as `most`. */
struct weights_mix {
  enum blocks most;
  enum blocks head;  /* head, or an embedding that is one; 0: Q6_K */
  enum blocks table; /* embedding that is not the head */
  enum blocks query, key;
  struct some_blocks value;
  enum blocks value_of_four; /* with four or more query heads per value head */
  enum blocks joint;         /* queries, keys and values in one matrix */
  struct some_blocks linear, back;         /* `back`: to the net's width */
  enum blocks attended, attended_of_eight; /* with eight experts */
  bool few; /* below three bits, except keys and values */
};

struct weights_type {
  const char *word, *source;
  enum weights_scope scope;
  struct block_type block;            /* not for files */
  int by_output, by_input, by_tensor; /* linears: bits per each, */
  int tile, by_tile;      /* and per tile of so many rows and columns */
  struct weights_mix mix; /* for files */
};

/*
 * "nvfp4 head attention@0-2:fp8": a type, and parts in other types, in blocks
 * of attention or recurrence and what follows it, from 0. The last that fits
 * counts.
 */
enum { MOST_WEIGHTS_PARTS = 64 };
struct weights_list {
  struct slice text;
  int count;
  struct weights_other {
    struct slice word;   /* as it is written */
    unsigned parts;      /* a bit for each */
    int64_t first, last; /* blocks */
    int type;            /* as weight_dtype; WEIGHTS_NONE: the net's */
  } at[MOST_WEIGHTS_PARTS];
};

/* Reads such a list and its first type; false: `why` and `help` say what is
 * wrong with it. */
bool weights_read_list(struct slice text, struct weights_list *list, int *type,
                       struct text *why, struct text *help);

/* NULL: that part has the first type. */
const struct weights_other *weights_of_part(const struct weights_list *list,
                                            enum weights_part part,
                                            int64_t block);

const char *weights_part_word(enum weights_part part);

/* Words for several parts: "attention" for all its projections. */
enum { WEIGHTS_SETS = 3 };
struct weights_set {
  const char *word;
  unsigned parts; /* a bit for each */
};
extern const struct weights_set weights_sets[WEIGHTS_SETS];

/* Words of `weight_dtype`, each after a blank. */
extern const char weights_words[];

/* Those of `base`: types in blocks for any tensor, and those of BASES. */
extern const char base_words[];

/* Who multiplies by frozen matrices of a type of `base`: bitsandbytes'
 * MatMul4Bit, its MatMul8bitLt, or AutoGPTQ's QuantLinear. */
enum base_kernel { BASE_NONE, BASE_BLOCKS, BASE_INT8, BASE_GPTQ };
enum base_kernel base_kernel(int base);

const struct weights_type *weights_type(int weights);

/* The number of a word of `weight_dtype`, also of other bits and groups than
 * those in the list: mlx_3_g32. 0: there is no such type. */
int weights_find(struct slice word);

/* True if the runtime reads weights of that type. */
static inline bool weights_run(int weights) {
  return !weights || (weights >= KERNELS_F16 && weights <= KERNELS_I8);
}

/* "nf4"; and its bits per value including scales, and its source. */
const char *weights_word(int weights);
const char *weights_source(int weights);

/* The layout of a block, and the number of values in its largest part. */
const struct block_type *blocks_type(enum blocks blocks);
int blocks_values(enum blocks blocks);

/*
 * Bytes of a tensor of `count` values with the scales of its blocks; false if
 * they pass 2^63 - 1. An incomplete last block has its values and whole scales.
 */
bool block_bytes(const struct block_type *type, int64_t count, int64_t *bytes);

/*
 * Bytes of `count` values of a matrix in a type of SCOPE_LINEARS, with `more`
 * bits; false if they pass 2^63 - 1.
 */
bool weights_linear_bytes(const struct weights_type *type, int64_t in,
                          int64_t out, int64_t more, int64_t count,
                          int64_t *bytes);

#endif
