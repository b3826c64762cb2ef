/* attention: scores, with every step in memory. */
#include "layers/sequence/attention.h"
#include "layers/tape/lowering.h"

/* A weight for each query, key and head. */
static struct extent scores_of(const struct attention_recorder *r) {
  struct extent scores =
      attention_rows(r, size_product(r->s.heads, r->s.queries), r->s.keys);
  scores.meets = !attention_keys(r->attention) && r->s.groups == 1;
  return scores;
}

/* Strides with heads first. */
static struct strides heads_strides(const struct attention_recorder *r,
                                    int64_t rows, int64_t features) {
  const int64_t dim[4] = {r->s.groups, r->s.heads, rows, features};
  return strides_dense(4, dim);
}

/*
 * torch.nn.MultiheadAttention packs its projections, copies their parts and
 * scales the queries. Causal models such as GPT-2 scale the scores.
 */
static bool scales_queries(const struct attention_recorder *r) {
  bool module = r->attention->sbhd && !r->attention->rope;
  return r->attention->packed && !r->attention->views &&
         (!r->attention->causal || module) && !attention_is_joint(r->attention);
}

/* True for torch.nn.MultiheadAttention, which has no rope. */
static bool is_module(const struct attention_recorder *r) {
  return scales_queries(r) && !r->attention->rope;
}

bool attention_copies_whole(const struct attention_recorder *r) {
  return is_module(r) && r->attention->sbhd &&
         r->tape->profile->fused_attention && !r->tape->lowers;
}

/* Strides with heads first, with a head repeated for each
 * query head it serves. */
static struct strides seen_by_heads(const struct attention_recorder *r,
                                    size_t in, int64_t dim) {
  struct strides lies = tape_strides(r->tape, in);
  if (!r->tape->lowers || lies.rank == 4) /* heads are first already */
    return lies;
  int64_t heads = lies.dim[2] / dim;
  lies = attention_heads(&lies, dim);
  lies = strides_move(&lies, 2, 1);
  if (heads == 1 && r->s.heads > 1) { /* one head for all queries, expanded */
    lies.dim[1] = r->s.heads;
    lies.stride[1] = 0;
    heads = r->s.heads;
  }
  return heads == r->s.heads ? lies
                             : strides_insert(&lies, 2, r->s.heads / heads, 0);
}

/* A view if a transpose to heads first keeps the order of values:
 * one head, or one row. */
static enum result moved(const struct attention_recorder *r, bool one_row) {
  bool stays = (r->s.heads == 1 || one_row) && r->s.groups == 1;
  return stays && !r->tape->lowers ? RESULT_VIEW : RESULT_NEW;
}

size_t attention_repeat(const struct attention_recorder *r, size_t in,
                        int64_t dim) {
  if (r->tape->lowers || r->s.kv == r->s.heads)
    return in;
  return attention_unary(
      r, in,
      (struct operation){.name = "repeat",
                         .out = attention_rows(r, r->s.keys, r->s.heads * dim),
                         .result = r->s.kv == 1 ? RESULT_VIEW : RESULT_NEW});
}

/* Puts heads first: a copy, unless they are first already. */
static size_t by_heads(const struct attention_recorder *r, size_t in,
                       int64_t rows, int64_t dim) {
  bool repeats = r->tape->lowers && r->s.kv != r->s.heads;
  struct strides from = seen_by_heads(r, in, dim);
  struct strides to = strides_dense(from.rank, from.dim);
  struct strides out = heads_strides(r, rows, dim);
  /* The module calls contiguous(): samples and heads of a packed row do not
   * merge to one axis. At a batch of 1 the row is contiguous. */
  bool one_row = rows == 1 && !attention_is_packed(r->attention);
  bool of_one = is_module(r) ? rows == 1 : !repeats || r->s.kv == 1;
  size_t value = attention_unary(
      r, in,
      (struct operation){.name = "heads",
                         .does = LOWERS(COPY, .in = &from, .out = &to),
                         .out = attention_rows(r, rows, r->s.heads * dim),
                         .result = attention_copies_whole(r) ? RESULT_VIEW
                                   : is_module(r)            ? RESULT_NEW
                                                  : moved(r, one_row),
                         .view_of_one = of_one && r->s.groups == 1,
                         .gradient = repeats ? GRADIENT_NEW : GRADIENT_SHARED});
  if (from.rank > 4) /* copied for the query heads that share it */
    tape_see(r->tape, value, &out);
  return value;
}

