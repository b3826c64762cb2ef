/* A net that runs: its tables with the runtime's kernels, random weights. */
#ifndef NETC_TESTS_PROGRAM_H
#define NETC_TESTS_PROGRAM_H

#include "netc.h"
#include "runtime/netrt.h"
#include "tests/run.h"

/* xorshift64: Marsaglia 2003. In [-1, 1). */
static inline float random_value(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (float)((double)(*seed >> 11) / 4503599627370496.0 - 1);
}

/* The block of weights, each tensor as netc_weight says; free it. */
static inline float *random_weights(struct netc *netc, size_t bytes) {
  struct netc_tensor tensor = {.size = sizeof tensor};
  uint64_t seed = 88172645463325252u;
  float *block = calloc(bytes / 4 + 16, 4);
  assert_non_null(block);
  for (size_t i = 0; netc_tensor(netc, i, &tensor) == NETC_OK; i++) {
    struct netc_weight weight = {.size = sizeof weight};
    if (tensor.offset < 0)
      continue; /* it is part of another one */
    if (tensor.weight >= 0)
      netc_weight(netc, (size_t)tensor.weight, &weight);
    float *to = block + tensor.offset / 4;
    for (int64_t k = 0; k < tensor.count; k++)
      to[k] = (float)(weight.center + random_value(&seed) * weight.spread);
  }
  return block;
}

/* Random values; of indices only the first two. */
static inline void random_inputs(struct netrt *net, uint64_t seed) {
  for (uint32_t i = 0; i < net->model->input_count; i++) {
    const struct netrt_operand *operand = &net->model->inputs[i].operand;
    size_t values = netrt_values(net->model, operand);
    void *to = netrt_input(net, i);
    for (size_t k = 0; k < values; k++) {
      float value = random_value(&seed);
      if (operand->type == NETRT_F32)
        ((float *)to)[k] = value;
      else if (operand->type == NETRT_I32)
        ((int32_t *)to)[k] = value > 0;
      else
        ((int64_t *)to)[k] = value > 0;
    }
  }
}

#endif
