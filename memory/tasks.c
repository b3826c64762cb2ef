/* Tasks: the operations that inference has to run, before they are planned. */
#include "layers/tape/lowering.h"
#include "memory/q8.h"

#include "base/check.h"
#include "memory/step/training.h"

static int64_t bytes_of(struct tasks *b, const struct extent *extent) {
  return extent_bytes(extent, b->settings->batch, b->settings->dtype, 1,
                      &b->overflow);
}

size_t tasks_root(const struct tasks *b, size_t value) {
  size_t storage = b->trace.tape.values.at[value].storage;
  while (b->root[storage] != storage)
    storage = b->root[storage];
  return storage;
}

static size_t add_tensor(struct tasks *b, size_t storage) {
  struct plan_tensor *tensor = VEC_PUSH(b->graph.arena, &b->graph.tensors);
  tensor->bytes = bytes_of(b, tape_storage_extent(&b->trace.tape, storage));
  return b->tensor[storage] =
             tape_place(&b->trace.tape, b->graph.tensors.count);
}

static void find_tied(struct tasks *b) {
  const struct model *model = b->model;
  b->tied = arena_alloc(b->arena, model->params.count + 1, sizeof *b->tied);
  for (size_t i = 0; i < model->params.count; i++)
    if (model->params.at[i].shared)
      b->tied[model->params.at[i].same] = true;
}

/* True if several layers share a weight; a norm of one cannot fold into it. */
static bool has_tied(const struct tasks *b, int64_t index) {
  const struct node *node = &b->model->nodes.at[index];
  for (int i = 0; i < node->param_count; i++)
    if (b->tied[b->model->params.at[node->first_param + (size_t)i].same])
      return true;
  return false;
}

/* True if a factor and a term per output can be folded into the weights. */
static bool multiplies(const struct tasks *b, size_t index) {
  enum opcode opcode = tape_lowered(&b->trace.tape, index)->opcode;
  return opcode == DOES_CONV || opcode == DOES_DECONV ||
         opcode == DOES_DEFORMCONV || opcode == DOES_LINEAR;
}

/*
 * True if a batch norm folds into the weights of the layer before it. Its
 * output then shares the storage of its input.
 */
static bool folds(const struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  if (!op->facts->folds || index == 0 ||
      b->model->nodes.at[op->node].copies > 1 ||
      b->settings->fold == TOGGLE_OFF)
    return false;
  size_t in = tape_input(tape, op, 0);
  const struct tape_op *before = &tape->ops.at[index - 1];
  return multiplies(b, index - 1) && before->first_out == in &&
         b->reads[in] == 1 && !has_tied(b, before->node) &&
         !has_tied(b, op->node);
}

size_t tasks_folded(const struct tasks *b, size_t index) {
  return index + 1 < b->trace.tape.ops.count && folds(b, index + 1) ? index + 1
                                                                    : SIZE_MAX;
}

/* Strides of a value that an operation reads or makes. */
static struct strides lies_at(const struct tasks *b, size_t index, int place) {
  const struct tape *tape = &b->trace.tape;
  size_t at = tape_lowered(tape, index)->first_strides + (size_t)place;
  return tape_strides_at(tape, tape->strides.at[at]);
}

/* True if a value is all of its tensor, contiguous from offset 0. */
static bool is_whole(const struct tasks *b, size_t value,
                     const struct strides *lies) {
  const struct tape *tape = &b->trace.tape;
  const struct extent *extent = tape_storage_extent(tape, tasks_root(b, value));
  return lies->offset == 0 && lies->rank > 0 && strides_are_dense(lies) &&
         strides_values(lies) == extent->count && extent->width == WIDTH_NET &&
         !extent->fixed;
}

static bool same_sizes(const struct strides *a, const struct strides *b) {
  return a->rank == b->rank &&
         memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0;
}

