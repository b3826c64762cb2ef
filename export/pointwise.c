/* ONNX forms of pointwise functions, and of functions along the last axis. */
#include <math.h>
#include <string.h>

#include "export/export.h"
#include "ops/function.h"

/* The first input with its cheapest axes. */
static value_id get_input(struct exporting *x, struct onnx_layout *at) {
  struct view view = onnx_in(x, 0), as = {.of = view.of};
  *at = onnx_choose_layout(x, &view, 1);
  if (!layout_through(&view.at, at, &as.at))
    return onnx_refuse(x, "the layout of its input has no axes");
  return onnx_get_spread(x, &as);
}

static const char *operator_of(const struct exporting *x) {
  return onnx_form_find(x->op.code)->nodes;
}

static bool unary(struct exporting *x) {
  struct onnx_layout at;
  value_id in = get_input(x, &at);
  return onnx_put_first(x, NODE(x, operator_of(x), &at, in), &at);
}

/* Adds an operator of the steps from `in` to `y`. */
static value_id add_step(struct exporting *x, struct slice op,
                         const struct onnx_layout *at, value_id in,
                         value_id y) {
  if (slice_is(op, "Mul"))
    return NODE(x, "Mul", at, in, y);
  if (slice_is(op, "Clip")) /* of relu6 */
    return NODE(x, "Clip", at, y, model_scalar(&x->model, 0),
                model_scalar(&x->model, 6));
  y = NODE(x, arena_copy(x->arena, op.at, op.length), at, y);
  if (slice_is(op, "HardSigmoid")) { /* relu6(x + 3) / 6 */
    model_real(&x->model, "alpha", 1.0 / 6);
    model_real(&x->model, "beta", 0.5);
  }
  return y;
}

/* A function of ops.def: its operator, or the equivalent steps. */
bool onnx_function(struct exporting *x) {
  const struct function *function = function_at(0);
  for (size_t i = 0; strcmp(function->opcode, x->op.code) != 0; i++)
    function = function_at(i);
  const char *own = function->names[IN_ONNX], *at = function->steps;
  struct onnx_layout layout;
  value_id in = get_input(x, &layout), y = in;
  if (own && x->model.opset >= function->since)
    at = own;
  for (struct slice op; *at; at += op.length + (at[op.length] == ' ')) {
    op = (struct slice){at, strcspn(at, " ")};
    y = add_step(x, op, &layout, in, y);
  }
  return onnx_put_first(x, y, &layout);
}

bool onnx_slope(struct exporting *x) {
  bool done = unary(x);
  if (done)
    model_real(&x->model, "alpha", x->op.reals[0]);
  return done;
}

/* alpha elu(x / alpha), written out before opset 12. */
bool onnx_celu(struct exporting *x) {
  struct onnx_layout at;
  value_id in = get_input(x, &at), y;
  if (x->model.opset >= 12) {
    y = NODE(x, "Celu", &at, in);
    model_real(&x->model, "alpha", x->op.reals[0]);
    return onnx_put_first(x, y, &at);
  }
  value_id alpha = model_scalar(&x->model, x->op.reals[0]);
  y = NODE(x, "Elu", &at, NODE(x, "Div", &at, in, alpha));
  return onnx_put_first(x, NODE(x, "Mul", &at, y, alpha), &at);
}

static bool clip(struct exporting *x, double least, double most) {
  struct onnx_layout at;
  value_id in = get_input(x, &at);
  value_id low = model_scalar(&x->model, least);
  value_id high = model_scalar(&x->model, most);
  return onnx_put_first(x, NODE(x, "Clip", &at, in, low, high), &at);
}

bool onnx_hardtanh(struct exporting *x) {
  return clip(x, x->op.reals[0], x->op.reals[1]);
}

/* A function of a value and a constant. */
bool onnx_scalar(struct exporting *x) {
  struct onnx_layout at;
  value_id in = get_input(x, &at);
  value_id number = model_scalar(&x->model, x->op.reals[0]);
  return onnx_put_first(x, NODE(x, operator_of(x), &at, in, number), &at);
}

/* The first half of the channels times the sigmoid of the second. */
bool onnx_glu(struct exporting *x) {
  struct view half[2] = {onnx_in(x, 0), onnx_in(x, 0)};
  struct onnx_layout at = onnx_out(x, 0);
  int last = at.rank - 1;
  for (int i = 0; i < 2; i++)
    if (!layout_slice(&half[i].at, last, i * at.dim[last], at.dim[last]))
      return onnx_refuse(x, "cannot identify its halves") != NO_VALUE;
  struct onnx_order order = onnx_choose_order(x, half, 2);
  at = order_apply(&order, &at);
  half[0].at = order_apply(&order, &half[0].at);
  half[1].at = order_apply(&order, &half[1].at);
  value_id a = onnx_get_spread(x, &half[0]), b = onnx_get_spread(x, &half[1]);
  b = NODE(x, "Sigmoid", &at, b);
  return onnx_put_first(x, NODE(x, "Mul", &at, a, b), &at);
}

/* A single operator from opset 20 on. */
static bool one_gelu(struct exporting *x, const char *approximate) {
  struct onnx_layout at;
  value_id in = get_input(x, &at);
  value_id y = NODE(x, "Gelu", &at, in);
  model_text(&x->model, "approximate", approximate);
  return onnx_put_first(x, y, &at);
}

