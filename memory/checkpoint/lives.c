/* Lives: the uses of each tensor in a step. */
#include "memory/checkpoint/lives.h"

static uint32_t storage_of(const struct lives *l, size_t value) {
  return lives_root(l, l->tape->values.at[value].storage);
}

static void find_makers(struct lives *l, const struct step *step) {
  const struct tape *tape = l->tape;
  bool overflow = false; /* would have ended the run */
  for (size_t i = 0; i < tape->storages.count; i++)
    l->life[i].made = l->life[i].saved = NO_OP;
  for (size_t i = 0; i < tape->ops.count; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    for (int k = 0; k < op->facts->out_count; k++) {
      uint32_t own = tape->values.at[op->first_out + (size_t)k].storage;
      struct life *life = &l->life[own];
      if (op->facts->result != RESULT_NEW || lives_root(l, own) != own)
        continue;
      life->made = (uint32_t)i;
      life->bytes =
          extent_bytes(tape_storage_extent(tape, own), step->settings.batch,
                       step->settings.dtype, tape->profile->block, &overflow);
    }
  }
}

static void find_held(struct lives *l, const struct step *step) {
  const struct trace *trace = &step->trace;
  size_t outputs = trace_outputs(step->model, true);
  for (size_t i = 0; i < outputs; i++)
    l->life[storage_of(l, trace->value_of[step->model->outputs.at[i].node])]
        .held = true;
  for (size_t i = 0; i < trace->ends.count; i++)
    l->life[storage_of(l, trace->ends.at[i])].held = true;
  for (size_t i = 0; i < l->tape->storages.count; i++)
    if (l->tape->storages.at[i].stays)
      l->life[i].held = l->life[i].stays = true;
}

/* From the last operation back, so that each use knows the next one. */
static void find_uses(struct lives *l, struct arena *arena) {
  const struct tape *tape = l->tape;
  size_t ops = tape->ops.count;
  VEC(struct use_of) uses = {0};
  uint32_t *next = arena_room(arena, tape->storages.count + 1, sizeof *next);
  memset(next, 0xff, (tape->storages.count + 1) * sizeof *next); /* NO_OP */
  l->first_use = arena_alloc(arena, ops + 1, sizeof *l->first_use);
  for (size_t i = ops; i-- > 0;) {
    const struct tape_op *op = &tape->ops.at[i];
    int inputs = op->facts->in_count;
    l->first_use[i + 1] = (uint32_t)uses.count;
    for (int k = 0; k < inputs + op->facts->out_count; k++) {
      size_t value = k < inputs ? tape_input(tape, op, k)
                                : op->first_out + (size_t)(k - inputs);
      uint32_t storage = storage_of(l, value);
      if (l->life[storage].made == NO_OP || next[storage] == i)
        continue;
      *VEC_PUSH(arena, &uses) = (struct use_of){storage, next[storage]};
      next[storage] = (uint32_t)i;
    }
  }
  l->first_use[0] = (uint32_t)uses.count;
  l->uses = uses.at;
}

static void find_saves(struct lives *l, struct arena *arena) {
  const struct tape *tape = l->tape;
  VEC(uint32_t) saves = {0};
  l->first_save =
      arena_alloc(arena, tape->ops.count + 1, sizeof *l->first_save);
  for (size_t i = 0; i < tape->ops.count; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    for (int k = 0; k < op->facts->saved_count; k++) {
      uint32_t storage =
          lives_root(l, tape->saved.at[op->first_saved + (size_t)k]);
      if (l->life[storage].made == NO_OP || l->life[storage].saved != NO_OP)
        continue;
      l->life[storage].saved = (uint32_t)i;
      *VEC_PUSH(arena, &saves) = storage;
    }
    l->first_save[i + 1] = (uint32_t)saves.count;
  }
  l->saves = saves.at;
}

/* Lists the uses after which a checkpoint may free its tensor. */
static void find_ends(struct lives *l, struct arena *arena) {
  size_t ops = l->tape->ops.count;
  uint32_t count = 0;
  l->ends = arena_room(arena, l->first_use[0] + 1, sizeof *l->ends);
  l->first_end = arena_alloc(arena, ops + 1, sizeof *l->first_end);
  l->made = arena_alloc(arena, ops + 1, sizeof *l->made);
  for (size_t i = 0; i < ops; i++) {
    for (uint32_t k = l->first_use[i + 1]; k < l->first_use[i]; k++) {
      const struct use_of *use = &l->uses[k];
      const struct life *life = &l->life[use->storage];
      bool makes = life->made == i;
      uint32_t idle = use->next < life->saved ? use->next : life->saved;
      struct read_end end = {life->made, idle, life->bytes};
      l->made[i] += makes ? life->bytes : 0;
      if (life->stays) /* replaces the earlier one */
        end = (struct read_end){NO_OP, makes ? NO_OP : 0, life->bytes};
      if (end.idle > i)
        l->ends[count++] = end;
    }
    l->first_end[i + 1] = count;
  }
}

/* An output that is also saved is in memory during all of backward. */
static void add_held(const struct lives *l, struct op_level *levels,
                     bool packs) {
  int64_t bytes = 0;
  for (size_t i = 0; i < l->tape->storages.count; i++)
    if (l->life[i].held && l->life[i].saved != NO_OP &&
        !(packs && l->life[i].packs))
      bytes += l->life[i].bytes; /* at most the peak */
  for (size_t i = 0; i <= l->tape->ops.count; i++) {
    levels[i].rest += bytes;
    levels[i].back += levels[i].back >= 0 ? bytes : 0;
    levels[i].after += levels[i].after >= 0 ? bytes : 0;
  }
}

static struct op_level *run_levels(const struct step *step, int64_t *packed,
                                   struct training *training,
                                   struct arena *arena) {
  struct simulation s = {.packed = packed};
  s.levels =
      arena_alloc(arena, step->trace.tape.ops.count + 1, sizeof *s.levels);
  return step_measure(step, arena, &s, training) ? s.levels : NULL;
}

/* A checkpoint that is recomputed saves tensors in their own type. */
static struct op_level *
run_again(const struct lives *l, const struct step *step, struct arena *arena) {
  struct training training;
  struct step plain = *step;
  if (!step->settings.saved_dtype)
    return l->levels;
  plain.settings.saved_dtype = 0;
  return run_levels(&plain, NULL, &training, arena);
}

bool lives_open(struct lives *l, const struct step *step,
                struct training *training, struct arena *arena) {
  const struct tape *tape = &step->trace.tape;
  size_t storages = tape->storages.count + 1;
  int64_t *packed = arena_alloc(arena, storages, sizeof *packed);
  *l = (struct lives){.tape = tape, .single = step->settings.batch == 1};
  l->life = arena_alloc(arena, storages, sizeof *l->life);
  l->levels = run_levels(step, packed, training, arena);
  l->again = l->levels ? run_again(l, step, arena) : NULL;
  if (!l->again)
    return false;
  find_makers(l, step);
  for (size_t i = 0; i < tape->storages.count; i++) {
    l->life[i].stored = packed[i] ? packed[i] : l->life[i].bytes;
    l->life[i].packs = packed[i] > 0;
  }
  find_held(l, step);
  find_uses(l, arena);
  find_saves(l, arena);
  find_ends(l, arena);
  add_held(l, l->levels, true);
  if (l->again != l->levels)
    add_held(l, l->again, false);
  return true;
}
