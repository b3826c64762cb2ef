/*
 * moe: a router sends every token to some of several experts and weighs their
 * results (Shazeer et al. 2017, arXiv 1701.06538).
 *
 * It runs like MixtralSparseMoeBlock
 * (transformers/models/mixtral/modeling_mixtral.py): one expert after the
 * other, each on the tokens that chose it. The experts process tokens x top
 * rows in total, for any routing, so that sums over experts are exact. The
 * memory while one expert runs assumes that all have equally many rows.
 */
#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "layers/layer.h"
#include "layers/tape/lowering.h"

enum { SCORES_SOFTMAX = 1, SCORES_SIGMOID };
enum { NORM_ON = 1, NORM_OFF };

/* Names of transformers/models/nemotron_h/modeling_nemotron_h.py. */
#define LATENT_DOWN "fc1_latent_proj.weight"
#define LATENT_UP "fc2_latent_proj.weight"

struct moe {
  int64_t experts, top;
  int64_t latent;  /* features of the experts' rows; 0: the input's */
  double capacity; /* 0: unlimited rows */
  double scale;    /* of the weights; 0: none */
  int scores, norm, bias;
};

static const struct arg_spec moe_specs[] = {
    ARG(INT, KEY, "experts", moe, experts, .required = true, .min = 1,
        .max = 65536,
        .doc = "number of experts: blocks with their own weights"),
    ARG(INT, KEY, "top", moe, top, .required = true, .min = 1,
        .doc = "number of experts for each token"),
    ARG(INT, KEY, "latent", moe, latent, .min = 1, .fallback = "channels",
        .doc = "number of features in which the experts work: one matrix "
               "before them and one after them (Nemotron 3)"),
    ARG(REAL, KEY, "capacity", moe, capacity, .low = 0, .high = 65536,
        .fallback = "none",
        .doc =
            "capacity of an expert, relative to tokens x top / experts; more "
            "tokens are dropped, missing ones are padded"),
    ARG(CHOICE, KEY, "scores", moe, scores, .words = "softmax sigmoid",
        .initial = SCORES_SOFTMAX, .fallback = "softmax",
        .doc = "function on the router's output"),
    ARG(CHOICE, KEY, "norm", moe, norm, .words = "on off", .initial = NORM_ON,
        .fallback = "on",
        .doc = "scale the weights of a token's experts to add up to 1"),
    ARG(REAL, KEY, "scale", moe, scale, .low = 0, .high = 65536,
        .fallback = "1",
        .doc = "factor of the weights, after `norm` (DeepSeek's "
               "routed_scaling_factor)"),
    ARG(WORDS, WORD, "bias", moe, bias, .words = "bias",
        .doc = "with a bias in the router"),
    SPEC_END};

/* Maximum number of rows of an expert; 0: unlimited. */
static int64_t capacity_of(const struct moe *moe, int64_t tokens) {
  double rows = ceil(moe->capacity * (double)tokens * (double)moe->top /
                     (double)moe->experts);
  if (moe->capacity <= 0)
    return 0;
  return rows < 0x1p40 ? max_i64((int64_t)rows, 1) : (int64_t)1 << 40;
}

/* Features of the experts' rows. */
static int64_t features_of(const struct layer *router) {
  const struct moe *moe = router->args;
  return moe->latent ? moe->latent : shape_channels(router->in[0]);
}

/* ..x top x C: a row for each expert of a token; or experts x capacity x C. */
static bool router_shape(struct layer *layer) {
  const struct moe *moe = layer->args;
  const struct shape *in = layer->in[0];
  int64_t rows = capacity_of(moe, shape_rows(in)),
          channels = features_of(layer);
  if (moe->top > moe->experts) {
    struct diagnostic *d = layer_fail(layer, OUT_OF_RANGE, "top",
                                      "%" PRId64 " of %" PRId64 " experts",
                                      moe->top, moe->experts);
    layer_offer_value(d, "top", moe->experts);
    return false;
  }
  if (rows) {
    layer->out = shape_of(3, (int64_t[]){moe->experts, rows, channels});
    return true;
  }
  if (in->rank == LIMIT_RANK)
    return layer_refuse(layer, WRONG_RANK, NULL, "a tensor has at most %d axes",
                        LIMIT_RANK);
  layer->out = *in;
  layer->out.dim[layer->out.rank++ - 1] = moe->top;
  layer->out.dim[layer->out.rank - 1] = channels;
  return true;
}

