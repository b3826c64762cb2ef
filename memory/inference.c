/* Inference: the memory of a prediction, from a plan or in a framework. */
#include "memory/inference.h"

#include "base/check.h"
#include "plan/schedule.h"
#include "memory/training.h"

enum {
  PLAN_EFFORT = 20000, /* nodes; a report is made in milliseconds */
  PLAN_MOST = 100000,  /* buffers that are planned without being asked */
};

/* The graph of tasks that a tape describes. */
struct builder {
  struct arena *arena; /* for as long as it takes */
  const struct model *model;
  const struct infer_settings *settings;
  struct inference *inference;
  struct trace trace;
  struct task_graph graph;
  size_t *tensor; /* by storage: its tensor, from 1; 0: it takes no memory */
  size_t *root;   /* by storage: the one that holds it */
  int64_t *reads; /* by value: operations that read it */
  size_t *stamp;  /* by tensor: the last task that read it, from 1 */
  size_t *op_of;  /* by task: its operation */
  bool *tied;     /* by parameter: several layers use it */
  int64_t folded; /* values of parameters and buffers that are gone */
  bool overflow;
};

static int64_t bytes_of(struct builder *b, const struct extent *extent) {
  return extent_bytes(extent, b->settings->batch, b->settings->dtype, 1,
                      &b->overflow);
}

static size_t root_of(const struct builder *b, size_t value) {
  size_t storage = b->trace.tape.values.at[value].storage;
  while (b->root[storage] != storage)
    storage = b->root[storage];
  return storage;
}

static size_t add_tensor(struct builder *b, size_t storage) {
  const struct tape_storage *s = &b->trace.tape.storages.at[storage];
  struct plan_tensor *tensor = VEC_PUSH(b->graph.arena, &b->graph.tensors);
  tensor->bytes = bytes_of(b, &s->extent);
  return b->tensor[storage] = b->graph.tensors.count;
}

static void find_tied(struct builder *b) {
  const struct model *model = b->model;
  b->tied = arena_alloc(b->arena, model->params.count + 1, sizeof *b->tied);
  for (size_t i = 0; i < model->params.count; i++)
    if (model->params.at[i].shared)
      b->tied[model->params.at[i].same] = true;
}

/* Weights of several layers are not those of one norm. */
static bool has_tied(const struct builder *b, int64_t index) {
  const struct node *node = &b->model->nodes.at[index];
  for (int i = 0; i < node->param_count; i++)
    if (b->tied[b->model->params.at[node->first_param + (size_t)i].same])
      return true;
  return false;
}

/*
 * bn after a layer with weights becomes part of them. Its output is then
 * the storage of its input.
 */
static bool folds(const struct builder *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  if (!op->folds || index == 0 || b->settings->fold == TOGGLE_OFF)
    return false;
  size_t in = tape->ins.at[op->first_in];
  const struct tape_op *before = &tape->ops.at[index - 1];
  return before->weighs && before->first_out == in && b->reads[in] == 1 &&
         !has_tied(b, before->node);
}

static void count_reads(struct builder *b) {
  const struct tape *tape = &b->trace.tape;
  for (size_t i = 0; i < tape->ins.count; i++)
    b->reads[tape->ins.at[i]]++;
  for (size_t i = 0; i < b->model->outputs.count; i++)
    b->reads[b->trace.value_of[b->model->outputs.at[i].node]]++;
}

/* Values that folding saves: bn has four vectors, a bias is only one. */
static int64_t folded_values(const struct builder *b, size_t index) {
  const struct tape_op *op = &b->trace.tape.ops.at[index];
  const struct model *model = b->model;
  const struct node *node = &model->nodes.at[op->node];
  const struct node *into =
      &model->nodes.at[b->trace.tape.ops.at[index - 1].node];
  int64_t values = 0;
  for (int i = 0; i < node->param_count; i++) {
    const struct model_param *param =
        &model->params.at[node->first_param + (size_t)i];
    if (!param->shared)
      values += param->count; /* at most the total */
  }
  if (into->param_count == 1)
    values -= shape_channels(&node->out);
  return values;
}

