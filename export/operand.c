/* Operands of operations, and the order of their axes. */
#include "base/check.h"
#include "export/export.h"

enum { IMPOSSIBLE = 1 << 20 };

bool onnx_constant_size(struct exporting *x, int rank, const int64_t *dims,
                        int64_t *values) {
  const int64_t most = (int64_t)1 << 26;
  *values = 1;
  for (int i = 0; i < rank; i++)
    if (!mul_i64(*values, dims[i], values) || *values > most)
      return onnx_refuse(x,
                         "it would need a constant of more than 2^26 values") !=
             NO_VALUE;
  return true;
}

/* A weight computed from `weight_v` and others is named `weight`. */
static const char *weight_name(struct exporting *x,
                               const struct netc_tensor *tensor,
                               const char *name) {
  const char *dot = strrchr(name, '.');
  const char *end = strstr(dot ? dot : name, "weight_");
  return tensor->computed != NETC_AS_STORED && end
             ? arena_copy(x->arena, name, (size_t)(end - name) + 6)
             : onnx_keep(x, name);
}

/* A tensor in the file, with the axes in netc's order. */
static struct view weight_view(struct exporting *x, int64_t number,
                               const struct onnx_layout *at) {
  struct netc_tensor tensor = {.size = sizeof tensor};
  struct netc_weight weight = {.size = sizeof weight};
  netc_tensor(x->netc, (size_t)number, &tensor);
  netc_weight(x->netc, (size_t)tensor.weight, &weight);
  struct onnx_block *block = &x->weights[tensor.weight];
  struct onnx_layout lies =
      layout_of(tensor.rank, tensor.dims, tensor.strides, tensor.first);
  struct view view = {.of = block};
  if (block->seen.count == 0) {
    value_id value = model_value(&x->model, FROM_CONSTANT,
                                 weight_name(x, &tensor, weight.name),
                                 ELEMENT_FLOAT, weight.rank, weight.dims);
    x->model.values.at[value].weight = tensor.weight;
    struct onnx_layout stored = layout_dense(weight.rank, weight.dims);
    onnx_show(x, block, value, &stored, true);
  }
  if (!layout_through(&lies, at, &view.at))
    onnx_refuse(x, "the layout of its weights has no axes");
  return view;
}

struct view onnx_operand_view(struct exporting *x,
                              const struct netc_operand *operand) {
  struct onnx_layout at =
      layout_of(operand->rank, operand->dims, operand->strides, operand->first);
  if (operand->tensor >= 0)
    return weight_view(x, operand->tensor, &at);
  return (struct view){&x->blocks[operand->block], at};
}

struct view onnx_in(struct exporting *x, size_t in) {
  return onnx_operand_view(x, &x->op.ins[in]);
}

struct onnx_layout onnx_out(const struct exporting *x, size_t out) {
  return layout_dense(x->op.outs[out].rank, x->op.outs[out].dims);
}

struct view onnx_map_in(struct exporting *x, size_t in) {
  struct view view = onnx_in(x, in);
  view.at = layout_channels_first(&view.at);
  return view;
}

struct onnx_layout onnx_map_out(const struct exporting *x) {
  struct onnx_layout at = onnx_out(x, 0);
  return layout_channels_first(&at);
}

value_id onnx_typed(struct exporting *x, value_id value,
                    enum onnx_element type) {
  if (value != NO_VALUE)
    x->model.values.at[value].type = type;
  return value;
}

value_id onnx_reshaped(struct exporting *x, value_id value,
                       const struct onnx_layout *at) {
  return NODE(x, "Reshape", at, value,
              model_numbers(&x->model, at->dim, at->rank));
}

value_id onnx_node(struct exporting *x, const char *op,
                   const struct onnx_layout *at, const value_id *ins,
                   size_t in_count) {
  enum onnx_element type = ELEMENT_BOOL;
  if (x->why)
    return NO_VALUE;
  for (size_t i = 0; i < in_count && type == ELEMENT_BOOL; i++)
    if (ins[i] != NO_VALUE && model_at(&x->model, ins[i])->data == NULL)
      type = model_at(&x->model, ins[i])->type;
  return model_node(&x->model, op, type == ELEMENT_BOOL ? ELEMENT_FLOAT : type,
                    at->rank, at->dim, ins, in_count);
}

/* The last value has the layer's name, earlier ones that of their part. */
static void name_result(struct exporting *x, value_id value) {
  if ((size_t)value >= x->first_value)
    x->model.values.at[value].name = x->model.scope;
}

void onnx_put(struct exporting *x, size_t out, value_id value,
              const struct onnx_layout *at) {
  struct view view = onnx_operand_view(x, &x->op.outs[out]);
  struct onnx_layout made;
  if (!layout_through(&view.at, at, &made))
    onnx_refuse(x, "the layout of its output has no axes");
  onnx_show(x, view.of, value, &made, true);
  name_result(x, value);
}

