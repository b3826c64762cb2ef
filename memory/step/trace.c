/* Trace: the tape of a whole net. */
#include "memory/step/trace.h"

#include "base/check.h"
#include "memory/step/echo.h"
#include "memory/step/copies.h"
#include "memory/step/loss.h"
#include "sema/repeat/stretch.h"
#include "memory/step/loose.h"
#include "sema/model/degrees.h"

enum { LOOKED_AT = 4 }; /* experts one by one: the first and last two */

/* True if each copy of a parameter has values of its own. */
static bool are_apart(const struct model *model, size_t first, size_t copies) {
  const struct model_param *param = &model->params.at[first];
  return copies < 2 || param[copies - 1].same == param->same + copies - 1;
}

/* c10/core/ScalarType.cpp, promoteTypes(): elements.def has wider types first.
 */
static int promote(int a, int b) {
  bool apart = a != b && element_bits(a) == 16 && element_bits(b) == 16;
  return apart ? (int)ELEMENT_F32 : a < b ? a : b;
}

/* The width of a layer's own type, or of the net's. Under autocast, values have
 * 16 bits or 32. */
static enum width width_of(const struct tape *tape, int element) {
  if (!element || element == tape->element)
    return WIDTH_NET;
  if (tape->mixed)
    return element_bits(element) == 16 ? WIDTH_LOW : WIDTH_NET;
  return tape->element ? (enum width)(WIDTH_TYPED + element) : WIDTH_NET;
}

/* The parameters of a node, as its layer numbers them. */
static void node_params(struct tape *tape, const struct model *model,
                        const struct node *node, struct tape_param *room) {
  size_t copies = (size_t)node->copies, first = 0;
  tape->node_params = room;
  tape->node_param_count = node->param_count / (int)copies;
  if (tape->share) {
    first = (size_t)tape->share->first;
    copies = (size_t)tape->share->count;
  }
  for (int i = 0; i < tape->node_param_count; i++) {
    size_t at = node->first_param + (size_t)i * (size_t)node->copies;
    const struct model_param *param = &model->params.at[at];
    bool one = tape->lowers && !are_apart(model, at, copies);
    room[i] = (struct tape_param){.index = param->same + first,
                                  .count = param->count,
                                  .copies = one ? 1 : copies,
                                  .trained = !param->buffer &&
                                             (!param->fixed || param->detached),
                                  .matrix = param->rank > 1 && !param->buffer,
                                  .typed = param->element != 0,
                                  .width = width_of(tape, param->element)};
  }
}

/* Finds the strides of the node's parameters. */
static void find_strides(struct tape *tape, const struct layer *layer,
                         struct params *params, struct tape_param *room) {
  params->all.count = 0;
  if (!tape->lowers || tape->node_param_count == 0)
    return;
  layer->kind->params(layer, params);
  for (size_t i = 0; i < params->all.count; i++)
    room[i].lies = strides_dense(params->all.at[i].rank, params->all.at[i].dim);
}

/* Counts how often layers and outputs of the net read each node. */
static int32_t *count_readers(const struct model *model, bool training,
                              struct arena *arena) {
  int32_t *readers =
      arena_alloc(arena, model->nodes.count + 1, sizeof *readers);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    bool runs = training || !node->train_only;
    for (int k = 0; runs && k < node->input_count; k++)
      readers[node_input(model, node, k)]++;
  }
  for (size_t i = 0; i < trace_outputs(model, training); i++)
    readers[model->outputs.at[i].node]++;
  return readers;
}

/* Only 16-bit tensors are copied to 32; under autocast a net has 32. */
static enum tape_norms norms_of(const struct trace_options *options,
                                bool half) {
  bool plain = options->norms == NORMS_FLOAT && (!half || options->mixed);
  return plain || !options->norms ? NORMS_PLAIN
                                  : (enum tape_norms)options->norms;
}

