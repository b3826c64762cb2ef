/* Translates OpenVINO operations into ONNX's, a row of ops/openvino.def for
 * each: inputs, outputs, elementwise operations and windows. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import/openvino/openvino.h"

enum { ALL = 1 << 20 };

static const struct ir_row {
  const char *name, *onnx;
  ir_op_fn *say;
  size_t uses;
} rows[] = {
#define OP(name, onnx, function, uses) {#name, onnx, function, uses},
#include "ops/openvino.def"
#undef OP
};

/* The row of an operation. A function of ops.def has the same name in ONNX. */
static struct ir_row row_of(const struct ir_layer *layer) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, layer->type) == 0)
      return rows[i];
  const struct function *function =
      function_find(IN_OPENVINO, slice_of(layer->type));
  if (function)
    return (struct ir_row){layer->type, function->names[IN_ONNX], ir_plain,
                           ALL};
  return (struct ir_row){"", "", ir_say_unknown, ALL};
}

bool openvino_type(struct graph *graph, size_t index,
                   struct import_type *type) {
  static const enum layer_word none[IMPORT_WORDS] = {WORD_NONE};
  struct import_type other;
  const size_t count = sizeof rows / sizeof *rows;
  if (index >= count)
    return import_function_type(graph, IN_OPENVINO, "%.*s", index - count,
                                type);
  import_type_set(type, rows[index].name, none);
  for (size_t i = 0; onnx_type(graph, i, &other); i++)
    if (strcmp(other.name, rows[index].onnx) == 0)
      import_type_set(type, rows[index].name, other.words);
  return true;
}

const char *ir_onnx(const struct ir_layer *layer) {
  return row_of(layer).onnx;
}

/* The bounds of constants that are rounded are their scale. */
size_t ir_uses(const struct ir_layer *layer) {
  struct ir_row row = row_of(layer);
  bool scaled = row.say == ir_rounded && layer->in.all.count == 5 &&
                ir_constant_before(&layer->in.all.at[0]);
  return scaled ? 5 : row.uses;
}