/*
 * matmul copies operands whose samples and heads do not merge to one axis. Its
 * arguments, the `held`, stay in memory until it returns.
 */
static size_t product(const struct attention_recorder *r, size_t a, size_t b,
                      bool transposes, struct extent out,
                      const size_t held[2]) {
  size_t in[4] = {a, b, held[0], held[1]};
  int more = r->tape->lowers ? 0 : 2;
  struct strides lies[2] = {tape_strides(r->tape, a), tape_strides(r->tape, b)};
  if (transposes)
    lies[1] = strides_move(&lies[1], 3, 2);
  struct strides to = heads_strides(r, r->s.queries, lies[1].dim[3]);
  struct lowering does = {.opcode = DOES_MATMUL, .in = lies, .out = &to};
  return tape_run(r->tape,
                  &(struct operation){
                      .name = "matmul",
                      .does = &does,
                      .in = in,
                      .in_count = 2 + more,
                      .held = more,
                      .by_channel = true,
                      .out = out,
                      .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                      .guarded = true,
                      .attends = true,
                      .macs = size_product(scores_of(r).count,
                                           transposes ? r->s.dim : r->s.vdim),
                      .cast = CAST_LOW});
}

/*
 * Masks hidden positions. Each layer makes a mask of its own; a server makes
 * one for each sequence.
 */
static size_t mask(const struct attention_recorder *r, size_t scores) {
  if (!r->attention->causal && !r->attention->window && !r->chooses)
    return scores;
  if (is_module(r) && r->attention->sbhd && !r->tape->lowers) /* of baddbmm */
    return scores;
  int64_t pairs = size_product(r->s.queries, r->s.keys);
  struct extent hidden = r->chooses ? extent_sample(pairs, WIDTH_BOOL)
                                    : extent_fixed(pairs, WIDTH_BOOL);
  hidden.whole = true; /* shared by all heads */
  hidden.meets = scores_of(r).meets;
  struct lowering does = {.opcode = DOES_MASK};
  attention_lower_mask(r, &does);
  struct operation op = {.name = "mask",
                         .does = &does,
                         .out = scores_of(r),
                         .elementwise = !r->attention->talking};
  tape_makes(r->tape, &op, hidden);
  return attention_unary(r, scores, op);
}

static size_t add_relative(const struct attention_recorder *r, size_t scores) {
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
  return attention_unary(r, scores,
                         (struct operation){.name = "relative",
                                            .does = &does,
                                            .out = scores_of(r),
                                            .work = attention_work(r, bias),
                                            .gradient = GRADIENT_SHARED,
                                            .back_work = bias,
                                            .elementwise = true,
                                            .first_param = r->places.relative,
                                            .param_count = 1});
}

/*
 * Adds -100 where two positions of a window come from opposite edges of the
 * map, with a mask for each window (torchvision/models/swin_transformer.py).
 */
static size_t part_edges(const struct attention_recorder *r, size_t scores) {
  const struct sizes *window = &r->attention->relative;
  const struct shape *grid = r->layer->in[0];
  struct lowering does = {.opcode = DOES_SHIFTED};
  lowering_add(&does, window->rank);
  if (!attention_is_shifted(r->attention))
    return scores;
  for (int i = 0; i < window->rank; i++) {
    lowering_add(&does, window->at[i]);
    lowering_add(&does, grid->dim[i]);
    lowering_add(&does, size_at(&r->attention->shift, i, 0));
  }
  struct extent made = extent_fixed(
      size_product(size_product(r->s.groups, r->s.queries), r->s.keys),
      WIDTH_NET);
  made.whole = true; /* shared by all heads */
  return attention_unary(r, scores,
                         (struct operation){.name = "mask",
                                            .does = &does,
                                            .out = scores_of(r),
                                            .work = attention_work(r, made),
                                            .gradient = GRADIENT_SHARED,
                                            .elementwise = true});
}

