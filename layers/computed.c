/* Weights that are computed from parameters before they are used. */
#include "layers/computed.h"

static int64_t count_of(const struct param *param) {
  int64_t count = 1;
  for (int i = 0; i < param->rank; i++)
    count = size_product(count, param->dim[i]);
  return count;
}

static int64_t outputs_of(const struct param *weight) {
  return weight->dim[weight->rank - 1];
}

/* torch.nn.utils.weight_norm: a length for each output. */
static void add_lengths(struct params *params, const struct param *weight) {
  struct param lengths = *weight;
  lengths.name = "weight_g";
  for (int i = 0; i < lengths.rank - 1; i++)
    lengths.dim[i] = 1;
  lengths.center = 1;
  lengths.spread = 0;
  params_add(params, lengths);
}

/* torch.nn.utils.spectral_norm: the vectors of its power iteration. */
static void add_vectors(struct params *params, const struct param *weight) {
  int64_t outputs = outputs_of(weight);
  struct param vector = {.rank = 1, .buffer = true, .spread = 1};
  vector.name = "weight_u";
  vector.dim[0] = outputs;
  params_add(params, vector);
  vector.name = "weight_v";
  vector.dim[0] = count_of(weight) / outputs;
  params_add(params, vector);
}

void computed_params(struct params *params, enum computed how,
                     struct param weight, struct param bias) {
  bool late = how == WEIGHTS_WNORM || how == WEIGHTS_SPECTRAL;
  if (late && bias.rank)
    params_add(params, bias);
  if (how == WEIGHTS_WNORM)
    add_lengths(params, &weight);
  if (late)
    weight.name = how == WEIGHTS_WNORM ? "weight_v" : "weight_orig";
  params_add(params, weight);
  if (how == WEIGHTS_SPECTRAL)
    add_vectors(params, &weight);
  if (!late && bias.rank)
    params_add(params, bias);
}

/* What is kept besides the weights, in values: of statistics, of lengths, or
 * copies of the vectors and the singular value. */
static struct extent kept_of(enum computed how, const struct param *weight) {
  int64_t outputs = outputs_of(weight);
  switch (how) {
  case WEIGHTS_WS: return extent_fixed(size_product(2, outputs), WIDTH_F32);
  case WEIGHTS_WNORM: return extent_fixed(outputs, WIDTH_NET);
  default:
    return extent_fixed(count_of(weight) / outputs + outputs + 1, WIDTH_NET);
  }
}

/*
 * A framework computes the weights in every step: F.batch_norm of each output
 * (timm's StdConv2d), torch._weight_norm, a division. A plan has them ready.
 */
bool computed_check(const struct layer *layer, enum computed how,
                    bool adapted) {
  if (how == WEIGHTS_PLAIN || !adapted)
    return true;
  return layer_refuse(layer, DUPLICATE_ARGUMENT, "lora",
                      "weights that are computed cannot be adapted, too");
}

size_t computed_trace(struct tape *tape, enum computed how, size_t in,
                      const struct param *weight, struct operation op) {
  static const char *const names[] = {
      [WEIGHTS_WS] = "ws",
      [WEIGHTS_WNORM] = "wnorm",
      [WEIGHTS_SPECTRAL] = "spectral",
  };
  size_t pair[2] = {in};
  op.in = pair;
  op.in_count = 1;
  op.keeps = KEEPS_IN(0);
  if (how == WEIGHTS_PLAIN || tape->lowers) {
    static const struct lowering unknown = {.opcode = DOES_UNKNOWN};
    if (how != WEIGHTS_PLAIN) {
      op.all_params = true;
      op.name = names[how];
      op.does = &unknown;
    }
    return tape_run(tape, &op);
  }
  bool late = how != WEIGHTS_WS;
  int used = how == WEIGHTS_WS ? 1 : how == WEIGHTS_WNORM ? 2 : 3;
  int biases = tape->node_param_count - used;
  pair[1] = tape_run(tape, &(struct operation){
                               .name = names[how],
                               .out = extent_fixed(count_of(weight), WIDTH_NET),
                               .kept = {kept_of(how, weight)},
                               .first_param = late ? biases : 0,
                               .param_count = used});
  op.in_count = 2;
  if (!op.spares || tape->values.at[in].needs_gradient)
    op.keeps |= KEEPS_IN(1);
  op.first_param = late ? 0 : used;
  op.param_count = biases;
  return tape_run(tape, &op);
}
