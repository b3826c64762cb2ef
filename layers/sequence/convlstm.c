/*
 * convlstm: an lstm of maps, with convolutions as its products (Shi et al.
 * 2015, arXiv 1506.04214; Keras's ConvLSTM2D).
 */
#include <inttypes.h>

#include "layers/layer.h"
#include "layers/tape/lowering.h"

enum { GATES = 4 };

/* Longer clips are one operation. */
enum { MOST_STEPS = 2048 };

struct convlstm {
  int64_t channels;
  struct sizes kernel;
  int nobias, last;
};

static const struct arg_spec convlstm_specs[] = {
    ARG(INT, POSITION, "channels", convlstm, channels, .required = true,
        .min = 1, .doc = "channels of the state"),
    ARG(SIZES, POSITION, "kernel", convlstm, kernel, .required = true, .min = 1,
        .doc = "size of the window, odd: the map keeps its size"),
    ARG(WORDS, WORD, "last", convlstm, last, .words = "last",
        .doc = "return only the last state: a picture"),
    ARG(WORDS, WORD, "nobias", convlstm, nobias, .words = "nobias",
        .doc = "without the biases of the gates"),
    SPEC_END};

/* A clip is TxHxWxC. */
enum { AXIS_STEPS, AXIS_ROWS, AXIS_COLUMNS, AXIS_CHANNELS, CLIP_RANK };

/* Channels of the input and the state, which one convolution reads. */
static int64_t read_channels(const struct layer *layer) {
  const struct convlstm *convlstm = layer->args;
  return size_sum(shape_channels(layer->in[0]), convlstm->channels);
}

static bool check_kernel(const struct layer *layer) {
  const struct convlstm *convlstm = layer->args;
  if (convlstm->kernel.rank > 2) {
    struct diagnostic *d =
        layer_fail(layer, WRONG_RANK, "kernel",
                   "the window of convlstm is HxW, without time");
    return diag_help(d, "`convlstm %" PRId64 " 3x3`", convlstm->channels);
  }
  for (int i = 0; i < convlstm->kernel.rank; i++) {
    int64_t size = convlstm->kernel.at[i];
    if (size % 2 == 1)
      continue;
    struct diagnostic *d = layer_fail(
        layer, OUT_OF_RANGE, "kernel",
        "a window of %" PRId64 " would change the size of the state", size);
    layer_offer_value(d, "kernel", size + 1);
    return diag_help(d, "use an odd window, such as 3x3 or 5x5");
  }
  return true;
}

static bool convlstm_shape(struct layer *layer) {
  const struct convlstm *convlstm = layer->args;
  const struct shape *in = layer->in[0];
  if (in->rank != CLIP_RANK) {
    struct diagnostic *d = layer_fail(layer, WRONG_RANK, NULL,
                                      "convlstm needs a clip (TxHxWxC), not %s",
                                      shape_text(in).text);
    return diag_help(d, in->rank == 2
                            ? "a clip is `input 10x64x64x3`; `lstm` runs "
                              "along a sequence"
                            : "a clip is `input 10x64x64x3`");
  }
  if (!check_kernel(layer))
    return false;
  struct shape clip = shape_with_channels(in, convlstm->channels);
  layer->out =
      convlstm->last ? shape_of(CLIP_RANK - 1, &clip.dim[AXIS_ROWS]) : clip;
  return true;
}

/* One convolution for all gates: ConvLSTMCell of ndrplz/ConvLSTM_pytorch. */
static void convlstm_params(const struct layer *layer, struct params *params) {
  const struct convlstm *convlstm = layer->args;
  int64_t rows = size_product(GATES, convlstm->channels);
  int64_t height = size_at(&convlstm->kernel, 0, 1);
  int64_t width = size_at(&convlstm->kernel, 1, 1);
  int64_t in = read_channels(layer);
  int64_t fan_in = size_product(size_product(height, width), in);
  params_add(params, (struct param){.name = "weight",
                                    .rank = 4,
                                    .dim = {height, width, in, rows},
                                    .order = FILE_OUT_FIRST,
                                    .spread = spread_linear(fan_in)});
  if (!convlstm->nobias)
    params_add_vector(params, "bias", rows, 0, spread_bias(fan_in));
}

static void convlstm_macs(const struct layer *layer, struct terms *terms) {
  const struct convlstm *convlstm = layer->args;
  const struct shape *in = layer->in[0];
  terms_add(
      terms,
      (struct term){.factor = {in->dim[AXIS_STEPS], in->dim[AXIS_ROWS],
                               in->dim[AXIS_COLUMNS], GATES, convlstm->channels,
                               size_at(&convlstm->kernel, 0, 1),
                               size_at(&convlstm->kernel, 1, 1),
                               read_channels(layer)},
                    .count = 8,
                    .split = 5});
}

