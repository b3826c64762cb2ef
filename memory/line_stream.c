/*
 * Streams: inference on windows that slide over the input by rows. Without
 * padding, a line that one window makes is also part of the later windows: it
 * is made once and kept from one run to the next.
 */
#include "memory/line_stream.h"

#include "base/check.h"
#include "memory/line_stages.h"

static const char pads[] = "pads rows";
static const char leaves[] = "leaves rows unread";

/* Records what ends the stream's operations, or why there is no stream. */
static void end_stream(struct tasks *b, int64_t node, const char *fault) {
  b->inference->lines.fault = fault;
  b->inference->lines.advice = fault == pads ? "pad columns alone, `pad=0x1`"
                               : fault == leaves ? "change the input's rows"
                                                 : NULL;
  b->inference->lines.fault_node = (int32_t)node;
}

/* Adds the operation that keeps input lines; or returns why it cannot. */
static const char *add_frames(struct staging *s) {
  const struct tasks *b = s->b;
  int64_t node = b->model->sources.at[0];
  size_t value = b->trace.value_of[node];
  struct strides lies = tape_strides(&b->trace.tape, value);
  if (b->settings->batch != 1)
    return "has a batch of more than 1";
  if (b->model->predicted_sources != 1)
    return "is one of several inputs";
  if (!line_stages_have(s, value, &lies) || lies.dim[0] == 1)
    return "has no rows";
  if (element_bits(b->settings->dtype) < 8)
    return "has values smaller than a byte";
  struct line_op op = {
      .origin = {.part = "rows", .node = (int32_t)node, .op = NO_TAPE_OP},
      .tensor = b->tensor[tasks_root(b, value)] - 1,
      .height = lies.dim[0],
      .first = 1,
      .every = 1};
  op.bytes = b->graph.tensors.at[op.tensor].bytes / op.height;
  *VEC_PUSH(b->graph.arena, &op.maps) =
      (struct line_map){.tensor = op.tensor,
                        .place = 1,
                        .maker = -1,
                        .height = 1,
                        .bytes = op.bytes,
                        .slide = {.extent = 1, .stride = 1}};
  s->ops[s->count++] = op;
  return NULL;
}

static bool lcm_i64(int64_t a, int64_t b, int64_t *out) {
  return mul_i64(a / gcd_i64(a, b), b, out);
}

/*
 * Finds when the last operation makes its lines; or returns why an additional
 * row does not give one more line. The last line always comes with the last row
 * of the window.
 */
static const char *find_times(struct staging *s) {
  struct line_op *op = &s->ops[s->count - 1];
  op->every = 0;
  for (size_t i = 0; i < op->maps.count; i++) {
    const struct line_map *map = &op->maps.at[i];
    const struct slide *slide = &map->slide;
    int64_t read = (op->height - 1) * slide->stride + slide->extent;
    if (map->maker < 0)
      return "needs all rows at once";
    if (slide->before != 0 || read > map->height)
      return pads;
    if (read < map->height)
      return leaves;
    const struct line_op *maker = &s->ops[map->maker];
    int64_t every = maker->every * (op->height > 1 ? slide->stride : 1);
    op->first = maker->first + (slide->extent - 1) * maker->every;
    if (!op->every || op->height == 1) {
      if (!lcm_i64(every, op->every ? op->every : 1, &op->every))
        return "has too many rows";
    } else if (op->every != every) {
      return "joins rows of unequal strides";
    }
  }
  return NULL;
}

/* A map of one row has no further rows to continue with. */
static bool has_one_row(const struct line_op *op) {
  bool one = op->height == 1;
  for (size_t i = 0; i < op->maps.count; i++)
    one = one && op->maps.at[i].height == 1;
  return one;
}

/* Adds a task if it continues from row to row; or returns why it does not. */
static const char *add_task(struct staging *s, size_t number) {
  if (s->count == LINES_MOST_OPS)
    return "comes after too many operations";
  if (!line_stages_add(s, number))
    return "needs all rows at once";
  const char *fault = find_times(s);
  s->count -= fault || has_one_row(&s->ops[s->count - 1]);
  return fault;
}

/* True if a task reads one of the maps that has several rows. */
static bool reads_rows(const struct staging *s, size_t number) {
  const struct task_graph *g = &s->b->graph;
  const struct plan_task *task = &g->tasks.at[number];
  for (int i = 0; i < task->read_count; i++)
    for (size_t k = 0; k < s->count; k++)
      if (s->ops[k].tensor == g->reads.at[task->first_read + (size_t)i] &&
          s->ops[k].height > 1)
        return true;
  return false;
}