/* State while node after node is traced. */
struct tracing {
  struct trace *trace;
  const struct model *model;
  const struct trace_options *options;
  int32_t *readers;
  size_t range;   /* index of the next checkpointed range */
  size_t *behind; /* by node before a block: the node after it, or 0; NULL: no
                     blocks */
  bool *apart;    /* by node before a block: it can run expert by expert */
  struct echo *echo;
  bool around;                /* the node leads into a block, or out of it */
  VEC(struct share *) shares; /* distinct shares of experts */
  /* Room for a layer's arguments */
  const struct shape **shapes;
  size_t *in;
  struct tape_param *node_params;
  struct params params;
};

/*
 * A value known only by its count takes the shape of its layer, since layers
 * that read it go by the ranks of their inputs.
 */
static void see_shape(struct tape *tape, size_t value,
                      const struct shape *shape) {
  struct strides lies = tape_strides(tape, value), whole = strides_of(shape);
  if (lies.rank != whole.rank)
    tape_see(tape, value, &whole);
}

bool trace_is_output(const struct model *model, int64_t node) {
  for (size_t i = 0; i < model->outputs.count; i++)
    if (model->outputs.at[i].node == node)
      return true;
  return false;
}

/* A layer with parameters reads its inputs in their type. */
static void open_types(struct tracing *t, const struct node *node) {
  struct tape *tape = &t->trace->tape;
  tape->own = width_of(tape, node->dtype);
  if (!tape->element)
    return;
  int element = node->dtype ? node->dtype : tape->element;
  tape->half = element_bits(element) == 16;
  tape->norms = norms_of(t->options, tape->half);
  for (int i = 0; node->param_count && i < node->input_count; i++)
    t->in[i] = tape_cast_own(tape, t->in[i]);
}

static size_t run_node(struct tracing *t, int64_t index) {
  struct tape *tape = &t->trace->tape;
  const struct node *node = &t->model->nodes.at[index];
  if (node->kind == &model_input_kind) {
    size_t value = tape_outside(tape, extent_of(node->out), false);
    struct strides lies = strides_of(node->out);
    tape_see(tape, value, &lies);
    return value;
  }
  for (int i = 0; i < node->input_count; i++)
    t->in[i] = t->trace->value_of[node_input(t->model, node, i)];
  bool blocks = t->options->packed || t->options->in_blocks;
  open_types(t, node);
  bool whole = blocks && trace_is_output(t->model, index);
  struct echo *echo =
      t->around || whole ? NULL : t->echo; /* blocks are traced by iterations */
  tape->packed = t->options->packed && !whole;
  tape->in_blocks = t->options->in_blocks != BASE_NONE && !whole;
  tape->as_read = t->options->in_blocks == BASE_INT8;
  size_t value = echo ? echo_node(echo, index, t->in) : SIZE_MAX;
  if (value != SIZE_MAX)
    return value;
  struct layer layer = model_layer(t->model, index, t->shapes);
  node_params(tape, t->model, node, t->node_params);
  find_strides(tape, &layer, &t->params, t->node_params);
  if (echo)
    echo_begin(echo, index, t->in);
  value = node->kind->trace(&layer, tape, t->in);
  see_shape(tape, value, node->out);
  if (echo)
    echo_end(echo, value);
  return value;
}

/* expand(), which the first product copies; of one sample it is a view. A plan
 * runs one sample. */
static size_t repeat(struct tracing *t, const struct node *node, size_t value) {
  struct tape *tape = &t->trace->tape;
  if (!node->repeated || tape->lowers)
    return value;
  value = tape_run_on(tape, value,
                      (struct operation){.name = "repeat",
                                         .view_of_one = true,
                                         .reduces = true,
                                         .out = extent_of(node->out)});
  see_shape(tape, value, node->out);
  return value;
}

