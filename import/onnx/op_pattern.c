/* Patterns: activations, norms and biases written as several operators. */
#include "import/onnx/op_pattern.h"

#include <math.h>
#include <string.h>

/* Tests of the graph. */

static bool is_word(struct onnx *x, int node, enum layer_word word) {
  return node >= 0 && graph_at(x->graph, node)->word == word;
}

/* The only input of a layer of that word; -1: none. */
static int below(struct onnx *x, int node, enum layer_word word) {
  return is_word(x, node, word) && graph_at(x->graph, node)->inputs.count == 1
             ? graph_at(x->graph, node)->inputs.at[0]
             : -1;
}

/* The only input of such a layer with a number; -1: none. */
static int below_number(struct onnx *x, int node, enum layer_word word,
                        double *number) {
  int in = below(x, node, word);
  if (in < 0 || !onnx_extra(x, node)->has_number)
    return -1;
  *number = onnx_extra(x, node)->number;
  return in;
}

static bool near(double a, double b) {
  return fabs(a - b) <= 1e-3 * fabs(b);
}

static bool joins(struct onnx *x, int node, enum layer_word word, int *a,
                  int *b) {
  if (!is_word(x, node, word) || graph_at(x->graph, node)->inputs.count != 2)
    return false;
  *a = graph_at(x->graph, node)->inputs.at[0];
  *b = graph_at(x->graph, node)->inputs.at[1];
  return true;
}

/* The value from which the steps before `Mul` lead to `node`; -1: none. */
static int below_steps(struct onnx *x, int node, const char *steps) {
  const char *rest = strchr(steps, ' ');
  if (!rest)
    return strcmp(steps, "Mul") == 0 ? node : -1;
  const struct function *step =
      function_of_onnx((struct slice){steps, (size_t)(rest - steps)});
  return step ? below(x, below_steps(x, node, rest + 1), step->word) : -1;
}

/* A function of ops.def that multiplies its input by steps of it; else -1. */
static int gated(struct onnx *x, int in, int gate) {
  const struct function *function;
  for (size_t i = 0; (function = function_at(i)); i++)
    if (below_steps(x, gate, function->steps) == in)
      return onnx_layer(x, function->word, in)->index;
  return -1;
}

/* Factors of a product: tensors, and a number. */
struct onnx_product {
  int factor[4], count;
  double number;
};

static bool collect(struct onnx *x, int node, struct onnx_product *p,
                    int depth) {
  double number;
  int a, b, in;
  if ((in = below_number(x, node, WORD_MUL, &number)) >= 0) {
    p->number *= number;
    return collect(x, in, p, depth);
  }
  if ((in = below_number(x, node, WORD_DIV, &number)) >= 0) {
    p->number /= number;
    return collect(x, in, p, depth);
  }
  if (depth < 3 && joins(x, node, WORD_MUL, &a, &b))
    return collect(x, a, p, depth + 1) && collect(x, b, p, depth + 1);
  if (p->count == 4)
    return false;
  p->factor[p->count++] = node;
  return true;
}

/* 1 + erf(x / sqrt(2)), or 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)) of x. */

static bool is_erf_of(struct onnx *x, int node, int in) {
  double one = 0;
  struct onnx_product p = {.number = 1};
  int inner = below_number(x, node, WORD_ADD, &one);
  if (inner < 0 || !near(one, 1) || below(x, inner, WORD_ERF) < 0)
    return false;
  return collect(x, below(x, inner, WORD_ERF), &p, 0) && p.count == 1 &&
         p.factor[0] == in && near(p.number, 0.70710678);
}

/* x^3, as a power or a product */
static bool is_cube(struct onnx *x, const struct onnx_product *p, int in) {
  double three = 0;
  if (p->count == 1)
    return below_number(x, p->factor[0], WORD_POW, &three) == in &&
           near(three, 3);
  return p->count == 3 && p->factor[0] == in && p->factor[1] == in &&
         p->factor[2] == in;
}