/* The storages that share memory: views, and copies that a batch of 1 spares.
 */
static void find_roots(struct builder *b) {
  const struct tape *tape = &b->trace.tape;
  for (size_t i = 0; i < tape->storages.count; i++) {
    size_t view_of = tape->storages.at[i].view_of;
    b->root[i] = view_of && b->settings->batch == 1 ? view_of - 1 : i;
  }
  for (size_t i = 0; i < tape->ops.count; i++)
    if (folds(b, i)) {
      const struct tape_op *op = &tape->ops.at[i];
      b->root[tape->values.at[op->first_out].storage] =
          root_of(b, tape->ins.at[op->first_in]);
      b->folded += folded_values(b, i);
      *VEC_PUSH(b->model->arena, &b->inference->folds) =
          (struct fold){op->node, tape->ops.at[i - 1].node};
    }
}

/* Inputs of the net are there before the first task. */
static void add_inputs(struct builder *b) {
  for (size_t i = 0; i < b->model->sources.count; i++) {
    size_t value = b->trace.value_of[b->model->sources.at[i]];
    size_t tensor = add_tensor(b, b->trace.tape.values.at[value].storage);
    b->graph.tensors.at[tensor - 1].given = true;
  }
}

static void add_reads(struct builder *b, const struct tape_op *op,
                      struct plan_task *task) {
  task->first_read = b->graph.reads.count;
  for (int i = 0; i < op->in_count; i++) {
    size_t value = b->trace.tape.ins.at[op->first_in + (size_t)i];
    size_t tensor = b->tensor[root_of(b, value)];
    if (!tensor || b->stamp[tensor] == b->graph.tasks.count)
      continue; /* a parameter, or read already */
    b->stamp[tensor] = b->graph.tasks.count;
    *VEC_PUSH(b->graph.arena, &b->graph.reads) = tensor - 1;
    b->graph.tensors.at[tensor - 1].readers++;
    task->read_count++;
  }
}

/* Views do nothing at a prediction. */
static void add_task(struct builder *b, size_t index) {
  const struct tape *tape = &b->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  if (op->result == RESULT_VIEW)
    return;
  size_t first = tape->values.at[op->first_out].storage;
  if (b->root[first] != first)
    return;
  size_t number = b->graph.tasks.count;
  struct plan_task *task = VEC_PUSH(b->graph.arena, &b->graph.tasks);
  b->op_of[number] = index;
  task->work = bytes_of(b, &op->work);
  task->elementwise = op->elementwise;
  struct plan_task made = *task;
  add_reads(b, op, &made);
  made.first_made = b->graph.makes.count;
  for (int i = 0; i < op->out_count; i++) {
    size_t storage = tape->values.at[op->first_out + (size_t)i].storage;
    *VEC_PUSH(b->graph.arena, &b->graph.makes) = add_tensor(b, storage) - 1;
    made.made_count++;
  }
  b->graph.tasks.at[number] = made;
}

static void build(struct builder *b) {
  struct arena *arena = b->arena;
  const struct tape *tape = &b->trace.tape;
  struct trace_options options = {.profile = &profile_planned};
  trace_model(&b->trace, b->model, &options, arena);
  size_t storages = tape->storages.count + 1;
  b->graph.arena = arena;
  b->tensor = arena_alloc(arena, storages, sizeof *b->tensor);
  b->root = arena_alloc(arena, storages, sizeof *b->root);
  b->stamp = arena_alloc(arena, storages, sizeof *b->stamp);
  b->reads = arena_alloc(arena, tape->values.count + 1, sizeof *b->reads);
  b->op_of = arena_alloc(arena, tape->ops.count + 1, sizeof *b->op_of);
  count_reads(b);
  find_tied(b);
  find_roots(b);
  add_inputs(b);
  for (size_t i = 0; i < tape->ops.count; i++)
    add_task(b, i);
  for (size_t i = 0; i < b->model->outputs.count; i++) {
    size_t value = b->trace.value_of[b->model->outputs.at[i].node];
    size_t tensor = b->tensor[root_of(b, value)];
    if (tensor)
      b->graph.tensors.at[tensor - 1].lasts = true;
  }
}

