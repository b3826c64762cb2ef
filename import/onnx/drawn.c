/*
 * Numbers that are drawn anew for each sample, by which stochastic depth
 * multiplies a branch: PyTorch's exporter writes bernoulli_(p) as
 * RandomUniformLike, Less and Cast (torch/onnx/symbolic_opset9.py), and a
 * division by p follows (torchvision/ops/stochastic_depth.py).
 */
#include <math.h>
#include <string.h>

#include "import/onnx/fold.h"

enum { UNIFORM = -1 };

static bool give_drawn(struct onnx *x, int type, const struct constant *like,
                       double kept) {
  struct constant *result = constant_new(x, type, like->rank, like->dims);
  result->kept = kept;
  result->unknown = true;
  return onnx_give_constant(x, 0, result);
}

bool fold_uniform(struct onnx *x, struct constant **in) {
  if (fabs(onnx_real(x, "low", 0)) > 0 || fabs(onnx_real(x, "high", 1) - 1) > 0)
    return onnx_fail(x, "only numbers from 0 to 1 are supported");
  return give_drawn(x, TYPE_FLOAT, in[0], UNIFORM);
}

/* A tensor that depends on the inputs. */
bool op_random(struct onnx *x) {
  return onnx_fail(x, "random numbers are supported only for stochastic depth");
}

bool constant_is_drawn(const struct constant *c) {
  return c->kept > 0 || c->kept < 0;
}

bool fold_drawn(struct onnx *x, struct constant **in, int count) {
  const char *type = x->at->type;
  double kept = in[0]->kept, number = 0;
  bool even = count == 2 && constant_is_even(x, in[1], &number);
  if (strcmp(type, "Less") == 0 && kept < 0 && even && number > 0 &&
      number <= 1)
    return give_drawn(x, TYPE_BOOL, in[0], number);
  if (strcmp(type, "Cast") == 0 && kept > 0)
    return give_drawn(x, TYPE_FLOAT, in[0], kept);
  /* droppath divides, too. */
  if (strcmp(type, "Div") == 0 && kept > 0 && even &&
      fabs(number - kept) <= 1e-6)
    return give_drawn(x, TYPE_FLOAT, in[0], kept);
  return onnx_fail(x, "random numbers are supported only for stochastic depth");
}

bool onnx_drop_path(struct onnx *x, const struct onnx_view *in,
                    const struct constant *c) {
  for (int i = 1; i < c->rank; i++)
    if (c->dims[i] != 1)
      return onnx_fail(x, "only whole samples can be dropped");
  if (!(c->kept > 0) || strcmp(x->at->type, "Mul") != 0)
    return onnx_fail(x,
                     "random numbers are supported only for stochastic depth");
  struct graph_node *node = onnx_layer(x, WORD_DROPPATH, in->node);
  graph_flag(x->graph, node,
             onnx_real_text(x, round((1 - c->kept) * 1e6) / 1e6));
  return onnx_give_node(x, in, node->index);
}
