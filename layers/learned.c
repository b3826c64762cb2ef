/* scale, weight: learned tensors by themselves. */
#include "base/check.h"
#include "layers/layer.h"

static void scale_params(const struct layer *layer, struct params *params) {
  params_add(params, (struct param){.name = "weight",
                                    .rank = 1,
                                    .dim = {shape_channels(layer->in[0])},
                                    .center = 1});
}

/* A product with a parameter, whose gradient is summed over the map. */
static size_t scale_trace(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  size_t pair[2] = {in[0]};
  struct strides lies[2] = {tape_strides(tape, in[0])};
  struct lowering does = {.opcode = DOES_MUL, .in = lies};
  struct extent summed = extent_of(&layer->out); /* over the map, later */
  if (!tape_trains(tape, 0))
    summed.count = 0;
  if (tape->lowers) { /* the parameter is an operand like others */
    pair[1] = tape_parameter(tape, 0);
    lies[1] = strides_dense(1, &lies[0].dim[lies[0].rank - 1]);
    lies[1] = strides_spread(&lies[1], &lies[0]);
  }
  return tape_run(tape, &(struct operation){.name = "scale",
                                            .does = &does,
                                            .in = pair,
                                            .in_count = tape->lowers ? 2 : 1,
                                            .out = extent_of(&layer->out),
                                            .keeps = KEEPS_IN(0),
                                            .all_params = !tape->lowers,
                                            .elementwise = true,
                                            .by_channel = true,
                                            .folds = true,
                                            .back_work = summed,
                                            .spares = true});
}

const struct layer_kind layer_scale = {
    .name = "scale",
    .summary = "a learned factor for each channel",
    .family = "Learned",
    .shape = layer_same_shape,
    .params = scale_params,
    .trace = scale_trace,
};

struct weight {
  struct shape shape;
  int fixed;
};

static const struct arg_spec weight_specs[] = {
    {.name = "shape",
     .type = TYPE_SHAPE,
     .place = PLACE_POSITION,
     .required = true,
     .offset = offsetof(struct weight, shape),
     .doc = "its sizes"},
    {.name = "fixed",
     .type = TYPE_WORDS,
     .place = PLACE_WORD,
     .words = "fixed",
     .offset = offsetof(struct weight, fixed),
     .doc = "a constant, which training leaves alone"},
    SPEC_END};

static bool weight_shape(struct layer *layer) {
  const struct weight *weight = layer->args;
  layer->out = weight->shape;
  for (int i = 0; i < layer->out.rank; i++) {
    if (layer->out.dim[i] != SIZE_ANY)
      continue;
    layer_fail(layer, WRONG_TYPE, "shape", "`_`: nothing tells this size");
    return false;
  }
  return true;
}

/* More than 5 axes are counted together: nothing needs them apart. */
static void weight_params(const struct layer *layer, struct params *params) {
  const struct weight *weight = layer->args;
  struct param param = {.name = "weight",
                        .rank = 5,
                        .buffer = weight->fixed,
                        .whole = &layer->out,
                        .spread = 1};
  for (int i = 0; i < 5; i++)
    param.dim[i] = 1;
  int first = layer->out.rank > 5 ? layer->out.rank - 5 : 0;
  if (layer->out.rank < 5)
    param.rank = layer->out.rank;
  for (int i = 0; i < layer->out.rank; i++) {
    int to = i < first ? 0 : i - first;
    if (!mul_i64(param.dim[to], layer->out.dim[i], &param.dim[to]))
      param.dim[to] = INT64_MAX; /* counted as an overflow later */
  }
  params_add(params, param);
}

static size_t weight_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  (void)in;
  size_t value = tape_parameter(tape, 0);
  struct strides lies = strides_of(&layer->out);
  tape_see(tape, value, &lies);
  return value;
}

const struct layer_kind layer_weight = {
    .name = "weight",
    .summary = "a learned tensor, which becomes the current one",
    .family = "Learned",
    .specs = weight_specs,
    .args_size = sizeof(struct weight),
    .source = true,
    .shape = weight_shape,
    .params = weight_params,
    .trace = weight_trace,
};
