/* Program: what a prediction runs, in its order, and where it all lies. */
#include "memory/program.h"

#include "base/check.h"
#include "memory/program_writer.h"

static int value_bytes(enum width width) {
  return width == WIDTH_INDEX ? 8 : width == WIDTH_I32 ? 4 : 0;
}

/* Bytes of values of the weights. */
static int64_t weight_bytes(struct program_writer *w, int64_t values) {
  int64_t bytes = 0;
  bool fits = element_bytes(w->p->b->settings->dtype, values, &bytes);
  w->overflow = w->overflow || !fits;
  return bytes;
}

/* Bytes of values that lie before another one. */
static int64_t bytes_before(struct program_writer *w,
                            const struct operand *operand, int64_t values) {
  int64_t bytes = 0;
  bool fits = operand->bytes
                  ? mul_i64(values, operand->bytes, &bytes)
                  : element_bytes(w->p->b->settings->dtype, values, &bytes);
  w->overflow = w->overflow || !fits;
  return bytes;
}

/* Puts the batch in front, whose samples lie `stride` values apart. */
static void add_axes(struct program_writer *w, struct operand *operand,
                     const struct strides *lies, bool batch, int64_t stride) {
  operand->rank = 0;
  if (batch) {
    operand->dim[operand->rank] = w->p->b->settings->batch;
    operand->stride[operand->rank++] = stride;
  }
  for (int i = 0; i < lies->rank; i++) {
    operand->dim[operand->rank] = lies->dim[i];
    operand->stride[operand->rank++] = lies->stride[i];
  }
}

static struct operand operand_of(struct program_writer *w, size_t value,
                                 const struct strides *lies) {
  const struct tasks *b = w->p->b;
  size_t root = tasks_root(b, value);
  const struct tape_storage *storage = &b->trace.tape.storages.at[root];
  const struct extent *extent = tape_storage_extent(&b->trace.tape, root);
  struct operand operand = {.bytes = value_bytes(extent->width)};
  add_axes(w, &operand, lies, true, extent->fixed ? 0 : extent->count);
  if (storage->weight) {
    operand.weights = true;
    operand.first = weight_bytes(w, w->block.at[storage->weight - 1]);
  } else {
    size_t buffer = w->p->buffer[b->tensor[root] - 1] - 1;
    operand.first = w->p->inference->arena.at[buffer].offset;
  }
  operand.first += bytes_before(w, &operand, lies->offset);
  return operand;
}

static void add_operand(struct program_writer *w,
                        const struct operand *operand) {
  *VEC_PUSH(w->arena, &w->program->operands) = *operand;
}

/* A parameter is the same for all samples. */
static void add_weight(struct program_writer *w, int64_t place,
                       const struct strides *lies) {
  struct operand operand = {.weights = true, .first = weight_bytes(w, place)};
  add_axes(w, &operand, lies, false, 0);
  add_operand(w, &operand);
}

static struct strides strides_at(const struct program_writer *w, size_t index,
                                 int place) {
  const struct tape *tape = &w->p->b->trace.tape;
  size_t at = tape_lowered(tape, index)->first_strides + (size_t)place;
  return tape_strides_at(tape, tape->strides.at[at]);
}

static void add_outputs(struct program_writer *w, size_t index,
                        struct program_op *step) {
  const struct tape *tape = &w->p->b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  int before = op->facts->in_count + tape_lowered(tape, index)->weight_count;
  for (int i = 0; i < op->facts->out_count; i++) {
    struct strides lies = strides_at(w, index, before + i);
    struct operand operand = operand_of(w, op->first_out + (size_t)i, &lies);
    add_operand(w, &operand);
  }
  step->outs = op->facts->out_count;
}

/* What it reads of the arena, and its parameters. */
static void add_inputs(struct program_writer *w, size_t index,
                       struct program_op *step) {
  const struct tape *tape = &w->p->b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  for (int i = 0; i < op->facts->in_count; i++) {
    struct strides lies = strides_at(w, index, i);
    struct operand operand = operand_of(w, tape_input(tape, op, i), &lies);
    add_operand(w, &operand);
  }
  for (int i = 0; i < lowered->weight_count; i++) {
    size_t param = tape->params.at[op->first_param + (size_t)i];
    struct strides lies = strides_at(w, index, op->facts->in_count + i);
    add_weight(w, w->block.at[param], &lies);
  }
  step->ins = op->facts->in_count + lowered->weight_count;
}

