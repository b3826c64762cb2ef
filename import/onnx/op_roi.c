/* Boxes of a map: RoiAlign, MaxRoiPool. If values choose the boxes, the pooled
 * regions are an input, and the layers after it are read. */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/reader.h"

/* Boxes name their sample. With a batch of 1 it is the first. */
static bool one_sample(struct onnx *x, const struct onnx_view *map) {
  if (x->batch > 1 || map->at.dim[0] != 1)
    return onnx_fail(
        x, "boxes of several samples are not supported: export a batch of 1");
  return true;
}

/* A node of boxes x 4 values; -1 with an error. */
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

bool op_roi_align(struct onnx *x, const struct onnx_view *in) {
  static const int order[4] = {0, 2, 3, 1};
  struct onnx_view map;
  int64_t count, high = onnx_int(x, "output_height", 1);
  int64_t wide = onnx_int(x, "output_width", 1);
  double scale = onnx_real(x, "spatial_scale", 1);
  int64_t samples = onnx_int(x, "sampling_ratio", 0);
  bool aligned = onnx_is(x, "coordinate_transformation_mode", "half_pixel",
                         x->opset >= 16);
  if (!onnx_is(x, "mode", "avg", true))
    return onnx_fail(x, "netc supports only `mode` avg, not the maximum of a "
                        "cell's points");
  if (in->at.rank != 4 || !one_sample(x, in) ||
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
  struct onnx_view result = view_fresh(x, node->index, 4, dims, order, 4);
  return onnx_give(x, 0, &result);
}

/* "box_roi_pool" of /roi_heads/box_roi_pool/RoiAlign. */
static const char *name_of_pool(struct onnx *x) {
  const char *end = x->at->name ? strrchr(x->at->name, '/') : NULL;
  const char *begin = end;
  while (begin && begin > x->at->name && begin[-1] != '/')
    begin--;
  return end > begin ? graph_text(x->graph, "%.*s", (int)(end - begin), begin)
                     : "regions";
}

/* The number in --dim box_roi_pool=1000, or 1. */
static int64_t region_count(struct onnx *x, const char *name) {
  const struct map_entry *given = map_find(&x->sizes, slice_of(name));
  return given ? given->number : 1;
}

static bool is_read(const struct onnx *x, int node) {
  for (size_t i = 0; i < x->graph->nodes.count; i++)
    for (size_t k = 0; k < graph_feeds(x->graph->nodes.at[i]); k++)
      if (graph_feed(x->graph->nodes.at[i], k) == node)
        return true;
  return false;
}

/* Regions of another level of a pyramid are those of the first level: the file
 * merges them before anything else reads them. */
static bool is_level(const struct onnx *x, const int64_t dims[4]) {
  return x->regions && !is_read(x, x->regions->node) &&
         memcmp(x->regions->at.dim + 1, dims + 1, 3 * sizeof *dims) == 0;
}

/* Adds the regions of a left-out map as an input. */
static bool add_regions(struct onnx *x, const struct onnx_view *map) {
  static const int order[4] = {0, 2, 3, 1};
  const char *name = name_of_pool(x);
  int64_t dims[4] = {region_count(x, name), map->at.dim[1],
                     onnx_int(x, "output_height", 1),
                     onnx_int(x, "output_width", 1)};
  *VEC_PUSH(x->arena, &x->cuts) = map->node;
  if (!is_level(x, dims)) {
    struct graph_shape shape = {4, {dims[0], dims[2], dims[3], dims[1]}};
    if (dims[2] < 1 || dims[3] < 1 || dims[2] > MOST_SIZE ||
        dims[3] > MOST_SIZE || dims[0] < 1 || dims[0] > MOST_SIZE ||
        graph_count(shape.size, 4) > MOST_VALUES)
      return onnx_fail(x, "its regions are too large or empty");
    struct onnx_view *view = ARENA_NEW(x->arena, struct onnx_view);
    struct graph_node *node = graph_input(x->graph, name, &shape, NULL);
    onnx_extra(x, node->index);
    *view = view_fresh(x, node->index, 4, dims, order, 4);
    x->regions = view;
    graph_note(x->graph,
               "`%s` is pooled by RoiAlign. The number of regions depends on "
               "values; --dim %s=N sets it, now %" PRId64 ".",
               onnx_shown(x, name), onnx_shown(x, name), dims[0]);
  }
  return onnx_give(x, 0, x->regions);
}

static bool is_type(const struct onnx *x, const char *type) {
  return strcmp(x->at->type, type) == 0;
}

bool onnx_read_regions(struct onnx *x, bool *done) {
  const struct onnx_value *first = x->at->in_count ? onnx_operand(x, 0) : NULL;
  const struct onnx_value *last =
      x->at->in_count > 2 ? onnx_operand(x, 2) : NULL;
  bool levels = is_type(x, "ScatterElements") || is_type(x, "ScatterND");
  if (!x->options->allow_unknown || !last)
    return true;
  if (is_type(x, "RoiAlign") && first->view && first->view->at.rank == 4) {
    *done = true;
    return add_regions(x, first->view);
  }
  *done = levels && x->regions && last->view &&
          last->view->node == x->regions->node;
  return !*done || onnx_give(x, 0, last->view);
}
