/* Cuts: places in a net where one tensor alone leads on. */
#include "memory/checkpoint/cuts.h"

#include "base/check.h"

enum { MOST_EFFORT = 20000000 }; /* simulated operations */

/* Counts readers of every node's tensor; views are counted at their input. */
static int64_t *count_readers(const struct model *model, struct arena *arena) {
  int64_t *left = arena_alloc(arena, model->nodes.count + 1, sizeof *left);
  for (size_t i = 0; i < model->inputs.count; i++)
    left[model->inputs.at[i]]++;
  return left;
}

void cuts_all(const struct model *model, struct cuts *cuts,
              struct arena *arena) {
  int64_t *left = count_readers(model, arena);
  int64_t open = 0;
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

/* Cuts around a goal that only grows; the first of each number of bytes. */
struct around {
  size_t below, above;
};

/* The cut that is nearest to `goal` saved bytes. */
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
  if (over < 0) /* no cut is after the goal */
    over = -over;
  return at[under <= over ? around->below : around->above];
}

/* Prefix sums of saved bytes by node, without checkpoints. */
static int64_t *kept_before(const struct step *step, struct arena *arena) {
  size_t nodes = step->model->nodes.count;
  int64_t *before = arena_alloc(arena, nodes + 2, sizeof *before);
  struct simulation s = {.saves_only = true};
  s.saved_by_node = arena_alloc(arena, nodes + 1, sizeof *s.saved_by_node);
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

/* Chooses all cuts, or `count` parts that save about the same bytes. */
static void divide(const struct step *step, int64_t count,
                   const struct cuts *all, struct arena *arena,
                   struct cuts *chosen) {
  int64_t *before = kept_before(step, arena);
  double total = (double)before[step->model->nodes.count];
  if (count > (int64_t)all->at.count) /* too few */
    *chosen = *all;
  else
    choose_even(all, before, total, count, arena, chosen);
}

/* Places for checkpoints */

#define MOST_BYTES (INT64_MAX >> 25) /* above any real tensor */

/* Bytes of a node's tensor, for the batch. */
static int64_t cut_bytes(const struct step *step, int64_t node) {
  const struct tape *tape = &step->trace.tape;
  size_t value = step->trace.value_of[node];
  bool overflow = false;
  int64_t bytes =
      extent_bytes(tape_extent(tape, value), step->settings.batch,
                   step->settings.dtype, tape->profile->block, &overflow);
  return overflow ? MOST_BYTES : min_i64(bytes, MOST_BYTES);
}

/* Bytes of tensors that lead from before each node to after it. */
static int64_t *crossing_bytes(const struct step *step, struct arena *arena) {
  const struct model *model = step->model;
  int64_t *left = count_readers(model, arena);
  int64_t *bytes = arena_alloc(arena, model->nodes.count + 2, sizeof *bytes);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    bytes[i + 1] = bytes[i] + (left[i] > 0 ? cut_bytes(step, (int64_t)i) : 0);
    for (int k = 0; k < node->input_count; k++) {
      int64_t read = node_input(model, node, k);
      if (--left[read] == 0)
        bytes[i + 1] -= cut_bytes(step, read);
    }
  }
  return bytes;
}

/* Finds places that fewer bytes cross than their neighbours. */
static bool *find_narrow(const struct step *step, struct arena *arena) {
  int64_t end = (int64_t)step->model->nodes.count;
  const int64_t *bytes = crossing_bytes(step, arena);
  bool *narrow = arena_alloc(arena, step->model->nodes.count + 1, 1);
  for (int64_t first = 1, next; first < end; first = next) {
    for (next = first + 1; next < end && bytes[next] == bytes[first];)
      next++;
    for (int64_t i = first; i < next; i++)
      narrow[i] = bytes[first - 1] > bytes[first] && bytes[next] > bytes[first];
  }
  return narrow;
}

