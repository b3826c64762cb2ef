/* Operations of inference, from the tape, as data. */
#include "memory/tables.h"
#include "layers/tape/lowering.h"
#include "library/context.h"
#include "memory/step/trace.h"

struct operations {
  VEC(struct netc_operation) all;
  struct netc_operand *inputs, *outputs;
  size_t input_count, output_count;
};

struct writing {
  struct call *call;
  const struct model *model;
  struct arena *arena; /* of the load */
  struct trace trace;
  int64_t batch;
};

static int64_t *room(struct writing *w, size_t count) {
  return arena_alloc(w->arena, count, sizeof(int64_t));
}

/* Sets sizes and strides, with the batch first if there is one. */
static void add_axes(struct writing *w, struct netc_operand *operand,
                     const struct strides *lies, bool batch, int64_t stride) {
  int64_t *dims = room(w, (size_t)lies->rank + batch);
  int64_t *strides = room(w, (size_t)lies->rank + batch);
  operand->rank = 0;
  operand->first = lies->offset;
  if (batch) {
    dims[0] = w->batch;
    strides[operand->rank++] = stride;
  }
  for (int i = 0; i < lies->rank; i++) {
    dims[operand->rank] = lies->dim[i];
    strides[operand->rank++] = lies->stride[i];
  }
  operand->dims = dims;
  operand->strides = strides;
}

static struct netc_operand operand_of(struct writing *w, size_t value,
                                      const struct strides *lies) {
  const struct tape *tape = &w->trace.tape;
  size_t block = tape->values.at[value].storage;
  const struct tape_storage *storage = &tape->storages.at[block];
  const struct extent *extent = tape_storage_extent(tape, block);
  struct netc_operand operand = {
      .block = storage->weight ? -1 : (int64_t)block,
      .tensor =
          storage->weight ? load_tensor(w->call, storage->weight - 1) : -1,
      .type = extent->width == WIDTH_INDEX ? NETC_I64
              : extent->width == WIDTH_I32 ? NETC_I32
                                           : NETC_FLOAT};
  add_axes(w, &operand, lies, true, extent->fixed ? 0 : extent->count);
  return operand;
}

static struct strides strides_at(const struct tape *tape, size_t index,
                                 int place) {
  size_t at = tape_lowered(tape, index)->first_strides + (size_t)place;
  return tape_strides_at(tape, tape->strides.at[at]);
}

/* Adds the inputs, then the parameters, which have no batch. */
static void add_inputs(struct writing *w, size_t index,
                       struct netc_operand *to) {
  const struct tape *tape = &w->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  for (int i = 0; i < op->facts->in_count; i++) {
    struct strides lies = strides_at(tape, index, i);
    *to++ = operand_of(w, tape_input(tape, op, i), &lies);
  }
  for (int i = 0; i < lowered->weight_count; i++) {
    size_t param = tape->params.at[op->first_param + (size_t)i];
    struct strides lies = strides_at(tape, index, op->facts->in_count + i);
    *to = (struct netc_operand){.block = -1,
                                .tensor = load_tensor(w->call, param)};
    add_axes(w, to++, &lies, false, 0);
  }
}

static const struct netc_operand *outputs_of(struct writing *w, size_t index) {
  const struct tape *tape = &w->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  int before = op->facts->in_count + tape_lowered(tape, index)->weight_count;
  struct netc_operand *outs =
      arena_alloc(w->arena, (size_t)op->facts->out_count, sizeof *outs);
  for (int i = 0; i < op->facts->out_count; i++) {
    struct strides lies = strides_at(tape, index, before + i);
    outs[i] = operand_of(w, op->first_out + (size_t)i, &lies);
  }
  return outs;
}

