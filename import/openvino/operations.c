/* Operations of OpenVINO in ONNX's words: a row of operations.def each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import/openvino/openvino.h"

typedef bool ir_op_fn(struct ir *ir, struct ir_layer *layer);

#define OP(name, onnx, function, uses) static ir_op_fn function;
#include "import/openvino/operations.def"
#undef OP

enum { ALL = 1 << 20 };

static const struct ir_row {
  const char *name, *onnx;
  ir_op_fn *say;
  size_t uses;
} rows[] = {
#define OP(name, onnx, function, uses) {#name, onnx, function, uses},
#include "import/openvino/operations.def"
#undef OP
};

static const struct ir_row *row_of(const struct ir_layer *layer) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, layer->type) == 0)
      return &rows[i];
  return NULL;
}

bool openvino_type(struct graph *graph, size_t index,
                   struct import_type *type) {
  static const enum layer_word none[IMPORT_WORDS] = {WORD_NONE};
  struct import_type other;
  if (index >= sizeof rows / sizeof *rows)
    return false;
  import_type_set(type, rows[index].name, none);
  for (size_t i = 0; onnx_type(graph, i, &other); i++)
    if (strcmp(other.name, rows[index].onnx) == 0)
      import_type_set(type, rows[index].name, other.words);
  return true;
}

size_t ir_uses(const struct ir_layer *layer) {
  const struct ir_row *row = row_of(layer);
  return row ? row->uses : ALL;
}

static bool is_true(const struct ir *ir, const char *name) {
  const char *value = ir_attribute(ir, name);
  return value && (strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

static bool has_word(const struct ir *ir, const char *name, const char *word) {
  const char *value = ir_attribute(ir, name);
  return value && strcasecmp(value, word) == 0;
}

/* One that ONNX has no word for: its reader says so, or leaves it out. */
static bool say_unknown(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = ir_node(ir, layer->type);
  node->domain = ir_copy(ir, "openvino");
  for (size_t i = 0; i < layer->in.all.count && i < ir_uses(layer); i++)
    ir_take(ir, node, ir_value(ir, layer, i));
  return ir_give(ir, layer, node);
}

/* Ends */

static void put_entry(struct ir *ir, Onnx__TensorProto *c, const char *key,
                      const char *value) {
  Onnx__StringStringEntryProto *entry =
      ARENA_NEW(ir->arena, Onnx__StringStringEntryProto);
  *entry = (Onnx__StringStringEntryProto)ONNX__STRING_STRING_ENTRY_PROTO__INIT;
  entry->key = ir_copy(ir, key);
  entry->value = ir_copy(ir, value);
  c->external_data[c->n_external_data++] = entry;
}

static bool ir_const(struct ir *ir, struct ir_layer *layer) {
  const struct ir_type *type = ir_type_of(ir_attribute(ir, "element_type"));
  const char *shape = ir_attribute(ir, "shape");
  const char *offset = ir_attribute(ir, "offset");
  const char *size = ir_attribute(ir, "size");
  int64_t dims[MOST_AXES];
  int rank = ir_numbers(shape ? shape : "", dims, MOST_AXES);
  if (layer->out.all.count != 1 || rank < 0 || !offset || !size)
    return ir_fail(ir, "it has no shape, offset or size that is supported");
  if (!type)
    return ir_fail(ir, "values of %.20s are not supported",
                   ir_attribute(ir, "element_type"));
  Onnx__TensorProto *c = ir_constant(ir, layer->name, type->onnx, dims, rank);
  c->has_data_location = 1;
  c->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  c->external_data = arena_alloc(ir->arena, 3, sizeof *c->external_data);
  put_entry(ir, c, "location", ir->bin);
  put_entry(ir, c, "offset", offset);
  put_entry(ir, c, "length", size);
  layer->out.all.at[0].value = layer->name;
  return true;
}

static bool has_output(struct ir *ir, const struct ir_layer *layer) {
  return layer->out.all.count > 0 || ir_fail(ir, "it has no output");
}

