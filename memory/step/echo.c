/*
 * Echo: in a large net most layers are like one that came before. What that
 * one has put on the tape is put there again, with its own inputs, parameters
 * and results; what does not count, facts and strides, is shared.
 */
#include "memory/step/echo.h"

enum {
  KEPT = 256,      /* a power of two: layers that alternate */
  WAYS = 4,        /* of one layer, whose inputs are others: q, k and v */
  MOST_INPUTS = 4, /* of a layer that is echoed */
};

/* An input as it was before the layer recorded. */
struct seen {
  size_t at; /* the value */
  struct tape_value value;
  struct tape_storage storage;
  bool behind_fence;
};

/* What a node has recorded. */
struct fragment {
  struct fragment *next; /* of the same hash, an older one */
  bool there;
  int64_t node;
  bool in_place;
  const struct share *share; /* of experts */
  struct seen in[MOST_INPUTS];
  struct tape_marks first, end;
  size_t out;
};

struct echo {
  struct tape *tape;
  const struct model *model;
  struct fragment *open;       /* NULL: what is recorded now cannot be echoed */
  struct fragment *kept[KEPT]; /* by hash, WAYS at most; NULL: none yet */
};

struct echo *echo_open(struct tape *tape, const struct model *model) {
  struct echo *echo;
  if (tape->mixed) /* whether a parameter has been cast is known to the tape */
    return NULL;
  echo = ARENA_NEW(tape->arena, struct echo);
  echo->tape = tape;
  echo->model = model;
  return echo;
}

/* Whether an input is for the layer what that of the other one was. */

static struct seen look_at(const struct tape *tape, size_t value) {
  const struct tape_value *at = &tape->values.at[value];
  return (struct seen){value, *at, tape->storages.at[at->storage],
                       at->storage >= tape->fence};
}

static bool same_input(const struct tape *tape, const struct seen *seen,
                       size_t value) {
  const struct tape_value *a = &seen->value, *b = &tape->values.at[value];
  const struct tape_storage *x = &seen->storage;
  const struct tape_storage *y = &tape->storages.at[b->storage];
  return tape_alike(tape, a, b) && !b->param && !y->weight &&
         x->owned == y->owned && x->saved == y->saved &&
         (x->pending <= 1) == (y->pending <= 1) &&
         seen->behind_fence == (b->storage >= tape->fence);
}

static bool same_inputs(const struct tape *tape, const struct fragment *f,
                        const size_t *in, int count) {
  for (int i = 0; i < count; i++) {
    if (!same_input(tape, &f->in[i], in[i]))
      return false;
    for (int k = 0; k < i; k++)
      if ((f->in[i].at == f->in[k].at) != (in[i] == in[k]) ||
          (f->in[i].value.storage == f->in[k].value.storage) !=
              (tape->values.at[in[i]].storage ==
               tape->values.at[in[k]].storage))
        return false;
  }
  return true;
}

/* A copy in the making: whose, of what, and where it begins. */
struct copy {
  struct echo *echo;
  const struct fragment *f;
  const struct node *from, *to;
  const size_t *in;
  struct tape_marks now;
};

/* What stands for a value, or a storage; SIZE_MAX: nothing does. */

static size_t value_for(const struct copy *c, size_t value) {
  if (value >= c->f->first.values)
    return value - c->f->first.values + c->now.values;
  for (int i = 0; i < c->from->input_count; i++)
    if (c->f->in[i].at == value)
      return c->in[i];
  return SIZE_MAX;
}

static size_t storage_for(const struct copy *c, size_t storage) {
  if (storage >= c->f->first.storages)
    return storage - c->f->first.storages + c->now.storages;
  for (int i = 0; i < c->from->input_count; i++)
    if (c->f->in[i].value.storage == storage)
      return c->echo->tape->values.at[c->in[i]].storage;
  return SIZE_MAX;
}

static size_t param_for(const struct copy *c, size_t param) {
  size_t index = param - c->from->first_param; /* wraps: too large */
  return index < (size_t)c->from->param_count ? c->to->first_param + index
                                              : SIZE_MAX;
}

