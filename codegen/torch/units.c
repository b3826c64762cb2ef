/* Units: parts with a module, their inputs and outputs. */
#include "base/check.h"
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

int python_input_count(const struct python *p, int64_t node) {
  const struct node *at = &p->model->nodes.at[node];
  return at->input_count + at->repeated;
}

int64_t python_input(const struct python *p, int64_t node, int input) {
  const struct node *at = &p->model->nodes.at[node];
  int64_t value = input < at->input_count ? node_input(p->model, at, input)
                                          : p->made[node].like;
  return p->made[value].real;
}

/* A value with an axis of samples that the code has before this node. */
static int64_t value_with_samples(const struct python *p, int64_t node) {
  int64_t like = p->model->sources.at[0];
  for (int64_t i = node - 1; i > like; i--)
    if (p->made[i].real == i && !p->made[i].seen.one && !p->made[i].joins &&
        p->last[i] > node && p->model->nodes.at[i].copies == 1 &&
        !p->model->nodes.at[i].repeated)
      return i;
  return like;
}

/* Finds the last reader of each value, which follows all its makers. */
static void find_last(struct python *p) {
  const struct model *model = p->model;
  p->last = arena_alloc(p->arena, model->nodes.count + 1, sizeof *p->last);
  for (size_t i = 0; i < model->nodes.count; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++)
      p->last[p->made[node_input(model, &model->nodes.at[i], k)].real] =
          (int64_t)i;
  for (size_t i = 0; i < model->outputs.count; i++)
    p->last[p->made[model->outputs.at[i].node].real] = INT64_MAX;
  for (int64_t i = 0; i < (int64_t)model->nodes.count; i++) {
    if (!model->nodes.at[i].repeated)
      continue;
    int64_t like = p->made[i].like = value_with_samples(p, i);
    p->last[like] = max_i64(p->last[like], i);
  }
}

/* The unit directly inside `outer` that contains `inner`. */
static int64_t step_down(const struct python *p, int64_t outer, int64_t inner) {
  while (p->units.at[inner].parent != outer)
    inner = p->units.at[inner].parent;
  return inner;
}

/* A row; or all of a loop over experts. */
static int64_t piece_end(const struct python *p, int64_t node) {
  int64_t end = model_row_end(p->model, node);
  if (!p->made[node].opens)
    return end;
  while (!p->made[node].closes)
    node++;
  return node + 1;
}

static void find_pieces(struct python *p, int64_t index) {
  struct python_unit *unit = &p->units.at[index];
  for (int64_t node = unit->first; node < unit->end;) {
    int64_t inside = p->made[node].unit;
    struct python_piece piece = {.first = node, .unit = -1};
    if (inside == index) {
      piece.end = piece_end(p, node);
    } else {
      piece.unit = step_down(p, index, inside);
      piece.end = p->units.at[piece.unit].end;
    }
    *VEC_PUSH(p->arena, &unit->pieces) = piece;
    node = piece.end;
  }
}

struct slice python_origin(struct python *p, int64_t index) {
  const struct python_unit *unit = &p->units.at[index];
  const struct group *group = &p->model->groups.at[unit->group];
  struct text key = text_new(p->arena);
  size_t end = 0;
  while (end < group->call.length && group->call.at[end] != ' ')
    end++;
  text_printf(&key, "%zu %zu %zu ", unit->inputs.count, unit->outputs.count,
              unit->modules.count);
  if (unit->turn)
    text_printf(&key, "turn %d", unit->turn->stmt->index);
  else if (end && index)
    text_printf(&key, "def %.*s", (int)end, group->call.at);
  else
    text_printf(&key, "unit %zu", (size_t)index);
  return text_slice(&key);
}

/* Units of one origin get one height, above all inner units. */
static bool raise_heights(struct python *p, int *const *highest) {
  bool raised = false;
  for (size_t i = p->units.count; i-- > 0;) {
    struct python_unit *unit = &p->units.at[i];
    if (unit->again)
      continue;
    if (unit->height > *highest[i])
      *highest[i] = unit->height;
    raised = raised || unit->height < *highest[i];
    unit->height = *highest[i];
    if (i && p->units.at[unit->parent].height <= unit->height)
      p->units.at[unit->parent].height = unit->height + 1;
  }
  return raised;
}

static void find_heights(struct python *p) {
  int **highest = arena_alloc(p->arena, p->units.count, sizeof *highest);
  struct map origins = {0};
  for (size_t i = 0; i < p->units.count; i++) {
    struct map_entry *entry =
        map_add(p->arena, &origins, python_origin(p, (int64_t)i));
    if (!entry->number) {
      highest[i] = ARENA_NEW(p->arena, int);
      *highest[i] = 0;
      entry->number = (int64_t)i + 1;
    }
    highest[i] = highest[entry->number - 1];
  }
  enum { MOST_PASSES = 250 }; /* a def may contain one with the same name */
  for (int i = 0; i < MOST_PASSES && raise_heights(p, highest); i++) {
  }
}

/* Pairs of unit and node that are already noted. */
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

/* Adds a value to outputs of the units around its node and inputs of its
 * reader's. */
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

/* A unit that is called again already has its modules. */
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

/* Finds growing lists that one layer joins: concat_trace(). */
static void find_lists(struct python *p) {
  const struct model *model = p->model;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct torch_code *call = &p->made[i].call;
    p->made[i].list = p->made[i].joins > 0;
    for (size_t k = 0; k < call->holes.count; k++) {
      const struct hole *hole = &call->holes.at[k];
      struct made *in = hole->kind == HOLE_INPUT
                            ? &p->made[python_input(p, (int64_t)i, hole->input)]
                            : NULL;
      if (in && in->joins)
        in->taken += !hole->starred || in->joins != p->made[i].joins;
    }
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    p->made[p->made[model->outputs.at[i].node].real].list = false;
  for (size_t i = 0; i < model->nodes.count; i++)
    p->made[i].list =
        p->made[i].list && p->made[i].taken == 1 && p->made[i].readers <= 2;
}

void python_find_units(struct python *p) {
  const struct model *model = p->model;
  find_last(p);
  python_open_units(p);
  struct python_known known = {0};
  p->variable =
      arena_alloc(p->arena, model->nodes.count + 1, sizeof *p->variable);
  for (size_t i = 0; i < model->nodes.count; i++) {
    int64_t node = (int64_t)i;
    add_modules(p, &known, node);
    for (int k = 0; k < python_input_count(p, node) && p->made[i].real == node;
         k++)
      add_read(p, &known, python_input(p, node, k), p->made[i].unit);
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    add_read(p, &known, p->made[model->outputs.at[i].node].real, 0);
  find_lists(p);
  for (size_t i = 0; i < p->units.count; i++)
    find_pieces(p, (int64_t)i);
  find_heights(p);
}
