/* Concat and Pad. */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/op_moves.h"

/* Joins. */

static const struct onnx_view *any_view(struct onnx *x) {
  for (size_t i = 0; i < x->at->in_count; i++)
    if (onnx_has(x, i) && onnx_operand(x, i)->view)
      return onnx_operand(x, i)->view;
  return NULL;
}

/* An operand with its axes in this order; a constant becomes a weight. */
static int in_order(struct onnx *x, size_t index,
                    const struct onnx_axes *axes) {
  struct onnx_view result;
  if (!onnx_has(x, index))
    return ONNX_NONE(x, "input %zu is missing", index);
  struct constant *c = onnx_constant(x, index);
  if (!c) {
    if (!view_rearrange(x, onnx_operand(x, index)->view, axes->order,
                        axes->count, &result))
      return -1;
    return result.node;
  }
  struct onnx_layout dense = layout_dense(c->rank, c->dims);
  struct onnx_layout at = layout_order(&dense, axes->count, axes->order);
  if (layout_values(&at) != c->count)
    return ONNX_NONE(x, "it joins a constant with a batch");
  return onnx_weight(x, constant_through(x, c, &at))->index;
}

static bool same_rank(struct onnx *x, int rank) {
  for (size_t i = 0; i < x->at->in_count; i++) {
    const struct onnx_value *v = onnx_has(x, i) ? onnx_operand(x, i) : NULL;
    int other = !v ? -1 : v->view ? v->view->at.rank : v->constant->rank;
    if (other != rank)
      return onnx_fail(x, "input %zu has a different number of axes", i);
  }
  return true;
}

/* Two parts of an axis in exchanged order are a roll of the map. */
static int roll_of(struct onnx *x, const int *parts, size_t count, int axis) {
  if (count != 2)
    return -1;
  const struct graph_node *a = graph_at(x->graph, parts[0]),
                          *b = graph_at(x->graph, parts[1]);
  if (a->word != WORD_SLICE || b->word != WORD_SLICE ||
      a->inputs.at[0] != b->inputs.at[0])
    return -1;
  const struct extra *first = onnx_extra(x, parts[0]);
  const struct extra *second = onnx_extra(x, parts[1]);
  const struct graph_node *in = graph_at(x->graph, a->inputs.at[0]);
  const struct graph_shape *whole = graph_shape(x->graph, in->index);
  int64_t shift = -first->from, shifts[LIMIT_RANK] = {0};
  int axes = whole->rank - 1, node = a->inputs.at[0];
  if (first->axis != axis || second->axis != axis || second->from != 0 ||
      axis >= axes || axes > 3 ||
      graph_shape(x->graph, b->index)->size[axis] != first->from ||
      first->from + graph_shape(x->graph, a->index)->size[axis] !=
          whole->size[axis])
    return -1;
  if (-shift > whole->size[axis] / 2)
    shift += whole->size[axis];
  if (in->word == WORD_ROLL) { /* of another axis: one roll for both */
    for (int i = 0; i < axes; i++)
      shifts[i] = onnx_extra(x, node)->shifts[i];
    if (shifts[axis] == 0)
      node = in->inputs.at[0];
    else
      memset(shifts, 0, sizeof shifts);
  }
  shifts[axis] = shift;
  struct graph_node *roll = onnx_layer(x, WORD_ROLL, node);
  bool even = true;
  struct text text = text_new(x->arena);
  for (int i = 0; i < axes; i++) {
    onnx_extra(x, roll->index)->shifts[i] = shifts[i];
    even = even && shifts[i] == shifts[0];
    text_printf(&text, "%s%" PRId64, i ? " x " : "", shifts[i]);
  }
  graph_arg(x->graph, roll, PART_NONE, "",
            even ? graph_text(x->graph, "%" PRId64, shifts[0])
                 : text_string(&text));
  return roll->index;
}

/* DenseNet joins all earlier maps again for each layer. An earlier join
 * replaces its operands. */
static void shorten(struct onnx *x, int **operands, size_t *count, int axis) {
  enum { FAR = 2000 };
  size_t end = x->graph->nodes.count, far = end > FAR ? end - FAR : 0;
  for (size_t i = end; i-- > far && *count > 2;) {
    const struct graph_node *node = x->graph->nodes.at[i];
    size_t first = node->inputs.count;
    if (node->word != WORD_CONCAT || first >= *count || first < 1 ||
        onnx_extra(x, (int)i)->axis != axis)
      continue;
    int left = onnx_extra(x, (int)i)->parts;
    if (left < 2 || left >= (int)*count)
      continue;
    bool same = true;
    const int *parts = onnx_extra(x, (int)i)->joined;
    for (int k = 0; k < left && same; k++)
      same = parts[k] == (*operands)[k];
    if (!same)
      continue;
    (*operands) += left - 1;
    (*operands)[0] = (int)i;
    *count -= (size_t)left - 1;
    return;
  }
}

/* True for an empty constant, as of past keys. */
static bool is_empty(struct onnx *x, size_t index) {
  const struct constant *c =
      onnx_has(x, index) ? onnx_constant(x, index) : NULL;
  return c && c->count == 0;
}

