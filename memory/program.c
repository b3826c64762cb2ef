/* Program: the operations of inference in order, and their operands. */
#include "memory/program.h"

#include "base/check.h"
#include "memory/line_stages.h"
#include "memory/program_writer.h"
#include "memory/q8.h"
#include "runtime/netrt.h"
#include "sema/model/weights.h"

static enum operand_type type_of(enum width width) {
  return width == WIDTH_INDEX ? OPERAND_I64
         : width == WIDTH_I32 ? OPERAND_I32
                              : OPERAND_OWN;
}

/* Bytes of `values` weights. */
static int64_t weight_bytes(struct program_writer *w, int64_t values) {
  int64_t bytes = 0;
  bool fits = element_bytes(w->p->b->settings->dtype, values, &bytes);
  w->overflow = w->overflow || !fits;
  return bytes;
}

/* Offset of a parameter in the block. */
static int64_t param_first(struct program_writer *w, size_t param) {
  const struct weight_block *block = &w->block;
  if (block->narrow[param] >= 0)
    return w->program->narrow +
           block->narrow[param] * weight_block_narrow_bits(w->p->b->settings) /
               8;
  if (!w->program->q8)
    return weight_bytes(w, block->at[param]);
  if (w->p->b->model->params.at[param].bias)
    return 4 * block->wide[param];
  return w->program->narrow + block->at[param] - block->wide[param];
}

/* Bytes of `values` values of an operand's type. */
static int64_t bytes_before(struct program_writer *w,
                            const struct operand *operand, int64_t values) {
  int64_t bytes = 0;
  int64_t each = operand->type == OPERAND_I64 ? 8 : 4;
  bool fits = operand->type != OPERAND_OWN
                  ? mul_i64(values, each, &bytes)
                  : element_bytes(w->p->b->settings->dtype, values, &bytes);
  w->overflow = w->overflow || !fits;
  return bytes;
}

/* Adds the axes, the batch first; its samples are `stride` values apart. */
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

/* Offset of a tensor. One in a line buffer has only the kept lines. */
static int64_t place_of(const struct program_writer *w, size_t tensor,
                        struct operand *operand) {
  const struct line_op *lines = line_buffers_of(w->p->b, tensor);
  if (!lines)
    return w->p->inference->arena.at[w->p->buffer[tensor] - 1].offset;
  operand->dim[1] = lines->kept;
  operand->lines = true;
  return w->p->inference->arena.at[w->p->work[0] - 1].offset + lines->offset;
}

static struct operand operand_of(struct program_writer *w, size_t value,
                                 const struct strides *lies) {
  const struct tasks *b = w->p->b;
  size_t root = tasks_root(b, value);
  const struct tape_storage *storage = &b->trace.tape.storages.at[root];
  const struct extent *extent = tape_storage_extent(&b->trace.tape, root);
  struct operand operand = {
      .type = type_of(extent->width), .node = storage->node, .param = -1};
  add_axes(w, &operand, lies, true, extent->fixed ? 0 : extent->count);
  if (storage->weight) {
    operand.weights = true;
    operand.param = (int64_t)storage->weight - 1;
    operand.first = param_first(w, storage->weight - 1);
  } else {
    operand.first = place_of(w, b->tensor[root] - 1, &operand);
  }
  operand.first += bytes_before(w, &operand, lies->offset);
  return operand;
}

static void add_operand(struct program_writer *w,
                        const struct operand *operand) {
  *VEC_PUSH(w->arena, &w->program->operands) = *operand;
}

static enum operand_type narrow_type(const struct program_writer *w) {
  switch (w->p->b->settings->weight_dtype) {
  case KERNELS_I8: return OPERAND_I8;
  case KERNELS_F16: return OPERAND_F16;
  default: return OPERAND_BF16;
  }
}

/* True for a float32 matrix wider than one panel that only products and
 * convolutions of one group read. */
