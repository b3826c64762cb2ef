/*
 * deltanet: a gated delta net, whose state is corrected by what it lacks of
 * each value (arXiv 2412.06464): the mixer of Qwen3-Next and Qwen3.5, or with
 * a decay for each channel Kimi Delta Attention (arXiv 2510.26692).
 *
 * It runs like Qwen3NextGatedDeltaNet and Qwen3_5GatedDeltaNet of
 * transformers/models with fla-org/flash-linear-attention and
 * Dao-AILab/causal-conv1d, or like fla/layers/kda.py. Kept tensors were read in
 * the save_for_backward of fla/ops/gated_delta_rule/chunk.py,
 * fla/ops/kda/chunk.py, fla/modules/conv/triton/ops.py and
 * fla/modules/fused_norm_gate.py; there is no measurement of them.
 */
#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "layers/sequence/mixer.h"

enum { DECAY_HEADS = 1, DECAY_CHANNELS };
enum { GATE_FULL = 1, GATE_LOW };
enum { CHUNK = 64 }; /* tokens: chunk_size of the kernels */

struct deltanet {
  int64_t heads, kheads, dim, vdim, conv;
  int decay, gate, packed;
};

static const struct arg_spec deltanet_specs[] = {
    ARG(INT, POSITION, "heads", deltanet, heads, .required = true, .min = 1,
        .doc = "number of value heads, each with a state of dim x vdim"),
    ARG(INT, KEY, "kheads", deltanet, kheads, .min = 1, .fallback = "heads",
        .doc = "number of query and key heads, each shared by heads / kheads "
               "value heads"),
    ARG(INT, KEY, "dim", deltanet, dim, .required = true, .min = 1,
        .doc = "features of a head's queries and keys"),
    ARG(INT, KEY, "vdim", deltanet, vdim, .min = 1, .fallback = "dim",
        .doc = "features of a head's values"),
    ARG(INT, KEY, "conv", deltanet, conv, .min = 1, .initial = 4,
        .fallback = "4",
        .doc = "window of the depthwise convolutions in tokens"),
    ARG(CHOICE, KEY, "decay", deltanet, decay, .words = "heads channels",
        .initial = DECAY_HEADS, .fallback = "heads",
        .doc = "the state decays by a factor for each head (Qwen3-Next), or "
               "for each key channel, from a matrix of rank vdim (Kimi "
               "Linear)"),
    ARG(CHOICE, KEY, "gate", deltanet, gate, .words = "full low",
        .fallback = "full; low with decay=channels",
        .doc = "matrix of the output gate: full, or `low` with a rank of vdim "
               "(Kimi Linear)"),
    ARG(WORDS, WORD, "packed", deltanet, packed, .words = "packed",
        .doc = "one matrix for queries, keys, values and gate and one for "
               "beta and decay (Qwen3-Next), not four (Qwen3.5)"),
    SPEC_END};

/* Overflows are INT64_MAX, which later sums report. */
struct deltanet_sizes {
  int64_t steps, channels, heads, kheads, dim, vdim, conv;
  int64_t key, value; /* features of all heads */
  int64_t mixed;      /* channels of all convolutions */
  int64_t decays;     /* factors of the state, of a token */
};

static struct deltanet_sizes sizes_of(const struct layer *layer) {
  const struct deltanet *net = layer->args;
  const struct shape *in = layer->in[0];
  struct deltanet_sizes s = {.steps = in->dim[0],
                             .channels = shape_channels(in),
                             .heads = net->heads,
                             .kheads = net->kheads ? net->kheads : net->heads,
                             .dim = net->dim,
                             .vdim = net->vdim ? net->vdim : net->dim,
                             .conv = net->conv};
  s.key = size_product(s.kheads, s.dim);
  s.value = size_product(s.heads, s.vdim);
  s.mixed = size_sum(size_product(2, s.key), s.value);
  s.decays = net->decay == DECAY_HEADS ? s.heads : size_product(s.heads, s.dim);
  return s;
}

