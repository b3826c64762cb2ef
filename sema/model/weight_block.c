/* Weight block: the order of the weights that inference reads. */
#include "sema/model/weight_block.h"

#include "base/check.h"
#include "layers/layer.h"
#include "sema/model/weights.h"

static int64_t *nowhere(struct arena *arena, size_t count) {
  int64_t *all = arena_alloc(arena, count + 1, sizeof *all);
  for (size_t i = 0; i < count; i++)
    all[i] = -1;
  return all;
}

int weight_block_narrow_bits(const struct infer_settings *infer) {
  const struct weights_type *type = weights_type(infer->weight_dtype);
  return infer->weight_dtype && type->scope == SCOPE_KERNELS
             ? type->block.eight / 8
             : 0;
}

struct weight_laying {
  const struct model *model;
  struct arena *arena;
  const struct shape **in; /* scratch for a layer's inputs */
  struct weight_block *block;
  bool narrow, scaled; /* some have fewer bits; those have scales */
};

/* Number of outputs of a node's parameter. */
static int64_t outputs_of(const struct weight_laying *m, int64_t node,
                          int param) {
  struct params params = {.arena = m->arena};
  struct layer layer = model_layer(m->model, node, m->in);
  layer_params(&layer, &params);
  const struct param *found = &params.all.at[param];
  return found->dim[found->rank - 1];
}

/* Places a narrow parameter and its scales. */
static void place_narrow(const struct weight_laying *m, int64_t node,
                         int number) {
  size_t index = m->model->nodes.at[node].first_param + (size_t)number;
  struct weight_block *block = m->block;
  block->at[index] = block->count;
  block->narrow[index] = block->narrow_count;
  block->narrow_count += m->model->params.at[index].count;
  if (!m->scaled)
    return;
  block->scale[index] = block->count;
  block->count += outputs_of(m, node, number);
}

/* No overflow: a model's sizes add up to less than 2^63. */
static void place_param(const struct weight_laying *m, int64_t node,
                        int number) {
  size_t index = m->model->nodes.at[node].first_param + (size_t)number;
  const struct model_param *param = &m->model->params.at[index];
  struct weight_block *block = m->block;
  if (param->same != index) {
    block->at[index] = block->at[param->same];
    block->wide[index] = block->wide[param->same];
    block->narrow[index] = block->narrow[param->same];
    block->scale[index] = block->scale[param->same];
    return;
  }
  if (param->part)
    return;
  if (m->narrow && param->narrow) {
    place_narrow(m, node, number);
    return;
  }
  block->at[index] = block->count;
  block->wide[index] = block->biases;
  block->count += param->count;
  block->biases += param->bias ? param->count : 0;
}

static void place_node(const struct weight_laying *m, int64_t index) {
  const struct node *node = &m->model->nodes.at[index];
  struct weight_block *block = m->block;
  if (block->into[index] >= 0 || node->train_only)
    return;
  for (int i = 0; i < node->param_count; i++)
    place_param(m, index, i);
  if (block->made[index] < 0)
    return;
  block->bias[index] = block->count;
  block->made_wide[index] = block->biases;
  block->count += shape_channels(node->out);
  block->biases += shape_channels(node->out);
}

bool weight_block_bytes(int element, int64_t values, int64_t biases,
                        int64_t *bytes) {
  enum { BIAS_BYTES = 4 };
  int64_t wide = element_is_integer(element) ? biases : 0;
  return element_bytes(element, values - wide, bytes) &&
         wide <= (INT64_MAX - *bytes) / BIAS_BYTES &&
         add_i64(*bytes, wide * BIAS_BYTES, bytes);
}

void weight_block_find(const struct model *model,
                       const struct infer_settings *infer,
                       const struct fold *folds, size_t fold_count,
                       struct arena *arena, struct weight_block *block) {
  size_t nodes = model->nodes.count;
  struct weight_laying m = {.model = model, .arena = arena, .block = block};
  *block = (struct weight_block){.at = nowhere(arena, model->params.count),
                                 .bias = nowhere(arena, nodes),
                                 .into = nowhere(arena, nodes),
                                 .norm = nowhere(arena, model->params.count),
                                 .made = nowhere(arena, nodes),
                                 .wide = nowhere(arena, model->params.count),
                                 .made_wide = nowhere(arena, nodes),
                                 .narrow = nowhere(arena, model->params.count),
                                 .scale = nowhere(arena, model->params.count)};
  for (size_t i = 0; i < fold_count; i++) {
    block->into[folds[i].norm] = folds[i].into;
    block->norm[folds[i].weight] = block->norm[folds[i].bias] = folds[i].norm;
    if (folds[i].weight == folds[i].bias)
      block->made[folds[i].into] = folds[i].norm;
  }
  m.narrow = weight_block_narrow_bits(infer) > 0;
  m.scaled = m.narrow && weights_type(infer->weight_dtype)->by_output;
  if (m.scaled)
    m.in = model_layer_room(model);
  for (size_t i = 0; i < nodes; i++)
    place_node(&m, (int64_t)i);
}
