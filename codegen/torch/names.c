/* Names of modules: conv1, or conv if there is one, convs for a list. */
#include <inttypes.h>

#include "codegen/torch/python.h"

struct naming {
  struct python *p;
  const struct python_variants *v;
  struct map stems; /* number of modules by stem */
  struct map given; /* number of names given by stem */
  struct map taken; /* names */
};

static struct slice stem_of(struct naming *l, const struct python_turn *turn,
                            const struct python_own *own) {
  if (own->given)
    return turn->times > 1 ? own->list : own->base;
  struct slice stem = python_attribute(l->p->arena, own->base);
  return turn->times > 1 ? python_plural(l->p->arena, stem) : stem;
}

/* conv, or conv1 if there are several, convs for a list. */
static struct slice next_name(struct naming *l, struct slice stem) {
  struct text name = text_new(l->p->arena);
  int64_t number = ++map_add(l->p->arena, &l->given, stem)->number;
  text_puts(&name, stem);
  if (map_find(&l->stems, stem)->number > 1)
    text_printf(&name,
                is_digit(stem.at[stem.length - 1]) ? "_%" PRId64 : "%" PRId64,
                number);
  while (map_find(&l->taken, text_slice(&name)))
    text_putc(&name, '_');
  map_add(l->p->arena, &l->taken, text_slice(&name));
  return text_slice(&name);
}

static void set_path(struct python *p, int64_t node, struct slice path) {
  if (node < 0)
    p->units.at[unit_as_node(node)].path = path;
  else
    p->made[node].path = path;
}

static void set_paths(struct naming *n, int64_t unit,
                      const struct python_turn *turn, size_t item, size_t own,
                      struct slice name) {
  const struct python_item *items = n->p->units.at[unit].items;
  for (size_t t = 0; t < turn->times; t++) {
    int64_t node = items[item + t * turn->period].own.at[own].node;
    struct text path = text_new(n->p->arena);
    text_puts(&path, name);
    if (turn->times > 1)
      text_printf(&path, "[%zu]", t);
    set_path(n->p, node, text_slice(&path));
  }
}

void python_name_plainly(struct python *p, int64_t unit) {
  struct naming n = {.p = p};
  const struct python_unit *s = &p->units.at[unit];
  for (size_t i = 0; i < s->turns.count; i++) {
    const struct python_turn *turn = &s->turns.at[i];
    for (size_t k = 0; k < turn->period; k++)
      for (size_t o = 0; o < s->items[turn->first + k].own.count; o++)
        set_paths(&n, unit, turn, turn->first + k, o,
                  stem_of(&n, turn, &s->items[turn->first + k].own.at[o]));
  }
}

/* Names a module of a slot in all units that have it. */
static void name_own(struct naming *n, size_t slot, size_t item, size_t own,
                     struct slice name) {
  for (size_t u = 0; u < n->v->count; u++) {
    const struct python_turn *turn = python_turn_at(n->p, n->v, u, slot);
    if (turn)
      set_paths(n, n->v->units[u], turn, turn->first + item, own, name);
  }
}

static void name_slot(struct naming *n, size_t slot, bool naming) {
  size_t u = python_first_with(n->p, n->v, slot);
  const struct python_turn *turn = python_turn_at(n->p, n->v, u, slot);
  const struct python_item *items = n->p->units.at[n->v->units[u]].items;
  for (size_t k = 0; k < turn->period; k++)
    for (size_t o = 0; o < items[turn->first + k].own.count; o++) {
      struct slice stem = stem_of(n, turn, &items[turn->first + k].own.at[o]);
      if (naming)
        name_own(n, slot, k, o,
                 items[turn->first + k].own.at[o].given ? stem
                                                        : next_name(n, stem));
      else
        map_add(n->p->arena, &n->stems, stem)->number++;
    }
}

void python_name_modules(struct python *p, const struct python_variants *v) {
  struct naming n = {.p = p, .v = v};
  for (int naming = 0; naming < 2; naming++)
    for (size_t slot = 0; slot < v->slots; slot++)
      name_slot(&n, slot, naming == 1);
}
