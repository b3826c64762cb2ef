/*
 * arena_1: sizes of a net, made by netc. Do not edit.
 *
 *   layer    as written              output  activations  parameters   MACs
 *   input                             8x8x2          128           -      -
 *   bytes    conv 4 3x3 pad bn relu   8x8x4          512          80  4,608
 *   a_b x 2  conv 4 1x1               8x8x4          512          40  2,048
 *   input_0  pool 2x2                 4x4x4           64           -      -
 *   Mac      fc 3                         3            3         195    192
 *   total                                          1,219         315  6,848
 *   MACs without bias; FLOPs = 2 x MACs = 13,696. `x N`: N equal blocks; the
 *   rows below show one of them. --unfold shows every row.
 *
 * _BYTES and _OFFSET are in bytes, _COUNT in values or multiply-accumulates.
 * Figures of layers are for one sample; inputs, outputs and offsets in the
 * arena are for the whole batch. To check limits, define _ARENA_LIMIT_BYTES
 * or _WEIGHT_LIMIT_BYTES, with the prefix, before you include this file.
 */
#ifndef ARENA_1_H
#define ARENA_1_H

#include <stddef.h>
#include <stdint.h>

#define ARENA_1_SOURCE_HASH "1bce2ca5d8885ee3"
#define ARENA_1_BATCH 2
#define ARENA_1_INPUT_COUNT 1
#define ARENA_1_OUTPUT_COUNT 1
#define ARENA_1_PARAM_COUNT 315
#define ARENA_1_TRAINABLE_COUNT 315
#define ARENA_1_BUFFER_COUNT 8
#define ARENA_1_MAC_COUNT 6848

/* Prediction */
#define ARENA_1_ARENA_BYTES 4096
#define ARENA_1_ARENA_ALIGN 64
#define ARENA_1_ARENA_LOWER_BOUND_BYTES 4096
#define ARENA_1_PEAK_LIVE_BYTES 4096
#define ARENA_1_WEIGHT_BYTES 1244
#define ARENA_1_WEIGHT_ALIGN 64
#define ARENA_1_CACHE_BYTES 0

#define ARENA_1_TRAIN_BATCH 4
#define ARENA_1_TRAIN_PEAK_BYTES 39944

/*
 * A training step at its peak, with a batch: torch2-cuda, momentum.
 * At the batches 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256
 * it is never too low, and at most 512 bytes too high. At others it
 * is interpolated; allocators round, so it may be slightly too low.
 */
#define ARENA_1_TRAIN_BYTES(batch) \
  ((batch) <= 32 \
   ? 14600 + INT64_C(6400) * (batch) \
   : 14856 + INT64_C(6408) * (batch))

/* input: 8x8x2 */
#define ARENA_1_INPUT_0_HEIGHT 8
#define ARENA_1_INPUT_0_WIDTH 8
#define ARENA_1_INPUT_0_CHANNELS 2
#define ARENA_1_INPUT_0_COUNT 256
#define ARENA_1_INPUT_0_BYTES 1024
#define ARENA_1_INPUT_0_OFFSET 2048
#define ARENA_1_INPUT_0_ALIGN 64

/* count: 3 */
#define ARENA_1_OUTPUT_0_CHANNELS 3
#define ARENA_1_OUTPUT_0_COUNT 6
#define ARENA_1_OUTPUT_0_BYTES 24
#define ARENA_1_OUTPUT_0_OFFSET 0
#define ARENA_1_OUTPUT_0_ALIGN 64
#define ARENA_1_OUTPUT_0_DENSE 1

