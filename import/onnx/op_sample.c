/* Values at places that the net computes: GridSample. */

#include "import/onnx/reader.h"

/* A node of HxWx2 places, of every sample its own; -1: refused. */
static int places_of(struct onnx *x, int axes) {
  const struct onnx_view *grid = onnx_input(x, 1);
  struct onnx_view plain;
  if (!grid)
    return -1;
  if (grid->at.rank != axes + 2 || grid->at.dim[axes + 1] != axes ||
      !view_is_batch(x, grid, 0))
    return ONNX_NONE(x, "its places are not those of each sample");
  return view_plain(x, grid, &plain) ? plain.node : -1;
}

/* Before opset 20 the words are others. */
static const char *mode_of(struct onnx *x) {
  if (onnx_is(x, "mode", "nearest", false))
    return "nearest";
  if (onnx_is(x, "mode", "bicubic", false) ||
      onnx_is(x, "mode", "cubic", false))
    return "bicubic";
  return "";
}

bool op_grid_sample(struct onnx *x) {
  static const char *const modes[] = {"bilinear", "linear", "nearest",
                                      "bicubic",  "cubic",  NULL};
  static const char *const beyond[] = {"zeros", "border", "reflection", NULL};
  const struct onnx_view *in = onnx_input(x, 0);
  struct onnx_view map, result;
  if (!in || !onnx_one_of(x, "mode", modes) ||
      !onnx_one_of(x, "padding_mode", beyond))
    return false;
  int axes = in->at.rank - 2;
  if ((axes != 2 && axes != 3) || !view_is_batch(x, in, 0) ||
      !view_channels_last(x, in, &map))
    return onnx_fail(x, "its map is not that of each sample");
  int places = places_of(x, axes);
  if (places < 0)
    return false;
  struct graph_node *node = onnx_layer(x, WORD_GRIDSAMPLE, map.node);
  node->key = "grid=";
  node->keyed = places;
  if (mode_of(x)[0])
    graph_flag(x->graph, node, mode_of(x));
  for (int i = 1; i < 3; i++)
    if (onnx_is(x, "padding_mode", beyond[i], false))
      graph_flag(x->graph, node, beyond[i]);
  if (onnx_int(x, "align_corners", 0))
    graph_flag(x->graph, node, "corners");
  int64_t dims[5] = {in->at.dim[0], in->at.dim[1]};
  static const int orders[2][4] = {{2, 3, 1}, {2, 3, 4, 1}};
  for (int i = 0; i < axes; i++)
    node->shape.size[i] = dims[i + 2] =
        graph_at(x->graph, places)->shape.size[i];
  result =
      view_fresh(x, node->index, axes + 2, dims, orders[axes - 2], axes + 1);
  return onnx_give(x, 0, &result);
}
