/* Bound: a lower bound of the duration of a step. */
#include "memory/devices/bound.h"

#include "base/check.h"
#include "memory/devices/cut.h"

/* Work of the nodes */

/* Number of values in a node's matrices. */
struct matrices {
  double all, trained;
};

static struct matrices matrices_of(const struct model *model,
                                   const struct node *node) {
  struct matrices found = {0, 0};
  for (int k = 0; k < node->param_count; k++) {
    const struct model_param *param =
        &model->params.at[node->first_param + (size_t)k];
    if (param->buffer || param->rank < 2)
      continue;
    found.all += (double)param->count;
    found.trained += param->fixed ? 0 : (double)param->count;
  }
  return found;
}

/* MACs of attention scores: those that are not in its projections. */
static double scores_of(const struct node *node, double macs, double values) {
  double positions = node->out->rank > 1 ? (double)node->out->dim[0] : 1;
  double rest = macs - positions * values;
  return node->kind->heads && rest > 0 ? rest : 0;
}

double bound_scores(const struct model *model, int64_t node) {
  const struct node *at = &model->nodes.at[node];
  return scores_of(at, (double)model_cost(model, node)->macs,
                   matrices_of(model, at).all);
}

/* Number of input gradients that a node computes; 0: nothing is trained. */
static double gradients_read(const struct trace *trace, int64_t node) {
  const struct tape *tape = &trace->tape;
  size_t first = node ? trace->op_end[node - 1] : 0;
  double found = 0;
  if (first == trace->op_end[node])
    return 0;
  const struct tape_op *op = &tape->ops.at[first];
  for (int k = 0; k < op->facts->in_count; k++)
    found += tape->values.at[tape_input(tape, op, k)].needs_gradient;
  return found;
}

struct work work_find(const struct model *model,
                      const struct train_settings *train, struct arena *arena) {
  size_t count = model->nodes.count;
  struct work work = {arena_alloc(arena, count + 1, sizeof(double)),
                      arena_alloc(arena, count + 1, sizeof(double)),
                      arena_alloc(arena, count + 1, sizeof(double)),
                      arena_alloc(arena, count + 1, sizeof(double)),
                      arena_alloc(arena, count + 1, sizeof(double)),
                      arena_alloc(arena, count + 1, sizeof(double))};
  struct arena scratch;
  struct step step = {.model = model, .settings = *train};
  arena_open_in(&scratch, arena);
  step.settings.checkpoint = CHECKPOINT_SELECTIVE;
  step_trace(&step, &scratch);
  for (size_t i = 0; i < step.segments.count; i++)
    for (size_t k = step.segments.at[i].first; k < step.segments.at[i].end; k++)
      work.core[step.trace.tape.ops.at[k].node + 1] +=
          (double)step.trace.tape.ops.at[k].facts->macs / 2;
  for (size_t i = 0; i < count; i++) {
    work.core[i + 1] += work.core[i];
    const struct node *node = &model->nodes.at[i];
    struct matrices values = matrices_of(model, node);
    double macs = (double)model_cost(model, (int64_t)i)->train_macs;
    double reads = gradients_read(&step.trace, (int64_t)i);
    double scores = scores_of(node, macs, values.all) / 2;
    macs -= scores;
    double times = values.all > 0 ? (reads > 0) + values.trained / values.all
                   : reads > 2    ? 2
                                  : reads;
    bool read = macs > 0 && node->copies <= 1; /* experts may stay unread */
    work.forward[i + 1] = work.forward[i] + macs;
    work.backward[i + 1] = work.backward[i] + times * macs;
    work.weights[i + 1] = work.weights[i] + (read ? values.all : 0);
    work.scores[i + 1] = work.scores[i] + scores;
    work.scores_back[i + 1] = work.scores_back[i] + times * scores;
  }
  arena_close(&scratch);
  return work;
}

/* Rates */

/* The best rate of a type; a type may run as a faster one with as many bits. */
int64_t bound_rate(const struct train_settings *train, const struct gpu *gpu) {
  int64_t rate = gpu_rate(gpu, train->dtype);
  if (element_bits(train->dtype) == 16 || train->precision != PRECISION_FULL)
    rate = max_i64(gpu_rate(gpu, ELEMENT_F16), gpu_rate(gpu, ELEMENT_BF16));
  else if (train->dtype != ELEMENT_F64 || rate == 0)
    rate = max_i64(gpu_rate(gpu, ELEMENT_F32), gpu_rate(gpu, ELEMENT_TF32));
  return rate;
}

