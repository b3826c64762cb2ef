/* ONNX forms of products of matrices: linear, matmul. */
#include "export/export.h"

/* Parts of an axis, in the order of their strides in another tensor. */
struct onnx_parts {
  int count;
  int64_t size[LAYOUT_ATOMS];
  int order[LAYOUT_ATOMS];
};

static struct onnx_parts parts_of(const struct onnx_layout *at, int axis) {
  struct onnx_parts parts = {.count = 0};
  int64_t stride[LAYOUT_ATOMS];
  for (int i = 0; i < at->count; i++) {
    if (at->atom[i].axis != axis)
      continue;
    int to = parts.count;
    parts.size[to] = at->atom[i].size;
    stride[to] = at->atom[i].stride;
    parts.count++;
    for (; to > 0 && stride[parts.order[to - 1]] < stride[parts.count - 1];
         to--)
      parts.order[to] = parts.order[to - 1];
    parts.order[to] = parts.count - 1;
  }
  return parts;
}

/* Reorders an axis: PyTorch flattens C x H x W, netc H x W x C. */
static bool reorder(struct onnx_layout *at, int axis,
                    const struct onnx_parts *parts) {
  int order[LAYOUT_RANK], rank = 0;
  struct onnx_layout apart = *at;
  for (int i = 0; i + 1 < parts->count; i++)
    if (!layout_split(&apart, axis + i, parts->size[i]))
      return false;
  for (int i = 0; i < apart.rank; i++) {
    bool inside = i >= axis && i < axis + parts->count;
    order[rank++] = inside ? axis + parts->order[i - axis] : i;
  }
  *at = layout_order(&apart, rank, order);
  layout_merge(at, axis, parts->count);
  return true;
}

/* A single Gemm for vectors. The file has weights as [out, in]. */
static value_id of_vectors(struct exporting *x, const struct view *in,
                           const struct view *weight, const struct view *bias,
                           const struct onnx_layout *at) {
  struct view transposed = {weight->of, layout_move(&weight->at, 0, 1)};
  bool transposes = onnx_get_cost(x, &transposed) <= onnx_get_cost(x, weight);
  value_id ins[3] = {onnx_get_spread(x, in),
                     onnx_get(x, transposes ? &transposed : weight),
                     bias ? onnx_get(x, bias) : NO_VALUE};
  value_id y = onnx_node(x, "Gemm", at, ins, 3);
  if (transposes)
    model_int(&x->model, "transB", 1);
  return y;
}

/* Reorders flattened axes to the order in the file. */
bool onnx_linear(struct exporting *x) {
  struct view in = onnx_in(x, 0), weight = onnx_in(x, 1), bias = in;
  struct onnx_layout at = onnx_out(x, 0);
  struct onnx_parts seen = parts_of(&weight.at, 0),
                    made = parts_of(&weight.at, 1);
  bool has_bias = x->op.in_count > 2, fits = true;
  if (has_bias)
    bias = onnx_in(x, 2);
  if (seen.count > 1)
    fits =
        reorder(&in.at, in.at.rank - 1, &seen) && reorder(&weight.at, 0, &seen);
  if (made.count > 1)
    fits = fits && reorder(&at, at.rank - 1, &made) &&
           reorder(&weight.at, 1, &made) &&
           (!has_bias || reorder(&bias.at, 0, &made));
  if (!fits)
    return onnx_refuse(x, "its weights are stored in another order than its "
                          "flattened input") != NO_VALUE;
  if (at.rank == 2)
    return onnx_put_first(
        x, of_vectors(x, &in, &weight, has_bias ? &bias : NULL, &at), &at);
  value_id a = onnx_get_spread(x, &in), b = onnx_get(x, &weight);
  value_id y = NODE(x, "MatMul", &at, a, b);
  if (has_bias)
    y = NODE(x, "Add", &at, y, onnx_get(x, &bias));
  return onnx_put_first(x, y, &at);
}

/* MatMul broadcasts leading axes. */
bool onnx_matmul(struct exporting *x) {
  struct view a = onnx_in(x, 0), b = onnx_in(x, 1);
  struct onnx_layout at = onnx_out(x, 0);
  int64_t left[LAYOUT_RANK], right[LAYOUT_RANK];
  bool spreads = false;
  view_sizes(&a, left);
  view_sizes(&b, right);
  for (int i = 0; i + 2 < at.rank; i++)
    spreads = spreads || (left[i] != at.dim[i] && right[i] != at.dim[i]);
  spreads = spreads || left[at.rank - 1] != a.at.dim[at.rank - 1] ||
            left[at.rank - 2] != a.at.dim[at.rank - 2];
  value_id first = spreads ? onnx_get_spread(x, &a) : onnx_get(x, &a);
  value_id second = spreads ? onnx_get_spread(x, &b) : onnx_get(x, &b);
  return onnx_put_first(x, NODE(x, "MatMul", &at, first, second), &at);
}
