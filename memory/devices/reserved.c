/* Reserved: memory that the allocator of the most loaded device reserves. */
#include "memory/devices/reserved.h"

#include "base/check.h"
#include "memory/devices/stage.h"

/* Limits that keep a report within milliseconds: every iteration is run, and
 * each tensor is at least one request. */
enum { MOST_NODES = 1500, MOST_PARAMS = 2000 };

bool reserved_is_known(const struct step *step) {
  const struct train_settings *train = &step->settings;
  return profile_at(train->profile)->caches && train->pipeline == 1 &&
         !train->offload && train->paged != TOGGLE_ON &&
         step->model->nodes.count <= MOST_NODES &&
         step->model->params.count <= MOST_PARAMS;
}

bool reserved_alone(const struct step *step, const struct training *t,
                    struct arena *arena, struct reserved *reserved) {
  struct simulation run = {.arena = arena,
                           .trace = &step->trace,
                           .model = step->model,
                           .batch = step->settings.batch,
                           .segments = step->segments.at,
                           .segment_count = step->segments.count};
  int64_t state = t->optimizer + t->master; /* no underflow */
  struct reserve_of of = {.standing = t->standing - state,
                          .state = state,
                          .work = max_i64(t->workspace, t->clip.bytes)};
  step_types(&step->settings, &run);
  return reserve_find(&run, &of, reserved);
}

bool reserved_shared(const struct step *step, const struct parallel *parallel,
                     struct arena *arena, struct reserved *reserved) {
  const struct stage *stage = &parallel->stages.at[parallel->most_loaded];
  struct step own;
  struct search s;
  search_open(&s, &own, step, arena);
  struct simulation run = stage_simulation(&s, stage->nodes, arena);
  /* Sums cannot overflow: parallel_find checked them. */
  struct reserve_of of = {.standing = stage->parameters + stage->buffers +
                                      stage->averaged + stage->input +
                                      stage->buckets,
                          .gradients = stage->gradients,
                          .gathered = stage->gathered,
                          .state = stage->optimizer + stage->master,
                          .work = max_i64(stage->workspace, stage->clip),
                          .flat = stage->flat,
                          .flat_part = stage->flat_part};
  return reserve_find(&run, &of, reserved);
}
