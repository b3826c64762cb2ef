/* pool, avgpool, gap, gmp, adaptpool, adaptmaxpool, unpool. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/tape/lowering.h"
#include "layers/window.h"

#define POOL_ROWS                                                          \
  WINDOW_KERNEL(window_args, kernel),                                      \
      WINDOW_STRIDE(window_args, stride, "the window"),                    \
      WINDOW_PAD(window_args, pad),                                        \
      ARG(WORDS, WORD, "ceil", window_args, ceil, .words = "ceil",         \
          .doc = "round the output size up: the last window may pass the " \
                 "end"),                                                   \
      WINDOW_DILATE(window_args, dilation)

static const struct arg_spec pool_specs[] = {
    POOL_ROWS,
    ARG(WORDS, WORD, "indices", window_args, indices, .words = "indices",
        .doc = "keep the indices of the largest values, for `unpool LABEL`"),
    SPEC_END};
static const struct arg_spec avgpool_specs[] = {POOL_ROWS, SPEC_END};

static struct window_args pool_args(const struct layer *layer) {
  struct window_args args = *(const struct window_args *)layer->args;
  args.stride_is_kernel = true;
  return args;
}

/* Refuses padding that contains whole windows: they would have no maximum. */
static bool padding_is_covered(const struct layer *layer,
                               const struct window *windows) {
  for (int i = 0; i < shape_spatial(layer->in[0]); i++) {
    const struct window *w = &windows[i];
    int64_t most = max_i64(w->before, w->after);
    if (most < window_extent(w))
      continue;
    struct diagnostic *d = layer_fail(layer, OUT_OF_RANGE, "pad",
                                      "a padding of %" PRId64
                                      " contains whole windows of %" PRId64,
                                      most, window_extent(w));
    layer_offer_value(d, "pad", window_extent(w) / 2);
    return diag_help(d, "use at most half of the window: `pad=%" PRId64 "`",
                     window_extent(w) / 2);
  }
  return true;
}

static bool pool_shape(struct layer *layer) {
  struct window_args args = pool_args(layer);
  struct window windows[3];
  if (!window_check(layer, &args, windows) ||
      !padding_is_covered(layer, windows))
    return false;
  layer->out = window_shape(layer, windows, shape_channels(layer->in[0]));
  return true;
}

static int pool_windows(const struct layer *layer, struct window *windows) {
  struct window_args args = pool_args(layer);
  window_plan(layer, &args, windows);
  return shape_spatial(layer->in[0]);
}

/* One position remains; a map stays a map: 1x1xC. */
static bool global_shape(struct layer *layer) {
  if (!layer_check_map(layer))
    return false;
  layer->out = *layer->in[0];
  for (int i = 0; i < shape_spatial(&layer->out); i++)
    layer->out.dim[i] = 1;
  return true;
}

static bool global_redundant(const struct layer *layer,
                             const struct layer *before) {
  (void)before;
  return shape_values(layer->in[0]) == shape_channels(layer->in[0]);
}

struct adapt {
  struct sizes size;
};

static const struct arg_spec adapt_specs[] = {
    ARG(SIZES, POSITION, "size", adapt, size, .required = true, .min = 1,
        .doc = "size of the output"),
    SPEC_END};

static bool adapt_shape(struct layer *layer) {
  const struct adapt *adapt = layer->args;
  if (!layer_check_map(layer) ||
      !layer_check_sizes(layer, "size", &adapt->size))
    return false;
  layer->out = *layer->in[0];
  for (int i = 0; i < shape_spatial(&layer->out); i++)
    layer->out.dim[i] = size_at(&adapt->size, i, 1);
  return true;
}

/* The mean counts padding, but not the rows that `ceil` adds. TensorFlow counts
 * only values of the map. */
static struct lowering pool_lowering(const struct layer *layer,
                                     const struct strides *out) {
  struct lowering does = {.opcode = layer->kind->opcode, .out = out};
  struct window windows[3];
  if (!layer->kind->windows)
    return does;
  const struct window_args *args = layer->args;
  if (does.opcode == DOES_AVGPOOL)
    lowering_add(&does, args->pad.mode != PADDING_TF);
  window_lower_pool(&does, windows, pool_windows(layer, windows));
  does.slide = window_slide(windows);
  return does;
}

/* TensorFlow's padding is a separate operation; a plan needs none. */
static size_t padded(const struct layer *layer, struct tape *tape, size_t in) {
  if (!layer->kind->windows || tape->lowers)
    return in;
  struct window_args args = pool_args(layer);
  return args.pad.mode == PADDING_TF ? window_pad(layer, &args, tape, in, false)
                                     : in;
}

/* Indices of the largest values: the value after the pool's. */
static void add_places(const struct layer *layer, struct tape *tape, size_t in,
                       struct lowering *does) {
  struct extent places = extent_of(&layer->out);
  places.width = WIDTH_INDEX;
  does->opcode = DOES_PLACES;
  does->slide = (struct slide){0};
  tape_run_on(
      tape, in,
      (struct operation){.name = "indices", .does = does, .out = places});
}

