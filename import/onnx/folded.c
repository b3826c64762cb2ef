/*
 * Batch norms that an exporter folded into the convolutions before them.
 * PyTorch does this in evaluation mode. The result looks like a net without
 * batch norms, which needs much less memory for training.
 */
#include "import/onnx/emit.h"

static bool is_activation(const char *type) {
  static const char others[] = "LeakyRelu PRelu Clip Elu";
  return function_find(IN_ONNX, slice_of(type)) ||
         word_index(others, slice_of(type));
}

/* Folding makes a new tensor such as `onnx::Conv_193`. A weight with a module's
 * name, `features.0.weight`, never had a norm. */
static bool has_own_weight(const struct onnx *x, const struct onnx_op *op) {
  const char *name = op->ins[1] < 0 ? NULL : x->values.at[op->ins[1]].name;
  return name && slice_ends(slice_of(name), ".weight");
}

static bool may_be_folded(const struct onnx *x, const struct onnx_op *op) {
  return strcmp(op->type, "Conv") == 0 && op->in_count > 2 && op->ins[2] >= 0 &&
         op->out_count > 0 && op->outs[0] >= 0 && !has_own_weight(x, op);
}

/*
 * Batch norms were probably folded if PyTorch made the file, it has no batch
 * norm, and an activation reads a convolution that has a bias and a weight
 * without a name of its own.
 */
void onnx_find_folded(struct onnx *x) {
  const char *producer = x->model->producer_name;
  bool *biased = arena_alloc(x->arena, x->values.count + 1, sizeof *biased);
  bool found = false;
  x->folded = false;
  if (!producer || strncmp(producer, "pytorch", 7) != 0)
    return;
  for (size_t i = 0; i < x->ops.count; i++) {
    const struct onnx_op *op = &x->ops.at[i];
    if (strcmp(op->type, "BatchNormalization") == 0)
      return;
    if (may_be_folded(x, op))
      biased[op->outs[0]] = true;
  }
  for (size_t i = 0; i < x->ops.count && !found; i++) {
    const struct onnx_op *op = &x->ops.at[i];
    found = is_activation(op->type) && op->in_count > 0 && op->ins[0] >= 0 &&
            biased[op->ins[0]];
  }
  x->folded = found;
}

/* A constant with one value for all channels. */
static struct constant *even(struct onnx *x, int64_t channels, float value) {
  struct constant *c = constant_new(x, TYPE_FLOAT, 1, &channels);
  float *real = ARENA_NEW(x->arena, float);
  *real = value;
  c->fill = true;
  c->real = real;
  return c;
}

/* True if this convolution had a norm after it: not at the end of the net, nor
 * on a single position, as in squeeze and excitation. */
static bool had_norm(const struct onnx *x, const struct graph_shape *shape) {
  int64_t positions = 1;
  for (int i = 0; i + 1 < shape->rank; i++)
    positions *= shape->size[i] > 1 ? 2 : 1;
  return x->folded && positions > 1 && may_be_folded(x, x->at) &&
         !x->values.at[x->at->outs[0]].output;
}

struct graph_node *onnx_unfold_norm(struct onnx *x, struct graph_node *conv,
                                    int64_t channels) {
  if (!had_norm(x, graph_shape(x->graph, conv->index)))
    return conv;
  x->graph->folded++;
  if (!x->options->assume_bn)
    return conv;
  struct graph_node *bn = onnx_layer(x, WORD_BN, conv->index);
  conv->bias = BIAS_WITHOUT;
  onnx_extra(x, conv->index)->weights.count = 0; /* its bias is the norm's */
  onnx_add_weight(x, conv, "weight", onnx_constant(x, 1));
  /* This norm only adds the bias. */
  onnx_put_eps(x, bn, (double)1e-5F);
  onnx_add_weight(x, bn, "weight", even(x, channels, 1));
  onnx_add_weight(x, bn, "bias", onnx_constant(x, 2));
  onnx_add_weight(x, bn, "running_mean", even(x, channels, 0));
  onnx_add_weight(x, bn, "running_var", even(x, channels, 1 - 1e-5F));
  return bn;
}
