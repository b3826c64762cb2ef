/* Calls that are layers: convolutions, products, norms, pooling, recurrent
 * layers, attention. */
#include <string.h>

#include "import/exported/exported.h"

enum { WINDOW_AXES = 3 };

/* Windows */

/* Numbers of all axes, where one stands for all; false with an error. */
static bool window_ints(struct exported *p, const char *name, int axes,
                        int64_t usual, int64_t *to) {
  int count = exported_ints(p, name, to, axes);
  for (int i = count; count >= 0 && i < axes; i++)
    to[i] = count == 1 ? to[0] : usual;
  return count >= 0;
}

static bool put_window(struct exported *p, Onnx__NodeProto *node, int axes,
                       const int64_t *kernel) {
  int64_t stride[WINDOW_AXES], pads[2 * WINDOW_AXES], dilation[WINDOW_AXES];
  const char *same = exported_word(p, "padding");
  if (!window_ints(p, "stride", axes, 0, stride) ||
      !window_ints(p, "padding", axes, 0, pads) ||
      !window_ints(p, "dilation", axes, 1, dilation))
    return false;
  for (int i = 0; i < axes; i++) {
    stride[i] = stride[i] ? stride[i] : kernel ? kernel[i] : 1;
    pads[axes + i] = pads[i];
  }
  emit_ints(&p->s.x, node, "strides", stride, axes);
  emit_ints(&p->s.x, node, "dilations", dilation, axes);
  if (same)
    emit_text(&p->s.x, node, "auto_pad",
              strcmp(same, "same") == 0 ? "SAME_UPPER" : "VALID");
  else
    emit_ints(&p->s.x, node, "pads", pads, 2 * axes);
  return true;
}

bool call_conv(struct exported *p) {
  struct meta weight;
  int64_t more[WINDOW_AXES];
  if (!exported_meta_of(p, "weight", &weight))
    return false;
  int axes = weight.rank - 2;
  bool back = strcmp(p->row->onnx, "ConvTranspose") == 0 ||
              exported_true(p, "transposed", false);
  if (axes < 1 || axes > WINDOW_AXES)
    return exported_fail(p, "its weights have %d axes", weight.rank);
  Onnx__NodeProto *node = exported_node(p, back ? "ConvTranspose" : "Conv", 3);
  said_take(&p->s, node, exported_tensor(p, "input"));
  said_take(&p->s, node, exported_tensor(p, "weight"));
  if (exported_tensor(p, "bias"))
    said_take(&p->s, node, exported_tensor(p, "bias"));
  emit_int(&p->s.x, node, "group", exported_int(p, "groups", 1));
  if (!put_window(p, node, axes, NULL) ||
      !window_ints(p, "output_padding", axes, 0, more))
    return false;
  if (back)
    emit_ints(&p->s.x, node, "output_padding", more, axes);
  return exported_give(p, node, 0);
}

bool call_pool(struct exported *p) {
  int64_t kernel[WINDOW_AXES];
  int axes = p->row->name[strlen("max_pool")] - '0';
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 1);
  if (exported_arg(p, "divisor_override"))
    return exported_fail(p, "`divisor_override` is not supported");
  said_take(&p->s, node, exported_tensor(p, "self"));
  if (!window_ints(p, "kernel_size", axes, 1, kernel) ||
      !put_window(p, node, axes, kernel))
    return false;
  emit_ints(&p->s.x, node, "kernel_shape", kernel, axes);
  emit_int(&p->s.x, node, "ceil_mode", exported_true(p, "ceil_mode", false));
  if (strcmp(p->row->onnx, "AveragePool") == 0)
    emit_int(&p->s.x, node, "count_include_pad",
             exported_true(p, "count_include_pad", true));
  return exported_give(p, node, 0);
}

/* To 1 on each axis it is a mean of the map. */
bool call_adaptive_pool(struct exported *p) {
  struct meta out;
  bool whole = true, max = strcmp(p->row->onnx, "GlobalMaxPool") == 0;
  if (!exported_out_meta(p, 0, &out))
    return false;
  int axes = p->row->name[strlen("adaptive_avg_pool")] - '0';
  if (out.rank < axes + 1)
    return exported_fail(p, "its output has %d axes", out.rank);
  const int64_t *sizes = out.dims + out.rank - axes;
  for (int i = 0; i < axes; i++)
    whole = whole && sizes[i] == 1;
  if (!whole && max)
    return exported_fail(p, "its `output_size` is not supported");
  Onnx__NodeProto *node =
      exported_node(p, whole ? p->row->onnx : "AdaptiveAveragePool", 1);
  said_take(&p->s, node, exported_tensor(p, "self"));
  if (!whole)
    emit_ints(&p->s.x, node, "output_size", sizes, axes);
  return exported_give(p, node, 0);
}

