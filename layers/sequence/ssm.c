/*
 * ssm: a selective state space, the mixer of Mamba (arXiv 2312.00752), or with
 * heads that of Mamba 2 (arXiv 2405.21060).
 *
 * `naive` runs like MambaMixer.slow_forward of transformers/models/mamba, which
 * keeps every state. `fused` runs like mamba_inner_fn or, with heads,
 * mamba_split_conv1d_scan_combined of state-spaces/mamba, which recompute most
 * of it. Kept tensors are those of their save_for_backward
 * (mamba_ssm/ops/selective_scan_interface.py, ops/triton/ssd_combined.py).
 */
#include <inttypes.h>

#include "base/check.h"
#include "layers/sequence/mixer.h"

enum { SSM_FUSED = 1, SSM_NAIVE };
enum { CHUNK = 2048 }; /* positions between two states that the kernel keeps */

/* Words of `bias`. */
enum { BIAS_OF_CONV = 1, BIAS_NONE, BIAS_OF_PROJ, BIAS_OF_ALL };
enum { NORM_ON = 1, NORM_OFF };

struct ssm {
  int64_t state, conv, expand, rank, heads, dim, groups;
  int biases, norm, kernel;
};

static const struct arg_spec ssm_specs[] = {
    ARG(INT, KEY, "state", ssm, state, .min = 1,
        .fallback = "16; 128 with heads",
        .doc = "size of the state for each inner channel"),
    ARG(INT, KEY, "conv", ssm, conv, .min = 1, .initial = 4, .fallback = "4",
        .doc = "window of the depthwise convolution in tokens"),
    ARG(INT, KEY, "expand", ssm, expand, .min = 1, .fallback = "2",
        .doc = "inner channels divided by outer channels"),
    ARG(INT, KEY, "dtrank", ssm, rank, .min = 1,
        .fallback = "channels / 16, rounded up",
        .doc = "without heads: features from which the steps are computed"),
    ARG(INT, KEY, "heads", ssm, heads, .min = 1, .fallback = "none",
        .doc = "Mamba 2: number of heads, each with one decay"),
    ARG(INT, KEY, "dim", ssm, dim, .min = 1,
        .fallback = "expand x channels / heads",
        .doc = "with heads: features of one head (Nemotron-H, Falcon-H1)"),
    ARG(INT, KEY, "groups", ssm, groups, .min = 1, .initial = 1,
        .fallback = "1",
        .doc = "groups of heads that share their input and output matrices "
               "of the state"),
    ARG(CHOICE, KEY, "bias", ssm, biases, .words = "conv none proj all",
        .initial = BIAS_OF_CONV, .fallback = "conv",
        .doc = "parts that have biases: the convolution, the two projections "
               "(`proj`), or `all` three"),
    ARG(CHOICE, KEY, "norm", ssm, norm, .words = "on off", .initial = NORM_ON,
        .fallback = "on",
        .doc = "with heads: normalise the output before the last projection "
               "(Falcon-H1 has none)"),
    ARG(WORDS, WORD, "kernel", ssm, kernel, .words = "fused naive",
        .fallback = "the profile's; fused with heads",
        .doc = "kernel: `naive` stores every state"),
    SPEC_END};

/* Overflows are INT64_MAX, which later sums report. */
struct ssm_sizes {
  int64_t steps, channels, inner, state, conv, rank, heads, groups;
  int64_t mixed; /* channels of the convolution */
  int64_t front; /* features of the first projection */
  int64_t dbl;   /* features for steps, and for input and output of the state */
};

static struct ssm_sizes sizes_of(const struct layer *layer) {
  const struct ssm *ssm = layer->args;
  const struct shape *in = layer->in[0];
  struct ssm_sizes s = {.steps = in->dim[0],
                        .channels = shape_channels(in),
                        .state = ssm->state   ? ssm->state
                                 : ssm->heads ? 128
                                              : 16,
                        .conv = ssm->conv,
                        .rank = ssm->rank,
                        .heads = ssm->heads,
                        .groups = ssm->groups};
  s.inner = s.mixed =
      ssm->dim ? size_product(s.heads, ssm->dim)
               : size_product(ssm->expand ? ssm->expand : 2, s.channels);
  s.front = size_product(2, s.inner);
  if (!s.rank)
    s.rank = ceil_div_i64(s.channels, 16);
  s.dbl = size_sum(s.rank, size_product(2, s.state));
  if (s.heads) {
    int64_t shared = size_product(size_product(2, s.groups), s.state);
    s.mixed = size_sum(s.inner, shared);
    s.front = size_sum(size_sum(s.front, shared), s.heads);
  }
  return s;
}