static void router_params(const struct layer *layer, struct params *params) {
  const struct moe *moe = layer->args;
  int64_t in = shape_channels(layer->in[0]);
  params_add_matrix(params, "weight", in, moe->experts);
  if (moe->bias)
    params_add_vector(params, "bias", moe->experts, 0, spread_bias(in));
  if (moe->latent)
    params_add_matrix(params, LATENT_DOWN, in, moe->latent);
}

static void router_macs(const struct layer *layer, struct terms *terms) {
  const struct moe *moe = layer->args;
  const struct shape *in = layer->in[0];
  terms_add(terms, (struct term){.factor = {shape_rows(in), moe->experts,
                                            shape_channels(in)},
                                 .count = 3,
                                 .split = 2});
  if (moe->latent)
    terms_add_product(terms, shape_rows(in), shape_channels(in), moe->latent);
}

/* The router's product. */
static size_t route(const struct moe *moe, struct tape *tape, size_t x,
                    struct extent all) {
  return tape_run_on(tape, x,
                     (struct operation){.name = "router",
                                        .out = all,
                                        .keeps = KEEPS_IN(0),
                                        .param_count = 1 + (moe->bias > 0),
                                        .guarded = true,
                                        .cast = CAST_LOW});
}

/* The weights of a token's experts: the largest scores. */
static size_t choose(const struct moe *moe, struct tape *tape, size_t x,
                     int64_t tokens) {
  struct extent all =
      extent_sample(size_product(tokens, moe->experts), WIDTH_NET);
  struct extent top = extent_sample(size_product(tokens, moe->top), WIDTH_NET);
  struct extent places = top;
  places.width = WIDTH_INDEX;
  size_t scores = route(moe, tape, x, all);
  scores = tape_run_on(
      tape, scores,
      (struct operation){
          .name = "scores", .out = all, .keeps = KEEPS_OUT, .cast = CAST_FULL});
  scores = tape_run_on(
      tape, scores,
      (struct operation){.name = "top", .out = top, .kept = {places}});
  if (moe->norm == NORM_ON) /* x /= x.sum() keeps the sum and the old x */
    scores = tape_run_on(
        tape, scores,
        (struct operation){.name = "norm",
                           .out = top,
                           .result = RESULT_VIEW,
                           .kept = {top, extent_sample(tokens, WIDTH_NET)}});
  if (moe->scale <= 0)
    return scores;
  return tape_run_on(
      tape, scores,
      (struct operation){
          .name = "scale", .out = top, .kept = {extent_fixed(1, WIDTH_INDEX)}});
}

/* One of the two matrices around the experts. */
static size_t project(struct tape *tape, const char *name, size_t in, int param,
                      struct extent out) {
  enum row_order order;
  size_t read = tape_rows(tape, in, &order);
  return tape_run_on(tape, read,
                     (struct operation){.name = name,
                                        .out = out,
                                        .keeps = KEEPS_IN(0),
                                        .rows = order,
                                        .layout = LAYOUT_ROWS,
                                        .first_param = param,
                                        .param_count = 1,
                                        .splits = true,
                                        .guarded = true,
                                        .cast = CAST_LOW});
}

/* Values shared by all experts: weights, their input, the
 * sum (initially 0) and the routing. */
static void begin(const struct layer *layer, struct tape *tape, size_t x) {
  const struct moe *moe = layer->args;
  int64_t tokens = shape_rows(layer->in[0]);
  int64_t chosen = size_product(tokens, moe->top);
  struct expert_turn *turn = tape->turn;
  turn->weights = choose(moe, tape, x, tokens);
  turn->tokens = x;
  if (moe->latent) {
    turn->out = extent_sample(size_product(tokens, moe->latent), WIDTH_NET);
    turn->tokens = project(tape, "latent", x, 1 + (moe->bias > 0), turn->out);
  }
  turn->sum = tape_run(tape, &(struct operation){.name = "zeros",
                                                 .layout = LAYOUT_ROWS,
                                                 .out = turn->out});
  turn->mask =
      tape_run(tape, &(struct operation){
                         .name = "mask",
                         .out = extent_sample(
                             size_product(chosen, moe->experts), WIDTH_INDEX)});
}

