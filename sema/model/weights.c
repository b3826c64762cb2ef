/* Weights: types only for weights, and mixes of them in files. */
#include "sema/model/weights.h"

#include <stdio.h>

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
#define BASES(constant, word, ...) " " word
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
#define ONE(stem, bits, group, values, scale, zero, in, tensor, scopes, text) \
  {.word = stem "_" #bits "_" #group,                                         \
   .source = #bits " bits: " text,                                            \
   .scope = scopes,                                                           \
   .block = {8 * (bits), values, (values) ? (scale) + (zero) * (bits) : 0, 0, \
             0},                                                              \
   .by_output = (values) ? 0 : (scale) + (zero) * (bits),                     \
   .by_input = in,                                                            \
   .by_tensor = tensor},
#define OF_BITS(stem, bits, ...)          \
  ONE(stem, bits, row, 0, __VA_ARGS__)    \
  ONE(stem, bits, g16, 16, __VA_ARGS__)   \
  ONE(stem, bits, g32, 32, __VA_ARGS__)   \
  ONE(stem, bits, g64, 64, __VA_ARGS__)   \
  ONE(stem, bits, g128, 128, __VA_ARGS__) \
  ONE(stem, bits, g256, 256, __VA_ARGS__) \
  ONE(stem, bits, g512, 512, __VA_ARGS__) \
  ONE(stem, bits, g1024, 1024, __VA_ARGS__)
#define GROUPED(constant, stem, ...) \
  OF_BITS(stem, 2, __VA_ARGS__)      \
  OF_BITS(stem, 3, __VA_ARGS__)      \
  OF_BITS(stem, 4, __VA_ARGS__)      \
  OF_BITS(stem, 5, __VA_ARGS__)      \
  OF_BITS(stem, 6, __VA_ARGS__) OF_BITS(stem, 8, __VA_ARGS__)
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

enum base_kernel base_kernel(int base) {
  bool gptq = base >= LINEARS_GPTQ && base <= LINEARS_GPTQ_8;
  return base == LINEARS_INT8 ? BASE_INT8
         : gptq               ? BASE_GPTQ
         : base               ? BASE_BLOCKS
                              : BASE_NONE;
}

enum { TYPES = sizeof types / sizeof *types };

static bool lie_alike(const struct weights_type *a,
                      const struct weights_type *b) {
  return a->scope == b->scope && a->by_output == b->by_output &&
         a->by_input == b->by_input && a->by_tensor == b->by_tensor &&
         memcmp(&a->block, &b->block, sizeof a->block) == 0;
}

/* The first type of that stem and layout: gptq_4_g64 is gptq_g64. */
static int first_alike(int type) {
  size_t stem = strcspn(types[type].word, "_");
  for (int i = 1; type >= WEIGHTS_LISTED && i < type; i++)
    if (strncmp(types[i].word, types[type].word, stem) == 0 &&
        lie_alike(&types[i], &types[type]))
      return i;
  return type;
}

/* Blocks of any matrix know no outputs: mlx_4_row is none. */
static bool is_type(int i) {
  return types[i].scope != SCOPE_MATRICES || !types[i].by_output;
}

/* gptq_3 has the usual group, gptq_g256 the usual bits. */
int weights_find(struct slice word) {
  char full[32];
  size_t end = 0;
  while (end < word.length && !slice_begins(slice_from(word, end), "_g") &&
         !slice_begins(slice_from(word, end), "_row"))
    end++;
  bool bits = end > 0 && is_digit(word.at[end - 1]);
  int length = snprintf(full, sizeof full, "%.*s%s%.*s%s", (int)end, word.at,
                        bits ? "" : "_4", (int)(word.length - end),
                        word.at + end, end < word.length ? "" : "_g128");
  for (int i = 1; i < TYPES; i++)
    if (is_type(i) && slice_is(word, types[i].word))
      return first_alike(i);
  for (int i = 1; length < (int)sizeof full && i < TYPES; i++)
    if (is_type(i) && strcmp(full, types[i].word) == 0)
      return first_alike(i);
  return WEIGHTS_NONE;
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

bool weights_linear_bytes(const struct weights_type *type, int64_t in,
                          int64_t out, int64_t more, int64_t count,
                          int64_t *bytes) {
  int64_t outs, ins, bits;
  return mul_i64(out, type->by_output, &outs) &&
         mul_i64(in, type->by_input, &ins) && add_i64(outs, ins, &bits) &&
         add_i64(bits, type->by_tensor, &bits) && add_i64(bits, more, &bits) &&
         block_bytes(&type->block, count, bytes) &&
         add_i64(*bytes, ceil_div_i64(bits, 8), bytes);
}
