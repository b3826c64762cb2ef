/* Inference memory: planned by netc, or as a framework allocates it. */
#include "memory/inference.h"

#include "base/check.h"
#include "memory/line_buffers.h"
#include "memory/line_stream.h"
#include "memory/program_writer.h"
#include "memory/step/training.h"
#include "memory/weight_format.h"

enum { PLAN_EFFORT = 20000 }; /* search nodes, for milliseconds */

/* The arena */

static uint32_t add_buffer(struct placing *p, int32_t node, const char *part,
                           int64_t bytes, uint32_t step) {
  struct arena *arena = p->b->model->arena;
  *VEC_PUSH(arena, &p->inference->arena) = (struct arena_buffer){
      .node = node, .part = part, .bytes = bytes, .first = step, .last = step};
  return tape_place(&p->b->trace.tape, p->inference->arena.count);
}

/* Records that the task's result may overlap an input in the plan. */
static void add_overlap(struct placing *p, const struct plan_task *task) {
  const struct task_graph *graph = &p->b->graph;
  size_t read = task_overlaps(graph, task, p->left);
  if (read == SIZE_MAX)
    return;
  *VEC_PUSH(p->b->model->arena, &p->inference->overlaps) =
      (struct plan_overlap){.read = p->buffer[read] - 1,
                            .made = p->inference->arena.count,
                            .below = task->below,
                            .above = task->above};
}

/* The node that produces a tensor. Line buffers merge several tasks into one,
 * so each of their tensors has its own. */
static struct task_origin origin_of(const struct placing *p, size_t number,
                                    size_t tensor) {
  const struct line_buffers *lines = number == 0 ? p->b->lines : NULL;
  for (size_t i = 0; lines && i < lines->count; i++)
    if (lines->ops[i].tensor == tensor)
      return lines->ops[i].origin;
  return p->b->origins[number];
}

static void place_task(struct placing *p, uint32_t step, size_t number) {
  const struct task_graph *graph = &p->b->graph;
  const struct plan_task *task = &graph->tasks.at[number];
  const struct task_origin *from = &p->b->origins[number];
  struct arena_buffer *at;
  size_t over = task_overwrites(graph, task, p->left);
  add_overlap(p, task);
  for (int i = 0; i < task->read_count; i++) {
    size_t read = graph->reads.at[task->first_read + (size_t)i];
    at = &p->inference->arena.at[p->buffer[read] - 1];
    if (at->last < step)
      at->last = step;
    p->left[read]--;
  }
  for (int i = 0; i < task->made_count; i++) {
    size_t made = graph->makes.at[task->first_made + (size_t)i];
    const struct plan_tensor *tensor = &graph->tensors.at[made];
    struct task_origin by = origin_of(p, number, made);
    if (over != SIZE_MAX)
      p->buffer[made] = p->buffer[over];
    else if (!p->buffer[made]) /* a stream's buffer exists already */
      p->buffer[made] = add_buffer(p, by.node, by.part, tensor->bytes, step);
    at = &p->inference->arena.at[p->buffer[made] - 1];
    at->last = tensor->lasts ? (uint32_t)graph->tasks.count : step;
  }
  if (task->work)
    p->work[number] = add_buffer(
        p, from->node, number == 0 && p->b->lines ? "lines" : "workspace",
        task->work, step);
}

/* Adds a stream's buffer for all steps; returns its number, from 1. */
static uint32_t add_lasting(struct placing *p, const struct task_origin *from,
                            const char *part, size_t tensor) {
  uint32_t buffer =
      add_buffer(p, from->node, part, p->b->graph.tensors.at[tensor].bytes, 0);
  p->inference->arena.at[buffer - 1].last = (uint32_t)p->b->graph.tasks.count;
  p->buffer[tensor] = buffer;
  return buffer;
}

