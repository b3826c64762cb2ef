/*
 * gemm for one instruction set (isa_each.h). A tile has up to MAX_ROWS rows and
 * two vectors of the output, which stay in registers while it moves down the
 * rows of b.
 */
#define MAX_ROWS (LANES == 16 ? 14 : 6)
typedef float NAME(vector) __attribute__((vector_size(LANES * 4), aligned(4)));
typedef int32_t NAME(mask) __attribute__((vector_size(LANES * 4), aligned(4)));
#define VECTOR NAME(vector)

struct NAME(tile) {
  const struct gemm_rows *runs; /* rows of a */
  ptrdiff_t count, length;      /* number of runs; values of each */
  const float *b;               /* packed, or in place */
  ptrdiff_t b_row;
  float *out; /* whole vectors in each row */
  ptrdiff_t out_row;
  const float *begin; /* initial values of the output */
  ptrdiff_t begin_row;
  int gathered;        /* `begin` has a row for each, not one for all */
  const float *bias;   /* two vectors to add; NULL: none */
  const float *limits; /* minimum and maximum of the output; NULL: none */
};

#define EACH_ROW(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#define AT(p) (*(VECTOR *)(void *)(p))
#define FROM(p) (*(const VECTOR *)(const void *)(p))

/* NaN is kept. */
static inline __attribute__((always_inline)) TARGET VECTOR
NAME(limit)(VECTOR x, VECTOR low, VECTOR high) {
  NAME(mask) below = x<low, above = x> high;
  x = (VECTOR)(((NAME(mask))low & below) | ((NAME(mask))x & ~below));
  return (VECTOR)(((NAME(mask))high & above) | ((NAME(mask))x & ~above));
}

/* rows and vectors are constants after inlining. */
static inline __attribute__((always_inline)) TARGET void
NAME(tile_of)(const struct NAME(tile) * t, const int rows, const int vectors) {
  const VECTOR zero = {0};
  const float *b = t->b;
  ptrdiff_t b_row = t->b_row, run, i;
#define BEGIN(r)                                      \
  const float *from##r = t->begin + r * t->begin_row; \
  VECTOR x##r = rows > r ? FROM(from##r) : zero;      \
  VECTOR y##r = rows > r && vectors > 1 ? FROM(from##r + LANES) : zero;
  EACH_ROW(BEGIN)
#undef BEGIN
  if (t->bias) {
    VECTOR b0 = FROM(t->bias), b1 = vectors > 1 ? FROM(t->bias + LANES) : zero;
#define ADD(r)    \
  if (rows > r) { \
    x##r += b0;   \
    y##r += b1;   \
  }
    EACH_ROW(ADD)
#undef ADD
  }
  for (run = 0; run < t->count; run++) {
    const float *a = t->runs[run].a;
    ptrdiff_t step = t->runs[run].step;
#pragma GCC unroll 4
    for (i = 0; i < t->length; i++) {
      VECTOR b0 = FROM(b), b1 = vectors > 1 ? FROM(b + LANES) : zero;
      b += b_row;
#define ADD(r)                      \
  if (rows > r) {                   \
    x##r += a[r * step + i] * b0;   \
    if (vectors > 1)                \
      y##r += a[r * step + i] * b1; \
  }
      EACH_ROW(ADD)
#undef ADD
    }
  }
  if (t->limits) {
    const VECTOR low = zero + t->limits[0], high = zero + t->limits[1];
#define LIMIT(r)                           \
  if (rows > r) {                          \
    x##r = NAME(limit)(x##r, low, high);   \
    if (vectors > 1)                       \
      y##r = NAME(limit)(y##r, low, high); \
  }
    EACH_ROW(LIMIT)
#undef LIMIT
  }
#define END(r)                                    \
  if (rows > r) {                                 \
    AT(t->out + r * t->out_row) = x##r;           \
    if (vectors > 1)                              \
      AT(t->out + r * t->out_row + LANES) = y##r; \
  }
  EACH_ROW(END)
#undef END
}

static TARGET __attribute__((noinline)) void
NAME(wide_tile)(const struct NAME(tile) * t, ptrdiff_t rows) {
  switch (rows) {
#define CASE(r)                                      \
  case r + 1:                                        \
    if (r < MAX_ROWS)                                \
      NAME(tile_of)(t, r < MAX_ROWS ? r + 1 : 1, 2); \
    break;
    EACH_ROW(CASE)
#undef CASE
  }
}