/* Values of the states of all heads. */
static int64_t states_of(const struct deltanet_sizes *s) {
  return size_product(s->heads, size_product(s->dim, s->vdim));
}

/* The states, and the positions in the convolutions' windows:
 * vllm/model_executor/layers/mamba/mamba_utils.py,
 * gated_delta_net_state_shape() and kda_state_shape(). */
static int64_t deltanet_state(const struct layer *layer, int64_t *window) {
  struct deltanet_sizes s = sizes_of(layer);
  *window = size_product(s.mixed, s.conv - 1);
  return states_of(&s);
}

static bool deltanet_shape(struct layer *layer) {
  const struct deltanet *net = layer->args;
  if (!layer_check_sequence(layer))
    return false;
  struct deltanet_sizes s = sizes_of(layer);
  bool channels = net->decay == DECAY_CHANNELS;
  if (s.heads % s.kheads != 0) {
    struct diagnostic *d = layer_fail(
        layer, GROUPS_DO_NOT_DIVIDE, "kheads",
        "%" PRId64 " heads of keys do not divide %" PRId64 " heads of values",
        s.kheads, s.heads);
    layer_offer_divisor(d, "kheads", s.kheads, s.heads);
    return diag_help(d, "each head of keys must serve the same number of "
                        "heads of values");
  }
  if (channels && net->packed)
    return layer_refuse_surplus(layer, OUT_OF_RANGE, "packed",
                                "with `decay=channels`, each projection is a "
                                "matrix of its own");
  if (channels || net->gate != GATE_LOW)
    return layer_same_shape(layer);
  struct diagnostic *d = layer_fail(layer, OUT_OF_RANGE, "gate",
                                    "a gate of low rank is Kimi Delta "
                                    "Attention's, whose decay is by channel");
  return diag_help(d, "leave out `gate=low`, or write `decay=channels`");
}

/* Matrices, in the order of their parameters. */
enum delta_matrix {
  QKVZ,
  BA,
  QKV,
  Z,
  B,
  A,
  Q,
  K,
  V,
  F_DOWN,
  F_UP,
  B_ALONE,
  G_DOWN,
  G_UP,
  G,
  OUT,
  MATRICES
};

struct delta_projection {
  const char *name;
  int64_t in, out; /* out 0: there is none */
};

/* Indices of the parameters: the matrices but the last come first. */
struct deltanet_places {
  struct delta_projection all[MATRICES];
  int matrix[MATRICES];
  int conv[3], conv_count;
  int bias, decay, norm;
  bool channels;
};

/* Names of transformers, and of Kimi-Linear's modeling_kimi.py. */
static void find_matrices(const struct deltanet *net,
                          const struct deltanet_sizes *s,
                          struct delta_projection all[MATRICES]) {
  bool kda = net->decay == DECAY_CHANNELS, low = kda && net->gate != GATE_FULL;
  bool packed = net->packed, apart = !kda && !packed;
  int64_t both = size_sum(s->mixed, s->value), x = s->channels;
  const struct delta_projection rows[MATRICES] = {
      [QKVZ] = {"in_proj_qkvz.weight", x, packed ? both : 0},
      [BA] = {"in_proj_ba.weight", x, packed ? size_product(2, s->heads) : 0},
      [QKV] = {"in_proj_qkv.weight", x, apart ? s->mixed : 0},
      [Z] = {"in_proj_z.weight", x, apart ? s->value : 0},
      [B] = {"in_proj_b.weight", x, apart ? s->heads : 0},
      [A] = {"in_proj_a.weight", x, apart ? s->heads : 0},
      [Q] = {"q_proj.weight", x, kda ? s->key : 0},
      [K] = {"k_proj.weight", x, kda ? s->key : 0},
      [V] = {"v_proj.weight", x, kda ? s->value : 0},
      [F_DOWN] = {"f_a_proj.weight", x, kda ? s->vdim : 0},
      [F_UP] = {"f_b_proj.weight", s->vdim, kda ? s->decays : 0},
      [B_ALONE] = {"b_proj.weight", x, kda ? s->heads : 0},
      [G_DOWN] = {"g_a_proj.weight", x, low ? s->vdim : 0},
      [G_UP] = {"g_b_proj.weight", s->vdim, low ? s->value : 0},
      [G] = {"g_proj.weight", x, kda && !low ? s->value : 0},
      [OUT] = {kda ? "o_proj.weight" : "out_proj.weight", s->value, x}};
  for (int i = 0; i < MATRICES; i++)
    all[i] = rows[i];
}

