/*
 * frames: sizes of a net, made by netc. Do not edit.
 *
 *   layer  as written      output  activations  parameters    MACs
 *   input                    12x8           96           -       -
 *   conv1  conv 16 3 relu   10x16          160         400   3,840
 *   conv2  conv 16 3 relu    8x16          128         784   6,144
 *   conv3  conv 8 8           1x8            8       1,032   1,024
 *   fc1    fc 3                 3            3          27      24
 *   total                                  395       2,243  11,032
 *   MACs without bias; FLOPs = 2 x MACs = 22,064.
 *
 * _BYTES and _OFFSET are in bytes, _COUNT in values or multiply-accumulates.
 * Figures of layers are for one sample; inputs, outputs and offsets in the
 * arena are for the whole batch. To check limits, define _ARENA_LIMIT_BYTES
 * or _WEIGHT_LIMIT_BYTES, with the prefix, before you include this file.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stddef.h>
#include <stdint.h>

#define FRAMES_SOURCE_HASH "a7263d38f5ad3518"
#define FRAMES_BATCH 1
#define FRAMES_INPUT_COUNT 1
#define FRAMES_OUTPUT_COUNT 1
#define FRAMES_PARAM_COUNT 2243
#define FRAMES_TRAINABLE_COUNT 2243
#define FRAMES_BUFFER_COUNT 0
#define FRAMES_MAC_COUNT 11032

/* Prediction */
#define FRAMES_ARENA_BYTES 1152
#define FRAMES_ARENA_ALIGN 64
#define FRAMES_ARENA_LOWER_BOUND_BYTES 1152
#define FRAMES_PEAK_LIVE_BYTES 1088
#define FRAMES_WEIGHT_BYTES 8972
#define FRAMES_WEIGHT_ALIGN 64
#define FRAMES_CACHE_BYTES 0
#define FRAMES_WINDOW_ROWS 12
#define FRAMES_HOP_ROWS 1

#define FRAMES_TRAIN_BATCH 1
#define FRAMES_TRAIN_PEAK_BYTES 35840

/*
 * A training step at its peak, with a batch: torch2-cuda, momentum.
 * At the batches 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256
 * it is never too low, and at most 1280 bytes too high. At others it
 * is interpolated; allocators round, so it may be slightly too low.
 */
#define FRAMES_TRAIN_BYTES(batch) \
  ((batch) <= 12 \
   ? 33536 + INT64_C(2304) * (batch) \
   : 29184 + INT64_C(2568) * (batch))

/* input: 1x8, a row at a time */
#define FRAMES_INPUT_0_LENGTH 1
#define FRAMES_INPUT_0_CHANNELS 8
#define FRAMES_INPUT_0_COUNT 8
#define FRAMES_INPUT_0_BYTES 32
#define FRAMES_INPUT_0_OFFSET 0
#define FRAMES_INPUT_0_ALIGN 64

/* fc1: 3 */
#define FRAMES_OUTPUT_0_CHANNELS 3
#define FRAMES_OUTPUT_0_COUNT 3
#define FRAMES_OUTPUT_0_BYTES 12
#define FRAMES_OUTPUT_0_OFFSET 0
#define FRAMES_OUTPUT_0_ALIGN 64
#define FRAMES_OUTPUT_0_DENSE 1

/* conv1: conv 16 3 */
#define FRAMES_CONV1_LENGTH 10
#define FRAMES_CONV1_CHANNELS 16
#define FRAMES_CONV1_COUNT 160
#define FRAMES_CONV1_KERNEL_LENGTH 3
#define FRAMES_CONV1_STRIDE_LENGTH 1
#define FRAMES_CONV1_DILATION_LENGTH 1
#define FRAMES_CONV1_PAD_BEFORE_LENGTH 0
#define FRAMES_CONV1_PAD_AFTER_LENGTH 0
#define FRAMES_CONV1_GROUPS 1
#define FRAMES_CONV1_PARAM_COUNT 400
#define FRAMES_CONV1_MAC_COUNT 3840
#define FRAMES_CONV1_WEIGHT_OFFSET 0
#define FRAMES_CONV1_WEIGHT_BYTES 1600

/* conv1.relu: relu */
#define FRAMES_CONV1_RELU_LENGTH 10
#define FRAMES_CONV1_RELU_CHANNELS 16
#define FRAMES_CONV1_RELU_COUNT 160

