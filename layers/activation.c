/* Activations: elementwise functions, gated ones, and softmax along an axis. */
#include <inttypes.h>

#include "layers/layer.h"
#include "layers/tape/lowering.h"

struct activation {
  double parameter; /* slope, alpha, exponent; hardtanh: the minimum */
  double most;      /* hardtanh: the maximum */
  int approximate;  /* gelu: the tanh approximation */
  int shared;       /* prelu: one slope for all channels */
  struct axes axis; /* softmax; not given: the last */
  int causal;       /* softmax of scores: hides later positions */
};

#define PARAMETER(arg, value, text, what)                                \
  ARG(REAL, POSITION, arg, activation, parameter, .initial_real = value, \
      .fallback = text, .doc = what)

static const struct arg_spec leaky_specs[] = {
    PARAMETER("slope", 0.01, "0.01", "factor for values below 0"), SPEC_END};
static const struct arg_spec elu_specs[] = {
    PARAMETER("alpha", 1.0, "1", "limit for values below 0"), SPEC_END};

static const struct arg_spec pow_specs[] = {
    ARG(REAL, POSITION, "exponent", activation, parameter, .required = true,
        .doc = "a number: `pow 2`, `pow -0.5`"),
    SPEC_END};

static const struct arg_spec hardtanh_specs[] = {
    PARAMETER("low", -1.0, "-1", "the minimum"),
    ARG(REAL, POSITION, "high", activation, most, .initial_real = 1,
        .fallback = "1", .doc = "the maximum"),
    SPEC_END};

#define AXIS                                                      \
  ARG(AXIS, WORD, "axis", activation, axis, .words = "c h w d l", \
      .fallback = "the last",                                     \
      .doc = "the axis whose values add up to 1; also `axis=0`")

static const struct arg_spec logsoftmax_specs[] = {AXIS, SPEC_END};
static const struct arg_spec softmax_specs[] = {
    AXIS,
    ARG(WORDS, WORD, "causal", activation, causal, .words = "causal",
        .doc = "attention scores (queries x keys): later tokens are masked "
               "first"),
    SPEC_END};

static const struct arg_spec gelu_specs[] = {
    ARG(CHOICE, KEY, "approximate", activation, approximate, .words = "tanh",
        .fallback = "none",
        .doc = "tanh: x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))"),
    SPEC_END};

static const struct arg_spec prelu_specs[] = {
    ARG(WORDS, WORD, "shared", activation, shared, .words = "shared",
        .doc = "one slope for all channels, as nn.PReLU() has"),
    SPEC_END};

/* A second relu, or a relu after a sigmoid, changes nothing. */
static bool same_kind(const struct layer *layer, const struct layer *before) {
  return layer->kind == before->kind;
}

static void prelu_params(const struct layer *layer, struct params *params) {
  const struct activation *activation = layer->args;
  int64_t slopes = activation->shared ? 1 : shape_channels(layer->in[0]);
  params_add_vector(params, "weight", slopes, 0.25, 0);
}

/* The runtime's operation; its reals are in the order of the members. */
static struct lowering lowered(const struct layer *layer) {
  const struct activation *activation = layer->args;
  struct lowering does = {.opcode = layer->kind->opcode};
  if (!layer->kind->specs)
    return does;
  does.real[0] = activation->parameter;
  does.real[1] = activation->most;
  if (does.opcode == DOES_GELU && activation->approximate)
    does.opcode = DOES_GELUTANH;
  return does;
}

/* Records a function as a framework runs it. MEMORY:
 * docs/memory.md, section 2. */
static size_t function(const struct layer *layer, struct tape *tape,
                       const size_t *in, struct operation op) {
  struct strides out = strides_of(&layer->out);
  struct lowering does = lowered(layer);
  if (!op.does)
    op.does = &does;
  if (!does.out)
    does.out = &out;
  op.elementwise = true;
  op.by_channel = !op.packs; /* not softmax */
  op.gradient_as_in =        /* threshold_backward, leaky_relu_backward */
      layer->kind->opcode == DOES_RELU || layer->kind->opcode == DOES_LEAKY;
  op.all_params = true;
  /* A kernel that computes it again from the input, which the product keeps. */
  if (tape->gated && op.by_channel && !tape->node_param_count) {
    op.keeps = 0;
    op.result = RESULT_VIEW;
    op.gradient = GRADIENT_SHARED;
  }
  if (tape->training && tape->profile->maps_prelu && tape->node_param_count &&
      !tape_trains(tape, 0))
    op.back_work = extent_fixed(tape->node_params[0].count, WIDTH_NET);
  return layer_run(layer, tape, in[0], op);
}

