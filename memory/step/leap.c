/* Leaps: of iterations that are all alike only the first and the last are run.
 */
#include "memory/step/leap.h"

#include "base/check.h"

/* Iterations that are traced, before a leap and after it. */
enum { FRONT = 4, BACK = 3, LEAST = FRONT + BACK + 1 };

/* Tracing */

struct leaping {
  struct trace *trace;
  const struct model *model;
  size_t next;               /* of the model's iterations */
  struct tape_marks at[3];   /* before the last two iterations, and now */
  struct tape_storage *left; /* of the first of these, as it left them */
};

/* Those from a place on that are worth a leap; NULL: none are. */
static const struct node_turns *next_turns(const struct model *model,
                                           size_t *next) {
  for (; *next < model->turns.count; ++*next)
    if (model->turns.at[*next].count >= LEAST)
      return &model->turns.at[*next];
  return NULL;
}

/* What is in front of all iterations is not as far before each of them. */
static bool reads_far(const struct model *model,
                      const struct node_turns *turns) {
  int64_t begin = turns->first + turns->length;
  for (int64_t i = begin; i < begin + turns->length; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      if (node_input(model, node, k) < turns->first)
        return true;
  }
  return false;
}

struct leaping *leap_open(struct trace *trace, const struct model *model,
                          const struct trace_options *options) {
  const struct node_turns *turns;
  size_t next = 0;
  if (!options->leaps || options->range_count || !next_turns(model, &next) ||
      model->stops) /* what is kept there goes before backward */
    return NULL;
  for (; (turns = next_turns(model, &next)); next++)
    if (reads_far(model, turns))
      return NULL; /* such iterations are copied */
  struct leaping *leaping = ARENA_NEW(trace->tape.arena, struct leaping);
  *leaping = (struct leaping){.trace = trace, .model = model};
  return leaping;
}

static bool same_length(const struct tape_marks *at) {
  return at[1].values - at[0].values == at[2].values - at[1].values &&
         at[1].storages - at[0].storages == at[2].storages - at[1].storages &&
         at[1].ops - at[0].ops == at[2].ops - at[1].ops &&
         at[1].ins - at[0].ins == at[2].ins - at[1].ins &&
         at[1].saved - at[0].saved == at[2].saved - at[1].saved &&
         at[1].params - at[0].params == at[2].params - at[1].params &&
         at[0].parts == at[2].parts && at[1].ops > at[0].ops;
}

/* Places that are none are 0, and otherwise move. */
static bool moves(size_t a, size_t b, size_t by) {
  return a ? a + by == b : b == 0;
}

static bool same_values(const struct leaping *l, size_t params) {
  const struct tape *tape = &l->trace->tape;
  size_t storages = l->at[1].storages - l->at[0].storages;
  size_t count = l->at[1].values - l->at[0].values;
  for (size_t i = l->at[0].values; i < l->at[1].values; i++) {
    const struct tape_value *a = &tape->values.at[i], *b = a + count;
    if (!tape_alike(tape, a, b) || a->storage + storages != b->storage ||
        !moves(a->param, b->param, params) ||
        a->param_count != b->param_count || a->part_count || b->part_count)
      return false;
  }
  return true;
}

static bool same_storages(const struct leaping *l, size_t params,
                          int64_t nodes) {
  const struct tape *tape = &l->trace->tape;
  size_t count = l->at[1].storages - l->at[0].storages;
  for (size_t i = 0; i < count; i++) {
    const struct tape_storage *a = &l->left[i];
    const struct tape_storage *b = &tape->storages.at[l->at[1].storages + i];
    if (!tape_same_extent(tape, a->extent, b->extent) ||
        a->pending != b->pending || a->node + nodes != b->node ||
        !moves(a->view_of, b->view_of, count) ||
        !moves(a->weight, b->weight, params) || a->owned != b->owned ||
        a->saved != b->saved || a->leads_back != b->leads_back ||
        a->stays != b->stays)
      return false;
  }
  return true;
}

static bool same_places(const uint32_t *at, size_t from, size_t to, size_t by) {
  for (size_t i = from; i < to; i++)
    if (at[i] + by != at[i + to - from])
      return false;
  return true;
}

