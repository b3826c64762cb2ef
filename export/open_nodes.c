/* Compares the operators of a net's samples, and unifies their padding. */
#include <string.h>

#include "export/open.h"

/* Origin of a value: an input, or a node with one or two outputs. */
struct origins {
  int64_t *of; /* by value; 0: a constant */
};

static struct origins origins_of(struct arena *arena,
                                 const struct onnx_model *m) {
  struct origins origins = {arena_alloc(arena, m->values.count + 1, 8)};
  for (size_t i = 0; i < m->inputs.count; i++)
    origins.of[m->inputs.at[i]] = -1 - (int64_t)i;
  for (size_t i = 0; i < m->nodes.count; i++) {
    const struct onnx_node *node = &m->nodes.at[i];
    origins.of[node->out] = 1 + 2 * (int64_t)i;
    if (node->second != NO_VALUE)
      origins.of[node->second] = 2 + 2 * (int64_t)i;
  }
  return origins;
}

/* Equal operators */

static struct attribute *attribute_of(const struct onnx_node *node,
                                      const char *name) {
  struct attribute *found = node->attributes;
  while (found && strcmp(found->name, name) != 0)
    found = found->next;
  return found;
}

/* Bodies have the same operators; their values have sizes of the operands. */
static bool same_body(const struct onnx_body *x, const struct onnx_body *y) {
  if (!x || !y || x->nodes.count != y->nodes.count)
    return x == y;
  for (size_t i = 0; i < x->nodes.count; i++)
    if (strcmp(x->nodes.at[i].op, y->nodes.at[i].op) != 0)
      return false;
  return true;
}

static bool same_attribute(const struct attribute *x,
                           const struct attribute *y) {
  return same_body(x->body, y->body) && x->number == y->number &&
         !(x->real < y->real) && !(x->real > y->real) && x->count == y->count &&
         (!x->text || strcmp(x->text, y->text) == 0) &&
         (!x->count ||
          memcmp(x->numbers, y->numbers, x->count * sizeof *x->numbers) == 0);
}

/* Padding may exceed the need of a sample if the result does not include it. */
static bool pads_freely(const struct onnx_node *node) {
  return strcmp(node->op, "Conv") == 0 || strcmp(node->op, "MaxPool") == 0 ||
         (strcmp(node->op, "AveragePool") == 0 &&
          !attribute_of(node, "count_include_pad"));
}

static bool has_attributes(const struct onnx_node *a,
                           const struct onnx_node *of) {
  for (const struct attribute *y = of->attributes; y; y = y->next) {
    const struct attribute *x = attribute_of(a, y->name);
    if (pads_freely(of) && strcmp(y->name, "pads") == 0)
      continue;
    if (!x || !same_attribute(x, y))
      return false;
  }
  return true;
}

static bool same_operand(const struct onnx_model *a, value_id x,
                         const struct onnx_model *b, value_id y) {
  if (x == NO_VALUE || y == NO_VALUE)
    return x == y;
  const struct model_value *p = model_at(a, x), *q = model_at(b, y);
  if (p->from != q->from || p->type != q->type || p->rank != q->rank)
    return false;
  if (p->from != FROM_CONSTANT)
    return true;
  /* A buffer has a row for each position. */
  return p->weight == q->weight &&
         (p->weight < 0 || a->weights.at[p->weight].buffer ||
          memcmp(p->dim, q->dim, (size_t)p->rank * sizeof *p->dim) == 0);
}

size_t open_same_nodes(struct arena *arena, const struct onnx_model *a,
                       const struct onnx_model *b) {
  struct origins from_a = origins_of(arena, a), from_b = origins_of(arena, b);
  size_t i = 0;
  for (; i < a->nodes.count && i < b->nodes.count; i++) {
    const struct onnx_node *x = &a->nodes.at[i], *y = &b->nodes.at[i];
    bool same = strcmp(x->op, y->op) == 0 && x->in_count == y->in_count &&
                (x->second == NO_VALUE) == (y->second == NO_VALUE) &&
                model_at(a, x->out)->rank == model_at(b, y->out)->rank &&
                has_attributes(x, y) && has_attributes(y, x);
    for (size_t k = 0; k < x->in_count && same; k++)
      same = same_operand(a, x->ins[k], b, y->ins[k]) &&
             (x->ins[k] == NO_VALUE ||
              from_a.of[x->ins[k]] == from_b.of[y->ins[k]]);
    if (!same)
      return i;
  }
  return a->nodes.count == b->nodes.count ? i : i ? i - 1 : 0;
}

/* Resize */