/* The state, and the positions in the convolution's window:
 * vllm/model_executor/layers/mamba/mamba_utils.py,
 * MambaStateShapeCalculator. */
static int64_t ssm_state(const struct layer *layer, int64_t *window) {
  struct ssm_sizes s = sizes_of(layer);
  *window = size_product(s.mixed, s.conv - 1);
  return size_product(s.inner, s.state);
}

/* Refuses what only Mamba 2 has. */
static bool check_plain(const struct layer *layer) {
  const struct ssm *ssm = layer->args;
  if (ssm->norm == NORM_OFF)
    return layer_refuse_surplus(layer, MISSING_ARGUMENT, "norm",
                                "without `heads` there is no norm");
  if (!ssm->dim)
    return true;
  struct diagnostic *d = layer_fail(layer, MISSING_ARGUMENT, "dim",
                                    "`dim` is the size of a head, but there "
                                    "are no `heads`");
  return diag_help(d, "give their number: `heads=24 dim=%" PRId64 "`",
                   ssm->dim);
}

/* Checks that groups have the same number of heads, and heads of channels. */
static bool check_division(const struct layer *layer,
                           const struct ssm_sizes *s) {
  const struct ssm *ssm = layer->args;
  struct diagnostic *d;
  if (s->heads % s->groups != 0) {
    d = layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "groups",
                   "%" PRId64 " groups do not divide %" PRId64 " heads",
                   s->groups, s->heads);
    layer_offer_divisor(d, "groups", s->groups, s->heads);
    return diag_help(d, "all groups have the same number of heads");
  }
  if (ssm->dim || s->inner % s->heads == 0)
    return true;
  d = layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "heads",
                 "%" PRId64 " heads do not divide %" PRId64 " inner channels",
                 s->heads, s->inner);
  return diag_help(
      d, "there are `expand` x channels inner channels; a head of Mamba 2 "
         "has 64, and `dim=64` gives it that size");
}

static bool check_heads(struct layer *layer, const struct ssm_sizes *s) {
  const struct ssm *ssm = layer->args;
  if (!ssm->heads)
    return check_plain(layer);
  if (ssm->kernel == SSM_NAIVE || ssm->rank)
    return layer_refuse_surplus(
        layer, OUT_OF_RANGE, ssm->rank ? "dtrank" : "kernel",
        ssm->rank ? "with heads, the first projection computes the steps"
                  : "Mamba 2 has only a fused kernel");
  if (ssm->dim && ssm->expand)
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT, "expand",
                                "heads x `dim` is already the number of inner "
                                "channels");
  return check_division(layer, s);
}

static bool ssm_shape(struct layer *layer) {
  if (!layer_check_sequence(layer))
    return false;
  struct ssm_sizes s = sizes_of(layer);
  return check_heads(layer, &s) && layer_same_shape(layer);
}

/* Indices of the parameters; each may have its bias after it. With heads, the
 * parameters from `conv` to `out` belong to one kernel. */
struct ssm_places {
  int conv, x, step, decay, skip, out;
  int count;      /* of the first and of the last projection */
  int conv_count; /* of the convolution */
};

static struct ssm_places places_of(const struct ssm *ssm) {
  bool proj = ssm->biases == BIAS_OF_PROJ || ssm->biases == BIAS_OF_ALL;
  bool conv = ssm->biases == BIAS_OF_CONV || ssm->biases == BIAS_OF_ALL;
  struct ssm_places at = {.count = 1 + proj, .conv_count = 1 + conv};
  at.conv = at.count;
  at.x = at.conv + at.conv_count;
  at.step = at.x + !ssm->heads; /* Mamba 2: a bias alone */
  at.decay = at.step + (ssm->heads ? 1 : 2);
  at.skip = at.decay + 1;
  at.out = at.skip + 1 + (ssm->heads && ssm->norm == NORM_ON);
  return at;
}

