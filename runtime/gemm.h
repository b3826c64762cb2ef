/*
 * The product of matrices on which convolutions, linear layers and matmul
 * are built:
 *
 *   out[m, n] = after(skip[m, n] + bias[n] + sum over taps t and i < ins of
 *                     a(m, t)[i] * b[(t * ins + i), n])
 *
 * A tap is a place of a convolution's window; products of matrices have one.
 * Rows of `a` are found by a callback, for a few m at a time whose rows lie
 * evenly, so that nothing is unfolded in memory (im2col).
 */
#ifndef NETRT_GEMM_H
#define NETRT_GEMM_H

#include "narrow.h"
#include "values.h"

enum {
  GEMM_ROWS = 14,  /* of a tile at most */
  GEMM_DEPTH = 256 /* values of b's columns that are packed at a time */
};

/* Rows m, m + 1, ... at one tap: `step` values apart. */
struct gemm_rows {
  const float *a;
  ptrdiff_t step;
};

struct gemm {
  float *out;
  const float *b, *bias; /* bias: dense or NULL */
  ptrdiff_t out_row;     /* values from row to row; a row is dense */
  ptrdiff_t b_row, b_step;
  ptrdiff_t m, n, taps, ins;
  int panels; /* b is, of taps * ins rows: netrt.h */
  /* Instead of b: its rows lie b_row apart, a row is dense. */
  struct narrow_weights narrow;
  ptrdiff_t narrow_first, narrow_out; /* the first value, and its output */
  const ptrdiff_t *tap_rows; /* row of b of each tap; NULL: tap * ins */
  /*
   * Rows that may be asked for together end at multiples of `line`: the
   * pixels of one line of a map.
   */
  ptrdiff_t line;
  /* The plain case, rows NULL: a + m * a_row. */
  const float *a;
  ptrdiff_t a_row;
  /*
   * Values [from, from + count) of rows m.. at a tap; what is not there in
   * memory goes into scratch, rows * count values.
   */
  struct gemm_rows (*rows)(const struct gemm *gemm, ptrdiff_t m, ptrdiff_t rows,
                           ptrdiff_t tap, ptrdiff_t from, ptrdiff_t count,
                           float *scratch);
  const void *user;
  /* May be the output itself; NULL: there is none. */
  const float *skip;
  ptrdiff_t skip_row;
  struct kernel_after after;
};

/* Rows [from, to) in one thread. */
void netrt_gemm_part(enum isa isa, const struct gemm *gemm, ptrdiff_t from,
                     ptrdiff_t to);

/* All of it, in the caller's threads. */
void netrt_gemm(const struct netrt *net, const struct gemm *gemm);

#endif