static bool is_tanh_of(struct onnx *x, int node, int in) {
  double one = 0;
  struct onnx_product all = {.number = 1}, cube = {.number = 1};
  int a, b, inner = below_number(x, node, WORD_ADD, &one);
  if (inner < 0 || !near(one, 1) || below(x, inner, WORD_TANH) < 0 ||
      !collect(x, below(x, inner, WORD_TANH), &all, 0) ||
      !near(all.number, 0.79788456))
    return false;
  if (all.count == 2) { /* x (1 + 0.044715 x^2) */
    double two = 0, share = 1, unit = 0;
    int rest = all.factor[0] == in ? all.factor[1] : all.factor[0];
    int square = below_number(x, rest, WORD_ADD, &unit);
    int power = square < 0 ? -1 : below_number(x, square, WORD_MUL, &share);
    return near(unit, 1) && near(share, 0.044715) &&
           below_number(x, power, WORD_POW, &two) == in && near(two, 2);
  }
  if (all.count != 1 || !joins(x, all.factor[0], WORD_ADD, &a, &b))
    return false;
  if (a != in) {
    int other = a;
    a = b;
    b = other;
  }
  return a == in && collect(x, b, &cube, 0) && near(cube.number, 0.044715) &&
         is_cube(x, &cube, in);
}

static int gelu(struct onnx *x, const struct onnx_product *p) {
  for (int i = 0; i < 2 && p->count == 2 && near(p->number, 0.5); i++) {
    int in = p->factor[i], other = p->factor[1 - i];
    bool by_tanh = is_tanh_of(x, other, in);
    if (!by_tanh && !is_erf_of(x, other, in))
      continue;
    struct graph_node *node = onnx_layer(x, WORD_GELU, in);
    if (by_tanh)
      graph_arg(x->graph, node, PART_NONE, "approximate=", "tanh");
    return node->index;
  }
  return -1;
}

/* relu6(x + 3) / 6 */
static int hard_sigmoid(struct onnx *x, int clipped, double factor) {
  double three = 0;
  int inner = below(x, clipped, WORD_RELU6);
  int in = inner < 0 ? -1 : below_number(x, inner, WORD_ADD, &three);
  return in >= 0 && near(three, 3) && near(factor, 1.0 / 6) ? in : -1;
}

/* Norms. */

static bool same_args(struct onnx *x, int a, int b) {
  const struct graph_node *one = graph_at(x->graph, a),
                          *two = graph_at(x->graph, b);
  bool same = one->args.count == two->args.count;
  for (size_t i = 0; same && i < one->args.count; i++)
    same = strcmp(one->args.at[i].value, two->args.at[i].value) == 0;
  return same;
}

/* x^2; the axes of `node` may be split as those of x */
static bool is_square(struct onnx *x, int node, int in) {
  double two = 0;
  int a, b;
  if (joins(x, node, WORD_MUL, &a, &b) && a == b)
    return a == in;
  if (below_number(x, node, WORD_POW, &two) >= 0)
    return below_number(x, node, WORD_POW, &two) == in && near(two, 2);
  for (int i = 0; i < 2; i++) {
    enum layer_word word = i ? WORD_RESHAPE : WORD_PERMUTE;
    int from = below(x, node, word), to = below(x, in, word);
    if (from >= 0 && to >= 0 && same_args(x, node, in))
      return is_square(x, from, to);
  }
  return false;
}

/* mean(x^2) over channels */
static bool is_mean_square(struct onnx *x, int node, int in) {
  int inner = below(x, node, WORD_CENTRE);
  return inner >= 0 && is_square(x, inner, in);
}