/* Buffers that one run of a stream leaves to the next are always in memory. */
static void place_state(struct placing *p) {
  const struct line_buffers *lines = p->b->lines;
  p->work[0] = add_lasting(p, &lines->ops[0].origin, "state", lines->state);
  for (size_t i = 0; i < lines->count; i++)
    if (line_op_stays(lines, i))
      add_lasting(p, &lines->ops[i].origin, lines->ops[i].origin.part,
                  lines->ops[i].tensor);
}

static void find_buffers(struct placing *p) {
  struct tasks *b = p->b;
  struct arena *arena = b->graph.arena;
  size_t tensors = b->graph.tensors.count + 1;
  p->buffer = arena_alloc(arena, tensors, sizeof *p->buffer);
  p->left = arena_alloc(arena, tensors, sizeof *p->left);
  p->work = arena_alloc(arena, b->graph.tasks.count + 1, sizeof *p->work);
  for (size_t i = 0; i < b->graph.tensors.count; i++)
    p->left[i] = b->graph.tensors.at[i].readers;
  for (size_t i = 0; i < b->model->predicted_sources; i++) {
    const struct plan_tensor *tensor = &b->graph.tensors.at[i];
    p->buffer[i] =
        add_buffer(p, (int32_t)b->model->sources.at[i], NULL, tensor->bytes, 0);
    if (tensor->lasts)
      p->inference->arena.at[i].last = (uint32_t)b->graph.tasks.count;
  }
  if (b->lines && b->lines->window)
    place_state(p);
  for (size_t i = 0; i < b->graph.tasks.count; i++)
    place_task(p, (uint32_t)i, p->schedule->order[i]);
}

static bool place(struct inference *f, const struct model *model,
                  const struct infer_settings *settings,
                  struct arena *scratch) {
  struct plan_options options = {.align = settings->align,
                                 .nodes = PLAN_EFFORT,
                                 .progress = model->progress,
                                 .overlaps = f->overlaps.at,
                                 .overlap_count = f->overlaps.count};
  struct plan_buffer *buffers =
      arena_alloc(scratch, f->arena.count + 1, sizeof *buffers);
  for (size_t i = 0; i < f->arena.count; i++)
    buffers[i] = (struct plan_buffer){.lower = f->arena.at[i].first,
                                      .upper = f->arena.at[i].last + 1,
                                      .size = f->arena.at[i].bytes};
  if (plan_arena(scratch, buffers, f->arena.count, &options, &f->plan) !=
      PLAN_DONE)
    return false;
  for (size_t i = 0; i < f->arena.count; i++)
    f->arena.at[i].offset = buffers[i].offset;
  return true;
}

/* Records the order of layers if it differs from the source. */
static void find_order(struct placing *p) {
  struct inference *f = p->inference;
  int64_t last = NO_NODE;
  if (f->live == f->source_order)
    return;
  for (size_t i = 0; i < p->b->graph.tasks.count; i++) {
    int64_t node = p->b->origins[p->schedule->order[i]].node;
    if (node != last)
      *VEC_PUSH(p->b->model->arena, &f->order) = node;
    last = node;
  }
}

/* Finds the buffers in memory at the peak. */
static void find_peak(struct placing *p) {
  struct inference *f = p->inference;
  size_t step = p->schedule->peak_at;
  f->live_node = NO_NODE;
  if (p->b->graph.tasks.count)
    f->live_node = p->b->origins[p->schedule->order[step]].node;
  for (size_t i = 0; i < f->arena.count; i++)
    if (f->arena.at[i].first <= step && step <= f->arena.at[i].last)
      *VEC_PUSH(p->b->model->arena, &f->at_peak) = i;
}

/* KV cache bytes of all causal attention for the context length. */
static bool find_cache(const struct model *model,
                       const struct infer_settings *settings, int64_t *bytes) {
  const struct shape **in = model_layer_room(model);
  int64_t keys = 0, values = 0;
  *bytes = 0;
  for (size_t i = 0; i < model->nodes.count && settings->decode; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (!layer.kind->cache || model->nodes.at[i].train_only)
      continue;
    struct cache_terms kept = layer.kind->cache(&layer);
    int64_t all = layer_cache(&layer, settings->decode);
    int64_t seen = kept.each ? all / kept.each * kept.values : 0;
    if (!add_i64(keys, all - seen, &keys) || !add_i64(values, seen, &values))
      return false;
  }
  return mul_i64(keys, settings->batch, &keys) &&
         mul_i64(values, settings->batch, &values) &&
         cache_bytes(settings, keys, values, bytes);
}