/* Inference writes the indices of the largest values, too. */
static size_t maximum_trace(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  const struct window_args *args = layer->args;
  bool apart = layer->kind->windows && args->indices && !tape->training;
  size_t from = padded(layer, tape, in[0]);
  struct strides out = strides_of(&layer->out);
  struct lowering does = pool_lowering(layer, &out);
  struct extent places = extent_of(&layer->out);
  places.width = WIDTH_INDEX;
  places.count = tape->profile->pool_indices && !apart ? places.count : 0;
  size_t value = layer_run(
      layer, tape, from,
      (struct operation){
          .does = &does,
          .keeps = KEEPS_IN(0),
          .layout = layout_of_map(tape, from, &layer->out, LAST_1D | LAST_2D),
          .map = map_order(layer->in[0], LAST_1D | LAST_2D),
          .by_channel = true,
          .view = layer->out.rank == 2, /* of a map with one row */
          .always_makes = true,
          .kept = {tape->training ? places : (struct extent){0}},
          .work = tape->training ? (struct extent){0} : places});
  if (apart)
    add_places(layer, tape, from, &does);
  return value;
}

static size_t mean_trace(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  bool global = shape_values(&layer->out) == shape_channels(&layer->out);
  bool adapts = layer->kind->windows == NULL;
  bool keeps = !adapts || !global || tape->profile->mean_keeps_input;
  struct strides out = strides_of(&layer->out);
  struct lowering does = pool_lowering(layer, &out);
  size_t from = padded(layer, tape, in[0]);
  return layer_run(
      layer, tape, from,
      (struct operation){
          .does = &does,
          .keeps = keeps ? KEEPS_IN(0) : 0,
          .layout = layout_of_map(tape, from, &layer->out, LAST_1D | LAST_2D),
          .map = map_order(layer->in[0], LAST_1D | LAST_2D),
          .view = layer->out.rank == 2,
          .by_channel = true});
}

LAYER_KIND(pool, "Pooling", "the largest value of each window",
           LAYER_ARGS(window_args, pool_specs), .shape = pool_shape,
           .windows = pool_windows, .trace = maximum_trace,
           .opcode = DOES_MAXPOOL);

LAYER_KIND(avgpool, "Pooling", "the mean of each window",
           LAYER_ARGS(window_args, avgpool_specs), .shape = pool_shape,
           .windows = pool_windows, .trace = mean_trace,
           .opcode = DOES_AVGPOOL);

LAYER_KIND(gap, "Pooling", "global average pooling: the mean of each channel",
           .shape = global_shape, .redundant = global_redundant,
           .trace = mean_trace, .opcode = DOES_ADAPTAVG);

LAYER_KIND(gmp, "Pooling",
           "global maximum pooling: the largest value of each channel",
           .shape = global_shape, .redundant = global_redundant,
           .trace = maximum_trace, .opcode = DOES_ADAPTMAX);

LAYER_KIND(adaptpool, "Pooling", "average pooling to a given size",
           LAYER_ARGS(adapt, adapt_specs), .shape = adapt_shape,
           .trace = mean_trace, .opcode = DOES_ADAPTAVG);

LAYER_KIND(adaptmaxpool, "Pooling", "maximum pooling to a given size",
           LAYER_ARGS(adapt, adapt_specs), .shape = adapt_shape,
           .trace = maximum_trace, .opcode = DOES_ADAPTMAX);

struct unpool {
  struct layer_ref pool;
};

static const struct arg_spec unpool_specs[] = {
    ARG(INPUT, POSITION, "pool", unpool, pool, .required = true,
        .doc = "label of a `pool` with `indices`"),
    SPEC_END};

static bool unpool_shape(struct layer *layer) {
  const struct unpool *unpool = layer->args;
  const struct layer *pool = unpool->pool.layer;
  struct diagnostic *d;
  if (!pool || pool->kind != &layer_pool ||
      !((const struct window_args *)pool->args)->indices) {
    d = layer_fail(layer, WRONG_TYPE, "pool",
                   "`%.*s` is not a pool that keeps its indices",
                   SLICE_ARG(unpool->pool.name));
    return diag_help(d, "write `p: pool 2x2 indices`, and then `unpool p`");
  }
  if (!shape_equal(layer->in[0], layer->in[1]))
    return layer_refuse(layer, SHAPE_MISMATCH, NULL,
                        "the input is %s, but the pool's output "
                        "is %s; unpool needs the same shape",
                        shape_text(layer->in[0]).text,
                        shape_text(layer->in[1]).text);
  layer->out = *pool->in[0];
  return true;
}

/* torch.nn.MaxUnpool2d keeps the indices; so does the pool. */
static size_t unpool_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  struct strides out = strides_of(&layer->out);
  bool kept = tape->values.at[in[1]].needs_gradient;
  size_t pair[2] = {in[0], in[1]};
  struct extent places = extent_of(layer->in[1]);
  places.width = WIDTH_INDEX;
  places.count = kept ? 0 : places.count;
  /* max_pool_double_backward: channels stay last if the pool had them last. */
  uint32_t layout = layout_of_map(tape, in[0], &layer->out, LAST_2D);
  bool first = tape->lowers ||
               layout_of_map(tape, in[1], &layer->out, LAST_2D) != LAYOUT_LAST;
  enum tape_packing packs = packing_of(layer->in[0]);
  if (!tape->training)
    pair[1] = in[1] + 1;
  return tape_run(
      tape, &(struct operation){.name = "unpool",
                                .does = LOWERS(UNPOOL, .out = &out),
                                .in = pair,
                                .in_count = tape->training ? 1 : 2,
                                .out = extent_of(&layer->out),
                                .kept = {places},
                                .layout = layout,
                                .map = MAP_FIRST,
                                .packs_gradient = packs == PACKS_MAPS && !first
                                                      ? PACKS_FIRST
                                                      : packs,
                                .by_channel = true});
}

LAYER_KIND(unpool, "Pooling",
           "values at the indices that a pool kept, zeros elsewhere",
           LAYER_ARGS(unpool, unpool_specs), .led = 1, .shape = unpool_shape,
           .trace = unpool_trace);