bool onnx_put_first(struct exporting *x, value_id value,
                    const struct onnx_layout *at) {
  if (!x->why)
    onnx_put(x, 0, value, at);
  return !x->why;
}

/* Orders of axes */

struct onnx_layout order_apply(const struct onnx_order *order,
                               const struct onnx_layout *at) {
  return layout_order(at, order->rank, order->axis);
}

int order_place(const struct onnx_order *order, int axis) {
  int place = 0;
  while (order->axis[place] != axis)
    place++;
  return place;
}

static struct onnx_order natural_order(int rank) {
  struct onnx_order order = {.rank = rank};
  for (int i = 0; i < rank; i++)
    order.axis[i] = i;
  return order;
}

static struct onnx_order channels_first(int rank) {
  struct onnx_order order = {.rank = rank};
  for (int i = 0; i < rank; i++)
    order.axis[i] = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
  return order;
}

/* The order of a tensor's axes; axes of size 1 follow the one before. */
static bool order_of(const struct view *view, const struct onnx_rendering *seen,
                     struct onnx_order *order) {
  struct onnx_layout at, dense = layout_dense(view->at.rank, view->at.dim);
  bool used[LAYOUT_RANK] = {false};
  *order = (struct onnx_order){.rank = view->at.rank};
  int made = 0;
  if (!seen->whole || !layout_seen(&view->at, seen->at, &at))
    return false;
  for (int i = 0; i < view->at.rank && view->at.dim[i] == 1; i++) {
    order->axis[made++] = i;
    used[i] = true;
  }
  for (int i = 0; i < at.count; i++)
    for (int k = 0; k < dense.count; k++) {
      const struct onnx_atom *atom = &dense.atom[k];
      if (atom->size != at.atom[i].size || atom->stride != at.atom[i].stride)
        continue;
      int axis = atom->axis;
      do {
        order->axis[made++] = axis;
        used[axis++] = true;
      } while (axis < dense.rank && dense.dim[axis] == 1 && !used[axis]);
    }
  return made == order->rank;
}

static int64_t order_cost(struct exporting *x, const struct view *views,
                          size_t count, const struct onnx_order *order) {
  int64_t cost = 0;
  for (size_t i = 0; i < count; i++) {
    struct view view = {views[i].of, order_apply(order, &views[i].at)};
    cost += onnx_get_cost(x, &view);
  }
  return cost;
}

static void consider(struct exporting *x, const struct view *views,
                     size_t count, const struct onnx_order *order,
                     struct onnx_order *best, int64_t *least) {
  int64_t cost = order_cost(x, views, count, order);
  if (cost < *least) {
    *best = *order;
    *least = cost;
  }
}

enum { MOST_TRIED = 4 }; /* operands whose order is tried */

struct onnx_order onnx_choose_order(struct exporting *x,
                                    const struct view *views, size_t count) {
  int rank = views[0].at.rank;
  struct onnx_order best = natural_order(rank), other;
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < count && i < MOST_TRIED; i++)
    for (size_t k = 0; k < views[i].of->seen.count; k++)
      if (order_of(&views[i], &views[i].of->seen.at[k], &other))
        consider(x, views, count, &other, &best, &least);
  other = natural_order(rank);
  consider(x, views, count, &other, &best, &least);
  if (rank > 2) {
    other = channels_first(rank);
    consider(x, views, count, &other, &best, &least);
  }
  return best;
}

/* Arbitrary common axes */

static int64_t layout_cost(struct exporting *x, const struct view *views,
                           size_t count, const struct onnx_layout *at) {
  int64_t cost = 0;
  for (size_t i = 0; i < count; i++) {
    struct view view = {.of = views[i].of};
    if (!layout_through(&views[i].at, at, &view.at))
      return IMPOSSIBLE;
    cost += onnx_get_cost(x, &view);
  }
  return cost;
}

static void weigh(struct exporting *x, const struct view *views, size_t count,
                  const struct onnx_layout *at, struct onnx_layout *best,
                  int64_t *least) {
  int64_t cost = layout_cost(x, views, count, at);
  if (cost < *least) {
    *best = *at;
    *least = cost;
  }
}

struct onnx_layout onnx_choose_layout(struct exporting *x,
                                      const struct view *views, size_t count) {
  struct onnx_layout dense = layout_dense(views[0].at.rank, views[0].at.dim);
  struct onnx_layout best = dense, at;
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < count; i++)
    onnx_settle(x, &views[i]);
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < views[i].of->seen.count; k++) {
      const struct onnx_rendering *seen = &views[i].of->seen.at[k];
      if (seen->whole && layout_seen(&views[i].at, seen->at, &at))
        weigh(x, views, count, &at, &best, &least);
    }
  weigh(x, views, count, &dense, &best, &least);
  if (dense.rank > 2) {
    at = layout_channels_first(&dense);
    weigh(x, views, count, &at, &best, &least);
  }
  return best;
}