static bool ir_parameter(struct ir *ir, struct ir_layer *layer) {
  if (!has_output(ir, layer))
    return false;
  struct ir_port *port = layer->out.all.at;
  port->value = layer->name;
  *VEC_PUSH(ir->arena, &ir->inputs) = ir_info(ir, port->value, port);
  return true;
}

static bool give_out(struct ir *ir, const struct ir_layer *layer, size_t i) {
  const char *value = ir_value(ir, layer, i);
  for (size_t k = 0; value && k < ir->outputs.count; k++)
    if (strcmp(ir->outputs.at[k]->name, value) == 0)
      return true;
  if (value)
    *VEC_PUSH(ir->arena, &ir->outputs) =
        ir_info(ir, value, &layer->in.all.at[i]);
  return value != NULL;
}

/* It decodes boxes, without weights: what it reads leaves the net. */
static bool ir_detection(struct ir *ir, struct ir_layer *layer) {
  graph_note(ir->graph,
             "DetectionOutput `%.64s` is left out, with its boxes: "
             "it has no weights.",
             layer->name);
  return give_out(ir, layer, 0) && give_out(ir, layer, 1);
}

static bool ir_result(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *port = ir_in(ir, layer, 0);
  if (port && port->from && strcmp(port->from->type, "DetectionOutput") == 0)
    return true;
  return give_out(ir, layer, 0);
}

/* Value by value, joins */

static bool ir_plain(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = ir_node(ir, row_of(layer)->onnx);
  const char *axis = ir_attribute(ir, "axis");
  const char *alpha = ir_attribute(ir, "alpha");
  int64_t number = strcmp(layer->type, "SoftMax") == 0 ? 1 : -1;
  for (size_t i = 0; i < layer->in.all.count; i++)
    ir_take(ir, node, ir_value(ir, layer, i));
  if (axis)
    number = strtoll(axis, NULL, 10);
  if (axis || strstr(layer->type, "oft"))
    emit_int(&ir->x, node, "axis", number);
  if (alpha)
    emit_real(&ir->x, node, "alpha", strtod(alpha, NULL));
  if (has_word(ir, "approximation_mode", "TANH") ||
      has_word(ir, "approximation_mode", "tanh"))
    emit_text(&ir->x, node, "approximate", "tanh");
  return ir_give(ir, layer, node);
}

static bool ir_clamp(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = ir_node(ir, "Clip");
  ir_take(ir, node, ir_value(ir, layer, 0));
  ir_take(ir, node, ir_put_real(ir, ir_attribute(ir, "min")));
  ir_take(ir, node, ir_put_real(ir, ir_attribute(ir, "max")));
  return ir_give(ir, layer, node);
}

static bool ir_hsigmoid(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = ir_node(ir, "HardSigmoid");
  ir_take(ir, node, ir_value(ir, layer, 0));
  emit_real(&ir->x, node, "alpha", 1.0 / 6);
  emit_real(&ir->x, node, "beta", 0.5);
  return ir_give(ir, layer, node);
}

static bool ir_swish(struct ir *ir, struct ir_layer *layer) {
  if (layer->in.all.count > 1)
    return ir_fail(ir, "its `beta` is not supported");
  Onnx__NodeProto *node = ir_node(ir, "Sigmoid");
  ir_take(ir, node, ir_value(ir, layer, 0));
  const char *gate = ir_between(ir, node);
  node = ir_node(ir, "Mul");
  ir_take(ir, node, ir_value(ir, layer, 0));
  ir_take(ir, node, gate);
  return ir_give(ir, layer, node);
}

/* Values that are rounded as those of 8 bits would be. */
static bool ir_rounded(struct ir *ir, struct ir_layer *layer) {
  graph_note(ir->graph, "FakeQuantize is left out: it rounds values.");
  return ir_give_same(ir, layer);
}

