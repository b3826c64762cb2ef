/*
 * Eight bits: which operations of the runtime compute a prediction whose values
 * are int8, and what they read beside values and weights: scales, zeros,
 * limits and tables. All of that is in the block of weights.
 */
#ifndef NETC_MEMORY_Q8_H
#define NETC_MEMORY_Q8_H

#include "layers/tape/lowering.h"
#include "memory/tasks.h"

enum {
  Q8_TABLE = 256,       /* bytes of an operation's table */
  Q8_PORT_WORDS = 2,    /* scale and zero of an input or output of the net */
  Q8_MOST_TERMS = 65536 /* of a sum in 32 bits */
};

/* What an operation reads beside its values and weights. */
struct q8_form {
  enum opcode opcode; /* DOES_UNKNOWN: the runtime has none in 8 bits */
  int64_t scales;     /* float32 */
  int64_t words;      /* int32 */
  int64_t table;      /* bytes */
};

/* Whether a prediction's values are int8, and its weights, too. */
bool q8_is_on(const struct infer_settings *settings);

/* The form of operation `index` of the tape. */
struct q8_form q8_form_of(const struct tasks *b, size_t index);

/* Its sums are of products, and have a scale for each output. */
static inline bool q8_is_product(enum opcode opcode) {
  return opcode == DOES_Q8CONV || opcode == DOES_Q8DECONV ||
         opcode == DOES_Q8LINEAR;
}

/* Bytes of the block that it needs beside weights. */
int64_t q8_bytes(const struct q8_form *form);

/*
 * The operation that only limits what operation `index` gives, and is part of
 * it then: relu, relu6, hardtanh. SIZE_MAX: there is none.
 */
size_t q8_clamped(const struct tasks *b, size_t index);

/* Whether operation `index` is such a part of the one before it. */
bool q8_clamps(const struct tasks *b, size_t index);

#endif