/* Nothing computed before or inside a checkpoint is overwritten. */
static void find_fence(struct tracing *t, int64_t node) {
  struct tape *tape = &t->trace->tape;
  if (t->range >= t->options->range_count)
    return;
  const struct node_range *range = &t->options->ranges[t->range];
  if (range->first == node)
    tape->fence = tape->storages.count;
  if (range->end == node) {
    tape->fence = tape->storages.count;
    t->range++;
  }
}

/* True in a segment that holds results, which PyTorch refuses to overwrite. */
static bool is_held(const struct tracing *t, int64_t node) {
  return t->options->holds && t->range < t->options->range_count &&
         t->options->ranges[t->range].first <= node;
}

/* Counts the reads to come; in iterations, reads from outside count once. */
static void count_pending(struct tracing *t, size_t index, size_t front) {
  struct tape *tape = &t->trace->tape;
  const uint32_t *value_of = t->trace->value_of;
  const struct node *node = &t->model->nodes.at[index];
  const struct expert_turn *turn = tape->turn;
  for (int k = 0; k < node->input_count; k++) {
    size_t read = (size_t)node_input(t->model, node, k);
    if (!turn || turn->last || read >= front)
      tape->storages.at[tape->values.at[value_of[read]].storage].pending--;
  }
  if (!turn || turn->last || !node->kind->front)
    tape->storages.at[tape->values.at[value_of[index]].storage].pending +=
        t->readers[index];
}

/* Notes what a node has recorded and who will read it. */
static void note_node(struct tracing *t, size_t i, size_t front) {
  struct tape *tape = &t->trace->tape;
  size_t value = t->trace->value_of[i];
  if (value == UINT32_MAX)
    return; /* it does not run */
  tape->values.at[value].shared = t->readers[i] == 2;
  count_pending(t, i, front);
}

/* `front`: the node in front of its block, or of the block it ends. */
static void trace_node(struct tracing *t, size_t i, size_t front) {
  struct tape *tape = &t->trace->tape;
  struct trace *trace = t->trace;
  const struct node *node = &t->model->nodes.at[i];
  bool again = tape->turn && !tape->turn->first;
  trace->value_of[i] = UINT32_MAX;
  if (!again || node->kind->front)
    trace->op_end[i] = tape_place(tape, tape->ops.count);
  if (node->train_only && !t->options->training)
    return;
  tape->node = (int64_t)i;
  find_fence(t, (int64_t)i);
  /* A plan chooses what to overwrite and needs each value apart. */
  tape->in_place =
      !tape->lowers &&
      (node->inplace ? node->inplace == TOGGLE_ON
                     : t->options->in_place && !is_held(t, (int64_t)i));
  tape->asked_in_place = tape->in_place && node->inplace == TOGGLE_ON;
  size_t value = repeat(t, node, run_node(t, (int64_t)i));
  trace->value_of[i] = tape_place(tape, value);
  note_node(t, i, front);
  if (!again || node->kind->front)
    trace->op_end[i] = tape_place(tape, tape->ops.count);
}

static size_t trace_next(struct tracing *t, size_t i, size_t front);

/* Traces an iteration over some of the experts. */
static void trace_turn(struct tracing *t, struct expert_turn *turn,
                       size_t front) {
  struct tape *tape = &t->trace->tape;
  size_t end = t->behind[front];
  tape->turn = turn;
  t->around = true;
  trace_node(t, front, front);
  t->around = false;
  tape->share = turn->share;
  for (size_t i = front + 1; i < end;)
    i = trace_next(t, i, front);
  tape->share = NULL;
  tape->turn = turn;
  t->around = true;
  trace_node(t, end, front);
  t->around = false;
}

/* Equal shares are one object, so that equal blocks are traced alike. */
static const struct share *find_share(struct tracing *t, struct share wanted) {
  struct arena *arena = t->trace->tape.arena;
  for (size_t i = 0; i < t->shares.count; i++) {
    const struct share *known = t->shares.at[i];
    if (known->first == wanted.first && known->count == wanted.count &&
        known->of == wanted.of && known->rows == wanted.rows)
      return known;
  }
  struct share *share = ARENA_NEW(arena, struct share);
  *share = wanted;
  *VEC_PUSH(arena, &t->shares) = share;
  return share;
}

