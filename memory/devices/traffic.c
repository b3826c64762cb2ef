/*
 * Traffic: bytes that a device sends in a step, by kind.
 *
 * Collectives are rings: each of n devices sends (n - 1) / n of the bytes
 * gathered or scattered, and twice that for an all-reduce (NCCL's bandwidths,
 * nccl-tests/doc/PERFORMANCE.md). Data parallel devices send as ZeRO counts: 2,
 * 2 and 3 values per parameter (arXiv 1910.02054, section 7). Tensor parallel
 * ones: arXiv 1909.08053, section 3, and 2205.05198, section 4.2.2.
 */
#include "base/check.h"
#include "memory/devices/stage.h"
#include "memory/devices/touched.h"

struct sender {
  struct search *s;
  struct stage *stage;
  int64_t passes; /* microbatches per step */
};

static void send(struct sender *t, enum among among, enum traffic kind,
                 int64_t bytes) {
  struct stage *stage = t->stage;
  stage->sent[kind] = stage_sum(t->s, stage->sent[kind], bytes);
  stage->sent_among[among] = stage_sum(t->s, stage->sent_among[among], bytes);
}

/* Bytes that each of n devices sends in a ring: (n - 1) / n. */
static int64_t ring(int64_t bytes, int64_t n) {
  return bytes - bytes / n;
}

static int64_t bytes_of(struct sender *t, const struct extent *extent) {
  return extent_bytes(extent, t->s->microbatch, t->s->train->dtype, 1,
                      &t->s->overflow);
}

/*
 * Groups of devices that get a token, relative to its experts: with `deepep` it
 * is sent once to a device, or to a host, with several of them
 * (deepseek-ai/DeepEP). All choices of `top` of `count` experts are as likely.
 */
static double sent_once(const struct train_settings *train,
                        const struct node *expert, double groups) {
  double none = 1, count = (double)expert->copies;
  double others = count - count / groups;
  if (train->moe != EXPERTS_DEEPEP || expert->active < 1)
    return 1;
  for (double i = 0; i < expert->active; i++)
    none *= others > i ? (others - i) / (count - i) : 0;
  return groups * (1 - none) / (double)expert->active;
}

/* Rows to experts, or back: from device to device, and then to those that share
 * an expert. */
static void send_rows(struct sender *t, size_t index, int64_t bytes,
                      int64_t passes) {
  const struct train_settings *train = t->s->train;
  const struct tape_op *op = &t->s->trace->tape.ops.at[index];
  const struct node *end = &t->s->step->model->nodes.at[op->node];
  const struct node *expert = end + (end->kind->front ? -1 : 1);
  int64_t within = experts_tensor(train), degree = train->expert_parallel;
  int64_t inside = max_i64(min_i64(devices_of_host(train) / within, degree), 1);
  double hosts = (double)ceil_div_i64(degree, inside);
  bytes = stage_product(t->s, stage_product(t->s, t->passes, bytes), passes);
  double all = (double)bytes;
  send(t, AMONG_EXPERTS, TRAFFIC_ALL_TO_ALL,
       ring((int64_t)(all * sent_once(train, expert, (double)degree)), degree));
  t->stage->sent_far = stage_sum(
      t->s, t->stage->sent_far,
      (int64_t)(all * sent_once(train, expert, hosts) * (1 - 1 / hosts)));
  if (train->moe > EXPERTS_ONE_BY_ONE &&
      train->sequence_parallel == TOGGLE_ON && within > 1)
    send(t, AMONG_TENSOR, TRAFFIC_ALL_GATHER,
         stage_product(t->s, bytes, within - 1));
}

