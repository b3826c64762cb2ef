/* Units: joins long spans of a net from runs of three units each. */
#include "memory/checkpoint/units.h"

#include "base/check.h"

/* Operations before a unit; those of the loss follow the last one. */
static size_t units_op(const struct units *u, size_t unit) {
  int64_t node = u->cut[unit];
  if (unit == u->count)
    return u->trace->tape.ops.count;
  return node ? u->trace->op_end[node - 1] : 0;
}

/* Guards */

static size_t unit_of(const struct units *u, size_t op) {
  size_t low = 0, high = u->count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (units_op(u, middle) <= op)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Marks units of checkpoints over a cut, which a later stage keeps whole. */
static void mark_cut(const struct units *u, bool *cut) {
  for (size_t i = 0; i < u->segment_count; i++) {
    const struct segment *segment = &u->segments[i];
    size_t first = unit_of(u, segment->first);
    size_t last = unit_of(u, segment->end - 1);
    for (size_t unit = first; unit <= last && first < last; unit++)
      cut[unit] = true;
  }
}

static size_t root_of(const struct units *u, size_t storage) {
  const struct tape_storage *at = u->trace->tape.storages.at;
  while (at[storage].view_of) /* for any batch */
    storage = at[storage].view_of - 1;
  return storage;
}

/* True if the operation uses no storage made before `first`. */
static bool reads_from(const struct units *u, const struct tape_op *op,
                       size_t first) {
  const struct tape *tape = &u->trace->tape;
  for (int i = 0; i < op->facts->in_count; i++)
    if (root_of(u, tape->values.at[tape_input(tape, op, i)].storage) < first)
      return false;
  for (int i = 0; i < op->facts->out_count; i++)
    if (root_of(u, tape->values.at[op->first_out + (size_t)i].storage) < first)
      return false;
  for (int i = 0; i < op->facts->saved_count; i++)
    if (root_of(u, tape->saved.at[op->first_saved + (size_t)i]) < first)
      return false;
  return true;
}

/* True if the operation reads nothing earlier except the unit's input. */
static bool reads_one(const struct units *u, const struct tape_op *op,
                      size_t unit) {
  const struct tape *tape = &u->trace->tape;
  size_t begin = units_op(u, unit);
  size_t first = tape->ops.at[begin].first_out;
  for (int i = 0; i < op->facts->in_count; i++) {
    size_t in = tape_input(tape, op, i);
    if (in < first && unit > 0 &&
        tape->storages.at[tape->values.at[in].storage].owned &&
        in != u->trace->value_of[u->cut[unit] - 1])
      return false;
  }
  return true;
}

/* True if a unit uses nothing from before its neighbour. */
static bool is_near(const struct units *u, size_t unit) {
  const struct tape *tape = &u->trace->tape;
  size_t begin = units_op(u, unit), end = units_op(u, unit + 1), first = 0;
  if (unit > 1)
    first = tape->ops.at[units_op(u, unit - 1)].first_storage;
  for (size_t i = begin; i < end; i++)
    if (!reads_from(u, &tape->ops.at[i], first) ||
        !reads_one(u, &tape->ops.at[i], unit))
      return false;
  return end > begin;
}

static bool has_shared(const struct units *u, size_t unit) {
  const struct model *model = u->model;
  for (int64_t i = u->cut[unit]; i < u->cut[unit + 1]; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->param_count; k++)
      if (model->params.at[node->first_param + (size_t)k].shared)
        return true;
  }
  return false;
}

/* True if a unit before the last has an output, held to the end of the net. */
static bool has_output(const struct units *u, size_t unit) {
  const struct model *model = u->model;
  for (size_t i = 0; i < model->outputs.count && unit + 1 < u->count; i++) {
    int64_t node = model->outputs.at[i].node;
    if (node >= u->cut[unit] && node < u->cut[unit + 1])
      return true;
  }
  return false;
}

