/*
 * Translates the layers of OpenVINO's IR before version 10, whose words are
 * Caffe's and whose weights are <blobs> of the layer.
 */
#include <stdlib.h>
#include <string.h>

#include "import/openvino/openvino.h"

static int64_t whole(const struct ir *ir, const char *name, int64_t usual) {
  const char *text = ir_attribute(ir, name);
  return text ? strtoll(text, NULL, 10) : usual;
}

static double real(const struct ir *ir, const char *name, double usual) {
  const char *text = ir_attribute(ir, name);
  return text ? (double)strtof(text, NULL) : usual;
}

/* Blobs */

static int64_t blob_number(const struct ir *ir, const char *name,
                           const char *what) {
  int64_t number = -1;
  const char *text =
      ir_attribute(ir, graph_text(ir->graph, "%s.%s", name, what));
  return text && ir_numbers(text, &number, 1) == 1 ? number : -1;
}

static bool has_blob(const struct ir *ir, const char *name) {
  return blob_number(ir, name, "size") > 0;
}

/* The bytes of each value follow from the sizes: 4 or 2. */
static const char *blob_of(struct ir *ir, const char *name, const int64_t *dims,
                           int rank) {
  int64_t count = 1, at = blob_number(ir, name, "offset");
  int64_t bytes = blob_number(ir, name, "size");
  for (int i = 0; i < rank; i++)
    count = dims[i] < 1 || count > MOST_VALUES / dims[i] ? 0 : count * dims[i];
  if (count < 1 || at < 0 || (bytes != 4 * count && bytes != 2 * count)) {
    ir_fail(ir, "its %s have %lld bytes, which do not fit %s values", name,
            (long long)bytes, graph_sizes(ir->graph, dims, rank));
    return NULL;
  }
  Onnx__TensorProto *c = ir_constant(
      ir, graph_text(ir->graph, "%s.%s", ir->at->name, name),
      ir_type_of(bytes == 4 * count ? "FP32" : "FP16")->onnx, dims, rank);
  said_stored(&ir->s, c, ir->bin, (uint64_t)at, (uint64_t)bytes);
  return c->name;
}

/* Channels of a port; 0: it has none. */
static int64_t channels_of(const struct ir_port *port) {
  return port && port->rank > 1 ? port->dims[1] : 0;
}

const char *ir_kernel(struct ir *ir, const struct ir_layer *layer,
                      int64_t *groups) {
  int64_t dims[MOST_AXES];
  const char *kernel = ir_attribute(ir, "kernel");
  bool back = strcmp(layer->type, "Deconvolution") == 0;
  if (!ir_has_output(ir, layer))
    return NULL;
  int64_t in = channels_of(ir_in(ir, layer, 0));
  int64_t out = channels_of(&layer->out.all.at[0]);
  *groups = whole(ir, "group", 1);
  if (layer->in.all.count > 1)
    return ir_value(ir, layer, 1);
  int axes = ir_numbers(kernel ? kernel : "", dims + 2, MOST_AXES - 2);
  if (axes < 1 || *groups < 1 || in % *groups || out % *groups) {
    ir_fail(ir, "its kernel or groups are not supported");
    return NULL;
  }
  dims[0] = back ? in : out;
  dims[1] = (back ? out : in) / *groups;
  return blob_of(ir, "weights", dims, axes + 2);
}

bool ir_take_bias(struct ir *ir, const struct ir_layer *layer,
                  Onnx__NodeProto *node) {
  const char *bias = NULL;
  int64_t out = channels_of(&layer->out.all.at[0]);
  if (layer->in.all.count > 2)
    bias = ir_value(ir, layer, 2);
  else if (has_blob(ir, "biases"))
    bias = blob_of(ir, "biases", &out, 1);
  if (bias)
    ir_take(ir, node, bias);
  return !ir->graph->failed;
}

/* The maps of all samples become rows. */
bool ir_fully(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *in = ir_in(ir, layer, 0);
  const char *value = ir_value(ir, layer, 0);
  if (!value || !ir_has_output(ir, layer))
    return false;
  const struct ir_port *out = layer->out.all.at;
  int64_t dims[2] = {out->rank ? out->dims[out->rank - 1] : 0, 1};
  for (int i = 1; i < in->rank; i++)
    dims[1] =
        in->dims[i] < 1 || dims[1] > MOST_SIZE ? 0 : dims[1] * in->dims[i];
  if (out->rank != 2 || in->rank < 2 || dims[1] < 1)
    return ir_fail(ir, "only a vector for each sample is supported");
  if (in->rank > 2)
    value = ir_reshaped(ir, value, (int64_t[]){in->dims[0], dims[1]}, 2);
  const char *weight = blob_of(ir, "weights", dims, 2);
  if (!weight)
    return false;
  Onnx__NodeProto *node = IR_NODE(ir, "Gemm", value, weight);
  emit_int(&ir->s.x, node, "transB", 1);
  return ir_take_bias(ir, layer, node) && ir_give(ir, layer, node);
}

