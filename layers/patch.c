/* unfold, local: patches under a window, and weights for each patch. */

#include "base/check.h"
#include "layers/tape/lowering.h"
#include "layers/window.h"

struct patch {
  int64_t channels; /* local */
  struct window_args window;
  enum bias bias;
};

#define PATCH_ROWS                                                             \
  WINDOW_KERNEL(patch, window.kernel),                                         \
      WINDOW_STRIDE(patch, window.stride, "1"), WINDOW_PAD(patch, window.pad), \
      WINDOW_DILATE(patch, window.dilation)

static const struct arg_spec unfold_specs[] = {PATCH_ROWS, SPEC_END};
static const struct arg_spec local_specs[] = {
    ARG(INT, POSITION, "channels", patch, channels, .required = true, .min = 1,
        .grows = true, .doc = "channels of the output"),
    PATCH_ROWS,
    ARG(BIAS, WORD, "bias", patch, bias, .words = "bias nobias",
        .fallback = "bias, nobias before bn",
        .doc = "with or without a bias for each value of the output"),
    SPEC_END};

static int patch_windows(const struct layer *layer, struct window *windows) {
  const struct patch *patch = layer->args;
  window_plan(layer, &patch->window, windows);
  return shape_spatial(layer->in[0]);
}

/* Values of a patch: channels times the window. */
static bool patch_values(const struct layer *layer, int64_t *values) {
  struct window windows[3];
  int axes = patch_windows(layer, windows);
  bool fits = true;
  *values = shape_channels(layer->in[0]);
  for (int i = 0; i < axes; i++)
    fits = fits && mul_i64(*values, windows[i].kernel, values);
  return fits;
}

static bool patch_shape(struct layer *layer, int64_t channels) {
  const struct patch *patch = layer->args;
  struct window windows[3];
  int64_t values;
  if (!window_check(layer, &patch->window, windows))
    return false;
  if (!patch_values(layer, &values))
    return layer_refuse(layer, TOO_LARGE, "kernel",
                        "a patch passes 2^63 - 1 values");
  layer->out = window_shape(layer, windows, channels ? channels : values);
  return true;
}

static bool unfold_shape(struct layer *layer) {
  return patch_shape(layer, 0);
}

static bool local_shape(struct layer *layer) {
  return patch_shape(layer, ((const struct patch *)layer->args)->channels);
}

/* Patches as C x K.. at each position; neighbours share values. */
static struct strides see_patches(const struct layer *layer,
                                  const struct strides *map) {
  struct window windows[3];
  int axes = patch_windows(layer, windows);
  struct strides seen = *map;
  for (int i = 0; i < axes; i++) {
    const struct window *w = &windows[i];
    seen = strides_insert(&seen, seen.rank, w->kernel,
                          map->stride[i] * w->dilation);
    seen.dim[i] = w->out;
    seen.stride[i] *= w->stride;
  }
  return seen;
}

/*
 * torch.nn.functional.unfold, whose channels are C x K... Its result is
 * allocated with the input's size if that is larger (ATen/native/Im2Col.cpp);
 * the gradient is allocated with the patches' size, then cropped (Col2Im.cpp).
 * A plan copies patches of a padded map. `out` is the shape of the result.
 */
static size_t patches(const struct layer *layer, struct tape *tape, size_t in,
                      const struct shape *out) {
  const struct patch *patch = layer->args;
  size_t padded = window_pad(layer, &patch->window, tape, in, tape->lowers);
  struct strides lies = tape_strides(tape, padded), seen = lies, to = lies;
  struct strides dense = strides_of(out);
  if (tape->lowers) {
    seen = see_patches(layer, &lies);
    to = strides_dense(seen.rank, seen.dim);
  }
  bool keeps = tape->profile->unfold_keeps_input;
  size_t value = tape_run_on(
      tape, padded,
      (struct operation){.name = "unfold",
                         .does = LOWERS(COPY, .in = &seen, .out = &to),
                         .out = extent_of(out),
                         .layout = layout_of_map(tape, padded, out, LAST_NEVER),
                         .keeps = keeps ? KEEPS_IN(0) : 0,
                         .view = true, /* of columns, seen as maps */
                         .map = MAP_FIRST,
                         .packs_gradient = PACKS_PLACES,
                         .gradient = GRADIENT_LARGER});
  tape_see(tape, value, &dense);
  if (!tape->lowers)
    tape_enlarge(tape, value, tape_extent(tape, padded)->count);
  return value;
}