/*
 * Traces expert after expert. Each adds the same bytes to memory or frees the
 * same, so of many experts only the first two and the last two are traced
 * apart.
 */
static void trace_experts(struct tracing *t, size_t front,
                          struct expert_turn *turn) {
  const struct node *first = &t->model->nodes.at[front];
  const struct node *inside = &t->model->nodes.at[front + 1];
  int64_t count = inside->copies, at = 0;
  while (at < count) {
    bool many = at == 2 && count > LOOKED_AT + 1;
    struct share share = {.first = at,
                          .count = many ? count - LOOKED_AT : 1,
                          .of = count,
                          .rows = shape_values(first->out) /
                                  shape_channels(first->out)};
    at += share.count;
    turn->share = find_share(t, share);
    turn->last = at == count;
    trace_turn(t, turn, front);
    turn->first = false;
  }
}

/* Traces a node or a block of experts; returns what comes after it. */
static size_t trace_next(struct tracing *t, size_t i, size_t front) {
  size_t end = t->behind ? t->behind[i] : 0;
  struct expert_turn *outer = t->trace->tape.turn;
  if (!end) {
    trace_node(t, i, front);
    return i + 1;
  }
  struct expert_turn turn = {.first = true,
                             .last = true,
                             .closed = t->apart[i],
                             .out = extent_of(t->model->nodes.at[end].out)};
  if (t->apart[i] && !t->trace->tape.lowers)
    trace_experts(t, i, &turn);
  else
    trace_turn(t, &turn, i);
  t->trace->tape.turn = outer;
  return end + 1;
}

/* True if a segment begins or ends in the block, so that it cannot be
 * repeated. */
static bool is_cut(const struct tracing *t, size_t front, size_t end) {
  for (size_t i = 0; i < t->options->range_count; i++) {
    const struct node_range *range = &t->options->ranges[i];
    if ((range->first > (int64_t)front && range->first <= (int64_t)end) ||
        (range->end > (int64_t)front && range->end <= (int64_t)end))
      return true;
  }
  return false;
}

/* True if a block can run in iterations: no node in it reads or is read
 * elsewhere. */
static bool stands_apart(const struct tracing *t, const int64_t *last_reader,
                         size_t front, size_t end) {
  const struct model *model = t->model;
  if (end == front + 1 || model->nodes.at[front].copies > 1 ||
      is_cut(t, front, end))
    return false;
  for (size_t i = front; i < end; i++) {
    const struct node *node = &model->nodes.at[i];
    if (last_reader[i] > (int64_t)end || (i > front && t->behind[i]))
      return false;
    for (int k = 0; i > front && k < node->input_count; k++)
      if ((size_t)node_input(model, node, k) < front)
        return false;
  }
  return true;
}

static void find_blocks(struct tracing *t, struct arena *arena) {
  const struct model *model = t->model;
  size_t count = model->nodes.count;
  bool blocks = false;
  for (size_t i = 0; i < count && !blocks; i++)
    blocks = model->nodes.at[i].kind->front;
  if (!blocks)
    return;
  int64_t *last = stretch_readers(model, arena);
  t->behind = arena_alloc(arena, count + 1, sizeof *t->behind);
  t->apart = arena_alloc(arena, count + 1, sizeof *t->apart);
  for (size_t i = 0; i < count; i++) {
    const struct node *node = &model->nodes.at[i];
    if (node->kind->front)
      t->behind[node_input(model, node, 1)] = i;
  }
  for (size_t i = 0; i < count; i++)
    t->apart[i] = t->behind[i] && stands_apart(t, last, i, t->behind[i]);
}

