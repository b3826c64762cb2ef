/*
 * safetensors: eight bytes with the length of a header, the header as JSON,
 * and the values, little-endian (github.com/huggingface/safetensors).
 */
#ifndef NETC_IMPORT_TENSORS_SAFETENSORS_H
#define NETC_IMPORT_TENSORS_SAFETENSORS_H

#include <stdio.h>

#include "base/arena.h"
#include "import/tensors/tensors.h"

enum { SAFETENSORS_HEADER = 100000000 }; /* bytes, as the reference allows */

/* What is written, one after the other. */
struct written_tensor {
  const char *name;
  int rank;
  const int64_t *dims;
  int64_t count;
  enum value_type type; /* VALUE_F32, VALUE_I32 or VALUE_I8 */
};

/*
 * Of whole numbers that values stand for: steps of so much, from where. They
 * are kept as metadata, NAME.scale and NAME.zero_point.
 */
struct written_steps {
  const char *name, *scale, *zero;
};

/* Metadata of a file. */
struct written_about {
  const struct written_steps *steps;
  size_t step_count;
  const char *origin; /* metadata netc.origin: tensors.h; NULL: it has none */
};

/* The header; the values follow. The caller looks at ferror. */
void safetensors_write_header(FILE *file, const struct written_tensor *tensors,
                              size_t count, const struct written_about *about,
                              struct arena *scratch);

/* Values, little-endian. */
void floats_write(FILE *file, const float *values, size_t count);
void words_write(FILE *file, const uint32_t *words, size_t count);

#endif
