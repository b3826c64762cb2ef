/* Translates OpenVINO operations that change shapes into ONNX's: products,
 * parts, reductions and resizes. */
#include <stdlib.h>
#include <string.h>

#include "import/openvino/openvino.h"

/* Products */

static const char *turned(struct ir *ir, const struct ir_layer *layer, size_t i,
                          const char *attribute) {
  const struct ir_port *port = ir_in(ir, layer, i);
  const char *value = ir_value(ir, layer, i);
  int64_t perm[MOST_AXES];
  if (!value || !ir_is_true(ir, attribute) || port->rank < 2)
    return value;
  for (int k = 0; k < port->rank; k++)
    perm[k] = k;
  perm[port->rank - 1] = port->rank - 2;
  perm[port->rank - 2] = port->rank - 1;
  Onnx__NodeProto *node = IR_NODE(ir, "Transpose", value);
  emit_ints(&ir->s.x, node, "perm", perm, port->rank);
  return ir_between(ir, node);
}

bool ir_matmul(struct ir *ir, struct ir_layer *layer) {
  const char *a = turned(ir, layer, 0, "transpose_a");
  const char *b = turned(ir, layer, 1, "transpose_b");
  Onnx__NodeProto *node = IR_NODE(ir, "MatMul", a, b);
  return ir_give(ir, layer, node);
}

/* Shapes */

bool ir_shaped(struct ir *ir, struct ir_layer *layer) {
  if (!ir_has_output(ir, layer))
    return false;
  const char *value = ir_value(ir, layer, 0), *shape = ir_put_shape(ir, layer);
  Onnx__NodeProto *node = IR_NODE(ir, ir_onnx(layer), value, shape);
  return ir_give(ir, layer, node);
}

/* Axes of the same size keep their order: the likeliest transpose. */
static int guess_order(struct ir *ir, const struct ir_layer *layer,
                       int64_t *perm) {
  const struct ir_port *in = ir_in(ir, layer, 0), *out = layer->out.all.at;
  bool used[MOST_AXES] = {false};
  if (!in || !ir_has_output(ir, layer))
    return -1;
  for (int i = 0; i < out->rank; i++) {
    int k = 0;
    while (k < in->rank && (used[k] || in->dims[k] != out->dims[i]))
      k++;
    if (k == in->rank)
      return ir_fail(ir, "its output is not a reordering of its input") - 1;
    used[k] = true;
    perm[i] = k;
  }
  graph_note(ir->graph,
             "`%.64s`: without %s netc infers the order of its axes from its "
             "shapes.",
             layer->name, ir->bin);
  return out->rank;
}

bool ir_transpose(struct ir *ir, struct ir_layer *layer) {
  int64_t perm[MOST_AXES];
  const char *order = ir_attribute(ir, "order");
  int count = order        ? ir_numbers(order, perm, MOST_AXES)
              : ir->absent ? guess_order(ir, layer, perm)
                           : ir_read_ints(ir, layer, 1, perm, MOST_AXES);
  if (count < 0)
    return ir->graph->failed ? false : ir_fail(ir, "its order is no list");
  Onnx__NodeProto *node = IR_NODE(ir, "Transpose", ir_value(ir, layer, 0));
  emit_ints(&ir->s.x, node, "perm", perm, count);
  return ir_give(ir, layer, node);
}

bool ir_gather(struct ir *ir, struct ir_layer *layer) {
  int64_t axis = 0;
  const char *batch = ir_attribute(ir, "batch_dims");
  if (ir_read_ints(ir, layer, 2, &axis, 1) != 1)
    return false;
  if (batch && strcmp(batch, "0") != 0)
    return ir_fail(ir, "its `batch_dims` are not supported");
  Onnx__NodeProto *node =
      IR_NODE(ir, "Gather", ir_value(ir, layer, 0), ir_value(ir, layer, 1));
  emit_int(&ir->s.x, node, "axis", axis);
  return ir_give(ir, layer, node);
}

