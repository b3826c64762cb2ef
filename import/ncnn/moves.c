/* Translates layers of ncnn without weights: parts and joins of blobs, moves of
 * their axes, functions of each value. */
#include <string.h>

#include "import/ncnn/ncnn.h"

/* A crop to the sizes of a second blob; 0 1 2 offsets of w, h, c. */
static bool crop_to_blob(struct ncnn *n, int axes) {
  int64_t from[3], at[3], first = 1, last = axes + 1;
  for (int i = 0; i < axes; i++) {
    from[i] = ncnn_int(n, axes - 1 - i, 0);
    at[i] = i + 1;
  }
  const char *starts = said_ints(&n->s, from, axes);
  Onnx__NodeProto *part =
      ncnn_with(n, "Slice",
                said_between(&n->s, ncnn_with(n, "Shape", n->ins.at[1], NULL)),
                said_ints(&n->s, &first, 1));
  said_take(&n->s, part, said_ints(&n->s, &last, 1));
  const char *sizes = said_between(&n->s, part);
  const char *ends = said_between(&n->s, ncnn_with(n, "Add", sizes, starts));
  Onnx__NodeProto *node = ncnn_node(n, "Slice", 3);
  said_take(&n->s, node, ncnn_in(n));
  said_take(&n->s, node, starts);
  said_take(&n->s, node, ends);
  said_take(&n->s, node, said_ints(&n->s, at, axes));
  return ncnn_give(n, node, axes);
}

/* 0 1 2 offsets of w, h, c, 3 4 5 sizes; or lists of 9 starts, 10 ends, 11
 * axes. */
bool ncnn_crop(struct ncnn *n) {
  int axes = ncnn_axes_in(n), parts = n->params[9].count;
  int64_t from[3], to[3], at[3];
  bool to_blob = n->ins.count == 2 && parts == 0 && axes >= 1 && axes <= 3 &&
                 ncnn_axes(n, n->ins.at[1]) == axes;
  if (to_blob)
    return crop_to_blob(n, axes);
  if (axes < 1 || n->ins.count > 1 || parts > 3 || parts != n->params[10].count)
    return ncnn_fail(n, "its numbers are not supported");
  for (int i = 0; i < parts; i++) { /* from, to, and axes of c, h, w */
    int64_t place = n->params[11].count > i ? ncnn_item(n, 11, i) : i;
    from[i] = ncnn_item(n, 9, i);
    to[i] = ncnn_item(n, 10, i);
    to[i] = to[i] == -233 ? MOST_SIZE : to[i];
    at[i] = place < 0 ? place : place + 1;
  }
  for (int i = 0; parts == 0 && i < axes; i++) {
    int64_t size = ncnn_int(n, 3 + i, 0);
    from[i] = ncnn_int(n, i, 0);
    to[i] = size > 0 && size < MOST_SIZE ? from[i] + size : MOST_SIZE;
    at[i] = axes - i;
  }
  int count = parts ? parts : axes;
  Onnx__NodeProto *node = ncnn_node(n, "Slice", 3);
  said_take(&n->s, node, ncnn_in(n));
  said_take(&n->s, node, said_ints(&n->s, from, count));
  said_take(&n->s, node, said_ints(&n->s, to, count));
  said_take(&n->s, node, said_ints(&n->s, at, count));
  return ncnn_give(n, node, axes);
}

/* Joins and parts */

bool ncnn_concat(struct ncnn *n) {
  Onnx__NodeProto *node = ncnn_node(n, "Concat", 0);
  for (size_t i = 0; i < n->ins.count; i++)
    said_take(&n->s, node, n->ins.at[i]);
  emit_int(&n->s.x, node, "axis", ncnn_int(n, 0, 0) + 1);
  return ncnn_give(n, node, ncnn_axes_in(n));
}

static bool give_part(struct ncnn *n, size_t out, int64_t from, int64_t to,
                      int64_t axis) {
  Onnx__NodeProto *node = ncnn_node(n, "Slice", 3);
  said_take(&n->s, node, ncnn_in(n));
  said_take(&n->s, node, said_ints(&n->s, &from, 1));
  said_take(&n->s, node, said_ints(&n->s, &to, 1));
  said_take(&n->s, node, said_ints(&n->s, &axis, 1));
  said_give(&n->s, node, n->outs.at[out]);
  ncnn_set_axes(n, n->outs.at[out], ncnn_axes_in(n));
  return true;
}

