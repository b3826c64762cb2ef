/* Spans: memory of parts of a net in a step. */
#include "memory/checkpoint/spans.h"

#include "base/check.h"

/* Crossing tensors */

/* Finds or adds a crossing tensor; equal uses share one entry. */
static size_t find_crossing(struct spans *s,
                            const struct span_crossing *wanted) {
  for (size_t i = s->crossings.count; i-- > 0;) {
    const struct span_crossing *known = &s->crossings.at[i];
    if (known->made == wanted->made && known->uses == wanted->uses &&
        known->keeps == wanted->keeps && known->packs == wanted->packs)
      return i;
  }
  *VEC_PUSH(s->arena, &s->crossings) = *wanted;
  return s->crossings.count - 1;
}

/* By storage: units that use it, units that save it, and its maker. */
struct used {
  uint64_t uses, keeps;
  size_t made;
  size_t crossing; /* from 1; 0: used in one unit only, or an output */
};

static void see_unit(const struct spans *s, size_t unit, struct used *used) {
  const struct lives *l = &s->lives;
  for (size_t i = s->op[unit]; i < s->op[unit + 1]; i++) {
    const struct tape_op *op = &l->tape->ops.at[i];
    for (uint32_t k = l->first_use[i + 1]; k < l->first_use[i]; k++) {
      struct used *of = &used[l->uses[k].storage];
      of->uses |= span_bits(unit, unit + 1);
      if (l->life[l->uses[k].storage].made == i)
        of->made = unit;
    }
    for (int k = 0; k < op->facts->saved_count; k++) {
      struct used *of =
          &used[lives_root(l, l->tape->saved.at[op->first_saved + (size_t)k])];
      of->uses |= span_bits(unit, unit + 1);
      of->keeps |= span_bits(unit, unit + 1);
    }
  }
}

static struct used *find_used(struct spans *s, struct arena *arena) {
  const struct lives *l = &s->lives;
  size_t storages = l->tape->storages.count;
  struct used *used = arena_alloc(arena, storages + 1, sizeof *used);
  for (size_t unit = 0; unit <= s->units; unit++)
    see_unit(s, unit, used);
  for (size_t i = 0; i < storages; i++) {
    const struct life *life = &l->life[i];
    struct span_crossing as = {.made = used[i].made,
                               .uses = used[i].uses,
                               .keeps = used[i].keeps,
                               .packs = life->packs};
    if (life->made == NO_OP || (life->held && !life->packs) ||
        !(as.uses >> as.made >> 1))
      continue;
    size_t at = find_crossing(s, &as);
    s->crossings.at[at].bytes += life->held ? 0 : life->bytes;
    s->crossings.at[at].stored += life->stored;
    used[i].crossing = at + 1;
  }
  return used;
}

/* Packed copies are other tensors: the originals are read until forward no
 * longer needs them. */
static int64_t packing_over(const struct spans *s, size_t cut) {
  int64_t bytes = 0;
  for (size_t i = 0; i < s->crossings.count; i++)
    if (s->crossings.at[i].packs && leads_over(&s->crossings.at[i], cut))
      bytes += s->crossings.at[i].bytes;
  return bytes;
}

static void number_crossings(struct spans *s) {
  size_t row = s->units + 2;
  s->bits =
      arena_alloc(s->arena, (s->crossings.count + 1) * row, sizeof *s->bits);
  for (size_t cut = 0; cut < row; cut++)
    for (size_t i = 0, next = 0; i < s->crossings.count; i++)
      if (leads_over(&s->crossings.at[i], cut) && next < MOST_CROSSING)
        s->bits[i * row + cut] = (uint64_t)1 << next++;
}

static void list_crossings(struct spans *s) {
  VEC(uint32_t) over = {0};
  s->first_over = arena_alloc(s->arena, s->units + 2, sizeof *s->first_over);
  for (size_t cut = 0; cut <= s->units; cut++) {
    for (size_t i = 0; i < s->crossings.count; i++)
      if (leads_over(&s->crossings.at[i], cut + 1) ||
          leads_over(&s->crossings.at[i], cut))
        *VEC_PUSH(s->arena, &over) = (uint32_t)i;
    s->first_over[cut + 1] = over.count;
  }
  s->over = over.at;
}

