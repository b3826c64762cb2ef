/* Parallel: memory of each of several devices that train a net. */
#include "memory/devices/parallel.h"

#include "base/check.h"
#include "memory/devices/cut.h"
#include "memory/devices/stage.h"
#include "memory/devices/touched.h"

struct stage stage_of_step(const struct training *step) {
  return (struct stage){.parameters = step->parameters,
                        .gradients = step->gradients,
                        .optimizer = step->optimizer,
                        .buffers = step->buffers,
                        .input = step->input,
                        .master = step->master,
                        .averaged = step->averaged,
                        .paged = step->paged,
                        .activations = step->saved,
                        .workspace = step->workspace,
                        .clip = step->clip.bytes,
                        .rounding = step->rounding,
                        .peak = step->peak};
}

struct stage stage_of_net(const struct step *step,
                          const struct training *training,
                          struct arena *arena) {
  struct stage stage = stage_of_step(training);
  struct segment all = {0, step->trace.tape.ops.count};
  stage.parts = arena_alloc(arena, 1, sizeof *stage.parts);
  stage.part_count = 1;
  stage.parts[0].end = (int64_t)step->model->nodes.count;
  stage.touched = touched_bytes(&step->trace, step, all, step->settings.batch);
  return stage;
}

bool parallel_wanted(const struct train_settings *train) {
  return train->data_parallel > 1 || train->tensor_parallel > 1 ||
         train->pipeline > 1 || train->zero > 0 ||
         train->context_parallel > 1 || train->expert_parallel > 1 ||
         train->offload;
}

/* Sums the memory that persists, of the passes, and of the optimizer step. */
static void find_peak(struct search *s, struct stage *stage) {
  int64_t standing =
      stage_sum(s, stage_sum(s, stage->parameters, stage->gradients),
                stage_sum(s, stage->averaged,
                          stage_sum(s, stage->buffers, stage->input)));
  int64_t state = stage_sum(s, stage->optimizer, stage->master);
  stage->paged = s->train->paged == TOGGLE_ON ? state : 0;
  standing = stage_sum(s, stage_sum(s, standing, stage->buckets),
                       state - stage->paged);
  int64_t alive = stage_sum(s, stage_sum(s, stage->gathered, stage->deferred),
                            stage_sum(s, stage->activations, stage->temporary));
  int64_t work = max_i64(max_i64(stage->workspace, stage->clip),
                         stage_flat_copies(s, stage));
  int64_t step = stage_sum(s, work, stage->paged);
  stage->steps = step > alive;
  if (stage->steps) { /* the step runs after the passes */
    stage->activations = stage->gathered = stage->deferred = 0;
    stage->temporary = work;
    alive = step;
  }
  stage->peak = stage_sum(s, standing, alive);
}

/* Earlier microbatches keep their activations until backward. */
static void multiply(struct search *s, struct stage *stage, int64_t waiting) {
  stage->in_flight = waiting;
  stage->activations = stage_product(s, stage->activations, waiting);
  if (!offloads(s->train, OFFLOAD_ACTIVATIONS))
    return;
  stage->host = stage_sum(s, stage->host, stage->activations);
  stage->activations = 0;
}

/* Measures a span of units, once for all equal spans. */
static struct stage known_stage(struct search *s, size_t from, size_t to) {
  uint64_t key = alike_span(&s->alike, from, to);
  struct node_range nodes = {s->cut[from], s->cut[to]};
  size_t at = (size_t)(key % s->known_room);
  while (s->known[at].units &&
         (s->known[at].key != key || s->known[at].units != to - from))
    at = (at + 1) % s->known_room;
  struct known *known = &s->known[at];
  if (!known->units)
    *known = (struct known){key, to - from, stage_measure(s, from, to)};
  struct stage stage = known->stage;
  stage.nodes = nodes;
  return stage;
}