/* Adds an operation's transfers. `forward`: forward runs per pass. */
static void send_of_op(struct sender *t, size_t index, int64_t forward,
                       bool same_input) {
  const struct train_settings *train = t->s->train;
  const struct tape *tape = &t->s->trace->tape;
  const struct tape_op *op = &tape->ops.at[index];
  int64_t bytes = bytes_of(t, &t->s->shards.moved[index]);
  bool sequence = train->sequence_parallel == TOGGLE_ON;
  int64_t part =
      stage_product(t->s, t->passes, ring(bytes, train->tensor_parallel));
  int64_t ahead = stage_product(t->s, part, forward);
  bool learns = tape->values.at[tape_input(tape, op, 0)].needs_gradient;
  switch (t->s->shards.role[index]) {
  case SHARD_COLUMNS: /* equal inputs are summed together */
    if (same_input)
      return;
    if (!sequence) {
      send(t, AMONG_TENSOR, TRAFFIC_ALL_REDUCE,
           learns ? stage_product(t->s, part, 2) : 0);
      return;
    }
    send(t, AMONG_TENSOR, TRAFFIC_ALL_GATHER,
         train->keep_gathered == TOGGLE_ON ? ahead
                                           : stage_sum(t->s, ahead, part));
    send(t, AMONG_TENSOR, TRAFFIC_REDUCE_SCATTER, learns ? part : 0);
    return;
  case SHARD_ROWS:
  case SHARD_LOOKUP:
    if (!sequence) {
      send(t, AMONG_TENSOR, TRAFFIC_ALL_REDUCE, stage_product(t->s, ahead, 2));
      return;
    }
    send(t, AMONG_TENSOR, TRAFFIC_REDUCE_SCATTER, ahead);
    send(t, AMONG_TENSOR, TRAFFIC_ALL_GATHER, part);
    return;
  case SHARD_RING: /* forward, and backward with their gradients */
    bytes = stage_product(t->s, bytes, t->passes);
    bytes = stage_product(t->s, bytes, train->context_parallel - 1);
    send(t, AMONG_CONTEXT, TRAFFIC_POINT_TO_POINT,
         stage_product(t->s, bytes, forward + 2));
    return;
  case SHARD_EXCHANGE: send_rows(t, index, bytes, forward + 1); return;
  case SHARD_NONE: return;
  }
}

static bool is_repeated(const struct search *s, size_t *next, size_t op) {
  const struct segment *at = s->step->segments.at;
  while (*next < s->step->segments.count && at[*next].end <= op)
    ++*next;
  return *next < s->step->segments.count && at[*next].first <= op;
}

static void send_of_part(struct sender *t, struct node_range nodes) {
  const struct tape *tape = &t->s->trace->tape;
  struct segment ops = stage_ops(t->s, nodes);
  size_t next = 0, last = SIZE_MAX;
  for (size_t i = ops.first; i < ops.end; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    if (t->s->shards.role[i] == SHARD_NONE || op->facts->in_count == 0)
      continue;
    size_t in = tape->values.at[tape_input(tape, op, 0)].storage;
    bool columns = t->s->shards.role[i] == SHARD_COLUMNS;
    send_of_op(t, i, is_repeated(t->s, &next, i) ? 2 : 1,
               columns && in == last);
    last = columns ? in : last;
  }
}

/* True if two parts of the stage meet at `at`. */
static bool is_own(const struct stage *stage, int64_t at) {
  int found = 0;
  for (size_t k = 0; k < stage->part_count; k++)
    found += (stage->parts[k].first == at) + (stage->parts[k].end == at);
  return found > 1;
}

/* Between stages: the output, and the gradient of the input. */
static void send_on(struct sender *t, struct node_range nodes) {
  const struct trace *trace = t->s->trace;
  int64_t ends[2] = {nodes.first - 1, nodes.end - 1};
  bool goes[2] = {nodes.first > 0 && !is_own(t->stage, nodes.first),
                  nodes.end < (int64_t)t->s->step->model->nodes.count &&
                      !is_own(t->stage, nodes.end)};
  for (int k = 0; k < 2; k++) {
    if (!goes[k])
      continue;
    size_t value = trace->value_of[ends[k]];
    int64_t bytes = bytes_of(t, tape_extent(&trace->tape, value));
    send(t, AMONG_STAGES, TRAFFIC_POINT_TO_POINT,
         stage_product(t->s, bytes, t->passes));
  }
}

