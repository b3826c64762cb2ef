/* Transposes, blocks of pixels, copies and concatenation. */
#include <string.h>

#include "import/tflite/tflite.h"

/* The same values in another shape. */
bool tflite_view(struct tflite *t) {
  struct tflite_tensor *in = tflite_in(t, 0);
  if (in && in->node < 0 && tflite_is_constant(in))
    return tflite_give_constant(t, in);
  in = tflite_value(t, 0);
  return in && tflite_give_view(t, 0, in->node);
}

/* True if only axes of size 1 change their places. */
static bool moves_ones(const struct tflite_tensor *in, const int64_t *order) {
  int64_t last = -1;
  for (int i = 0; i < in->rank; i++) {
    if (order[i] < 0 || order[i] >= in->rank)
      return false;
    if (in->dims[order[i]] == 1)
      continue;
    if (order[i] <= last)
      return false;
    last = order[i];
  }
  return true;
}

bool tflite_transpose(struct tflite *t, const struct tflite_tensor *in) {
  int64_t order[LIMIT_RANK];
  int axes[LIMIT_RANK], count = 0;
  bool used[LIMIT_RANK] = {false}, same = true;
  if (!tflite_ints(t, 1, "order", LIMIT_RANK, order, &count))
    return false;
  if (count == in->rank && moves_ones(in, order))
    return tflite_give_view(t, 0, in->node);
  if (count != in->rank || order[0] != 0)
    return tflite_fail(t, "it moves the batch");
  for (int i = 1; i < count; i++) {
    if (order[i] < 1 || order[i] >= count || used[order[i]])
      return tflite_fail(t, "its order does not name each axis once");
    used[order[i]] = true;
    axes[i - 1] = (int)order[i] - 1;
    same = same && order[i] == i;
  }
  if (same)
    return tflite_give_view(t, 0, in->node);
  return tflite_give(
      t, 0, graph_permute(t->graph, tflite_exact(t, in), axes, count - 1));
}

/* In TensorFlow a block's channels are ordered by pixel, then by channel; in
 * PyTorch's `pixelshuffle` and `space2depth` by channel, then by pixel. */
bool tflite_blocks(struct tflite *t, const struct tflite_tensor *in) {
  static const int order[] = {0, 2, 1, 3, 4};
  int64_t by = tflite_int(t, 0, 4, 0);
  bool deep = strcmp(t->word, "SPACE_TO_DEPTH") == 0;
  const int64_t *size = in->dims + 1;
  if (in->rank != 4 || by < 1 || by > 1 << 15 ||
      (deep ? size[0] % by || size[1] % by : size[2] % (by * by)))
    return tflite_fail(t, "only maps of whole blocks are supported");
  int64_t rows = deep ? size[0] / by : size[0];
  int64_t columns = deep ? size[1] / by : size[1];
  const int64_t channels = size[2] / by / by;
  const struct graph_shape from[2] = {{5, {rows, columns, by, by, channels}},
                                      {5, {rows, by, columns, by, size[2]}}};
  int node = graph_reshape(t->graph, tflite_exact(t, in), &from[deep]);
  return tflite_give_view(t, 0, graph_permute(t->graph, node, order, 5)->index);
}

enum { MOST_COPIES = 1024 };

/* Repeats a tensor `times` along each axis, the batch first. */
static bool give_copies(struct tflite *t, const struct tflite_tensor *in,
                        const int64_t *times) {
  int node = tflite_exact(t, in);
  if (times[0] != 1)
    return tflite_fail(t, "it copies the batch");
  for (int i = 0; i < in->rank - 1; i++) {
    if (times[i + 1] < 1 || times[i + 1] > MOST_COPIES)
      return tflite_fail(t, "its number of copies is not supported");
    if (times[i + 1] == 1)
      continue;
    int copies[MOST_COPIES];
    for (int64_t k = 0; k < times[i + 1]; k++)
      copies[k] = node;
    node = graph_concat(t->graph, copies, (size_t)times[i + 1], i)->index;
  }
  return tflite_give_view(t, 0, node);
}

bool tflite_tile(struct tflite *t, const struct tflite_tensor *in) {
  int64_t times[LIMIT_RANK];
  int count = 0;
  if (!tflite_ints(t, 1, "number of copies", LIMIT_RANK, times, &count))
    return false;
  if (count != in->rank)
    return tflite_fail(
        t, "its numbers of copies do not match the axes of its input");
  return give_copies(t, in, times);
}

/* Repeats axes of size 1 to the output's shape. */
bool tflite_broadcast(struct tflite *t, const struct tflite_tensor *in) {
  struct tflite_tensor *out = tflite_out(t, 0);
  int64_t times[LIMIT_RANK];
  if (!out)
    return false;
  bool fits = out->rank == in->rank;
  for (int i = 0; fits && i < in->rank; i++) {
    fits = in->dims[i] == out->dims[i] || in->dims[i] == 1;
    times[i] = out->dims[i] / in->dims[i];
  }
  return fits
             ? give_copies(t, in, times)
             : tflite_fail(t, "its output does not have the axes of its input");
}

/* Concatenates along an existing axis. */
bool tflite_concat(struct tflite *t) {
  const struct tflite_tensor *out = tflite_out(t, 0);
  if (!out)
    return tflite_fail(t, "its output 0 is missing");
  int axis = tflite_axis(t, out, tflite_int(t, 0, 4, 0));
  int *nodes = axis < 0 ? NULL : tflite_operands(t, out->rank - 1);
  size_t count = (size_t)t->at->inputs.count;
  return nodes &&
         tflite_give_active(t, graph_concat(t->graph, nodes, count, axis),
                            tflite_int(t, 1, 1, 0));
}

/* Concatenates along a new axis. */
bool tflite_pack(struct tflite *t) {
  const struct tflite_tensor *in = tflite_in(t, 0), *out = tflite_out(t, 0);
  if (!in || !out || in->rank < 1 || in->rank != out->rank - 1)
    return tflite_fail(t, "its output must have one axis more than its inputs");
  if (tflite_int(t, 1, 4, 0) == 0 && t->at->inputs.count == 1 && in->node >= 0)
    return tflite_give_view(t, 0, in->node); /* a batch of 1 in front */
  int axis = tflite_axis(t, out, tflite_int(t, 1, 4, 0)), rank = out->rank - 1;
  int *nodes = axis < 0 ? NULL : tflite_operands(t, in->rank - 1);
  struct graph_shape one = {.rank = rank};
  if (!nodes)
    return false;
  memcpy(one.size, out->dims + 1, (size_t)rank * sizeof *one.size);
  one.size[axis] = 1;
  size_t count = (size_t)t->at->inputs.count;
  for (size_t i = 0; i < count && axis > 0; i++)
    nodes[i] = graph_reshape(t->graph, nodes[i], &one);
  return tflite_give(t, 0,
                     axis ? graph_concat(t->graph, nodes, count, axis)
                          : graph_join_all(t->graph, WORD_STACK, nodes, count));
}
