/* conv, dwconv: convolutions in one, two or three dimensions. */
#include "layers/conv.h"

#include <inttypes.h>

#include "base/check.h"
#include "layers/tape/lowering.h"

static const struct arg_spec conv_specs[] = {
    CONV_CHANNELS, CONV_KERNEL,
    CONV_STRIDE,   CONV_PAD,
    CONV_DILATE,   CONV_GROUPS,
    CONV_BIAS,     COMPUTED(conv),
    GAIN(conv),    LORA_SPECS(conv, lora),
    SPEC_END};

static const struct arg_spec dwconv_specs[] = {
    CONV_KERNEL,
    CONV_STRIDE,
    CONV_PAD,
    CONV_DILATE,
    ARG(INT, KEY, "mult", conv, multiplier, .min = 1, .initial = 1,
        .fallback = "1", .doc = "outputs for each input channel"),
    CONV_BIAS,
    COMPUTED(conv),
    GAIN(conv),
    SPEC_END};

bool conv_check_groups(const struct layer *layer) {
  const struct conv *conv = layer->args;
  int64_t in = shape_channels(layer->in[0]);
  if (in % conv->groups == 0 && conv->channels % conv->groups == 0)
    return true;
  struct diagnostic *d = layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "groups",
                                    "%" PRId64 " groups do not divide %" PRId64
                                    " input and %" PRId64 " output channels",
                                    conv->groups, in, conv->channels);
  int64_t most = gcd_i64(in, conv->channels);
  layer_offer_value(d, "groups", most);
  return diag_help(d, "the largest number that divides both is %" PRId64, most);
}

/* Groups divide B, which has the layer's groups; A has one group. */
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
    layer_offer_omission(layer, d);
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
  struct diagnostic *d = layer_fail(layer, MISSING_ARGUMENT, "gain",
                                    "`gain` needs standardised weights");
  diag_offer(d, (struct span){d->span.begin, d->span.begin}, slice_of("ws "),
             "write `ws` before it");
  return diag_help(d, "`ws gain` standardises them; `scale` after the layer "
                      "multiplies its outputs");
}

static bool conv_shape(struct layer *layer) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  if (!window_check(layer, &conv->window, windows) ||
      !conv_check_groups(layer) || !check_lora(layer) || !check_gain(layer))
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
    return layer_refuse(layer, TOO_LARGE, "mult",
                        "the number of channels passes 2^63 - 1");
  layer->out = window_shape(layer, windows, channels);
  return true;
}

/* Weights K.. x C/G x N. */
static struct param weight_of(const struct layer *layer,
                              enum file_order order) {
  const struct conv *conv = layer->args;
  int64_t in = shape_channels(layer->in[0]), out = shape_channels(&layer->out);
  int64_t groups = conv->channels ? conv->groups : in; /* dwconv: channels */
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

void conv_add_params(const struct layer *layer, struct params *params,
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

/* A has the layer's window, B a window of one value. */
static void add_lora(const struct layer *layer, struct params *params,
                     size_t first) {
  const struct conv *conv = layer->args;
  int spatial = shape_spatial(layer->in[0]);
  struct param a = params->all.at[first], b;
  a.narrow = false;
  b = a;
  a.name = "lora_A.weight";
  b.name = "lora_B.weight";
  a.fixed = b.fixed = false;
  a.adapter = b.adapter = true;
  a.type = b.type = lora_type(&conv->lora);
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
  lengths.spread = 0.5;
  if (!conv->lora.dora)
    return;
  params_add(params, lengths);
  lora_fold(params, &conv->lora, WEIGHTS_DORA, first);
}

void conv_params(const struct layer *layer, struct params *params) {
  const struct conv *conv = layer->args;
  size_t first = params->all.count;
  conv_add_params(layer, params, FILE_OUT_FIRST);
  for (size_t i = first; i < params->all.count; i++)
    params->all.at[i].narrow = layer->kind->opcode == DOES_CONV &&
                               params->all.at[i].rank > 1 &&
                               !params->all.at[i].part;
  if (conv->lora.rank)
    add_lora(layer, params, first);
}

/* Values of the output, times the window, times the channels read by each. */
void conv_macs(const struct layer *layer, struct terms *terms) {
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

int conv_windows(const struct layer *layer, struct window *windows) {
  const struct conv *conv = layer->args;
  window_plan(layer, &conv->window, windows);
  return shape_spatial(layer->in[0]);
}

/* A slides the same window; B mixes the channels of A's output by position. */
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
  struct lora_site site = {
      .steps = {{&a, extent_of(&narrow), false, false, false},
                {&b, extent_of(&layer->out), false, false, false}},
      .first = conv->bias != BIAS_NO ? 2 : 1,
      .in = shape_channels(layer->in[0]),
      .out = shape_channels(&layer->out)};
  for (int i = 0; i < axes; i++)
    site.in = size_product(site.in, size_at(&conv->window.kernel, i, 1));
  return lora_trace(tape, &conv->lora, in, base, &site);
}

size_t conv_run(const struct layer *layer, struct tape *tape, size_t in,
                bool padded) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  int axes = conv_windows(layer, windows);
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = layer->kind->opcode, .out = &out};
  lowering_add(&does,
               conv->channels ? conv->groups : shape_channels(layer->in[0]));
  window_lower(&does, windows, axes, padded);
  bool deconv = layer->kind->opcode == DOES_DECONV;
  if (!deconv && !padded)
    does.slide = window_slide(windows);
  struct param weight =
      weight_of(layer, deconv ? FILE_IN_FIRST : FILE_OUT_FIRST);
  size_t base = computed_trace(
      tape, (enum computed)conv->computed, in, false, &weight,
      (struct operation){.name = layer->kind->name,
                         .does = &does,
                         .out = extent_of(&layer->out),
                         .param_count = conv->bias != BIAS_NO ? 2 : 1,
                         .layout = layout_of_map(tape, in, &layer->out,
                                                 deconv ? LAST_NEVER : LAST_2D),
                         .map = map_order(layer->in[0], LAST_2D),
                         .splits = true,
                         .cast = CAST_LOW});
  return conv->lora.rank ? adapt(layer, tape, in, base, padded) : base;
}

static size_t conv_trace(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  const struct conv *conv = layer->args;
  size_t padded = window_pad(layer, &conv->window, tape, in[0], false);
  return conv_run(layer, tape, padded, padded != in[0]);
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