/* Extent of the maps of `steps`. */
static struct extent maps(const struct layer *layer, int64_t steps,
                          int64_t channels) {
  const struct shape *in = layer->in[0];
  int64_t map = size_product(in->dim[AXIS_ROWS], in->dim[AXIS_COLUMNS]);
  return extent_sample(size_product(size_product(steps, map), channels),
                       WIDTH_NET);
}

/* All steps as one operation. */
static size_t whole_clip(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  const struct convlstm *convlstm = layer->args;
  int64_t channels = convlstm->channels, read = read_channels(layer);
  int64_t steps = layer->in[0]->dim[AXIS_STEPS];
  int64_t own = size_product(GATES + 2, channels);
  return layer_run(
      layer, tape, in[0],
      (struct operation){
          .name = "convlstm",
          .does = LOWERS(UNKNOWN, 0),
          .kept = {maps(layer, steps, size_sum(read, own))},
          .work = convlstm->last ? maps(layer, 1, size_product(GATES, channels))
                                 : maps(layer, steps, channels),
          .back_work = maps(layer, steps, shape_channels(layer->in[0])),
          .param_count = convlstm->nobias ? 1 : 2,
          .splits = true,
          .cast = CAST_LOW});
}

/* Variables of a Python frame in order of assignment. Each step replaces the
 * gates and the convolution's input. */
enum { CLIP, HIDDEN, CELL, FIRST_GATE, READ = FIRST_GATE + GATES, NAMES };

struct convlstm_steps {
  const struct layer *layer;
  struct tape *tape;
  struct extent unit; /* extent of a state */
  /* values of the Python frame; `names` are assigned */
  size_t frame[NAMES];
  int names;
};

/* An operation on `count` values. Those of the frame stay in
 * memory until it has run. */
static size_t run(const struct convlstm_steps *s, const size_t *in, int count,
                  struct operation op) {
  size_t all[2 + NAMES];
  memcpy(all, in, (size_t)count * sizeof *all);
  memcpy(all + count, s->frame, (size_t)s->names * sizeof *all);
  op.in = all;
  op.in_count = count + s->names;
  op.held = s->names;
  return tape_run(s->tape, &op);
}

static size_t activate(const struct convlstm_steps *s, size_t x,
                       const char *name) {
  return run(
      s, &x, 1,
      (struct operation){.name = name, .out = s->unit, .keeps = KEEPS_OUT});
}

static size_t multiply(const struct convlstm_steps *s, size_t x, size_t y) {
  return run(s, (size_t[]){x, y}, 2,
             (struct operation){.name = "mul",
                                .out = s->unit,
                                .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                .guarded = true});
}

/* Strides of a clip whose maps have channels first. */
static struct strides maps_first(const struct shape *clip) {
  struct strides lies = strides_of(clip);
  lies.stride[AXIS_COLUMNS] = 1;
  lies.stride[AXIS_ROWS] = lies.dim[AXIS_COLUMNS];
  lies.stride[AXIS_CHANNELS] =
      size_product(lies.dim[AXIS_ROWS], lies.dim[AXIS_COLUMNS]);
  return lies;
}

/*
 * The clip with channels first in each map. All steps read it: their gradients
 * are summed in this layout, and the sum becomes a gradient of the input.
 */
static size_t clip_of(const struct layer *layer, struct tape *tape, size_t in) {
  struct strides lies = maps_first(layer->in[0]);
  return tape_run_on(tape, in,
                     (struct operation){.name = "permute",
                                        .out = *tape_extent(tape, in),
                                        .layout = tape->values.at[in].strides,
                                        .result = RESULT_VIEW,
                                        .gradient = GRADIENT_SHARED,
                                        .gradient_rows = strides_rows(
                                            &lies, strides_values(&lies))});
}

/* The map of a step: two views, whose gradients have the size of the clip. */
static size_t map_of(const struct convlstm_steps *s) {
  int64_t channels = shape_channels(s->layer->in[0]);
  struct extent all = *tape_extent(s->tape, s->frame[CLIP]);
  size_t whole = run(
      s, &s->frame[CLIP], 1,
      (struct operation){.name = "slice", .out = all, .result = RESULT_VIEW});
  return run(s, &whole, 1,
             (struct operation){.name = "select",
                                .out = maps(s->layer, 1, channels),
                                .result = RESULT_VIEW});
}