static void trace_nodes(struct trace *trace, const struct model *model,
                        const struct trace_options *options) {
  struct arena *arena = trace->tape.arena;
  int most = 0;
  struct tracing t = {
      .trace = trace,
      .model = model,
      .options = options,
      .readers = count_readers(model, options->training, arena),
      .shapes = model_layer_room(model),
      .in = arena_alloc(arena, (size_t)model->most_inputs + 1, sizeof *t.in),
      .echo = echo_open(&trace->tape, model),
      .params = {.arena = arena}};
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].param_count > most)
      most = model->nodes.at[i].param_count;
  t.node_params = arena_alloc(arena, (size_t)most + 1, sizeof *t.node_params);
  find_blocks(&t, arena);
  bool leaps = copies_may_leap(model, options);
  struct copier *copier = copies_open(trace, model, options, leaps);
  for (size_t i = 0; i < model->nodes.count;) {
    size_t next = copier ? copies_pass(copier, i) : i;
    for (; i < next && !leaps; i++)
      note_node(&t, i, 0);
    i = trace_next(&t, next, 0);
  }
}

/* A loss copies 16-bit outputs to 32 bits first; under autocast, its cast does.
 */
static enum width loss_width(const struct trace *trace, size_t out,
                             const struct trace_options *options) {
  int own = width_element(tape_extent(&trace->tape, out)->width);
  bool half = element_bits(own ? own : options->element) == 16;
  bool copied = options->loss_dtype == LOSS_DTYPE_F32 ||
                options->loss_dtype == LOSS_DTYPE_INPLACE ||
                options->loss_dtype == LOSS_DTYPE_SHIFTED;
  return half && copied ? WIDTH_F32 : WIDTH_NET;
}

/* An output cast for the loss: `F.cross_entropy(out.float(), ..)`. */
static size_t loss_input(struct trace *trace, size_t out, enum width width) {
  struct extent extent = *tape_extent(&trace->tape, out);
  bool real = extent.width == WIDTH_NET || width_element(extent.width);
  if (!real || width == WIDTH_NET)
    return out;
  extent.width = width;
  return tape_run_on(
      &trace->tape, out,
      (struct operation){.name = "cast", .out = extent, .by_channel = true});
}

static enum cast loss_cast(const struct trace_options *options) {
  bool as_is = options->loss_dtype == LOSS_DTYPE_SAME; /* even under autocast */
  return as_is ? CAST_NONE : CAST_FULL;
}

/* One kernel, which keeps the output and the log-sum-exp of each row
 * (Dao-AILab/flash-attention, flash_attn/losses/cross_entropy.py). */
static size_t kernel_cross_entropy(struct trace *trace, size_t out,
                                   int64_t rows) {
  return tape_run_on(
      &trace->tape, out,
      (struct operation){.name = "crossentropy",
                         .out = extent_sample(rows, WIDTH_F32),
                         .keeps = KEEPS_IN(0),
                         .scores = true,
                         .kept = {extent_sample(rows, WIDTH_INDEX),
                                  extent_sample(rows, WIDTH_F32)},
                         .cast = CAST_NONE});
}

/*
 * Cross entropy of each row against a class. Devices that share the last
 * product have some of the classes each: VocabParallelCrossEntropy of
 * Megatron-LM, loss_parallel() of PyTorch. With `inplace`, backward has one
 * tensor besides the saved ones; a program that writes the gradient over the
 * softmax has none (nanotron's _ShardedCrossEntropy). Forward has more, so the
 * peak is the same.
 */
