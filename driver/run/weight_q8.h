/* The block of an 8-bit net: common declarations of its files. */
#ifndef NETC_DRIVER_RUN_WEIGHT_Q8_H
#define NETC_DRIVER_RUN_WEIGHT_Q8_H

#include <math.h>

#include "driver/run/weight_set.h"

/* The meaning of an output: (q - zero) * scale. */
struct q8_step {
  double scale;
  int32_t zero;
  bool known;
};

struct q8_making {
  const struct weight_set *set;
  const char *path;      /* of the file; NULL: random */
  struct arena *scratch; /* for one operation */
  struct q8_step *steps; /* by layer */
  unsigned char *block;
  size_t rounded; /* weights whose zero point is not 0 */
  int status;
};

/* Reports why the layer cannot have 8 bits; returns false. */
bool weight_q8_refuse(struct q8_making *m, int64_t layer, const char *format,
                      ...) PRINTF_LIKE(3, 4);

static inline void weight_q8_put_word(struct q8_making *m, int64_t at,
                                      uint32_t word) {
  memcpy(m->block + at, &word, sizeof word);
}

static inline void weight_q8_put_int(struct q8_making *m, int64_t at,
                                     int32_t value) {
  weight_q8_put_word(m, at, (uint32_t)value);
}

static inline void weight_q8_put_real(struct q8_making *m, int64_t at,
                                      double value) {
  float real = (float)value;
  uint32_t bits;
  memcpy(&bits, &real, sizeof bits);
  weight_q8_put_word(m, at, bits);
}

static inline bool weight_q8_same_step(const struct q8_step *a,
                                       const struct q8_step *b) {
  return a->zero == b->zero && !(a->scale < b->scale) && !(a->scale > b->scale);
}

static inline int32_t weight_q8_limited(double value, int32_t low,
                                        int32_t high) {
  value = nearbyint(value);
  return value <= low ? low : value >= high ? high : (int32_t)value;
}

/* The step of input `i` of an operation: a layer's, or a constant's. */
bool weight_q8_input_step(struct q8_making *m, const struct netc_q8 *q8,
                          size_t i, struct q8_step *step);

/*
 * weight_q8_values.c: values of tensors, from the file or rounded. Weights of a
 * product get a scale for each output, slopes a common one.
 */
bool weight_q8_put_weights(struct q8_making *m, const struct netc_q8 *q8,
                           double *scales);
bool weight_q8_put_bias(struct q8_making *m, const struct netc_q8 *q8,
                        const struct q8_step *in, const double *scales);
bool weight_q8_put_slopes(struct q8_making *m, const struct netc_q8 *q8,
                          double *scale);
bool weight_q8_put_constants(struct q8_making *m, const struct netc_q8 *q8);

/* weight_q8_ops.c: the other data that an operation reads. */
bool weight_q8_make_op(struct q8_making *m, const struct netc_q8 *q8);

#endif