/* Simulates liveness as the framework runs it, in its order and in place. */
static bool find_framework(const struct model *model,
                           const struct settings *settings,
                           struct inference *f) {
  struct arena scratch;
  struct trace tape;
  struct trace_options options = {
      .profile = profile_at(settings->train.profile),
      .in_place = settings->train.inplace == TOGGLE_ON,
      .half = element_bits(settings->infer.dtype) == 16,
      .element = settings->infer.dtype,
      .attention = settings->infer.attention,
      .leaps = true};
  struct simulation run = {.arena = &scratch,
                           .trace = &tape,
                           .model = model,
                           .skips = true,
                           .batch = settings->infer.batch,
                           .element = settings->infer.dtype},
                    s;
  do {
    s = run;
    arena_open_in(&scratch, model->arena);
    trace_model(&tape, model, &options, &scratch);
    simulate(&s);
    arena_close(&scratch);
    options.leaps = false; /* in case it has to be run again */
  } while (s.uneven);
  f->framework = s.forward.bytes;
  return !s.overflow;
}

/* Counts biases where they have a type of their own. `folds` adds the biases
 * that folding creates. */
static int64_t count_biases(const struct model *model,
                            const struct infer_settings *infer,
                            const struct fold *folds, size_t fold_count) {
  struct arena scratch;
  struct weight_block block;
  if (!element_is_integer(infer->dtype) || infer->weight_dtype)
    return 0;
  arena_open_in(&scratch, model->arena);
  weight_block_find(model, infer, folds, fold_count, &scratch, &block);
  arena_close(&scratch);
  return block.biases;
}

/* Marks the parameters that fold into the weights of the previous layer. */
static bool *folded_params(const struct model *model, const struct fold *folds,
                           size_t fold_count, struct arena *arena) {
  bool *folded = arena_alloc(arena, model->params.count + 1, sizeof *folded);
  for (size_t i = 0; i < fold_count; i++) {
    const struct node *node = &model->nodes.at[folds[i].norm];
    for (int k = 0; k < node->param_count; k++)
      folded[node->first_param + (size_t)k] = true;
  }
  return folded;
}

/*
 * Bytes of the parameters and `more` values, of which `biases` are biases. A
 * parameter with a type of its own is counted in it. `more` leaves out those
 * that `folds` removes. `parts`: also count the tensors that weights are
 * computed from, which inference does not read.
 */
static bool param_bytes(const struct model *model,
                        const struct infer_settings *infer, int64_t more,
                        const struct fold *folds, size_t fold_count, bool parts,
                        int64_t *bytes) {
  struct arena scratch;
  struct weight_roles roles;
  int64_t biases = count_biases(model, infer, folds, fold_count);
  int64_t plain, packed = 0;
  bool fits = add_i64(model->predicted.params, more, &plain);
  arena_open_in(&scratch, model->arena);
  if (infer->weight_dtype)
    weight_roles_find(model, &scratch, &roles);
  const bool *folded = folded_params(model, folds, fold_count, &scratch);
  bool differ =
      infer->weight_dtype || model->typed || (model->computes && !parts);
  for (size_t i = 0; fits && differ && i < model->params.count; i++) {
    const struct model_param *param = &model->params.at[i];
    int64_t own;
    bool gone = param->part && !parts;
    if (param->shared || param->train_only || folded[i])
      continue;
    if (gone)
      plain -= param->count; /* cannot underflow: it is part of the total */
    if (gone || param->buffer || !(infer->weight_dtype || param->element))
      continue;
    fits = weight_bytes(model, &roles, infer, i, &own);
    if (!fits || own == WEIGHT_PLAIN)
      continue;
    plain -= param->count;
    fits = add_i64(packed, own, &packed);
  }
  arena_close(&scratch);
  return fits && weight_block_bytes(infer->dtype, plain, biases, bytes) &&
         add_i64(*bytes, packed, bytes);
}

