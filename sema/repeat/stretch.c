/* Stretches: nodes that repeat at a fixed distance. */
#include "sema/repeat/stretch.h"

/* Returns the last node with this key, from 1, and makes `node` the last. */
static int64_t take_recent(const uint64_t *keys, int64_t *recent, size_t mask,
                           int64_t node) {
  size_t at = (size_t)keys[node] & mask;
  while (recent[at] && keys[recent[at] - 1] != keys[node])
    at = (at + 1) & mask;
  int64_t before = recent[at];
  recent[at] = node + 1;
  return before;
}

static bool are_alike(const struct model *model, const uint64_t *keys,
                      bool reads, int64_t a, int64_t b) {
  return keys[a] == keys[b] && (!reads || stretch_reads_alike(model, a, b));
}

stretch_list stretches_find(const struct model *model, const uint64_t *keys,
                            bool reads, struct arena *arena) {
  stretch_list all = {0};
  struct node_stretch now = {0};
  size_t room = 4;
  while (room < 2 * model->nodes.count)
    room *= 2;
  int64_t *recent = arena_alloc(arena, room, sizeof *recent);
  for (int64_t i = 0; i < (int64_t)model->nodes.count; i++) {
    int64_t before = take_recent(keys, recent, room - 1, i) - 1;
    if (now.length && are_alike(model, keys, reads, i - now.length, i)) {
      now.end = i + 1;
      continue;
    }
    if (now.length)
      *VEC_PUSH(arena, &all) = now;
    bool begins = before >= 0 && are_alike(model, keys, reads, before, i);
    now = (struct node_stretch){before, i + 1, begins ? i - before : 0};
  }
  if (now.length)
    *VEC_PUSH(arena, &all) = now;
  return all;
}

bool stretch_reads_alike(const struct model *model, int64_t a, int64_t b) {
  const struct node *x = &model->nodes.at[a], *y = &model->nodes.at[b];
  if (x->kind != y->kind || x->input_count != y->input_count)
    return false;
  for (int i = 0; i < x->input_count; i++) {
    int64_t p = node_input(model, x, i), q = node_input(model, y, i);
    if (p != q && a - p != b - q)
      return false;
  }
  return true;
}

int64_t *stretch_readers(const struct model *model, struct arena *arena) {
  int64_t *last = arena_room(arena, model->nodes.count + 1, sizeof *last);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    last[i] = -1;
    for (int k = 0; k < node->input_count; k++)
      last[node_input(model, node, k)] = (int64_t)i;
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    last[model->outputs.at[i].node] = INT64_MAX;
  return last;
}
