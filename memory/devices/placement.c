/* Placement: searches the ways in which several devices can train a net. */
#include "memory/devices/placement.h"

#include <stdlib.h>

#include "base/check.h"
#include "memory/checkpoint/checkpoint.h"
#include "memory/devices/fit.h"
#include "memory/devices/candidates.h"
#include "memory/devices/floor.h"

/* Segments of a checkpoint setting and a batch. */
struct segmented {
  int64_t checkpoint, batch;
  struct node_range *ranges;
  size_t count;
};

struct place_finder {
  const struct place_request *request;
  struct arena *arena;
  struct place_placing *placing;
  struct work work;
  struct runs runs;
  struct cuts places; /* where one tensor alone leads on */
  VEC(struct segmented) segmented;
};

/* Describes one device as the parallel ones are. */
static bool measure_one(struct step *step, struct arena *arena,
                        struct parallel *parallel) {
  struct simulation s = {0};
  struct training t;
  step_trace(step, arena);
  if (!step_measure(step, arena, &s, &t))
    return false;
  *VEC_PUSH(arena, &parallel->stages) = stage_of_net(step, &t, arena);
  parallel->devices = 1;
  parallel->microbatch = step->settings.batch;
  return true;
}

/* Chooses the segments of a step, or reuses an earlier choice. */
static void choose_ranges(struct place_finder *f, struct step *step) {
  const struct train_settings *train = &step->settings;
  struct segmented *found = f->segmented.at;
  for (size_t i = 0; i < f->segmented.count; i++, found++)
    if (found->checkpoint == train->checkpoint &&
        found->batch == train->batch) {
      step->ranges.at = found->ranges;
      step->ranges.count = found->count;
      return;
    }
  struct arena scratch;
  struct step own = *step;
  arena_open_in(&scratch, f->arena);
  checkpoint_choose(&own, f->placing->room, &scratch);
  found = VEC_PUSH(f->arena, &f->segmented);
  *found = (struct segmented){
      train->checkpoint, train->batch,
      arena_alloc(f->arena, own.ranges.count + 1, sizeof *found->ranges),
      own.ranges.count};
  for (size_t i = 0; i < own.ranges.count; i++)
    found->ranges[i] = own.ranges.at[i];
  arena_close(&scratch);
  step->ranges.at = found->ranges;
  step->ranges.count = found->count;
}

/* Rounds to three digits. */
static double rounded(double seconds) {
  double unit = 1e-12;
  while (seconds >= 1000 * unit)
    unit *= 10;
  return (double)(int64_t)(seconds / unit + 0.5) * unit;
}

static void find_rank(struct placement *p) {
  const struct place_bound *b = &p->time.bound;
  p->sent = b->near > b->far ? b->near : b->far;
  p->sent = p->sent > b->host ? p->sent : b->host;
  double seconds = p->time.likely > 0 ? p->time.likely : b->step;
  p->rank =
      rounded(p->time.predicted > 0
                  ? p->time.predicted
                  : seconds * floor_behind(p->time.likely > 0, &p->settings));
}

/* Measures a candidate as a report does; false if impossible or too large. */
static bool measure(struct place_finder *f,
                    const struct place_candidate *candidate,
                    struct placement *placement) {
  struct arena scratch;
  struct parallel parallel = {0};
  struct step step = {.model = f->request->model,
                      .settings = candidate->settings,
                      .runs = &f->runs};
  const struct bound_cluster *cluster = &f->request->cluster;
  const char *missing = f->placing->missing
                            ? f->placing->missing
                            : time_missing_way(&candidate->settings);
  arena_open_in(&scratch, f->arena);
  f->placing->measured++;
  choose_ranges(f, &step);
  bool good = parallel_wanted(&step.settings)
                  ? parallel_find(&step, &scratch, &scratch, &parallel)
                  : measure_one(&step, &scratch, &parallel);
  good = good && parallel.devices == cluster->devices &&
         (stage_parts(&step.settings) == 1 ||
          parallel.stages.at[0].part_count > 1); /* there were enough cuts */
  if (good)
    *placement = (struct placement){
        .settings = candidate->settings,
        .peak = parallel.stages.at[parallel.most_loaded].peak,
        .host = parallel.host,
        .microbatch = parallel.microbatch,
        .passes = size_product(candidate->settings.accumulate,
                               candidate->settings.pipeline > 1
                                   ? candidate->settings.microbatches
                                   : 1),
        .time =
            time_find(&f->work, &step, &parallel, cluster,
                      f->request->cut ? NULL : &f->places, missing, &scratch),
        .order = candidate->order};
  if (good) {
    find_rank(placement);
    placement->time.cost =
        time_cost(f->request->model, &candidate->settings, cluster->devices,
                  placement->time.predicted);
  }
  arena_close(&scratch);
  return good;
}

static int64_t lacks(const struct place_finder *f, const struct placement *p) {
  int64_t host = p->settings.host_memory ? p->settings.host_memory : INT64_MAX;
  return max_i64(p->peak - f->placing->room, 0) + max_i64(p->host - host, 0);
}