/* Puts the added tasks before the others, which read their outputs. */
static void put_first(struct tasks *b, const bool *added) {
  size_t count = b->graph.tasks.count, at = 0;
  struct arena *arena = b->graph.arena;
  struct plan_task *tasks = arena_alloc(arena, count + 1, sizeof *tasks);
  struct task_origin *origins = arena_alloc(arena, count + 1, sizeof *origins);
  for (int rest = 0; rest < 2; rest++)
    for (size_t i = 0; i < count; i++)
      if (added[i] == !rest) {
        tasks[at] = b->graph.tasks.at[i];
        origins[at++] = b->origins[i];
      }
  b->graph.tasks.at = tasks;
  b->origins = origins;
}

/* Adds the stream's tasks and records the first layer where rows end. */
static bool find_stream(struct staging *s) {
  struct tasks *b = s->b;
  bool *added =
      arena_alloc(b->graph.arena, b->graph.tasks.count + 1, sizeof *added);
  for (size_t i = 0; i < b->graph.tasks.count; i++) {
    size_t before = s->count;
    const char *fault = add_task(s, i);
    added[i] = s->count > before;
    if (fault && !b->inference->lines.fault && reads_rows(s, i))
      end_stream(b, b->origins[i].node, fault);
  }
  if (s->count == 1 && !b->inference->lines.fault)
    end_stream(b, b->model->sources.at[0], "is read by no window");
  put_first(b, added);
  return s->count > 1;
}

/* Keeps as many lines as the tallest window reads. */
static void keep_windows(struct staging *s) {
  for (size_t i = 0; i < s->count; i++)
    s->kept[i] = 1;
  for (size_t i = 1; i < s->count; i++)
    for (size_t k = 0; k < s->ops[i].maps.count; k++) {
      const struct line_map *map = &s->ops[i].maps.at[k];
      s->kept[map->maker] = max_i64(s->kept[map->maker], map->slide.extent);
    }
}

/* Finds the rows between outputs: every complete map then has a new line. */
static bool find_hop(struct staging *s) {
  int64_t end;
  s->window = s->ops[0].height;
  s->hop = 1;
  for (size_t i = 1; i < s->count; i++)
    if (s->ops[i].whole && !lcm_i64(s->ops[i].every, s->hop, &s->hop))
      return false;
  return add_i64(s->window, s->hop, &end) && end <= INT32_MAX;
}

/* MACs per output: lines of `hop` rows, and the rest of the net. */
static bool count_macs(const struct staging *s, int64_t *macs) {
  const struct model *model = s->b->model;
  *macs = model->predicted.macs;
  for (size_t i = 1; i < s->count; i++) {
    const struct line_op *op = &s->ops[i];
    enum opcode opcode = tape_lowered(&s->b->trace.tape, op->origin.op)->opcode;
    int64_t own = model_cost(model, op->origin.node)->macs;
    if (opcode != DOES_CONV)
      continue;
    *macs -= own;
    if (!add_product_i64(own / op->height, s->hop / op->every, macs))
      return false;
  }
  return true;
}

void line_stream_find(struct tasks *b) {
  struct staging s = {.b = b, .stream = true};
  struct line_buffers lines;
  int64_t macs;
  if (b->graph.overflow || b->overflow)
    return;
  int64_t input = b->model->sources.at[0];
  struct plan_task *tasks = b->graph.tasks.at;
  struct task_origin *origins = b->origins;
  const char *fault = add_frames(&s);
  if (fault)
    end_stream(b, input, fault);
  if (fault || !find_stream(&s))
    return;
  s.made = arena_alloc(b->graph.arena, s.count + 1, sizeof *s.made);
  s.kept = arena_alloc(b->graph.arena, s.count + 1, sizeof *s.kept);
  keep_windows(&s);
  b->overflow = !line_stages_lay(&s, s.count, &lines);
  if (b->overflow)
    return;
  if (s.ops[0].whole)
    fault = "is also read as a whole";
  else if (!find_hop(&s) || !count_macs(&s, &macs))
    fault = "has too many rows";
  if (fault) {
    end_stream(b, input, fault);
    b->graph.tasks.at = tasks;
    b->origins = origins;
    return;
  }
  line_stages_take(&s, s.count);
  b->inference->lines.macs = macs;
}