/* The arena */

struct placing {
  struct builder *b;
  const struct schedule *schedule;
  struct inference *inference;
  size_t *buffer; /* by tensor: its buffer, from 1 */
  int64_t *left;  /* by tensor: readers to come */
};

static size_t add_buffer(struct placing *p, int64_t node, const char *part,
                         int64_t bytes, int64_t step) {
  struct arena *arena = p->b->model->arena;
  *VEC_PUSH(arena, &p->inference->arena) = (struct arena_buffer){
      .node = node, .part = part, .bytes = bytes, .first = step, .last = step};
  return p->inference->arena.count;
}

/* The node whose output a value is; inner results have names of their own. */
static const char *part_name(const struct builder *b, size_t op) {
  const struct tape_op *at = &b->trace.tape.ops.at[op];
  return op + 1 == b->trace.op_end[at->node] ? NULL : at->name;
}

static void place_task(struct placing *p, size_t step, size_t number) {
  struct builder *b = p->b;
  const struct plan_task *task = &b->graph.tasks.at[number];
  const struct tape_op *op = &b->trace.tape.ops.at[b->op_of[number]];
  struct arena_buffer *at;
  size_t over = task_overwrites(&b->graph, task, p->left);
  int64_t time = (int64_t)step;
  for (int i = 0; i < task->read_count; i++) {
    size_t read = b->graph.reads.at[task->first_read + (size_t)i];
    at = &p->inference->arena.at[p->buffer[read] - 1];
    at->last = max_i64(at->last, time);
    p->left[read]--;
  }
  for (int i = 0; i < task->made_count; i++) {
    size_t made = b->graph.makes.at[task->first_made + (size_t)i];
    const struct plan_tensor *tensor = &b->graph.tensors.at[made];
    p->buffer[made] =
        over != SIZE_MAX
            ? p->buffer[over]
            : add_buffer(p, op->node, part_name(b, b->op_of[number]),
                         tensor->bytes, time);
    at = &p->inference->arena.at[p->buffer[made] - 1];
    at->last = tensor->lasts ? (int64_t)b->graph.tasks.count : time;
  }
  if (task->work)
    add_buffer(p, op->node, "workspace", task->work, time);
}

static void find_buffers(struct placing *p) {
  struct builder *b = p->b;
  struct arena *arena = b->arena;
  size_t tensors = b->graph.tensors.count + 1;
  p->buffer = arena_alloc(arena, tensors, sizeof *p->buffer);
  p->left = arena_alloc(arena, tensors, sizeof *p->left);
  for (size_t i = 0; i < b->graph.tensors.count; i++)
    p->left[i] = b->graph.tensors.at[i].readers;
  for (size_t i = 0; i < b->model->sources.count; i++) {
    const struct plan_tensor *tensor = &b->graph.tensors.at[i];
    p->buffer[i] =
        add_buffer(p, b->model->sources.at[i], NULL, tensor->bytes, 0);
    if (tensor->lasts)
      p->inference->arena.at[i].last = (int64_t)b->graph.tasks.count;
  }
  for (size_t i = 0; i < b->graph.tasks.count; i++)
    place_task(p, i, p->schedule->order[i]);
}

static bool place(struct placing *p, const struct infer_settings *settings) {
  struct inference *f = p->inference;
  struct plan_options options = {.align = settings->align,
                                 .nodes = PLAN_EFFORT};
  struct plan_buffer *buffers =
      arena_alloc(p->b->arena, f->arena.count + 1, sizeof *buffers);
  for (size_t i = 0; i < f->arena.count; i++)
    buffers[i] = (struct plan_buffer){.lower = f->arena.at[i].first,
                                      .upper = f->arena.at[i].last + 1,
                                      .size = f->arena.at[i].bytes};
  if (plan_arena(p->b->arena, buffers, f->arena.count, &options, &f->plan) !=
      PLAN_DONE)
    return false;
  for (size_t i = 0; i < f->arena.count; i++)
    f->arena.at[i].offset = buffers[i].offset;
  return true;
}

