/* Written attention: has no KV cache, as it is written out or not causal. */
#include "sema/model/written.h"

#include "base/check.h"
#include "layers/tape/lowering.h"

/* True for scores of as many queries as keys. */
static bool is_square(const struct shape *shape) {
  return shape->rank >= 2 &&
         shape->dim[shape->rank - 1] == shape->dim[shape->rank - 2];
}

/* The product whose scores reach a node through scales, masks and biases. */
static int64_t product_before(const struct model *model, int64_t node) {
  enum { FAR = 16 };
  int64_t values, before;
  for (int i = 0; i < FAR; i++) {
    const struct node *n = &model->nodes.at[node];
    int64_t next = NO_NODE;
    if (n->kind->opcode == DOES_MATMUL && n->input_count == 2)
      return node;
    shape_count(n->out, &values);
    for (int k = n->input_count; k-- > 0;) { /* the first input of equal size */
      const struct node *in = &model->nodes.at[node_input(model, n, k)];
      if (shape_count(in->out, &before) && before == values &&
          !in->kind->source)
        next = node_input(model, n, k);
    }
    if (next == NO_NODE)
      return NO_NODE;
    node = next;
  }
  return NO_NODE;
}

/* Marks a node's ancestors. True if one, but no weight, has mark `other`. */
static bool mark(const struct model *model, char *marks, int64_t node,
                 char with, char other) {
  bool met = false;
  marks[node] |= with;
  for (; node >= 0; node--) {
    const struct node *n = &model->nodes.at[node];
    if (!(marks[node] & with))
      continue;
    bool weight = n->kind->source && n->kind != &model_input_kind;
    met = met || ((marks[node] & other) && !weight);
    for (int k = 0; k < n->input_count; k++)
      marks[node_input(model, n, k)] |= with;
  }
  return met;
}

static bool is_of_one(const struct model *model, const struct node *product) {
  struct arena scratch;
  arena_open_in(&scratch, model->arena);
  char *marks = arena_alloc(&scratch, model->nodes.count + 1, sizeof *marks);
  mark(model, marks, node_input(model, product, 0), 1, 0);
  bool met = mark(model, marks, node_input(model, product, 1), 2, 1);
  arena_close(&scratch);
  return met;
}

int64_t written_attention(const struct model *model) {
  for (size_t i = model->nodes.count; i-- > 0;) {
    const struct node *n = &model->nodes.at[i];
    if (n->kind->opcode != DOES_SOFTMAX || !is_square(n->out))
      continue;
    int64_t product = product_before(model, (int64_t)i);
    if (product != NO_NODE && is_of_one(model, &model->nodes.at[product]))
      return (int64_t)i;
  }
  return NO_NODE;
}

int64_t unkept_attention(const struct model *model) {
  const struct shape **in = model_layer_room(model);
  int64_t last = NO_NODE, written = written_attention(model);
  for (size_t i = 0; i < model->nodes.count && written == NO_NODE; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (!layer.kind->cache)
      continue;
    if (layer.kind->cache(&layer).each)
      return NO_NODE;
    last = (int64_t)i;
  }
  return written == NO_NODE ? last : written;
}
