/* Line buffers: the first stages of a prediction, made line by line. */
#include "memory/line_buffers.h"

#include "base/check.h"
#include "memory/q8.h"
#include "runtime/line_buffer.h"
#include "sema/model/weights.h"

static const bool by_value[] = {
#define OP(code, name, ins, most, numbers, reals, elementwise) elementwise,
#include "runtime/ops.def"
#undef OP
};

/* Each value of a line follows from the same line of what is read. */
static bool keeps_lines(enum opcode opcode) {
  return opcode > DOES_VIEW && by_value[opcode - (DOES_VIEW + 1)] &&
         opcode != DOES_MASK && opcode != DOES_RELATIVE;
}

int line_buffers_before(enum opcode opcode) {
  switch (opcode) {
  case DOES_CONV:
  case DOES_MAXPOOL: return 3;
  case DOES_AVGPOOL: return 4;
  default: return -1;
  }
}

/* The stages as they are looked for. */
struct staging {
  struct tasks *b;
  struct line_op ops[LINES_MOST_OPS];
  size_t count; /* that may be made line by line */
  int64_t *made, *kept;
  int64_t below; /* of the last one's output and the input: struct plan_task */
};

static struct strides lies_at(const struct staging *s, size_t index,
                              int place) {
  const struct tape *tape = &s->b->trace.tape;
  size_t at = tape_lowered(tape, index)->first_strides + (size_t)place;
  return tape_strides_at(tape, tape->strides.at[at]);
}

/* All of a tensor of the net, with lines. */
static bool has_lines(const struct staging *s, size_t value,
                      const struct strides *lies) {
  const struct tasks *b = s->b;
  size_t root = tasks_root(b, value);
  const struct extent *extent = tape_storage_extent(&b->trace.tape, root);
  return b->tensor[root] && lies->rank >= 2 && lies->rank < LINES_MOST_RANK &&
         lies->offset == 0 && strides_are_dense(lies) &&
         strides_values(lies) == extent->count && !extent->fixed &&
         extent->width == WIDTH_NET;
}

/* Windows that all have a line of the map. */
static bool window_fits(const struct slide *slide, int64_t height,
                        int64_t lines) {
  return slide->before < slide->extent &&
         (lines - 1) * slide->stride - slide->before < height;
}

/* A value that operation `index` reads as operand `place`. */
static bool add_map(struct staging *s, struct line_op *op, size_t value,
                    const struct strides *in, int place,
                    const struct slide *slide) {
  const struct tasks *b = s->b;
  if (!has_lines(s, value, in) || !window_fits(slide, in->dim[0], op->height))
    return false;
  struct line_map map = {.tensor = b->tensor[tasks_root(b, value)] - 1,
                         .place = place,
                         .maker = -1,
                         .height = in->dim[0],
                         .slide = *slide};
  for (size_t i = 0; i < s->count; i++)
    if (s->ops[i].tensor == map.tensor)
      map.maker = (int64_t)i;
  map.bytes = b->graph.tensors.at[map.tensor].bytes / map.height;
  *VEC_PUSH(b->graph.arena, &op->maps) = map;
  return true;
}

/* Of a concat, along channels or a later axis than lines. */
static bool joins_lines(const struct staging *s, size_t index) {
  const struct tape *tape = &s->b->trace.tape;
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  return lowered->opcode == DOES_CONCAT &&
         tape->numbers.at[lowered->first_number] > 1;
}

/* Weights of 8 bits beside other values have an operand of scales. */
static int has_scales(const struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  return tape_lowered(tape, index)->weight_count > 0 &&
         b->settings->weight_dtype == KERNELS_I8 &&
         b->model->params.at[tape->params.at[tape->ops.at[index].first_param]]
             .narrow;
}