/* Contiguous strides of a mask: groups x heads x queries x
 * keys, or 1 for each. */
static struct strides mask_strides(const struct attention_recorder *r) {
  const struct shape *mask = r->layer->in[attention_mask(r->attention)];
  int64_t dim[4] = {1, 1, 1, 1};
  for (int i = 0; i < mask->rank; i++) {
    int at = i + 4 - mask->rank;
    dim[at < 0 ? 0 : at] *= mask->dim[i];
  }
  return strides_dense(4, dim);
}

/* Adds the mask's tensor, broadcast to the scores. */
static size_t add_mask(const struct attention_recorder *r, size_t scores) {
  int input = attention_mask(r->attention);
  if (!input)
    return scores;
  size_t pair[2] = {scores,
                    r->tape->lowers ? tape_dense(r->tape, r->mask) : r->mask};
  struct strides out = heads_strides(r, r->s.queries, r->s.keys), lies[2];
  for (int i = 0; i < 2; i++)
    lies[i] = tape_strides(r->tape, pair[i]);
  if (r->tape->lowers) {
    struct strides seen = mask_strides(r);
    seen.offset = lies[1].offset;
    lies[1] = strides_spread(&seen, &out);
  }
  struct lowering does = {.opcode = DOES_ADD, .in = lies, .out = &out};
  return tape_run(r->tape, &(struct operation){.name = "mask",
                                               .does = &does,
                                               .in = pair,
                                               .in_count = 2,
                                               .out = scores_of(r),
                                               .by_channel = true,
                                               .elementwise = true,
                                               .gradient = GRADIENT_SHARED,
                                               .reduces = true});
}

size_t attention_together(const struct attention_recorder *r, size_t context,
                          struct extent unit, bool view_of_one) {
  struct strides lies = tape_strides(r->tape, context);
  struct strides from = strides_move(&lies, 1, 2);
  struct strides to = strides_dense(from.rank, from.dim);
  struct strides rows = attention_strides(r, r->s.queries, r->s.value_width);
  size_t value = attention_unary(
      r, context,
      (struct operation){.name = "heads",
                         .does = LOWERS(COPY, .in = &from, .out = &to),
                         .out = unit,
                         .result = r->attention->sbhd
                                       ? RESULT_NEW
                                       : moved(r, r->s.queries == 1),
                         .view_of_one = view_of_one,
                         .gradient = GRADIENT_SHARED});
  tape_see(r->tape, value, &rows);
  return value;
}

static size_t times(const struct attention_recorder *r, size_t in,
                    double factor) {
  struct lowering does = {.opcode = DOES_SCALE, .real = {factor}};
  struct extent number = tape_number(r->tape);
  if (r->math)
    number.count = 0;
  return attention_unary(r, in,
                         (struct operation){.name = "scale",
                                            .does = &does,
                                            .out = *tape_extent(r->tape, in),
                                            .kept = {number},
                                            .elementwise = true});
}

/* softcap * tanh(scores / softcap) */
static size_t cap(const struct attention_recorder *r, size_t scores) {
  double most = r->attention->softcap;
  if (most <= 0)
    return scores;
  scores = times(r, scores, 1 / most);
  scores = attention_unary(r, scores,
                           (struct operation){.name = "tanh",
                                              .does = LOWERS(TANH, 0),
                                              .out = scores_of(r),
                                              .keeps = KEEPS_OUT,
                                              .elementwise = true});
  return times(r, scores, most);
}

/*
 * Transposes scores: a contiguous copy, or a view at a batch of 1. `cut`: a
 * slice of longer rows, which has to be copied to be a matrix.
 */
static size_t turn(const struct attention_recorder *r, size_t scores,
                   const struct strides *from, bool cut) {
  struct strides to = strides_dense(from->rank, from->dim);
  bool one = r->s.queries == 1 && r->s.keys == 1;
  return attention_unary(
      r, scores,
      (struct operation){.name = "heads",
                         .does = LOWERS(COPY, .in = from, .out = &to),
                         .out = scores_of(r),
                         .result = cut ? RESULT_NEW : moved(r, one),
                         .view_of_one = !cut && r->s.groups == 1,
                         .gradient = GRADIENT_SHARED});
}