/* sqrt(mean(x^2) + eps), or that to the power of -1 */
static bool is_root(struct onnx *x, int node, int in, bool inverse,
                    double *eps) {
  double half = 0, minus = 0;
  int inner = below(x, node, WORD_SQRT);
  if (inverse && inner < 0) {
    int whole = below_number(x, node, WORD_POW, &minus);
    if (whole >= 0 && near(minus, -1))
      return is_root(x, whole, in, false, eps);
    inner = near(minus, -0.5) ? whole : -1;
  } else if (inverse) {
    return false;
  } else if (inner < 0) {
    inner = below_number(x, node, WORD_POW, &half);
    inner = near(half, 0.5) ? inner : -1;
  }
  int mean = inner < 0 ? -1 : below_number(x, inner, WORD_ADD, eps);
  return mean >= 0 && is_mean_square(x, mean, in);
}

/* (x - mean(x)) / root of the difference, or x / root of x. */
static int norm(struct onnx *x, int above, int root, bool inverse) {
  double eps = 0;
  int a, b;
  if (!is_root(x, root, above, inverse, &eps))
    return -1;
  bool centred =
      joins(x, above, WORD_SUB, &a, &b) && below(x, b, WORD_CENTRE) == a;
  struct graph_node *node =
      onnx_layer(x, centred ? WORD_LN : WORD_RMSNORM, centred ? a : above);
  graph_flag(x->graph, node, "noaffine");
  onnx_put_eps(x, node, eps);
  return node->index;
}

int pattern_join(struct onnx *x, enum layer_word word, int a, int b) {
  if (word == WORD_DIV)
    return norm(x, a, b, false);
  if (word != WORD_MUL)
    return -1;
  for (int i = 0; i < 2; i++) {
    int in = i ? b : a, gate = i ? a : b;
    int made = gated(x, in, gate);
    if (made >= 0)
      return made;
    int normed = norm(x, in, gate, true);
    if (normed >= 0)
      return normed;
  }
  struct onnx_product p = {.number = 1};
  if (!collect(x, a, &p, 1) || !collect(x, b, &p, 1))
    return -1;
  return gelu(x, &p);
}

int pattern_number(struct onnx *x, enum layer_word word, int in,
                   double number) {
  bool divides = word == WORD_DIV;
  if (!divides && word != WORD_MUL)
    return -1;
  double factor = divides ? 1 / number : number;
  int a, b, sigmoid = hard_sigmoid(x, in, factor);
  if (sigmoid >= 0)
    return onnx_layer(x, WORD_HSIGMOID, sigmoid)->index;
  struct onnx_product p = {.number = factor};
  if (!collect(x, in, &p, 0))
    return -1;
  if (joins(x, in, WORD_MUL, &a, &b))
    for (int i = 0; i < 2; i++)
      if (hard_sigmoid(x, i ? a : b, factor) == (i ? b : a))
        return onnx_layer(x, WORD_HSWISH, i ? b : a)->index;
  return gelu(x, &p);
}

/* A copy of a layer, with its weights. */
static struct graph_node *again(struct onnx *x, int index) {
  const struct graph_node *old = graph_at(x->graph, index);
  struct graph_node *node = onnx_layer(x, old->word, old->inputs.at[0]);
  node->bias = old->bias;
  node->name = old->name;
  node->kind = old->kind;
  node->source = old->source;
  for (size_t i = 0; i < old->args.count; i++)
    *VEC_PUSH(x->arena, &node->args) = old->args.at[i];
  struct extra *extra = onnx_extra(x, node->index);
  const struct extra *from = onnx_extra(x, index);
  for (size_t i = 0; i < from->weights.count; i++)
    *VEC_PUSH(x->arena, &extra->weights) = from->weights.at[i];
  return node;
}

static bool takes_bias(struct onnx *x, int node) {
  if (graph_at(x->graph, node)->bias != BIAS_WITHOUT)
    return false;
  switch (graph_at(x->graph, node)->word) {
  case WORD_CONV:
  case WORD_DWCONV:
  case WORD_DECONV:
  case WORD_FC:
  case WORD_LINEAR: return true;
  default: return false;
  }
}