/*
 * A plan runs all experts at once: the rows of all tokens are sorted by expert,
 * and EXPERTS multiplies each row with the matrix of its expert. The number of
 * rows is the same for any routing.
 */

/* Modes of SEATS in runtime/ops.def. */
enum seats { SEATS_TOKENS, SEATS_ROWS, SEATS_EXPERTS, SEATS_KEPT };

static size_t plan(struct tape *tape, const char *name, const size_t *in,
                   int in_count, int64_t values, struct lowering does) {
  return tape_run(tape,
                  &(struct operation){.name = name,
                                      .does = &does,
                                      .in = in,
                                      .in_count = in_count,
                                      .out = extent_sample(values, WIDTH_NET)});
}

/* A product with a matrix of the layer, for each token. */
static size_t plan_product(struct tape *tape, const char *name, size_t in,
                           int param, int params, const struct shape *shape) {
  struct strides out = strides_of(shape);
  return tape_run_on(tape, in,
                     (struct operation){.name = name,
                                        .does = LOWERS(LINEAR, .out = &out),
                                        .out = extent_of(shape),
                                        .first_param = param,
                                        .param_count = params});
}

/* The largest scores of each token, or their experts. */
static size_t plan_top(const struct layer *layer, struct tape *tape,
                       size_t scores, bool indices) {
  const struct moe *moe = layer->args;
  struct shape shape = shape_with_channels(layer->in[0], moe->top);
  struct strides out = strides_of(&shape);
  struct extent extent = extent_of(&shape);
  struct lowering does = {.opcode = DOES_TOPK, .out = &out};
  lowering_add(&does, shape.rank); /* axis 0 is the batch */
  lowering_add(&does, false);
  lowering_add(&does, indices);
  if (indices)
    extent.width = WIDTH_INDEX;
  return tape_run_on(tape, scores,
                     (struct operation){.name = indices ? "chosen" : "top",
                                        .does = &does,
                                        .out = extent});
}

static size_t plan_norm(const struct layer *layer, struct tape *tape,
                        size_t scores) {
  const struct moe *moe = layer->args;
  struct strides top = tape_strides(tape, scores), lies[2] = {top, top};
  struct strides sum = strides_dense(top.rank - 1, top.dim);
  struct lowering does = {.opcode = DOES_REDUCE, .out = &sum};
  int64_t tokens = shape_rows(layer->in[0]);
  lowering_add(&does, 0); /* the sum */
  size_t pair[2] = {scores, plan(tape, "sum", &scores, 1, tokens, does)};
  lies[1] = strides_insert(&sum, sum.rank, moe->top, 0);
  return plan(tape, "norm", pair, 2, size_product(tokens, moe->top),
              (struct lowering){.opcode = DOES_DIV, .in = lies});
}

/* Seats of rows, or of choices. */
static size_t plan_seats(const struct layer *layer, struct tape *tape,
                         size_t chosen, enum seats mode) {
  static const char *const names[] = {"tokens", "rows", "experts", "kept"};
  const struct moe *moe = layer->args;
  bool rows = mode == SEATS_TOKENS || mode == SEATS_EXPERTS;
  struct strides out = tape_strides(tape, chosen);
  struct lowering does = {.opcode = DOES_SEATS, .out = &out};
  if (rows)
    out = strides_dense(layer->out.rank - 1, layer->out.dim);
  lowering_add(&does, (int64_t)mode);
  lowering_add(&does, moe->experts);
  lowering_add(&does, capacity_of(moe, shape_rows(layer->in[0])));
  return tape_run_on(
      tape, chosen,
      (struct operation){
          .name = names[mode],
          .does = &does,
          .out = extent_sample(strides_values(&out),
                               mode == SEATS_KEPT ? WIDTH_NET : WIDTH_INDEX)});
}

/* Rows of `from` at indices. */
static size_t plan_rows(struct tape *tape, const char *name, size_t at,
                        size_t from, int64_t channels) {
  struct strides indices = tape_strides(tape, at);
  struct strides out = strides_insert(&indices, indices.rank, channels, 1);
  size_t pair[2] = {at, tape_dense(tape, from)};
  out = strides_dense(out.rank, out.dim);
  return plan(tape, name, pair, 2, strides_values(&out),
              (struct lowering){.opcode = DOES_EMBED, .out = &out});
}

