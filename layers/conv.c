/*
 * conv, dwconv, deconv, deformconv: convolutions in one, two or three
 * dimensions.
 */
#include <inttypes.h>

#include "base/check.h"
#include "layers/computed.h"
#include "layers/lora.h"
#include "layers/window.h"

struct conv {
  int64_t channels; /* of the output; dwconv: 0 */
  int64_t groups;
  int64_t multiplier; /* dwconv: outputs for each input channel */
  struct window_args window;
  struct sizes outpad;            /* deconv */
  struct layer_ref offsets, mask; /* deformconv */
  enum bias bias;
  int computed;     /* enum computed */
  int gain;         /* of ws */
  struct lora lora; /* conv */
};

#define CHANNELS                                                             \
  ARG(INT, POSITION, "channels", conv, channels, .required = true, .min = 1, \
      .doc = "channels of the output")
#define KERNEL                                                          \
  ARG(SIZES, POSITION, "kernel", conv, window.kernel, .required = true, \
      .min = 1, .doc = "size of the window")
#define STRIDE                                                                 \
  ARG(SIZES, STRIDE, "stride", conv, window.stride, .min = 1, .fallback = "1", \
      .doc = "step from window to window")
#define DILATE                                                                \
  ARG(SIZES, KEY, "dilate", conv, window.dilation, .min = 1, .fallback = "1", \
      .doc = "step inside the window")
#define GROUPS                                                  \
  ARG(INT, KEY, "groups", conv, groups, .min = 1, .initial = 1, \
      .fallback = "1", .doc = "parts that do not see each other")
#define BIAS                                                  \
  ARG(BIAS, WORD, "bias", conv, bias, .words = "bias nobias", \
      .fallback = "bias, nobias before bn",                   \
      .doc = "whether each channel has a bias")
#define PAD(text) \
  ARG(PADDING, KEY, "pad", conv, window.pad, .fallback = "0", .doc = text)

static const struct arg_spec conv_specs[] = {
    CHANNELS,
    KERNEL,
    STRIDE,
    PAD("`pad` keeps the size at stride 1; `pad=1`, `pad=1x2`, `pad=0:1`, "
        "`pad=tf`"),
    DILATE,
    GROUPS,
    BIAS,
    COMPUTED(conv),
    GAIN(conv),
    LORA_SPECS(conv, lora),
    SPEC_END};

static const struct arg_spec dwconv_specs[] = {
    KERNEL,
    STRIDE,
    PAD("`pad` keeps the size at stride 1; `pad=1`, `pad=1x2`, `pad=0:1`, "
        "`pad=tf`"),
    DILATE,
    ARG(INT, KEY, "mult", conv, multiplier, .min = 1, .initial = 1,
        .fallback = "1", .doc = "outputs for each input channel"),
    BIAS,
    COMPUTED(conv),
    GAIN(conv),
    SPEC_END};

static const struct arg_spec deconv_specs[] = {
    CHANNELS,
    KERNEL,
    STRIDE,
    PAD("takes away: `pad=1`, `pad=1x2`, `pad=0:1`"),
    DILATE,
    ARG(SIZES, KEY, "outpad", conv, outpad, .fallback = "0",
        .doc = "rows and columns added at the end"),
    GROUPS,
    BIAS,
    COMPUTED_BUT_WS(conv),
    SPEC_END};

static const struct arg_spec deformconv_specs[] = {
    CHANNELS,
    KERNEL,
    ARG(INPUT, KEY, "offsets", conv, offsets, .required = true,
        .doc = "the label of how far each value of each window is moved: 2 "
               "channels a value, of one or more groups of the input's"),
    ARG(INPUT, KEY, "mask", conv, mask,
        .doc = "the label of what each value counts: 1 channel (version 2)"),
    STRIDE,
    PAD("`pad` keeps the size at stride 1; `pad=1`, `pad=1x2`, `pad=0:1`, "
        "`pad=tf`"),
    DILATE,
    GROUPS,
    BIAS,
    SPEC_END};

static bool check_groups(const struct layer *layer) {
  const struct conv *conv = layer->args;
  int64_t in = shape_channels(layer->in[0]);
  if (in % conv->groups == 0 && conv->channels % conv->groups == 0)
    return true;
  struct diagnostic *d = layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "groups",
                                    "%" PRId64 " groups do not divide %" PRId64
                                    " input and %" PRId64 " output channels",
                                    conv->groups, in, conv->channels);
  int64_t a = in, b = conv->channels;
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return diag_help(d, "the largest number that divides both is %" PRId64, a);
}

