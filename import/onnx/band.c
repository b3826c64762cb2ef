/* Masks of so many tokens that they are not written out: whether a query
 * attends to a key depends on their distance i - j alone. */
#include <string.h>

#include "import/onnx/fold.h"

/* True for 0, 1, .. along this axis of two. */
static bool counts_up(struct onnx *x, struct constant *c, int axis) {
  if (c->rank != 2 || c->dims[1 - axis] != 1 || constant_is_real(c) ||
      c->fill || !constant_known(x, c))
    return false;
  for (int64_t i = 0; i < c->count; i++)
    if (constant_whole(c, i) != i)
      return false;
  return true;
}

static bool give_band(struct onnx *x, int type, const int64_t *dims,
                      struct band band) {
  struct constant *result = constant_new(x, type, 2, dims);
  struct band *copy = ARENA_NEW(x->arena, struct band);
  *copy = band;
  result->band = copy;
  result->unknown = true;
  return onnx_give_constant(x, 0, result);
}

/* A comparison of the distance with a number. */
static bool compared(struct onnx *x, struct constant **in) {
  struct band band = {.low = -MOST_SIZE, .high = MOST_SIZE};
  const char *type = x->at->type;
  if (!in[0]->band || !in[0]->band->plain || in[1]->count != 1 ||
      !constant_known(x, in[1]))
    return false;
  int64_t limit = constant_whole(in[1], 0);
  if (limit > MOST_SIZE || limit < -MOST_SIZE)
    return false;
  if (strncmp(type, "Greater", 7) == 0)
    band.high = limit - (strcmp(type, "GreaterOrEqual") == 0);
  else if (strncmp(type, "Less", 4) == 0)
    band.low = limit + (strcmp(type, "LessOrEqual") == 0);
  else
    return false;
  return give_band(x, TYPE_BOOL, in[0]->dims, band);
}

bool fold_band(struct onnx *x, struct constant **in, int count) {
  const char *type = x->at->type;
  if (count != 2)
    return false;
  if (strcmp(type, "Sub") == 0) {
    int64_t dims[2] = {in[0]->rank == 2 ? in[0]->dims[0] : 0,
                       in[1]->rank == 2 ? in[1]->dims[1] : 0};
    return dims[0] > 0 && dims[1] > MOST_FOLDED / dims[0] &&
           counts_up(x, in[0], 0) && counts_up(x, in[1], 1) &&
           give_band(x, TYPE_INT64, dims, (struct band){.plain = true});
  }
  if (compared(x, in))
    return true;
  const struct band *a = in[0]->band, *b = in[1]->band;
  if (strcmp(type, "Or") != 0 || !a || !b || a->plain || b->plain ||
      memcmp(in[0]->dims, in[1]->dims, 2 * sizeof *in[0]->dims) != 0)
    return false;
  return give_band(
      x, TYPE_BOOL, in[0]->dims,
      (struct band){.low = a->low > b->low ? a->low : b->low,
                    .high = a->high < b->high ? a->high : b->high});
}
