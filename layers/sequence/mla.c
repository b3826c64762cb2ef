/*
 * mla: attention whose keys and values come from a small latent vector, the
 * only thing in its KV cache (DeepSeek-V2, arXiv 2405.04434).
 *
 * Queries and keys of a head are `dim` features of its own, and `rope` features
 * that are rotated; all heads share those of the keys. It runs like
 * transformers/models/deepseek_v2/modeling_deepseek_v2.py.
 */
#include <inttypes.h>
#include <math.h>

#include "layers/norm.h"
#include "layers/sequence/attention.h"
#include "layers/sequence/indexer.h"
#include "layers/tape/lowering.h"

struct mla {
  int64_t heads, latent, rope, dim, vdim, qlatent;
  struct indexer indexer;
  struct rope_rule turns;
  double dropout;
  int causal, kernel;
};

static const struct arg_spec mla_specs[] = {
    ATTENTION_HEADS(mla),
    ARG(INT, KEY, "latent", mla, latent, .required = true, .min = 1,
        .doc = "size of the latent vector of keys and values"),
    ARG(INT, KEY, "rope", mla, rope, .required = true, .min = 2,
        .doc = "features of a head that rope rotates"),
    ROPE_SPECS(mla, turns),
    ARG(INT, KEY, "dim", mla, dim, .min = 1, .fallback = "channels / heads",
        .doc = "features of a head's queries and keys that rope does not "
               "rotate"),
    ARG(INT, KEY, "vdim", mla, vdim, .min = 1, .fallback = "dim",
        .doc = "features of a head's values"),
    ARG(INT, KEY, "qlatent", mla, qlatent, .min = 1, .fallback = "none",
        .doc = "size of the latent vector of queries, which is normalised"),
    INDEXER_SPECS(mla, indexer),
    ATTENTION_CAUSAL(mla),
    ATTENTION_DROPOUT(mla),
    ATTENTION_KERNEL(mla),
    SPEC_END};

/* Overflows are INT64_MAX, which later sums report. */
struct mla_sizes {
  int64_t steps, channels, heads;
  int64_t dim, rope, vdim, key;  /* of a head; key: dim + rope */
  int64_t latent, qlatent, down; /* down: latent + rope */
  int64_t query, both, value;    /* of all heads; both: dim + vdim */
};

static struct mla_sizes sizes_of(const struct layer *layer) {
  const struct mla *mla = layer->args;
  const struct shape *in = layer->in[0];
  struct mla_sizes s = {.steps = in->dim[0],
                        .channels = shape_channels(in),
                        .heads = mla->heads,
                        .rope = mla->rope,
                        .latent = mla->latent,
                        .qlatent = mla->qlatent};
  s.dim = mla->dim ? mla->dim : s.channels / s.heads;
  s.vdim = mla->vdim ? mla->vdim : s.dim;
  s.key = size_sum(s.dim, s.rope);
  s.down = size_sum(s.latent, s.rope);
  s.query = size_product(s.heads, s.key);
  s.both = size_product(s.heads, size_sum(s.dim, s.vdim));
  s.value = size_product(s.heads, s.vdim);
  return s;
}

static struct indexer_sizes index_sizes(const struct mla_sizes *s) {
  return (struct indexer_sizes){s->steps, s->channels, s->qlatent, s->rope};
}

static bool mla_shape(struct layer *layer) {
  const struct mla *mla = layer->args;
  const struct shape *in = layer->in[0];
  if (!layer_check_sequence(layer))
    return false;
  if (!mla->dim && shape_channels(in) % mla->heads != 0) {
    struct diagnostic *d =
        layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "heads",
                   "%" PRId64 " heads do not divide %" PRId64 " channels",
                   mla->heads, shape_channels(in));
    layer_offer_divisor(d, "heads", mla->heads, shape_channels(in));
    return diag_help(d, "give the features of a head by `dim=`");
  }
  if (mla->rope % 2 != 0)
    return layer_refuse(
        layer, OUT_OF_RANGE, "rope",
        "rope rotates pairs of features, but there is an odd number, %" PRId64,
        mla->rope);
  struct mla_sizes s = sizes_of(layer);
  struct indexer_sizes index = index_sizes(&s);
  return rope_check(layer, &mla->turns, true) &&
         indexer_check(layer, &mla->indexer, &index) && layer_same_shape(layer);
}

