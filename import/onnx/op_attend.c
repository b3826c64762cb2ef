/* Turns attention that was found into a layer with its parts' weights. */
#include <math.h>
#include <string.h>

#include "import/onnx/op_attention.h"

static void option(struct onnx *x, struct graph_node *node, const char *text) {
  graph_flag(x->graph, node, text);
}

/* The projections with biases; "" for all four. */
static const char *bias_text(struct onnx *x, const struct onnx_attention *a) {
  const int nodes[4] = {a->part[PART_Q].node, a->part[PART_K].node,
                        a->part[PART_V].node, a->out};
  char text[5] = "";
  for (int i = 0; i < 4; i++)
    if (graph_at(x->graph, nodes[i])->bias != BIAS_WITHOUT)
      strncat(text, &"q\0k\0v\0o"[2 * i], 1);
  return graph_text(x->graph, "%s", text);
}

/* Weights. */

/* Rows of a matrix, or values of a bias, in the layer's order. */
struct onnx_rows {
  int64_t *at;
  int64_t count;
};

/* Moves neighbours that rope rotates together to two halves. */
static int64_t feature_of(const struct rope *rope, int64_t i) {
  if (!rope->neighbours || i >= 2 * rope->half)
    return i;
  return i < rope->half ? 2 * i : 2 * (i - rope->half) + 1;
}

static void add_rows(struct onnx_rows *rows, const struct onnx_heads *h,
                     int64_t dim) {
  for (int64_t head = 0; head < h->count; head++)
    for (int64_t i = 0; i < dim; i++)
      rows->at[rows->count++] =
          h->first + head * h->step + feature_of(&h->trace.rope, i);
}

static const struct constant *picked(struct onnx *x, const struct constant *c,
                                     const struct onnx_rows *rows,
                                     double factor) {
  bool same = rows->count == c->dims[0] && fabs(factor - 1) <= 0;
  for (int64_t i = 0; same && i < rows->count; i++)
    same = rows->at[i] == i;
  if (same)
    return c;
  int64_t dims[2] = {rows->count, c->rank > 1 ? c->dims[1] : 1};
  struct constant *from = (struct constant *)c;
  struct constant *result = constant_new(x, c->type, c->rank, dims);
  result->trained = c->trained;
  result->name = c->name;
  result->origin = c->origin ? c->origin : c;
  result->unknown = true;
  if (!x->options->weights || c->unknown || !constant_load(x, from) ||
      !constant_room(x, result->count))
    return result;
  float *to = constant_reals(x, result->count);
  for (int64_t i = 0; i < result->count; i++)
    to[i] = (float)(factor * constant_real(c, rows->at[i / dims[1]] * dims[1] +
                                                  i % dims[1]));
  result->real = to;
  result->unknown = false;
  return result;
}

/* Takes weight and bias of one projection, or of all three. */
static void take_rows(struct onnx *x, struct graph_node *node, int from,
                      const struct onnx_rows *rows, double factor,
                      const char *weight, const char *bias) {
  const struct constant *w = onnx_find_weight(x, from, "weight");
  const struct constant *b = onnx_find_weight(x, from, "bias");
  onnx_add_weight(x, node, weight, picked(x, w, rows, factor));
  if (b)
    onnx_add_weight(x, node, bias, picked(x, b, rows, factor));
}

static void take_norm(struct onnx *x, const struct onnx_attention *a,
                      struct graph_node *node, int part, const char *weight,
                      const char *bias) {
  const struct onnx_trace *t = &a->part[part].trace;
  double factor = part == PART_Q ? a->factor : 1;
  struct onnx_rows rows = {.count = 0};
  if (t->norm < 0)
    return;
  int64_t features = trace_normed(x, t);
  rows.at = arena_alloc(x->arena, (size_t)features + 1, sizeof *rows.at);
  for (int64_t i = 0; i < features; i++)
    rows.at[rows.count++] = i - i % a->dim + feature_of(&t->rope, i % a->dim);
  take_rows(x, node, t->norm, &rows, factor, weight, bias);
}

static void take_projections(struct onnx *x, const struct onnx_attention *a,
                             struct graph_node *node) {
  static const char *const names[PART_PARTS][2] = {
      {"q_proj.weight", "q_proj.bias"},
      {"k_proj.weight", "k_proj.bias"},
      {"v_proj.weight", "v_proj.bias"}};
  size_t all = (size_t)((a->heads + 2 * a->kv) * a->dim);
  struct onnx_rows rows = {arena_alloc(x->arena, all + 1, sizeof *rows.at), 0};
  for (int i = 0; i < PART_PARTS; i++) {
    const struct onnx_heads *h = &a->part[i];
    bool scaled = i == PART_Q && h->trace.norm < 0;
    add_rows(&rows, h, a->dim);
    if (a->packed)
      continue;
    take_rows(x, node, h->node, &rows, scaled ? a->factor : 1, names[i][0],
              names[i][1]);
    rows.count = 0;
  }
  if (a->packed)
    take_rows(x, node, a->part[PART_Q].node, &rows, 1, "in_proj_weight",
              "in_proj_bias");
}

