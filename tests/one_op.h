/*
 * A model of one operation, for tests that compare kernels with outputs that
 * others made: its operands lie densely or strided in an arena or in weights.
 */
#ifndef NETC_TESTS_ONE_OP_H
#define NETC_TESTS_ONE_OP_H

#include "runtime/kernel.h"
#include "tests/run.h"

enum { OPERANDS = 12, POOL = 512, ALIGN = 64 };

struct one_op {
  struct netrt_model model;
  struct netrt_op op;
  struct netrt_operand operands[OPERANDS];
  struct netrt_port inputs[OPERANDS], output;
  struct netrt_buffer buffers[OPERANDS];
  int32_t numbers[POOL];
  float reals[4];
  unsigned char *arena, *weights;
};

static const struct {
  const char *name;
  int ins, most, elementwise;
} operations[] = {
#define OP(code, name, ins, most, numbers, reals, elementwise) \
  {#name, ins, most, elementwise},
#include "runtime/ops.def"
#undef OP
};

static inline int code_of(const char *name) {
  for (int i = 0; i < NETRT_CODES; i++)
    if (strcmp(operations[i].name, name) == 0)
      return i;
  fail_msg("no operation %s", name);
  return 0;
}

/* "1 2 3", of which it returns how many there are. */
static inline int read_numbers(char *at, int32_t *numbers) {
  int count = 0;
  for (; *at; at += *at == ' ')
    numbers[count++] = (int32_t)strtol(at, &at, 10);
  return count;
}

static inline void one_op_begin(struct one_op *b, const char *name, int code,
                                int ins, const int32_t *numbers, int count) {
  b->model = (struct netrt_model){.name = name,
                                  .version = NETRT_VERSION,
                                  .batch = 1,
                                  .weight_bytes = ALIGN,
                                  .ops = &b->op,
                                  .operands = b->operands,
                                  .numbers = b->numbers,
                                  .reals = b->reals,
                                  .kernels = netrt_kernels,
                                  .inputs = b->inputs,
                                  .outputs = &b->output,
                                  .buffers = b->buffers,
                                  .op_count = 1,
                                  .output_count = 1,
                                  .kernel_count = NETRT_CODES,
                                  .real_count = 4};
  for (int i = 0; i < count; i++)
    b->numbers[b->model.number_count++] = numbers[i];
  b->op = (struct netrt_op){
      .ins = (uint16_t)ins, .outs = 1, .kernel = (uint8_t)code};
}

/* Sizes, and a stride for each of them. */
static inline void one_op_shape(struct one_op *b, struct netrt_operand *operand,
                                int rank, const int32_t *size,
                                const int32_t *stride) {
  struct netrt_model *m = &b->model;
  operand->rank = (uint8_t)rank;
  operand->shape = m->number_count;
  assert_true(m->number_count + 2 * (uint32_t)rank <= POOL);
  for (int i = 0; i < rank; i++)
    b->numbers[m->number_count++] = size[i];
  for (int i = 0; i < rank; i++)
    b->numbers[m->number_count++] = stride[i];
}

/* Bytes from the first to the last value. */
static inline size_t one_op_span(const struct one_op *b,
                                 const struct netrt_operand *operand) {
  const int32_t *size = &b->numbers[operand->shape];
  size_t last = 0;
  for (int i = 0; i < operand->rank; i++)
    last += (size_t)(size[i] - 1) * (size_t)size[operand->rank + i];
  return (last + 1) * netrt_type_bytes(operand->type);
}

/* At the end of arena or weights. */
static inline void one_op_place(struct one_op *b,
                                struct netrt_operand *operand) {
  size_t *end = operand->place == NETRT_IN_WEIGHTS ? &b->model.weight_bytes
                                                   : &b->model.arena_bytes;
  operand->offset = *end;
  *end = (*end + one_op_span(b, operand) + ALIGN - 1) / ALIGN * ALIGN;
}

/* Values needed until operation `last` has run: 0 or 1, after it. */
static inline void one_op_buffer(struct one_op *b,
                                 const struct netrt_operand *operand,
                                 uint32_t last) {
  b->buffers[b->model.buffer_count++] =
      (struct netrt_buffer){operand->offset, one_op_span(b, operand), 0, last};
}

static inline void one_op_input(struct one_op *b,
                                struct netrt_operand *operand) {
  one_op_place(b, operand);
  if (operand->place == NETRT_IN_WEIGHTS)
    return;
  one_op_buffer(b, operand, 0);
  b->inputs[b->model.input_count++].operand = *operand;
}

/* Where it stays: in the place of the first input, or after all others. */
static inline void one_op_output(struct one_op *b, bool in_place) {
  if (in_place) {
    b->operands[0].offset = b->operands[1].offset;
    b->buffers[0].last = 1;
  } else {
    one_op_place(b, &b->operands[0]);
    one_op_buffer(b, &b->operands[0], 1);
  }
  b->output.operand = b->operands[0];
}

static inline void one_op_open(struct one_op *b, struct netrt *net) {
  struct netrt_model *m = &b->model;
  m->operand_count = 1U + b->op.ins + b->op.works;
  b->arena = aligned_alloc(ALIGN, m->arena_bytes + ALIGN);
  b->weights = aligned_alloc(ALIGN, m->weight_bytes);
  assert_int_equal(
      netrt_open(net, m, b->weights, m->weight_bytes, b->arena, m->arena_bytes),
      NETRT_OK);
}

static inline unsigned char *one_op_data(const struct one_op *b,
                                         const struct netrt_operand *operand) {
  return (operand->place == NETRT_IN_WEIGHTS ? b->weights : b->arena) +
         operand->offset;
}

static inline void one_op_close(struct one_op *b) {
  free(b->arena);
  free(b->weights);
}

/* Parts in another order than they come. */
static inline void backwards(void *user, size_t count,
                             void (*task)(void *data, size_t i), void *data) {
  (void)user;
  while (count-- > 0)
    task(data, count);
}

#endif