/* Values that folding removes, and extra bytes that int8 needs. */
struct gone {
  int64_t folded, more;
};

/*
 * Finds the best order and a plan for it; writes the program if one is wanted.
 * Otherwise frees the tape before the order is searched, and the graph before
 * the plan.
 */
static bool find_plan(const struct model *model,
                      const struct infer_settings *settings,
                      struct inference *f, struct gone *gone,
                      struct program *program) {
  struct arena scratch, tape;
  struct tasks b;
  struct schedule order;
  struct placing p = {.b = &b, .schedule = &order, .inference = f};
  bool leaps = !program && settings->patches != PATCHES_AUTO &&
               settings->stream != TOGGLE_ON;
  do {
    f->folds.count = f->merged.count = 0;
    f->lines = (struct inference_lines){0};
    b = (struct tasks){.arena = &tape,
                       .graph.arena = &scratch,
                       .model = model,
                       .settings = settings,
                       .inference = f,
                       .leaps = leaps};
    arena_open_in(&scratch, model->arena);
    arena_open_in(&tape, &scratch);
    tasks_find(&b);
    if (settings->stream == TOGGLE_ON && !b.uneven)
      line_stream_find(&b);
    else if (settings->patches == PATCHES_AUTO && !b.uneven)
      line_buffers_find(&b);
    if (!program)
      arena_close(&tape);
    if (b.uneven)
      arena_close(&scratch);
    leaps = false; /* in case the tasks have to be found again */
  } while (b.uneven);
  schedule_find(&b.graph, &order);
  bool fits = !b.overflow && !b.graph.overflow;
  if (fits) {
    f->source_order = order.source_peak;
    f->live = order.peak;
    f->order_exact = order.exact;
    *gone = (struct gone){b.folded, b.q8_bytes};
    find_buffers(&p);
    find_peak(&p);
    find_order(&p);
  }
  if (program) /* the program needs every offset */
    fits = fits && place(f, model, settings, &scratch) &&
           program_write(&p, program);
  arena_close(&scratch);
  if (!fits || program)
    return fits;
  arena_open_in(&scratch, model->arena);
  fits = place(f, model, settings, &scratch);
  arena_close(&scratch);
  return fits;
}

bool inference_find(const struct model *model, const struct settings *settings,
                    struct inference *f) {
  const struct infer_settings *infer = &settings->infer;
  struct gone gone = {0, 0};
  *f = (struct inference){0};
  return find_framework(model, settings, f) &&
         find_plan(model, infer, f, &gone, NULL) &&
         param_bytes(model, infer, model->predicted.buffers - gone.folded,
                     f->folds.at, f->folds.count, false, &f->weights) &&
         add_i64(f->weights, gone.more, &f->weights) &&
         param_bytes(model, infer, 0, NULL, 0, true, &f->parameters) &&
         model_buffer_bytes(model, false, infer->dtype, &f->buffers) &&
         find_cache(model, infer, &f->cache);
}

bool inference_in_framework(const struct model *model,
                            const struct settings *settings, int64_t *bytes) {
  struct inference f = {0};
  return find_framework(model, settings, &f) &&
         param_bytes(model, &settings->infer, 0, NULL, 0, true, bytes) &&
         model_buffer_bytes(model, false, settings->infer.dtype, &f.buffers) &&
         find_cache(model, &settings->infer, &f.cache) &&
         add_i64(*bytes, f.buffers, bytes) &&
         add_i64(*bytes, f.framework, bytes) && add_i64(*bytes, f.cache, bytes);
}

bool program_find(const struct model *model, const struct settings *settings,
                  struct program *program) {
  struct gone gone = {0, 0};
  *program = (struct program){0};
  return find_plan(model, &settings->infer, &program->plan, &gone, program);
}
