/*
 * Open axes: the batch and sizes with bounds. The net is built for several
 * sizes; operators must be equal and only sizes may differ. Shapes for
 * operators are then computed from those of tensors, and constants of different
 * lengths are cut from the longest.
 */
#include <string.h>

#include "export/open.h"

/* Refuses a value; a constant has the name of its reader. */
bool open_refuse(struct open_model *o, value_id value) {
  bool batch = !o->asked->axis_count, both = !batch && o->asked->batched;
  text_printf(o->why,
              "`%s` depends on %s, and not only by the size of an axis: %s",
              model_at(o->m, value)->name,
              batch ? "the number of samples" : "the open sizes",
              batch  ? "`--batch N` fixes it"
              : both ? "fix sizes with bounds by `--input SIZES`; leave out "
                       "--dynamic to fix the batch"
                     : "`--input SIZES` fixes them");
  return false;
}

static bool is_one_alone(const struct onnx_model *a, value_id x,
                         const struct onnx_model *b, value_id y) {
  if (x == NO_VALUE || y == NO_VALUE)
    return false;
  const struct model_value *p = model_at(a, x), *q = model_at(b, y);
  for (int k = 0; k < p->rank && k < q->rank; k++)
    if (p->dim[k] != 1 && q->dim[k] == 1)
      return true;
  return false;
}

/* True if `b` has a size of 1 up to node `last` where `a` has more: transposing
 * or repeating is then omitted. */
static bool has_ones(const struct onnx_model *a, const struct onnx_model *b,
                     size_t last) {
  for (size_t i = 0; i <= last && i < a->nodes.count && i < b->nodes.count;
       i++) {
    const struct onnx_node *x = &a->nodes.at[i], *y = &b->nodes.at[i];
    if (is_one_alone(a, x->out, b, y->out))
      return true;
    for (size_t k = 0; k < x->in_count && k < y->in_count; k++)
      if (is_one_alone(a, x->ins[k], b, y->ins[k]))
        return true;
  }
  return false;
}

/* Drops `perhaps` samples with other operators; refuses for other samples. */
static bool choose_samples(struct open_model *o) {
  const struct onnx_opening *asked = o->asked;
  o->models = arena_alloc(o->m->arena, asked->count + 1, sizeof *o->models);
  o->kept = arena_alloc(o->m->arena, asked->count + 1, sizeof *o->kept);
  for (size_t s = 0; s < asked->count; s++) {
    const struct onnx_model *other = asked->samples[s].model;
    size_t same = open_same_nodes(o->m->arena, o->m, other);
    if (same == o->m->nodes.count && same == other->nodes.count) {
      o->kept[o->count] = s;
      o->models[o->count++] = other;
    } else if (!asked->samples[s].perhaps || !has_ones(o->m, other, same)) {
      return open_refuse(o, o->m->nodes.at[same].out);
    }
  }
  o->sizes.samples = o->count;
  return true;
}

/* Axes of values */

static int64_t *sizes_of(struct open_model *o, const value_id *values,
                         int axis) {
  int64_t *sizes = arena_alloc(o->m->arena, o->count + 1, sizeof *sizes);
  for (size_t s = 0; s < o->count; s++)
    sizes[s] = model_at(o->models[s], values[s])->dim[axis];
  return sizes;
}

bool open_varies(const struct open_model *o, const int64_t *sizes) {
  for (size_t s = 1; s < o->count; s++)
    if (sizes[s] != sizes[0])
      return true;
  return false;
}

const char *open_name(const struct open_model *o, const int64_t *sizes) {
  for (size_t i = 0; i < o->m->inputs.count; i++) {
    const struct model_value *in = model_at(o->m, o->m->inputs.at[i]);
    for (int k = 0; k < in->rank; k++) {
      bool same = in->open && in->open[k] && *in->open[k];
      for (size_t s = 0; s < o->count && same; s++)
        same = model_at(o->models[s], o->models[s]->inputs.at[i])->dim[k] ==
               sizes[s];
      if (same)
        return in->open[k];
    }
  }
  return "";
}