static TARGET __attribute__((noinline)) void
NAME(narrow_tile)(const struct NAME(tile) * t, ptrdiff_t rows) {
  switch (rows) {
#define CASE(r)                                      \
  case r + 1:                                        \
    if (r < MAX_ROWS)                                \
      NAME(tile_of)(t, r < MAX_ROWS ? r + 1 : 1, 1); \
    break;
    EACH_ROW(CASE)
#undef CASE
  }
}

/* Columns from n on of row k of b, as floats. */
static inline TARGET void NAME(widen_row)(const struct gemm *g, ptrdiff_t k,
                                          ptrdiff_t n, ptrdiff_t columns,
                                          float *to) {
  widen(&g->narrow, g->narrow_first + k * g->b_row + n, g->narrow_out + n,
        columns, to);
}

static TARGET void NAME(pack_narrow)(const struct gemm *g, ptrdiff_t k,
                                     ptrdiff_t count, ptrdiff_t n,
                                     ptrdiff_t columns, ptrdiff_t width,
                                     float *to) {
  ptrdiff_t i, c;
  for (i = 0; i < count; i++, to += width) {
    NAME(widen_row)(g, k + i, n, columns, to);
    for (c = columns; c < width; c++)
      to[c] = 0;
  }
}

/* Packs columns from n on of `count` rows of b, with zeros
 * after the last column. */
static TARGET void NAME(pack)(const struct gemm *g, ptrdiff_t k,
                              ptrdiff_t count, ptrdiff_t n, ptrdiff_t columns,
                              ptrdiff_t width, float *to) {
  const float *from;
  ptrdiff_t row = g->b_row, i, c;
  if (g->narrow.at) {
    NAME(pack_narrow)(g, k, count, n, columns, width, to);
    return;
  }
  from = g->panels ? in_panel(g, k, n, &row) : g->b + k * row + n * g->b_step;
  if (g->b_step == 1) {
    for (i = 0; i < count; i++, from += row, to += width) {
      /* Rows are too far apart for the hardware prefetcher. */
      for (c = 0; c < columns && i + 12 < count; c += 16)
        __builtin_prefetch(from + 12 * row + c);
      for (c = 0; c < columns; c++)
        to[c] = from[c];
      for (; c < width; c++)
        to[c] = 0;
    }
    return;
  }
  for (c = 0; c < width; c++)
    for (i = 0; i < count; i++)
      to[i * width + c] = c < columns ? from[c * g->b_step + i * row] : 0;
}

/* A panel for rows [from, to): packed, or b itself if b is not NULL. */
struct NAME(panel) {
  ptrdiff_t tap, taps, first, count; /* first: of the values of each tap */
  ptrdiff_t n, columns, width;
  const float *b;
  ptrdiff_t b_row;
  int begins, ends;
};

/* Computes a tile; an incomplete one goes through a temporary tile. */
static TARGET void NAME(run_tile)(const struct NAME(panel) * p,
                                  struct NAME(tile) * t, ptrdiff_t rows) {
  float whole[MAX_ROWS * 2 * LANES], *out = t->out;
  ptrdiff_t out_row = t->out_row, r, c;
  int partial = p->columns < p->width;
  if (partial) {
    t->out = whole;
    t->out_row = p->width;
    for (r = 0; r < rows && t->gathered; r++)
      for (c = 0; c < p->columns; c++)
        whole[r * p->width + c] = t->begin[r * t->begin_row + c];
    if (t->gathered) {
      t->begin = whole;
      t->begin_row = p->width;
    }
  }
  if (p->width > LANES)
    NAME(wide_tile)(t, rows);
  else
    NAME(narrow_tile)(t, rows);
  if (!partial)
    return;
  for (r = 0; r < rows; r++)
    for (c = 0; c < p->columns; c++)
      out[r * out_row + c] = whole[r * p->width + c];
  t->out = out;
  t->out_row = out_row;
}

/* Initial values of rows from m on: the output itself, except
 * in the first part. */
static TARGET void NAME(begin_tile)(const struct gemm *g,
                                    const struct NAME(panel) * p,
                                    struct NAME(tile) * t, ptrdiff_t m,
                                    const float *bias) {
  t->begin = bias;
  t->begin_row = 0;
  t->gathered = !p->begins || g->skip;
  if (!p->begins) {
    t->begin = t->out;
    t->begin_row = g->out_row;
  } else if (g->skip) {
    t->begin = g->skip + m * g->skip_row + p->n;
    t->begin_row = g->skip_row;
  }
}

