/* Borders: finds where nets are usually cut into pipeline stages. */
#include "memory/devices/borders.h"

#include "base/check.h"
#include "base/hash.h"
#include "sema/repeat/stretch.h"

struct border_finding {
  const struct model *model;
  struct arena *arena;
  uint64_t *look; /* by node: equal for those that look alike */
  bool *single;   /* by node: one tensor alone leads to it and beyond */
  VEC(struct node_turns) all;
};

/* Nodes look alike by kind, output size and parameter sizes. */
static uint64_t look_of(const struct model *model, const struct node *node) {
  uint64_t hash = hash_text(HASH_TEXT, slice_of(node->kind->name));
  for (int i = 0; i < node->out->rank; i++)
    hash = hash_mix(hash, (uint64_t)node->out->dim[i]);
  for (int k = 0; k < node->param_count; k++)
    hash = hash_mix(
        hash, (uint64_t)model->params.at[node->first_param + (size_t)k].count);
  return hash;
}

/* Repeating blocks */

/* Iterations preferably begin where a loop's or a call's nodes do. */
static bool is_begin(const struct model *model, int64_t node) {
  const struct node *at = &model->nodes.at[node];
  return at->head == node && (node == 0 || at[0].frame != at[-1].frame ||
                              at[0].group != at[-1].group);
}

/* The number of iterations from `first` to `end`; 0: several tensors lead from
   one to the next. */
static int64_t turns_from(const struct border_finding *f, int64_t first,
                          int64_t end, int64_t length) {
  int64_t count = (end - first) / length;
  for (int64_t k = 1; k < count; k++)
    if (!f->single[first + k * length])
      return 0;
  return count;
}

static void add_stretch(struct border_finding *f, int64_t first, int64_t end,
                        int64_t length) {
  const struct model *model = f->model;
  struct node_turns best = {0};
  if (end - first < 2 * length)
    return;
  for (int64_t i = 0; i < 2 * length && first > 0 &&
                      f->look[first - 1] == f->look[first - 1 + length];
       i++)
    first--;
  for (int64_t at = first; at < first + length; at++) {
    int64_t count = turns_from(f, at, end, length);
    if (count > best.count || (count == best.count && is_begin(model, at) &&
                               !is_begin(model, best.first)))
      best = (struct node_turns){at, length, count};
  }
  if (best.count > 1)
    *VEC_PUSH(f->arena, &f->all) = best;
}

static struct node_turns longest(const struct border_finding *f) {
  struct node_turns found = {0};
  for (size_t i = 0; i < f->all.count; i++)
    if (f->all.at[i].length * f->all.at[i].count > found.length * found.count)
      found = f->all.at[i];
  return found;
}

int64_t borders_turns(const struct node_turns *repeated,
                      struct node_range nodes, int64_t *first) {
  int64_t begin = repeated->first, length = max_i64(repeated->length, 1);
  int64_t end = begin + length * repeated->count;
  int64_t from = min_i64(max_i64(nodes.first, begin), end);
  int64_t to = min_i64(max_i64(nodes.end, begin), end);
  *first = (from - begin) / length;
  return (to - from) / length;
}

bool borders_by_turns(const struct node_turns *repeated, int64_t parts,
                      int64_t nodes) {
  int64_t all = repeated->length * repeated->count; /* at most the nodes */
  return repeated->count >= parts && 4 * all >= 3 * nodes;
}

/* Outer borders */

enum { OUTER, INSIDE_PART, INSIDE_TURN };

/* Groups that hold others, or iterations, are cut inside. */
static void find_hidden(const struct border_finding *f, char *hidden) {
  const struct model *model = f->model;
  bool *holds = arena_alloc(f->arena, model->groups.count + 1, sizeof *holds);
  bool *turn = arena_alloc(f->arena, model->nodes.count + 1, sizeof *turn);
  for (size_t i = 1; i < model->groups.count; i++)
    if (!model->groups.at[i].block && model->groups.at[i].parent >= 0)
      holds[model->groups.at[i].parent] = true;
  for (size_t i = 0; i < f->all.count; i++)
    for (int64_t k = 0; k <= f->all.at[i].count; k++)
      turn[f->all.at[i].first + k * f->all.at[i].length] = true;
  for (size_t i = 1; i < model->groups.count; i++)
    for (int64_t at = model->groups.at[i].first + 1;
         !holds[i] && at < model->groups.at[i].end; at++)
      hidden[at] = turn[at] ? OUTER : INSIDE_PART;
  for (size_t i = 0; i < f->all.count; i++) {
    const struct node_turns *r = &f->all.at[i];
    for (int64_t at = 0; at < r->length * r->count; at++)
      if (at % r->length)
        hidden[r->first + at] = INSIDE_TURN;
  }
}

struct net_borders borders_find(const struct model *model,
                                struct arena *arena) {
  struct net_borders borders = {0};
  size_t nodes = model->nodes.count;
  struct border_finding f = {.model = model, .arena = arena};
  char *hidden = arena_alloc(arena, nodes + 1, sizeof *hidden);
  f.look = arena_alloc(arena, nodes + 1, sizeof *f.look);
  f.single = arena_alloc(arena, nodes + 1, sizeof *f.single);
  cuts_all(model, &borders.single, arena);
  for (size_t i = 0; i < borders.single.at.count; i++)
    f.single[borders.single.at.at[i]] = true;
  for (size_t i = 0; i < nodes; i++)
    f.look[i] = look_of(model, &model->nodes.at[i]);
  stretch_list all = stretches_find(model, f.look, false, arena);
  for (size_t i = 0; i < all.count; i++)
    add_stretch(&f, all.at[i].first, all.at[i].end, all.at[i].length);
  borders.repeated = longest(&f);
  find_hidden(&f, hidden);
  for (size_t i = 0; i < borders.single.at.count; i++) {
    int64_t at = borders.single.at.at[i];
    if (hidden[at] != INSIDE_TURN)
      *VEC_PUSH(arena, &borders.apart.at) = at;
    if (hidden[at] == OUTER && model->nodes.at[at].head == at)
      *VEC_PUSH(arena, &borders.outer.at) = at;
  }
  return borders;
}
