/*
 * Eight bits: QuantizeLinear and DequantizeLinear around operators, or a single
 * operator for both. Tensors have real values; layers and weights keep a scale
 * and a zero.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/onnx/emit.h"
#include "import/onnx/steps.h"

enum { LARGE = 1 << 22 }; /* larger values are loaded only if needed */

/* Distance between unsigned and signed 8-bit values. */
static int offset_of(int type) {
  return type == TYPE_UINT8 ? 128 : 0;
}

/* Scale and zero of the current node, from operand `at` on. */
static const struct onnx_steps *steps_at(struct onnx *x, size_t at, int type) {
  struct onnx_steps *s = ARENA_NEW(x->arena, struct onnx_steps);
  s->scale = onnx_has(x, at) ? onnx_operand(x, at)->constant : NULL;
  s->zero = onnx_has(x, at + 1) ? onnx_operand(x, at + 1)->constant : NULL;
  bool known = s->scale && constant_is_real(s->scale) &&
               (s->zero || !onnx_has(x, at + 1)) &&
               (!s->zero || s->zero->count == s->scale->count);
  if (!known || s->scale->count < 1 || !constant_load(x, s->scale) ||
      (s->zero && !constant_load(x, s->zero))) {
    onnx_fail(x, "its scale and zero point are not constants that fit");
    return NULL;
  }
  for (int64_t i = 0; i < s->scale->count; i++)
    if (!(constant_real(s->scale, i) > 0) ||
        !isfinite(constant_real(s->scale, i))) {
      onnx_fail(x, "one of its scales is not above 0");
      return NULL;
    }
  s->type = s->zero ? s->zero->type : type;
  return s;
}

static int64_t zero_of(const struct onnx_steps *s, int64_t place) {
  return s->zero ? constant_whole(s->zero, place) : 0;
}

void steps_put(struct onnx *x, const struct onnx_steps *s, const char **scale,
               const char **zero) {
  struct text scales = text_new(x->arena), zeros = text_new(x->arena);
  for (int64_t i = 0; i < s->scale->count; i++) {
    text_put(&scales, i ? " " : "");
    text_real(&scales, constant_real(s->scale, i));
    text_printf(&zeros, "%s%" PRId64, i ? " " : "",
                zero_of(s, i) - offset_of(s->type));
  }
  *scale = text_string(&scales);
  *zero = text_string(&zeros);
}

/* Constants */

/* Values next to each other with the same scale. */
static int64_t inner_of(struct onnx *x, const struct constant *c,
                        const struct onnx_steps *s) {
  int64_t inner = 1;
  if (s->scale->count == 1)
    return c->count > 0 ? c->count : 1;
  if (onnx_int(x, "block_size", 0))
    return ONNX_NONE(x, "blockwise scales are not supported");
  int axis = onnx_axis(x, onnx_int(x, "axis", 1), c->rank);
  if (axis < 0 || c->dims[axis] != s->scale->count)
    return ONNX_NONE(x, "its scales do not match an axis");
  for (int i = axis + 1; i < c->rank; i++)
    inner *= c->dims[i];
  return inner > 0 ? inner : 1;
}

/* Converts integers to reals and keeps the integers. */
static bool give_reals(struct onnx *x, struct constant *c,
                       const struct onnx_steps *s) {
  struct constant *result = constant_new(x, TYPE_FLOAT, c->rank, c->dims);
  int64_t inner = inner_of(x, c, s), places = s->scale->count;
  result->trained = c->trained;
  result->buffer = c->buffer;
  result->name = c->name;
  result->unknown = !x->options->weights && c->count > LARGE;
  if (inner < 0)
    return false;
  onnx_give_constant(x, 0, result);
  if (result->unknown)
    return true;
  if (!constant_load(x, c) || !constant_room(x, c->count))
    return false;
  float *to = constant_reals(x, c->count);
  for (int64_t i = 0; i < c->count; i++) {
    int64_t place = i / inner % places;
    to[i] = (float)(constant_real(s->scale, place) *
                    (double)(constant_whole(c, i) - zero_of(s, place)));
  }
  result->real = to;
  result->steps = s;
  result->stored = c;
  x->stored = true;
  return true;
}

