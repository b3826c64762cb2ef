/* Costs: parameters, MACs and activations of every node, and their sums. */
#include "sema/model/cost.h"

#include "base/check.h"
#include "base/hash.h"

bool shape_bytes(const struct shape *shape, int element, int64_t *bytes) {
  int64_t count;
  if (!shape_count(shape, &count))
    return false;
  if (shape->dtype == DTYPE_FLOAT)
    return element_bytes(element, count, bytes);
  return mul_i64(count, shape->dtype == DTYPE_I64 ? 8 : 4, bytes);
}

bool cost_add(struct cost *sum, const struct cost *item) {
  return add_i64(sum->params, item->params, &sum->params) &&
         add_i64(sum->trainable, item->trainable, &sum->trainable) &&
         add_i64(sum->active, item->active, &sum->active) &&
         add_i64(sum->buffers, item->buffers, &sum->buffers) &&
         add_i64(sum->macs, item->macs, &sum->macs) &&
         add_i64(sum->train_macs, item->train_macs, &sum->train_macs) &&
         add_i64(sum->activations, item->activations, &sum->activations) &&
         add_i64(sum->activation_bytes, item->activation_bytes,
                 &sum->activation_bytes);
}

static bool is_summed(const struct model_param *param, enum param_sum sum) {
  return !param->shared && param->buffer == (sum >= SUM_BUFFERS) &&
         (sum != SUM_TRAINED || !param->fixed) &&
         (sum != SUM_READ_BUFFERS || !param->train_only);
}

bool model_param_bytes(const struct model *model, enum param_sum sum,
                       int element, int64_t *bytes) {
  int64_t plain[] = {model->total.params, model->total.trainable,
                     model->total.buffers, model->predicted.buffers};
  int64_t typed = 0, own;
  for (size_t i = 0; model->typed && i < model->params.count; i++) {
    const struct model_param *param = &model->params.at[i];
    if (!param->element || !is_summed(param, sum))
      continue;
    if (!element_bytes(param->element, param->count, &own) ||
        !add_i64(typed, own, &typed))
      return false;
    plain[sum] -= param->count;
  }
  return element_bytes(element, plain[sum], bytes) &&
         add_i64(*bytes, typed, bytes);
}

static bool count_params(const struct model *model, const struct node *node,
                         struct cost *cost) {
  for (int i = 0; i < node->param_count; i++) {
    const struct model_param *param =
        &model->params.at[node->first_param + (size_t)i];
    int64_t *sum = param->buffer ? &cost->buffers : &cost->params;
    if (param->shared)
      continue;
    if (!add_i64(*sum, param->count, sum))
      return false;
    if (!param->buffer)
      cost->active = cost->params / node->copies * node->active;
    if (!param->buffer && !param->fixed &&
        !add_i64(cost->trainable, param->count, &cost->trainable))
      return false;
  }
  return true;
}

static bool count_node(struct model *model, int64_t index, int element,
                       struct terms *terms, const struct shape **in) {
  const struct node *node = &model->nodes.at[index];
  model->like[index] = (uint32_t)model->costs.count;
  struct cost *cost = VEC_PUSH(model->arena, &model->costs);
  struct layer layer = model_layer(model, index, in);
  terms->all.count = 0;
  if (node->kind->macs)
    node->kind->macs(&layer, terms);
  if (!terms_sum(terms, &cost->train_macs) || !count_params(model, node, cost))
    return false;
  cost->macs = node->train_only ? 0 : cost->train_macs;
  if (node->kind->memory != OUTPUT_FRESH)
    return true;
  return shape_count(node->out, &cost->activations) &&
         shape_bytes(node->out, element, &cost->activation_bytes);
}

static bool same_param(const struct model *model, size_t a, size_t b) {
  const struct model_param *x = &model->params.at[a];
  const struct model_param *y = &model->params.at[b];
  return x->count == y->count && x->rank == y->rank && x->buffer == y->buffer &&
         x->fixed == y->fixed && x->element == y->element && x->same == a &&
         y->same == b;
}

/*
 * True if two nodes are the same layer, with parameters of their own, on
 * tensors of the same sizes.
 */
