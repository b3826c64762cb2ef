/* bn, instnorm, gn, ln, rmsnorm, lrn, l2norm: normalisation. */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "layers/norm.h"

struct norm {
  int64_t groups; /* gn; lrn: the window over channels */
  int noaffine;
  int within; /* lrn: the window lies on the map */
  double eps;
};

#define AFFINE                                                      \
  ARG(WORDS, WORD, "noaffine", norm, noaffine, .words = "noaffine", \
      .doc = "without scale and shift")
#define EPS                                                                  \
  ARG(REAL, KEY, "eps", norm, eps, .initial_real = 1e-5, .fallback = "1e-5", \
      .doc = "added to the variance")

static const struct arg_spec norm_specs[] = {AFFINE, EPS, SPEC_END};

static const struct arg_spec gn_specs[] = {
    ARG(INT, POSITION, "groups", norm, groups, .required = true, .min = 1,
        .doc = "groups of channels"),
    AFFINE, EPS, SPEC_END};

static const struct arg_spec lrn_specs[] = {
    ARG(INT, POSITION, "size", norm, groups, .required = true, .min = 1,
        .max = 1 << 20,
        .doc = "neighbouring channels that are summed; or rows and columns"),
    ARG(WORDS, WORD, "within", norm, within, .words = "within",
        .doc = "over a window of each channel's map (Caffe's WITHIN_CHANNEL)"),
    SPEC_END};

static const struct arg_spec l2norm_specs[] = {
    ARG(REAL, KEY, "eps", norm, eps, .initial_real = 1e-12, .fallback = "1e-12",
        .doc = "the least that is divided by"),
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
  if (norm->noaffine)
    return;
  add_vector(layer, params, "weight", 1, false);
  add_vector(layer, params, "bias", 0, false);
}

/*
 * Running mean and variance. Published counts leave PyTorch's counter of
 * batches out: counter_bytes.
 */
static void bn_params(const struct layer *layer, struct params *params) {
  affine_params(layer, params);
  add_vector(layer, params, "running_mean", 0, true);
  add_vector(layer, params, "running_var", 1, true);
}

static void rms_params(const struct layer *layer, struct params *params) {
  const struct norm *norm = layer->args;
  if (!norm->noaffine)
    add_vector(layer, params, "weight", 1, false);
}

static bool gn_shape(struct layer *layer) {
  const struct norm *norm = layer->args;
  int64_t channels = shape_channels(layer->in[0]);
  if (channels % norm->groups != 0)
    return layer_refuse(layer, GROUPS_DO_NOT_DIVIDE, "groups",
                        "%" PRId64 " groups do not divide %" PRId64 " channels",
                        norm->groups, channels);
  return layer_same_shape(layer);
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

/* The input and two 32-bit statistics for each of `groups` are kept. */
static size_t normalise(const struct layer *layer, struct tape *tape,
                        const size_t *in, struct operation op) {
  op.keeps = KEEPS_IN(0);
  return run_norm(layer, tape, in, op);
}

static size_t bn_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  int64_t channels = shape_channels(layer->in[0]);
  return normalise(
      layer, tape, in,
      (struct operation){
          .folds = true,
          .elementwise = true,
          .always_makes = true,
          .kept = {extent_fixed(size_product(2, channels), WIDTH_F32)}});
}

/* It is a bn of N*C channels, whose repeated scale is kept, too. */
static size_t instnorm_trace(const struct layer *layer, struct tape *tape,
                             const size_t *in) {
  const struct norm *norm = layer->args;
  int64_t channels = shape_channels(layer->in[0]);
  return normalise(
      layer, tape, in,
      (struct operation){
          .always_makes = true,
          .kept = {extent_sample(size_product(2, channels), WIDTH_F32),
                   extent_sample(norm->noaffine ? 0 : channels, WIDTH_F32)}});
}

static size_t gn_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  const struct norm *norm = layer->args;
  return normalise(
      layer, tape, in,
      (struct operation){
          .always_makes = true,
          .kept = {extent_sample(size_product(2, norm->groups), WIDTH_F32)},
          .cast = CAST_FULL});
}

/*
 * Kernels of apex: the input and 32-bit statistics of each row are kept, or
 * the output and 1/deviation alone; in the type that autocast computes in.
 */
static struct operation fused(const struct tape *tape, int64_t rows,
                              int statistics) {
  bool output = tape->norms == NORMS_EFFICIENT;
  int64_t kept = output ? rows : size_product(statistics, rows);
  return (struct operation){
      .keeps = output ? KEEPS_OUT : KEEPS_IN(0),
      .always_makes = true,
      .kept = {extent_sample(kept, WIDTH_F32)},
      .work = extent_sample(output ? (statistics - 1) * rows : 0, WIDTH_F32),
      .cast = CAST_LOW};
}

static bool is_fused(const struct tape *tape) {
  return (tape->norms == NORMS_FUSED || tape->norms == NORMS_EFFICIENT) &&
         !tape->lowers;
}

/* Of `values` in 16 bits a copy in 32 is kept in their place, besides `kept`
 * in 32 bits; as large are what is computed of it and `back` gradients. */
static struct operation in_float(int64_t values, int64_t kept, int back) {
  if (!add_i64(values, kept, &kept))
    kept = INT64_MAX;
  return (struct operation){
      .always_makes = true,
      .kept = {extent_sample(kept, WIDTH_F32)},
      .work = extent_sample(values, WIDTH_F32),
      .back_work = extent_sample(size_product(back, values), WIDTH_F32)};
}