/* Indices of the parameters; -1: none. */
struct mla_places {
  int q_down, q_norm, q, down, norm, up, out;
};

static struct mla_places places_of(const struct mla *mla) {
  if (!mla->qlatent)
    return (struct mla_places){-1, -1, 0, 1, 2, 3, 4};
  return (struct mla_places){0, 1, 2, 3, 4, 5, 6};
}

static void mla_params(const struct layer *layer, struct params *params) {
  const struct mla *mla = layer->args;
  struct mla_sizes s = sizes_of(layer);
  struct indexer_sizes index = index_sizes(&s);
  if (s.qlatent) {
    params_add_matrix(params, "q_a_proj.weight", s.channels, s.qlatent);
    params_add_vector(params, "q_a_layernorm.weight", s.qlatent, 1, 0);
    params_add_matrix(params, "q_b_proj.weight", s.qlatent, s.query);
  } else {
    params_add_matrix(params, "q_proj.weight", s.channels, s.query);
  }
  params_add_matrix(params, "kv_a_proj_with_mqa.weight", s.channels, s.down);
  params_add_vector(params, "kv_a_layernorm.weight", s.latent, 1, 0);
  params_add_matrix(params, "kv_b_proj.weight", s.latent, s.both);
  params_add_matrix(params, "o_proj.weight", s.value, s.channels);
  indexer_params(&mla->indexer, &index, params);
}

static void mla_macs(const struct layer *layer, struct terms *terms) {
  const struct mla *mla = layer->args;
  struct mla_sizes s = sizes_of(layer);
  struct indexer_sizes index = index_sizes(&s);
  int64_t seen = indexer_seen(&mla->indexer, s.steps);
  if (s.qlatent)
    terms_add_product(terms, s.steps, s.channels, s.qlatent);
  terms_add_product(terms, s.steps, s.qlatent ? s.qlatent : s.channels,
                    s.query);
  terms_add_product(terms, s.steps, s.channels, s.down);
  terms_add_product(terms, s.steps, s.latent, s.both);
  terms_add_product(terms, s.steps, seen, s.query);
  terms_add_product(terms, s.steps, seen, s.value);
  terms_add_product(terms, s.steps, s.value, s.channels);
  indexer_macs(&mla->indexer, &index, terms);
}

/* For each token: the latent vector, the keys that all heads share, and the
 * indexer's. */
static struct cache_terms mla_cache(const struct layer *layer) {
  const struct mla *mla = layer->args;
  int64_t index = indexer_cache(&mla->indexer);
  int64_t top = indexer_seen(&mla->indexer, INT64_MAX);
  return (struct cache_terms){
      .each = mla->causal ? size_sum(sizes_of(layer).down, index) : 0,
      .top = top < INT64_MAX ? top : 0,
      .index = index};
}

static struct head_counts mla_head_counts(const struct layer *layer) {
  return (struct head_counts){.queries = sizes_of(layer).heads};
}

struct recorder {
  struct attention_recorder r;
  struct mla_sizes s;
  struct mla_places at;
  const struct indexer *indexer;
};

static struct extent rows(const struct recorder *m, int64_t features) {
  return extent_sample(size_product(m->s.steps, features), WIDTH_NET);
}

/* `held` values stay in memory until it has run. */
static size_t project_beside(const struct recorder *m, const char *name,
                             size_t in, int64_t out, int param,
                             const size_t *held, int held_count) {
  const int64_t dim[2] = {m->s.steps, out};
  struct strides lies = strides_dense(2, dim);
  enum row_order order;
  size_t read[3] = {tape_rows(m->r.tape, in, &order)};
  for (int i = 0; i < held_count; i++)
    read[1 + i] = held[i];
  return tape_run(m->r.tape,
                  &(struct operation){.name = name,
                                      .does = LOWERS(LINEAR, .out = &lies),
                                      .in = read,
                                      .in_count = 1 + held_count,
                                      .held = held_count,
                                      .out = rows(m, out),
                                      .keeps = KEEPS_IN(0),
                                      .rows = order,
                                      .layout = LAYOUT_ROWS,
                                      .first_param = param,
                                      .param_count = 1,
                                      .splits = true,
                                      .guarded = true,
                                      .cast = CAST_LOW});
}

