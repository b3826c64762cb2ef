/* fc, linear: every output is a sum over all input features. */
#include <inttypes.h>

#include "layers/computed.h"
#include "layers/lora.h"
#include "layers/tape/lowering.h"

struct dense {
  int64_t units;
  enum bias bias;
  struct layer_ref tie;
  int computed; /* enum computed */
  struct lora lora;
};

static const struct arg_spec dense_specs[] = {
    ARG(INT, POSITION, "units", dense, units, .required = true, .min = 1,
        .grows = true, .doc = "features of the output"),
    ARG(BIAS, WORD, "bias", dense, bias, .words = "bias nobias",
        .fallback = "bias, nobias before bn",
        .doc = "with or without a bias for each feature"),
    ARG(LAYER, KEY, "tie", dense, tie,
        .doc = "label of the layer whose weights are used, such as an "
               "embedding"),
    COMPUTED(dense),
    LORA_SPECS(dense, lora),
    SPEC_END};

/* Input features of one output. */
static int64_t features(const struct layer *layer) {
  if (layer->out.rank == 1)
    return shape_values(layer->in[0]);
  return shape_channels(layer->in[0]);
}

static bool same_sizes(int64_t a, int64_t b, const struct param *param) {
  return param->rank == 2 && ((param->dim[0] == a && param->dim[1] == b) ||
                              (param->dim[0] == b && param->dim[1] == a));
}

/* Tied weights are not adapted: that would change the other layer, too. */
static bool check_lora(const struct layer *layer) {
  const struct dense *dense = layer->args;
  if (!lora_check(layer, &dense->lora) ||
      !computed_check(layer, (enum computed)dense->computed,
                      dense->lora.rank > 0))
    return false;
  if (!dense->lora.rank || dense->tie.node < 0)
    return true;
  return layer_refuse_surplus(
      layer, TIE_MISMATCH, "lora",
      "LoRA cannot adapt weights that are tied to `%.*s`",
      SLICE_ARG(dense->tie.name));
}

/* The first parameter of the layer tied to must have the same two sizes. */
static bool check_tie(const struct layer *layer) {
  const struct dense *dense = layer->args;
  const struct layer *other = dense->tie.layer;
  if (dense->tie.node < 0)
    return true;
  if (dense->computed)
    return layer_refuse_surplus(layer, TIE_MISMATCH, "tie",
                                "computed weights cannot be tied");
  struct params params = {.arena = layer->site->diags->arena};
  if (other->kind->params)
    other->kind->params(other, &params);
  int64_t in = features(layer);
  if (params.all.count && same_sizes(in, dense->units, &params.all.at[0]))
    return true;
  struct text has = text_new(params.arena);
  text_put(&has, params.all.count ? "weights of " : "no weights");
  if (params.all.count)
    text_sizes(&has, params.all.at[0].dim, params.all.at[0].rank);
  struct diagnostic *d =
      layer_fail(layer, TIE_MISMATCH, "tie",
                 "`%.*s` has %.*s, but this layer needs %" PRId64 "x%" PRId64,
                 SLICE_ARG(dense->tie.name), SLICE_ARG(has), in, dense->units);
  layer_offer_omission(layer, d);
  return diag_help(d,
                   "tie to a layer of the same two sizes, or leave out `tie`");
}

static bool fc_shape(struct layer *layer) {
  const struct dense *dense = layer->args;
  layer->out = shape_of(1, &dense->units);
  return check_lora(layer) && check_tie(layer);
}

static bool linear_shape(struct layer *layer) {
  const struct dense *dense = layer->args;
  layer->out = shape_with_channels(layer->in[0], dense->units);
  return check_lora(layer) && check_tie(layer);
}

static struct param weight_of(const struct layer *layer) {
  const struct dense *dense = layer->args;
  int64_t in = features(layer);
  return (struct param){.name = "weight",
                        .rank = 2,
                        .dim = {in, dense->units},
                        .tied = dense->tie.node >= 0 ? &dense->tie : NULL,
                        .order = FILE_OUT_FIRST,
                        .fixed = dense->lora.rank > 0,
                        .narrow = dense->tie.node < 0,
                        .spread = spread_relu(in)};
}

static void dense_params(const struct layer *layer, struct params *params) {
  const struct dense *dense = layer->args;
  struct param bias = {0};
  size_t first = params->all.count;
  if (dense->bias != BIAS_NO)
    bias = (struct param){.name = "bias",
                          .rank = 1,
                          .dim = {dense->units},
                          .fixed = dense->lora.rank > 0,
                          .spread = spread_bias(features(layer))};
  computed_params(params, (enum computed)dense->computed, false,
                  weight_of(layer), bias);
  if (dense->lora.rank)
    lora_params(params, features(layer), dense->units, &dense->lora, first, "");
}

