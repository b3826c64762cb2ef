/* relu to logsoftmax: functions of each value, or along the last axis. */
#include <inttypes.h>

#include "layers/layer.h"

struct activation {
  double parameter; /* leaky: the slope; elu: alpha */
  int approximate;  /* gelu: by tanh */
};

#define PARAMETER(arg, value, text, what)                                \
  ARG(REAL, POSITION, arg, activation, parameter, .initial_real = value, \
      .fallback = text, .doc = what)

static const struct arg_spec leaky_specs[] = {
    PARAMETER("slope", 0.01, "0.01", "factor for values below 0"), SPEC_END};
static const struct arg_spec elu_specs[] = {
    PARAMETER("alpha", 1.0, "1", "limit for values below 0"), SPEC_END};

static const struct arg_spec gelu_specs[] = {
    ARG(CHOICE, KEY, "approximate", activation, approximate, .words = "tanh",
        .fallback = "none",
        .doc = "tanh: x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))"),
    SPEC_END};

/* relu of relu, or of a sigmoid, changes nothing. */
static bool same_kind(const struct layer *layer, const struct layer *before) {
  return layer->kind == before->kind;
}

static void prelu_params(const struct layer *layer, struct params *params) {
  params_add_vector(params, "weight", shape_channels(layer->in[0]), 0.25, 0);
}

/* How the framework computes a function; MEMORY: docs/memory.md, section 2. */
static size_t function(const struct layer *layer, struct tape *tape,
                       const size_t *in, struct operation op) {
  const struct activation *activation = layer->args;
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = layer->kind->opcode, .out = &out};
  if (layer->kind->opcode == DOES_GELU && activation->approximate)
    does.opcode = DOES_GELUTANH;
  else if (layer->kind->specs)
    does.real[0] = activation->parameter;
  op.does = &does;
  op.elementwise = true;
  op.packs = op.cast == CAST_FULL || tape->node_param_count; /* not by value */
  op.by_channel = op.cast != CAST_FULL;                      /* not softmax */
  op.all_params = true;
  if (tape->training && tape->node_param_count && !tape_trains(tape, 0))
    op.back_work = extent_fixed(tape->node_params[0].count, WIDTH_NET);
  return layer_run(layer, tape, in[0], op);
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

/* Half of the channels are gates for the others. */
static bool glu_shape(struct layer *layer) {
  int64_t channels = shape_channels(layer->in[0]);
  if (channels % 2 != 0) {
    struct diagnostic *d =
        layer_fail(layer, GROUPS_DO_NOT_DIVIDE, NULL,
                   "%" PRId64 " channels cannot be halved", channels);
    return diag_help(
        d, "the layer before it has twice the channels that glu gives");
  }
  layer->out = shape_with_channels(layer->in[0], channels / 2);
  return true;
}

static size_t glu_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  struct strides out = strides_of(&layer->out);
  return layer_run(layer, tape, in[0],
                   (struct operation){.name = "glu",
                                      .does = LOWERS(GLU, .out = &out),
                                      .keeps = KEEPS_IN(0)});
}

LAYER_KIND(glu, "Activation",
           "the first half of the channels times sigmoid(the second half)",
           .shape = glu_shape, .trace = glu_trace);

#define ACTIVATION(id, code, text, how, ...)                    \
  LAYER_KIND(id, "Activation", text, .memory = OUTPUT_IN_PLACE, \
             .opcode = DOES_##code, .shape = layer_same_shape,  \
             .trace = trace_##how, __VA_ARGS__)

#define IN_PLACE .overwrites = true
#define WITH(rows) LAYER_ARGS(activation, rows)

ACTIVATION(relu, RELU, "max(x, 0)", output, IN_PLACE, .redundant = same_kind);
ACTIVATION(relu6, RELU6, "min(max(x, 0), 6)", clones, IN_PLACE,
           .redundant = same_kind);
ACTIVATION(leaky, LEAKY, "x, or slope * x below 0", either, IN_PLACE,
           WITH(leaky_specs));
ACTIVATION(elu, ELU, "x, or alpha * (exp(x) - 1) below 0", either, IN_PLACE,
           WITH(elu_specs));
ACTIVATION(selu, SELU, "scaled elu, which keeps mean and variance", input, );
ACTIVATION(prelu, PRELU, "x, or a learned slope by channel * x below 0", input,
           .params = prelu_params);
ACTIVATION(gelu, GELU, "x * Phi(x)", input, WITH(gelu_specs));
ACTIVATION(silu, SILU, "x * sigmoid(x), also called swish", clones, IN_PLACE);
ACTIVATION(mish, MISH, "x * tanh(softplus(x))", clones, IN_PLACE);
ACTIVATION(sigmoid, SIGMOID, "1 / (1 + exp(-x))", result, .loss = "bce");
ACTIVATION(hsigmoid, HSIGMOID, "relu6(x + 3) / 6", input, );
ACTIVATION(hswish, HSWISH, "x * relu6(x + 3) / 6", clones, IN_PLACE);
ACTIVATION(tanh, TANH, "hyperbolic tangent", result, );
ACTIVATION(softplus, SOFTPLUS, "log(1 + exp(x))", input, );
ACTIVATION(softmax, SOFTMAX, "exp(x) / sum, along the last axis", softmax,
           .redundant = same_kind, .loss = "crossentropy");
ACTIVATION(logsoftmax, LOGSOFTMAX, "log of softmax, along the last axis",
           softmax, .redundant = same_kind, .loss = "crossentropy");

/* The trace of its input. */
static size_t same(const struct layer *layer, struct tape *tape,
                   const size_t *in) {
  (void)layer;
  (void)tape;
  return in[0];
}

LAYER_KIND(identity, "Activation",
           "its input, unchanged; `act=identity` leaves an activation out",
           .memory = OUTPUT_VIEW, .input = INPUT_ANY, .shape = layer_same_shape,
           .trace = same, .idle = true);
