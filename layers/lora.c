/* lora: two narrow trained matrices beside frozen weights. */
#include "layers/lora.h"

#include "base/check.h"
#include "layers/tape/lowering.h"

bool lora_check(const struct layer *layer, const struct lora *lora) {
  const char *said = lora->alpha != 0     ? "lora_alpha"
                     : lora->dropout != 0 ? "lora_dropout"
                     : lora->dora         ? "dora"
                     : lora->type         ? "lora_dtype"
                                          : NULL;
  if (lora->type && lora->dora)
    return layer_refuse_surplus(layer, OUT_OF_RANGE, "lora_dtype",
                                "`lora_dtype` does not support `dora`");
  if (lora->rank || !said)
    return true;
  struct diagnostic *d =
      layer_fail(layer, MISSING_ARGUMENT, said, "`%s` needs a rank", said);
  layer_offer_omission(layer, d);
  return diag_help(d, "`lora=8` is a rank of 8");
}

int lora_count(const struct lora *lora) {
  return lora->rank == 0 ? 0 : lora->dora ? 3 : 2;
}

static const char *name_of(struct params *params, const char *prefix,
                           const char *name) {
  struct text text = text_new(params->arena);
  text_printf(&text, "%s%s", prefix, name);
  return arena_copy(params->arena, text.at, text.length);
}

struct slice lora_type(const struct lora *lora) {
  return lora->type ? word_at(LORA_TYPES, lora->type) : (struct slice){0};
}

static void add_matrix(struct params *params, int64_t in, int64_t out,
                       const struct lora *lora, const char *name) {
  params_add(params, (struct param){.name = name,
                                    .rank = 2,
                                    .dim = {in, out},
                                    .adapter = true,
                                    .type = lora_type(lora),
                                    .order = FILE_OUT_FIRST,
                                    .spread = spread_linear(in)});
}

static double factor_of(const struct lora *lora) {
  return lora->alpha != 0 ? lora->alpha / (double)lora->rank : 1;
}

void lora_fold(struct params *params, const struct lora *lora,
               enum computed how, size_t weight) {
  int count = how == WEIGHTS_DORA ? 3 : 2;
  struct param *to = &params->all.at[weight];
  to->computed = how;
  to->factor = factor_of(lora);
  for (int i = 0; i < count; i++) {
    size_t at = params->all.count - (size_t)(count - i);
    to->parts[i] = (int)(at - weight);
    params->all.at[at].part = true;
  }
}

void lora_params(struct params *params, int64_t in, int64_t out,
                 const struct lora *lora, size_t weight, const char *prefix) {
  add_matrix(params, in, lora->rank, lora,
             name_of(params, prefix, "lora_A.weight"));
  add_matrix(params, lora->rank, out, lora,
             name_of(params, prefix, "lora_B.weight"));
  if (!lora->dora)
    return;
  params_add(params,
             (struct param){.name = name_of(params, prefix, LORA_LENGTHS),
                            .rank = 1,
                            .dim = {out},
                            .adapter = true,
                            .type = lora_type(lora),
                            .center = 1,
                            .spread = 0.5});
  lora_fold(params, lora, WEIGHTS_DORA, weight);
}

void lora_padded_params(struct params *params, int64_t in, int64_t out,
                        const struct lora *lora, size_t weight) {
  add_matrix(params, in, size_product(lora->rank, 2), lora,
             name_of(params, "", "lora_A"));
  add_matrix(params, lora->rank, out, lora, name_of(params, "", "lora_B"));
  lora_fold(params, lora, WEIGHTS_PADDED, weight);
}

static size_t drop(struct tape *tape, const struct lora *lora, size_t in) {
  struct extent mask = *tape_extent(tape, in);
  mask.width = WIDTH_MASK;
  if (!tape->training || lora->dropout == 0)
    return in;
  return tape_run_on(tape, in,
                     (struct operation){.name = "lora_dropout",
                                        .out = *tape_extent(tape, in),
                                        .elementwise = true,
                                        .by_channel = true,
                                        .kept = {mask},
                                        .always_makes = true});
}