static void dense_macs(const struct layer *layer, struct terms *terms) {
  const struct dense *dense = layer->args;
  struct term term = {.count = layer->out.rank + 1};
  for (int i = 0; i < layer->out.rank; i++)
    term.factor[i] = layer->out.dim[i];
  term.split = layer->out.rank;
  term.factor[layer->out.rank] = features(layer);
  terms_add(terms, term);
  if (!dense->lora.rank)
    return;
  term.factor[layer->out.rank] = dense->lora.rank; /* B */
  terms_add(terms, term);
  term.factor[layer->out.rank - 1] = features(layer); /* A */
  terms_add(terms, term);
}

/* True if the tied weight is stored transposed: an embedding has a row for each
 * output, and other layers may. */
static bool by_rows(const struct layer *layer, struct arena *arena) {
  const struct dense *dense = layer->args;
  const struct layer *other = dense->tie.layer;
  struct params params = {.arena = arena};
  if (dense->tie.node < 0)
    return false;
  other->kind->params(other, &params);
  return params.all.at[0].dim[0] == dense->units &&
         (other->kind->input == INPUT_INDEX || features(layer) != dense->units);
}

/* With one row for each sample, any slice of the batch is a matrix. */
static bool several_rows(const struct layer *layer) {
  return layer->out.rank > 2 || (layer->out.rank == 2 && layer->out.dim[0] > 1);
}

/* The product with A has the output's shape, with `rank` channels. */
static size_t adapt(const struct layer *layer, struct tape *tape, size_t in,
                    size_t base) {
  const struct dense *dense = layer->args;
  struct shape narrow = shape_with_channels(&layer->out, dense->lora.rank);
  struct strides lies[2] = {strides_of(&narrow), strides_of(&layer->out)};
  struct lora_site site = {
      .steps = {{LOWERS(LINEAR, .out = &lies[0]), extent_of(&narrow), true,
                 several_rows(layer), layer->out.rank == 1},
                {LOWERS(LINEAR, .out = &lies[1]), extent_of(&layer->out), true,
                 several_rows(layer), layer->out.rank == 1}},
      .first = dense->bias != BIAS_NO ? 2 : 1,
      .in = features(layer),
      .out = dense->units};
  return lora_trace(tape, &dense->lora, in, base, &site);
}

/*
 * ATen/native/Linear.cpp: rows of samples that are contiguous are one matrix
 * for the kernel that also adds the bias. Rows of experts are a matrix already.
 */
static bool is_view(const struct layer *layer, const struct tape *tape,
                    size_t in) {
  const struct dense *dense = layer->args;
  return layer->out.rank == 2 && dense->bias != BIAS_NO && !tape->share &&
         layout_rows(tape, in) == ROWS_TOGETHER;
}

static size_t dense_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  const struct dense *dense = layer->args;
  struct strides out = strides_of(&layer->out);
  int64_t sizes[2] = {features(layer), dense->units};
  struct strides weights[2] = {strides_dense(2, sizes),
                               strides_dense(1, &dense->units)};
  if (by_rows(layer, tape->arena)) {
    weights[0].stride[0] = 1;
    weights[0].stride[1] = sizes[0];
  }
  struct lowering does = {
      .opcode = DOES_LINEAR, .out = &out, .weights = weights};
  struct param weight = weight_of(layer);
  size_t base = computed_trace(
      tape, (enum computed)dense->computed, in[0], layer->in[0]->rank > 1,
      &weight,
      (struct operation){.name = layer->kind->name,
                         .does = &does,
                         .out = extent_of(&layer->out),
                         .param_count = dense->bias != BIAS_NO ? 2 : 1,
                         .view = is_view(layer, tape, in[0]),
                         .layout = LAYOUT_ROWS,
                         .splits = true,
                         .by_rows = several_rows(layer),
                         .plain = layer->out.rank == 1,
                         .guarded = true,
                         .cast = CAST_LOW});
  return dense->lora.rank ? adapt(layer, tape, in[0], base) : base;
}

static size_t fc_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  size_t flat = in[0];
  if (layer->in[0]->rank > 1)
    flat = tape_flatten(tape, in[0], layer->in[0]);
  return dense_trace(layer, tape, &flat);
}

LAYER_KIND(fc, "Dense", "fully connected: flattens its input to a vector first",
           LAYER_ARGS(dense, dense_specs), .shape = fc_shape,
           .params = dense_params, .macs = dense_macs, .trace = fc_trace);

LAYER_KIND(linear, "Dense",
           "dense layer on the last axis, the same at every position",
           LAYER_ARGS(dense, dense_specs), .per_position = true,
           .shape = linear_shape, .params = dense_params, .macs = dense_macs,
           .trace = dense_trace);
