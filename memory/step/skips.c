/*
 * Skips: equal iterations of the net need not all be simulated. An iteration
 * reads only values of the one before, in storages that go back at most one
 * more, and values in front of all iterations, which stay until the last one
 * has run. So each iteration adds the same bytes to memory. Forward runs the
 * first three and the last. Backward runs the last ones, until gradients are as
 * they were an iteration before, and then the first two.
 */
#include "base/check.h"
#include "memory/step/run.h"

enum {
  AHEAD = 3,      /* iterations that run forward before others are skipped */
  BACK = 2,       /* iterations that run at the end of backward */
  SKIPS_FROM = 5, /* minimum iterations; with fewer, none can be skipped */
  TRIES = 4,      /* iterations in which gradients may settle */
};

/* Places of iterations */

static size_t turn_op(const struct run_skip *skip, size_t turn) {
  return skip->turns.op + turn * skip->turns.ops;
}

/* Clips the iterations to the part that runs. */
static bool clip(const struct simulation *s, struct tape_turns *turns) {
  size_t skipped = 0, count = turns->count;
  if (turns->op < s->first)
    skipped = (s->first - turns->op + turns->ops - 1) / turns->ops;
  if (turns->op + count * turns->ops > s->end)
    count = s->end > turns->op ? (s->end - turns->op) / turns->ops : 0;
  if (count < skipped + SKIPS_FROM)
    return false;
  turns->count = count - skipped;
  turns->node += skipped * turns->nodes;
  turns->op += skipped * turns->ops;
  turns->value += skipped * turns->values;
  turns->storage += skipped * turns->storages;
  return true;
}

/* True if storage `b` is to an iteration what `a` is to the one before it. */
static bool follows(const struct run_skip *skip, size_t a, size_t b) {
  return b < skip->turns.storage ? a == b : b == a + skip->turns.storages;
}

static bool op_follows(const struct run *run, const struct run_skip *skip,
                       const struct tape_op *a, const struct tape_op *b) {
  const uint32_t *saved = run->tape->saved.at;
  bool same = true;
  for (int i = 0; same && i < a->facts->in_count; i++)
    same = follows(skip, run_storage_of(run, run_input_of(run, a, i)),
                   run_storage_of(run, run_input_of(run, b, i)));
  for (size_t i = 0; same && i < (size_t)a->facts->out_count; i++)
    same = follows(skip, run_storage_of(run, a->first_out + i),
                   run_storage_of(run, b->first_out + i));
  for (size_t i = 0; same && i < (size_t)a->facts->saved_count; i++)
    same = follows(skip, run_root_of(run, saved[a->first_saved + i]),
                   run_root_of(run, saved[b->first_saved + i]));
  return same;
}

/* At a batch of 1, the storage behind a view may be further away. */
static bool is_near(const struct run *run, const struct run_skip *skip) {
  const struct tape_op *at = &run->tape->ops.at[turn_op(skip, AHEAD - 1)];
  for (size_t i = 0; i < skip->turns.ops; i++)
    if (!op_follows(run, skip, &at[i] - skip->turns.ops, &at[i]))
      return false;
  return true;
}

void run_find_skips(struct run *run) {
  const struct simulation *s = run->s;
  size_t next = 0;
  run->due = SIZE_MAX;
  if (!s->skips || s->each || s->legs || s->levels || s->trace->until)
    return;
  for (size_t i = 0; i < s->trace->turns.count; i++) {
    struct tape_turns turns = s->trace->turns.at[i];
    if (!clip(s, &turns))
      continue;
    while (next < s->segment_count && s->segments[next].end <= turns.op)
      next++;
    size_t end = turns.op + turns.count * turns.ops;
    struct run_skip skip = {.turns = turns};
    if ((next == s->segment_count || s->segments[next].first >= end) &&
        is_near(run, &skip))
      *VEC_PUSH(s->arena, &run->skips) = skip;
  }
  if (run->skips.count)
    run->due = turn_op(&run->skips.at[0], AHEAD - 1);
}

/* The change in an iteration */

static struct moment *peak_of(struct run *run) {
  return run->now.phase == PHASE_FORWARD ? &run->s->forward : &run->s->backward;
}

