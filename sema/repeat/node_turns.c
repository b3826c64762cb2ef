/* Stretches of a net whose layers repeat, as those of a loop do. */
#include "sema/repeat/node_turns.h"

struct finding {
  struct model *model;
  int64_t *last; /* by node: the last one that reads it */
  bool *inside;  /* by node: of a block, after its first layer */
  bool *tied;    /* by parameter: several layers use it; NULL: none is */
};

/* An output of the net is read after all of its layers. */
static void find_readers(struct finding *s, struct arena *arena) {
  const struct model *model = s->model;
  s->last = arena_alloc(arena, model->nodes.count + 1, sizeof *s->last);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      s->last[node_input(model, node, k)] = (int64_t)i;
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    s->last[model->outputs.at[i].node] = INT64_MAX;
}

/* Blocks are recorded as one: no turn begins in the middle. */
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

/* Whether a node is like the one `length` before it, and reads likewise. */
static bool repeats(const struct model *model, int64_t index, int64_t length) {
  const struct node *a = &model->nodes.at[index - length];
  const struct node *b = &model->nodes.at[index];
  if (model->like[index] != model->like[index - length] ||
      a->inplace != b->inplace || b->kind == &model_input_kind)
    return false;
  for (int i = 0; i < b->input_count; i++) {
    int64_t apart = node_input(model, b, i) - node_input(model, a, i);
    if (apart != length && apart != 0)
      return false;
  }
  return true;
}

/* Whether a node matters to nothing from node `end` on. */
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

/* Of nodes [first, end), parted where one is read from further behind. */
static void add_stretch(struct finding *s, int64_t first, int64_t end,
                        int64_t length) {
  struct node_turns turns = {first, length, 1};
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

static int64_t end_of(const struct model *model) {
  const struct node_turns *last =
      model->turns.count ? &model->turns.at[model->turns.count - 1] : NULL;
  return last ? last->first + last->length * last->count : 0;
}

/*
 * A stretch begins where a node is like the last one that was, and goes on
 * while those after it are as far from theirs; it may have begun before.
 */
static void find_all(struct finding *s, struct arena *arena) {
  const struct model *model = s->model;
  int64_t first = 0, length = 0, count = (int64_t)model->nodes.count;
  int64_t *recent = /* by what it is like: a node, from 1 */
      arena_alloc(arena, model->costs.count + 1, sizeof *recent);
  for (int64_t i = 0; i < count; i++) {
    int64_t before = recent[model->like[i]] - 1;
    recent[model->like[i]] = i + 1;
    if (length && repeats(model, i, length))
      continue;
    if (length)
      add_stretch(s, first, i, length);
    length = 0;
    if (before < 0 || !repeats(model, i, i - before))
      continue;
    length = i - before;
    first = before < end_of(model) ? end_of(model) : before;
  }
  if (length)
    add_stretch(s, first, count, length);
}

void node_turns_find(struct model *model) {
  struct finding s = {.model = model};
  struct arena scratch;
  model->turns.count = 0;
  arena_open_in(&scratch, model->arena);
  find_readers(&s, &scratch);
  find_inside(&s, &scratch);
  find_tied(&s, &scratch);
  find_all(&s, &scratch);
  arena_close(&scratch);
}