bool call_upsample(struct exported *p) {
  bool nearest = strstr(p->row->name, "nearest");
  bool cubic = strstr(p->row->name, "cubic");
  bool corners = exported_true(p, "align_corners", false);
  struct meta in, out;
  Onnx__NodeProto *node = exported_node(p, "Resize", 4);
  const char *value = exported_tensor(p, "input");
  if (!exported_meta_of(p, value ? "input" : "self", &in) ||
      !exported_out_meta(p, 0, &out))
    return false;
  for (int i = 0; i < out.rank; i++)
    if (out.dims[i] < 0)
      out.dims[i] = 1; /* of one sample */
  said_take(&p->s, node, value ? value : exported_tensor(p, "self"));
  said_take(&p->s, node, NULL);
  said_take(&p->s, node, NULL);
  said_take(&p->s, node, said_ints(&p->s, out.dims, out.rank));
  emit_text(&p->s.x, node, "mode",
            nearest ? "nearest"
            : cubic ? "cubic"
                    : "linear");
  emit_text(&p->s.x, node, "coordinate_transformation_mode",
            nearest   ? "asymmetric"
            : corners ? "align_corners"
                      : "pytorch_half_pixel");
  if (nearest)
    emit_text(&p->s.x, node, "nearest_mode", "floor");
  if (cubic)
    emit_real(&p->s.x, node, "cubic_coeff_a", -0.75);
  return exported_give(p, node, 0);
}

/* Products */

static const char *turned(struct exported *p, const char *value) {
  static const int64_t order[2] = {1, 0};
  Onnx__NodeProto *node = exported_node(p, "Transpose", 1);
  said_take(&p->s, node, value);
  emit_ints(&p->s.x, node, "perm", order, 2);
  return said_between(&p->s, node);
}

bool call_linear(struct exported *p) {
  const char *bias = exported_tensor(p, "bias");
  struct meta in;
  if (!exported_meta_of(p, "input", &in))
    return false;
  bool rows = in.rank == 2;
  const char *weight = exported_tensor(p, "weight");
  Onnx__NodeProto *node;
  if (!rows)
    weight = turned(p, weight);
  node = exported_node(p, rows ? "Gemm" : "MatMul", 3);
  said_take(&p->s, node, exported_tensor(p, "input"));
  said_take(&p->s, node, weight);
  if (rows)
    emit_int(&p->s.x, node, "transB", 1);
  if (rows && bias)
    said_take(&p->s, node, bias);
  if (rows || !bias)
    return exported_give(p, node, 0);
  const char *product = said_between(&p->s, node);
  node = exported_node(p, "Add", 2);
  said_take(&p->s, node, product);
  said_take(&p->s, node, bias);
  return exported_give(p, node, 0);
}

/* beta * self + alpha * mat1 mat2 */
bool call_addmm(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, "Gemm", 3);
  said_take(&p->s, node, exported_tensor(p, "mat1"));
  said_take(&p->s, node, exported_tensor(p, "mat2"));
  said_take(&p->s, node, exported_tensor(p, "self"));
  emit_real(&p->s.x, node, "alpha", exported_real(p, "alpha", 1));
  emit_real(&p->s.x, node, "beta", exported_real(p, "beta", 1));
  return exported_give(p, node, 0);
}

bool call_einsum(struct exported *p) {
  const char *equation = exported_word(p, "equation"), *value;
  size_t count = 0;
  while (exported_item(p, "tensors", count))
    count++;
  Onnx__NodeProto *node = exported_node(p, "Einsum", count);
  for (size_t i = 0; (value = exported_item(p, "tensors", i)); i++)
    said_take(&p->s, node, value);
  emit_text(&p->s.x, node, "equation", equation ? equation : "");
  return exported_give(p, node, 0);
}

bool call_embedding(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, "Gather", 2);
  said_take(&p->s, node, exported_tensor(p, "weight"));
  said_take(&p->s, node, exported_tensor(p, "indices"));
  return exported_give(p, node, 0);
}