/* A blob with a value for each channel, which the map's axes follow. */
static const char *by_channel(struct ir *ir, const struct ir_port *in,
                              const char *name, bool shared) {
  int64_t dims[MOST_AXES] = {shared ? 1 : channels_of(in)};
  int rank = in->rank > 2 ? in->rank - 1 : 1;
  for (int i = 1; i < rank; i++)
    dims[i] = 1;
  return blob_of(ir, name, dims, rank);
}

/* Tools mark all slopes as shared: the bytes say how many there are. */
bool ir_old_prelu(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *in = ir_in(ir, layer, 0);
  const char *value = ir_value(ir, layer, 0);
  int64_t bytes = blob_number(ir, "weights", "size");
  const char *slope =
      value ? by_channel(ir, in, "weights", bytes == 4 || bytes == 2) : NULL;
  return slope && ir_give(ir, layer, IR_NODE(ir, "PRelu", value, slope));
}

bool ir_scale_shift(struct ir *ir, struct ir_layer *layer) {
  static const char *const names[] = {"weights", "biases"};
  const struct ir_port *in = ir_in(ir, layer, 0);
  const char *value = ir_value(ir, layer, 0);
  Onnx__NodeProto *node = NULL;
  for (int i = 0; value && i < 2; i++) {
    if (!has_blob(ir, names[i]))
      continue;
    const char *blob = by_channel(ir, in, names[i], false);
    if (!blob)
      return false;
    value = node ? ir_between(ir, node) : value;
    node = IR_NODE(ir, i ? "Add" : "Mul", value, blob);
  }
  return node ? ir_give(ir, layer, node) : value && ir_give_same(ir, layer);
}

/* Lengths along the channels, with a weight for each. */
bool ir_normalize(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *in = ir_in(ir, layer, 0);
  const char *value = ir_value(ir, layer, 0);
  if (ir_is_true(ir, "across_spatial"))
    return ir_fail(ir, "only the length along channels is supported");
  const char *weight =
      value ? by_channel(ir, in, "weights", ir_is_true(ir, "channel_shared"))
            : NULL;
  if (!weight)
    return false;
  Onnx__NodeProto *node = IR_NODE(ir, "LpNormalization", value);
  emit_int(&ir->s.x, node, "axis", 1);
  emit_int(&ir->s.x, node, "p", 2);
  value = ir_between(ir, node);
  return ir_give(ir, layer, IR_NODE(ir, "Mul", value, weight));
}

/* Functions */

/* The operator of a word of a list; NULL with an error. */
static const char *operator_of(struct ir *ir, const char *key,
                               const char *usual, const char *const (*words)[2],
                               size_t count) {
  const char *word = ir_attribute(ir, key);
  word = word ? word : usual;
  for (size_t i = 0; i < count; i++)
    if (strcmp(words[i][0], word) == 0)
      return words[i][1];
  ir_fail(ir, "its %s `%.32s` is not supported", key, word);
  return NULL;
}

bool ir_activation(struct ir *ir, struct ir_layer *layer) {
  static const char *const words[][2] = {
      {"sigmoid", "Sigmoid"}, {"tanh", "Tanh"}, {"exp", "Exp"},
      {"elu", "Elu"},         {"relu", "Relu"}, {"relu6", "Clip"},
      {"clamp", "Clip"}};
  const char *onnx = operator_of(ir, "type", "", words, 7);
  if (!onnx)
    return false;
  Onnx__NodeProto *node = IR_NODE(ir, onnx, ir_value(ir, layer, 0));
  if (strcmp(onnx, "Elu") == 0)
    emit_real(&ir->s.x, node, "alpha", real(ir, "alpha", 1));
  if (strcmp(onnx, "Clip") == 0) {
    ir_take(ir, node, said_real(&ir->s, real(ir, "min", 0)));
    ir_take(ir, node, said_real(&ir->s, real(ir, "max", 6)));
  }
  return ir_give(ir, layer, node);
}

bool ir_eltwise(struct ir *ir, struct ir_layer *layer) {
  static const char *const words[][2] = {
      {"sum", "Add"}, {"sub", "Sub"}, {"mul", "Mul"}, {"prod", "Mul"},
      {"div", "Div"}, {"max", "Max"}, {"min", "Min"}, {"pow", "Pow"}};
  const char *onnx = operator_of(ir, "operation", "sum", words, 8);
  const char *coeff = ir_attribute(ir, "coeff");
  const char *value = ir_value(ir, layer, 0);
  Onnx__NodeProto *node = NULL;
  if (!onnx || !value)
    return false;
  if (coeff && coeff[strspn(coeff, "1.0, ")])
    return ir_fail(ir, "coefficients other than 1 are not supported");
  for (size_t i = 1; i < layer->in.all.count; i++) {
    value = node ? ir_between(ir, node) : value;
    node = IR_NODE(ir, onnx, value, ir_value(ir, layer, i));
  }
  return node ? ir_give(ir, layer, node) : ir_give_same(ir, layer);
}

