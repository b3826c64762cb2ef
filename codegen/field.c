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
    field.size[i] = field.step[i] = 1;
  return field;
}

static void widen(struct field *to, const struct field *from) {
  if (to->axes != from->axes) {
    to->axes = 0;
    return;
  }
  for (int i = 0; i < to->axes; i++) {
    to->size[i] = max_i64(to->size[i], from->size[i]);
    to->step[i] = max_i64(to->step[i], from->step[i]);
  }
}

/* Applies windows to a field; false on overflow. */
static bool move(struct field *field, const struct window *windows) {
  for (int i = 0; i < field->axes; i++) {
    const struct window *w = &windows[i];
    int64_t more;
    if (!mul_i64(w->dilation, w->kernel - 1, &more) ||
        !mul_i64(more, field->step[i], &more) ||
        !add_i64(field->size[i], more, &field->size[i]) ||
        !mul_i64(field->step[i], w->stride, &field->step[i]))
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
  }
  return fields;
}
