/* Spans: what parts of a net take in a step, each run by itself. */
#include "step/spans.h"

#include "base/check.h"

enum {
  MOST_UNITS = 48, /* parts of the net that are chosen between */
  MOST_FAR = 1000, /* without more of them a choice is worse, never wrong */
};

static size_t first_op(const struct spans *s, size_t unit) {
  return units_op(&s->joined, unit);
}

static struct simulation span_simulation(const struct spans *s,
                                         struct arena *arena) {
  return (struct simulation){.arena = arena,
                             .trace = &s->step->trace,
                             .model = s->step->model,
                             .batch = s->step->settings.batch,
                             .element = s->step->settings.dtype,
                             .saved_bits = saved_bits(&s->step->settings)};
}

static void run_span(const struct spans *s, size_t from, size_t to,
                     struct span_cost *cost) {
  struct arena scratch;
  struct simulation run = span_simulation(s, &scratch);
  run.first = first_op(s, from);
  run.end = first_op(s, to);
  if (run.end == 0 || run.first == run.end)
    return;
  arena_open_in(&scratch, s->arena);
  simulate(&run);
  cost->forward = run.overflow ? INT64_MAX / 4 : run.forward.bytes;
  cost->backward = run.backward.bytes;
  cost->again = max_i64(cost->forward + s->boundary[to], cost->backward);
  cost->kept = run.saved - run.received;
  cost->keeps_input = run.received > 0;
  cost->keeps_result = run.result_saved;
  arena_close(&scratch);
}

/* Runs three units from each on, but for those that run alike. */
static void link_units(struct spans *s) {
  s->joined = (struct units){.model = s->step->model,
                             .trace = &s->step->trace,
                             .cut = s->cut,
                             .count = s->units};
  units_open(&s->joined, s->arena);
  s->three = arena_alloc(s->arena, s->units + 1, sizeof *s->three);
  s->linked = arena_alloc(s->arena, s->units + 1, sizeof *s->linked);
  for (size_t i = 0; i + LINKED <= s->units; i++) {
    uint64_t key = alike_span(&s->alike, i, i + LINKED);
    size_t alike = 0;
    while (alike < i && alike_span(&s->alike, alike, alike + LINKED) != key)
      alike++;
    s->linked[i] = &s->three[alike];
    if (alike < i || !units_are_near(&s->joined, i, i + LINKED))
      continue;
    struct arena scratch;
    struct simulation run = span_simulation(s, &scratch);
    arena_open_in(&scratch, s->arena);
    run.with_gradients = true;
    s->three[i] = units_link(&s->joined, i, &run);
    arena_close(&scratch);
  }
}

/* A long span, from runs of three units each; false: it must be run. */
static bool join_span(const struct spans *s, size_t from, size_t to,
                      struct span_cost *cost) {
  struct joined joined;
  if (s->step->settings.saved_dtype || to - from == LINKED ||
      !units_are_near(&s->joined, from, to) ||
      !units_join(s->linked, from, to, &joined))
    return false;
  cost->forward = joined.forward;
  cost->backward = joined.backward;
  cost->again = max_i64(cost->forward + s->boundary[to], cost->backward);
  cost->kept = joined.saved - joined.received;
  cost->keeps_input = joined.received > 0;
  cost->keeps_result = joined.result_saved;
  return true;
}

/* One that runs alike, among those from an earlier unit on; NULL: none. */
static const struct span_cost *find_alike(const struct spans *s, size_t from,
                                          size_t to) {
  uint64_t key = alike_span(&s->alike, from, to);
  for (size_t i = 0; i < from; i++)
    if (alike_span(&s->alike, i, i + to - from) == key)
      return span_at(s, i, i + to - from);
  return NULL;
}