/* Called before an iteration whose peak is measured. */
static void begin_turn(struct run *run, struct run_skip *skip) {
  struct moment *peak = peak_of(run);
  skip->now = run->now;
  skip->peak = *peak;
  skip->peak_changes = run->changes_before[run->now.phase];
  skip->changes = run->changes.count;
  skip->requests = run->s->requests.count;
  skip->buffers = run->buffers.count;
  skip->cached = run->cached;
  peak->bytes = -1;
}

/* Called after it; `own` receives its peak. */
static void end_turn(struct run *run, const struct run_skip *skip,
                     struct moment *own, size_t *own_changes) {
  struct moment *peak = peak_of(run);
  size_t *changes = &run->changes_before[run->now.phase];
  *own = *peak;
  *own_changes = *changes;
  if (peak->bytes > skip->peak.bytes)
    return;
  *peak = skip->peak;
  *changes = skip->peak_changes;
}

/* Adds the change since the iteration began, `times` times. */
static void add_times(struct run *run, const struct run_skip *skip,
                      size_t times, struct moment *to) {
  int64_t n = (int64_t)times;
  bool fits = add_product_i64(run->now.bytes - skip->now.bytes, n, &to->bytes);
  for (int i = 0; i < PART_COUNT; i++)
    fits = add_product_i64(run->now.parts[i] - skip->now.parts[i], n,
                           &to->parts[i]) &&
           fits;
  to->number += times * (run->now.number - skip->now.number);
  if (!fits)
    run->s->overflow = true;
}

/* If each iteration needs more than the one before, the last one has the
 * peak. */
static void see_peak(struct run *run, const struct run_skip *skip, size_t times,
                     struct moment own, size_t own_changes) {
  struct simulation *s = run->s;
  struct moment *peak = peak_of(run);
  bool ahead = run->now.phase == PHASE_FORWARD;
  int64_t nodes = (int64_t)(times * skip->turns.nodes);
  if (run->now.bytes <= skip->now.bytes || own.bytes < 0)
    return;
  add_times(run, skip, times, &own);
  own.node += ahead ? nodes : -nodes;
  if (s->most && own.bytes > s->most)
    s->overflow = true;
  if (own.bytes <= peak->bytes)
    return;
  *peak = own;
  run->changes_before[run->now.phase] =
      own_changes + times * (run->changes.count - skip->changes);
}

/* The key of a change, moved to the k-th iteration after it. */
static size_t later(const struct run *run, const struct run_skip *skip,
                    size_t change, size_t k, size_t buffers) {
  size_t by = k * skip->turns.storages * CHANGES;
  if (change % CHANGES == CHANGE_BUFFER)
    return change + k * buffers * CHANGES;
  if (change < skip->turns.storage * CHANGES)
    return change;
  return run->now.phase == PHASE_FORWARD ? change + by : change - by;
}

/* Repeats the changes of an iteration that makes `buffers` buffers. */
static void add_changes(struct run *run, const struct run_skip *skip,
                        size_t times, size_t buffers) {
  size_t from = skip->changes, count = run->changes.count - from;
  if (count == 0 || !run->s->lists)
    return;
  size_t *to = VEC_MORE(run->s->arena, &run->changes, count * times);
  for (size_t k = 1; k <= times; k++)
    for (size_t i = 0; i < count; i++)
      *to++ = later(run, skip, run->changes.at[from + i], k, buffers);
}

static void add_requests(struct run *run, const struct run_skip *skip,
                         size_t times, size_t buffers) {
  struct simulation *s = run->s;
  size_t from = skip->requests, count = s->requests.count - from;
  if (count == 0)
    return;
  struct step_request *to = VEC_MORE(s->arena, &s->requests, count * times);
  for (size_t k = 1; k <= times; k++)
    for (size_t i = 0; i < count; i++, to++) {
      *to = s->requests.at[from + i];
      if (to->key)
        to->key = later(run, skip, to->key - 1, k, buffers) + 1;
    }
}

/* Forward */

static struct run_use *uses_of(const struct run *run,
                               const struct run_skip *skip, size_t turn) {
  return run_once(run, skip->turns.storage + turn * skip->turns.storages);
}

