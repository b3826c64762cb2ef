/* Boxes of a map: RoiAlign, MaxRoiPool. */

#include "import/onnx/reader.h"

/*
 * Boxes name the sample that they are of. With a batch of 1 that is the first
 * one, whatever says so.
 */
static bool one_sample(struct onnx *x, const struct onnx_view *map) {
  if (x->batch > 1 || map->at.dim[0] != 1)
    return onnx_fail(
        x, "boxes of several samples are not supported: export a batch of 1");
  return true;
}

/* A node of boxes x 4 values; -1: refused. */
static int boxes_of(struct onnx *x, int64_t *count) {
  static const int order[2] = {0, 1};
  const struct onnx_view *boxes = onnx_input(x, 1);
  struct onnx_view plain;
  if (!boxes || boxes->at.rank != 2 || boxes->at.dim[1] != 4)
    return ONNX_NONE(x, "its boxes must be a table of 4 values each");
  *count = boxes->at.dim[0];
  return view_rearrange(x, boxes, order, 2, &plain) ? plain.node : -1;
}

static bool put_size(struct onnx *x, struct graph_node *node, int64_t high,
                     int64_t wide) {
  const int64_t size[2] = {high, wide};
  if (high < 1 || wide < 1)
    return onnx_fail(x, "it has no size");
  graph_arg(x->graph, node, PART_OTHER, "", graph_sizes(x->graph, size, 2));
  return true;
}

bool op_roi_align(struct onnx *x) {
  static const int order[4] = {0, 2, 3, 1};
  const struct onnx_view *in = onnx_input(x, 0);
  struct onnx_view map;
  int64_t count, high = onnx_int(x, "output_height", 1);
  int64_t wide = onnx_int(x, "output_width", 1);
  double scale = onnx_real(x, "spatial_scale", 1);
  int64_t samples = onnx_int(x, "sampling_ratio", 0);
  bool aligned = onnx_is(x, "coordinate_transformation_mode", "half_pixel",
                         x->opset >= 16);
  if (!onnx_is(x, "mode", "avg", true))
    return onnx_fail(x, "netc has no equivalent of the largest of a cell's "
                        "points: `mode` is avg");
  if (!in || in->at.rank != 4 || !one_sample(x, in) ||
      !view_channels_last(x, in, &map))
    return onnx_fail(x, "its map is not supported");
  int boxes = boxes_of(x, &count);
  if (boxes < 0)
    return false;
  struct graph_node *node = onnx_layer(x, WORD_ROIALIGN, map.node);
  if (!put_size(x, node, high, wide))
    return false;
  node->key = "boxes=";
  node->keyed = boxes;
  if (scale < 1 || scale > 1)
    graph_arg(x->graph, node, PART_NONE, "scale=", onnx_real_text(x, scale));
  if (samples)
    graph_int(x->graph, node, PART_NONE, "samples=", samples);
  if (aligned)
    graph_flag(x->graph, node, "aligned");
  int64_t channels = in->at.dim[1], dims[4] = {count, channels, high, wide};
  node->shape = (struct graph_shape){4, {count, high, wide, channels}};
  struct onnx_view result = view_fresh(x, node->index, 4, dims, order, 4);
  return onnx_give(x, 0, &result);
}