/* Backward reads the output; the function may run in place. */
static size_t trace_output(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return function(
      layer, tape, in,
      (struct operation){.keeps = KEEPS_OUT, .result = RESULT_IN_PLACE});
}

/* Backward reads the input, or the output if it runs in place: leaky, elu. */
static size_t trace_either(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return function(
      layer, tape, in,
      (struct operation){.keeps = KEEPS_IN(0), .result = RESULT_IN_PLACE});
}

/* Backward reads the input; running in place saves a clone of it. */
static size_t trace_clones(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return function(layer, tape, in,
                  (struct operation){.keeps = KEEPS_IN(0),
                                     .result = RESULT_IN_PLACE,
                                     .in_place_clones = true});
}

/* Backward reads the output; never in place. */
static size_t trace_result(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  return function(layer, tape, in, (struct operation){.keeps = KEEPS_OUT});
}

/* Backward reads the input; never in place. */
static size_t trace_input(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  return function(layer, tape, in, (struct operation){.keeps = KEEPS_IN(0)});
}

/* Workspace of backward: `count` values for each value of the output. */
static struct extent held(const struct layer *layer, int64_t count) {
  return extent_sample(size_product(count, shape_values(&layer->out)),
                       WIDTH_NET);
}

/* The same in 32 bits under autocast. */
static size_t trace_wide_result(const struct layer *layer, struct tape *tape,
                                const size_t *in) {
  return function(layer, tape, in,
                  (struct operation){.keeps = KEEPS_OUT, .cast = CAST_FULL});
}

static size_t trace_wide_input(const struct layer *layer, struct tape *tape,
                               const size_t *in) {
  return function(layer, tape, in,
                  (struct operation){.keeps = KEEPS_IN(0), .cast = CAST_FULL});
}

/* gradient / (2 * output) */
static size_t trace_sqrt(const struct layer *layer, struct tape *tape,
                         const size_t *in) {
  return function(
      layer, tape, in,
      (struct operation){.keeps = KEEPS_OUT, .back_work = held(layer, 1)});
}

/* gradient * sign(input) */
static size_t trace_abs(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return function(
      layer, tape, in,
      (struct operation){.keeps = KEEPS_IN(0), .back_work = held(layer, 1)});
}

/* gradient * cos(input) */
static size_t trace_sin(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return trace_abs(layer, tape, in);
}

/* gradient * -sin(input) */
static size_t trace_cos(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return function(
      layer, tape, in,
      (struct operation){.keeps = KEEPS_IN(0), .back_work = held(layer, 2)});
}

static size_t trace_neg(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return function(layer, tape, in, (struct operation){.keeps = 0});
}

/* gradient * (exponent * input^(exponent - 1)) */
static size_t trace_pow(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  return trace_cos(layer, tape, in);
}

/*
 * prelu_cpu() and prelu_backward_cpu() of ATen/native/Activation.cpp. A shared
 * slope is broadcast over the channels on any axis; other slopes need channels
 * on the first axis. Output and gradient have the map's memory format
 * (suggest_memory_format). The input gets a gradient even if none is needed.
 * From 2.0 on the slopes get one of the input's size, too, even if they are
 * frozen (prelu_backward of ATen/native/Activation.cpp).
 */
static size_t trace_prelu(const struct layer *layer, struct tape *tape,
                          const size_t *in) {
  const struct activation *activation = layer->args;
  int64_t channels = shape_channels(layer->in[0]);
  struct strides slope = strides_dense(1, &channels);
  struct strides out = strides_of(&layer->out);
  if (activation->shared)
    slope.stride[0] = 0;
  struct extent copy = extent_fixed(tape->node_params[0].count, WIDTH_LOW);
  if (!tape->mixed)
    copy.count = 0; /* autocast keeps its copy of the slopes */
  bool packs = tape->profile->maps_prelu;
  int64_t both = packs ? 1 : 2;
  struct extent unwanted = extent_of(&layer->out);
  unwanted.count = size_product(both - tape->values.at[in[0]].needs_gradient,
                                unwanted.count);
  bool front = layout_of_axes(tape, tape->values.at[in[0]].strides);
  bool map = packs && (front || !activation->shared);
  uint32_t layout =
      map ? layout_of_map(tape, in[0], layer->in[0], LAST_2D | LAST_3D)
          : layout_of_result(tape, in[0], true, packs, &out);
  return function(
      layer, tape, in,
      (struct operation){.does = LOWERS(PRELU, .out = &out, .weights = &slope),
                         .keeps = KEEPS_IN(0),
                         .layout = layout,
                         .map = map ? map_order(layer->in[0], LAST_2D | LAST_3D)
                                    : MAP_NONE,
                         .kept = {copy},
                         .back_work = unwanted});
}

