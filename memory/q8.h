/*
 * int8: the runtime operations that run inference with int8 values, and the
 * scales, zeros, limits and tables that these read besides values and weights.
 * All of them are in the block of weights.
 */
#ifndef NETC_MEMORY_Q8_H
#define NETC_MEMORY_Q8_H

#include "layers/tape/lowering.h"
#include "memory/tasks.h"

enum {
  Q8_TABLE = 256,       /* bytes of an operation's table */
  Q8_PORT_WORDS = 2,    /* scale and zero of an input or output */
  Q8_MOST_TERMS = 65536 /* terms of an int32 sum */
};

/* Numbers that an operation reads besides values and weights. */
struct q8_form {
  enum opcode opcode; /* DOES_UNKNOWN: the runtime has no int8 form */
  int64_t scales;     /* float32 */
  int64_t words;      /* int32 */
  int64_t table;      /* bytes */
};

/* True if values and weights of inference are int8. */
bool q8_is_on(const struct infer_settings *settings);

/* The form of operation `index` of the tape. */
struct q8_form q8_form_of(const struct tasks *b, size_t index);

/* True if it sums products, with a scale for each output. */
static inline bool q8_is_product(enum opcode opcode) {
  return opcode == DOES_Q8CONV || opcode == DOES_Q8DECONV ||
         opcode == DOES_Q8LINEAR;
}

/* Bytes of the block besides the weights. */
int64_t q8_bytes(const struct q8_form *form);

/*
 * The clamp (relu, relu6, hardtanh) after operation `index` that becomes part
 * of it. SIZE_MAX: none.
 */
size_t q8_clamped(const struct tasks *b, size_t index);

/* True if operation `index` is a clamp that merges into the one before. */
bool q8_clamps(const struct tasks *b, size_t index);

#endif