/* The split axis is the one whose size differs. */
bool ir_split(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *in = ir_in(ir, layer, 0);
  int64_t sizes[64];
  size_t count = layer->out.all.count;
  int axis = 0;
  if (!in || !ir_has_output(ir, layer))
    return false;
  if (count > 64 || layer->out.all.at[0].rank != in->rank)
    return ir_fail(ir, "%zu outputs are not supported", count);
  for (int i = 0; i < in->rank; i++)
    if (in->dims[i] != layer->out.all.at[0].dims[i])
      axis = i;
  for (size_t i = 0; i < count; i++)
    sizes[i] =
        layer->out.all.at[i].rank > axis ? layer->out.all.at[i].dims[axis] : 0;
  Onnx__NodeProto *node = IR_NODE(ir, "Split", ir_value(ir, layer, 0),
                                  ir_put_ints(ir, sizes, (int)count));
  emit_int(&ir->s.x, node, "axis", axis);
  return ir_give(ir, layer, node);
}

bool ir_pad(struct ir *ir, struct ir_layer *layer) {
  int64_t pads[2 * MOST_AXES];
  const char *mode = ir_attribute(ir, "pad_mode");
  const char *begin = ir_attribute(ir, "pads_begin");
  const char *end = ir_attribute(ir, "pads_end");
  bool said = begin && end; /* before version 10 */
  int count = said ? ir_numbers(begin, pads, MOST_AXES)
                   : ir_read_ints(ir, layer, 1, pads, MOST_AXES);
  if (count < 0 ||
      (said ? ir_numbers(end, pads + count, MOST_AXES)
            : ir_read_ints(ir, layer, 2, pads + count, MOST_AXES)) != count)
    return ir_fail(ir, "its pads are not supported");
  Onnx__NodeProto *node = IR_NODE(ir, "Pad", ir_value(ir, layer, 0),
                                  ir_put_ints(ir, pads, 2 * count));
  emit_text(&ir->s.x, node, "mode", mode ? mode : "constant");
  return ir_give(ir, layer, node);
}

/* True if digit i of a mask, "1,0", is 1. */
static bool masked(const struct ir *ir, const char *name, int i) {
  const char *text = ir_attribute(ir, name);
  int64_t mask[MOST_AXES];
  int count = text ? ir_numbers(text, mask, MOST_AXES) : 0;
  return i < count && mask[i] == 1;
}

/* A slice, then a reshape to the port's shape, which removes or adds axes. */
bool ir_slice(struct ir *ir, struct ir_layer *layer) {
  int64_t first[MOST_AXES], last[MOST_AXES], step[MOST_AXES], axes[MOST_AXES];
  int real = 0;
  if (ir->absent && ir->options->allow_unknown)
    return ir_say_unknown(ir, layer);
  int count = ir_read_ints(ir, layer, 1, first, MOST_AXES);
  if (count < 0 || ir_read_ints(ir, layer, 2, last, MOST_AXES) != count)
    return ir_fail(ir, "its bounds are not supported");
  for (int i = 0; i < count; i++)
    step[i] = 1;
  if (layer->in.all.count > 3 &&
      ir_read_ints(ir, layer, 3, step, MOST_AXES) != count)
    return ir_fail(ir, "its steps are not supported");
  for (int i = 0; i < count; i++) {
    if (masked(ir, "ellipsis_mask", i) || step[i] < 1)
      return ir_fail(ir, "its masks or steps are not supported");
    if (masked(ir, "new_axis_mask", i))
      continue;
    bool gone = masked(ir, "shrink_axis_mask", i);
    int64_t from = masked(ir, "begin_mask", i) || gone ? first[i] : 0;
    last[real] = gone ? (from == -1 ? INT64_MAX : from + 1)
                 : masked(ir, "end_mask", i) ? last[i]
                                             : INT64_MAX;
    first[real] = from;
    step[real] = step[i];
    axes[real] = real;
    real++;
  }
  const char *value = ir_value(ir, layer, 0);
  if (!value || !ir_has_output(ir, layer))
    return false;
  Onnx__NodeProto *node =
      IR_NODE(ir, "Slice", value, ir_put_ints(ir, first, real),
              ir_put_ints(ir, last, real), ir_put_ints(ir, axes, real),
              ir_put_ints(ir, step, real));
  const char *part = ir_between(ir, node), *shape = ir_put_shape(ir, layer);
  node = IR_NODE(ir, "Reshape", part, shape);
  return ir_give(ir, layer, node);
}