/* Units [from, to) as stage `index` of `stages`. */
static struct stage measure(struct search *s, size_t from, size_t to,
                            size_t index, size_t stages) {
  struct node_range nodes = {s->cut[from], s->cut[to]};
  struct stage stage = known_stage(s, from, to);
  bool apart = s->parts == s->stages; /* else parts are cut equally */
  int64_t late = apart ? flight_late(s->train, (int64_t)index, (int64_t)stages,
                                     s->microbatches)
                       : 0;
  multiply(s, &stage,
           apart ? flight_kept(s->train, (int64_t)index, (int64_t)stages,
                               s->microbatches)
                 : 1);
  if (late > 0)
    stage.deferred = stage_product(s, stage_weight_bytes(s, nodes), late);
  find_peak(s, &stage);
  return stage;
}

/* The peak of the most loaded stage if all have the same number of units. */
static int64_t even_peak(struct search *s, size_t stages) {
  int64_t most = 0;
  for (size_t p = 0; p < stages; p++)
    most = max_i64(most, measure(s, s->units * p / stages,
                                 s->units * (p + 1) / stages, p, stages)
                             .peak);
  return most;
}

/* A state of the search: from one stage and one unit on to the end. */
struct cut {
  int64_t least; /* bytes of the most loaded stage; INT64_MAX: too many */
  size_t next;   /* unit where the next stage begins */
};

/* True if a cut splits a checkpoint. A longer stage may then need less: it
 * keeps its part of a split checkpoint, but nothing of a complete one. */
static bool cuts_checkpoint(const struct search *s, size_t unit) {
  const struct node_range *ranges = s->step->ranges.at;
  for (size_t i = 0; i < s->step->ranges.count; i++)
    if (ranges[i].first < s->cut[unit] && s->cut[unit] < ranges[i].end)
      return true;
  return false;
}

/* The best end of stage `p` from unit `u` on; none if it exceeds `most`. */
static struct cut best_cut(struct search *s, const struct cut *rest, size_t p,
                           size_t u, size_t stages, int64_t most) {
  struct cut best = {INT64_MAX, 0};
  for (size_t to = u + 1; to <= s->units; to++) {
    if (rest[to].least == INT64_MAX)
      continue;
    int64_t peak = measure(s, u, to, p, stages).peak;
    int64_t both = max_i64(peak, rest[to].least);
    if (both < best.least && both <= most)
      best = (struct cut){both, to};
    if ((peak >= best.least || peak > most) && !cuts_checkpoint(s, to))
      break; /* longer ones do not need less */
  }
  return best;
}

/*
 * Dynamic programming over the starts of stages, from the last one. Skips cuts
 * that are worse than equal numbers of units.
 */
static void cut_stages(struct search *s, size_t stages, size_t *begins) {
  size_t row = s->units + 1, at = 0;
  struct cut *cuts = arena_alloc(s->arena, (stages + 1) * row, sizeof *cuts);
  int64_t most = even_peak(s, stages);
  for (size_t i = 0; i < (stages + 1) * row; i++)
    cuts[i].least = INT64_MAX;
  cuts[stages * row + s->units].least = 0;
  for (size_t p = stages; p-- > 0;) {
    progress_tell(s->step->model->progress, "cutting the pipeline",
                  (int64_t)(stages - p - 1), (int64_t)stages);
    size_t last = p ? s->units - (stages - p) : 0;
    for (size_t u = last + 1; u-- > p;) {
      cuts[p * row + u] = best_cut(s, &cuts[(p + 1) * row], p, u, stages, most);
      if (p + 1 == stages && cuts[p * row + u].least == INT64_MAX &&
          !cuts_checkpoint(s, u))
        break; /* earlier starts are too large, too */
    }
  }
  /*
   * A longer stage may need less if it contains all of a checkpoint that a
   * shorter one cuts: then the search may find no cut, not even the even one.
   */
  bool found = cuts[0].least < INT64_MAX;
  for (size_t p = 0; p < stages; p++) {
    begins[p] = found ? at : s->units * p / stages;
    at = cuts[p * row + at].next;
  }
  begins[stages] = s->units;
}

/* Several parts per device */