/*
 * A dense layer over the heads of each pair of positions, for which these are
 * moved to the end (timm/models/cait.py).
 */
static size_t talk(const struct attention_recorder *r, size_t scores,
                   int which) {
  struct strides lies = tape_strides(r->tape, scores);
  if (!r->attention->talking)
    return scores;
  if (r->tape->lowers)
    lies = strides_move(&lies, 1, 3);
  size_t turned =
      turn(r, scores, &lies, which && r->attention->sinks && !r->tape->lowers);
  struct strides out = strides_dense(lies.rank, lies.dim);
  size_t value =
      attention_unary(r, turned,
                      (struct operation){.name = "talk",
                                         .does = LOWERS(LINEAR, .out = &out),
                                         .out = scores_of(r),
                                         .keeps = KEEPS_IN(0),
                                         .first_param = r->places.talk[which],
                                         .param_count = 2,
                                         .guarded = true,
                                         .cast = CAST_LOW});
  if (r->tape->lowers)
    out = strides_move(&out, 3, 1);
  tape_see(r->tape, value, &out);
  return value;
}

/* Weights in the layout that the product with values needs. */
static size_t turn_back(const struct attention_recorder *r, size_t weights) {
  struct strides lies = tape_strides(r->tape, weights);
  return r->attention->talking ? turn(r, weights, &lies, false) : weights;
}

/* Appends the score of its head to each row. */
static size_t add_sinks(const struct attention_recorder *r, size_t scores,
                        struct extent wider) {
  size_t pair[2] = {scores};
  struct strides lies[2] = {tape_strides(r->tape, scores)};
  struct strides out = heads_strides(r, r->s.queries, r->s.keys + 1);
  struct lowering does = {.opcode = DOES_CONCAT, .in = lies, .out = &out};
  lowering_add(&does, 4); /* the last axis; axis 0 is the batch */
  if (r->tape->lowers) {
    pair[1] = tape_parameter(r->tape, r->places.sinks);
    lies[1] = heads_strides(r, r->s.queries, 1);
    for (int i = 0; i < 4; i++)
      lies[1].stride[i] = i == 1;
  }
  return tape_run(r->tape,
                  &(struct operation){.name = "sinks",
                                      .does = &does,
                                      .in = pair,
                                      .in_count = r->tape->lowers ? 2 : 1,
                                      .out = wider,
                                      .gradient = GRADIENT_SHARED,
                                      .first_param = r->places.sinks,
                                      .param_count = !r->tape->lowers});
}

/* x - x.max(): keeps the index of the maximum. */
static size_t shift(const struct attention_recorder *r, size_t scores,
                    struct extent wider) {
  struct extent rows = attention_rows(r, r->s.heads, r->s.queries);
  struct extent places = rows;
  struct operation op = {.name = "max", .out = rows};
  places.width = WIDTH_INDEX;
  if (r->tape->lowers) /* included in softmax */
    return scores;
  tape_makes(r->tape, &op, places);
  size_t pair[2] = {scores, attention_unary(r, scores, op)};
  return tape_run(r->tape, &(struct operation){.name = "shift",
                                               .in = pair,
                                               .in_count = 2,
                                               .by_channel = true,
                                               .out = wider,
                                               .elementwise = true,
                                               .gradient = GRADIENT_FIRST,
                                               .reduces = true});
}

/* True if softmax has 32 bits in a net of 16. */
static bool widens(const struct attention_recorder *r) {
  return r->tape->attention == TAPE_EAGER && !r->attention->kernel &&
         r->tape->half && !r->tape->mixed && !r->tape->lowers;
}