static struct deltanet_places places_of(const struct deltanet *net,
                                        const struct deltanet_sizes *s) {
  struct deltanet_places at = {.channels = net->decay == DECAY_CHANNELS};
  int next = 0;
  find_matrices(net, s, at.all);
  for (int i = 0; i < OUT; i++) {
    at.matrix[i] = next;
    next += at.all[i].out > 0;
  }
  at.conv_count = at.channels ? 3 : 1;
  for (int i = 0; i < at.conv_count; i++)
    at.conv[i] = next++;
  at.bias = next++;
  at.decay = next++;
  at.norm = next++;
  at.matrix[OUT] = next;
  return at;
}

static void add_conv(struct params *params, const char *name, int64_t size,
                     int64_t channels) {
  params_add(params, (struct param){.name = name,
                                    .rank = 3,
                                    .dim = {size, 1, channels},
                                    .order = FILE_OUT_FIRST,
                                    .spread = spread_linear(size)});
}

static void deltanet_params(const struct layer *layer, struct params *params) {
  struct deltanet_sizes s = sizes_of(layer);
  struct deltanet_places at = places_of(layer->args, &s);
  const struct delta_projection *out = &at.all[OUT];
  for (int i = 0; i < OUT; i++)
    if (at.all[i].out)
      params_add_matrix(params, at.all[i].name, at.all[i].in, at.all[i].out);
  if (at.channels) {
    add_conv(params, "q_conv1d.weight", s.conv, s.key);
    add_conv(params, "k_conv1d.weight", s.conv, s.key);
    add_conv(params, "v_conv1d.weight", s.conv, s.value);
  } else {
    add_conv(params, "conv1d.weight", s.conv, s.mixed);
  }
  params_add_vector(params, "dt_bias", s.decays, 1, 0.1);
  params_add_vector(params, "A_log", s.heads, 1, 0.1);
  params_add_vector(params, at.channels ? "o_norm.weight" : "norm.weight",
                    s.vdim, 1, 0.1);
  params_add_matrix(params, out->name, out->in, out->out);
}

/* Projections, convolutions, and the state, which a token reads for its key
 * and its query and changes by an outer product. */
static void deltanet_macs(const struct layer *layer, struct terms *terms) {
  struct deltanet_sizes s = sizes_of(layer);
  struct deltanet_places at = places_of(layer->args, &s);
  for (int i = 0; i < MATRICES; i++)
    if (at.all[i].out)
      terms_add_product(terms, s.steps, at.all[i].in, at.all[i].out);
  terms_add_product(terms, s.steps, s.mixed, s.conv);
  terms_add(terms, (struct term){.factor = {3, s.steps, s.heads, s.dim, s.vdim},
                                 .count = 5,
                                 .split = 3});
}

struct deltanet_recorder {
  struct tape *tape;
  struct deltanet_sizes s;
  struct deltanet_places at;
};

/* Extent of features of every step. */
static struct extent rows(const struct deltanet_recorder *r, int64_t features) {
  return extent_sample(size_product(r->s.steps, features), WIDTH_NET);
}

