/*
 * Attention, which files write as products, a softmax and many moves. Queries,
 * keys and values are traced back through the moves. It is attention if the
 * heads have a regular layout in the outputs of projections.
 */
#include "import/onnx/op_attention.h"

#include <math.h>
#include <string.h>

static bool is_word(struct onnx *x, int node, enum layer_word word) {
  return graph_at(x->graph, node)->word == word;
}

static int64_t last_size(struct onnx *x, int node) {
  const struct graph_shape *shape = graph_shape(x->graph, node);
  return shape->size[shape->rank - 1];
}

/* Heads. */

/* Merges all axes but the last two; drops axes of size 1. */
static struct onnx_layout matrices(const struct onnx_layout *at) {
  struct onnx_layout result = *at;
  if (result.rank > 3)
    layout_merge(&result, 0, result.rank - 2);
  return layout_without_ones(&result);
}

/* Layout of heads: number, distance, repetitions of each. */
struct lying {
  int64_t count, step, repeats;
  bool crossed; /* features before positions */
  bool flat;    /* all axes but the last are positions: rows and columns */
};

/* True for heads of a projection ..LxW: .., heads, L, dim, or its transpose. */
static bool is_lying(struct onnx *x, const struct onnx_trace *t, int64_t dim,
                     const struct lying *lying) {
  const struct graph_shape *shape = graph_shape(x->graph, t->base);
  struct onnx_layout expected = {.rank = 0}, got = t->at;
  int last = shape->rank - 1;
  int64_t places = lying->flat ? 1 : shape->size[last - 1];
  for (int i = 0; i < last; i++)
    if (lying->flat)
      places *= shape->size[i];
    else if (i < last - 1)
      layout_add(&expected, shape->size[i],
                 graph_count(shape->size + i + 1, (size_t)(last - i)));
  layout_add(&expected, lying->count, lying->step);
  layout_add(&expected, lying->repeats, 0);
  if (lying->crossed)
    layout_add(&expected, dim, 1);
  layout_add(&expected, places, shape->size[last]);
  if (!lying->crossed)
    layout_add(&expected, dim, 1);
  got.first = 0;
  expected = matrices(&expected);
  got = matrices(&got);
  return layout_equal(&expected, &got);
}

/* Finds the layout of `count` heads, each for `repeats` heads of queries. */
static bool find_heads(struct onnx *x, struct onnx_heads *h, int64_t dim,
                       int64_t count, int64_t repeats, bool crossed,
                       bool flat) {
  const struct onnx_trace *t = &h->trace;
  const struct graph_shape *shape = graph_shape(x->graph, t->base);
  if (!is_word(x, t->base, WORD_LINEAR) || shape->rank < 2 || t->at.rank < 2)
    return false;
  for (int64_t parts = 1; parts <= 3; parts++) /* of a head: q, k and v */
    for (int once = 0; once < (repeats > 1 ? 2 : 1); once++) {
      struct lying lying = {count, parts * dim, once ? 1 : repeats, crossed,
                            flat};
      if (!is_lying(x, t, dim, &lying))
        continue;
      h->node = t->base;
      h->count = count;
      h->step = lying.step;
      h->first = t->at.first;
      return h->first % dim == 0 && (!flat || !t->rope.half) &&
             trace_agrees(x, h, dim);
    }
  return false;
}

/* Masks: 0 if a query attends to a key, else near minus infinity. */

/* The numbers of positions behind and ahead that each of n attends to. */
static struct onnx_mask mask_of(const struct constant *c, int64_t n) {
  struct onnx_mask m = {.of = c, .behind = -1, .ahead = -1};
  for (int64_t i = 0; i < c->count; i++) {
    double value = constant_real(c, i);
    int64_t back = i / n - i % n;
    if (value < 0 || value > 0) {
      if (value > -1e4)
        return m;
      continue;
    }
    m.behind = back > m.behind ? back : m.behind;
    m.ahead = -back > m.ahead ? -back : m.ahead;
  }
  for (int64_t i = 0; i < c->count; i++) {
    int64_t back = i / n - i % n;
    if (back <= m.behind && -back <= m.ahead && constant_real(c, i) < 0)
      return m;
  }
  m.is = m.behind >= 0;
  return m;
}

