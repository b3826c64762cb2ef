/* Translates the layers of ncnn with weights or windows. A blob has the axes c,
 * h, w, and no batch. */
#include <stdio.h>
#include <string.h>

#include "import/ncnn/ncnn.h"

static const struct ncnn_row rows[] = {
#define NCNN(type, onnx, function) {type, onnx, function},
#include "ops/ncnn.def"
#undef NCNN
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ONNX's operators, for layers that are the same in both. */
import_type_fn onnx_type;

bool ncnn_type(struct graph *graph, size_t index, struct import_type *type) {
  static const enum layer_word none[IMPORT_WORDS] = {WORD_NONE};
  struct import_type other;
  if (index >= ROWS)
    return false;
  import_type_set(type, rows[index].type, none);
  for (size_t i = 0; onnx_type(graph, i, &other); i++)
    if (strcmp(other.name, rows[index].onnx) == 0)
      import_type_set(type, rows[index].type, other.words);
  return true;
}

/* Nodes */

Onnx__NodeProto *ncnn_node(struct ncnn *n, const char *type, size_t more) {
  return said_node(&n->s, type, n->ins.count + more, n->outs.count + 1);
}

bool ncnn_give(struct ncnn *n, Onnx__NodeProto *node, int axes) {
  said_give(&n->s, node, n->outs.at[0]);
  ncnn_set_axes(n, n->outs.at[0], axes);
  return true;
}

const char *ncnn_in(struct ncnn *n) {
  return n->ins.at[0];
}

int ncnn_axes_in(const struct ncnn *n) {
  return ncnn_axes(n, n->ins.at[0]);
}

/* A node of the layer's input and another value. */
Onnx__NodeProto *ncnn_with(struct ncnn *n, const char *type, const char *value,
                           const char *other) {
  Onnx__NodeProto *node = ncnn_node(n, type, 2);
  said_take(&n->s, node, value);
  if (other)
    said_take(&n->s, node, other);
  return node;
}

/* A weight of the layer, without its values. */
static const char *weight(struct ncnn *n, const char *name, const int64_t *dims,
                          int rank) {
  Onnx__TensorProto *c =
      said_tensor(&n->s, graph_text(n->graph, "%s.%s", n->s.at, name),
                  TYPE_FLOAT, dims, rank);
  said_stored(&n->s, c, "net.bin/", 0, 0);
  return c->name;
}

static const char *row_of_weights(struct ncnn *n, const char *name,
                                  int64_t count) {
  return weight(n, name, &count, 1);
}

static bool say_unknown(struct ncnn *n) {
  char type[65];
  snprintf(type, sizeof type, "%.*s",
           (int)(n->type.length < 64 ? n->type.length : 64), n->type.at);
  Onnx__NodeProto *node = ncnn_node(n, type, 0);
  node->domain = said_copy(&n->s, "ncnn");
  for (size_t i = 0; i < n->ins.count; i++)
    said_take(&n->s, node, n->ins.at[i]);
  for (size_t i = 0; i < n->outs.count; i++)
    said_give(&n->s, node, n->outs.at[i]);
  return true;
}

bool ncnn_say(struct ncnn *n) {
  n->row = NULL;
  for (size_t i = 0; i < ROWS && !n->row; i++)
    if (slice_is(n->type, rows[i].type))
      n->row = &rows[i];
  bool source =
      n->row && (n->row->say == ncnn_input || n->row->say == ncnn_memory);
  if (n->outs.count == 0 || (!source && n->ins.count == 0))
    return ncnn_fail(n, "it has no blob to read or to make");
  for (size_t i = 0; i < n->ins.count; i++)
    if (n->row && n->row->say != ncnn_boxes && ncnn_is_left(n, n->ins.at[i])) {
      ncnn_leave(n); /* priors of boxes, joined */
      return true;
    }
  return n->row ? n->row->say(n) : say_unknown(n);
}

/* The activation that some layers have: 9 its kind, 10 its numbers. */
static bool give_active(struct ncnn *n, Onnx__NodeProto *node, int axes) {
  static const char *const names[] = {"",        "Relu", "LeakyRelu", "Clip",
                                      "Sigmoid", "Mish", "HardSwish"};
  int64_t kind = ncnn_int(n, 9, 0);
  const double *numbers = n->params[10].values;
  if (kind == 0)
    return ncnn_give(n, node, axes);
  if (kind < 0 || kind >= (int64_t)(sizeof names / sizeof *names))
    return ncnn_fail(n, "its activation %lld is not supported",
                     (long long)kind);
  const char *between = said_between(&n->s, node);
  node = ncnn_with(n, names[kind], between, NULL);
  if (kind == 2)
    emit_real(&n->s.x, node, "alpha", numbers[0]);
  if (kind == 3) {
    said_take(&n->s, node, said_real(&n->s, numbers[0]));
    said_take(&n->s, node, said_real(&n->s, numbers[1]));
  }
  return ncnn_give(n, node, axes);
}

/* Sources */

/* 0 w, 1 h, 2 c; without them the command line gives the sizes. */
bool ncnn_input(struct ncnn *n) {
  int64_t dims[4] = {1, -1, -1, -1};
  int axes = 0;
  for (int i = 2; i >= 0; i--)
    if (ncnn_int(n, i, 0) > 0 && ncnn_int(n, i, 0) < MOST_SIZE)
      dims[++axes] = ncnn_int(n, i, 0);
  axes = axes ? axes : 3;
  *VEC_PUSH(n->graph->arena, &n->s.inputs) =
      said_info(&n->s, n->outs.at[0], TYPE_FLOAT, dims, axes + 1);
  ncnn_set_axes(n, n->outs.at[0], axes);
  return true;
}

bool ncnn_memory(struct ncnn *n) {
  int64_t dims[4] = {1};
  int axes = 0;
  for (int i = 2; i >= 0; i--)
    if (ncnn_int(n, i, 0) > 0 && ncnn_int(n, i, 0) < MOST_SIZE)
      dims[++axes] = ncnn_int(n, i, 0);
  Onnx__NodeProto *node = said_node(&n->s, "Identity", 1, 1);
  said_take(&n->s, node, weight(n, "data", dims, axes + 1));
  return ncnn_give(n, node, axes);
}

/* Layers with weights */

/* Both numbers of a window: of y, which is x's if left out, and of x. */
static void pair_of(const struct ncnn *n, int x, int y, int64_t usual,
                    int64_t *to) {
  to[1] = ncnn_int(n, x, usual);
  to[0] = ncnn_int(n, y, to[1]);
}

/* Pads of 4 left, 14 top, 15 right, 16 bottom; -233 and -234: SAME. */
static void put_pads(struct ncnn *n, Onnx__NodeProto *node, int left, int top,
                     int right, int bottom) {
  int64_t pads[4] = {0, ncnn_int(n, left, 0), 0, 0};
  pads[0] = ncnn_int(n, top, pads[1]);
  pads[2] = ncnn_int(n, bottom, pads[0]);
  pads[3] = ncnn_int(n, right, pads[1]);
  if (pads[1] == -233 || pads[1] == -234)
    emit_text(&n->s.x, node, "auto_pad",
              pads[1] == -233 ? "SAME_UPPER" : "SAME_LOWER");
  else
    emit_ints(&n->s.x, node, "pads", pads, 4);
}

/* 0 outputs, 1 and 11 kernel, 2 and 12 dilation, 3 and 13 stride, 5 bias,
 * 6 weights in all, 7 groups. */
bool ncnn_conv(struct ncnn *n) {
  bool back = strcmp(n->row->onnx, "ConvTranspose") == 0;
  bool line = slice_is(n->type, "Convolution1D");
  int64_t outs = ncnn_int(n, 0, 0), groups = ncnn_int(n, 7, 1);
  int64_t all = ncnn_int(n, 6, 0), kernel[2], stride[2], dilation[2];
  pair_of(n, 1, 11, 1, kernel);
  pair_of(n, 2, 12, 1, dilation);
  pair_of(n, 3, 13, 1, stride);
  kernel[0] = line ? 1 : kernel[0];
  int64_t area = kernel[0] < 1 || kernel[1] < 1 || kernel[0] > 1 << 15 ||
                         kernel[1] > 1 << 15
                     ? 0
                     : kernel[0] * kernel[1];
  if (outs < 1 || outs > MOST_SIZE || groups < 1 || outs % groups || !area ||
      line)
    return ncnn_fail(n, "its sizes are not supported");
  int64_t ins = all / (outs / groups) / area;
  if (ins < 1 || all != ins * (outs / groups) * area)
    return ncnn_fail(n, "6=%lld weights are not of %lld outputs of %lldx%lld",
                     (long long)all, (long long)outs, (long long)kernel[0],
                     (long long)kernel[1]);
  const int64_t plain[4] = {outs, ins / groups, kernel[0], kernel[1]};
  const int64_t turned[4] = {ins, outs / groups, kernel[0], kernel[1]};
  Onnx__NodeProto *node =
      ncnn_with(n, n->row->onnx, ncnn_in(n),
                weight(n, "weight", back ? turned : plain, 4));
  if (ncnn_int(n, 5, 0))
    said_take(&n->s, node, row_of_weights(n, "bias", outs));
  emit_int(&n->s.x, node, "group", groups);
  emit_ints(&n->s.x, node, "strides", stride, 2);
  emit_ints(&n->s.x, node, "dilations", dilation, 2);
  put_pads(n, node, 4, 14, 15, 16);
  if (back) {
    int64_t more[2];
    pair_of(n, 18, 19, 0, more);
    emit_ints(&n->s.x, node, "output_padding", more, 2);
  }
  return give_active(n, node, 3);
}

/* 0 outputs, 1 bias, 2 weights in all; it reads all values of a map. */
bool ncnn_dense(struct ncnn *n) {
  int64_t outs = ncnn_int(n, 0, 0), all = ncnn_int(n, 2, 0);
  if (outs < 1 || outs > MOST_SIZE || all < outs || all % outs)
    return ncnn_fail(n, "its sizes are not supported");
  const int64_t dims[2] = {outs, all / outs};
  const char *value = ncnn_in(n);
  if (ncnn_axes_in(n) != 1)
    value = said_between(&n->s, ncnn_with(n, "Flatten", value, NULL));
  Onnx__NodeProto *node =
      ncnn_with(n, "Gemm", value, weight(n, "weight", dims, 2));
  emit_int(&n->s.x, node, "transB", 1);
  if (ncnn_int(n, 1, 0))
    said_take(&n->s, node, row_of_weights(n, "bias", outs));
  return give_active(n, node, 1);
}

/* Rows times a matrix of outputs and inputs, and a bias. */
static Onnx__NodeProto *rows_times(struct ncnn *n, const char *value,
                                   const char *name, const int64_t dims[2],
                                   bool bias) {
  static const int64_t turned[2] = {1, 0};
  Onnx__NodeProto *node = ncnn_with(
      n, "Transpose",
      weight(n, graph_text(n->graph, "%sweight", name), dims, 2), NULL);
  emit_ints(&n->s.x, node, "perm", turned, 2);
  node = ncnn_with(n, "MatMul", value, said_between(&n->s, node));
  if (bias)
    node = ncnn_with(
        n, "Add", said_between(&n->s, node),
        row_of_weights(n, graph_text(n->graph, "%sbias", name), dims[0]));
  return node;
}

/* A dense layer: 3 B is transposed, 5 B and 6 C are in the file, 8 N, 9 K. */
bool ncnn_gemm(struct ncnn *n) {
  const int64_t dims[2] = {ncnn_int(n, 8, 0), ncnn_int(n, 9, 0)};
  if (ncnn_int(n, 2, 0) || !ncnn_int(n, 3, 0) || ncnn_int(n, 4, 0) ||
      !ncnn_int(n, 5, 0) || n->ins.count != 1 || ncnn_real(n, 0, 1) != 1 ||
      dims[0] < 1 || dims[1] < 1 || dims[0] > MOST_SIZE || dims[1] > MOST_SIZE)
    return ncnn_fail(n, "only rows times a matrix of weights are supported");
  bool bias = ncnn_int(n, 6, 0) && ncnn_int(n, 10, 0) != -1;
  return ncnn_give(n, rows_times(n, ncnn_in(n), "", dims, bias),
                   ncnn_axes_in(n));
}

/* True for "x_splitncnn_1" and "x_splitncnn_0". */
static bool is_copy(const char *a, const char *b) {
  const char *end = strstr(a, "_splitncnn_");
  return strcmp(a, b) == 0 ||
         (end && strncmp(a, b, (size_t)(end - a) + 11) == 0);
}

/* 0 width, 1 heads, 2 values of a matrix, 3 and 4 widths of keys and values:
 * ONNX Runtime's operator has three of the four matrices, as one. */
bool ncnn_attention(struct ncnn *n) {
  int64_t width = ncnn_int(n, 0, 0), heads = ncnn_int(n, 1, 1);
  const int64_t dims[2] = {width, width}, three[2] = {width, 3 * width};
  bool same = n->ins.count == 1 ||
              (n->ins.count == 3 && is_copy(n->ins.at[0], n->ins.at[1]) &&
               is_copy(n->ins.at[0], n->ins.at[2]));
  if (width < 1 || width > 1 << 20 || heads < 1 || width % heads ||
      ncnn_int(n, 2, 0) != width * width || ncnn_int(n, 3, width) != width ||
      ncnn_int(n, 4, width) != width || ncnn_int(n, 5, 0) || !same ||
      n->params[6].given)
    return ncnn_fail(n, "only attention of a tensor to itself is supported");
  Onnx__NodeProto *node = ncnn_node(n, "Attention", 3);
  node->domain = said_copy(&n->s, "com.microsoft");
  emit_int(&n->s.x, node, "num_heads", heads);
  said_take(&n->s, node, ncnn_in(n));
  said_take(&n->s, node, weight(n, "qkv.weight", three, 2));
  said_take(&n->s, node, row_of_weights(n, "qkv.bias", 3 * width));
  return ncnn_give(n,
                   rows_times(n, said_between(&n->s, node), "out.", dims, true),
                   ncnn_axes_in(n));
}

bool ncnn_embed(struct ncnn *n) {
  const int64_t dims[2] = {ncnn_int(n, 1, 0), ncnn_int(n, 0, 0)};
  if (dims[0] < 1 || dims[1] < 1 || dims[0] > MOST_SIZE || dims[1] > MOST_SIZE)
    return ncnn_fail(n, "its sizes are not supported");
  return ncnn_give(
      n, ncnn_with(n, "Gather", weight(n, "weight", dims, 2), ncnn_in(n)), 2);
}

static bool channels_of(struct ncnn *n, int id, int64_t *channels) {
  *channels = ncnn_int(n, id, 0);
  return (*channels > 0 && *channels < MOST_SIZE) ||
         ncnn_fail(n, "%d=%lld is no number of channels", id,
                   (long long)*channels);
}

bool ncnn_batch_norm(struct ncnn *n) {
  static const char *const names[] = {"weight", "bias", "running_mean",
                                      "running_var"};
  int64_t channels;
  if (!channels_of(n, 0, &channels))
    return false;
  Onnx__NodeProto *node = ncnn_node(n, "BatchNormalization", 4);
  said_take(&n->s, node, ncnn_in(n));
  for (int i = 0; i < 4; i++)
    said_take(&n->s, node, row_of_weights(n, names[i], channels));
  emit_real(&n->s.x, node, "epsilon", ncnn_real(n, 1, 0));
  return ncnn_give(n, node, ncnn_axes_in(n));
}

/* A weight for each channel, in front of the axes of a map. */
static const char *by_channel(struct ncnn *n, const char *name,
                              int64_t channels) {
  const int64_t dims[3] = {channels, 1, 1};
  return weight(n, name, dims, ncnn_axes_in(n) ? ncnn_axes_in(n) : 3);
}

/* 0 channels, 1 bias; -233: the factors are another blob. */
bool ncnn_scale(struct ncnn *n) {
  int64_t channels;
  if (ncnn_int(n, 0, 0) == -233 && n->ins.count > 1)
    return ncnn_give(
        n,
        ncnn_with(n, "Mul", ncnn_in(n),
                  ncnn_by_channels(n, n->ins.at[1], ncnn_axes(n, n->ins.at[1]),
                                   ncnn_axes_in(n))),
        ncnn_axes_in(n));
  if (!channels_of(n, 0, &channels))
    return false;
  Onnx__NodeProto *node =
      ncnn_with(n, "Mul", ncnn_in(n), by_channel(n, "weight", channels));
  if (ncnn_int(n, 1, 0))
    node = ncnn_with(n, "Add", said_between(&n->s, node),
                     by_channel(n, "bias", channels));
  return ncnn_give(n, node, ncnn_axes_in(n));
}

bool ncnn_prelu(struct ncnn *n) {
  int64_t slopes;
  return channels_of(n, 0, &slopes) &&
         ncnn_give(
             n,
             ncnn_with(n, "PRelu", ncnn_in(n), by_channel(n, "weight", slopes)),
             ncnn_axes_in(n));
}

/* GroupNorm: 0 groups, 1 channels, 2 eps; else 0 size, 1 eps. */
bool ncnn_norm(struct ncnn *n) {
  bool group = slice_is(n->type, "GroupNorm");
  int64_t channels;
  if (!channels_of(n, group, &channels))
    return false;
  if (!ncnn_int(n, 2 + group, 1))
    return ncnn_fail(n, "without factors it is not supported");
  Onnx__NodeProto *node = ncnn_with(n, n->row->onnx, ncnn_in(n),
                                    row_of_weights(n, "weight", channels));
  said_take(&n->s, node, row_of_weights(n, "bias", channels));
  if (group)
    emit_int(&n->s.x, node, "num_groups", ncnn_int(n, 0, 1));
  emit_real(&n->s.x, node, "epsilon", ncnn_real(n, 1 + group, 0.001));
  return ncnn_give(n, node, ncnn_axes_in(n));
}

bool ncnn_lrn(struct ncnn *n) {
  if (ncnn_int(n, 0, 0) != 0)
    return ncnn_fail(n, "within a channel it is not supported");
  Onnx__NodeProto *node = ncnn_with(n, "LRN", ncnn_in(n), NULL);
  emit_int(&n->s.x, node, "size", ncnn_int(n, 1, 5));
  emit_real(&n->s.x, node, "alpha", ncnn_real(n, 2, 1));
  emit_real(&n->s.x, node, "beta", ncnn_real(n, 3, 0.75));
  emit_real(&n->s.x, node, "bias", ncnn_real(n, 4, 1));
  return ncnn_give(n, node, ncnn_axes_in(n));
}

/* Maps */

/* 0 kind, 1 and 11 kernel, 2 and 12 stride, 3 13 14 15 pads, 4 global, 5 how
 * the last window ends, 6 zeros count, 7 adaptive to 8 and 18. */
bool ncnn_pool(struct ncnn *n) {
  bool mean = ncnn_int(n, 0, 0) == 1;
  int64_t kernel[2], stride[2], sizes[2], ends = ncnn_int(n, 5, 0);
  Onnx__NodeProto *node;
  if (ncnn_int(n, 4, 0)) { /* its output has channels alone */
    node = ncnn_with(n, mean ? "GlobalAveragePool" : "GlobalMaxPool",
                     ncnn_in(n), NULL);
    return ncnn_give(
        n, ncnn_with(n, "Flatten", said_between(&n->s, node), NULL), 1);
  }
  pair_of(n, 8, 18, 0, sizes);
  if (ncnn_int(n, 7, 0) && (!mean || sizes[0] < 1))
    return ncnn_fail(n, "to these sizes it is not supported");
  if (ncnn_int(n, 7, 0)) {
    node = ncnn_with(n, "AdaptiveAveragePool", ncnn_in(n), NULL);
    emit_ints(&n->s.x, node, "output_size", sizes, 2);
    return ncnn_give(n, node, 3);
  }
  pair_of(n, 1, 11, 1, kernel);
  pair_of(n, 2, 12, 1, stride);
  node = ncnn_with(n, mean ? "AveragePool" : "MaxPool", ncnn_in(n), NULL);
  emit_ints(&n->s.x, node, "kernel_shape", kernel, 2);
  emit_ints(&n->s.x, node, "strides", stride, 2);
  emit_int(&n->s.x, node, "ceil_mode", ends == 0);
  if (mean)
    emit_int(&n->s.x, node, "count_include_pad", ncnn_int(n, 6, 0));
  if (ends > 1)
    emit_text(&n->s.x, node, "auto_pad",
              ends == 2 ? "SAME_UPPER" : "SAME_LOWER");
  else
    put_pads(n, node, 3, 13, 14, 15);
  return ncnn_give(n, node, 3);
}

/* 0 kind, 1 and 2 factors of h and w, 3 and 4 sizes, 6 corners meet. */
bool ncnn_interp(struct ncnn *n) {
  static const char *const modes[] = {"", "nearest", "linear", "cubic"};
  int64_t mode = ncnn_int(n, 0, 0), high = ncnn_int(n, 3, 0),
          wide = ncnn_int(n, 4, 0);
  if (mode < 1 || mode > 3 || n->ins.count > 1)
    return ncnn_fail(n, "its way of resizing is not supported");
  Onnx__NodeProto *node = ncnn_node(n, "Resize", 4);
  said_take(&n->s, node, ncnn_in(n));
  said_take(&n->s, node, NULL);
  const int64_t axes[2] = {2, 3}, sizes[2] = {high, wide};
  if (high > 0 && wide > 0) {
    said_take(&n->s, node, NULL);
    said_take(&n->s, node, said_ints(&n->s, sizes, 2));
  } else {
    const double by[2] = {ncnn_real(n, 1, 1), ncnn_real(n, 2, 1)};
    said_take(&n->s, node, said_list(&n->s, by, 2));
  }
  emit_ints(&n->s.x, node, "axes", axes, 2);
  emit_text(&n->s.x, node, "mode", modes[mode]);
  emit_text(&n->s.x, node, "coordinate_transformation_mode",
            mode == 1               ? "asymmetric"
            : ncnn_int(n, 6, 0) > 0 ? "align_corners"
                                    : "half_pixel");
  if (mode == 1)
    emit_text(&n->s.x, node, "nearest_mode", "floor");
  return ncnn_give(n, node, 3);
}

bool ncnn_padding(struct ncnn *n) {
  static const char *const modes[] = {"constant", "edge", "reflect"};
  int64_t mode = ncnn_int(n, 4, 0);
  const int64_t pads[8] = {0, 0, ncnn_int(n, 0, 0), ncnn_int(n, 2, 0),
                           0, 0, ncnn_int(n, 1, 0), ncnn_int(n, 3, 0)};
  if (mode < 0 || mode > 2 || ncnn_axes_in(n) != 3)
    return ncnn_fail(n, "its way of padding is not supported");
  Onnx__NodeProto *node =
      ncnn_with(n, "Pad", ncnn_in(n), said_ints(&n->s, pads, 8));
  said_take(&n->s, node, said_real(&n->s, ncnn_real(n, 5, 0)));
  emit_text(&n->s.x, node, "mode", modes[mode]);
  return ncnn_give(n, node, 3);
}