size_t tasks_joined(const struct tasks *b, size_t index, int *input) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  enum opcode opcode = tape_lowered(tape, index)->opcode;
  if ((opcode != DOES_CONV && opcode != DOES_LINEAR) ||
      op->facts->in_count != 1 || op->facts->out_count != 1)
    return SIZE_MAX;
  size_t last = tasks_folded(b, index);
  last = last == SIZE_MAX ? index : last;
  if (last + 1 >= tape->ops.count ||
      tape_lowered(tape, last + 1)->opcode != DOES_ADD)
    return SIZE_MAX;
  const struct tape_op *sum = &tape->ops.at[last + 1];
  size_t made = tape->ops.at[last].first_out;
  if (sum->facts->in_count != 2 || b->reads[made] != 1 ||
      b->settings->fuse == TOGGLE_OFF || element_is_integer(b->settings->dtype))
    return SIZE_MAX;
  *input = tape_input(tape, sum, 0) == made ? 1 : 0;
  size_t other = tape_input(tape, sum, *input);
  struct strides out =
      lies_at(b, index, 1 + tape_lowered(tape, index)->weight_count);
  struct strides own = lies_at(b, last + 1, 1 - *input);
  struct strides joins = lies_at(b, last + 1, *input);
  return tape_input(tape, sum, 1 - *input) == made && other != made &&
                 same_sizes(&out, &own) && same_sizes(&out, &joins) &&
                 is_whole(b, made, &own) && is_whole(b, other, &joins)
             ? last + 1
             : SIZE_MAX;
}

bool tasks_has_bias(const struct tasks *b, size_t index) {
  return tape_lowered(&b->trace.tape, index)->weight_count > 1;
}

static void count_reads(struct tasks *b) {
  const struct tape *tape = &b->trace.tape;
  for (size_t i = 0; i < tape->ops.count; i++)
    for (int k = 0; k < tape->ops.at[i].facts->in_count; k++)
      b->reads[tape_input(tape, &tape->ops.at[i], k)]++;
  for (size_t i = 0; i < b->model->predicted_outputs; i++)
    b->reads[b->trace.value_of[b->model->outputs.at[i].node]]++;
}

/* Values that folding saves: a batch norm has four vectors, a bias has one. */
static int64_t folded_values(const struct tasks *b, size_t index) {
  const struct tape_op *op = &b->trace.tape.ops.at[index];
  const struct model *model = b->model;
  const struct node *node = &model->nodes.at[op->node];
  int64_t values = 0;
  for (int i = 0; i < node->param_count; i++) {
    const struct model_param *param =
        &model->params.at[node->first_param + (size_t)i];
    if (!param->shared)
      values += param->count; /* cannot overflow: at most the total */
  }
  if (!tasks_has_bias(b, index - 1))
    values -= shape_channels(node->out);
  return values;
}

static void note_fold(struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *into = &tape->ops.at[index - 1];
  const uint32_t *params = &tape->params.at[into->first_param];
  *VEC_PUSH(b->model->arena, &b->inference->folds) =
      (struct fold){.norm = tape->ops.at[index].node,
                    .into = into->node,
                    .weight = params[0],
                    .bias = params[tasks_has_bias(b, index - 1) ? 1 : 0]};
}

/* Finds storages that share memory: views, and with a batch of 1 copies. */
static void find_roots(struct tasks *b) {
  const struct tape *tape = &b->trace.tape;
  for (size_t i = 0; i < tape->storages.count; i++) {
    size_t view_of = tape->storages.at[i].view_of;
    b->root[i] =
        (uint32_t)(view_of && b->settings->batch == 1 ? view_of - 1 : i);
  }
  for (size_t i = 0; i < tape->ops.count; i++)
    if (folds(b, i)) {
      const struct tape_op *op = &tape->ops.at[i];
      b->root[tape->values.at[op->first_out].storage] =
          (uint32_t)tasks_root(b, tape_input(tape, op, 0));
      b->folded += folded_values(b, i);
      note_fold(b, i);
    }
}