static struct extent rows_f32(const struct deltanet_recorder *r,
                              int64_t features) {
  return extent_sample(size_product(r->s.steps, features), WIDTH_F32);
}

static size_t run(const struct deltanet_recorder *r, const size_t *in,
                  int count, struct operation op) {
  op.in = in;
  op.in_count = count;
  return tape_run(r->tape, &op);
}

/* `held` is a value that Python's frame holds meanwhile, if it is not `in`. */
static size_t project_beside(const struct deltanet_recorder *r,
                             const char *name, size_t in,
                             enum delta_matrix which, size_t held) {
  const struct delta_projection *p = &r->at.all[which];
  enum row_order order;
  size_t read[2] = {tape_rows(r->tape, in, &order), held};
  bool holds = held != in;
  return run(r, read, 1 + holds,
             (struct operation){.name = name,
                                .held = holds,
                                .out = rows(r, p->out),
                                .layout = LAYOUT_ROWS,
                                .keeps = KEEPS_IN(0),
                                .rows = order,
                                .first_param = r->at.matrix[which],
                                .param_count = 1,
                                .splits = true,
                                .guarded = true,
                                .cast = CAST_LOW});
}

static size_t project(const struct deltanet_recorder *r, const char *name,
                      size_t in, enum delta_matrix which) {
  return project_beside(r, name, in, which, in);
}

/* Keeps its input; silu is part of it, and computed again. */
static size_t convolve(const struct deltanet_recorder *r, size_t in, int which,
                       int64_t channels) {
  return run(r, &in, 1,
             (struct operation){.name = "conv",
                                .out = rows(r, channels),
                                .keeps = KEEPS_IN(0),
                                .first_param = r->at.conv[which],
                                .param_count = 1,
                                .cast = CAST_LOW});
}

/* A copy of some columns, which are apart in a packed row. `apart` values are
 * copied by themselves before they are concatenated. */
static size_t gather(const struct deltanet_recorder *r, const char *name,
                     size_t in, int64_t columns, int64_t apart) {
  return run(r, &in, 1,
             (struct operation){.name = name,
                                .out = rows(r, columns),
                                .work = rows(r, apart)});
}

/* Values that a kernel keeps and needs besides its operands. */
struct delta_kernel {
  int64_t kept, kept_f32; /* features of a token */
  int64_t work, back;     /* of a token, without the states */
  int keeps;              /* operands */
  int params;             /* of the layer, from `bias` on */
};

/* Inference makes what training keeps, too. */
static size_t run_kernel(const struct deltanet_recorder *r, const size_t *in,
                         int count, const struct delta_kernel *k) {
  const struct deltanet_sizes *s = &r->s;
  int64_t states = size_product(ceil_div_i64(s->steps, CHUNK), states_of(s));
  int64_t work = r->tape->training
                     ? k->work
                     : size_sum(k->work, size_sum(k->kept, k->kept_f32));
  struct extent fore = rows(r, work), back = rows(r, k->back);
  fore.count = size_sum(fore.count, states);
  back.count = size_sum(back.count, size_product(2, states));
  return run(
      r, in, count,
      (struct operation){.name = "delta rule",
                         .out = rows(r, s->value),
                         .keeps = k->keeps,
                         .kept = {rows(r, k->kept), rows_f32(r, k->kept_f32)},
                         .work = fore,
                         .back_work = back,
                         .first_param = r->at.bias,
                         .param_count = k->params,
                         .cast = CAST_LOW});
}

/* chunk_gated_delta_rule(): normalised queries and keys for all heads, values,
 * sums of decays, and products of a chunk's keys. It works on the kernels' w,
 * u and new values. */