static bool same_layer(const struct model *model, int64_t a, int64_t b) {
  const struct node *x = &model->nodes.at[a], *y = &model->nodes.at[b];
  if (x->kind != y->kind || x->input_count != y->input_count ||
      x->copies != y->copies || x->param_count != y->param_count ||
      !shape_equal(x->out, y->out) ||
      (x->args != y->args && memcmp(x->args, y->args, x->kind->args_size) != 0))
    return false;
  for (int i = 0; i < x->input_count; i++)
    if (!shape_equal(model->nodes.at[node_input(model, x, i)].out,
                     model->nodes.at[node_input(model, y, i)].out))
      return false;
  for (int i = 0; i < x->param_count; i += x->copies) /* copies are alike */
    if (!same_param(model, x->first_param + (size_t)i,
                    y->first_param + (size_t)i))
      return false;
  return true;
}

enum { HASHED = 16 }; /* leading words of a layer's arguments */

/* Equal layers have the same hash. */
static uint64_t layer_hash(const struct model *model, const struct node *node) {
  const char *name = node->kind->name; /* has at least one letter */
  uint64_t hash = (uint64_t)name[0] << 8 | (uint64_t)name[1];
  for (int i = 0; i < node->out->rank; i++)
    hash = hash_mix(hash, (uint64_t)node->out->dim[i]);
  if (node->input_count)
    hash = hash_mix(hash, (uint64_t)shape_channels(model_input(model, node)));
  if (node->param_count)
    hash = hash_mix(hash, (uint64_t)model->params.at[node->first_param].count);
  int64_t word;
  size_t words = node->kind->args_size / sizeof word;
  for (size_t i = 0; i < words && i < HASHED; i++) {
    memcpy(&word, (const char *)node->args + i * sizeof word, sizeof word);
    hash = hash_mix(hash, (uint64_t)word);
  }
  return hash;
}

enum {
  MEMOS = 128, /* sets of recent layers, by hash */
  WAYS = 4,    /* per set */
};

struct memo {
  uint64_t hash;
  int64_t node; /* index + 1; 0: none */
};

static bool costs_alike(const struct model *model, int64_t a, int64_t b) {
  const struct node *x = &model->nodes.at[a], *y = &model->nodes.at[b];
  return x->active == y->active && x->train_only == y->train_only &&
         same_layer(model, a, b);
}

/* Gives a node the costs of an equal recent node, if there is one. */
static bool costs_the_same(const struct model *model, int64_t index,
                           struct memo (*memos)[WAYS]) {
  uint64_t hash = layer_hash(model, &model->nodes.at[index]);
  struct memo *set = memos[hash % MEMOS];
  for (int i = 0; i < WAYS; i++) {
    int64_t other = set[i].node - 1;
    if (other < 0 || set[i].hash != hash || !costs_alike(model, other, index))
      continue;
    model->like[index] = model->like[other];
    return true;
  }
  memmove(set + 1, set, (WAYS - 1) * sizeof *set);
  set[0] = (struct memo){hash, index + 1};
  return false;
}

bool cost_find(struct model *model, const struct settings *settings,
               struct diags *diags) {
  const struct shape **in = model_layer_room(model);
  struct terms terms = {.arena = model->arena};
  struct memo memos[MEMOS][WAYS] = {0};
  model->like =
      arena_alloc(model->arena, model->nodes.count + 1, sizeof *model->like);
  model->costs.count = 0;
  model->total = model->predicted = (struct cost){0};
  for (size_t i = 0; i < model->nodes.count; i++) {
    if ((costs_the_same(model, (int64_t)i, memos) ||
         count_node(model, (int64_t)i, settings->infer.dtype, &terms, in)) &&
        cost_add(&model->total, model_cost(model, (int64_t)i))) {
      if (!model->nodes.at[i].train_only)
        cost_add(&model->predicted, /* cannot overflow: at most the total */
                 model_cost(model, (int64_t)i));
      continue;
    }
    struct diagnostic *d =
        diag(diags, TOO_LARGE, model->nodes.at[i].span,
             "the costs of the net pass 2^63 - 1 at this layer");
    frame_describe(d, diags->sources, model->nodes.at[i].frame);
    return false;
  }
  return true;
}
