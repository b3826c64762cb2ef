/*
 * arena_1: tables for netrt, the runtime of netc. Do not edit: they are
 * generated from a net with the hash 1bce2ca5d8885ee3.
 */
#include "netrt.h"

static const int32_t numbers[87] = {
  1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 4, 256, 32, 4, 1, 2, 8, 8, 2, 128, 16, 2, 1,
  3, 3, 2, 4, 24, 8, 4, 1, 4, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 4, 4, 16, 16, 4,
  1, 1, 1, 1, 0, 1, 1, 0, 2, 2, 1, 0, 0, 2, 2, 1, 0, 0, 2, 4, 4, 4, 64, 16, 4,
  1, 2, 3, 3, 1, 2, 64, 64, 1, 64, 3, 3, 1, 3, 1
};

static const float reals[1] = {0};

static const struct netrt_operand operands[20] = {
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {2048, 15, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 23, 4, NETRT_F32, NETRT_IN_WEIGHTS},
  {288, 31, 1, NETRT_F32, NETRT_IN_WEIGHTS},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {2048, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {304, 40, 4, NETRT_F32, NETRT_IN_WEIGHTS},
  {368, 31, 1, NETRT_F32, NETRT_IN_WEIGHTS},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {2048, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {384, 40, 4, NETRT_F32, NETRT_IN_WEIGHTS},
  {448, 31, 1, NETRT_F32, NETRT_IN_WEIGHTS},
  {2048, 65, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 73, 2, NETRT_F32, NETRT_IN_ARENA},
  {2048, 77, 2, NETRT_F32, NETRT_IN_ARENA},
  {464, 81, 2, NETRT_F32, NETRT_IN_WEIGHTS},
  {1232, 85, 1, NETRT_F32, NETRT_IN_WEIGHTS}
};

static const struct netrt_op ops[6] = {
  {0, 0, 0, 0, 3, 1, 0, 0},
  {1, 4, 33, 0, 1, 1, 0, 1},
  {2, 6, 33, 0, 3, 1, 0, 0},
  {3, 10, 48, 0, 3, 1, 0, 0},
  {4, 14, 55, 0, 1, 1, 0, 2},
  {5, 16, 73, 0, 3, 1, 0, 3}
};

static const struct netrt_kernel *const kernels[4] = {
  &netrt_conv, &netrt_relu, &netrt_maxpool, &netrt_linear
};

static const struct netrt_port inputs[1] = {
  {"input", {2048, 15, 4, NETRT_F32, NETRT_IN_ARENA}, 0}
};

static const struct netrt_port outputs[1] = {
  {"count", {0, 73, 2, NETRT_F32, NETRT_IN_ARENA}, 0}
};

static const char *const layers[6] = {
  "bytes", "bytes.relu", "a_b", "a.b", "input_0", "Mac"
};

#ifdef NETRT_CHECK
static const struct netrt_buffer buffers[6] = {
  {2048, 1024, 0, 0}, {0, 2048, 0, 2}, {2048, 2048, 2, 3}, {0, 2048, 3, 4},
  {2048, 512, 4, 5}, {0, 24, 5, 6}
};
#define BUFFER_LIST buffers
#define BUFFER_COUNT 6
#else
#define BUFFER_LIST NULL
#define BUFFER_COUNT 0
#endif

extern const struct netrt_model arena_1_model;
const struct netrt_model arena_1_model = {
  "arena_1", NETRT_VERSION, 2, 4096, 1244,
  ops, operands, numbers, reals, kernels, inputs, outputs, layers, BUFFER_LIST,
  6, 20, 87, 0, 4, 1, 1, 6, BUFFER_COUNT};

/* See arena_1.h. */
#ifdef NETRT_RUN
#include <string.h>

extern const float arena_1_weights[];
#ifdef __cplusplus
extern "C"
#endif
int arena_1_run(const float *input, float *output);
static NETRT_ARENA unsigned char arena[4096];

int arena_1_run(const float *input, float *output) {
  static struct netrt net;
  enum netrt_status status = NETRT_OK;
  if (!net.model)
    status = netrt_open(&net, &arena_1_model, arena_1_weights,
                        1244, arena, sizeof arena);
  if (status != NETRT_OK)
    return status;
  memcpy(netrt_input(&net, 0), input, 256 * sizeof *input);
  status = netrt_run(&net);
  if (status == NETRT_OK)
    netrt_copy_output(&net, 0, output);
  return status;
}
#endif