bool call_attention(struct exported *p) {
  static const char *const names[] = {"query", "key", "value", "attn_mask"};
  Onnx__NodeProto *node = exported_node(p, "Attention", 4);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = exported_tensor(p, names[i]);
    if (value)
      said_take(&p->s, node, value);
  }
  if (exported_true(p, "is_causal", false))
    emit_int(&p->s.x, node, "is_causal", 1);
  int64_t module = exported_int(p, "module", 0); /* import/python/torch.py */
  if (module)
    emit_int(&p->s.x, node, "module", module);
  static const char *const reals[] = {"scale", "dropout_p"};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    double value = exported_real(p, reals[i], 0);
    if (value > 0)
      emit_real(&p->s.x, node, reals[i], value);
  }
  return exported_give(p, node, 0);
}

/* Norms */

/* A factor or term of a norm; without one, ones or zeros. */
static const char *learned(struct exported *p, const char *name, double usual,
                           int64_t count) {
  const char *value = exported_tensor(p, name);
  return value || count < 1 || count > MOST_SIZE
             ? value
             : said_reals(&p->s, usual, count);
}

bool call_batch_norm(struct exported *p) {
  struct meta in;
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 5);
  if (!exported_meta_of(p, "input", &in))
    return false;
  int64_t channels = in.rank > 1 ? in.dims[1] : 0;
  said_take(&p->s, node, exported_tensor(p, "input"));
  said_take(&p->s, node, learned(p, "weight", 1, channels));
  said_take(&p->s, node, learned(p, "bias", 0, channels));
  said_take(&p->s, node, exported_tensor(p, "running_mean"));
  said_take(&p->s, node, exported_tensor(p, "running_var"));
  emit_real(&p->s.x, node, "epsilon", exported_real(p, "eps", 1e-5));
  return exported_give(p, node, 0);
}

bool call_layer_norm(struct exported *p) {
  bool mean = strstr(p->row->name, "layer");
  struct meta in;
  int64_t sizes[MOST_AXES], count = 1;
  int axes = exported_ints(p, "normalized_shape", sizes, MOST_AXES);
  if (axes < 0 || !exported_meta_of(p, "input", &in))
    return false;
  for (int i = 0; i < axes && count < MOST_SIZE; i++)
    count *= sizes[i] > 0 ? sizes[i] : 1;
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 3);
  said_take(&p->s, node, exported_tensor(p, "input"));
  said_take(&p->s, node, learned(p, "weight", 1, count));
  if (mean && exported_tensor(p, "bias"))
    said_take(&p->s, node, exported_tensor(p, "bias"));
  emit_int(&p->s.x, node, "axis", -axes);
  emit_real(&p->s.x, node, "epsilon",
            exported_real(p, "eps", mean ? 1e-5 : 1.1920928955078125e-7));
  return exported_give(p, node, 0);
}

bool call_group_norm(struct exported *p) {
  struct meta in;
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 3);
  if (!exported_meta_of(p, "input", &in))
    return false;
  int64_t channels = in.rank > 1 ? in.dims[1] : 0;
  said_take(&p->s, node, exported_tensor(p, "input"));
  said_take(&p->s, node, learned(p, "weight", 1, channels));
  said_take(&p->s, node, learned(p, "bias", 0, channels));
  emit_int(&p->s.x, node, "num_groups", exported_int(p, "num_groups", 1));
  emit_real(&p->s.x, node, "epsilon", exported_real(p, "eps", 1e-5));
  return exported_give(p, node, 0);
}

bool call_instance_norm(struct exported *p) {
  struct meta in;
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 3);
  if (!exported_meta_of(p, "input", &in))
    return false;
  if (exported_tensor(p, "running_mean"))
    return exported_fail(p, "running statistics are not supported");
  int64_t channels = in.rank > 1 ? in.dims[1] : 0;
  said_take(&p->s, node, exported_tensor(p, "input"));
  said_take(&p->s, node, learned(p, "weight", 1, channels));
  said_take(&p->s, node, learned(p, "bias", 0, channels));
  emit_real(&p->s.x, node, "epsilon", exported_real(p, "eps", 1e-5));
  return exported_give(p, node, 0);
}

