/* Values in files, little-endian wherever this runs. */
#include "import/tensors/value.h"

static const struct {
  const char *stored, *npy;
  int64_t bytes;
  const char *storage, *dtype, *word;
} rows[] = {
#define VALUE(constant, stored, npy, bytes, storage, dtype) \
  {stored, npy, bytes, storage, dtype, #constant},
#include "import/tensors/values.def"
#undef VALUE
};

enum value_type value_stored(struct slice name) {
  int i = 0;
  while (i < VALUE_COUNT && !slice_is(name, rows[i].stored))
    i++;
  return (enum value_type)(name.length ? i : VALUE_COUNT);
}

enum value_type value_torch(struct slice name) {
  int i = 0;
  while (i < VALUE_COUNT && !slice_is(name, rows[i].storage) &&
         !slice_is(name, rows[i].dtype))
    i++;
  return (enum value_type)(name.length ? i : VALUE_COUNT);
}

enum value_type value_npy(struct slice name) {
  int i = 0;
  while (i < VALUE_COUNT && (!*rows[i].npy || !slice_is(name, rows[i].npy)))
    i++;
  return (enum value_type)i;
}

const char *value_word(enum value_type type) {
  return rows[type].word;
}

const char *value_npy_name(enum value_type type) {
  return rows[type].npy;
}

int64_t value_bytes(enum value_type type) {
  return rows[type].bytes;
}

bool value_is_real(enum value_type type) {
  return type <= VALUE_BF16;
}

bool value_counts(enum value_type type) {
  return type <= VALUE_C64 || type >= VALUE_QI8;
}

static uint64_t read_bits(const unsigned char *at, int64_t bytes) {
  uint64_t bits = 0;
  for (int64_t i = bytes; i-- > 0;)
    bits = bits << 8 | at[i];
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Of 16 bits: one of sign, five of exponent, ten of fraction. */
static float half_of(uint32_t bits) {
  uint32_t sign = (bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  if (exponent == 31) /* infinity, or not a number */
    return float_of(sign | 0x7F800000 | fraction << 13);
  if (exponent == 0) { /* exact: fraction / 2^24 */
    float value = (float)fraction / 16777216.0F;
    return sign ? -value : value;
  }
  return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

static int64_t int_of(enum value_type type, uint64_t bits) {
  switch (type) {
  case VALUE_I8: return (int8_t)bits;
  case VALUE_I16: return (int16_t)bits;
  case VALUE_I32: return (int32_t)bits;
  case VALUE_U64: return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
  case VALUE_BOOL: return bits != 0;
  default: return (int64_t)bits;
  }
}

static float read_float(enum value_type type, const unsigned char *at) {
  uint64_t bits = read_bits(at, rows[type].bytes);
  switch (type) {
  case VALUE_F64: return (float)double_of(bits);
  case VALUE_F32: return float_of((uint32_t)bits);
  case VALUE_F16: return half_of((uint32_t)bits);
  case VALUE_BF16: return float_of((uint32_t)bits << 16);
  default: return (float)int_of(type, bits);
  }
}

/* A row of values; the common types without a branch for each. */
static void read_row(enum value_type type, const unsigned char *at,
                     int64_t step, int64_t count, float *to) {
  if (type == VALUE_F32)
    for (int64_t i = 0; i < count; i++, at += step)
      to[i] = float_of((uint32_t)read_bits(at, 4));
  else if (type == VALUE_BF16)
    for (int64_t i = 0; i < count; i++, at += step)
      to[i] = float_of((uint32_t)read_bits(at, 2) << 16);
  else
    for (int64_t i = 0; i < count; i++, at += step)
      to[i] = read_float(type, at);
}

/* Walks over the rows of a tensor. */
struct value_rows {
  const struct scattered *from;
  int64_t at[32];
  int64_t length, step; /* of a row; bytes from value to value */
  const unsigned char *row;
};

static struct value_rows rows_begin(const struct scattered *from) {
  int last = from->axes - 1;
  return (struct value_rows){
      .from = from,
      .length = last < 0 ? 1 : from->size[last],
      .step = last < 0 ? 0 : from->stride[last] * rows[from->type].bytes,
      .row = from->at};
}

/* False after the last one. */
static bool rows_next(struct value_rows *walk) {
  const struct scattered *from = walk->from;
  for (int i = from->axes - 2; i >= 0; i--) {
    int64_t step = from->stride[i] * rows[from->type].bytes;
    if (++walk->at[i] < from->size[i]) {
      walk->row += step;
      return true;
    }
    walk->row -= step * (from->size[i] - 1);
    walk->at[i] = 0;
  }
  return false;
}

static bool is_empty(const struct scattered *from) {
  bool empty = false;
  for (int i = 0; i < from->axes; i++)
    empty = empty || from->size[i] == 0;
  return empty;
}

void scattered_floats(const struct scattered *from, float *to) {
  struct value_rows walk = rows_begin(from);
  if (is_empty(from))
    return;
  do {
    read_row(from->type, walk.row, walk.step, walk.length, to);
    to += walk.length;
  } while (rows_next(&walk));
}

bool scattered_ints(const struct scattered *from, int32_t *to, int64_t *wrong) {
  struct value_rows walk = rows_begin(from);
  *wrong = 0;
  if (is_empty(from))
    return true;
  do {
    for (int64_t i = 0; i < walk.length; i++, ++*wrong) {
      const unsigned char *at = walk.row + i * walk.step;
      int64_t value = int_of(from->type, read_bits(at, rows[from->type].bytes));
      if (value < INT32_MIN || value > INT32_MAX)
        return false;
      to[*wrong] = (int32_t)value;
    }
  } while (rows_next(&walk));
  return true;
}
