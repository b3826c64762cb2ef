/* The table of layers, and functions that their rules share. */
#include "layers/layer.h"

#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "layers/tape/lowering.h"
#include "lexer/scan.h"

#define LAYER(id, ...) extern const struct layer_kind layer_##id;
#include "ops/ops.def"

static const struct {
  struct slice name; /* repeated here: its length rules out most rows */
  const struct layer_kind *kind;
  const char *plain;
} kinds[] = {
#define LAYER(id, WORD, plain, ...) {{#id, sizeof #id - 1}, &layer_##id, plain},
#include "ops/ops.def"
};

size_t layer_kind_count(void) {
  return sizeof kinds / sizeof *kinds;
}

const struct layer_kind *layer_kind_at(size_t index) {
  return kinds[index].kind;
}

const struct layer_kind *layer_kind_find(struct slice name) {
  for (size_t i = 0; i < layer_kind_count(); i++)
    if (slice_equal(name, kinds[i].name))
      return kinds[i].kind;
  return NULL;
}

const char *layer_plain_words(const struct layer_kind *kind) {
  for (size_t i = 0; i < layer_kind_count(); i++)
    if (kinds[i].kind == kind)
      return kinds[i].plain;
  return "";
}

void terms_add(struct terms *terms, struct term term) {
  *VEC_PUSH(terms->arena, &terms->all) = term;
}

void terms_add_product(struct terms *terms, int64_t rows, int64_t from,
                       int64_t to) {
  terms_add(terms,
            (struct term){.factor = {rows, from, to}, .count = 3, .split = 1});
}

static bool term_product(const struct term *term, int64_t *product) {
  *product = 1;
  for (int i = 0; i < term->count; i++)
    if (!mul_i64(*product, term->factor[i], product))
      return false;
  return true;
}

bool terms_sum(const struct terms *terms, int64_t *sum) {
  *sum = 0;
  for (size_t i = 0; i < terms->all.count; i++) {
    int64_t product;
    if (!term_product(&terms->all.at[i], &product) ||
        !add_i64(*sum, product, sum))
      return false;
  }
  return true;
}

void params_add(struct params *params, struct param param) {
  *VEC_PUSH(params->arena, &params->all) = param;
}

void params_add_matrix(struct params *params, const char *name, int64_t in,
                       int64_t out) {
  params_add(params, (struct param){.name = name,
                                    .rank = 2,
                                    .dim = {in, out},
                                    .order = FILE_OUT_FIRST,
                                    .spread = spread_linear(in)});
}

void params_add_vector(struct params *params, const char *name, int64_t width,
                       double center, double spread) {
  params_add(params, (struct param){.name = name,
                                    .rank = 1,
                                    .dim = {width},
                                    .center = center,
                                    .spread = spread});
}

void layer_params(const struct layer *layer, struct params *params) {
  struct params own = {.arena = params->arena};
  if (!layer->kind->params)
    return;
  if (layer->copies <= 1) {
    layer->kind->params(layer, params);
    return;
  }
  layer->kind->params(layer, &own);
  struct text name = text_new(params->arena); /* copies are consecutive */
  for (size_t i = 0; i < own.all.count; i++)
    for (int64_t copy = 0; copy < layer->copies; copy++) {
      struct param param = own.all.at[i];
      name.length = 0;
      text_int(&name, copy);
      text_putc(&name, '.');
      text_put(&name, param.name);
      param.name = arena_copy(params->arena, name.at, name.length);
      for (int k = 0; k < COMPUTED_PARTS; k++)
        param.parts[k] *= (int)layer->copies;
      params_add(params, param);
    }
}

/* The variance of a uniform value in [-s, s] is s * s / 3. */
double spread_relu(int64_t fan_in) {
  return sqrt(6.0 / (double)fan_in);
}

double spread_linear(int64_t fan_in) {
  return sqrt(3.0 / (double)fan_in);
}

double spread_bias(int64_t fan_in) {
  return 1 / sqrt((double)fan_in);
}

static struct span arg_span(const struct layer *layer, const char *arg) {
  const struct layer_site *site = layer->site;
  const struct arg_spec *specs = layer->kind->specs;
  for (int i = 0; arg && specs && specs[i].name; i++) {
    struct span span = site->arg_spans[i];
    if (strcmp(specs[i].name, arg) == 0 && span.end > span.begin)
      return span;
  }
  return site->span;
}

static struct diagnostic *fail(const struct layer *layer, enum slug slug,
                               const char *arg, const char *format,
                               va_list args) {
  const struct layer_site *site = layer->site;
  struct diagnostic *d =
      diag_va(site->diags, slug, arg_span(layer, arg), format, args);
  for (int i = 0; i < layer->input_count; i++)
    diag_label(d, site->in_spans[i], "gives %s", shape_text(layer->in[i]).text);
  if (site->context)
    site->context(site->user, d);
  return d;
}

