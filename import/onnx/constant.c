/* Constants: initializers, and results of folding. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "import/onnx/external.h"

bool constant_is_real(const struct constant *c) {
  return c->type == TYPE_FLOAT || c->type == TYPE_DOUBLE || c->type == 10 ||
         c->type == 16;
}

struct constant *constant_new(struct onnx *x, int type, int rank,
                              const int64_t *dims) {
  struct constant *c = ARENA_NEW(x->arena, struct constant);
  int64_t room = 1; /* counts an empty axis as 1, to check the strides */
  c->type = type;
  c->rank = rank;
  c->count = 1;
  if (rank > MOST_AXES) {
    onnx_fail(x, "a tensor has %d axes; at most %d are supported", rank,
              MOST_AXES);
    c->rank = 0;
    return c;
  }
  for (int i = 0; i < rank; i++) {
    c->dims[i] = dims[i];
    if (dims[i] < 0 || (dims[i] > 0 && room > ((int64_t)1 << 40) / dims[i])) {
      onnx_fail(x, "a tensor is too large: one axis has %" PRId64 " values",
                dims[i]);
      c->dims[i] = 0;
    }
    c->count *= c->dims[i];
    room *= max_i64(c->dims[i], 1);
  }
  return c;
}

/* Larger weights are not loaded unless they are needed. */
enum { MOST_UNASKED = 1 << 22 };

struct constant *constant_of(struct onnx *x, const Onnx__TensorProto *proto) {
  int rank = proto->n_dims > MOST_AXES ? MOST_AXES + 1 : (int)proto->n_dims;
  struct constant *c = constant_new(x, proto->data_type, rank, proto->dims);
  c->proto = proto;
  c->name = proto->name;
  bool large = external_is(proto) || x->store->size > LIMIT_SOURCE_BYTES;
  c->unknown = (large && c->count > MOST_UNASKED && constant_is_real(c) &&
                !x->options->weights) ||
               (external_is(proto) && !external_is_there(x, proto));
  if (!c->unknown && proto->data_type == TYPE_FLOAT && external_is(proto) &&
      !x->options->weights && external_is_hole(x, proto, c->count * 4)) {
    static const float zero[1] = {0};
    c->fill = true; /* netc writes weights without values so */
    c->real = zero;
  }
  return c;
}

/* Bytes of a value in `raw_data`; 0 for an unsupported type. */
static size_t raw_size(int type) {
  switch (type) {
  case 1:
  case 6:
  case 12: return 4;
  case 7:
  case 11:
  case 13: return 8;
  case 2:
  case 3:
  case 9: return 1;
  case 4:
  case 5:
  case 10:
  case 16: return 2;
  default: return 0;
  }
}

static float from_half(uint16_t bits) {
  int sign = bits >> 15, exponent = bits >> 10 & 31, rest = bits & 1023;
  float value = exponent == 31 ? (rest ? NAN : INFINITY)
                : exponent     ? ldexpf((float)(rest + 1024), exponent - 25)
                               : ldexpf((float)rest, -24);
  return sign ? -value : value;
}

static float raw_real(int type, const uint8_t *at) {
  float f;
  double d;
  uint16_t half;
  uint32_t wide;
  if (type == TYPE_FLOAT) {
    memcpy(&f, at, sizeof f);
    return f;
  }
  if (type == TYPE_DOUBLE) {
    memcpy(&d, at, sizeof d);
    return (float)d;
  }
  memcpy(&half, at, sizeof half);
  if (type == 10)
    return from_half(half);
  wide = (uint32_t)half << 16; /* bfloat16 */
  memcpy(&f, &wide, sizeof f);
  return f;
}

static int64_t raw_whole(int type, const uint8_t *at) {
  int64_t i64;
  int32_t i32;
  int16_t i16;
  uint16_t u16;
  uint32_t u32;
  switch (type) {
  case 7:
  case 13: memcpy(&i64, at, sizeof i64); return i64;
  case 6: memcpy(&i32, at, sizeof i32); return i32;
  case 12: memcpy(&u32, at, sizeof u32); return u32;
  case 5: memcpy(&i16, at, sizeof i16); return i16;
  case 4: memcpy(&u16, at, sizeof u16); return u16;
  case 3: return (int8_t)*at;
  default: return *at;
  }
}

/* The place of raw_data in the file, which decoding stored here. */
static struct onnx_raw raw_of(const Onnx__TensorProto *p) {
  struct onnx_raw raw;
  memcpy(&raw, p->raw_data.data, sizeof raw);
  return raw;
}

