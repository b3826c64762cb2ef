/* Nodes: a layer with its inputs, its shape and its parameters. */
#include <inttypes.h>

#include "base/check.h"
#include "sema/statements.h"
#include "base/hash.h"

static void make_room(struct expander *e, int inputs) {
  if ((size_t)inputs <= e->in_room)
    return;
  e->in_room = (size_t)inputs * 2;
  e->in_shapes = arena_alloc(e->arena, e->in_room, sizeof *e->in_shapes);
  e->in_spans = arena_alloc(e->arena, e->in_room, sizeof *e->in_spans);
}

/* Explains an input with a batch axis and channels first: 32x3x224x224. */
static void describe_input(struct expander *e, struct diagnostic *d) {
  const struct node *node =
      e->current == NO_NODE ? NULL : &e->model->nodes.at[e->current];
  if (!node || node->kind != &model_input_kind)
    return;
  const struct shape *shape = node->out;
  if (shape->rank == 4 && (shape->dim[1] == 3 || shape->dim[1] == 1))
    diag_help(
        d,
        "leave out the batch, and write the channels last: `input %" PRId64
        "x%" PRId64 "x%" PRId64 "`",
        shape->dim[2], shape->dim[3], shape->dim[1]);
}

static void describe_frames(void *user, struct diagnostic *d) {
  struct expander *e = user;
  describe_input(e, d);
  frame_describe(d, e->diags->sources, e->frame);
}

static bool check_input_types(const struct layer *layer) {
  for (int i = 0; i < layer->input_count; i++) {
    bool index = layer->in[i]->dtype != DTYPE_FLOAT;
    if (layer->kind->input == INPUT_ANY ||
        index == (layer->kind->input == INPUT_INDEX))
      continue;
    struct diagnostic *d = layer_fail(
        layer, WRONG_DTYPE, NULL, "%s takes %s, not %s", layer->kind->name,
        index ? "values" : "indices", index ? "indices" : "values");
    if (index)
      diag_help(d, "`embed` makes vectors of indices");
    else
      diag_help(d, "declare the input as indices: `input NAME 128 : i32`");
    return false;
  }
  return true;
}

/* A tensor without axes may be read only by sums, products and the like. */
static bool check_axes(const struct layer *layer) {
  for (int i = 0; i < layer->input_count; i++) {
    if (!layer->in[i]->point || layer->kind->alone)
      continue;
    struct diagnostic *d = layer_fail(layer, WRONG_RANK, NULL,
                                      "%s takes tensors with axes, not a "
                                      "value without one",
                                      layer->kind->name);
    diag_help(d, "`weight 1` is a vector of one value");
    return false;
  }
  return true;
}

bool node_infer(struct layer *layer) {
  int64_t count;
  if (!check_input_types(layer) || !check_axes(layer) ||
      !layer->kind->shape(layer))
    return false;
  if (shape_count(&layer->out, &count))
    return true;
  return layer_refuse(layer, TOO_LARGE, NULL,
                      "the output of %s has more than 2^63 - 1 values",
                      shape_text(&layer->out).text);
}

bool node_count_param(const struct param *param, int64_t *count) {
  *count = 1;
  for (int i = 0; i < param->rank; i++)
    if (!mul_i64(*count, param->dim[i], count))
      return false;
  return true;
}

/* weight 3x3x64x128 */
static void put_param(struct text *out, const struct param *param) {
  text_printf(out, "%s ", param->name);
  text_sizes(out, param->dim, param->rank);
}

/* Reports that `again` needs other parameters (e->params) than `first` has. */
static void report_mismatch(struct expander *e, const struct layer *layer,
                            int64_t first) {
  const struct frame *again = e->frame;
  while (again && frame_kind(again) != FRAME_AGAIN)
    again = again->parent;
  struct span span = again ? again->stmt->span : layer->site->span;
  struct diagnostic *d =
      diag(e->diags, AGAIN_MISMATCH, span,
           "%s would need different parameters here", layer->kind->name);
  if (first != NO_NODE) {
    const struct node *node = &e->model->nodes.at[first];
    struct layer before =
        model_layer(e->model, first, model_layer_room(e->model));
    struct params old = {.arena = e->arena};
    struct text has = text_new(e->arena), needs = has;
    layer_params(&before, &old);
    if (old.all.count && e->params.all.count) {
      put_param(&has, &old.all.at[0]);
      put_param(&needs, &e->params.all.at[0]);
      diag_here(d, "needs %.*s", SLICE_ARG(needs));
      diag_label(d, node->span, "has %.*s", SLICE_ARG(has));
    }
  }
  diag_help(d, "`again` needs an input with the same channels; write the layer "
               "by its name to get new parameters");
}

