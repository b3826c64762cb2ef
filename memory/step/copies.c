/*
 * Iterations of a net on its tape. An iteration reads only values of the one
 * before, in storages of at most one before that, and what is in front of them
 * all. So when what three iterations have recorded is the same, moved on,
 * whatever a layer asks of the tape is the same in those that come, which are
 * copied. The first iteration may differ, and the last, whose results others
 * read.
 */
#include "memory/step/copies.h"

enum {
  SEEN = 4, /* iterations, before others are copied: the first, and three */
  BACK = 3, /* iterations at the end that are recorded if others are left out */
  LEAPS_FROM = SEEN + BACK + 1, /* iterations */
};

struct copier {
  struct trace *trace;
  const struct model *model;
  const struct trace_options *options;
  bool leaps;
  size_t next;                    /* of the stretches of the net */
  size_t seen;                    /* of these */
  size_t range;                   /* of the checkpointed: the next one */
  struct tape_marks at[SEEN + 1]; /* in front of the first ones */
};

/* An iteration, and the one after it. */
struct copy_pair {
  const struct tape *tape;
  struct tape_marks before; /* in front of the first iteration */
  struct tape_marks stays;  /* references to what is in front do not move */
  struct tape_marks a, b;
  struct tape_marks by; /* how long each of both is */
  size_t nodes;
  size_t param_stays, params;
};

/* Iterations read something in front of them all. */
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
      model->stops) /* what is kept there goes before backward */
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

/* Whether both are alike */

static struct tape_marks between(const struct tape_marks *a,
                                 const struct tape_marks *b) {
  return (struct tape_marks){b->values - a->values, b->storages - a->storages,
                             b->ops - a->ops,       b->ins - a->ins,
                             b->saved - a->saved,   b->params - a->params,
                             b->parts - a->parts};
}

/* What one refers to, and the other: of the iterations, or in front of all. */
static bool follows(size_t x, size_t y, size_t before, size_t by) {
  return y == (x >= before ? x + by : x);
}

/* The same from 1, where 0 is nothing. */
static bool follows_if(size_t x, size_t y, size_t before, size_t by) {
  return x && y ? follows(x - 1, y - 1, before, by) : x == y;
}

static bool same_storages(const struct copy_pair *p) {
  for (size_t i = 0; i < p->by.storages; i++) {
    const struct tape_storage *a = &p->tape->storages.at[p->a.storages + i];
    const struct tape_storage *b = a + p->by.storages;
    if (!tape_same_extent(p->tape, a->extent, b->extent) ||
        !tape_same_extent(p->tape, a->sample, b->sample) ||
        a->owned != b->owned || a->leads_back != b->leads_back ||
        a->stays != b->stays || (size_t)b->node != (size_t)a->node + p->nodes ||
        !follows_if(a->view_of, b->view_of, p->stays.storages,
                    p->by.storages) ||
        !follows_if(a->weight, b->weight, p->param_stays, p->params))
      return false;
  }
  return true;
}

static bool same_values(const struct copy_pair *p) {
  for (size_t i = 0; i < p->by.values; i++) {
    const struct tape_value *a = &p->tape->values.at[p->a.values + i];
    const struct tape_value *b = a + p->by.values;
    if (!tape_alike(p->tape, a, b) || a->axis != b->axis ||
        a->first_part != b->first_part || a->part_count != b->part_count ||
        a->param_count != b->param_count ||
        (b->storage >= p->before.storages && b->storage < p->a.storages) ||
        !follows(a->storage, b->storage, p->stays.storages, p->by.storages) ||
        !follows_if(a->param, b->param, p->param_stays, p->params))
      return false;
  }
  return true;
}

static bool same_ops(const struct copy_pair *p) {
  for (size_t i = p->a.ops; i < p->b.ops; i++) {
    const struct tape_op *a = &p->tape->ops.at[i], *b = a + p->by.ops;
    if (!facts_equal(a->facts, b->facts) || a->facts->listed ||
        (size_t)b->node != (size_t)a->node + p->nodes)
      return false;
    if (p->tape->lowers && !tape_same_lowered(p->tape, i, i + p->by.ops))
      return false;
  }
  return true;
}

/* Items [from, to) of an array, and those after them. */
static bool same_places(const uint32_t *at, size_t from, size_t to,
                        size_t before, size_t by) {
  for (size_t i = from; i < to; i++)
    if (!follows(at[i], at[i + to - from], before, by))
      return false;
  return true;
}