static size_t multiply(struct tape *tape, const char *name, size_t in,
                       const struct lora_step *step, int param) {
  enum row_order order = ROWS_TOGETHER;
  size_t from = step->rows ? tape_rows(tape, in, &order) : in;
  return tape_run_on(
      tape, from,
      (struct operation){.name = name,
                         .does = step->does,
                         .out = step->out,
                         .keeps = KEEPS_IN(0),
                         .first_param = param,
                         .param_count = 1,
                         .splits = true,
                         .rows = order,
                         .by_rows = step->several,
                         .plain = step->plain,
                         .layout = step->rows ? LAYOUT_ROWS : LAYOUT_AS_INPUT,
                         .guarded = step->rows,
                         .cast = CAST_LOW});
}

/* B A x. */
static size_t both(struct tape *tape, const struct lora_site *site, size_t in) {
  size_t narrow = multiply(tape, "lora_A", in, &site->steps[0], site->first);
  return multiply(tape, "lora_B", narrow, &site->steps[1], site->first + 1);
}

/*
 * `index_copy` into zeros, from rows in the order of positions. It keeps the
 * rows and a new tensor with the indices of their features.
 */
static size_t pad(struct tape *tape, const struct lora_site *site, size_t in) {
  size_t rows = tape_run_on(tape, in,
                            (struct operation){.name = "lora_rows",
                                               .out = site->steps[1].out,
                                               .view_of_one = true,
                                               .gradient = GRADIENT_SHARED});
  return tape_run_on(
      tape, rows,
      (struct operation){.name = "lora_pad",
                         .out = site->padded,
                         .keeps = KEEPS_IN(0),
                         .kept = {extent_fixed(site->kept_out, WIDTH_INDEX)},
                         .work = site->padded});
}

static struct extent out_of(const struct lora_site *site) {
  return site->padded.count ? site->padded : site->steps[1].out;
}

static size_t times(struct tape *tape, const struct lora *lora,
                    const struct lora_site *site, size_t in) {
  struct lowering does = {.opcode = DOES_SCALE, .real = {factor_of(lora)}};
  return tape_run_on(tape, in,
                     (struct operation){.name = "lora_scale",
                                        .does = &does,
                                        .out = out_of(site),
                                        .kept = {tape_number(tape)},
                                        .elementwise = true,
                                        .by_channel = true});
}

/* a + b with the strides of `a`; `held` values stay in memory until then. */
static size_t plus(struct tape *tape, const struct lora_site *site, size_t a,
                   size_t b, const size_t *held, int held_count) {
  size_t in[7] = {a, b};
  struct strides out = tape_strides(tape, a);
  struct strides lies[2] = {out, tape_strides(tape, b)};
  for (int i = 0; i < held_count; i++)
    in[2 + i] = held[i];
  return tape_run(
      tape, &(struct operation){.name = "lora_add",
                                .does = LOWERS(ADD, .in = lies, .out = &out),
                                .in = in,
                                .in_count = 2 + held_count,
                                .held = held_count,
                                .out = out_of(site),
                                .gradient = GRADIENT_SHARED,
                                .elementwise = true,
                                .by_channel = true});
}

/* dora: lengths of the outputs' weights, and the factors computed from them. */

/* An operation on one value; the result has `count` values for all samples. */
static size_t fixed(struct tape *tape, const char *name, size_t in,
                    int64_t count, struct operation op) {
  op.name = name;
  op.in = &in;
  op.in_count = 1;
  op.out = extent_fixed(count, WIDTH_NET);
  return tape_run(tape, &op);
}

/*
 * The product B A without a gradient. A dense layer computes it by applying A
 * and B to a unit matrix; a convolution multiplies the kernels. Puts the
 * product and its intermediates in `made`, which Python's frame holds until the
 * layer is done; returns their number.
 */
static int product_of(struct tape *tape, const struct lora *lora,
                      const struct lora_site *site, size_t in, size_t *made) {
  struct operation aside = {.held = 1}, step = {0};
  int count = 1;
  if (site->steps[0].rows) {
    made[1] =
        fixed(tape, "dora_unit", in, size_product(site->in, site->in), aside);
    in = made[2] = fixed(tape, "dora_low", made[1],
                         size_product(site->in, lora->rank), step);
    count = 3;
  }
  made[0] = fixed(tape, "dora_product", in, size_product(site->in, site->out),
                  count > 1 ? step : aside);
  return count;
}