/* True if the next operation overwrites the tensor there, as ReLU does. */
static bool is_overwritten(const struct step *step, int64_t cut) {
  const struct trace *trace = &step->trace;
  const struct tape *tape = &trace->tape;
  size_t op = trace->op_end[cut - 1];
  uint32_t made = tape->values.at[trace->value_of[cut - 1]].storage;
  return op < tape->ops.count &&
         tape->ops.at[op].facts->result == RESULT_IN_PLACE &&
         tape->values.at[tape->ops.at[op].first_out].storage == made;
}

/* Adds some of the other places, evenly, until there are `count` parts. */
static void fill_up(const struct cuts *all, const struct cuts *even,
                    int64_t count, struct arena *arena, struct cuts *chosen) {
  int64_t others = (int64_t)(all->at.count - even->at.count);
  int64_t room = min_i64(others, count - 1 - (int64_t)even->at.count);
  int64_t seen = 0;
  size_t next = 0;
  for (size_t i = 0; i < all->at.count; i++) {
    bool is_even = next < even->at.count && even->at.at[next] == all->at.at[i];
    next += is_even;
    seen += !is_even;
    if (is_even || seen * room / others > (seen - 1) * room / others)
      *VEC_PUSH(arena, &chosen->at) = all->at.at[i];
  }
}

/* Places of one tensor and, if `few`, those that few bytes cross. */
static void places_of(const struct step *step, bool few, struct arena *arena,
                      struct cuts *all) {
  struct cuts single = {0};
  size_t next = 0;
  cuts_all(step->model, &single, arena);
  const bool *narrow = few ? find_narrow(step, arena) : NULL;
  for (int64_t cut = 1; cut < (int64_t)step->model->nodes.count; cut++) {
    bool alone = next < single.at.count && single.at.at[next] == cut;
    next += alone;
    if ((alone || (few && narrow[cut])) && !is_overwritten(step, cut))
      *VEC_PUSH(arena, &all->at) = cut;
  }
}

void cuts_for_segments(const struct step *step, int64_t count,
                       struct arena *arena, struct cuts *chosen) {
  struct cuts single = {0}, all = {0}, even = {0};
  cuts_all(step->model, &single, arena);
  places_of(step, (int64_t)single.at.count < count, arena, &all);
  divide(step, count, &all, arena, &even);
  fill_up(&all, &even, count, arena, chosen);
}

/* Maximum saved bytes of a part. */
static int64_t most_kept(const int64_t *before, int64_t all,
                         const struct cuts *chosen) {
  int64_t from = 0, most = 0;
  for (size_t i = 0; i < chosen->at.count; i++) {
    most = max_i64(most, before[chosen->at.at[i]] - from);
    from = before[chosen->at.at[i]];
  }
  return max_i64(most, all - from);
}

void cuts_divide(const struct step *step, int64_t count, struct arena *arena,
                 struct cuts *chosen) {
  struct cuts all = {0};
  cuts_all(step->model, &all, arena);
  divide(step, count, &all, arena, chosen);
}

void cuts_divide_kept(const struct step *step, int64_t count,
                      struct arena *arena, struct cuts *chosen) {
  struct cuts all = {0}, other = {0};
  cuts_divide(step, count, arena, chosen);
  const int64_t *before = kept_before(step, arena);
  int64_t total = before[step->model->nodes.count];
  int64_t most = most_kept(before, total, chosen);
  if (count < 2 || most <= total / 4 * 3)
    return;
  places_of(step, true, arena, &all);
  if (all.at.count)
    divide(step, count, &all, arena, &other);
  if (most_kept(before, total, &other) < most)
    *chosen = other;
}

/* Prefix sums of the nodes' MACs. */
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
  cuts_all(step->model, &all, arena);
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

/* Every span between cuts is simulated: a sixth of the parts cubed. */
int64_t cuts_most(const struct step *step, int64_t most) {
  size_t ops = step->trace.tape.ops.count + 1;
  int64_t parts = most;
  while (parts > 4 && parts * parts / 6 * (int64_t)ops > MOST_EFFORT)
    parts--;
  return parts;
}