/* Whether all that it refers to is its own, or one of its inputs. */
static bool is_closed(const struct copy *c) {
  const struct tape *tape = c->echo->tape;
  const struct tape_marks *first = &c->f->first, *end = &c->f->end;
  bool closed =
      value_for(c, c->f->out) != SIZE_MAX && tape->parts.count == first->parts;
  for (size_t i = first->values; i < end->values; i++) {
    const struct tape_value *value = &tape->values.at[i];
    closed = closed && storage_for(c, value->storage) != SIZE_MAX &&
             (!value->param || param_for(c, value->param - 1) != SIZE_MAX);
  }
  for (size_t i = first->storages; i < end->storages; i++) {
    const struct tape_storage *s = &tape->storages.at[i];
    closed = closed &&
             (!s->view_of || storage_for(c, s->view_of - 1) != SIZE_MAX) &&
             (!s->weight || param_for(c, s->weight - 1) != SIZE_MAX);
  }
  for (size_t i = first->ops; i < end->ops; i++)
    closed = closed && !tape->ops.at[i].facts->listed;
  for (size_t i = first->ins; i < end->ins; i++)
    closed = closed && value_for(c, tape->ins.at[i]) != SIZE_MAX;
  for (size_t i = first->saved; i < end->saved; i++)
    closed = closed && storage_for(c, tape->saved.at[i]) != SIZE_MAX;
  for (size_t i = first->params; i < end->params; i++)
    closed = closed && param_for(c, tape->params.at[i]) != SIZE_MAX;
  return closed;
}

/* All places have 32 bits, as echo_node() sees to. */

static void copy_storages(const struct copy *c) {
  struct tape *tape = c->echo->tape;
  size_t first = c->f->first.storages, count = c->f->end.storages - first;
  if (count == 0)
    return; /* there may be no array yet */
  struct tape_storage *to = VEC_MORE(tape->arena, &tape->storages, count);
  memcpy(to, tape->storages.at + first, count * sizeof *to);
  for (size_t i = 0; i < count; i++) {
    to[i].node = (int32_t)tape->node;
    to[i].pending = 0;
    to[i].saved = false;
    if (to[i].view_of)
      to[i].view_of = (uint32_t)storage_for(c, to[i].view_of - 1) + 1;
    if (to[i].weight)
      to[i].weight = (uint32_t)param_for(c, to[i].weight - 1) + 1;
  }
}

static void copy_values(const struct copy *c) {
  struct tape *tape = c->echo->tape;
  size_t first = c->f->first.values, count = c->f->end.values - first;
  if (count == 0)
    return;
  struct tape_value *to = VEC_MORE(tape->arena, &tape->values, count);
  memcpy(to, tape->values.at + first, count * sizeof *to);
  for (size_t i = 0; i < count; i++) {
    to[i].storage = (uint32_t)storage_for(c, to[i].storage);
    if (to[i].param)
      to[i].param = (uint32_t)param_for(c, to[i].param - 1) + 1;
  }
}

static void copy_saved(const struct copy *c) {
  struct tape *tape = c->echo->tape;
  size_t first = c->f->first.saved, count = c->f->end.saved - first;
  if (count == 0)
    return;
  uint32_t *to = VEC_MORE(tape->arena, &tape->saved, count);
  for (size_t i = 0; i < count; i++) {
    size_t storage = storage_for(c, tape->saved.at[first + i]);
    tape->storages.at[storage].saved = true;
    to[i] = (uint32_t)storage;
  }
}

static void copy_inputs(const struct copy *c) {
  struct tape *tape = c->echo->tape;
  size_t first = c->f->first.ins, count = c->f->end.ins - first;
  if (count == 0)
    return;
  uint32_t *to = VEC_MORE(tape->arena, &tape->ins, count);
  for (size_t i = 0; i < count; i++)
    to[i] = (uint32_t)value_for(c, tape->ins.at[first + i]);
}

static void copy_params(const struct copy *c) {
  struct tape *tape = c->echo->tape;
  size_t first = c->f->first.params, count = c->f->end.params - first;
  if (count == 0)
    return;
  uint32_t *to = VEC_MORE(tape->arena, &tape->params, count);
  for (size_t i = 0; i < count; i++)
    to[i] = (uint32_t)param_for(c, tape->params.at[first + i]);
}

/* How far the places of an array move; below 0 as what adds up to that. */
static uint32_t moved(size_t from, size_t to) {
  return (uint32_t)(to - from);
}