/* B has the groups of the layer, A has none. */
static bool check_lora(const struct layer *layer) {
  const struct conv *conv = layer->args;
  if (!lora_check(layer, &conv->lora) ||
      !computed_check(layer, (enum computed)conv->computed,
                      conv->lora.rank > 0))
    return false;
  if (conv->lora.dora && conv->groups > 1) {
    struct diagnostic *d = layer_fail(layer, DUPLICATE_ARGUMENT, "dora",
                                      "`dora` multiplies A by B, which %" PRId64
                                      " groups of outputs do not allow",
                                      conv->groups);
    return diag_help(d, "leave out `dora`, or `groups`");
  }
  if (conv->lora.rank % conv->groups == 0)
    return true;
  return layer_refuse(layer, GROUPS_DO_NOT_DIVIDE, "lora",
                      "%" PRId64 " groups do not divide a rank of %" PRId64,
                      conv->groups, conv->lora.rank);
}

static bool check_gain(const struct layer *layer) {
  const struct conv *conv = layer->args;
  if (!conv->gain || conv->computed == WEIGHTS_WS)
    return true;
  struct diagnostic *d =
      layer_fail(layer, MISSING_ARGUMENT, "gain",
                 "`gain` is a factor of standardised weights only");
  return diag_help(d, "`ws gain` standardises them; `scale` after the layer "
                      "is a factor of its outputs");
}

static bool conv_shape(struct layer *layer) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  if (!window_check(layer, &conv->window, windows) || !check_groups(layer) ||
      !check_lora(layer) || !check_gain(layer))
    return false;
  layer->out = window_shape(layer, windows, conv->channels);
  return true;
}

static bool dwconv_shape(struct layer *layer) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  int64_t channels;
  if (!window_check(layer, &conv->window, windows) || !check_gain(layer))
    return false;
  if (!mul_i64(shape_channels(layer->in[0]), conv->multiplier, &channels))
    return layer_refuse(layer, TOO_LARGE, "mult", "the channels pass 2^63 - 1");
  layer->out = window_shape(layer, windows, channels);
  return true;
}

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
    return layer_refuse(layer, OUT_OF_RANGE, "outpad",
                        "outpad=%" PRId64
                        " must be smaller than the stride (%" PRId64
                        ") or the dilation (%" PRId64 ")",
                        outpad, stride, dilation);
  }
  return true;
}

static bool deconv_shape(struct layer *layer) {
  const struct conv *conv = layer->args;
  if (conv->window.pad.mode == PADDING_SAME ||
      conv->window.pad.mode == PADDING_TF) {
    struct diagnostic *d =
        layer_fail(layer, WRONG_TYPE, "pad", "deconv needs a number here");
    return diag_help(d, "`pad=1` takes away one row and column at each side");
  }
  if (!window_check_args(layer, &conv->window) || !check_groups(layer) ||
      !check_outpad(layer))
    return false;
  struct shape out = *layer->in[0];
  for (int i = 0; i < shape_spatial(&out); i++) {
    if (deconv_size(layer, i, &out.dim[i]))
      continue;
    return layer_refuse(layer, KERNEL_TOO_LARGE, "pad",
                        "nothing is left of the map of %s",
                        shape_text(layer->in[0]).text);
  }
  layer->out = shape_with_channels(&out, conv->channels);
  return true;
}

/* Values of a window of two axes. */
static int64_t window_values(const struct conv *conv) {
  return size_product(size_at(&conv->window.kernel, 0, 1),
                      size_at(&conv->window.kernel, 1, 1));
}

/* A map beside the output, with so many channels for each group. */
static bool check_beside(const struct layer *layer, int input, const char *arg,
                         int64_t each, int64_t groups) {
  const struct shape *in = layer->in[input], *out = &layer->out;
  bool fits = in->rank == 3 && in->dtype == DTYPE_FLOAT &&
              in->dim[0] == out->dim[0] && in->dim[1] == out->dim[1] &&
              (groups ? shape_channels(in) == size_product(each, groups)
                      : shape_channels(in) % each == 0);
  struct shape wanted =
      shape_with_channels(out, size_product(each, groups ? groups : 1));
  if (fits)
    return true;
  struct diagnostic *d = layer_fail(
      layer, SHAPE_MISMATCH, arg, "`%s=` takes %s here%s, not %s", arg,
      shape_text(&wanted).text, groups ? "" : ", or several times the channels",
      shape_text(in).text);
  return diag_help(d, "a `conv %" PRId64 "` with the same window and stride",
                   shape_channels(&wanted));
}

