/*
 * Axes that are left open: the batch, sizes with bounds. The net is built for
 * several of their sizes; the operators are the same, and what differs are
 * sizes. Shapes that operators are given are computed from those of tensors,
 * and constants that are longer or shorter are cut from the longest.
 */
#include <string.h>

#include "codegen/onnx/onnx.h"
#include "codegen/onnx/sizes.h"

struct opening {
  struct open_sizes sizes; /* of them all */
  struct onnx_model *m;    /* the first of the samples */
  const struct onnx_model **models;
  size_t *kept; /* which of those that were asked */
  size_t count;
  const struct onnx_opening *asked;
  struct map tables; /* parts of constants that are there */
  struct text *why;
};

/* Where a value comes from: an input, or a node, of two outputs perhaps. */
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

/* A value is called after what reads it, if it is a constant. */
static bool refuse(struct opening *o, value_id value) {
  bool batch = !o->asked->axis_count, both = !batch && o->asked->batched;
  text_printf(o->why,
              "`%s` depends on %s otherwise than by the size of an axis: %s",
              model_at(o->m, value)->name,
              batch ? "the number of samples" : "sizes that are left open",
              batch  ? "`--batch N` fixes it"
              : both ? "`--input SIZES` fixes those with bounds, and without "
                       "--dynamic the batch is fixed"
                     : "`--input SIZES` fixes them");
  return false;
}

/* The same operators */

static const struct attribute *attribute_of(const struct onnx_node *node,
                                            const char *name) {
  for (size_t i = 0; i < node->attributes.count; i++)
    if (strcmp(node->attributes.at[i].name, name) == 0)
      return &node->attributes.at[i];
  return NULL;
}

static bool same_attribute(const struct attribute *x,
                           const struct attribute *y) {
  return x->number == y->number && !(x->real < y->real) &&
         !(x->real > y->real) && x->count == y->count &&
         (!x->text || strcmp(x->text, y->text) == 0) &&
         (!x->count ||
          memcmp(x->numbers, y->numbers, x->count * sizeof *x->numbers) == 0);
}

/* Windows that read beyond a map do so by as much as the sizes ask; where the
 * mean does not count it, more of it changes nothing. */
static bool pads_freely(const struct onnx_node *node) {
  return strcmp(node->op, "Conv") == 0 || strcmp(node->op, "MaxPool") == 0 ||
         (strcmp(node->op, "AveragePool") == 0 &&
          !attribute_of(node, "count_include_pad"));
}