/* Units without recomputation */

/* A sweep over the operations of a unit. */
struct sweep {
  struct spans *s;
  const struct used *used;
  size_t unit, first, end;
  uint32_t *keeper; /* by storage: scratch, one operation of the unit */
  int64_t alive;    /* of tensors made in the unit, and others counted there */
  int64_t most;
};

static void end_turn(struct sweep *w, uint32_t storage, int64_t goes) {
  size_t crossing = w->used[storage].crossing - 1;
  *VEC_PUSH(w->s->arena, &w->s->turns) = (struct turn){w->most, crossing, goes};
  w->most = -1;
}

static void last_turn(struct sweep *w) {
  *VEC_PUSH(w->s->arena, &w->s->turns) = (struct turn){w->most, SIZE_MAX, 0};
}

/* Bytes made from `first` on that operation i is the first to save. */
static int64_t kept_bytes(const struct lives *l, size_t i, size_t first,
                          bool packed_only) {
  int64_t bytes = 0;
  for (uint32_t k = l->first_save[i]; k < l->first_save[i + 1]; k++) {
    const struct life *life = &l->life[l->saves[k]];
    if (life->made >= first && (life->packs || !(packed_only || life->held)))
      bytes += life->stored;
  }
  return bytes;
}

/* The storage of saved tensor `k` of operation i; views share one. */
static uint32_t kept_by(const struct lives *l, size_t i, int k) {
  const struct tape_op *op = &l->tape->ops.at[i];
  return lives_root(l, l->tape->saved.at[op->first_saved + (size_t)k]);
}

/* Adds packed copies, from operation i on, of tensors made before the unit. */
static void begin_packed(struct sweep *w, size_t i) {
  const struct lives *l = &w->s->lives;
  for (int k = 0; k < l->tape->ops.at[i].facts->saved_count; k++) {
    uint32_t storage = kept_by(l, i, k);
    const struct life *life = &l->life[storage];
    if (!life->packs || life->made >= w->first || w->keeper[storage] > w->first)
      continue;
    w->keeper[storage] = (uint32_t)i + 1;
    end_turn(w, storage, -life->stored);
  }
}

/* Frees tensors whose last reader is operation i. */
static void end_read(struct sweep *w, size_t i) {
  const struct lives *l = &w->s->lives;
  for (uint32_t k = l->first_use[i + 1]; k < l->first_use[i]; k++) {
    uint32_t storage = l->uses[k].storage;
    const struct life *life = &l->life[storage];
    bool kept = w->used[storage].keeps & span_bits(w->unit, w->unit + 1);
    if (l->uses[k].next != NO_OP || life->held || (kept && !life->packs))
      continue;
    if (life->made >= w->first || life->packs)
      w->alive -= life->bytes;
    else
      end_turn(w, storage, life->bytes);
  }
}

/* The first run of a unit that saves tensors for its backward. */
static void run_forward(struct sweep *w) {
  const struct lives *l = &w->s->lives;
  w->most = -1;
  w->alive = packing_over(w->s, w->unit);
  for (size_t i = w->first; i < w->end; i++) {
    begin_packed(w, i);
    w->alive +=
        l->made[i] + l->levels[i].kept + kept_bytes(l, i, w->first, true);
    if (l->levels[i].forward >= 0)
      w->most = max_i64(w->most,
                        w->alive + l->levels[i].forward + l->levels[i].stays);
    end_read(w, i);
  }
  last_turn(w);
}

/* Frees tensors from before the unit that operation i alone still keeps. */
static void end_kept(struct sweep *w, size_t i) {
  const struct lives *l = &w->s->lives;
  for (int k = 0; k < l->tape->ops.at[i].facts->saved_count; k++) {
    uint32_t storage = kept_by(l, i, k);
    if (!w->used[storage].crossing || l->life[storage].made >= w->first ||
        w->keeper[storage] != i)
      continue;
    w->keeper[storage] = NO_OP; /* an operation may save it twice */
    end_turn(w, storage, l->life[storage].stored);
  }
}