/* Converts reals to integers, as a file trained in 8 bits has its weights. */
static bool give_wholes(struct onnx *x, struct constant *c,
                        const struct onnx_steps *s) {
  struct constant *result = constant_new(x, s->type, c->rank, c->dims);
  int64_t inner = inner_of(x, c, s), places = s->scale->count;
  int64_t least = s->type == TYPE_INT8 ? -128 : 0, most = least + 255;
  result->trained = c->trained;
  result->name = c->name;
  if (inner < 0 || !constant_load(x, c) || !constant_room(x, c->count))
    return false;
  int64_t *to = constant_wholes(x, c->count);
  for (int64_t i = 0; i < c->count; i++) {
    int64_t place = i / inner % places;
    double value = constant_real(c, i) / constant_real(s->scale, place);
    double whole = nearbyint(value) + (double)zero_of(s, place);
    to[i] = !(whole > (double)least) ? least
            : whole < (double)most   ? (int64_t)whole
                                     : most;
  }
  result->whole = to;
  return onnx_give_constant(x, 0, result);
}

/* Outputs of layers */

/* Stores the scale of a view's values. */
static void keep_steps(struct onnx *x, const struct onnx_view *view,
                       const struct onnx_steps *s) {
  struct graph_node *node = graph_at(x->graph, view->node);
  const char *scale, *zero;
  steps_put(x, s, &scale, &zero);
  x->quantised = true;
  if (s->type != TYPE_INT8 && s->type != TYPE_UINT8)
    x->wide = true;
  if (!node->scale) {
    node->scale = scale;
    node->zero = zero;
  } else if (strcmp(node->scale, scale) != 0 || strcmp(node->zero, zero) != 0) {
    x->graph->rescaled = true;
    graph_note(x->graph,
               "%s changes the scale of 8-bit values: the weights are written "
               "as float32, and --dtype f32 computes with them.",
               onnx_op_text(x, x->at));
  }
}

/* True if no 8-bit number is below 0: tools omit a relu then. */
static bool wants_relu(struct onnx *x, const struct onnx_view *view,
                       const struct onnx_steps *s) {
  const struct graph_node *node = graph_at(x->graph, view->node);
  static const enum layer_word words[] = {WORD_CONV, WORD_DWCONV, WORD_DECONV,
                                          WORD_FC,   WORD_LINEAR, WORD_ADD};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (node->word == words[i])
      return !node->scale && zero_of(s, 0) - offset_of(s->type) == -128;
  return false;
}

static bool pass_on(struct onnx *x, const struct onnx_steps *s) {
  const struct onnx_view *view = onnx_input(x, 0);
  if (!view)
    return false;
  if (s->scale->count != 1)
    return onnx_fail(x, "an output with one scale for each channel is not "
                        "supported");
  if (wants_relu(x, view, s)) {
    int relu = emit_one(x, "Relu", emit_input(x, 0));
    if (relu < 0)
      return false;
    view = x->values.at[relu].view;
  }
  keep_steps(x, view, s);
  return onnx_give(x, 0, view);
}

bool op_quantize(struct onnx *x) {
  struct constant *c = onnx_has(x, 0) ? onnx_operand(x, 0)->constant : NULL;
  const struct onnx_steps *s = steps_at(x, 1, TYPE_UINT8);
  if (!s)
    return false;
  if (!c)
    return pass_on(x, s);
  if (s->type != TYPE_INT8 && s->type != TYPE_UINT8)
    return onnx_fail(x, "constants that do not have 8 bits are not supported");
  return give_wholes(x, c, s);
}

bool op_dequantize(struct onnx *x) {
  struct constant *c = onnx_has(x, 0) ? onnx_operand(x, 0)->constant : NULL;
  const struct onnx_steps *s = steps_at(x, 1, c ? c->type : TYPE_UINT8);
  if (!s)
    return false;
  if (!c)
    return pass_on(x, s);
  if (constant_is_real(c) || (c->type > TYPE_INT8 && c->type != TYPE_INT32))
    return onnx_fail(x, "its number type is not supported");
  return give_reals(x, c, s);
}

/* Quantised operators */

/* The reals of operand `at`; its scale and zero follow it. */
static int reals_of(struct onnx *x, size_t at, int axis) {
  const int ins[3] = {emit_input(x, at), emit_input(x, at + 1),
                      emit_input(x, at + 2)};
  Onnx__NodeProto *node = emit_open(x, "DequantizeLinear");
  emit_int(x, node, "axis", axis);
  return emit(x, node, ins, 3);
}

/* A bias has the scale of the input times that of the weight. */
static int bias_of(struct onnx *x, size_t at) {
  struct constant *in = onnx_constant(x, 1), *weight = onnx_constant(x, 4);
  if (!in || !weight || in->count != 1 || !constant_load(x, in) ||
      !constant_load(x, weight))
    return ONNX_NONE(x, "the scales of its input and weights are not "
                        "constants that fit");
  struct constant *scale =
      constant_new(x, TYPE_FLOAT, weight->rank, weight->dims);
  float *to = constant_reals(x, weight->count);
  for (int64_t i = 0; i < weight->count; i++)
    to[i] = (float)(constant_real(in, 0) * constant_real(weight, i));
  scale->real = to;
  const int ins[2] = {emit_input(x, at), emit_constant(x, scale)};
  Onnx__NodeProto *node = emit_open(x, "DequantizeLinear");
  emit_int(x, node, "axis", 0);
  return emit(x, node, ins, 2);
}