/* bytes: conv 4 3x3 pad */
#define ARENA_1_BYTES_HEIGHT 8
#define ARENA_1_BYTES_WIDTH 8
#define ARENA_1_BYTES_CHANNELS 4
#define ARENA_1_BYTES_COUNT 256
#define ARENA_1_BYTES_KERNEL_HEIGHT 3
#define ARENA_1_BYTES_STRIDE_HEIGHT 1
#define ARENA_1_BYTES_DILATION_HEIGHT 1
#define ARENA_1_BYTES_PAD_BEFORE_HEIGHT 1
#define ARENA_1_BYTES_PAD_AFTER_HEIGHT 1
#define ARENA_1_BYTES_KERNEL_WIDTH 3
#define ARENA_1_BYTES_STRIDE_WIDTH 1
#define ARENA_1_BYTES_DILATION_WIDTH 1
#define ARENA_1_BYTES_PAD_BEFORE_WIDTH 1
#define ARENA_1_BYTES_PAD_AFTER_WIDTH 1
#define ARENA_1_BYTES_GROUPS 1
#define ARENA_1_BYTES_PARAM_COUNT 72
#define ARENA_1_BYTES_MAC_COUNT 4608
#define ARENA_1_BYTES_WEIGHT_OFFSET 0
#define ARENA_1_BYTES_WEIGHT_BYTES 304
#define ARENA_1_BYTES_ARENA_OFFSET 0

/* bytes.bn: bn */
#define ARENA_1_BYTES_BN_HEIGHT 8
#define ARENA_1_BYTES_BN_WIDTH 8
#define ARENA_1_BYTES_BN_CHANNELS 4
#define ARENA_1_BYTES_BN_COUNT 256
#define ARENA_1_BYTES_BN_PARAM_COUNT 8
#define ARENA_1_BYTES_BN_ARENA_OFFSET 0

/* bytes.relu: relu */
#define ARENA_1_BYTES_RELU_HEIGHT 8
#define ARENA_1_BYTES_RELU_WIDTH 8
#define ARENA_1_BYTES_RELU_CHANNELS 4
#define ARENA_1_BYTES_RELU_COUNT 256
#define ARENA_1_BYTES_RELU_ARENA_OFFSET 0

/* a_b: conv 4 1x1 */
#define ARENA_1_A_B_HEIGHT 8
#define ARENA_1_A_B_WIDTH 8
#define ARENA_1_A_B_CHANNELS 4
#define ARENA_1_A_B_COUNT 256
#define ARENA_1_A_B_KERNEL_HEIGHT 1
#define ARENA_1_A_B_STRIDE_HEIGHT 1
#define ARENA_1_A_B_DILATION_HEIGHT 1
#define ARENA_1_A_B_PAD_BEFORE_HEIGHT 0
#define ARENA_1_A_B_PAD_AFTER_HEIGHT 0
#define ARENA_1_A_B_KERNEL_WIDTH 1
#define ARENA_1_A_B_STRIDE_WIDTH 1
#define ARENA_1_A_B_DILATION_WIDTH 1
#define ARENA_1_A_B_PAD_BEFORE_WIDTH 0
#define ARENA_1_A_B_PAD_AFTER_WIDTH 0
#define ARENA_1_A_B_GROUPS 1
#define ARENA_1_A_B_PARAM_COUNT 20
#define ARENA_1_A_B_MAC_COUNT 1024
#define ARENA_1_A_B_WEIGHT_OFFSET 304
#define ARENA_1_A_B_WEIGHT_BYTES 80
#define ARENA_1_A_B_ARENA_OFFSET 2048

/* a.b: conv 4 1x1 */
#define ARENA_1_A_B_2_HEIGHT 8
#define ARENA_1_A_B_2_WIDTH 8
#define ARENA_1_A_B_2_CHANNELS 4
#define ARENA_1_A_B_2_COUNT 256
#define ARENA_1_A_B_2_KERNEL_HEIGHT 1
#define ARENA_1_A_B_2_STRIDE_HEIGHT 1
#define ARENA_1_A_B_2_DILATION_HEIGHT 1
#define ARENA_1_A_B_2_PAD_BEFORE_HEIGHT 0
#define ARENA_1_A_B_2_PAD_AFTER_HEIGHT 0
#define ARENA_1_A_B_2_KERNEL_WIDTH 1
#define ARENA_1_A_B_2_STRIDE_WIDTH 1
#define ARENA_1_A_B_2_DILATION_WIDTH 1
#define ARENA_1_A_B_2_PAD_BEFORE_WIDTH 0
#define ARENA_1_A_B_2_PAD_AFTER_WIDTH 0
#define ARENA_1_A_B_2_GROUPS 1
#define ARENA_1_A_B_2_PARAM_COUNT 20
#define ARENA_1_A_B_2_MAC_COUNT 1024
#define ARENA_1_A_B_2_WEIGHT_OFFSET 384
#define ARENA_1_A_B_2_WEIGHT_BYTES 80
#define ARENA_1_A_B_2_ARENA_OFFSET 0