static bool deformconv_shape(struct layer *layer) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  if (layer->in[0]->rank != 3)
    return layer_refuse(layer, WRONG_RANK, NULL,
                        "deformconv needs a map of HxWxC, not %s",
                        shape_text(layer->in[0]).text);
  if (!window_check(layer, &conv->window, windows) || !check_groups(layer))
    return false;
  layer->out = window_shape(layer, windows, conv->channels);
  int64_t each = window_values(conv);
  if (!check_beside(layer, 1, "offsets", size_product(2, each), 0))
    return false;
  int64_t groups = shape_channels(layer->in[1]) / each / 2;
  if (shape_channels(layer->in[0]) % groups)
    return layer_refuse(layer, GROUPS_DO_NOT_DIVIDE, "offsets",
                        "offsets of %" PRId64 " groups do not divide %" PRId64
                        " input channels",
                        groups, shape_channels(layer->in[0]));
  return layer->input_count < 3 || check_beside(layer, 2, "mask", each, groups);
}

/* Weights K.. x C/G x N. */
static struct param weight_of(const struct layer *layer,
                              enum file_order order) {
  const struct conv *conv = layer->args;
  int64_t in = shape_channels(layer->in[0]), out = shape_channels(&layer->out);
  int64_t groups = conv->channels ? conv->groups : in; /* dwconv: each one */
  int64_t fan_in = in / groups;
  int spatial = shape_spatial(layer->in[0]);
  struct param param = {
      .name = "weight", .rank = spatial + 2, .order = order, .groups = groups};
  for (int i = 0; i < spatial; i++) {
    param.dim[i] = size_at(&conv->window.kernel, i, 1);
    fan_in = size_product(fan_in, param.dim[i]);
  }
  param.dim[spatial] = in / groups;
  param.dim[spatial + 1] = out;
  param.spread = spread_relu(fan_in);
  return param;
}

/* And a bias for each of the N outputs. */
static void add_params(const struct layer *layer, struct params *params,
                       enum file_order order) {
  const struct conv *conv = layer->args;
  struct param weight = weight_of(layer, order), bias = {0};
  weight.fixed = conv->lora.rank > 0;
  int64_t fan_in = 1;
  for (int i = 0; i < weight.rank - 1; i++)
    fan_in = size_product(fan_in, weight.dim[i]);
  if (conv->bias != BIAS_NO)
    bias = (struct param){.name = "bias",
                          .rank = 1,
                          .dim = {shape_channels(&layer->out)},
                          .fixed = weight.fixed,
                          .spread = spread_bias(fan_in)};
  computed_params(params, (enum computed)conv->computed, conv->gain, weight,
                  bias);
}

/* A has the window, B is a window of one value. */
static void add_lora(const struct layer *layer, struct params *params) {
  const struct conv *conv = layer->args;
  int spatial = shape_spatial(layer->in[0]);
  struct param a = params->all.at[0], b = a;
  a.name = "lora_A.weight";
  b.name = "lora_B.weight";
  a.fixed = b.fixed = false;
  a.adapter = b.adapter = true;
  a.groups = 1;
  a.dim[spatial] = shape_channels(layer->in[0]);
  a.dim[spatial + 1] = conv->lora.rank;
  for (int i = 0; i < spatial; i++)
    b.dim[i] = 1;
  b.dim[spatial] = conv->lora.rank / conv->groups;
  b.spread = spread_linear(b.dim[spatial]);
  params_add(params, a);
  params_add(params, b);
  struct param lengths = b; /* 1 x N x 1.. in a file */
  lengths.name = LORA_LENGTHS;
  lengths.order = FILE_IN_FIRST;
  lengths.groups = lengths.dim[spatial] = 1;
  lengths.center = 1;
  lengths.spread = 0;
  if (conv->lora.dora)
    params_add(params, lengths);
}