/* Reductions, norms, resizes */

bool ir_reduce(struct ir *ir, struct ir_layer *layer) {
  int64_t axes[MOST_AXES];
  int count = 0;
  const struct ir_port *in = ir_in(ir, layer, 0);
  bool keeps = ir_is_true(ir, "keep_dims");
  if (!in || !ir_has_output(ir, layer))
    return false;
  const struct ir_port *out = layer->out.all.at;
  for (int i = 0; keeps && i < in->rank && i < out->rank; i++)
    if (out->dims[i] == 1) /* also a single value: nothing changes */
      axes[count++] = i;
  if (!keeps)
    count = ir_read_ints(ir, layer, 1, axes, MOST_AXES);
  if (count < 0)
    return false;
  Onnx__NodeProto *node = IR_NODE(ir, ir_onnx(layer), ir_value(ir, layer, 0),
                                  ir_put_ints(ir, axes, count));
  emit_int(&ir->s.x, node, "keepdims", keeps);
  return ir_give(ir, layer, node);
}

bool ir_lrn(struct ir *ir, struct ir_layer *layer) {
  static const char *const names[] = {"alpha", "beta", "bias"};
  Onnx__NodeProto *node = ir_node(ir, "LRN");
  const char *size = ir_attribute(ir, ir->old ? "local-size" : "size");
  if (ir_has_word(ir, "region", "same"))
    return ir_fail(ir, "only norms across channels are supported");
  ir_take(ir, node, ir_value(ir, layer, 0));
  for (int i = 0; i < 3; i++)
    if (ir_attribute(ir, names[i]))
      emit_real(&ir->s.x, node, names[i],
                strtod(ir_attribute(ir, names[i]), NULL));
  emit_int(&ir->s.x, node, "size", size ? strtoll(size, NULL, 10) : 0);
  return ir_give(ir, layer, node);
}

bool ir_l2(struct ir *ir, struct ir_layer *layer) {
  int64_t axis = 1;
  if (ir_read_ints(ir, layer, 1, &axis, 1) != 1)
    return ir_fail(ir, "only the length along one axis is supported");
  Onnx__NodeProto *node =
      IR_NODE(ir, "LpNormalization", ir_value(ir, layer, 0));
  emit_int(&ir->s.x, node, "axis", axis);
  emit_int(&ir->s.x, node, "p", 2);
  return ir_give(ir, layer, node);
}

bool ir_depth(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = ir_node(ir, ir_onnx(layer));
  const char *block = ir_attribute(ir, "block_size");
  bool depth = ir_has_word(ir, "mode", "depth_first");
  if (depth && strcmp(layer->type, "SpaceToDepth") == 0)
    return ir_fail(ir, "its mode is not supported");
  ir_take(ir, node, ir_value(ir, layer, 0));
  emit_int(&ir->s.x, node, "blocksize", block ? strtoll(block, NULL, 10) : 1);
  if (strcmp(layer->type, "DepthToSpace") == 0)
    emit_text(&ir->s.x, node, "mode", depth ? "CRD" : "DCR");
  return ir_give(ir, layer, node);
}

bool ir_resize(struct ir *ir, struct ir_layer *layer) {
  const char *mode = ir_attribute(ir, "mode");
  const char *places = ir_attribute(ir, "coordinate_transformation_mode");
  const char *nearest = ir_attribute(ir, "nearest_mode");
  if (!ir_has_output(ir, layer) || !mode)
    return ir_fail(ir, "it has no mode");
  const char *value = ir_value(ir, layer, 0), *shape = ir_put_shape(ir, layer);
  Onnx__NodeProto *node = IR_NODE(ir, "Resize", value, "", "", shape);
  emit_text(&ir->s.x, node, "mode",
            strncmp(mode, "linear", 6) == 0 ? "linear" : mode);
  if (ir_is_true(ir, "align_corners"))
    places = "align_corners";
  if (places)
    emit_text(&ir->s.x, node, "coordinate_transformation_mode", places);
  if (nearest)
    emit_text(&ir->s.x, node, "nearest_mode", nearest);
  return ir_give(ir, layer, node);
}