static bool add_maps(struct staging *s, size_t index, struct line_op *op) {
  const struct tape *tape = &s->b->trace.tape;
  const struct tape_op *at = &tape->ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  struct slide slide = {.extent = 1, .stride = 1};
  bool window = lowered->slide.extent && at->facts->in_count == 1 &&
                line_buffers_before(lowered->opcode) >= 0;
  if (window)
    slide = lowered->slide;
  else if (!keeps_lines(lowered->opcode) && !joins_lines(s, index))
    return false;
  int input;
  for (int i = 0; i < at->facts->in_count; i++) {
    struct strides in = lies_at(s, index, i);
    if (!add_map(s, op, tape_input(tape, at, i), &in, 1 + i, &slide) ||
        (!window && in.dim[0] != op->height))
      return false;
  }
  size_t sum = tasks_joined(s->b, index, &input);
  if (sum == SIZE_MAX)
    return true;
  struct strides in = lies_at(s, sum, input);
  int folds =
      tasks_folded(s->b, index) != SIZE_MAX && !tasks_has_bias(s->b, index);
  return add_map(s, op, tape_input(tape, &tape->ops.at[sum], input), &in,
                 1 + at->facts->in_count + lowered->weight_count + folds +
                     has_scales(s->b, index),
                 &(struct slide){.extent = 1, .stride = 1});
}

/* Operands of an operation, at most. */
static int count_operands(const struct staging *s, size_t index) {
  const struct tape *tape = &s->b->trace.tape;
  enum { MORE = 3 }; /* a bias and a sum, or what 8 bits read */
  return 1 + tape->ops.at[index].facts->in_count +
         tape_lowered(tape, index)->weight_count + MORE;
}

/* Whether a task may be made line by line, after those before it. */
static bool add_op(struct staging *s, size_t number) {
  const struct tasks *b = s->b;
  const struct plan_task *task = &b->graph.tasks.at[number];
  size_t index = b->origins[number].op;
  const struct tape_op *at = &b->trace.tape.ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(&b->trace.tape, index);
  if (s->count == LINES_MOST_OPS || task->made_count != 1 || task->work ||
      lowered->opcode <= DOES_VIEW ||
      count_operands(s, index) > LINES_MOST_OPERANDS ||
      (b->small && q8_form_of(b, index).opcode == DOES_UNKNOWN))
    return false;
  struct strides out =
      lies_at(s, index, at->facts->in_count + lowered->weight_count);
  if (!has_lines(s, at->first_out, &out))
    return false;
  struct line_op op = {.origin = b->origins[number],
                       .tensor = b->graph.makes.at[task->first_made],
                       .height = out.dim[0]};
  op.bytes = b->graph.tensors.at[op.tensor].bytes / op.height;
  if (element_bits(b->settings->dtype) < 8 || !add_maps(s, index, &op) ||
      op.maps.count == 0)
    return false;
  s->ops[s->count++] = op;
  return true;
}

/* How many lines are kept: the runtime's order, line by line. */

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

/* With one more line of operation `i`. */
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
 * How far below what is there before the last operation's map must begin, so
 * that its next line lies before all that is still to be read of it.
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

/* Of the first `count` operations: always the last one that is ready. */
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

/* The graph in which the first tasks are one. */

/* Tasks from `count` on that read a tensor. */
static int32_t count_readers(const struct task_graph *g, size_t count,
                             uint32_t tensor) {
  int32_t readers = 0;
  for (size_t i = count; i < g->tasks.count; i++)
    for (int k = 0; k < g->tasks.at[i].read_count; k++)
      readers += g->reads.at[g->tasks.at[i].first_read + (size_t)k] == tensor;
  return readers;
}