void units_open(struct units *u, struct arena *arena) {
  size_t far = 0;
  size_t *at = arena_alloc(arena, u->count + 1, sizeof *at);
  bool *cut = arena_alloc(arena, u->count + 1, sizeof *cut);
  mark_cut(u, cut);
  for (size_t i = 0; i < u->count; i++) {
    far += u->count <= LINKED || cut[i] || has_shared(u, i) ||
           has_output(u, i) || !is_near(u, i);
    at[i + 1] = far;
  }
  u->far = at;
}

bool units_are_near(const struct units *u, size_t from, size_t to) {
  return to - from >= LINKED && u->far[to] == u->far[from];
}

/* Runs of three */

static struct unit_link link_of(const struct leg *in) {
  return (struct unit_link){
      .forward = in->forward, .backward = in->backward, .saved = in->saved};
}

/* Differences of memory in use; they cannot pass 2^63 - 1. */
static struct unit_linked link_units(const struct step_mark *marks,
                                     const struct leg *in) {
  const struct step_mark *a = &marks[0], *b = &marks[1];
  struct unit_linked l = {link_of(&in[0]), link_of(&in[1]), link_of(&in[2]),
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

struct unit_linked units_link(const struct units *u, size_t from,
                              struct simulation *run) {
  const int64_t *cut = &u->cut[from];
  struct step_mark marks[LINKED - 1] = {0};
  struct leg in[LINKED] = {0};
  for (size_t i = 0; i + 1 < LINKED; i++) {
    marks[i].op = units_op(u, from + i + 1);
    marks[i].value = u->trace->value_of[cut[i + 1] - 1];
  }
  run->first = units_op(u, from);
  run->end = units_op(u, from + LINKED);
  run->marks = marks;
  run->mark_count = LINKED - 1;
  run->legs = in;
  run->saved_by_node = arena_alloc(run->arena, (size_t)cut[LINKED] + 1,
                                   sizeof *run->saved_by_node);
  simulate(run);
  for (size_t i = 0; i < LINKED; i++)
    for (int64_t k = i ? cut[i] : 0; k < cut[i + 1]; k++)
      in[i].saved += run->saved_by_node[k]; /* at most run->saved */
  struct unit_linked linked = link_units(marks, in);
  linked.plain = linked.plain && !run->overflow;
  return linked;
}

/* Joining */

struct joining {
  int64_t level, cached, saved;
  int64_t forward, backward; /* maxima */
  bool fits;
};

static int64_t sum(struct joining *c, int64_t a, int64_t b) {
  int64_t both = 0;
  c->fits = add_i64(a, b, &both) && c->fits;
  return both;
}

static void see_backward(struct joining *c, int64_t level, int64_t more) {
  c->backward = max_i64(c->backward, sum(c, level, more));
}

static void join_forward(struct joining *c, const struct unit_link *link) {
  int64_t level = sum(c, c->level, c->cached);
  c->forward = max_i64(c->forward, sum(c, level, link->forward));
  c->level = sum(c, c->level, link->rises);
  c->cached = sum(c, c->cached, link->cached);
  c->saved = sum(c, c->saved, link->saved);
}

bool units_join(const struct unit_linked *const *linked, size_t from, size_t to,
                struct unit_joined *joined) {
  struct joining c = {.fits = true};
  size_t last = to - LINKED;
  for (size_t i = from; i <= last; i++)
    if (!linked[i]->plain)
      return false;
  join_forward(&c, &linked[from]->first);
  for (size_t i = from; i <= last; i++)
    join_forward(&c, &linked[i]->middle);
  see_backward(&c, c.level, linked[last]->last.backward);
  int64_t level = sum(&c, c.level, linked[last]->turns);
  join_forward(&c, &linked[last]->last);
  for (size_t i = last + 1; i-- > from;) {
    see_backward(&c, level, linked[i]->middle.backward);
    level = sum(&c, level, -linked[i]->middle.falls);
  }
  see_backward(&c, level, linked[from]->first.backward);
  *joined = (struct unit_joined){
      .saved = c.saved, .forward = c.forward, .backward = c.backward};
  return c.fits;
}
