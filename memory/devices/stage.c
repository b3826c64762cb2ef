/*
 * Stage: memory of a device for its part of the net.
 *
 * Sources: ZeRO (arXiv 1910.02054), FullyShardedDataParallel (arXiv 2304.11277,
 * torch/distributed/fsdp/), ZeRO-Offload (arXiv 2101.06840) and DeepSpeed's
 * runtime/zero/, DistributedDataParallel (arXiv 2006.15704).
 */
#include "memory/devices/stage.h"

#include "base/check.h"
#include "memory/devices/chain.h"

int64_t stage_sum(struct search *s, int64_t a, int64_t b) {
  int64_t result = 0;
  if (!add_i64(a, b, &result))
    s->overflow = true;
  return result;
}

int64_t stage_product(struct search *s, int64_t a, int64_t b) {
  int64_t result = 0;
  if (!mul_i64(a, b, &result))
    s->overflow = true;
  return result;
}

struct copies_of stage_copies(const struct search *s, bool experts) {
  const struct train_settings *train = s->train;
  /* Cannot overflow: both were checked to be small. */
  struct copies_of copies = {.devices = train->data_parallel *
                                        train->context_parallel};
  if (experts)
    copies.devices =
        max_i64(copies.devices * train->tensor_parallel /
                    (train->expert_parallel * experts_tensor(train)),
                1);
  copies.sharing = train->shard_devices
                       ? min_i64(train->shard_devices, copies.devices)
                       : copies.devices;
  return copies;
}

static int64_t all_of(struct search *s, const struct stage_held *held) {
  return stage_sum(s, stage_sum(s, held->dense, held->expert), held->small);
}

/* Bytes after ZeRO shards them; `small`: small parameters are sharded, too. */
static int64_t shared(struct search *s, const struct stage_held *held,
                      bool small) {
  struct copies_of dense = stage_copies(s, false);
  struct copies_of expert = stage_copies(s, true);
  int64_t rest = small ? stage_sum(s, held->dense, held->small) : held->dense;
  int64_t bytes = stage_sum(s, ceil_div_i64(rest, dense.sharing),
                            ceil_div_i64(held->expert, expert.sharing));
  return small ? bytes : stage_sum(s, bytes, held->small);
}

/* Bytes of buffers that hold indices, not values. */
static int64_t counters(struct search *s, struct node_range nodes) {
  int64_t bytes = 0;
  for (int64_t i = nodes.first; i < nodes.end; i++) {
    const struct node *node = &s->step->model->nodes.at[i];
    if (node->shares < nodes.first) /* its own, or shared with another stage */
      bytes = stage_sum(s, bytes, node_index_bytes(node));
  }
  return bytes;
}

/* Running a part */

struct segment stage_ops(const struct search *s, struct node_range nodes) {
  size_t all = s->trace->tape.ops.count;
  bool last = nodes.end == (int64_t)s->step->model->nodes.count;
  return (struct segment){nodes.first ? s->trace->op_end[nodes.first - 1] : 0,
                          last        ? all
                          : nodes.end ? s->trace->op_end[nodes.end - 1]
                                      : 0};
}

/* Copies the checkpoints of a stage; one that is cut counts on both sides. */
static void choose_segments(const struct search *s, struct simulation *run) {
  size_t from = 0, to = s->step->segments.count;
  const struct segment *segments = s->step->segments.at;
  while (from < to && segments[from].end <= run->first)
    from++;
  while (to > from && segments[to - 1].first >= run->end)
    to--;
  struct segment *own = arena_alloc(run->arena, to - from + 1, sizeof *own);
  for (size_t i = from; i < to; i++) {
    own[i - from] = segments[i];
    if (own[i - from].first < run->first)
      own[i - from].first = run->first;
    if (own[i - from].end > run->end)
      own[i - from].end = run->end;
  }
  run->segment_count = to - from;
  run->segments = from < to ? own : NULL;
}

static bool is_whole(const struct search *s, struct node_range nodes) {
  return nodes.first == 0 && nodes.end == (int64_t)s->step->model->nodes.count;
}