static size_t cross_entropy(struct trace *trace, size_t out, int64_t rows,
                            const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  struct extent values = *tape_extent(tape, out);
  enum width width = options->loss_width;
  bool in_place = options->loss_dtype == LOSS_DTYPE_INPLACE;
  if (options->loss_dtype == LOSS_DTYPE_REGISTERS)
    return kernel_cross_entropy(trace, out, rows);
  size_t log = tape_run_on(
      tape, loss_input(trace, out, width),
      (struct operation){.name = "logsoftmax",
                         .out = extent_sample(values.count, width),
                         .keeps = in_place ? 0 : KEEPS_OUT,
                         .gradient = in_place ? GRADIENT_SHARED : GRADIENT_NEW,
                         .by_channel = true,
                         .cast = loss_cast(options)});
  return tape_run_on(
      tape, log,
      (struct operation){.name = "crossentropy",
                         .out = extent_fixed(1, width),
                         .keeps = KEEPS_IN(0),
                         .scores = true,
                         .kept = {extent_sample(rows, WIDTH_INDEX),
                                  extent_fixed(1, WIDTH_F32)}});
}

/*
 * The output is what was cast, as in models of transformers before 4.46
 * (models/llama/modeling_llama.py: `logits = logits.float()`), and under
 * accelerate's convert_outputs_to_fp32(). The loss reads a copy of all tokens
 * but the last: `logits[..., :-1, :].contiguous()`, whose backward is a part of
 * zeros.
 */
static size_t shifted_cross_entropy(struct trace *trace, int64_t node,
                                    const struct shape *shape,
                                    const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  int64_t rows = shape_rows(shape);
  size_t out = tape_widen(
      tape, loss_input(trace, trace->value_of[node], options->loss_width));
  struct extent part = *tape_extent(tape, out);
  part.count -= part.count / shape->dim[0];
  trace->value_of[node] = tape_place(tape, out);
  out = tape_run_on(
      tape, out,
      (struct operation){.name = "copy", .out = part, .by_channel = true});
  return cross_entropy(trace, out, rows - rows / shape->dim[0], options);
}

/*
 * Rows in chunks, each with a loss, so that only a chunk is copied and has two
 * gradients (litgpt's chunked_cross_entropy; torchtune,
 * modules/loss/cross_entropy_loss.py).
 */
static size_t chunked_cross_entropy(struct trace *trace, size_t out,
                                    const struct shape *shape,
                                    const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  struct arena *arena = tape->arena;
  int64_t rows = shape_rows(shape), classes = shape_channels(shape);
  int64_t each = ceil_div_i64(rows, max_i64(options->loss_chunks, 1));
  int count = (int)ceil_div_i64(rows, each);
  if (count == 1)
    return cross_entropy(trace, out, rows, options);
  struct extent part = *tape_extent(tape, out), last = part;
  part.count = each * classes; /* less than the output */
  last.count -= (count - 1) * part.count;
  size_t first = tape_run_on(tape, out,
                             (struct operation){.name = "split",
                                                .out = part,
                                                .outs = count,
                                                .result = RESULT_VIEW,
                                                .by_channel = true});
  tape_resize(tape, first + (size_t)count - 1, last);
  size_t *losses = arena_alloc(arena, (size_t)count, sizeof *losses);
  for (int i = 0; i < count; i++)
    losses[i] = cross_entropy(trace, first + (size_t)i,
                              i < count - 1 ? each : rows - i * each, options);
  return tape_run(
      tape, &(struct operation){.name = "sum",
                                .in = losses,
                                .in_count = count,
                                .out = extent_fixed(1, options->loss_width),
                                .gradient = GRADIENT_SHARED});
}

/*
 * mse, bce: the target is as large as the output. The number that mse_loss()
 * gives is in a tensor of that size: TORCH_META_FUNC(mse_loss) of
 * ATen/native/Loss.cpp allocates it, then shrinks it. A
 * binary_cross_entropy_with_logits() has five tensors of work in 1.13, and two
 * in 2.6: ATen/native/Loss.cpp.
 */
