/* split: parts of a tensor, as views of it. */
#include "layers/split.h"

#include <inttypes.h>

#include "base/check.h"
#include "layers/tape/lowering.h"

static const struct arg_spec split_specs[] = {
    ARG(AXIS, POSITION, "axis", split, axis, .required = true,
        .doc = "c h w d l, or a number from 0"),
    {.name = "parts",
     .type = TYPE_NUMBERS,
     .place = PLACE_POSITION,
     .required = true,
     .offset = offsetof(struct split, parts),
     .min = 1,
     .doc =
         "number of equal parts, `split c 2`; or their sizes: `split c 64 32`"},
    SPEC_END};

static const struct arg_spec part_specs[] = {
    ARG(INT, POSITION, "part", part, index, .min = 1, .doc = "index from 1"),
    SPEC_END};

int64_t split_count(const struct split *split) {
  return split->parts.count > 1 ? split->parts.count : split->parts.at[0];
}

/* The first index of a part on an axis of `size`; `share`
 * is set to its size. */
static int64_t begin_of(const struct split *split, int64_t size, int64_t index,
                        int64_t *share) {
  int64_t begin = 0;
  *share = size / split->parts.at[0];
  if (split->parts.count == 1)
    return *share * (index - 1);
  for (int i = 0; i < index - 1; i++)
    begin += split->parts.at[i]; /* no overflow: split_shape() */
  *share = split->parts.at[index - 1];
  return begin;
}

static int axis_of(const struct split *split, const struct shape *shape) {
  return axis_index(split->axis.at[0], shape);
}

static bool sizes_fit(struct layer *layer, int64_t size) {
  const struct split *split = layer->args;
  int64_t sum = 0, parts = split->parts.at[0];
  bool fits = true;
  struct diagnostic *d;
  for (int i = 0; i < split->parts.count; i++)
    fits = add_i64(sum, split->parts.at[i], &sum) && fits;
  if (split->parts.count > 1) {
    if (fits && sum == size)
      return true;
    return layer_refuse(layer, SHAPE_MISMATCH, "parts",
                        "the sizes of the parts do not add up to the axis of "
                        "%" PRId64,
                        size);
  }
  if (parts > MOST_PARTS)
    return layer_refuse(layer, OUT_OF_RANGE, "parts", "at most %d parts",
                        MOST_PARTS);
  if (size % parts == 0)
    return true;
  d = layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "parts",
                 "%" PRId64 " equal parts do not make an axis of %" PRId64,
                 parts, size);
  return diag_help(d, "for parts of different sizes write each size: `split c "
                      "64 32 32`");
}

/* The node of the split is the tensor itself; others read its parts. */
static bool split_shape(struct layer *layer) {
  const struct split *split = layer->args;
  const struct shape *in = layer->in[0];
  int axis = axis_of(split, in);
  if (axis < 0)
    return layer_refuse(layer, WRONG_AXIS, "axis", "%s has no such axis",
                        shape_text(in).text);
  return sizes_fit(layer, in->dim[axis]) && layer_same_shape(layer);
}

static bool part_shape(struct layer *layer) {
  const struct part *part = layer->args;
  int axis = axis_of(part->split, layer->in[0]);
  if (axis < 0) /* the split is in error */
    return false;
  layer->out = *layer->in[0];
  begin_of(part->split, layer->in[0]->dim[axis], part->index,
           &layer->out.dim[axis]);
  return true;
}

/* torch.chunk, torch.split: backward concatenates the
 * gradients of all parts. */
static size_t split_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  const struct split *split = layer->args;
  const struct shape *shape = layer->in[0];
  int axis = axis_of(split, shape), count = (int)split_count(split);
  struct strides from = layout_as_seen(tape, in[0], shape);
  struct strides *out = arena_alloc(tape->arena, (size_t)count, sizeof *out);
  uint32_t *layouts = arena_alloc(tape->arena, (size_t)count, sizeof *layouts);
  int64_t rest = shape_values(shape) / shape->dim[axis], share;
  for (int i = 0; i < count; i++) {
    out[i] = from;
    out[i].offset +=
        begin_of(split, shape->dim[axis], i + 1, &share) * from.stride[axis];
    out[i].dim[axis] = share;
    layouts[i] = layout_of_cut(tape, in[0], &out[i]);
  }
  size_t first =
      tape_run_on(tape, in[0],
                  (struct operation){.name = "split",
                                     .does = LOWERS(VIEW, .out = out),
                                     .out = extent_of(shape),
                                     .outs = count,
                                     .result = RESULT_VIEW,
                                     .layouts = layouts});
  for (int i = 0; i < count; i++) {
    struct tape_value *value = &tape->values.at[first + (size_t)i];
    struct extent extent = *tape_extent(tape, first + (size_t)i);
    begin_of(split, shape->dim[axis], i + 1, &share);
    extent.count = size_product(rest, share);
    tape_resize(tape, first + (size_t)i, extent);
    value->part = true;
  }
  return first;
}

static size_t part_trace(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  const struct part *part = layer->args;
  (void)tape;
  return in[0] + (size_t)part->index - 1;
}

LAYER_KIND(split, "Shape",
           "several parts of an axis: `p: split c 2` makes p[1] and p[2]",
           LAYER_ARGS(split, split_specs), .input = INPUT_ANY,
           .memory = OUTPUT_VIEW, .shape = split_shape, .trace = split_trace,
           .parts = &layer_part);

LAYER_KIND(part, "Shape", "a part of what was split",
           LAYER_ARGS(part, part_specs), .input = INPUT_ANY,
           .memory = OUTPUT_VIEW, .shape = part_shape, .trace = part_trace);
