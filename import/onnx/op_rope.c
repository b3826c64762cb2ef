/*
 * Rope: rotates pairs of a head's features by their position. Files write it as
 * a cos - b sin and b cos + a sin joined, or as x cos + (-b, a) sin. Pairs are
 * halves (Llama in transformers) or neighbours (GPT-J).
 */
#include <math.h>
#include <string.h>

#include "import/onnx/op_attention.h"

/* A product with a table, in the axes of a node: the other factor as a view of
 * its base, and the place of the table's values. */
struct onnx_term {
  struct onnx_trace factor;
  const struct constant *table;
  struct onnx_layout values;
};

static bool term_of(struct onnx *x, int node, struct onnx_term *term) {
  struct onnx_trace product = trace_of(x, node, false);
  const struct graph_node *n = graph_at(x->graph, product.base);
  struct onnx_layout spread;
  if (n->word != WORD_MUL || n->inputs.count != 2 ||
      !is_number(product.number, 1) ||
      graph_at(x->graph, n->inputs.at[1])->word != WORD_WEIGHT)
    return false;
  const struct constant *c = onnx_find_weight(x, n->inputs.at[1], "weight");
  struct onnx_layout table = layout_dense(c->rank, c->dims);
  term->table = c;
  term->factor = trace_of(x, n->inputs.at[0], false);
  struct onnx_layout at = term->factor.at;
  const struct graph_shape *shape = graph_shape(x->graph, product.base);
  return layout_spread(&table, shape->rank, shape->size, &spread) &&
         layout_through(&spread, &product.at, &term->values) &&
         layout_through(&at, &product.at, &term->factor.at);
}

static bool terms_of(struct onnx *x, int node, enum layer_word word,
                     struct onnx_term terms[2]) {
  const struct graph_node *n = graph_at(x->graph, node);
  return n->word == word && n->inputs.count == 2 &&
         term_of(x, n->inputs.at[0], &terms[0]) &&
         term_of(x, n->inputs.at[1], &terms[1]);
}

/* Skips reshapes that only add or remove axes of size 1. */
static int past_ones(struct onnx *x, int node) {
  for (;;) {
    const struct graph_node *n = graph_at(x->graph, node);
    if (n->word != WORD_RESHAPE)
      return node;
    struct onnx_layout to = trace_dense(x, node);
    struct onnx_layout from = trace_dense(x, n->inputs.at[0]);
    to = layout_without_ones(&to);
    from = layout_without_ones(&from);
    if (!layout_equal(&to, &from))
      return node;
    node = n->inputs.at[0];
  }
}

/* Removes axes of size 1 at the end. */
static struct onnx_layout trimmed(const struct onnx_layout *at) {
  struct onnx_layout result = *at;
  while (result.rank > 1 && result.dim[result.rank - 1] == 1)
    layout_drop(&result, result.rank - 1);
  return result;
}

/* The features of both as one axis: the second begins `far` after the first. */
static struct onnx_layout paired(const struct onnx_layout *at, int64_t far,
                                 bool neighbours) {
  struct onnx_layout result = *at;
  int last = at->rank - 1, place = at->count;
  while (!neighbours && place > 0 && at->atom[place - 1].axis == last)
    place--;
  if (result.count == LAYOUT_ATOMS)
    return result;
  memmove(result.atom + place + 1, result.atom + place,
          (size_t)(at->count - place) * sizeof *at->atom);
  result.atom[place] = (struct onnx_atom){2, far, last};
  result.count++;
  result.dim[last] *= 2;
  layout_merge(&result, last, 1);
  return result;
}

/* Merges the last axes into one of `size` values; false if impossible. */
static bool merge_last(struct onnx_layout *at, int64_t size) {
  int64_t last = 1;
  int axes = 0;
  while (axes < at->rank && last < size)
    last *= at->dim[at->rank - ++axes];
  if (axes > 1)
    layout_merge(at, at->rank - axes, axes);
  return last == size;
}