/* The first or the last projection. */
static void projection_params(struct params *params, const char *weight,
                              const char *bias, bool has_bias, int64_t in,
                              int64_t out) {
  params_add_matrix(params, weight, in, out);
  if (has_bias)
    params_add_vector(params, bias, out, 0, spread_bias(in));
}

/* Names of transformers. */
static void ssm_params(const struct layer *layer, struct params *params) {
  const struct ssm *ssm = layer->args;
  struct ssm_sizes s = sizes_of(layer);
  struct ssm_places at = places_of(ssm);
  projection_params(params, "in_proj.weight", "in_proj.bias", at.count > 1,
                    s.channels, s.front);
  params_add(params, (struct param){.name = "conv1d.weight",
                                    .rank = 3,
                                    .dim = {s.conv, 1, s.mixed},
                                    .order = FILE_OUT_FIRST,
                                    .spread = spread_linear(s.conv)});
  if (at.conv_count > 1)
    params_add_vector(params, "conv1d.bias", s.mixed, 0, 0.1);
  if (s.heads) {
    params_add_vector(params, "dt_bias", s.heads, 1, 0.1);
    params_add_vector(params, "A_log", s.heads, 1, 0.1);
    params_add_vector(params, "D", s.heads, 1, 0.1);
    if (ssm->norm == NORM_ON)
      params_add_vector(params, "norm.weight", s.inner, 1, 0.1);
  } else {
    params_add_matrix(params, "x_proj.weight", s.inner, s.dbl);
    params_add_matrix(params, "dt_proj.weight", s.rank, s.inner);
    params_add_vector(params, "dt_proj.bias", s.inner, 0, 0.1);
    params_add(params, (struct param){.name = "A_log",
                                      .rank = 2,
                                      .dim = {s.inner, s.state},
                                      .center = 1,
                                      .spread = 0.1});
    params_add_vector(params, "D", s.inner, 1, 0.1);
  }
  projection_params(params, "out_proj.weight", "out_proj.bias", at.count > 1,
                    s.inner, s.channels);
}

/* Projections, the convolution, and the state's output. */
static void ssm_macs(const struct layer *layer, struct terms *terms) {
  struct ssm_sizes s = sizes_of(layer);
  terms_add_product(terms, s.steps, s.channels, s.front);
  terms_add_product(terms, s.steps, s.mixed, s.conv);
  if (!s.heads) {
    terms_add_product(terms, s.steps, s.inner, s.dbl);
    terms_add_product(terms, s.steps, s.rank, s.inner);
  }
  terms_add_product(terms, s.steps, s.inner, s.state);
  terms_add_product(terms, s.steps, s.inner, s.channels);
}

struct ssm_recorder {
  struct tape *tape;
  struct ssm_sizes s;
  struct ssm_places at;
  bool norm;
};

/* Extent of features of every step. */
static struct extent rows(const struct ssm_recorder *r, int64_t features) {
  return extent_sample(size_product(r->s.steps, features), WIDTH_NET);
}

static size_t run(const struct ssm_recorder *r, const size_t *in, int count,
                  struct operation op) {
  op.in = in;
  op.in_count = count;
  return tape_run(r->tape, &op);
}

/* `rows_in`: order of the input's rows; in steps, channels are contiguous. */
static size_t project(const struct ssm_recorder *r, const char *name, size_t in,
                      int64_t out, int param, int count,
                      enum row_order rows_in) {
  return run(r, &in, 1,
             (struct operation){.name = name,
                                .out = rows(r, out),
                                .layout = LAYOUT_ROWS,
                                .keeps = KEEPS_IN(0),
                                .rows = rows_in,
                                .first_param = param,
                                .param_count = count,
                                .splits = true,
                                .guarded = true,
                                .cast = CAST_LOW});
}

static size_t split(const struct ssm_recorder *r, size_t in, int parts) {
  return run(r, &in, 1,
             (struct operation){.name = "split",
                                .out = rows(r, r->s.inner),
                                .outs = parts,
                                .result = RESULT_VIEW,
                                .layout = LAYOUT_APART});
}

static size_t function(const struct ssm_recorder *r, const char *name,
                       size_t in, struct extent out) {
  return run(
      r, &in, 1,
      (struct operation){.name = name, .out = out, .keeps = KEEPS_IN(0)});
}