/* (shift + scale * x) ^ power; since version 10 an operation of two inputs. */
bool ir_power(struct ir *ir, struct ir_layer *layer) {
  static const char *const onnx[] = {"Mul", "Add", "Pow"};
  const double numbers[] = {real(ir, "scale", 1), real(ir, "shift", 0),
                            real(ir, "power", 1)};
  const char *value = ir_value(ir, layer, 0);
  Onnx__NodeProto *node = NULL;
  if (!ir->old)
    return ir_plain(ir, layer);
  for (int i = 0; value && i < 3; i++) {
    if (numbers[i] == (i != 1))
      continue;
    value = node ? ir_between(ir, node) : value;
    node = IR_NODE(ir, onnx[i], value, said_real(&ir->s, numbers[i]));
  }
  return node ? ir_give(ir, layer, node) : value && ir_give_same(ir, layer);
}

/* Moves */

bool ir_tile(struct ir *ir, struct ir_layer *layer) {
  const struct ir_port *in = ir_in(ir, layer, 0);
  int64_t times[MOST_AXES], axis = whole(ir, "axis", -1);
  if (!ir->old)
    return ir_plain(ir, layer);
  if (!in || axis < 0 || axis >= in->rank)
    return ir_fail(ir, "its axis does not exist");
  for (int i = 0; i < in->rank; i++)
    times[i] = i == axis ? whole(ir, "tiles", 1) : 1;
  return ir_give(ir, layer,
                 IR_NODE(ir, "Tile", ir_value(ir, layer, 0),
                         ir_put_ints(ir, times, in->rank)));
}

/* From an offset on, as many values as the output has. */
bool ir_crop(struct ir *ir, struct ir_layer *layer) {
  int64_t axes[MOST_AXES], from[MOST_AXES], to[MOST_AXES];
  const char *axis = ir_attribute(ir, "axis");
  const char *offset = ir_attribute(ir, "offset");
  if (!offset)
    offset = ir_attribute(ir, "crop_begin");
  const char *value = ir_value(ir, layer, 0);
  if (!value || !ir_has_output(ir, layer))
    return false;
  const struct ir_port *out = layer->out.all.at;
  int count = ir_numbers(axis ? axis : "", axes, MOST_AXES);
  if (count < 1 || ir_numbers(offset ? offset : "", from, MOST_AXES) != count)
    return ir_fail(ir, "its axes or offsets are not supported");
  for (int i = 0; i < count; i++) {
    if (axes[i] < 0 || axes[i] >= out->rank)
      return ir_fail(ir, "its axis does not exist");
    to[i] = from[i] + out->dims[axes[i]];
  }
  return ir_give(ir, layer,
                 IR_NODE(ir, "Slice", value, ir_put_ints(ir, from, count),
                         ir_put_ints(ir, to, count),
                         ir_put_ints(ir, axes, count)));
}

/* Channels of groups one after the other become one of each in turn. */
bool ir_shuffle(struct ir *ir, struct ir_layer *layer) {
  static const int64_t perm[] = {0, 2, 1, 3, 4};
  const struct ir_port *in = ir_in(ir, layer, 0);
  const char *value = ir_value(ir, layer, 0);
  int64_t groups = whole(ir, "group", 1);
  if (!value || !ir_has_output(ir, layer))
    return false;
  if (in->rank != 4 || whole(ir, "axis", 1) != 1 || groups < 1 ||
      in->dims[1] % groups)
    return ir_fail(ir, "only channels of a map in equal groups are supported");
  value = ir_reshaped(ir, value,
                      (int64_t[]){in->dims[0], groups, in->dims[1] / groups,
                                  in->dims[2], in->dims[3]},
                      5);
  Onnx__NodeProto *node = IR_NODE(ir, "Transpose", value);
  emit_ints(&ir->s.x, node, "perm", perm, 5);
  value = ir_between(ir, node);
  return ir_give(ir, layer,
                 IR_NODE(ir, "Reshape", value, ir_put_shape(ir, layer)));
}

/* Interp is linear, Resample what its type says. */
bool ir_interp(struct ir *ir, struct ir_layer *layer) {
  const char *type = ir_attribute(ir, "type");
  const char *value = ir_value(ir, layer, 0);
  bool interp = strcmp(layer->type, "Interp") == 0;
  bool nearest = type && strstr(type, "NEAREST");
  if (!value || !ir_has_output(ir, layer))
    return false;
  if (whole(ir, "pad_beg", 0) || whole(ir, "pad_end", 0) ||
      whole(ir, "antialias", 0))
    return ir_fail(ir, "its pads or antialias are not supported");
  Onnx__NodeProto *node =
      IR_NODE(ir, "Resize", value, "", "", ir_put_shape(ir, layer));
  emit_text(&ir->s.x, node, "mode", nearest ? "nearest" : "linear");
  emit_text(&ir->s.x, node, "coordinate_transformation_mode",
            interp && whole(ir, "align_corners", 1) ? "align_corners"
                                                    : "asymmetric");
  if (nearest)
    emit_text(&ir->s.x, node, "nearest_mode", "floor");
  return ir_give(ir, layer, node);
}
