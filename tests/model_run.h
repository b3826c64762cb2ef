/* Tables of a net run by the runtime's kernels, on values made up. */
#ifndef NETC_TESTS_MODEL_RUN_H
#define NETC_TESTS_MODEL_RUN_H

#include "runtime/netrt.h"
#include "tests/run.h"

static inline uint32_t model_bits(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*seed >> 32);
}

/* Tasks one after the other, the last one first. */
static inline void model_tasks(void *user, size_t count,
                               void (*task)(void *data, size_t i), void *data) {
  (void)user;
  while (count-- > 0)
    task(data, count);
}

/*
 * Puts all outputs, one after the other; how many bytes they have. Where there
 * are more bytes of weights than the model's, they are in panels.
 */
static inline size_t model_run(const struct netrt_model *model,
                               const void *weights, size_t bytes,
                               unsigned flags, unsigned char *out) {
  struct netrt net;
  struct netrt_model all = *model;
  all.kernels = netrt_kernels;
  all.kernel_count = NETRT_CODES;
  void *arena = malloc(model->arena_bytes + 64);
  assert_non_null(arena);
  assert_int_equal(
      netrt_open(&net, &all, weights, bytes, arena, model->arena_bytes),
      NETRT_OK);
  assert_int_equal(net.panels, bytes > model->weight_bytes);
  net.flags = flags;
  if (flags & NETRT_APART) {
    net.parallel = model_tasks;
    net.threads = 3;
  }
  float *in = netrt_input(&net, 0);
  uint64_t seed = 5;
  size_t count = netrt_values(&all, &model->inputs[0].operand), used = 0;
  for (size_t i = 0; i < count; i++)
    in[i] = (float)(int32_t)model_bits(&seed) * 0x1p-31F;
  assert_int_equal(netrt_run(&net), NETRT_OK);
  for (uint32_t i = 0; i < model->output_count; i++) {
    netrt_copy_output(&net, i, out + used);
    used += 4 * netrt_values(&all, &model->outputs[i].operand);
  }
  netrt_close(&net);
  free(arena);
  return used;
}

#endif