/* s: m / |W + alpha / rank * B A|. */
static size_t factors_of(struct tape *tape, const struct lora_site *site,
                         size_t product) {
  int64_t count = size_product(site->in, site->out);
  size_t grown =
      fixed(tape, "dora_factor", product, count, (struct operation){0});
  size_t sum =
      fixed(tape, "dora_sum", grown, count,
            (struct operation){
                .first_param = site->weight, .param_count = 1, .splits = true});
  size_t length =
      fixed(tape, "dora_length", sum, site->out, (struct operation){0});
  return fixed(tape, "dora_divide", length, site->out,
               (struct operation){.keeps = KEEPS_IN(0),
                                  .first_param = site->first + 2,
                                  .param_count = 1});
}

/* Multiplies each output by its factor. */
static size_t scaled(struct tape *tape, const struct lora_site *site, size_t in,
                     size_t factors) {
  size_t pair[2] = {in, factors};
  return tape_run(tape, &(struct operation){.name = "dora_scale",
                                            .in = pair,
                                            .in_count = 2,
                                            .out = site->steps[1].out,
                                            .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                            .guarded = true,
                                            .reduces = true,
                                            .elementwise = true,
                                            .by_channel = true});
}

/* W x: `base` without the bias, or another product if x had dropout. */
static size_t plain(struct tape *tape, const struct lora_site *site, size_t in,
                    size_t base, bool dropped) {
  struct lora_step once = {.out = site->steps[1].out,
                           .rows = site->steps[1].rows};
  if (dropped)
    return multiply(tape, "dora_base", in, &once, site->weight);
  if (site->first == site->weight + 1)
    return base;
  return tape_run_on(tape, base,
                     (struct operation){.name = "dora_bias",
                                        .out = site->steps[1].out,
                                        .gradient = GRADIENT_SHARED,
                                        .elementwise = true,
                                        .by_channel = true});
}

/* base + (s - 1) W x + s * alpha / rank * B A x */
static size_t dora_trace(struct tape *tape, const struct lora *lora, size_t in,
                         size_t base, const struct lora_site *site) {
  size_t from = drop(tape, lora, in);
  size_t made[5];
  int count = product_of(tape, lora, site, from, made);
  made[count] = in; /* the layer's caller holds it, too */
  made[count + 1] = from;
  size_t factors = factors_of(tape, site, made[0]);
  bool rows = site->steps[0].rows;
  size_t wide = rows ? both(tape, site, from) : 0;
  size_t own = plain(tape, site, from, base, from != in);
  size_t less = fixed(tape, "dora_less", factors, site->out,
                      (struct operation){.gradient = GRADIENT_SHARED});
  own = scaled(tape, site, own, less);
  if (!rows)
    wide = both(tape, site, from);
  wide = times(tape, lora, site, scaled(tape, site, wide, factors));
  wide = plus(tape, site, own, wide, made, count + 2);
  return plus(tape, site, base, wide, made + count, 2);
}

/* x in the type of A. bnb.py and gptq.py leave that to autocast. */
static size_t own_type(struct tape *tape, const struct lora *lora, size_t in,
                       const struct lora_site *site) {
  if (!lora->type || (tape->mixed && tape->blocked))
    return in;
  return tape_cast_to(tape, &in, 1, tape->node_params[site->first].width);
}

/*
 * layer.py of peft casts the sum to the type of the base's result; bnb.py casts
 * what is added to it, but not under autocast. Frames hold `in` and `from`
 * until then.
 */
static size_t sum_of(struct tape *tape, const struct lora_site *site,
                     size_t base, size_t wide, size_t in, size_t from) {
  enum width width = tape_extent(tape, base)->width;
  size_t held[3] = {wide, in, from};
  if (tape->blocked && !tape->mixed)
    held[0] = tape_cast_to(tape, held, 3, width);
  held[0] = plus(tape, site, base, held[0], &held[1], in == from ? 0 : 2);
  return tape_cast_to(tape, held, 3, width);
}

size_t lora_trace(struct tape *tape, const struct lora *lora, size_t in,
                  size_t base, const struct lora_site *site) {
  bool pads = site->padded.count > 0;
  if (tape->lowers && (pads || lora->dora))
    return base; /* the weights include it */
  if (lora->dora)
    return dora_trace(tape, lora, in, base, site);
  size_t x = own_type(tape, lora, in, site);
  size_t wide = both(tape, site, drop(tape, lora, x));
  size_t held[2] = {in, wide}; /* Python's frames hold them */
  wide = times(tape, lora, site, pads ? pad(tape, site, wide) : wide);
  if (lora->type)
    return sum_of(tape, site, base, wide, in, x);
  return plus(tape, site, base, wide, held, pads ? 2 : 0);
}