static void copy_ops(const struct copy *c) {
  struct tape *tape = c->echo->tape;
  const struct tape_marks *first = &c->f->first, *now = &c->now;
  size_t count = c->f->end.ops - first->ops;
  if (count == 0)
    return;
  struct tape_op *op = VEC_MORE(tape->arena, &tape->ops, count);
  memcpy(op, tape->ops.at + first->ops, count * sizeof *op);
  for (size_t i = 0; i < count; i++) {
    op[i].node = (int32_t)tape->node;
    op[i].first_in += moved(first->ins, now->ins);
    op[i].first_out += moved(first->values, now->values);
    op[i].first_saved += moved(first->saved, now->saved);
    op[i].first_param += moved(first->params, now->params);
    op[i].first_storage += moved(first->storages, now->storages);
  }
}

static void copy_lowered(const struct copy *c) {
  struct tape *tape = c->echo->tape;
  size_t first = c->f->first.ops, count = c->f->end.ops - first;
  if (count == 0)
    return;
  uint32_t *to = VEC_MORE(tape->arena, &tape->lowered_of, count);
  memcpy(to, tape->lowered_of.at + first, count * sizeof *to);
}

/* Where the fragments of a layer are, or will be. */
static struct fragment **place_of(struct echo *echo, int64_t node) {
  const struct share *share = echo->tape->share;
  size_t experts = share ? (size_t)share->first + 1 : 0;
  return &echo->kept[(echo->model->like[node] + 31 * experts) % KEPT];
}

/* What a layer like it has recorded from inputs like its own, or NULL. */
static const struct fragment *find(struct echo *echo, int64_t index,
                                   const size_t *in) {
  const struct tape *tape = echo->tape;
  const uint32_t *like = echo->model->like;
  int count = echo->model->nodes.at[index].input_count;
  for (struct fragment *f = *place_of(echo, index); f; f = f->next)
    if (f->there && f->in_place == tape->in_place && f->share == tape->share &&
        like[f->node] == like[index] && same_inputs(tape, f, in, count))
      return f;
  return NULL;
}

size_t echo_node(struct echo *echo, int64_t index, const size_t *in) {
  struct tape *tape = echo->tape;
  const struct node *node = &echo->model->nodes.at[index];
  const struct fragment *f = find(echo, index, in);
  if (!f)
    return SIZE_MAX;
  struct copy copy = {echo, f,  &echo->model->nodes.at[f->node],
                      node, in, tape_marks(tape)};
  copy_storages(&copy);
  copy_values(&copy);
  copy_saved(&copy);
  copy_inputs(&copy);
  copy_params(&copy);
  copy_ops(&copy);
  if (tape->lowers)
    copy_lowered(&copy);
  struct tape_marks end = tape_marks(tape);
  tape_place(tape,
             end.values | end.storages | end.ins | end.saved | end.params);
  return value_for(&copy, f->out);
}

/* Room for one more, in front of the others: that of the oldest, if full. */
static struct fragment *make_room(struct echo *echo, int64_t index) {
  struct fragment **first = place_of(echo, index), **at = first;
  for (int i = 1; i < WAYS && *at && (*at)->there; i++)
    at = &(*at)->next;
  struct fragment *f =
      *at ? *at : ARENA_NEW(echo->tape->arena, struct fragment);
  if (*at)
    *at = f->next;
  f->next = *first;
  *first = f;
  return f;
}

void echo_begin(struct echo *echo, int64_t index, const size_t *in) {
  const struct node *node = &echo->model->nodes.at[index];
  struct tape *tape = echo->tape;
  echo->open = NULL;
  if (node->input_count > MOST_INPUTS)
    return;
  struct fragment *f = make_room(echo, index);
  f->there = false;
  f->node = index;
  f->in_place = tape->in_place;
  f->share = tape->share;
  f->first = tape_marks(tape);
  for (int i = 0; i < node->input_count; i++)
    f->in[i] = look_at(tape, in[i]);
  echo->open = f;
}

void echo_end(struct echo *echo, size_t out) {
  struct fragment *f = echo->open;
  size_t in[MOST_INPUTS];
  if (!f)
    return;
  const struct node *node = &echo->model->nodes.at[f->node];
  for (int i = 0; i < node->input_count; i++)
    in[i] = f->in[i].at;
  f->out = out;
  f->end = tape_marks(echo->tape);
  struct copy itself = {echo, f, node, node, in, f->first};
  f->there = is_closed(&itself);
}
