/* topk, gather: the largest values, and rows selected by index. */
#include <inttypes.h>

#include "layers/layer.h"
#include "layers/tape/lowering.h"

struct topk {
  int64_t count;
  struct axes axis; /* not given: the last */
  int smallest, indices;
};

static const struct arg_spec topk_specs[] = {
    ARG(INT, POSITION, "count", topk, count, .required = true, .min = 1,
        .doc = "number of values"),
    ARG(AXIS, WORD, "axis", topk, axis, .words = "c h w d l",
        .fallback = "the last", .doc = "axis that is searched; also `axis=0`"),
    ARG(WORDS, WORD, "smallest", topk, smallest, .words = "smallest",
        .doc = "the smallest values instead"),
    ARG(WORDS, WORD, "indices", topk, indices, .words = "indices",
        .doc = "indices of the values instead, for `gather`"),
    SPEC_END};

static int topk_axis(const struct layer *layer) {
  const struct topk *topk = layer->args;
  return topk->axis.count ? axis_index(topk->axis.at[0], layer->in[0])
                          : layer->in[0]->rank - 1;
}

static bool topk_shape(struct layer *layer) {
  const struct topk *topk = layer->args;
  const struct shape *in = layer->in[0];
  int axis = topk_axis(layer);
  if (axis < 0)
    return layer_refuse(layer, WRONG_AXIS, "axis", "%s has no such axis",
                        shape_text(in).text);
  if (topk->count > in->dim[axis]) {
    struct diagnostic *d = layer_fail(
        layer, OUT_OF_RANGE, "count",
        "an axis of %" PRId64 " has no %" PRId64 " %s values", in->dim[axis],
        topk->count, topk->smallest ? "smallest" : "largest");
    layer_offer_value(d, "count", in->dim[axis]);
    return false;
  }
  layer->out = *in;
  layer->out.dim[axis] = topk->count;
  if (topk->indices)
    layer->out.dtype = DTYPE_I64;
  return true;
}

static bool topk_stops(const void *args) {
  return ((const struct topk *)args)->indices;
}

/* Values and indices are both computed: ATen/native/Sorting.cpp. */
static size_t topk_trace(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  const struct topk *topk = layer->args;
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_TOPK, .out = &out};
  struct extent other = extent_of(&layer->out);
  other.width = topk->indices ? WIDTH_NET : WIDTH_INDEX;
  lowering_add(&does, topk_axis(layer) + 1); /* axis 0 is the batch */
  lowering_add(&does, topk->smallest);
  lowering_add(&does, topk->indices);
  struct operation op = {.does = &does, .stops = topk->indices};
  if (!topk->indices)
    tape_makes(tape, &op, other);
  else if (!tape->lowers)
    op.work = other;
  return layer_run(layer, tape, in[0], op);
}

LAYER_KIND(topk, "Shape", "the largest values along an axis, in order",
           LAYER_ARGS(topk, topk_specs), .shape = topk_shape,
           .trace = topk_trace, .stops = topk_stops);

struct gather {
  struct layer_ref indices;
};

static const struct arg_spec gather_specs[] = {
    ARG(INPUT, POSITION, "indices", gather, indices, .required = true,
        .doc = "label of N indices, such as `topk N indices`"),
    SPEC_END};

static bool gather_shape(struct layer *layer) {
  const struct shape *in = layer->in[0], *indices = layer->in[1];
  bool whole = indices->dtype != DTYPE_FLOAT;
  if (in->dtype != DTYPE_FLOAT)
    return layer_refuse(layer, WRONG_DTYPE, NULL,
                        "gather takes values, not indices");
  if (!whole || indices->rank != 1) {
    struct diagnostic *d =
        layer_fail(layer, whole ? WRONG_RANK : WRONG_DTYPE, "indices",
                   "gather needs indices of one axis, not %s%s",
                   whole ? "" : "values of ", shape_text(indices).text);
    return diag_help(d, "write `best: topk 300 indices` on one score for "
                        "each row, then `gather best`");
  }
  layer->out = *in;
  layer->out.dim[0] = indices->dim[0];
  return true;
}

/*
 * x.gather(1, indices[..., None].repeat(1, 1, C)), as two-stage detectors write
 * it (Deformable DETR, DINO, RT-DETR): both tensors are kept.
 */
static size_t gather_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  size_t pair[2] = {in[0], in[1]};
  struct strides out = strides_of(&layer->out);
  struct strides lies[2] = {tape_strides(tape, in[0]),
                            tape_strides(tape, in[1])};
  struct lowering does = {.opcode = DOES_GATHER, .in = lies, .out = &out};
  struct extent repeated = extent_of(&layer->out);
  repeated.width = WIDTH_INDEX;
  if (!tape->lowers && layer->out.rank > 1)
    pair[1] = tape_run_on(
        tape, in[1], (struct operation){.name = "repeat", .out = repeated});
  return tape_run(tape,
                  &(struct operation){.name = "gather",
                                      .does = &does,
                                      .in = pair,
                                      .in_count = 2,
                                      .cast = CAST_FIRST, /* not the indices' */
                                      .out = extent_of(&layer->out),
                                      .keeps = KEEPS_IN(0) | KEEPS_IN(1)});
}

LAYER_KIND(gather, "Shape", "rows of the first axis, selected by index",
           LAYER_ARGS(gather, gather_specs), .input = INPUT_ANY, .led = 1,
           .shape = gather_shape, .trace = gather_trace);