static void run_backward_of(struct sweep *w) {
  const struct lives *l = &w->s->lives;
  w->most = -1;
  w->alive = 0;
  for (size_t i = w->end; i-- > w->first;) {
    for (int k = 0; k < l->tape->ops.at[i].facts->saved_count; k++)
      w->keeper[kept_by(l, i, k)] = (uint32_t)i;
    w->alive += kept_bytes(l, i, w->first, false) + l->levels[i].kept;
  }
  w->s->alone[w->unit].holds = w->alive;
  for (size_t i = w->end; i-- > w->first;) {
    if (l->levels[i].back >= 0)
      w->most = max_i64(w->most, w->alive + l->levels[i].back);
    w->alive -= kept_bytes(l, i, w->first, false) + l->levels[i].kept;
    end_kept(w, i);
    if (l->levels[i].after >= 0)
      w->most = max_i64(w->most, w->alive + l->levels[i].after);
  }
  last_turn(w);
}

static void measure_units(struct spans *s, const struct used *used,
                          struct arena *arena) {
  size_t storages = s->lives.tape->storages.count;
  struct sweep w = {.s = s, .used = used};
  w.keeper = arena_alloc(arena, storages + 1, sizeof *w.keeper);
  s->alone = arena_alloc(s->arena, s->units + 1, sizeof *s->alone);
  for (; w.unit <= s->units; w.unit++) {
    w.first = s->op[w.unit];
    w.end = s->op[w.unit + 1];
    s->alone[w.unit].forward = s->turns.count;
    run_forward(&w);
    s->alone[w.unit].backward = s->turns.count;
    run_backward_of(&w);
  }
}

/* Spans with recomputation */

/* Peaks of forward without saving, for units [from, each end). */
static void first_forward(struct spans *s, size_t from) {
  const struct lives *l = &s->lives;
  size_t first = s->op[from];
  int64_t alive = packing_over(s, from), most = 0, cached = 0;
  for (size_t unit = from; unit < s->units; unit++) {
    for (size_t i = s->op[unit]; i < s->op[unit + 1]; i++) {
      const struct op_level *level = &l->again[i];
      alive += l->made[i];
      if (level->forward >= 0)
        most = max_i64(most, alive + cached + level->forward + level->stays +
                                 level->kept);
      cached += level->cached;
      for (uint32_t k = l->first_use[i + 1]; k < l->first_use[i]; k++) {
        const struct life *life = &l->life[l->uses[k].storage];
        if (l->uses[k].next == NO_OP && !life->held &&
            (life->made >= first || life->packs))
          alive -= life->bytes;
      }
    }
    span_at(s, from, unit + 1)->forward = most;
    span_at(s, from, unit + 1)->cached = cached;
  }
}

/* Peaks of backward, from the last unit of [from, each end) on. */
static void its_backward(struct spans *s, size_t from) {
  const struct lives *l = &s->lives;
  size_t first = s->op[from];
  int64_t alive = 0, most = 0;
  for (size_t unit = from; unit < s->units; unit++) {
    for (size_t i = s->op[unit]; i < s->op[unit + 1]; i++) {
      const struct op_level *level = &l->again[i];
      if (level->after >= 0)
        most = max_i64(most, alive + level->after);
      alive += level->kept;
      for (uint32_t k = l->first_save[i]; k < l->first_save[i + 1]; k++)
        if (l->life[l->saves[k]].made >= first && !l->life[l->saves[k]].stays)
          alive += l->life[l->saves[k]].bytes;
      if (level->back >= 0)
        most = max_i64(most, alive + level->back);
    }
    span_at(s, from, unit + 1)->backward = most;
  }
}

/* Peak of the recomputed forward, with no readers after `end`. */
static int64_t most_again(const struct lives *l, size_t first, size_t end) {
  int64_t alive = 0, most = 0;
  for (size_t i = first; i < end; i++) {
    const struct op_level *level = &l->again[i];
    alive += l->made[i] + level->kept;
    if (level->forward >= 0)
      most = max_i64(most, alive + level->forward);
    for (uint32_t k = l->first_end[i]; k < l->first_end[i + 1]; k++)
      if (l->ends[k].idle >= end && l->ends[k].made >= first)
        alive -= l->ends[k].bytes;
  }
  return most;
}

