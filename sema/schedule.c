/* Schedule: an order of tasks in which the least memory is alive at once. */
#include "sema/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum {
  MOST_STATES = 2000,    /* sets that are followed at the same time */
  MOST_EFFORT = 5000000, /* tasks that are looked at in a part */
};

/* What is alive while tasks run one by one. */
struct walk {
  const struct task_graph *graph;
  int64_t *left; /* by tensor: readers to come */
  int64_t live, peak;
};

size_t task_overwrites(const struct task_graph *graph, const struct task *task,
                       const int64_t *left) {
  if (!task->elementwise || task->made_count != 1)
    return SIZE_MAX;
  size_t made = graph->makes.at[task->first_made];
  for (int i = 0; i < task->read_count; i++) {
    size_t read = graph->reads.at[task->first_read + (size_t)i];
    const struct tensor *tensor = &graph->tensors.at[read];
    if (left[read] == 1 && !tensor->lasts && !tensor->given &&
        tensor->bytes == graph->tensors.at[made].bytes)
      return read;
  }
  return SIZE_MAX;
}

/* Runs a task; returns what is alive in the middle of it. */
static int64_t step(struct walk *walk, const struct task *task) {
  const struct task_graph *graph = walk->graph;
  size_t over = task_overwrites(graph, task, walk->left);
  int64_t during;
  if (over != SIZE_MAX)
    walk->live -= graph->tensors.at[over].bytes;
  for (int i = 0; i < task->made_count; i++)
    walk->live +=
        graph->tensors.at[graph->makes.at[task->first_made + (size_t)i]].bytes;
  during = walk->live + task->work;
  for (int i = 0; i < task->read_count; i++) {
    size_t read = graph->reads.at[task->first_read + (size_t)i];
    if (--walk->left[read] == 0 && !graph->tensors.at[read].lasts &&
        read != over)
      walk->live -= graph->tensors.at[read].bytes;
  }
  for (int i = 0; i < task->made_count; i++) {
    const struct tensor *made =
        &graph->tensors.at[graph->makes.at[task->first_made + (size_t)i]];
    if (made->readers == 0 && !made->lasts)
      walk->live -= made->bytes;
  }
  return during;
}

static void begin(struct walk *walk, const struct task_graph *graph) {
  walk->graph = graph;
  walk->left =
      arena_alloc(graph->arena, graph->tensors.count + 1, sizeof *walk->left);
  walk->live = walk->peak = 0;
  for (size_t i = 0; i < graph->tensors.count; i++) {
    walk->left[i] = graph->tensors.at[i].readers;
    if (graph->tensors.at[i].given)
      walk->live += graph->tensors.at[i].bytes;
  }
}

/* The most that is alive in an order, and where. */
static int64_t peak_of(const struct task_graph *graph, const size_t *order,
                       size_t *at) {
  struct walk walk;
  begin(&walk, graph);
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

/* No order needs less than its largest task. */
static int64_t largest_task(const struct task_graph *graph) {
  int64_t largest = 0;
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const struct task *task = &graph->tasks.at[i];
    int64_t need = task->work, made = 0, reads = 0, same = 0;
    for (int k = 0; k < task->made_count; k++)
      made += graph->tensors.at[graph->makes.at[task->first_made + (size_t)k]]
                  .bytes;
    for (int k = 0; k < task->read_count; k++) {
      const struct tensor *read =
          &graph->tensors.at[graph->reads.at[task->first_read + (size_t)k]];
      reads += read->bytes;
      if (task->elementwise && read->bytes == made && !read->given)
        same = made; /* it may be overwritten */
    }
    need += made + reads - same;
    largest = max_i64(largest, need);
  }
  return largest;
}

/* A part between two cuts: tasks [from, to) of the source order. */
struct part {
  struct task_graph *graph;
  size_t from, count, words;
  uint64_t *needs; /* by task: the tasks of the part before it */
};

/* Tasks that have run, and the best way to get there. */
struct state {
  uint64_t *done;
  int64_t live, peak;
  size_t parent; /* in the states of the level before */
  size_t task;   /* that led here, in the part */
};

struct level {
  VEC(struct state) states;
  size_t *slots; /* hash table of states, from 1 */
  size_t room;
};

static bool has(const uint64_t *set, size_t i) {
  return set[i / 64] >> (i % 64) & 1;
}

