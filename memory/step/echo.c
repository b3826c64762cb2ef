/*
 * Echo: in a large net most layers are like an earlier one. Its recorded
 * operations are spliced into the tape again with new inputs, parameters and
 * results; facts and strides are shared.
 */
#include "memory/step/echo.h"
#include "memory/step/splice.h"

enum {
  KEPT = 256, /* a power of two: kinds of layers in use at once */
  WAYS = 4,   /* fragments per layer, for unlike inputs: q, k and v */
  MOST_INPUTS = SPLICE_SWAPS, /* layers with more are not echoed */
};

/* An input as it was before the layer recorded. */
struct seen {
  size_t at; /* the value */
  struct tape_value value;
  struct tape_storage storage;
  bool behind_fence;
};

/* The operations that a node has recorded. */
struct fragment {
  struct fragment *next; /* an older one with this hash */
  bool there;
  int64_t node;
  bool in_place, gated;
  const struct share *share; /* of experts */
  int in_count;
  struct seen in[MOST_INPUTS];
  struct tape_marks first, end;
  size_t out;
};

struct echo {
  struct tape *tape;
  const struct model *model;
  struct fragment *open;       /* being recorded; NULL: it cannot be echoed */
  struct fragment *kept[KEPT]; /* by hash, at most WAYS each; NULL: none yet */
};

struct echo *echo_open(struct tape *tape, const struct model *model) {
  struct echo *echo;
  if (tape->mixed) /* results depend on earlier casts of a parameter */
    return NULL;
  echo = ARENA_NEW(tape->arena, struct echo);
  echo->tape = tape;
  echo->model = model;
  return echo;
}

/* Inputs are alike if a layer would record the same for both. */

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

/* True if the layer or one of its inputs has the value, storage or
 * parameter. */

static bool has_value(const struct fragment *f, size_t value) {
  bool has = value >= f->first.values;
  for (int i = 0; !has && i < f->in_count; i++)
    has = f->in[i].at == value;
  return has;
}

static bool has_storage(const struct fragment *f, size_t storage) {
  bool has = storage >= f->first.storages;
  for (int i = 0; !has && i < f->in_count; i++)
    has = f->in[i].value.storage == storage;
  return has;
}

static bool has_param(const struct node *node, size_t param) {
  size_t index = param - node->first_param; /* wraps to a large number */
  return index < (size_t)node->param_count;
}

/* A fragment can be spliced if another layer has all that it refers to. */
static bool is_closed(const struct tape *tape, const struct fragment *f,
                      const struct node *node) {
  const struct tape_marks *first = &f->first, *end = &f->end;
  bool closed = has_value(f, f->out) && tape->parts.count == first->parts;
  for (size_t i = first->values; i < end->values; i++) {
    const struct tape_value *value = &tape->values.at[i];
    closed = closed && has_storage(f, value->storage) &&
             (!value->param || has_param(node, value->param - 1));
  }
  for (size_t i = first->storages; i < end->storages; i++) {
    const struct tape_storage *s = &tape->storages.at[i];
    closed = closed && (!s->view_of || has_storage(f, s->view_of - 1)) &&
             (!s->weight || has_param(node, s->weight - 1));
  }
  for (size_t i = first->ops; i < end->ops; i++)
    closed = closed && !tape->ops.at[i].facts->listed;
  for (size_t i = first->ins; i < end->ins; i++)
    closed = closed && has_value(f, tape->ins.at[i]);
  for (size_t i = first->saved; i < end->saved; i++)
    closed = closed && has_storage(f, tape->saved.at[i]);
  for (size_t i = first->params; i < end->params; i++)
    closed = closed && has_param(node, tape->params.at[i]);
  return closed;
}

/* The list of fragments of a layer. */
static struct fragment **place_of(struct echo *echo, int64_t node) {
  const struct share *share = echo->tape->share;
  size_t experts = share ? (size_t)share->first + 1 : 0;
  return &echo->kept[(echo->model->like[node] + 31 * experts) % KEPT];
}

/* The fragment of a like layer with like inputs, or NULL. */
static const struct fragment *find(struct echo *echo, int64_t index,
                                   const size_t *in) {
  const struct tape *tape = echo->tape;
  const uint32_t *like = echo->model->like;
  int count = echo->model->nodes.at[index].input_count;
  for (struct fragment *f = *place_of(echo, index); f; f = f->next)
    if (f->there && f->in_place == tape->in_place && f->gated == tape->gated &&
        f->share == tape->share && like[f->node] == like[index] &&
        same_inputs(tape, f, in, count))
      return f;
  return NULL;
}

size_t echo_node(struct echo *echo, int64_t index, const size_t *in) {
  struct tape *tape = echo->tape;
  const struct node *node = &echo->model->nodes.at[index];
  const struct fragment *f = find(echo, index, in);
  if (!f)
    return SIZE_MAX;
  const struct node *from = &echo->model->nodes.at[f->node];
  struct tape_marks now = tape_marks(tape);
  struct splice splice = {.first = f->first,
                          .length = tape_between(&f->first, &f->end),
                          .by = tape_between(&f->first, &now),
                          .nodes = (size_t)(index - f->node)};
  struct splice_move *values = &splice.values, *storages = &splice.storages;
  *values = (struct splice_move){f->first.values, splice.by.values,
                                 .swaps = f->in_count};
  *storages = (struct splice_move){f->first.storages, splice.by.storages,
                                   .swaps = f->in_count};
  splice.params.by = node->first_param - from->first_param;
  for (int i = 0; i < f->in_count; i++) {
    values->swap[i] = (struct splice_swap){f->in[i].at, in[i]};
    storages->swap[i] = (struct splice_swap){f->in[i].value.storage,
                                             tape->values.at[in[i]].storage};
  }
  splice_append(tape, &splice, 1);
  return splice_moved(values, (uint32_t)f->out, 1);
}

/* Returns a fragment at the front of the list: a new one, or the oldest if
 * full. */
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
  f->gated = tape->gated;
  f->share = tape->share;
  f->first = tape_marks(tape);
  f->in_count = node->input_count;
  for (int i = 0; i < node->input_count; i++)
    f->in[i] = look_at(tape, in[i]);
  echo->open = f;
}

void echo_end(struct echo *echo, size_t out) {
  struct fragment *f = echo->open;
  if (!f)
    return;
  f->out = out;
  f->end = tape_marks(echo->tape);
  f->there = is_closed(echo->tape, f, &echo->model->nodes.at[f->node]);
}