/* The only operand that is not empty; NULL if there are more. */
static const struct onnx_view *only_one(struct onnx *x) {
  const struct onnx_view *only = NULL;
  for (size_t i = 0; i < x->at->in_count; i++) {
    if (is_empty(x, i))
      continue;
    if (only || !onnx_operand(x, i)->view)
      return NULL;
    only = onnx_operand(x, i)->view;
  }
  return only;
}

/* Gives a node with an operand's axes; `axis` has the size of all parts. */
static bool give_rolled(struct onnx *x, int node, const struct onnx_view *first,
                        int axis, const struct onnx_axes *axes) {
  int64_t dims[MOST_AXES];
  memcpy(dims, first->at.dim, sizeof dims);
  dims[axis] = 0;
  for (size_t i = 0; i < x->at->in_count; i++)
    if (!is_empty(x, i))
      dims[axis] += onnx_operand(x, i)->view->at.dim[axis];
  return onnx_give_fresh(x, node, first->at.rank, dims, axes);
}

bool op_concat(struct onnx *x) {
  const struct onnx_view *first = any_view(x);
  struct onnx_axes axes;
  int64_t dims[MOST_AXES];
  if (!first || !same_rank(x, first->at.rank))
    return onnx_fail(x, "it has no inputs");
  int axis = onnx_concat_axis(x, first->at.rank);
  if (axis < 0)
    return false;
  if (only_one(x))
    return onnx_give(x, 0, only_one(x));
  if (axis == x->batch_axis && x->batch > 1)
    return onnx_fail(x, "samples of a batch cannot be joined");
  if (!axes_of(x, first, &axes) || axes_place(&axes, axis) < 0)
    axes_near(x, first, axis, &axes);
  int place = axes_place(&axes, axis);
  struct graph_node *join = NULL;
  VEC(int) operands = {0};
  memcpy(dims, first->at.dim, sizeof dims);
  dims[axis] = 0;
  for (size_t i = 0; i < x->at->in_count; i++) {
    int node = is_empty(x, i) ? 0 : in_order(x, i, &axes);
    if (node < 0)
      return false;
    if (is_empty(x, i))
      continue;
    *VEC_PUSH(x->arena, &operands) = node;
  }
  int rolled = roll_of(x, operands.at, operands.count, place);
  if (rolled >= 0)
    return give_rolled(x, rolled, first, axis, &axes);
  size_t parts = operands.count;
  int *joined = arena_alloc(x->arena, parts, sizeof *joined);
  memcpy(joined, operands.at, parts * sizeof *joined);
  shorten(x, &operands.at, &operands.count, place);
  join = graph_join(x->graph, WORD_CONCAT);
  onnx_extra(x, join->index)->axis = place;
  onnx_extra(x, join->index)->joined = joined;
  onnx_extra(x, join->index)->parts = (int)parts;
  for (size_t i = 0; i < operands.count; i++)
    graph_operand(x->graph, join, operands.at[i]);
  move_put_axis(x, join, place);
  dims[axis] = graph_shape(x->graph, join->index)->size[place];
  return onnx_give_fresh(x, join->index, first->at.rank, dims, &axes);
}

/* Borders. */

/* Notes a border of zeros, which a convolution can take as its padding. */
static void keep_borders(struct onnx *x, const struct graph_node *node,
                         const int64_t *before, const int64_t *after,
                         bool zeros) {
  struct extra *extra = onnx_extra(x, node->index);
  int last = graph_shape(x->graph, node->inputs.at[0])->rank - 1;
  extra->borders = zeros && last <= 3 && !before[last] && !after[last];
  memcpy(extra->before, before, sizeof extra->before);
  memcpy(extra->after, after, sizeof extra->after);
}

static bool are_zero(const int64_t *pads, int count) {
  for (int i = 0; i < count; i++)
    if (pads[i] != 0)
      return false;
  return true;
}

static bool is_border(struct onnx *x, int64_t size) {
  if (size > MOST_SIZE)
    return onnx_fail(x, "its border is larger than %d", MOST_SIZE);
  return size >= 0 ||
         onnx_fail(x, "netc has no equivalent of negative borders");
}

/* netc's word for `mode`; NULL for zeros. */
static bool read_mode(struct onnx *x, const char **word) {
  struct constant *value = onnx_constant(x, 2);
  bool reflect = onnx_is(x, "mode", "reflect", false);
  bool edge = onnx_is(x, "mode", "edge", false);
  bool wrap = onnx_is(x, "mode", "wrap", false); /* opset 19 */
  bool plain = onnx_is(x, "mode", "constant", true);
  double with = 0;
  if (value && !constant_is_even(x, value, &with))
    return onnx_fail(x, "the fill value must be a single number");
  if (!value && onnx_attribute(x, "value"))
    with = onnx_real(x, "value", 0);
  if ((!reflect && !edge && !wrap && !plain) || (plain && with != 0))
    return onnx_fail(x,
                     "only zeros, `reflect`, `edge` and `wrap` are supported");
  *word = plain ? NULL : edge ? "replicate" : wrap ? "circular" : "reflect";
  return true;
}