static void put(uint64_t *set, size_t i) {
  set[i / 64] |= (uint64_t)1 << (i % 64);
}

static bool covers(const uint64_t *set, const uint64_t *part, size_t words) {
  for (size_t i = 0; i < words; i++)
    if (part[i] & ~set[i])
      return false;
  return true;
}

static uint64_t hash(const uint64_t *set, size_t words) {
  uint64_t h = 0;
  for (size_t i = 0; i < words; i++) {
    h = (h ^ set[i]) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return h;
}

/* Readers to come of every tensor that the part's task reads. */
static void count_left(const struct part *part, const uint64_t *done,
                       const struct task *task, const int64_t *before,
                       int64_t *left) {
  const struct task_graph *graph = part->graph;
  for (int i = 0; i < task->read_count; i++) {
    size_t read = graph->reads.at[task->first_read + (size_t)i];
    left[read] = before[read];
  }
  for (size_t k = 0; k < part->count; k++) {
    if (!has(done, k))
      continue;
    const struct task *other = &graph->tasks.at[part->from + k];
    for (int i = 0; i < other->read_count; i++)
      left[graph->reads.at[other->first_read + (size_t)i]]--;
  }
}

/* Adds a state or improves the one of the same set. */
static void reach(struct arena *arena, struct level *level, size_t words,
                  const struct state *state) {
  uint64_t at = hash(state->done, words) & (level->room - 1);
  for (;; at = (at + 1) & (level->room - 1)) {
    if (!level->slots[at])
      break;
    struct state *old = &level->states.at[level->slots[at] - 1];
    if (memcmp(old->done, state->done, words * sizeof *state->done) != 0)
      continue;
    if (state->peak < old->peak) {
      old->peak = state->peak;
      old->parent = state->parent;
      old->task = state->task;
    }
    return;
  }
  struct state *new = VEC_PUSH(arena, &level->states);
  *new = *state;
  new->done = arena_alloc(arena, words, sizeof *new->done);
  memcpy(new->done, state->done, words * sizeof *new->done);
  level->slots[at] = level->states.count;
}

static int compare_states(const void *a, const void *b) {
  const struct state *x = a, *y = b;
  if (x->peak != y->peak)
    return x->peak < y->peak ? -1 : 1;
  if (x->live != y->live)
    return x->live < y->live ? -1 : 1;
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  return x->task < y->task ? -1 : x->task > y->task; /* never equal */
}

/* Keeps those that have needed least so far. */
static void keep_best(struct level *level, size_t most) {
  qsort(level->states.at, level->states.count, sizeof *level->states.at,
        compare_states);
  level->states.count = most;
}

struct search {
  struct part part;
  struct walk walk;
  size_t most;           /* states that are followed at the same time */
  const int64_t *before; /* readers to come where the part begins */
  int64_t bound;         /* ways that need as much are not followed */
  struct level *levels;
  uint64_t *scratch;
  uint64_t effort;
  bool complete; /* nothing was dropped */
};

static void expand_state(struct search *search, size_t depth, size_t index) {
  struct part *part = &search->part;
  struct level *next = &search->levels[depth + 1];
  search->effort += part->count;
  for (size_t i = 0; i < part->count; i++) {
    const struct state *from = &search->levels[depth].states.at[index];
    const struct task *task = &part->graph->tasks.at[part->from + i];
    if (has(from->done, i) ||
        !covers(from->done, part->needs + i * part->words, part->words))
      continue;
    search->effort += part->count;
    count_left(part, from->done, task, search->before, search->walk.left);
    search->walk.live = from->live;
    int64_t during = step(&search->walk, task);
    if (during >= search->bound)
      continue;
    memcpy(search->scratch, from->done, part->words * sizeof(uint64_t));
    put(search->scratch, i);
    struct state to = {.done = search->scratch,
                       .live = search->walk.live,
                       .peak = max_i64(from->peak, during),
                       .parent = index,
                       .task = i};
    reach(part->graph->arena, next, part->words, &to);
  }
}

static bool search_levels(struct search *search) {
  struct part *part = &search->part;
  struct arena *arena = part->graph->arena;
  for (size_t depth = 0; depth < part->count; depth++) {
    struct level *level = &search->levels[depth];
    if (level->states.count > search->most) {
      keep_best(level, search->most);
      search->complete = false;
    }
    struct level *next = level + 1;
    next->room = 64;
    while (next->room < level->states.count * 64 &&
           next->room < MOST_STATES * 128)
      next->room *= 2;
    next->slots = arena_alloc(arena, next->room, sizeof *next->slots);
    for (size_t i = 0; i < level->states.count; i++) {
      if (next->states.count * 2 > next->room) {
        search->complete = false;
        break;
      }
      if (search->effort > MOST_EFFORT) {
        search->complete = false;
        return false;
      }
      expand_state(search, depth, i);
    }
    if (next->states.count == 0)
      return false; /* no way is better than the one at hand */
  }
  return true;
}

/* Which tasks of the part must have run before each. */
static void find_needs(struct part *part, size_t *maker) {
  struct task_graph *graph = part->graph;
  part->words = (part->count + 63) / 64;
  part->needs =
      arena_alloc(graph->arena, part->count * part->words, sizeof *part->needs);
  for (size_t i = 0; i < part->count; i++) {
    const struct task *task = &graph->tasks.at[part->from + i];
    for (int k = 0; k < task->read_count; k++) {
      size_t by = maker[graph->reads.at[task->first_read + (size_t)k]];
      if (by != SIZE_MAX && by >= part->from)
        put(part->needs + i * part->words, by - part->from);
    }
  }
}

struct finding {
  bool complete; /* nothing was dropped on the way */
  bool better;   /* an order was found and written down */
};

static struct finding search_part(struct part *part, const struct walk *start,
                                  int64_t bound, size_t most, size_t *order) {
  struct arena *arena = part->graph->arena;
  struct search search = {.part = *part,
                          .walk = *start,
                          .most = most,
                          .before = start->left,
                          .bound = bound,
                          .complete = true};
  search.walk.left =
      arena_alloc(arena, part->graph->tensors.count + 1, sizeof(int64_t));
  search.levels = arena_alloc(arena, part->count + 1, sizeof *search.levels);
  search.scratch = arena_alloc(arena, part->words, sizeof *search.scratch);
  struct state first = {.done = search.scratch, .live = start->live};
  struct level *level = &search.levels[0];
  level->room = 2;
  level->slots = arena_alloc(arena, level->room, sizeof *level->slots);
  reach(arena, level, part->words, &first);
  if (!search_levels(&search))
    return (struct finding){search.complete, false};
  size_t state = 0;
  for (size_t depth = part->count; depth > 0; depth--) {
    const struct state *at = &search.levels[depth].states.at[state];
    order[part->from + depth - 1] = part->from + at->task;
    state = at->parent;
  }
  return (struct finding){search.complete, true};
}

/*
 * Finds a better order for a part, or leaves the one at hand. Where the
 * effort did not reach to the end, as few ways are followed as it allows.
 */
static bool improve(struct part *part, size_t *maker, const struct walk *start,
                    int64_t bound, size_t *order) {
  find_needs(part, maker);
  struct finding found = search_part(part, start, bound, MOST_STATES, order);
  if (!found.complete && !found.better) {
    size_t count = part->count < 1000 ? part->count : 1000;
    size_t few = MOST_EFFORT / (count * count * count);
    search_part(part, start, bound, few ? few : 1, order);
  }
  return found.complete;
}

/* Where a part may end. */
struct cutting {
  bool strict;        /* only where no order can run across */
  size_t last_source; /* no task behind it reads nothing */
  size_t dead_ends;   /* tasks so far whose results nobody reads */
};

static bool is_dead_end(const struct task_graph *graph,
                        const struct task *task) {
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
 * Where one tensor alone leads on. No order runs across if all that is
 * before leads there and all that is behind comes from there: neither a
 * second output of the net before it nor a task that reads nothing behind.
 */
static bool is_cut(const struct cutting *cutting, const struct walk *walk,
                   size_t place, int64_t open) {
  const struct task *task = &walk->graph->tasks.at[place];
  if (task->made_count != 1 || open != 1 ||
      walk->left[walk->graph->makes.at[task->first_made]] == 0)
    return false;
  return !cutting->strict ||
         (cutting->dead_ends == 0 && place >= cutting->last_source);
}

/* Tensors that tasks to come will read; inputs of the net are among them. */
static int64_t count_open(const struct task_graph *graph) {
  int64_t open = 0;
  for (size_t i = 0; i < graph->tensors.count; i++)
    open += graph->tensors.at[i].given && graph->tensors.at[i].readers > 0;
  return open;
}

static int64_t open_change(const struct walk *walk, const struct task *task) {
  const struct task_graph *graph = walk->graph;
  int64_t change = 0;
  for (int k = 0; k < task->read_count; k++)
    change -= walk->left[graph->reads.at[task->first_read + (size_t)k]] == 1;
  for (int k = 0; k < task->made_count; k++)
    change += walk->left[graph->makes.at[task->first_made + (size_t)k]] > 0;
  return change;
}

static size_t *find_makers(const struct task_graph *graph) {
  size_t *maker =
      arena_alloc(graph->arena, graph->tensors.count + 1, sizeof *maker);
  for (size_t i = 0; i < graph->tensors.count; i++)
    maker[i] = SIZE_MAX;
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const struct task *task = &graph->tasks.at[i];
    for (int k = 0; k < task->made_count; k++)
      maker[graph->makes.at[task->first_made + (size_t)k]] = i;
  }
  return maker;
}

/* Each part between cuts is searched if it needs more than any task does. */
static bool improve_parts(struct task_graph *graph, bool strict, int64_t least,
                          size_t *order) {
  struct cutting cutting = begin_cutting(graph, strict);
  size_t *maker = find_makers(graph);
  struct walk walk, start;
  begin(&walk, graph);
  struct part part = {.graph = graph};
  int64_t open = count_open(graph), peak = 0;
  bool exact = true;
  start = walk;
  start.left =
      arena_alloc(graph->arena, graph->tensors.count + 1, sizeof *start.left);
  int64_t *left = start.left;
  memcpy(left, walk.left, graph->tensors.count * sizeof *left);
  for (size_t i = 0; i < graph->tasks.count; i++) {
    const struct task *task = &graph->tasks.at[i];
    open += open_change(&walk, task);
    peak = max_i64(peak, step(&walk, task));
    cutting.dead_ends += is_dead_end(graph, task);
    if (!is_cut(&cutting, &walk, i, open) && i + 1 < graph->tasks.count)
      continue;
    part.count = i + 1 - part.from;
    if (peak > least)
      exact = improve(&part, maker, &start, peak, order) && exact;
    start.live = walk.live;
    /* Only this tensor goes on: what was counted before is over. */
    for (size_t k = part.from; k <= i; k++) {
      const struct task *done = &graph->tasks.at[k];
      for (int r = 0; r < done->read_count; r++) {
        size_t read = graph->reads.at[done->first_read + (size_t)r];
        left[read] = walk.left[read];
      }
    }
    part.from = i + 1;
    peak = 0;
  }
  return exact;
}

/* All bytes together must fit, so that no sum below can overflow. */
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

/* Parts that an order might run across: an order, but not the best one. */
static void try_smaller_parts(struct task_graph *graph, int64_t least,
                              struct schedule *schedule) {
  size_t at;
  size_t *order =
      arena_alloc(graph->arena, graph->tasks.count + 1, sizeof *order);
  for (size_t i = 0; i < graph->tasks.count; i++)
    order[i] = i;
  improve_parts(graph, false, least, order);
  int64_t peak = peak_of(graph, order, &at);
  if (peak < schedule->peak) {
    schedule->order = order;
    schedule->peak = peak;
    schedule->peak_at = at;
  }
}

void schedule(struct task_graph *graph, struct schedule *schedule) {
  graph->overflow = graph->overflow || !sums_fit(graph);
  *schedule = (struct schedule){.order = arena_alloc(graph->arena,
                                                     graph->tasks.count + 1,
                                                     sizeof *schedule->order)};
  for (size_t i = 0; i < graph->tasks.count; i++)
    schedule->order[i] = i;
  if (graph->overflow)
    return;
  schedule->source_peak = peak_of(graph, schedule->order, &schedule->peak_at);
  schedule->peak = schedule->source_peak;
  int64_t least = largest_task(graph);
  schedule->exact = true;
  if (schedule->peak <= least)
    return;
  schedule->exact = improve_parts(graph, true, least, schedule->order);
  schedule->peak = peak_of(graph, schedule->order, &schedule->peak_at);
  if (!schedule->exact)
    try_smaller_parts(graph, least, schedule);
  schedule->exact = schedule->exact || schedule->peak <= least;
}