static TARGET void NAME(run_panel)(const struct gemm *g,
                                   const struct NAME(panel) * p, ptrdiff_t from,
                                   ptrdiff_t to) {
  float scratch[MAX_ROWS * GEMM_DEPTH], begin[2 * LANES] = {0};
  struct gemm_rows runs[GEMM_DEPTH];
  struct NAME(tile) t;
  ptrdiff_t m = from, i;
  for (i = 0; g->bias && i < p->columns; i++)
    begin[i] = g->bias[p->n + i];
  t.runs = runs;
  t.count = p->taps;
  t.length = p->count;
  t.b = p->b;
  t.b_row = p->b_row;
  t.out_row = g->out_row;
  t.bias = p->begins && g->skip ? begin : NULL;
  t.limits = p->ends ? g->after.limits : NULL;
  while (m < to) {
    /* In equal steps to the end of the line. */
    ptrdiff_t left = least(to, (m / g->line + 1) * g->line) - m;
    ptrdiff_t tiles = (left + MAX_ROWS - 1) / MAX_ROWS;
    ptrdiff_t rows = (left + tiles - 1) / tiles;
    for (i = 0; i < p->taps; i++) {
      if (g->rows) {
        runs[i] = g->rows(g, m, rows, p->tap + i, p->first, p->count,
                          scratch + i * rows * p->count);
        continue;
      }
      runs[i].a = g->a + m * g->a_row + p->first;
      runs[i].step = g->a_row;
    }
    t.out = g->out + m * g->out_row + p->n;
    NAME(begin_tile)(g, p, &t, m, begin);
    NAME(run_tile)(p, &t, rows);
    m += rows;
  }
}

/*
 * One row is limited by reading b from memory. It is read in order, four rows
 * at a time, for as many columns as stay in the cache.
 */
static TARGET void NAME(row_by_rows)(const struct gemm *g, const float *a,
                                     float *out) {
  ptrdiff_t block, n, k;
  for (block = 0; block < g->n; block += 2048) {
    ptrdiff_t end = least(block + 2048, g->n);
    for (n = block; n < end; n++)
      out[n] = (g->skip ? g->skip[n] : 0) + (g->bias ? g->bias[n] : 0);
    for (k = 0; k + 4 <= g->ins; k += 4) {
      const float *b = g->b + k * g->b_row;
      float a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3];
      for (n = block; n + LANES <= end; n += LANES)
        AT(out + n) += a0 * FROM(b + n) + a1 * FROM(b + g->b_row + n) +
                       a2 * FROM(b + 2 * g->b_row + n) +
                       a3 * FROM(b + 3 * g->b_row + n);
      for (; n < end; n++)
        out[n] += a0 * b[n] + a1 * b[g->b_row + n] + a2 * b[2 * g->b_row + n] +
                  a3 * b[3 * g->b_row + n];
    }
    for (; k < g->ins; k++)
      for (n = block; n < end; n++)
        out[n] += a[k] * g->b[k * g->b_row + n];
    if (g->after.function)
      g->after.function(out + block, out + block, end - block, g->after.p);
  }
}

/* The same for panels: `panels` at a time, for as many streams from memory. */
static inline __attribute__((always_inline)) TARGET void
NAME(add_panels)(const struct gemm *g, const float *a, ptrdiff_t n,
                 const int panels, float *out) {
  enum { VECTORS = NETRT_PANEL / LANES };
  VECTOR sums[PANELS_AT_ONCE][VECTORS];
  const float *b = g->b + n * g->ins;
  ptrdiff_t k;
  int p, v;
  for (p = 0; p < panels; p++)
    for (v = 0; v < VECTORS; v++)
      sums[p][v] = FROM(out + n + p * NETRT_PANEL + v * LANES);
  for (k = 0; k + 4 <= g->ins; k += 4, b += 4 * NETRT_PANEL)
    for (p = 0; p < panels; p++)
      for (v = 0; v < VECTORS; v++) {
        const float *at = b + p * NETRT_PANEL * g->ins + v * LANES;
        sums[p][v] += a[k] * FROM(at) + a[k + 1] * FROM(at + NETRT_PANEL) +
                      a[k + 2] * FROM(at + 2 * NETRT_PANEL) +
                      a[k + 3] * FROM(at + 3 * NETRT_PANEL);
      }
  for (; k < g->ins; k++, b += NETRT_PANEL)
    for (p = 0; p < panels; p++)
      for (v = 0; v < VECTORS; v++)
        sums[p][v] += a[k] * FROM(b + p * NETRT_PANEL * g->ins + v * LANES);
  for (p = 0; p < panels; p++)
    for (v = 0; v < VECTORS; v++)
      AT(out + n + p * NETRT_PANEL + v * LANES) = sums[p][v];
}

