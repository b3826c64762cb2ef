/*
 * The matrix product of convolutions, linear layers and matmul:
 *
 *   out[m, n] = after(skip[m, n] + bias[n] + sum over taps t and i < ins of
 *                     a(m, t)[i] * b[(t * ins + i), n])
 *
 * A tap is a position of a convolution's window; matrices have one. A callback
 * finds rows of `a`, a few with equal distances at a time, so that nothing is
 * unfolded in memory (im2col). Winograd's algorithm for 3 x 3 windows would
 * need memory beyond the plan; the direct form is as fast as oneDNN's.
 */
#ifndef NETRT_GEMM_H
#define NETRT_GEMM_H

#include "narrow.h"
#include "values.h"

enum {
  GEMM_ROWS = 14,  /* maximum of a tile */
  GEMM_DEPTH = 256 /* maximum number of rows of b that are packed at a time */
};

/* Rows m, m + 1, ... at one tap, `step` values apart. */
struct gemm_rows {
  const float *a;
  ptrdiff_t step;
};

struct gemm {
  float *out;
  const float *b, *bias; /* bias: contiguous, or NULL */
  ptrdiff_t out_row;     /* values between rows; rows are contiguous */
  ptrdiff_t b_row, b_step;
  ptrdiff_t m, n, taps, ins;
  int panels; /* b is in panels of taps * ins rows: netrt.h */
  /* Replaces b; its rows are b_row apart and contiguous. */
  struct narrow_weights narrow;
  ptrdiff_t narrow_first, narrow_out; /* first value, and its output */
  const ptrdiff_t *tap_rows; /* row of b of each tap; NULL: tap * ins */
  /*
   * Rows of one request are within a multiple of `line`: the pixels of a line
   * of a map.
   */
  ptrdiff_t line;
  /* If rows is NULL: a + m * a_row. */
  const float *a;
  ptrdiff_t a_row;
  /*
   * Values [from, from + count) of rows from m on, at a tap. Values that are
   * not in memory are written to scratch, which has rows * count values.
   */
  struct gemm_rows (*rows)(const struct gemm *gemm, ptrdiff_t m, ptrdiff_t rows,
                           ptrdiff_t tap, ptrdiff_t from, ptrdiff_t count,
                           float *scratch);
  const void *user;
  /* May be the output itself; NULL: nothing to add. */
  const float *skip;
  ptrdiff_t skip_row;
  struct kernel_after after;
};

/* Computes rows [from, to) in this thread. */
void netrt_gemm_part(enum isa isa, const struct gemm *gemm, ptrdiff_t from,
                     ptrdiff_t to);

/* Computes all rows, in the caller's threads. */
void netrt_gemm(const struct netrt *net, const struct gemm *gemm);

#endif