/* conv2: conv 16 3 */
#define FRAMES_CONV2_LENGTH 8
#define FRAMES_CONV2_CHANNELS 16
#define FRAMES_CONV2_COUNT 128
#define FRAMES_CONV2_KERNEL_LENGTH 3
#define FRAMES_CONV2_STRIDE_LENGTH 1
#define FRAMES_CONV2_DILATION_LENGTH 1
#define FRAMES_CONV2_PAD_BEFORE_LENGTH 0
#define FRAMES_CONV2_PAD_AFTER_LENGTH 0
#define FRAMES_CONV2_GROUPS 1
#define FRAMES_CONV2_PARAM_COUNT 784
#define FRAMES_CONV2_MAC_COUNT 6144
#define FRAMES_CONV2_WEIGHT_OFFSET 1600
#define FRAMES_CONV2_WEIGHT_BYTES 3136

/* conv2.relu: relu */
#define FRAMES_CONV2_RELU_LENGTH 8
#define FRAMES_CONV2_RELU_CHANNELS 16
#define FRAMES_CONV2_RELU_COUNT 128

/* conv3: conv 8 8 */
#define FRAMES_CONV3_LENGTH 1
#define FRAMES_CONV3_CHANNELS 8
#define FRAMES_CONV3_COUNT 8
#define FRAMES_CONV3_KERNEL_LENGTH 8
#define FRAMES_CONV3_STRIDE_LENGTH 1
#define FRAMES_CONV3_DILATION_LENGTH 1
#define FRAMES_CONV3_PAD_BEFORE_LENGTH 0
#define FRAMES_CONV3_PAD_AFTER_LENGTH 0
#define FRAMES_CONV3_GROUPS 1
#define FRAMES_CONV3_PARAM_COUNT 1032
#define FRAMES_CONV3_MAC_COUNT 1024
#define FRAMES_CONV3_WEIGHT_OFFSET 4736
#define FRAMES_CONV3_WEIGHT_BYTES 4128
#define FRAMES_CONV3_ARENA_OFFSET 1088

/* fc1: fc 3 */
#define FRAMES_FC1_CHANNELS 3
#define FRAMES_FC1_COUNT 3
#define FRAMES_FC1_PARAM_COUNT 27
#define FRAMES_FC1_MAC_COUNT 24
#define FRAMES_FC1_WEIGHT_OFFSET 8864
#define FRAMES_FC1_WEIGHT_BYTES 108
#define FRAMES_FC1_ARENA_OFFSET 0

/* For C11, C++11 and older compilers. */
#if defined __cplusplus && __cplusplus >= 201103L
#define FRAMES_ASSERT(name, what) static_assert(what, #name)
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define FRAMES_ASSERT(name, what) _Static_assert(what, #name)
#else
#define FRAMES_ASSERT(name, what) typedef char name[(what) ? 1 : -1]
#endif
#ifdef FRAMES_ARENA_LIMIT_BYTES
FRAMES_ASSERT(frames_arena_exceeds_the_limit,
  FRAMES_ARENA_BYTES <= FRAMES_ARENA_LIMIT_BYTES);
#endif
#ifdef FRAMES_WEIGHT_LIMIT_BYTES
FRAMES_ASSERT(frames_weights_exceed_the_limit,
  FRAMES_WEIGHT_BYTES <= FRAMES_WEIGHT_LIMIT_BYTES);
#endif
#ifdef FRAMES_TRAIN_LIMIT_BYTES
FRAMES_ASSERT(frames_training_exceeds_the_limit,
  FRAMES_TRAIN_PEAK_BYTES <= FRAMES_TRAIN_LIMIT_BYTES);
#endif

/* The tables of `netc -o x.c`, and the array of `netc weights --fold`. */
struct netrt_model;
#ifdef __cplusplus
extern "C" {
#endif
extern const struct netrt_model frames_model;
extern const float frames_weights[];

/*
 * Runs the net once: takes the values of each input, and writes those of each
 * output. Returns an enum netrt_status, 0 on success. It uses its own static
 * arena, so only one thread may call it. Compile the source with -DNETRT_RUN.
 */
int frames_run(const float *input, float *output);

/*
 * Each call takes the next row of the input. If no window ends with the row,
 * it returns NETRT_NOT_YET and does not change the output. This function
 * discards the rows so far.
 */
void frames_reset(void);
#ifdef __cplusplus
}
#endif

#endif