/* The number of values in the fields. */
static int64_t stored(const Onnx__TensorProto *p, size_t size) {
  if (p->has_raw_data)
    return (int64_t)(raw_of(p).count / size);
  switch (p->data_type) {
  case 1: return (int64_t)p->n_float_data;
  case 11: return (int64_t)p->n_double_data;
  case 7: return (int64_t)p->n_int64_data;
  case 12:
  case 13: return (int64_t)p->n_uint64_data;
  default: return (int64_t)p->n_int32_data;
  }
}

static float field_real(const Onnx__TensorProto *p, int64_t i) {
  switch (p->data_type) {
  case TYPE_FLOAT: return p->float_data[i];
  case TYPE_DOUBLE: return (float)p->double_data[i];
  case 10: return from_half((uint16_t)p->int32_data[i]);
  default: return 0;
  }
}

static int64_t field_whole(const Onnx__TensorProto *p, int64_t i) {
  switch (p->data_type) {
  case 7: return p->int64_data[i];
  case 12:
  case 13: return (int64_t)p->uint64_data[i];
  default: return p->int32_data[i];
  }
}

/* A tensor's values while they are read; one pointer is set. */
struct loading {
  const Onnx__TensorProto *proto;
  float *real;
  int64_t *whole;
  int64_t count;
  size_t size; /* bytes of a value */
};

static void load_fields(const struct loading *l) {
  for (int64_t i = 0; i < l->count; i++)
    if (l->real)
      l->real[i] = field_real(l->proto, i);
    else
      l->whole[i] = field_whole(l->proto, i);
}

/* Reads piece by piece: all bytes at once would double the memory. */
static bool load_bytes(struct onnx *x, const struct loading *l,
                       struct byte_store *store, uint64_t at) {
  uint8_t piece[1 << 16];
  int64_t most = (int64_t)(sizeof piece / l->size);
  for (int64_t i = 0, now; i < l->count; i += now) {
    size_t bytes = l->size;
    now = l->count - i < most ? l->count - i : most;
    bytes *= (size_t)now;
    if (!byte_store_read(store, at, piece, bytes))
      return onnx_fail(x, "the values of `%s` cannot be read: %s",
                       onnx_shown(x, l->proto->name), store->fault);
    at += bytes;
    for (int64_t k = 0; k < now; k++)
      if (l->real)
        l->real[i + k] =
            raw_real(l->proto->data_type, piece + (size_t)k * l->size);
      else
        l->whole[i + k] =
            raw_whole(l->proto->data_type, piece + (size_t)k * l->size);
  }
  return true;
}

static bool load_beside(struct onnx *x, const struct loading *l) {
  struct byte_store store;
  uint64_t at;
  bool right =
      external_open(x, l->proto, l->count * (int64_t)l->size, &store, &at) &&
      load_bytes(x, l, &store, at);
  byte_store_close(&store);
  return right;
}

float *constant_reals(struct onnx *x, int64_t count) {
  return arena_alloc(x->arena, (size_t)count + 1, sizeof(float));
}

int64_t *constant_wholes(struct onnx *x, int64_t count) {
  return arena_alloc(x->arena, (size_t)count + 1, sizeof(int64_t));
}

bool constant_room(struct onnx *x, int64_t count) {
  x->room -= count;
  return x->room >= 0 ||
         onnx_fail(x,
                   "the computed constants of this file take too much memory");
}

/* True if a tensor has the number of values of its shape. */
static bool check_stored(struct onnx *x, const struct constant *c,
                         size_t size) {
  const Onnx__TensorProto *p = c->proto;
  return external_is(p) || stored(p, size) == c->count ||
         onnx_fail(x,
                   "the tensor `%s` has %" PRId64 " values, but the file "
                   "stores %" PRId64,
                   onnx_shown(x, p->name), c->count, stored(p, size));
}

static bool load(struct onnx *x, const struct loading *l) {
  if (external_is(l->proto))
    return load_beside(x, l);
  if (l->proto->has_raw_data)
    return load_bytes(x, l, x->store, raw_of(l->proto).at);
  load_fields(l);
  return true;
}

bool constant_known(struct onnx *x, struct constant *c) {
  if (c->real || c->whole)
    return true;
  if (c->unknown || !c->proto)
    return false;
  struct loading l = {.proto = c->proto, .count = c->count};
  l.size = raw_size(c->proto->data_type);
  if (l.size == 0)
    return onnx_fail(x,
                     "a tensor has an element type (%d) that is not supported",
                     (int)c->proto->data_type);
  if (!check_stored(x, c, l.size) || !constant_room(x, c->count))
    return false;
  if (constant_is_real(c))
    l.real = constant_reals(x, c->count);
  else
    l.whole = constant_wholes(x, c->count);
  if (!load(x, &l))
    return false;
  c->real = l.real;
  c->whole = l.whole;
  return true;
}

