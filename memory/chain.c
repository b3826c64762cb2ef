/* Chain: what a long part of a net takes, from runs of three units each. */
#include "memory/chain.h"

#include "base/check.h"

enum { LINKED = 3 }; /* units of a run: the first, one between, the last */

/* What a unit adds to what is alive before it. */
struct link {
  int64_t forward, backward; /* the most, over what is there before */
  int64_t rises, cached;     /* what it leaves, forward */
  int64_t falls;             /* what its backward frees */
  int64_t saved;
};

struct linked {
  struct link first, middle, last;
  int64_t turns; /* behind the last, backward over forward */
  bool plain;
};

/* Guards */

static size_t unit_of(const struct search *s, size_t op) {
  size_t low = 0, high = s->units;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (stage_ops(s, (struct node_range){0, s->cut[middle]}).end <= op)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* A checkpoint over a cut is kept whole if a stage begins there. */
static bool cuts_segments(const struct search *s) {
  for (size_t i = 0; i < s->step->segments.count; i++) {
    const struct segment *segment = &s->step->segments.at[i];
    if (unit_of(s, segment->first) != unit_of(s, segment->end - 1))
      return true;
  }
  return false;
}

static size_t root_of(const struct search *s, size_t storage) {
  const struct tape_storage *at = s->trace->tape.storages.at;
  while (at[storage].view_of) /* whatever the batch is */
    storage = at[storage].view_of - 1;
  return storage;
}

/* Whether it reads or keeps nothing that was made before a storage. */
static bool reads_from(const struct search *s, const struct tape_op *op,
                       size_t first) {
  const struct tape *tape = &s->trace->tape;
  for (int i = 0; i < op->facts->in_count; i++)
    if (root_of(s, tape->values.at[tape_input(tape, op, i)].storage) < first)
      return false;
  for (int i = 0; i < op->facts->out_count; i++)
    if (root_of(s, tape->values.at[op->first_out + (size_t)i].storage) < first)
      return false;
  for (int i = 0; i < op->facts->saved_count; i++)
    if (root_of(s, tape->saved.at[op->first_saved + (size_t)i]) < first)
      return false;
  return true;
}

/* Whether a unit reaches back no further than its neighbour. */
static bool is_near(const struct search *s, size_t unit) {
  const struct tape *tape = &s->trace->tape;
  struct segment ops =
      stage_ops(s, (struct node_range){s->cut[unit], s->cut[unit + 1]});
  size_t before = stage_ops(s, (struct node_range){0, s->cut[unit]}).end;
  size_t first = 0;
  if (unit > 1) {
    size_t op = stage_ops(s, (struct node_range){0, s->cut[unit - 1]}).end;
    first = tape->ops.at[op].first_storage;
  }
  for (size_t i = ops.first; i < ops.end; i++)
    if (!reads_from(s, &tape->ops.at[i], first))
      return false;
  return ops.end > ops.first && before == ops.first;
}

static bool has_shared(const struct search *s, size_t unit) {
  const struct model *model = s->step->model;
  for (int64_t i = s->cut[unit]; i < s->cut[unit + 1]; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->param_count; k++)
      if (model->params.at[node->first_param + (size_t)k].shared)
        return true;
  }
  return false;
}

/* An output before the end is held only where the whole net ends. */
static bool has_output(const struct search *s, size_t unit) {
  const struct model *model = s->step->model;
  for (size_t i = 0; i < model->outputs.count && unit + 1 < s->units; i++) {
    int64_t node = model->outputs.at[i].node;
    if (node >= s->cut[unit] && node < s->cut[unit + 1])
      return true;
  }
  return false;
}

void chain_open(struct search *s) {
  size_t far = 0, apart = s->units > LINKED && !cuts_segments(s);
  s->far = arena_alloc(s->arena, s->units + 1, sizeof *s->far);
  for (size_t i = 0; i < s->units; i++) {
    far += !apart || has_shared(s, i) || has_output(s, i) || !is_near(s, i);
    s->far[i + 1] = far;
  }
}

/* Runs of three */

static struct link link_of(const struct leg *in) {
  return (struct link){
      .forward = in->forward, .backward = in->backward, .saved = in->saved};
}