/* Makes the parameters of `again` those of the first application. */
static bool share_params(struct expander *e, const struct layer *layer,
                         struct node *node) {
  if (e->share == NO_NODE)
    return true;
  int64_t owner = e->share < e->share_end ? e->share : NO_NODE;
  const struct node *first =
      owner != NO_NODE ? &e->model->nodes.at[owner] : NULL;
  if (first && first->unsure) {
    e->share++;
    return false;
  }
  bool same = first && first->kind == node->kind &&
              first->param_count == node->param_count;
  e->share++;
  for (int i = 0; same && i < node->param_count; i++) {
    struct model_param *mine =
        &e->model->params.at[node->first_param + (size_t)i];
    const struct model_param *theirs =
        &e->model->params.at[first->first_param + (size_t)i];
    same = mine->count == theirs->count;
    mine->same = theirs->same;
    mine->fixed = theirs->fixed;
    mine->element = theirs->element;
    mine->shared = true;
  }
  if (!same) {
    report_mismatch(e, layer, owner);
    return false;
  }
  node->shares = first->shares == NO_NODE ? (int32_t)owner : first->shares;
  return true;
}

/* Stores a shape once if it is among the recent ones. */
static const struct shape *keep_shape(struct expander *e,
                                      const struct shape *shape) {
  uint64_t hash = (uint64_t)(shape->point ? 0 : shape->rank);
  for (int i = 0; i < shape->rank; i++) /* sizes are often powers of two */
    hash = hash_word(hash, (uint64_t)shape->dim[i]);
  const struct shape **kept = &e->shapes[(hash >> 32) % RECENT_SHAPES];
  if (!*kept || !shape_equal(*kept, shape)) {
    struct shape *copy = ARENA_NEW(e->arena, struct shape);
    *copy = *shape;
    *kept = copy;
  }
  return *kept;
}

/* PyTorch's last two axes. A kernel's sizes are its last axes there, but come
 * first here. */
static const struct shape *last_axes(struct expander *e,
                                     const struct param *param) {
  int last = param->rank > 3 ? param->rank - 3 : param->rank - 1;
  if (param->rank == 3)
    last = 1; /* LxC: length and channels of a kernel */
  if (last < 1)
    return NULL;
  struct shape axes = shape_of(2, &param->dim[last - 1]);
  return keep_shape(e, &axes);
}

/* An index into the model's arrays, which nodes store in 32 bits. */
static uint32_t place(const struct expander *e, size_t at) {
  if (at > INT32_MAX)
    arena_fail(e->arena); /* would need hundreds of GiB */
  return (uint32_t)at;
}

/* True for layers with a matrix. Norms have a bias but no matrix. */
static bool has_matrices(const struct params *params) {
  for (size_t i = 0; i < params->all.count; i++)
    if (params->all.at[i].rank > 1)
      return true;
  return false;
}

