/* Line buffers: finds the first stages of inference that run line by line. */
#include "memory/line_buffers.h"

#include "base/check.h"
#include "memory/line_stages.h"

/* Counts the lines to keep by running the stages in the runtime's order. */

/* The first line of a map that the next line of operation `i` reads. */
static int64_t first_read(const struct staging *s, size_t i,
                          const struct line_map *map) {
  return max_i64(s->made[i] * map->slide.stride - map->slide.before, 0);
}

static bool is_ready(const struct staging *s, size_t i) {
  if (s->made[i] == s->ops[i].height)
    return false;
  for (size_t k = 0; k < s->ops[i].maps.count; k++) {
    const struct line_map *map = &s->ops[i].maps.at[k];
    int64_t last =
        s->made[i] * map->slide.stride - map->slide.before + map->slide.extent;
    if (map->maker >= 0 &&
        s->made[map->maker] < min_i64(last, s->ops[map->maker].height))
      return false;
  }
  return true;
}

/* Counts one more line of operation `i`. */
static void count_line(struct staging *s, size_t i, size_t count) {
  int64_t oldest = s->made[i]++;
  for (size_t k = i + 1; k < count; k++)
    for (size_t m = 0; m < s->ops[k].maps.count; m++)
      if (s->ops[k].maps.at[m].maker == (int64_t)i &&
          s->made[k] < s->ops[k].height)
        oldest = min_i64(oldest, first_read(s, k, &s->ops[k].maps.at[m]));
  s->kept[i] = max_i64(s->kept[i], s->made[i] - oldest);
}

/*
 * Finds how far below an existing input the last operation's map must begin, so
 * that its next line ends before every line that is still to be read.
 */
static void count_overlap(struct staging *s, size_t count) {
  const struct line_op *last = &s->ops[count - 1];
  int64_t end = (s->made[count - 1] + 1) * last->bytes;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < s->ops[i].maps.count; k++) {
      const struct line_map *map = &s->ops[i].maps.at[k];
      int64_t low = map->height;
      if (map->maker >= 0)
        continue;
      if (s->made[i] < s->ops[i].height)
        low = min_i64(low, first_read(s, i, map));
      s->below = max_i64(s->below, end - low * map->bytes);
    }
}

/* Simulates `count` operations; the last one that is ready runs next. */
static void count_lines(struct staging *s, size_t count) {
  s->below = 0;
  for (size_t i = 0; i < count; i++)
    s->made[i] = s->kept[i] = 0;
  for (size_t i = count; i-- > 0;)
    if (is_ready(s, i)) {
      if (i == count - 1)
        count_overlap(s, count);
      count_line(s, i, count);
      i = count;
    }
}

/* The graph after the first tasks are merged into one */

/* Counts the reads of a tensor by tasks from `count` on. */
static int32_t count_readers(const struct task_graph *g, size_t count,
                             uint32_t tensor) {
  int32_t readers = 0;
  for (size_t i = count; i < g->tasks.count; i++)
    for (int k = 0; k < g->tasks.at[i].read_count; k++)
      readers += g->reads.at[g->tasks.at[i].first_read + (size_t)k] == tensor;
  return readers;
}

/* Counts the readers of all tensors in one pass. */
static void count_all_readers(struct task_graph *g) {
  for (size_t i = 0; i < g->tensors.count; i++)
    g->tensors.at[i].readers = 0;
  for (size_t i = 0; i < g->tasks.count; i++)
    for (int k = 0; k < g->tasks.at[i].read_count; k++) {
      uint32_t read = g->reads.at[g->tasks.at[i].first_read + (size_t)k];
      g->tensors.at[read].readers++;
    }
}

/* Rounds bytes up to the alignment of the next offset. */
static bool align_bytes(const struct staging *s, int64_t *bytes) {
  int64_t align = s->b->settings->align;
  return mul_i64(ceil_div_i64(*bytes, align), align, bytes);
}

/* Places each map that is no longer a tensor of the graph. For a stream, also
 * finds after how many rows its lines come. */
bool line_stages_lay(struct staging *s, size_t count,
                     struct line_buffers *lines) {
  const struct task_graph *g = &s->b->graph;
  lines->count = count;
  lines->window = s->window;
  lines->hop = s->hop;
  lines->bytes = s->stream ? 4 : 0;
  if (!align_bytes(s, &lines->bytes))
    return false;
  for (size_t i = 0; i < count; i++) {
    struct line_op *op = &s->ops[i];
    op->whole = g->tensors.at[op->tensor].lasts ||
                count_readers(g, count - s->stream, op->tensor) > 0;
    op->kept = op->whole ? op->height : s->kept[i];
    op->offset = lines->bytes;
    int64_t bytes = op->whole ? 0 : op->kept * op->bytes;
    if (!align_bytes(s, &bytes) || !add_i64(lines->bytes, bytes, &lines->bytes))
      return false;
  }
  return true;
}

static void add_reads(const struct staging *s, size_t count,
                      struct task_graph *g, struct plan_task *task) {
  task->first_read = (uint32_t)g->reads.count;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < s->ops[i].maps.count; k++) {
      const struct line_map *map = &s->ops[i].maps.at[k];
      bool known = map->maker >= 0;
      for (size_t r = task->first_read; r < g->reads.count; r++)
        known = known || g->reads.at[r] == map->tensor;
      if (known)
        continue;
      *VEC_PUSH(g->arena, &g->reads) = map->tensor;
      task->read_count++;
    }
}