static bool has_attributes(const struct onnx_node *a,
                           const struct onnx_node *of) {
  for (size_t i = 0; i < of->attributes.count; i++) {
    const struct attribute *y = &of->attributes.at[i];
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
  if (p->weight != q->weight)
    return false;
  return p->weight < 0 || memcmp(p->dim, q->dim, sizeof p->dim) == 0;
}

/* The first node that differs, else all of them. */
static size_t same_nodes(struct arena *arena, const struct onnx_model *a,
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

/* Samples whose operators are others are left out, if they may be. */
static bool choose_samples(struct opening *o) {
  const struct onnx_opening *asked = o->asked;
  o->models = arena_alloc(o->m->arena, asked->count + 1, sizeof *o->models);
  o->kept = arena_alloc(o->m->arena, asked->count + 1, sizeof *o->kept);
  for (size_t s = 0; s < asked->count; s++) {
    const struct onnx_model *other = asked->samples[s].model;
    size_t same = same_nodes(o->m->arena, o->m, other);
    if (same == o->m->nodes.count && same == other->nodes.count) {
      o->kept[o->count] = s;
      o->models[o->count++] = other;
    } else if (!asked->samples[s].perhaps) {
      return refuse(o, o->m->nodes.at[same].out);
    }
  }
  o->sizes.samples = o->count;
  return true;
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

/* As many windows in every sample with the most padding of all? */
static bool pad_axis(struct opening *o, size_t i, size_t axis, size_t axes,
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

static bool differs_in_pads(const struct opening *o, size_t i) {
  const struct attribute *first = attribute_of(&o->m->nodes.at[i], "pads");
  for (size_t s = 0; s < o->count; s++) {
    const struct attribute *pads =
        attribute_of(&o->models[s]->nodes.at[i], "pads");
    if (!first != !pads || (pads && !same_attribute(first, pads)))
      return true;
  }
  return false;
}

static bool pad_most(struct opening *o, size_t i) {
  struct onnx_node *node = &o->m->nodes.at[i];
  if (!pads_freely(node) || !differs_in_pads(o, i))
    return true;
  size_t axes = (size_t)model_at(o->m, node->out)->rank - 2;
  int64_t *pads = arena_alloc(o->m->arena, 2 * axes + 1, sizeof *pads);
  for (size_t k = 0; k < axes; k++)
    if (!pad_axis(o, i, k, axes, &pads[k], &pads[axes + k]))
      return refuse(o, node->out);
  struct attribute *to = NULL;
  for (size_t k = 0; k < node->attributes.count; k++)
    if (strcmp(node->attributes.at[k].name, "pads") == 0)
      to = &node->attributes.at[k];
  if (!to)
    to = VEC_PUSH(o->m->arena, &node->attributes);
  *to = (struct attribute){.name = "pads",
                           .type = ATTRIBUTE_INTS,
                           .count = 2 * axes,
                           .numbers = pads};
  return true;
}

/* Axes of values */

static int64_t *sizes_of(struct opening *o, const value_id *values, int axis) {
  int64_t *sizes = arena_alloc(o->m->arena, o->count + 1, sizeof *sizes);
  for (size_t s = 0; s < o->count; s++)
    sizes[s] = model_at(o->models[s], values[s])->dim[axis];
  return sizes;
}

static bool varies(const struct opening *o, const int64_t *sizes) {
  for (size_t s = 1; s < o->count; s++)
    if (sizes[s] != sizes[0])
      return true;
  return false;
}

/* What an axis of these sizes is called; "": it follows from others. */
static const char *name_of(const struct opening *o, const int64_t *sizes) {
  for (size_t i = 0; i < o->m->inputs.count; i++) {
    const struct model_value *in = model_at(o->m, o->m->inputs.at[i]);
    for (int k = 0; k < in->rank; k++) {
      bool same = in->open[k] && *in->open[k];
      for (size_t s = 0; s < o->count && same; s++)
        same = model_at(o->models[s], o->models[s]->inputs.at[i])->dim[k] ==
               sizes[s];
      if (same)
        return in->open[k];
    }
  }
  return "";
}

static void open_value(struct opening *o, const value_id *values) {
  struct model_value *value = &o->m->values.at[values[0]];
  for (int k = 0; k < value->rank; k++) {
    int64_t *sizes = sizes_of(o, values, k);
    if (!varies(o, sizes))
      continue;
    if (value->from != FROM_INPUT)
      value->open[k] = name_of(o, sizes);
    sizes_add(&o->sizes, values[0], k, sizes);
  }
}

static void open_node(struct opening *o, size_t i, bool second) {
  value_id *values = arena_alloc(o->m->arena, o->count + 1, sizeof *values);
  for (size_t s = 0; s < o->count; s++) {
    const struct onnx_node *node = &o->models[s]->nodes.at[i];
    values[s] = second ? node->second : node->out;
  }
  if (values[0] != NO_VALUE)
    open_value(o, values);
}

/* The word for an axis that is said to have these sizes. */
static const char *word_for(const struct opening *o, const int64_t *sizes) {
  for (size_t i = 0; i < o->asked->axis_count; i++) {
    bool same = true;
    for (size_t s = 0; s < o->count && same; s++)
      same = o->asked->axes[i].sizes[o->kept[s]] == sizes[s];
    if (same)
      return o->asked->axes[i].name;
  }
  return "";
}

static void open_inputs(struct opening *o) {
  for (size_t i = 0; i < o->m->inputs.count; i++) {
    value_id *values = arena_alloc(o->m->arena, o->count + 1, sizeof *values);
    struct model_value *in = &o->m->values.at[o->m->inputs.at[i]];
    for (size_t s = 0; s < o->count; s++)
      values[s] = o->models[s]->inputs.at[i];
    for (int k = 0; k < in->rank; k++) {
      const int64_t *sizes = sizes_of(o, values, k);
      if (varies(o, sizes))
        in->open[k] = k ? word_for(o, sizes) : "batch";
    }
    open_value(o, values);
  }
}

/* Operands */

struct operands {
  struct model_value *at; /* by sample */
};

static struct operands operands_of(struct opening *o, size_t i, size_t in) {
  struct operands all = {
      arena_alloc(o->m->arena, o->count + 1, sizeof *all.at)};
  for (size_t s = 0; s < o->count; s++)
    all.at[s] = *model_at(o->models[s], o->models[s]->nodes.at[i].ins[in]);
  return all;
}

static bool differ(const struct opening *o, const struct operands *all) {
  const struct model_value *first = &all->at[0];
  for (size_t s = 0; s < o->count && first->data; s++)
    if (all->at[s].bytes != first->bytes ||
        memcmp(all->at[s].dim, first->dim, sizeof first->dim) != 0 ||
        memcmp(all->at[s].data, first->data, first->bytes) != 0)
      return true;
  return false;
}

static int64_t *numbers_at(struct opening *o, const struct operands *all,
                           int at) {
  int64_t *numbers = arena_alloc(o->m->arena, o->count + 1, sizeof *numbers);
  for (size_t s = 0; s < o->count; s++)
    memcpy(&numbers[s],
           (const char *)all->at[s].data + (size_t)at * sizeof *numbers,
           sizeof *numbers);
  return numbers;
}

/* Sizes of a Reshape: 0 is that of what it reads, -1 what is left. */
static value_id reshaped(struct opening *o, size_t i,
                         const struct operands *all, int count) {
  int64_t sizes[LAYOUT_RANK];
  value_id parts[LAYOUT_RANK];
  bool rest = false, computes = false;
  int open = 0;
  const value_id in = o->m->nodes.at[i].ins[0];
  for (int k = 0; k < count; k++)
    open += varies(o, numbers_at(o, all, k));
  for (int k = 0; k < count; k++) {
    int64_t *numbers = numbers_at(o, all, k);
    parts[k] = NO_VALUE;
    sizes[k] = numbers[0];
    if (!varies(o, numbers))
      continue;
    bool same = open > 1 && k < model_at(o->m, in)->rank;
    for (size_t s = 0; s < o->count && same; s++)
      same = model_at(o->models[s], o->models[s]->nodes.at[i].ins[0])->dim[k] ==
             numbers[s];
    if (same) {
      sizes[k] = 0;
    } else if (open == 1 || (!rest && k == count - 1)) {
      sizes[k] = -1;
      rest = true;
    } else if ((parts[k] = sizes_number(&o->sizes, numbers)) != NO_VALUE) {
      computes = true;
    } else if (!rest) {
      sizes[k] = -1;
      rest = true;
    } else {
      return NO_VALUE;
    }
  }
  if (!computes)
    return model_numbers(o->m, sizes, count);
  for (int k = 0; k < count; k++)
    if (parts[k] == NO_VALUE)
      parts[k] = model_numbers(o->m, &sizes[k], 1);
  return sizes_list(&o->sizes, parts, count);
}

static value_id list_of(struct opening *o, const struct operands *all,
                        int count) {
  value_id parts[LAYOUT_RANK];
  for (int k = 0; k < count; k++)
    if ((parts[k] = sizes_number(&o->sizes, numbers_at(o, all, k))) == NO_VALUE)
      return NO_VALUE;
  return sizes_list(&o->sizes, parts, count);
}

/* Whether `part` is where all axes of `table` begin. */
static bool begins(const struct model_value *table,
                   const struct model_value *part) {
  int64_t at[LAYOUT_RANK] = {0};
  if (!table->data || table->type != part->type || table->rank != part->rank)
    return false;
  size_t values = 1, row = 1;
  for (int k = 0; k < part->rank; k++) {
    if (part->dim[k] > table->dim[k] || part->dim[k] < 1)
      return false;
    values *= (size_t)part->dim[k];
  }
  size_t width = part->bytes / values;
  row = part->rank ? (size_t)part->dim[part->rank - 1] : 1;
  for (size_t done = 0; done < values; done += row) {
    size_t place = 0;
    for (int k = 0; k < part->rank; k++)
      place = place * (size_t)table->dim[k] + (size_t)at[k];
    if (memcmp((const char *)table->data + place * width,
               (const char *)part->data + done * width, row * width) != 0)
      return false;
    for (int k = part->rank - 1; k-- > 0 && ++at[k] == part->dim[k];)
      at[k] = 0;
  }
  return true;
}

/* The largest constant of the upper ends of which they all are parts. */
static const struct model_value *table_of(const struct opening *o,
                                          const struct operands *all) {
  const struct onnx_model *upper = o->asked->upper;
  const struct model_value *best = NULL;
  for (size_t i = 0; upper && i < upper->values.count; i++) {
    const struct model_value *table = &upper->values.at[i];
    bool fits =
        table->from == FROM_CONSTANT && (!best || table->bytes > best->bytes);
    for (size_t s = 0; s < o->count && fits; s++)
      fits = begins(table, &all->at[s]);
    if (fits)
      best = table;
  }
  return best;
}

static value_id cut(struct opening *o, const struct operands *all) {
  static const int64_t zeros[LAYOUT_RANK] = {0};
  const struct model_value *table = table_of(o, all);
  int64_t axes[LAYOUT_RANK], dims[LAYOUT_RANK];
  value_id ends[LAYOUT_RANK];
  int count = 0;
  if (!table)
    return NO_VALUE;
  struct text key = text_new(o->m->arena);
  value_id whole =
      model_tensor(o->m, table->type, table->rank, table->dim, table->data);
  text_printf(&key, "%lld", (long long)whole);
  for (int k = 0; k < table->rank; k++) {
    int64_t *sizes = arena_alloc(o->m->arena, o->count + 1, sizeof *sizes);
    for (size_t s = 0; s < o->count; s++)
      sizes[s] = all->at[s].dim[k];
    dims[k] = sizes[0];
    if (!varies(o, sizes) && sizes[0] == table->dim[k])
      continue;
    axes[count] = k;
    if ((ends[count] = sizes_number(&o->sizes, sizes)) == NO_VALUE)
      return NO_VALUE;
    text_printf(&key, " %d:%lld", k, (long long)ends[count++]);
  }
  struct map_entry *entry = map_add(o->m->arena, &o->tables, text_slice(&key));
  if (entry->number)
    return entry->number - 1;
  value_id ins[4] = {whole, model_numbers(o->m, zeros, count),
                     sizes_list(&o->sizes, ends, count),
                     model_numbers(o->m, axes, count)};
  o->m->scope = "sizes";
  value_id out =
      model_node(o->m, "Slice", table->type, table->rank, dims, ins, 4);
  *VEC_PUSH(o->m->arena, &o->sizes.nodes) = o->m->nodes.at[--o->m->nodes.count];
  struct model_value *value = &o->m->values.at[out];
  for (int k = 0; k < count; k++) {
    int64_t *sizes = arena_alloc(o->m->arena, o->count + 1, sizeof *sizes);
    for (size_t s = 0; s < o->count; s++)
      sizes[s] = all->at[s].dim[axes[k]];
    if (varies(o, sizes))
      value->open[axes[k]] = name_of(o, sizes);
  }
  entry->number = out + 1;
  return out;
}

/* What an operator is given in place of a constant; NO_VALUE: nothing. */
static value_id opened(struct opening *o, size_t i, size_t in,
                       const struct operands *all) {
  const struct model_value *first = &all->at[0];
  bool alike = first->type == ELEMENT_INT64 && first->rank < 2 &&
               first->bytes <= LAYOUT_RANK * sizeof(int64_t);
  for (size_t s = 0; s < o->count && alike; s++)
    alike = all->at[s].bytes == first->bytes;
  if (!alike)
    return cut(o, all);
  int count = (int)(first->bytes / sizeof(int64_t));
  return strcmp(o->m->nodes.at[i].op, "Reshape") == 0 && in == 1
             ? reshaped(o, i, all, count)
             : list_of(o, all, count);
}

static bool open_operands(struct opening *o, size_t i) {
  size_t count = o->m->nodes.at[i].in_count;
  value_id *ins = arena_alloc(o->m->arena, count + 1, sizeof *ins);
  for (size_t k = 0; k < count; k++) {
    ins[k] = o->m->nodes.at[i].ins[k];
    if (ins[k] == NO_VALUE)
      continue;
    struct operands all = operands_of(o, i, k);
    if (differ(o, &all) && (ins[k] = opened(o, i, k, &all)) == NO_VALUE)
      return refuse(o, o->m->nodes.at[i].out);
  }
  o->m->nodes.at[i].ins = ins;
  return true;
}

/* What nobody reads any more is not written. */
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
  struct opening *o = ARENA_NEW(m->arena, struct opening);
  *o = (struct opening){.m = m, .asked = asked, .why = why, .sizes = {.m = m}};
  if (!choose_samples(o))
    return false;
  open_inputs(o);
  size_t count = m->nodes.count;
  for (size_t i = 0; i < count; i++) {
    if (!pad_most(o, i) || !open_operands(o, i))
      return false;
    *VEC_PUSH(m->arena, &o->sizes.nodes) = m->nodes.at[i];
    open_node(o, i, false);
    open_node(o, i, true);
  }
  m->nodes.at = o->sizes.nodes.at;
  m->nodes.count = o->sizes.nodes.count;
  m->nodes.room = o->sizes.nodes.room;
  drop_constants(m);
  return true;
}