/* exp(score) / sum of a row. The weights of sinks are dropped. */
static size_t soften(const struct attention_recorder *r, size_t scores) {
  struct extent all = scores_of(r);
  struct strides own = heads_strides(r, r->s.queries, r->s.keys);
  if (r->attention->sinks) {
    all = attention_rows(r, size_product(r->s.heads, r->s.queries),
                         r->s.keys + 1); /* less than the input's values */
    scores = shift(r, add_sinks(r, scores, all), all);
    for (int i = 0; i < 3; i++)
      own.stride[i] += own.stride[i] / r->s.keys;
  }
  struct extent soft = all;
  if (widens(r))
    soft.width = WIDTH_F32;
  size_t weights =
      attention_unary(r, scores,
                      (struct operation){.name = "softmax",
                                         .does = LOWERS(SOFTMAX, 0),
                                         .out = soft,
                                         .keeps = softmax_keeps(r->tape),
                                         .elementwise = !r->attention->talking,
                                         .cast = CAST_FULL});
  if (widens(r))
    weights = attention_unary(
        r, weights,
        (struct operation){.name = "cast", .out = all, .always_makes = true});
  if (!r->attention->sinks)
    return weights;
  return attention_unary(r, weights,
                         (struct operation){.name = "slice",
                                            .does = LOWERS(VIEW, .out = &own),
                                            .out = scores_of(r),
                                            .result = RESULT_VIEW});
}

/* The tensor that is divided by the root of a head's features. */
static int scaled(const struct attention_recorder *r) {
  if (r->attention->scale)
    return r->attention->scale;
  return scales_queries(r) ? ATTENTION_QUERIES : ATTENTION_SCORES;
}

static size_t drop(const struct attention_recorder *r, size_t weights) {
  struct extent drops = scores_of(r);
  drops.width = WIDTH_MASK;
  if (!r->tape->training || r->attention->dropout <= 0)
    return weights;
  return attention_unary(r, weights,
                         (struct operation){.name = "dropout",
                                            .out = scores_of(r),
                                            .kept = {drops}});
}

/* True if it already has heads first: it was copied for several heads, or
 * concatenated, for example by rope of a part. */
static bool lie_first(const struct attention_recorder *r, int which) {
  if (r->tape->lowers)
    return false;
  if (which != PROJECTION_QUERY && r->s.kv != r->s.heads)
    return r->s.kv != 1;
  return attention_is_joint(r->attention) ||
         (which != PROJECTION_VALUE && attention_turns_part(r));
}

size_t attention_weigh(const struct attention_recorder *r, size_t q, size_t k,
                       size_t v) {
  struct extent unit = attention_rows(r, r->s.queries, r->s.value_width);
  r->tape->core = true;
  size_t scores = product(r, q, k, true, scores_of(r), (size_t[]){q, k});
  if (scaled(r) == ATTENTION_SCORES && !r->math)
    scores = times(r, scores, r->factor);
  scores = talk(r, cap(r, scores), 0);
  scores = add_mask(r, mask(r, part_edges(r, add_relative(r, scores))));
  size_t weights = drop(r, talk(r, soften(r, scores), 1));
  size_t seen = v;
  if (!is_module(r) && !lie_first(r, PROJECTION_VALUE))
    v = by_heads(r, v, r->s.keys, r->s.vdim);
  size_t context = product(r, turn_back(r, weights), v, false, unit,
                           (size_t[]){seen, weights});
  context = attention_together(r, context, unit, false);
  r->tape->core = false;
  return context;
}

size_t attention_step_by_step(const struct attention_recorder *r, size_t q,
                              size_t k, size_t v) {
  bool queries = scaled(r) == ATTENTION_QUERIES || r->math;
  r->tape->core = true;
  k = attention_repeat(r, k, r->s.dim);
  v = attention_repeat(r, v, r->s.vdim);
  r->tape->core = false;
  if (queries && !is_module(r))
    q = times(r, q, r->factor);
  r->tape->core = true;
  if (!lie_first(r, PROJECTION_QUERY))
    q = by_heads(r, q, r->s.queries, r->s.dim);
  if (!lie_first(r, PROJECTION_KEY))
    k = by_heads(r, k, r->s.keys, r->s.dim);
  if (is_module(r))
    v = by_heads(r, v, r->s.keys, r->s.vdim);
  if (queries && is_module(r))
    q = times(r, q, r->factor);
  if (r->math)
    k = times(r, k, 1);
  return attention_weigh(r, q, k, v);
}