static size_t project(const struct recorder *m, const char *name, size_t in,
                      int64_t out, int param) {
  return project_beside(m, name, in, out, param, NULL, 0);
}

static size_t normalise(const struct recorder *m, size_t in, int64_t width,
                        int param) {
  struct extent extent = rows(m, width);
  size_t value =
      norm_rms(m->r.tape, in,
               (struct operation){.name = "norm",
                                  .does = LOWERS(RMSNORM, .real = {1e-6}),
                                  .out = extent,
                                  .by_channel = true},
               m->s.steps, param);
  struct strides lies = strides_dense(2, (int64_t[]){m->s.steps, width});
  tape_see(m->r.tape, value, &lies);
  return value;
}

/* Two parts of every head, or with `heads` 1 of every row:
 * [heads, steps, features]. */
static size_t split(const struct recorder *m, size_t in, int64_t heads,
                    int64_t first, int64_t second) {
  const int64_t dim[4] = {1, m->s.steps, heads, size_sum(first, second)};
  struct strides lies[2] = {strides_dense(4, dim)};
  lies[0] = strides_move(&lies[0], 2, 1);
  lies[1] = lies[0];
  lies[0].dim[3] = first;
  lies[1].dim[3] = second;
  lies[1].offset = first;
  size_t parts = attention_unary(
      &m->r, in,
      (struct operation){.name = "split",
                         .does = LOWERS(VIEW, .out = lies),
                         .out = rows(m, size_product(heads, first)),
                         .outs = 2,
                         .result = RESULT_VIEW,
                         .layout = LAYOUT_APART});
  tape_resize(m->r.tape, parts + 1, rows(m, size_product(heads, second)));
  return parts;
}

/* Rotates neighbouring pairs. The runtime's kernel has
 * positions before heads. */
static size_t rotate(const struct recorder *m, size_t in) {
  struct strides lies = tape_strides(m->r.tape, in), out;
  struct lowering does = {.in = &lies, .out = &out};
  if (m->r.tape->lowers)
    lies = strides_move(&lies, 1, 2);
  out = strides_dense(lies.rank, lies.dim);
  rope_lower(&does, &m->r.attention->turns, true);
  size_t value = attention_rotate(&m->r, in, &does);
  if (m->r.tape->lowers)
    out = strides_move(&out, 2, 1);
  tape_see(m->r.tape, value, &out);
  return value;
}

/* Concatenates a head's own features and the rotated ones,
 * which heads may share. */
static size_t join(const struct recorder *m, size_t own, size_t turned) {
  size_t pair[2] = {own, turned};
  struct tape *tape = m->r.tape;
  struct strides lies[2] = {tape_strides(tape, own),
                            tape_strides(tape, turned)};
  const int64_t dim[4] = {1, m->s.heads, m->s.steps, m->s.key};
  struct strides out = strides_dense(4, dim);
  struct lowering does = {.opcode = DOES_CONCAT, .in = lies, .out = &out};
  if (tape->lowers && lies[1].dim[1] != m->s.heads) {
    lies[1].dim[1] = m->s.heads;
    lies[1].stride[1] = 0;
  }
  lowering_add(&does, 4); /* the last axis; axis 0 is the batch */
  return tape_run(tape, &(struct operation){.name = "concat",
                                            .does = &does,
                                            .in = pair,
                                            .in_count = 2,
                                            .by_channel = true,
                                            .out = rows(m, m->s.query),
                                            .gradient = GRADIENT_SHARED});
}