struct simulation stage_simulation(const struct search *s,
                                   struct node_range nodes,
                                   struct arena *arena) {
  struct simulation run = {.arena = arena,
                           .trace = s->trace,
                           .model = s->step->model,
                           .batch = s->microbatch,
                           .segments = s->step->segments.at,
                           .segment_count = s->step->segments.count};
  step_types(s->train, &run);
  run.gradients_before = false; /* counted separately */
  run.offload = offloads(s->train, OFFLOAD_ACTIVATIONS);
  if (is_whole(s, nodes))
    return run;
  struct segment ops = stage_ops(s, nodes);
  run.first = ops.first;
  run.end = ops.end;
  run.own_inputs = true;
  choose_segments(s, &run);
  return run;
}

int64_t stage_run(struct search *s, struct node_range nodes, moment_fn *each,
                  void *user) {
  struct arena scratch;
  arena_open_in(&scratch, s->arena);
  struct simulation run = stage_simulation(s, nodes, &scratch);
  run.each = each;
  run.user = user;
  if (is_whole(s, nodes) || run.end > run.first)
    simulate(&run);
  arena_close(&scratch);
  s->overflow = s->overflow || run.overflow;
  return run.saved;
}

/* Peak without gradients of parameters, which are counted separately. */
static void watch_moment(void *user, const struct moment *moment) {
  int64_t *most = user;
  *most = max_i64(*most, moment->bytes - moment->parts[PART_GRADIENTS]);
}

struct run_key stage_key(const struct search *s, uint64_t part) {
  return (struct run_key){.part = part,
                          .microbatch = s->microbatch,
                          .moved = offloads(s->train, OFFLOAD_ACTIVATIONS)};
}

/* Runs units [from, to), or returns an earlier run of equal ones. */
static struct ran run_once(struct search *s, size_t from, size_t to) {
  struct run_key key = stage_key(s, alike_span(&s->alike, from, to));
  struct node_range nodes = {s->cut[from], s->cut[to]};
  key.whole = is_whole(s, nodes);
  struct ran ran = *runs_find(s->step->runs, &key);
  if (ran.there)
    return ran;
  ran.most = 0;
  if (key.whole || !chain_run(s, from, to, &ran))
    ran.kept = stage_run(s, nodes, watch_moment, &ran.most);
  struct ran *known = runs_find(s->step->runs, &key);
  known->kept = ran.kept;
  known->most = ran.most;
  known->there = !s->overflow;
  return *known;
}

/*
 * Finds the activations of a microbatch and the memory besides. With
 * offloading, the caller counts the activations of all microbatches in host
 * memory.
 */
static void run_stage(struct search *s, struct stage *stage, size_t from,
                      size_t to) {
  struct ran ran = run_once(s, from, to);
  stage->activations = ran.kept;
  stage->temporary = offloads(s->train, OFFLOAD_ACTIVATIONS)
                         ? ran.most
                         : max_i64(ran.most - ran.kept, 0);
}

int64_t stage_weight_bytes(struct search *s, struct node_range nodes) {
  const struct tape *tape = &s->trace->tape;
  struct segment ops = stage_ops(s, nodes);
  size_t last = SIZE_MAX;
  int64_t bytes = 0;
  for (size_t i = ops.first; i < ops.end; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    if (!op->facts->splits || op->facts->param_count == 0)
      continue;
    size_t in = tape_input(tape, op, 0);
    const struct extent *out = tape_extent(tape, op->first_out);
    if (tape->values.at[in].storage != last)
      bytes = stage_sum(s, bytes,
                        extent_bytes(tape_extent(tape, in), s->microbatch,
                                     s->train->dtype, 1, &s->overflow));
    last = tape->values.at[in].storage;
    bytes = stage_sum(
        s, bytes,
        extent_bytes(out, s->microbatch, s->train->dtype, 1, &s->overflow));
  }
  return bytes;
}

/* ZeRO */

/* The largest of the net's named parts, or of its layers. */
static int64_t largest_unit(struct search *s, struct node_range nodes,
                            enum stage_values kind) {
  const struct model *model = s->step->model;
  bool layers = s->train->unit == UNIT_LAYER;
  int element = s->train->dtype;
  int64_t largest = 0;
  for (size_t i = 1; i < model->groups.count && !layers; i++) {
    const struct group *group = &model->groups.at[i];
    struct node_range unit = {max_i64(group->first, nodes.first),
                              min_i64(group->end, nodes.end)};
    if (group->parent != 0 || unit.first >= unit.end)
      continue;
    struct stage_held held = stage_values(s, unit, kind, element);
    largest = max_i64(largest, stage_sum(s, held.dense, held.expert));
  }
  const int64_t *alone = stage_alone(s, kind);
  for (int64_t i = nodes.first; i < nodes.end; i++)
    if (layers || model->nodes.at[i].group <= 0) /* else inside one of these */
      largest = max_i64(largest, alone[i]);
  return largest;
}