/* Merges an operation into the one that makes its input `input`. */
static void join_maker(struct tasks *b, size_t index, int input) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  size_t root = tasks_root(b, tape_input(tape, op, input));
  b->root[tape->values.at[op->first_out].storage] = (uint32_t)root;
  *VEC_PUSH(b->model->arena, &b->inference->merged) =
      (struct merged){op->node, tape->storages.at[root].node};
}

/* Merges clamps of int8 values into the operation before them. */
static void find_clamps(struct tasks *b) {
  for (size_t i = 0; i < b->trace.tape.ops.count; i++)
    if (q8_clamps(b, i))
      join_maker(b, i, 0);
}

/* Merges sums into an operation that starts from the other addend. */
static void find_joins(struct tasks *b) {
  int input;
  for (size_t i = 0; i < b->trace.tape.ops.count; i++) {
    size_t sum = tasks_joined(b, i, &input);
    if (sum != SIZE_MAX)
      join_maker(b, sum, 1 - input);
  }
}

/* Inputs of the net exist before the first task. */
static void add_inputs(struct tasks *b) {
  for (size_t i = 0; i < b->model->predicted_sources; i++) {
    size_t value = b->trace.value_of[b->model->sources.at[i]];
    size_t tensor = add_tensor(b, b->trace.tape.values.at[value].storage);
    b->graph.tensors.at[tensor - 1].given = true;
  }
}

/* True if an operation reads all of a tensor in the order of its writes. */
static bool in_step(const struct tasks *b, size_t index, size_t tensor) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  for (int i = 0; i < op->facts->in_count; i++) {
    size_t at = lowered->first_strides + (size_t)i;
    struct strides lies = tape_strides_at(tape, tape->strides.at[at]);
    size_t value = tape_input(tape, op, i);
    if (b->tensor[tasks_root(b, value)] == tensor &&
        (lies.offset || !strides_are_dense(&lies)))
      return false;
  }
  return true;
}

/* The node with this output; results inside a layer have their own name. */
static struct task_origin origin_of(const struct tasks *b, size_t index) {
  const struct tape_op *op = &b->trace.tape.ops.at[index];
  bool last = index + 1 == b->trace.op_end[op->node];
  return (struct task_origin){last ? NULL : op->facts->name, op->node,
                              (uint32_t)index};
}

static void add_read(struct tasks *b, size_t tensor, bool spared,
                     struct plan_task *task) {
  if (!tensor || b->stamp[tensor] == b->graph.tasks.count)
    return; /* a parameter, or counted already */
  b->stamp[tensor] = tape_place(&b->trace.tape, b->graph.tasks.count);
  *VEC_PUSH(b->graph.arena, &b->graph.reads) = (uint32_t)tensor - 1;
  b->graph.tensors.at[tensor - 1].readers++;
  if (spared && task->read_count < 32)
    task->spared |= (uint32_t)1 << task->read_count;
  task->read_count++;
}

/* The addend may be overwritten, the inputs of the product may not. */
static void add_reads(struct tasks *b, size_t index, struct plan_task *task) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  int input;
  size_t sum = tasks_joined(b, index, &input);
  task->first_read = tape_place(tape, b->graph.reads.count);
  for (int i = 0; i < op->facts->in_count; i++) {
    size_t tensor = b->tensor[tasks_root(b, tape_input(tape, op, i))];
    bool spared =
        sum != SIZE_MAX || (task->elementwise && !in_step(b, index, tensor));
    add_read(b, tensor, spared, task);
  }
  if (sum == SIZE_MAX)
    return;
  task->elementwise = true;
  size_t begins = tape_input(tape, &tape->ops.at[sum], input);
  add_read(b, b->tensor[tasks_root(b, begins)], false, task);
}

bool tasks_may_overlap(const struct infer_settings *settings) {
  return settings->overlap ? settings->overlap == TOGGLE_ON
                           : element_is_integer(settings->dtype);
}