/* Differences of what was alive, none of which can pass 2^63 - 1. */
static struct linked link_units(const struct mark *marks,
                                const struct leg *in) {
  const struct mark *a = &marks[0], *b = &marks[1];
  struct linked l = {link_of(&in[0]), link_of(&in[1]), link_of(&in[2]),
                     .turns = b->backward - b->forward,
                     .plain = a->plain && b->plain};
  l.first.rises = a->forward;
  l.first.cached = a->cached;
  l.first.backward -= a->backward;
  l.middle.forward -= a->forward + a->cached;
  l.middle.backward -= b->backward;
  l.middle.rises = b->forward - a->forward;
  l.middle.cached = b->cached - a->cached;
  l.middle.falls = b->backward - a->backward;
  l.last.forward -= b->forward + b->cached;
  l.last.backward -= b->forward;
  return l;
}

static struct linked run_three(struct search *s, size_t from) {
  struct arena scratch;
  const int64_t *cut = &s->cut[from];
  struct mark marks[LINKED - 1] = {0};
  struct leg in[LINKED] = {0};
  arena_open_in(&scratch, s->arena);
  struct simulation run =
      stage_simulation(s, (struct node_range){cut[0], cut[LINKED]}, &scratch);
  for (size_t i = 0; i + 1 < LINKED; i++) {
    struct node_range before = {0, cut[i + 1]};
    marks[i].op = stage_ops(s, before).end;
    marks[i].value = s->trace->value_of[cut[i + 1] - 1];
  }
  run.marks = marks;
  run.mark_count = LINKED - 1;
  run.legs = in;
  run.saved_by_node =
      arena_alloc(&scratch, (size_t)cut[LINKED] + 1, sizeof *run.saved_by_node);
  simulate(&run);
  for (size_t i = 0; i < LINKED; i++)
    for (int64_t k = i ? cut[i] : 0; k < cut[i + 1]; k++)
      in[i].saved += run.saved_by_node[k]; /* at most run.saved */
  arena_close(&scratch);
  s->overflow = s->overflow || run.overflow;
  return link_units(marks, in);
}

/* Three units from one on; or an earlier run that was alike. */
static const struct linked *three_from(struct search *s, size_t from) {
  struct ran *ran;
  if (s->linked[from])
    return s->linked[from];
  struct run_key key = stage_key(s, alike_span(&s->alike, from, from + LINKED));
  ran = runs_find(s->step->runs, &key);
  if (!ran->linked) {
    struct linked *own = arena_alloc(s->step->runs->arena, 1, sizeof *own);
    *own = run_three(s, from);
    if (s->overflow)
      own->plain = false;
    ran->linked = own;
  }
  return s->linked[from] = ran->linked;
}

/* Joining them */

struct joining {
  struct search *s;
  int64_t level, cached, most, saved;
};

static void see(struct joining *c, int64_t level, int64_t more) {
  c->most = max_i64(c->most, stage_sum(c->s, level, more));
}

static void join_forward(struct joining *c, const struct link *link) {
  struct search *s = c->s;
  see(c, stage_sum(s, c->level, c->cached), link->forward);
  c->level = stage_sum(s, c->level, link->rises);
  c->cached = stage_sum(s, c->cached, link->cached);
  c->saved = stage_sum(s, c->saved, link->saved);
}

bool chain_run(struct search *s, size_t from, size_t to, struct ran *ran) {
  struct joining c = {.s = s};
  size_t last = to - LINKED;
  if (s->train->saved_dtype || to - from <= LINKED ||
      s->far[to] != s->far[from])
    return false;
  for (size_t i = from; i <= last; i++)
    if (!three_from(s, i)->plain)
      return false;
  join_forward(&c, &s->linked[from]->first);
  for (size_t i = from; i <= last; i++)
    join_forward(&c, &s->linked[i]->middle);
  see(&c, c.level, s->linked[last]->last.backward);
  int64_t level = stage_sum(s, c.level, s->linked[last]->turns);
  join_forward(&c, &s->linked[last]->last);
  for (size_t i = last + 1; i-- > from;) {
    see(&c, level, s->linked[i]->middle.backward);
    level = stage_sum(s, level, -s->linked[i]->middle.falls);
  }
  see(&c, level, s->linked[from]->first.backward);
  ran->kept = c.saved;
  ran->most = c.most;
  return true;
}