static bool same_values(const struct constant *a, const struct constant *b) {
  if (a->count != b->count || a->fill != b->fill)
    return false;
  return (a->real == b->real && a->whole == b->whole) ||
         (a->real && b->real && !a->fill &&
          memcmp(a->real, b->real, (size_t)a->count * sizeof *a->real) == 0);
}

/* Caches this: equal masks of many positions are examined once. */
static struct onnx_mask known_mask(struct onnx *x, const struct constant *c,
                                   int64_t n) {
  enum { LARGE = 1 << 16 };
  for (size_t i = 0; i < x->masks.count && c->count > LARGE; i++)
    if (same_values(x->masks.at[i].of, c))
      return x->masks.at[i];
  struct onnx_mask m = mask_of(c, n);
  if (c->count > LARGE)
    *VEC_PUSH(x->arena, &x->masks) = m;
  return m;
}

/* The numbers of positions behind and ahead; false for other masks. */
static bool find_band(struct onnx *x, struct constant *c,
                      const struct onnx_attention *a, int64_t *behind,
                      int64_t *ahead) {
  int64_t n = a->queries;
  if (c->band && n == a->keys && c->count == n * n) {
    *behind = c->band->high < n ? c->band->high : n - 1;
    *ahead = -c->band->low < n ? -c->band->low : n - 1;
    return *behind >= 0 && *ahead >= 0;
  }
  if (c->count != n * a->keys || n != a->keys || !constant_known(x, c))
    return false;
  struct onnx_mask m = known_mask(x, c, n);
  *behind = m.behind;
  *ahead = m.ahead;
  return m.is;
}

static bool take_mask(struct onnx *x, struct onnx_attention *a, int weight) {
  const struct constant *c = onnx_find_weight(x, weight, "weight");
  int64_t behind, ahead;
  if (!find_band(x, (struct constant *)c, a, &behind, &ahead))
    return false;
  bool all = behind == a->queries - 1;
  if (ahead == a->queries - 1 && all)
    return true;
  if (ahead > 0) { /* ahead as far as behind: a window in both directions */
    a->window = 2 * behind;
    return ahead == behind;
  }
  a->causal = true;
  a->window = all ? a->window : behind + 1;
  return true;
}

/* A bias by relative position: a table's row for each distance, heads first. */
static bool take_relative(struct onnx *x, struct onnx_attention *a, int node) {
  const struct graph_node *n = graph_at(x->graph, node);
  struct onnx_trace t = trace_of(x, node, false);
  if (n->inputs.count != 1 || !is_word(x, t.base, WORD_EMBED) || a->table ||
      !is_number(t.number, 1))
    return false;
  const struct graph_node *rows = graph_at(x->graph, t.base);
  const struct graph_node *distances = graph_at(x->graph, rows->inputs.at[0]);
  static const int front[3] = {2, 0, 1};
  struct onnx_layout expected = trace_dense(x, t.base);
  expected = layout_order(&expected, expected.rank == 3 ? 3 : 0, front);
  expected = layout_without_ones(&expected);
  t.at = layout_without_ones(&t.at);
  if (distances->word != WORD_DISTANCES || distances->args.count != 1 ||
      last_size(x, t.base) != a->heads || !layout_equal(&t.at, &expected))
    return false;
  a->table = onnx_find_weight(x, t.base, "weight");
  a->window_of = distances->args.at[0].value;
  return true;
}

/* The same bias if the exporter has selected the rows. */
static bool take_picked(struct onnx *x, struct onnx_attention *a, int weight) {
  const struct graph_shape *shape = graph_shape(x->graph, weight);
  if (a->table || a->queries != a->keys || shape->rank < 3 ||
      shape->size[shape->rank - 3] != a->heads ||
      shape->size[shape->rank - 2] != a->queries)
    return false;
  a->table = onnx_distance_table(x, onnx_find_weight(x, weight, "weight"),
                                 a->heads, a->queries, &a->window_of);
  return a->table;
}

