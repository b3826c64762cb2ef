/* pad, roll, shuffle, pixelshuffle, space2depth, up: rearrange values. */
#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "layers/layer.h"
#include "layers/tape/lowering.h"

static bool too_large(const struct layer *layer) {
  return layer_refuse(layer, TOO_LARGE, NULL,
                      "the output passes 2^63 - 1 values");
}

struct pad {
  struct padding pad, channels;
  int mode; /* 0, 1: zeros; 2: reflect; 3: replicate; PAD_CIRCULAR */
};

enum { PAD_CIRCULAR = 4 };

static const struct arg_spec pad_specs[] = {
    ARG(PADDING, POSITION, "pad", pad, pad, .required = true,
        .doc = "`1` at both sides of every axis, `1x2` by axis, `0:1` "
               "before:after"),
    ARG(WORDS, WORD, "mode", pad, mode,
        .words = "zeros reflect replicate circular", .fallback = "zeros",
        .doc = "values of the border"),
    ARG(PADDING, KEY, "c", pad, channels, .fallback = "0",
        .doc = "channels of zeros: `pad 0 c=16` on both sides, `c=0:16` after"),
    SPEC_END};

/* Channels accept a number or a pair, and zeros only. */
static bool check_channels(const struct layer *layer) {
  const struct pad *pad = layer->args;
  enum padding_mode mode = pad->channels.mode;
  struct diagnostic *d;
  if (pad->pad.mode != PADDING_GIVEN ||
      (mode != PADDING_NONE && mode != PADDING_GIVEN) ||
      pad->channels.before.rank > 1) {
    d = layer_fail(layer, WRONG_TYPE,
                   pad->pad.mode == PADDING_GIVEN ? "c" : "pad",
                   "pad needs a number, or a pair like 0:1");
    return diag_help(d, "`pad 0 c=0:16` adds 16 channels of zeros");
  }
  if (mode == PADDING_NONE || pad->mode <= 1)
    return true;
  return layer_refuse(layer, WRONG_TYPE, "mode", "only zeros can pad channels");
}

static bool pad_shape(struct layer *layer) {
  const struct pad *pad = layer->args;
  if (!check_channels(layer))
    return false;
  if (!layer_check_map(layer) ||
      !layer_check_sizes(layer, "pad", &pad->pad.before))
    return false;
  layer->out = *layer->in[0];
  for (int i = 0; i < shape_spatial(&layer->out); i++) {
    int64_t *size = &layer->out.dim[i];
    if (pad->mode == PAD_CIRCULAR &&
        max_i64(size_at(&pad->pad.before, i, 0),
                size_at(&pad->pad.after, i, 0)) > *size)
      return layer_refuse(layer, OUT_OF_RANGE, "pad",
                          "a circular border can wrap around %s only once",
                          shape_text(layer->in[0]).text);
    if (!add_i64(*size, size_at(&pad->pad.before, i, 0), size) ||
        !add_i64(*size, size_at(&pad->pad.after, i, 0), size))
      return too_large(layer);
  }
  int64_t *channels = &layer->out.dim[layer->out.rank - 1];
  if (!add_i64(*channels, size_at(&pad->channels.before, 0, 0), channels) ||
      !add_i64(*channels, size_at(&pad->channels.after, 0, 0), channels))
    return too_large(layer);
  return true;
}

/* A plan views channels as one more spatial axis, with one channel. */
static size_t pad_channels(const struct layer *layer, struct tape *tape,
                           const size_t *in, struct lowering *does) {
  const struct pad *pad = layer->args;
  struct strides lies = tape_strides(tape, in[0]), seen = lies;
  struct strides out = strides_of(&layer->out), to = out;
  if (layer->out.rank == 4) /* the kernel has three axes */
    does->opcode = DOES_UNKNOWN;
  if (tape->lowers) {
    seen = strides_insert(&lies, lies.rank, 1, 1);
    to = strides_insert(&out, out.rank, 1, 1);
  }
  does->in = &seen;
  does->out = &to;
  lowering_add(does, size_at(&pad->channels.before, 0, 0));
  size_t value = layer_moves(
      layer, tape, in, does,
      layout_of_map(tape, in[0], &layer->out, LAST_2D | LAST_3D), MAP_AS_OUT);
  tape_see(tape, value, &out);
  return value;
}

/*
 * Values that backward of circular sides needs beside its gradients. Sides are
 * copied one by one (_pad_circular of ATen/native/PadNd.cpp): there are three
 * gradients of the output's size, or if they are summed in place two, and twice
 * a side.
 */