/* input_0: pool 2x2 */
#define ARENA_1_INPUT_0_2_HEIGHT 4
#define ARENA_1_INPUT_0_2_WIDTH 4
#define ARENA_1_INPUT_0_2_CHANNELS 4
#define ARENA_1_INPUT_0_2_COUNT 64
#define ARENA_1_INPUT_0_2_KERNEL_HEIGHT 2
#define ARENA_1_INPUT_0_2_STRIDE_HEIGHT 2
#define ARENA_1_INPUT_0_2_DILATION_HEIGHT 1
#define ARENA_1_INPUT_0_2_PAD_BEFORE_HEIGHT 0
#define ARENA_1_INPUT_0_2_PAD_AFTER_HEIGHT 0
#define ARENA_1_INPUT_0_2_KERNEL_WIDTH 2
#define ARENA_1_INPUT_0_2_STRIDE_WIDTH 2
#define ARENA_1_INPUT_0_2_DILATION_WIDTH 1
#define ARENA_1_INPUT_0_2_PAD_BEFORE_WIDTH 0
#define ARENA_1_INPUT_0_2_PAD_AFTER_WIDTH 0
#define ARENA_1_INPUT_0_2_ARENA_OFFSET 2048

/* Mac: fc 3 */
#define ARENA_1_MAC_2_CHANNELS 3
#define ARENA_1_MAC_2_COUNT 3
#define ARENA_1_MAC_2_PARAM_COUNT 195
#define ARENA_1_MAC_2_MAC_COUNT 192
#define ARENA_1_MAC_2_WEIGHT_OFFSET 464
#define ARENA_1_MAC_2_WEIGHT_BYTES 780
#define ARENA_1_MAC_2_ARENA_OFFSET 0

/* For C11, C++11 and older compilers. */
#if defined __cplusplus && __cplusplus >= 201103L
#define ARENA_1_ASSERT(name, what) static_assert(what, #name)
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define ARENA_1_ASSERT(name, what) _Static_assert(what, #name)
#else
#define ARENA_1_ASSERT(name, what) typedef char name[(what) ? 1 : -1]
#endif
#define ARENA_1_PARAM_BUDGET_COUNT 1000
ARENA_1_ASSERT(arena_1_params_exceed_the_budget,
  ARENA_1_PARAM_COUNT <= ARENA_1_PARAM_BUDGET_COUNT);
#define ARENA_1_ARENA_BUDGET_BYTES 8192
ARENA_1_ASSERT(arena_1_arena_exceeds_the_budget,
  ARENA_1_ARENA_BYTES <= ARENA_1_ARENA_BUDGET_BYTES);
#ifdef ARENA_1_ARENA_LIMIT_BYTES
ARENA_1_ASSERT(arena_1_arena_exceeds_the_limit,
  ARENA_1_ARENA_BYTES <= ARENA_1_ARENA_LIMIT_BYTES);
#endif
#ifdef ARENA_1_WEIGHT_LIMIT_BYTES
ARENA_1_ASSERT(arena_1_weights_exceed_the_limit,
  ARENA_1_WEIGHT_BYTES <= ARENA_1_WEIGHT_LIMIT_BYTES);
#endif
#ifdef ARENA_1_TRAIN_LIMIT_BYTES
ARENA_1_ASSERT(arena_1_training_exceeds_the_limit,
  ARENA_1_TRAIN_PEAK_BYTES <= ARENA_1_TRAIN_LIMIT_BYTES);
#endif

/* The tables of `netc -o x.c`, and the array of `netc weights --fold`. */
struct netrt_model;
#ifdef __cplusplus
extern "C" {
#endif
extern const struct netrt_model arena_1_model;
extern const float arena_1_weights[];

/*
 * Runs the net once: takes the values of each input, and writes those of each
 * output. Returns an enum netrt_status, 0 on success. It uses its own static
 * arena, so only one thread may call it. Compile the source with -DNETRT_RUN.
 */
int arena_1_run(const float *input, float *output);
#ifdef __cplusplus
}
#endif

#endif
