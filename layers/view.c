/* flatten, reshape, permute, slice, crop, detach: views of the same values. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/layer.h"
#include "layers/tape/lowering.h"

static bool flatten_shape(struct layer *layer) {
  int64_t count = shape_values(layer->in[0]);
  layer->out = shape_of(1, &count);
  layer->out.dtype = layer->in[0]->dtype;
  return true;
}

static bool flatten_redundant(const struct layer *layer,
                              const struct layer *before) {
  (void)before;
  return layer->in[0]->rank == 1;
}

struct reshape {
  struct shape shape;
};

static const struct arg_spec reshape_specs[] = {
    ARG(SHAPE, POSITION, "shape", reshape, shape, .required = true,
        .doc = "the new sizes; `_` is inferred, once"),
    SPEC_END};

static bool reshape_fail(struct layer *layer, int64_t known) {
  const struct shape *in = layer->in[0];
  const struct reshape *reshape = layer->args;
  int unknown = 0;
  for (int i = 0; i < reshape->shape.rank; i++)
    unknown += reshape->shape.dim[i] == SIZE_ANY;
  if (unknown > 1) {
    layer_fail(layer, RESHAPE_COUNT, "shape",
               "only one size can be inferred, but %d are `_`", unknown);
  } else if (unknown == 1) {
    layer_fail(layer, RESHAPE_COUNT, "shape",
               "%" PRId64 " values do not divide into parts of %" PRId64,
               shape_values(in), known);
  } else {
    layer_fail(layer, RESHAPE_COUNT, "shape",
               "%s has %" PRId64 " values, but %s has %" PRId64,
               shape_text(&reshape->shape).text, known, shape_text(in).text,
               shape_values(in));
  }
  return false;
}

static bool reshape_shape(struct layer *layer) {
  const struct reshape *reshape = layer->args;
  int64_t count = shape_values(layer->in[0]);
  int64_t known = 1;
  int unknown = -1, unknowns = 0;
  layer->out = reshape->shape;
  layer->out.dtype = layer->in[0]->dtype;
  for (int i = 0; i < layer->out.rank; i++) {
    int64_t dim = layer->out.dim[i];
    if (dim == SIZE_ANY) {
      unknown = i;
      unknowns++;
    } else if (!mul_i64(known, dim, &known)) {
      return layer_refuse(layer, TOO_LARGE, "shape",
                          "the product of the sizes passes 2^63 - 1");
    }
  }
  if (unknowns > 1 || (unknowns == 1 ? count % known != 0 : count != known))
    return reshape_fail(layer, known);
  if (unknowns == 1)
    layer->out.dim[unknown] = count / known;
  return true;
}

struct permute {
  struct axes order;
};

static const struct arg_spec permute_specs[] = {
    ARG(AXES, POSITION, "axes", permute, order, .required = true,
        .doc = "every axis once, in the new order: numbers from 0 or c h w d"),
    SPEC_END};

static bool permute_shape(struct layer *layer) {
  const struct permute *permute = layer->args;
  const struct shape *in = layer->in[0];
  bool used[LIMIT_RANK] = {false};
  bool valid = permute->order.count == in->rank;
  layer->out = *in;
  for (int i = 0; valid && i < in->rank; i++) {
    int axis = axis_index(permute->order.at[i], in);
    valid = axis >= 0 && !used[axis];
    if (valid) {
      used[axis] = true;
      layer->out.dim[i] = in->dim[axis];
    }
  }
  if (valid)
    return true;
  struct diagnostic *d = layer_fail(layer, WRONG_AXIS, "axes",
                                    "this is not an order of the %d axes of %s",
                                    in->rank, shape_text(in).text);
  return diag_help(d, "name each axis from 0 to %d once", in->rank - 1);
}

static bool permute_redundant(const struct layer *layer,
                              const struct layer *before) {
  const struct permute *permute = layer->args;
  (void)before;
  for (int i = 0; i < permute->order.count; i++)
    if (axis_index(permute->order.at[i], layer->in[0]) != i)
      return false;
  return true;
}

struct slice_args {
  struct axes axis;
  struct range range;
};

static const struct arg_spec slice_specs[] = {
    ARG(AXIS, POSITION, "axis", slice_args, axis, .required = true,
        .doc = "c h w d l, or a number from 0"),
    ARG(RANGE, POSITION, "range", slice_args, range, .required = true,
        .doc = "`a:b` keeps a up to but not b; `_` is the start or the end"),
    SPEC_END};

static bool slice_shape(struct layer *layer) {
  const struct slice_args *slice = layer->args;
  const struct shape *in = layer->in[0];
  int axis = axis_index(slice->axis.at[0], in);
  if (axis < 0)
    return layer_refuse(layer, WRONG_AXIS, "axis", "%s has no such axis",
                        shape_text(in).text);
  int64_t size = in->dim[axis];
  int64_t from = slice->range.from == SIZE_ANY ? 0 : slice->range.from;
  int64_t to = slice->range.to == SIZE_ANY ? size : slice->range.to;
  if (from < 0 || from >= to || to > size) {
    struct diagnostic *d = layer_fail(layer, OUT_OF_RANGE, "range",
                                      "%" PRId64 ":%" PRId64
                                      " is not a part of an axis of %" PRId64,
                                      from, to, size);
    return diag_help(d, "0 <= a < b <= %" PRId64, size);
  }
  layer->out = *in;
  layer->out.dim[axis] = to - from;
  return true;
}

struct crop {
  struct sizes size;
};

static const struct arg_spec crop_specs[] = {
    ARG(SIZES, POSITION, "size", crop, size, .required = true, .min = 1,
        .doc = "size of the middle part that is kept"),
    SPEC_END};

static bool crop_shape(struct layer *layer) {
  const struct crop *crop = layer->args;
  if (!layer_check_map(layer) || !layer_check_sizes(layer, "size", &crop->size))
    return false;
  layer->out = *layer->in[0];
  for (int i = 0; i < shape_spatial(&layer->out); i++) {
    int64_t size = size_at(&crop->size, i, 1);
    if (size > layer->out.dim[i])
      return layer_refuse(layer, OUT_OF_RANGE, "size",
                          "cannot crop a map of %s to a larger one",
                          shape_text(layer->in[0]).text);
    layer->out.dim[i] = size;
  }
  return true;
}

static size_t reshape_trace(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  return tape_view(tape, layer->kind->name, in[0], layer->in[0], &layer->out);
}

static size_t permute_trace(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  const struct permute *permute = layer->args;
  struct strides from = layout_as_seen(tape, in[0], layer->in[0]), out = from;
  struct strides given = strides_of(&layer->out), gradient = from;
  for (int i = 0; i < out.rank; i++) {
    int axis = axis_index(permute->order.at[i], layer->in[0]);
    out.dim[i] = from.dim[axis];
    out.stride[i] = from.stride[axis];
    gradient.stride[axis] = given.stride[i];
  }
  return layer_run(
      layer, tape, in[0],
      (struct operation){.name = "permute",
                         .does = LOWERS(VIEW, .out = &out),
                         .layout = layout_of_view(tape, &out, false),
                         .result = RESULT_VIEW,
                         .gradient = GRADIENT_SHARED,
                         .gradient_rows =
                             strides_rows(&gradient, strides_values(&out))});
}

static size_t slice_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  const struct slice_args *slice = layer->args;
  struct strides lies = layout_as_seen(tape, in[0], layer->in[0]);
  int axis = axis_index(slice->axis.at[0], layer->in[0]);
  if (slice->range.from != SIZE_ANY)
    lies.offset += slice->range.from * lies.stride[axis];
  lies.dim[axis] = layer->out.dim[axis];
  return layer_cut(layer, tape, in[0], &lies);
}

/*
 * A framework crops one axis after the other, a plan all at once.
 * torchvision.transforms.CenterCrop rounds an odd remainder differently.
 */