static size_t unfold_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return patches(layer, tape, in[0], &layer->out);
}

static void local_params(const struct layer *layer, struct params *params) {
  const struct patch *patch = layer->args;
  int64_t values;
  patch_values(layer, &values);
  params_add(params, (struct param){.name = "weight",
                                    .rank = 3,
                                    .dim = {shape_rows(&layer->out), values,
                                            patch->channels},
                                    .spread = spread_relu(values)});
  if (patch->bias != BIAS_NO)
    params_add(params,
               (struct param){.name = "bias",
                              .rank = 2,
                              .dim = {shape_rows(&layer->out), patch->channels},
                              .spread = spread_bias(values)});
}

static void local_macs(const struct layer *layer, struct terms *terms) {
  struct term term = {.count = layer->out.rank + 1, .split = layer->out.rank};
  for (int i = 0; i < layer->out.rank; i++)
    term.factor[i] = layer->out.dim[i];
  patch_values(layer, &term.factor[layer->out.rank]);
  terms_add(terms, term);
}

/* In a plan, each patch is a row; its position has a matrix of its own. */
static size_t planned_product(const struct layer *layer, struct tape *tape,
                              size_t patches) {
  const struct patch *patch = layer->args;
  struct strides out = strides_of(&layer->out);
  size_t pair[2] = {patches, tape_parameter(tape, 0)};
  int64_t values, n = patch->channels, all = shape_rows(&layer->out);
  patch_values(layer, &values);
  struct strides lies[2] = {strides_dense(3, (int64_t[]){all, 1, values}),
                            strides_dense(3, (int64_t[]){all, values, n})};
  struct strides rows = strides_dense(3, (int64_t[]){all, 1, n});
  lies[0].offset = tape_strides(tape, patches).offset;
  struct lowering does = {.opcode = DOES_MATMUL, .in = lies, .out = &rows};
  struct operation op = {.name = "local",
                         .does = &does,
                         .in = pair,
                         .in_count = 2,
                         .out = extent_of(&layer->out)};
  size_t value = tape_run(tape, &op);
  tape_see(tape, value, &out);
  if (patch->bias == BIAS_NO)
    return value;
  pair[0] = value;
  pair[1] = tape_parameter(tape, 1);
  lies[0] = lies[1] = out;
  op.name = "bias";
  op.elementwise = true;
  does = (struct lowering){.opcode = DOES_ADD, .in = lies, .out = &out};
  return tape_run(tape, &op);
}

/* unfold, torch.bmm by position, then the bias is added. */
static size_t local_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  const struct patch *patch = layer->args;
  struct shape cols = layer->out;
  patch_values(layer, &cols.dim[cols.rank - 1]);
  size_t value = patches(layer, tape, in[0], &cols);
  if (tape->lowers)
    return planned_product(layer, tape, value);
  uint32_t lies = layout_by_steps(tape, &layer->out, true);
  value = layer_run(layer, tape, value,
                    (struct operation){.name = "local",
                                       .layout = lies,
                                       .keeps = KEEPS_IN(0),
                                       .param_count = 1,
                                       .guarded = true,
                                       .view = true, /* of the output of bmm */
                                       .packs_gradient = patch->bias == BIAS_NO
                                                             ? PACKS_PLACES
                                                             : PACKS_NOTHING,
                                       .cast = CAST_LOW});
  if (patch->bias == BIAS_NO)
    return value;
  return layer_run(layer, tape, value,
                   (struct operation){.name = "bias",
                                      .layout = lies,
                                      .first_param = 1,
                                      .param_count = 1,
                                      .packs_gradient = PACKS_PLACES,
                                      .gradient = GRADIENT_SHARED});
}

LAYER_KIND(local, "Convolution",
           "convolution with different weights at every position",
           LAYER_ARGS(patch, local_specs), .shape = local_shape,
           .params = local_params, .macs = local_macs, .windows = patch_windows,
           .trace = local_trace);

LAYER_KIND(unfold, "Shape",
           "the patches of a map: each window's values become channels",
           LAYER_ARGS(patch, unfold_specs), .shape = unfold_shape,
           .windows = patch_windows, .trace = unfold_trace);
