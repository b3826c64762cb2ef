/* Splice: records a piece of the tape again further on. */
#include "memory/step/splice.h"

/* References from 1; 0: none. */
static inline uint32_t moved_if(const struct splice_move *move, uint32_t x,
                                size_t k) {
  return x ? splice_moved(move, x - 1, k) + 1 : 0;
}

static void copy_storages(const struct splice *s, struct tape *tape,
                          size_t count) {
  size_t length = s->length.storages;
  if (length == 0)
    return; /* the array may not exist yet */
  struct tape_storage *to =
      VEC_MORE(tape->arena, &tape->storages, length * count);
  const struct tape_storage *from = tape->storages.at + s->first.storages;
  for (size_t k = 1; k <= count; k++)
    for (size_t i = 0; i < length; i++, to++) {
      *to = from[i];
      to->node += (int32_t)(k * s->nodes);
      to->pending = 0;
      to->saved = false;
      to->view_of = moved_if(&s->storages, to->view_of, k);
      to->weight = moved_if(&s->params, to->weight, k);
    }
}

static void copy_values(const struct splice *s, struct tape *tape,
                        size_t count) {
  size_t length = s->length.values;
  if (length == 0)
    return;
  struct tape_value *to = VEC_MORE(tape->arena, &tape->values, length * count);
  const struct tape_value *from = tape->values.at + s->first.values;
  for (size_t k = 1; k <= count; k++)
    for (size_t i = 0; i < length; i++, to++) {
      *to = from[i];
      to->storage = splice_moved(&s->storages, to->storage, k);
      to->param = moved_if(&s->params, to->param, k);
    }
}

/* Copies share the lowered operation, as they compute the same. */
static void copy_lowered(const struct splice *s, struct tape *tape,
                         size_t count) {
  size_t length = s->length.ops;
  uint32_t *to = VEC_MORE(tape->arena, &tape->lowered_of, length * count);
  for (size_t k = 0; k < count; k++)
    memcpy(to + k * length, tape->lowered_of.at + s->first.ops,
           length * sizeof *to);
}

static void copy_ops(const struct splice *s, struct tape *tape, size_t count) {
  size_t length = s->length.ops;
  if (length == 0)
    return;
  struct tape_op *to = VEC_MORE(tape->arena, &tape->ops, length * count);
  const struct tape_op *from = tape->ops.at + s->first.ops;
  for (size_t k = 1; k <= count; k++)
    for (size_t i = 0; i < length; i++, to++) {
      *to = from[i];
      to->node += (int32_t)(k * s->nodes);
      to->first_in += (uint32_t)(k * s->by.ins);
      to->first_out += (uint32_t)(k * s->by.values);
      to->first_saved += (uint32_t)(k * s->by.saved);
      to->first_param += (uint32_t)(k * s->by.params);
      to->first_storage += (uint32_t)(k * s->by.storages);
    }
  if (tape->lowers)
    copy_lowered(s, tape, count);
}

/* Copies `length` references of a list, from `first` on. */
static uint32_t *copy_places(struct tape *tape, tape_places *list, size_t first,
                             size_t length, const struct splice_move *move,
                             size_t count) {
  if (length == 0)
    return NULL;
  uint32_t *made = VEC_MORE(tape->arena, list, length * count), *to = made;
  const uint32_t *from = list->at + first;
  for (size_t k = 1; k <= count; k++)
    for (size_t i = 0; i < length; i++)
      *to++ = splice_moved(move, from[i], k);
  return made;
}

static void copy_lists(const struct splice *s, struct tape *tape,
                       size_t count) {
  const struct tape_marks *first = &s->first, *length = &s->length;
  const uint32_t *saved = copy_places(tape, &tape->saved, first->saved,
                                      length->saved, &s->storages, count);
  for (size_t i = 0; i < length->saved * count; i++)
    tape->storages.at[saved[i]].saved = true;
  copy_places(tape, &tape->ins, first->ins, length->ins, &s->values, count);
  copy_places(tape, &tape->params, first->params, length->params, &s->params,
              count);
}

void splice_append(struct tape *tape, const struct splice *s, size_t count) {
  copy_storages(s, tape, count);
  copy_values(s, tape, count);
  copy_lists(s, tape, count);
  copy_ops(s, tape, count);
  struct tape_marks end = tape_marks(tape);
  tape_place(tape, end.values | end.storages | end.ops | end.ins | end.saved |
                       end.params);
}