static bool are_alike(const struct copy_pair *p, const struct tape_marks *end) {
  const struct tape *tape = p->tape;
  struct tape_marks by = between(&p->b, end);
  return memcmp(&by, &p->by, sizeof by) == 0 && by.parts == 0 && by.ops &&
         same_storages(p) && same_values(p) && same_ops(p) &&
         same_places(tape->ins.at, p->a.ins, p->b.ins, p->stays.values,
                     by.values) &&
         same_places(tape->saved.at, p->a.saved, p->b.saved, p->stays.storages,
                     by.storages) &&
         same_places(tape->params.at, p->a.params, p->b.params, p->param_stays,
                     p->params);
}

/* Copies */

/* What a copy refers to that is `by` after iteration `b`, which refers to `x`.
 */
static inline uint32_t moved(uint32_t x, size_t from, size_t by) {
  return x >= from ? x + (uint32_t)by : x; /* tape_place() has seen it */
}

static inline uint32_t moved_if(uint32_t x, size_t from, size_t by) {
  return x ? moved(x - 1, from, by) + 1 : 0;
}

static void copy_storages(const struct copy_pair *p, struct tape *tape,
                          size_t count) {
  size_t length = p->by.storages;
  if (length == 0)
    return;
  struct tape_storage *to =
      VEC_MORE(tape->arena, &tape->storages, length * count);
  const struct tape_storage *from = tape->storages.at + p->b.storages;
  tape_place(tape, tape->storages.count);
  for (size_t k = 1; k <= count; k++)
    for (size_t i = 0; i < length; i++, to++) {
      *to = from[i];
      to->node += (int32_t)(k * p->nodes);
      to->pending = 0;
      to->view_of = moved_if(to->view_of, p->stays.storages, k * length);
      to->weight = moved_if(to->weight, p->param_stays, k * p->params);
    }
}

static void copy_values(const struct copy_pair *p, struct tape *tape,
                        size_t count) {
  size_t length = p->by.values;
  if (length == 0)
    return;
  struct tape_value *to = VEC_MORE(tape->arena, &tape->values, length * count);
  const struct tape_value *from = tape->values.at + p->b.values;
  tape_place(tape, tape->values.count);
  for (size_t k = 1; k <= count; k++)
    for (size_t i = 0; i < length; i++, to++) {
      *to = from[i];
      to->storage = moved(to->storage, p->stays.storages, k * p->by.storages);
      to->param = moved_if(to->param, p->param_stays, k * p->params);
    }
}

static void copy_ops(const struct copy_pair *p, struct tape *tape,
                     size_t count) {
  size_t length = p->by.ops;
  struct tape_op *to = VEC_MORE(tape->arena, &tape->ops, length * count);
  const struct tape_op *from = tape->ops.at + p->b.ops;
  tape_place(tape, tape->ops.count);
  for (size_t k = 1; k <= count; k++)
    for (size_t i = 0; i < length; i++, to++) {
      *to = from[i];
      to->node += (int32_t)(k * p->nodes);
      to->first_in += (uint32_t)(k * p->by.ins);
      to->first_out += (uint32_t)(k * p->by.values);
      to->first_saved += (uint32_t)(k * p->by.saved);
      to->first_param += (uint32_t)(k * p->by.params);
      to->first_storage += (uint32_t)(k * p->by.storages);
    }
}

/* What each operation computes is the same. */
static void copy_lowered(const struct copy_pair *p, struct tape *tape,
                         size_t count) {
  size_t length = p->by.ops;
  uint32_t *to = VEC_MORE(tape->arena, &tape->lowered_of, length * count);
  for (size_t k = 0; k < count; k++)
    memcpy(to + k * length, tape->lowered_of.at + p->b.ops,
           length * sizeof *to);
}

/*
 * `length` places of a list, from `first` on, again for each copy: what they
 * refer to moves by `by` if it is at `moves` or after that. The first new one.
 */
static uint32_t *copy_places(struct tape *tape, tape_places *list, size_t first,
                             size_t length, size_t moves, size_t by,
                             size_t count) {
  if (length == 0)
    return NULL;
  uint32_t *made = VEC_MORE(tape->arena, list, length * count), *to = made;
  const uint32_t *from = list->at + first;
  tape_place(tape, list->count);
  for (size_t k = 1; k <= count; k++)
    for (size_t i = 0; i < length; i++)
      *to++ = moved(from[i], moves, k * by);
  return made;
}