/* A slope for each channel belongs to the second axis. */
bool call_prelu(struct exported *p) {
  struct meta in, slope;
  int64_t dims[MOST_AXES];
  const char *value = exported_tensor(p, "weight");
  if (!exported_meta_of(p, "self", &in) ||
      !exported_meta_of(p, "weight", &slope))
    return false;
  for (int i = 1; i < in.rank; i++)
    dims[i - 1] = i == 1 && slope.rank == 1 ? slope.dims[0] : 1;
  if (in.rank > 2) {
    Onnx__NodeProto *node = exported_node(p, "Reshape", 2);
    said_take(&p->s, node, value);
    said_take(&p->s, node, said_ints(&p->s, dims, in.rank - 1));
    value = said_between(&p->s, node);
  }
  Onnx__NodeProto *node = exported_node(p, "PRelu", 2);
  said_take(&p->s, node, exported_tensor(p, "self"));
  said_take(&p->s, node, value);
  return exported_give(p, node, 0);
}

/* Recurrent layers */

/* PyTorch has the gates i f g o and r z n, ONNX i o f c and z r h. */
struct gates {
  const char *onnx;
  int count, order[4];
};

static const struct gates cells[] = {{"LSTM", 4, {0, 3, 1, 2}},
                                     {"GRU", 3, {1, 0, 2, 0}},
                                     {"RNN", 1, {0, 0, 0, 0}}};

static const struct gates *gates_of(const char *onnx) {
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    if (strcmp(cells[i].onnx, onnx) == 0)
      return &cells[i];
  return NULL;
}

static const char *part_of(struct exported *p, const char *value, int64_t from,
                           int64_t to, int64_t axis) {
  Onnx__NodeProto *node = exported_node(p, "Slice", 4);
  said_take(&p->s, node, value);
  said_take(&p->s, node, said_ints(&p->s, &from, 1));
  said_take(&p->s, node, said_ints(&p->s, &to, 1));
  said_take(&p->s, node, said_ints(&p->s, &axis, 1));
  return said_between(&p->s, node);
}

static const char *joined(struct exported *p, const char *const *values,
                          int count, int64_t axis) {
  Onnx__NodeProto *node = exported_node(p, "Concat", (size_t)count);
  for (int i = 0; i < count; i++)
    said_take(&p->s, node, values[i]);
  emit_int(&p->s.x, node, "axis", axis);
  return said_between(&p->s, node);
}

static const char *unsqueezed(struct exported *p, const char *value) {
  static const int64_t axis = 0;
  Onnx__NodeProto *node = exported_node(p, "Unsqueeze", 2);
  said_take(&p->s, node, value);
  said_take(&p->s, node, said_ints(&p->s, &axis, 1));
  return said_between(&p->s, node);
}

static const char *reordered(struct exported *p, const struct gates *g,
                             const char *value, int64_t hidden) {
  const char *parts[4];
  for (int i = 0; i < g->count; i++)
    parts[i] =
        part_of(p, value, g->order[i] * hidden, (g->order[i] + 1) * hidden, 0);
  return g->count == 1 ? value : joined(p, parts, g->count, 0);
}

/* One matrix or both biases of each direction, stacked. */
static const char *stacked(struct exported *p, const struct gates *g,
                           size_t first, size_t step, int ways, bool biases,
                           int64_t hidden) {
  const char *all[2];
  for (int way = 0; way < ways; way++) {
    size_t at = first + (size_t)way * step;
    const char *value = exported_item(p, "params", at);
    const char *second = biases ? exported_item(p, "params", at + 1) : NULL;
    if (!value || (biases && !second))
      return NULL;
    const char *both[2] = {reordered(p, g, value, hidden), NULL};
    if (biases)
      both[1] = reordered(p, g, second, hidden);
    all[way] = unsqueezed(p, biases ? joined(p, both, 2, 0) : both[0]);
  }
  return ways == 1 ? all[0] : joined(p, all, ways, 0);
}

static const char *moved(struct exported *p, const char *value,
                         const int64_t *order, int rank) {
  Onnx__NodeProto *node = exported_node(p, "Transpose", 1);
  said_take(&p->s, node, value);
  emit_ints(&p->s.x, node, "perm", order, rank);
  return said_between(&p->s, node);
}

/* L, directions, B, H becomes L, B, directions x H. */
static const char *flat_output(struct exported *p, const char *value, int ways,
                               int64_t hidden) {
  static const int64_t order[4] = {0, 2, 1, 3};
  int64_t dims[3] = {0, 0, ways * hidden};
  Onnx__NodeProto *node;
  value = moved(p, value, order, 4);
  node = exported_node(p, "Reshape", 2);
  said_take(&p->s, node, value);
  said_take(&p->s, node, said_ints(&p->s, dims, 3));
  return said_between(&p->s, node);
}