/* Reals stay reals here, and whole numbers whole. */
static bool ir_convert(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *port = ir_in(ir, layer, 0);
  const struct ir_port *source = port ? ir_source(port) : NULL;
  const struct ir_type *from = source ? ir_type_of(source->precision) : NULL;
  const struct ir_type *to = ir_type_of(ir_attribute(ir, "destination_type"));
  if (!from || !to)
    return ir_fail(ir, "its types are not supported");
  if (from->real == to->real)
    return ir_give_same(ir, layer);
  if (to->real && from->bytes == 1 && ir_constant_before(port))
    return ir_fail(ir, "weights of 8 bits are not supported");
  Onnx__NodeProto *node = ir_node(ir, "Cast");
  ir_take(ir, node, ir_value(ir, layer, 0));
  emit_int(&ir->x, node, "to", to->onnx);
  return ir_give(ir, layer, node);
}

static const char *reshaped(struct ir *ir, const char *value,
                            const int64_t *dims, int rank) {
  Onnx__NodeProto *node = ir_node(ir, "Reshape");
  ir_take(ir, node, value);
  ir_take(ir, node, ir_put_ints(ir, dims, rank));
  return ir_between(ir, node);
}

/* A slope for each channel is of the second axis. */
static bool ir_prelu(struct ir *ir, struct ir_layer *layer) {
  const char *in = ir_value(ir, layer, 0), *slope = ir_value(ir, layer, 1);
  const struct ir_port *port = ir_in(ir, layer, 1);
  int64_t dims[MOST_AXES];
  if (!in || !slope)
    return false;
  int axes = layer->in.all.at[0].rank - 1;
  for (int i = 0; i < axes; i++)
    dims[i] = i ? 1 : port->dims[0];
  if (port->rank == 1 && axes > 1)
    slope = reshaped(ir, slope, dims, axes);
  Onnx__NodeProto *node = ir_node(ir, "PRelu");
  ir_take(ir, node, in);
  ir_take(ir, node, slope);
  return ir_give(ir, layer, node);
}

/* Windows */

/* Weights of groups have an axis for these: G x O x I, of a transposed one
 * G x I x O. */
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
  return reshaped(ir, value, dims, port->rank - 1);
}

static bool put_numbers(struct ir *ir, Onnx__NodeProto *node, const char *ours,
                        const char *name) {
  const char *text = ir_attribute(ir, ours);
  int64_t numbers[3];
  int count = text ? ir_numbers(text, numbers, 3) : 0;
  if (count < 0)
    return ir_fail(ir, "its `%s` are not supported", ours);
  if (count > 0)
    emit_ints(&ir->x, node, name, numbers, count);
  return true;
}

static bool put_pads(struct ir *ir, Onnx__NodeProto *node) {
  const char *begin = ir_attribute(ir, "pads_begin");
  const char *end = ir_attribute(ir, "pads_end");
  const char *automatic = ir_attribute(ir, "auto_pad");
  int64_t pads[6];
  if (automatic && strcmp(automatic, "same_upper") == 0)
    emit_text(&ir->x, node, "auto_pad", "SAME_UPPER");
  else if (automatic && strcmp(automatic, "same_lower") == 0)
    emit_text(&ir->x, node, "auto_pad", "SAME_LOWER");
  else if (begin && end && !(automatic && strcmp(automatic, "valid") == 0)) {
    int count = ir_numbers(begin, pads, 3);
    if (count < 0 || ir_numbers(end, pads + count, 3) != count)
      return ir_fail(ir, "its pads are not supported");
    emit_ints(&ir->x, node, "pads", pads, 2 * count);
  }
  return true;
}