static void copy_lists(const struct copy_pair *p, struct tape *tape,
                       size_t count) {
  const struct tape_marks *first = &p->b, *by = &p->by;
  const uint32_t *saved =
      copy_places(tape, &tape->saved, first->saved, by->saved,
                  p->stays.storages, by->storages, count);
  for (size_t i = 0; i < by->saved * count; i++)
    tape->storages.at[saved[i]].saved = true;
  copy_places(tape, &tape->ins, first->ins, by->ins, p->stays.values,
              by->values, count);
  copy_places(tape, &tape->params, first->params, by->params, p->param_stays,
              p->params, count);
}

/* Where the nodes of the copies, from `node` on, have their results. */
static void copy_nodes(const struct copy_pair *p, struct trace *trace,
                       size_t node, size_t count) {
  uint32_t *value = trace->value_of, *op = trace->op_end;
  for (size_t i = node; i < node + p->nodes * count; i++) {
    uint32_t before = value[i - p->nodes]; /* not run: UINT32_MAX */
    value[i] = before;
    if (before != UINT32_MAX)
      value[i] = moved(before, p->stays.values, p->by.values);
    op[i] = op[i - p->nodes] + (uint32_t)p->by.ops;
  }
}

static void copy_turns(const struct copy_pair *p, struct trace *trace,
                       size_t node, size_t count) {
  struct tape *tape = &trace->tape;
  copy_storages(p, tape, count);
  copy_values(p, tape, count);
  copy_lists(p, tape, count);
  copy_ops(p, tape, count);
  if (tape->lowers)
    copy_lowered(p, tape, count);
  copy_nodes(p, trace, node, count);
}

/* What is left out stands for the same of the iteration before it. */
static size_t leave_out(const struct copy_pair *p, struct trace *trace,
                        const struct node_turns *turns) {
  struct tape_marks now = tape_marks(&trace->tape);
  int64_t count = turns->count - SEEN - BACK;
  size_t from = (size_t)(turns->first + SEEN * turns->length);
  size_t end = from + (size_t)count * p->nodes;
  *VEC_PUSH(trace->tape.arena, &trace->leaps) =
      (struct step_leap){.node = (int64_t)end,
                         .length = turns->length,
                         .count = count,
                         .op = now.ops,
                         .storage = now.storages,
                         .value = now.values,
                         .ops = p->by.ops,
                         .storages = p->by.storages,
                         .values = p->by.values,
                         .ins = p->by.ins};
  for (size_t i = from; i < end; i++) {
    trace->value_of[i] = trace->value_of[i - p->nodes];
    trace->op_end[i] = (uint32_t)now.ops; /* a place in the tape */
  }
  return end;
}

/* Passing by */

/* A checkpoint begins or ends among them; both are in order. */
static bool is_cut(struct copier *t, const struct node_turns *turns) {
  const struct trace_options *options = t->options;
  int64_t end = turns->first + turns->length * turns->count;
  while (t->range < options->range_count &&
         options->ranges[t->range].end <= turns->first)
    t->range++;
  return t->range < options->range_count &&
         options->ranges[t->range].first < end;
}

/* Parameters before a node: those of the iterations are one after the other. */
static size_t params_before(const struct model *model, size_t node) {
  return model->nodes.at[node].first_param;
}

/* Copies the others from `node` on, if those that are recorded are alike. */
static size_t pass_last(struct copier *t, const struct node_turns *turns,
                        size_t node) {
  const struct tape_marks *at = t->at;
  struct trace *trace = t->trace;
  size_t length = (size_t)turns->length, first = (size_t)turns->first;
  struct copy_pair pair = {.tape = &trace->tape,
                           .before = at[0],
                           .by = between(&at[1], &at[2]),
                           .nodes = length,
                           .params = params_before(t->model, first + length) -
                                     params_before(t->model, first)};
  if (is_cut(t, turns) || (t->leaps && turns->count < LEAPS_FROM))
    return node;
  if (!t->leaps) {
    pair.stays = at[0];
    pair.param_stays = params_before(t->model, first);
  }
  for (size_t i = 2; i < SEEN; i++) {
    pair.a = at[i - 1];
    pair.b = at[i];
    if (!are_alike(&pair, &at[i + 1]))
      return node;
  }
  if (t->leaps)
    return leave_out(&pair, trace, turns);
  size_t count = (size_t)turns->count - SEEN - 1;
  copy_turns(&pair, trace, node, count);
  *VEC_PUSH(trace->tape.arena, &trace->turns) =
      (struct tape_turns){.count = count + SEEN - 1,
                          .node = first + length,
                          .op = at[1].ops,
                          .value = at[1].values,
                          .storage = at[1].storages,
                          .nodes = length,
                          .ops = pair.by.ops,
                          .values = pair.by.values,
                          .storages = pair.by.storages};
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