/* Sums gradients and gathers parameters, of layers or of experts. */
static void send_of_copies(struct sender *t, int64_t gradients, int64_t params,
                           int64_t trained, struct copies_of copies) {
  const struct train_settings *train = t->s->train;
  int64_t n = copies.sharing;
  bool whole = parallel_holds_whole(train, t->s->microbatches);
  int64_t times = whole ? 1 : t->passes;
  int64_t others = copies.devices / max_i64(n, 1);
  if (train->zero == 0) {
    send(t, AMONG_COPIES, TRAFFIC_ALL_REDUCE,
         stage_product(t->s, 2, ring(gradients, copies.devices)));
    return;
  }
  /* From ZeRO 2 on, gradients of several batches cannot be summed locally. */
  send(t, AMONG_COPIES, TRAFFIC_REDUCE_SCATTER,
       stage_product(t->s, ring(gradients, n), train->zero >= 2 ? times : 1));
  if (others > 1)
    send(t, AMONG_COPIES, TRAFFIC_ALL_REDUCE,
         stage_product(t->s, 2, ring(gradients / n, others)));
  if (train->zero < 3) {
    send(t, AMONG_COPIES, TRAFFIC_ALL_GATHER, ring(trained, n));
    return;
  }
  send(
      t, AMONG_COPIES, TRAFFIC_ALL_GATHER,
      stage_product(t->s, ring(params, n),
                    train->reshard == TOGGLE_OFF || whole ? times : 2 * times));
}

static void send_to_copies(struct sender *t, struct node_range nodes) {
  struct search *s = t->s;
  int element = s->train->dtype;
  struct stage_held g =
      stage_values(s, nodes, VALUES_TRAINED, gradient_element(s->train));
  struct stage_held p = stage_values(s, nodes, VALUES_ALL, element);
  struct stage_held trained = stage_values(s, nodes, VALUES_TRAINED, element);
  send_of_copies(t, stage_sum(s, g.dense, g.small), p.dense,
                 stage_sum(s, trained.dense, trained.small),
                 stage_copies(s, false));
  if (experts_apart(s->train))
    send_of_copies(t, g.expert, p.expert, trained.expert,
                   stage_copies(s, true));
}

/* Host: gradients there and parameters back; activations both ways. */
static void send_to_host(struct sender *t, struct node_range nodes) {
  struct search *s = t->s;
  const struct train_settings *train = s->train;
  int64_t n = train->zero ? stage_copies(s, false).sharing : 1;
  struct stage_held g =
      stage_values(s, nodes, VALUES_TRAINED, gradient_element(train));
  struct stage_held p = stage_values(s, nodes, VALUES_ALL, train->dtype);
  if (offloads(train, OFFLOAD_OPTIMIZER))
    send(t, AMONG_HOST, TRAFFIC_HOST,
         stage_sum(s, ceil_div_i64(g.dense, n), ceil_div_i64(p.dense, n)));
  if (offloads(train, OFFLOAD_PARAMETERS))
    send(t, AMONG_HOST, TRAFFIC_HOST,
         stage_product(s, ceil_div_i64(p.dense, n), 2 * t->passes));
  if (offloads(train, OFFLOAD_ACTIVATIONS))
    send(t, AMONG_HOST, TRAFFIC_HOST,
         stage_product(s, stage_run(s, nodes, NULL, NULL), 2 * t->passes));
}

void stage_traffic(struct search *s, struct stage *stage) {
  struct sender t = {s, stage,
                     stage_product(s, s->microbatches, s->train->accumulate)};
  for (size_t k = 0; k < stage->part_count; k++) {
    send_of_part(&t, stage->parts[k]);
    send_on(&t, stage->parts[k]);
    send_to_copies(&t, stage->parts[k]);
    if (s->train->offload)
      send_to_host(&t, stage->parts[k]);
    stage->touched =
        size_sum(stage->touched,
                 touched_bytes(s->trace, s->step, stage_ops(s, stage->parts[k]),
                               s->microbatch));
  }
}

struct stage traffic_of_layers(const struct step *step, struct arena *arena) {
  struct search s;
  struct step own;
  struct stage stage = {0};
  struct sender t = {&s, &stage, step->settings.accumulate};
  search_open_tape(&s, &own, step, arena);
  send_of_part(&t, (struct node_range){0, (int64_t)step->model->nodes.count});
  return s.overflow ? (struct stage){0} : stage;
}
