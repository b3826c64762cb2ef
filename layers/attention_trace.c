/* attention: the operations that a framework makes of it. */
#include <math.h>

#include "layers/attention.h"
#include "tape/tape.h"

struct recorder {
  struct tape *tape;
  const struct layer *layer;
  const struct attention *attention;
  struct attention_sizes s;
  struct projection projections[4];
};

/* Values of a sample: rows of features, over all groups. */
static struct extent rows_of(const struct recorder *r, int64_t rows,
                             int64_t features) {
  return extent_sample(size_product(size_product(r->s.groups, rows), features),
                       WIDTH_NET);
}

/* A weight for each query, key and head. */
static struct extent scores_of(const struct recorder *r) {
  return rows_of(r, size_product(r->s.heads, r->s.queries), r->s.keys);
}

static size_t unary(const struct recorder *r, size_t in, struct operation op) {
  op.in = &in;
  op.in_count = 1;
  op.by_channel = !op.splits; /* heads are split between devices */
  return tape_run(r->tape, &op);
}

/* Rows of features, one group behind the other. */
static struct strides rows_strides(const struct recorder *r, int64_t rows,
                                   int64_t features) {
  const int64_t dim[3] = {r->s.groups, rows, features};
  return strides_dense(3, dim);
}

/* Heads first: rows of the features of each. */
static struct strides heads_strides(const struct recorder *r, int64_t rows,
                                    int64_t features) {
  const int64_t dim[4] = {r->s.groups, r->s.heads, rows, features};
  return strides_dense(4, dim);
}

/* The product with A has the rows of `seen`, as many columns as the rank. */
static size_t adapt(const struct recorder *r, const struct projection *p,
                    size_t in, size_t base, int64_t rows,
                    const struct strides *seen) {
  const struct lora *lora = &r->attention->lora;
  struct strides lies[2] = {*seen, *seen};
  if (r->tape->lowers)
    lies[0].dim[seen->rank - 1] = lora->rank;
  for (int i = 0; i < 2; i++)
    lies[i] = strides_dense(lies[i].rank, lies[i].dim);
  struct lora_step steps[2] = {
      {LOWERS(LINEAR, .out = &lies[0]), rows_of(r, rows, lora->rank), true},
      {LOWERS(LINEAR, .out = &lies[1]), rows_of(r, rows, p->out), true}};
  return lora_trace(r->tape, lora, in, base, steps, p->first + p->count);
}

/* The leading axes of what comes in are a batch, too. */
static size_t project(const struct recorder *r, int which, size_t in,
                      int64_t rows) {
  static const char *const names[] = {"query", "key", "value", "out"};
  const struct projection *p = &r->projections[which];
  struct strides seen = tape_strides(r->tape, in);
  if (r->tape->lowers)
    seen.dim[seen.rank - 1] = p->out;
  struct strides out = strides_dense(seen.rank, seen.dim);
  struct lowering does = {.opcode = DOES_LINEAR, .out = &out};
  size_t value = unary(r, tape_rows(r->tape, in),
                       (struct operation){.name = names[which],
                                          .does = &does,
                                          .out = rows_of(r, rows, p->out),
                                          .keeps = KEEPS_IN(0),
                                          .first_param = p->first,
                                          .param_count = p->count,
                                          .splits = true,
                                          .spares = true,
                                          .cast = CAST_LOW});
  if (p->adapted)
    value = adapt(r, p, in, value, rows, &seen);
  out = which == PROJECTION_OUT ? strides_of(&r->layer->out)
                                : rows_strides(r, rows, p->out);
  tape_see(r->tape, value, &out);
  return value;
}

/* Parts of a packed projection; their gradients are put together again. */
static size_t split(const struct recorder *r, size_t packed, int parts) {
  struct strides lies[3];
  int64_t offset = 0;
  for (int i = 0; i < parts; i++) {
    bool queries = parts == 3 && i == 0;
    lies[i] = tape_strides(r->tape, packed);
    lies[i].offset += offset;
    lies[i].dim[2] = queries ? r->s.width : r->s.kv_width;
    offset += lies[i].dim[2];
  }
  return unary(r, packed,
               (struct operation){.name = "split",
                                  .does = LOWERS(VIEW, .out = lies),
                                  .out = rows_of(r, r->s.keys, r->s.kv_width),
                                  .outs = parts,
                                  .result = RESULT_VIEW,
                                  .strided = true});
}