/* Scores. */

/* True if a mask broadcasts over heads, queries and keys of one sequence. */
static bool is_over(const struct graph_shape *mask,
                    const struct graph_shape *scores, int64_t heads) {
  for (int i = 1; i <= mask->rank; i++) {
    int64_t size = mask->size[mask->rank - i];
    bool fits = i <= scores->rank && size == scores->size[scores->rank - i];
    if (size != 1 && (!fits || i > 3 || (i == 3 && size != heads)))
      return false;
  }
  return scores->rank >= 3 && scores->size[scores->rank - 3] == heads;
}

/* Takes a tensor added to the scores, which have the shape of the sum. */
static int take_added(struct onnx *x, struct onnx_attention *a,
                      const struct graph_node *sum) {
  for (size_t i = 2; i-- > 0 && a->mask < 0;) {
    int mask = sum->inputs.at[i], scores = sum->inputs.at[1 - i];
    const struct graph_node *node = graph_at(x->graph, scores);
    bool leads = node->word == WORD_MATMUL || node->inputs.count == 1 ||
                 node->word == WORD_ADD;
    const struct graph_shape *shape = graph_shape(x->graph, sum->index);
    if (!leads || !graph_same_shape(graph_shape(x->graph, scores), shape) ||
        !is_over(graph_shape(x->graph, mask), shape, a->heads))
      continue;
    a->mask = mask;
    return scores;
  }
  return -1;
}

/* The operand of a sum with the scores; -1 if the other term is unknown. */
static int add_to_scores(struct onnx *x, struct onnx_attention *a,
                         const struct graph_node *sum, double number) {
  int first = sum->inputs.at[0], second = sum->inputs.at[1];
  bool whole = is_number(number, 1);
  if (is_word(x, second, WORD_WEIGHT) && take_mask(x, a, second))
    return first;
  if (whole && is_word(x, second, WORD_WEIGHT) &&
      (shift_take(x, a, second) || take_picked(x, a, second)))
    return first;
  if (whole && take_relative(x, a, second))
    return first;
  if (whole && take_relative(x, a, first))
    return second;
  return whole ? take_added(x, a, sum) : -1;
}

/* Traces the softmax back to the product of queries and keys. */
static int find_scores(struct onnx *x, struct onnx_attention *a, int node,
                       double *number) {
  for (;;) {
    const struct graph_node *n = graph_at(x->graph, node);
    const struct extra *extra = onnx_extra(x, node);
    if (n->word == WORD_MATMUL)
      break;
    if (n->inputs.count == 1 && extra->has_number && n->word == WORD_MUL) {
      *number *= extra->number;
    } else if (n->inputs.count == 1 && extra->has_number &&
               n->word == WORD_DIV) {
      *number /= extra->number;
    } else if (n->word == WORD_TANH && is_number(a->softcap, 0)) {
      a->softcap = *number;
      *number = 1;
    } else if (n->inputs.count == 2 && n->word == WORD_ADD &&
               is_number(a->softcap, 0) && *number > 0) {
      int rest = add_to_scores(x, a, n, *number);
      if (rest < 0)
        return -1;
      node = rest;
      continue;
    } else if (n->word != WORD_RESHAPE) {
      return -1;
    }
    node = n->inputs.at[0];
  }
  *number *= a->softcap > 0 ? a->softcap : 1;
  return a->softcap < 0 ? -1 : node;
}

static bool near(double a, double b) {
  return fabs(a - b) <= 1e-4 * fabs(b);
}

/* Queries and keys have the same norms and rotations; values have none. */
static bool same_ways(struct onnx *x, const struct onnx_attention *a) {
  const struct onnx_trace *q = &a->part[PART_Q].trace,
                          *k = &a->part[PART_K].trace;
  const struct onnx_trace *v = &a->part[PART_V].trace;
  if (v->norm >= 0 || v->rope.half || !is_number(v->number, 1))
    return false;
  if ((q->norm < 0) != (k->norm < 0) || q->rope.half != k->rope.half ||
      q->rope.neighbours != k->rope.neighbours)
    return false;
  if (q->norm < 0)
    return true;
  bool all = trace_normed(x, q) > a->dim;
  return trace_normed(x, k) == (all ? a->kv : 1) * a->dim &&
         graph_at(x->graph, q->norm)->word == graph_at(x->graph, k->norm)->word;
}

