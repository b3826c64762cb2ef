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

/* deconv stores its weights as I x O/groups x K.. in PyTorch. */
static bool is_turned(const struct param *weight) {
  return weight->order == FILE_IN_FIRST;
}

/* Rows of the matrix that spectral_norm reshapes the weights to. */
static int64_t rows_of(const struct param *weight) {
  return is_turned(weight) ? outputs_of(weight) / weight->groups
                           : outputs_of(weight);
}

/* torch.nn.utils.weight_norm: a length for each index of the first axis. */
static struct param lengths_of(const struct param *weight) {
  struct param lengths = *weight;
  int last = weight->rank - 1;
  lengths.name = "weight_g";
  lengths.part = true;
  lengths.narrow = false;
  for (int i = 0; i < last; i++)
    if (i < last - 1 || !is_turned(weight))
      lengths.dim[i] = 1;
  if (is_turned(weight))
    lengths.dim[last] = weight->groups;
  lengths.center = 1;
  lengths.spread = 0.5;
  return lengths;
}

/* torch.nn.utils.spectral_norm: the two vectors of its power iteration. */
static void add_vectors(struct params *params, const struct param *weight) {
  struct param vector = {.rank = 1, .buffer = true, .part = true, .spread = 1};
  vector.name = "weight_u";
  vector.dim[0] = rows_of(weight);
  params_add(params, vector);
  vector.name = "weight_v";
  vector.dim[0] = count_of(weight) / rows_of(weight);
  params_add(params, vector);
}

/* Stored as Nx1x1x1 in files: timm's ScaledStdConv2d. */
static void add_gain(struct params *params, const struct param *weight) {
  struct param gain = *weight;
  gain.name = "gain";
  gain.part = true;
  gain.narrow = false;
  for (int i = 0; i < gain.rank - 1; i++)
    gain.dim[i] = 1;
  gain.center = 1;
  gain.spread = 0.5;
  params_add(params, gain);
}

void computed_params(struct params *params, enum computed how, bool gain,
                     struct param weight, struct param bias) {
  bool late = how == WEIGHTS_WNORM || how == WEIGHTS_SPECTRAL;
  if (late && bias.rank)
    params_add(params, bias);
  if (how == WEIGHTS_WNORM)
    params_add(params, lengths_of(&weight));
  if (late)
    weight.name = how == WEIGHTS_WNORM ? "weight_v" : "weight_orig";
  struct param plain = weight;
  weight.computed = how;
  if (how == WEIGHTS_SPECTRAL)
    weight.parts[1] = 2;
  if (late)
    weight.parts[0] = how == WEIGHTS_WNORM ? -1 : 1;
  else if (gain)
    weight.parts[0] = bias.rank ? 2 : 1;
  params_add(params, weight);
  if (how == WEIGHTS_SPECTRAL)
    add_vectors(params, &plain);
  if (!late && bias.rank)
    params_add(params, bias);
  if (gain)
    add_gain(params, &plain);
}

/* Tensors kept besides the weights: statistics and scaled gains, lengths, or
 * copies of the vectors and the singular value. Returns their number. */
static int kept_of(enum computed how, bool gain, const struct param *weight,
                   struct extent kept[3]) {
  int64_t rows = rows_of(weight);
  struct param lengths = lengths_of(weight);
  switch (how) {
  case WEIGHTS_WS:
    kept[0] = kept[1] = extent_fixed(rows, WIDTH_F32);
    kept[2] = extent_fixed(gain ? rows : 0, WIDTH_F32);
    return 2 + gain;
  case WEIGHTS_WNORM:
    kept[0] = extent_fixed(count_of(&lengths), WIDTH_NET);
    return 1;
  default:
    kept[0] = extent_fixed(count_of(weight) / rows, WIDTH_NET);
    kept[1] = extent_fixed(rows, WIDTH_NET);
    kept[2] = extent_fixed(1, WIDTH_NET);
    return 3;
  }
}

bool computed_check(const struct layer *layer, enum computed how,
                    bool adapted) {
  if (how == WEIGHTS_PLAIN || !adapted)
    return true;
  return layer_refuse(layer, DUPLICATE_ARGUMENT, "lora",
                      "LoRA cannot adapt computed weights");
}

