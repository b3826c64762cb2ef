/*
 * A batch that is left open: the net is built for two of them, and what grows
 * as they do is the batch, or a multiple of it. Shapes that operators are given
 * have -1 for it, or are computed from the first input's.
 */
#include <string.h>

#include "codegen/onnx/onnx.h"

struct opened_batch {
  struct onnx_model *m;
  const struct onnx_model *other;
  int64_t size, other_size; /* of the batches */
  struct text *why;
  VEC(struct onnx_node) first; /* what computes shapes */
  value_id batch;              /* a list of one */
  struct map shapes;           /* computed, by constant */
};

/* A constant is called after what reads it. */
static bool refuse(struct opened_batch *o, value_id value) {
  bool constant = model_at(o->m, value)->from == FROM_CONSTANT;
  for (size_t i = 0; constant && i < o->m->nodes.count; i++)
    for (size_t k = 0; k < o->m->nodes.at[i].in_count; k++)
      if (o->m->nodes.at[i].ins[k] == value)
        return refuse(o, o->m->nodes.at[i].out);
  text_printf(o->why,
              "`%s` depends on the number of samples otherwise than by the "
              "size of an axis: `--batch N` fixes it",
              model_at(o->m, value)->name);
  return false;
}

/* How many samples' worth; 0: the same in both; -1: it grows otherwise. */
static int64_t multiple(const struct opened_batch *o, int64_t size,
                        int64_t other) {
  if (size == other)
    return 0;
  return size % o->size == 0 && size / o->size * o->other_size == other
             ? size / o->size
             : -1;
}

static bool same_attributes(const struct onnx_node *a,
                            const struct onnx_node *b) {
  if (a->attributes.count != b->attributes.count)
    return false;
  for (size_t i = 0; i < a->attributes.count; i++) {
    const struct attribute *x = &a->attributes.at[i], *y = &b->attributes.at[i];
    bool reals = x->real < y->real || x->real > y->real;
    if (strcmp(x->name, y->name) != 0 || x->number != y->number || reals ||
        x->count != y->count || (x->text && strcmp(x->text, y->text) != 0) ||
        (x->count &&
         memcmp(x->numbers, y->numbers, x->count * sizeof *x->numbers) != 0))
      return false;
  }
  return true;
}

static bool same_node(const struct onnx_node *a, const struct onnx_node *b) {
  return strcmp(a->op, b->op) == 0 && a->in_count == b->in_count &&
         a->out == b->out && a->second == b->second &&
         memcmp(a->ins, b->ins, a->in_count * sizeof *a->ins) == 0 &&
         same_attributes(a, b);
}

/* Axes of every value that are the batch. */
static bool compare_values(struct opened_batch *o) {
  for (size_t i = 0; i < o->m->values.count; i++) {
    struct model_value *a = &o->m->values.at[i];
    const struct model_value *b = &o->other->values.at[i];
    if (a->rank != b->rank || a->from != b->from || a->type != b->type)
      return refuse(o, (value_id)i);
    for (int k = 0; k < a->rank; k++) {
      a->samples[k] = multiple(o, a->dim[k], b->dim[k]);
      if (a->samples[k] < 0 || (a->from == FROM_CONSTANT && a->samples[k]))
        return refuse(o, (value_id)i);
    }
  }
  return true;
}

static bool compare(struct opened_batch *o) {
  const struct onnx_model *m = o->m, *other = o->other;
  if (m->values.count != other->values.count ||
      m->nodes.count != other->nodes.count) {
    text_put(o->why, "the operators depend on the number of samples: "
                     "`--batch N` fixes it");
    return false;
  }
  if (!compare_values(o))
    return false;
  for (size_t i = 0; i < m->nodes.count; i++)
    if (!same_node(&m->nodes.at[i], &other->nodes.at[i]))
      return refuse(o, m->nodes.at[i].out);
  return true;
}

/* Shapes that operators are given */

static bool differs(const struct opened_batch *o, value_id id) {
  const struct model_value *a = model_at(o->m, id);
  return (size_t)id < o->other->values.count && a->data &&
         memcmp(a->data, model_at(o->other, id)->data, a->bytes) != 0;
}

/* One of the nodes before all others; its sizes are those of a list. */
static value_id add_first(struct opened_batch *o, const char *op,
                          int64_t length, const value_id *ins, size_t count) {
  struct onnx_model *m = o->m;
  m->scope = "batch";
  value_id out = model_node(m, op, ELEMENT_INT64, 1, &length, ins, count);
  *VEC_PUSH(m->arena, &o->first) = m->nodes.at[--m->nodes.count];
  return out;
}

#define FIRST(o, op, length, ...)                                 \
  add_first((o), (op), (length), (const value_id[]){__VA_ARGS__}, \
            sizeof((const value_id[]){__VA_ARGS__}) / sizeof(value_id))

