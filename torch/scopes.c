/* Scopes: groups that have a module, what they read and what they give. */
#include "torch/python.h"

bool scope_holds(const struct python *p, int64_t scope, int64_t node) {
  const struct unit *s = &p->scopes.at[scope];
  bool input = p->model->nodes.at[node].kind == &model_input_kind;
  return scope == 0 || (!input && node >= s->first && node < s->end);
}

/* By group: how many of the nodes before it own parameters. */
static int64_t *count_modules(const struct python *p) {
  size_t nodes = p->model->nodes.count;
  int64_t *before = arena_alloc(p->arena, nodes + 1, sizeof *before);
  for (size_t i = 0; i < nodes; i++)
    before[i + 1] = before[i] + !code_is_empty(&p->made[i].make);
  return before;
}

/* A scope for each group with parameters; others are part of the one around. */
static int64_t *open_scopes(struct python *p) {
  int64_t *modules = count_modules(p);
  int64_t *of_group =
      arena_alloc(p->arena, p->model->groups.count + 1, sizeof *of_group);
  for (size_t g = 0; g < p->model->groups.count; g++) {
    const struct group *group = &p->model->groups.at[g];
    int64_t end = g ? group->end : (int64_t)p->model->nodes.count;
    if (g && modules[end] == modules[group->first]) {
      of_group[g] = of_group[group->parent];
      continue;
    }
    of_group[g] = (int64_t)p->scopes.count;
    *VEC_PUSH(p->arena, &p->scopes) =
        (struct unit){.group = (int64_t)g,
                       .parent = g ? of_group[group->parent] : -1,
                       .first = g ? group->first : 0,
                       .end = end};
  }
  return of_group;
}

/* The scope right inside of `outer` around `inner`. */
static int64_t step_down(const struct python *p, int64_t outer, int64_t inner) {
  while (p->scopes.at[inner].parent != outer)
    inner = p->scopes.at[inner].parent;
  return inner;
}

static void find_pieces(struct python *p, int64_t index) {
  struct unit *scope = &p->scopes.at[index];
  for (int64_t node = scope->first; node < scope->end;) {
    int64_t inside = p->made[node].scope;
    struct piece piece = {.first = node, .scope = -1};
    if (inside == index) {
      piece.end = model_row_end(p->model, node);
    } else {
      piece.scope = step_down(p, index, inside);
      piece.end = p->scopes.at[piece.scope].end;
    }
    *VEC_PUSH(p->arena, &scope->pieces) = piece;
    node = piece.end;
  }
}

static void find_heights(struct python *p) {
  for (size_t i = p->scopes.count; i-- > 1;) {
    struct unit *outer = &p->scopes.at[p->scopes.at[i].parent];
    if (outer->height <= p->scopes.at[i].height)
      outer->height = p->scopes.at[i].height + 1;
  }
}

/* What a scope has been told already: pairs of it and a node. */
struct known {
  struct map inputs, outputs, modules;
};

static bool is_new(struct python *p, struct map *map, int64_t scope,
                   int64_t node) {
  int64_t pair[2] = {scope, node};
  struct slice key = {arena_copy(p->arena, (const char *)pair, sizeof pair),
                      sizeof pair};
  struct map_entry *entry = map_add(p->arena, map, key);
  return entry->number++ == 0;
}

/* A value goes out of the scopes around its node and into the reader's. */
static void add_read(struct python *p, struct known *known, int64_t value,
                     int64_t reader_scope) {
  int64_t s;
  p->made[value].readers++;
  for (s = p->made[value].scope; s > 0; s = p->scopes.at[s].parent) {
    int64_t r = reader_scope;
    while (r > s)
      r = p->scopes.at[r].parent;
    if (r == s || !scope_holds(p, s, value))
      break;
    if (is_new(p, &known->outputs, s, value))
      *VEC_PUSH(p->arena, &p->scopes.at[s].outputs) = value;
  }
  for (s = reader_scope; s > 0 && !scope_holds(p, s, value);
       s = p->scopes.at[s].parent)
    if (is_new(p, &known->inputs, s, value))
      *VEC_PUSH(p->arena, &p->scopes.at[s].inputs) = value;
}

static void add_modules(struct python *p, struct known *known, int64_t node) {
  const struct made *made = &p->made[node];
  for (size_t i = 0; i < made->call.holes.count; i++) {
    const struct hole *hole = &made->call.holes.at[i];
    for (int64_t s = made->scope;
         hole->kind == HOLE_MODULE && s > 0 && !scope_holds(p, s, hole->node);
         s = p->scopes.at[s].parent)
      if (is_new(p, &known->modules, s, hole->node))
        *VEC_PUSH(p->arena, &p->scopes.at[s].modules) = hole->node;
  }
}

void python_find_scopes(struct python *p) {
  const struct model *model = p->model;
  int64_t *of_group = open_scopes(p);
  struct known known = {0};
  p->last = arena_alloc(p->arena, model->nodes.count + 1, sizeof *p->last);
  p->variable =
      arena_alloc(p->arena, model->nodes.count + 1, sizeof *p->variable);
  for (size_t i = 0; i < model->nodes.count; i++)
    p->made[i].scope = of_group[model->nodes.at[i].group];
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    add_modules(p, &known, (int64_t)i);
    for (int k = 0; k < node->input_count && p->made[i].real == (int64_t)i; k++)
      add_read(p, &known, p->made[node_input(model, node, k)].real,
               p->made[i].scope);
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    add_read(p, &known, p->made[model->outputs.at[i].node].real, 0);
  for (size_t i = 0; i < p->scopes.count; i++)
    find_pieces(p, (int64_t)i);
  find_heights(p);
}