static bool has_arg(struct onnx *x, int node, const char *value) {
  const struct graph_node *n = graph_at(x->graph, node);
  for (size_t i = 0; i < n->args.count; i++)
    if (strcmp(n->args.at[i].value, value) == 0 && !n->args.at[i].usual)
      return true;
  return false;
}

static bool is_norm(struct onnx *x, int node, const char *without) {
  if (node < 0)
    return false;
  switch (graph_at(x->graph, node)->word) {
  case WORD_LN:
  case WORD_INSTNORM:
  case WORD_GN:
  case WORD_RMSNORM:
  case WORD_BN: return has_arg(x, node, without);
  default: return false;
  }
}

/* Makes the factor or term after a norm part of the norm. */
static int finish_norm(struct onnx *x, int norm, const char *without,
                       const char *weight, const struct constant *c) {
  struct graph_node *node = again(x, norm);
  for (size_t i = 0; i < node->args.count; i++)
    if (strcmp(node->args.at[i].value, without) == 0)
      node->args.at[i].usual = without;
  if (strcmp(weight, "weight") == 0 && node->word != WORD_RMSNORM)
    graph_flag(x->graph, node, "nobias");
  onnx_add_weight(x, node, weight, c);
  return node->index;
}

int pattern_channels(struct onnx *x, enum layer_word word, int in,
                     struct constant *c) {
  if (word == WORD_MUL) {
    if (is_norm(x, in, "noaffine"))
      return finish_norm(x, in, "noaffine", "weight", c);
    struct graph_node *node = onnx_layer(x, WORD_SCALE, in);
    onnx_add_weight(x, node, "weight", c);
    return node->index;
  }
  if (word != WORD_ADD)
    return -1;
  if (takes_bias(x, in)) {
    struct graph_node *node = again(x, in);
    node->bias = BIAS_WITH;
    onnx_add_weight(x, node, "bias", c);
    return node->index;
  }
  if (is_norm(x, in, "nobias"))
    return finish_norm(x, in, "nobias", "bias", c);
  if (!is_word(x, in, WORD_SCALE) || has_arg(x, in, "bias"))
    return -1;
  struct graph_node *node = again(x, in);
  graph_flag(x->graph, node, "bias");
  onnx_add_weight(x, node, "bias", c);
  return node->index;
}

/* Row p has sin(p / 10000^(2i/C)), cos of the same, .. (arXiv 1706.03762). */
static bool are_sines(struct onnx *x, struct constant *c) {
  int64_t width = c->dims[1];
  if (width < 2 || c->fill || !constant_known(x, c))
    return false;
  for (int64_t i = 0; i < c->count; i++) {
    double at = (double)(i / width), k = (double)(i % width / 2 * 2);
    double angle = at / pow(10000, k / (double)width);
    double wave = i % width % 2 ? cos(angle) : sin(angle);
    if (fabs(constant_real(c, i) - wave) > 2e-3)
      return false;
  }
  return true;
}

int pattern_weight(struct onnx *x, enum layer_word word, int in,
                   struct constant *c) {
  const struct graph_shape *shape = graph_shape(x->graph, in);
  if (word != WORD_ADD || shape->rank != 2 || c->rank != 2 ||
      c->dims[0] != shape->size[0] || c->dims[1] != shape->size[1] ||
      shape->size[0] < 2)
    return -1;
  bool fixed = are_sines(x, c);
  if (!fixed && !c->trained)
    return -1;
  struct graph_node *node = onnx_layer(x, WORD_POSEMBED, in);
  const struct constant *table = c->longer ? c->longer : c;
  if (fixed)
    graph_flag(x->graph, node, "fixed");
  else if (c->longer)
    graph_int(x->graph, node, PART_OTHER, "", table->dims[0]);
  onnx_add_weight(x, node, "weight", fixed ? c : table);
  return node->index;
}