/* Queries, keys and values as [heads, positions, features]. */
static void project_all(const struct recorder *r, const size_t *in,
                        size_t qkv[3]) {
  bool cross = r->layer->input_count > 1;
  size_t seen = in[r->layer->input_count - 1];
  if (r->attention->packed && !cross) {
    size_t packed = project(r, PROJECTION_QUERY, in[0], r->s.queries);
    qkv[0] = split(r, packed, 3);
    qkv[1] = qkv[0] + 1;
    qkv[2] = qkv[0] + 2;
    r->tape->values.at[qkv[0]].extent = rows_of(r, r->s.queries, r->s.width);
  } else if (r->attention->packed) {
    qkv[0] = project(r, PROJECTION_QUERY, in[0], r->s.queries);
    qkv[1] = split(r, project(r, PROJECTION_KEY, seen, r->s.keys), 2);
    qkv[2] = qkv[1] + 1;
  } else {
    qkv[0] = project(r, PROJECTION_QUERY, in[0], r->s.queries);
    qkv[1] = project(r, PROJECTION_KEY, seen, r->s.keys);
    qkv[2] = project(r, PROJECTION_VALUE, seen, r->s.keys);
  }
}

/* Rows of features, each with its heads. */
static struct strides heads_of(const struct recorder *r,
                               const struct strides *rows) {
  return strides_split(rows, 2, rows->dim[2] / r->s.dim);
}

/* A framework has it of several operations, the runtime of one. */
static struct extent work_of(const struct recorder *r, struct extent extent) {
  return r->tape->lowers ? extent_fixed(0, extent.width) : extent;
}

/* Two products with sines and cosines, and their sum. */
static size_t rotate(const struct recorder *r, size_t in) {
  struct extent extent = r->tape->values.at[in].extent;
  struct strides lies = tape_strides(r->tape, in), heads = lies;
  if (r->tape->lowers)
    heads = heads_of(r, &lies);
  struct strides out = strides_dense(heads.rank, heads.dim);
  struct lowering does = {
      .opcode = DOES_ROPE, .in = &heads, .out = &out, .real = {10000}};
  lowering_add(&does, 0); /* Llama's pairs: halves of a head */
  size_t value = unary(r, in,
                       (struct operation){.name = "rope",
                                          .does = &does,
                                          .out = extent,
                                          .work = work_of(r, extent),
                                          .back_work = extent});
  out = strides_dense(lies.rank, lies.dim);
  tape_see(r->tape, value, &out);
  return value;
}

/*
 * torch.nn.MultiheadAttention packs its projections, copies their parts and
 * scales the queries; a causal model as GPT-2's scales the scores.
 */
static bool is_module(const struct recorder *r) {
  return r->attention->packed && !r->attention->causal;
}

/* Heads first, each of them as often as it serves others. */
static struct strides seen_by_heads(const struct recorder *r, size_t in) {
  struct strides lies = tape_strides(r->tape, in);
  if (!r->tape->lowers)
    return lies;
  int64_t heads = lies.dim[2] / r->s.dim;
  lies = heads_of(r, &lies);
  lies = strides_move(&lies, 2, 1);
  return heads == r->s.heads ? lies
                             : strides_insert(&lies, 2, r->s.heads / heads, 0);
}

/* Heads first: a copy, or one for every head that it serves. */
static size_t by_heads(const struct recorder *r, size_t in, int64_t rows) {
  bool repeats = r->s.kv != r->s.heads;
  struct strides from = seen_by_heads(r, in);
  struct strides to = strides_dense(from.rank, from.dim);
  struct strides out = heads_strides(r, rows, r->s.dim);
  size_t value =
      unary(r, in,
            (struct operation){
                .name = "heads",
                .does = LOWERS(COPY, .in = &from, .out = &to),
                .out = rows_of(r, rows, r->s.width),
                .view_of_one = !is_module(r) && !repeats && r->s.groups == 1,
                .gradient = repeats ? GRADIENT_NEW : GRADIENT_SHARED});
  if (from.rank > 4) /* copied for the heads that share it */
    tape_see(r->tape, value, &out);
  return value;
}

