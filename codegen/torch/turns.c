/*
 * Turns: parts of a net that become modules, which are groups with parameters,
 * and iterations with more than one layer or call.
 */
#include <stdlib.h>

#include "codegen/torch/python.h"

/* A group or an iteration that may become a module. */
struct turns_part {
  int64_t first, end; /* nodes */
  int64_t group;      /* the group, or the one around the iteration */
  const struct frame *turn;
  int64_t modules;
  bool unit;
};

struct torch_turns {
  struct python *p;
  int64_t *modules; /* by node: the number of modules before it */
  VEC(struct turns_part) parts;
};

static int64_t modules_in(const struct torch_turns *t, int64_t first,
                          int64_t end) {
  return t->modules[end] - t->modules[first];
}

static void count_modules(struct torch_turns *t) {
  size_t nodes = t->p->model->nodes.count;
  t->modules = arena_alloc(t->p->arena, nodes + 1, sizeof *t->modules);
  for (size_t i = 0; i < nodes; i++)
    t->modules[i + 1] = t->modules[i] + !code_is_empty(&t->p->made[i].make);
}

static void add_groups(struct torch_turns *t) {
  const struct model *model = t->p->model;
  for (size_t g = 1; g < model->groups.count; g++) {
    const struct group *group = &model->groups.at[g];
    int64_t modules = modules_in(t, group->first, group->end);
    if (model->nodes.at[group->first].copies > 1)
      continue; /* a part of an expert */
    if (modules || python_group_again(t->p, (int64_t)g))
      *VEC_PUSH(t->p->arena, &t->parts) =
          (struct turns_part){.first = group->first,
                              .end = group->end,
                              .group = (int64_t)g,
                              .modules = modules,
                              .unit = true};
  }
}

static bool is_turn(const struct frame *frame) {
  return frame_kind(frame) == FRAME_LOOP && frame->total > 1;
}

static void add_turns(struct torch_turns *t) {
  const struct model *model = t->p->model;
  for (int64_t i = 0; i < (int64_t)model->nodes.count; i++)
    for (const struct frame *f = model->nodes.at[i].frame; f && f->first == i;
         f = f->parent)
      if (is_turn(f) && model->nodes.at[i].copies == 1)
        *VEC_PUSH(t->p->arena, &t->parts) =
            (struct turns_part){.first = i, .end = f->end, .turn = f};
}

static void find_groups_of_turns(struct torch_turns *t) {
  const struct model *model = t->p->model;
  for (size_t i = 0; i < t->parts.count; i++) {
    struct turns_part *part = &t->parts.at[i];
    if (!part->turn)
      continue;
    part->modules = modules_in(t, part->first, part->end);
    part->group = model->nodes.at[part->first].group;
    while (part->group > 0 &&
           (model->groups.at[part->group].first > part->first ||
            model->groups.at[part->group].end < part->end))
      part->group = model->groups.at[part->group].parent;
  }
}

/* Outer parts come first, an iteration before a group of the same nodes. */
static int compare(const void *a, const void *b) {
  const struct turns_part *one = a, *other = b;
  if (one->first != other->first)
    return one->first < other->first ? -1 : 1;
  if (one->end != other->end)
    return one->end > other->end ? -1 : 1;
  if (!one->turn != !other->turn)
    return one->turn ? -1 : 1;
  return one->group < other->group ? -1 : one->group > other->group;
}

/* Counts layers of an iteration that are in no part inside it, 2 at most. */
static int count_rows(const struct torch_turns *t, size_t index) {
  const struct turns_part *part = &t->parts.at[index];
  const struct model *model = t->p->model;
  int rows = 0;
  size_t inner = index + 1;
  for (int64_t i = part->first; i < part->end && rows < 2;) {
    while (inner < t->parts.count && t->parts.at[inner].first < part->end &&
           (t->parts.at[inner].first < i || !t->parts.at[inner].unit))
      inner++;
    if (inner < t->parts.count && t->parts.at[inner].first == i) {
      i = t->parts.at[inner].end;
      continue;
    }
    int64_t end = model_row_end(model, i);
    const struct frame *f = model->nodes.at[i].frame;
    while (f && !is_turn(f))
      f = f->parent;
    rows += f == part->turn && modules_in(t, i, end) > 0;
    i = end;
  }
  return rows;
}