/* Numbers by position and feature. */
struct onnx_table {
  const struct constant *values;
  int axis; /* positions' axis; -1: only one */
  int64_t first, steps, stride, features;
};

static bool table_of(struct onnx *x, const struct onnx_term *term,
                     int64_t features, struct onnx_table *table) {
  struct onnx_layout at = trimmed(&term->values);
  if (!merge_last(&at, features) ||
      !constant_known(x, (struct constant *)term->table))
    return false;
  *table = (struct onnx_table){.values = term->table,
                               .axis = -1,
                               .first = at.first,
                               .steps = 1,
                               .features = features};
  for (int i = 0; i < at.count; i++) {
    const struct onnx_atom *atom = &at.atom[i];
    if (atom->axis == at.rank - 1) {
      if (atom->size != features || atom->stride != 1)
        return false;
    } else if (atom->stride != 0) {
      if (table->axis >= 0)
        return false;
      table->axis = atom->axis;
      table->steps = atom->size;
      table->stride = atom->stride;
    }
  }
  return true;
}

static double value_at(const struct onnx_table *t, int64_t position,
                       int64_t i) {
  return constant_real(t->values, t->first + position * t->stride + i);
}

static bool near(double a, double b) {
  return fabs(a - b) <= 2e-3;
}

/* The rotation of feature i from one position to the next. The tables have at
 * most 32 bits; atan2() has 54 KB of numbers in a static program. */
static double speed_of(const struct onnx_table *c, const struct onnx_table *s,
                       int64_t i) {
  int64_t next = c->steps > 1;
  return atan2f((float)value_at(s, next, i), (float)value_at(c, next, i));
}

/* Sets a pair's speed; false if another table has a different one. */
static bool set_speed(struct rope *rope, bool first, int64_t i, double speed) {
  if (!rope->speed)
    return true;
  if (!first)
    return near(rope->speed[i], speed);
  rope->speed[i] = speed;
  return true;
}

/*
 * True if tables are cosines and sines of position times speed, for the
 * features from `from` on. Sets the speeds of the pairs (`step` 2 for
 * neighbours).
 */
static bool are_waves(struct onnx *x, const struct onnx_table *c,
                      const struct onnx_table *s, struct rope *rope,
                      int64_t from, int64_t step) {
  bool first = !rope->speed;
  if (first && c->steps > 1)
    rope->speed =
        arena_alloc(x->arena, (size_t)rope->half + 1, sizeof *rope->speed);
  if (c->axis != s->axis || c->steps != s->steps || c->features != s->features)
    return false;
  rope->axis = c->axis;
  for (int64_t i = 0; i < rope->half; i++) {
    int64_t at = from + i * step;
    double speed = speed_of(c, s, at);
    if (!set_speed(rope, first, i, speed))
      return false;
    for (int64_t p = 0; p < c->steps; p = p < 4 ? p + 1 : 2 * p - 1) {
      double cosine = value_at(c, p, at), sine = value_at(s, p, at);
      if (!near(cosine * cosine + sine * sine, 1) ||
          (p < 4 && (!near(cosine, cos((double)p * speed)) ||
                     !near(sine, sin((double)p * speed)))))
        return false;
    }
  }
  return true;
}

/* a and b of pairs, as views of the same tensor. */
struct onnx_pair {
  struct onnx_trace a, b;
  int64_t far;
};

static bool pair_of(const struct onnx_trace *a, const struct onnx_trace *b,
                    struct rope *rope, struct onnx_pair *pair) {
  *pair = (struct onnx_pair){.a = *a, .b = *b};
  pair->a.at = trimmed(&a->at);
  pair->b.at = trimmed(&b->at);
  struct onnx_layout second = pair->b.at;
  pair->far = second.first - pair->a.at.first;
  second.first = pair->a.at.first;
  rope->half = second.dim[second.rank - 1];
  return a->base == b->base && is_number(a->number, 1) &&
         is_number(b->number, 1) && pair->far > 0 &&
         layout_equal(&pair->a.at, &second);
}