/* The order of layers, if it is another one than the source has. */
static void find_order(struct placing *p) {
  struct inference *f = p->inference;
  int64_t last = NO_NODE;
  if (f->live == f->source_order)
    return;
  for (size_t i = 0; i < p->b->graph.tasks.count; i++) {
    size_t op = p->b->op_of[p->schedule->order[i]];
    int64_t node = p->b->trace.tape.ops.at[op].node;
    if (node != last)
      *VEC_PUSH(p->b->model->arena, &f->order) = node;
    last = node;
  }
}

/* What is alive at the step that needs most. */
static void find_peak(struct placing *p) {
  struct inference *f = p->inference;
  int64_t step = (int64_t)p->schedule->peak_at;
  f->live_node = NO_NODE;
  if (p->b->graph.tasks.count) {
    size_t op = p->b->op_of[p->schedule->order[step]];
    f->live_node = p->b->trace.tape.ops.at[op].node;
  }
  for (size_t i = 0; i < f->arena.count; i++)
    if (f->arena.at[i].first <= step && step <= f->arena.at[i].last)
      *VEC_PUSH(p->b->model->arena, &f->at_peak) = i;
}

/* Keys and values of all attention that looks back, for a context. */
static bool find_cache(const struct model *model,
                       const struct infer_settings *settings, int64_t *bytes) {
  const struct shape **in = model_layer_room(model);
  int64_t values = 0;
  *bytes = 0;
  for (size_t i = 0; i < model->nodes.count && settings->decode; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (layer.kind->cache &&
        !add_i64(values, layer.kind->cache(&layer, settings->decode), &values))
      return false;
  }
  return mul_i64(values, settings->batch, &values) &&
         element_bytes(settings->dtype, values, bytes);
}

/* Liveness as a framework runs it, in its own order and places. */
static bool find_framework(const struct model *model,
                           const struct settings *settings,
                           struct inference *f) {
  struct arena scratch;
  struct trace tape;
  struct trace_options options = {
      .profile = profile_at(settings->train.profile),
      .in_place = settings->train.inplace == TOGGLE_ON};
  struct simulation s = {.arena = &scratch,
                         .trace = &tape,
                         .model = model,
                         .batch = settings->infer.batch,
                         .element = settings->infer.dtype};
  arena_open_in(&scratch, model->arena);
  trace_model(&tape, model, &options, &scratch);
  simulate(&s);
  arena_close(&scratch);
  f->framework = s.forward.bytes;
  return !s.overflow;
}

/* The best order, and a plan for it; *folded: values that are gone. */
static bool find_plan(const struct model *model,
                      const struct infer_settings *settings,
                      struct inference *f, int64_t *folded) {
  struct arena scratch;
  struct builder b = {
      .arena = &scratch, .model = model, .settings = settings, .inference = f};
  struct schedule order;
  struct placing p = {.b = &b, .schedule = &order, .inference = f};
  arena_open_in(&scratch, model->arena);
  build(&b);
  schedule_find(&b.graph, &order);
  bool fits = !b.overflow && !b.graph.overflow;
  if (fits) {
    f->source_order = order.source_peak;
    f->live = order.peak;
    f->order_exact = order.exact;
    *folded = b.folded;
    find_buffers(&p);
    find_peak(&p);
    find_order(&p);
    fits = place(&p, settings);
  }
  arena_close(&scratch);
  return fits;
}

bool inference_find(const struct model *model, const struct settings *settings,
                    struct inference *f) {
  const struct infer_settings *infer = &settings->infer;
  int64_t stored, folded = 0;
  *f = (struct inference){0};
  return find_framework(model, settings, f) &&
         find_plan(model, infer, f, &folded) &&
         add_i64(model->total.params, model->total.buffers, &stored) &&
         element_bytes(infer->dtype, stored - folded, &f->weights) &&
         element_bytes(infer->dtype, model->total.params, &f->parameters) &&
         model_buffer_bytes(model, infer->dtype, &f->buffers) &&
         find_cache(model, infer, &f->cache);
}
