/* bn, instnorm, gn, ln, rmsnorm, lrn, l2norm: normalisation. */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "layers/tape/lowering.h"
#include "layers/norm.h"

struct norm {
  int64_t groups; /* gn: groups; lrn: the window over channels */
  int without;    /* enum without */
  int within;     /* lrn: the window is over the map */
  double eps;
};

enum without { WITHOUT_NOTHING, WITHOUT_BOTH, WITHOUT_SHIFT };

#define AFFINE                                                            \
  ARG(WORDS, WORD, "noaffine", norm, without, .words = "noaffine nobias", \
      .doc = "without scale and shift, or without the shift alone")
#define SCALE                                                      \
  ARG(WORDS, WORD, "noaffine", norm, without, .words = "noaffine", \
      .doc = "without the scale")
#define EPS                                                                  \
  ARG(REAL, KEY, "eps", norm, eps, .initial_real = 1e-5, .fallback = "1e-5", \
      .doc = "added to the variance")

static const struct arg_spec norm_specs[] = {AFFINE, EPS, SPEC_END};

static const struct arg_spec rms_specs[] = {SCALE, EPS, SPEC_END};

static const struct arg_spec gn_specs[] = {
    ARG(INT, POSITION, "groups", norm, groups, .required = true, .min = 1,
        .doc = "groups of channels"),
    AFFINE, EPS, SPEC_END};

static const struct arg_spec lrn_specs[] = {
    ARG(INT, POSITION, "size", norm, groups, .required = true, .min = 1,
        .max = 1 << 20,
        .doc = "number of neighbouring channels that are summed; or rows and "
               "columns"),
    ARG(WORDS, WORD, "within", norm, within, .words = "within",
        .doc = "within a window of each channel's map (Caffe's "
               "WITHIN_CHANNEL)"),
    SPEC_END};

static const struct arg_spec l2norm_specs[] = {
    ARG(REAL, KEY, "eps", norm, eps, .initial_real = 1e-12, .fallback = "1e-12",
        .doc = "minimum of the divisor"),
    SPEC_END};

static void add_vector(const struct layer *layer, struct params *params,
                       const char *name, double center, bool buffer) {
  params_add(params, (struct param){.name = name,
                                    .rank = 1,
                                    .dim = {shape_channels(layer->in[0])},
                                    .buffer = buffer,
                                    .center = center});
}

static void affine_params(const struct layer *layer, struct params *params) {
  const struct norm *norm = layer->args;
  if (norm->without != WITHOUT_BOTH)
    add_vector(layer, params, "weight", 1, false);
  if (norm->without == WITHOUT_NOTHING)
    add_vector(layer, params, "bias", 0, false);
}

/* PyTorch's int64 counter of batches; published counts omit it. */
static int64_t bn_counter(const void *args, const struct shape *out) {
  (void)args;
  (void)out;
  return 8;
}

/* Running mean and variance. */
static void bn_params(const struct layer *layer, struct params *params) {
  affine_params(layer, params);
  add_vector(layer, params, "running_mean", 0, true);
  add_vector(layer, params, "running_var", 1, true);
}

static void rms_params(const struct layer *layer, struct params *params) {
  const struct norm *norm = layer->args;
  if (!norm->without)
    add_vector(layer, params, "weight", 1, false);
}

static bool gn_shape(struct layer *layer) {
  const struct norm *norm = layer->args;
  return layer_check_groups(layer, norm->groups) && layer_same_shape(layer);
}

static bool map_shape(struct layer *layer) {
  return layer_check_map(layer) && layer_same_shape(layer);
}

/* alpha, beta and k of torch.nn.LocalResponseNorm */
static const double lrn_reals[] = {1e-4, 0.75, 1};

static size_t run_norm(const struct layer *layer, struct tape *tape,
                       const size_t *in, struct operation op) {
  const struct norm *norm = layer->args;
  struct lowering does = {.opcode = layer->kind->opcode, .real = {norm->eps}};
  if (norm->groups)
    lowering_add(&does, norm->groups);
  if (layer->kind->opcode == DOES_LRN && norm->within)
    does.opcode = DOES_LRNWITHIN;
  if (layer->kind->opcode == DOES_LRN)
    memcpy(does.real, lrn_reals, sizeof lrn_reals);
  op.does = &does;
  op.all_params = true;
  return layer_run(layer, tape, in[0], op);
}

