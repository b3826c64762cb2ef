/* Lowering: the tape's record of what operations compute. */
#include "layers/tape/lowering.h"

/* Stores rank, offset, sizes, strides. */
static uint32_t keep_strides(struct tape *tape, const struct strides *strides) {
  uint32_t at = tape_place(tape, tape->numbers.count);
  *VEC_PUSH(tape->arena, &tape->numbers) = strides->rank;
  *VEC_PUSH(tape->arena, &tape->numbers) = strides->offset;
  for (int i = 0; i < strides->rank; i++)
    *VEC_PUSH(tape->arena, &tape->numbers) = strides->dim[i];
  for (int i = 0; i < strides->rank; i++)
    *VEC_PUSH(tape->arena, &tape->numbers) = strides->stride[i];
  return at;
}

struct strides tape_strides_at(const struct tape *tape, size_t place) {
  struct strides result = {0};
  if (!tape->lowers)
    return result;
  const int64_t *at = tape->numbers.at + place;
  result.rank = (int)at[0];
  result.offset = at[1];
  for (int i = 0; i < result.rank; i++) {
    result.dim[i] = at[2 + i];
    result.stride[i] = at[2 + result.rank + i];
  }
  return result;
}

struct strides tape_strides(const struct tape *tape, size_t value) {
  return tape_strides_at(tape, tape->values.at[value].strides);
}

bool tape_same_strides(const struct tape *tape, size_t a, size_t b) {
  if (!tape->lowers || a == b)
    return a == b; /* `numbers` may be empty */
  const int64_t *x = tape->numbers.at + a, *y = tape->numbers.at + b;
  return *x == *y && memcmp(x, y, (size_t)(2 + 2 * *x) * sizeof *x) == 0;
}

bool tape_same_lowered(const struct tape *tape, size_t a, size_t b) {
  const struct tape_lowered *x = tape_lowered(tape, a);
  const struct tape_lowered *y = tape_lowered(tape, b);
  const struct op_facts *facts = tape->ops.at[a].facts; /* equal to b's */
  if (x == y)
    return true;
  if (x->opcode != y->opcode || x->number_count != y->number_count ||
      x->weight_count != y->weight_count ||
      memcmp(x->real, y->real, sizeof x->real) != 0)
    return false;
  for (int i = 0; i < x->number_count; i++)
    if (tape->numbers.at[x->first_number + (size_t)i] !=
        tape->numbers.at[y->first_number + (size_t)i])
      return false;
  for (int i = 0; i < facts->in_count + x->weight_count + facts->out_count; i++)
    if (!tape_same_strides(tape, tape->strides.at[x->first_strides + (size_t)i],
                           tape->strides.at[y->first_strides + (size_t)i]))
      return false;
  return true;
}

void tape_see(struct tape *tape, size_t value, const struct strides *strides) {
  if (tape->lowers)
    tape->values.at[value].strides = keep_strides(tape, strides);
}

/* The sizes of the first input, or one axis if its size differs. */
static struct strides usual_out(const struct tape *tape,
                                const struct strides *in, size_t out) {
  int64_t count = tape_extent(tape, out)->count;
  if (strides_values(in) == count)
    return strides_dense(in->rank, in->dim);
  return strides_dense(1, &count);
}

static bool is_view(const struct tape *tape, const struct operation *op,
                    size_t out) {
  return tape->single && op->view_of_one &&
         tape->storages.at[tape->values.at[out].storage].view_of;
}

static void lower_inputs(struct tape *tape, const struct operation *op,
                         const struct lowering *does, const size_t *in,
                         struct strides *first) {
  *first = (struct strides){0};
  for (int i = 0; i < op->in_count; i++) {
    uint32_t kept = tape->values.at[in[i]].strides;
    if (does->in)
      kept = keep_strides(tape, &does->in[i]);
    if (i == 0)
      *first = tape_strides_at(tape, kept);
    *VEC_PUSH(tape->arena, &tape->strides) = kept;
  }
}

void tape_lower(struct tape *tape, const struct operation *op, const size_t *in,
                size_t first_out, int out_count) {
  static const struct lowering nothing = {.opcode = DOES_NONE};
  const struct lowering *does = op->does ? op->does : &nothing;
  struct tape_lowered lowered = {
      .opcode = does->opcode,
      .first_number = tape_place(tape, tape->numbers.count),
      .number_count = does->count,
      .first_strides = tape_place(tape, tape->strides.count),
      .weight_count = op->param_count,
      .slide = does->slide};
  struct strides first;
  for (int i = 0; i < LOWERING_REALS; i++)
    lowered.real[i] = does->real[i];
  for (int i = 0; i < does->count; i++)
    *VEC_PUSH(tape->arena, &tape->numbers) = does->number[i];
  lower_inputs(tape, op, does, in, &first);
  for (int i = 0; i < op->param_count; i++) {
    const struct tape_param *param = &tape->node_params[operation_param(op, i)];
    *VEC_PUSH(tape->arena, &tape->params) = tape_place(tape, param->index);
    *VEC_PUSH(tape->arena, &tape->strides) =
        keep_strides(tape, does->weights ? &does->weights[i] : &param->lies);
  }
  for (int i = 0; i < out_count; i++) {
    size_t out = first_out + (size_t)i;
    struct strides lies =
        does->out ? does->out[i] : usual_out(tape, &first, out);
    uint32_t kept = keep_strides(tape, is_view(tape, op, out) ? &first : &lies);
    tape->values.at[out].strides = kept;
    *VEC_PUSH(tape->arena, &tape->strides) = kept;
  }
  *VEC_PUSH(tape->arena, &tape->lowered_of) =
      tape_place(tape, tape->lowered.count);
  *VEC_PUSH(tape->arena, &tape->lowered) = lowered;
}