/* Gates: input, forget, output, new. */
static void cell_step(struct convlstm_steps *s) {
  const struct convlstm *convlstm = s->layer->args;
  size_t *gate = &s->frame[FIRST_GATE];
  struct extent all =
      maps(s->layer, 1, size_product(GATES, convlstm->channels));
  size_t read =
      run(s, (size_t[]){map_of(s), s->frame[HIDDEN]}, 2,
          (struct operation){.name = "concat",
                             .out = maps(s->layer, 1, read_channels(s->layer)),
                             .gradient = GRADIENT_SHARED});
  s->names = s->names == NAMES ? READ : s->names;
  size_t gates = run(s, &read, 1,
                     (struct operation){.name = "conv",
                                        .out = all,
                                        .keeps = KEEPS_IN(0),
                                        .param_count = 2 - convlstm->nobias,
                                        .splits = true,
                                        .cast = CAST_LOW});
  size_t at = run(s, &gates, 1,
                  (struct operation){.name = "split",
                                     .out = s->unit,
                                     .outs = GATES,
                                     .result = RESULT_VIEW});
  s->names = FIRST_GATE + 1;
  *gate = read;
  size_t made[GATES];
  for (size_t i = 0; i < GATES; i++)
    made[i] = activate(s, at + i, i < GATES - 1 ? "sigmoid" : "tanh");
  memcpy(gate, made, sizeof made);
  s->frame[READ] = read;
  s->names = NAMES;
  size_t parts[2] = {multiply(s, gate[1], s->frame[CELL]), 0};
  parts[1] = multiply(s, gate[0], gate[3]);
  s->frame[CELL] =
      run(s, parts, 2,
          (struct operation){
              .name = "add", .out = s->unit, .gradient = GRADIENT_SHARED});
  s->frame[HIDDEN] = multiply(s, gate[2], activate(s, s->frame[CELL], "tanh"));
}

/* The last map with channels first, or all maps viewed with channels last. */
static uint32_t layout_of_maps(const struct layer *layer, struct tape *tape,
                               size_t hidden) {
  const struct convlstm *convlstm = layer->args;
  if (convlstm->last)
    return layout_of_map(tape, hidden, &layer->out, LAST_NEVER);
  struct strides lies = maps_first(&layer->out);
  return layout_of_view(tape, &lies, false);
}

/*
 * ndrplz/ConvLSTM_pytorch, operation by operation; the states are stacked after
 * the last step.
 */
static size_t step_by_step(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  const struct convlstm *convlstm = layer->args;
  int64_t count = layer->in[0]->dim[AXIS_STEPS];
  struct convlstm_steps s = {.layer = layer,
                             .tape = tape,
                             .unit = maps(layer, 1, convlstm->channels),
                             .frame = {clip_of(layer, tape, in[0])},
                             .names = HIDDEN};
  struct extent two = s.unit;
  two.count = size_product(2, two.count);
  size_t zeros =
      tape_run(tape, &(struct operation){.name = "zeros", .out = two});
  s.frame[HIDDEN] =
      tape_run_on(tape, zeros,
                  (struct operation){
                      .name = "unbind", .out = s.unit, .result = RESULT_VIEW});
  s.frame[CELL] =
      tape_run(tape, &(struct operation){.name = "zeros", .out = s.unit});
  s.names = FIRST_GATE;
  size_t *outs = arena_alloc(tape->arena, (size_t)count + NAMES, sizeof *outs);
  for (int64_t i = 0; i < count; i++) {
    cell_step(&s);
    outs[i] = s.frame[HIDDEN];
  }
  uint32_t lies = layout_of_maps(layer, tape, s.frame[HIDDEN]);
  if (convlstm->last) {
    tape->values.at[s.frame[HIDDEN]].strides = lies;
    return s.frame[HIDDEN];
  }
  memcpy(outs + count, s.frame, sizeof s.frame);
  return tape_run(tape, &(struct operation){.name = "stack",
                                            .in = outs,
                                            .in_count = (int)count + NAMES,
                                            .held = NAMES,
                                            .out = extent_of(&layer->out),
                                            .layout = lies,
                                            .view = true,
                                            .gradient = GRADIENT_SHARED});
}

static size_t convlstm_trace(const struct layer *layer, struct tape *tape,
                             const size_t *in) {
  bool apart = !tape->lowers && layer->in[0]->dim[AXIS_STEPS] <= MOST_STEPS;
  return apart ? step_by_step(layer, tape, in) : whole_clip(layer, tape, in);
}

LAYER_KIND(convlstm, "Sequence",
           "an lstm on maps, with convolutions for its products",
           LAYER_ARGS(convlstm, convlstm_specs), .shape = convlstm_shape,
           .params = convlstm_params, .macs = convlstm_macs,
           .trace = convlstm_trace);