static bool may_be_panels(const struct program_writer *w, int64_t param,
                          const struct strides *lies) {
  const struct model *model = w->p->b->model;
  if (param < 0 || w->program->q8 || w->p->b->settings->weight_dtype)
    return false;
  const struct model_param *own = &model->params.at[param];
  const struct model_param *stored = &model->params.at[own->same];
  return stored->narrow && !stored->grouped &&
         lies->dim[lies->rank - 1] > NETRT_PANEL;
}

/* Adds a parameter, without a batch axis; -1: a bias made by folding. */
static void add_weight(struct program_writer *w, int64_t param, int64_t first,
                       const struct strides *lies) {
  struct operand operand = {
      .weights = true, .first = first, .node = NO_NODE, .param = param};
  if (w->program->q8 && (param < 0 || w->p->b->model->params.at[param].bias))
    operand.type = OPERAND_I32;
  if (param >= 0 && w->block.narrow[param] >= 0)
    operand.type = narrow_type(w);
  operand.panels = may_be_panels(w, param, lies);
  add_axes(w, &operand, lies, false, 0);
  add_operand(w, &operand);
}

/* Narrow weights have kernels of their own; for int8 these read scales, too. */
static void use_narrow(struct program_writer *w, size_t param,
                       const struct strides *lies, struct program_op *step) {
  step->opcode = step->was == DOES_CONV      ? DOES_NCONV
                 : step->was == DOES_EXPERTS ? DOES_NEXPERTS
                                             : DOES_NLINEAR;
  if (w->block.scale[param] < 0)
    return;
  int64_t outputs = lies->dim[lies->rank - 1];
  if (step->was == DOES_EXPERTS)
    outputs *= lies->dim[0];
  struct strides scales = strides_dense(1, &outputs);
  add_weight(w, -1, weight_bytes(w, w->block.scale[param]), &scales);
  step->ins++;
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

/* Adds the inputs in the arena and the parameters. */
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
    add_weight(w, (int64_t)param, param_first(w, param), &lies);
    if (w->block.narrow[param] >= 0)
      use_narrow(w, param, &lies, step);
  }
  step->ins += op->facts->in_count + lowered->weight_count;
}

/* Adds the bias that folding creates for a layer without one. */
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
  int64_t first = w->program->q8 ? 4 * w->block.made_wide[step->node]
                                 : weight_bytes(w, w->block.bias[step->node]);
  add_weight(w, -1, first, &lies);
  step->ins++;
}

/* Adds the addend that a sum starts from, as the last input. */
static void add_joined(struct program_writer *w, size_t index,
                       struct program_op *step) {
  const struct tape *tape = &w->p->b->trace.tape;
  int input;
  size_t sum = tasks_joined(w->p->b, index, &input);
  if (sum == SIZE_MAX)
    return;
  struct strides lies = strides_at(w, sum, input);
  struct operand operand =
      operand_of(w, tape_input(tape, &tape->ops.at[sum], input), &lies);
  add_operand(w, &operand);
  step->ins++;
}

/* Adds contiguous values that are no tensor of the net. */
static void add_run(struct program_writer *w, bool weights,
                    enum operand_type type, int64_t first, int64_t count) {
  struct operand operand = {.weights = weights,
                            .type = type,
                            .first = first,
                            .node = NO_NODE,
                            .param = -1,
                            .rank = 1,
                            .dim = {count},
                            .stride = {1}};
  add_operand(w, &operand);
}

static void add_work(struct program_writer *w, size_t number,
                     struct program_op *step) {
  const struct tasks *b = w->p->b;
  size_t buffer = w->p->work[number];
  if (!buffer)
    return;
  const struct extent *work =
      &b->trace.tape.ops.at[b->origins[number].op].facts->work;
  int64_t count = work->count; /* cannot overflow: its bytes were counted */
  if (!work->fixed)
    count *= b->settings->batch;
  add_run(w, false, OPERAND_OWN, w->p->inference->arena.at[buffer - 1].offset,
          count);
  step->works = 1;
}

/* int8 */