/* Parameter 0: the sizes, where -233 is an equal share of the rest; 1: axis. */
bool ncnn_slice(struct ncnn *n) {
  const struct ncnn_param *sizes = &n->params[0];
  int64_t axis = ncnn_int(n, 1, 0) + 1, from = 0;
  bool equal = sizes->count > 0 && sizes->values[0] == -233;
  if (sizes->count < 1 || (size_t)sizes->count != n->outs.count)
    return ncnn_fail(n, "it has %zu outputs and %d sizes", n->outs.count,
                     sizes->count);
  for (int i = 0; i < sizes->count; i++) {
    double size = sizes->values[i];
    bool share = size == -233, last = i + 1 == sizes->count;
    if (share != equal && !(share && last))
      return ncnn_fail(n, "sizes beside equal shares are not supported");
    if (!share && (size < 1 || size > MOST_SIZE))
      return ncnn_fail(n, "its sizes are not supported");
  }
  for (int i = 0; !equal && i < sizes->count; i++) {
    bool share = sizes->values[i] == -233;
    int64_t to = share ? MOST_SIZE : from + (int64_t)sizes->values[i];
    give_part(n, (size_t)i, from, to, axis);
    from = to;
  }
  if (!equal)
    return true;
  Onnx__NodeProto *node = ncnn_with(n, "Split", ncnn_in(n), NULL);
  emit_int(&n->s.x, node, "axis", axis);
  emit_int(&n->s.x, node, "num_outputs", sizes->count);
  for (size_t i = 0; i < n->outs.count; i++) {
    said_give(&n->s, node, n->outs.at[i]);
    ncnn_set_axes(n, n->outs.at[i], ncnn_axes_in(n));
  }
  return true;
}

/* 0: the axes of the output as w, h, c. */
bool ncnn_permute(struct ncnn *n) {
  static const int64_t orders[][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3},
                                      {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}};
  static const int64_t turned[3] = {0, 2, 1};
  int64_t kind = ncnn_int(n, 0, 0);
  int axes = ncnn_axes_in(n);
  if (kind < 0 || kind > 5 || axes < 2 || axes > 3 || (axes == 2 && kind > 1))
    return ncnn_fail(n, "its order is not supported");
  Onnx__NodeProto *node = ncnn_with(n, "Transpose", ncnn_in(n), NULL);
  if (axes == 3)
    emit_ints(&n->s.x, node, "perm", orders[kind], 4);
  else if (kind)
    emit_ints(&n->s.x, node, "perm", turned, 3);
  else
    emit_ints(&n->s.x, node, "perm", (const int64_t[]){0, 1, 2}, 3);
  return ncnn_give(n, node, axes);
}

/* 0 operation, 1 all axes, 3 axes, 4 whether they stay. */
bool ncnn_reduction(struct ncnn *n) {
  static const char *const ops[] = {"ReduceSum",       "ReduceL1",
                                    "ReduceSumSquare", "ReduceMean",
                                    "ReduceMax",       "ReduceMin"};
  int64_t kind = ncnn_int(n, 0, 0), axes[3];
  bool keep = ncnn_int(n, 4, 0) != 0, all = ncnn_int(n, 1, 1) != 0;
  int count = all ? ncnn_axes_in(n) : n->params[3].count;
  double factor = ncnn_real(n, 2, 1);
  if (kind < 0 || kind > 5 || count < 1 || count > 3 || factor < 1 ||
      factor > 1)
    return ncnn_fail(n, "its operation is not supported");
  for (int i = 0; i < count; i++) {
    int64_t axis = all ? i : ncnn_item(n, 3, i);
    axes[i] = axis < 0 ? axis : axis + 1;
  }
  Onnx__NodeProto *node =
      ncnn_with(n, ops[kind], ncnn_in(n), said_ints(&n->s, axes, count));
  emit_int(&n->s.x, node, "keepdims", keep);
  return ncnn_give(n, node, keep ? ncnn_axes_in(n) : ncnn_axes_in(n) - count);
}

/* 0 w, 1 h, 2 c: -1 what is left, 0 as before. */
bool ncnn_reshape(struct ncnn *n) {
  int64_t dims[4] = {1};
  int axes = 0;
  for (int i = 2; i >= 0; i--)
    if (n->params[i].given && ncnn_int(n, i, 0) != -233)
      dims[++axes] = ncnn_int(n, i, 0);
  if (axes == 0)
    return ncnn_fail(n, "it has no sizes");
  return ncnn_give(
      n, ncnn_with(n, "Reshape", ncnn_in(n), said_ints(&n->s, dims, axes + 1)),
      axes);
}

bool ncnn_flatten(struct ncnn *n) {
  return ncnn_give(n, ncnn_with(n, "Flatten", ncnn_in(n), NULL), 1);
}

/* Channels of each group become neighbours: two reshapes around a move. The
 * sizes are those of the input, which the file need not state. */