/* Borders by axis of the node, and the padded sizes by axis of the file. */
struct borders {
  int64_t before[LIMIT_RANK], after[LIMIT_RANK], dims[MOST_AXES];
};

static bool read_borders(struct onnx *x, const struct onnx_view *part,
                         const struct onnx_axes *axes, const int64_t *pads,
                         struct borders *b) {
  int rank = part->at.rank;
  *b = (struct borders){.before = {0}};
  for (int i = 0; i < rank; i++) {
    int place = axes_place(axes, i);
    if (!is_border(x, pads[i]) || !is_border(x, pads[rank + i]))
      return false;
    b->dims[i] = part->at.dim[i] + pads[i] + pads[rank + i];
    if (place < 0 && b->dims[i] != part->at.dim[i])
      return onnx_fail(x, "padding the batch axis is not supported");
    if (place >= 0) {
      b->before[place] = pads[i];
      b->after[place] = pads[rank + i];
    }
  }
  return true;
}

static struct graph_node *pad_node(struct onnx *x, int in,
                                   const struct borders *b, const char *mode) {
  struct graph_node *node = onnx_layer(x, WORD_PAD, in);
  int last = graph_shape(x->graph, in)->rank - 1;
  graph_arg(x->graph, node, PART_PADDING, "",
            graph_sides(x->graph, b->before, b->after, last));
  if (mode)
    graph_flag(x->graph, node, mode);
  if (b->before[last] || b->after[last])
    graph_arg(x->graph, node, PART_NONE, "c=",
              graph_text(x->graph, "%" PRId64 ":%" PRId64, b->before[last],
                         b->after[last]));
  keep_borders(x, node, b->before, b->after, !mode);
  return node;
}

/* True if the last axis is padded otherwise than channels can be. */
static bool pads_as_positions(const struct onnx *x, int in,
                              const struct borders *b, const char *mode) {
  int last = graph_shape(x->graph, in)->rank - 1;
  return last == 0 || (mode && (b->before[last] || b->after[last]));
}

/* Pads all axes as positions of one channel. The view is that of a node without
 * this channel. */
static bool pad_positions(struct onnx *x, const struct onnx_view *part,
                          const struct onnx_axes *axes, struct borders *b,
                          const char *mode) {
  struct graph_shape shape = *graph_shape(x->graph, part->node);
  int64_t strides[LAYOUT_RANK], stride = 1;
  if (shape.rank > 3)
    return onnx_fail(x, "only zeros can pad channels, not `%s`", mode);
  shape.size[shape.rank++] = 1;
  b->before[shape.rank - 1] = b->after[shape.rank - 1] = 0;
  int map = graph_reshape(x->graph, part->node, &shape);
  struct graph_node *node = pad_node(x, map, b, mode);
  for (int i = 0; i < part->at.rank; i++)
    strides[i] = onnx_values(x, node->index); /* the batch, or size 1 */
  for (int i = axes->count; i-- > 0; stride *= b->dims[axes->order[i]])
    strides[axes->order[i]] = stride;
  struct onnx_view view = {node->index,
                           layout_of(part->at.rank, b->dims, strides, 0)};
  return onnx_give(x, 0, &view);
}

/* Expands `pads` of the named axes to all axes. */
static int spread_pads(struct onnx *x, int rank, int64_t *pads, int count) {
  int64_t axes[MOST_AXES], all[MOST_AXES * 2] = {0};
  int named = onnx_numbers(x, 3, "axes", axes, MOST_AXES);
  if (named < 0 || count != named * 2)
    return -1;
  for (int i = 0; i < named; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank)
      return -1;
    all[axis] = pads[i];
    all[axis + rank] = pads[named + i];
  }
  memcpy(pads, all, sizeof all);
  return rank * 2;
}

bool op_pad(struct onnx *x, const struct onnx_view *in) {
  int64_t pads[MOST_AXES * 2];
  struct onnx_axes axes;
  struct onnx_view part;
  struct borders borders;
  const char *mode = NULL;
  int count = onnx_numbers(x, 1, "pads", pads, MOST_AXES * 2);
  if (in && count >= 0 && onnx_has(x, 3))
    count = spread_pads(x, in->at.rank, pads, count);
  if (count != in->at.rank * 2)
    return onnx_fail(x, "its sizes depend on the inputs");
  if (!read_mode(x, &mode))
    return false;
  if (are_zero(pads, count))
    return op_identity(x);
  part = *in;
  if (!axes_of(x, in, &axes)) {
    axes_near(x, in, -1, &axes);
    if (!view_rearrange(x, in, axes.order, axes.count, &part))
      return false;
  }
  if (!read_borders(x, &part, &axes, pads, &borders))
    return false;
  if (pads_as_positions(x, part.node, &borders, mode))
    return pad_positions(x, &part, &axes, &borders, mode);
  const struct graph_node *node = pad_node(x, part.node, &borders, mode);
  return onnx_give_fresh(x, node->index, part.at.rank, borders.dims, &axes);
}