static int64_t circular_work(const struct layer *layer, bool in_place) {
  const struct pad *pad = layer->args;
  int64_t out = shape_values(&layer->out), in = shape_values(layer->in[0]);
  int64_t side = 0;
  if (!in_place)
    return size_product(2, out) - in;
  for (int i = 0; i < shape_spatial(&layer->out); i++) {
    int64_t most = max_i64(size_at(&pad->pad.before, i, 0),
                           size_at(&pad->pad.after, i, 0));
    side = max_i64(side, size_product(out / layer->out.dim[i], most));
  }
  return size_sum(out, max_i64(0, size_product(2, side) - in));
}

/* Unless it pads with zeros, backward reads the input for its size. */
static size_t pad_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  const struct pad *pad = layer->args;
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_PAD, .out = &out};
  lowering_add(&does, pad->mode ? pad->mode - 1 : 0);
  for (int i = 0; i < shape_spatial(&layer->out); i++)
    lowering_add(&does, size_at(&pad->pad.before, i, 0));
  if (pad->channels.mode == PADDING_GIVEN)
    return pad_channels(layer, tape, in, &does);
  int64_t work = pad->mode == PAD_CIRCULAR
                     ? circular_work(layer, tape->profile->sums_in_place)
                     : 0;
  int last = pad->mode <= 1 ? LAST_2D | LAST_3D : LAST_NEVER;
  return layer_run(layer, tape, in[0],
                   (struct operation){
                       .does = &does,
                       .keeps = pad->mode > 1 && !work ? KEEPS_IN(0) : 0,
                       .layout = layout_of_map(tape, in[0], &layer->out, last),
                       .back_work = extent_sample(work, WIDTH_NET),
                       .packs_gradient = work ? PACKS_VALUES : PACKS_NOTHING});
}

struct roll {
  struct sizes shift;
};

static const struct arg_spec roll_specs[] = {
    ARG(SIZES, POSITION, "shift", roll, shift, .required = true,
        .min = INT64_MIN,
        .doc = "shift in positions, for all axes or `3 x -3` by axis"),
    SPEC_END};

static bool roll_shape(struct layer *layer) {
  const struct roll *roll = layer->args;
  return layer_check_map(layer) &&
         layer_check_sizes(layer, "shift", &roll->shift) &&
         layer_same_shape(layer);
}

static size_t roll_trace(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  const struct roll *roll = layer->args;
  struct lowering does = {.opcode = DOES_ROLL};
  for (int i = 0; i < shape_spatial(&layer->out); i++) {
    int64_t size = layer->out.dim[i];
    int64_t shift = size_at(&roll->shift, i, 0) % size;
    lowering_add(&does, shift < 0 ? shift + size : shift);
  }
  bool front = layout_of_axes(tape, tape->values.at[in[0]].strides);
  uint32_t layout =
      front ? layout_of_map(tape, in[0], &layer->out, LAST_2D | LAST_3D)
            : LAYOUT_AS_INPUT;
  return layer_moves(layer, tape, in, &does, layout, MAP_AS_OUT);
}

struct factor {
  int64_t by;
};

#define FACTOR(arg, text) \
  ARG(INT, POSITION, arg, factor, by, .required = true, .min = 1, .doc = text)

static const struct arg_spec shuffle_specs[] = {
    FACTOR("groups", "number of groups"), SPEC_END};
static const struct arg_spec factor_specs[] = {
    FACTOR("factor", "size of a block along each axis"), SPEC_END};

static bool shuffle_shape(struct layer *layer) {
  const struct factor *groups = layer->args;
  return layer_check_groups(layer, groups->by) && layer_same_shape(layer);
}

/* A copy in another order. */
static size_t reorder(const struct layer *layer, struct tape *tape,
                      const size_t *in, const struct strides *from,
                      enum gradient gradient, int last) {
  struct strides out = strides_of(&layer->out);
  struct strides to = strides_dense(from->rank, from->dim);
  size_t value =
      layer_run(layer, tape, in[0],
                (struct operation){
                    .does = LOWERS(COPY, .in = from, .out = &to),
                    .layout = layout_of_map(tape, in[0], &layer->out, last),
                    .map = layout_has_last(&layer->out, last)
                               ? MAP_AS_OUT
                               : map_order(&layer->out, last),
                    .gradient = gradient});
  tape_see(tape, value, &out);
  return value;
}

/* torch.nn.ChannelShuffle: C = groups x rest becomes rest x groups. */
static size_t shuffle_trace(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  const struct factor *groups = layer->args;
  struct strides from = tape_strides(tape, in[0]);
  if (tape->lowers) {
    from = strides_split(&from, from.rank - 1, groups->by);
    from = strides_move(&from, from.rank - 2, from.rank - 1);
  }
  return reorder(layer, tape, in, &from, GRADIENT_MOVED, LAST_NEVER);
}