/* Gradients in reduction at a time: those of a unit, or of two buckets. */
static int64_t reduced_at_once(struct search *s, const struct stage *stage,
                               int64_t gradients) {
  int64_t two = 0;
  if (s->train->bucket <= 0)
    return largest_unit(s, stage->nodes, VALUES_TRAINED);
  two = stage_product(s, s->train->bucket, 2);
  return min_i64(two, gradients);
}

/* Parameters gathered at a time: of units, or all from forward on. */
static int64_t gathered_at_once(struct search *s, struct stage *stage,
                                const struct stage_held *params) {
  int64_t unit = largest_unit(s, stage->nodes, VALUES_ALL);
  if (s->train->reshard == TOGGLE_OFF ||
      parallel_holds_whole(s->train, s->microbatches))
    return stage->whole = stage_sum(s, params->dense, params->expert);
  /* The next unit is prefetched. */
  return s->train->prefetch == TOGGLE_ON ? stage_product(s, unit, 2) : unit;
}

/* Bytes after sharding by data parallel devices, and the buffers for it. */
static void share_data(struct search *s, struct stage *stage,
                       const struct stage_held *params,
                       const struct stage_held *gradients) {
  const struct train_settings *train = s->train;
  stage->parameters = all_of(s, params);
  stage->gradients = all_of(s, gradients);
  if (train->zero == 0 && stage_copies(s, false).devices > 1 &&
      train->bucket != BUCKET_VIEW)
    stage->buckets = stage->gradients;
  if (train->zero >= 2 || (train->zero == 1 && train->bucket > 0))
    stage->gathered = reduced_at_once(s, stage, stage->gradients);
  if (train->zero >= 2 && !parallel_holds_whole(s->train, s->microbatches))
    stage->gradients = shared(s, gradients, true);
  if (train->zero < 3)
    return;
  stage->parameters = shared(s, params, false);
  stage->gathered =
      stage_sum(s, stage->gathered, gathered_at_once(s, stage, params));
}

/* Optimizer bytes from prefix sums if possible, else counted one by one. */
static struct optimizer_cost cost_of(struct search *s,
                                     struct param_range *params, int experts) {
  const struct model *model = s->step->model;
  struct param_range all = *params;
  struct optimizer_cost cost;
  all.first = 0;
  all.end = model->params.count;
  if (!s->optimizer[experts])
    s->optimizer[experts] = optimizer_sums(model, &all, s->train, s->arena);
  if ((!s->optimizer[experts] ||
       !optimizer_part(s->optimizer[experts], params->first, params->end,
                       s->train, &cost)) &&
      !optimizer_cost(model, params, s->train, &cost))
    s->overflow = true;
  return cost;
}

/* Optimizer state of the stage; fewer devices share that of experts. */
static void find_optimizer(struct search *s, struct stage *stage) {
  const struct model *model = s->step->model;
  struct param_range params = {
      .first = model->nodes.at[stage->nodes.first].first_param,
      .end = stage->nodes.end < (int64_t)model->nodes.count
                 ? model->nodes.at[stage->nodes.end].first_param
                 : model->params.count,
      .share = s->shards.share};
  bool apart = experts_apart(s->train);
  for (int experts = 0; experts < 1 + apart; experts++) {
    int64_t sharing =
        s->train->zero >= 1 ? stage_copies(s, experts).sharing : 1;
    params.sharing = sharing;
    params.only = !apart ? NULL : experts ? s->expert : s->dense;
    struct optimizer_cost cost = cost_of(s, &params, experts);
    stage->optimizer =
        stage_sum(s, stage->optimizer, ceil_div_i64(cost.state, sharing));
    stage->master =
        stage_sum(s, stage->master, ceil_div_i64(cost.master, sharing));
    stage->workspace =
        stage_sum(s, stage->workspace, ceil_div_i64(cost.workspace, sharing));
    stage->clip = stage_sum(s, stage->clip, cost.clip.bytes);
  }
}

