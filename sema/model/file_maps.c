/* File maps: finds vectors that are flattened maps in the graph. */
#include "sema/model/file_maps.h"

struct seeing {
  const struct model *model;
  struct file_maps *maps;
};

/* True for an elementwise node: an activation, a norm, dropout. */
static bool value_by_value(const struct seeing *c, const struct node *node) {
  return node->input_count == 1 && !node->kind->macs &&
         shape_equal(model_input(c->model, node), node->out);
}

static bool is_view(const struct seeing *c, const struct node *node) {
  return node->kind->memory == OUTPUT_VIEW && node->input_count == 1 &&
         shape_values(model_input(c->model, node)) == shape_values(node->out);
}

/* Like a map, a sequence under a window has its channels first. */
static void see_channels(struct seeing *c, size_t index) {
  const struct node *node = &c->model->nodes.at[index];
  bool same = node->input_count > 0 &&
              model_input(c->model, node)->rank == node->out->rank &&
              !is_view(c, node);
  if (node->out->dtype != DTYPE_FLOAT)
    return;
  if (node->out->rank > 2 || node->kind->windows)
    c->maps->channels_first[index] = true;
  else if (same && (node->kind->join || value_by_value(c, node)))
    c->maps->channels_first[index] =
        c->maps->channels_first[node_input(c->model, node, 0)];
}

static void see_vector(struct seeing *c, size_t index) {
  const struct node *node = &c->model->nodes.at[index];
  if (node->out->rank != 1 || node->input_count != 1)
    return;
  int64_t from = node_input(c->model, node, 0);
  if (value_by_value(c, node))
    c->maps->vector[index] = c->maps->vector[from];
  else if (is_view(c, node) && c->maps->channels_first[from])
    c->maps->vector[index] = model_input(c->model, node);
}

/* Marks a vector without other readers that becomes a map. */
static void see_becoming(struct seeing *c, size_t index,
                         const int64_t *readers) {
  const struct node *node = &c->model->nodes.at[index];
  if (node->input_count != 1 || model_input(c->model, node)->rank != 1)
    return;
  int64_t from = node_input(c->model, node, 0);
  if (readers[from] > 1)
    return;
  if (is_view(c, node) && node->out->rank > 2)
    c->maps->becoming[from] = node->out;
  else if (value_by_value(c, node))
    c->maps->becoming[from] = c->maps->becoming[index];
}

void file_maps_find(const struct model *model, struct arena *arena,
                    struct file_maps *maps) {
  struct seeing c = {model, maps};
  size_t count = model->nodes.count + 1;
  int64_t *readers = arena_alloc(arena, count, sizeof *readers);
  maps->vector = arena_alloc(arena, count, sizeof *maps->vector);
  maps->becoming = arena_alloc(arena, count, sizeof *maps->becoming);
  maps->channels_first =
      arena_alloc(arena, count, sizeof *maps->channels_first);
  for (size_t i = 0; i < model->inputs.count; i++)
    readers[model->inputs.at[i]]++;
  for (size_t i = 0; i < model->outputs.count; i++)
    readers[model->outputs.at[i].node]++;
  for (size_t i = 0; i < model->nodes.count; i++) {
    see_channels(&c, i);
    see_vector(&c, i);
  }
  for (size_t i = model->nodes.count; i-- > 0;)
    see_becoming(&c, i, readers);
}