static struct span_cost measure(const struct spans *s, size_t from, size_t to) {
  struct span_cost cost = {0};
  const struct span_cost *alike = find_alike(s, from, to);
  if (alike)
    cost = *alike;
  else if (!join_span(s, from, to, &cost))
    run_span(s, from, to, &cost);
  cost.macs = cost.gradients = cost.past = cost.reads = 0;
  for (int64_t i = s->cut[from]; i < s->cut[to]; i++) {
    int64_t bytes;
    cost.macs += model_cost(s->step->model, i)->train_macs;
    if (element_bytes(s->step->settings.dtype,
                      model_cost(s->step->model, i)->trainable, &bytes))
      cost.gradients += bytes;
  }
  for (size_t i = 0; i < s->far.count; i++) {
    const struct far_value *far = &s->far.at[i];
    bool near = far->result && far->made + 1 == from; /* it is its input */
    if (far->stays && from <= far->made && far->made < to && to <= far->read)
      cost.past += far->bytes;
    if (!far->stays && !far->saved && !near && far->made < from &&
        from <= far->read && far->read < to)
      cost.reads += far->bytes;
  }
  return cost;
}

/* Longer spans are not lighter: behind one that is too large are no others. */
static void measure_spans(const struct spans *s, size_t from, int64_t most) {
  struct span_cost *cost = span_at(s, from, from);
  for (size_t to = from + 1; to <= s->units; to++, cost++)
    cost[1] =
        to > from + 1 && cost->again > most ? *cost : measure(s, from, to);
}

/* Far values */

static size_t *units_of_nodes(const struct spans *s, struct arena *arena) {
  size_t *unit =
      arena_alloc(arena, s->step->model->nodes.count + 1, sizeof *unit);
  for (size_t i = 0; i < s->units; i++)
    for (int64_t node = s->cut[i]; node < s->cut[i + 1]; node++)
      unit[node] = i;
  return unit;
}

/* Of every storage: the first and last units whose backward reads it. */
struct savers {
  size_t *first, *last; /* from 1; 0: none */
};

static struct savers find_savers(const struct spans *s, struct arena *arena) {
  const struct tape *tape = &s->step->trace.tape;
  size_t storages = tape->storages.count + 1;
  struct savers savers = {arena_alloc(arena, storages, sizeof(size_t)),
                          arena_alloc(arena, storages, sizeof(size_t))};
  for (size_t unit = 0; unit < s->units; unit++)
    for (size_t i = first_op(s, unit); i < first_op(s, unit + 1); i++) {
      const struct tape_op *op = &tape->ops.at[i];
      for (int k = 0; k < op->facts->saved_count; k++) {
        uint32_t storage = tape->saved.at[op->first_saved + (size_t)k];
        savers.last[storage] = unit + 1;
        if (!savers.first[storage])
          savers.first[storage] = unit + 1;
      }
    }
  return savers;
}

/* The last node that reads each node's tensor. */
static int64_t *find_readers(const struct model *model, struct arena *arena) {
  int64_t *reader = arena_alloc(arena, model->nodes.count + 1, sizeof *reader);
  for (size_t i = 0; i < model->nodes.count; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++)
      reader[node_input(model, &model->nodes.at[i], k)] = (int64_t)i;
  return reader;
}

static void find_far(struct spans *s) {
  const struct model *model = s->step->model;
  const struct trace *trace = &s->step->trace;
  struct arena scratch;
  arena_open_in(&scratch, s->arena);
  const size_t *unit = units_of_nodes(s, &scratch);
  const int64_t *reader = find_readers(model, &scratch);
  const struct savers savers = find_savers(s, &scratch);
  for (size_t i = 0; i < model->nodes.count && s->far.count < MOST_FAR; i++) {
    uint32_t storage = trace->tape.values.at[trace->value_of[i]].storage;
    size_t made = unit[i], read = unit[reader[i]];
    bool result = (int64_t)i + 1 == s->cut[made + 1];
    if (read > made + result && trace->tape.storages.at[storage].owned)
      *VEC_PUSH(s->arena, &s->far) =
          (struct far_value){.made = made,
                             .read = read,
                             .reader = reader[i],
                             .bytes = cut_bytes(s->step, (int64_t)i),
                             .saved = savers.first[storage] == made + 1,
                             .stays = savers.last[storage] > made + 1 + result,
                             .result = result};
  }
  arena_close(&scratch);
}

/* What stands beside units */