static value_id batch_of(struct opened_batch *o) {
  const int64_t zero[1] = {0}, one[1] = {1};
  struct onnx_model *m = o->m;
  value_id in = m->inputs.at[0];
  if (o->batch == NO_VALUE) {
    value_id shape = FIRST(o, "Shape", model_at(m, in)->rank, in);
    o->batch = FIRST(o, "Slice", 1, shape, model_numbers(m, zero, 1),
                     model_numbers(m, one, 1));
  }
  return o->batch;
}

/* The list with the batch in its place. */
static value_id computed(struct opened_batch *o, const int64_t *sizes,
                         const int64_t *samples, int count) {
  value_id parts[LAYOUT_RANK];
  for (int i = 0; i < count; i++) {
    value_id number =
        model_numbers(o->m, samples[i] ? &samples[i] : &sizes[i], 1);
    parts[i] = samples[i] == 0   ? number
               : samples[i] == 1 ? batch_of(o)
                                 : FIRST(o, "Mul", 1, batch_of(o), number);
  }
  value_id list = add_first(o, "Concat", count, parts, (size_t)count);
  struct onnx_node *node = &o->first.at[o->first.count - 1];
  *VEC_PUSH(o->m->arena, &node->attributes) =
      (struct attribute){.name = "axis", .type = ATTRIBUTE_INT};
  return list;
}

/* Another operand in place of a constant that has the batch among its sizes;
 * NO_VALUE: it has something else. */
static value_id without_batch(struct opened_batch *o,
                              const struct onnx_node *node, size_t in) {
  const struct model_value *a = model_at(o->m, node->ins[in]);
  int64_t sizes[LAYOUT_RANK], other[LAYOUT_RANK], samples[LAYOUT_RANK];
  int found = 0, last = 0;
  if (a->type != ELEMENT_INT64 || a->rank != 1 || a->dim[0] > LAYOUT_RANK)
    return NO_VALUE;
  int count = (int)a->dim[0];
  memcpy(sizes, a->data, a->bytes);
  memcpy(other, model_at(o->other, node->ins[in])->data, a->bytes);
  for (int i = 0; i < count; i++) {
    samples[i] = multiple(o, sizes[i], other[i]);
    if (samples[i] < 0)
      return NO_VALUE;
    if (samples[i])
      found++, last = i;
  }
  if (strcmp(node->op, "Reshape") == 0 && found == 1) {
    sizes[last] = -1;
    return model_numbers(o->m, sizes, count);
  }
  struct map_entry *entry =
      map_add(o->m->arena, &o->shapes,
              (struct slice){a->data, a->bytes}); /* each once */
  if (!entry->number)
    entry->number = computed(o, sizes, samples, count) + 1;
  return entry->number - 1;
}

static bool replace_shapes(struct opened_batch *o) {
  struct onnx_model *m = o->m;
  size_t nodes = m->nodes.count;
  for (size_t i = 0; i < nodes; i++) {
    value_id *ins =
        arena_alloc(m->arena, m->nodes.at[i].in_count + 1, sizeof *ins);
    for (size_t k = 0; k < m->nodes.at[i].in_count; k++) {
      const struct onnx_node *node = &m->nodes.at[i];
      ins[k] = node->ins[k];
      if (ins[k] == NO_VALUE || !differs(o, ins[k]))
        continue;
      if ((ins[k] = without_batch(o, node, k)) == NO_VALUE)
        return refuse(o, node->out);
    }
    m->nodes.at[i].ins = ins;
  }
  return true;
}

/* What nobody reads any more is not written. */
static void drop_constants(struct opened_batch *o) {
  struct onnx_model *m = o->m;
  bool *used = arena_alloc(m->arena, m->values.count + 1, sizeof *used);
  for (size_t i = 0; i < m->nodes.count; i++)
    for (size_t k = 0; k < m->nodes.at[i].in_count; k++)
      if (m->nodes.at[i].ins[k] != NO_VALUE)
        used[m->nodes.at[i].ins[k]] = true;
  for (size_t i = 0; i < m->values.count; i++)
    if (m->values.at[i].from == FROM_CONSTANT && !used[i])
      m->values.at[i].from = FROM_NOTHING;
}

bool onnx_open_batch(struct onnx_model *model, const struct onnx_model *other,
                     struct text *why) {
  struct opened_batch *o = ARENA_NEW(model->arena, struct opened_batch);
  *o = (struct opened_batch){
      .m = model, .other = other, .why = why, .batch = NO_VALUE};
  o->size = model_at(model, model->inputs.at[0])->dim[0];
  o->other_size = model_at(other, other->inputs.at[0])->dim[0];
  if (!compare(o) || !replace_shapes(o))
    return false;
  for (size_t i = 0; i < model->nodes.count; i++)
    *VEC_PUSH(model->arena, &o->first) = model->nodes.at[i];
  model->nodes.at = o->first.at;
  model->nodes.count = o->first.count;
  drop_constants(o);
  return true;
}