static size_t compare(struct trace *trace, size_t out,
                      const struct shape *shape, int loss,
                      const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  enum width width = options->loss_width;
  struct extent values = extent_sample(shape_values(shape), width);
  struct extent work = values;
  bool squares = loss == LOSS_MSE;
  if (!squares)
    work.count =
        size_product(values.count, tape->profile->sums_in_place ? 2 : 5);
  size_t number = tape_run_on(tape, loss_input(trace, out, width),
                              (struct operation){.name = "loss",
                                                 .out = extent_fixed(1, width),
                                                 .keeps = KEEPS_IN(0),
                                                 .kept = {values},
                                                 .work = work,
                                                 .cast = loss_cast(options)});
  if (squares && !tape->profile->mse_is_bare)
    tape->storages.at[tape->values.at[number].storage].extent =
        tape_keep_extent(tape, values);
  return number;
}

/* One number, whose gradient is expanded without memory. */
static size_t sum(struct trace *trace, size_t out) {
  return tape_run_on(&trace->tape, out,
                     (struct operation){.name = "sum",
                                        .out = extent_fixed(1, WIDTH_NET),
                                        .gradient = GRADIENT_SHARED,
                                        .cast = CAST_FULL});
}

/* Makes an operation a view of the number that `value` is. */
static void leave_out(struct tape *tape, size_t at, size_t value) {
  const struct tape_op *op = &tape->ops.at[at];
  struct op_facts *facts = tape_own_facts(tape, at);
  facts->result = RESULT_VIEW;
  facts->gradient = GRADIENT_SHARED;
  facts->saved_count = 0;
  facts->work = facts->back_work = facts->back_more = (struct extent){0};
  memset(facts->kept, 0, sizeof facts->kept);
  for (int i = 0; i < facts->out_count; i++) {
    struct tape_value *out = &tape->values.at[op->first_out + (size_t)i];
    out->extent = tape->values.at[value].extent;
    out->storage = tape->values.at[value].storage;
  }
}

/*
 * The last product and the loss fused, over chunks of the rows: only one
 * chunk's logits are in memory, and gradients are computed at once
 * (linkedin/Liger-Kernel, ops/fused_linear_cross_entropy.py). 32 bits are used
 * in registers alone, and gradients overwrite the logits. By default the logits
 * of a chunk are no larger than the input; Liger also rounds the rows of a
 * chunk up to a power of two. Functions of single values behind the product, as
 * Gemma's softcap, are in the kernel.
 */
static size_t fused_cross_entropy(struct trace *trace,
                                  const struct model *model, int64_t node,
                                  int64_t chunks) {
  struct tape *tape = &trace->tape;
  size_t end = trace->op_end[node];
  node = degrees_head(model, node);
  size_t out = trace->value_of[node];
  size_t last = trace->op_end[node] - 1;
  const struct tape_op *op = &tape->ops.at[last];
  struct op_facts *facts = tape_own_facts(tape, last);
  const struct shape *shape = model->nodes.at[node].out;
  int64_t features = shape_channels(model_input(model, &model->nodes.at[node]));
  if (!chunks)
    chunks = ceil_div_i64(shape_channels(shape), features);
  struct extent logits = *tape_extent(tape, out); /* as wide as `back` */
  struct extent back = *tape_extent(tape, tape_input(tape, op, 0));
  logits.count = ceil_div_i64(logits.count, chunks);
  facts->name = "crossentropy";
  facts->saved_count = 0; /* the input is read, its gradient is kept */
  facts->ahead = true;
  facts->work = logits;
  facts->work.count += back.count; /* both are less than the sizes before */
  tape_resize(tape, out, extent_fixed(1, WIDTH_F32));
  tape->storages.at[tape->values.at[out].storage].extent =
      tape->values.at[out].extent;
  for (size_t i = last + 1; i < end; i++)
    leave_out(tape, i, out);
  return out;
}

