/*
 * Loose: autograd's graph of detached values. Its nodes and their saves are
 * freed with the last tensor that refers to them, before backward.
 */
#include "memory/step/loose.h"

/* State of a walk over the tape from its end. */
struct loose_walk {
  const struct tape *tape;
  bool *led;      /* by value: a gradient reaches it */
  uint32_t *last; /* by value: operations until nothing refers to it */
};

static void refer(struct loose_walk *walk, size_t value, uint32_t until) {
  if (walk->last[value] < until)
    walk->last[value] = until;
}

/*
 * The operation count until which an operation's node exists; 0: none, or a
 * gradient reaches it. A weight that its module keeps keeps its node.
 */
static uint32_t until_of(const struct loose_walk *walk, size_t index) {
  const struct tape *tape = walk->tape;
  const struct tape_op *op = &tape->ops.at[index];
  uint32_t until = (uint32_t)index + 1;
  bool node = false;
  for (int i = 0; i < op->facts->out_count; i++) {
    size_t out = op->first_out + (size_t)i;
    if (walk->led[out] || tape->storages.at[tape->values.at[out].storage].stays)
      return 0;
    node = node || tape->values.at[out].needs_gradient;
    if (walk->last[out] > until)
      until = walk->last[out];
  }
  return node ? until : 0;
}

static void pass_on(struct loose_walk *walk, size_t index, uint32_t until) {
  const struct tape *tape = walk->tape;
  const struct tape_op *op = &tape->ops.at[index];
  bool leads = !until && tape->values.at[op->first_out].needs_gradient;
  for (int i = 0; i < op->facts->in_count; i++) {
    size_t in = tape_input(tape, op, i);
    refer(walk, in, (uint32_t)index + 1);
    if (!tape->values.at[in].needs_gradient ||
        i >= op->facts->in_count - op->facts->held)
      continue;
    walk->led[in] = walk->led[in] || leads;
    refer(walk, in, until);
  }
}

void loose_find(struct trace *trace) {
  const struct tape *tape = &trace->tape;
  struct arena *arena = tape->arena;
  size_t values = tape->values.count + 1, ops = tape->ops.count;
  struct loose_walk walk = {tape, arena_alloc(arena, values, sizeof *walk.led),
                            arena_alloc(arena, values, sizeof *walk.last)};
  trace->until = arena_alloc(arena, ops + 1, sizeof *trace->until);
  for (size_t i = 0; i < trace->ends.count; i++)
    walk.led[trace->ends.at[i]] = true;
  for (size_t i = ops; i-- > 0;) {
    trace->until[i] = until_of(&walk, i);
    pass_on(&walk, i, trace->until[i]);
  }
}

/* The same count within the part of the tape that runs or is recomputed. */
static size_t end_of(const struct run *run, size_t index) {
  size_t end = run->repeated ? run->repeated->end : run->s->end;
  size_t until = run->until[index];
  return until < end ? until : end;
}

void loose_begin(struct run *run, const struct tape_op *op, int64_t kept) {
  size_t index = (size_t)(op - run->tape->ops.at), end = end_of(run, index);
  if (!run->loose.count || end < run->loose_end)
    run->loose_end = end;
  *VEC_PUSH(run->s->arena, &run->loose) = (struct run_loose){index, kept};
}

static void release(struct run *run, const struct run_loose *loose) {
  const struct tape_op *op = &run->tape->ops.at[loose->op];
  run_change(run, PART_TEMPORARY, -loose->kept);
  for (int i = 0; i < op->facts->saved_count; i++)
    run_release(
        run,
        run_root_of(run, run->tape->saved.at[op->first_saved + (size_t)i]));
}

void loose_let_go(struct run *run, const struct tape_op *op) {
  size_t passed = (size_t)(op - run->tape->ops.at) + 1, left = 0;
  if (passed < run->loose_end)
    return;
  run->loose_end = SIZE_MAX;
  for (size_t i = 0; i < run->loose.count; i++) {
    const struct run_loose *loose = &run->loose.at[i];
    size_t end = end_of(run, loose->op);
    if (end <= passed) {
      release(run, loose);
      continue;
    }
    run->loose_end = end < run->loose_end ? end : run->loose_end;
    run->loose.at[left++] = *loose;
  }
  run->loose.count = left;
}