/* All three come from one matrix, or each has its own. */
static bool find_sides(struct onnx *x, struct onnx_attention *a, int scores) {
  struct onnx_heads *q = &a->part[PART_Q], *k = &a->part[PART_K];
  struct onnx_heads *v = &a->part[PART_V];
  bool transposed = graph_at(x->graph, scores)->args.count > 0;
  a->packed = q->trace.base == k->trace.base && k->trace.base == v->trace.base;
  int64_t width = last_size(x, k->trace.base) / a->dim;
  if (a->packed)
    width = (width - a->heads) / 2;
  else if (k->trace.base == v->trace.base)
    width /= 2;
  a->kv = width;
  if (a->kv < 1 || a->heads % a->kv != 0)
    return false;
  for (int flat = 0; flat < 2; flat++) {
    a->flat = flat;
    if (find_heads(x, q, a->dim, a->heads, 1, false, flat) &&
        find_heads(x, k, a->dim, a->kv, a->heads / a->kv, !transposed, flat) &&
        find_heads(x, v, a->dim, a->kv, a->heads / a->kv, false, flat))
      return true;
  }
  return false;
}

/* The factor of the scores: 1 / sqrt(dim), 1, or another. */
static bool find_scale(struct onnx_attention *a, double number) {
  double usual = 1 / sqrt((double)a->dim);
  if (!(number > 0))
    return false;
  a->factor = 1;
  a->unscaled = near(number, 1) && !near(number, usual);
  if (a->unscaled || near(number, usual))
    return true;
  a->factor = number / usual; /* goes into the queries' weights */
  a->packed = a->packed && a->part[PART_Q].trace.norm >= 0;
  return true;
}

static bool read_sides(struct onnx *x, struct onnx_attention *a) {
  const struct graph_node *product = graph_at(x->graph, a->product), *scores;
  double number = 1;
  int softmax = product->inputs.at[0];
  while (is_word(x, softmax, WORD_DROPOUT)) {
    const struct graph_node *dropout = graph_at(x->graph, softmax);
    a->dropout = dropout->args.at[0].value;
    softmax = dropout->inputs.at[0];
  }
  if (!is_word(x, softmax, WORD_SOFTMAX) || product->args.count > 0)
    return false;
  a->module = onnx_extra(x, softmax)->module;
  const struct graph_shape *shape = graph_shape(x->graph, a->product);
  if (shape->rank < 2)
    return false;
  a->dim = shape->size[shape->rank - 1];
  a->queries = shape->size[shape->rank - 2];
  a->keys = last_size(x, softmax);
  a->heads = last_size(x, graph_at(x->graph, a->out)->inputs.at[0]) / a->dim;
  int at =
      find_scores(x, a, graph_at(x->graph, softmax)->inputs.at[0], &number);
  if (at < 0 || a->heads < 1)
    return false;
  scores = graph_at(x->graph, at);
  a->part[PART_Q].trace = trace_of(x, scores->inputs.at[0], true);
  a->part[PART_K].trace = trace_of(x, scores->inputs.at[1], true);
  a->part[PART_V].trace = trace_of(x, product->inputs.at[1], false);
  number *= a->part[PART_Q].trace.number * a->part[PART_K].trace.number;
  return find_sides(x, a, at) && same_ways(x, a) && find_scale(a, number);
}