/* The skipped iterations also read what is in front of all iterations. */
static void count_outside(struct run *run, const struct run_skip *skip,
                          size_t times) {
  const struct tape_op *at = &run->tape->ops.at[turn_op(skip, AHEAD - 1)];
  for (size_t i = 0; i < skip->turns.ops; i++)
    for (int k = 0; k < at[i].facts->in_count; k++) {
      size_t storage = run_storage_of(run, run_input_of(run, &at[i], k));
      if (storage < skip->turns.storage)
        run_once(run, storage)->left -= (int64_t)times;
    }
}

/* The last iterations have the uses of those that ran; the others of the
 * first. */
static void fill_uses(struct run *run, const struct run_skip *skip) {
  size_t last = skip->turns.count - 2;
  size_t bytes = skip->turns.storages * sizeof(struct run_use);
  for (size_t k = last; k > 0; k--) {
    size_t from = k + AHEAD - 1 > last ? k + AHEAD - 1 - last : 0;
    if (from != k)
      memcpy(uses_of(run, skip, k), uses_of(run, skip, from), bytes);
  }
}

/* After the third iteration, all but the last are skipped. */
static void skip_ahead(struct run *run, struct run_skip *skip) {
  struct moment own;
  size_t own_changes, times = skip->turns.count - 1 - AHEAD;
  end_turn(run, skip, &own, &own_changes);
  see_peak(run, skip, times, own, own_changes);
  add_changes(run, skip, times, 0);
  add_requests(run, skip, times, 0);
  count_outside(run, skip, times);
  fill_uses(run, skip);
  run->cached += (run->cached - skip->cached) * (int64_t)times;
  struct moment now = run->now;
  add_times(run, skip, times, &now);
  run->now = now;
}

size_t run_turn_ahead(struct run *run, size_t op) {
  struct run_skip *skip = &run->skips.at[run->skip];
  if (op == turn_op(skip, AHEAD - 1)) {
    begin_turn(run, skip);
    run->due = turn_op(skip, AHEAD);
    return op;
  }
  skip_ahead(run, skip);
  run->due = SIZE_MAX;
  if (++run->skip < run->skips.count)
    run->due = turn_op(&run->skips.at[run->skip], AHEAD - 1);
  return turn_op(skip, skip->turns.count - 1);
}

/* Backward */

/* A value's gradient before an iteration. */
static struct held_gradient held_at(const struct run *run, size_t value) {
  struct held_gradient held = {.buffer = *run_gradient_of(run, value),
                               .turned = *run_turned(run, value)};
  if (!held.buffer)
    return held;
  held.bytes = run->buffers.at[held.buffer - 1].bytes;
  held.users = run->buffers.at[held.buffer - 1].users;
  held.view = run->buffers.at[held.buffer - 1].view;
  return held;
}

static size_t turn_value(const struct run_skip *skip, size_t turn) {
  return skip->turns.value + turn * skip->turns.values;
}

static void note_held(struct run *run, struct run_skip *skip) {
  if (!skip->held)
    skip->held =
        arena_room(run->s->arena, skip->turns.values + 1, sizeof *skip->held);
  for (size_t i = 0; i < skip->turns.values; i++)
    skip->held[i] = held_at(run, turn_value(skip, skip->turn) + i);
}

/* True if the iteration just run gives a gradient to something in front of
 * all. */
static bool leads_out(const struct run *run, const struct run_skip *skip) {
  for (size_t i = turn_op(skip, skip->turn); i < turn_op(skip, skip->turn + 1);
       i++) {
    const struct tape_op *op = &run->tape->ops.at[i];
    for (int k = 0; k < op->facts->in_count; k++) {
      size_t in = run_input_of(run, op, k);
      if (in < turn_value(skip, skip->turn - 1) &&
          run_value_at(run, in)->needs_gradient)
        return true;
    }
  }
  return false;
}

/*
 * True if gradients are as they were an iteration before: in buffers that this
 * iteration has made where the last one did, or in the same buffers.
 */
static bool is_settled(const struct run *run, const struct run_skip *skip) {
  size_t made = run->buffers.count - skip->buffers;
  for (size_t i = 0; i < skip->turns.values; i++) {
    struct held_gradient a = skip->held[i];
    struct held_gradient b = held_at(run, turn_value(skip, skip->turn - 1) + i);
    if (a.bytes != b.bytes || a.users != b.users || a.turned != b.turned ||
        a.view != b.view || !a.buffer != !b.buffer)
      return false;
    bool moves = a.buffer + made > skip->buffers && a.buffer + made == b.buffer;
    if (a.buffer != b.buffer && !moves)
      return false;
  }
  return true;
}