static size_t multiply(const struct ssm_recorder *r, size_t a, size_t b,
                       struct extent out) {
  const size_t in[2] = {a, b};
  return run(r, in, 2,
             (struct operation){.name = "mul",
                                .out = out,
                                .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                .back_work = out});
}

/*
 * exp(-exp(A_log) * step) for each step, channel and value of the state.
 * Tensors for the gradient of A_log are kept if it is trained.
 */
static size_t decay(const struct ssm_recorder *r, size_t step,
                    struct extent all) {
  struct extent own =
      extent_fixed(size_product(r->s.inner, r->s.state), WIDTH_NET);
  struct extent none = {0};
  return run(r, &step, 1,
             (struct operation){
                 .name = "decay",
                 .out = all,
                 .keeps = KEEPS_IN(0) | KEEPS_OUT,
                 .kept = {own, tape_trains(r->tape, r->at.decay) ? own : none},
                 .work = all,
                 .back_work = all,
                 .first_param = r->at.decay,
                 .param_count = 1,
                 .cast = CAST_FULL});
}

/*
 * Values of the gradients of decays and inputs, each of full size, which steps
 * make beside the result. One state is left at the end. With two steps the
 * second has the whole given gradient; with one step nothing is summed.
 */
static int64_t gradients_of_steps(const struct ssm_sizes *s) {
  int64_t states = size_product(size_product(2, s->steps) - 1, s->state);
  int64_t seen = s->steps == 2 ? s->steps : 0;
  return s->steps == 1 ? 0 : size_product(s->inner, states - seen);
}

/* state = decay * state + input. Every state is kept, also the first. */
static size_t scan(const struct ssm_recorder *r, size_t decays, size_t input,
                   size_t leaves, struct extent all) {
  const size_t in[3] = {decays, input, leaves};
  int64_t states = size_product(size_sum(r->s.steps, 1),
                                size_product(r->s.inner, r->s.state));
  struct extent back = all;
  back.count = gradients_of_steps(&r->s);
  /* Training: the last product, or the outputs of all steps for the stack.
   * Inference: also the state before, when one output is not there yet. */
  bool keeps = r->tape->training;
  int64_t last = size_product(keeps ? 1 : 2, r->s.state) - 1;
  int64_t work =
      size_product(r->s.inner, keeps ? max_i64(r->s.steps, last) : last);
  return run(r, in, 3,
             (struct operation){.name = "scan",
                                .out = rows(r, r->s.inner),
                                .keeps = KEEPS_IN(0) | KEEPS_IN(2),
                                .kept = {extent_sample(states, WIDTH_NET)},
                                .work = extent_sample(work, WIDTH_NET),
                                .back_work = back,
                                .cast = CAST_FULL});
}

/* y + x * D */
static size_t skip(const struct ssm_recorder *r, size_t y, size_t x) {
  const size_t in[2] = {y, x};
  bool trains = tape_trains(r->tape, r->at.skip); /* the product is summed */
  return run(r, in, 2,
             (struct operation){.name = "skip",
                                .out = rows(r, r->s.inner),
                                .keeps = trains ? KEEPS_IN(1) : 0,
                                .work = rows(r, r->s.inner),
                                .back_work = rows(r, trains ? r->s.inner : 0),
                                .first_param = r->at.skip,
                                .param_count = 1});
}

static size_t step_by_step(const struct ssm_recorder *r, size_t in) {
  const struct ssm_sizes *s = &r->s;
  struct extent inner = rows(r, s->inner);
  struct extent all = rows(r, size_product(s->inner, s->state));
  bool matrix = s->steps > 1 && s->inner > 1;
  enum row_order turned = matrix ? ROWS_TURNED : ROWS_TOGETHER;
  enum row_order order;
  size_t read = tape_rows(r->tape, in, &order);
  size_t halves =
      split(r, project(r, "in", read, s->front, 0, r->at.count, order), 2);
  /* Padded on both sides; positions after the last are cropped. */
  int64_t padded = size_product(size_sum(s->steps, s->conv - 1), s->inner);
  size_t x = run(r, &halves, 1,
                 (struct operation){.name = "conv",
                                    .out = extent_sample(padded, WIDTH_NET),
                                    .keeps = KEEPS_IN(0),
                                    .first_param = r->at.conv,
                                    .param_count = r->at.conv_count,
                                    .cast = CAST_LOW});
  x = function(r, "silu", x, inner);
  size_t seen = x;
  if (!r->tape->profile->turned_products)
    seen = tape_together(r->tape, x, turned);
  size_t parts = split(r, project(r, "x", seen, s->dbl, r->at.x, 1, turned), 3);
  for (size_t i = 0; i < 3; i++)
    tape_resize(r->tape, parts + i, rows(r, i ? s->state : s->rank));
  size_t step =
      project(r, "step", parts, s->inner, r->at.step, 2, ROWS_TOGETHER);
  step = function(r, "softplus", step, inner);
  size_t decays = decay(r, step, all);
  size_t input = multiply(r, multiply(r, step, parts + 1, all), x, all);
  size_t y = skip(r, scan(r, decays, input, parts + 2, all), x);
  y = multiply(r, y, function(r, "silu", halves + 1, inner), inner);
  return project(r, "out", y, s->channels, r->at.out, r->at.count, turned);
}