/* softsign, x / (|x| + 1): three operations, which also keep the sum. The
 * quotient's gradient for it takes three steps. */
static size_t trace_softsign(const struct layer *layer, struct tape *tape,
                             const size_t *in) {
  struct extent values = extent_of(&layer->out), work = values, size = {0};
  work.count = size_product(3, values.count);
  if (!tape->lowers && !tape->values.at[in[0]].needs_gradient)
    size = values; /* the sum is freed */
  return function(layer, tape, in,
                  (struct operation){.keeps = KEEPS_IN(0),
                                     .kept = {values},
                                     .work = size,
                                     .back_work = work});
}

static int softmax_axis(const struct layer *layer) {
  const struct activation *activation = layer->args;
  return activation->axis.count
             ? axis_index(activation->axis.at[0], layer->in[0])
             : layer->in[0]->rank - 1;
}

static bool check_causal(const struct layer *layer) {
  const struct activation *activation = layer->args;
  struct diagnostic *d;
  if (!activation->causal)
    return true;
  if (layer->in[0]->rank < 2) {
    d = layer_fail(layer, WRONG_RANK, "causal",
                   "`causal` needs scores (queries x keys), not %s",
                   shape_text(layer->in[0]).text);
    return diag_help(d, "`matmul` of queries and keys computes them");
  }
  if (softmax_axis(layer) == layer->in[0]->rank - 1)
    return true;
  return layer_refuse(layer, WRONG_AXIS, "axis",
                      "`causal` needs the last axis, the axis of the keys");
}

static bool softmax_shape(struct layer *layer) {
  if (softmax_axis(layer) < 0)
    return layer_refuse(layer, WRONG_AXIS, "axis", "%s has no such axis",
                        shape_text(layer->in[0]).text);
  return check_causal(layer) && layer_same_shape(layer);
}

/* A second softmax along the same axis is a mistake: it
 * only flattens values. */
static bool same_axis(const struct layer *layer, const struct layer *before) {
  return same_kind(layer, before) &&
         softmax_axis(layer) == softmax_axis(before);
}

/* torch.masked_fill; the mask is made for it. */
static size_t hide(const struct layer *layer, struct tape *tape, size_t in) {
  const struct shape *shape = layer->in[0];
  struct extent hidden = extent_fixed(
      size_product(shape->dim[shape->rank - 2], shape->dim[shape->rank - 1]),
      WIDTH_BOOL);
  struct lowering does = {.opcode = DOES_MASK};
  lowering_add(&does, -1); /* no lower limit */
  lowering_add(&does, 0);
  hidden.whole = true;
  struct operation op = {.name = "mask", .does = &does, .elementwise = true};
  tape_makes(tape, &op, hidden);
  return layer_run(layer, tape, in, op);
}

/* Sums of exponentials are computed in 32 bits. */
static size_t trace_softmax(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  size_t hidden;
  if (((const struct activation *)layer->args)->causal) {
    hidden = hide(layer, tape, in[0]);
    in = &hidden;
  }
  int axis = softmax_axis(layer), last = layer->out.rank - 1;
  struct strides lies = tape_strides(tape, in[0]);
  struct strides out = strides_of(&layer->out), to = out;
  if (tape->lowers && lies.rank == out.rank) {
    lies = strides_move(&lies, axis, last);
    to = strides_move(&to, axis, last);
  }
  struct lowering does = {
      .opcode = layer->kind->opcode, .in = &lies, .out = &to};
  size_t value = function(layer, tape, in,
                          (struct operation){.does = &does,
                                             .keeps = softmax_keeps(tape),
                                             .packs = true,
                                             .cast = CAST_FULL});
  tape_see(tape, value, &out);
  return value;
}