static size_t crop_trace(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  struct strides lies = layout_as_seen(tape, in[0], layer->in[0]);
  size_t value = in[0];
  bool front = layout_of_axes(tape, tape->values.at[value].strides);
  if (!tape->lowers && !front) /* x[:, a:b] makes one more view */
    value = layer_cut(layer, tape, value, &lies);
  for (int i = 0; i < layer->out.rank; i++) {
    int64_t rest = layer->in[0]->dim[i] - layer->out.dim[i];
    lies.offset += rest / 2 * lies.stride[i];
    lies.dim[i] = layer->out.dim[i];
    if (!tape->lowers && rest)
      value = layer_cut(layer, tape, value, &lies);
  }
  return tape->lowers || value == in[0] ? layer_cut(layer, tape, value, &lies)
                                        : value;
}

/* An alias outside autograd's graph. */
static size_t detach_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  if (!tape->training)
    return in[0];
  return layer_run(layer, tape, in[0],
                   (struct operation){
                       .layout = tape->values.at[in[0]].strides,
                       .result = RESULT_VIEW,
                       .stops = true,
                   });
}

static bool detach_stops(const void *args) {
  (void)args;
  return true;
}

static bool detach_redundant(const struct layer *layer,
                             const struct layer *before) {
  return layer->kind == before->kind;
}

#define VIEW(id, text, how, ...)                                           \
  LAYER_KIND(id, "Shape", text, .input = INPUT_ANY, .memory = OUTPUT_VIEW, \
             .shape = id##_shape, .trace = how##_trace, __VA_ARGS__)

VIEW(flatten, "all values in one vector", reshape,
     .redundant = flatten_redundant);
VIEW(reshape, "other sizes for the same values", reshape,
     LAYER_ARGS(reshape, reshape_specs), .redundant = layer_moves_nothing);
VIEW(permute, "the axes in another order", permute,
     LAYER_ARGS(permute, permute_specs), .redundant = permute_redundant);
VIEW(slice, "a part of one axis", slice, LAYER_ARGS(slice_args, slice_specs));
VIEW(crop, "the middle of a map", crop, LAYER_ARGS(crop, crop_specs),
     .redundant = layer_moves_nothing);
LAYER_KIND(detach, "Shape", "its input, with no gradient flowing back",
           .input = INPUT_ANY, .memory = OUTPUT_VIEW, .shape = layer_same_shape,
           .trace = detach_trace, .stops = detach_stops,
           .redundant = detach_redundant);