/* PyTorch has N x C/G x K.. */
static void conv_params(const struct layer *layer, struct params *params) {
  const struct conv *conv = layer->args;
  add_params(layer, params, FILE_OUT_FIRST);
  if (conv->lora.rank)
    add_lora(layer, params);
}

/* PyTorch has C x N/G x K.. */
static void deconv_params(const struct layer *layer, struct params *params) {
  add_params(layer, params, FILE_IN_FIRST);
}

/* Values of the output times the window and channels that each one reads. */
static void conv_macs(const struct layer *layer, struct terms *terms) {
  const struct conv *conv = layer->args;
  int64_t in = shape_channels(layer->in[0]);
  int spatial = shape_spatial(layer->in[0]);
  struct term term = {.count = 2 * spatial + 2, .split = spatial + 1};
  for (int i = 0; i <= spatial; i++)
    term.factor[i] = layer->out.dim[i];
  for (int i = 0; i < spatial; i++)
    term.factor[spatial + 1 + i] = size_at(&conv->window.kernel, i, 1);
  term.factor[2 * spatial + 1] = conv->channels ? in / conv->groups : 1;
  terms_add(terms, term);
  if (!conv->lora.rank)
    return;
  struct term b = {.count = spatial + 2, .split = spatial + 1};
  for (int i = 0; i <= spatial; i++)
    b.factor[i] = layer->out.dim[i];
  b.factor[spatial + 1] = conv->lora.rank / conv->groups;
  term.factor[spatial] = conv->lora.rank; /* A */
  term.factor[2 * spatial + 1] = in;
  terms_add(terms, term);
  terms_add(terms, b);
}

/* Each value of the input meets the window and its group's outputs. */
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

static int conv_windows(const struct layer *layer, struct window *windows) {
  const struct conv *conv = layer->args;
  window_plan(layer, &conv->window, windows);
  return shape_spatial(layer->in[0]);
}

/* A moves the same window, B mixes what it gave at each place. */
static size_t adapt(const struct layer *layer, struct tape *tape, size_t in,
                    size_t base, bool padded) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  int axes = conv_windows(layer, windows);
  struct shape narrow = shape_with_channels(&layer->out, conv->lora.rank);
  struct strides lies[2] = {strides_of(&narrow), strides_of(&layer->out)};
  struct lowering a = {.opcode = DOES_CONV, .out = &lies[0]};
  struct lowering b = {.opcode = DOES_CONV, .out = &lies[1]};
  lowering_add(&a, 1);
  window_lower(&a, windows, axes, padded);
  for (int i = 0; i < axes; i++)
    windows[i] = (struct window){.kernel = 1, .dilation = 1, .stride = 1};
  lowering_add(&b, conv->groups);
  window_lower(&b, windows, axes, false);
  struct lora_site site = {.steps = {{&a, extent_of(&narrow), false},
                                     {&b, extent_of(&layer->out), false}},
                           .first = conv->bias != BIAS_NO ? 2 : 1,
                           .in = shape_channels(layer->in[0]),
                           .out = shape_channels(&layer->out)};
  for (int i = 0; i < axes; i++)
    site.in = size_product(site.in, size_at(&conv->window.kernel, i, 1));
  return lora_trace(tape, &conv->lora, in, base, &site);
}

/* What was padded before needs no padding. */
static size_t product_trace(const struct layer *layer, struct tape *tape,
                            size_t in, bool padded) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  int axes = conv_windows(layer, windows);
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = layer->kind->opcode, .out = &out};
  lowering_add(&does,
               conv->channels ? conv->groups : shape_channels(layer->in[0]));
  window_lower(&does, windows, axes, padded);
  struct param weight =
      weight_of(layer, layer->kind->opcode == DOES_DECONV ? FILE_IN_FIRST
                                                          : FILE_OUT_FIRST);
  size_t base = computed_trace(
      tape, (enum computed)conv->computed, in, &weight,
      (struct operation){.name = layer->kind->name,
                         .does = &does,
                         .out = extent_of(&layer->out),
                         .param_count = conv->bias != BIAS_NO ? 2 : 1,
                         .layout = layout_of_map(tape, in, &layer->out),
                         .map = true,
                         .splits = true,
                         .cast = CAST_LOW});
  return conv->lora.rank ? adapt(layer, tape, in, base, padded) : base;
}