static bool ir_window(struct ir *ir, struct ir_layer *layer) {
  const char *onnx = row_of(layer)->onnx, *weights = NULL;
  const char *in = ir_value(ir, layer, 0);
  int64_t groups = 1;
  bool pool = strstr(onnx, "Pool"), back = strstr(onnx, "Transpose");
  if (!pool)
    weights = join_groups(ir, layer, &groups);
  if (!has_output(ir, layer) || !in || (!pool && !weights))
    return false;
  Onnx__NodeProto *node = ir_node(ir, onnx);
  ir_take(ir, node, in);
  if (weights)
    ir_take(ir, node, weights);
  if (!pool)
    emit_int(&ir->x, node, "group", groups);
  if (has_word(ir, "rounding_type", "ceil"))
    emit_int(&ir->x, node, "ceil_mode", 1);
  if (has_word(ir, "exclude-pad", "false"))
    emit_int(&ir->x, node, "count_include_pad", 1);
  const struct ir_port *out = layer->out.all.at;
  bool sized = back && layer->in.all.count > 2 && out->rank > 2;
  if (sized)
    emit_ints(&ir->x, node, "output_shape", out->dims + 2, out->rank - 2);
  return put_numbers(ir, node, "strides", "strides") &&
         (sized || put_pads(ir, node)) &&
         put_numbers(ir, node, "dilations", "dilations") &&
         (!pool || put_numbers(ir, node, "kernel", "kernel_shape")) &&
         (!back || put_numbers(ir, node, "output_padding", "output_padding")) &&
         ir_give(ir, layer, node);
}

/* Products */

static const char *turned(struct ir *ir, const struct ir_layer *layer, size_t i,
                          const char *attribute) {
  const struct ir_port *port = ir_in(ir, layer, i);
  const char *value = ir_value(ir, layer, i);
  int64_t perm[MOST_AXES];
  if (!value || !is_true(ir, attribute) || port->rank < 2)
    return value;
  for (int k = 0; k < port->rank; k++)
    perm[k] = k;
  perm[port->rank - 1] = port->rank - 2;
  perm[port->rank - 2] = port->rank - 1;
  Onnx__NodeProto *node = ir_node(ir, "Transpose");
  ir_take(ir, node, value);
  emit_ints(&ir->x, node, "perm", perm, port->rank);
  return ir_between(ir, node);
}

static bool ir_matmul(struct ir *ir, struct ir_layer *layer) {
  const char *a = turned(ir, layer, 0, "transpose_a");
  const char *b = turned(ir, layer, 1, "transpose_b");
  Onnx__NodeProto *node = ir_node(ir, "MatMul");
  ir_take(ir, node, a);
  ir_take(ir, node, b);
  return ir_give(ir, layer, node);
}

/* Shapes */

static bool ir_shaped(struct ir *ir, struct ir_layer *layer) {
  if (!has_output(ir, layer))
    return false;
  const char *value = ir_value(ir, layer, 0), *shape = ir_put_shape(ir, layer);
  Onnx__NodeProto *node = ir_node(ir, row_of(layer)->onnx);
  ir_take(ir, node, value);
  ir_take(ir, node, shape);
  return ir_give(ir, layer, node);
}

/* Axes of one size stay in order: what is most often meant. */
static int guess_order(struct ir *ir, const struct ir_layer *layer,
                       int64_t *perm) {
  const struct ir_port *in = ir_in(ir, layer, 0), *out = layer->out.all.at;
  bool used[MOST_AXES] = {false};
  if (!in || !has_output(ir, layer))
    return -1;
  for (int i = 0; i < out->rank; i++) {
    int k = 0;
    while (k < in->rank && (used[k] || in->dims[k] != out->dims[i]))
      k++;
    if (k == in->rank)
      return ir_fail(ir, "its output is not its input in another order") - 1;
    used[k] = true;
    perm[i] = k;
  }
  graph_note(ir->graph,
             "`%.64s`: without %s the order of its axes is that of its shapes.",
             layer->name, ir->bin);
  return out->rank;
}

static bool ir_transpose(struct ir *ir, struct ir_layer *layer) {
  int64_t perm[MOST_AXES];
  int count = ir->absent ? guess_order(ir, layer, perm)
                         : ir_read_ints(ir, layer, 1, perm, MOST_AXES);
  if (count < 0)
    return false;
  Onnx__NodeProto *node = ir_node(ir, "Transpose");
  ir_take(ir, node, ir_value(ir, layer, 0));
  emit_ints(&ir->x, node, "perm", perm, count);
  return ir_give(ir, layer, node);
}