static bool same_view(const struct onnx_trace *a, const struct onnx_trace *b) {
  return a->base == b->base && is_number(a->number, b->number) &&
         layout_equal(&a->at, &b->at);
}

/* a cos - b sin and b cos + a sin */
static bool turned_pair(struct onnx *x, int difference, int sum,
                        struct rope *rope, struct onnx_pair *pair) {
  struct onnx_term down[2], up[2];
  struct onnx_table c[2], s[2];
  if (!terms_of(x, past_ones(x, difference), WORD_SUB, down) ||
      !terms_of(x, past_ones(x, sum), WORD_ADD, up))
    return false;
  const struct onnx_trace *a = &down[0].factor, *b = &down[1].factor;
  int cosine = same_view(&up[0].factor, b) ? 0 : 1;
  if (!same_view(&up[cosine].factor, b) ||
      !same_view(&up[1 - cosine].factor, a) || !pair_of(a, b, rope, pair) ||
      !table_of(x, &down[0], rope->half, &c[0]) ||
      !table_of(x, &down[1], rope->half, &s[0]) ||
      !table_of(x, &up[cosine], rope->half, &c[1]) ||
      !table_of(x, &up[1 - cosine], rope->half, &s[1]))
    return false;
  return are_waves(x, &c[0], &s[0], rope, 0, 1) &&
         are_waves(x, &c[1], &s[1], rope, 0, 1);
}

static void set_rope(struct onnx_trace *t, const struct rope *rope, int base,
                     const struct onnx_layout *whole) {
  t->rope = *rope;
  t->rope.dim = whole->dim[whole->rank - 1];
  t->rotated = *whole;
  t->base = base;
}

/* Two halves joined, or pairs joined along a new axis. */
static bool joined_pair(struct onnx *x, int a, int b, bool neighbours,
                        struct onnx_trace *t) {
  struct rope rope = {0};
  struct onnx_pair pair;
  if (!turned_pair(x, a, b, &rope, &pair))
    return false;
  rope.neighbours = neighbours;
  struct onnx_layout whole = paired(&pair.a.at, pair.far, neighbours);
  set_rope(t, &rope, pair.a.base, &whole);
  return true;
}

/* The operand of -x: b of a pair. */
static int negated(struct onnx *x, int node) {
  const struct graph_node *n = graph_at(x->graph, node);
  const struct extra *extra = onnx_extra(x, node);
  bool minus =
      extra->has_number && n->word == WORD_MUL && is_number(extra->number, -1);
  return n->inputs.count == 1 && (minus || n->word == WORD_NEG)
             ? n->inputs.at[0]
             : -1;
}

/* (-b, a) of x = (a, b): both as one view. */
static bool crossed_pair(struct onnx *x, int node, struct rope *rope,
                         struct onnx_trace *both) {
  const struct graph_node *n = graph_at(x->graph, node);
  const struct graph_shape *shape = graph_shape(x->graph, node);
  struct onnx_pair pair;
  if (n->word != WORD_CONCAT || n->inputs.count != 2 ||
      onnx_extra(x, node)->axis != shape->rank - 1)
    return false;
  int minus = negated(x, past_ones(x, n->inputs.at[0]));
  if (minus < 0)
    return false;
  struct onnx_trace a = trace_of(x, past_ones(x, n->inputs.at[1]), false);
  struct onnx_trace b = trace_of(x, minus, false);
  rope->neighbours = shape->size[shape->rank - 1] == 2;
  if (!pair_of(&a, &b, rope, &pair))
    return false;
  both->base = a.base;
  both->at = paired(&pair.a.at, pair.far, rope->neighbours);
  return true;
}