static size_t conv_trace(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  const struct conv *conv = layer->args;
  size_t padded = window_pad(layer, &conv->window, tape, in[0], false);
  return product_trace(layer, tape, padded, padded != in[0]);
}

/* The output is made as large as the input, then cut or made anew:
   ATen/native/NaiveConvolutionTranspose3d.cpp. */
static size_t deconv_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  size_t value = product_trace(layer, tape, in[0], false);
  int64_t count = shape_values(layer->in[0]);
  struct extent extent = *tape_extent(tape, value);
  struct tape_storage *to = &tape->storages.at[tape->values.at[value].storage];
  if (tape->profile->slow_volumes && shape_spatial(layer->in[0]) == 3 &&
      count > extent.count) {
    extent.count = count;
    to->extent = tape_keep_extent(tape, extent);
  }
  return value;
}

/* Its gradient is made after those of the others: a view that has it. */
static size_t bias_last(struct tape *tape, size_t in) {
  return tape_run_on(tape, in,
                     (struct operation){.name = "bias",
                                        .out = *tape_extent(tape, in),
                                        .result = RESULT_VIEW,
                                        .gradient = GRADIENT_SHARED,
                                        .first_param = 1,
                                        .param_count = 1});
}

/*
 * torchvision/csrc/ops/cpu/deform_conv2d_kernel.cpp: the windows of at most 32
 * samples at once as columns of a matrix, the output twice more; backward, of
 * several samples, one of its gradient. Without a bias one of zeros is kept.
 */
static size_t deformconv_trace(const struct layer *layer, struct tape *tape,
                               const size_t *in) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  int axes = conv_windows(layer, windows);
  bool bias = conv->bias != BIAS_NO, masked = layer->input_count > 2;
  size_t read[3] = {window_pad(layer, &conv->window, tape, in[0], false), in[1],
                    masked ? in[2] : 0};
  if (bias && !tape->lowers)
    read[0] = bias_last(tape, read[0]);
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_DEFORMCONV, .out = &out};
  lowering_add(&does, conv->groups);
  lowering_add(&does, masked);
  window_lower(&does, windows, axes, tape->lowers && read[0] != in[0]);
  struct extent made = extent_of(&layer->out), columns = made;
  columns.count = size_product(
      shape_rows(&layer->out),
      size_product(shape_channels(layer->in[0]), window_values(conv)));
  columns.at_once = 32;
  struct extent work = columns, again = made;
  work.count = size_sum(work.count, size_product(2, made.count));
  again.several = true;
  if (tape->lowers)
    work.count = 0;
  return tape_run(
      tape, &(struct operation){
                .name = layer->kind->name,
                .does = &does,
                .in = read,
                .in_count = layer->input_count,
                .out = made,
                .param_count = bias && tape->lowers ? 2 : 1,
                .keeps = KEEPS_IN(0) | KEEPS_IN(1) | (masked ? KEEPS_IN(2) : 0),
                .kept = {extent_fixed(bias ? 0 : conv->channels, WIDTH_NET)},
                .work = work,
                .back_work = columns,
                .back_more = again,
                .cast = CAST_FULL});
}

LAYER_KIND(conv, "Convolution",
           "convolution: a window of weights moves over the map",
           LAYER_ARGS(conv, conv_specs), .shape = conv_shape,
           .params = conv_params, .macs = conv_macs, .trace = conv_trace,
           .opcode = DOES_CONV, .windows = conv_windows);

LAYER_KIND(dwconv, "Convolution",
           "depthwise convolution: each channel has its own window",
           LAYER_ARGS(conv, dwconv_specs), .shape = dwconv_shape,
           .params = conv_params, .macs = conv_macs, .trace = conv_trace,
           .opcode = DOES_CONV, .windows = conv_windows);

LAYER_KIND(deconv, "Convolution",
           "transposed convolution: each value spreads over a window",
           LAYER_ARGS(conv, deconv_specs), .shape = deconv_shape,
           .params = deconv_params, .macs = deconv_macs, .trace = deconv_trace,
           .opcode = DOES_DECONV);

LAYER_KIND(deformconv, "Convolution",
           "convolution whose windows read where the net says",
           LAYER_ARGS(conv, deformconv_specs), .shape = deformconv_shape,
           .params = conv_params, .macs = conv_macs, .trace = deformconv_trace,
           .windows = conv_windows, .opcode = DOES_DEFORMCONV);