struct diagnostic *layer_fail(const struct layer *layer, enum slug slug,
                              const char *arg, const char *format, ...) {
  va_list args;
  va_start(args, format);
  struct diagnostic *d = fail(layer, slug, arg, format, args);
  va_end(args);
  return d;
}

bool layer_refuse(const struct layer *layer, enum slug slug, const char *arg,
                  const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(layer, slug, arg, format, args);
  va_end(args);
  return false;
}

void layer_offer_omission(const struct layer *layer, struct diagnostic *d) {
  struct span whole = layer->site->span;
  if (d->span.begin > whole.begin && d->span.end <= whole.end)
    diag_offer_omission(d, d->span, "leave it out");
}

bool layer_refuse_surplus(const struct layer *layer, enum slug slug,
                          const char *arg, const char *format, ...) {
  va_list args;
  va_start(args, format);
  layer_offer_omission(layer, fail(layer, slug, arg, format, args));
  va_end(args);
  return false;
}

void layer_offer_value(struct diagnostic *d, const char *arg, int64_t value) {
  if (!diag_is_shown(d))
    return;
  struct slice said = sources_slice(d->owner->sources, d->span);
  struct text text = text_new(d->owner->arena);
  size_t at = strlen(arg);
  bool keyed =
      said.length > at && memcmp(said.at, arg, at) == 0 && said.at[at] == '=';
  for (at = keyed ? at + 1 : 0; at < said.length; at++)
    if (!is_digit(said.at[at]))
      return;
  text_printf(&text, "%s%s", keyed ? arg : "", keyed ? "=" : "");
  text_int(&text, value);
  diag_offer(d, d->span, text_slice(&text), "the nearest is `%.*s`",
             SLICE_ARG(text));
}

void layer_offer_divisor(struct diagnostic *d, const char *arg, int64_t value,
                         int64_t count) {
  enum { FARTHEST = 4096 };
  int64_t near = min_i64(value, count);
  for (int64_t step = 0; step < FARTHEST && step < near; step++) {
    int64_t below = near - step, above = min_i64(near + step, count);
    if (count % below != 0 && count % above != 0)
      continue;
    layer_offer_value(d, arg, count % below == 0 ? below : above);
    return;
  }
}

bool layer_check_groups(const struct layer *layer, int64_t groups) {
  int64_t channels = shape_channels(layer->in[0]);
  if (channels % groups == 0)
    return true;
  struct diagnostic *d =
      layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "groups",
                 "%" PRId64 " groups do not divide %" PRId64 " channels",
                 groups, channels);
  layer_offer_divisor(d, "groups", groups, channels);
  return false;
}

