/* Parallel: what each of several devices holds while a net is trained. */
#include "memory/parallel.h"

#include "base/check.h"
#include "memory/stage.h"

bool parallel_wanted(const struct train_settings *train) {
  return train->data_parallel > 1 || train->tensor_parallel > 1 ||
         train->pipeline > 1 || train->zero > 0 ||
         train->context_parallel > 1 || train->expert_parallel > 1 ||
         train->offload;
}

/* Microbatches of which a stage, from 0, keeps what it made. */
static int64_t in_flight(const struct search *s, size_t stage, size_t stages) {
  int64_t rest = (int64_t)(stages - stage);
  if (stages == 1 || s->parts > s->stages) /* parts are cut alike */
    return 1;
  switch (s->train->schedule) {
  case PIPELINE_GPIPE: return s->microbatches;
  case PIPELINE_ZB_H2: rest = 2 * rest - 1; break;
  default: break;
  }
  return min_i64(rest, s->microbatches);
}

/* Gradients of weights that it puts off meanwhile. */
static int64_t put_off(const struct search *s, size_t stage, size_t stages) {
  int64_t most = s->train->schedule == PIPELINE_ZB_H1   ? (int64_t)stage
                 : s->train->schedule == PIPELINE_ZB_H2 ? 2 * (int64_t)stage
                                                        : 0;
  return min_i64(most, s->microbatches - in_flight(s, stage, stages));
}

/* What stands, what the passes have besides, and what the step has. */
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
  int64_t work = max_i64(stage->workspace, stage->clip);
  int64_t step = stage_sum(s, work, stage->paged);
  stage->steps = step > alive;
  if (stage->steps) { /* it comes after all of it */
    stage->activations = stage->gathered = stage->deferred = 0;
    stage->temporary = work;
    alive = step;
  }
  stage->peak = stage_sum(s, standing, alive);
}

/* Earlier microbatches wait for their backward with what they keep. */
static void multiply(struct search *s, struct stage *stage, int64_t waiting) {
  stage->in_flight = waiting;
  stage->activations = stage_product(s, stage->activations, waiting);
  if (!offloads(s->train, OFFLOAD_ACTIVATIONS))
    return;
  stage->host = stage_sum(s, stage->host, stage->activations);
  stage->activations = 0;
}

/* Those that run alike are measured once. */
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

/* Units [from, to) as the `index`-th of some stages. */
static struct stage measure(struct search *s, size_t from, size_t to,
                            size_t index, size_t stages) {
  struct node_range nodes = {s->cut[from], s->cut[to]};
  struct stage stage = known_stage(s, from, to);
  int64_t late = put_off(s, index, stages);
  multiply(s, &stage, in_flight(s, index, stages));
  if (late > 0)
    stage.deferred = stage_product(s, stage_weight_bytes(s, nodes), late);
  find_peak(s, &stage);
  return stage;
}

/* The most loaded of stages that have as many units each. */
static int64_t even_peak(struct search *s, size_t stages) {
  int64_t most = 0;
  for (size_t p = 0; p < stages; p++)
    most = max_i64(most, measure(s, s->units * p / stages,
                                 s->units * (p + 1) / stages, p, stages)
                             .peak);
  return most;
}

/* A state of the search: stages from one on hold the units from one on. */
struct cut {
  int64_t least; /* what the most loaded of them holds; INT64_MAX: too much */
  size_t next;   /* unit, where the next one begins */
};

/* The best end of stage `p` that begins at unit `u`; none above `most`. */
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
    if (peak >= best.least || peak > most)
      break; /* longer ones are not lighter */
  }
  return best;
}

/*
 * Dynamic programming over where stages begin, from the last one. What is
 * worse than stages of as many units each is not looked at.
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
      if (p + 1 == stages && cuts[p * row + u].least == INT64_MAX)
        break; /* it begins too early */
    }
  }
  /* A longer stage may be lighter, if it holds the whole of a checkpoint that
     a shorter one cuts: then the search may find none, not even the even ones.
   */
  bool found = cuts[0].least < INT64_MAX;
  for (size_t p = 0; p < stages; p++) {
    begins[p] = found ? at : s->units * p / stages;
    at = cuts[p * row + at].next;
  }
  begins[stages] = s->units;
}