static struct slice call_of(const struct torch_turns *t,
                            const struct turns_part *part) {
  const struct group *group = &t->p->model->groups.at[part->group];
  if (part->turn)
    return (struct slice){(const char *)&part->turn->stmt,
                          sizeof part->turn->stmt};
  return group->name.ordinal && !group->name.repeated
             ? name_text(&group->name)
             : (struct slice){(const char *)&part->first, sizeof part->first};
}

/* Counts the kinds of parts right inside, 2 at most. */
static int count_inner(const struct torch_turns *t, size_t index) {
  const struct turns_part *part = &t->parts.at[index];
  struct slice first = {NULL, 0};
  int64_t at = part->first;
  for (size_t i = index + 1;
       i < t->parts.count && t->parts.at[i].first < part->end; i++) {
    const struct turns_part *inner = &t->parts.at[i];
    if (!inner->unit || !inner->modules || inner->first < at)
      continue;
    at = inner->end;
    if (first.at && !slice_equal(first, call_of(t, inner)))
      return 2;
    first = call_of(t, inner);
  }
  return first.at != NULL;
}

/* All iterations of a loop are units if one of them is worth it. */
static void choose_turns(struct torch_turns *t) {
  struct map chosen = {0};
  for (size_t i = t->parts.count; i-- > 0;) {
    struct turns_part *part = &t->parts.at[i];
    struct slice key = {(const char *)&part->turn, 0};
    if (!part->turn || !part->modules)
      continue;
    key = (struct slice){(const char *)&part->turn->stmt,
                         sizeof part->turn->stmt};
    part->unit = count_rows(t, i) + count_inner(t, i) > 1;
    if (part->unit)
      map_add(t->p->arena, &chosen, key)->number = 1;
  }
  for (size_t i = 0; i < t->parts.count; i++) {
    struct turns_part *part = &t->parts.at[i];
    if (part->turn && part->modules)
      part->unit =
          map_find(&chosen, (struct slice){(const char *)&part->turn->stmt,
                                           sizeof part->turn->stmt}) != NULL;
    if (part->unit && part->turn && i + 1 < t->parts.count &&
        t->parts.at[i + 1].unit && t->parts.at[i + 1].first == part->first &&
        t->parts.at[i + 1].end == part->end)
      part->unit = false;
  }
}

/* The unit that a group without parameters calls again; 0: none. */
static int64_t find_again(const struct python *p, const int64_t *of_group,
                          int64_t group) {
  int64_t other = python_group_again(p, group);
  int64_t unit = of_group[other];
  return other && !p->units.at[unit].again ? unit : 0;
}

void python_open_units(struct python *p) {
  struct torch_turns t = {.p = p};
  int64_t *of_group =
      arena_alloc(p->arena, p->model->groups.count + 1, sizeof *of_group);
  int64_t around = 0, nodes = (int64_t)p->model->nodes.count, node = 0;
  count_modules(&t);
  add_groups(&t);
  add_turns(&t);
  find_groups_of_turns(&t);
  if (t.parts.count)
    qsort(t.parts.at, t.parts.count, sizeof *t.parts.at, compare);
  choose_turns(&t);
  *VEC_PUSH(p->arena, &p->units) =
      (struct python_unit){.parent = -1, .end = nodes};
  for (size_t i = 0; i <= t.parts.count; i++) {
    const struct turns_part *part = i < t.parts.count ? &t.parts.at[i] : NULL;
    int64_t until = part ? part->first : nodes, again = 0;
    if (part && !part->unit)
      continue;
    while (node < until || p->units.at[around].end <= until) {
      while (node < until && node < p->units.at[around].end)
        p->made[node++].unit = around;
      if (p->units.at[around].end > until || around == 0)
        break;
      around = p->units.at[around].parent;
    }
    if (!part)
      break;
    if (!part->modules && !(again = find_again(p, of_group, part->group)))
      continue;
    struct slice given = {NULL, 0};
    if (p->given && part->modules &&
        !python_given_unit(p, part->first, part->end, p->units.at[around].given,
                           &given))
      continue;
    if (!part->turn)
      of_group[part->group] = (int64_t)p->units.count;
    if (part->turn)
      for (int64_t u = around; u > 0 && p->units.at[u].turn; u = 0)
        p->units.at[u].stage = true;
    *VEC_PUSH(p->arena, &p->units) = (struct python_unit){.group = part->group,
                                                          .turn = part->turn,
                                                          .again = again,
                                                          .given = given,
                                                          .parent = around,
                                                          .first = part->first,
                                                          .end = part->end};
    around = (int64_t)p->units.count - 1;
  }
}