static void add_makes(const struct staging *s, size_t count,
                      struct task_graph *g, struct plan_task *task) {
  task->first_made = (uint32_t)g->makes.count;
  for (size_t i = 0; i < count; i++)
    if (s->ops[i].whole) {
      *VEC_PUSH(g->arena, &g->makes) = s->ops[i].tensor;
      task->made_count++;
    }
}

/* The lines of a stream stay from one run to the next. */
static void add_state(struct task_graph *g, struct plan_task *task) {
  *VEC_PUSH(g->arena, &g->reads) = (uint32_t)g->tensors.count;
  *VEC_PUSH(g->arena, &g->tensors) =
      (struct plan_tensor){.bytes = task->work, .lasts = true, .given = true};
  task->read_count++;
  task->work = 0;
}

/* Copies the arrays, so that another count can be tried. */
static struct task_graph merge(struct staging *s, size_t count, int64_t work,
                               struct arena *arena) {
  const struct task_graph *from = &s->b->graph;
  struct task_graph g = {.arena = arena, .overlaps = from->overlaps};
  struct plan_task task = {.work = work};
  for (size_t i = 0; i < from->tensors.count; i++)
    *VEC_PUSH(g.arena, &g.tensors) = from->tensors.at[i];
  for (size_t i = 0; i < from->reads.count; i++)
    *VEC_PUSH(g.arena, &g.reads) = from->reads.at[i];
  for (size_t i = 0; i < from->makes.count; i++)
    *VEC_PUSH(g.arena, &g.makes) = from->makes.at[i];
  add_reads(s, count, &g, &task);
  if (s->stream)
    add_state(&g, &task);
  add_makes(s, count, &g, &task);
  if (!s->stream && task.read_count == 1 && task.made_count == 1 &&
      s->ops[count - 1].whole && tasks_may_overlap(s->b->settings)) {
    task.below = s->below;
    task.above = from->tensors.at[g.reads.at[task.first_read]].bytes;
    g.overlaps = true;
  }
  *VEC_PUSH(g.arena, &g.tasks) = task;
  for (size_t i = count - s->stream; i < from->tasks.count; i++)
    *VEC_PUSH(g.arena, &g.tasks) = from->tasks.at[i];
  count_all_readers(&g);
  for (size_t i = 0; i < count; i++)
    if (!s->ops[i].whole)
      g.tensors.at[s->ops[i].tensor].bytes = 0;
  if (s->stream)
    g.tensors.at[s->ops[0].tensor].bytes = s->ops[0].bytes;
  for (size_t i = 0; i < count && s->stream; i++)
    if (s->ops[i].whole && s->ops[i].height > 1)
      g.tensors.at[s->ops[i].tensor].lasts = true; /* for the next run */
  return g;
}

/* The peak if the first `count` tasks are one; INT64_MAX: unknown. */
static int64_t peak_with(struct staging *s, size_t count) {
  struct line_buffers lines;
  struct schedule order;
  count_lines(s, count);
  if (!line_stages_lay(s, count, &lines))
    return INT64_MAX;
  struct arena scratch;
  arena_open_in(&scratch, s->b->graph.arena);
  struct task_graph g = merge(s, count, lines.bytes, &scratch);
  schedule_find(&g, &order);
  arena_close(&scratch);
  return g.overflow ? INT64_MAX : order.peak;
}

void line_stages_take(struct staging *s, size_t count) {
  struct tasks *b = s->b;
  struct arena *arena = b->graph.arena;
  struct line_buffers *lines = ARENA_NEW(arena, struct line_buffers);
  line_stages_lay(s, count, lines);
  lines->state = b->graph.tensors.count;
  lines->ops = arena_alloc(arena, count + 1, sizeof *lines->ops);
  memcpy(lines->ops, s->ops, count * sizeof *lines->ops);
  b->graph = merge(s, count, lines->bytes, arena);
  b->origins += count - s->stream - 1;
  b->origins[0].part = "lines";
  b->lines = lines;
  struct inference_lines *found = &b->inference->lines;
  found->count = count;
  found->window = s->window;
  found->hop = s->hop;
  found->first = lines->ops[s->stream].origin.node;
  found->last = lines->ops[count - 1].origin.node;
  found->bytes = lines->bytes;
  for (size_t i = 0; i < count; i++)
    if (line_op_stays(lines, i))
      found->bytes += lines->ops[i].height * lines->ops[i].bytes;
}

void line_buffers_find(struct tasks *b) {
  struct staging s = {.b = b};
  struct schedule order;
  size_t best = 0;
  if (b->settings->batch != 1 || b->graph.overflow || b->overflow)
    return;
  while (s.count < b->graph.tasks.count && line_stages_add(&s, s.count))
    ;
  s.made = arena_alloc(b->graph.arena, s.count + 1, sizeof *s.made);
  s.kept = arena_alloc(b->graph.arena, s.count + 1, sizeof *s.kept);
  schedule_find(&b->graph, &order);
  int64_t least = order.peak;
  for (size_t count = 2; count <= s.count; count++) {
    int64_t peak = peak_with(&s, count);
    if (peak < least) {
      least = peak;
      best = count;
    }
  }
  if (!best)
    return;
  count_lines(&s, best);
  line_stages_take(&s, best);
}

const struct line_op *line_buffers_of(const struct tasks *b, size_t tensor) {
  for (size_t i = 0; b->lines && i < b->lines->count; i++)
    if (b->lines->ops[i].tensor == tensor)
      return b->lines->ops[i].whole ? NULL : &b->lines->ops[i];
  return NULL;
}
