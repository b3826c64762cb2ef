/* Values at computed places: GridSample, TopK, GatherND, GatherElements. */

#include "import/onnx/reader.h"

/* A node of HxWx2 places for each sample; -1 with an error. */
static int places_of(struct onnx *x, int axes) {
  const struct onnx_view *grid = onnx_input(x, 1);
  struct onnx_view plain;
  if (!grid)
    return -1;
  if (grid->at.rank != axes + 2 || grid->at.dim[axes + 1] != axes ||
      !view_is_batch(x, grid, 0))
    return ONNX_NONE(x, "its points do not have one set for each sample");
  return view_plain(x, grid, &plain) ? plain.node : -1;
}

/* Opset 20 renamed the modes. */
static const char *mode_of(struct onnx *x) {
  if (onnx_is(x, "mode", "nearest", false))
    return "nearest";
  if (onnx_is(x, "mode", "bicubic", false) ||
      onnx_is(x, "mode", "cubic", false))
    return "bicubic";
  return "";
}

bool op_grid_sample(struct onnx *x, const struct onnx_view *in) {
  static const char *const modes[] = {"bilinear", "linear", "nearest",
                                      "bicubic",  "cubic",  NULL};
  static const char *const beyond[] = {"zeros", "border", "reflection", NULL};
  struct onnx_view map, result;
  if (!onnx_one_of(x, "mode", modes) || !onnx_one_of(x, "padding_mode", beyond))
    return false;
  int axes = in->at.rank - 2;
  if ((axes != 2 && axes != 3) || !view_is_batch(x, in, 0) ||
      !view_channels_last(x, in, &map))
    return onnx_fail(x, "its map does not have one entry for each sample");
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
    dims[i + 2] = graph_shape(x->graph, places)->size[i];
  result =
      view_fresh(x, node->index, axes + 2, dims, orders[axes - 2], axes + 1);
  return onnx_give(x, 0, &result);
}

/* Gives the largest values, or their indices. */
static bool give_best(struct onnx *x, const struct onnx_view *plain, int axis,
                      int64_t count, bool indices) {
  struct graph_node *node = onnx_layer(x, WORD_TOPK, plain->node);
  struct onnx_view result;
  graph_int(x->graph, node, PART_OTHER, "", count);
  graph_int(x->graph, node, PART_OTHER, "axis=", axis - 1);
  if (!onnx_int(x, "largest", 1))
    graph_flag(x->graph, node, "smallest");
  if (indices)
    graph_flag(x->graph, node, "indices");
  return view_resized(x, plain, node->index, &result) &&
         onnx_give(x, indices, &result);
}

bool op_topk(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view plain;
  int64_t count = onnx_int(x, "k", 0);
  if (x->opset >= 10 && onnx_numbers(x, 1, "k", &count, 1) != 1)
    return onnx_fail(x, "its number of values is not constant");
  int axis = onnx_axis(x, onnx_int(x, "axis", -1), in->at.rank);
  if (axis < 1 || !view_is_batch(x, in, 0) || !view_plain(x, in, &plain))
    return onnx_fail(x, "it does not return the largest values of each sample");
  if (graph_shape(x->graph, plain.node)->rank != in->at.rank - 1 || count < 1 ||
      count > plain.at.dim[axis])
    return onnx_fail(x, "its axis is the batch");
  return (!onnx_is_read(x, 0) || give_best(x, &plain, axis, count, false)) &&
         (!onnx_is_read(x, 1) || give_best(x, &plain, axis, count, true));
}

/* Selects rows of each sample by the sample's vector of indices. */
static bool gather_rows(struct onnx *x, const struct onnx_view *in,
                        const struct onnx_view *which) {
  struct onnx_view rows, indices, result;
  if (!view_is_batch(x, in, 0) || !view_plain(x, in, &rows) ||
      !view_is_batch(x, which, 0) || !view_plain(x, which, &indices) ||
      graph_shape(x->graph, rows.node)->rank != in->at.rank - 1)
    return onnx_fail(x, "its rows do not have one set for each sample");
  struct graph_node *node = onnx_layer(x, WORD_GATHER, rows.node);
  node->key = "indices=";
  node->keyed = indices.node;
  return view_resized(x, &rows, node->index, &result) &&
         onnx_give(x, 0, &result);
}

bool op_gather_nd(struct onnx *x, const struct onnx_view *in) {
  const struct onnx_view *which = onnx_input(x, 1);
  if (!which)
    return false;
  if (onnx_int(x, "batch_dims", 0) != 1 || which->at.rank != 3 ||
      which->at.dim[2] != 1 || in->at.rank < 2)
    return onnx_fail(x, "only rows of each sample are supported");
  struct onnx_view indices = *which;
  layout_drop(&indices.at, 2);
  return gather_rows(x, in, &indices);
}

/* True if an axis repeats a single element. */
static bool is_repeated(const struct onnx_layout *at, int axis) {
  for (int i = 0; i < at->count; i++)
    if (at->atom[i].axis == axis && at->atom[i].size > 1 &&
        at->atom[i].stride != 0)
      return false;
  return true;
}

/* x.gather(1, indices[..., None].expand(-1, -1, C)): an index for each row. */
bool op_gather_elements(struct onnx *x, const struct onnx_view *in) {
  const struct onnx_view *which = onnx_input(x, 1);
  if (!which)
    return false;
  struct onnx_view indices = *which;
  int rank = in->at.rank;
  bool rows = rank >= 2 && which->at.rank == rank &&
              onnx_axis(x, onnx_int(x, "axis", 0), rank) == 1;
  for (int i = rank - 1; i > 1 && rows; i--) {
    rows = which->at.dim[i] == in->at.dim[i] && is_repeated(&indices.at, i) &&
           layout_slice(&indices.at, i, 0, 1);
    if (rows)
      layout_drop(&indices.at, i);
  }
  if (!rows)
    return onnx_fail(x, "only whole rows of each sample are supported, by an "
                        "index that is repeated for all values of the row");
  return gather_rows(x, in, &indices);
}
