/* Simulation of one training step: bytes in memory after each operation. */
#include "base/check.h"
#include "memory/step/leap.h"
#include "memory/step/loose.h"

/* Moments */

/* The tensor of a change. */
static struct step_alive changed(struct run *run, size_t change) {
  size_t index = change / CHANGES;
  enum change_of of = (enum change_of)(change % CHANGES);
  if (of == CHANGE_BUFFER)
    return (struct step_alive){run->buffers.at[index].node,
                               run->buffers.at[index].bytes, PART_TEMPORARY};
  int64_t node = run->tape->storages.at[index].node;
  if (of == CHANGE_STORED)
    return (struct step_alive){
        node, run_packed_bytes(run, tape_storage_extent(run->tape, index)),
        PART_SAVED};
  const struct run_use *uses = of == CHANGE_ONCE ? run->once : run->again;
  const struct run_use *use = &uses[index - run->first_storage];
  return (struct step_alive){node, run_storage_bytes(run, index),
                             use->saved && !use->packs ? PART_SAVED
                                                       : PART_TEMPORARY};
}

/* Collects the tensors in memory at the greater peak. */
static void collect(struct run *run) {
  struct simulation *s = run->s;
  enum step_phase phase =
      s->backward.bytes >= s->forward.bytes ? PHASE_BACKWARD : PHASE_FORWARD;
  size_t most = run->end_storage > run->buffers.count ? run->end_storage
                                                      : run->buffers.count;
  bool *there = arena_alloc(s->arena, most + 1, CHANGES * sizeof *there);
  for (size_t i = 0; i < run->changes_before[phase]; i++)
    there[run->changes.at[i]] = !there[run->changes.at[i]];
  for (size_t i = 0; i < most * CHANGES; i++) {
    if (!there[i])
      continue;
    struct step_alive alive = changed(run, i);
    if (alive.bytes > 0)
      *VEC_PUSH(s->arena, &s->alive) = alive;
  }
}

/* Bytes for marks and legs, without gradients of parameters. */
static int64_t passing_bytes(const struct run *run) {
  return run->now.bytes - run->now.parts[PART_GRADIENTS];
}

static void see_most(struct run *run) {
  struct leg *in = &run->s->legs[run->leg];
  int64_t *most =
      run->now.phase == PHASE_FORWARD ? &in->forward : &in->backward;
  *most = max_i64(*most, passing_bytes(run));
}

static void pass_forward(struct run *run) {
  struct step_mark *mark = &run->s->marks[run->leg++];
  mark->cached = run->cached;
  mark->forward = passing_bytes(run) - run->cached;
}

void run_pass_mark(struct run *run) {
  struct step_mark *mark = &run->s->marks[--run->leg];
  size_t held = *run_gradient_of(run, mark->value);
  const struct buffer *buffer = held ? &run->buffers.at[held - 1] : NULL;
  mark->backward = passing_bytes(run);
  mark->plain = !held || (buffer->users == 1 &&
                          (*run_turned(run, mark->value) != ROWS_TOGETHER) ==
                              run_lies_turned(run, mark->value) &&
                          buffer->bytes == run_value_bytes(run, mark->value));
}

void run_sample(struct run *run, const struct tape_op *op) {
  struct simulation *s = run->s;
  if (op->facts->quiet)
    return;
  struct moment *peak =
      run->now.phase == PHASE_FORWARD ? &s->forward : &s->backward;
  run->now.node = op->node;
  run->now.op = op->facts->name;
  run->now.number++;
  if (run->now.bytes > peak->bytes) {
    *peak = run->now;
    run->changes_before[run->now.phase] = run->changes.count;
  }
  if (s->most && run->now.bytes > s->most)
    s->overflow = true; /* ends the run */
  if (s->each)
    s->each(s->user, &run->now);
  if (s->legs)
    see_most(run);
  if (s->levels && run->now.phase == PHASE_BACKWARD) {
    struct op_level *level = &s->levels[op - run->tape->ops.at];
    int64_t *most = run->released ? &level->after : &level->back;
    *most = max_i64(*most, run_beside(run));
  }
}

/* Forward */