/* Adds `count` values of 32 or 8 bits to the block, after the previous ones. */
static int64_t add_numbers(struct program_writer *w, enum operand_type type,
                           int64_t count) {
  int64_t *at = type == OPERAND_OWN ? &w->tables : &w->words, first = *at;
  *at += type == OPERAND_OWN ? count : 4 * count;
  add_run(w, true, type, first, count);
  return first;
}

/* Makes the weights of each output contiguous if it has several inputs. */
static void put_outputs_first(struct operand *weight) {
  int last = weight->rank - 1;
  int64_t step = 1;
  if (weight->dim[last - 1] == 1)
    return;
  for (int i = last - 1; i >= 0; step *= weight->dim[i--])
    weight->stride[i] = step;
  weight->stride[last] = step;
}

/* Adds an operation's scales, words and table; its bias, if any, is last. */
static void use_eight_bits(struct program_writer *w, size_t index,
                           struct program_op *step) {
  const struct tasks *b = w->p->b;
  struct q8_form form = q8_form_of(b, index);
  size_t place = step->first_operand + (size_t)(step->outs + step->ins) - 1;
  struct operand bias = {.rank = 0};
  step->opcode = form.opcode;
  w->words = w->words_of[index];
  w->tables = w->tables_of[index];
  size_t clamp = q8_clamped(b, index);
  if (clamp != SIZE_MAX) {
    step->clamp = b->trace.tape.ops.at[clamp].node;
    step->limits = tape_lowered(&b->trace.tape, clamp)->opcode;
    for (int i = 0; i < LOWERING_REALS; i++)
      step->real[i] = tape_lowered(&b->trace.tape, clamp)->real[i];
  }
  bool product = q8_is_product(form.opcode);
  if (product && step->ins == 3) {
    bias = w->program->operands.at[place--];
    w->program->operands.count--;
  }
  if (product)
    put_outputs_first(&w->program->operands.at[place]);
  if (form.scales)
    step->scales = add_numbers(w, OPERAND_REAL, form.scales);
  if (form.words)
    step->words = add_numbers(w, OPERAND_I32, form.words);
  if (form.table)
    step->table = add_numbers(w, OPERAND_OWN, form.table);
  step->ins += (form.scales > 0) + (form.words > 0) + (form.table > 0);
  if (bias.rank)
    add_operand(w, &bias);
}

/* Reserves numbers of operation `index`, after the previous ones. */
static void lay_numbers(struct program_writer *w, size_t index) {
  struct q8_form form = q8_form_of(w->p->b, index);
  w->words_of[index] = w->words;
  w->tables_of[index] = w->tables;
  w->words += 4 * (form.scales + form.words); /* tasks_find summed it */
  w->tables += form.table;
}

/* Places biases, scales and words, weights, and tables in the tape's order,
 * which does not depend on the plan's settings. */
static void lay_eight_bits(struct program_writer *w) {
  const struct tasks *b = w->p->b;
  size_t ops = b->trace.tape.ops.count + 1;
  size_t first = b->lines ? 1 : 0; /* task 0 is several operations */
  w->program->q8 = true;
  w->program->ports = 4 * w->block.biases;
  w->words = w->program->ports + 4 * Q8_PORT_WORDS *
                                     (int64_t)(b->model->predicted_sources +
                                               b->model->predicted_outputs);
  w->words_of = arena_alloc(b->arena, ops, sizeof *w->words_of);
  w->tables_of = arena_alloc(b->arena, ops, sizeof *w->tables_of);
  bool *runs = arena_alloc(b->arena, ops, sizeof *runs);
  for (size_t i = 0; b->lines && i < b->lines->count; i++)
    if (b->lines->ops[i].origin.op != NO_TAPE_OP) /* else frames of a stream */
      runs[b->lines->ops[i].origin.op] = true;
  for (size_t i = first; i < b->graph.tasks.count; i++)
    runs[b->origins[i].op] = true;
  for (size_t i = 0; i < ops; i++)
    if (runs[i])
      lay_numbers(w, i);
  w->program->narrow = w->words;
  int64_t begin = w->words + w->block.count - w->block.biases;
  for (size_t i = 0; i < ops; i++)
    w->tables_of[i] += begin;
  w->program->weight_bytes = begin + w->tables;
}

