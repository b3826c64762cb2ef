/*
 * A prediction on a microcontroller: an input by a rule, the scores in
 * millionths (floats in printf take kilobytes), how much stack it took and, on
 * a Cortex-M, how many ticks of the processor's clock.
 */
#include <stdint.h>
#include <stdio.h>

#include "kws.h"

#if KWS_INPUT_0_BYTES == KWS_INPUT_0_COUNT /* infer dtype=i8 */
typedef int8_t number;
#define FRAME(i) (number)((i) % 17 + 75)
#define MILLIONTHS(score) (((long)(score) + 128) * 15625 / 4)
#else
typedef float number;
#define FRAME(i) ((number)((i) % 17) / 8 - 1)
#define MILLIONTHS(score) ((long)((score)*1e6f))
#endif
#ifndef KWS_WINDOW_ROWS
#define KWS_WINDOW_ROWS                                \
  1 /* all frames at once; infer stream=on: one by one \
     */
#endif
static number frames[KWS_INPUT_0_COUNT], scores[KWS_OUTPUT_0_COUNT];

/* The stack below main() is filled with a pattern, and looked at afterwards. */
enum { STACK = 4096, SPARED = 256, PATTERN = 0xa5 };

static void paint_stack(volatile unsigned char *top) {
  for (int i = SPARED; i < STACK; i++)
    top[-i] = PATTERN;
}

static int stack_used(const volatile unsigned char *top) {
  int used = STACK;
  while (used > SPARED && top[1 - used] == PATTERN)
    used--;
  return used;
}

/* SysTick counts the clock down in 24 bits (Armv7-M, B3.3). */
#ifdef __ARM_ARCH_PROFILE
#define SYSTICK ((volatile uint32_t *)0xe000e010)
static void start_ticks(void) {
  SYSTICK[1] = 0xffffff;
  SYSTICK[2] = 0;
  SYSTICK[0] = 5; /* the processor's clock, no interrupts */
}
static long ticks(void) {
  return 0xffffff - (long)SYSTICK[2];
}
#else
static void start_ticks(void) {}
static long ticks(void) {
  return 0;
}
#endif

int main(void) {
  unsigned char *top = __builtin_frame_address(0);
  int status = 0;
  paint_stack(top);
  start_ticks();
  for (int row = 0; row < KWS_WINDOW_ROWS; row++) {
    for (int i = 0; i < KWS_INPUT_0_COUNT; i++)
      frames[i] = FRAME(row * KWS_INPUT_0_COUNT + i);
    status = kws_run(frames, scores); /* only the last row ends a window */
  }
  long taken = ticks();
  int used = stack_used(top);
  if (status != 0) {
    printf("kws_run: status %d\n", status);
    return 1;
  }
  printf("arena %ld B, weights %ld B, stack %d B\n", (long)KWS_ARENA_BYTES,
         (long)KWS_WEIGHT_BYTES, used);
  for (int i = 0; i < KWS_OUTPUT_0_COUNT; i++)
    printf("%d %ld\n", i, MILLIONTHS(scores[i]));
  if (taken)
    printf("ticks %ld\n", taken);
  return 0;
}
