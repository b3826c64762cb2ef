/*
 * Copies of iterations on the tape. An iteration reads only values of the one
 * before, in storages that go back at most one more, and values in front of all
 * iterations. So once three iterations have recorded the same at a fixed
 * distance, layers get the same answers in all that follow: these are copied,
 * or left out if a run multiplies them (leap.h). The first and the last may
 * differ; others read the last one's results.
 */
#include "memory/step/copies.h"
#include "memory/step/splice.h"

enum {
  SEEN = 4, /* iterations recorded at first: the first, and three */
  BACK = 3, /* iterations recorded at the end after a leap */
  LEAPS_FROM = SEEN + BACK + 1, /* minimum number of iterations */
};

struct copier {
  struct trace *trace;
  const struct model *model;
  const struct trace_options *options;
  bool leaps;
  size_t next;                    /* index of the next stretch of the net */
  size_t seen;                    /* iterations of it that have been recorded */
  size_t range;                   /* index of the next checkpointed range */
  struct tape_marks at[SEEN + 1]; /* in front of the first ones */
};

/* An iteration and the one after it. */
struct copy_pair {
  const struct tape *tape;
  size_t before;       /* storages in front of all iterations */
  struct tape_marks a; /* in front of the iteration */
  struct splice next;  /* the next iteration, which others repeat */
};

/* True if iterations read something in front of them all. */
static bool reads_far(const struct model *model,
                      const struct node_turns *turns) {
  int64_t begin = turns->first + turns->length;
  for (int64_t i = begin; i < begin + turns->length; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      if (node_input(model, node, k) < turns->first)
        return true;
  }
  return false;
}

bool copies_may_leap(const struct model *model,
                     const struct trace_options *options) {
  bool worth = false;
  if (!options->leaps || options->range_count ||
      model->stops) /* what is kept there is freed before backward */
    return false;
  for (size_t i = 0; i < model->turns.count; i++) {
    const struct node_turns *turns = &model->turns.at[i];
    if (turns->count < LEAPS_FROM)
      continue;
    if (reads_far(model, turns))
      return false;
    worth = true;
  }
  return worth;
}

struct copier *copies_open(struct trace *trace, const struct model *model,
                           const struct trace_options *options, bool leaps) {
  struct copier *copier;
  if (!model->turns.count)
    return NULL;
  copier = ARENA_NEW(trace->tape.arena, struct copier);
  copier->trace = trace;
  copier->model = model;
  copier->options = options;
  copier->leaps = leaps;
  return copier;
}

/* Comparison of iterations */

/* True if `y` is to an iteration what `x` is to the one before it. */
static bool follows(const struct splice_move *move, size_t x, size_t y) {
  return y == (x >= move->stays ? x + move->by : x);
}

/* References from 1; 0: none. */
static bool follows_if(const struct splice_move *move, size_t x, size_t y) {
  return x && y ? follows(move, x - 1, y - 1) : x == y;
}

static bool same_storages(const struct copy_pair *p) {
  for (size_t i = 0; i < p->next.by.storages; i++) {
    const struct tape_storage *a = &p->tape->storages.at[p->a.storages + i];
    const struct tape_storage *b = a + p->next.by.storages;
    if (!tape_same_extent(p->tape, a->extent, b->extent) ||
        !tape_same_extent(p->tape, a->sample, b->sample) ||
        a->owned != b->owned || a->leads_back != b->leads_back ||
        a->stays != b->stays ||
        (size_t)b->node != (size_t)a->node + p->next.nodes ||
        !follows_if(&p->next.storages, a->view_of, b->view_of) ||
        !follows_if(&p->next.params, a->weight, b->weight))
      return false;
  }
  return true;
}

static bool same_values(const struct copy_pair *p) {
  for (size_t i = 0; i < p->next.by.values; i++) {
    const struct tape_value *a = &p->tape->values.at[p->a.values + i];
    const struct tape_value *b = a + p->next.by.values;
    if (!tape_alike(p->tape, a, b) || a->axis != b->axis ||
        a->first_part != b->first_part || a->part_count != b->part_count ||
        a->param_count != b->param_count ||
        (b->storage >= p->before && b->storage < p->a.storages) ||
        !follows(&p->next.storages, a->storage, b->storage) ||
        !follows_if(&p->next.params, a->param, b->param))
      return false;
  }
  return true;
}

static bool same_ops(const struct copy_pair *p) {
  for (size_t i = p->a.ops; i < p->next.first.ops; i++) {
    const struct tape_op *a = &p->tape->ops.at[i], *b = a + p->next.by.ops;
    if (!facts_equal(a->facts, b->facts) || a->facts->listed ||
        (size_t)b->node != (size_t)a->node + p->next.nodes)
      return false;
    if (p->tape->lowers && !tape_same_lowered(p->tape, i, i + p->next.by.ops))
      return false;
  }
  return true;
}

/* Items [from, to) of an array against those after them. */
static bool same_places(const uint32_t *at, size_t from, size_t to,
                        const struct splice_move *move) {
  for (size_t i = from; i < to; i++)
    if (!follows(move, at[i], at[i + to - from]))
      return false;
  return true;
}

