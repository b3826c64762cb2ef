/* Rows of a table that the distance of two positions selects, as in T5's biases
 * and SAM's relative positions: `distances` and an embedding. */
#include <math.h>
#include <string.h>

#include "import/onnx/reader.h"
#include "runtime/distance.h"

/* Arguments of `distances`. */
struct ruler {
  int32_t args[DISTANCE_NUMBERS];
};

static int64_t side_of(int64_t count) {
  int64_t side = (int64_t)llround(sqrt((double)count));
  return side * side == count ? side : 0;
}

static bool measures(const struct ruler *ruler, const struct constant *places,
                     int64_t rows) {
  int64_t n = side_of(places->count);
  for (int64_t i = 0; i < places->count; i++) {
    int64_t place = constant_whole(places, i);
    if (place + (place < 0 ? rows : 0) !=
        netrt_distance(ruler->args, i / n, i % n))
      return false;
  }
  return true;
}

/* Finds the sizes of a window of n positions with as many distances as rows. */
static bool has_window(struct ruler *ruler, const struct constant *places,
                       int64_t rows) {
  int32_t *window = ruler->args + DISTANCE_WINDOW;
  int64_t n = side_of(places->count);
  for (int64_t a = 1; a <= n; a++)
    for (int64_t b = 1; n % a == 0 && b <= n / a; b++) {
      int64_t c = n / a / b;
      if (n / a % b != 0 || (2 * a - 1) * (2 * b - 1) * (2 * c - 1) != rows)
        continue;
      window[0] = (int32_t)a;
      window[1] = (int32_t)b;
      window[2] = (int32_t)c;
      if (measures(ruler, places, rows))
        return true;
    }
  return false;
}

/* Finds the distance from which on all share a bucket; T5's is 128. */
static bool has_buckets(struct ruler *ruler, const struct constant *places,
                        int64_t rows) {
  static const int32_t most[] = {128, 64, 256, 512, 20, 32};
  if (rows > INT32_MAX || rows < 4)
    return false;
  for (int causal = 0; causal < 2; causal++)
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
      *ruler = (struct ruler){{0}};
      ruler->args[DISTANCE_BUCKETS] = (int32_t)rows;
      ruler->args[DISTANCE_MOST] = most[i];
      ruler->args[DISTANCE_CAUSAL] = causal;
      if (most[i] > rows / (causal ? 2 : 4) && measures(ruler, places, rows))
        return true;
    }
  return false;
}

/* True if `places` are rows of a table that a distance chooses. */
static bool find_ruler(struct onnx *x, struct constant *places, int64_t rows,
                       struct ruler *ruler) {
  int64_t n = side_of(places->count);
  *ruler = (struct ruler){{0}};
  if (n < 2 || n > INT32_MAX || places->rank == MOST_AXES || x->batch > 1 ||
      onnx_int(x, "axis", 0) != 0 || !constant_known(x, places))
    return false;
  return has_window(ruler, places, rows) || has_buckets(ruler, places, rows);
}

static bool ruler_of_table(struct onnx *x, const struct constant *table,
                           struct constant *places, struct ruler *ruler) {
  return table->rank == 2 && table->trained &&
         find_ruler(x, places, table->dims[0], ruler);
}

/* Adds a node with the n x n indices of rows. */
static struct graph_node *distances(struct onnx *x, const struct ruler *ruler,
                                    int64_t n, int64_t rows) {
  struct graph_node *node = graph_join(x->graph, WORD_DISTANCES);
  int64_t window[DISTANCE_AXES];
  int axes = 0;
  for (int i = 0; i < DISTANCE_AXES; i++)
    if (axes || i == DISTANCE_AXES - 1 || ruler->args[DISTANCE_WINDOW + i] > 1)
      window[axes++] = ruler->args[DISTANCE_WINDOW + i];
  if (!ruler->args[DISTANCE_BUCKETS]) {
    graph_arg(x->graph, node, PART_OTHER, "",
              graph_sizes(x->graph, window, axes));
    return node;
  }
  graph_arg(x->graph, node, PART_OTHER, "", graph_sizes(x->graph, &n, 1));
  graph_int(x->graph, node, PART_NONE, "buckets=", rows);
  graph_option(x->graph, node, PART_NONE, "most=", ruler->args[DISTANCE_MOST],
               128);
  if (ruler->args[DISTANCE_CAUSAL])
    graph_flag(x->graph, node, "causal");
  return node;
}

bool onnx_is_by_distance(struct onnx *x, const struct constant *table,
                         struct constant *places) {
  struct ruler ruler;
  return ruler_of_table(x, table, places, &ruler);
}

