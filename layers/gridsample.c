/* gridsample: values of a map at positions that the net computes. */
#include "layers/gridsample.h"

#include "layers/tape/lowering.h"

#include <inttypes.h>

struct gridsample {
  struct layer_ref grid;
  int mode;    /* 0, 1: bilinear; 2: nearest; 3: bicubic */
  int beyond;  /* 0, 1: zeros; 2: border; 3: reflection */
  int corners; /* align_corners: -1 and 1 are the centers of the outer values */
};

static const struct arg_spec gridsample_specs[] = {
    ARG(INPUT, POSITION, "grid", gridsample, grid, .required = true,
        .doc = "label of HxWx2 points, x and y from -1 to 1; GxHxWx2: points "
               "for each of G groups of channels"),
    ARG(WORDS, WORD, "mode", gridsample, mode,
        .words = "bilinear nearest bicubic", .fallback = "bilinear",
        .doc = "interpolation"),
    ARG(WORDS, WORD, "beyond", gridsample, beyond,
        .words = "zeros border reflection", .fallback = "zeros",
        .doc = "values outside the map"),
    ARG(WORDS, WORD, "corners", gridsample, corners, .words = "corners",
        .doc = "-1 and 1 are the centres of the outer values, as "
               "align_corners=True"),
    SPEC_END};

/* Groups of channels with separate positions. */
static int64_t groups_of(const struct layer *layer) {
  const struct shape *grid = layer->in[1];
  return grid->rank > layer->in[0]->rank ? grid->dim[0] : 1;
}

static bool check_grid(const struct layer *layer) {
  const struct shape *map = layer->in[0], *grid = layer->in[1];
  int axes = shape_spatial(map), more = grid->rank - map->rank;
  if ((more == 0 || more == 1) && grid->dtype == DTYPE_FLOAT &&
      shape_channels(grid) == axes)
    return true;
  struct diagnostic *d = layer_fail(
      layer, SHAPE_MISMATCH, "grid", "the points must be %sHxWx%d, not %s",
      axes == 3 ? "Dx" : "", axes, shape_text(grid).text);
  return diag_help(d, axes == 3
                          ? "`reshape 4x7x7x3` gives x, y and z of 4x7x7 "
                            "points"
                          : "`reshape 7x7x2` gives x and y of 7x7 points");
}

static bool gridsample_shape(struct layer *layer) {
  const struct gridsample *sample = layer->args;
  const struct shape *map = layer->in[0], *grid = layer->in[1];
  if (map->rank != 3 && map->rank != 4)
    return layer_refuse(layer, WRONG_RANK, NULL,
                        "gridsample needs a map of HxWxC or DxHxWxC, not %s",
                        shape_text(map).text);
  if (!check_grid(layer))
    return false;
  if (sample->mode == 3 && map->rank == 4)
    return layer_refuse(layer, OUT_OF_RANGE, "mode",
                        "bicubic needs a map of two axes (HxWxC), not %s",
                        shape_text(map).text);
  if (shape_channels(map) % groups_of(layer))
    return layer_refuse(layer, GROUPS_DO_NOT_DIVIDE, "grid",
                        "the points have %" PRId64 " groups, which do not "
                        "divide %" PRId64 " channels",
                        groups_of(layer), shape_channels(map));
  layer->out = *map;
  for (int i = 0; i < shape_spatial(map); i++)
    layer->out.dim[i] = grid->dim[grid->rank - map->rank + i];
  return true;
}

/*
 * Deformable DETR merges samples and groups into one axis
 * (models/ops/functions/ms_deform_attn_func.py). A tensor whose groups are an
 * inner axis is copied, unless the batch is 1.
 */
static size_t merge(struct tape *tape, size_t in) {
  return tape_run_on(tape, in,
                     (struct operation){.name = "copy",
                                        .out = *tape_extent(tape, in),
                                        .view_of_one = true,
                                        .gradient = GRADIENT_SHARED});
}

size_t gridsample_run(struct tape *tape, const size_t *pair,
                      const struct lowering *does, const struct shape *out) {
  struct extent unwanted =
      extent_sample(tape_extent(tape, pair[1])->count, WIDTH_NET);
  uint32_t layout = layout_of_map(tape, pair[0], out, LAST_NEVER);
  if (tape->values.at[pair[1]].needs_gradient)
    unwanted.count = 0;
  return tape_run(tape, &(struct operation){.name = "gridsample",
                                            .does = does,
                                            .in = pair,
                                            .in_count = 2,
                                            .out = extent_of(out),
                                            .layout = layout,
                                            .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                            .back_more = unwanted});
}

static size_t gridsample_trace(const struct layer *layer, struct tape *tape,
                               const size_t *in) {
  const struct gridsample *sample = layer->args;
  size_t pair[2] = {in[0], in[1]};
  struct strides out = strides_of(&layer->out);
  struct strides lies[2] = {tape_strides(tape, in[0]),
                            tape_strides(tape, in[1])};
  struct lowering does = {.opcode = DOES_GRIDSAMPLE, .in = lies, .out = &out};
  if (tape->lowers && lies[1].rank == lies[0].rank)
    lies[1] = strides_insert(&lies[1], 0, 1, 0);
  lowering_add(&does, sample->mode ? sample->mode - 1 : 0);
  lowering_add(&does, sample->beyond ? sample->beyond - 1 : 0);
  lowering_add(&does, sample->corners);
  if (groups_of(layer) > 1 && !tape->lowers) {
    pair[0] = merge(tape, in[0]);
    if (!layout_is_whole(tape, in[1]))
      pair[1] = merge(tape, in[1]);
  }
  return gridsample_run(tape, pair, &does, &layer->out);
}

LAYER_KIND(gridsample, "Shape",
           "values of a map at points that the net computes",
           LAYER_ARGS(gridsample, gridsample_specs), .shape = gridsample_shape,
           .trace = gridsample_trace);