/* Half of the channels gate the other half. */
static bool glu_shape(struct layer *layer) {
  int64_t channels = shape_channels(layer->in[0]);
  if (channels % 2 != 0) {
    struct diagnostic *d =
        layer_fail(layer, GROUPS_DO_NOT_DIVIDE, NULL,
                   "glu halves the channels, but %" PRId64 " is odd", channels);
    return diag_help(
        d, "give the layer before it twice the channels that glu returns");
  }
  layer->out = shape_with_channels(layer->in[0], channels / 2);
  return true;
}

static size_t glu_trace(const struct layer *layer, struct tape *tape,
                        const size_t *in) {
  struct strides out = strides_of(&layer->out);
  struct strides half = layout_as_seen(tape, in[0], layer->in[0]);
  half.dim[layer->out.rank - 1] = shape_channels(&layer->out);
  return layer_run(
      layer, tape, in[0],
      (struct operation){.name = "glu",
                         .does = LOWERS(GLU, .out = &out),
                         .layout = layout_of_part(tape, in[0], &half),
                         .keeps = KEEPS_IN(0)});
}

LAYER_KIND(glu, "Activation",
           "the first half of the channels times sigmoid(the second half)",
           .shape = glu_shape, .trace = glu_trace);

static bool hardtanh_shape(struct layer *layer) {
  const struct activation *activation = layer->args;
  if (!(activation->parameter < activation->most))
    return layer_refuse(layer, OUT_OF_RANGE, "high",
                        "the maximum must be above the minimum");
  return layer_same_shape(layer);
}

#define ACTIVATION(id, code, text, how, ...)                    \
  LAYER_KIND(id, "Activation", text, .memory = OUTPUT_IN_PLACE, \
             .opcode = DOES_##code, .shape = layer_same_shape,  \
             .trace = trace_##how, __VA_ARGS__)

/* Functions without arguments: rows of ops.def define them. The rule of thumb
 * counts arithmetic as activations. */
#define TRAIT_ARITHMETIC
#define TRAIT_PLAIN .memory = OUTPUT_IN_PLACE
#define TRAIT_IN_PLACE .memory = OUTPUT_IN_PLACE, .overwrites = true
#define TRAIT_CLIPS TRAIT_IN_PLACE, .redundant = same_kind
#define TRAIT_CHANCE .memory = OUTPUT_IN_PLACE, .loss = "bce"
#define FUNCTION(id, code, plain, call, how, trait, formula, ...) \
  LAYER_KIND(id, "Activation", formula, .opcode = DOES_##code,    \
             .shape = layer_same_shape, .trace = trace_##how, TRAIT_##trait);
#include "ops/ops.def"

#define IN_PLACE .overwrites = true
#define WITH(rows) LAYER_ARGS(activation, rows)

ACTIVATION(leaky, LEAKY, "x, or slope * x below 0", either, IN_PLACE,
           WITH(leaky_specs));
ACTIVATION(elu, ELU, "x, or alpha * (exp(x) - 1) below 0", either, IN_PLACE,
           WITH(elu_specs));
ACTIVATION(celu, CELU, "x, or alpha * (exp(x / alpha) - 1) below 0", either,
           IN_PLACE, WITH(elu_specs));
ACTIVATION(prelu, PRELU, "x, or a learned slope by channel * x below 0", prelu,
           .params = prelu_params, .cast = CAST_LOW, WITH(prelu_specs));
ACTIVATION(gelu, GELU, "x * Phi(x)", input, WITH(gelu_specs));
LAYER_KIND(pow, "Activation", "a power of each value", .opcode = DOES_POW,
           .shape = layer_same_shape, .trace = trace_pow, .cast = CAST_FULL,
           WITH(pow_specs));
LAYER_KIND(hardtanh, "Activation", "min(max(x, low), high)",
           .memory = OUTPUT_IN_PLACE, .opcode = DOES_HARDTANH,
           .shape = hardtanh_shape, .trace = trace_clones, IN_PLACE,
           WITH(hardtanh_specs));

#define SOFTMAX(id, code, text, rows)                           \
  LAYER_KIND(id, "Activation", text, .memory = OUTPUT_IN_PLACE, \
             .opcode = DOES_##code, .shape = softmax_shape,     \
             .trace = trace_softmax, .redundant = same_axis,    \
             .loss = "crossentropy", WITH(rows))

SOFTMAX(softmax, SOFTMAX, "exp(x) / sum, along an axis", softmax_specs);
SOFTMAX(logsoftmax, LOGSOFTMAX, "log of softmax, along an axis",
        logsoftmax_specs);

/* The output is the input's value. */
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
