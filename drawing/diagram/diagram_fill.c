/* Colours of a diagram's boxes: by family, or by cost. */
#include "drawing/diagram/diagram.h"

#include "drawing/scene/palette.h"

int family_of(const struct layer_kind *kind) {
  const char *before = "";
  int families = 0;
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *known = layer_kind_at(i);
    if (strcmp(known->family, before) != 0) {
      before = known->family;
      families++;
    }
    if (kind->family && strcmp(known->family, kind->family) == 0)
      return families - 1;
  }
  return NO_NODE;
}

static int64_t heat_of(const struct diagram *d, size_t item) {
  const struct row *row = item_row(d, item);
  int64_t sum = 0;
  if (d->items.at[item].is_entry)
    return 0;
  switch (d->c->options->tint) {
  case NETC_TINT_MACS: return row->cost.macs;
  case NETC_TINT_PARAMS: return row->cost.params;
  case NETC_TINT_SAVED:
    for (int64_t i = row->first; i < row->end; i++)
      sum += d->c->memory.saved_by_node[i];
    return sum;
  default: return 0;
  }
}

/* Sixths of the maximum; white is zero. */
static int heat_step(const struct diagram *d, int64_t heat) {
  if (heat <= 0 || d->most_heat <= 0)
    return 0;
  int step = 1 + (int)(heat / (d->most_heat / (PALETTE_HEATS - 1) + 1));
  return step < PALETTE_HEATS ? step : PALETTE_HEATS - 1;
}

int item_fill(const struct diagram *d, size_t item) {
  const struct row *row = item_row(d, item);
  const struct layer_kind *kind = item_node(d, item)->kind;
  if (d->c->options->tint != NETC_TINT_OP)
    return palette_heat(heat_step(d, heat_of(d, item)));
  if (row->group != NO_NODE)
    return PALETTE_REPEATS;
  if (d->items.at[item].is_entry)
    return PALETTE_PAPER;
  return kind == &model_input_kind ? PALETTE_PAPER
                                   : palette_fill(d->items.at[item].family);
}

int item_edge(const struct diagram *d, size_t item) {
  return d->c->options->tint != NETC_TINT_OP ||
                 item_row(d, item)->group != NO_NODE ||
                 d->items.at[item].is_entry ||
                 item_node(d, item)->kind == &model_input_kind
             ? PALETTE_EDGES
             : palette_outline(d->items.at[item].family);
}

int64_t item_bytes(const struct diagram *d, size_t item) {
  const struct row *row = &d->rows.at[d->items.at[item].last_row];
  const struct shape *shape = row_shape(d->c, row);
  int64_t count = 1, bytes;
  for (int i = 0; i < shape->rank; i++)
    if (__builtin_mul_overflow(count, shape->dim[i], &count))
      return INT64_MAX;
  return element_bytes(d->c->settings->infer.dtype, count, &bytes) ? bytes
                                                                   : INT64_MAX;
}

void diagram_find_scales(struct diagram *d) {
  for (size_t i = 0; i < d->items.count; i++) {
    int64_t heat = heat_of(d, i);
    d->most_heat = heat > d->most_heat ? heat : d->most_heat;
  }
}