struct operation norm_ln(const struct tape *tape, int64_t rows,
                         int64_t values) {
  if (is_fused(tape))
    return fused(tape, rows, 2);
  if (tape->norms == NORMS_FLOAT && !tape->lowers)
    return in_float(values, size_product(2, rows), 2);
  return (struct operation){
      .keeps = KEEPS_IN(0),
      .always_makes = true,
      .kept = {extent_sample(size_product(2, rows), WIDTH_F32)},
      .cast = tape->profile->norm_in_float32 ? CAST_FULL : CAST_NONE};
}

static size_t ln_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  const struct shape *shape = layer->in[0];
  return run_norm(layer, tape, in,
                  norm_ln(tape, shape_rows(shape), shape_values(shape)));
}

/*
 * scale * (x * rsqrt(mean(x^2) + eps)), of separate operations: the factor
 * of each row is kept, what it gave, and the squares where a mean keeps them.
 */
struct operation norm_rms(const struct tape *tape, int64_t rows, int64_t values,
                          int scale) {
  if (is_fused(tape))
    return fused(tape, rows, 1);
  bool squares = tape->profile->mean_keeps_input;
  bool trained = scale >= 0 && tape_trains(tape, scale);
  if (tape->norms == NORMS_FLOAT && !tape->lowers) {
    int64_t besides; /* torch1-cpu's squares have 32 bits, too */
    if (!add_i64(rows, squares ? values : 0, &besides))
      besides = INT64_MAX;
    struct operation op = in_float(values, besides, 3);
    op.kept[1] = extent_sample(trained ? values : 0, WIDTH_NET);
    return op;
  }
  int64_t kept = size_product(values, squares + trained);
  bool copy = !tape->lowers && !trained && scale >= 0;
  /* With a scale its gradient is the most, else the square's three steps. */
  int64_t steps = trained ? values : size_product(values, 3 - squares) - rows;
  return (struct operation){
      .keeps = KEEPS_IN(0),
      .kept = {extent_sample(rows, WIDTH_F32), extent_sample(kept, WIDTH_NET)},
      .work = extent_sample(copy ? values : 0, WIDTH_NET),
      .back_work = extent_sample(steps, WIDTH_NET),
      .cast = CAST_FULL};
}

static size_t rmsnorm_trace(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  const struct norm *norm = layer->args;
  const struct shape *shape = layer->in[0];
  return run_norm(layer, tape, in,
                  norm_rms(tape, shape_rows(shape), shape_values(shape),
                           norm->noaffine ? -1 : 0));
}

/* x / (alpha * mean of padded squares + k)^beta keeps its four steps. The
 * squares have (size - 1) / 2 and size / 2 channels of zeros around them. */
/*
 * x / (1 + alpha * mean of the squares of a window)^beta, of separate
 * operations: Caffe's lrn_layer.cpp.
 */
static size_t within_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  int64_t kept = size_product(3, shape_values(layer->in[0]));
  return normalise(
      layer, tape, in,
      (struct operation){
          .kept = {extent_sample(kept, WIDTH_NET),
                   extent_fixed(tape->profile->keeps_numbers, WIDTH_INDEX)},
          .cast = CAST_FULL});
}

static size_t lrn_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  if (((const struct norm *)layer->args)->within)
    return within_trace(layer, tape, in);
  const struct norm *norm = layer->args;
  const struct shape *shape = layer->in[0];
  int64_t kept; /* of a row */
  if (!mul_i64(3, shape_channels(shape), &kept) ||
      !add_i64(kept, norm->groups - 1, &kept))
    kept = INT64_MAX;
  return normalise(
      layer, tape, in,
      (struct operation){
          .kept = {extent_sample(size_product(shape_rows(shape), kept),
                                 WIDTH_NET),
                   extent_fixed(tape->profile->keeps_numbers, WIDTH_INDEX)},
          .cast = CAST_FULL});
}

/* torch.nn.functional.normalize: the norms, and the same with a least. */
static size_t l2norm_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  int64_t norms = size_product(2, shape_rows(layer->in[0]));
  return normalise(
      layer, tape, in,
      (struct operation){
          .elementwise = true,
          .kept = {extent_sample(norms, WIDTH_NET)},
          .back_work = extent_sample(
              size_product(3, shape_values(layer->in[0])), WIDTH_NET)});
}

LAYER_KIND(bn, "Normalisation", "batch normalisation of each channel",
           LAYER_ARGS(norm, norm_specs), .shape = layer_same_shape,
           .params = bn_params,
           .counter_bytes = 8, /* PyTorch counts batches in an int64 */
           .cancels_bias = true, .drops_bias = true, .trace = bn_trace,
           .opcode = DOES_BN);

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
           LAYER_ARGS(norm, norm_specs), .shape = layer_same_shape,
           .params = rms_params, .trace = rmsnorm_trace,
           .opcode = DOES_RMSNORM);

LAYER_KIND(lrn, "Normalisation", "local response normalisation across channels",
           LAYER_ARGS(norm, lrn_specs), .shape = map_shape, .trace = lrn_trace,
           .opcode = DOES_LRN);

LAYER_KIND(l2norm, "Normalisation", "each vector of the last axis at length 1",
           LAYER_ARGS(norm, l2norm_specs), .shape = layer_same_shape,
           .trace = l2norm_trace, .opcode = DOES_L2NORM);