static size_t product(const struct recorder *r, size_t a, size_t b,
                      bool transposes, struct extent out) {
  size_t in[2] = {a, b};
  struct strides lies[2] = {tape_strides(r->tape, a), tape_strides(r->tape, b)};
  if (transposes)
    lies[1] = strides_move(&lies[1], 3, 2);
  struct strides to = heads_strides(r, r->s.queries, lies[1].dim[3]);
  struct lowering does = {.opcode = DOES_MATMUL, .in = lies, .out = &to};
  return tape_run(r->tape,
                  &(struct operation){.name = "matmul",
                                      .does = &does,
                                      .in = in,
                                      .in_count = 2,
                                      .by_channel = true,
                                      .out = out,
                                      .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                      .spares = true,
                                      .cast = CAST_LOW});
}

/* How far back and ahead a position sees; a window ends with it. */
static void lower_mask(const struct recorder *r, struct lowering *does) {
  const struct attention *a = r->attention;
  lowering_add(does, a->window ? a->window - 1 : -1);
  lowering_add(does, a->causal || a->window ? 0 : -1);
}

/* Hidden positions are filled in by a mask of its own for each layer. */
static size_t mask(const struct recorder *r, size_t scores) {
  if (!r->attention->causal && !r->attention->window)
    return scores;
  struct extent hidden =
      extent_fixed(size_product(r->s.queries, r->s.keys), WIDTH_BOOL);
  hidden.whole = true; /* it is that of all heads */
  struct lowering does = {.opcode = DOES_MASK};
  lower_mask(r, &does);
  return unary(r, scores,
               (struct operation){.name = "mask",
                                  .does = &does,
                                  .out = scores_of(r),
                                  .kept = {hidden},
                                  .elementwise = true});
}

static size_t add_relative(const struct recorder *r, size_t scores) {
  const struct projection *last = &r->projections[PROJECTION_OUT];
  const struct sizes *window = &r->attention->relative;
  struct lowering does = {.opcode = DOES_RELATIVE};
  lowering_add(&does, window->rank);
  if (!window->rank)
    return scores;
  for (int i = 0; i < window->rank; i++)
    lowering_add(&does, window->at[i]);
  struct extent bias = extent_fixed(
      size_product(size_product(r->s.heads, r->s.queries), r->s.keys),
      WIDTH_NET);
  return unary(r, scores,
               (struct operation){.name = "relative",
                                  .does = &does,
                                  .out = scores_of(r),
                                  .work = work_of(r, bias),
                                  .gradient = GRADIENT_SHARED,
                                  .back_work = bias,
                                  .elementwise = true,
                                  .first_param = last->first + last->count +
                                                 (last->adapted ? 2 : 0),
                                  .param_count = 1});
}

/* The features of all heads of a position again side by side. */
static size_t together(const struct recorder *r, size_t context,
                       struct extent unit) {
  struct strides lies = tape_strides(r->tape, context);
  struct strides from = strides_move(&lies, 1, 2);
  struct strides to = strides_dense(from.rank, from.dim);
  struct strides rows = rows_strides(r, r->s.queries, r->s.width);
  size_t value =
      unary(r, context,
            (struct operation){.name = "heads",
                               .does = LOWERS(COPY, .in = &from, .out = &to),
                               .out = unit,
                               .gradient = GRADIENT_SHARED});
  tape_see(r->tape, value, &rows);
  return value;
}

