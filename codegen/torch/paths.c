/*
 * Paths of modules: their names in the class around them, and in the
 * state_dict() of the net.
 */
#include "codegen/torch/python.h"

/* skip of skip[3] */
static struct slice without_index(struct slice name) {
  const char *open = memchr(name.at, '[', name.length);
  if (open)
    name.length = (size_t)(open - name.at);
  return name;
}

static bool is_label(const struct node_name *name) {
  return !name->ordinal || name->repeated;
}

struct slice python_base(const struct python *p, int64_t node) {
  if (node < 0) {
    const struct python_unit *unit = &p->units.at[unit_as_node(node)];
    return unit->turn ? slice_of(unit->stage ? "stage" : "block")
                      : without_index(
                            name_text(&p->model->groups.at[unit->group].name));
  }
  const struct node *at = &p->model->nodes.at[node];
  const struct node *head = &p->model->nodes.at[at->head];
  struct slice own = without_index(name_text(&at->name));
  if (at == head || !is_label(&head->name))
    return own;
  struct text both = text_new(p->arena);
  text_puts(&both, without_index(name_text(&head->name)));
  text_printf(&both, "_%.*s", SLICE_ARG(own));
  return text_slice(&both);
}

static int64_t unit_around(const struct python *p, int64_t node) {
  return node < 0 ? p->units.at[unit_as_node(node)].parent : p->made[node].unit;
}

/* Writes the steps from a unit down to an inner node or unit. */
static void put_steps(const struct python *p, struct text *out, int64_t unit,
                      int64_t node) {
  int64_t around = unit_around(p, node);
  if (around != unit) {
    put_steps(p, out, unit, unit_as_node(around));
    text_putc(out, '.');
  }
  text_puts(out, node < 0 ? p->units.at[unit_as_node(node)].path
                          : p->made[node].path);
}

void python_put_path(const struct python *p, struct text *out, int64_t unit,
                     int64_t node) {
  const struct python_unit *s = &p->units.at[unit];
  if (python_unit_holds(p, unit, node)) {
    text_put(out, "self.");
    put_steps(p, out, unit, node);
    return;
  }
  for (size_t i = 0; i < s->modules.count; i++)
    if (s->modules.at[i] == node)
      text_puts(out, s->names.at[s->inputs.count + i]);
}

struct slice python_key(const struct python *p, int64_t node) {
  struct text path = text_new(p->arena), key = text_new(p->arena);
  put_steps(p, &path, 0, node);
  for (size_t i = 0; i < path.length; i++)
    if (path.at[i] != ']' && path.at[i] != '"')
      text_putc(&key, path.at[i] == '[' ? '.' : path.at[i]);
  return text_slice(&key);
}
