/* Receptive fields of tensors, in positions of the input. */
#include "codegen/field.h"

#include "base/check.h"

static bool same_map(const struct shape *a, const struct shape *b) {
  if (a->rank != b->rank || a->rank < 2)
    return false;
  for (int i = 0; i < a->rank - 1; i++)
    if (a->dim[i] != b->dim[i])
      return false;
  return true;
}

static struct field of_input(const struct shape *shape) {
  struct field field = {.axes = 0};
  if (shape->dtype != DTYPE_FLOAT || shape->rank < 2 || shape->rank > 4)
    return field;
  field.axes = shape->rank - 1;
  for (int i = 0; i < field.axes; i++)
    field.at[i] = (struct field_axis){.size = 1, .step = 1, .unit = 1, .by = 1};
  return field;
}

/* False on overflow. */
static bool size_of(const struct field_axis *a, int64_t *size) {
  int64_t more;
  return mul_i64(a->more / a->by, a->step, &more) &&
         add_i64(a->size, more, size);
}

/* Sets size, step and parts from the axes. */
static void settle(struct field *field) {
  for (int i = 0; i < field->axes; i++) {
    const struct field_axis *a = &field->at[i];
    if (!size_of(a, &field->size[i]) ||
        !mul_i64(a->step, a->unit, &field->step[i])) {
      field->axes = 0;
      return;
    }
    int64_t common = gcd_i64(field->step[i], a->by);
    field->step[i] /= common;
    field->parts[i] = a->by / common;
  }
}

static void widen(struct field *to, const struct field *from) {
  if (to->axes != from->axes)
    to->axes = 0;
  for (int i = 0; i < to->axes; i++)
    if (from->size[i] > to->size[i] ||
        (from->size[i] == to->size[i] && from->step[i] > to->step[i])) {
      to->at[i] = from->at[i];
      to->size[i] = from->size[i];
      to->step[i] = from->step[i];
    }
}

/* Adds positions of the map; false on overflow. */
static bool add_positions(struct field_axis *a, const struct window *w) {
  int64_t more;
  return mul_i64(w->dilation, w->kernel - 1, &more) &&
         mul_i64(more, a->unit, &more) && add_i64(a->more, more, &a->more);
}

/* Applies windows to a field; false on overflow. */
static bool move(struct field *field, const struct window *windows) {
  for (int i = 0; i < field->axes; i++) {
    struct field_axis *a = &field->at[i];
    if (!add_positions(a, &windows[i]) ||
        !mul_i64(a->unit, windows[i].stride, &a->unit))
      return false;
  }
  return true;
}

/* Applies windows that spread values; false on overflow. */
static bool spread(struct field *field, const struct window *windows) {
  for (int i = 0; i < field->axes; i++) {
    struct field_axis *a = &field->at[i];
    if (a->by == 1) {
      int64_t size, step;
      if (!size_of(a, &size) || !mul_i64(a->step, a->unit, &step))
        return false;
      *a = (struct field_axis){.size = size, .step = step, .unit = 1, .by = 1};
    }
    if (!mul_i64(a->by, windows[i].stride, &a->by) ||
        !mul_i64(a->more, windows[i].stride, &a->more) ||
        !add_positions(a, &windows[i]))
      return false;
  }
  return true;
}

static struct field of_layer(const struct layer *layer,
                             const struct field *in) {
  struct window windows[3];
  struct field field = *in;
  if (!field.axes)
    return field;
  const struct layer_kind *kind = layer->kind;
  if (kind->windows && kind->windows(layer, windows) == field.axes) {
    if (!move(&field, windows))
      field.axes = 0;
  } else if (kind->spreads && kind->spreads(layer, windows) == field.axes) {
    if (!spread(&field, windows))
      field.axes = 0;
  } else if (!same_map(layer->in[0], &layer->out) ||
             (kind->macs && !kind->per_position)) {
    field.axes = 0; /* unknown, as for attention, which reads all positions */
  }
  return field;
}

struct field *fields_of(const struct compiled *c) {
  const struct model *model = c->model;
  struct field *fields =
      arena_alloc(c->arena, model->nodes.count + 1, sizeof *fields);
  const struct shape **in = model_layer_room(model);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    struct field field = {.axes = 0};
    if (node->input_count == 0) {
      fields[i] = of_input(node->out);
      settle(&fields[i]);
      continue;
    }
    struct layer layer = model_layer(model, (int64_t)i, in);
    for (int k = 0; k < node->input_count; k++) {
      const struct field *from = &fields[node_input(model, node, k)];
      if (k == 0)
        field = *from;
      else
        widen(&field, from);
    }
    fields[i] = of_layer(&layer, &field);
    settle(&fields[i]);
  }
  return fields;
}
