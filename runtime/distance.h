/*
 * The distance of two positions as a row of a table. Code generators precompute
 * tables with it, too.
 */
#ifndef NETRT_DISTANCE_H
#define NETRT_DISTANCE_H

#include <math.h>
#include <stdint.h>

/* Numbers of `distances` in ops.def. */
enum {
  DISTANCE_BUCKETS,
  DISTANCE_MOST,
  DISTANCE_CAUSAL,
  DISTANCE_WINDOW,
  DISTANCE_AXES = 3,
  DISTANCE_NUMBERS = DISTANCE_WINDOW + DISTANCE_AXES
};

/*
 * _relative_position_bucket() of transformers' T5, in 32 bits as there. Half of
 * the buckets have one distance each; the others grow logarithmically up to
 * `most`. Without `causal`, positions ahead have the upper half of all buckets.
 */
static inline int64_t netrt_bucket(const int32_t *args, int64_t ahead) {
  int64_t count = args[DISTANCE_BUCKETS], row = 0, far = -ahead, exact;
  if (args[DISTANCE_CAUSAL]) {
    far = far < 0 ? 0 : far;
  } else {
    count /= 2;
    row = ahead > 0 ? count : 0;
    far = far < 0 ? -far : far;
  }
  exact = count / 2;
  if (far >= exact) {
    float reach = (float)log((double)args[DISTANCE_MOST] / (double)exact);
    float share = logf((float)far / (float)exact) / reach;
    far = exact + (int64_t)(share * (float)(count - exact));
  }
  return row + (far < count ? far : count - 1);
}

/* Window positions: (q - k + window - 1) by axis, as one index. */
static inline int64_t netrt_distance(const int32_t *args, int64_t q,
                                     int64_t k) {
  int64_t row = 0, step = 1;
  int i;
  if (args[DISTANCE_BUCKETS])
    return netrt_bucket(args, k - q);
  for (i = DISTANCE_AXES - 1; i >= 0; i--) {
    int64_t size = args[DISTANCE_WINDOW + i];
    row += (q % size - k % size + size - 1) * step;
    step *= 2 * size - 1;
    q /= size;
    k /= size;
  }
  return row;
}

#endif