static bool ir_gather(struct ir *ir, struct ir_layer *layer) {
  int64_t axis = 0;
  const char *batch = ir_attribute(ir, "batch_dims");
  if (ir_read_ints(ir, layer, 2, &axis, 1) != 1)
    return false;
  if (batch && strcmp(batch, "0") != 0)
    return ir_fail(ir, "its `batch_dims` are not supported");
  Onnx__NodeProto *node = ir_node(ir, "Gather");
  ir_take(ir, node, ir_value(ir, layer, 0));
  ir_take(ir, node, ir_value(ir, layer, 1));
  emit_int(&ir->x, node, "axis", axis);
  return ir_give(ir, layer, node);
}

/* The axis whose size differs is the one that is parted. */
static bool ir_split(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *in = ir_in(ir, layer, 0);
  int64_t sizes[64];
  size_t count = layer->out.all.count;
  int axis = 0;
  if (!in || !has_output(ir, layer))
    return false;
  if (count > 64 || layer->out.all.at[0].rank != in->rank)
    return ir_fail(ir, "%zu outputs are not supported", count);
  for (int i = 0; i < in->rank; i++)
    if (in->dims[i] != layer->out.all.at[0].dims[i])
      axis = i;
  for (size_t i = 0; i < count; i++)
    sizes[i] =
        layer->out.all.at[i].rank > axis ? layer->out.all.at[i].dims[axis] : 0;
  Onnx__NodeProto *node = ir_node(ir, "Split");
  ir_take(ir, node, ir_value(ir, layer, 0));
  ir_take(ir, node, ir_put_ints(ir, sizes, (int)count));
  emit_int(&ir->x, node, "axis", axis);
  return ir_give(ir, layer, node);
}

static bool ir_pad(struct ir *ir, struct ir_layer *layer) {
  int64_t pads[2 * MOST_AXES];
  const char *mode = ir_attribute(ir, "pad_mode");
  int count = ir_read_ints(ir, layer, 1, pads, MOST_AXES);
  if (count < 0 || ir_read_ints(ir, layer, 2, pads + count, MOST_AXES) != count)
    return ir_fail(ir, "its pads are not supported");
  Onnx__NodeProto *node = ir_node(ir, "Pad");
  ir_take(ir, node, ir_value(ir, layer, 0));
  ir_take(ir, node, ir_put_ints(ir, pads, 2 * count));
  emit_text(&ir->x, node, "mode", mode ? mode : "constant");
  return ir_give(ir, layer, node);
}

/* Whether place i of a mask, "1,0", is set. */
static bool masked(const struct ir *ir, const char *name, int i) {
  const char *text = ir_attribute(ir, name);
  int64_t mask[MOST_AXES];
  int count = text ? ir_numbers(text, mask, MOST_AXES) : 0;
  return i < count && mask[i] == 1;
}

/* A part, then the shape that its port has: axes go, or are new. */
static bool ir_slice(struct ir *ir, struct ir_layer *layer) {
  int64_t first[MOST_AXES], last[MOST_AXES], step[MOST_AXES], axes[MOST_AXES];
  int real = 0;
  if (ir->absent && ir->options->allow_unknown)
    return say_unknown(ir, layer);
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
  if (!value || !has_output(ir, layer))
    return false;
  Onnx__NodeProto *node = ir_node(ir, "Slice");
  ir_take(ir, node, value);
  ir_take(ir, node, ir_put_ints(ir, first, real));
  ir_take(ir, node, ir_put_ints(ir, last, real));
  ir_take(ir, node, ir_put_ints(ir, axes, real));
  ir_take(ir, node, ir_put_ints(ir, step, real));
  const char *part = ir_between(ir, node), *shape = ir_put_shape(ir, layer);
  node = ir_node(ir, "Reshape");
  ir_take(ir, node, part);
  ir_take(ir, node, shape);
  return ir_give(ir, layer, node);
}

/* Reductions, norms, other sizes */

