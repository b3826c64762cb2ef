/* relu to logsoftmax: functions of each value, or along the last axis. */
#include "layers/layer.h"

struct activation {
  double parameter; /* leaky: the slope; elu: alpha */
};

#define PARAMETER(arg, value, text, what)                                    \
  {                                                                          \
    .name = arg, .type = TYPE_REAL, .place = PLACE_POSITION,                 \
    .offset = offsetof(struct activation, parameter), .initial_real = value, \
    .fallback = text, .doc = what                                            \
  }

static const struct arg_spec leaky_specs[] = {
    PARAMETER("slope", 0.01, "0.01", "factor for values below 0"), SPEC_END};
static const struct arg_spec elu_specs[] = {
    PARAMETER("alpha", 1.0, "1", "limit for values below 0"), SPEC_END};

/* relu of relu, or of a sigmoid, changes nothing. */
static bool same_kind(const struct layer *layer, const struct layer *before) {
  return layer->kind == before->kind;
}

static void prelu_params(const struct layer *layer, struct params *params) {
  params_add(params, (struct param){.name = "weight",
                                    .rank = 1,
                                    .dim = {shape_channels(layer->in[0])},
                                    .center = 0.25});
}

/* How the framework computes a function; MEMORY: docs/memory.md, section 2. */
static size_t function(const struct layer *layer, struct tape *tape,
                       const size_t *in, struct operation op) {
  op.name = layer->kind->name;
  op.in = in;
  op.in_count = 1;
  op.out = extent_of(&layer->out);
  op.elementwise = true;
  op.by_channel = op.cast != CAST_FULL; /* not softmax */
  op.all_params = true;
  return tape_run(tape, &op);
}

/* relu: backward looks at the output. */
static size_t trace_output(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return function(
      layer, tape, in,
      (struct operation){.keeps = KEEPS_OUT, .result = RESULT_IN_PLACE});
}

/* leaky, elu: at the input, or in place at the output. */
static size_t trace_either(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return function(
      layer, tape, in,
      (struct operation){.keeps = KEEPS_IN(0), .result = RESULT_IN_PLACE});
}

/* relu6, silu, mish, hswish: in place they clone the input for it. */
static size_t trace_clones(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return function(layer, tape, in,
                  (struct operation){.keeps = KEEPS_IN(0),
                                     .result = RESULT_IN_PLACE,
                                     .in_place_clones = true});
}

/* sigmoid, tanh: at the output, and never in place. */
static size_t trace_result(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return function(layer, tape, in, (struct operation){.keeps = KEEPS_OUT});
}

/* gelu and others: at the input, and never in place. */
static size_t trace_input(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  return function(layer, tape, in, (struct operation){.keeps = KEEPS_IN(0)});
}

/* Sums of exponentials are computed in 32 bits. */
static size_t trace_softmax(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  return function(layer, tape, in,
                  (struct operation){.keeps = KEEPS_OUT, .cast = CAST_FULL});
}

#define ACTIVATION(id, text, how, ...)                             \
  const struct layer_kind layer_##id = {.name = #id,               \
                                        .summary = text,           \
                                        .family = "Activation",    \
                                        .memory = OUTPUT_IN_PLACE, \
                                        .shape = layer_same_shape, \
                                        .trace = trace_##how,      \
                                        __VA_ARGS__}

#define WITH(rows) .specs = rows, .args_size = sizeof(struct activation)

ACTIVATION(relu, "max(x, 0)", output, .redundant = same_kind);
ACTIVATION(relu6, "min(max(x, 0), 6)", clones, .redundant = same_kind);
ACTIVATION(leaky, "x, or slope * x below 0", either, WITH(leaky_specs));
ACTIVATION(elu, "x, or alpha * (exp(x) - 1) below 0", either, WITH(elu_specs));
ACTIVATION(selu, "scaled elu, which keeps mean and variance", input, );
ACTIVATION(prelu, "x, or a learned slope by channel * x below 0", input,
           .params = prelu_params);
ACTIVATION(gelu, "x * Phi(x)", input, );
ACTIVATION(silu, "x * sigmoid(x), also called swish", clones, );
ACTIVATION(mish, "x * tanh(softplus(x))", clones, );
ACTIVATION(sigmoid, "1 / (1 + exp(-x))", result, .loss = "bce");
ACTIVATION(hsigmoid, "relu6(x + 3) / 6", input, );
ACTIVATION(hswish, "x * relu6(x + 3) / 6", clones, );
ACTIVATION(tanh, "hyperbolic tangent", result, );
ACTIVATION(softplus, "log(1 + exp(x))", input, );
ACTIVATION(softmax, "exp(x) / sum, along the last axis", softmax,
           .redundant = same_kind, .loss = "crossentropy");
ACTIVATION(logsoftmax, "log of softmax, along the last axis", softmax,
           .redundant = same_kind, .loss = "crossentropy");

const struct layer_kind layer_identity = {
    .name = "identity",
    .summary = "its input; an activation that is none, for `act=identity`",
    .family = "Activation",
    .memory = OUTPUT_VIEW,
    .input = INPUT_ANY,
    .shape = layer_same_shape,
    .trace = tape_same,
};