/* Keeps the input and two 32-bit statistics for each of `groups`. */
static size_t normalise(const struct layer *layer, struct tape *tape,
                        const size_t *in, struct operation op) {
  op.keeps = KEEPS_IN(0);
  return run_norm(layer, tape, in, norm_with_statistics(tape, op));
}

/*
 * _batch_norm_impl_index() of ATen/native/Normalization.cpp: cuDNN's norm, of
 * values of 32 bits with positions, a scale and a shift, gets contiguous ones.
 */
static bool norm_is_cudnn(const struct layer *layer, const struct tape *tape,
                          size_t in) {
  const struct norm *norm = layer->args;
  bool wide =
      tape->mixed ? tape_extent(tape, in)->width == WIDTH_NET : !tape->half;
  return tape->profile->cudnn && wide && layer->in[0]->rank > 1 &&
         norm->without == WITHOUT_NOTHING;
}

static size_t bn_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  int64_t channels = shape_channels(layer->in[0]);
  bool cudnn = norm_is_cudnn(layer, tape, in[0]);
  bool as_input = tape->profile->cudnn && !cudnn; /* empty_like(input) */
  size_t read[2] = {in[0], in[0]};
  if (cudnn)
    read[0] = layout_pack(tape, in[0], layer->in[0], LAST_2D | LAST_3D);
  return run_norm(
      layer, tape, read,
      (struct operation){
          .keeps = KEEPS_IN(0),
          .folds = true,
          .layout = as_input ? LAYOUT_AS_INPUT
                             : layout_of_map(tape, read[0], layer->in[0],
                                             LAST_2D | LAST_3D),
          .map =
              as_input ? MAP_AS_IN : map_order(layer->in[0], LAST_2D | LAST_3D),
          .elementwise = true,
          .always_makes = true,
          .kept = {extent_fixed(channels, WIDTH_F32),
                   extent_fixed(channels, WIDTH_F32)},
          .cast = CAST_FIRST});
}

/* A parameter repeated for each sample; its gradients are summed. */
static size_t repeat(struct tape *tape, int param, int64_t channels) {
  return tape_run_on(
      tape, tape_parameter(tape, param),
      (struct operation){.name = "repeat",
                         .out = extent_sample(channels, WIDTH_F32)});
}

/* True if the caller holds `in` while the norm reads a copy of it. */
static bool holds(const struct tape *tape, size_t in, size_t copy) {
  return tape->training && copy != in;
}

/* ATen/native/Normalization.cpp: a bn of N*C channels. */
static size_t instnorm_trace(const struct layer *layer, struct tape *tape,
                             const size_t *in) {
  const struct norm *norm = layer->args;
  int64_t channels = shape_channels(layer->in[0]);
  size_t read[4] = {in[0]};
  int count = 1;
  if (tape->lowers)
    return run_norm(layer, tape, in, (struct operation){0});
  int vectors = norm->without == WITHOUT_BOTH    ? 0
                : norm->without == WITHOUT_SHIFT ? 1
                                                 : 2;
  for (int i = 0; i < vectors; i++)
    read[count++] = repeat(tape, i, channels);
  read[0] = layout_pack(tape, in[0], layer->in[0], LAST_NEVER);
  bool held = holds(tape, in[0], read[0]);
  read[count] = in[0];
  struct operation op = {
      .name = layer->kind->name,
      .in = read,
      .in_count = count + held,
      .held = held,
      .packs_gradient = PACKS_PARTS,
      .out = extent_of(&layer->out),
      .keeps = KEEPS_IN(0) | (vectors ? KEEPS_IN(1) : 0),
      .layout = layout_of_map(tape, read[0], layer->in[0], LAST_NEVER),
      .map = MAP_FIRST,
      .view = true,
      .always_makes = true,
      .kept = {extent_sample(channels, WIDTH_F32),
               extent_sample(channels, WIDTH_F32)},
      .cast = CAST_FIRST};
  op = norm_with_statistics(tape, op);
  return tape_run(tape, &op);
}