/* Adds a part to a device; gathered and temporary tensors are not added up. */
static void add_part(struct search *s, struct stage *to,
                     const struct stage *part) {
  int64_t *sums[] = {&to->parameters, &to->gradients, &to->optimizer,
                     &to->buffers,    &to->input,     &to->master,
                     &to->averaged,   &to->buckets,   &to->activations,
                     &to->workspace,  &to->host,      &to->in_flight,
                     &to->values,     &to->trained,   &to->clip,
                     &to->deferred,   &to->flat,      &to->flat_part};
  const int64_t added[] = {part->parameters, part->gradients, part->optimizer,
                           part->buffers,    part->input,     part->master,
                           part->averaged,   part->buckets,   part->activations,
                           part->workspace,  part->host,      part->in_flight,
                           part->values,     part->trained,   part->clip,
                           part->deferred,   part->flat,      part->flat_part};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    *sums[i] = stage_sum(s, *sums[i], added[i]);
  int64_t units =
      max_i64(to->gathered - to->whole, part->gathered - part->whole);
  to->whole = stage_sum(s, to->whole, part->whole);
  to->gathered = stage_sum(s, units, to->whole);
  to->temporary = max_i64(to->temporary, part->temporary);
}

/* Index of part `k` of device `index` among all parts. */
static size_t part_at(const struct search *s, size_t index, size_t k) {
  if (s->train->schedule == PIPELINE_ZB_V && k)
    return s->parts - 1 - index;
  return index + k * s->stages;
}

/* Measures all parts of device `index`. */
static struct stage measure_parts(struct search *s, const size_t *begins,
                                  size_t index) {
  size_t count = s->parts / s->stages;
  bool puts_off = s->train->schedule == PIPELINE_ZB_V;
  struct stage stage = {.part_count = count};
  for (size_t k = 0; k < count; k++) {
    size_t at = part_at(s, index, k);
    s->of_device[k] = known_stage(s, begins[at], begins[at + 1]);
    s->turns[k] = (struct in_turn){.bytes = s->of_device[k].activations};
    if (puts_off)
      s->turns[k].late_bytes = stage_weight_bytes(s, s->of_device[k].nodes);
  }
  flight_turns(s->train, (int64_t)s->stages, (int64_t)index, s->microbatches,
               s->turns, (int64_t)count);
  for (size_t k = 0; k < count; k++) {
    struct stage *part = &s->of_device[k];
    multiply(s, part, s->turns[k].kept);
    part->deferred = stage_product(s, s->turns[k].late_bytes, s->turns[k].late);
    add_part(s, &stage, part);
  }
  stage.nodes = s->of_device[0].nodes;
  find_peak(s, &stage);
  return stage;
}

/* The devices' peaks while units move between parts. */
struct leveling {
  struct search *s;
  size_t *begins;
  int64_t *peaks;  /* by device */
  int64_t efforts; /* measurements of devices left */
};

/* Moves units from one part to another; the parts between them shift. */
struct move {
  size_t from, to, units;
};

static void move_units(size_t *begins, struct move m, bool back) {
  size_t low = m.from < m.to ? m.from : m.to;
  size_t high = m.from < m.to ? m.to : m.from;
  bool down = (m.from < m.to) != back;
  for (size_t i = low + 1; i <= high; i++)
    begins[i] += down ? 0 - m.units : m.units;
}

static bool has_part(const struct search *s, size_t device, size_t low,
                     size_t high) {
  for (size_t k = 0; k < s->parts / s->stages; k++) {
    size_t at = part_at(s, device, k);
    if (at >= low && at <= high)
      return true;
  }
  return false;
}

/* The peak after a move of devices with a part that changes; at least `most` if
 * it is no better. */
static int64_t after_move(struct leveling *l, struct move m, int64_t most) {
  struct search *s = l->s;
  size_t low = m.from < m.to ? m.from : m.to;
  size_t high = m.from < m.to ? m.to : m.from;
  int64_t peak = 0;
  move_units(l->begins, m, false);
  for (size_t d = 0; d < s->stages && peak < most; d++)
    if (has_part(s, d, low, high)) {
      peak = max_i64(peak, measure_parts(s, l->begins, d).peak);
      l->efforts--;
    }
  move_units(l->begins, m, true);
  return peak;
}

