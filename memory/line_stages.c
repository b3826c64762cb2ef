/* Line stages: operations that can run line by line, such as windows and
 * elementwise operations. */
#include "memory/line_stages.h"

#include "base/check.h"
#include "memory/q8.h"
#include "sema/model/weights.h"

static const bool by_value[] = {
#define OP(code, name, ins, most, numbers, reals, elementwise) elementwise,
#include "runtime/ops.def"
#undef OP
};

/* True if output row i depends only on input row i. */
static bool keeps_lines(enum opcode opcode) {
  return opcode > DOES_VIEW && by_value[opcode - (DOES_VIEW + 1)] &&
         opcode != DOES_MASK && opcode != DOES_RELATIVE;
}

int line_stages_before(enum opcode opcode) {
  switch (opcode) {
  case DOES_CONV:
  case DOES_MAXPOOL: return 3;
  case DOES_AVGPOOL: return 4;
  default: return -1;
  }
}

static struct strides lies_at(const struct staging *s, size_t index,
                              int place) {
  const struct tape *tape = &s->b->trace.tape;
  size_t at = tape_lowered(tape, index)->first_strides + (size_t)place;
  return tape_strides_at(tape, tape->strides.at[at]);
}

bool line_stages_have(const struct staging *s, size_t value,
                      const struct strides *lies) {
  const struct tasks *b = s->b;
  size_t root = tasks_root(b, value);
  const struct extent *extent = tape_storage_extent(&b->trace.tape, root);
  return b->tensor[root] && lies->rank >= 2 && lies->rank < LINES_MOST_RANK &&
         lies->offset == 0 && strides_are_dense(lies) &&
         strides_values(lies) == extent->count && !extent->fixed &&
         extent->width == WIDTH_NET;
}

/* True if every window overlaps the map. */
static bool window_fits(const struct slide *slide, int64_t height,
                        int64_t lines) {
  return slide->before < slide->extent &&
         (lines - 1) * slide->stride - slide->before < height;
}

/* Adds a value that operation `index` reads as operand `place`. */
static bool add_map(struct staging *s, struct line_op *op, size_t value,
                    const struct strides *in, int place,
                    const struct slide *slide) {
  const struct tasks *b = s->b;
  if (!line_stages_have(s, value, in) ||
      !window_fits(slide, in->dim[0], op->height))
    return false;
  struct line_map map = {.tensor = b->tensor[tasks_root(b, value)] - 1,
                         .place = place,
                         .maker = -1,
                         .height = in->dim[0],
                         .slide = *slide};
  for (size_t i = 0; i < s->count; i++)
    if (s->ops[i].tensor == map.tensor)
      map.maker = (int64_t)i;
  map.bytes = b->graph.tensors.at[map.tensor].bytes / map.height;
  *VEC_PUSH(b->graph.arena, &op->maps) = map;
  return true;
}

/* True for a concat along channels or an axis after the lines. */
static bool joins_lines(const struct staging *s, size_t index) {
  const struct tape *tape = &s->b->trace.tape;
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  return lowered->opcode == DOES_CONCAT &&
         tape->numbers.at[lowered->first_number] > 1;
}

/* int8 weights of a net with another type have an operand of scales. */
static int has_scales(const struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  return tape_lowered(tape, index)->weight_count > 0 &&
         b->settings->weight_dtype == KERNELS_I8 &&
         b->model->params.at[tape->params.at[tape->ops.at[index].first_param]]
             .narrow;
}

static bool add_maps(struct staging *s, size_t index, struct line_op *op) {
  const struct tape *tape = &s->b->trace.tape;
  const struct tape_op *at = &tape->ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  struct slide slide = {.extent = 1, .stride = 1};
  bool window = lowered->slide.extent && at->facts->in_count == 1 &&
                line_stages_before(lowered->opcode) >= 0;
  if (window)
    slide = lowered->slide;
  else if (!keeps_lines(lowered->opcode) && !joins_lines(s, index))
    return false;
  int input;
  for (int i = 0; i < at->facts->in_count; i++) {
    struct strides in = lies_at(s, index, i);
    if (!add_map(s, op, tape_input(tape, at, i), &in, 1 + i, &slide) ||
        (!window && in.dim[0] != op->height))
      return false;
  }
  size_t sum = tasks_joined(s->b, index, &input);
  if (sum == SIZE_MAX)
    return true;
  struct strides in = lies_at(s, sum, input);
  int folds =
      tasks_folded(s->b, index) != SIZE_MAX && !tasks_has_bias(s->b, index);
  return add_map(s, op, tape_input(tape, &tape->ops.at[sum], input), &in,
                 1 + at->facts->in_count + lowered->weight_count + folds +
                     has_scales(s->b, index),
                 &(struct slide){.extent = 1, .stride = 1});
}

/* Upper bound of an operation's operands. */
static int count_operands(const struct staging *s, size_t index) {
  const struct tape *tape = &s->b->trace.tape;
  enum { MORE = 3 }; /* a bias and a sum, or what int8 reads */
  return 1 + tape->ops.at[index].facts->in_count +
         tape_lowered(tape, index)->weight_count + MORE;
}

bool line_stages_add(struct staging *s, size_t number) {
  const struct tasks *b = s->b;
  const struct plan_task *task = &b->graph.tasks.at[number];
  size_t index = b->origins[number].op;
  const struct tape_op *at = &b->trace.tape.ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(&b->trace.tape, index);
  if (s->count == LINES_MOST_OPS || task->made_count != 1 || task->work ||
      lowered->opcode <= DOES_VIEW ||
      count_operands(s, index) > LINES_MOST_OPERANDS ||
      (b->small && q8_form_of(b, index).opcode == DOES_UNKNOWN))
    return false;
  struct strides out =
      lies_at(s, index, at->facts->in_count + lowered->weight_count);
  if (!line_stages_have(s, at->first_out, &out))
    return false;
  struct line_op op = {.origin = b->origins[number],
                       .tensor = b->graph.makes.at[task->first_made],
                       .height = out.dim[0]};
  op.bytes = b->graph.tensors.at[op.tensor].bytes / op.height;
  if (element_bits(b->settings->dtype) < 8 || !add_maps(s, index, &op) ||
      op.maps.count == 0)
    return false;
  s->ops[s->count++] = op;
  return true;
}