static size_t gn_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  const struct norm *norm = layer->args;
  int can_be_last = tape->profile->cudnn ? LAST_NEVER : LAST_2D | LAST_3D;
  size_t read[2] = {layout_pack(tape, in[0], layer->in[0], can_be_last), in[0]};
  bool held = holds(tape, in[0], read[0]);
  bool last = !tape->lowers && layer->out.rank > 1 &&
              packing_of(layer->in[0]) == PACKS_MAPS &&
              (tape->values.at[read[0]].strides == LAYOUT_ROWS ||
               tape->values.at[read[0]].strides == LAYOUT_LAST);
  /* Backward has channels first, but for the kernel of a CPU: native_group_
   * norm in tools/autograd/derivatives.yaml of PyTorch 2. */
  bool stays = tape->profile->cpu_kernels;
  int64_t copies = last && !stays;
  struct lowering does = {.opcode = layer->kind->opcode, .real = {norm->eps}};
  lowering_add(&does, norm->groups);
  struct operation op = {
      .name = layer->kind->name,
      .does = &does,
      .in = read,
      .in_count = 1 + held,
      .held = held,
      .out = extent_of(&layer->out),
      .all_params = true,
      .keeps = KEEPS_IN(0),
      .layout = layout_of_map(tape, read[0], layer->in[0], can_be_last),
      .map = last && stays ? MAP_AS_IN : MAP_FIRST,
      .packs_gradient = last && stays ? PACKS_FIRST : packing_of(layer->in[0]),
      .back_work = extent_sample(
          size_product(copies, shape_values(layer->in[0])), WIDTH_NET),
      .always_makes = true,
      .kept = {extent_sample(norm->groups, WIDTH_F32),
               extent_sample(norm->groups, WIDTH_F32)},
      .cast = CAST_FULL};
  op = norm_with_statistics(tape, op);
  return tape_run(tape, &op);
}

static size_t ln_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  const struct shape *shape = layer->in[0];
  return run_norm(layer, tape, in,
                  norm_ln(tape, shape_rows(shape), shape_values(shape)));
}

static size_t rmsnorm_trace(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  const struct norm *norm = layer->args;
  struct lowering does = {.opcode = layer->kind->opcode, .real = {norm->eps}};
  return norm_rms(tape, in[0],
                  (struct operation){.name = layer->kind->name,
                                     .does = &does,
                                     .out = extent_of(&layer->out)},
                  shape_rows(layer->in[0]), norm->without ? -1 : 0);
}

/*
 * Caffe's lrn_layer.cpp: x / (1 + alpha * mean of the squares of a window)^beta
 * in separate operations.
 */
static size_t within_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  if (tape->lowers)
    return normalise(layer, tape, in, (struct operation){.cast = CAST_FULL});
  struct extent twice = extent_of(layer->in[0]);
  twice.count = size_product(2, twice.count);
  struct operation step = {
      .elementwise = true, .inner = true, .cast = CAST_FULL};
  struct operation power = step, scale = step, one = step;
  power.keeps = KEEPS_IN(0);
  power.back_work = twice; /* n * x^(n - 1), before the product */
  scale.kept[0] = tape_number(tape);
  one.gradient = GRADIENT_SHARED;
  size_t pair[2] = {in[0], layer_run(layer, tape, in[0], power)};
  struct operation mean = {
      .keeps = KEEPS_IN(0),
      .layout = layout_of_map(tape, pair[1], layer->in[0], LAST_2D),
      .map = map_order(layer->in[0], LAST_2D),
      .inner = true,
      .cast = CAST_FULL};
  pair[1] = layer_run(layer, tape, pair[1], mean);
  pair[1] = layer_run(layer, tape, pair[1], scale);
  pair[1] = layer_run(layer, tape, pair[1], one);
  pair[1] = layer_run(layer, tape, pair[1], power);
  return tape_run(tape, &(struct operation){.name = layer->kind->name,
                                            .in = pair,
                                            .in_count = 2,
                                            .out = extent_of(&layer->out),
                                            .elementwise = true,
                                            .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                            .back_work = twice,
                                            .cast = CAST_FULL});
}

