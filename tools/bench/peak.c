/*
 * The most that one core multiplies and adds: independent sums of vectors in
 * registers, nothing in memory. Answers each line that it reads with the
 * processor's seconds of 768,000,000 operations (a multiplication and an
 * addition are two). Compiled with -O3 -march=native, so that vectors are the
 * machine's widest.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { SUMS = 12, TURNS = 768000000 / (2 * SUMS * LANES) };

typedef float vector __attribute__((vector_size(LANES * 4)));

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void) {
  char line[64];
  volatile float begin = 0.5f, factor = 0.999f, last = 0;
  while (fgets(line, sizeof line, stdin)) {
    vector sum[SUMS], times = (vector){0} + factor, more = (vector){0} + begin;
    double start = seconds(), spent;
    for (int i = 0; i < SUMS; i++)
      sum[i] = more + (float)i;
    for (long turn = 0; turn < TURNS; turn++)
      for (int i = 0; i < SUMS; i++)
        sum[i] = sum[i] * times + more;
    for (int i = 0; i < SUMS; i++)
      last = last + sum[i][0];
    spent = seconds() - start;
    printf("%.9f\n", spent);
    fflush(stdout);
  }
  return 0;
}