static bool add_params(struct expander *e, const struct layer *layer,
                       struct node *node) {
  node->first_param = place(e, e->model->params.count);
  e->params.arena = e->arena;
  e->params.all.count = 0;
  layer_params(layer, &e->params);
  bool matrices = has_matrices(&e->params);
  for (size_t i = 0; i < e->params.all.count; i++) {
    const struct param *param = &e->params.all.at[i];
    size_t index = e->model->params.count;
    struct model_param *stored = VEC_PUSH(e->arena, &e->model->params);
    stored->rank = (unsigned char)param->rank;
    stored->matrix = last_axes(e, param);
    stored->buffer = param->buffer;
    stored->bias = matrices && param->rank == 1 && strstr(param->name, "bias");
    stored->fixed = param->fixed || (node->frozen && !param->adapter);
    stored->element =
        (unsigned char)(param->type.length
                            ? word_index(ELEMENT_WORDS, param->type)
                            : node->dtype);
    e->model->typed = e->model->typed || stored->element;
    stored->train_only = e->trains;
    stored->part = param->part;
    e->model->computes = e->model->computes || param->part;
    stored->narrow = param->narrow;
    stored->adapter = param->adapter;
    stored->grouped = param->groups > 1 || e->copies.all > 1;
    stored->same = place(e, index);
    if (!node_count_param(param, &stored->count))
      return layer_refuse(layer, TOO_LARGE, NULL,
                          "%s has more than 2^63 - 1 parameters",
                          layer->kind->name);
    if (param->tied) {
      const struct node *other = &e->model->nodes.at[param->tied->node];
      if (other->unsure)
        return false;
      if (!node_may_read(e, param->tied->node, layer->site->span))
        return false;
      stored->same = e->model->params.at[other->first_param].same;
      stored->fixed = e->model->params.at[stored->same].fixed;
      stored->element = e->model->params.at[stored->same].element;
      e->model->params.at[stored->same].narrow = false; /* two layers read it */
      stored->shared = true;
    }
  }
  node->param_count = (int)e->params.all.count;
  return share_params(e, layer, node);
}

/* Completes references to layers, where the model is available. */
void node_resolve_refs(struct expander *e, const struct binding *b) {
  for (int i = 0; b->specs[i].name; i++) {
    if (b->specs[i].type != TYPE_LAYER && b->specs[i].type != TYPE_INPUT)
      continue;
    struct layer_ref *ref = (void *)((char *)b->args + b->specs[i].offset);
    if (ref->node == NO_NODE)
      continue;
    const struct node *node = &e->model->nodes.at[ref->node];
    const struct shape **in =
        arena_alloc(e->arena, (size_t)node->input_count + 1, sizeof *in);
    struct layer *layer = ARENA_NEW(e->arena, struct layer);
    *layer = model_layer(e->model, ref->node, in);
    ref->layer = layer;
  }
}

static bool room_for_node(struct expander *e, struct span span) {
  int64_t limit = e->in->node_budget ? e->in->node_budget : LIMIT_LAYERS;
  if ((int64_t)e->model->nodes.count < limit)
    return true;
  if (!e->stopped) {
    struct diagnostic *d =
        report(e, TOO_MANY_LAYERS, span,
               "this net has more than %s layers, the maximum",
               count_text(limit).text);
    diag_help(d, "is a `repeat` count too large?");
  }
  e->stopped = true;
  return false;
}

bool node_may_read(struct expander *e, int64_t index, struct span span) {
  const struct node *node = &e->model->nodes.at[index];
  if (e->trains || !node->train_only)
    return true;
  struct diagnostic *d = report(
      e, NO_TENSOR, span,
      "this reads a tensor of `fork train`, which inference does not have");
  diag_label(d, node->span, "it is produced here");
  return diag_help(
      d, "put the layers that read it into `fork train { ... }`, too");
}

/*
 * The previous node of this statement in a loop, if it has the same inputs and
 * hence the same shape and parameters, or NULL.
 */
static const struct node *like_before(struct expander *e,
                                      const struct node_making *m,
                                      const int64_t *inputs, int input_count,
                                      bool unsure, int64_t **recent) {
  const struct model *model = e->model;
  *recent = &e->recent[m->binding->hash % RECENT_NODES];
  if (**recent == 0 || e->share != NO_NODE)
    return NULL;
  const struct node *node = &model->nodes.at[**recent - 1];
  bool same =
      node->unsure == unsure && node->kind == m->kind &&
      node->args == m->binding->args && node->input_count == input_count &&
      node->copies == e->copies.all && node->frozen == (e->row.frozen != 0) &&
      node->dtype == e->row.dtype && node->train_only == e->trains;
  for (int i = 0; same && i < input_count; i++)
    same = model->nodes.at[node_input(model, node, i)].out ==
           model->nodes.at[inputs[i]].out;
  for (int i = 0; same && i < node->param_count; i += node->copies)
    same = !model->params.at[node->first_param + (size_t)i].shared;
  return same ? node : NULL; /* copies are alike, so one of them is checked */
}

