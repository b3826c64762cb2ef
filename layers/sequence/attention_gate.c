/* attention: output gates, and values that are keys or have their own size. */
#include <inttypes.h>

#include "layers/norm.h"
#include "layers/sequence/attention.h"
#include "layers/tape/lowering.h"

/* The first of the arguments here that is given; NULL: none. */
static const char *first_given(const struct attention *attention) {
  return attention->gate        ? "gate"
         : attention->vdim      ? "vdim"
         : attention->noqueries ? "noqueries"
         : attention->novalues  ? "novalues"
         : attention->vnorm     ? "vnorm"
                                : NULL;
}

static bool check_queries(const struct layer *layer,
                          const struct attention_sizes *s) {
  const struct attention *attention = layer->args;
  if (!attention->noqueries)
    return true;
  if (attention->gate == ATTENTION_GATE_CHANNELS)
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT, "gate",
                                "the gate is a part of the projection that "
                                "`noqueries` leaves out");
  return s->width == s->channels ||
         layer_refuse(layer, SHAPE_MISMATCH, "noqueries",
                      "the queries have %" PRId64 " channels, not %" PRId64
                      " of each of the %" PRId64 " heads",
                      s->channels, s->dim, s->heads);
}

static bool check_values(const struct layer *layer,
                         const struct attention_sizes *s) {
  const struct attention *attention = layer->args;
  if (attention->novalues && attention->values.name.length)
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT, "novalues",
                                "`values` names the source of values, but "
                                "`novalues` has no matrix for them");
  if (attention->shared && !attention->novalues)
    return layer_refuse_surplus(layer, MISSING_ARGUMENT, "shared",
                                "`shared` needs `novalues`: with a projection "
                                "of their own, values are not the keys");
  if (attention->shared && attention->vnorm)
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT, "vnorm",
                                "with `shared`, values are the keys, which "
                                "have a norm of their own");
  if (s->vdim == s->dim)
    return true;
  if (attention->novalues)
    return layer_refuse_surplus(
        layer, OUT_OF_RANGE, "vdim",
        "with `novalues`, values have the keys' %" PRId64 " features of a head",
        s->dim);
  if (attention->gate != ATTENTION_GATE_CHANNELS)
    return true;
  struct diagnostic *d =
      layer_fail(layer, OUT_OF_RANGE, "gate",
                 "the gate has the %" PRId64 " features of a head of queries, "
                 "but a head of values has %" PRId64,
                 s->dim, s->vdim);
  return diag_help(d, "`gate=heads` works with any `vdim`");
}

bool attention_check_parts(const struct layer *layer,
                           const struct attention_sizes *s) {
  const struct attention *attention = layer->args;
  const char *given = first_given(attention);
  const char *word = attention->packed               ? "packed"
                     : attention->views              ? "views"
                     : attention_is_joint(attention) ? "joint"
                                                     : NULL;
  if (!given || !word)
    return check_queries(layer, s) && check_values(layer, s);
  struct diagnostic *d =
      layer_fail(layer, OUT_OF_RANGE, given, "attention with `%s` has no `%s`",
                 word, given);
  layer_offer_omission(layer, d);
  return diag_help(d, "`%s` needs separate projections of one sequence", given);
}

/* A contiguous copy of a part of every head, for a plan. */
static size_t copy_part(const struct attention_recorder *r, const char *name,
                        size_t both, int64_t offset) {
  struct strides lies = tape_strides(r->tape, both);
  struct strides from = strides_split(&lies, 2, r->s.heads);
  struct strides rows = attention_strides(r, r->s.queries, r->s.width);
  from.dim[3] = r->s.dim;
  from.offset += offset;
  struct strides to = strides_dense(from.rank, from.dim);
  size_t value = attention_unary(
      r, both,
      (struct operation){.name = name,
                         .does = LOWERS(COPY, .in = &from, .out = &to),
                         .out = attention_rows(r, r->s.queries, r->s.width)});
  tape_see(r->tape, value, &rows);
  return value;
}

/* Each head has its queries first, then its gate. The gate is reshaped, which
 * copies it; queries stay a view (Qwen3NextAttention of transformers). */
