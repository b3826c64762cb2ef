/* Schedule: an order of tasks with the lowest peak of memory. */
#include "memory/plan/schedule.h"

#include "base/check.h"
#include "memory/plan/needed.h"
#include "memory/plan/order.h"
#include "memory/plan/plan_overlap.h"

enum { LEAST_GAIN = 10000 }; /* minimum gain: 1 / this of the peak */

size_t task_overwrites(const struct task_graph *graph,
                       const struct plan_task *task, const int64_t *left) {
  if (!task->elementwise || task->made_count != 1)
    return SIZE_MAX;
  size_t made = graph->makes.at[task->first_made];
  for (int i = 0; i < task->read_count; i++) {
    size_t read = graph->reads.at[task->first_read + (size_t)i];
    const struct plan_tensor *tensor = &graph->tensors.at[read];
    if (task_may_replace(task, i) && left[read] == 1 && !tensor->lasts &&
        !tensor->given && tensor->bytes == graph->tensors.at[made].bytes)
      return read;
  }
  return SIZE_MAX;
}

size_t task_overlaps(const struct task_graph *graph,
                     const struct plan_task *task, const int64_t *left) {
  if (!task->above || task->made_count != 1 || task->read_count != 1)
    return SIZE_MAX;
  size_t read = graph->reads.at[task->first_read];
  return left[read] == 1 && !graph->tensors.at[read].lasts ? read : SIZE_MAX;
}

/* Maximum bytes that two tensors share. */
static int64_t shared_bytes(const struct task_graph *graph,
                            const struct plan_task *task, size_t read) {
  const struct plan_overlap overlap = {.below = task->below,
                                       .above = task->above};
  int64_t made = graph->tensors.at[graph->makes.at[task->first_made]].bytes;
  int64_t bytes = graph->tensors.at[read].bytes;
  return bytes + made - plan_overlap_bytes(&overlap, bytes, made);
}

/* Bytes in memory while tasks run one by one. */
struct walk {
  const struct task_graph *graph;
  bool overlaps; /* overlaps are counted */
  int64_t *left; /* by tensor: remaining readers */
  int64_t live, peak;
};

/* Runs a task; returns the bytes in memory while it runs. */
static int64_t step(struct walk *walk, const struct plan_task *task) {
  const struct task_graph *graph = walk->graph;
  size_t over = task_overwrites(graph, task, walk->left);
  int64_t during;
  if (over != SIZE_MAX)
    walk->live -= graph->tensors.at[over].bytes;
  for (int i = 0; i < task->made_count; i++)
    walk->live +=
        graph->tensors.at[graph->makes.at[task->first_made + (size_t)i]].bytes;
  during = walk->live + task->work;
  if (walk->overlaps && task_overlaps(graph, task, walk->left) != SIZE_MAX)
    during -= shared_bytes(graph, task, graph->reads.at[task->first_read]);
  for (int i = 0; i < task->read_count; i++) {
    size_t read = graph->reads.at[task->first_read + (size_t)i];
    if (--walk->left[read] == 0 && !graph->tensors.at[read].lasts &&
        read != over)
      walk->live -= graph->tensors.at[read].bytes;
  }
  for (int i = 0; i < task->made_count; i++) {
    const struct plan_tensor *made =
        &graph->tensors.at[graph->makes.at[task->first_made + (size_t)i]];
    if (made->readers == 0 && !made->lasts)
      walk->live -= made->bytes;
  }
  return during;
}

static void begin(struct walk *walk, const struct task_graph *graph) {
  walk->graph = graph;
  walk->overlaps = false;
  walk->left =
      arena_alloc(graph->arena, graph->tensors.count + 1, sizeof *walk->left);
  walk->live = walk->peak = 0;
  for (size_t i = 0; i < graph->tensors.count; i++) {
    walk->left[i] = graph->tensors.at[i].readers;
    if (graph->tensors.at[i].given)
      walk->live += graph->tensors.at[i].bytes;
  }
}

/* The peak of an order, and its position. */
static int64_t peak_of(const struct task_graph *graph, const size_t *order,
                       bool overlaps, size_t *at) {
  struct walk walk;
  begin(&walk, graph);
  walk.overlaps = overlaps;
  walk.peak = walk.live;
  *at = 0;
  for (size_t i = 0; i < graph->tasks.count; i++) {
    int64_t during = step(&walk, &graph->tasks.at[order[i]]);
    if (during > walk.peak) {
      walk.peak = during;
      *at = i;
    }
  }
  return walk.peak;
}