static bool are_alike(const struct copy_pair *p, const struct tape_marks *end) {
  const struct tape *tape = p->tape;
  const struct splice *s = &p->next;
  const struct tape_marks *a = &p->a, *b = &s->first;
  struct tape_marks by = tape_between(b, end);
  return memcmp(&by, &s->by, sizeof by) == 0 && by.parts == 0 && by.ops &&
         same_storages(p) && same_values(p) && same_ops(p) &&
         same_places(tape->ins.at, a->ins, b->ins, &s->values) &&
         same_places(tape->saved.at, a->saved, b->saved, &s->storages) &&
         same_places(tape->params.at, a->params, b->params, &s->params);
}

/* Fills in the results of the copied nodes, from `node` on. */
static void copy_nodes(const struct splice *s, struct trace *trace, size_t node,
                       size_t count) {
  uint32_t *value = trace->value_of, *op = trace->op_end;
  for (size_t i = node; i < node + s->nodes * count; i++) {
    uint32_t before = value[i - s->nodes]; /* UINT32_MAX: it does not run */
    value[i] = before;
    if (before != UINT32_MAX)
      value[i] = splice_moved(&s->values, before, 1);
    op[i] = op[i - s->nodes] + (uint32_t)s->by.ops;
  }
}

/* Gives the nodes that are left out the results of the iteration before. */
static size_t leave_out(const struct copy_pair *p, struct trace *trace,
                        const struct node_turns *turns) {
  struct tape_marks now = tape_marks(&trace->tape);
  int64_t count = turns->count - SEEN - BACK;
  size_t from = (size_t)(turns->first + SEEN * turns->length);
  size_t end = from + (size_t)count * p->next.nodes;
  *VEC_PUSH(trace->tape.arena, &trace->leaps) =
      (struct step_leap){.node = (int64_t)end,
                         .length = turns->length,
                         .count = count,
                         .op = now.ops,
                         .storage = now.storages,
                         .value = now.values,
                         .ops = p->next.by.ops,
                         .storages = p->next.by.storages,
                         .values = p->next.by.values,
                         .ins = p->next.by.ins};
  for (size_t i = from; i < end; i++) {
    trace->value_of[i] = trace->value_of[i - p->next.nodes];
    trace->op_end[i] = (uint32_t)now.ops; /* a place in the tape */
  }
  return end;
}

/* The walk over the nodes */

/* True if a checkpoint begins or ends among them; both are in order. */
static bool is_cut(struct copier *t, const struct node_turns *turns) {
  const struct trace_options *options = t->options;
  int64_t end = turns->first + turns->length * turns->count;
  while (t->range < options->range_count &&
         options->ranges[t->range].end <= turns->first)
    t->range++;
  return t->range < options->range_count &&
         options->ranges[t->range].first < end;
}

/* Parameters before a node: those of the iterations follow one another. */
static size_t params_before(const struct model *model, size_t node) {
  return model->nodes.at[node].first_param;
}

/* Copies the others from `node` on if the recorded ones are alike. */
static size_t pass_last(struct copier *t, const struct node_turns *turns,
                        size_t node) {
  const struct tape_marks *at = t->at;
  struct trace *trace = t->trace;
  size_t length = (size_t)turns->length, first = (size_t)turns->first;
  struct copy_pair pair = {
      .tape = &trace->tape,
      .before = at[0].storages,
      .next = {.by = tape_between(&at[1], &at[2]), .nodes = length}};
  struct splice *next = &pair.next;
  next->length = next->by;
  next->values.by = next->by.values;
  next->storages.by = next->by.storages;
  next->params.by =
      params_before(t->model, first + length) - params_before(t->model, first);
  if (is_cut(t, turns) || (t->leaps && turns->count < LEAPS_FROM))
    return node;
  if (!t->leaps) {
    next->values.stays = at[0].values;
    next->storages.stays = at[0].storages;
    next->params.stays = params_before(t->model, first);
  }
  for (size_t i = 2; i < SEEN; i++) {
    pair.a = at[i - 1];
    next->first = at[i];
    if (!are_alike(&pair, &at[i + 1]))
      return node;
  }
  if (t->leaps)
    return leave_out(&pair, trace, turns);
  size_t count = (size_t)turns->count - SEEN - 1;
  splice_append(&trace->tape, next, count);
  copy_nodes(next, trace, node, count);
  *VEC_PUSH(trace->tape.arena, &trace->turns) =
      (struct tape_turns){.count = count + SEEN - 1,
                          .node = first + length,
                          .op = at[1].ops,
                          .value = at[1].values,
                          .storage = at[1].storages,
                          .nodes = length,
                          .ops = next->by.ops,
                          .values = next->by.values,
                          .storages = next->by.storages};
  return node + count * length;
}

size_t copies_pass(struct copier *t, size_t node) {
  const struct model *model = t->model;
  if (t->next == model->turns.count)
    return node;
  const struct node_turns *turns = &model->turns.at[t->next];
  size_t wanted = (size_t)turns->first + t->seen * (size_t)turns->length;
  if (node < wanted)
    return node;
  if (node > wanted) { /* it was in a block */
    t->next++;
    t->seen = 0;
    return node;
  }
  t->at[t->seen++] = tape_marks(&t->trace->tape);
  if (t->seen <= SEEN)
    return node;
  t->next++;
  t->seen = 0;
  return pass_last(t, turns, node);
}