void attention_part_gate(const struct attention_recorder *r, size_t both,
                         size_t *queries, size_t *gate) {
  struct extent part = attention_rows(r, r->s.queries, r->s.width);
  if (r->tape->lowers) {
    *queries = copy_part(r, "queries", both, 0);
    *gate = copy_part(r, "gate", both, r->s.dim);
    return;
  }
  *queries = attention_unary(r, both,
                             (struct operation){.name = "split",
                                                .out = part,
                                                .outs = 2,
                                                .result = RESULT_VIEW,
                                                .layout = LAYOUT_APART});
  *gate = attention_unary(
      r, *queries + 1,
      (struct operation){.name = "gate",
                         .out = part,
                         .result = r->s.heads == 1 ? RESULT_VIEW : RESULT_NEW,
                         .gradient = GRADIENT_SHARED});
}

size_t attention_project_gate(const struct attention_recorder *r, size_t in) {
  struct strides seen = tape_strides(r->tape, in);
  if (r->tape->lowers)
    seen.dim[seen.rank - 1] = r->s.heads;
  struct strides out = strides_dense(seen.rank, seen.dim);
  enum row_order order;
  size_t from = tape_rows(r->tape, in, &order);
  size_t value = attention_unary(
      r, from,
      (struct operation){.name = "gate",
                         .does = LOWERS(LINEAR, .out = &out),
                         .out = attention_rows(r, r->s.queries, r->s.heads),
                         .keeps = KEEPS_IN(0),
                         .rows = order,
                         .layout = LAYOUT_ROWS,
                         .first_param = r->places.gate,
                         .param_count = 1,
                         .splits = true,
                         .guarded = true,
                         .cast = CAST_LOW});
  out = attention_strides(r, r->s.queries, r->s.heads);
  tape_see(r->tape, value, &out);
  return value;
}

size_t attention_gate(const struct attention_recorder *r, size_t context,
                      size_t gate) {
  bool heads = r->attention->gate == ATTENTION_GATE_HEADS;
  struct strides rows = attention_strides(r, r->s.queries, r->s.value_width);
  size_t pair[2] = {
      context,
      attention_unary(r, gate,
                      (struct operation){.name = "sigmoid",
                                         .does = LOWERS(SIGMOID, 0),
                                         .out = *tape_extent(r->tape, gate),
                                         .keeps = KEEPS_OUT,
                                         .elementwise = true})};
  struct strides lies[2] = {tape_strides(r->tape, pair[0]),
                            tape_strides(r->tape, pair[1])};
  struct strides out = rows;
  if (heads && r->tape->lowers) {
    lies[0] = attention_heads(&lies[0], r->s.vdim);
    lies[1] = strides_insert(&lies[1], 3, r->s.vdim, 0);
    out = attention_heads(&rows, r->s.vdim);
  }
  struct lowering does = {.opcode = DOES_MUL, .in = lies, .out = &out};
  size_t value = tape_run(
      r->tape, &(struct operation){
                   .name = "gated",
                   .does = &does,
                   .in = pair,
                   .in_count = 2,
                   .out = attention_rows(r, r->s.queries, r->s.value_width),
                   .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                   .guarded = true,
                   .reduces = heads,
                   .by_channel = true,
                   .elementwise = true});
  tape_see(r->tape, value, &rows);
  return value;
}

size_t attention_normalise_values(const struct attention_recorder *r,
                                  size_t values) {
  struct extent extent = *tape_extent(r->tape, values);
  struct strides lies = tape_strides(r->tape, values), heads = lies;
  if (r->tape->lowers)
    heads = attention_heads(&lies, r->s.vdim);
  struct strides out = strides_dense(heads.rank, heads.dim);
  struct lowering does = {
      .opcode = DOES_RMSNORM, .in = &heads, .out = &out, .real = {1e-6}};
  size_t value = norm_rms(
      r->tape, values,
      (struct operation){
          .name = "norm", .does = &does, .out = extent, .by_channel = true},
      extent.count / r->s.vdim, -1);
  out = strides_dense(lies.rank, lies.dim);
  tape_see(r->tape, value, &out);
  return value;
}