struct bound_cluster bound_cluster_of(const struct train_settings *train,
                                      const struct gpu *gpu, int64_t devices,
                                      int64_t network) {
  struct bound_cluster cluster = {gpu, devices, 1, network};
  cluster.of_host = min_i64(devices_of_host(train), devices);
  if (!network)
    cluster.network = gpu->links[LINK_FAR];
  if (!cluster.network) /* no link beats the bus */
    cluster.network = gpu->links[LINK_HOST];
  return cluster;
}

const char *bound_lacks(const struct bound_cluster *cluster,
                        const struct train_settings *train) {
  const struct gpu *gpu = cluster->gpu;
  return gpu->bandwidth == 0 ? "the bandwidth of its memory"
         : bound_rate(train, gpu) == 0
             ? "its operations per second in the type of the step"
         : cluster->devices > 1 && !gpu->links[LINK_NEAR]
             ? "the bandwidth to other devices of its host"
         : cluster->devices > cluster->of_host && !cluster->network
             ? "the bandwidth to other hosts"
         : (train->host_memory || train->offload) && !gpu->links[LINK_HOST]
             ? "the bandwidth to its host"
             : NULL;
}

static double operations_a_second(const struct train_settings *train,
                                  const struct gpu *gpu) {
  return (double)bound_rate(train, gpu) * 1e9;
}