/* Finds the best move of units from part `from`, if it is below *least. */
static void try_part(struct leveling *l, size_t from, struct move *best,
                     int64_t *least) {
  enum { MOST_UNITS_MOVED = 4 };
  size_t has = l->begins[from + 1] - l->begins[from];
  for (size_t units = 1; units < has && units <= MOST_UNITS_MOVED; units++)
    for (size_t to = 0; to < l->s->parts && l->efforts > 0; to++) {
      struct move m = {from, to, units};
      int64_t peak = from == to ? INT64_MAX : after_move(l, m, *least);
      if (peak >= *least)
        continue;
      *least = peak;
      *best = m;
    }
}

/* Takes units from the most loaded device; false: nothing helps. */
static bool move_best(struct leveling *l) {
  struct search *s = l->s;
  struct move best = {0};
  size_t worst = 0;
  for (size_t d = 1; d < s->stages; d++)
    if (l->peaks[d] > l->peaks[worst])
      worst = d;
  int64_t least = l->peaks[worst];
  for (size_t k = 0; k < s->parts / s->stages; k++)
    try_part(l, part_at(s, worst, k), &best, &least);
  if (!best.units)
    return false;
  move_units(l->begins, best, false);
  for (size_t d = 0; d < s->stages; d++)
    l->peaks[d] = measure_parts(s, l->begins, d).peak;
  return true;
}

/*
 * Parts were cut to minimize the largest part, but the sum per device counts.
 * Moves a few units at a time off the most loaded device while that helps.
 */
static void level_devices(struct search *s, size_t *begins) {
  enum { MOST_EFFORTS = 100000 };
  struct leveling l = {.s = s, .begins = begins, .efforts = MOST_EFFORTS};
  l.peaks = arena_alloc(s->arena, s->stages, sizeof *l.peaks);
  for (size_t d = 0; d < s->stages; d++)
    l.peaks[d] = measure_parts(s, begins, d).peak;
  while (l.efforts > 0 && move_best(&l))
    continue;
}

/* Finds where each part begins, and where the last one ends. */
static void find_begins(struct search *s, size_t *begins) {
  size_t count = s->parts / s->stages;
  s->of_device = arena_alloc(s->arena, count, sizeof *s->of_device);
  s->turns = arena_alloc(s->arena, count, sizeof *s->turns);
  if (s->train->cut != CUT_MEMORY) { /* units are the parts */
    for (size_t p = 0; p <= s->parts; p++)
      begins[p] = s->units * p / s->parts;
    return;
  }
  cut_stages(s, s->parts, begins);
  if (s->parts > s->stages)
    level_devices(s, begins);
}

static struct stage measure_stage(struct search *s, const size_t *begins,
                                  size_t index, size_t stages,
                                  struct arena *lasting) {
  struct stage stage =
      s->parts > stages
          ? measure_parts(s, begins, index)
          : measure(s, begins[index], begins[index + 1], index, stages);
  stage.part_count = s->parts / stages;
  stage.parts = arena_alloc(lasting, stage.part_count, sizeof *stage.parts);
  for (size_t k = 0; k < stage.part_count; k++) {
    size_t at = part_at(s, index, k);
    stage.parts[k] =
        (struct node_range){s->cut[begins[at]], s->cut[begins[at + 1]]};
  }
  return stage;
}

/* All together */

/* Host memory: every device of a host counts as the most loaded stage. */
static void find_host(struct search *s, struct parallel *parallel) {
  int64_t most = 0;
  for (size_t p = 0; p < parallel->stages.count; p++)
    most = max_i64(most, parallel->stages.at[p].host);
  parallel->host_devices =
      min_i64(devices_of_host(s->train), parallel->devices);
  parallel->host = stage_product(s, most, parallel->host_devices);
}

