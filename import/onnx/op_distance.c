/*
 * Rows of a table picked by how far two positions are apart, as T5's biases
 * and the relative positions of SAM are: distances, and an embedding.
 */
#include <math.h>
#include <string.h>

#include "import/onnx/reader.h"
#include "runtime/distance.h"

/* What `distances` has to be told. */
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

/* Rows and columns of a window of n positions that the table is for. */
static bool has_window(struct ruler *ruler, const struct constant *places,
                       int64_t rows) {
  int32_t *window = ruler->args + DISTANCE_WINDOW;
  int64_t n = side_of(places->count), side = side_of(n);
  for (int i = 0; i < DISTANCE_AXES; i++)
    window[i] = 1;
  window[DISTANCE_AXES - 1] = (int32_t)n;
  if (rows == 2 * n - 1)
    return measures(ruler, places, rows);
  window[DISTANCE_AXES - 2] = window[DISTANCE_AXES - 1] = (int32_t)side;
  return side > 1 && rows == (2 * side - 1) * (2 * side - 1) &&
         measures(ruler, places, rows);
}

/* The distance from which on all share a bucket; 128 is T5's. */
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

static bool find_ruler(struct onnx *x, const struct constant *table,
                       struct constant *places, struct ruler *ruler) {
  int64_t n = side_of(places->count);
  *ruler = (struct ruler){{0}};
  if (n < 2 || n > INT32_MAX || places->rank == MOST_AXES || table->rank != 2 ||
      !table->trained || x->batch > 1 || onnx_int(x, "axis", 0) != 0 ||
      !constant_known(x, places))
    return false;
  return has_window(ruler, places, table->dims[0]) ||
         has_buckets(ruler, places, table->dims[0]);
}

bool onnx_is_by_distance(struct onnx *x, const struct constant *table,
                         struct constant *places) {
  struct ruler ruler;
  return find_ruler(x, table, places, &ruler);
}

bool onnx_read_by_distance(struct onnx *x, struct constant *table,
                           struct constant *places) {
  struct ruler ruler;
  if (!find_ruler(x, table, places, &ruler))
    return onnx_fail(x, "its indices depend on the inputs");
  struct graph_node *node = graph_join(x->graph, WORD_DISTANCES);
  int rank = places->rank;
  int64_t n = side_of(places->count), dims[MOST_AXES], window[DISTANCE_AXES];
  int axes = ruler.args[DISTANCE_WINDOW + DISTANCE_AXES - 2] > 1 ? 2 : 1;
  for (int i = 0; i < axes; i++)
    window[i] = ruler.args[DISTANCE_WINDOW + DISTANCE_AXES - 1];
  node->shape = (struct graph_shape){2, {n, n}};
  graph_arg(
      x->graph, node, PART_OTHER, "",
      graph_sizes(x->graph, ruler.args[DISTANCE_BUCKETS] ? &n : window, axes));
  if (ruler.args[DISTANCE_BUCKETS]) {
    graph_int(x->graph, node, PART_NONE, "buckets=", table->dims[0]);
    graph_option(x->graph, node, PART_NONE, "most=", ruler.args[DISTANCE_MOST],
                 128);
    if (ruler.args[DISTANCE_CAUSAL])
      graph_flag(x->graph, node, "causal");
  }
  struct graph_node *rows = onnx_layer(x, WORD_EMBED, node->index);
  graph_int(x->graph, rows, PART_OTHER, "", table->dims[0]);
  graph_int(x->graph, rows, PART_CHANNELS, "", table->dims[1]);
  rows->shape = (struct graph_shape){3, {n, n, table->dims[1]}};
  onnx_add_weight(x, rows, "weight", table);
  memcpy(dims, places->dims, (size_t)rank * sizeof *dims);
  dims[rank] = table->dims[1];
  struct onnx_view view = {rows->index, layout_dense(rank + 1, dims)};
  return onnx_give(x, 0, &view);
}
