/* Leaps: of iterations that are all alike, only the first and the last are
 * run. */
#include "memory/step/leap.h"

#include "base/check.h"

/* Saved bytes by node */

int64_t leap_times(const struct trace *trace, int64_t node) {
  size_t low = 0, high = trace->leaps.count; /* finds the first leap after it */
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
  size_t number; /* of its buffer, from 1; 0: none */
  struct buffer buffer;
  enum row_order turned;
};

/* The state at a border of iterations, forward or backward. */
struct left {
  struct moment now;
  struct run_use *uses; /* of the storages of the iteration before this place */
  struct held *held;    /* of its values */
};

/* Reads the state at a place where `storage` and `value` come next. */
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
  size_t newer = 0; /* distance of the buffer numbers */
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
        x->buffer.users != y->buffer.users ||
        x->buffer.view != y->buffer.view || x->turned != y->turned)
      return false;
  }
  return true;
}

/* *now += (*now - before) * count */
static bool grow(int64_t *now, int64_t before, int64_t count) {
  return add_product_i64(*now - before, count, now);
}

/* Adds all iterations that are left out, each equal to the last one. */
static void jump(struct run *run, const struct moment *before, int64_t count) {
  struct moment *now = &run->now;
  now->number += (now->number - before->number) * (size_t)count;
  for (int i = 0; i < PART_COUNT; i++) /* never more than the sum */
    grow(&now->parts[i], before->parts[i], count);
  if (!grow(&now->bytes, before->bytes, count))
    run->s->overflow = true;
}

/* Sets the operation one iteration before the leap, or after it in backward. */
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
