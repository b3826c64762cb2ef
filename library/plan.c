/* netc_plan: the arena planner. */
#include "memory/plan/plan.h"

#include "library/context.h"

struct planning {
  struct netc_plan_buffer *buffers;
  size_t count;
  struct netc_plan_options options;
  struct netc_plan *result;
  struct arena arena;
  struct progress progress;
  enum netc_status status;
};

static bool are_buffers(const struct planning *p) {
  bool valid = p->options.capacity >= 0 && p->options.align >= 0;
  for (size_t i = 0; i < p->count && valid; i++) {
    const struct netc_plan_buffer *b = &p->buffers[i];
    valid = b->size >= 0 && b->align >= 0 && b->lower <= b->upper;
  }
  return valid;
}

static void run_plan(void *user) {
  struct planning *p = user;
  struct plan plan;
  struct plan_options options = {.align = p->options.align,
                                 .capacity = p->options.capacity,
                                 .nodes = p->options.effort,
                                 .progress = &p->progress};
  struct plan_buffer *buffers =
      arena_alloc(&p->arena, p->count + 1, sizeof *buffers);
  for (size_t i = 0; i < p->count; i++)
    buffers[i] = (struct plan_buffer){.lower = p->buffers[i].lower,
                                      .upper = p->buffers[i].upper,
                                      .size = p->buffers[i].size,
                                      .align = p->buffers[i].align};
  enum plan_status status =
      plan_arena(&p->arena, buffers, p->count, &options, &plan);
  p->status = status == PLAN_TOO_LARGE ? NETC_ERROR : NETC_BUG;
  if (status != PLAN_DONE)
    return;
  for (size_t i = 0; i < p->count; i++)
    p->buffers[i].offset = buffers[i].offset;
  struct netc_plan found = {.height = plan.height,
                            .lower_bound = plan.lower_bound,
                            .optimal = plan.optimal,
                            .effort = plan.nodes};
  p->status = FILL(p->result, &found);
}

enum netc_status netc_plan(struct netc_plan_buffer *buffers, size_t count,
                           const struct netc_plan_options *options,
                           struct netc_plan *plan) {
  struct planning p = {.buffers = buffers, .count = count, .result = plan};
  struct arena *const arenas[GUARD_ARENAS] = {&p.arena};
  if (options) {
    size_t room = options->size;
    if (room < sizeof room)
      return NETC_USAGE;
    memcpy(&p.options, options,
           room < sizeof p.options ? room : sizeof p.options);
  }
  if (!are_buffers(&p))
    return NETC_USAGE;
  p.progress =
      (struct progress){p.options.tell, p.options.tell_user, &p.arena, false};
  arena_open(&p.arena, p.options.resize, p.options.user);
  if (!guard_run(arenas, run_plan, &p))
    p.status = p.progress.stopped ? NETC_STOPPED : NETC_NO_MEMORY;
  arena_close(&p.arena);
  return p.status;
}