/* softmax(q k' / sqrt(d)) v with every step in memory. */
static size_t attend(const struct recorder *r, size_t q, size_t k, size_t v) {
  struct extent unit = rows_of(r, r->s.queries, r->s.width);
  struct extent scalar = extent_fixed(1, WIDTH_INDEX); /* a 64-bit real */
  q = by_heads(r, q, r->s.queries);
  k = by_heads(r, k, r->s.keys);
  if (is_module(r))
    v = by_heads(r, v, r->s.keys);
  struct lowering times = {.opcode = DOES_SCALE,
                           .real = {1 / sqrt((double)r->s.dim)}};
  struct operation scale = {.name = "scale",
                            .does = &times,
                            .out = unit,
                            .kept = {scalar},
                            .elementwise = true};
  if (is_module(r))
    q = unary(r, q, scale);
  size_t scores = product(r, q, k, true, scores_of(r));
  scale.out = scores_of(r);
  if (!is_module(r))
    scores = unary(r, scores, scale);
  scores = mask(r, add_relative(r, scores));
  size_t weights = unary(r, scores,
                         (struct operation){.name = "softmax",
                                            .does = LOWERS(SOFTMAX, 0),
                                            .out = scores_of(r),
                                            .keeps = KEEPS_OUT,
                                            .elementwise = true,
                                            .cast = CAST_FULL});
  struct extent drops = scores_of(r);
  drops.width = WIDTH_MASK;
  if (r->tape->training && r->attention->dropout > 0)
    weights =
        unary(r, weights,
              (struct operation){
                  .name = "dropout", .out = scores_of(r), .kept = {drops}});
  if (!is_module(r))
    v = by_heads(r, v, r->s.keys);
  size_t context = product(r, weights, v, false, unit);
  return together(r, context, unit);
}

/*
 * One kernel that keeps its inputs, its output, and the logarithm of each
 * row's sum in 32 bits (torch.nn.functional.scaled_dot_product_attention).
 */
static size_t attend_fused(const struct recorder *r, size_t q, size_t k,
                           size_t v) {
  size_t in[3] = {q, k, v};
  struct extent sums = rows_of(r, r->s.heads, r->s.queries);
  sums.width = WIDTH_F32;
  struct extent seed = extent_fixed(2, WIDTH_INDEX);
  seed.whole = true;
  struct strides lies[3];
  for (int i = 0; i < 3; i++) {
    lies[i] = tape_strides(r->tape, in[i]);
    if (r->tape->lowers)
      lies[i] = heads_of(r, &lies[i]);
  }
  struct strides out = rows_strides(r, r->s.queries, r->s.width);
  struct strides by_heads = heads_of(r, &out);
  struct lowering does = {.opcode = DOES_ATTENTION,
                          .in = lies,
                          .out = &by_heads,
                          .real = {1 / sqrt((double)r->s.dim)}};
  lower_mask(r, &does);
  size_t value = tape_run(
      r->tape, &(struct operation){.name = "attention",
                                   .does = &does,
                                   .in = in,
                                   .in_count = 3,
                                   .by_channel = true,
                                   .out = rows_of(r, r->s.queries, r->s.width),
                                   .keeps = KEEPS_IN(0) | KEEPS_IN(1) |
                                            KEEPS_IN(2) | KEEPS_OUT,
                                   .kept = {sums, seed},
                                   .back_work = sums,
                                   .cast = CAST_LOW});
  tape_see(r->tape, value, &out);
  return value;
}

size_t attention_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  struct recorder r = {.tape = tape,
                       .layer = layer,
                       .attention = layer->args,
                       .s = attention_sizes(layer)};
  size_t qkv[3], context;
  bool fused = r.attention->kernel ? r.attention->kernel == ATTENTION_FUSED
                                   : tape->profile->fused_attention &&
                                         !r.attention->relative.rank;
  attention_projections(layer, r.projections);
  project_all(&r, in, qkv);
  if (r.attention->rope) {
    qkv[0] = rotate(&r, qkv[0]);
    qkv[1] = rotate(&r, qkv[1]);
  }
  context = fused ? attend_fused(&r, qkv[0], qkv[1], qkv[2])
                  : attend(&r, qkv[0], qkv[1], qkv[2]);
  return project(&r, PROJECTION_OUT, context, r.s.queries);
}
