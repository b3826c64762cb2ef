/*
 * a-value-without-an-axis: tables for netrt, the runtime of netc. Do not edit: they are
 * generated from a net with the hash 5d96c092e8c1e7ce.
 */
#include "netrt.h"

static const int32_t numbers[86] = {
  1, 1, 1, 1, 1, 1, 1, 4, 8, 8, 8, 512, 64, 8, 1, 4, 8, 8, 4, 256, 32, 4, 1,
  3, 3, 4, 8, 96, 32, 8, 1, 8, 1, 4, 8, 8, 8, 0, 0, 0, 0, 4, 1, 1, 1, 4, 1, 0,
  1, 4, 8, 8, 8, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 3, 3, 8, 8, 192, 64, 8, 1,
  4, 3, 3, 1, 4, 512, 512, 1, 512, 3, 3, 1, 3, 1
};

static const float reals[1] = {
  2.0f
};

static const struct netrt_operand operands[29] = {
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {8192, 15, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 23, 4, NETRT_F32, NETRT_IN_WEIGHTS},
  {1152, 31, 1, NETRT_F32, NETRT_IN_WEIGHTS},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {1184, 33, 4, NETRT_F32, NETRT_IN_WEIGHTS},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {1188, 33, 4, NETRT_F32, NETRT_IN_WEIGHTS},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {8192, 41, 2, NETRT_F32, NETRT_IN_ARENA},
  {1196, 45, 2, NETRT_F32, NETRT_IN_WEIGHTS},
  {8192, 41, 2, NETRT_F32, NETRT_IN_ARENA},
  {1192, 45, 2, NETRT_F32, NETRT_IN_WEIGHTS},
  {8192, 41, 2, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {8192, 49, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {1200, 33, 4, NETRT_F32, NETRT_IN_WEIGHTS},
  {8192, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {0, 7, 4, NETRT_F32, NETRT_IN_ARENA},
  {1204, 64, 4, NETRT_F32, NETRT_IN_WEIGHTS},
  {3508, 31, 1, NETRT_F32, NETRT_IN_WEIGHTS},
  {0, 72, 2, NETRT_F32, NETRT_IN_ARENA},
  {8192, 76, 2, NETRT_F32, NETRT_IN_ARENA},
  {3540, 80, 2, NETRT_F32, NETRT_IN_WEIGHTS},
  {9684, 84, 1, NETRT_F32, NETRT_IN_WEIGHTS}
};

static const struct netrt_op ops[9] = {
  {0, 0, 0, 0, 3, 1, 0, 0},
  {1, 4, 33, 0, 2, 1, 0, 1},
  {2, 7, 41, 0, 2, 1, 0, 2},
  {3, 10, 41, 0, 1, 1, 0, 3},
  {4, 12, 49, 1, 2, 1, 0, 1},
  {5, 15, 49, 1, 2, 1, 0, 4},
  {6, 18, 57, 1, 2, 1, 0, 5},
  {7, 21, 57, 1, 3, 1, 0, 0},
  {8, 25, 72, 1, 3, 1, 0, 6}
};

static const struct netrt_kernel *const kernels[7] = {
  &netrt_conv, &netrt_mul, &netrt_add, &netrt_scale, &netrt_div, &netrt_max,
  &netrt_linear
};

static const struct netrt_port inputs[1] = {
  {"input", {8192, 15, 4, NETRT_F32, NETRT_IN_ARENA}, 0}
};

static const struct netrt_port outputs[1] = {
  {"fc1", {0, 72, 2, NETRT_F32, NETRT_IN_ARENA}, 0}
};

static const char *const layers[9] = {
  "conv1", "mul1", "add1", "mul2", "mul3", "div1", "max1", "conv2", "fc1"
};

#ifdef NETRT_CHECK
static const struct netrt_buffer buffers[5] = {
  {8192, 4096, 0, 0}, {0, 8192, 0, 7}, {8192, 16, 3, 5}, {8192, 8192, 7, 8},
  {0, 48, 8, 9}
};
#define BUFFER_LIST buffers
#define BUFFER_COUNT 5
#else
#define BUFFER_LIST NULL
#define BUFFER_COUNT 0
#endif

extern const struct netrt_model a_value_without_an_axis_model;
const struct netrt_model a_value_without_an_axis_model = {
  "a-value-without-an-axis", NETRT_VERSION, 4, 16384, 9696,
  ops, operands, numbers, reals, kernels, inputs, outputs, layers, BUFFER_LIST,
  9, 29, 86, 1, 7, 1, 1, 9, BUFFER_COUNT};

/* See a_value_without_an_axis.h. */
#ifdef NETRT_RUN
#include <string.h>

extern const float a_value_without_an_axis_weights[];
#ifdef __cplusplus
extern "C"
#endif
int a_value_without_an_axis_run(const float *input, float *output);
static NETRT_ARENA unsigned char arena[16384];

int a_value_without_an_axis_run(const float *input, float *output) {
  static struct netrt net;
  enum netrt_status status = NETRT_OK;
  if (!net.model)
    status = netrt_open(&net, &a_value_without_an_axis_model, a_value_without_an_axis_weights,
                        9696, arena, sizeof arena);
  if (status != NETRT_OK)
    return status;
  memcpy(netrt_input(&net, 0), input, 1024 * sizeof *input);
  status = netrt_run(&net);
  if (status == NETRT_OK)
    netrt_copy_output(&net, 0, output);
  return status;
}
#endif
