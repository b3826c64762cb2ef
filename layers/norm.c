/* bn, instnorm, gn, ln, rmsnorm, lrn, l2norm: normalisation. */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "layers/norm.h"

struct norm {
  int64_t groups; /* gn; lrn: the window over channels */
  int without;    /* enum without */
  int within;     /* lrn: the window lies on the map */
  double eps;
};

enum without { WITHOUT_NOTHING, WITHOUT_BOTH, WITHOUT_SHIFT };

#define AFFINE                                                            \
  ARG(WORDS, WORD, "noaffine", norm, without, .words = "noaffine nobias", \
      .doc = "without scale and shift, or without the shift alone")
#define SCALE                                                      \
  ARG(WORDS, WORD, "noaffine", norm, without, .words = "noaffine", \
      .doc = "without a scale")
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
  if (norm->without != WITHOUT_BOTH)
    add_vector(layer, params, "weight", 1, false);
  if (norm->without == WITHOUT_NOTHING)
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
  if (!norm->without)
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

/* A prediction has them while the norm runs. */
static struct operation with_statistics(const struct tape *tape,
                                        struct operation op) {
  if (!tape->training && !tape->lowers && op.work.count == 0)
    op.work = op.kept[0];
  return op;
}

/* The input and two 32-bit statistics for each of `groups` are kept. */
static size_t normalise(const struct layer *layer, struct tape *tape,
                        const size_t *in, struct operation op) {
  op.keeps = KEEPS_IN(0);
  return run_norm(layer, tape, in, with_statistics(tape, op));
}

static size_t bn_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  int64_t channels = shape_channels(layer->in[0]);
  return run_norm(
      layer, tape, in,
      (struct operation){
          .keeps = KEEPS_IN(0),
          .folds = true,
          .layout = layout_of_map(tape, in[0], layer->in[0]),
          .map = true,
          .elementwise = true,
          .always_makes = true,
          .kept = {extent_fixed(size_product(2, channels), WIDTH_F32)}});
}

/* A parameter for each sample, whose gradients are summed. */
static size_t repeat(struct tape *tape, int param, int64_t channels) {
  return tape_run_on(
      tape, tape_parameter(tape, param),
      (struct operation){.name = "repeat",
                         .out = extent_sample(channels, WIDTH_F32)});
}

/* Who calls has what was copied in its hands until the norm has run. */
static bool holds(const struct tape *tape, size_t in, size_t copy) {
  return tape->training && copy != in;
}

/* It is a bn of N*C channels: ATen/native/Normalization.cpp. */
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
  read[0] = layout_pack(tape, in[0], layer->in[0], false);
  bool held = holds(tape, in[0], read[0]);
  read[count] = in[0];
  struct operation op = {
      .name = layer->kind->name,
      .in = read,
      .in_count = count + held,
      .held = held,
      .copies_parts = true,
      .out = extent_of(&layer->out),
      .keeps = KEEPS_IN(0) | (vectors ? KEEPS_IN(1) : 0),
      .layout = layout_of_map(tape, read[0], layer->in[0]),
      .map = true,
      .view = true,
      .always_makes = true,
      .kept = {extent_sample(size_product(2, channels), WIDTH_F32)}};
  op = with_statistics(tape, op);
  return tape_run(tape, &op);
}

static size_t gn_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  const struct norm *norm = layer->args;
  size_t read[2] = {layout_pack(tape, in[0], layer->in[0], true), in[0]};
  bool held = holds(tape, in[0], read[0]);
  bool last = !tape->lowers && layer->out.rank > 1 &&
              tape->values.at[read[0]].strides == LAYOUT_ROWS;
  int64_t copies = last ? 2 : 0; /* backward has channels first */
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
      .layout = layout_of_map(tape, read[0], layer->in[0]),
      .map = true,
      .copies_parts = true,
      .back_work = extent_sample(
          size_product(copies, shape_values(layer->in[0])), WIDTH_NET),
      .always_makes = true,
      .kept = {extent_sample(size_product(2, norm->groups), WIDTH_F32)},
      .cast = CAST_FULL};
  op = with_statistics(tape, op);
  return tape_run(tape, &op);
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
  return with_statistics(
      tape,
      (struct operation){
          .keeps = KEEPS_IN(0),
          .always_makes = true,
          .layout = LAYOUT_ROWS,
          .kept = {extent_sample(size_product(2, rows), WIDTH_F32)},
          .cast = tape->profile->norm_in_float32 ? CAST_FULL : CAST_NONE});
}

static size_t ln_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  const struct shape *shape = layer->in[0];
  return run_norm(layer, tape, in,
                  norm_ln(tape, shape_rows(shape), shape_values(shape)));
}

/* One kernel, or what is computed in 32 bits. */
static struct operation rms_at_once(const struct tape *tape, int64_t rows,
                                    int64_t values, bool trained) {
  int64_t besides; /* torch1-cpu's squares have 32 bits, too */
  if (is_fused(tape))
    return fused(tape, rows, 1);
  if (tape->lowers)
    return (struct operation){.cast = CAST_FULL};
  if (!add_i64(rows, tape->profile->mean_keeps_input ? values : 0, &besides))
    besides = INT64_MAX;
  struct operation op = in_float(values, besides, 3);
  op.kept[1] = extent_sample(trained ? values : 0, WIDTH_NET);
  return op;
}