/* Adds the buffers that the skipped iterations would make. */
static void add_buffers(struct run *run, const struct run_skip *skip,
                        size_t times) {
  size_t from = skip->buffers, made = run->buffers.count - from;
  if (made == 0 || !run_lists(run))
    return;
  struct buffer *to = VEC_MORE(run->s->arena, &run->buffers, made * times);
  for (size_t k = 1; k <= times; k++)
    for (size_t i = 0; i < made; i++) {
      *to = run->buffers.at[from + i];
      to++->node -= (int64_t)(k * skip->turns.nodes);
    }
}

/* Moves gradients from before the iteration just run to before the second. */
static void move_held(struct run *run, const struct run_skip *skip,
                      size_t moves) {
  size_t values = skip->turns.values;
  size_t from = turn_value(skip, skip->turn - 1);
  size_t to = turn_value(skip, BACK - 1);
  for (size_t i = 0; i < values; i++) {
    size_t buffer = *run_gradient_of(run, from + i);
    bool same = buffer == skip->held[i].buffer;
    *run_gradient_of(run, to + i) = buffer + (same ? 0 : moves);
    *run_turned(run, to + i) = *run_turned(run, from + i);
  }
  for (size_t k = 0; k < BACK; k++)
    memmove(uses_of(run, skip, k), uses_of(run, skip, skip->turn - BACK + k),
            skip->turns.storages * sizeof(struct run_use));
}

/* Skipped iterations also release what is in front of all iterations. */
static void release_outside(struct run *run, const struct run_skip *skip,
                            size_t times) {
  const struct tape *tape = run->tape;
  for (size_t i = turn_op(skip, skip->turn);
       i < turn_op(skip, skip->turn + 1) && !run_moves(run); i++) {
    const struct tape_op *op = &tape->ops.at[i];
    for (int k = 0; k < op->facts->saved_count; k++) {
      size_t at = tape->saved.at[op->first_saved + (size_t)k];
      size_t storage = run_root_of(run, at);
      struct run_use *use = run_once(run, storage);
      if (storage >= skip->turns.storage)
        continue;
      if (run_packable(run, storage))
        use->packed -= (int64_t)times;
      else
        use->left -= (int64_t)times;
    }
  }
}

/* Called before an iteration in backward; skips all others but the first
 * two. */
static void skip_back(struct run *run, struct run_skip *skip) {
  struct moment own;
  size_t own_changes, times = skip->turn - BACK;
  size_t made = run->buffers.count - skip->buffers;
  end_turn(run, skip, &own, &own_changes);
  see_peak(run, skip, times, own, own_changes);
  add_changes(run, skip, times, made);
  add_requests(run, skip, times, made);
  release_outside(run, skip, times);
  add_buffers(run, skip, times);
  move_held(run, skip, run_lists(run) ? times * made : 0);
  struct moment now = run->now;
  add_times(run, skip, times, &now);
  run->now = now;
}

static void next_back(struct run *run) {
  run->due = SIZE_MAX;
  if (run->skip == 0)
    return;
  struct run_skip *skip = &run->skips.at[--run->skip];
  skip->turn = skip->turns.count - 1;
  run->due = turn_op(skip, skip->turn);
}

void run_begin_back(struct run *run) {
  run->skip = run->skips.count;
  next_back(run);
}

size_t run_turn_back(struct run *run, size_t op) {
  struct run_skip *skip = &run->skips.at[run->skip];
  struct moment own;
  size_t own_changes;
  if (skip->turn + 1 < skip->turns.count) { /* an iteration has been run */
    if (!leads_out(run, skip) && is_settled(run, skip)) {
      skip_back(run, skip);
      next_back(run);
      return turn_op(skip, BACK);
    }
    end_turn(run, skip, &own, &own_changes);
    if (skip->turn < BACK + 2 || skip->turn + TRIES < skip->turns.count) {
      next_back(run);
      return op;
    }
  }
  skip->turn--;
  note_held(run, skip);
  begin_turn(run, skip);
  run->due = turn_op(skip, skip->turn);
  return op;
}