static size_t loss_of(struct trace *trace, const struct model *model,
                      size_t output, const struct trace_options *options) {
  int64_t node = model->outputs.at[output].node;
  const struct shape *shape = model->nodes.at[node].out;
  int loss = loss_of_output(options->train, output);
  size_t out = trace->value_of[node];
  trace->tape.node = node;
  switch (loss) {
  case LOSS_FUSED_CROSSENTROPY:
    return fused_cross_entropy(trace, model, node, options->loss_chunks);
  case LOSS_SUM: return sum(trace, out);
  case LOSS_CROSSENTROPY:
    if (options->loss_dtype == LOSS_DTYPE_SHIFTED)
      return shifted_cross_entropy(trace, node, shape, options);
    return chunked_cross_entropy(trace, out, shape, options);
  case LOSS_MSE:
  case LOSS_BCE: return compare(trace, out, shape, loss, options);
  case LOSS_NONE: return out;
  default:
    out = loss_input(trace, out, options->loss_width);
    return loss_run(trace, out, shape, loss, options);
  }
}

/* Backward starts at one loss, or without a loss at every output. */
static void trace_losses(struct trace *trace, const struct model *model,
                         const struct trace_options *options) {
  bool scored = !has_loss(options->train, LOSS_NONE);
  size_t pair[2];
  for (size_t i = 0; i < model->outputs.count; i++) {
    int64_t node = model->outputs.at[i].node;
    struct trace_options own = *options;
    own.loss_width = loss_width(trace, trace->value_of[node], options);
    pair[1] = loss_of(trace, model, i, &own);
    if (i > 0 && scored) {
      pair[0] = trace->ends.at[0];
      trace->ends.at[0] =
          tape_run(&trace->tape,
                   &(struct operation){.name = "add",
                                       .in = pair,
                                       .in_count = 2,
                                       .out = extent_fixed(1, own.loss_width),
                                       .gradient = GRADIENT_SHARED});
    } else {
      *VEC_PUSH(trace->tape.arena, &trace->ends) = pair[1];
    }
  }
  trace->has_loss = scored;
  trace->drops_outputs = trace->has_loss && options->drops_outputs;
  trace->scores = options->train->loss == LOSS_CROSSENTROPY;
}

void trace_model(struct trace *trace, const struct model *model,
                 const struct trace_options *options, struct arena *arena) {
  struct tape *tape = &trace->tape;
  size_t nodes = model->nodes.count + 1;
  *trace = (struct trace){0};
  tape->arena = arena;
  tape->profile = options->profile;
  tape->training = options->training;
  tape->in_place = options->in_place;
  tape->mixed = options->mixed;
  tape->half = options->half;
  tape->attention = options->attention;
  tape->norms = norms_of(options, options->half);
  if (!tape->mixed && model_other_type(model, options->element) != NO_NODE)
    tape->element = options->element;
  tape->promote = promote;
  tape->lowers = options->lowers;
  tape->single = options->single;
  VEC_RESERVE(arena, &tape->values, nodes);
  VEC_RESERVE(arena, &tape->storages, nodes);
  VEC_RESERVE(arena, &tape->ops, nodes);
  VEC_RESERVE(arena, &tape->ins, model->inputs.count);
  if (tape->training)
    VEC_RESERVE(arena, &tape->saved, nodes);
  if (tape->lowers)
    VEC_RESERVE(arena, &tape->lowered_of, nodes);
  if (tape->training || tape->lowers)
    VEC_RESERVE(arena, &tape->params, model->params.count);
  tape->copied =
      arena_alloc(arena, model->params.count + 1, sizeof *tape->copied);
  tape->computed =
      arena_alloc(arena, model->params.count + 1, sizeof *tape->computed);
  trace->value_of = arena_alloc(arena, nodes, sizeof *trace->value_of);
  trace->op_end = arena_alloc(arena, nodes, sizeof *trace->op_end);
  trace_nodes(trace, model, options);
  if (options->training)
    trace_losses(trace, model, options);
  if (tape->stops)
    loose_find(trace);
}
