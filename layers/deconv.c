/* deconv: transposed convolutions in one, two or three dimensions. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/conv.h"
#include "layers/tape/lowering.h"

static const struct arg_spec deconv_specs[] = {
    CONV_CHANNELS,
    CONV_KERNEL,
    CONV_STRIDE,
    ARG(PADDING, KEY, "pad", conv, window.pad, .fallback = "0",
        .doc = "rows and columns removed at the edges: `pad=1`, `pad=1x2`, "
               "`pad=0:1`"),
    CONV_DILATE,
    ARG(SIZES, KEY, "outpad", conv, outpad, .fallback = "0",
        .doc = "output padding: rows and columns added at the end"),
    CONV_GROUPS,
    CONV_BIAS,
    COMPUTED_BUT_WS(conv),
    SPEC_END};

/* out = (in - 1) S - pads + D(K - 1) + outpad + 1: nn.ConvTranspose2d. */
static bool deconv_size(const struct layer *layer, int axis, int64_t *out) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  window_plan(layer, &conv->window, windows);
  const struct window *w = &windows[axis];
  int64_t added = size_at(&conv->outpad, axis, 0);
  int64_t rest = window_extent(w) - w->before - w->after + added;
  return mul_i64(w->in - 1, w->stride, out) && add_i64(*out, rest, out) &&
         *out >= 1;
}

static bool check_outpad(const struct layer *layer) {
  const struct conv *conv = layer->args;
  if (!layer_check_sizes(layer, "outpad", &conv->outpad))
    return false;
  for (int i = 0; i < shape_spatial(layer->in[0]); i++) {
    int64_t outpad = size_at(&conv->outpad, i, 0);
    int64_t stride = size_at(&conv->window.stride, i, 1);
    int64_t dilation = size_at(&conv->window.dilation, i, 1);
    if (outpad < max_i64(stride, dilation))
      continue;
    struct diagnostic *d = layer_fail(
        layer, OUT_OF_RANGE, "outpad",
        "outpad=%" PRId64 " must be smaller than the stride (%" PRId64
        ") or the dilation (%" PRId64 ")",
        outpad, stride, dilation);
    layer_offer_value(d, "outpad", max_i64(stride, dilation) - 1);
    return false;
  }
  return true;
}

static bool deconv_shape(struct layer *layer) {
  const struct conv *conv = layer->args;
  if (conv->window.pad.mode == PADDING_SAME ||
      conv->window.pad.mode == PADDING_TF) {
    struct diagnostic *d =
        layer_fail(layer, WRONG_TYPE, "pad", "`pad` of deconv needs a number");
    return diag_help(d, "`pad=1` removes one row and one column at each side");
  }
  if (!window_check_args(layer, &conv->window) || !conv_check_groups(layer) ||
      !check_outpad(layer))
    return false;
  struct shape out = *layer->in[0];
  for (int i = 0; i < shape_spatial(&out); i++) {
    if (deconv_size(layer, i, &out.dim[i]))
      continue;
    return layer_refuse(layer, KERNEL_TOO_LARGE, "pad",
                        "the padding removes the whole map of %s",
                        shape_text(layer->in[0]).text);
  }
  layer->out = shape_with_channels(&out, conv->channels);
  return true;
}

/* PyTorch stores weights as C x N/G x K.. */
static void deconv_params(const struct layer *layer, struct params *params) {
  conv_add_params(layer, params, FILE_IN_FIRST);
}

/* Values of the input, times the window, times the outputs of a group. */
static void deconv_macs(const struct layer *layer, struct terms *terms) {
  const struct conv *conv = layer->args;
  int spatial = shape_spatial(layer->in[0]);
  struct term term = {.count = 2 * spatial + 2, .split = spatial + 1};
  for (int i = 0; i <= spatial; i++)
    term.factor[i] = layer->in[0]->dim[i];
  for (int i = 0; i < spatial; i++)
    term.factor[spatial + 1 + i] = size_at(&conv->window.kernel, i, 1);
  term.factor[2 * spatial + 1] = conv->channels / conv->groups;
  terms_add(terms, term);
}

/* True if a framework crops the output in separate operations: PyTorch takes
 * the same padding at both sides of an axis only. */
static bool cuts_after(const struct tape *tape, const struct window *windows,
                       int axes) {
  for (int i = 0; i < axes && !tape->lowers; i++)
    if (windows[i].before != windows[i].after)
      return true;
  return false;
}

/* Crops one axis after the other. */
static size_t cut(const struct layer *layer, struct tape *tape, size_t value,
                  const struct shape *whole) {
  struct strides lies = layout_as_seen(tape, value, whole);
  for (int i = 0; i < shape_spatial(whole); i++) {
    lies.dim[i] = layer->out.dim[i];
    if (whole->dim[i] != layer->out.dim[i])
      value = layer_cut(layer, tape, value, &lies);
  }
  return value;
}

/* PyTorch's kernel first allocates the output with the size of the input, then
 * resizes it (ATen/native/NaiveConvolutionTranspose3d.cpp). With groups, the
 * groups' outputs are concatenated instead. */
static size_t deconv_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  const struct conv *conv = layer->args;
  struct layer whole = *layer;
  struct window windows[3];
  int axes = conv_windows(layer, windows);
  bool cuts = cuts_after(tape, windows, axes);
  for (int i = 0; i < axes && cuts; i++)
    whole.out.dim[i] += windows[i].before + windows[i].after;
  int64_t count;
  if (!shape_count(&whole.out, &count))
    return conv_run(layer, tape, in[0], false); /* too large in any case */
  size_t value = conv_run(&whole, tape, in[0], false);
  if (tape->profile->slow_volumes && shape_spatial(layer->in[0]) == 3 &&
      conv->groups == 1)
    tape_enlarge(tape, value, shape_values(layer->in[0]));
  return cuts ? cut(layer, tape, value, &whole.out) : value;
}

/* nn.ConvTranspose2d's padding is cut off at both ends of the output. */
static int deconv_spreads(const struct layer *layer, struct window *windows) {
  int axes = conv_windows(layer, windows);
  for (int i = 0; i < axes; i++)
    windows[i].out = layer->out.dim[i];
  return axes;
}

LAYER_KIND(deconv, "Convolution",
           "transposed convolution: each value spreads over a window",
           LAYER_ARGS(conv, deconv_specs), .shape = deconv_shape,
           .spreads = deconv_spreads, .params = deconv_params,
           .macs = deconv_macs, .trace = deconv_trace, .opcode = DOES_DECONV);