static int64_t kept_until(struct run *run, const struct tape_op *op, int end) {
  int64_t sum = 0;
  for (int i = 0; i < end; i++)
    if (op->facts->kept[i].count &&
        !add_i64(sum, run_bytes_of(run, &op->facts->kept[i]), &sum))
      run->s->overflow = true;
  return sum;
}

int64_t run_kept_bytes(struct run *run, const struct tape_op *op) {
  return kept_until(run, op, KEPT_COUNT);
}

static int64_t run_made_bytes(struct run *run, const struct tape_op *op) {
  return kept_until(run, op, KEPT_OWN);
}

/* True if the output has a storage of its own. */
static bool makes(const struct run *run, const struct tape_op *op, size_t out) {
  return op->facts->result == RESULT_NEW &&
         run_storage_of(run, out) == run_value_at(run, out)->storage;
}

/*
 * A segment frees what it does not keep, but autocast's cache holds its 16-bit
 * weights until forward ends: cached_cast of aten/src/ATen/autocast_mode.cpp.
 */
static void drop_kept(struct run *run, const struct tape_op *op, int64_t kept) {
  int64_t cached = op->facts->kept[KEPT_CASTS].count
                       ? run_bytes_of(run, &op->facts->kept[KEPT_CASTS])
                       : 0;
  run_change(run, PART_TEMPORARY, -kept);
  run_change(run, PART_TEMPORARY, cached);
  run->cached += cached; /* never more than the sum in memory */
}

static void pack_saved(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->facts->saved_count; i++)
    run_pack(run, run_root_of(
                      run, run->tape->saved.at[op->first_saved + (size_t)i]));
}

/* `own` is its work space, `kept` its bytes, now or until backward. */
static void note_forward(struct run *run, const struct tape_op *op, int64_t own,
                         int64_t kept, bool keeps) {
  struct op_level *level = &run->s->levels[op - run->tape->ops.at];
  *level =
      (struct op_level){.forward = own + (keeps ? 0 : kept),
                        .stays = run->now.parts[PART_GRADIENTS] + run->cached,
                        .kept = keeps ? kept : 0,
                        .back = -1,
                        .after = -1};
  if (keeps && op->facts->kept[KEPT_CASTS].count)
    level->cached = run_bytes_of(run, &op->facts->kept[KEPT_CASTS]);
  if (op->facts->quiet)
    level->forward = -1;
}

/* Allocates the outputs, which stay until the operation has ended; `held`: a
 * segment still has them. */
static void make_outputs(struct run *run, const struct tape_op *op, bool held) {
  for (int i = 0; i < op->facts->out_count; i++) {
    size_t out = op->first_out + (size_t)i, storage = run_storage_of(run, out);
    if (makes(run, op, out) && !held)
      run_allocate(run, storage);
    run_use_of(run, storage)->left += held ? 0 : 1; /* or the segment's */
  }
}

static void forward(struct run *run, const struct tape_op *op) {
  static const struct extent none = {0};
  bool held = run_holds(run, op), again = held && run->repeated;
  int64_t made = held && !op->facts->drops ? run_made_bytes(run, op) : 0;
  int64_t kept = run_kept_bytes(run, op) - made;
  int64_t stored = kept;
  int64_t work = run_work_bytes(run, op, again ? &none : &op->facts->work,
                                &op->facts->gathered);
  bool holds = run->keeps && !op->facts->drops && !run_moves(run);
  bool keeps = holds && !(run->until && loose_is(run, op));
  enum memory_part part = keeps ? PART_SAVED : PART_TEMPORARY;
  make_outputs(run, op, again);
  if (keeps && run->s->saved_bits) {
    stored = run_stored_bytes(run, op) - made;
    pack_saved(run, op);
    if (stored != kept && !add_i64(work, kept, &work))
      run->s->overflow = true;
  }
  run_change(run, part, stored);
  run_change(run, PART_SAVED, again ? 0 : made);
  run_change(run, PART_TEMPORARY, work);
  for (int i = 0; op->facts->ahead && i < op->facts->param_count; i++)
    run_add_param_gradient(
        run, run->tape->params.at[op->first_param + (size_t)i], false);
  if (run->s->levels)
    note_forward(run, op, work, stored, keeps);
  run_sample(run, op);
  run_change(run, PART_TEMPORARY, -work);
  if (!holds)
    drop_kept(run, op, kept);
  else if (!keeps)
    loose_begin(run, op, kept);
  for (int i = 0; i < op->facts->out_count; i++)
    run_release(run, run_storage_of(run, op->first_out + (size_t)i));
  for (int i = 0; i < op->facts->in_count; i++)
    run_release(run, run_storage_of(run, run_input_of(run, op, i)));
  run_replace(run, op);
  loose_end(run, op);
}

