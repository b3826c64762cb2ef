/* Values in files: their types, and how they become float32 or int32. */
#ifndef NETC_IMPORT_TENSORS_VALUE_H
#define NETC_IMPORT_TENSORS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum value_type {
#define VALUE(constant, ...) VALUE_##constant,
#include "import/tensors/values.def"
#undef VALUE
  VALUE_COUNT
};

/* By the name that safetensors, .npy or PyTorch give it ("FloatStorage",
   "float32"); VALUE_COUNT: unknown. */
enum value_type value_stored(struct slice name);
enum value_type value_npy(struct slice name);
enum value_type value_torch(struct slice name);

const char *value_word(enum value_type type);     /* "BF16" */
const char *value_npy_name(enum value_type type); /* "f4"; "": NumPy has none */
int64_t value_bytes(enum value_type type);
bool value_is_real(enum value_type type); /* and can be read */
bool value_counts(enum value_type type);  /* as parameters: no whole numbers */

/*
 * Values that lie at strides in bytes that need not be aligned: those of
 * `axes` axes, the last one the fastest, become dense ones.
 */
struct scattered {
  const unsigned char *at; /* of the first value */
  enum value_type type;
  int axes;
  const int64_t *size, *stride; /* in values */
};

/* Rounds 64-bit reals. */
void scattered_floats(const struct scattered *from, float *to);

/* False if a value does not fit int32; *wrong is its place. */
bool scattered_ints(const struct scattered *from, int32_t *to, int64_t *wrong);

#endif
