/* Values at places that the net computes: gridsample. */
#include "codegen/onnx/export.h"

/* Samples and groups are one axis there, the group's channels the next. */
static bool by_groups(struct onnx_layout *map, int64_t groups) {
  if (!layout_split(map, 1, groups))
    return false;
  layout_merge(map, 0, 2);
  return true;
}

bool onnx_gridsample(struct exporting *x) {
  static const char *const modes[][3] = {{"bilinear", "nearest", "bicubic"},
                                         {"linear", "nearest", "cubic"}};
  static const char *const beyond[] = {"zeros", "border", "reflection"};
  struct onnx_layout at = onnx_map_out(x);
  struct view in = onnx_map_in(x, 0), places = onnx_in(x, 1);
  int64_t groups = places.at.dim[1];
  if (at.rank != 4)
    return onnx_refuse(x, "GridSample takes maps of two axes before opset "
                          "20") != NO_VALUE;
  if (x->model.opset < 16)
    return onnx_refuse(x, "GridSample is there from opset 16 on: "
                          "`--opset 16`") != NO_VALUE;
  layout_merge(&places.at, 0, 2);
  if (!by_groups(&in.at, groups) || !by_groups(&at, groups))
    return onnx_refuse(x, "cannot identify its groups") != NO_VALUE;
  value_id map = onnx_get(x, &in);
  value_id y = NODE(x, "GridSample", &at, map, onnx_get_spread(x, &places));
  model_text(&x->model, "mode", modes[x->model.opset >= 20][x->op.numbers[0]]);
  model_text(&x->model, "padding_mode", beyond[x->op.numbers[1]]);
  model_int(&x->model, "align_corners", x->op.numbers[2]);
  return onnx_put_first(x, y, &at);
}