static void open_value(struct open_model *o, const value_id *values) {
  struct model_value *value = &o->m->values.at[values[0]];
  for (int k = 0; k < value->rank; k++) {
    int64_t *sizes = sizes_of(o, values, k);
    if (!open_varies(o, sizes))
      continue;
    if (value->from != FROM_INPUT)
      model_open_axis(o->m, value, k, open_name(o, sizes));
    sizes_add(&o->sizes, values[0], k, sizes);
  }
}

static void open_node(struct open_model *o, size_t i, bool second) {
  value_id *values = arena_alloc(o->m->arena, o->count + 1, sizeof *values);
  for (size_t s = 0; s < o->count; s++) {
    const struct onnx_node *node = &o->models[s]->nodes.at[i];
    values[s] = second ? node->second : node->out;
  }
  if (values[0] != NO_VALUE)
    open_value(o, values);
}

/* The name of an axis with these sizes. */
static const char *word_for(const struct open_model *o, const int64_t *sizes) {
  for (size_t i = 0; i < o->asked->axis_count; i++) {
    bool same = true;
    for (size_t s = 0; s < o->count && same; s++)
      same = o->asked->axes[i].sizes[o->kept[s]] == sizes[s];
    if (same)
      return o->asked->axes[i].name;
  }
  return "";
}

static void open_inputs(struct open_model *o) {
  for (size_t i = 0; i < o->m->inputs.count; i++) {
    value_id *values = arena_alloc(o->m->arena, o->count + 1, sizeof *values);
    struct model_value *in = &o->m->values.at[o->m->inputs.at[i]];
    for (size_t s = 0; s < o->count; s++)
      values[s] = o->models[s]->inputs.at[i];
    for (int k = 0; k < in->rank; k++) {
      const int64_t *sizes = sizes_of(o, values, k);
      if (open_varies(o, sizes))
        model_open_axis(o->m, in, k, k ? word_for(o, sizes) : "batch");
    }
    open_value(o, values);
  }
}

/* Omits constants that are no longer read. */
static void drop_constants(struct onnx_model *m) {
  bool *used = arena_alloc(m->arena, m->values.count + 1, sizeof *used);
  for (size_t i = 0; i < m->nodes.count; i++)
    for (size_t k = 0; k < m->nodes.at[i].in_count; k++)
      if (m->nodes.at[i].ins[k] != NO_VALUE)
        used[m->nodes.at[i].ins[k]] = true;
  for (size_t i = 0; i < m->values.count; i++)
    if (m->values.at[i].from == FROM_CONSTANT && !used[i])
      m->values.at[i].from = FROM_NOTHING;
}

bool onnx_open(const struct onnx_opening *asked, struct text *why) {
  struct onnx_model *m = asked->samples[0].model;
  struct open_model *o = ARENA_NEW(m->arena, struct open_model);
  *o = (struct open_model){
      .m = m, .asked = asked, .why = why, .sizes = {.m = m}};
  open_resizes(asked);
  if (!choose_samples(o))
    return false;
  open_inputs(o);
  size_t count = m->nodes.count;
  for (size_t i = 0; i < count; i++) {
    if (!open_padding(o, i) || !open_operands(o, i))
      return false;
    *VEC_PUSH(m->arena, &o->sizes.nodes) = m->nodes.at[i];
    open_node(o, i, false);
    open_node(o, i, true);
  }
  if (asked->upper && asked->upper->weights.count == m->weights.count)
    m->weights.at = asked->upper->weights.at;
  m->nodes.at = o->sizes.nodes.at;
  m->nodes.count = o->sizes.nodes.count;
  m->nodes.room = o->sizes.nodes.room;
  drop_constants(m);
  return true;
}
