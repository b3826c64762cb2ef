/* Cuts: places where a net hangs together by one tensor alone. */
#include "step/cuts.h"

enum { MOST_EFFORT = 20000000 }; /* operations that are simulated */

/* Readers to come of every node's tensor; views are their input's. */
static void find_cuts(const struct model *model, struct cuts *cuts,
                      struct arena *arena) {
  int64_t *left = arena_alloc(arena, model->nodes.count + 1, sizeof *left);
  int64_t open = 0;
  for (size_t i = 0; i < model->inputs.count; i++)
    left[model->inputs.at[i]]++;
  for (size_t i = 0; i < model->sources.count; i++)
    open += left[model->sources.at[i]] > 0;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    bool source = node->kind == &model_input_kind;
    for (int k = 0; k < node->input_count; k++)
      open -= --left[node_input(model, node, k)] == 0;
    open += !source && left[i] > 0;
    if (open == 1 && left[i] > 0 && !source && i + 1 < model->nodes.count)
      *VEC_PUSH(arena, &cuts->at) = (int64_t)i + 1;
  }
}

/* Cuts around a goal, which only grows: the first of each number of bytes. */
struct around {
  size_t below, above;
};

/* The cut before which nearest to `goal` bytes have been kept. */
static int64_t nearest_cut(const struct cuts *cuts, const int64_t *before,
                           struct around *around, double goal) {
  const int64_t *at = cuts->at.at;
  size_t last = cuts->at.count - 1;
  while (around->above < last && (double)before[at[around->above]] < goal) {
    if (before[at[around->above]] > before[at[around->below]])
      around->below = around->above;
    around->above++;
  }
  double under = goal - (double)before[at[around->below]];
  double over = (double)before[at[around->above]] - goal;
  if (over < 0) /* no cut is behind the goal */
    over = -over;
  return at[under <= over ? around->below : around->above];
}

/* Bytes kept by all nodes before each, in a step without checkpoints. */
static int64_t *kept_before(const struct step *step, struct arena *arena) {
  size_t nodes = step->model->nodes.count;
  int64_t *before = arena_alloc(arena, nodes + 2, sizeof *before);
  struct simulation s = {.saved_by_node =
                             arena_alloc(arena, nodes + 1, sizeof(int64_t))};
  struct training training;
  step_measure(step, arena, &s, &training);
  for (size_t i = 0; i < nodes && !s.overflow; i++)
    before[i + 1] = before[i] + s.saved_by_node[i];
  return before;
}

static void choose_even(const struct cuts *all, const int64_t *before,
                        double total, int64_t count, struct arena *arena,
                        struct cuts *chosen) {
  struct around around = {0};
  int64_t last = 0;
  for (int64_t i = 1; i < count; i++) {
    int64_t cut =
        nearest_cut(all, before, &around, total * (double)i / (double)count);
    if (cut > last)
      *VEC_PUSH(arena, &chosen->at) = last = cut;
  }
}

void cuts_divide(const struct step *step, int64_t count, struct arena *arena,
                 struct cuts *chosen) {
  struct cuts all = {0};
  find_cuts(step->model, &all, arena);
  int64_t *before = kept_before(step, arena);
  double total = (double)before[step->model->nodes.count];
  if (count > (int64_t)all.at.count) /* there are no more of them */
    *chosen = all;
  else
    choose_even(&all, before, total, count, arena, chosen);
}

/* MACs of all nodes before each. */
static int64_t *macs_before(const struct model *model, struct arena *arena) {
  int64_t *before = arena_alloc(arena, model->nodes.count + 2, sizeof *before);
  for (size_t i = 0; i < model->nodes.count; i++) /* at most the total */
    before[i + 1] = before[i] + model_cost(model, (int64_t)i)->train_macs;
  return before;
}

void cuts_divide_work(const struct step *step, int64_t count, int64_t least,
                      struct arena *arena, struct cuts *chosen) {
  struct cuts all = {0}, outside = {0};
  size_t range = 0;
  find_cuts(step->model, &all, arena);
  for (size_t i = 0; i < all.at.count; i++) {
    int64_t cut = all.at.at[i];
    while (range < step->ranges.count && step->ranges.at[range].end <= cut)
      range++;
    if (range == step->ranges.count || step->ranges.at[range].first >= cut)
      *VEC_PUSH(arena, &outside.at) = cut;
  }
  const struct cuts *from =
      (int64_t)outside.at.count + 1 < least ? &all : &outside;
  const int64_t *before = macs_before(step->model, arena);
  chosen->at.count = 0;
  if (count > (int64_t)from->at.count)
    *chosen = *from;
  else
    choose_even(from, before, (double)before[step->model->nodes.count], count,
                arena, chosen);
}

/* All spans between cuts are run, which are a sixth of the parts cubed. */
int64_t cuts_most(const struct step *step, int64_t most) {
  size_t ops = step->trace.tape.ops.count + 1;
  int64_t parts = most;
  while (parts > 4 && parts * parts / 6 * (int64_t)ops > MOST_EFFORT)
    parts--;
  return parts;
}
