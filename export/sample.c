/* ONNX forms of values at computed places: gridsample, topk, gather. */
#include "export/export.h"

/* Merges samples and groups; the group's channels follow. */
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
    return onnx_refuse(x, "before opset 20 GridSample takes only maps of two "
                          "axes") != NO_VALUE;
  if (x->model.opset < 16)
    return onnx_refuse(x, "GridSample needs `--opset 16` or later") != NO_VALUE;
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

/* The first output has the values, the second their places. */
bool onnx_topk(struct exporting *x) {
  struct view view = onnx_in(x, 0);
  struct onnx_layout at = onnx_out(x, 0);
  int64_t axis = x->op.numbers[0], count = at.dim[axis];
  bool indices = x->op.numbers[2];
  value_id in = onnx_get_spread(x, &view);
  value_id y = NODE(x, "TopK", &at, in, model_numbers(&x->model, &count, 1));
  value_id where = model_second(&x->model, ELEMENT_INT64);
  model_int(&x->model, "axis", axis);
  model_int(&x->model, "largest", !x->op.numbers[1]);
  return onnx_put_first(x, indices ? where : y, &at);
}

/* Each sample has its own rows. */
bool onnx_gather(struct exporting *x) {
  struct view rows = onnx_in(x, 0), which = onnx_in(x, 1);
  struct onnx_layout at = onnx_out(x, 0);
  if (x->model.opset < 12)
    return onnx_refuse(x,
                       "GatherND with samples needs `--opset 12` or later") !=
           NO_VALUE;
  layout_insert(&which.at, which.at.rank);
  value_id in = onnx_get_spread(x, &rows);
  value_id y = NODE(x, "GatherND", &at, in, onnx_get_spread(x, &which));
  model_int(&x->model, "batch_dims", 1);
  return onnx_put_first(x, y, &at);
}