void layer_offer_before(struct diagnostic *d, const char *format, ...) {
  if (!diag_is_shown(d))
    return;
  const struct source *source =
      sources_position(d->owner->sources, d->span.begin).source;
  uint32_t begin = source->base +
                   (uint32_t)scan_statement_begin(source->text,
                                                  d->span.begin - source->base);
  struct text text = text_new(d->owner->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  struct slice layer = text_slice(&text);
  text_put(&text, "; ");
  diag_offer(d, (struct span){begin, begin}, text_slice(&text),
             "write `%.*s` before it", SLICE_ARG(layer));
}

int64_t size_at(const struct sizes *sizes, int axis, int64_t fallback) {
  if (sizes->rank == 0)
    return fallback;
  return sizes->rank == 1 ? sizes->at[0] : sizes->at[axis];
}

bool layer_check_sizes(const struct layer *layer, const char *arg,
                       const struct sizes *sizes) {
  int spatial = shape_spatial(layer->in[0]);
  if (sizes->rank <= 1 || sizes->rank == spatial)
    return true;
  struct diagnostic *d = layer_fail(
      layer, WRONG_RANK, arg, "%d sizes for a map of %d spatial ax%s (%s)",
      sizes->rank, spatial, spatial == 1 ? "is" : "es",
      shape_text(layer->in[0]).text);
  diag_otherwise(d, "give one size for all axes, or one for each");
  return false;
}

bool layer_check_map(const struct layer *layer) {
  const struct shape *in = layer->in[0];
  if (in->rank >= 2 && in->rank <= 4)
    return true;
  struct diagnostic *d = layer_fail(
      layer, WRONG_RANK, NULL, "%s needs a map (LxC, HxWxC or DxHxWxC), not %s",
      layer->kind->name, shape_text(in).text);
  if (in->rank == 1)
    diag_otherwise(d, "this is a vector: a layer above flattened it; "
                      "`reshape` makes a map of it");
  return false;
}

bool layer_check_sequence(const struct layer *layer) {
  const struct shape *in = layer->in[0];
  if (in->rank == 2)
    return true;
  struct diagnostic *d =
      layer_fail(layer, WRONG_RANK, NULL, "%s needs a sequence (LxC), not %s",
                 layer->kind->name, shape_text(in).text);
  if (in->rank == 3 && shape_channels(in) == 1) { /* an image */
    layer_offer_before(d, "reshape %" PRId64 "x%" PRId64, in->dim[0],
                       in->dim[1]);
    return diag_help(d,
                     "`reshape %" PRId64 "x%" PRId64
                     "` makes each row a position of a sequence",
                     in->dim[0], in->dim[1]);
  }
  layer_offer_before(d, "reshape %sx%" PRId64, in->rank == 1 ? "1" : "_",
                     shape_channels(in));
  return diag_help(d, "`reshape _x%" PRId64 "` makes a sequence of it",
                   shape_channels(in));
}

int axis_index(int64_t axis, const struct shape *shape) {
  int64_t index = axis;
  switch (axis) {
  case AXIS_C: index = shape->rank - 1; break;
  case AXIS_W: index = shape->rank - 2; break;
  case AXIS_H: index = shape->rank - 3; break;
  case AXIS_D: index = shape->rank - 4; break;
  case AXIS_LENGTH: index = shape->rank == 2 ? 0 : -1; break;
  default:
    if (axis < 0)
      index = axis + shape->rank;
  }
  return index >= 0 && index < shape->rank ? (int)index : -1;
}

int64_t layer_cache(const struct layer *layer, int64_t context) {
  struct cache_terms kept = layer->kind->cache(layer);
  int64_t tokens = kept.source ? kept.source : size_sum(context, kept.joined);
  if (kept.window)
    tokens = min_i64(tokens, kept.window);
  return size_product(tokens / max_i64(kept.rate, 1), kept.each);
}

bool layer_keeps_tokens(const struct layer *layer) {
  struct cache_terms kept = {0};
  if (layer->kind->cache)
    kept = layer->kind->cache(layer);
  return kept.each > 0 && !kept.source;
}

bool layer_same_shape(struct layer *layer) {
  layer->out = *layer->in[0];
  return true;
}

bool layer_moves_nothing(const struct layer *layer,
                         const struct layer *before) {
  (void)before;
  return shape_equal(layer->in[0], &layer->out);
}

/* Layout of an output computed from `in`, unless the operation states one. */
static uint32_t layout_of_out(const struct layer *layer, struct tape *tape,
                              size_t in, const struct operation *op) {
  struct strides out = strides_of(&layer->out);
  if (tape->lowers || op->layout || op->layouts || op->result != RESULT_NEW)
    return op->layout;
  return layout_of_result(tape, in, op->elementwise, op->packs, &out);
}

size_t layer_run(const struct layer *layer, struct tape *tape, size_t in,
                 struct operation op) {
  op.name = op.name ? op.name : layer->kind->name;
  op.cast = op.cast ? op.cast : layer->kind->cast;
  op.out = extent_of(&layer->out);
  op.layout = layout_of_out(layer, tape, in, &op);
  return tape_run_on(tape, in, op);
}

size_t layer_moves(const struct layer *layer, struct tape *tape,
                   const size_t *in, const struct lowering *does,
                   uint32_t layout, enum map_order map) {
  struct operation op = {.name = layer->kind->name,
                         .does = does,
                         .layout = layout,
                         .in = in,
                         .in_count = layer->input_count,
                         .map = map,
                         .cast = layer->kind->cast,
                         .out = extent_of(&layer->out)};
  op.layout = layout_of_out(layer, tape, in[0], &op);
  return tape_run(tape, &op);
}

size_t layer_cut(const struct layer *layer, struct tape *tape, size_t in,
                 const struct strides *lies) {
  struct extent part = extent_of(&layer->out);
  part.count = strides_values(lies);
  return tape_run_on(tape, in,
                     (struct operation){.name = layer->kind->name,
                                        .does = LOWERS(VIEW, .out = lies),
                                        .out = part,
                                        .layout = layout_of_cut(tape, in, lies),
                                        .result = RESULT_VIEW});
}

size_t layer_weigh(struct tape *tape, size_t in, int factors, bool folds,
                   struct extent out) {
  struct strides lies[2] = {tape_strides(tape, in)};
  struct lowering does = {.opcode = DOES_MUL, .in = lies};
  struct extent summed = out; /* summed over the rows later */
  size_t pair[2] = {in};
  if (!tape_trains(tape, factors))
    summed.count = 0;
  if (tape->lowers) { /* the parameter is an ordinary operand */
    pair[1] = tape_parameter(tape, factors);
    lies[1] = strides_dense(1, &lies[0].dim[lies[0].rank - 1]);
    lies[1] = strides_spread(&lies[1], &lies[0]);
  }
  return tape_run(tape, &(struct operation){.name = "scale",
                                            .does = &does,
                                            .in = pair,
                                            .in_count = tape->lowers ? 2 : 1,
                                            .out = out,
                                            .keeps = KEEPS_IN(0),
                                            .first_param = factors,
                                            .param_count = !tape->lowers,
                                            .elementwise = true,
                                            .by_channel = true,
                                            .folds = folds,
                                            .back_work = summed,
                                            .guarded = true});
}