struct recurrence {
  const struct gates *g;
  int ways;    /* directions */
  size_t each; /* tensors of a direction */
  int64_t hidden;
  const char *state[2]; /* of all layers: hidden, and the LSTM's cells */
};

static const char *one_layer(struct exported *p, const struct recurrence *r,
                             size_t layer, const char *in, const char **ends) {
  size_t first = layer * r->each * (size_t)r->ways;
  int64_t from = (int64_t)layer * r->ways, to = from + r->ways;
  const char *matrix =
      stacked(p, r->g, first, r->each, r->ways, false, r->hidden);
  const char *again =
      stacked(p, r->g, first + 1, r->each, r->ways, false, r->hidden);
  const char *bias = r->each > 2 ? stacked(p, r->g, first + 2, r->each, r->ways,
                                           true, r->hidden)
                                 : NULL;
  const char *state[2] = {NULL, NULL};
  bool cells_too = strcmp(r->g->onnx, "LSTM") == 0;
  if (!matrix || !again)
    return NULL;
  for (int i = 0; i < 1 + cells_too; i++)
    state[i] = r->state[i] ? part_of(p, r->state[i], from, to, 0) : NULL;
  Onnx__NodeProto *node = exported_node(p, r->g->onnx, 7);
  node->output = arena_alloc(p->graph->arena, 4, sizeof *node->output);
  said_take(&p->s, node, in);
  said_take(&p->s, node, matrix);
  said_take(&p->s, node, again);
  said_take(&p->s, node, bias);
  said_take(&p->s, node, NULL);
  said_take(&p->s, node, state[0]);
  if (cells_too)
    said_take(&p->s, node, state[1]);
  emit_int(&p->s.x, node, "hidden_size", r->hidden);
  emit_text(&p->s.x, node, "direction",
            r->ways == 2 ? "bidirectional" : "forward");
  if (strcmp(r->g->onnx, "GRU") == 0)
    emit_int(&p->s.x, node, "linear_before_reset", 1);
  const char *out = said_between(&p->s, node);
  for (size_t i = 0; i < 1 + (size_t)cells_too; i++) {
    ends[i] = exported_reads(p, i + 1)
                  ? graph_text(p->graph, "%s end %zu", out, i)
                  : "";
    said_give(&p->s, node, ends[i]);
  }
  return flat_output(p, out, r->ways, r->hidden);
}

/* A name that a node has given becomes output `index` of the call. */
static void rename_out(struct exported *p, size_t index, const char *value) {
  const char *name = exported_out(p, index);
  if (name)
    map_add(p->graph->arena, &p->names, slice_of(name))->pointer =
        said_copy(&p->s, value);
}

bool call_recurrent(struct exported *p) {
  static const int64_t swap[3] = {1, 0, 2};
  struct recurrence r = {.g = gates_of(p->row->onnx),
                         .ways = 1 + exported_true(p, "bidirectional", false),
                         .each = exported_true(p, "has_biases", true) ? 4 : 2};
  int64_t layers = exported_int(p, "num_layers", 1);
  bool first = exported_true(p, "batch_first", false);
  const char *value = exported_tensor(p, "input"), *ends[2][64];
  struct meta out;
  if (!value || layers < 1 || layers > 64 || !exported_out_meta(p, 0, &out) ||
      out.rank != 3 || out.dims[2] < r.ways)
    return exported_fail(p, "its sizes are not supported");
  r.hidden = out.dims[2] / r.ways;
  r.state[0] = exported_tensor(p, "hx");
  for (size_t i = 0; !r.state[0] && i < 2; i++)
    r.state[i] = exported_item(p, "hx", i);
  if (first)
    value = moved(p, value, swap, 3);
  for (size_t i = 0; value && i < (size_t)layers; i++) {
    const char *last[2] = {NULL, NULL};
    value = one_layer(p, &r, i, value, last);
    ends[0][i] = last[0];
    ends[1][i] = last[1];
  }
  if (!value)
    return exported_fail(p, "its parameters are not in the file");
  rename_out(p, 0, first ? moved(p, value, swap, 3) : value);
  for (size_t i = 0; i < 2; i++)
    if (exported_reads(p, i + 1))
      rename_out(p, i + 1,
                 layers == 1 ? ends[i][0] : joined(p, ends[i], (int)layers, 0));
  return true;
}
