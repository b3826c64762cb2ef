/* Runs of iterations whose layers are alike and local to them. */
#include "sema/repeat/node_turns.h"

#include "base/check.h"
#include "sema/repeat/stretch.h"

struct finding {
  struct model *model;
  int64_t *last; /* by node: the last node that reads it */
  bool *inside;  /* by node: in a block, after its first layer */
  bool *tied;    /* by parameter: several layers use it; NULL: none is shared */
};

/* No iteration begins inside a block, which is recorded as one. */
static void find_inside(struct finding *s, struct arena *arena) {
  const struct model *model = s->model;
  s->inside = arena_alloc(arena, model->nodes.count + 1, sizeof *s->inside);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    if (node->kind->front)
      for (size_t k = i; k > (size_t)node_input(model, node, 1); k--)
        s->inside[k] = true;
  }
}

static void find_tied(struct finding *s, struct arena *arena) {
  const struct model *model = s->model;
  for (size_t i = 0; i < model->params.count; i++) {
    if (!model->params.at[i].shared)
      continue;
    if (!s->tied)
      s->tied = arena_alloc(arena, model->params.count, sizeof *s->tied);
    s->tied[i] = s->tied[model->params.at[i].same] = true;
  }
}

/* Nodes with equal keys are the same layer; an input of the net equals none. */
static uint64_t *keys_of(const struct model *model, struct arena *arena) {
  uint64_t *keys = arena_room(arena, model->nodes.count + 1, sizeof *keys);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    keys[i] = node->kind == &model_input_kind
                  ? UINT64_MAX - i
                  : (uint64_t)node->inplace << 32 | model->like[i];
  }
  return keys;
}

/* True if no node from `end` on reads the node or shares its parameters. */
static bool is_local(const struct finding *s, int64_t index, int64_t end) {
  const struct node *node = &s->model->nodes.at[index];
  bool local = s->last[index] < end;
  for (int i = 0; local && s->tied && i < node->param_count; i++)
    local = !s->tied[node->first_param + (size_t)i];
  return local;
}

static void add_if_long(struct finding *s, struct node_turns turns) {
  if (turns.count >= TURNS_LEAST)
    *VEC_PUSH(s->model->arena, &s->model->turns) = turns;
}

/* A stretch may begin inside the one before it. It is split where a node is
 * read from further behind. */
static void add_stretch(struct finding *s, int64_t first, int64_t end,
                        int64_t length) {
  const struct model *model = s->model;
  const struct node_turns *last =
      model->turns.count ? &model->turns.at[model->turns.count - 1] : NULL;
  int64_t free = last ? last->first + last->length * last->count : 0;
  struct node_turns turns = {max_i64(first, free), length, 1};
  while (turns.first < end && s->inside[turns.first])
    turns.first++;
  int64_t begin = turns.first;
  for (; end - begin >= 2 * length; begin += length) {
    bool local = true;
    for (int64_t i = begin; local && i < begin + length; i++)
      local = is_local(s, i, begin + 2 * length);
    if (local) {
      turns.count++;
      continue;
    }
    add_if_long(s, turns);
    turns = (struct node_turns){begin + length, length, 1};
  }
  add_if_long(s, turns);
}

void node_turns_find(struct model *model) {
  struct finding s = {.model = model};
  struct arena scratch;
  model->turns.count = 0;
  arena_open_in(&scratch, model->arena);
  s.last = stretch_readers(model, &scratch);
  find_inside(&s, &scratch);
  find_tied(&s, &scratch);
  stretch_list all =
      stretches_find(model, keys_of(model, &scratch), true, &scratch);
  for (size_t i = 0; i < all.count; i++)
    add_stretch(&s, all.at[i].first, all.at[i].end, all.at[i].length);
  arena_close(&scratch);
}
