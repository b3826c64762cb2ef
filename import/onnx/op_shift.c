/*
 * Masks of shifted windows, as in Swin: -100 between positions of a window that
 * come from two edges of the map. Files have a constant for each window;
 * `attention` computes them from the shift.
 */
#include <stdlib.h>

#include "import/onnx/op_attention.h"
#include "runtime/shift.h"

enum { MOST_WINDOW_AXES = 3 };

static const struct constant *mask_of(struct onnx *x,
                                      const struct onnx_attention *a) {
  return onnx_find_weight(x, a->edges, "weight");
}

/* Takes scores of several windows that are the same for all heads. */
bool shift_take(struct onnx *x, struct onnx_attention *a, int weight) {
  const struct graph_shape *shape = graph_shape(x->graph, weight);
  int last = shape->rank - 1;
  if (a->edges >= 0 || a->queries != a->keys || last < 3 ||
      shape->size[last] != a->keys || shape->size[last - 1] != a->queries ||
      shape->size[last - 2] != 1)
    return false;
  a->edges = weight;
  struct constant *c = (struct constant *)mask_of(x, a);
  return constant_known(x, c) && c->count > a->queries * a->keys;
}

/* Finds rows and columns of windows in the shape, or before a flatten. */
static bool find_grid(struct onnx *x, struct onnx_attention *a, int from,
                      int axes) {
  const struct graph_node *node = graph_at(x->graph, from);
  const struct graph_shape *in = graph_shape(x->graph, from);
  bool flattened = in->rank == 3 && axes > 1;
  if (flattened && node->word == WORD_RESHAPE)
    in = graph_shape(x->graph, node->inputs.at[0]);
  if (in->rank != (flattened ? 2 * axes + 1 : axes + 2))
    return false;
  int64_t windows = 1;
  for (int i = 0; i < axes; i++)
    windows *= in->size[i];
  a->grid = *in;
  a->grid.rank = axes + 2;
  a->grid.size[axes] = a->queries;
  a->grid.size[axes + 1] = in->size[in->rank - 1];
  return windows == mask_of(x, a)->count / (a->queries * a->keys);
}

static bool agrees(const struct constant *c, const int32_t *numbers,
                   int64_t places) {
  for (int64_t i = 0; i < c->count; i++) {
    int64_t window = i / (places * places);
    int64_t query = i / places % places, key = i % places;
    double value =
        netrt_side(numbers, window, query) == netrt_side(numbers, window, key)
            ? 0
            : -100;
    double found = constant_real(c, i);
    if (found < value || found > value)
      return false;
  }
  return true;
}

/* The next shift, counting like an odometer; false after the last. */
static bool next_shift(int32_t *numbers) {
  for (int i = 0; i < numbers[SHIFT_RANK]; i++) {
    int32_t *axis = numbers + SHIFT_AXES + SHIFT_NUMBERS * i;
    if (++axis[2] < axis[0])
      return true;
    axis[2] = 0;
  }
  return false;
}

/* True if the output's readers only reshape it. */
static bool only_reshaped(struct onnx *x, int node) {
  bool read = false;
  if (graph_at(x->graph, node)->output)
    return false;
  for (size_t i = (size_t)node + 1; i < x->graph->nodes.count; i++) {
    const struct graph_node *reader = x->graph->nodes.at[i];
    for (size_t k = 0; k < graph_feeds(reader); k++) {
      if (graph_feed(reader, k) != node)
        continue;
      read = true;
      if (reader->word != WORD_RESHAPE)
        return false;
    }
  }
  return read;
}

bool shift_find(struct onnx *x, struct onnx_attention *a, int from) {
  int32_t numbers[SHIFT_AXES + SHIFT_NUMBERS * MOST_WINDOW_AXES] = {0};
  const char *size = a->table ? a->window_of : "";
  int64_t places = 1;
  int axes = 0;
  for (char *end; axes < MOST_WINDOW_AXES && *size;
       size = end + (*end == 'x')) {
    numbers[SHIFT_AXES + SHIFT_NUMBERS * axes] =
        (int32_t)strtol(size, &end, 10);
    places *= numbers[SHIFT_AXES + SHIFT_NUMBERS * axes++];
    if (*end && *end != 'x')
      return false;
  }
  if (places != a->queries || !find_grid(x, a, from, axes) ||
      !only_reshaped(x, a->out))
    return false;
  numbers[SHIFT_RANK] = axes;
  for (int i = 0; i < axes; i++)
    numbers[SHIFT_AXES + SHIFT_NUMBERS * i + 1] = (int32_t)a->grid.size[i];
  while (next_shift(numbers)) {
    if (!agrees(mask_of(x, a), numbers, places))
      continue;
    for (int i = 0; i < axes; i++)
      a->shift[i] = numbers[SHIFT_AXES + SHIFT_NUMBERS * i + 2];
    return true;
  }
  return false;
}

/* `from` as a grid of windows. */
int shift_grid(struct onnx *x, const struct onnx_attention *a, int from) {
  struct graph_node *node = graph_at(x->graph, a->product);
  if (graph_same_shape(graph_shape(x->graph, from), &a->grid))
    return from;
  graph_become(node, WORD_RESHAPE, graph_at(x->graph, from)->inputs.at[0]);
  graph_arg(x->graph, node, PART_OTHER, "",
            graph_sizes(x->graph, a->grid.size, a->grid.rank));
  return node->index;
}

void shift_put(struct onnx *x, const struct onnx_attention *a,
               struct graph_node *node) {
  int axes = a->grid.rank - 2;
  bool same = true;
  for (int i = 1; i < axes; i++)
    same = same && a->shift[i] == a->shift[0];
  graph_arg(x->graph, node, PART_NONE,
            "shift=", graph_sizes(x->graph, a->shift, same ? 1 : axes));
}
