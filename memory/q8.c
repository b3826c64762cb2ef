/* int8: the operations' int8 forms, and clamps that merge into others. */
#include "memory/q8.h"

bool q8_is_on(const struct infer_settings *settings) {
  return settings->dtype == ELEMENT_I8 && !settings->weight_dtype;
}

static enum opcode opcode_at(const struct tasks *b, size_t index) {
  return tape_lowered(&b->trace.tape, index)->opcode;
}

/* True for a function of one value, which has only 256 results in int8. */
static bool is_unary(enum opcode opcode) {
  static const bool unary[] = {
#define OP(code, ...) [DOES_##code] = false,
#define UNARY(code, ...) [DOES_##code] = true,
#include "runtime/ops.def"
#undef OP
  };
  return unary[opcode];
}

/* Strides of the first output. */
static struct strides made_by(const struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  size_t at =
      lowered->first_strides +
      (size_t)(tape->ops.at[index].facts->in_count + lowered->weight_count);
  return tape_strides_at(tape, tape->strides.at[at]);
}

/* True if inputs and one output are values of the net, not indices. */
static bool is_of_values(const struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  bool values = op->facts->out_count == 1;
  for (int i = 0; i < op->facts->in_count && values; i++)
    values = tape_extent(tape, tape_input(tape, op, i))->width == WIDTH_NET;
  return values && tape_extent(tape, op->first_out)->width == WIDTH_NET;
}

/* True if the weights are stored as the layer has them, so that those of each
 * output can become a row. */
static bool has_own_weights(const struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  size_t at = lowered->first_strides + (size_t)op->facts->in_count;
  if (lowered->weight_count < 1)
    return false;
  struct strides lies = tape_strides_at(tape, tape->strides.at[at]);
  return op->facts->in_count == 1 && lies.offset == 0 &&
         strides_are_dense(&lies);
}

static struct q8_form product(const struct tasks *b, size_t index,
                              enum opcode opcode) {
  struct strides out = made_by(b, index);
  bool known = out.rank > 0 && has_own_weights(b, index);
  return (struct q8_form){.opcode = known ? opcode : DOES_UNKNOWN,
                          .scales = known ? out.dim[out.rank - 1] : 0,
                          .words = known ? 4 : 0};
}

struct q8_form q8_form_of(const struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  struct q8_form none = {.opcode = DOES_UNKNOWN};
  if (lowered->opcode <= DOES_UNKNOWN || !is_of_values(b, index))
    return none;
  switch (lowered->opcode) {
  case DOES_CONV: return product(b, index, DOES_Q8CONV);
  case DOES_DECONV: return product(b, index, DOES_Q8DECONV);
  case DOES_LINEAR: return product(b, index, DOES_Q8LINEAR);
  case DOES_PRELU:
    return lowered->weight_count == 1 ? (struct q8_form){DOES_Q8PRELU, 2, 4, 0}
                                      : none;
  case DOES_REDUCE: return (struct q8_form){DOES_Q8REDUCE, 1, 4, 0};
  case DOES_UP: return (struct q8_form){.opcode = DOES_Q8UP};
  case DOES_MAXPOOL: return (struct q8_form){.opcode = DOES_Q8MAXPOOL};
  case DOES_ADAPTMAX: return (struct q8_form){.opcode = DOES_Q8ADAPTMAX};
  case DOES_AVGPOOL: return (struct q8_form){DOES_Q8AVGPOOL, 1, 4, 0};
  case DOES_ADAPTAVG: return (struct q8_form){DOES_Q8ADAPTAVG, 1, 4, 0};
  case DOES_PAD:
    return tape->numbers.at[lowered->first_number] == 0
               ? (struct q8_form){.opcode = DOES_Q8PAD, .words = 1}
               : none;
  case DOES_ADD:
  case DOES_SUB: return (struct q8_form){.opcode = DOES_Q8ADD, .words = 8};
  case DOES_MUL: return (struct q8_form){DOES_Q8MUL, 1, 5, 0};
  case DOES_SOFTMAX:
    return (struct q8_form){.opcode = DOES_Q8SOFTMAX, .words = 8};
  case DOES_COPY:
  case DOES_CONCAT: return (struct q8_form){.opcode = lowered->opcode};
  default:
    return is_unary(lowered->opcode)
               ? (struct q8_form){.opcode = DOES_Q8TABLE, .table = Q8_TABLE}
               : none;
  }
}

int64_t q8_bytes(const struct q8_form *form) {
  return 4 * (form->scales + form->words) + form->table;
}

/* True if the operation rounds and clamps a sum at the end. */
static bool has_limits(enum opcode opcode) {
  return opcode == DOES_CONV || opcode == DOES_DECONV ||
         opcode == DOES_LINEAR || opcode == DOES_ADD || opcode == DOES_SUB ||
         opcode == DOES_MUL || opcode == DOES_AVGPOOL ||
         opcode == DOES_ADAPTAVG || opcode == DOES_REDUCE;
}

bool q8_clamps(const struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  if (!b->small || index == 0)
    return false;
  enum opcode opcode = opcode_at(b, index);
  if (opcode != DOES_RELU && opcode != DOES_RELU6 && opcode != DOES_HARDTANH)
    return false;
  const struct tape_op *op = &tape->ops.at[index];
  const struct tape_op *before = &tape->ops.at[index - 1];
  size_t in = tape_input(tape, op, 0), maker = index - 1;
  if (before->first_out != in || b->reads[in] != 1 || !is_of_values(b, index))
    return false;
  if (maker > 0 && tasks_folded(b, maker - 1) == maker)
    maker--; /* skips a folded norm */
  return has_limits(opcode_at(b, maker)) &&
         q8_form_of(b, maker).opcode != DOES_UNKNOWN;
}

size_t q8_clamped(const struct tasks *b, size_t index) {
  size_t folded = tasks_folded(b, index);
  size_t next = (folded == SIZE_MAX ? index : folded) + 1;
  return next < b->trace.tape.ops.count && q8_clamps(b, next) ? next : SIZE_MAX;
}