static bool ir_reduce(struct ir *ir, struct ir_layer *layer) {
  int64_t axes[MOST_AXES];
  int count = 0;
  const struct ir_port *in = ir_in(ir, layer, 0);
  bool keeps = is_true(ir, "keep_dims");
  if (!in || !has_output(ir, layer))
    return false;
  const struct ir_port *out = layer->out.all.at;
  for (int i = 0; keeps && i < in->rank && i < out->rank; i++)
    if (out->dims[i] == 1) /* of one value, too: it stays what it is */
      axes[count++] = i;
  if (!keeps)
    count = ir_read_ints(ir, layer, 1, axes, MOST_AXES);
  if (count < 0)
    return false;
  Onnx__NodeProto *node = ir_node(ir, row_of(layer)->onnx);
  ir_take(ir, node, ir_value(ir, layer, 0));
  ir_take(ir, node, ir_put_ints(ir, axes, count));
  emit_int(&ir->x, node, "keepdims", keeps);
  return ir_give(ir, layer, node);
}

static bool ir_lrn(struct ir *ir, struct ir_layer *layer) {
  static const char *const names[] = {"alpha", "beta", "bias"};
  Onnx__NodeProto *node = ir_node(ir, "LRN");
  const char *size = ir_attribute(ir, "size");
  ir_take(ir, node, ir_value(ir, layer, 0));
  for (int i = 0; i < 3; i++)
    if (ir_attribute(ir, names[i]))
      emit_real(&ir->x, node, names[i],
                strtod(ir_attribute(ir, names[i]), NULL));
  emit_int(&ir->x, node, "size", size ? strtoll(size, NULL, 10) : 0);
  return ir_give(ir, layer, node);
}

static bool ir_l2(struct ir *ir, struct ir_layer *layer) {
  int64_t axis = 1;
  if (ir_read_ints(ir, layer, 1, &axis, 1) != 1)
    return ir_fail(ir, "only the length along one axis is supported");
  Onnx__NodeProto *node = ir_node(ir, "LpNormalization");
  ir_take(ir, node, ir_value(ir, layer, 0));
  emit_int(&ir->x, node, "axis", axis);
  emit_int(&ir->x, node, "p", 2);
  return ir_give(ir, layer, node);
}

static bool ir_depth(struct ir *ir, struct ir_layer *layer) {
  Onnx__NodeProto *node = ir_node(ir, row_of(layer)->onnx);
  const char *block = ir_attribute(ir, "block_size");
  bool depth = has_word(ir, "mode", "depth_first");
  if (depth && strcmp(layer->type, "SpaceToDepth") == 0)
    return ir_fail(ir, "its mode is not supported");
  ir_take(ir, node, ir_value(ir, layer, 0));
  emit_int(&ir->x, node, "blocksize", block ? strtoll(block, NULL, 10) : 1);
  if (strcmp(layer->type, "DepthToSpace") == 0)
    emit_text(&ir->x, node, "mode", depth ? "CRD" : "DCR");
  return ir_give(ir, layer, node);
}

static bool ir_resize(struct ir *ir, struct ir_layer *layer) {
  const char *mode = ir_attribute(ir, "mode");
  const char *places = ir_attribute(ir, "coordinate_transformation_mode");
  const char *nearest = ir_attribute(ir, "nearest_mode");
  if (!has_output(ir, layer) || !mode)
    return ir_fail(ir, "it has no mode");
  const char *value = ir_value(ir, layer, 0), *shape = ir_put_shape(ir, layer);
  Onnx__NodeProto *node = ir_node(ir, "Resize");
  ir_take(ir, node, value);
  ir_take(ir, node, "");
  ir_take(ir, node, "");
  ir_take(ir, node, shape);
  emit_text(&ir->x, node, "mode",
            strncmp(mode, "linear", 6) == 0 ? "linear" : mode);
  if (is_true(ir, "align_corners"))
    places = "align_corners";
  if (places)
    emit_text(&ir->x, node, "coordinate_transformation_mode", places);
  if (nearest)
    emit_text(&ir->x, node, "nearest_mode", nearest);
  return ir_give(ir, layer, node);
}

bool ir_say(struct ir *ir, struct ir_layer *layer) {
  const struct ir_row *row = row_of(layer);
  ir->at = layer;
  return (row ? row->say : say_unknown)(ir, layer) && !ir->graph->failed;
}