/* Several parts of a device */

/* Forward passes of part `part` among the first `passes` of stage `index`. */
static int64_t passes_of(const struct search *s, int64_t passes, size_t part,
                         size_t stages) {
  int64_t turn = (int64_t)stages * s->train->virtual_stages;
  int64_t begins = (int64_t)(part * stages);
  int64_t rest = passes % turn - begins;
  return passes / turn * (int64_t)stages +
         max_i64(0, min_i64(rest, (int64_t)stages));
}

/* One more part of a device; gathered and temporary are there one by one. */
static void add_part(struct search *s, struct stage *to,
                     const struct stage *part) {
  int64_t *sums[] = {&to->parameters, &to->gradients, &to->optimizer,
                     &to->buffers,    &to->input,     &to->master,
                     &to->averaged,   &to->buckets,   &to->activations,
                     &to->workspace,  &to->host,      &to->in_flight,
                     &to->values,     &to->trained,   &to->clip};
  const int64_t added[] = {part->parameters, part->gradients, part->optimizer,
                           part->buffers,    part->input,     part->master,
                           part->averaged,   part->buckets,   part->activations,
                           part->workspace,  part->host,      part->in_flight,
                           part->values,     part->trained,   part->clip};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    *sums[i] = stage_sum(s, *sums[i], added[i]);
  to->gathered = max_i64(to->gathered, part->gathered);
  to->temporary = max_i64(to->temporary, part->temporary);
}

/* Parts `index`, `index` + P, ..: each P microbatches take turns in them. */
static struct stage measure_parts(struct search *s, const size_t *begins,
                                  size_t index, size_t stages,
                                  struct arena *lasting) {
  size_t count = s->parts / stages;
  int64_t all = stage_product(s, s->microbatches, (int64_t)count);
  int64_t passes =
      2 * (int64_t)(stages - index - 1) + (int64_t)((count - 1) * stages) + 1;
  struct stage stage = {.parts =
                            arena_alloc(lasting, count, sizeof *stage.parts),
                        .part_count = count};
  for (size_t k = 0; k < count; k++) {
    size_t at = index + k * stages;
    struct node_range nodes = {s->cut[begins[at]], s->cut[begins[at + 1]]};
    struct stage part = stage_measure(s, begins[at], begins[at + 1]);
    multiply(s, &part, passes_of(s, min_i64(passes, all), k, stages));
    add_part(s, &stage, &part);
    stage.parts[k] = nodes;
  }
  stage.nodes = stage.parts[0];
  find_peak(s, &stage);
  return stage;
}

static struct stage measure_stage(struct search *s, const size_t *begins,
                                  size_t index, size_t stages,
                                  struct arena *lasting) {
  if (s->parts > stages)
    return measure_parts(s, begins, index, stages, lasting);
  struct stage stage =
      measure(s, begins[index], begins[index + 1], index, stages);
  stage.parts = arena_alloc(lasting, 1, sizeof *stage.parts);
  stage.parts[0] = stage.nodes;
  stage.part_count = 1;
  return stage;
}

/* All together */

/* Devices that share a host: the most loaded of its stages, all of them. */
static void find_host(struct search *s, struct parallel *parallel) {
  int64_t most = 0;
  for (size_t p = 0; p < parallel->stages.count; p++)
    most = max_i64(most, parallel->stages.at[p].host);
  parallel->host_devices = min_i64(
      s->train->host_devices ? s->train->host_devices : 8, parallel->devices);
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
  cut_stages(&s, s.parts, begins);
  *parallel = (struct parallel){.microbatch = s.microbatch, .units = s.units};
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

/* A moment of one microbatch, as the device has it. */
struct stage_watch {
  const struct stage *stage;
  int64_t earlier; /* kept for the backward of earlier microbatches */
  moment_fn *each;
  void *user;
};

/* Sums that pass 2^63 - 1 would have done so in parallel_find. */
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

struct peak_line stage_line(const struct stage *stage) {
  int64_t moving = stage->activations + stage->deferred + stage->temporary +
                   stage->input; /* at most the peak */
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