static size_t *find_makers(const struct task_graph *graph) {
  size_t *maker =
      arena_alloc(graph->arena, graph->tensors.count + 1, sizeof *maker);
  for (size_t i = 0; i < graph->tensors.count; i++)
    maker[i] = SIZE_MAX;
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const struct plan_task *task = &graph->tasks.at[i];
    for (int k = 0; k < task->made_count; k++)
      maker[graph->makes.at[task->first_made + (size_t)k]] = i;
  }
  return maker;
}

int64_t task_adds(const struct task_graph *graph,
                  const struct plan_task *task) {
  int64_t made = 0, over = 0;
  for (int i = 0; i < task->made_count; i++)
    made +=
        graph->tensors.at[graph->makes.at[task->first_made + (size_t)i]].bytes;
  for (int i = 0; i < task->read_count; i++) {
    const struct plan_tensor *read =
        &graph->tensors.at[graph->reads.at[task->first_read + (size_t)i]];
    if (task_may_replace(task, i) && read->bytes == made && !read->given)
      over = made;
  }
  return made - over + task->work;
}

/* A lower bound of every order: its largest task. */
static int64_t largest_task(const struct task_graph *graph) {
  int64_t largest = 0;
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const struct plan_task *task = &graph->tasks.at[i];
    int64_t need = task_adds(graph, task);
    for (int k = 0; k < task->read_count; k++)
      need += graph->tensors.at[graph->reads.at[task->first_read + (size_t)k]]
                  .bytes;
    largest = max_i64(largest, need);
  }
  return largest;
}

/* Conditions for a cut. */
struct cutting {
  bool strict;        /* only where no order can run across */
  size_t last_source; /* last task that reads nothing */
  size_t dead_ends;   /* tasks so far whose results have no reader */
};

static bool is_dead_end(const struct task_graph *graph,
                        const struct plan_task *task) {
  for (int i = 0; i < task->made_count; i++)
    if (graph->tensors.at[graph->makes.at[task->first_made + (size_t)i]]
            .readers)
      return false;
  return true;
}

static struct cutting begin_cutting(const struct task_graph *graph,
                                    bool strict) {
  struct cutting cutting = {.strict = strict};
  for (size_t i = 0; i < graph->tasks.count; i++)
    if (graph->tasks.at[i].read_count == 0)
      cutting.last_source = i;
  return cutting;
}

/*
 * True if one tensor alone leads from the tasks before to the tasks after. No
 * order runs across if, in addition, there is no second output of the net
 * before it and no task without reads after it.
 */
static bool is_cut(const struct cutting *cutting, const struct walk *walk,
                   size_t place, int64_t open) {
  const struct plan_task *task = &walk->graph->tasks.at[place];
  if (task->made_count != 1 || open != 1 ||
      walk->left[walk->graph->makes.at[task->first_made]] == 0)
    return false;
  return !cutting->strict ||
         (cutting->dead_ends == 0 && place >= cutting->last_source);
}

/* Inputs of the net that tasks will read. */
static int64_t count_open(const struct task_graph *graph) {
  int64_t open = 0;
  for (size_t i = 0; i < graph->tensors.count; i++)
    open += graph->tensors.at[i].given && graph->tensors.at[i].readers > 0;
  return open;
}

static int64_t open_change(const struct walk *walk,
                           const struct plan_task *task) {
  const struct task_graph *graph = walk->graph;
  int64_t change = 0;
  for (int k = 0; k < task->read_count; k++)
    change -= walk->left[graph->reads.at[task->first_read + (size_t)k]] == 1;
  for (int k = 0; k < task->made_count; k++)
    change += walk->left[graph->makes.at[task->first_made + (size_t)k]] > 0;
  return change;
}