/* Keeps its inputs, its output, and the logarithms of the rows' sums. `index`:
 * a value with the indices of keys, if there is an indexer. */
static size_t fused(const struct recorder *m, size_t q, size_t k, size_t v,
                    size_t index) {
  size_t in[4] = {q, k, v, index};
  bool chosen = m->indexer->heads > 0;
  struct extent sums = attention_row_sums(&m->r, m->s.key == m->s.vdim);
  struct extent seed = extent_fixed(1, WIDTH_INDEX);
  seed.whole = true;
  return tape_run(m->r.tape,
                  &(struct operation){.name = "attention",
                                      .does = LOWERS(UNKNOWN, 0),
                                      .in = in,
                                      .in_count = 3 + chosen,
                                      .by_channel = true,
                                      .sdpa = true,
                                      .out = rows(m, m->s.value),
                                      .keeps = KEEPS_IN(0) | KEEPS_IN(1) |
                                               KEEPS_IN(2) | KEEPS_OUT |
                                               (chosen ? KEEPS_IN(3) : 0),
                                      .kept = {sums, seed, seed},
                                      .back_work = sums,
                                      .cast = CAST_LOW});
}

static size_t record(const struct recorder *m, size_t x) {
  const struct mla_sizes *s = &m->s;
  size_t q = x, index = 0;
  if (s->qlatent) {
    q = project(m, "query down", q, s->qlatent, m->at.q_down);
    q = normalise(m, q, s->qlatent, m->at.q_norm);
  }
  if (m->indexer->heads) {
    struct indexer_sizes sizes = index_sizes(s);
    index = indexer_trace(m->indexer, &sizes, m->r.tape, (size_t[]){x, q},
                          m->at.out + 1, m->r.fused);
  }
  q = split(m, project(m, "query", q, s->query, m->at.q), s->heads, s->dim,
            s->rope);
  size_t down = split(m, project(m, "down", x, s->down, m->at.down), 1,
                      s->latent, s->rope);
  size_t up = normalise(m, down, s->latent, m->at.norm);
  up = split(m, project(m, "up", up, s->both, m->at.up), s->heads, s->dim,
             s->vdim);
  size_t q_turned = rotate(m, q + 1), k_turned = rotate(m, down + 1);
  q = join(m, q, q_turned);
  size_t k = join(m, up, k_turned);
  size_t context = m->r.fused ? fused(m, q, k, up + 1, index)
                              : attention_weigh(&m->r, q, k, up + 1);
  struct strides lies = strides_dense(2, (int64_t[]){s->steps, s->value});
  tape_see(m->r.tape, context, &lies);
  /* Python's frame holds the input and the values until the end. */
  return project_beside(m, "out", context, s->channels, m->at.out,
                        (size_t[]){x, up + 1}, 2);
}

static size_t mla_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  const struct mla *mla = layer->args;
  struct attention like = {.heads = mla->heads,
                           .turns = mla->turns,
                           .causal = mla->causal,
                           .dropout = mla->dropout};
  struct recorder m = {
      .s = sizes_of(layer), .at = places_of(mla), .indexer = &mla->indexer};
  m.r = (struct attention_recorder){.tape = tape,
                                    .layer = layer,
                                    .attention = &like,
                                    .s = {.groups = 1,
                                          .queries = m.s.steps,
                                          .keys = m.s.steps,
                                          .heads = m.s.heads,
                                          .kv = m.s.heads,
                                          .dim = m.s.vdim,
                                          .vdim = m.s.vdim,
                                          .width = m.s.value,
                                          .value_width = m.s.value},
                                    .factor = 1 / sqrt((double)m.s.key)};
  m.r.fused = attention_is_fused(tape, mla->kernel);
  m.r.chooses = mla->indexer.heads > 0;
  return record(&m, in[0]);
}

LAYER_KIND(mla, "Sequence",
           "latent attention: keys and values come from a small vector",
           LAYER_ARGS(mla, mla_specs), .shape = mla_shape, .params = mla_params,
           .macs = mla_macs, .trace = mla_trace, .cache = mla_cache,
           .heads = mla_head_counts);
