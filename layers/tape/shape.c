/* Shapes: sizes of a tensor's axes, without the batch. */
#include "layers/tape/shape.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"

int64_t size_product(int64_t a, int64_t b) {
  int64_t product;
  return mul_i64(a, b, &product) ? product : INT64_MAX;
}

int64_t size_sum(int64_t a, int64_t b) {
  int64_t sum;
  return add_i64(a, b, &sum) ? sum : INT64_MAX;
}

bool shape_is_known(const struct shape *shape) {
  for (int i = 0; i < shape->rank; i++)
    if (shape->dim[i] == SIZE_UNKNOWN)
      return false;
  return shape->rank;
}

bool shape_count(const struct shape *shape, int64_t *count) {
  int64_t product = 1;
  for (int i = 0; i < shape->rank; i++)
    if (!mul_i64(product, shape->dim[i], &product))
      return false;
  *count = product;
  return true;
}

int64_t shape_values(const struct shape *shape) {
  int64_t count = 0;
  shape_count(shape, &count);
  return count;
}

int64_t shape_rows(const struct shape *shape) {
  return shape_values(shape) / shape_channels(shape);
}

bool shape_equal(const struct shape *a, const struct shape *b) {
  if (a == b)
    return true;
  if (a->rank != b->rank || a->dtype != b->dtype || a->point != b->point)
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i])
      return false;
  return true;
}

static bool channels_first(const struct shape *shape, enum layout layout) {
  return layout == LAYOUT_CHW && shape->dtype == DTYPE_FLOAT;
}

/* The axis printed at position `i`. */
static int shown_axis(const struct shape *shape, enum layout layout, int i) {
  if (!channels_first(shape, layout))
    return i;
  return i == 0 ? shape->rank - 1 : i - 1;
}

static void put_sizes(struct text *out, const struct shape *shape,
                      enum layout layout,
                      void (*put)(struct text *out, int64_t size)) {
  for (int i = 0; i < shape->rank; i++) {
    int64_t size = shape->dim[shown_axis(shape, layout, i)];
    if (i)
      text_putc(out, 'x');
    if (size == SIZE_UNKNOWN)
      text_putc(out, '?');
    else
      put(out, size);
  }
  if (!shape->rank)
    text_putc(out, '?');
}

void shape_put(struct text *out, const struct shape *shape,
               enum layout layout) {
  put_sizes(out, shape, layout, text_int);
}

void shape_put_grouped(struct text *out, const struct shape *shape,
                       enum layout layout) {
  put_sizes(out, shape, layout, text_count);
}

/* Writes the digits and returns their number. Errors format many shapes. */
static size_t write_size(char *to, int64_t size) {
  char digits[24];
  size_t count = 0, at = 0;
  uint64_t rest = size < 0 ? 0 - (uint64_t)size : (uint64_t)size;
  if (size == SIZE_UNKNOWN) {
    *to = '?';
    return 1;
  }
  if (size < 0)
    to[at++] = '-';
  do
    digits[count++] = (char)('0' + rest % 10);
  while (rest /= 10);
  while (count)
    to[at++] = digits[--count];
  return at;
}

struct shape_text shape_text(const struct shape *shape) {
  struct shape_text result = {"?"};
  size_t used = 0;
  for (int i = 0; i < shape->rank; i++) {
    if (i)
      result.text[used++] = 'x';
    used += write_size(result.text + used, shape->dim[i]);
  }
  return result;
}

static char axis_letter(const struct shape *shape, int axis) {
  int spatial = shape_spatial(shape);
  if (axis >= spatial)
    return 'C';
  if (spatial == 1 || shape->dtype != DTYPE_FLOAT)
    return 'L';
  int from_last = spatial - 1 - axis; /* 0: width */
  return from_last < 3 ? "WHD"[from_last] : 'N';
}

void shape_axes(struct text *out, const struct shape *shape,
                enum layout layout) {
  for (int i = 0; i < shape->rank; i++)
    text_putc(out, axis_letter(shape, shown_axis(shape, layout, i)));
}

struct shape shape_of(int rank, const int64_t *dim) {
  struct shape shape = {.rank = rank};
  for (int i = 0; i < rank; i++)
    shape.dim[i] = dim[i];
  return shape;
}

struct shape shape_with_channels(const struct shape *shape, int64_t channels) {
  struct shape result = *shape;
  result.dim[result.rank - 1] = channels;
  return result;
}