static void copy_params(struct expander *e, const struct node *like,
                        struct node *node) {
  struct model *model = e->model;
  node->first_param = place(e, model->params.count);
  node->param_count = like->param_count;
  if (like->param_count == 0)
    return;
  size_t count = (size_t)like->param_count;
  struct model_param *to = VEC_MORE(e->arena, &model->params, count);
  place(e, model->params.count);
  memcpy(to, model->params.at + like->first_param, count * sizeof *to);
  for (size_t i = 0; i < count; i++)
    to[i].same = node->first_param + (uint32_t)i;
}

/* Infers shape and parameters; a partial model takes what can be inferred. */
static bool infer(struct expander *e, const struct binding *b,
                  struct layer *layer, struct node *node) {
  bool fits = !node->unsure && node_infer(layer);
  if (fits && add_params(e, layer, node))
    return true;
  if (!e->in->partial)
    return false;
  if (!fits && e->share != NO_NODE)
    e->share++;
  if (!fits)
    partial_infer(e, b, layer);
  node->unsure = true;
  node->param_count = 0;
  return true;
}

/* Adds a node that applies `m` to the tensors `inputs` and makes it current. */
bool node_add(struct expander *e, const struct node_making *m,
              const int64_t *inputs, int input_count) {
  struct model *model = e->model;
  if (!room_for_node(e, m->span))
    return false;
  make_room(e, input_count);
  for (int i = 0; i < input_count; i++)
    if (!node_may_read(e, inputs[i], m->span))
      return false;
  for (int i = 0; i < input_count; i++) {
    e->in_shapes[i] = model->nodes.at[inputs[i]].out;
    e->in_spans[i] = model->nodes.at[inputs[i]].span;
  }
  struct layer_site site = {.diags = e->diags,
                            .span = m->span,
                            .arg_spans = m->binding->spans,
                            .in_spans = e->in_spans,
                            .context = describe_frames,
                            .user = e};
  struct layer layer = {.kind = m->kind,
                        .args = m->binding->args,
                        .input_count = input_count,
                        .in = e->in_shapes,
                        .copies = e->copies.all,
                        .site = &site};
  struct node node = {.kind = m->kind,
                      .args = m->binding->args,
                      .given = m->binding->given,
                      .span = m->span,
                      .frame = e->frame,
                      .name = m->name,
                      .group = (int32_t)e->group,
                      .copies = (int32_t)e->copies.all,
                      .active = (int32_t)e->copies.active,
                      .shares = NO_NODE,
                      .frozen = e->row.frozen != 0,
                      .inplace = (char)e->row.inplace,
                      .dtype = (char)e->row.dtype,
                      .train_only = e->trains,
                      .input_count = input_count,
                      .first_input = place(e, model->inputs.count)};
  int64_t *recent;
  node.unsure = partial_is_needed(e, m->binding, inputs, input_count);
  const struct node *like =
      like_before(e, m, inputs, input_count, node.unsure, &recent);
  if (like)
    copy_params(e, like, &node);
  else if (!infer(e, m->binding, &layer, &node))
    return false;
  node.out = like ? like->out : keep_shape(e, &layer.out);
  int64_t index = (int64_t)model->nodes.count;
  node.head = (int32_t)(m->head == NO_NODE ? index : m->head);
  for (int i = 0; i < input_count; i++)
    *VEC_PUSH(e->arena, &model->inputs) = (uint32_t)inputs[i];
  if (input_count > model->most_inputs)
    model->most_inputs = input_count;
  *VEC_PUSH(e->arena, &model->nodes) = node;
  *recent = index + 1;
  e->current = index;
  return true;
}

void node_add_input(struct expander *e, const struct stmt *stmt,
                    struct shape shape) {
  static const struct binding none = {0};
  struct shape *stored = ARENA_NEW(e->arena, struct shape);
  struct binding binding = none;
  *stored = shape;
  binding.args = stored;
  struct node_name name =
      name_label(e, stmt->name.at ? stmt->name : slice_of("input"));
  struct node_making making = {&model_input_kind, &binding, stmt->span, name,
                               NO_NODE};
  e->lost = !node_add(e, &making, NULL, 0);
  if (!e->lost)
    *VEC_PUSH(e->arena, &e->model->sources) = e->current;
}