/* The weights of each token's experts, and where its rows are. */
static void plan_choice(const struct layer *layer, struct tape *tape,
                        size_t scores, size_t chosen) {
  const struct moe *moe = layer->args;
  struct expert_turn *turn = tape->turn;
  int64_t tokens = shape_rows(layer->in[0]);
  int64_t choices = size_product(tokens, moe->top);
  size_t weights = plan_top(layer, tape, scores, false);
  if (moe->norm == NORM_ON)
    weights = plan_norm(layer, tape, weights);
  if (moe->scale > 0)
    weights =
        plan(tape, "scale", &weights, 1, choices,
             (struct lowering){.opcode = DOES_SCALE, .real = {moe->scale}});
  if (capacity_of(moe, tokens)) {
    size_t pair[2] = {weights, plan_seats(layer, tape, chosen, SEATS_KEPT)};
    weights = plan(tape, "weights", pair, 2, choices,
                   (struct lowering){.opcode = DOES_MUL});
  }
  turn->weights = weights;
  turn->places = plan_seats(layer, tape, chosen, SEATS_ROWS);
}

static size_t plan_router(const struct layer *layer, struct tape *tape,
                          size_t x) {
  const struct moe *moe = layer->args;
  const struct shape *in = layer->in[0];
  struct expert_turn *turn = tape->turn;
  struct shape scored = shape_with_channels(in, moe->experts);
  int params = 1 + (moe->bias > 0);
  if (!turn->closed)
    return tape_run_on(tape, x,
                       (struct operation){.name = "router",
                                          .does = LOWERS(UNKNOWN, 0),
                                          .out = extent_of(&layer->out)});
  size_t scores = plan_product(tape, "router", x, 0, params, &scored);
  scores = plan(tape, "scores", &scores, 1, shape_values(&scored),
                (struct lowering){.opcode = moe->scores == SCORES_SIGMOID
                                                ? DOES_SIGMOID
                                                : DOES_SOFTMAX});
  size_t chosen = plan_top(layer, tape, scores, true), tokens = x;
  plan_choice(layer, tape, scores, chosen);
  if (moe->latent) {
    struct shape narrow = shape_with_channels(in, moe->latent);
    tokens = plan_product(tape, "latent", x, params, 1, &narrow);
  }
  size_t experts = plan_seats(layer, tape, chosen, SEATS_EXPERTS);
  size_t out =
      plan_rows(tape, "dispatch", plan_seats(layer, tape, chosen, SEATS_TOKENS),
                tokens, shape_channels(&layer->out));
  turn->count = moe->experts;
  turn->room = capacity_of(moe, shape_rows(in));
  turn->rows = strides_dense(layer->out.rank - 1, layer->out.dim);
  turn->experts = experts;
  return out;
}

/*
 * All experts at once, as MoELayer of Megatron-Core runs them
 * (megatron/core/transformer/moe: moe_layer.py, token_dispatcher.py with
 * alltoall, experts.py's TEGroupedMLP; its permutations are fused). Rows are
 * sorted by device, sent, and sorted by expert; then back. Permutations keep a
 * map alone. Rows are multiplied by their weights in the activation, which
 * keeps these.
 */

static bool is_grouped(const struct tape *tape) {
  return tape->experts > EXPERTS_ONE_BY_ONE && !tape->lowers;
}

/* Rows in another order. */
static size_t permute(struct tape *tape, const char *name, size_t in,
                      struct extent out, struct extent map) {
  return tape_run_on(
      tape, in,
      (struct operation){
          .name = name, .out = out, .layout = LAYOUT_ROWS, .kept = {map}});
}

/* An exchange of rows among devices. */
static size_t send_rows(struct tape *tape, const char *name, size_t in,
                        struct extent out) {
  return tape_run_on(
      tape, in,
      (struct operation){
          .name = name, .out = out, .layout = LAYOUT_ROWS, .exchanges = true});
}

/* The scores in 32 bits, as softmax has them; of all experts, with zeros. */
static size_t choose_grouped(const struct moe *moe, struct tape *tape, size_t x,
                             int64_t tokens) {
  struct extent all =
      extent_sample(size_product(tokens, moe->experts), WIDTH_NET);
  struct extent mask = all, full = all;
  mask.width = WIDTH_BOOL;
  full.width = WIDTH_F32;
  size_t scores = route(moe, tape, x, all);
  return tape_run_on(
      tape, scores,
      (struct operation){
          .name = "scores", .out = full, .keeps = KEEPS_OUT, .kept = {mask}});
}