bool ncnn_shuffle(struct ncnn *n) {
  static const int64_t order[5] = {0, 2, 1, 3, 4}, zero = 0, one = 1, two = 2,
                       four = 4;
  int64_t groups = ncnn_int(n, 0, 1);
  if (groups < 1 || groups > MOST_SIZE)
    return ncnn_fail(n, "its groups are not supported");
  Onnx__NodeProto *node = ncnn_with(n, "Shape", ncnn_in(n), NULL);
  const char *shape = said_between(&n->s, node);
  node = ncnn_with(n, "Gather", shape, said_ints(&n->s, &one, 1));
  const char *number = said_ints(&n->s, &groups, 1);
  node = ncnn_with(n, "Div", said_between(&n->s, node), number);
  const char *rest = said_between(&n->s, node);
  node = ncnn_with(n, "Slice", shape, said_ints(&n->s, &two, 1));
  said_take(&n->s, node, said_ints(&n->s, &four, 1));
  const char *sides = said_between(&n->s, node);
  bool back = ncnn_int(n, 1, 0) != 0;
  node = ncnn_node(n, "Concat", 3);
  emit_int(&n->s.x, node, "axis", 0);
  said_take(&n->s, node, said_ints(&n->s, &zero, 1));
  said_take(&n->s, node, back ? rest : number);
  said_take(&n->s, node, back ? number : rest);
  said_take(&n->s, node, sides);
  node = ncnn_with(n, "Reshape", ncnn_in(n), said_between(&n->s, node));
  node = ncnn_with(n, "Transpose", said_between(&n->s, node), NULL);
  emit_ints(&n->s.x, node, "perm", order, 5);
  return ncnn_give(n, ncnn_with(n, "Reshape", said_between(&n->s, node), shape),
                   3);
}

bool ncnn_pixel_shuffle(struct ncnn *n) {
  Onnx__NodeProto *node = ncnn_with(n, "DepthToSpace", ncnn_in(n), NULL);
  emit_int(&n->s.x, node, "blocksize", ncnn_int(n, 0, 1));
  emit_text(&n->s.x, node, "mode", ncnn_int(n, 1, 0) ? "DCR" : "CRD");
  return ncnn_give(n, node, 3);
}

/* Element by element */

/* A term of a sum, which has a factor in the list 1. */
static const char *term(struct ncnn *n, size_t index, bool sum) {
  double factor = n->params[1].values[index < NCNN_LIST ? index : 0];
  const char *value = n->ins.at[index];
  if (!sum || (int)index >= n->params[1].count || factor == 1)
    return value;
  return said_between(&n->s,
                      ncnn_with(n, "Mul", value, said_real(&n->s, factor)));
}

/* 0: product, sum, largest. */
bool ncnn_eltwise(struct ncnn *n) {
  static const char *const ops[] = {"Mul", "Add", "Max"};
  int64_t kind = ncnn_int(n, 0, 0);
  if (kind < 0 || kind > 2 || n->ins.count < 2)
    return ncnn_fail(n, "its operation is not supported");
  const char *value = term(n, 0, kind == 1);
  for (size_t i = 1; i < n->ins.count; i++) {
    Onnx__NodeProto *node =
        ncnn_with(n, ops[kind], value, term(n, i, kind == 1));
    if (i + 1 == n->ins.count)
      return ncnn_give(n, node, ncnn_axes_in(n));
    value = said_between(&n->s, node);
  }
  return true;
}

const char *ncnn_by_channels(struct ncnn *n, const char *value, int axes,
                             int beside) {
  static const int64_t last[2] = {2, 3};
  if (axes != 1 || beside < 2)
    return value;
  return said_between(&n->s, ncnn_with(n, "Unsqueeze", value,
                                       said_ints(&n->s, last, beside - 1)));
}

/* 0 operation, 1: with the number 2. */
bool ncnn_binary(struct ncnn *n) {
  static const char *const ops[] = {"Add", "Sub", "Mul", "Div", "Max",
                                    "Min", "Pow", "Sub", "Div"};
  int64_t kind = ncnn_int(n, 0, 0);
  bool number = ncnn_int(n, 1, 0) != 0, reverse = kind > 6;
  if (kind < 0 || kind > 8 || (!number && n->ins.count < 2))
    return ncnn_fail(n, "its operation is not supported");
  const char *first = ncnn_in(n);
  const char *other =
      number ? said_real(&n->s, ncnn_real(n, 2, 0)) : n->ins.at[1];
  int axes = ncnn_axes_in(n);
  if (!number) {
    int more = ncnn_axes(n, other);
    first = ncnn_by_channels(n, first, axes, more);
    other = ncnn_by_channels(n, other, more, axes);
    axes = more > axes ? more : axes;
  }
  return ncnn_give(n,
                   reverse ? ncnn_with(n, ops[kind], other, first)
                           : ncnn_with(n, ops[kind], first, other),
                   axes);
}

