/* Units: groups that have a module, what they read and what they give. */
#include "codegen/torch/python.h"

bool python_unit_holds(const struct python *p, int64_t unit, int64_t node) {
  const struct python_unit *s = &p->units.at[unit];
  if (node < 0) {
    int64_t inner = -1 - node;
    while (inner > unit)
      inner = p->units.at[inner].parent;
    return inner == unit && inner != -1 - node;
  }
  bool input = p->model->nodes.at[node].kind == &model_input_kind;
  return unit == 0 || (!input && node >= s->first && node < s->end);
}

/* By group: how many of the nodes before it own parameters. */
static int64_t *count_modules(const struct python *p) {
  size_t nodes = p->model->nodes.count;
  int64_t *before = arena_alloc(p->arena, nodes + 1, sizeof *before);
  for (size_t i = 0; i < nodes; i++)
    before[i + 1] = before[i] + !code_is_empty(&p->made[i].make);
  return before;
}

/* The node that reads a value last, which is after all that make it. */
static void find_last(struct python *p) {
  const struct model *model = p->model;
  p->last = arena_alloc(p->arena, model->nodes.count + 1, sizeof *p->last);
  for (size_t i = 0; i < model->nodes.count; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++)
      p->last[p->made[node_input(model, &model->nodes.at[i], k)].real] =
          (int64_t)i;
  for (size_t i = 0; i < model->outputs.count; i++)
    p->last[p->made[model->outputs.at[i].node].real] = INT64_MAX;
}

/* The unit that a group without parameters calls once more; 0: none. */
static int64_t find_again(const struct python *p, const int64_t *of_group,
                          size_t group) {
  int64_t other = python_group_again(p, (int64_t)group);
  int64_t unit = of_group[other];
  return other && p->units.at[unit].group == other && !p->units.at[unit].again
             ? unit
             : 0;
}

/* A unit for each group with parameters; others are part of the one around. */
static int64_t *open_units(struct python *p) {
  int64_t *modules = count_modules(p);
  int64_t *of_group =
      arena_alloc(p->arena, p->model->groups.count + 1, sizeof *of_group);
  for (size_t g = 0; g < p->model->groups.count; g++) {
    const struct group *group = &p->model->groups.at[g];
    int64_t end = g ? group->end : (int64_t)p->model->nodes.count;
    int64_t again = 0;
    if (g && modules[end] == modules[group->first])
      again = find_again(p, of_group, g);
    if (g && modules[end] == modules[group->first] && !again) {
      of_group[g] = of_group[group->parent];
      continue;
    }
    of_group[g] = (int64_t)p->units.count;
    *VEC_PUSH(p->arena, &p->units) =
        (struct python_unit){.group = (int64_t)g,
                             .again = again,
                             .parent = g ? of_group[group->parent] : -1,
                             .first = g ? group->first : 0,
                             .end = end};
  }
  return of_group;
}

/* The unit right inside of `outer` around `inner`. */
static int64_t step_down(const struct python *p, int64_t outer, int64_t inner) {
  while (p->units.at[inner].parent != outer)
    inner = p->units.at[inner].parent;
  return inner;
}

static void find_pieces(struct python *p, int64_t index) {
  struct python_unit *unit = &p->units.at[index];
  for (int64_t node = unit->first; node < unit->end;) {
    int64_t inside = p->made[node].unit;
    struct python_piece piece = {.first = node, .unit = -1};
    if (inside == index) {
      piece.end = model_row_end(p->model, node);
    } else {
      piece.unit = step_down(p, index, inside);
      piece.end = p->units.at[piece.unit].end;
    }
    *VEC_PUSH(p->arena, &unit->pieces) = piece;
    node = piece.end;
  }
}

static void find_heights(struct python *p) {
  for (size_t i = p->units.count; i-- > 1;) {
    struct python_unit *outer = &p->units.at[p->units.at[i].parent];
    if (!p->units.at[i].again && outer->height <= p->units.at[i].height)
      outer->height = p->units.at[i].height + 1;
  }
}

/* What a unit has been told already: pairs of it and a node. */
struct python_known {
  struct map inputs, outputs, modules;
};

static bool is_new(struct python *p, struct map *map, int64_t unit,
                   int64_t node) {
  int64_t pair[2] = {unit, node};
  struct slice key = {arena_copy(p->arena, (const char *)pair, sizeof pair),
                      sizeof pair};
  struct map_entry *entry = map_add(p->arena, map, key);
  return entry->number++ == 0;
}

/* A value goes out of the units around its node and into the reader's. */
static void add_read(struct python *p, struct python_known *known,
                     int64_t value, int64_t reader_unit) {
  int64_t s;
  p->made[value].readers++;
  for (s = p->made[value].unit; s > 0; s = p->units.at[s].parent) {
    int64_t r = reader_unit;
    while (r > s)
      r = p->units.at[r].parent;
    if (r == s || !python_unit_holds(p, s, value))
      break;
    if (is_new(p, &known->outputs, s, value))
      *VEC_PUSH(p->arena, &p->units.at[s].outputs) = value;
  }
  for (s = reader_unit; s > 0 && !python_unit_holds(p, s, value);
       s = p->units.at[s].parent)
    if (is_new(p, &known->inputs, s, value))
      *VEC_PUSH(p->arena, &p->units.at[s].inputs) = value;
}

static void add_module(struct python *p, struct python_known *known,
                       int64_t module, int64_t unit) {
  for (; unit > 0 && !python_unit_holds(p, unit, module);
       unit = p->units.at[unit].parent)
    if (is_new(p, &known->modules, unit, module))
      *VEC_PUSH(p->arena, &p->units.at[unit].modules) = module;
}

/* What is called once more has its layers already. */
static void add_modules(struct python *p, struct python_known *known,
                        int64_t node) {
  const struct made *made = &p->made[node];
  const struct python_unit *again = NULL;
  for (int64_t u = made->unit; u > 0; u = p->units.at[u].parent)
    if (p->units.at[u].again)
      again = &p->units.at[u];
  if (again) {
    add_module(p, known, unit_as_node(again->again), again->parent);
    return;
  }
  for (size_t i = 0; i < made->call.holes.count; i++)
    if (made->call.holes.at[i].kind == HOLE_MODULE)
      add_module(p, known, made->call.holes.at[i].node, made->unit);
}

void python_find_units(struct python *p) {
  const struct model *model = p->model;
  find_last(p);
  int64_t *of_group = open_units(p);
  struct python_known known = {0};
  p->variable =
      arena_alloc(p->arena, model->nodes.count + 1, sizeof *p->variable);
  for (size_t i = 0; i < model->nodes.count; i++)
    p->made[i].unit = of_group[model->nodes.at[i].group];
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    add_modules(p, &known, (int64_t)i);
    for (int k = 0; k < node->input_count && p->made[i].real == (int64_t)i; k++)
      add_read(p, &known, p->made[node_input(model, node, k)].real,
               p->made[i].unit);
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    add_read(p, &known, p->made[model->outputs.at[i].node].real, 0);
  for (size_t i = 0; i < p->units.count; i++)
    find_pieces(p, (int64_t)i);
  find_heights(p);
}
