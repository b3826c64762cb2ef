/* Types and functions that the writers of a header share. */
#ifndef NETC_CODEGEN_C_HEADER_H
#define NETC_CODEGEN_C_HEADER_H

#include "codegen/c/c_text.h"
#include "codegen/rows.h"
#include "memory/devices/fit.h"
#include "memory/program.h"

enum { MOST_PEAKS = 16 };

struct header {
  const struct compiled *c;
  struct text *out;
  struct program *program;
  struct identifiers ids;
  int64_t train_peak; /* bytes, on the most loaded device */
};

struct header_line {
  int64_t base, each;
};

/* The peaks of training steps by batch, and lines above them. */
struct header_peaks {
  int count;
  int64_t batch[MOST_PEAKS], bytes[MOST_PEAKS];
  struct header_line low,
      high; /* of the first `parts` of them, and of the others */
  int parts;
  int64_t worst; /* maximum distance of a line from a peak, in bytes */
};

/* #define VGG16_CONV1_PARAM_COUNT 1792 */
void header_stem_macro(struct header *h, struct slice stem, const char *ending,
                       int64_t value);

/* Inputs, outputs and layers: header_layers.c */
void header_put_ends(struct header *h);
void header_put_layers(struct header *h);

#endif