/* Adds operation `index` of task `number`; SIZE_MAX: one part of a task. */
static void add_step(struct program_writer *w, size_t index, size_t number) {
  const struct tasks *b = w->p->b;
  const struct tape_op *op = &b->trace.tape.ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(&b->trace.tape, index);
  struct program_op step = {.node = op->node,
                            .name = op->facts->name,
                            .opcode = lowered->opcode,
                            .was = lowered->opcode,
                            .clamp = NO_NODE,
                            .scales = -1,
                            .words = -1,
                            .table = -1,
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
  add_joined(w, index, &step);
  if (w->program->q8)
    use_eight_bits(w, index, &step);
  if (number != SIZE_MAX)
    add_work(w, number, &step);
  const struct operand *operand = w->program->operands.at + step.first_operand;
  for (int i = step.outs; i < step.outs + step.ins; i++)
    step.in_place = step.in_place || (!operand[i].weights &&
                                      operand[i].first == operand[0].first);
  *VEC_PUSH(w->arena, &w->program->ops) = step;
}

/* Line buffers */

/* For a stream, adds when an operation makes its lines; else, their number. */
static void add_line_numbers(struct program_writer *w,
                             const struct line_op *op) {
  const struct tape *tape = &w->p->b->trace.tape;
  bool stream = w->p->b->lines->window > 0;
  int64_t numbers[] = {
      stream ? op->first : op->height,
      stream ? op->every
             : line_stages_before(tape_lowered(tape, op->origin.op)->opcode),
      (int64_t)op->maps.count};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    *VEC_PUSH(w->arena, &w->program->numbers) = numbers[i];
  for (size_t i = 0; i < op->maps.count; i++) {
    const struct line_map *map = &op->maps.at[i];
    int64_t reads[] = {map->place, map->maker, map->slide.extent,
                       map->slide.stride, map->slide.before};
    for (size_t k = 0; k < sizeof reads / sizeof *reads; k++)
      *VEC_PUSH(w->arena, &w->program->numbers) = reads[k];
  }
}

/* The input of a stream: the next line of the net's input. */
static struct operand frame_of(struct program_writer *w) {
  const struct tasks *b = w->p->b;
  size_t value = b->trace.value_of[b->model->sources.at[0]];
  struct strides lies = tape_strides(&b->trace.tape, value);
  struct operand operand = operand_of(w, value, &lies);
  size_t buffer = w->p->buffer[b->lines->ops[0].tensor] - 1;
  operand.first = w->p->inference->arena.at[buffer].offset;
  operand.dim[1] = 1;
  operand.lines = false;
  return operand;
}

/* An operation of the runtime itself. */
static struct program_op own_op(const struct program_writer *w, int64_t node,
                                const char *name, enum opcode opcode) {
  return (struct program_op){.node = node,
                             .name = name,
                             .opcode = opcode,
                             .was = opcode,
                             .clamp = NO_NODE,
                             .folded = NO_NODE,
                             .scales = -1,
                             .words = -1,
                             .table = -1,
                             .first_operand = w->program->operands.count,
                             .first_number = w->program->numbers.count};
}

/* Adds a tensor that is complete. */
static void add_whole(struct program_writer *w, size_t tensor) {
  const struct tape *tape = &w->p->b->trace.tape;
  for (size_t i = 0; i < tape->values.count; i++)
    if (w->p->b->tensor[tasks_root(w->p->b, i)] == tensor + 1) {
      struct strides lies = tape_strides(tape, i);
      struct operand operand = operand_of(w, i, &lies);
      add_operand(w, &operand);
      return;
    }
}

/* Adds the copy of the new row behind the rows before it. */
static void add_frame(struct program_writer *w) {
  const struct tasks *b = w->p->b;
  struct operand frame = frame_of(w);
  struct program_op step =
      own_op(w, b->model->sources.at[0], "rows", DOES_COPY);
  add_whole(w, b->lines->ops[0].tensor);
  add_operand(w, &frame);
  step.outs = step.ins = 1;
  *VEC_PUSH(w->arena, &w->program->ops) = step;
}

/* Adds the task's inputs in the arena and its workspace for lines. */
static void add_line_reads(struct program_writer *w, struct program_op *step) {
  const struct tasks *b = w->p->b;
  const struct plan_task *task = &b->graph.tasks.at[0];
  bool stream = b->lines->window > 0;
  struct operand frame = {0};
  step->ins = stream ? 1 : task->read_count; /* besides the lines */
  step->works = 1;
  step->stays = stream;
  if (stream)
    frame = frame_of(w);
  for (int i = 0; i < step->ins; i++)
    if (stream)
      add_operand(w, &frame);
    else
      add_whole(w, b->graph.reads.at[task->first_read + (size_t)i]);
  add_run(w, false, OPERAND_OWN,
          w->p->inference->arena.at[w->p->work[0] - 1].offset,
          b->lines->bytes / (element_bits(b->settings->dtype) / 8));
}

/* Adds the task that runs the operations after it line by line. */
static void add_lines(struct program_writer *w) {
  const struct tasks *b = w->p->b;
  const struct line_buffers *lines = b->lines;
  const struct plan_task *task = &b->graph.tasks.at[0];
  struct program_op step =
      own_op(w, b->origins[0].node, "lines", DOES_LINEBUFFER);
  int64_t numbers[] = {(int64_t)lines->count, lines->window, lines->hop};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    *VEC_PUSH(w->arena, &w->program->numbers) = numbers[i];
  for (size_t i = 0; i < lines->count; i++)
    add_line_numbers(w, &lines->ops[i]);
  step.numbers = (int)(w->program->numbers.count - step.first_number);
  step.outs = task->made_count;
  for (int i = 0; i < task->made_count; i++)
    add_whole(w, b->graph.makes.at[task->first_made + (size_t)i]);
  add_line_reads(w, &step);
  w->program->lines_at = w->program->ops.count;
  w->program->lines = lines->count;
  *VEC_PUSH(w->arena, &w->program->ops) = step;
  for (size_t i = 0; i < lines->count; i++)
    if (lines->ops[i].origin.op == NO_TAPE_OP)
      add_frame(w);
    else
      add_step(w, lines->ops[i].origin.op, SIZE_MAX);
}

bool program_write(struct placing *placing, struct program *program) {
  const struct tasks *b = placing->b;
  const struct model *model = b->model;
  const struct inference *f = placing->inference;
  struct program_writer w = {
      .p = placing, .program = program, .arena = model->arena};
  weight_block_find(model, b->settings, f->folds.at, f->folds.count, b->arena,
                    &w.block);
  program->narrow = weight_bytes(&w, w.block.count);
  if (q8_is_on(b->settings))
    lay_eight_bits(&w);
  for (size_t i = 0; i < b->graph.tasks.count; i++) {
    size_t number = placing->schedule->order[i];
    if (number == 0 && b->lines)
      add_lines(&w);
    else
      add_step(&w, b->origins[number].op, number);
  }
  for (size_t i = 0; i < model->predicted_sources; i++) {
    size_t value = b->trace.value_of[model->sources.at[i]];
    struct strides lies = tape_strides(&b->trace.tape, value);
    *VEC_PUSH(w.arena, &program->inputs) = b->lines && b->lines->window
                                               ? frame_of(&w)
                                               : operand_of(&w, value, &lies);
  }
  for (size_t i = 0; i < model->predicted_outputs; i++) {
    size_t value = b->trace.value_of[model->outputs.at[i].node];
    struct strides lies = tape_strides(&b->trace.tape, value);
    *VEC_PUSH(w.arena, &program->outputs) = operand_of(&w, value, &lies);
  }
  program->bytes = program->q8 || w.block.narrow_count > 0;
  if (!program->q8)
    program->weight_bytes =
        program->narrow +
        w.block.narrow_count * weight_block_narrow_bits(b->settings) / 8;
  return !w.overflow;
}