/* Replaces the scales of a Resize by the sizes of its output. */
static void size_resize(struct onnx_model *m, struct onnx_node *node) {
  const struct model_value *out = model_at(m, node->out);
  value_id *ins = arena_alloc(m->arena, 4, sizeof *ins);
  ins[0] = node->ins[0];
  ins[1] = node->ins[1];
  ins[2] = m->opset < 13 ? node->ins[1] : NO_VALUE; /* empty, as ins[1] */
  ins[3] = model_numbers(m, out->dim, out->rank);
  node->ins = ins;
  node->in_count = 4;
}

/* True if the nodes at one place all have equal scales. */
static bool same_scales(const struct onnx_opening *asked, size_t i) {
  const struct model_value *first = NULL;
  for (size_t s = 0; s < asked->count; s++) {
    const struct onnx_model *m = asked->samples[s].model;
    const struct onnx_node *node = &m->nodes.at[i];
    if (node->in_count > 3)
      return false;
    const struct model_value *scales = model_at(m, node->ins[2]);
    if (first && memcmp(first->data, scales->data, scales->bytes) != 0)
      return false;
    first = scales;
  }
  return true;
}

static bool are_resizes(const struct onnx_opening *asked, size_t i) {
  for (size_t s = 0; s < asked->count; s++) {
    const struct onnx_model *m = asked->samples[s].model;
    if (i >= m->nodes.count || strcmp(m->nodes.at[i].op, "Resize") != 0)
      return false;
  }
  return true;
}

void open_resizes(const struct onnx_opening *asked) {
  for (size_t i = 0; i < asked->samples[0].model->nodes.count; i++) {
    if (!are_resizes(asked, i) || same_scales(asked, i))
      continue;
    for (size_t s = 0; s < asked->count; s++) {
      struct onnx_model *m = asked->samples[s].model;
      if (m->nodes.at[i].in_count < 4)
        size_resize(m, &m->nodes.at[i]);
    }
  }
}

/* Padding */

static int64_t pad_of(const struct onnx_node *node, size_t at) {
  const struct attribute *pads = attribute_of(node, "pads");
  return pads ? pads->numbers[at] : 0;
}

static int64_t numbers_of(const struct onnx_node *node, const char *name,
                          size_t at) {
  const struct attribute *found = attribute_of(node, name);
  return found ? found->numbers[at] : 1;
}

/* True if the largest padding gives the same number of windows in every
 * sample. */
static bool pad_axis(struct open_model *o, size_t i, size_t axis, size_t axes,
                     int64_t *before, int64_t *after) {
  *before = *after = 0;
  for (size_t s = 0; s < o->count; s++) {
    const struct onnx_node *node = &o->models[s]->nodes.at[i];
    int64_t first = pad_of(node, axis), last = pad_of(node, axes + axis);
    if (s && first != *before)
      return false;
    *before = first;
    *after = last > *after ? last : *after;
  }
  for (size_t s = 0; s < o->count; s++) {
    const struct onnx_node *node = &o->models[s]->nodes.at[i];
    int64_t in = model_at(o->models[s], node->ins[0])->dim[2 + axis];
    int64_t out = model_at(o->models[s], node->out)->dim[2 + axis];
    int64_t extent = numbers_of(node, "dilations", axis) *
                         (numbers_of(node, "kernel_shape", axis) - 1) +
                     1;
    int64_t room = in + *before + *after - extent;
    if (room < 0 || room / numbers_of(node, "strides", axis) + 1 != out)
      return false;
  }
  return true;
}

static bool differs_in_pads(const struct open_model *o, size_t i) {
  const struct attribute *first = attribute_of(&o->m->nodes.at[i], "pads");
  for (size_t s = 0; s < o->count; s++) {
    const struct attribute *pads =
        attribute_of(&o->models[s]->nodes.at[i], "pads");
    if (!first != !pads || (pads && !same_attribute(first, pads)))
      return true;
  }
  return false;
}

bool open_padding(struct open_model *o, size_t i) {
  struct onnx_node *node = &o->m->nodes.at[i];
  if (!pads_freely(node) || !differs_in_pads(o, i))
    return true;
  size_t axes = (size_t)model_at(o->m, node->out)->rank - 2;
  int64_t *pads = arena_alloc(o->m->arena, 2 * axes + 1, sizeof *pads);
  for (size_t k = 0; k < axes; k++)
    if (!pad_axis(o, i, k, axes, &pads[k], &pads[axes + k]))
      return open_refuse(o, node->out);
  struct attribute *to = attribute_of(node, "pads");
  if (!to)
    to = model_attribute(o->m, node);
  to->name = "pads";
  to->type = ATTRIBUTE_INTS;
  to->count = 2 * axes;
  to->numbers = pads;
  return true;
}