static size_t by_heads(const struct deltanet_recorder *r, size_t mixed,
                       size_t a, size_t b) {
  const struct deltanet_sizes *s = &r->s;
  int64_t keys = size_product(s->heads, s->dim);
  size_t beta =
      run(r, &b, 1,
          (struct operation){
              .name = "beta", .out = rows(r, s->heads), .keeps = KEEPS_OUT});
  /* -exp(A_log) * softplus(a + dt_bias) keeps softplus and its input. */
  size_t decay =
      run(r, &a, 1,
          (struct operation){.name = "decay",
                             .out = rows_f32(r, s->heads),
                             .kept = {rows_f32(r, size_product(2, s->heads))},
                             .first_param = r->at.bias,
                             .param_count = 2,
                             .cast = CAST_FULL});
  const size_t in[3] = {mixed, decay, beta};
  int64_t normal = size_product(2, keys);
  struct delta_kernel k = {.kept = size_sum(size_sum(normal, s->value),
                                            size_product(CHUNK, s->heads)),
                           .kept_f32 = size_product(3, s->heads),
                           .work = size_sum(keys, size_product(2, s->value)),
                           .back = size_product(3, size_sum(keys, s->value)),
                           .keeps = KEEPS_IN(2)};
  if (s->heads != s->kheads) /* repeated for the heads that share them */
    k.work = size_sum(k.work, normal);
  return run_kernel(r, in, 3, &k);
}

/* chunk_kda(): the same with gates of each channel, which it computes again. */
static size_t by_channels(const struct deltanet_recorder *r,
                          const size_t in[5]) {
  const struct deltanet_sizes *s = &r->s;
  int64_t keys = size_product(s->heads, s->dim);
  int64_t f32 = r->tape->half ? 2 : 1; /* its sums of decays, in net values */
  struct delta_kernel k = {
      .kept =
          size_sum(size_product(2, s->key), size_product(2 * CHUNK, s->heads)),
      .kept_f32 = size_sum(size_product(2, s->kheads), s->heads),
      .work = size_sum(size_product(2 + f32, keys), size_product(2, s->value)),
      .back =
          size_sum(size_product(4 + 2 * f32, keys), size_product(3, s->value)),
      .keeps = KEEPS_IN(2) | KEEPS_IN(3) | KEEPS_IN(4),
      .params = 2};
  return run_kernel(r, in, 5, &k);
}

/* RMS norm of each head, times a function of the gate. */
static size_t normalise(const struct deltanet_recorder *r, size_t y,
                        size_t gate) {
  const size_t in[2] = {y, gate};
  return run(r, in, 2,
             (struct operation){.name = "gated norm",
                                .out = rows(r, r->s.value),
                                .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                .kept = {rows_f32(r, r->s.heads)},
                                .first_param = r->at.norm,
                                .param_count = 1});
}

static size_t record_heads(const struct deltanet_recorder *r, size_t x,
                           bool packed) {
  const struct deltanet_sizes *s = &r->s;
  size_t qkv, gate, a, b, held = x;
  if (packed) {
    held = project(r, "in", x, QKVZ);
    size_t small = project(r, "beta and decay", x, BA);
    gate = gather(r, "gate", held, s->value, 0);
    b = gather(r, "beta", small, s->heads, 0);
    a = gather(r, "decay", small, s->heads, 0);
    qkv = gather(r, "qkv", held, s->mixed, s->mixed);
  } else {
    qkv = project(r, "qkv", x, QKV);
    gate = project(r, "gate", x, Z);
    b = project(r, "beta", x, B);
    a = project(r, "decay", x, A);
  }
  size_t y = by_heads(r, convolve(r, qkv, 0, s->mixed), a, b);
  y = normalise(r, y, gate);
  return project_beside(r, "out", y, OUT, packed ? held : y);
}