/* Gives a value with the scale of operand `at` and the zero after it. */
static bool give_steps(struct onnx *x, int value, size_t at) {
  const int ins[3] = {value, emit_input(x, at), emit_input(x, at + 1)};
  if (value < 0)
    return false;
  return emit_give(x, 0, emit(x, emit_open(x, "QuantizeLinear"), ins, 3));
}

/* Operands with a scale and zero each, a bias, then the result's scale. */
bool op_qlinear(struct onnx *x) {
  static const struct {
    const char *type, *real;
    int operands, bias; /* bias: its index; 0: none */
    int axis;           /* of the second operand's scales */
    size_t steps;       /* index of the result's scale */
  } kinds[] = {{"QLinearConv", "Conv", 2, 8, 0, 6},
               {"QLinearMatMul", "MatMul", 2, 0, 1, 6},
               {"QGemm", "Gemm", 2, 6, 0, 7},
               {"QLinearAdd", "Add", 2, 0, 0, 6},
               {"QLinearMul", "Mul", 2, 0, 0, 6},
               {"QLinearAveragePool", "AveragePool", 1, 0, 0, 3},
               {"QLinearGlobalAveragePool", "GlobalAveragePool", 1, 0, 0, 3},
               {"QLinearLeakyRelu", "LeakyRelu", 1, 0, 0, 3},
               {"QLinearSigmoid", "Sigmoid", 1, 0, 0, 3},
               {"QLinearSoftmax", "Softmax", 1, 0, 0, 3}};
  size_t kind = 0;
  int ins[3] = {-1, -1, -1}, count;
  while (strcmp(kinds[kind].type, x->at->type) != 0)
    kind++;
  if (onnx_int(x, "channels_last", 0))
    return onnx_fail(x, "channels_last is not supported");
  int axis = kinds[kind].axis;
  if (strcmp(kinds[kind].real, "Gemm") == 0)
    axis = !onnx_int(x, "transB", 0);
  for (count = 0; count < kinds[kind].operands; count++) {
    ins[count] = reals_of(x, (size_t)count * 3, count ? axis : 0);
    if (ins[count] < 0)
      return false;
  }
  if (kinds[kind].bias && onnx_has(x, (size_t)kinds[kind].bias) &&
      (ins[count++] = bias_of(x, (size_t)kinds[kind].bias)) < 0)
    return false;
  Onnx__NodeProto *node = emit_open(x, kinds[kind].real);
  emit_same(x, node);
  return give_steps(x, emit(x, node, ins, count), kinds[kind].steps);
}

/* The result's scale and zero, then operands with theirs. */
bool op_qlinear_concat(struct onnx *x) {
  int64_t axis = onnx_int(x, "axis", 1);
  int sum = -1;
  for (size_t at = 2; at + 2 < x->at->in_count; at += 3) {
    int next = reals_of(x, at, 0);
    sum = next < 0 ? -1 : at == 2 ? next : emit_concat(x, sum, next, axis);
    if (sum < 0)
      return false;
  }
  return sum < 0 ? onnx_fail(x, "it has nothing to join")
                 : give_steps(x, sum, 0);
}

/* The end */

/* True if all matrices and kernels have 8 bits. */
static bool is_whole(struct onnx *x) {
  bool any = false;
  for (size_t i = 0; i < x->graph->nodes.count; i++) {
    const struct extra *extra = onnx_extra(x, (int)i);
    for (size_t k = 0; k < extra->weights.count; k++) {
      const struct from_weight *w = &extra->weights.at[k];
      bool matrix = w->from->rank > 1 && strcmp(w->name, "weight") == 0;
      if (matrix && !w->from->steps && !w->from->unknown)
        return false;
      any = any || matrix;
    }
  }
  return any;
}

void steps_settle(struct onnx *x) {
  if (!x->quantised && !x->stored)
    return;
  if (x->quantised && !x->wide && is_whole(x)) {
    x->graph->infer = "dtype=i8";
    return;
  }
  x->graph->rescaled = true;
  graph_note(x->graph, "%s",
             !x->quantised ? "The file's 8-bit weights are written as float32."
             : x->wide     ? "Values of more than 8 bits are read as float32."
                       : "Only some layers of the file have 8 bits: all are "
                         "read as float32.");
}