/* rsqrt(mean(x^2) + eps) of each row */
static size_t rms_factors(struct tape *tape, size_t in, struct operation step,
                          int64_t rows) {
  struct extent each = extent_sample(rows, WIDTH_F32);
  struct operation square = step, mean = step, add = step, root = step;
  square.keeps = KEEPS_IN(0);
  square.elementwise = root.elementwise = add.elementwise = true;
  square.back_work = extent_sample(size_product(2, step.out.count), WIDTH_NET);
  mean.keeps = tape->profile->mean_keeps_input ? KEEPS_IN(0) : 0;
  mean.out = add.out = root.out = each;
  add.gradient = GRADIENT_SHARED;
  root.keeps = KEEPS_OUT;
  root.back_work = extent_sample(size_product(2, rows), WIDTH_F32);
  size_t value = tape_run_on(tape, in, square);
  value = tape_run_on(tape, value, mean);
  return tape_run_on(tape, tape_run_on(tape, value, add), root);
}

/* scale * (x * rsqrt(mean(x^2) + eps)), of separate operations. */
static size_t rms_steps(struct tape *tape, size_t in,
                        const struct operation *whole, int64_t rows,
                        int scale) {
  struct operation step = {.name = whole->name,
                           .out = whole->out,
                           .by_channel = whole->by_channel,
                           .inner = true,
                           .cast = CAST_FULL};
  size_t pair[2] = {tape_widen(tape, in)};
  pair[1] = rms_factors(tape, pair[0], step, rows);
  step.in = pair;
  step.in_count = 2;
  step.keeps = KEEPS_IN(0) | KEEPS_IN(1);
  step.inner = false;
  step.elementwise = step.spares = step.reduces = true;
  size_t value = tape_run(tape, &step);
  if (scale < 0)
    return value;
  step.keeps = KEEPS_IN(0);
  step.inner = true;
  step.reduces = false;
  step.first_param = scale;
  step.param_count = 1;
  if (tape_trains(tape, scale)) /* summed over the rows, later */
    step.back_work = whole->out;
  return tape_run_on(tape, value, step);
}

size_t norm_rms(struct tape *tape, size_t in, struct operation whole,
                int64_t rows, int scale) {
  bool steps = tape->norms == NORMS_PLAIN && !tape->lowers;
  if (steps)
    return rms_steps(tape, in, &whole, rows, scale);
  bool trained = scale >= 0 && tape_trains(tape, scale);
  struct operation op = rms_at_once(tape, rows, whole.out.count, trained);
  op.name = whole.name;
  op.does = whole.does;
  op.out = whole.out;
  op.by_channel = whole.by_channel;
  op.first_param = scale < 0 ? 0 : scale;
  op.param_count = scale >= 0;
  return tape_run_on(tape, in, op);
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
  int64_t rows = shape_rows(shape), values = shape_values(shape);
  int64_t padded = shape_channels(shape), kept; /* of a row */
  if (!add_i64(padded, norm->groups - 1, &padded) ||
      !add_i64(padded, 2 * shape_channels(shape), &kept))
    kept = padded = INT64_MAX;
  bool predicts = !tape->training && !tape->lowers;
  return normalise(
      layer, tape, in,
      (struct operation){
          .kept = {extent_sample(size_product(rows, kept), WIDTH_NET),
                   extent_fixed(tape->profile->keeps_numbers, WIDTH_INDEX)},
          .work = extent_sample(predicts ? size_product(rows, padded) : 0,
                                WIDTH_NET),
          .back_work = extent_sample(size_product(3, values), WIDTH_NET),
          .cast = CAST_FULL});
}

/* torch.nn.functional.normalize: the norms, and the same with a least. */
static size_t l2norm_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  int64_t norms = size_product(2, shape_rows(layer->in[0]));
  bool predicts = !tape->training && !tape->lowers;
  return normalise(
      layer, tape, in,
      (struct operation){
          .elementwise = true,
          .kept = {extent_sample(norms, WIDTH_NET)},
          .work = extent_sample(predicts ? norms / 2 : 0, WIDTH_NET),
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
           LAYER_ARGS(norm, rms_specs), .shape = layer_same_shape,
           .params = rms_params, .trace = rmsnorm_trace,
           .opcode = DOES_RMSNORM);

LAYER_KIND(lrn, "Normalisation", "local response normalisation across channels",
           LAYER_ARGS(norm, lrn_specs), .shape = map_shape, .trace = lrn_trace,
           .opcode = DOES_LRN);

LAYER_KIND(l2norm, "Normalisation", "each vector of the last axis at length 1",
           LAYER_ARGS(norm, l2norm_specs), .shape = layer_same_shape,
           .trace = l2norm_trace, .opcode = DOES_L2NORM);