/* Values that Mamba's kernel keeps besides the first projection's output. */
static struct extent kept_fused(const struct ssm_recorder *r) {
  const struct ssm_sizes *s = &r->s;
  int64_t values =
      size_sum(size_sum(s->dbl, size_product(2, s->state)), s->inner);
  int64_t chunks = ceil_div_i64(s->steps, CHUNK);
  int64_t states =
      size_product(size_product(2, s->state), size_product(s->inner, chunks));
  return extent_sample(size_sum(size_product(s->steps, values), states),
                       WIDTH_NET);
}

/* Mamba 2 also keeps its output before the norm or the gate, and of a norm a
 * factor for each row. */
static struct extent kept_heads(const struct ssm_recorder *r) {
  return rows(r, size_sum(r->s.inner, r->norm ? r->s.groups : 0));
}

/* The output is recomputed for the gradient of the last matrix. */
static size_t fused(const struct ssm_recorder *r, size_t in) {
  const struct ssm_sizes *s = &r->s;
  int64_t decays = s->heads ? s->heads : size_product(s->inner, s->state);
  enum row_order order;
  size_t read = tape_rows(r->tape, in, &order);
  size_t front = project(r, "in", read, s->front, 0, r->at.count, order);
  size_t y = run(r, &front, 1,
                 (struct operation){
                     .name = "scan",
                     .out = rows(r, s->inner),
                     .keeps = KEEPS_IN(0),
                     .kept = {s->heads ? kept_heads(r) : kept_fused(r),
                              extent_fixed(size_product(2, decays), WIDTH_NET)},
                     .work = rows(r, size_product(2, s->mixed)),
                     .back_work = rows(r, size_product(3, s->mixed)),
                     .first_param = r->at.conv,
                     .param_count = r->at.out - r->at.conv,
                     .cast = CAST_LOW});
  return run(r, &y, 1,
             (struct operation){.name = "out",
                                .out = rows(r, s->channels),
                                .first_param = r->at.out,
                                .param_count = r->at.count,
                                .splits = true,
                                .guarded = true,
                                .cast = CAST_LOW});
}

/* Operands of the runtime's scan; the step of a channel or of a head. */
struct scan_operands {
  size_t x, step, b, c;
};

/* Without heads, all channels are one head with steps and rates of their
 * own. */
static size_t lower_scan(const struct ssm_recorder *r,
                         const struct mixer_steps *m,
                         const struct scan_operands *of) {
  const struct ssm_sizes *s = &r->s;
  const size_t in[4] = {of->x, of->step, of->b, of->c};
  int64_t heads = s->heads ? s->heads : 1;
  int64_t own = s->heads ? 1 : s->inner; /* channels with their own rates */
  struct strides lies[4], lies_out = mixer_strides(m, s->inner), out = lies_out;
  struct strides weights[2] = {
      strides_dense(3, (int64_t[]){heads, own, s->heads ? 1 : s->state}),
      strides_dense(2, (int64_t[]){heads, own})};
  int64_t values = size_product(s->inner, s->state);
  for (int i = 0; i < 4; i++) {
    lies[i] = tape_strides(r->tape, in[i]);
    lies[i] = strides_split(&lies[i], 1, i < 2 ? heads : s->groups);
  }
  out = strides_split(&out, 1, heads);
  size_t y = tape_run(
      r->tape,
      &(struct operation){
          .name = "scan",
          .does = LOWERS(SCAN, .in = lies, .out = &out, .weights = weights),
          .in = in,
          .in_count = 4,
          .out = rows(r, s->inner),
          .work =
              extent_fixed(size_product(s->heads ? 1 : 2, values), WIDTH_NET),
          .first_param = r->at.decay,
          .param_count = 2});
  tape_see(r->tape, y, &lies_out);
  return y;
}

