/* Turns: where a net has the same layers again and again. */
#include "step/turns.h"

enum {
  CANDIDATES = 16, /* layers alike in a turn, at most, where it is begun */
  EFFORT = 64,     /* nodes that are compared, for each of the net */
};

struct finding {
  const struct model *model;
  const int32_t *readers;
  uint32_t *next; /* by node: the next one like it; their count: none is */
  size_t effort;
};

/* Nodes in a row that each have one like it so much further on. */
static int64_t run_of(struct finding *f, int64_t first, int64_t length) {
  const struct model *model = f->model;
  int64_t count = (int64_t)model->nodes.count, i = first;
  for (; i + length < count && f->effort; i++, f->effort--) {
    const struct node *a = &model->nodes.at[i], *b = a + length;
    bool same = model->like[i] == model->like[i + length] &&
                a->input_count == b->input_count && a->input_count &&
                a->train_only == b->train_only && a->inplace == b->inplace &&
                f->readers[i] == f->readers[i + length];
    for (int k = 0; same && k < a->input_count; k++)
      same = node_input(model, a, k) + length == node_input(model, b, k);
    if (!same)
      break;
  }
  return i - first;
}

/*
 * Whether the second turn, which is as good as any, reads and is read as it
 * should be. Shared parameters make no two layers alike.
 */
static bool is_closed(const struct finding *f, const struct turns *turns,
                      struct arena *arena) {
  int64_t length = turns->length, begin = turns->first + length;
  int32_t *reads = arena_alloc(arena, (size_t)length, sizeof *reads);
  for (int64_t i = begin; i < begin + 2 * length; i++) {
    const struct node *node = &f->model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++) {
      int64_t from = node_input(f->model, node, k);
      if (from < i - (i - begin) % length - length)
        return false;
      if (from >= begin && from < begin + length)
        reads[from - begin]++;
    }
  }
  return memcmp(reads, f->readers + begin, (size_t)length * sizeof *reads) == 0;
}

/* The turns that begin at a node; of no length: none do. */
static struct turns turns_at(struct finding *f, int64_t first,
                             struct arena *arena) {
  int64_t count = (int64_t)f->model->nodes.count;
  int64_t other = f->next[first];
  for (int i = 0; i < CANDIDATES && other < count; i++) {
    struct turns turns = {.first = first, .length = other - first};
    if (turns.length > (count - first) / LEAST_TURNS)
      break;
    turns.count = run_of(f, first, turns.length) / turns.length + 1;
    if (turns.count >= LEAST_TURNS && is_closed(f, &turns, arena))
      return turns;
    other = f->next[other];
  }
  return (struct turns){.length = 0};
}

void turns_find(const struct model *model, const int32_t *readers,
                struct arena *arena, struct turns_list *all) {
  size_t count = model->nodes.count;
  struct arena scratch;
  arena_open_in(&scratch, arena);
  struct finding f = {.model = model,
                      .readers = readers,
                      .next = arena_room(&scratch, count + 1, sizeof *f.next),
                      .effort = EFFORT * count};
  uint32_t *seen = arena_alloc(&scratch, model->costs.count + 1, sizeof *seen);
  for (size_t i = count; i-- > 0;) {
    uint32_t *last = &seen[model->like[i]]; /* from 1 */
    f.next[i] = *last ? *last - 1 : (uint32_t)count;
    *last = (uint32_t)i + 1;
  }
  for (int64_t i = 0; i < (int64_t)count;) {
    struct turns turns = turns_at(&f, i, &scratch);
    i += turns.length ? turns.length * turns.count : 1;
    if (turns.length)
      *VEC_PUSH(arena, all) = turns;
  }
  arena_close(&scratch);
}