/* The last, incomplete panel. */
static TARGET void NAME(add_last_panel)(const struct gemm *g, const float *a,
                                        ptrdiff_t n, float *out) {
  ptrdiff_t row = g->n - n, k, i;
  const float *b = g->b + n * g->ins;
  out += n;
  for (k = 0; k + 4 <= g->ins; k += 4, b += 4 * row) {
    for (i = 0; i + LANES <= row; i += LANES)
      AT(out + i) += a[k] * FROM(b + i) + a[k + 1] * FROM(b + row + i) +
                     a[k + 2] * FROM(b + 2 * row + i) +
                     a[k + 3] * FROM(b + 3 * row + i);
    for (; i < row; i++)
      out[i] += a[k] * b[i] + a[k + 1] * b[row + i] +
                a[k + 2] * b[2 * row + i] + a[k + 3] * b[3 * row + i];
  }
  for (; k < g->ins; k++, b += row)
    for (i = 0; i < row; i++)
      out[i] += a[k] * b[i];
}

static TARGET void NAME(row_by_panels)(const struct gemm *g, const float *a,
                                       float *out) {
  enum { AT_ONCE = PANELS_AT_ONCE * NETRT_PANEL };
  ptrdiff_t n;
  for (n = 0; n < g->n; n++)
    out[n] = (g->skip ? g->skip[n] : 0) + (g->bias ? g->bias[n] : 0);
  for (n = 0; n + AT_ONCE <= g->n; n += AT_ONCE)
    NAME(add_panels)(g, a, n, PANELS_AT_ONCE, out);
  for (; n + NETRT_PANEL <= g->n; n += NETRT_PANEL)
    NAME(add_panels)(g, a, n, 1, out);
  if (n < g->n)
    NAME(add_last_panel)(g, a, n, out);
  if (g->after.function)
    g->after.function(out, out, g->n, g->after.p);
}

/* The same for narrow rows, in the same order of summation. */
static TARGET void NAME(row_by_narrow_rows)(const struct gemm *g,
                                            const float *a, float *out) {
  enum { COLUMNS = 512 };
  float rows[4][COLUMNS];
  ptrdiff_t block, n, k, i;
  for (block = 0; block < g->n; block += COLUMNS) {
    ptrdiff_t columns = least(COLUMNS, g->n - block);
    float *to = out + block;
    for (n = block; n < block + columns; n++)
      out[n] = (g->skip ? g->skip[n] : 0) + (g->bias ? g->bias[n] : 0);
    for (k = 0; k + 4 <= g->ins; k += 4) {
      float a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3];
      for (i = 0; i < 4; i++)
        NAME(widen_row)(g, k + i, block, columns, rows[i]);
      for (n = 0; n + LANES <= columns; n += LANES)
        AT(to + n) += a0 * FROM(rows[0] + n) + a1 * FROM(rows[1] + n) +
                      a2 * FROM(rows[2] + n) + a3 * FROM(rows[3] + n);
      for (; n < columns; n++)
        to[n] += a0 * rows[0][n] + a1 * rows[1][n] + a2 * rows[2][n] +
                 a3 * rows[3][n];
    }
    for (; k < g->ins; k++) {
      NAME(widen_row)(g, k, block, columns, rows[0]);
      for (n = 0; n < columns; n++)
        to[n] += a[k] * rows[0][n];
    }
    if (g->after.function)
      g->after.function(to, to, columns, g->after.p);
  }
}

/* One row times contiguous columns of b: tied to an embedding. */
static TARGET void NAME(row_by_columns)(const struct gemm *g, const float *a,
                                        float *out) {
  ptrdiff_t n, k;
  for (n = 0; n < g->n; n++) {
    const float *b = g->b + n * g->b_step;
    VECTOR x = {0}, y = {0};
    float sum = (g->skip ? g->skip[n] : 0) + (g->bias ? g->bias[n] : 0);
    for (k = 0; k + 2 * LANES <= g->ins; k += 2 * LANES) {
      x += FROM(a + k) * FROM(b + k);
      y += FROM(a + k + LANES) * FROM(b + k + LANES);
    }
    x += y;
    for (; k < g->ins; k++)
      sum += a[k] * b[k];
    for (k = 0; k < LANES; k++)
      sum += x[k];
    out[n] = sum;
  }
  if (g->after.function)
    g->after.function(out, out, g->n, g->after.p);
}