/* x Phi(x) = x (1 + erf(x / sqrt 2)) / 2 */
bool onnx_gelu(struct exporting *x) {
  struct onnx_layout at;
  if (x->model.opset >= 20)
    return one_gelu(x, "none");
  value_id in = get_input(x, &at);
  value_id y = NODE(x, "Div", &at, in, model_scalar(&x->model, sqrt(2)));
  y = NODE(x, "Erf", &at, y);
  y = NODE(x, "Add", &at, y, model_scalar(&x->model, 1));
  y = NODE(x, "Mul", &at, in, y);
  y = NODE(x, "Mul", &at, y, model_scalar(&x->model, 0.5));
  return onnx_put_first(x, y, &at);
}

/* x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 */
bool onnx_gelutanh(struct exporting *x) {
  struct onnx_layout at;
  if (x->model.opset >= 20)
    return one_gelu(x, "tanh");
  value_id in = get_input(x, &at);
  value_id y = NODE(x, "Mul", &at, in, in);
  y = NODE(x, "Mul", &at, y, in);
  y = NODE(x, "Mul", &at, y, model_scalar(&x->model, 0.044715));
  y = NODE(x, "Add", &at, in, y);
  y = NODE(x, "Mul", &at, y, model_scalar(&x->model, sqrt(2 / acos(-1))));
  y = NODE(x, "Tanh", &at, y);
  y = NODE(x, "Add", &at, y, model_scalar(&x->model, 1));
  y = NODE(x, "Mul", &at, in, y);
  y = NODE(x, "Mul", &at, y, model_scalar(&x->model, 0.5));
  return onnx_put_first(x, y, &at);
}

/* Before opset 13 Softmax flattens all axes from `axis` on. */
bool onnx_softmax(struct exporting *x) {
  struct view view = onnx_in(x, 0);
  struct onnx_layout at = onnx_out(x, 0);
  int last = at.rank - 1;
  struct onnx_order order = {.rank = at.rank};
  for (int i = 0; i < at.rank; i++)
    order.axis[i] = i;
  if (x->model.opset >= 13)
    order = onnx_choose_order(x, &view, 1);
  at = order_apply(&order, &at);
  view.at = order_apply(&order, &view.at);
  value_id in = onnx_get_spread(x, &view);
  value_id y = NODE(x, operator_of(x), &at, in);
  model_int(&x->model, "axis", order_place(&order, last));
  return onnx_put_first(x, y, &at);
}

bool onnx_copy(struct exporting *x) {
  struct onnx_layout at;
  return onnx_put_first(x, get_input(x, &at), &at);
}

/* A slope for each channel, Cx1x1 with channels first; or one for all. */
bool onnx_prelu(struct exporting *x) {
  struct view view = onnx_in(x, 0), slope = onnx_in(x, 1);
  struct onnx_layout at = onnx_out(x, 0);
  int last = at.rank - 1;
  struct onnx_order order = onnx_choose_order(x, &view, 1);
  at = order_apply(&order, &at);
  view.at = order_apply(&order, &view.at);
  for (int i = order_place(&order, last); i < last; i++)
    layout_insert(&slope.at, slope.at.rank);
  value_id in = onnx_get_spread(x, &view), by = onnx_get(x, &slope);
  return onnx_put_first(x, NODE(x, "PRelu", &at, in, by), &at);
}

/* True if each axis has its full size in one of both views. */
static bool covers(const struct onnx_layout *at, const struct view *views) {
  int64_t a[LAYOUT_RANK], b[LAYOUT_RANK];
  view_sizes(&views[0], a);
  view_sizes(&views[1], b);
  for (int i = 0; i < at->rank; i++)
    if (a[i] != at->dim[i] && b[i] != at->dim[i])
      return false;
  return true;
}

/* A weight without axes, which ONNX broadcasts as it is. */
static value_id point_of(const struct view *view) {
  const struct onnx_rendering *made = view->of->seen.at;
  return view->of->seen.count && made->at->rank == 0 ? made->value : NO_VALUE;
}

bool onnx_binary(struct exporting *x) {
  struct view views[2] = {onnx_in(x, 0), onnx_in(x, 1)};
  struct onnx_layout at = onnx_choose_layout(x, views, 2), as;
  for (int i = 0; i < 2; i++) {
    if (!layout_through(&views[i].at, &at, &as))
      return onnx_refuse(x, "the layouts of its inputs have no common axes") !=
             NO_VALUE;
    views[i].at = as;
  }
  value_id a = point_of(&views[0]), b = point_of(&views[1]);
  bool points =
      a != NO_VALUE && b != NO_VALUE; /* the sum of both has no axes */
  if (a == NO_VALUE || points)
    a = covers(&at, views) && !view_mixes(&views[0])
            ? onnx_get(x, &views[0])
            : onnx_get_spread(x, &views[0]);
  if (b == NO_VALUE || points)
    b = view_mixes(&views[1]) ? onnx_get_spread(x, &views[1])
                              : onnx_get(x, &views[1]);
  return onnx_put_first(x, NODE(x, operator_of(x), &at, a, b), &at);
}