/* Bytes of a row; false for types below a byte: rows may begin inside one. */
static bool row_bytes(struct tasks *b, const struct strides *lies,
                      int64_t *bytes) {
  return element_bits(b->settings->dtype) >= 8 &&
         element_bytes(b->settings->dtype, strides_values(lies) / lies->dim[0],
                       bytes);
}

/*
 * Finds the distances at which a window's input and output may overlap. Row i
 * is written before any row below those it reads is overwritten. If written
 * from the first row on, it ends at or before the first row that it or a later
 * one reads. If written from the last row on, it begins at or after the end of
 * the rows that it or an earlier one reads.
 */
static void find_overlap(struct tasks *b, size_t index,
                         struct plan_task *task) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  const struct tape_lowered *lowered = tape_lowered(tape, index);
  const struct slide *slide = &lowered->slide;
  size_t at = lowered->first_strides;
  if (!slide->extent || op->facts->in_count != 1 || task->elementwise ||
      b->overflow || !tasks_may_overlap(b->settings))
    return;
  struct strides in = tape_strides_at(tape, tape->strides.at[at]);
  struct strides out = tape_strides_at(
      tape, tape->strides.at[at + 1 + (size_t)lowered->weight_count]);
  int64_t read, made;
  if (!is_whole(b, tape_input(tape, op, 0), &in) ||
      !is_whole(b, op->first_out, &out) || !row_bytes(b, &in, &read) ||
      !row_bytes(b, &out, &made))
    return;
  int64_t last = b->settings->batch - 1;
  int64_t apart = last * (out.dim[0] * made - in.dim[0] * read);
  /* Both are linear in i between the rows where a window meets an edge. */
  const int64_t edges[] = {0, in.dim[0], -slide->extent,
                           in.dim[0] - slide->extent,
                           out.dim[0] * slide->stride};
  for (size_t k = 0; k < sizeof edges / sizeof *edges; k++)
    for (int64_t more = -1; more <= 1; more++) {
      int64_t i = (edges[k] + slide->before) / slide->stride + more;
      i = min_i64(max_i64(i, 0), out.dim[0] - 1);
      int64_t from = i * slide->stride - slide->before;
      int64_t low = min_i64(max_i64(from, 0), in.dim[0]);
      int64_t high = min_i64(max_i64(from + slide->extent, 0), in.dim[0]);
      task->below = max_i64(task->below, (i + 1) * made - low * read);
      task->above = max_i64(task->above, high * read - i * made);
    }
  task->below += max_i64(apart, 0);
  task->above += max_i64(-apart, 0);
  b->graph.overlaps = true;
}

static void add_q8(struct tasks *b, size_t index) {
  struct q8_form form = q8_form_of(b, index);
  if (!add_i64(b->q8_bytes, q8_bytes(&form), &b->q8_bytes))
    b->overflow = true;
}

/* Views are no tasks of inference. */
static void add_task(struct tasks *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  if (op->facts->result == RESULT_VIEW)
    return;
  size_t first = tape->values.at[op->first_out].storage;
  if (b->root[first] != first)
    return;
  size_t number = b->graph.tasks.count;
  if (b->small)
    add_q8(b, index);
  struct plan_task *task = VEC_PUSH(b->graph.arena, &b->graph.tasks);
  b->origins[number] = origin_of(b, index);
  task->work = bytes_of(b, &op->facts->work);
  task->elementwise = op->facts->elementwise;
  struct plan_task made = *task;
  add_reads(b, index, &made);
  made.first_made = tape_place(tape, b->graph.makes.count);
  for (int i = 0; i < op->facts->out_count; i++) {
    size_t storage = tape->values.at[op->first_out + (size_t)i].storage;
    *VEC_PUSH(b->graph.arena, &b->graph.makes) =
        (uint32_t)add_tensor(b, storage) - 1;
    made.made_count++;
  }
  find_overlap(b, index, &made);
  b->graph.tasks.at[number] = made;
}

/* Iterations that are not on the tape */