bool constant_load(struct onnx *x, struct constant *c) {
  if (constant_known(x, c))
    return true;
  const struct constant *first = c->proto || !c->origin ? c : c->origin;
  if (first->proto && external_is(first->proto) &&
      !external_is_there(x, first->proto))
    return external_missing(x, first->proto);
  return onnx_fail(x, "the values of `%s` are not in this file",
                   c->name ? onnx_shown(x, c->name) : "a constant");
}

double constant_real(const struct constant *c, int64_t i) {
  i = c->fill ? 0 : i;
  return c->real ? (double)c->real[i] : (double)c->whole[i];
}

int64_t constant_whole(const struct constant *c, int64_t i) {
  i = c->fill ? 0 : i;
  if (c->whole)
    return c->whole[i];
  double value = (double)c->real[i];
  return value >= -9e18 && value <= 9e18 ? (int64_t)value : 0;
}

bool constant_is_even(struct onnx *x, struct constant *c, double *with) {
  if (c->count < 1 || (c->count > 65536 && !c->fill) || !constant_known(x, c))
    return false;
  *with = constant_real(c, 0);
  for (int64_t i = 1; i < c->count && !c->fill; i++) {
    double other = constant_real(c, i);
    if (other < *with || other > *with || isnan(other))
      return false;
  }
  return true;
}

/* A constant of the same type with other sizes, without values. */
static struct constant *like(struct onnx *x, const struct constant *c, int rank,
                             const int64_t *dims) {
  struct constant *result = constant_new(x, c->type, rank, dims);
  result->fill = c->fill;
  result->unknown = c->unknown;
  result->trained = c->trained;
  result->name = c->name;
  result->origin = c->origin ? c->origin : c;
  if (c->fill) {
    result->real = c->real;
    result->whole = c->whole;
  }
  return result;
}

struct constant *constant_with(struct onnx *x, struct constant *c, int rank,
                               const int64_t *dims) {
  struct constant *result = like(x, c, rank, dims);
  result->band = c->band;
  result->longer = c->longer;
  result->real = c->real;
  result->whole = c->whole;
  result->proto = c->proto;
  result->steps = c->steps;
  if (c->stored)
    result->stored = constant_with(x, c->stored, rank, dims);
  return result;
}

struct constant *constant_zeros(struct onnx *x, int64_t count) {
  static const float zero[1] = {0};
  struct constant *c = constant_new(x, TYPE_FLOAT, 1, &count);
  c->fill = true;
  c->real = zero;
  return c;
}

struct constant *constant_ints(struct onnx *x, const int64_t *numbers,
                               int count) {
  int64_t dim = count;
  struct constant *c = constant_new(x, TYPE_INT64, 1, &dim);
  int64_t *copy = constant_wholes(x, count);
  for (int i = 0; i < count; i++)
    copy[i] = numbers[i];
  c->whole = copy;
  return c;
}

/* Iterates over the values of a layout in order. */
struct cursor {
  const struct onnx_layout *at;
  int64_t digit[LAYOUT_ATOMS];
  int64_t place;
};

static void advance(struct cursor *cursor) {
  for (int i = cursor->at->count; i-- > 0;) {
    const struct onnx_atom *atom = &cursor->at->atom[i];
    cursor->place += atom->stride;
    if (++cursor->digit[i] < atom->size)
      return;
    cursor->place -= atom->size * atom->stride;
    cursor->digit[i] = 0;
  }
}

struct constant *constant_through(struct onnx *x, struct constant *c,
                                  const struct onnx_layout *at) {
  struct onnx_layout dense = layout_dense(at->rank, at->dim);
  if (layout_equal(at, &dense) && layout_values(at) == c->count)
    return constant_with(x, c, at->rank, at->dim);
  struct constant *result = like(x, c, at->rank, at->dim);
  result->steps = c->steps;
  if (c->stored)
    result->stored = constant_through(x, c->stored, at);
  struct cursor cursor = {.at = at, .place = at->first};
  if (c->fill || c->unknown || x->graph->failed || !constant_load(x, c))
    return result;
  if (result->count > MOST_FOLDED && result->count > c->count) {
    onnx_fail(x, "a constant is too large: it has %" PRId64 " values",
              result->count);
    return result;
  }
  if (!constant_room(x, result->count))
    return result;
  size_t count = (size_t)result->count;
  if (c->real) {
    float *to = arena_alloc(x->arena, count + 1, sizeof *to);
    for (size_t i = 0; i < count; i++, advance(&cursor))
      to[i] = c->real[cursor.place];
    result->real = to;
  } else {
    int64_t *to = arena_alloc(x->arena, count + 1, sizeof *to);
    for (size_t i = 0; i < count; i++, advance(&cursor))
      to[i] = c->whole[cursor.place];
    result->whole = to;
  }
  return result;
}
