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
  params_add(params, (struct param){.name = "slope",
                                    .rank = 1,
                                    .dim = {shape_channels(layer->in[0])}});
}

#define ACTIVATION(id, text, ...)                                  \
  const struct layer_kind layer_##id = {.name = #id,               \
                                        .summary = text,           \
                                        .family = "Activation",    \
                                        .memory = OUTPUT_IN_PLACE, \
                                        .shape = layer_same_shape, \
                                        __VA_ARGS__}

#define WITH(rows) .specs = rows, .args_size = sizeof(struct activation)

ACTIVATION(relu, "max(x, 0)", .redundant = same_kind);
ACTIVATION(relu6, "min(max(x, 0), 6)", .redundant = same_kind);
ACTIVATION(leaky, "x, or slope * x below 0", WITH(leaky_specs));
ACTIVATION(elu, "x, or alpha * (exp(x) - 1) below 0", WITH(elu_specs));
ACTIVATION(selu, "scaled elu, which keeps mean and variance", );
ACTIVATION(prelu, "x, or a learned slope by channel * x below 0",
           .params = prelu_params);
ACTIVATION(gelu, "x * Phi(x)", );
ACTIVATION(silu, "x * sigmoid(x), also called swish", );
ACTIVATION(mish, "x * tanh(softplus(x))", );
ACTIVATION(sigmoid, "1 / (1 + exp(-x))", .loss = "bce");
ACTIVATION(hsigmoid, "relu6(x + 3) / 6", );
ACTIVATION(hswish, "x * relu6(x + 3) / 6", );
ACTIVATION(tanh, "hyperbolic tangent", );
ACTIVATION(softplus, "log(1 + exp(x))", );
ACTIVATION(softmax, "exp(x) / sum, along the last axis", .redundant = same_kind,
           .loss = "crossentropy");
ACTIVATION(logsoftmax, "log of softmax, along the last axis",
           .redundant = same_kind, .loss = "crossentropy");

const struct layer_kind layer_identity = {
    .name = "identity",
    .summary = "its input; an activation that is none, for `act=identity`",
    .family = "Activation",
    .memory = OUTPUT_VIEW,
    .input = INPUT_ANY,
    .shape = layer_same_shape,
};