static void add_operation(struct writing *w, size_t index,
                          struct operations *to) {
  const struct tape *tape = &w->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  size_t ins = (size_t)(op->facts->in_count + lowered->weight_count);
  size_t numbers = (size_t)lowered->number_count;
  if (lowered->opcode == DOES_VIEW)
    return;
  if (lowered->opcode <= DOES_UNKNOWN) { /* nor are its operands known */
    *VEC_PUSH(w->arena, &to->all) = (struct netc_operation){
        .layer = op->node, .part = op->facts->name, .code = ""};
    return;
  }
  struct netc_operand *in = arena_alloc(w->arena, ins, sizeof *in);
  int64_t *number = room(w, numbers);
  double *real = arena_alloc(w->arena, LOWERING_REALS, sizeof *real);
  add_inputs(w, index, in);
  for (size_t i = 0; i < numbers; i++)
    number[i] = tape->numbers.at[lowered->first_number + i];
  for (int i = 0; i < LOWERING_REALS; i++)
    real[i] = lowered->real[i];
  *VEC_PUSH(w->arena, &to->all) = (struct netc_operation){
      .layer = op->node,
      .part = op->facts->name,
      .code = tables_kernel_name(lowered->opcode - (DOES_VIEW + 1)),
      .out_count = (size_t)op->facts->out_count,
      .in_count = ins,
      .number_count = numbers,
      .real_count = LOWERING_REALS,
      .outs = outputs_of(w, index),
      .ins = in,
      .numbers = number,
      .reals = real};
}

static struct netc_operand end_of(struct writing *w, int64_t node) {
  size_t value = w->trace.value_of[node];
  struct strides lies = tape_strides(&w->trace.tape, value);
  return operand_of(w, value, &lies);
}

static void write_operations(struct call *call) {
  struct load *load = call->netc->load;
  struct writing w = {.call = call,
                      .model = &load->model,
                      .arena = &load->arena,
                      .batch = load->settings.infer.batch};
  struct trace_options options = {.profile = &profile_planned, .lowers = true};
  struct operations *to = ARENA_NEW(w.arena, struct operations);
  size_t inputs = w.model->predicted_sources;
  size_t outputs = w.model->predicted_outputs;
  trace_model(&w.trace, w.model, &options, &call->scratch);
  for (size_t i = 0; i < w.trace.tape.ops.count; i++)
    add_operation(&w, i, to);
  to->inputs = arena_alloc(w.arena, inputs + 1, sizeof *to->inputs);
  to->outputs = arena_alloc(w.arena, outputs + 1, sizeof *to->outputs);
  for (size_t i = 0; i < inputs; i++)
    to->inputs[i] = end_of(&w, w.model->sources.at[i]);
  for (size_t i = 0; i < outputs; i++)
    to->outputs[i] = end_of(&w, w.model->outputs.at[i].node);
  to->input_count = inputs;
  to->output_count = outputs;
  load->operations = to;
}

/* A layer with another type: operations compute in 32 bits. */
static bool refuse_types(struct call *call, const struct model *model) {
  int64_t node = model_other_type(model, ELEMENT_F32);
  if (node == NO_NODE)
    return false;
  struct text text = text_new(&call->scratch);
  model_put_name(&text, model, node);
  text_putc(&text, '\0');
  context_say(call->netc,
              "`%s` has parameters of the type %s, and this output is in "
              "float32: leave out its `dtype=`",
              text.at, element_word(model->nodes.at[node].dtype));
  return true;
}

static void call_operations(struct call *call) {
  const struct load *load = call->netc->load;
  if (!load || !load->compiled.model)
    call->status = NETC_USAGE;
  else if (!load->operations && refuse_types(call, &load->model))
    call->status = NETC_ERROR;
  else if (!load->operations)
    write_operations(call);
}

enum netc_status netc_operation(struct netc *netc, size_t index,
                                struct netc_operation *operation) {
  enum netc_status status =
      context_call(netc, CALL_READS, call_operations, NULL);
  if (status != NETC_OK)
    return status;
  const struct operations *all = netc->load->operations;
  return index < all->all.count ? FILL(operation, &all->all.at[index])
                                : NETC_USAGE;
}

/* Operand of an input or output of the net. */
static enum netc_status end_operand(struct netc *netc, bool output,
                                    size_t index, struct netc_operand *to) {
  enum netc_status status =
      context_call(netc, CALL_READS, call_operations, NULL);
  if (status != NETC_OK)
    return status;
  const struct operations *all = netc->load->operations;
  if (index >= (output ? all->output_count : all->input_count))
    return NETC_USAGE;
  *to = (output ? all->outputs : all->inputs)[index];
  return NETC_OK;
}

enum netc_status netc_input_operand(struct netc *netc, size_t input,
                                    struct netc_operand *operand) {
  return end_operand(netc, false, input, operand);
}

enum netc_status netc_output_operand(struct netc *netc, size_t output,
                                     struct netc_operand *operand) {
  return end_operand(netc, true, output, operand);
}