/* Folding gives a bias to what has none. */
static void add_folded(struct program_writer *w, size_t index,
                       struct program_op *step) {
  const struct tasks *b = w->p->b;
  size_t folded = tasks_folded(b, index);
  step->folded = NO_NODE;
  if (folded == SIZE_MAX)
    return;
  step->folded = b->trace.tape.ops.at[folded].node;
  if (tasks_has_bias(b, index))
    return;
  const struct node *node = &b->model->nodes.at[step->folded];
  int64_t channels = shape_channels(node->out);
  struct strides lies = strides_dense(1, &channels);
  add_weight(w, w->block.bias[step->node], &lies);
  step->ins++;
}

static void add_work(struct program_writer *w, size_t number,
                     struct program_op *step) {
  const struct tasks *b = w->p->b;
  size_t buffer = w->p->work[number];
  if (!buffer)
    return;
  const struct extent *work =
      &b->trace.tape.ops.at[b->origins[number].op].facts->work;
  int64_t count = work->count; /* its bytes have been counted */
  if (!work->fixed)
    count *= b->settings->batch;
  struct operand operand = {.first =
                                w->p->inference->arena.at[buffer - 1].offset,
                            .rank = 1,
                            .dim = {count},
                            .stride = {1}};
  add_operand(w, &operand);
  step->works = 1;
}

static void add_step(struct program_writer *w, size_t number) {
  const struct tasks *b = w->p->b;
  size_t index = b->origins[number].op;
  const struct tape_op *op = &b->trace.tape.ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(&b->trace.tape, index);
  struct program_op step = {.node = op->node,
                            .name = op->facts->name,
                            .opcode = lowered->opcode,
                            .first_operand = w->program->operands.count,
                            .first_number = w->program->numbers.count,
                            .numbers = lowered->number_count};
  for (int i = 0; i < LOWERING_REALS; i++)
    step.real[i] = lowered->real[i];
  for (int i = 0; i < step.numbers; i++)
    *VEC_PUSH(w->arena, &w->program->numbers) =
        b->trace.tape.numbers.at[lowered->first_number + (size_t)i];
  add_outputs(w, index, &step);
  add_inputs(w, index, &step);
  add_folded(w, index, &step);
  add_work(w, number, &step);
  const struct operand *operand = w->program->operands.at + step.first_operand;
  for (int i = step.outs; i < step.outs + step.ins; i++)
    step.in_place = step.in_place || (!operand[i].weights &&
                                      operand[i].first == operand[0].first);
  *VEC_PUSH(w->arena, &w->program->ops) = step;
}

bool program_write(struct placing *placing, struct program *program) {
  const struct tasks *b = placing->b;
  const struct model *model = b->model;
  const struct inference *f = placing->inference;
  struct program_writer w = {
      .p = placing, .program = program, .arena = model->arena};
  weight_block_find(model, f->folds.at, f->folds.count, b->arena, &w.block);
  for (size_t i = 0; i < b->graph.tasks.count; i++)
    add_step(&w, placing->schedule->order[i]);
  for (size_t i = 0; i < model->predicted_sources; i++) {
    size_t value = b->trace.value_of[model->sources.at[i]];
    struct strides lies = tape_strides(&b->trace.tape, value);
    *VEC_PUSH(w.arena, &program->inputs) = operand_of(&w, value, &lies);
  }
  for (size_t i = 0; i < model->predicted_outputs; i++) {
    size_t value = b->trace.value_of[model->outputs.at[i].node];
    struct strides lies = tape_strides(&b->trace.tape, value);
    *VEC_PUSH(w.arena, &program->outputs) = operand_of(&w, value, &lies);
  }
  program->weight_bytes = weight_bytes(&w, w.block.count);
  return !w.overflow;
}