/* torch.nn.PixelShuffle: channels are C x block by axis; each block moves to
 * the end of its axis. */
static size_t pixelshuffle_trace(const struct layer *layer, struct tape *tape,
                                 const size_t *in) {
  const struct factor *factor = layer->args;
  struct strides from = tape_strides(tape, in[0]);
  int spatial = tape->lowers ? from.rank - 1 : 0;
  for (int i = 0; i < spatial; i++) { /* last axis first */
    int64_t rest = from.dim[from.rank - 1] / factor->by;
    from = strides_split(&from, from.rank - 1, rest);
    from = strides_move(&from, from.rank - 1, spatial - i);
  }
  return reorder(layer, tape, in, &from, GRADIENT_NEW, LAST_NEVER);
}

/* torch.nn.PixelUnshuffle */
static size_t space2depth_trace(const struct layer *layer, struct tape *tape,
                                const size_t *in) {
  const struct factor *factor = layer->args;
  struct strides from = tape_strides(tape, in[0]);
  int spatial = tape->lowers ? from.rank - 1 : 0;
  for (int i = 0; i < spatial; i++) {
    from = strides_split(&from, i, from.dim[i] / factor->by);
    from = strides_move(&from, i + 1, from.rank - 1);
  }
  return reorder(layer, tape, in, &from, GRADIENT_NEW, LAST_2D);
}

/* Values of a block, which become the channels of one position. */
static bool block_values(const struct layer *layer, int64_t *values) {
  const struct factor *factor = layer->args;
  *values = 1;
  for (int i = 0; i < shape_spatial(layer->in[0]); i++)
    if (!mul_i64(*values, factor->by, values))
      return false;
  return true;
}

static bool pixelshuffle_shape(struct layer *layer) {
  const struct factor *factor = layer->args;
  int64_t channels, block;
  if (!layer_check_map(layer))
    return false;
  channels = shape_channels(layer->in[0]);
  if (!block_values(layer, &block) || channels % block != 0)
    return layer_refuse(layer, GROUPS_DO_NOT_DIVIDE, "factor",
                        "blocks of %" PRId64 " by axis do not divide %" PRId64
                        " channels",
                        factor->by, channels);
  layer->out = shape_with_channels(layer->in[0], channels / block);
  for (int i = 0; i < shape_spatial(&layer->out); i++)
    if (!mul_i64(layer->out.dim[i], factor->by, &layer->out.dim[i]))
      return too_large(layer);
  return true;
}

static bool space2depth_shape(struct layer *layer) {
  const struct factor *factor = layer->args;
  int64_t channels, block;
  if (!layer_check_map(layer))
    return false;
  if (!block_values(layer, &block) ||
      !mul_i64(shape_channels(layer->in[0]), block, &channels))
    return too_large(layer);
  layer->out = shape_with_channels(layer->in[0], channels);
  for (int i = 0; i < shape_spatial(&layer->out); i++) {
    if (layer->out.dim[i] % factor->by != 0) {
      struct diagnostic *d =
          layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "factor",
                     "blocks of %" PRId64 " do not tile the map of %s",
                     factor->by, shape_text(layer->in[0]).text);
      return diag_help(d,
                       "`pad` or `crop` it to a multiple of %" PRId64 " first",
                       factor->by);
    }
    layer->out.dim[i] /= factor->by;
  }
  return true;
}

struct up {
  struct scale_by scale;
  struct sizes size;
  int mode; /* 0, 1: nearest; 2: bilinear; UP_BICUBIC */
};

enum { UP_BICUBIC = 3 };

static const struct arg_spec up_specs[] = {
    ARG(SCALE, POSITION, "scale", up, scale, .min = 1,
        .doc = "factor for all axes, or by axis; `1.5` for all of them"),
    ARG(SIZES, KEY, "size", up, size, .min = 1,
        .doc = "instead of a factor: size of the output map"),
    ARG(WORDS, WORD, "mode", up, mode, .words = "nearest bilinear bicubic",
        .fallback = "nearest",
        .doc = "interpolation; `bilinear` is linear along every axis"),
    SPEC_END};

