/* Weights: types only for weights, and mixes of them in files. */
#include "sema/model/weights.h"

#include "base/check.h"

const char weights_words[] =
#define WEIGHTS(constant, word, ...) " " word
#define LINEARS(constant, word, ...) " " word
#define TILES(constant, word, ...) " " word
#define KERNELS(constant, word, ...) " " word
#define MIX(constant, word, ...) " " word
#include "sema/model/elements.def"
    ;

/* Same numbers as in `weight_dtype`, where they come first. */
const char base_words[] =
#define WEIGHTS(constant, word, ...) " " word
#include "sema/model/elements.def"
    ;

#define SOME(first, where, others) \
  { BLOCKS_##first, SOME_##where, BLOCKS_##others }
#define ALL(blocks) \
  { BLOCKS_##blocks, SOME_ALL, BLOCKS_##blocks }

static const struct weights_type types[] = {
    {.word = ""},
#define WEIGHTS(constant, name, eight, values, bits, outer, outer_bits, text) \
  {.word = name,                                                              \
   .source = text,                                                            \
   .scope = SCOPE_MATRICES,                                                   \
   .block = {eight, values, bits, outer, outer_bits}},
#define LINEARS(constant, name, eight, values, bits, outer, outer_bits, out, \
                in, tensor, text)                                            \
  {.word = name,                                                             \
   .source = text,                                                           \
   .scope = SCOPE_LINEARS,                                                   \
   .block = {eight, values, bits, outer, outer_bits},                        \
   .by_output = out,                                                         \
   .by_input = in,                                                           \
   .by_tensor = tensor},
#define TILES(constant, name, eight, rows, bits, text) \
  {.word = name,                                       \
   .source = text,                                     \
   .scope = SCOPE_LINEARS,                             \
   .block = {eight, 0, 0, 0, 0},                       \
   .tile = rows,                                       \
   .by_tile = bits},
#define KERNELS(constant, name, eight, out, text) \
  {.word = name,                                  \
   .source = text,                                \
   .scope = SCOPE_KERNELS,                        \
   .block = {eight, 0, 0, 0, 0},                  \
   .by_output = out},
#define MIX(constant, name, text, ...) \
  {.word = name, .source = text, .scope = SCOPE_FILE, .mix = {__VA_ARGS__}},
#include "sema/model/elements.def"
};

static const struct block_type block_types[] = {
    {0, 0, 0, 0, 0},
#define BLOCKS(constant, ...) {__VA_ARGS__},
#include "sema/model/elements.def"
};

const struct weights_type *weights_type(int weights) {
  return &types[weights];
}

const char *weights_word(int weights) {
  return types[weights].word;
}

const char *weights_source(int weights) {
  return types[weights].source;
}

const struct block_type *blocks_type(enum blocks blocks) {
  return &block_types[blocks];
}

int blocks_values(enum blocks blocks) {
  const struct block_type *type = &block_types[blocks];
  return type->outer ? type->outer : type->block ? type->block : 1;
}

/* Adds the scales of blocks; the last block may be smaller. */
static bool add_scales(int64_t count, int block, int bits, int64_t *bytes) {
  int64_t scales = block ? ceil_div_i64(count, block) : 0, all;
  return mul_i64(scales, bits, &all) &&
         add_i64(*bytes, ceil_div_i64(all, 8), bytes);
}

bool block_bytes(const struct block_type *type, int64_t count, int64_t *bytes) {
  int64_t bits;
  if (!mul_i64(count, type->eight, &bits))
    return false;
  *bytes = ceil_div_i64(bits, 64);
  return add_scales(count, type->block, type->block_bits, bytes) &&
         add_scales(count, type->outer, type->outer_bits, bytes);
}
