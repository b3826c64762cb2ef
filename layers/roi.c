/* roialign, roipool: resample boxes of a map to one size. */

#include "layers/layer.h"
#include "layers/tape/lowering.h"

struct roi {
  struct sizes size;
  struct layer_ref boxes;
  double scale;
  int64_t samples; /* roialign; 0: one for each value of the map in a cell */
  int aligned;     /* roialign */
};

#define ROI_ROWS                                                        \
  ARG(SIZES, POSITION, "size", roi, size, .required = true, .min = 1,   \
      .max = 1 << 20, .doc = "size of the output map of each box"),     \
      ARG(INPUT, KEY, "boxes", roi, boxes, .required = true,            \
          .doc = "label of N boxes, Nx4: left, top, right, bottom"),    \
      ARG(REAL, KEY, "scale", roi, scale, .low = 1e-9, .high = 1e9,     \
          .initial_real = 1, .fallback = "1",                           \
          .doc = "size of the map relative to the boxes' coordinates: " \
                 "`1/16`")

static const struct arg_spec roipool_specs[] = {ROI_ROWS, SPEC_END};
static const struct arg_spec roialign_specs[] = {
    ROI_ROWS,
    ARG(INT, KEY, "samples", roi, samples, .min = 0, .max = 1 << 10,
        .fallback = "0",
        .doc = "sampling points of a cell by axis; 0: one for each value that "
               "it covers"),
    ARG(WORDS, WORD, "aligned", roi, aligned, .words = "aligned",
        .doc = "shift boxes by half a value, as Detectron 2 does"),
    SPEC_END};

static bool roi_shape(struct layer *layer) {
  const struct roi *roi = layer->args;
  const struct shape *map = layer->in[0], *boxes = layer->in[1];
  struct diagnostic *d;
  if (map->rank != 3)
    return layer_refuse(layer, WRONG_RANK, NULL,
                        "%s needs a map of HxWxC, not %s", layer->kind->name,
                        shape_text(map).text);
  if (boxes->rank != 2 || boxes->dim[1] != 4 || boxes->dtype != DTYPE_FLOAT) {
    d = layer_fail(layer, SHAPE_MISMATCH, "boxes", "boxes must be Nx4, not %s",
                   shape_text(boxes).text);
    return diag_help(d, "`input boxes 100x4` gives 100 boxes for each sample");
  }
  if (!layer_check_sizes(layer, "size", &roi->size))
    return false;
  int64_t dim[] = {boxes->dim[0], size_at(&roi->size, 0, 1),
                   size_at(&roi->size, 1, 1), map->dim[2]};
  layer->out = shape_of(4, dim);
  return true;
}

/*
 * convert_boxes_to_roi_format of torchvision/ops/_utils.py: prepends the
 * sample's index to each box, which makes five values. With several samples,
 * both are concatenated first.
 */
static size_t number_boxes(const struct layer *layer, struct tape *tape,
                           size_t boxes) {
  struct extent each =
      extent_sample(layer->in[1]->dim[0], WIDTH_NET); /* an index for each */
  struct extent five = each;
  five.count = size_product(5, each.count);
  size_t numbers = tape_run_on(
      tape, boxes, (struct operation){.name = "boxes", .out = each});
  size_t pair[2] = {numbers, boxes};
  struct operation join = {.name = "boxes",
                           .in = pair,
                           .in_count = 2,
                           .out = five,
                           .view_of_one = true};
  size_t read[3] = {tape_run(tape, &join), boxes, numbers};
  return tape_run(
      tape,
      &(struct operation){
          .name = "boxes", .in = read, .in_count = 3, .held = 1, .out = five});
}

/*
 * torchvision.ops keeps the boxes with their indices; roi_pool also keeps
 * 32-bit indices of the largest values. Boxes get no gradient.
 */
static size_t roi_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  const struct roi *roi = layer->args;
  bool align = layer->kind->opcode == DOES_ROIALIGN;
  struct strides out = strides_of(&layer->out);
  struct lowering does = {
      .opcode = layer->kind->opcode, .out = &out, .real = {roi->scale}};
  struct extent places = extent_of(&layer->out);
  places.width = WIDTH_I32;
  if (align) {
    lowering_add(&does, roi->samples);
    lowering_add(&does, roi->aligned);
  }
  size_t pair[2] = {in[0], in[1]};
  bool frames = !tape->lowers; /* for a framework */
  if (frames)
    pair[1] = number_boxes(layer, tape, in[1]);
  if (align || !frames)
    places.count = 0;
  struct extent none = {0};
  size_t value = tape_run(
      tape, &(struct operation){.name = layer->kind->name,
                                .does = &does,
                                .in = pair,
                                .in_count = 2,
                                .held = tape->training,
                                .out = extent_of(&layer->out),
                                .keeps = KEEPS_IN(1),
                                .layout = layout_of_boxes(tape, &layer->out),
                                .map = MAP_FIRST,
                                .kept = {places},
                                .always_makes = true,
                                .work = tape->training ? none : places,
                                .back_work = places, /* zeros of that size */
                                .cast = CAST_FULL});
  /* ops/autocast/roi_pool_kernel.cpp of torchvision: .to(the input's type) */
  return tape_cast_as(tape, value, in[0]);
}

#define ROI(id, code, text)                                              \
  LAYER_KIND(id, "Pooling", text, LAYER_ARGS(roi, id##_specs), .led = 1, \
             .shape = roi_shape, .trace = roi_trace, .opcode = DOES_##code)

ROI(roialign, ROIALIGN, "N boxes cut out of a map by interpolation: NxHxWxC");
ROI(roipool, ROIPOOL,
    "N boxes cut out of a map, the maximum of each cell: NxHxWxC");