/* Where each map lies that is no tensor of the graph any more. */
static bool lay_lines(struct staging *s, size_t count,
                      struct line_buffers *lines) {
  const struct task_graph *g = &s->b->graph;
  int64_t align = s->b->settings->align;
  lines->count = count;
  lines->bytes = 0;
  for (size_t i = 0; i < count; i++) {
    struct line_op *op = &s->ops[i];
    op->whole = g->tensors.at[op->tensor].lasts ||
                count_readers(g, count, op->tensor) > 0;
    op->kept = op->whole ? op->height : s->kept[i];
    op->offset = lines->bytes;
    int64_t bytes = op->whole ? 0 : op->kept * op->bytes;
    if (!mul_i64(ceil_div_i64(bytes, align), align, &bytes) ||
        !add_i64(lines->bytes, bytes, &lines->bytes))
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

/* Arrays of their own, so that another count can be tried. */
static struct task_graph merge(struct staging *s, size_t count, int64_t work) {
  const struct task_graph *from = &s->b->graph;
  struct task_graph g = {.arena = from->arena, .overlaps = from->overlaps};
  struct plan_task task = {.work = work};
  for (size_t i = 0; i < from->tensors.count; i++)
    *VEC_PUSH(g.arena, &g.tensors) = from->tensors.at[i];
  for (size_t i = 0; i < from->reads.count; i++)
    *VEC_PUSH(g.arena, &g.reads) = from->reads.at[i];
  for (size_t i = 0; i < from->makes.count; i++)
    *VEC_PUSH(g.arena, &g.makes) = from->makes.at[i];
  add_reads(s, count, &g, &task);
  add_makes(s, count, &g, &task);
  if (task.read_count == 1 && task.made_count == 1 && s->ops[count - 1].whole &&
      tasks_may_overlap(s->b->settings)) {
    task.below = s->below;
    task.above = from->tensors.at[g.reads.at[task.first_read]].bytes;
    g.overlaps = true;
  }
  *VEC_PUSH(g.arena, &g.tasks) = task;
  for (size_t i = count; i < from->tasks.count; i++)
    *VEC_PUSH(g.arena, &g.tasks) = from->tasks.at[i];
  for (size_t i = 0; i < g.tensors.count; i++)
    g.tensors.at[i].readers = count_readers(&g, 0, (uint32_t)i);
  for (size_t i = 0; i < count; i++)
    if (!s->ops[i].whole)
      g.tensors.at[s->ops[i].tensor].bytes = 0;
  return g;
}

/* The peak with the first `count` tasks as one; INT64_MAX: it is not known. */
static int64_t peak_with(struct staging *s, size_t count) {
  struct line_buffers lines;
  struct schedule order;
  count_lines(s, count);
  if (!lay_lines(s, count, &lines))
    return INT64_MAX;
  struct task_graph g = merge(s, count, lines.bytes);
  schedule_find(&g, &order);
  return g.overflow ? INT64_MAX : order.peak;
}

static void take(struct staging *s, size_t count) {
  struct tasks *b = s->b;
  struct arena *arena = b->graph.arena;
  struct line_buffers *lines = ARENA_NEW(arena, struct line_buffers);
  count_lines(s, count);
  lay_lines(s, count, lines);
  lines->ops = arena_alloc(arena, count + 1, sizeof *lines->ops);
  memcpy(lines->ops, s->ops, count * sizeof *lines->ops);
  b->graph = merge(s, count, lines->bytes);
  b->origins[count - 1].part = "lines";
  b->origins += count - 1;
  b->lines = lines;
  b->inference->lines =
      (struct inference_lines){.count = count,
                               .first = lines->ops[0].origin.node,
                               .last = lines->ops[count - 1].origin.node,
                               .bytes = lines->bytes};
}

void line_buffers_find(struct tasks *b) {
  struct staging s = {.b = b};
  struct schedule order;
  size_t best = 0;
  if (b->settings->batch != 1 || b->graph.overflow || b->overflow)
    return;
  while (s.count < b->graph.tasks.count && add_op(&s, s.count))
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
  if (best)
    take(&s, best);
}

const struct line_op *line_buffers_of(const struct tasks *b, size_t tensor) {
  for (size_t i = 0; b->lines && i < b->lines->count; i++)
    if (b->lines->ops[i].tensor == tensor)
      return b->lines->ops[i].whole ? NULL : &b->lines->ops[i];
  return NULL;
}