static bool same_ops(const struct leaping *l, int64_t nodes) {
  const struct tape *tape = &l->trace->tape;
  const struct tape_marks *x = &l->at[0], *y = &l->at[1];
  for (size_t i = x->ops; i < y->ops; i++) {
    const struct tape_op *a = &tape->ops.at[i], *b = a + (y->ops - x->ops);
    if (!facts_equal(a->facts, b->facts) ||
        (tape->lowers && !tape_same_lowered(tape, i, i + (y->ops - x->ops))) ||
        a->node + nodes != b->node ||
        a->first_in + (y->ins - x->ins) != b->first_in ||
        a->first_out + (y->values - x->values) != b->first_out ||
        a->first_saved + (y->saved - x->saved) != b->first_saved ||
        a->first_param + (y->params - x->params) != b->first_param ||
        a->first_storage + (y->storages - x->storages) != b->first_storage)
      return false;
  }
  return true;
}

/* Whether the last two iterations have done the same, and left the same behind.
 */
static bool are_alike(const struct leaping *l, const struct node_turns *turns) {
  const struct tape *tape = &l->trace->tape;
  const struct node *first = &l->model->nodes.at[turns->first];
  const struct tape_marks *a = &l->at[0], *b = &l->at[1];
  size_t params = first[turns->length].first_param - first->first_param;
  return same_length(l->at) && same_values(l, params) &&
         same_storages(l, params, turns->length) &&
         same_ops(l, turns->length) &&
         same_places(tape->ins.at, a->ins, b->ins, b->values - a->values) &&
         same_places(tape->saved.at, a->saved, b->saved,
                     b->storages - a->storages) &&
         same_places(tape->params.at, a->params, b->params, params);
}

static void leave_out(struct leaping *l, const struct node_turns *turns,
                      int64_t count) {
  struct trace *trace = l->trace;
  const struct tape_marks *a = &l->at[1], *b = &l->at[2];
  size_t from = (size_t)(turns->first + FRONT * turns->length);
  size_t length = (size_t)turns->length, end = from + (size_t)count * length;
  *VEC_PUSH(trace->tape.arena, &trace->leaps) =
      (struct step_leap){.node = (int64_t)end,
                         .length = turns->length,
                         .count = count,
                         .op = b->ops,
                         .storage = b->storages,
                         .value = b->values,
                         .ops = b->ops - a->ops,
                         .storages = b->storages - a->storages,
                         .values = b->values - a->values,
                         .ins = b->ins - a->ins};
  for (size_t i = from; i < end; i++) {
    trace->value_of[i] = trace->value_of[i - length];
    trace->op_end[i] = (uint32_t)b->ops; /* a place in the tape */
  }
}

size_t leap_from(struct leaping *l, size_t node) {
  struct tape *tape = &l->trace->tape;
  const struct node_turns *turns = next_turns(l->model, &l->next);
  if (!turns)
    return node;
  int64_t passed = (int64_t)node - turns->first;
  if (passed < (FRONT - 2) * turns->length || passed % turns->length)
    return node;
  l->at[0] = l->at[1];
  l->at[1] = l->at[2];
  l->at[2] = tape_marks(tape);
  if (passed == (FRONT - 1) * turns->length) {
    size_t count = l->at[2].storages - l->at[1].storages;
    l->left = arena_room(tape->arena, count + 1, sizeof *l->left);
    if (count)
      memcpy(l->left, tape->storages.at + l->at[1].storages,
             count * sizeof *l->left);
  }
  if (passed < FRONT * turns->length)
    return node;
  l->next++;
  if (!are_alike(l, turns))
    return node;
  int64_t count = turns->count - FRONT - BACK;
  leave_out(l, turns, count);
  return node + (size_t)(count * turns->length);
}

/* What nodes keep */

int64_t leap_times(const struct trace *trace, int64_t node) {
  size_t low = 0, high = trace->leaps.count; /* the first one after it */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (trace->leaps.at[middle].node > node)
      high = middle;
    else
      low = middle + 1;
  }
  if (low == trace->leaps.count)
    return 1;
  const struct step_leap *leap = &trace->leaps.at[low];
  bool last = node >= leap->node - (leap->count + 1) * leap->length;
  return last ? 1 + leap->count : 1;
}

void leap_spread(const struct trace *trace, int64_t *by_node) {
  for (size_t i = 0; i < trace->leaps.count; i++) {
    const struct step_leap *leap = &trace->leaps.at[i];
    for (int64_t k = leap->node - leap->count * leap->length; k < leap->node;
         k++)
      by_node[k] = by_node[k - leap->length];
  }
}