/* x cos + (-b, a) sin; the second is terms[other] */
static bool rotated(struct onnx *x, const struct onnx_term terms[2], int other,
                    struct onnx_trace *t) {
  const struct onnx_term *crossed = &terms[other], *plain = &terms[1 - other];
  struct rope rope = {0};
  struct onnx_trace both;
  struct onnx_table c, s;
  struct onnx_layout seen, whole = plain->factor.at;
  if (!is_number(crossed->factor.number, 1) ||
      !is_number(plain->factor.number, 1) ||
      !crossed_pair(x, crossed->factor.base, &rope, &both) ||
      both.base != plain->factor.base ||
      !layout_through(&both.at, &crossed->factor.at, &seen) ||
      !layout_equal(&seen, &whole) || !table_of(x, plain, 2 * rope.half, &c) ||
      !table_of(x, crossed, 2 * rope.half, &s) ||
      !merge_last(&whole, 2 * rope.half))
    return false;
  int64_t second = rope.neighbours ? 1 : rope.half;
  int64_t step = rope.neighbours ? 2 : 1;
  if (!are_waves(x, &c, &s, &rope, 0, step) ||
      !are_waves(x, &c, &s, &rope, second, step))
    return false;
  set_rope(t, &rope, both.base, &whole);
  return true;
}

static bool rotated_half(struct onnx *x, struct onnx_trace *t) {
  struct onnx_term terms[2];
  return terms_of(x, t->base, WORD_ADD, terms) &&
         (rotated(x, terms, 0, t) || rotated(x, terms, 1, t));
}

/* The first features are rotated, then joined with the others again. */
static bool turned_part(struct onnx *x, int first, int second,
                        struct onnx_trace *t) {
  struct onnx_trace part = trace_of(x, first, false);
  if (!is_number(part.number, 1) || !trace_rope(x, &part))
    return false;
  struct onnx_trace rest = trace_of(x, second, false);
  struct onnx_layout whole = part.at, after = rest.at;
  int last = whole.rank - 1, atom = whole.count - 1;
  if (rest.base != part.base || !is_number(rest.number, 1) ||
      after.rank != whole.rank || whole.count != after.count ||
      whole.count == 0 || whole.atom[atom].axis != last ||
      after.atom[atom].axis != last || whole.atom[atom].stride != 1 ||
      after.atom[atom].stride != 1 ||
      after.first != whole.first + whole.dim[last])
    return false;
  int64_t rotary = whole.dim[last], other = after.dim[last];
  if (whole.atom[atom].size != rotary || after.atom[atom].size != other)
    return false;
  after.first = whole.first;
  after.dim[last] = after.atom[atom].size = rotary;
  if (!layout_equal(&whole, &after))
    return false;
  whole.dim[last] = whole.atom[atom].size = rotary + other;
  set_rope(t, &part.rope, part.base, &whole);
  return true;
}

/* Continues a trace through a rotation: t->at as a view of its input. */
static bool go_on(struct onnx_trace *t, struct onnx_trace *found) {
  struct onnx_layout at;
  if (!layout_through(&found->rotated, &t->at, &at))
    return false;
  t->at = at;
  t->rope = found->rope;
  t->rotated = found->rotated;
  t->base = found->base;
  return true;
}

bool trace_rope(struct onnx *x, struct onnx_trace *t) {
  struct onnx_trace found = {.base = t->base, .norm = -1};
  const struct graph_node *n = graph_at(x->graph, t->base);
  const struct graph_shape *shape = graph_shape(x->graph, t->base);
  bool right = false;
  if (t->rope.half || t->norm >= 0)
    return false;
  if (n->word == WORD_ADD) {
    right = rotated_half(x, &found);
  } else if (n->word == WORD_CONCAT && n->inputs.count == 2 &&
             onnx_extra(x, t->base)->axis == shape->rank - 1) {
    bool neighbours = shape->size[shape->rank - 1] == 2 && shape->rank > 2;
    right =
        joined_pair(x, n->inputs.at[0], n->inputs.at[1], neighbours, &found) ||
        turned_part(x, n->inputs.at[0], n->inputs.at[1], &found);
  }
  return right && go_on(t, &found);
}