/* True if `out` reads the heads of the product side by side. */
static bool joins_heads(struct onnx *x, struct onnx_attention *a) {
  struct onnx_trace t =
      trace_of(x, graph_at(x->graph, a->out)->inputs.at[0], false);
  const struct graph_shape *shape = graph_shape(x->graph, a->out);
  struct onnx_layout expected = {.rank = 0};
  if (!is_word(x, t.base, WORD_MATMUL) || !is_number(t.number, 1) ||
      graph_at(x->graph, t.base)->inputs.count != 2)
    return false;
  a->product = t.base;
  if (!read_sides(x, a))
    return false;
  for (int i = 0; i < shape->rank - 2; i++)
    layout_add(&expected, shape->size[i],
               graph_count(shape->size + i + 1, (size_t)(shape->rank - 3 - i)) *
                   a->heads * a->queries * a->dim);
  layout_add(&expected, a->queries, a->dim);
  layout_add(&expected, a->heads, a->queries * a->dim);
  layout_add(&expected, a->dim, 1);
  layout_merge(&expected, expected.rank - 2, 2);
  expected = layout_without_ones(&expected);
  struct onnx_layout got = layout_without_ones(&t.at);
  return layout_equal(&expected, &got);
}

/* True if queries, keys and values have matching positions. */
static bool find_inputs(struct onnx *x, struct onnx_attention *a) {
  const struct onnx_heads *q = &a->part[PART_Q], *k = &a->part[PART_K];
  int to = graph_at(x->graph, k->node)->inputs.at[0];
  int from = graph_at(x->graph, q->node)->inputs.at[0];
  int of = graph_at(x->graph, a->part[PART_V].node)->inputs.at[0];
  const struct graph_shape *in = graph_shape(x->graph, from);
  const struct graph_shape *seen = graph_shape(x->graph, to);
  struct graph_shape values = *graph_shape(x->graph, of);
  values.size[values.rank - 1] = seen->size[seen->rank - 1];
  if (in->rank != seen->rank || !graph_same_shape(seen, &values))
    return false;
  if (a->mask >= 0 &&
      (a->flat || graph_shape(x->graph, a->mask)->rank > in->rank + 1))
    return false;
  if (a->flat || a->edges >= 0)
    return from == to && to == of &&
           (a->edges < 0 || (!a->flat && shift_find(x, a, from)));
  for (int i = 0; i < in->rank - 2; i++)
    if (in->size[i] != seen->size[i])
      return false;
  return seen->size[seen->rank - 2] == a->keys &&
         in->size[in->rank - 2] == a->queries;
}

/*
 * True if something else reads a projection's output, such as an output of the
 * net with the keys: then it has to stay. `last` has the last reader of each
 * node; `mark` has a number for each node, none of them the layer's yet.
 */
static bool is_tapped(struct onnx *x, const struct onnx_attention *a,
                      const int *last, int *mark) {
  int first = a->out;
  for (int i = 0; i < PART_PARTS; i++) {
    int node = a->part[i].node;
    mark[node] = a->out;
    first = node < first ? node : first;
  }
  for (int i = first; i < a->out; i++) {
    const struct graph_node *node = graph_at(x->graph, i);
    for (size_t k = 0; k < node->inputs.count; k++)
      if (mark[node->inputs.at[k]] == a->out)
        mark[i] = a->out;
    if (mark[i] == a->out && (node->output || last[i] > a->out))
      return true;
  }
  return false;
}

static int *last_readers(struct onnx *x) {
  int *last = arena_alloc(x->arena, x->graph->nodes.count + 1, sizeof *last);
  for (size_t i = 0; i < x->graph->nodes.count; i++) {
    const struct graph_node *node = x->graph->nodes.at[i];
    for (size_t k = 0; k < graph_feeds(node); k++)
      last[graph_feed(node, k)] = (int)i;
  }
  return last;
}

void onnx_find_attention(struct onnx *x) {
  size_t count = x->graph->nodes.count;
  const int *last = last_readers(x);
  int *mark = arena_alloc(x->arena, count + 1, sizeof *mark);
  for (size_t i = 0; i < count; i++) {
    struct onnx_attention a = {.out = (int)i, .mask = -1, .edges = -1};
    const struct graph_node *node = x->graph->nodes.at[i];
    if (node->word == WORD_LINEAR && graph_shape(x->graph, a.out)->rank >= 2 &&
        joins_heads(x, &a) && find_inputs(x, &a) &&
        !is_tapped(x, &a, last, mark))
      attention_replace(x, &a);
  }
}