/* Running */

/* The gradient of a value. */
struct held {
  size_t number; /* of its buffer, from 1; 0: there is none */
  struct buffer buffer;
  enum row_order turned;
};

/* What an iteration leaves to the next one, or backward to the one before. */
struct left {
  struct moment now;
  struct run_use *uses; /* of the storages of the iteration before this place */
  struct held *held;    /* of its values */
};

/* At a place where storages and values after it begin with these. */
static struct left *look(struct run *run, size_t storage, size_t value,
                         const struct step_leap *leap) {
  struct arena *arena = run->s->arena;
  struct left *left = ARENA_NEW(arena, struct left);
  *left = (struct left){
      .now = run->now,
      .uses = arena_room(arena, leap->storages, sizeof *left->uses),
      .held = arena_alloc(arena, leap->values, sizeof *left->held)};
  for (size_t i = 0; i < leap->storages; i++)
    left->uses[i] = *run_once(run, storage - leap->storages + i);
  for (size_t i = 0; i < leap->values; i++) {
    size_t at = value - leap->values + i, number = *run_gradient_of(run, at);
    if (number)
      left->held[i] = (struct held){number, run->buffers.at[number - 1],
                                    *run_turned(run, at)};
  }
  return left;
}

static bool same_left(const struct left *a, const struct left *b,
                      const struct step_leap *leap) {
  size_t newer = 0; /* by so much are the numbers of buffers higher */
  for (size_t i = 0; i < leap->storages; i++) {
    const struct run_use *x = &a->uses[i], *y = &b->uses[i];
    if (x->left != y->left || x->packed != y->packed || x->saved != y->saved ||
        x->packs != y->packs || x->stored != y->stored || x->there != y->there)
      return false;
  }
  for (size_t i = 0; i < leap->values; i++) {
    const struct held *x = &a->held[i], *y = &b->held[i];
    if (x->number && !newer)
      newer = y->number - x->number;
    if ((x->number ? x->number + newer : 0) != y->number ||
        x->buffer.bytes != y->buffer.bytes ||
        x->buffer.users != y->buffer.users || x->turned != y->turned)
      return false;
  }
  return true;
}

/* *now += (*now - before) * count */
static bool grow(int64_t *now, int64_t before, int64_t count) {
  return add_product_i64(*now - before, count, now);
}

/* All the iterations that are left out, each as the last one. */
static void jump(struct run *run, const struct moment *before, int64_t count) {
  struct moment *now = &run->now;
  now->number += (now->number - before->number) * (size_t)count;
  for (int i = 0; i < PART_COUNT; i++) /* never more than the sum */
    grow(&now->parts[i], before->parts[i], count);
  if (!grow(&now->bytes, before->bytes, count))
    run->s->overflow = true;
}

/* An iteration before the current leap, or backward after it. */
static void approach(struct run *run) {
  const struct step_leap *leap = &run->s->trace->leaps.at[run->leap];
  run->leap_at = run->now.phase == PHASE_BACKWARD ? leap->op + leap->ops
                                                  : leap->op - leap->ops;
}

void leap_begin(struct run *run) {
  size_t count = run->s->trace->leaps.count;
  run->leap_at = SIZE_MAX;
  run->leap = run->now.phase == PHASE_BACKWARD ? count - 1 : 0;
  if (count)
    approach(run);
}

void leap_pass(struct run *run) {
  const struct step_leap *leap = &run->s->trace->leaps.at[run->leap];
  bool back = run->now.phase == PHASE_BACKWARD;
  if (run->leap_at != leap->op) {
    run->left = back ? look(run, leap->storage + leap->storages,
                            leap->value + leap->values, leap)
                     : look(run, leap->storage - leap->storages,
                            leap->value - leap->values, leap);
    run->leap_at = leap->op;
    return;
  }
  struct left *now = look(run, leap->storage, leap->value, leap);
  run->s->uneven = !same_left(run->left, now, leap);
  run->s->overflow = run->s->overflow || run->s->uneven; /* ends the run */
  jump(run, &run->left->now, leap->count);
  run->leap_at = SIZE_MAX;
  if (back ? run->leap == 0 : run->leap + 1 == run->s->trace->leaps.count)
    return;
  run->leap += back ? SIZE_MAX : 1; /* one less, or one more */
  approach(run);
}