bool ir_is_true(const struct ir *ir, const char *name) {
  const char *value = ir_attribute(ir, name);
  return value && (strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

bool ir_has_word(const struct ir *ir, const char *name, const char *word) {
  const char *value = ir_attribute(ir, name);
  return value && strcasecmp(value, word) == 0;
}

/* Passes on an operation without an ONNX equivalent: ONNX's reader decides. */
bool ir_say_unknown(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = ir_node(ir, layer->type);
  node->domain = ir_copy(ir, "openvino");
  for (size_t i = 0; i < layer->in.all.count && i < ir_uses(layer); i++)
    ir_take(ir, node, ir_value(ir, layer, i));
  return ir_give(ir, layer, node);
}

/* Inputs and outputs */

bool ir_const(struct ir *ir, struct ir_layer *layer) {
  const struct ir_type *type = ir_constant_type(ir, layer);
  const char *shape = ir_attribute(ir, "shape");
  const char *offset = ir_attribute(ir, "offset");
  const char *size = ir_attribute(ir, "size");
  int64_t dims[MOST_AXES], at = -1, bytes = -1;
  int rank = ir_numbers(shape ? shape : "", dims, MOST_AXES);
  if (ir->old && layer->out.all.count == 1) {
    rank = layer->out.all.at[0].rank;
    memcpy(dims, layer->out.all.at[0].dims, sizeof dims);
  }
  if (layer->out.all.count != 1 || rank < 0 || !offset || !size ||
      ir_numbers(offset, &at, 1) != 1 || ir_numbers(size, &bytes, 1) != 1 ||
      at < 0 || bytes < 0)
    return ir_fail(ir, "it has no shape, offset or size that is supported");
  if (!type)
    return ir_fail(ir, "values of %.20s are not supported",
                   ir->old ? layer->out.all.at[0].precision
                           : ir_attribute(ir, "element_type"));
  Onnx__TensorProto *c = ir_constant(ir, layer->name, type->onnx, dims, rank);
  said_stored(&ir->s, c, ir->bin, (uint64_t)at, (uint64_t)bytes);
  layer->out.all.at[0].value = layer->name;
  return true;
}

bool ir_has_output(struct ir *ir, const struct ir_layer *layer) {
  return layer->out.all.count > 0 || ir_fail(ir, "it has no output");
}

bool ir_parameter(struct ir *ir, struct ir_layer *layer) {
  if (!ir_has_output(ir, layer))
    return false;
  struct ir_port *port = layer->out.all.at;
  port->value = layer->name;
  *VEC_PUSH(ir->arena, &ir->s.inputs) = ir_info(ir, port->value, port);
  return true;
}

static bool give_out(struct ir *ir, const struct ir_layer *layer, size_t i) {
  const char *value = ir_value(ir, layer, i);
  for (size_t k = 0; value && k < ir->s.outputs.count; k++)
    if (strcmp(ir->s.outputs.at[k]->name, value) == 0)
      return true;
  if (value)
    *VEC_PUSH(ir->arena, &ir->s.outputs) =
        ir_info(ir, value, &layer->in.all.at[i]);
  return value != NULL;
}

/* Decoding of boxes or texts has no weights: its inputs become outputs. */
bool ir_detection(struct ir *ir, struct ir_layer *layer) {
  size_t uses = ir_uses(layer);
  graph_note(ir->graph,
             uses == 1 ? "%.32s `%.64s` is left out: it has no weights."
                       : "%.32s `%.64s` and its boxes are left out: they have "
                         "no weights.",
             layer->type, layer->name);
  for (size_t i = 0; i < uses; i++)
    if (!give_out(ir, layer, i))
      return false;
  return true;
}

bool ir_result(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *port = ir_in(ir, layer, 0);
  if (port && port->from && row_of(port->from).say == ir_detection)
    return true;
  return give_out(ir, layer, 0);
}

/* Elementwise operations, joins */

bool ir_plain(struct ir *ir, struct ir_layer *layer) {
  const char *slope = ir_attribute(ir, "negative_slope");
  bool leaks = slope && strtod(slope, NULL) != 0;
  Onnx__NodeProto *node = ir_node(ir, leaks ? "LeakyRelu" : ir_onnx(layer));
  const char *axis = ir_attribute(ir, "axis");
  const char *alpha = leaks ? slope : ir_attribute(ir, "alpha");
  int64_t number = strcmp(layer->type, "SoftMax") == 0 ? 1 : -1;
  for (size_t i = 0; i < layer->in.all.count; i++)
    ir_take(ir, node, ir_value(ir, layer, i));
  if (axis)
    number = strtoll(axis, NULL, 10);
  if (axis || strstr(layer->type, "oft"))
    emit_int(&ir->s.x, node, "axis", number);
  if (alpha)
    emit_real(&ir->s.x, node, "alpha", strtod(alpha, NULL));
  if (ir_has_word(ir, "approximation_mode", "TANH") ||
      ir_has_word(ir, "approximation_mode", "tanh"))
    emit_text(&ir->s.x, node, "approximate", "tanh");
  return ir_give(ir, layer, node);
}

bool ir_clamp(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = IR_NODE(ir, "Clip", ir_value(ir, layer, 0),
                                  ir_put_real(ir, ir_attribute(ir, "min")),
                                  ir_put_real(ir, ir_attribute(ir, "max")));
  return ir_give(ir, layer, node);
}

bool ir_hsigmoid(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = IR_NODE(ir, "HardSigmoid", ir_value(ir, layer, 0));
  emit_real(&ir->s.x, node, "alpha", 1.0 / 6);
  emit_real(&ir->s.x, node, "beta", 0.5);
  return ir_give(ir, layer, node);
}

bool ir_swish(struct ir *ir, struct ir_layer *layer) {
  if (layer->in.all.count > 1)
    return ir_fail(ir, "its `beta` is not supported");
  Onnx__NodeProto *node = IR_NODE(ir, "Sigmoid", ir_value(ir, layer, 0));
  const char *gate = ir_between(ir, node);
  node = IR_NODE(ir, "Mul", ir_value(ir, layer, 0), gate);
  return ir_give(ir, layer, node);
}

/* FakeQuantize rounds values as 8 bits would. Between integers and the reals
 * that they stand for it is a line from (in low, out low) to (in high, out
 * high). */
bool ir_rounded(struct ir *ir, struct ir_layer *layer) {
  if (ir_uses(layer) == 1) {
    graph_note(ir->graph, "FakeQuantize is left out: it rounds values.");
    return ir_give_same(ir, layer);
  }
  const char *low = ir_value(ir, layer, 1), *least = ir_value(ir, layer, 3);
  const char *in =
      ir_between(ir, IR_NODE(ir, "Sub", ir_value(ir, layer, 2), low));
  const char *out =
      ir_between(ir, IR_NODE(ir, "Sub", ir_value(ir, layer, 4), least));
  const char *step = ir_between(ir, IR_NODE(ir, "Div", out, in));
  const char *value =
      ir_between(ir, IR_NODE(ir, "Sub", ir_value(ir, layer, 0), low));
  value = ir_between(ir, IR_NODE(ir, "Mul", value, step));
  return ir_give(ir, layer, IR_NODE(ir, "Add", value, least));
}

/* Reals stay reals, and integers stay integers. */
bool ir_convert(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *port = ir_in(ir, layer, 0);
  const struct ir_port *source = port ? ir_source(port) : NULL;
  const struct ir_type *from = source ? ir_type_of(source->precision) : NULL;
  const struct ir_type *to = ir_type_of(ir_attribute(ir, "destination_type"));
  if (!from || !to)
    return ir_fail(ir, "its types are not supported");
  if (from->real == to->real)
    return ir_give_same(ir, layer);
  if (to->real && from->bytes == 1 && ir_constant_before(port))
    graph_note(ir->graph, "The file's 8-bit weights are written as float32.");
  Onnx__NodeProto *node = IR_NODE(ir, "Cast", ir_value(ir, layer, 0));
  emit_int(&ir->s.x, node, "to", to->onnx);
  return ir_give(ir, layer, node);
}

const char *ir_reshaped(struct ir *ir, const char *value, const int64_t *dims,
                        int rank) {
  Onnx__NodeProto *node =
      IR_NODE(ir, "Reshape", value, ir_put_ints(ir, dims, rank));
  return ir_between(ir, node);
}

/* A slope for each channel belongs to the second axis. */
bool ir_prelu(struct ir *ir, struct ir_layer *layer) {
  int64_t dims[MOST_AXES];
  if (ir->old)
    return ir_old_prelu(ir, layer);
  const char *in = ir_value(ir, layer, 0), *slope = ir_value(ir, layer, 1);
  const struct ir_port *port = ir_in(ir, layer, 1);
  if (!in || !slope)
    return false;
  int axes = layer->in.all.at[0].rank - 1;
  for (int i = 0; i < axes; i++)
    dims[i] = i ? 1 : port->dims[0];
  if (port->rank == 1 && axes > 1)
    slope = ir_reshaped(ir, slope, dims, axes);
  Onnx__NodeProto *node = IR_NODE(ir, "PRelu", in, slope);
  return ir_give(ir, layer, node);
}

/* Windows */

/* Weights of groups are G x O x I, or G x I x O if transposed. */
static const char *join_groups(struct ir *ir, const struct ir_layer *layer,
                               int64_t *groups) {
  const struct ir_port *port = ir_in(ir, layer, 1);
  const char *value = ir_value(ir, layer, 1);
  *groups = 1;
  if (!value || strncmp(layer->type, "Group", 5) != 0)
    return value;
  if (port->rank < 4 || port->dims[0] < 1 || port->dims[1] < 1 ||
      port->dims[0] > MOST_SIZE || port->dims[1] > MOST_SIZE) {
    ir_fail(ir, "its weights have no groups");
    return NULL;
  }
  int64_t dims[MOST_AXES];
  *groups = port->dims[0];
  dims[0] = port->dims[0] * port->dims[1];
  for (int i = 2; i < port->rank; i++)
    dims[i - 1] = port->dims[i];
  return ir_reshaped(ir, value, dims, port->rank - 1);
}

static bool put_numbers(struct ir *ir, Onnx__NodeProto *node, const char *ours,
                        const char *name) {
  const char *text = ir_attribute(ir, ours);
  int64_t numbers[3];
  int count = text ? ir_numbers(text, numbers, 3) : 0;
  if (count < 0)
    return ir_fail(ir, "its `%s` are not supported", ours);
  if (count > 0)
    emit_ints(&ir->s.x, node, name, numbers, count);
  return true;
}

static bool put_pads(struct ir *ir, Onnx__NodeProto *node) {
  const char *begin = ir_attribute(ir, "pads_begin");
  const char *end = ir_attribute(ir, "pads_end");
  const char *automatic = ir_attribute(ir, "auto_pad");
  int64_t pads[6];
  if (automatic && strcmp(automatic, "same_upper") == 0)
    emit_text(&ir->s.x, node, "auto_pad", "SAME_UPPER");
  else if (automatic && strcmp(automatic, "same_lower") == 0)
    emit_text(&ir->s.x, node, "auto_pad", "SAME_LOWER");
  else if (begin && end && !(automatic && strcmp(automatic, "valid") == 0)) {
    int count = ir_numbers(begin, pads, 3);
    if (count < 0 || ir_numbers(end, pads + count, 3) != count)
      return ir_fail(ir, "its pads are not supported");
    emit_ints(&ir->s.x, node, "pads", pads, 2 * count);
  }
  return true;
}

bool ir_window(struct ir *ir, struct ir_layer *layer) {
  const char *onnx = ir_onnx(layer), *weights = NULL;
  const char *in = ir_value(ir, layer, 0);
  int64_t groups = 1;
  bool pool = strstr(onnx, "Pool"), back = strstr(onnx, "Transpose");
  if (ir_has_word(ir, "pool-method", "avg"))
    onnx = "AveragePool";
  if (!pool)
    weights = ir->old ? ir_kernel(ir, layer, &groups)
                      : join_groups(ir, layer, &groups);
  if (!ir_has_output(ir, layer) || !in || (!pool && !weights))
    return false;
  Onnx__NodeProto *node = IR_NODE(ir, onnx, in);
  if (weights)
    ir_take(ir, node, weights);
  if (ir->old && !pool && !ir_take_bias(ir, layer, node))
    return false;
  if (!pool)
    emit_int(&ir->s.x, node, "group", groups);
  if (ir_has_word(ir, "rounding_type", "ceil"))
    emit_int(&ir->s.x, node, "ceil_mode", 1);
  if (ir_has_word(ir, "exclude-pad", "false") && onnx[0] == 'A')
    emit_int(&ir->s.x, node, "count_include_pad", 1);
  const struct ir_port *out = layer->out.all.at;
  bool sized = !ir->old && back && layer->in.all.count > 2 && out->rank > 2;
  if (sized)
    emit_ints(&ir->s.x, node, "output_shape", out->dims + 2, out->rank - 2);
  return put_numbers(ir, node, "strides", "strides") &&
         (sized || put_pads(ir, node)) &&
         put_numbers(ir, node, "dilations", "dilations") &&
         (!pool || put_numbers(ir, node, "kernel", "kernel_shape")) &&
         (!back || put_numbers(ir, node, "output_padding", "output_padding")) &&
         ir_give(ir, layer, node);
}

bool ir_say(struct ir *ir, struct ir_layer *layer) {
  ir->at = layer;
  return row_of(layer).say(ir, layer) && !ir->graph->failed;
}