bool parallel_find(const struct step *step, struct arena *arena,
                   struct arena *lasting, struct parallel *parallel) {
  const struct train_settings *train = &step->settings;
  struct step own;
  struct search s;
  search_open(&s, &own, step, arena);
  size_t stages = s.stages;
  size_t *begins = arena_alloc(arena, s.parts + 1, sizeof *begins);
  find_begins(&s, begins);
  *parallel = (struct parallel){.microbatch = s.microbatch, .units = s.units};
  if (train->pipeline > 1 &&
      cut_has_turns(step->model, search_borders(&s), train))
    parallel->repeated = search_borders(&s)->repeated;
  for (size_t p = 0; p < stages; p++) {
    struct stage *stage = VEC_PUSH(lasting, &parallel->stages);
    *stage = measure_stage(&s, begins, p, stages, lasting);
    stage_traffic(&s, stage);
    if (stage->peak > parallel->stages.at[parallel->most_loaded].peak)
      parallel->most_loaded = p;
  }
  parallel->devices = stage_product(
      &s, stage_product(&s, train->data_parallel, train->tensor_parallel),
      stage_product(&s, train->context_parallel, (int64_t)stages));
  find_host(&s, parallel);
  return !s.overflow;
}

/* Adapts a moment of one microbatch to its device. */
struct stage_watch {
  const struct stage *stage;
  int64_t earlier; /* kept for the backward of earlier microbatches */
  moment_fn *each;
  void *user;
};

/* Sums cannot overflow: parallel_find checked them. */
static void pass_moment(void *user, const struct moment *moment) {
  const struct stage_watch *watch = user;
  struct moment own = *moment;
  own.parts[PART_GRADIENTS] = watch->stage->gradients;
  own.parts[PART_SAVED] += watch->earlier;
  own.bytes = 0;
  for (int p = 0; p < PART_COUNT; p++)
    own.bytes += own.parts[p];
  watch->each(watch->user, &own);
}

void parallel_moments(const struct step *step, const struct parallel *parallel,
                      struct arena *arena, moment_fn *each, void *user) {
  const struct stage *stage = &parallel->stages.at[parallel->most_loaded];
  struct stage_watch watch = {.stage = stage, .each = each, .user = user};
  bool moved = offloads(&step->settings, OFFLOAD_ACTIVATIONS);
  struct step own;
  struct search s;
  search_open(&s, &own, step, arena);
  for (size_t k = 0; k < stage->part_count; k++) {
    int64_t kept = stage_run(&s, stage->parts[k], NULL, NULL);
    watch.earlier = stage->part_count > 1
                        ? max_i64(stage->activations - kept, 0)
                        : (stage->in_flight - 1) * kept;
    watch.earlier = moved ? 0 : watch.earlier + stage->deferred;
    stage_run(&s, stage->parts[k], pass_moment, &watch);
  }
}

int64_t parallel_turns(const struct parallel *parallel,
                       const struct stage *stage) {
  int64_t turns = 0, first;
  for (size_t i = 0; i < stage->part_count; i++)
    turns += borders_turns(&parallel->repeated, stage->parts[i], &first);
  return turns;
}

struct peak_line stage_line(const struct stage *stage) {
  int64_t moving = stage->activations + stage->deferred + stage->temporary +
                   stage->input; /* cannot overflow: at most the peak */
  return (struct peak_line){stage->peak - moving, moving};
}

int64_t parallel_peak(const struct step *step, struct arena *arena,
                      struct peak_line *line, int64_t *host) {
  struct arena scratch;
  struct parallel parallel;
  int64_t peak = INT64_MAX;
  *line = (struct peak_line){0};
  arena_open_in(&scratch, arena);
  *host = INT64_MAX;
  if (parallel_find(step, &scratch, &scratch, &parallel)) {
    const struct stage *most = &parallel.stages.at[parallel.most_loaded];
    peak = most->peak;
    *line = stage_line(most);
    *host = parallel.host;
  }
  arena_close(&scratch);
  return peak;
}