static void take_weights(struct onnx *x, const struct onnx_attention *a,
                         struct graph_node *node) {
  const struct constant *weight = onnx_find_weight(x, a->out, "weight");
  const struct constant *bias = onnx_find_weight(x, a->out, "bias");
  onnx_extra(x, node->index)->weights.count = 0;
  take_projections(x, a, node);
  take_norm(x, a, node, PART_Q, "q_norm.weight", "q_norm.bias");
  take_norm(x, a, node, PART_K, "k_norm.weight", "k_norm.bias");
  if (a->table)
    onnx_add_weight(x, node, "relative_position_bias_table", a->table);
  onnx_add_weight(x, node, "out_proj.weight", weight);
  if (bias)
    onnx_add_weight(x, node, "out_proj.bias", bias);
}

/* Arguments. */

/* Writes the norms and rotations of queries and keys. */
static void put_ways(struct onnx *x, const struct onnx_attention *a,
                     struct graph_node *node) {
  const struct onnx_trace *q = &a->part[PART_Q].trace;
  if (q->norm >= 0) {
    bool ln = graph_at(x->graph, q->norm)->word == WORD_LN;
    bool all = trace_normed(x, q) > a->dim;
    option(x, node,
           all  ? ln ? "qkln=all" : "qknorm=all"
           : ln ? "qkln"
                : "qknorm");
  }
  if (q->rope.half)
    rope_put(x, node, &q->rope, &a->part[PART_K].trace.rope, a->dim);
}

static void put_scores(struct onnx *x, const struct onnx_attention *a,
                       struct graph_node *node) {
  if (a->dropout)
    graph_arg(x->graph, node, PART_NONE, "dropout=", a->dropout);
  if (a->unscaled)
    option(x, node, "scale=none");
  if (a->softcap > 0)
    graph_arg(x->graph, node, PART_NONE,
              "softcap=", onnx_real_text(x, round(a->softcap * 1e4) / 1e4));
  if (a->table)
    graph_arg(x->graph, node, PART_NONE, "relative=", a->window_of);
  if (a->edges >= 0)
    shift_put(x, a, node);
}

static void put_projections(struct onnx *x, const struct onnx_attention *a,
                            struct graph_node *node) {
  const char *bias = bias_text(x, a);
  if (*bias == '\0')
    option(x, node, "nobias");
  else if (strcmp(bias, "qkvo") != 0)
    graph_arg(x->graph, node, PART_NONE, "bias=", bias);
  const struct onnx_heads *part = a->part;
  bool cross = part[PART_K].trace.base == part[PART_V].trace.base;
  if (a->packed || (a->module && cross))
    option(x, node, "packed");
  if (a->module)
    option(x, node, a->module < MODULE_FUSED_STEPS ? "sbhd" : "sbhd=all");
  if (a->module == MODULE_NAIVE || a->module == MODULE_NAIVE_STEPS)
    option(x, node, "naive");
}

/* Makes positions, or groups of them, one axis. The product's node, which has
 * no other use, becomes the reshape. */
static int flattened(struct onnx *x, const struct onnx_attention *a, int from,
                     struct graph_shape shape) {
  const struct graph_shape *in = graph_shape(x->graph, from);
  struct graph_node *node = graph_at(x->graph, a->product);
  shape.size[shape.rank - 1] = in->size[in->rank - 1];
  graph_become(node, WORD_RESHAPE, from);
  graph_arg(x->graph, node, PART_OTHER, "",
            graph_sizes(x->graph, shape.size, shape.rank));
  return node->index;
}

void attention_replace(struct onnx *x, const struct onnx_attention *a) {
  struct graph_node *node = graph_at(x->graph, a->out);
  int from = graph_at(x->graph, a->part[PART_Q].node)->inputs.at[0];
  int other = graph_at(x->graph, a->part[PART_K].node)->inputs.at[0];
  int values = graph_at(x->graph, a->part[PART_V].node)->inputs.at[0];
  const struct graph_shape had = *graph_shape(x->graph, a->out);
  bool apart = values != other;
  bool grid =
      !apart && other == from && graph_shape(x->graph, from)->rank > had.rank;
  if (a->flat)
    other = from =
        flattened(x, a, from, (struct graph_shape){2, {a->queries, 0}});
  else if (a->edges >= 0)
    other = from = values = shift_grid(x, a, from);
  else if (grid)
    other = from = values = flattened(x, a, from, had);
  const struct graph_shape *in = graph_shape(x->graph, from);
  int64_t channels = in->size[in->rank - 1];
  int64_t out = had.size[had.rank - 1];
  take_weights(x, a, node);
  graph_become(node, WORD_ATTENTION, from);
  graph_int(x->graph, node, PART_OTHER, "", a->heads);
  if (a->kv != a->heads)
    graph_int(x->graph, node, PART_NONE, "kv=", a->kv);
  if (a->heads * a->dim != channels)
    graph_int(x->graph, node, PART_NONE, "dim=", a->dim);
  if (a->window)
    graph_int(x->graph, node, PART_NONE, "window=", a->window);
  if (a->causal)
    option(x, node, "causal");
  put_ways(x, a, node);
  put_scores(x, a, node);
  put_projections(x, a, node);
  if (out != channels)
    graph_int(x->graph, node, PART_NONE, "out=", out);
  node->bias = BIAS_UNSAID;
  if (other != from) {
    node->key = "cross=";
    node->keyed = other;
  }
  if (apart)
    node->values = values;
  node->mask = a->mask;
}
