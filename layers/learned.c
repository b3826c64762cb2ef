/* scale, affine, weight: learned tensors. */
#include "base/check.h"
#include "layers/layer.h"
#include "layers/tape/lowering.h"

struct scale {
  int bias;
};

static const struct arg_spec scale_specs[] = {
    ARG(WORDS, WORD, "bias", scale, bias, .words = "bias",
        .doc = "with a learned term for each channel"),
    SPEC_END};

static void scale_params(const struct layer *layer, struct params *params) {
  const struct scale *scale = layer->kind->specs ? layer->args : NULL;
  int64_t channels = shape_channels(layer->in[0]);
  params_add_vector(params, "weight", channels, 1, 0);
  if (!scale /* affine */ || scale->bias)
    params_add_vector(params, "bias", channels, 0, 0);
}

/* x * weight + bias in one operation: torch.addcmul. */
static size_t affine_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  struct extent summed = extent_of(&layer->out);      /* summed over the map */
  struct extent factors = extent_fixed(0, WIDTH_NET); /* times one number */
  if (!tape_trains(tape, 0)) {
    summed.count = 0;
    factors.count = shape_channels(layer->in[0]);
  } else if (!tape->values.at[in[0]].needs_gradient) {
    summed.count = size_product(2, summed.count); /* times one number, too */
  }
  return layer_run(layer, tape, in[0],
                   (struct operation){.does = LOWERS(AFFINE, 0),
                                      .keeps = KEEPS_IN(0),
                                      .all_params = true,
                                      .elementwise = true,
                                      .by_channel = true,
                                      .folds = true,
                                      .guarded = true,
                                      .cast = CAST_FULL, /* AT_FORALL_PROMOTE */
                                      .back_work = summed,
                                      .back_more = factors});
}

/* A framework runs a product and a sum; a plan runs both as one operation. */
static size_t scale_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  const struct scale *scale = layer->args;
  if (scale->bias && tape->lowers)
    return affine_trace(layer, tape, in);
  size_t out = layer_weigh(tape, in[0], 0, true, extent_of(&layer->out));
  if (!scale->bias)
    return out;
  return layer_run(layer, tape, out,
                   (struct operation){.name = "bias",
                                      .first_param = 1,
                                      .param_count = 1,
                                      .gradient = GRADIENT_SHARED,
                                      .elementwise = true,
                                      .by_channel = true});
}

LAYER_KIND(scale, "Learned", "a learned factor for each channel",
           LAYER_ARGS(scale, scale_specs), .shape = layer_same_shape,
           .params = scale_params, .trace = scale_trace);

LAYER_KIND(affine, "Learned",
           "a learned factor and term for each channel, in one operation",
           .shape = layer_same_shape, .params = scale_params,
           .trace = affine_trace);

struct weight {
  struct shape shape;
  int fixed;
};

static const struct arg_spec weight_specs[] = {
    ARG(SHAPE, POSITION, "shape", weight, shape,
        .doc = "sizes; without them one value, which does not promote types"),
    ARG(WORDS, WORD, "fixed", weight, fixed, .words = "fixed",
        .doc = "a constant, which is not trained"),
    SPEC_END};

static bool weight_shape(struct layer *layer) {
  const struct weight *weight = layer->args;
  layer->out = weight->shape;
  if (layer->out.rank == 0) {
    layer->out = shape_of(1, &(int64_t){1});
    layer->out.point = true;
  }
  for (int i = 0; i < layer->out.rank; i++) {
    if (layer->out.dim[i] != SIZE_ANY)
      continue;
    return layer_refuse(layer, WRONG_TYPE, "shape",
                        "`_` cannot be inferred here; write the size");
  }
  return true;
}

/* More than 5 axes are merged: nothing needs them separately. */
static void weight_params(const struct layer *layer, struct params *params) {
  const struct weight *weight = layer->args;
  struct param param = {.name = "weight",
                        .rank = 5,
                        .buffer = weight->fixed,
                        .whole = &layer->out,
                        .center = weight->fixed, /* used as a divisor */
                        .spread = weight->fixed ? 0.5 : 1};
  for (int i = 0; i < 5; i++)
    param.dim[i] = 1;
  int first = layer->out.rank > 5 ? layer->out.rank - 5 : 0;
  if (layer->out.rank < 5)
    param.rank = layer->out.rank;
  for (int i = 0; i < layer->out.rank; i++) {
    int to = i < first ? 0 : i - first;
    if (!mul_i64(param.dim[to], layer->out.dim[i], &param.dim[to]))
      param.dim[to] = INT64_MAX; /* reported as an overflow later */
  }
  if (layer->out.point)
    param.rank = 0;
  params_add(params, param);
}

static size_t weight_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  (void)in;
  size_t value = tape_parameter(tape, 0);
  struct strides lies = strides_of(&layer->out);
  tape_see(tape, value, &lies);
  tape->values.at[value].point = layer->out.point;
  return value;
}

LAYER_KIND(weight, "Learned",
           "a learned tensor, which becomes the current tensor",
           LAYER_ARGS(weight, weight_specs), .source = true,
           .shape = weight_shape, .params = weight_params,
           .trace = weight_trace);