static size_t grouped_router(const struct layer *layer, struct tape *tape,
                             size_t x) {
  const struct moe *moe = layer->args;
  struct expert_turn *turn = tape->turn;
  int64_t tokens = shape_rows(layer->in[0]);
  struct extent sent = extent_of(&layer->out), rows = sent, weights, map;
  rows.routed = true;
  weights = extent_sample(shape_rows(&layer->out), WIDTH_F32);
  weights.routed = true;
  /* row_id_map of TransformerEngine: 32 bits, and the number of experts. */
  map = extent_sample(size_product(2 * tokens, moe->experts), WIDTH_I32);
  turn->weights = choose_grouped(moe, tape, x, tokens);
  if (moe->latent)
    x = project(tape, "latent", x, 1 + (moe->bias > 0),
                extent_sample(size_product(tokens, moe->latent), WIDTH_NET));
  turn->sent = permute(tape, "permute", x, sent, map);
  turn->received = send_rows(tape, "dispatch", turn->sent, rows);
  return permute(tape, "sort", turn->received, rows, weights);
}

static size_t grouped_moe(const struct layer *layer, struct tape *tape,
                          size_t made) {
  const struct moe *moe = layer->args;
  struct expert_turn *turn = tape->turn;
  struct extent rows = extent_of(layer->in[0]), sent = rows;
  rows.routed = true;
  size_t back = permute(tape, "unsort", made, rows, (struct extent){0});
  back = send_rows(tape, "collect", back, sent);
  /* MoELayer.forward() has names for the rows that it sent and received. */
  size_t in[4] = {back, turn->weights, turn->sent, turn->received};
  back = tape_run(tape, &(struct operation){.name = "combine",
                                            .in = in,
                                            .in_count = 4,
                                            .held = 2,
                                            .layout = LAYOUT_ROWS,
                                            .out = turn->out});
  return moe->latent ? project(tape, "up", back, 0, extent_of(&layer->out))
                     : back;
}

static size_t router_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  struct expert_turn *turn = tape->turn;
  int64_t rows = shape_rows(&layer->out);
  if (tape->lowers)
    return plan_router(layer, tape, in[0]);
  if (is_grouped(tape))
    return grouped_router(layer, tape, in[0]);
  if (turn->first)
    begin(layer, tape, in[0]);
  tape->share = turn->share;
  /* Two indices for each row: its token and which of its experts. */
  turn->places =
      tape_run_on(tape, turn->mask,
                  (struct operation){.name = "where",
                                     .out = extent_sample(size_product(2, rows),
                                                          WIDTH_INDEX)});
  size_t pair[2] = {turn->tokens, turn->places};
  size_t out = tape_run(tape, &(struct operation){.name = "dispatch",
                                                  .in = pair,
                                                  .in_count = 2,
                                                  .out = extent_of(&layer->out),
                                                  .exchanges = true,
                                                  .keeps = KEEPS_IN(1)});
  tape->share = NULL;
  return out;
}

static const struct layer_kind router = {
    .name = "router",
    .summary = "router, which sends each token to its experts",
    .family = "Sequence",
    .specs = moe_specs,
    .args_size = sizeof(struct moe),
    .shape = router_shape,
    .params = router_params,
    .macs = router_macs,
    .trace = router_trace,
};

/* The input's shape with the experts' features, or with `latent` its own. */
static bool moe_shape(struct layer *layer) {
  const struct moe *moe = layer->args;
  const struct shape *made = layer->in[0], *rows = layer->in[1];
  struct shape same = shape_with_channels(rows, shape_channels(made));
  if (!shape_equal(made, &same)) {
    struct diagnostic *d = layer_fail(
        layer, SHAPE_MISMATCH, NULL, "an expert takes %s and returns %s",
        shape_text(rows).text, shape_text(made).text);
    return diag_help(
        d, "an expert may change only the last axis, because each row is a "
           "token");
  }
  layer->out = shape_with_channels(layer->in[2], shape_channels(made));
  if (!moe->latent)
    return true;
  if (shape_channels(made) != moe->latent) {
    struct diagnostic *d =
        layer_fail(layer, SHAPE_MISMATCH, "latent",
                   "an expert takes %" PRId64 " features and returns %" PRId64,
                   moe->latent, shape_channels(made));
    return diag_help(d,
                     "with `latent`, an expert ends with as many features "
                     "as it takes: `linear %" PRId64 "`",
                     moe->latent);
  }
  layer->out = *layer->in[2];
  return true;
}