/* Lengths of the graph's arrays. */
struct task_marks {
  size_t tasks, tensors, reads, makes;
  int64_t q8_bytes;
};

static struct task_marks marks_of(const struct tasks *b) {
  return (struct task_marks){b->graph.tasks.count, b->graph.tensors.count,
                             b->graph.reads.count, b->graph.makes.count,
                             b->q8_bytes};
}

static bool same_task(const struct plan_task *a, const struct plan_task *b) {
  return a->read_count == b->read_count && a->made_count == b->made_count &&
         a->work == b->work && a->elementwise == b->elementwise &&
         a->below == b->below && a->above == b->above && a->spared == b->spared;
}

/* True if the indices of an iteration are those of the one before plus `by`. */
static bool moved(const uint32_t *at, size_t from, size_t to, size_t by) {
  for (size_t i = from; i < to; i++)
    if (at[i] + by != at[i + (to - from)])
      return false;
  return true;
}

/* True if the last two iterations gave the same tasks and folded nothing. */
static bool are_alike(const struct tasks *b, const struct step_leap *leap,
                      const struct task_marks *at) {
  const struct task_graph *g = &b->graph;
  const struct task_marks now = marks_of(b), *x = &at[0], *y = &at[1];
  size_t tasks = y->tasks - x->tasks, tensors = y->tensors - x->tensors;
  if (now.tasks - y->tasks != tasks || now.tensors - y->tensors != tensors ||
      now.reads - y->reads != y->reads - x->reads ||
      now.makes - y->makes != y->makes - x->makes)
    return false;
  for (size_t i = x->tasks; i < y->tasks; i++)
    if (!same_task(&g->tasks.at[i], &g->tasks.at[i + tasks]))
      return false;
  for (size_t i = x->tensors; i < y->tensors; i++)
    if (g->tensors.at[i].bytes != g->tensors.at[i + tensors].bytes)
      return false;
  for (size_t i = leap->op - leap->ops; i < leap->op; i++)
    if (folds(b, i))
      return false;
  return moved(g->reads.at, x->reads, y->reads, tensors) &&
         moved(g->makes.at, x->makes, y->makes, tensors);
}

/* Adds the tasks of the omitted iterations as copies of the last one. */
static void repeat_tasks(struct tasks *b, const struct step_leap *leap,
                         const struct task_marks *from) {
  struct task_graph *g = &b->graph;
  const struct task_marks now = marks_of(b);
  size_t turns = (size_t)leap->count, tensors = now.tensors - from->tensors;
  size_t tasks = now.tasks - from->tasks, reads = now.reads - from->reads;
  size_t makes = now.makes - from->makes;
  int64_t bytes;
  b->overflow = b->overflow ||
                !mul_i64(leap->count, now.q8_bytes - from->q8_bytes, &bytes) ||
                !add_i64(b->q8_bytes, bytes, &b->q8_bytes);
  for (size_t i = now.tasks; i < now.tasks + turns * tasks; i++) {
    struct plan_task *task = VEC_PUSH(g->arena, &g->tasks);
    *task = g->tasks.at[i - tasks];
    task->first_read += (uint32_t)reads;
    task->first_made += (uint32_t)makes;
    b->origins[i] = b->origins[i - tasks];
    b->origins[i].node += (int32_t)leap->length;
  }
  for (size_t i = now.tensors; i < now.tensors + turns * tensors; i++)
    *VEC_PUSH(g->arena, &g->tensors) =
        (struct plan_tensor){.bytes = g->tensors.at[i - tensors].bytes};
  for (size_t i = now.reads; i < now.reads + turns * reads; i++) {
    uint32_t read = g->reads.at[i - reads] + (uint32_t)tensors;
    *VEC_PUSH(g->arena, &g->reads) = read;
    g->tensors.at[read].readers++;
  }
  for (size_t i = now.makes; i < now.makes + turns * makes; i++) {
    uint32_t made = g->makes.at[i - makes] + (uint32_t)tensors;
    *VEC_PUSH(g->arena, &g->makes) = made;
  }
  for (size_t i = leap->storage - leap->storages; i < leap->storage; i++)
    if (b->tensor[i]) /* later tasks read the last iteration */
      b->tensor[i] += (uint32_t)(turns * tensors);
}