static const char *const names[] = {
    [WEIGHTS_WNORM] = "wnorm",
    [WEIGHTS_SPECTRAL] = "spectral",
    [WEIGHTS_WS] = "ws",
};

/* Reads the input, copied to rows if `by_rows`. The caller's reference keeps
 * the original in memory until the product is done. */
static void add_input(struct tape *tape, size_t in, bool by_rows, size_t *read,
                      struct operation *op) {
  read[0] = in;
  if (by_rows)
    read[0] = tape_rows(tape, in, &op->rows);
  if (read[0] == in || !tape->training)
    return;
  read[op->in_count++] = in;
  op->held = 1;
}

/*
 * torch.nn.utils set the weights as an attribute of the module, which holds
 * them until the next ones are computed. The weights of the last use are put in
 * `before` if they are still in memory. Returns how many: 0 or 1.
 */
static int replace_weights(struct tape *tape, size_t *before) {
  uint32_t *had = &tape->computed[tape->node_params[0].index];
  if (!tape->training || !*had)
    return 0;
  *before = *had - 1;
  tape->storages.at[tape->values.at[*before].storage].stays = false;
  return 1;
}

static void keep_weights(struct tape *tape, size_t weights) {
  tape->computed[tape->node_params[0].index] = tape_place(tape, weights + 1);
  tape->storages.at[tape->values.at[weights].storage].stays = tape->training;
}

/*
 * A framework computes the weights in every step: F.batch_norm of each output
 * (timm's StdConv2d), torch._weight_norm, or a division. A plan stores the
 * computed weights in place of the parameters they come from.
 */
size_t computed_trace(struct tape *tape, enum computed how, size_t in,
                      bool by_rows, const struct param *weight,
                      struct operation op) {
  size_t read[3];
  op.in = read;
  op.in_count = 1;
  op.keeps = KEEPS_IN(0);
  if (how == WEIGHTS_PLAIN || tape->lowers) {
    if (how == WEIGHTS_WNORM || how == WEIGHTS_SPECTRAL) {
      op.first_param = op.param_count - 1 + (how == WEIGHTS_WNORM);
      op.param_step = -op.first_param; /* the bias is first */
    }
    add_input(tape, in, by_rows, read, &op);
    return tape_run(tape, &op);
  }
  bool late = how != WEIGHTS_WS;
  int plain = op.param_count - 1; /* 1 with a bias, 0 without */
  int used = tape->node_param_count - plain;
  bool gain = !late && used > 1; /* a gain, stored after the bias */
  bool turned = by_rows && tape->profile->turned_products &&
                layout_rows(tape, in) == ROWS_TURNED; /* the product uses bmm */
  /* A quotient needs work for its gradient; the gradient of bmm is
   * transposed and is copied. */
  int64_t steps = how == WEIGHTS_SPECTRAL ? 3 : turned && late;
  size_t before;
  int held = late ? replace_weights(tape, &before) : 0;
  struct operation computes = {
      .name = names[how],
      .in = &before,
      .in_count = held,
      .held = held,
      .out = extent_fixed(count_of(weight), WIDTH_NET),
      .always_makes = true,
      .back_work =
          extent_fixed(size_product(steps, count_of(weight)), WIDTH_NET),
      .first_param = late ? plain : 0,
      .param_step = gain ? 1 + plain : 0,
      .param_count = used};
  int made = kept_of(how, gain, weight, computes.kept);
  if (how == WEIGHTS_SPECTRAL && tape->mixed) /* of torch.mv, which is cast */
    computes.kept[0].width = WIDTH_LOW;
  if (gain)
    computes.kept[made] = tape_number(tape);
  if (!tape->training && how != WEIGHTS_SPECTRAL)
    for (int i = 0; i < made; i++) { /* freed with the kernel */
      computes.work.width = computes.kept[i].width;
      computes.work.fixed = true;
      computes.work.count =
          size_sum(computes.work.count, computes.kept[i].count);
    }
  read[1] = tape_run(tape, &computes);
  if (late)
    keep_weights(tape, read[1]);
  op.in_count = 2;
  add_input(tape, in, by_rows, read, &op);
  if (!op.guarded || tape->values.at[in].needs_gradient)
    op.keeps |= KEEPS_IN(1);
  op.first_param = late ? 0 : 1;
  op.param_count = plain;
  return tape_run(tape, &op);
}