static bool up_is_clear(const struct layer *layer) {
  const struct up *up = layer->args;
  bool factor = up->scale.real > 0 || up->scale.whole.rank;
  if (factor && !up->size.rank)
    return layer_check_sizes(layer, "scale", &up->scale.whole);
  if (!factor && up->size.rank)
    return layer_check_sizes(layer, "size", &up->size);
  struct diagnostic *d =
      factor ? layer_fail(layer, WRONG_COUNT, "size",
                          "up takes a factor or a size, not both")
             : layer_fail(layer, MISSING_ARGUMENT, NULL,
                          "up needs a factor or a size");
  return diag_help(d,
                   "`up 2` doubles a map, `up size=14x14` resizes it to 14x14");
}

/* PyTorch rounds down, in double precision: floor(size * factor). */
static bool scaled(int64_t size, const struct scale_by *by, int axis,
                   int64_t *out) {
  if (by->real == 0)
    return mul_i64(size, size_at(&by->whole, axis, 1), out);
  double product = floor((double)size * by->real);
  if (product >= 9e18)
    return false;
  *out = (int64_t)product;
  return true;
}

static bool up_shape(struct layer *layer) {
  const struct up *up = layer->args;
  if (!layer_check_map(layer) || !up_is_clear(layer))
    return false;
  if (up->mode == UP_BICUBIC && shape_spatial(layer->in[0]) != 2)
    return layer_refuse(layer, WRONG_RANK, "mode",
                        "`bicubic` needs a map of two axes, not %s",
                        shape_text(layer->in[0]).text);
  layer->out = *layer->in[0];
  for (int i = 0; i < shape_spatial(&layer->out); i++) {
    int64_t *size = &layer->out.dim[i];
    if (up->size.rank)
      *size = size_at(&up->size, i, 1);
    else if (!scaled(*size, &up->scale, i, size))
      return too_large(layer);
    if (*size > 0)
      continue;
    return layer_refuse(layer, OUT_OF_RANGE, "scale",
                        "this removes the whole map of %s",
                        shape_text(layer->in[0]).text);
  }
  return true;
}

/* True if the step follows from the sizes. With a factor, PyTorch uses
 * the factor itself. */
static bool steps_by_sizes(const struct layer *layer) {
  const struct up *up = layer->args;
  bool same = true;
  for (int i = 0; i < shape_spatial(&layer->out); i++)
    same = same && (double)layer->in[0]->dim[i] * up->scale.real ==
                       (double)layer->out.dim[i];
  return up->scale.real == 0 || same;
}

static size_t up_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  const struct up *up = layer->args;
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_UP, .out = &out};
  if (!steps_by_sizes(layer) || up->mode == UP_BICUBIC)
    does.opcode = DOES_UNKNOWN;
  lowering_add(&does, up->mode == 2);
  lowering_add(&does, 0); /* align_corners is off */
  int last = up->mode == UP_BICUBIC ? LAST_NEVER : LAST_2D | LAST_3D;
  return layer_moves(layer, tape, in, &does,
                     layout_of_map(tape, in[0], &layer->out, last),
                     last == LAST_NEVER ? MAP_FIRST : MAP_AS_OUT);
}

/*
 * Each value reaches as many outputs along an axis as the factor, in `bilinear`
 * twice and in `bicubic` four times as many: it has 2 and 4 neighbours.
 */
static int up_spreads(const struct layer *layer, struct window *windows) {
  static const int64_t neighbours[] = {1, 1, 2, [UP_BICUBIC] = 4};
  const struct up *up = layer->args;
  int axes = shape_spatial(layer->in[0]);
  for (int i = 0; i < axes; i++) {
    int64_t in = layer->in[0]->dim[i], out = layer->out.dim[i];
    if (out % in != 0)
      return 0;
    windows[i] =
        (struct window){.in = in,
                        .out = out,
                        .dilation = 1,
                        .stride = out / in,
                        .kernel = size_product(out / in, neighbours[up->mode])};
  }
  return axes;
}

#define MOVE(id, text, rows, type, ...)                                      \
  LAYER_KIND(id, "Shape", text, LAYER_ARGS(type, rows), .shape = id##_shape, \
             .trace = id##_trace, __VA_ARGS__)

MOVE(pad, "a border around the map", pad_specs, pad,
     .redundant = layer_moves_nothing);
MOVE(roll, "a circular shift of the map", roll_specs, roll, );
MOVE(shuffle, "interleaves the channels of the groups", shuffle_specs,
     factor, );
MOVE(pixelshuffle, "channels become blocks of positions", factor_specs,
     factor, );
MOVE(space2depth, "blocks of positions become channels", factor_specs,
     factor, );
MOVE(up, "a map resized by interpolation", up_specs, up, .spreads = up_spreads,
     .cast = CAST_FULL, .redundant = layer_moves_nothing);