bool ncnn_unary(struct ncnn *n) {
  static const char *const ops[] = {
      "Abs", "Neg", "Floor", "Ceil", "", "Sqrt", "",           "Exp", "Log",
      "Sin", "Cos", "Tan",   "",     "", "",     "Reciprocal", "Tanh"};
  int64_t kind = ncnn_int(n, 0, 0);
  if (kind == 4)
    return ncnn_give(n, ncnn_with(n, "Mul", ncnn_in(n), ncnn_in(n)),
                     ncnn_axes_in(n));
  if (kind < 0 || kind >= (int64_t)(sizeof ops / sizeof *ops) || !*ops[kind])
    return ncnn_fail(n, "its operation is not supported");
  return ncnn_give(n, ncnn_with(n, ops[kind], ncnn_in(n), NULL),
                   ncnn_axes_in(n));
}

bool ncnn_plain(struct ncnn *n) {
  Onnx__NodeProto *node = ncnn_with(n, n->row->onnx, ncnn_in(n), NULL);
  if (slice_is(n->type, "GELU") && ncnn_int(n, 0, 0))
    emit_text(&n->s.x, node, "approximate", "tanh");
  return ncnn_give(n, node, ncnn_axes_in(n));
}

bool ncnn_slope(struct ncnn *n) {
  bool elu = slice_is(n->type, "ELU");
  double slope = ncnn_real(n, 0, elu ? 0.1 : 0);
  bool leaky = !elu && (slope > 0 || slope < 0);
  Onnx__NodeProto *node =
      ncnn_with(n, leaky ? "LeakyRelu" : n->row->onnx, ncnn_in(n), NULL);
  if (elu || leaky)
    emit_real(&n->s.x, node, "alpha", slope);
  return ncnn_give(n, node, ncnn_axes_in(n));
}

bool ncnn_clip(struct ncnn *n) {
  Onnx__NodeProto *node = ncnn_with(n, "Clip", ncnn_in(n),
                                    said_real(&n->s, ncnn_real(n, 0, -3.4e38)));
  said_take(&n->s, node, said_real(&n->s, ncnn_real(n, 1, 3.4e38)));
  return ncnn_give(n, node, ncnn_axes_in(n));
}

bool ncnn_softmax(struct ncnn *n) {
  int64_t axis = ncnn_int(n, 0, 0);
  Onnx__NodeProto *node = ncnn_with(n, "Softmax", ncnn_in(n), NULL);
  emit_int(&n->s.x, node, "axis", axis < 0 ? axis : axis + 1);
  return ncnn_give(n, node, ncnn_axes_in(n));
}

/* A gate, alone or times the input: Swish, HardSigmoid, HardSwish. */
bool ncnn_hard(struct ncnn *n) {
  Onnx__NodeProto *node = ncnn_with(n, n->row->onnx, ncnn_in(n), NULL);
  if (!slice_is(n->type, "Swish")) {
    emit_real(&n->s.x, node, "alpha", ncnn_real(n, 0, 0.2));
    emit_real(&n->s.x, node, "beta", ncnn_real(n, 1, 0.5));
  }
  if (slice_is(n->type, "HardSigmoid"))
    return ncnn_give(n, node, ncnn_axes_in(n));
  return ncnn_give(n,
                   ncnn_with(n, "Mul", ncnn_in(n), said_between(&n->s, node)),
                   ncnn_axes_in(n));
}

bool ncnn_same(struct ncnn *n) {
  if (n->ins.count > 1) { /* it names the outputs */
    ncnn_leave(n);
    return true;
  }
  double scale = slice_is(n->type, "Dropout") ? ncnn_real(n, 0, 1) : 1;
  if (scale < 1 || scale > 1)
    return ncnn_give(n,
                     ncnn_with(n, "Mul", ncnn_in(n), said_real(&n->s, scale)),
                     ncnn_axes_in(n));
  return ncnn_give(n, ncnn_with(n, "Identity", ncnn_in(n), NULL),
                   ncnn_axes_in(n));
}

bool ncnn_split(struct ncnn *n) {
  for (size_t i = 0; i < n->outs.count; i++) {
    said_give(&n->s, ncnn_with(n, "Identity", ncnn_in(n), NULL), n->outs.at[i]);
    ncnn_set_axes(n, n->outs.at[i], ncnn_axes_in(n));
  }
  return true;
}

/* Boxes are decoded without weights: what such a layer reads is an output. */
bool ncnn_boxes(struct ncnn *n) {
  graph_note(n->graph,
             "%.*s `%.64s` is left out: it has no weights, and its inputs "
             "become outputs.",
             (int)n->type.length, n->type.at, n->s.at);
  ncnn_leave(n);
  return true;
}