static void moe_params(const struct layer *layer, struct params *params) {
  const struct moe *moe = layer->args;
  if (moe->latent)
    params_add_matrix(params, LATENT_UP, moe->latent,
                      shape_channels(&layer->out));
}

static void moe_macs(const struct layer *layer, struct terms *terms) {
  const struct moe *moe = layer->args;
  if (moe->latent)
    terms_add_product(terms, shape_rows(&layer->out), moe->latent,
                      shape_channels(&layer->out));
}

/* Adds rows to their tokens. */
static size_t combine(struct tape *tape, size_t weighed) {
  struct expert_turn *turn = tape->turn;
  size_t in[5] = {turn->sum, weighed, turn->places, turn->mask, turn->weights};
  return tape_run(tape,
                  &(struct operation){.name = "combine",
                                      .in = in,
                                      .in_count = 5,
                                      .held = 2,
                                      .out = turn->out,
                                      .result = RESULT_VIEW,
                                      .gradient = GRADIENT_FIRST,
                                      .exchanges = true,
                                      .keeps = KEEPS_IN(1) | KEEPS_IN(2)});
}

/* A product of the weights of a token with its rows. */
static size_t plan_moe(const struct layer *layer, struct tape *tape,
                       size_t made) {
  const struct moe *moe = layer->args;
  struct expert_turn *turn = tape->turn;
  int64_t channels = shape_channels(layer->in[0]);
  struct shape summed = shape_with_channels(&layer->out, channels);
  struct strides whole = strides_of(&summed), lies[2], out;
  turn->experts = 0;
  if (!turn->closed)
    return tape_run_on(tape, made,
                       (struct operation){.name = "combine",
                                          .does = LOWERS(UNKNOWN, 0),
                                          .out = extent_of(&layer->out)});
  size_t pair[2] = {turn->weights,
                    plan_rows(tape, "collect", turn->places, made, channels)};
  lies[0] = tape_strides(tape, pair[0]);
  lies[0] = strides_insert(&lies[0], lies[0].rank - 1, 1, 0);
  lies[1] = tape_strides(tape, pair[1]);
  out = strides_insert(&whole, whole.rank - 1, 1, 0);
  size_t sum =
      plan(tape, "combine", pair, 2, shape_values(&summed),
           (struct lowering){.opcode = DOES_MATMUL, .in = lies, .out = &out});
  tape_see(tape, sum, &whole);
  return moe->latent ? plan_product(tape, "up", sum, 0, 1, &layer->out) : sum;
}

/* Weighs each row, and adds up the rows of a token. */
static size_t moe_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  const struct moe *moe = layer->args;
  struct expert_turn *turn = tape->turn;
  if (tape->lowers)
    return plan_moe(layer, tape, in[0]);
  if (is_grouped(tape))
    return grouped_moe(layer, tape, in[0]);
  struct extent rows = extent_of(layer->in[0]);
  int64_t count = shape_rows(layer->in[0]);
  size_t pair[2] = {turn->weights, turn->places};
  tape->share = turn->share;
  size_t weights =
      tape_run(tape, &(struct operation){.name = "weights",
                                         .in = pair,
                                         .in_count = 2,
                                         .out = extent_sample(count, WIDTH_NET),
                                         .keeps = KEEPS_IN(1)});
  pair[0] = in[0];
  pair[1] = weights;
  size_t weighed =
      tape_run(tape, &(struct operation){.name = "weigh",
                                         .in = pair,
                                         .in_count = 2,
                                         .out = rows,
                                         .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                         .guarded = true,
                                         .back_work = rows});
  tape->share = NULL;
  turn->sum = combine(tape, weighed);
  if (!moe->latent || !turn->last)
    return turn->sum;
  return project(tape, "up", turn->sum, 0, extent_of(&layer->out));
}

static struct copies moe_copies(const void *args) {
  const struct moe *moe = args;
  return (struct copies){moe->experts, moe->top};
}

LAYER_KIND(moe, "Sequence", "mixture of experts: its block is one of them",
           LAYER_ARGS(moe, moe_specs), .front = &router, .copies = moe_copies,
           .shape = moe_shape, .params = moe_params, .macs = moe_macs,
           .trace = moe_trace);
