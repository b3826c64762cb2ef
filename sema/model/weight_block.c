/* The block of weights that a prediction reads: what lies where. */
#include "sema/model/weight_block.h"

#include "base/check.h"
#include "sema/model/settings.h"

static int64_t *nowhere(struct arena *arena, size_t count) {
  int64_t *all = arena_alloc(arena, count + 1, sizeof *all);
  for (size_t i = 0; i < count; i++)
    all[i] = -1;
  return all;
}

/* Sizes of a model add up to less than 2^63, and so do parts of them. */
static void place_param(const struct model *model, size_t index,
                        struct weight_block *block) {
  const struct model_param *param = &model->params.at[index];
  if (param->same != index) {
    block->at[index] = block->at[param->same];
    block->wide[index] = block->wide[param->same];
    return;
  }
  if (param->part)
    return;
  block->at[index] = block->count;
  block->wide[index] = block->biases;
  block->count += param->count;
  block->biases += param->bias ? param->count : 0;
}

static void place_node(const struct model *model, int64_t index,
                       struct weight_block *block) {
  const struct node *node = &model->nodes.at[index];
  if (block->into[index] >= 0 || node->train_only)
    return;
  for (int i = 0; i < node->param_count; i++)
    place_param(model, node->first_param + (size_t)i, block);
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

void weight_block_find(const struct model *model, const struct fold *folds,
                       size_t fold_count, struct arena *arena,
                       struct weight_block *block) {
  size_t nodes = model->nodes.count;
  *block = (struct weight_block){.at = nowhere(arena, model->params.count),
                                 .bias = nowhere(arena, nodes),
                                 .into = nowhere(arena, nodes),
                                 .norm = nowhere(arena, model->params.count),
                                 .made = nowhere(arena, nodes),
                                 .wide = nowhere(arena, model->params.count),
                                 .made_wide = nowhere(arena, nodes)};
  for (size_t i = 0; i < fold_count; i++) {
    block->into[folds[i].norm] = folds[i].into;
    block->norm[folds[i].weight] = block->norm[folds[i].bias] = folds[i].norm;
    if (folds[i].weight == folds[i].bias)
      block->made[folds[i].into] = folds[i].norm;
  }
  for (size_t i = 0; i < nodes; i++)
    place_node(model, (int64_t)i, block);
}