static double memory_a_second(const struct gpu *gpu) {
  return (double)gpu->bandwidth * 1e9;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

static double between(const double *sums, struct node_range nodes) {
  return sums[nodes.end] - sums[nodes.first];
}

/* Stages */

/* MACs that checkpointed segments of a part recompute. */
static double repeated(const double *forward, const double *core,
                       const struct step *step, struct node_range nodes) {
  double macs = 0;
  for (size_t i = 0; i < step->ranges.count; i++) {
    struct node_range range = {max_i64(step->ranges.at[i].first, nodes.first),
                               min_i64(step->ranges.at[i].end, nodes.end)};
    if (range.first < range.end)
      macs += between(forward, range);
    for (int64_t k = range.first; step->trace.held && k < range.end; k++)
      macs -= (double)step_held_macs(step, k);
  }
  if (step->settings.checkpoint == CHECKPOINT_SELECTIVE)
    macs += between(core, nodes);
  return macs;
}

/* MACs of a sample, forward and backward, through a part of a stage. */
static double part_macs(const struct work *work, const struct step *step,
                        struct node_range nodes) {
  return between(work->forward, nodes) + between(work->backward, nodes) +
         repeated(work->forward, work->core, step, nodes);
}

struct stage_work bound_work(const struct work *work, const struct step *step,
                             const struct stage *stage) {
  struct stage_work found = {0, 0};
  for (size_t k = 0; k < stage->part_count; k++) {
    struct node_range nodes = stage->parts[k];
    found.macs += part_macs(work, step, nodes);
    found.scores += between(work->scores, nodes) +
                    between(work->scores_back, nodes) +
                    repeated(work->scores, work->core, step, nodes);
  }
  return found;
}

/* Seconds of a microbatch. */
static double seconds_of(double macs, const struct step *step,
                         const struct parallel *parallel,
                         const struct bound_cluster *cluster) {
  const struct train_settings *train = &step->settings;
  double shared =
      (double)train->tensor_parallel * (double)train->context_parallel;
  return 2 * macs * (double)parallel->microbatch / shared /
         operations_a_second(train, cluster->gpu);
}

/* A microbatch on a stage: its operations and its memory traffic. */
struct pass_time {
  double macs, bytes; /* seconds */
};

static struct pass_time pass_of(const struct work *work,
                                const struct step *step,
                                const struct parallel *parallel,
                                const struct stage *stage,
                                const struct bound_cluster *cluster) {
  const struct train_settings *train = &step->settings;
  double macs = 0, values = 0;
  for (size_t k = 0; k < stage->part_count; k++) {
    macs += part_macs(work, step, stage->parts[k]);
    values += between(work->weights, stage->parts[k]);
  }
  int bits =
      train->precision == PRECISION_FULL ? element_bits(train->dtype) : 16;
  double bytes = 2 * values / (double)train->tensor_parallel * bits / 8;
  if (train->base ||
      step->model->typed) /* packed blocks have at least 1 bit per value */
    bytes = 0;
  bytes +=
      2 * (double)stage->activations / (double)max_i64(stage->in_flight, 1);
  return (struct pass_time){seconds_of(macs, step, parallel, cluster),
                            (bytes - CACHED) / memory_a_second(cluster->gpu)};
}

/*
 * Replaces the operations of the stages by those of the cut whose slowest stage
 * is fastest, evenly if stages have several parts. Bytes are shared evenly.
 */
static void make_even(const struct work *work, const struct step *step,
                      const struct parallel *parallel,
                      const struct bound_cluster *cluster,
                      const struct cuts *places, struct pass_time *passes,
                      struct arena *arena) {
  size_t nodes = step->model->nodes.count, stages = parallel->stages.count;
  double *before = arena_alloc(arena, nodes + 1, sizeof *before);
  struct cuts cuts = {0};
  double macs = 0, bytes = 0;
  for (size_t i = 0; i < nodes; i++) {
    struct node_range node = {(int64_t)i, (int64_t)i + 1};
    before[i + 1] = before[i] + between(work->forward, node) +
                    between(work->backward, node);
    if (step->settings.checkpoint == CHECKPOINT_SELECTIVE)
      before[i + 1] += between(work->core, node);
  }
  for (size_t i = 0, range = 0; i < nodes; i++) {
    while (range < step->ranges.count &&
           step->ranges.at[range].end <= (int64_t)i)
      range++;
    if (range < step->ranges.count &&
        step->ranges.at[range].first <= (int64_t)i)
      macs += work->forward[i + 1] - work->forward[i] -
              (double)step_held_macs(step, (int64_t)i);
    before[i + 1] += macs;
  }
  bool even = stage_parts(&step->settings) > 1 ||
              !cut_by_work(places, before, (int64_t)nodes, (int64_t)stages,
                           arena, &cuts);
  for (size_t p = 0; p < stages; p++)
    bytes += passes[p].bytes / (double)stages;
  for (size_t p = 0; p < stages; p++) {
    double from = p && !even ? before[cuts.at.at[p - 1]] : 0;
    double to = p + 1 < stages && !even ? before[cuts.at.at[p]] : before[nodes];
    double own = even ? before[nodes] / (double)stages : to - from;
    passes[p] =
        (struct pass_time){seconds_of(own, step, parallel, cluster), bytes};
  }
}

double bound_waited(const struct train_settings *train, double seconds) {
  if (train->schedule == PIPELINE_ZB_H2 || train->schedule == PIPELINE_ZB_V)
    return 0;
  if (train->schedule == PIPELINE_ZB_H1) /* forward only */
    return seconds / 4;
  return seconds / (double)train->virtual_stages;
}

int64_t bound_passes(const struct step *step, const struct parallel *parallel) {
  const struct train_settings *train = &step->settings;
  int64_t batches = train->pipeline > 1
                        ? ceil_div_i64(train->batch, parallel->microbatch)
                        : 1;
  return size_product(batches, train->accumulate);
}

static void find_passes(const struct work *work, const struct step *step,
                        const struct parallel *parallel,
                        const struct bound_cluster *cluster,
                        const struct cuts *places, struct arena *arena,
                        struct place_bound *bound) {
  int64_t count = bound_passes(step, parallel);
  size_t stages = parallel->stages.count;
  double before = 0, optimizer = 0, stepped = 0, busiest = 0;
  struct pass_time *passes = arena_alloc(arena, stages + 1, sizeof *passes);
  for (size_t p = 0; p < stages; p++) {
    const struct stage *stage = &parallel->stages.at[p];
    double own = 2 * ((double)stage->optimizer + (double)stage->master) /
                 memory_a_second(cluster->gpu);
    passes[p] = pass_of(work, step, parallel, stage, cluster);
    optimizer = larger(optimizer, own);
    stepped += own / (double)stages;
  }
  if (places && stages > 1)
    make_even(work, step, parallel, cluster, places, passes, arena);
  for (size_t p = 0; p < stages; p++) {
    double t = larger(passes[p].macs, passes[p].bytes);
    bound->computes = larger(bound->computes, before + (double)count * t);
    busiest = larger(busiest, (double)count * t);
    before += bound_waited(&step->settings, t);
  }
  bound->bubble = bound->computes - busiest;
  bound->computes += places ? stepped : optimizer;
}

/* Links */

/* A ring of `count` devices whose numbers differ by `apart`. */
struct ring {
  double count, inside, hosts;
};

static struct ring ring_of(int64_t count, int64_t apart,
                           const struct bound_cluster *cluster) {
  int64_t inside = max_i64(min_i64(cluster->of_host / apart, count), 1);
  return (struct ring){(double)count, (double)inside,
                       (double)ceil_div_i64(count, inside)};
}

/* The fraction of bytes that must go from host to host. */
static double far_part(enum among among, const struct train_settings *train,
                       const struct bound_cluster *cluster) {
  int64_t tensor = train->tensor_parallel, context = train->context_parallel;
  int64_t stage = cluster->devices / train->pipeline;
  struct ring ring;
  switch (among) {
  case AMONG_TENSOR: ring = ring_of(tensor, 1, cluster); break;
  case AMONG_CONTEXT: ring = ring_of(context, tensor, cluster); break;
  case AMONG_COPIES:
    if (train->shard_devices)
      return 0;
    ring = ring_of(context * train->data_parallel, tensor, cluster);
    break;
  case AMONG_STAGES:
    return stage >= cluster->of_host                    ? 1
           : stage * train->pipeline > cluster->of_host ? 0.5
                                                        : 0;
  default: return 0;
  }
  return ring.count < 2 ? 0 : (ring.hosts - 1) / (ring.count - 1);
}

/* Bytes that must go from host to host. */
static double far_bytes(enum among among, const struct train_settings *train,
                        const struct stage *stage,
                        const struct bound_cluster *cluster) {
  double bytes = (double)stage->sent_among[among];
  if (among == AMONG_EXPERTS)
    return (double)stage->sent_far;
  return far_part(among, train, cluster) * bytes;
}

/* A rate of 0 is unknown and adds no time; netc_place checks for it. */
static double sending(double bytes, int64_t rate) {
  return rate ? bytes / ((double)rate * 1e6) : 0;
}

void bound_links(const struct train_settings *train, const struct stage *stage,
                 const struct bound_cluster *cluster,
                 struct place_bound *bound) {
  double near = 0, far = 0;
  for (int i = 0; i < AMONG_HOST; i++) {
    double leaves = far_bytes((enum among)i, train, stage, cluster);
    far += leaves;
    near += larger((double)stage->sent_among[i] - leaves, 0);
  }
  double host = (double)stage->sent_among[AMONG_HOST];
  const int64_t *links = cluster->gpu->links;
  bound->far = larger(bound->far, sending(far, cluster->network));
  bound->near = larger(bound->near, sending(near, links[LINK_NEAR]));
  bound->host = larger(bound->host, sending(host, links[LINK_HOST]));
}

double bound_sent(const struct train_settings *train, enum among among,
                  const struct stage *stage,
                  const struct bound_cluster *cluster) {
  double bytes = (double)stage->sent_among[among];
  double far = far_bytes(among, train, stage, cluster);
  const int64_t *links = cluster->gpu->links;
  if (among == AMONG_HOST)
    return sending(bytes, links[LINK_HOST]);
  return larger(sending(far, cluster->network),
                sending(larger(bytes - far, 0), links[LINK_NEAR]));
}

struct place_bound bound_find(const struct work *work, const struct step *step,
                              const struct parallel *parallel,
                              const struct bound_cluster *cluster,
                              const struct cuts *places, struct arena *arena) {
  struct place_bound bound = {0};
  find_passes(work, step, parallel, cluster, places, arena, &bound);
  for (size_t p = 0; p < parallel->stages.count; p++)
    bound_links(&step->settings, &parallel->stages.at[p], cluster, &bound);
  bound.step =
      larger(larger(bound.computes, bound.host), larger(bound.near, bound.far));
  return bound;
}

/*
 * Duration with stages cut so that none ends later than the others. Each stage
 * has 1 - 1 / M of the time of the one before, so that of T in total the first
 * one has T / (M (1 - (1 - 1 / M)^P)). With V parts each stage waits for a
 * V-th: then V M replaces both M.
 */
static double pipelined(const struct train_settings *train, double seconds,
                        double passes) {
  double rest = 1, parts = (double)train->virtual_stages;
  if (train->pipeline == 1 || train->schedule == PIPELINE_ZB_H1 ||
      train->schedule == PIPELINE_ZB_H2 || train->schedule == PIPELINE_ZB_V)
    return seconds;
  for (int64_t p = 0; p < train->pipeline; p++)
    rest *= 1 - 1 / passes / parts;
  return seconds * (double)train->pipeline / passes / parts / (1 - rest);
}

double bound_least(const struct work *work, const struct model *model,
                   const struct train_settings *train, double again,
                   const struct bound_cluster *cluster) {
  size_t end = model->nodes.count;
  double macs = work->forward[end] + work->backward[end] + again;
  double samples = (double)train->batch * (double)train->accumulate *
                   (double)train->data_parallel;
  double seconds = 2 * macs * samples / (double)cluster->devices /
                   operations_a_second(train, cluster->gpu);
  double passes = (double)max_i64(train->microbatches, 1);
  return pipelined(train, seconds, passes * (double)train->accumulate);
}
