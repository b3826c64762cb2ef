/* Traces tensors back through moves of values, and through norms and rotations
 * of queries and keys. */
#include <stdlib.h>

#include "import/onnx/op_attention.h"

struct onnx_layout trace_dense(struct onnx *x, int node) {
  const struct graph_shape *shape = graph_shape(x->graph, node);
  return layout_dense(shape->rank, shape->size);
}

struct onnx_layout layout_without_ones(const struct onnx_layout *at) {
  int order[LAYOUT_RANK], count = 0;
  for (int i = 0; i < at->rank; i++)
    if (at->dim[i] > 1)
      order[count++] = i;
  return layout_order(at, count, order);
}

/* A join that repeats a tensor along an axis of size 1. */
static bool repeated(struct onnx *x, const struct graph_node *node,
                     struct onnx_layout *at) {
  int axis = onnx_extra(x, node->index)->axis;
  for (size_t i = 0; i < node->inputs.count; i++)
    if (node->inputs.at[i] != node->inputs.at[0])
      return false;
  const struct graph_shape *in = graph_shape(x->graph, node->inputs.at[0]);
  int64_t strides[LIMIT_RANK], stride = 1;
  if (node->word != WORD_CONCAT || axis >= in->rank || in->size[axis] != 1)
    return false;
  for (int i = in->rank; i-- > 0; stride *= in->size[i])
    strides[i] = i == axis ? 0 : stride;
  *at =
      layout_of(in->rank, graph_shape(x->graph, node->index)->size, strides, 0);
  return true;
}

/* The input of a move, as a view. */
static bool moved_view(struct onnx *x, const struct graph_node *node,
                       struct onnx_layout *at) {
  if (node->inputs.count > 1)
    return repeated(x, node, at);
  if (node->inputs.count == 0)
    return false;
  struct onnx_layout in = trace_dense(x, node->inputs.at[0]);
  if (node->word == WORD_PERMUTE) {
    int order[LAYOUT_RANK];
    for (size_t i = 0; i < node->args.count; i++)
      order[i] = atoi(node->args.at[i].value);
    *at = layout_order(&in, (int)node->args.count, order);
    return true;
  }
  if (node->word == WORD_SLICE) {
    const struct extra *extra = onnx_extra(x, node->index);
    *at = in;
    return layout_slice(at, extra->axis, extra->from,
                        graph_shape(x->graph, node->index)->size[extra->axis]);
  }
  *at = trace_dense(x, node->index);
  return node->word == WORD_RESHAPE || node->word == WORD_FLATTEN;
}

static bool through(const struct onnx_layout *move, struct onnx_layout *at) {
  struct onnx_layout next;
  if (!layout_through(move, at, &next))
    return false;
  *at = next;
  return true;
}

static bool step_move(struct onnx *x, struct onnx_trace *t) {
  const struct graph_node *node = graph_at(x->graph, t->base);
  struct onnx_layout move;
  struct onnx_trace next = *t;
  if (!moved_view(x, node, &move) || !through(&move, &next.at) ||
      (t->rope.half && !through(&move, &next.rotated)) ||
      (t->norm >= 0 && !through(&move, &next.normed)))
    return false;
  *t = next;
  t->base = node->inputs.at[0];
  return true;
}

static bool step_number(struct onnx *x, struct onnx_trace *t) {
  const struct graph_node *node = graph_at(x->graph, t->base);
  const struct extra *extra = onnx_extra(x, t->base);
  if (node->inputs.count != 1 || !extra->has_number)
    return false;
  if (node->word == WORD_MUL)
    t->number *= extra->number;
  else if (node->word == WORD_DIV)
    t->number /= extra->number;
  else
    return false;
  t->base = node->inputs.at[0];
  return true;
}

static bool step_norm(struct onnx *x, struct onnx_trace *t) {
  const struct graph_node *node = graph_at(x->graph, t->base);
  if (t->norm >= 0 || (node->word != WORD_RMSNORM && node->word != WORD_LN) ||
      !onnx_find_weight(x, t->base, "weight"))
    return false;
  t->norm = t->base;
  t->normed = trace_dense(x, t->base);
  t->base = node->inputs.at[0];
  return true;
}

struct onnx_trace trace_of(struct onnx *x, int node, bool heads) {
  struct onnx_trace t = {
      .base = node, .at = trace_dense(x, node), .number = 1, .norm = -1};
  for (;;)
    if (!step_move(x, &t) && !step_number(x, &t) &&
        !(heads && (trace_rope(x, &t) || step_norm(x, &t))))
      return t;
}

/* True if the last axis has `dim` contiguous values from a head's start. */
static bool is_of_heads(const struct onnx_layout *at, int64_t dim) {
  int64_t side = 1;
  int count = at->count;
  while (count > 0 && side < dim && at->atom[count - 1].stride == side)
    side *= at->atom[--count].size;
  if (side != dim || at->first % dim != 0)
    return false;
  for (int i = 0; i < count; i++)
    if (at->atom[i].stride % dim != 0)
      return false;
  return true;
}

int64_t trace_normed(struct onnx *x, const struct onnx_trace *t) {
  const struct graph_shape *shape = graph_shape(x->graph, t->norm);
  return shape->size[shape->rank - 1];
}

/* True if the norm covers each head's features, or all features. */
static bool norm_agrees(struct onnx *x, const struct onnx_heads *h,
                        int64_t dim) {
  int64_t features = trace_normed(x, &h->trace);
  bool all = features == h->count * dim && h->step == dim;
  return (features == dim || all) && is_of_heads(&h->trace.normed, features);
}

bool trace_agrees(struct onnx *x, const struct onnx_heads *h, int64_t dim) {
  const struct onnx_trace *t = &h->trace;
  const struct graph_shape *shape = graph_shape(x->graph, t->base);
  int64_t width = shape->size[shape->rank - 1];
  if (t->norm >= 0 && !norm_agrees(x, h, dim))
    return false;
  if (!t->rope.half)
    return true;
  if (shape->rank < 2 || t->rope.dim != dim || !is_of_heads(&t->rotated, dim))
    return false;
  int64_t steps = shape->size[shape->rank - 2];
  if (t->rope.axis < 0)
    return steps == 1;
  for (int i = 0; i < t->rotated.count; i++)
    if (t->rotated.atom[i].axis == t->rope.axis)
      return t->rotated.atom[i].size == steps &&
             t->rotated.atom[i].stride == width;
  return false;
}
