/*
 * Seconds of the runtime's kernels: reads lines as
 *   conv HEIGHT WIDTH IN OUT KERNEL STRIDE PAD GROUPS
 *   linear ROWS IN OUT
 *   matmul BATCH ROWS INNER COLUMNS
 * or the name of another operation with the sizes of its tensor, and answers
 * each with its time after two runs that do not count. runtime.py asks.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/netrt.h"

enum { OPERANDS = 5, NUMBERS = 128 };

static struct netrt_operand operands[OPERANDS];
static int32_t numbers[NUMBERS];
static float reals[4] = {1e-5f};
static uint32_t used;
static size_t bytes;

static const char *const names[] = {
#define OP(code, name, ins, most, numbers, reals, elementwise) #name,
#include "runtime/ops.def"
#undef OP
};

static void add(int i, int rank, const int *size) {
  int step = 1;
  operands[i].offset = bytes;
  operands[i].shape = used;
  operands[i].rank = (uint8_t)rank;
  for (int k = rank - 1; k >= 0; k--) {
    numbers[used + (uint32_t)k] = size[k];
    numbers[used + (uint32_t)(rank + k)] = step;
    step *= size[k];
  }
  used += 2 * (uint32_t)rank;
  bytes += ((size_t)step * 4 + 63) / 64 * 64;
}

static int add_all(int code, const int *v, int count) {
  if (code == NETRT_CONV) {
    int in[4] = {1, v[0], v[1], v[2]};
    int out[4] = {1, (v[0] + 2 * v[6] - v[4]) / v[5] + 1,
                  (v[1] + 2 * v[6] - v[4]) / v[5] + 1, v[3]};
    int weight[4] = {v[4], v[4], v[2] / v[7], v[3]};
    int32_t args[] = {v[7], v[5], 1, v[6], v[5], 1, v[6]};
    memcpy(numbers, args, sizeof args);
    used = 7;
    add(0, 4, out);
    add(1, 4, in);
    add(2, 4, weight);
    add(3, 1, &v[3]);
    return 3;
  }
  if (code == NETRT_LINEAR) {
    add(0, 2, (int[]){v[0], v[2]});
    add(1, 2, (int[]){v[0], v[1]});
    add(2, 2, (int[]){v[1], v[2]});
    add(3, 1, &v[2]);
    return 3;
  }
  if (code == NETRT_MATMUL) {
    add(0, 3, (int[]){v[0], v[1], v[3]});
    add(1, 3, (int[]){v[0], v[1], v[2]});
    add(2, 3, (int[]){v[0], v[2], v[3]});
    return 2;
  }
  if (code == NETRT_MAXPOOL) { /* 3x3 /2, padded */
    int32_t args[] = {3, 2, 1, 1, 1, 3, 2, 1, 1, 1};
    memcpy(numbers, args, sizeof args);
    used = 10;
    add(0, 4, (int[]){1, (v[0] + 1) / 2, (v[1] + 1) / 2, v[2]});
    add(1, 4, (int[]){1, v[0], v[1], v[2]});
    return 1;
  }
  add(0, count, v);
  add(1, count, v);
  if (code == NETRT_LN) {
    add(2, 1, &v[count - 1]);
    add(3, 1, &v[count - 1]);
    return 3;
  }
  if (code == NETRT_ADD || code == NETRT_MUL)
    add(2, count, v);
  return code == NETRT_ADD || code == NETRT_MUL ? 2 : 1;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(int code, const int *v, int count, unsigned flags) {
  struct netrt_op op = {.outs = 1, .kernel = (uint8_t)code};
  memset(operands, 0, sizeof operands);
  used = 0;
  bytes = 0;
  op.ins = (uint16_t)add_all(code, v, count);
  struct netrt_port out = {"y", operands[0]};
  struct netrt_model model = {.version = NETRT_VERSION,
                              .arena_bytes = bytes,
                              .ops = &op,
                              .operands = operands,
                              .numbers = numbers,
                              .reals = reals,
                              .kernels = netrt_kernels,
                              .outputs = &out,
                              .op_count = 1,
                              .operand_count = OPERANDS,
                              .number_count = NUMBERS,
                              .real_count = 4,
                              .kernel_count = NETRT_CODES,
                              .output_count = 1};
  struct netrt net;
  float *arena = aligned_alloc(64, bytes);
  double start = 0, total, one;
  for (size_t i = 0; i < bytes / 4; i++)
    arena[i] = (float)(i * 2654435761u % 1000) / 500 - 1;
  if (netrt_open(&net, &model, NULL, 0, arena, bytes) != NETRT_OK)
    return -1;
  net.flags = flags;
  netrt_run(&net);
  start = now();
  netrt_run(&net);
  one = now() - start;
  long turns = one > 0.02 ? 1 : (long)(0.02 / (one + 1e-9)) + 1;
  start = now();
  for (long i = 0; i < turns; i++)
    netrt_run(&net);
  total = now() - start;
  netrt_close(&net);
  free(arena);
  return total / (double)turns;
}

int main(int argc, char **argv) {
  char line[256];
  unsigned flags = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  while (fgets(line, sizeof line, stdin)) {
    int v[9] = {0}, count = 0, code = 0;
    char *at = strchr(line, ' ');
    if (!at)
      return 1;
    *at++ = '\0';
    while (code < NETRT_CODES && strcmp(names[code], line) != 0)
      code++;
    if (code == NETRT_CODES)
      return 1;
    while (count < 9 && *at && *at != '\n')
      v[count++] = (int)strtol(at, &at, 10);
    printf("%.9f\n", seconds_of(code, v, count, flags));
    fflush(stdout);
  }
  return 0;
}