bool onnx_read_by_distance(struct onnx *x, struct constant *table,
                           struct constant *places) {
  struct ruler ruler;
  if (!ruler_of_table(x, table, places, &ruler))
    return onnx_fail(x, "its indices depend on the inputs");
  int rank = places->rank;
  int64_t n = side_of(places->count), dims[MOST_AXES];
  struct graph_node *node = distances(x, &ruler, n, table->dims[0]);
  struct graph_node *rows =
      graph_embed(x->graph, node->index, table->dims[0], table->dims[1]);
  onnx_add_weight(x, rows, "weight", table);
  memcpy(dims, places->dims, (size_t)rank * sizeof *dims);
  dims[rank] = table->dims[1];
  struct onnx_view view = {rows->index, layout_dense(rank + 1, dims)};
  return onnx_give(x, 0, &view);
}

/* Swin V2 computes its table from the distances, by a small network. */
bool onnx_gather_by_distance(struct onnx *x, const struct onnx_view *table,
                             struct constant *places, bool *done) {
  struct ruler ruler;
  struct onnx_view rows;
  int64_t n = side_of(places->count), dims[MOST_AXES];
  *done = table->at.rank == 2 &&
          find_ruler(x, places, table->at.dim[0], &ruler) &&
          !ruler.args[DISTANCE_BUCKETS];
  if (!*done)
    return true;
  if (!view_rearrange(x, table, (int[]){0, 1}, 2, &rows))
    return false;
  struct graph_node *node = distances(x, &ruler, n, table->at.dim[0]);
  graph_flag(x->graph, node, "buffer");
  node = onnx_layer(x, WORD_RESHAPE, node->index);
  graph_arg(x->graph, node, PART_OTHER, "",
            graph_sizes(x->graph, &places->count, 1));
  node->shape = (struct graph_shape){1, {places->count}};
  struct graph_node *taken = onnx_layer(x, WORD_GATHER, rows.node);
  taken->key = "indices=";
  taken->keyed = node->index;
  taken->shape.size[0] = places->count;
  memcpy(dims, places->dims, (size_t)places->rank * sizeof *dims);
  dims[places->rank] = table->at.dim[1];
  struct onnx_view view = {taken->index, layout_dense(places->rank + 1, dims)};
  return onnx_give(x, 0, &view);
}

/* Computes rows of heads from heads x n x n values; false if values of the same
 * distance differ. */
static bool fill_table(const struct constant *bias, const int32_t *args,
                       int64_t n, struct constant *table, float *rows) {
  int64_t heads = table->dims[1], known = 0;
  bool *seen = (bool *)(rows + table->count);
  for (int64_t i = 0; i < bias->count; i++) {
    int64_t place = i % (n * n);
    int64_t row = netrt_distance(args, place / n, place % n);
    int64_t at = row * heads + i / (n * n);
    float value = (float)constant_real(bias, i);
    if (seen[at] && (value < rows[at] || value > rows[at]))
      return false;
    rows[at] = value;
    known += !seen[at];
    seen[at] = true;
  }
  return known == table->count;
}

/* True if a value depends on the distance alone, as in T5's buckets. */
static bool depends_alone(const struct constant *c, int64_t n) {
  for (int64_t i = 0; i < c->count; i++) {
    int64_t row = i / n % n, column = i % n;
    if (row > 0 && column > 0 &&
        (constant_real(c, i) < constant_real(c, i - n - 1) ||
         constant_real(c, i) > constant_real(c, i - n - 1)))
      return false;
  }
  return true;
}

const struct constant *onnx_distance_table(struct onnx *x,
                                           const struct constant *bias,
                                           int64_t heads, int64_t n,
                                           const char **window) {
  int64_t side = side_of(n), span = 2 * side - 1;
  int64_t dims[2] = {span * span, heads}, sides[2] = {side, side};
  int32_t args[DISTANCE_NUMBERS] = {0};
  for (int i = 0; i < DISTANCE_AXES; i++)
    args[DISTANCE_WINDOW + i] = i ? (int32_t)side : 1;
  if (side < 2 || !bias->trained || bias->count != heads * n * n ||
      !constant_known(x, (struct constant *)bias))
    return NULL;
  struct constant *table = constant_new(x, bias->type, 2, dims);
  size_t room = (size_t)table->count;
  float *rows = arena_alloc(x->arena, room + room / sizeof *rows + 1,
                            sizeof *rows); /* and a bool for each */
  if (depends_alone(bias, n) || !fill_table(bias, args, n, table, rows))
    return NULL;
  table->trained = true;
  table->name = bias->name;
  table->real = rows;
  *window = graph_sizes(x->graph, sides, 2);
  return table;
}