/*
 * `all_gather` of lists: flat pieces of all devices, a contiguous copy of them
 * (nanotron, distributed.py, all_gather_coalesced(); ProcessGroupNCCL.cpp,
 * newLikeFlat()), and the device's own share.
 */
static void find_flat(struct search *s, struct stage *stage) {
  const struct train_settings *train = s->train;
  int64_t sharing = stage_copies(s, false).sharing;
  if (train->flat_gather != TOGGLE_ON || sharing < 2 || train->zero < 1 ||
      train->zero > 2)
    return;
  struct stage_held held =
      stage_values(s, stage->nodes, VALUES_TRAINED, train->dtype);
  stage->flat = all_of(s, &held);
  stage->flat_part = ceil_div_i64(stage->flat, sharing);
}

int64_t stage_flat_copies(struct search *s, const struct stage *stage) {
  return stage_sum(s, stage_product(s, stage->flat, 2), stage->flat_part);
}

/* The host */

/*
 * The optimizer steps on the host, with 32-bit gradients and, if there is no
 * master copy yet, 32-bit parameters. ZeRO 2 sends gradients there as they are
 * summed.
 */
static void offload_optimizer(struct search *s, struct stage *stage) {
  bool copied = stage->master > 0;
  int64_t trained = stage->gradients; /* of the device's share */
  if (s->train->zero == 1)
    trained = ceil_div_i64(trained, stage_copies(s, false).sharing);
  int64_t values =
      trained / max_i64(element_bits(gradient_element(s->train)) / 8, 1);
  stage->host = stage_sum(s, stage->optimizer, stage->master);
  stage->host = stage_sum(s, stage->host, stage_product(s, values, 4));
  if (!copied)
    stage->host = stage_sum(s, stage->host, stage_product(s, values, 4));
  stage->optimizer = stage->master = stage->workspace = stage->clip = 0;
  if (s->train->zero >= 2)
    stage->gradients = 0;
}

static void offload(struct search *s, struct stage *stage) {
  if (offloads(s->train, OFFLOAD_OPTIMIZER))
    offload_optimizer(s, stage);
  if (offloads(s->train, OFFLOAD_PARAMETERS)) {
    stage->host = stage_sum(s, stage->host, stage->parameters);
    stage->parameters = 0;
  }
}

static void find_input(struct search *s, struct stage *stage) {
  const struct model *model = s->step->model;
  for (size_t i = 0; i < model->sources.count; i++) {
    int64_t node = model->sources.at[i];
    const struct shape *shape = model->nodes.at[node].out;
    if (node < stage->nodes.first || node >= stage->nodes.end)
      continue;
    struct extent extent = extent_of(shape);
    if (shape->rank > (shape->dtype == DTYPE_FLOAT))
      extent.count = ceil_div_i64(extent.count, s->train->context_parallel);
    stage->input = stage_sum(s, stage->input,
                             extent_bytes(&extent, s->train->batch,
                                          s->train->dtype, 1, &s->overflow));
  }
}

struct stage stage_measure(struct search *s, size_t from, size_t to) {
  struct node_range nodes = {s->cut[from], s->cut[to]};
  struct stage stage = {.nodes = nodes};
  int element = s->train->dtype;
  bool master = s->train->precision == PRECISION_MASTER;
  struct stage_held params = stage_values(s, nodes, VALUES_ALL, element);
  struct stage_held gradients =
      stage_values(s, nodes, VALUES_TRAINED, gradient_element(s->train));
  struct stage_held buffers = stage_values(s, nodes, VALUES_BUFFERS, element);
  stage.buffers = stage_sum(s, all_of(s, &buffers), counters(s, nodes));
  stage.values = stage_count(s, nodes, VALUES_ALL);
  stage.trained = stage_count(s, nodes, VALUES_TRAINED);
  share_data(s, &stage, &params, &gradients);
  if (s->train->ema == TOGGLE_ON) {
    struct stage_held same =
        stage_values(s, nodes, VALUES_ALL, master ? ELEMENT_F32 : element);
    stage.averaged =
        s->train->zero >= 3 ? shared(s, &same, false) : all_of(s, &same);
  }
  find_optimizer(s, &stage);
  find_flat(s, &stage);
  offload(s, &stage);
  find_input(s, &stage);
  run_stage(s, &stage, from, to);
  return stage;
}