/* Outputs of the net stay until the end, also while units before them run. */
static void add_outputs(struct spans *s) {
  const struct model *model = s->step->model;
  for (size_t k = 0; k < model->outputs.count; k++) {
    int64_t node = model->outputs.at[k].node;
    for (size_t i = 1; i < s->units && s->cut[i] <= node; i++)
      s->stands_from[i] += cut_bytes(s->step, node);
  }
}

/* What a reader's backward gives is its result's own gradient, or a part. */
static bool shares_gradient(const struct spans *s, int64_t reader) {
  const struct trace *trace = &s->step->trace;
  size_t op = reader ? trace->op_end[reader - 1] : 0;
  return op < trace->op_end[reader] &&
         trace->tape.ops.at[op].facts->gradient == GRADIENT_SHARED;
}

static bool reads_result(const struct spans *s, int64_t reader, size_t cut) {
  const struct model *model = s->step->model;
  const struct node *node = &model->nodes.at[reader];
  for (int i = 0; i < node->input_count; i++)
    if (node_input(model, node, i) == s->cut[cut] - 1)
      return true;
  return false;
}

/*
 * The last reader's backward makes the gradient, the maker's reads it. One
 * that several share is there once. The runs of spans count it where it is
 * the gradient of their result.
 */
static void add_far(struct spans *s) {
  for (size_t k = 0; k < s->far.count; k++) {
    const struct far_value *far = &s->far.at[k];
    bool shares = shares_gradient(s, far->reader), again = false;
    int64_t bytes = shares ? cut_bytes(s->step, far->reader) : far->bytes;
    for (size_t j = 0; shares && j < k; j++)
      again = again || s->far.at[j].reader == far->reader;
    for (size_t i = far->made + 1; i <= far->read; i++) {
      bool counted =
          (far->result && i == far->made + 1) ||
          (shares && i == far->read && reads_result(s, far->reader, i));
      if (!again)
        s->stands_from[i] += bytes - (counted ? s->boundary[i] : 0);
      if (!far->saved && !far->stays)
        s->passes[i] += far->bytes;
    }
    if (far->stays && !far->saved)
      s->holds[far->made] += far->bytes;
    if (far->stays && far->result)
      s->result_stays[far->made + 1] = true;
  }
}

static void find_units(struct spans *s) {
  struct cuts cuts = {0};
  cuts_for_segments(s->step, cuts_most(s->step, MOST_UNITS), s->arena, &cuts);
  s->units = cuts.at.count + 1;
  s->cut = arena_alloc(s->arena, s->units + 1, sizeof *s->cut);
  s->boundary = arena_alloc(s->arena, s->units + 1, sizeof *s->boundary);
  for (size_t i = 0; i < cuts.at.count; i++) {
    s->cut[i + 1] = cuts.at.at[i];
    s->boundary[i + 1] = cut_bytes(s->step, cuts.at.at[i] - 1);
  }
  s->cut[s->units] = (int64_t)s->step->model->nodes.count;
}

void spans_open(struct spans *s, int64_t most) {
  find_units(s);
  s->costs =
      arena_alloc(s->arena, (s->units + 1) * (s->units + 1), sizeof *s->costs);
  s->stands_from = arena_alloc(s->arena, s->units + 2, sizeof *s->stands_from);
  s->passes = arena_alloc(s->arena, s->units + 1, sizeof *s->passes);
  s->holds = arena_alloc(s->arena, s->units + 1, sizeof *s->holds);
  s->result_stays =
      arena_alloc(s->arena, s->units + 1, sizeof *s->result_stays);
  alike_find(&s->alike, s->step, s->cut, s->units, s->arena);
  link_units(s);
  find_far(s);
  for (size_t from = 0; from < s->units; from++) {
    measure_spans(s, from, most);
    progress_tell(s->step->model->progress, "measuring what checkpoints spare",
                  (int64_t)from + 1, (int64_t)s->units);
  }
  for (size_t i = s->units; i-- > 0;) {
    s->holds[i] = span_at(s, i, i + 1)->kept;
    s->stands_from[i] = s->stands_from[i + 1] + span_at(s, i, i + 1)->gradients;
  }
  add_outputs(s);
  add_far(s);
}