static size_t record_channels(const struct deltanet_recorder *r, size_t x) {
  const struct deltanet_sizes *s = &r->s;
  size_t in[5];
  in[0] = convolve(r, project(r, "query", x, Q), 0, s->key);
  in[1] = convolve(r, project(r, "key", x, K), 1, s->key);
  in[2] = convolve(r, project(r, "value", x, V), 2, s->value);
  in[3] = project(r, "decay", project(r, "decay", x, F_DOWN), F_UP);
  in[4] = project(r, "beta", x, B_ALONE);
  size_t y = by_channels(r, in);
  size_t gate = r->at.all[G].out
                    ? project(r, "gate", x, G)
                    : project(r, "gate", project(r, "gate", x, G_DOWN), G_UP);
  return project(r, "out", normalise(r, y, gate), OUT);
}

/* Operands of the runtime's delta; `gate` multiplies its result. */
struct delta_operands {
  size_t q, k, v, step, beta, gate;
};

static size_t lower_matrix(const struct deltanet_recorder *r,
                           const struct mixer_steps *m, const char *name,
                           size_t in, enum delta_matrix which) {
  return mixer_project(m, name, in, r->at.all[which].out, r->at.matrix[which],
                       1);
}

static size_t lower_conv(const struct deltanet_recorder *r,
                         const struct mixer_steps *m, size_t in, int which) {
  return mixer_convolve(m, in, r->s.conv, r->at.conv[which], 1);
}

/* Projections of one matrix have the parts of a head of keys together. */
static struct delta_operands lower_packed(const struct deltanet_recorder *r,
                                          const struct mixer_steps *m, size_t x,
                                          size_t *qkv) {
  const struct deltanet_sizes *s = &r->s;
  int64_t parts = s->kheads, each = s->value / parts, few = s->heads / parts;
  struct delta_operands of = {0};
  size_t all = lower_matrix(r, m, "in", x, QKVZ), three[3];
  three[0] = mixer_gather(m, "query", all, parts, 0, s->dim);
  three[1] = mixer_gather(m, "key", all, parts, s->dim, s->dim);
  three[2] = mixer_gather(m, "value", all, parts, 2 * s->dim, each);
  of.gate = mixer_gather(m, "gate", all, parts, 2 * s->dim + each, each);
  *qkv = mixer_concat(m, three);
  all = lower_matrix(r, m, "beta and decay", x, BA);
  of.beta = mixer_gather(m, "beta", all, parts, 0, few);
  of.step = mixer_gather(m, "decay", all, parts, few, few);
  return of;
}

static struct delta_operands lower_heads(const struct deltanet_recorder *r,
                                         const struct mixer_steps *m, size_t x,
                                         bool packed) {
  const struct deltanet_sizes *s = &r->s;
  struct delta_operands of = {0};
  size_t qkv;
  if (packed) {
    of = lower_packed(r, m, x, &qkv);
  } else {
    qkv = lower_matrix(r, m, "qkv", x, QKV);
    of.gate = lower_matrix(r, m, "gate", x, Z);
    of.beta = lower_matrix(r, m, "beta", x, B);
    of.step = lower_matrix(r, m, "decay", x, A);
  }
  qkv = lower_conv(r, m, qkv, 0);
  of.q = mixer_part(m, "query", qkv, 0, s->key);
  of.k = mixer_part(m, "key", qkv, s->key, s->key);
  of.v = mixer_part(m, "value", qkv, 2 * s->key, s->value);
  of.gate = mixer_apply(m, "silu", DOES_SILU, of.gate);
  return of;
}

static struct delta_operands lower_channels(const struct deltanet_recorder *r,
                                            const struct mixer_steps *m,
                                            size_t x) {
  struct delta_operands of = {
      .q = lower_conv(r, m, lower_matrix(r, m, "query", x, Q), 0),
      .k = lower_conv(r, m, lower_matrix(r, m, "key", x, K), 1),
      .v = lower_conv(r, m, lower_matrix(r, m, "value", x, V), 2),
      .beta = lower_matrix(r, m, "beta", x, B_ALONE)};
  of.step = lower_matrix(r, m, "decay", x, F_DOWN);
  of.step = lower_matrix(r, m, "decay", of.step, F_UP);
  bool full = r->at.all[G].out > 0;
  of.gate = lower_matrix(r, m, "gate", x, full ? G : G_DOWN);
  if (!full)
    of.gate = lower_matrix(r, m, "gate", of.gate, G_UP);
  of.gate = mixer_apply(m, "sigmoid", DOES_SIGMOID, of.gate);
  return of;
}