/* The state's output, and the gate that multiplies it. */
static size_t lower_channels(const struct ssm_recorder *r,
                             const struct mixer_steps *m, size_t front,
                             size_t *gate) {
  const struct ssm_sizes *s = &r->s;
  size_t x = mixer_part(m, "x", front, 0, s->inner);
  *gate = mixer_part(m, "gate", front, s->inner, s->inner);
  x = mixer_convolve(m, x, s->conv, r->at.conv, r->at.conv_count);
  size_t parts = mixer_project(m, "x", x, s->dbl, r->at.x, 1);
  size_t step = mixer_part(m, "step", parts, 0, s->rank);
  step = mixer_project(m, "step", step, s->inner, r->at.step, 2);
  step = mixer_apply(m, "softplus", DOES_SOFTPLUS, step);
  size_t b = mixer_part(m, "b", parts, s->rank, s->state);
  size_t c = mixer_part(m, "c", parts, s->rank + s->state, s->state);
  return lower_scan(r, m, &(struct scan_operands){x, step, b, c});
}

static size_t lower_heads(const struct ssm_recorder *r,
                          const struct mixer_steps *m, size_t front,
                          size_t *gate) {
  const struct ssm_sizes *s = &r->s;
  int64_t shared = (s->mixed - s->inner) / 2;
  *gate = mixer_part(m, "gate", front, 0, s->inner);
  size_t mixed = mixer_part(m, "x", front, s->inner, s->mixed);
  size_t step = mixer_part(m, "step", front, s->inner + s->mixed, s->heads);
  mixed = mixer_convolve(m, mixed, s->conv, r->at.conv, r->at.conv_count);
  step = mixer_add(m, "step", step, r->at.step);
  step = mixer_apply(m, "softplus", DOES_SOFTPLUS, step);
  size_t x = mixer_part(m, "x", mixed, 0, s->inner);
  size_t b = mixer_part(m, "b", mixed, s->inner, shared);
  size_t c = mixer_part(m, "c", mixed, s->inner + shared, shared);
  return lower_scan(r, m, &(struct scan_operands){x, step, b, c});
}

/* The operations of a plan: the same for all kernels. */
static size_t lower(const struct ssm_recorder *r, size_t in) {
  const struct ssm_sizes *s = &r->s;
  struct mixer_steps m = {r->tape, s->steps};
  size_t gate;
  size_t front = mixer_project(&m, "in", in, s->front, 0, r->at.count);
  size_t y = s->heads ? lower_heads(r, &m, front, &gate)
                      : lower_channels(r, &m, front, &gate);
  gate = mixer_apply(&m, "silu", DOES_SILU, gate);
  y = mixer_combine(&m, "gated", DOES_MUL, y, gate);
  if (s->heads && r->norm) {
    y = mixer_normalise(&m, y, s->groups, 1e-5, -1);
    y = layer_weigh(r->tape, y, r->at.out - 1, false, rows(r, s->inner));
  }
  return mixer_project(&m, "out", y, s->channels, r->at.out, r->at.count);
}

static size_t ssm_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  const struct ssm *ssm = layer->args;
  struct ssm_recorder r = {tape, sizes_of(layer), places_of(ssm),
                           ssm->norm == NORM_ON};
  if (tape->lowers)
    return lower(&r, in[0]);
  bool one = ssm->kernel ? ssm->kernel == SSM_FUSED
                         : tape->profile->fused_attention &&
                               !tape->profile->cpu_kernels;
  return one || ssm->heads ? fused(&r, in[0]) : step_by_step(&r, in[0]);
}

LAYER_KIND(ssm, "Sequence",
           "selective state space, the mixer of Mamba or Mamba 2",
           LAYER_ARGS(ssm, ssm_specs), .shape = ssm_shape, .params = ssm_params,
           .macs = ssm_macs, .trace = ssm_trace, .state = ssm_state);