/* Runs before operation `index`; `*leap` is the next leap. */
static void pass(struct tasks *b, size_t index, size_t *leap,
                 struct task_marks *at) {
  if (*leap == b->trace.leaps.count)
    return;
  const struct step_leap *next = &b->trace.leaps.at[*leap];
  if (index == next->op - 2 * next->ops)
    at[0] = marks_of(b);
  if (index == next->op - next->ops)
    at[1] = marks_of(b);
  if (index < next->op)
    return;
  ++*leap;
  if (are_alike(b, next, at))
    repeat_tasks(b, next, &at[1]);
  else
    b->uneven = true;
}

static void add_tasks(struct tasks *b) {
  struct task_marks at[2] = {0}; /* before the last two iterations */
  size_t leap = 0;
  for (size_t i = 0; i < b->trace.tape.ops.count && !b->uneven; i++) {
    pass(b, i, &leap, at);
    add_task(b, i);
  }
}

/* Includes those that are not on the tape. */
static struct task_marks count_all(const struct tasks *b) {
  const struct tape *tape = &b->trace.tape;
  struct task_marks all = {tape->ops.count, tape->storages.count + 1,
                           tape->ins.count, tape->storages.count + 1, 0};
  for (size_t i = 0; i < b->trace.leaps.count; i++) {
    const struct step_leap *leap = &b->trace.leaps.at[i];
    size_t turns = (size_t)leap->count;
    all.tasks += turns * leap->ops;
    all.tensors += turns * leap->storages;
    all.reads += turns * leap->ins;
    all.makes += turns * leap->storages;
  }
  tape_place(tape, all.tasks | all.tensors | all.reads | all.makes);
  return all;
}

void tasks_find(struct tasks *b) {
  struct arena *arena = b->arena;
  const struct tape *tape = &b->trace.tape;
  struct trace_options options = {.profile = &profile_planned,
                                  .lowers = true,
                                  .element = b->settings->dtype,
                                  .single = b->settings->batch == 1,
                                  .leaps = b->leaps};
  trace_model(&b->trace, b->model, &options, arena);
  const struct task_marks all = count_all(b);
  size_t storages = tape->storages.count + 1;
  b->tensor = arena_alloc(arena, storages, sizeof *b->tensor);
  b->root = arena_alloc(arena, storages, sizeof *b->root);
  b->stamp = arena_alloc(arena, all.tensors, sizeof *b->stamp);
  b->reads = arena_alloc(arena, tape->values.count + 1, sizeof *b->reads);
  b->origins = arena_room(b->graph.arena, all.tasks + 1, sizeof *b->origins);
  VEC_RESERVE(b->graph.arena, &b->graph.tasks, all.tasks);
  VEC_RESERVE(b->graph.arena, &b->graph.tensors, all.tensors);
  VEC_RESERVE(b->graph.arena, &b->graph.reads, all.reads);
  VEC_RESERVE(b->graph.arena, &b->graph.makes, all.makes);
  count_reads(b);
  find_tied(b);
  find_roots(b);
  b->small = q8_is_on(b->settings);
  if (b->small) {
    find_clamps(b);
    b->q8_bytes =
        4 * Q8_PORT_WORDS *
        (int64_t)(b->model->predicted_sources + b->model->predicted_outputs);
  }
  find_joins(b);
  add_inputs(b);
  add_tasks(b);
  for (size_t i = 0; i < b->model->predicted_outputs; i++) {
    size_t value = b->trace.value_of[b->model->outputs.at[i].node];
    size_t tensor = b->tensor[tasks_root(b, value)];
    if (tensor)
      b->graph.tensors.at[tensor - 1].lasts = true;
  }
}
