/* ONNX forms of boxes of a map: roialign, roipool. */
#include "export/export.h"

/* All boxes of the batch as one axis. */
static value_id get_boxes(struct exporting *x, int64_t *count) {
  struct view boxes = onnx_in(x, 1);
  layout_merge(&boxes.at, 0, 2);
  *count = boxes.at.dim[0];
  return onnx_get_spread(x, &boxes);
}

/* Merges N and boxes; channels follow. */
static struct onnx_layout boxes_layout(const struct exporting *x) {
  struct onnx_layout at = onnx_out(x, 0);
  layout_merge(&at, 0, 2);
  return layout_channels_first(&at);
}

bool onnx_roialign(struct exporting *x) {
  struct onnx_layout at = boxes_layout(x);
  bool aligned = x->op.numbers[1];
  int64_t count, each = x->op.outs[0].dims[1];
  struct view in = onnx_map_in(x, 0);
  value_id map = onnx_get(x, &in), boxes = get_boxes(x, &count);
  if (aligned && x->model.opset < 16)
    return onnx_refuse(x,
                       "RoiAlign with `aligned` needs `--opset 16` or later") !=
           NO_VALUE;
  int64_t *sample = arena_alloc(x->arena, (size_t)count + 1, sizeof *sample);
  for (int64_t i = 0; i < count; i++)
    sample[i] = i / each;
  value_id y = NODE(x, "RoiAlign", &at, map, boxes,
                    model_numbers(&x->model, sample, (int)count));
  model_int(&x->model, "output_height", at.dim[2]);
  model_int(&x->model, "output_width", at.dim[3]);
  model_int(&x->model, "sampling_ratio", x->op.numbers[0]);
  model_real(&x->model, "spatial_scale", x->op.reals[0]);
  if (x->model.opset >= 16)
    model_text(&x->model, "coordinate_transformation_mode",
               aligned ? "half_pixel" : "output_half_pixel");
  onnx_put(x, 0, y, &at);
  return true;
}

/* A box begins with the number of its sample. */
bool onnx_roipool(struct exporting *x) {
  struct onnx_layout at = boxes_layout(x);
  int64_t count, each = x->op.outs[0].dims[1];
  struct view in = onnx_map_in(x, 0);
  value_id map = onnx_get(x, &in), boxes = get_boxes(x, &count);
  const int64_t one[2] = {count, 1}, five[2] = {count, 5};
  struct onnx_layout numbered = layout_dense(2, five);
  float *sample = arena_alloc(x->arena, (size_t)count + 1, sizeof *sample);
  for (int64_t i = 0; i < count; i++)
    sample[i] = (float)(i / each);
  value_id y =
      NODE(x, "Concat", &numbered,
           model_tensor(&x->model, ELEMENT_FLOAT, 2, one, sample), boxes);
  model_int(&x->model, "axis", 1);
  y = NODE(x, "MaxRoiPool", &at, map, y);
  model_ints(&x->model, "pooled_shape", at.dim + 2, 2);
  model_real(&x->model, "spatial_scale", x->op.reals[0]);
  onnx_put(x, 0, y, &at);
  return true;
}