/* Vectors of length 1 by an rms norm: x / root of (sum of squares + 1e-6) is
 * the norm with an eps of 1e-6 / dim, divided by the root of dim. */
static size_t lower_unit(const struct deltanet_recorder *r,
                         const struct mixer_steps *m, const char *name,
                         size_t in, double factor) {
  double dim = (double)r->s.dim;
  in = mixer_normalise(m, in, r->s.kheads, 1e-6 / dim, -1);
  return mixer_scale(m, name, in, factor / sqrt(dim));
}

static size_t lower_delta(const struct deltanet_recorder *r,
                          const struct mixer_steps *m,
                          const struct delta_operands *of) {
  const struct deltanet_sizes *s = &r->s;
  const size_t in[5] = {of->q, of->k, of->v, of->step, of->beta};
  const int64_t parts[4] = {s->kheads, s->kheads, s->heads, s->heads};
  struct strides lies[5], all = mixer_strides(m, s->value), out;
  for (int i = 0; i < 5; i++) {
    lies[i] = tape_strides(r->tape, in[i]);
    if (i < 4)
      lies[i] = strides_split(&lies[i], 1, parts[i]);
  }
  out = strides_split(&all, 1, s->heads);
  size_t y = tape_run(
      r->tape,
      &(struct operation){.name = "delta rule",
                          .does = LOWERS(DELTA, .in = lies, .out = &out),
                          .in = in,
                          .in_count = 5,
                          .out = rows(r, s->value),
                          .work = extent_fixed(states_of(s), WIDTH_NET),
                          .first_param = r->at.decay,
                          .param_count = 1});
  tape_see(r->tape, y, &all);
  return y;
}

/* The operations of a plan. */
static size_t lower(const struct deltanet_recorder *r, size_t x, bool packed) {
  struct mixer_steps m = {r->tape, r->s.steps};
  struct delta_operands of =
      r->at.channels ? lower_channels(r, &m, x) : lower_heads(r, &m, x, packed);
  of.q = lower_unit(r, &m, "query", of.q, 1 / sqrt((double)r->s.dim));
  of.k = lower_unit(r, &m, "key", of.k, 1);
  of.beta = mixer_apply(&m, "beta", DOES_SIGMOID, of.beta);
  of.step = mixer_add(&m, "step", of.step, r->at.bias);
  of.step = mixer_apply(&m, "softplus", DOES_SOFTPLUS, of.step);
  size_t y = lower_delta(r, &m, &of);
  y = mixer_normalise(&m, y, r->s.heads, r->at.channels ? 1e-5 : 1e-6,
                      r->at.norm);
  y = mixer_combine(&m, "gated", DOES_MUL, y, of.gate);
  return lower_matrix(r, &m, "out", y, OUT);
}

static size_t deltanet_trace(const struct layer *layer, struct tape *tape,
                             const size_t *in) {
  const struct deltanet *net = layer->args;
  struct deltanet_recorder r = {.tape = tape, .s = sizes_of(layer)};
  r.at = places_of(net, &r.s);
  if (tape->lowers)
    return lower(&r, in[0], net->packed);
  return r.at.channels ? record_channels(&r, in[0])
                       : record_heads(&r, in[0], net->packed);
}

LAYER_KIND(deltanet, "Sequence",
           "gated delta net, the mixer of Qwen3-Next, Qwen3.5 or Kimi Linear",
           LAYER_ARGS(deltanet, deltanet_specs), .shape = deltanet_shape,
           .params = deltanet_params, .macs = deltanet_macs,
           .trace = deltanet_trace, .state = deltanet_state);