/* Finds b: packed, or in place if there are too few rows for packing to pay, or
 * if it is in panels. */
static TARGET void NAME(find_b)(const struct gemm *g, struct NAME(panel) * p,
                                ptrdiff_t rows, float *packed) {
  ptrdiff_t k = p->tap * g->ins + p->first, i;
  int whole = p->columns == p->width;
  p->b = packed;
  p->b_row = p->width;
  if (whole && g->panels)
    p->b = in_panel(g, k, p->n, &p->b_row);
  else if (whole && rows <= MAX_ROWS / 2 && g->b_step == 1 && !g->tap_rows &&
           !g->narrow.at) {
    p->b = g->b + k * g->b_row + p->n;
    p->b_row = g->b_row;
  } else
    for (i = 0; i < p->taps; i++) {
      k = (g->tap_rows ? g->tap_rows[p->tap + i] : (p->tap + i) * g->ins);
      NAME(pack)
      (g, k + p->first, p->count, p->n, p->columns, p->width,
       packed + i * p->count * p->width);
    }
}

static TARGET void NAME(gemm_block)(const struct gemm *g, ptrdiff_t from,
                                    ptrdiff_t to) {
  float packed[GEMM_DEPTH * 2 * LANES];
  ptrdiff_t pieces = (g->ins + GEMM_DEPTH - 1) / GEMM_DEPTH;
  ptrdiff_t piece = (g->ins + pieces - 1) / pieces;
  /* Several taps at a time, in groups of equal size. */
  ptrdiff_t fit = pieces > 1 ? 1 : GEMM_DEPTH / piece;
  ptrdiff_t chunks = (g->taps + fit - 1) / fit;
  ptrdiff_t taps = (g->taps + chunks - 1) / chunks;
  struct NAME(panel) p;
  for (p.n = 0; p.n < g->n; p.n += p.columns) {
    p.columns = least(g->n - p.n, 2 * LANES);
    p.width = p.columns > LANES ? 2 * LANES : LANES;
    for (p.tap = 0; p.tap < g->taps; p.tap += p.taps) {
      p.taps = least(taps, g->taps - p.tap);
      for (p.first = 0; p.first < g->ins; p.first += p.count) {
        p.count = least(piece, g->ins - p.first);
        p.begins = p.tap == 0 && p.first == 0;
        p.ends = p.tap + p.taps == g->taps && p.first + p.count == g->ins;
        NAME(find_b)(g, &p, to - from, packed);
        NAME(run_panel)(g, &p, from, to);
      }
    }
  }
}

/* Applies the next function to rows [from, to) in the cache. */
static void NAME(finish_block)(const struct gemm *g, ptrdiff_t from,
                               ptrdiff_t to) {
  float *out = g->out + from * g->out_row;
  if (g->out_row == g->n) {
    g->after.function(out, out, (to - from) * g->n, g->after.p);
    return;
  }
  for (; from < to; from++, out += g->out_row)
    g->after.function(out, out, g->n, g->after.p);
}

/* Blocks of rows that stay in the cache while b is read. */
static TARGET void NAME(gemm_part)(const struct gemm *g, ptrdiff_t from,
                                   ptrdiff_t to) {
  ptrdiff_t rows = BLOCK_VALUES / least(g->ins, GEMM_DEPTH), end;
  int finish = g->after.function && !g->after.limits;
  if (g->m == 1 && g->taps == 1 && !g->rows && g->b_step == 1) {
    if (g->narrow.at)
      NAME(row_by_narrow_rows)(g, g->a, g->out);
    else if (g->panels)
      NAME(row_by_panels)(g, g->a, g->out);
    else
      NAME(row_by_rows)(g, g->a, g->out);
    return;
  }
  if (g->m == 1 && g->taps == 1 && !g->rows && g->b_row == 1) {
    NAME(row_by_columns)(g, g->a, g->out);
    return;
  }
  if (finish)
    rows = least(rows, most(BLOCK_VALUES / g->n, NEAR_ROWS));
  if (rows >= g->line)
    rows -= rows % g->line;
  for (; from < to; from = end) {
    /* No block is too small for packing b to pay. */
    end = to - from < 2 * rows ? to : from + rows;
    if (rows >= g->line && end < to)
      end -= end % g->line;
    NAME(gemm_block)(g, from, end);
    if (finish)
      NAME(finish_block)(g, from, end);
  }
}

#undef EACH_ROW
#undef AT
#undef FROM
#undef VECTOR
#undef MAX_ROWS
