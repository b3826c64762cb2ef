/*
 * Replaces constants that depend on open sizes: by computed shapes, or by parts
 * of the longest table.
 */
#include <string.h>

#include "export/open.h"

struct per_sample {
  struct model_value *at; /* by sample */
};

static struct per_sample operands_of(struct open_model *o, size_t i,
                                     size_t in) {
  struct per_sample all = {
      arena_alloc(o->m->arena, o->count + 1, sizeof *all.at)};
  for (size_t s = 0; s < o->count; s++)
    all.at[s] = *model_at(o->models[s], o->models[s]->nodes.at[i].ins[in]);
  return all;
}

static bool differ(const struct open_model *o, const struct per_sample *all) {
  const struct model_value *first = &all->at[0];
  bool constant = first->from == FROM_CONSTANT;
  for (size_t s = 0; s < o->count && constant; s++)
    if (all->at[s].bytes != first->bytes || all->at[s].rank != first->rank ||
        memcmp(all->at[s].dim, first->dim,
               (size_t)first->rank * sizeof *first->dim) != 0 ||
        (first->data &&
         memcmp(all->at[s].data, first->data, first->bytes) != 0))
      return true;
  return false;
}

static int64_t *numbers_at(struct open_model *o, const struct per_sample *all,
                           int at) {
  int64_t *numbers = arena_alloc(o->m->arena, o->count + 1, sizeof *numbers);
  for (size_t s = 0; s < o->count; s++)
    memcpy(&numbers[s],
           (const char *)all->at[s].data + (size_t)at * sizeof *numbers,
           sizeof *numbers);
  return numbers;
}

/* Sizes of a Reshape: 0 is the input's size, -1 the rest. */
static value_id reshaped(struct open_model *o, size_t i,
                         const struct per_sample *all, int count) {
  int64_t sizes[LAYOUT_RANK];
  value_id parts[LAYOUT_RANK];
  bool rest = false, computes = false;
  int open = 0;
  const value_id in = o->m->nodes.at[i].ins[0];
  for (int k = 0; k < count; k++)
    open += open_varies(o, numbers_at(o, all, k));
  for (int k = 0; k < count; k++) {
    int64_t *numbers = numbers_at(o, all, k);
    parts[k] = NO_VALUE;
    sizes[k] = numbers[0];
    if (!open_varies(o, numbers))
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

static value_id list_of(struct open_model *o, const struct per_sample *all,
                        int count) {
  value_id parts[LAYOUT_RANK];
  for (int k = 0; k < count; k++)
    if ((parts[k] = sizes_number(&o->sizes, numbers_at(o, all, k))) == NO_VALUE)
      return NO_VALUE;
  return sizes_list(&o->sizes, parts, count);
}

/* True if `part` is the beginning of `table` along all axes. */
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

/* The largest constant at the upper bounds that contains all of them. */
static const struct model_value *table_of(const struct open_model *o,
                                          const struct per_sample *all) {
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

/* A buffer with its sizes at the upper bounds. */
static const struct model_value *buffer_of(const struct open_model *o,
                                           const struct per_sample *all) {
  const struct onnx_model *upper = o->asked->upper;
  for (size_t i = 0; upper && i < upper->values.count; i++) {
    const struct model_value *table = &upper->values.at[i];
    if (table->from != FROM_CONSTANT || table->weight != all->at[0].weight)
      continue;
    bool fits = true;
    for (size_t s = 0; s < o->count; s++)
      for (int k = 0; k < table->rank; k++)
        fits = fits && all->at[s].dim[k] <= table->dim[k];
    return fits ? table : NULL;
  }
  return NULL;
}

static value_id whole_of(struct open_model *o,
                         const struct model_value *table) {
  if (table->weight < 0)
    return model_tensor(o->m, table->type, table->rank, table->dim,
                        table->data);
  struct map_entry *entry =
      map_add(o->m->arena, &o->tables, slice_of(table->name));
  if (!entry->number) {
    value_id whole = model_value(o->m, FROM_CONSTANT, table->name, table->type,
                                 table->rank, table->dim);
    o->m->values.at[whole].weight = table->weight;
    entry->number = whole + 1;
  }
  return entry->number - 1;
}

static value_id cut(struct open_model *o, const struct per_sample *all) {
  static const int64_t zeros[LAYOUT_RANK] = {0};
  const struct model_value *table =
      all->at[0].weight < 0 ? table_of(o, all) : buffer_of(o, all);
  int64_t axes[LAYOUT_RANK], dims[LAYOUT_RANK];
  value_id ends[LAYOUT_RANK];
  int count = 0;
  if (!table)
    return NO_VALUE;
  struct text key = text_new(o->m->arena);
  value_id whole = whole_of(o, table);
  text_printf(&key, "%lld", (long long)whole);
  for (int k = 0; k < table->rank; k++) {
    int64_t *sizes = arena_alloc(o->m->arena, o->count + 1, sizeof *sizes);
    for (size_t s = 0; s < o->count; s++)
      sizes[s] = all->at[s].dim[k];
    dims[k] = sizes[0];
    if (!open_varies(o, sizes) && sizes[0] == table->dim[k])
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
    if (open_varies(o, sizes))
      model_open_axis(o->m, value, (int)axes[k], open_name(o, sizes));
  }
  entry->number = out + 1;
  return out;
}

/* Replacement of a constant for an operator, or NO_VALUE. */
static value_id opened(struct open_model *o, size_t i, size_t in,
                       const struct per_sample *all) {
  const struct model_value *first = &all->at[0];
  bool alike = first->data && first->type == ELEMENT_INT64 && first->rank < 2 &&
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

bool open_operands(struct open_model *o, size_t i) {
  size_t count = o->m->nodes.at[i].in_count;
  value_id *ins = arena_alloc(o->m->arena, count + 1, sizeof *ins);
  for (size_t k = 0; k < count; k++) {
    ins[k] = o->m->nodes.at[i].ins[k];
    if (ins[k] == NO_VALUE)
      continue;
    struct per_sample all = operands_of(o, i, k);
    if (differ(o, &all) && (ins[k] = opened(o, i, k, &all)) == NO_VALUE)
      return open_refuse(o, o->m->nodes.at[i].out);
  }
  o->m->nodes.at[i].ins = ins;
  return true;
}