/* Searches each part between cuts that needs more than any single task. */
static bool improve_parts(struct task_graph *graph, bool strict, int64_t least,
                          size_t *order) {
  struct cutting cutting = begin_cutting(graph, strict);
  size_t tensors = graph->tensors.count + 1;
  struct order_room room = {
      .maker = find_makers(graph),
      .reader = arena_alloc(graph->arena, tensors, sizeof *room.reader),
      .value = arena_alloc(graph->arena, tensors, sizeof *room.value)};
  struct walk walk;
  begin(&walk, graph);
  struct order_part part = {.graph = graph, .room = &room};
  int64_t open = count_open(graph), peak = 0, live = walk.live;
  bool exact = true;
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const struct plan_task *task = &graph->tasks.at[i];
    open += open_change(&walk, task);
    peak = max_i64(peak, step(&walk, task));
    cutting.dead_ends += is_dead_end(graph, task);
    if (!is_cut(&cutting, &walk, i, open) && i + 1 < graph->tasks.count)
      continue;
    part.count = i + 1 - part.from;
    if (peak > least)
      exact = order_improve(&part, live, peak, &least, order) && exact;
    live = walk.live;
    part.from = i + 1;
    peak = 0;
  }
  return exact;
}

/* True if no sum below can overflow, because all bytes together fit. */
static bool sums_fit(const struct task_graph *graph) {
  int64_t sum = 0;
  for (size_t i = 0; i < graph->tensors.count; i++)
    if (!add_i64(sum, graph->tensors.at[i].bytes, &sum))
      return false;
  for (size_t i = 0; i < graph->tasks.count; i++)
    if (!add_i64(sum, graph->tasks.at[i].work, &sum))
      return false;
  return true;
}

/* The order of the graph. */
static size_t *own_order(const struct task_graph *graph) {
  size_t *order =
      arena_alloc(graph->arena, graph->tasks.count + 1, sizeof *order);
  for (size_t i = 0; i < graph->tasks.count; i++)
    order[i] = i;
  return order;
}

/* Searches smaller parts, which an order might run across: the result is valid,
 * but may not be the best. */
static void try_smaller_parts(struct task_graph *graph, int64_t least,
                              struct schedule *schedule) {
  size_t at;
  size_t *order = own_order(graph);
  improve_parts(graph, false, least, order);
  int64_t peak = peak_of(graph, order, false, &at);
  if (peak < schedule->peak) {
    schedule->order = order;
    schedule->peak = peak;
    schedule->peak_at = at;
  }
}

static void find_order(struct task_graph *graph, struct schedule *schedule) {
  schedule->source_peak =
      peak_of(graph, schedule->order, false, &schedule->peak_at);
  schedule->peak = schedule->source_peak;
  int64_t least = largest_task(graph);
  if (graph->tasks.count && schedule->peak > least)
    least = max_i64(least,
                    task_needs(graph, find_makers(graph), schedule->peak_at));
  schedule->exact = schedule->peak <= least;
  if (schedule->peak - least <= schedule->peak / LEAST_GAIN)
    return;
  schedule->exact = improve_parts(graph, true, least, schedule->order);
  schedule->peak = peak_of(graph, schedule->order, false, &schedule->peak_at);
  if (!schedule->exact)
    try_smaller_parts(graph, least, schedule);
  schedule->exact = schedule->exact || schedule->peak <= least;
}

/* A lower bound of every order, with overlaps: its largest task. */
static int64_t largest_overlapping(const struct task_graph *graph) {
  int64_t largest = 0;
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const struct plan_task *task = &graph->tasks.at[i];
    int64_t need = task_adds(graph, task);
    for (int k = 0; k < task->read_count; k++)
      need += graph->tensors.at[graph->reads.at[task->first_read + (size_t)k]]
                  .bytes;
    if (task->above && task->read_count == 1 && task->made_count == 1)
      need -= shared_bytes(graph, task, graph->reads.at[task->first_read]);
    largest = max_i64(largest, need);
  }
  return largest;
}

/*
 * The search ignores overlaps. With them counted, keeps the better of its order
 * and the graph's own.
 */
static void count_overlaps(struct task_graph *graph,
                           struct schedule *schedule) {
  size_t at;
  size_t *own = own_order(graph);
  schedule->source_peak = peak_of(graph, own, true, &at);
  schedule->peak = peak_of(graph, schedule->order, true, &schedule->peak_at);
  if (schedule->peak >= schedule->source_peak) {
    schedule->order = own;
    schedule->peak = schedule->source_peak;
    schedule->peak_at = at;
  }
  schedule->exact = schedule->peak <= largest_overlapping(graph);
}

void schedule_find(struct task_graph *graph, struct schedule *schedule) {
  graph->overflow = graph->overflow || !sums_fit(graph);
  *schedule = (struct schedule){.order = own_order(graph)};
  if (graph->overflow)
    return;
  find_order(graph, schedule);
  if (graph->overlaps)
    count_overlaps(graph, schedule);
}