/* Orders placements that fit, the best first. */
static int by_rank(const void *a, const void *b) {
  const struct placement *x = a, *y = b;
  if (x->rank != y->rank)
    return x->rank < y->rank ? -1 : 1;
  if (x->sent != y->sent)
    return x->sent < y->sent ? -1 : 1;
  if (x->microbatch != y->microbatch)
    return x->microbatch > y->microbatch ? -1 : 1;
  if (x->peak != y->peak)
    return x->peak < y->peak ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* True if `a` is better and not larger. */
static bool beats(const struct placement *a, const struct placement *b) {
  return a->peak <= b->peak && by_rank(a, b) < 0;
}

static void consider(struct place_finder *f,
                     const struct placement *placement) {
  struct place_placing *placing = f->placing;
  size_t kept = 0;
  for (size_t i = 0; i < placing->best.count; i++)
    if (beats(&placing->best.at[i], placement))
      return;
  for (size_t i = 0; i < placing->best.count; i++)
    if (!beats(placement, &placing->best.at[i]))
      placing->best.at[kept++] = placing->best.at[i];
  placing->best.count = kept;
  *VEC_PUSH(f->arena, &placing->best) = *placement;
}

/* A slower placement is listed if it takes at most SLOWEST times as long as the
 * fastest, and frees 1 / SPARED of the room more than those before. */
#define SLOWEST 1.25
enum { SPARED = 10 };

/* True if a measured placement rules a candidate out. */
static bool is_beaten(const struct place_placing *placing,
                      const struct place_candidate *candidate) {
  double least = rounded(candidate->least);
  for (size_t i = 0; i < placing->best.count; i++) {
    const struct placement *p = &placing->best.at[i];
    if (SLOWEST * p->rank < least ||
        (p->rank < least &&
         p->peak - placing->room / SPARED < candidate->holds))
      return true;
  }
  return false;
}

static void find_fitting(struct place_finder *f, const struct candidates *all) {
  struct place_placing *placing = f->placing;
  for (size_t i = 0; i < all->at.count; i++) {
    const struct place_candidate *candidate = &all->at.at[i];
    struct placement placement;
    progress_tell(f->request->model->progress, "trying placements", (int64_t)i,
                  (int64_t)all->at.count);
    if (candidate->holds <= placing->room && !is_beaten(placing, candidate) &&
        measure(f, candidate, &placement) && lacks(f, &placement) == 0)
      consider(f, &placement);
  }
}

static int by_holds(const void *a, const void *b) {
  const struct place_candidate *x = a, *y = b;
  if (x->holds != y->holds)
    return x->holds < y->holds ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* If nothing fits, finds the placement that exceeds the memory least. */
static void find_nearest(struct place_finder *f, struct candidates *all) {
  struct placement nearest, placement;
  int64_t least = INT64_MAX;
  qsort(all->at.at, all->at.count, sizeof *all->at.at, by_holds);
  for (size_t i = 0; i < all->at.count; i++) {
    const struct place_candidate *candidate = &all->at.at[i];
    progress_tell(f->request->model->progress,
                  "nothing fits; searching the closest placement", (int64_t)i,
                  (int64_t)all->at.count);
    if (candidate->holds - f->placing->room >= least)
      break;
    if (!measure(f, candidate, &placement))
      continue;
    int64_t more = lacks(f, &placement);
    if (more < least || (more == least && placement.order < nearest.order)) {
      least = more;
      nearest = placement;
    }
  }
  if (least < INT64_MAX)
    *VEC_PUSH(f->arena, &f->placing->best) = nearest;
}

static void thin_out(struct place_placing *placing) {
  size_t kept = 0;
  struct placement *at = placing->best.at;
  qsort(at, placing->best.count, sizeof *at, by_rank);
  for (size_t i = 0; i < placing->best.count; i++)
    if (!kept || (at[i].rank <= SLOWEST * at[0].rank &&
                  at[i].peak + placing->room / SPARED <= at[kept - 1].peak))
      at[kept++] = at[i];
  placing->best.count = kept;
}

void place_find(const struct place_request *request, struct arena *arena,
                struct place_placing *placing) {
  struct place_finder f = {.request = request,
                           .arena = arena,
                           .placing = placing,
                           .runs = {.arena = arena}};
  struct candidates all = {0};
  struct fit_device device = fit_device(request->train, false);
  *placing = (struct place_placing){
      .missing =
          time_missing(request->model, request->train, request->cluster.gpu),
      .room = device.room};
  f.work = work_find(request->model, request->train, arena);
  cuts_all(request->model, &f.places, arena);
  candidates_find(request, &f.work, arena, &all);
  placing->tried = (int64_t)all.at.count;
  placing->found = placing->tried > 0;
  if (!placing->found)
    return;
  find_fitting(&f, &all);
  if (!placing->best.count)
    find_nearest(&f, &all);
  placing->found = placing->best.count > 0;
  if (!placing->found)
    return;
  thin_out(placing);
  const struct placement *first = &placing->best.at[0];
  placing->verdict = fit_judge(first->peak, device.room, device.slack,
                               first->host, first->settings.host_memory);
  placing->missing = first->time.missing;
}