static void forward_all(struct run *run) {
  const struct simulation *s = run->s;
  size_t next = 0;
  leap_begin(run);
  for (size_t i = s->first; i < s->end && !s->overflow; i++) {
    if (i == run->leap_at)
      leap_pass(run);
    if (i == run->due)
      i = run_turn_ahead(run, i);
    if (run->leg < s->mark_count && s->marks[run->leg].op == i)
      pass_forward(run);
    const struct segment *segment = run_segment_at(run, &next, i);
    run->keeps = !segment;
    if (segment && segment->first == i && s->saved_bits)
      run_each_input(run, segment, run_pack);
    forward(run, &run->tape->ops.at[i]);
  }
  run_change(run, PART_TEMPORARY, -run->cached);
}

void run_segment_again(struct run *run, const struct segment *segment) {
  for (size_t i = segment->first; i < segment->end; i++) {
    run_count_reads(run, &run->tape->ops.at[i]);
    run_count_saves(run, &run->tape->ops.at[i]);
  }
  run->keeps = true;
  for (size_t i = segment->first; i < segment->end && !run->s->overflow; i++)
    forward(run, &run->tape->ops.at[i]);
}

static void add_saved(struct run *run, int64_t node, int64_t bytes) {
  struct simulation *s = run->s;
  if (!add_product_i64(bytes, leap_times(s->trace, node), &s->saved))
    s->overflow = true;
  else if (s->saved_by_node)
    s->saved_by_node[node] += bytes;
}

/* Sums up what is saved once forward has ended. */
static void find_saved(struct run *run) {
  const struct tape *tape = run->tape;
  size_t next = 0;
  for (size_t i = run->first_storage; i < run->end_storage; i++) {
    bool packable = run_packable(run, i);
    if (packable && run->s->packed)
      run->s->packed[i] = run_packed_bytes(run, tape_storage_extent(tape, i));
    if (!tape->storages.at[i].owned || !run_once(run, i)->saved)
      continue;
    int64_t bytes = packable && !run_once(run, i)->held
                        ? run_packed_bytes(run, tape_storage_extent(tape, i))
                        : run_storage_bytes(run, i);
    add_saved(run, tape->storages.at[i].node, bytes);
  }
  for (size_t i = run->s->first; i < run->s->end; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    bool segment = run_segment_at(run, &next, i);
    if (!op->facts->drops && !(run->until && loose_is(run, op)) &&
        (!segment || run_holds(run, op)))
      add_saved(run, op->node,
                segment ? run_made_bytes(run, op) : run_stored_bytes(run, op));
  }
  if (run->s->saved_by_node)
    leap_spread(run->s->trace, run->s->saved_by_node);
}

static void widen(struct run *run, size_t value) {
  size_t storage = run_storage_of(run, value);
  if (value < run->first_value)
    run->first_value = value;
  if (storage < run->first_storage)
    run->first_storage = storage;
}

/* Finds the storages and values that the operations of a part use. */
static void find_bounds(struct run *run) {
  const struct tape *tape = run->tape;
  const struct simulation *s = run->s;
  run->end_storage = tape->storages.count;
  run->end_value = tape->values.count;
  if (s->first == 0 && s->end == tape->ops.count)
    return;
  run->first_storage = run->end_storage;
  run->first_value = run->end_value;
  for (size_t i = s->first; i < s->end; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    for (int k = 0; k < op->facts->in_count; k++)
      widen(run, run_input_of(run, op, k));
    for (int k = 0; k < op->facts->out_count; k++)
      widen(run, op->first_out + (size_t)k);
  }
  if (s->end < tape->ops.count && s->end > s->first) {
    run->end_storage = tape->ops.at[s->end].first_storage;
    run->end_value = tape->ops.at[s->end].first_out;
  }
}