static void measure_spans(struct spans *s) {
  const struct lives *l = &s->lives;
  s->costs =
      arena_alloc(s->arena, (s->units + 1) * (s->units + 1), sizeof *s->costs);
  for (size_t from = 0; from < s->units; from++) {
    first_forward(s, from);
    its_backward(s, from);
    int64_t macs = 0;
    bool learns = false;
    for (size_t to = from + 1; to <= s->units; to++) {
      struct span_cost *cost = span_at(s, from, to);
      for (int64_t i = s->cut[to - 1]; i < s->cut[to]; i++)
        macs += model_cost(s->step->model, i)->train_macs;
      for (size_t i = s->op[to - 1]; i < s->op[to] && !learns; i++)
        learns =
            l->tape->values.at[l->tape->ops.at[i].first_out].needs_gradient;
      cost->macs = learns ? macs : -1;
      int64_t most = most_again(l, s->op[from], s->op[to]);
      cost->backward =
          max_i64(cost->backward, most + l->levels[s->op[to]].rest);
    }
  }
}

/* Opening */

static void find_units(struct spans *s) {
  const struct step *step = s->step;
  struct cuts cuts = {0};
  cuts_for_segments(step, cuts_most(step, MOST_UNITS), s->arena, &cuts);
  s->units = cuts.at.count + 1;
  s->cut = arena_alloc(s->arena, s->units + 1, sizeof *s->cut);
  s->op = arena_alloc(s->arena, s->units + 2, sizeof *s->op);
  for (size_t i = 0; i < cuts.at.count; i++)
    s->cut[i + 1] = cuts.at.at[i];
  s->cut[s->units] = (int64_t)step->model->nodes.count;
}

static void find_ops(struct spans *s) {
  for (size_t i = 1; i <= s->units; i++)
    s->op[i] = s->step->trace.op_end[s->cut[i] - 1];
  s->op[s->units + 1] = s->step->trace.tape.ops.count;
}

/* True if a unit overwrites a tensor of another unit. */
static bool writes_over_cuts(const struct spans *s) {
  const struct lives *l = &s->lives;
  for (size_t unit = 0; unit < s->units; unit++)
    for (size_t i = s->op[unit]; i < s->op[unit + 1]; i++) {
      const struct tape_op *op = &l->tape->ops.at[i];
      uint32_t made = l->tape->values.at[op->first_out].storage;
      if (op->facts->result == RESULT_IN_PLACE &&
          l->life[made].made < s->op[unit])
        return true;
    }
  return false;
}

/*
 * Prevents overwriting across the ends of a checkpoint, at every cut. This
 * overestimates only at cuts where no checkpoint ends.
 */
static void fence(struct spans *s) {
  struct training training;
  struct step *fenced = ARENA_NEW(s->arena, struct step);
  fenced->model = s->step->model;
  fenced->settings = s->step->settings;
  for (size_t i = 0; i < s->units; i++)
    *VEC_PUSH(s->arena, &fenced->ranges) =
        (struct node_range){s->cut[i], s->cut[i + 1]};
  step_trace(fenced, s->arena);
  fenced->segments.count = 0;
  s->step = fenced;
  s->fenced = true;
  lives_open(&s->lives, fenced, &training, s->arena); /* it succeeded before */
  find_ops(s);
}

static void find_outputs(struct spans *s) {
  const struct lives *l = &s->lives;
  s->outputs = arena_alloc(s->arena, s->units + 2, sizeof *s->outputs);
  for (size_t i = 0; i < l->tape->storages.count; i++)
    for (size_t unit = 0; unit <= s->units && l->life[i].held; unit++)
      if (l->life[i].made < s->op[unit])
        s->outputs[unit] += l->life[i].bytes;
}

bool spans_measure(struct spans *s) {
  return lives_open(&s->lives, s->step, &s->training, s->arena);
}

void spans_open(struct spans *s) {
  struct arena scratch;
  find_units(s);
  find_ops(s);
  if (writes_over_cuts(s))
    fence(s);
  if (s->step->trace.until) /* tensors before a detach may be freed earlier */
    s->fenced = true;
  find_outputs(s);
  arena_open_in(&scratch, s->arena);
  const struct used *used = find_used(s, &scratch);
  number_crossings(s);
  list_crossings(s);
  measure_units(s, used, &scratch);
  arena_close(&scratch);
  measure_spans(s);
}