/* x / (alpha * mean of padded squares + k)^beta in four steps. Zeros pad the
 * squares by (size - 1) / 2 channels before and size / 2 after. */
static size_t lrn_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  if (((const struct norm *)layer->args)->within)
    return within_trace(layer, tape, in);
  const struct norm *norm = layer->args;
  const struct shape *shape = layer->in[0];
  int64_t rows = shape_rows(shape), values = shape_values(shape);
  int64_t padded = shape_channels(shape); /* of a row */
  if (!add_i64(padded, norm->groups - 1, &padded))
    padded = INT64_MAX;
  struct extent squares = extent_sample(size_product(rows, padded), WIDTH_NET);
  struct extent sums = extent_sample(values, WIDTH_NET); /* and a root */
  if (tape->mixed) /* the power has 32 bits */
    squares.width = tape_extent(tape, in[0])->width;
  bool predicts = !tape->lowers && !tape->values.at[in[0]].needs_gradient;
  if (tape->training) /* a variable holds the squares */
    padded = max_i64(padded, 2 * shape_channels(shape));
  uint32_t layout = LAYOUT_AS_INPUT;
  if (!tape->lowers) /* the input, divided */
    layout = layout_of_front(tape, in[0]);
  return normalise(
      layer, tape, in,
      (struct operation){
          .layout = layout,
          .kept = {squares, sums, sums, tape_number(tape)},
          .work = extent_sample(predicts ? size_product(rows, padded) : 0,
                                WIDTH_NET),
          .back_work = extent_sample(size_product(3, values), WIDTH_NET),
          .cast = CAST_OUT});
}

/* torch.nn.functional.normalize: the norms, and the norms
 * with a lower limit. */
static size_t l2norm_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  struct extent norms = extent_sample(shape_rows(layer->in[0]), WIDTH_NET);
  bool predicts = !tape->lowers && !tape->values.at[in[0]].needs_gradient;
  return normalise(
      layer, tape, in,
      (struct operation){
          .elementwise = true,
          .kept = {norms, norms},
          .cast = CAST_OUT,
          .work = predicts ? norms : (struct extent){0},
          .back_work = extent_sample(
              size_product(3, shape_values(layer->in[0])), WIDTH_NET)});
}

LAYER_KIND(bn, "Normalisation", "batch normalisation of each channel",
           LAYER_ARGS(norm, norm_specs), .shape = layer_same_shape,
           .params = bn_params, .index_bytes = bn_counter, .cancels_bias = true,
           .drops_bias = true, .trace = bn_trace, .opcode = DOES_BN);

LAYER_KIND(instnorm, "Normalisation",
           "instance normalisation: each channel of each sample",
           LAYER_ARGS(norm, norm_specs), .shape = map_shape,
           .params = affine_params, .cancels_bias = true,
           .trace = instnorm_trace, .opcode = DOES_INSTNORM);

LAYER_KIND(gn, "Normalisation",
           "group normalisation: groups of channels of each sample",
           LAYER_ARGS(norm, gn_specs), .shape = gn_shape,
           .params = affine_params, .trace = gn_trace, .opcode = DOES_GN);

LAYER_KIND(ln, "Normalisation", "layer normalisation over the last axis",
           LAYER_ARGS(norm, norm_specs), .shape = layer_same_shape,
           .params = affine_params, .trace = ln_trace, .opcode = DOES_LN);

LAYER_KIND(rmsnorm, "Normalisation",
           "root mean square normalisation over the last axis",
           LAYER_ARGS(norm, rms_specs), .shape = layer_same_shape,
           .params = rms_params, .trace = rmsnorm_trace,
           .opcode = DOES_RMSNORM);

LAYER_KIND(lrn, "Normalisation", "local response normalisation across channels",
           LAYER_ARGS(norm, lrn_specs), .shape = map_shape, .trace = lrn_trace,
           .opcode = DOES_LRN);

LAYER_KIND(l2norm, "Normalisation",
           "scales each vector of the last axis to length 1",
           LAYER_ARGS(norm, l2norm_specs), .shape = layer_same_shape,
           .trace = l2norm_trace, .opcode = DOES_L2NORM);