/* By parameter, the first operation that reads it, which is last in
 * backward. */
static void find_first_uses(struct run *run) {
  const struct tape *tape = run->tape;
  size_t count = run->s->model->params.count + 1;
  run->first_use = arena_alloc(run->s->arena, count, sizeof *run->first_use);
  for (size_t i = tape->ops.count; i-- > 0;) {
    const struct tape_op *op = &tape->ops.at[i];
    for (int k = 0; k < op->facts->param_count; k++)
      run->first_use[tape->params.at[op->first_param + (size_t)k]] = i;
    for (int k = 0; k < op->facts->in_count; k++) {
      const struct tape_value *in = &tape->values.at[tape_input(tape, op, k)];
      for (size_t n = 0; in->param && n < in->param_count; n++)
        run->first_use[in->param - 1 + n] = i;
    }
  }
}

static void begin(struct run *run) {
  const struct model *model = run->s->model;
  struct arena *arena = run->s->arena;
  find_bounds(run);
  size_t storages = run->end_storage - run->first_storage + 1;
  size_t values = run->end_value - run->first_value + 1;
  run->once = arena_alloc(arena, storages, sizeof *run->once);
  run->again = run->once;
  if (run->s->segment_count)
    run->again = arena_alloc(arena, storages, sizeof *run->again);
  run->bytes = arena_room(arena, run->tape->extents.count, sizeof *run->bytes);
  for (size_t i = 0; i < run->tape->extents.count; i++)
    run->bytes[i] = -1;
  run->gradient = arena_alloc(arena, values, sizeof *run->gradient);
  run->turned = arena_alloc(arena, values, sizeof *run->turned);
  run->has_gradient =
      arena_alloc(arena, model->params.count + 1, sizeof *run->has_gradient);
  run->gradient_views =
      arena_alloc(arena, model->params.count + 1, sizeof *run->gradient_views);
  run_count_uses(run);
  if (run->s->stepped)
    find_first_uses(run);
  for (size_t i = 0; i < model->params.count && run->s->gradients_before; i++) {
    const struct model_param *param = &model->params.at[i];
    if (!param->buffer && !param->fixed && param->same == i)
      run_add_param_gradient(run, i, false);
  }
}

/* Tensors from the device before are in memory until they have been used. */
static void receive_inputs(struct run *run) {
  const struct tape *tape = run->tape;
  size_t end = tape->ops.at[run->s->first].first_storage;
  for (size_t i = run->first_storage; i < end; i++)
    if (tape->storages.at[i].owned && run_once(run, i)->left > 0)
      run_allocate(run, i);
}

void simulate(struct simulation *s) {
  struct run run = {.s = s, .tape = &s->trace->tape, .until = s->trace->until};
  if (s->end == 0)
    s->end = run.tape->ops.count;
  bool to_the_end = s->end == run.tape->ops.count;
  begin(&run);
  if (run.tape->training && !s->peaks_only)
    find_saved(&run);
  if (s->saves_only)
    return;
  if (s->own_inputs && s->first < s->end)
    receive_inputs(&run);
  run_find_skips(&run);
  forward_all(&run);
  run.now.phase = PHASE_BACKWARD;
  for (size_t i = 0; i < s->trace->ends.count && to_the_end; i++)
    run_start_backward(&run, s->trace->ends.at[i]);
  if (!to_the_end && s->end > s->first) { /* a part: its result has one */
    size_t out = run.tape->ops.at[s->end - 1].first_out;
    *run_gradient_of(&run, out) =
        run_new_buffer(&run, NO_NODE, run_value_bytes(&run, out));
    *run_turned(&run, out) =
        run_lies_turned(&run, out) ? ROWS_OF_ONE : ROWS_TOGETHER;
  }
  if (s->levels)
    s->levels[run.tape->ops.count].rest = run_beside(&run);
  if (run.tape->training)
    run_backward(&run);
  if (s->lists)
    collect(&run);
}
