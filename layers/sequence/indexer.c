/* indexer: its arguments, parameters and operations. */
#include "layers/sequence/indexer.h"

#include <inttypes.h>

#include "base/check.h"
#include "layers/tape/lowering.h"

static int64_t dim_of(const struct indexer *indexer) {
  return indexer->dim ? indexer->dim : 128;
}

static int64_t width_of(const struct indexer *indexer) {
  return size_product(indexer->heads, dim_of(indexer));
}

bool indexer_check(const struct layer *layer, const struct indexer *indexer,
                   const struct indexer_sizes *s) {
  struct diagnostic *d;
  if (!indexer->heads && indexer->dim) {
    d = layer_fail(layer, MISSING_ARGUMENT, "indexdim",
                   "`indexdim` is the size of an indexer's head, but there is "
                   "no `index`");
    return diag_help(d, "give the number of its heads: `index=64`");
  }
  if (!indexer->heads)
    return true;
  if (!s->latent) {
    d = layer_fail(layer, MISSING_ARGUMENT, "index",
                   "an indexer reads the latent vector of queries, but there "
                   "is none");
    return diag_help(d, "give its size: `qlatent=1536`");
  }
  if (dim_of(indexer) >= s->rope)
    return true;
  d = layer_fail(layer, OUT_OF_RANGE, "indexdim",
                 "rope rotates %" PRId64 " features of a head, but an "
                 "indexer's head has %" PRId64,
                 s->rope, dim_of(indexer));
  layer_offer_value(d, "indexdim", s->rope);
  return diag_help(d, "`indexdim` must be at least `rope`");
}

int64_t indexer_seen(const struct indexer *indexer, int64_t keys) {
  int64_t top = indexer->top ? indexer->top : indexer->heads ? 2048 : keys;
  return min_i64(top, keys);
}

int64_t indexer_cache(const struct indexer *indexer) {
  return indexer->heads ? dim_of(indexer) : 0;
}

/* Parameters, by their index behind the layer's. */
enum { QUERY, KEY, NORM, NORM_BIAS, WEIGHTS };

/* Names of transformers/models/deepseek_v32. */
void indexer_params(const struct indexer *indexer,
                    const struct indexer_sizes *s, struct params *params) {
  size_t first = params->all.count;
  if (!indexer->heads)
    return;
  params_add_matrix(params, "indexer.wq_b.weight", s->latent,
                    width_of(indexer));
  params_add_matrix(params, "indexer.wk.weight", s->channels, dim_of(indexer));
  params_add_vector(params, "indexer.k_norm.weight", dim_of(indexer), 1, 0);
  params_add_vector(params, "indexer.k_norm.bias", dim_of(indexer), 0, 0);
  params_add_matrix(params, "indexer.weights_proj.weight", s->channels,
                    indexer->heads);
  for (size_t i = first; i < params->all.count; i++)
    params->all.at[i].fixed = true;
}

/* Projections, scores of all heads, and their weighted sum. */
void indexer_macs(const struct indexer *indexer, const struct indexer_sizes *s,
                  struct terms *terms) {
  if (!indexer->heads)
    return;
  terms_add_product(terms, s->steps, s->latent, width_of(indexer));
  terms_add_product(terms, s->steps, s->channels, dim_of(indexer));
  terms_add_product(terms, s->steps, s->channels, indexer->heads);
  terms_add_product(terms, s->steps, s->steps, width_of(indexer));
  terms_add_product(terms, s->steps, s->steps, indexer->heads);
}

static struct extent rows(const struct indexer_sizes *s, int64_t features) {
  return extent_sample(size_product(s->steps, features), WIDTH_NET);
}

/* No gradient passes, and the runtime has no kernel for it. */
static size_t run(struct tape *tape, const size_t *in, int count,
                  struct operation op) {
  op.in = in;
  op.in_count = count;
  op.stops = true;
  op.does = LOWERS(UNKNOWN, 0);
  return tape_run(tape, &op);
}

static size_t project(struct tape *tape, const char *name, size_t in, int param,
                      struct extent out) {
  enum row_order order;
  size_t read = tape_rows(tape, in, &order);
  return run(tape, &read, 1,
             (struct operation){.name = name,
                                .out = out,
                                .rows = order,
                                .layout = LAYOUT_ROWS,
                                .first_param = param,
                                .param_count = 1,
                                .cast = CAST_LOW});
}

/* Turns the first features of each head, and concatenates the others. */
static size_t rotate(struct tape *tape, size_t in, struct extent out) {
  return run(tape, &in, 1,
             (struct operation){.name = "rope", .out = out, .work = out});
}

static struct extent pairs(const struct indexer_sizes *s, int64_t of_each) {
  int64_t all = size_product(s->steps, s->steps);
  return extent_sample(size_product(all, of_each), WIDTH_F32);
}

/* The scores of a query's keys, of 32 bits: one kernel has the sum over heads
 * alone; steps have the scores of all heads, and those after relu. */
static size_t score(const struct indexer *indexer,
                    const struct indexer_sizes *s, struct tape *tape, size_t x,
                    const size_t qk[2], int at, bool fused) {
  struct extent all = pairs(s, indexer->heads);
  struct extent weighs = rows(s, indexer->heads);
  size_t in[3] = {qk[0], qk[1]};
  if (fused) {
    in[2] = project(tape, "index weights", x, at + WEIGHTS, weighs);
    return run(tape, in, 3,
               (struct operation){.name = "index", .out = pairs(s, 1)});
  }
  in[0] = run(tape, in, 2,
              (struct operation){.name = "index", .out = all, .work = all});
  in[0] = run(tape, in, 1, (struct operation){.name = "relu", .out = all});
  in[1] = project(tape, "index weights", x, at + WEIGHTS, weighs);
  return run(tape, in, 2,
             (struct operation){.name = "index", .out = pairs(s, 1)});
}

size_t indexer_trace(const struct indexer *indexer,
                     const struct indexer_sizes *s, struct tape *tape,
                     const size_t in[2], int at, bool fused) {
  struct extent queries = rows(s, width_of(indexer));
  struct extent keys = rows(s, dim_of(indexer));
  size_t qk[2] = {project(tape, "index query", in[1], at + QUERY, queries)};
  qk[0] = rotate(tape, qk[0], queries);
  qk[1] = project(tape, "index key", in[0], at + KEY, keys);
  qk[1] = run(tape, &qk[1], 1,
              (struct operation){.name = "norm",
                                 .out = keys,
                                 .first_param = at + NORM,
                                 .param_count = 2,
                                 .cast = CAST_FULL});
  qk[1] = rotate(tape, qk[1], keys);
  size_t scores = score(indexer, s, tape, in[0], qk, at, fused);
  int64_t seen = indexer_seen(indexer, s->steps);
  return run(tape, &scores, 1,
             (struct operation){
                 .name = "top",
                 .out = extent_sample(size_product(s->steps, seen), WIDTH_I32),
                 .work = pairs(s, 1)}); /* masked scores */
}
