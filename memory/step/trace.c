/* Trace: the tape of a whole net. */
#include "memory/step/trace.h"

#include "base/check.h"
#include "layers/tape/lowering.h"
#include "memory/step/echo.h"
#include "memory/step/copies.h"
#include "memory/step/loss.h"
#include "sema/repeat/stretch.h"
#include "memory/step/loose.h"

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

/* Marks nodes whose only reader multiplies them by another node. */
static bool *find_gated(const struct model *model, const int32_t *readers,
                        struct arena *arena) {
  bool *gated = arena_alloc(arena, model->nodes.count + 1, sizeof *gated);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      if (node->kind->opcode == DOES_MUL && node->input_count == 2 &&
          readers[node_input(model, node, k)] == 1)
        gated[node_input(model, node, k)] = true;
  }
  return gated;
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
  bool *gated;    /* by node: only a product reads it; NULL: glu=plain */
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
  tape->gated = t->gated && t->gated[index];
  tape->packed = t->options->packed && !whole;
  tape->in_blocks = t->options->in_blocks != BASE_NONE && !whole;
  tape->as_read = t->options->in_blocks == BASE_INT8;
  tape->blocked = t->options->train && t->options->train->base;
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
  const struct tape *tape = &t->trace->tape;
  if (t->apart[i] && !tape->lowers && tape->experts <= EXPERTS_ONE_BY_ONE)
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
  if (options->glu == GLU_FUSED)
    t.gated = find_gated(model, t.readers, arena);
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
  tape->experts = (enum tape_experts)options->experts;
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
    loss_trace(trace, model, options);
  if (tape->stops)
    loose_find(trace);
}
