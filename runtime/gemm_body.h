/*
 * gemm for one instruction set. NAME(id) names functions, TARGET is their
 * attribute, LANES the values of a vector, MAX_ROWS the rows of a tile. A tile
 * is rows x two vectors of the output, which stay in registers while it goes
 * down the columns of b.
 */
typedef float NAME(vector) __attribute__((vector_size(LANES * 4), aligned(4)));
#define VECTOR NAME(vector)

struct NAME(tile) {
  const struct gemm_rows *runs; /* where a's rows are */
  ptrdiff_t count, length;      /* of runs; values of each */
  const float *b;               /* packed, or as it is */
  ptrdiff_t b_row;
  float *out;
  ptrdiff_t out_row;
  const float *bias;
  ptrdiff_t columns; /* that are written */
  int first;         /* the output is begun, with the bias */
};

#define EACH_ROW(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)

static inline __attribute__((always_inline)) TARGET VECTOR
NAME(get)(const float *from, ptrdiff_t count) {
  VECTOR v = {0};
  ptrdiff_t i;
  if (count >= LANES)
    return *(const VECTOR *)(const void *)from;
  for (i = 0; i < count; i++)
    v[i] = from[i];
  return v;
}

static inline __attribute__((always_inline)) TARGET void
NAME(put)(float *to, VECTOR v, ptrdiff_t count) {
  ptrdiff_t i;
  if (count >= LANES)
    *(VECTOR *)(void *)to = v;
  else
    for (i = 0; i < count; i++)
      to[i] = v[i];
}

/* rows and vectors are constants where this is inlined. */
static inline __attribute__((always_inline)) TARGET void
NAME(tile_of)(const struct NAME(tile) * t, const int rows, const int vectors) {
  const VECTOR zero = {0};
  const float *b = t->b;
  ptrdiff_t second = t->columns - LANES, b_row = t->b_row, run, i;
  VECTOR b0, b1 = zero;
#define DECLARE(r) VECTOR x##r = zero, y##r = zero;
  EACH_ROW(DECLARE)
#undef DECLARE
  if (t->first && t->bias) {
    b0 = NAME(get)(t->bias, t->columns);
    if (vectors > 1)
      b1 = NAME(get)(t->bias + LANES, second);
#define BEGIN(r) x##r = b0, y##r = b1;
    EACH_ROW(BEGIN)
#undef BEGIN
  }
  if (!t->first) {
#define RESUME(r)                                               \
  if (rows > r) {                                               \
    const float *out = t->out + r * t->out_row;                 \
    x##r = NAME(get)(out, t->columns);                          \
    y##r = vectors > 1 ? NAME(get)(out + LANES, second) : zero; \
  }
    EACH_ROW(RESUME)
#undef RESUME
  }
  for (run = 0; run < t->count; run++) {
    const float *a = t->runs[run].a;
    ptrdiff_t step = t->runs[run].step;
#pragma GCC unroll 4
    for (i = 0; i < t->length; i++) {
      b0 = *(const VECTOR *)(const void *)b;
      if (vectors > 1)
        b1 = *(const VECTOR *)(const void *)(b + LANES);
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
#define END(r)                              \
  if (rows > r) {                           \
    float *out = t->out + r * t->out_row;   \
    NAME(put)(out, x##r, t->columns);       \
    if (vectors > 1)                        \
      NAME(put)(out + LANES, y##r, second); \
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

/* Columns n.. of `count` rows of b from k on, zeros beyond the last one. */
static TARGET void NAME(pack)(const struct gemm *g, ptrdiff_t k,
                              ptrdiff_t count, ptrdiff_t n, ptrdiff_t columns,
                              ptrdiff_t width, float *to) {
  const float *from = g->b + k * g->b_row + n * g->b_step;
  ptrdiff_t i, c;
  if (g->b_step == 1) {
    for (i = 0; i < count; i++, from += g->b_row, to += width) {
      for (c = 0; c < columns; c++)
        to[c] = from[c];
      for (; c < width; c++)
        to[c] = 0;
    }
    return;
  }
  for (c = 0; c < width; c++)
    for (i = 0; i < count; i++)
      to[i * width + c] = c < columns ? from[c * g->b_step + i * g->b_row] : 0;
}

/* Rows [from, to) with what is packed, or with b itself if b is not NULL. */
struct NAME(panel) {
  ptrdiff_t tap, taps, first, count; /* values first.. of each of the taps */
  ptrdiff_t n, columns, width;
  const float *b;
  ptrdiff_t b_row;
  int begins;
};

static TARGET void NAME(run_panel)(const struct gemm *g,
                                   const struct NAME(panel) * p, ptrdiff_t from,
                                   ptrdiff_t to) {
  float scratch[MAX_ROWS * GEMM_DEPTH];
  struct gemm_rows runs[GEMM_DEPTH];
  struct NAME(tile) t;
  ptrdiff_t m = from, i;
  t.runs = runs;
  t.count = p->taps;
  t.length = p->count;
  t.b = p->b;
  t.b_row = p->b_row;
  t.out_row = g->out_row;
  t.bias = g->bias ? g->bias + p->n : NULL;
  t.columns = p->columns;
  t.first = p->begins;
  while (m < to) {
    /* To the end of the line in equal steps. */
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
    if (p->width > LANES)
      NAME(wide_tile)(&t, rows);
    else
      NAME(narrow_tile)(&t, rows);
    m += rows;
  }
}

static TARGET void NAME(gemm_part)(const struct gemm *g, ptrdiff_t from,
                                   ptrdiff_t to) {
  float packed[GEMM_DEPTH * 2 * LANES];
  ptrdiff_t pieces = (g->ins + GEMM_DEPTH - 1) / GEMM_DEPTH;
  ptrdiff_t piece = (g->ins + pieces - 1) / pieces;
  /* Several taps at a time, as equal in number as can be. */
  ptrdiff_t fit = pieces > 1 ? 1 : GEMM_DEPTH / piece;
  ptrdiff_t chunks = (g->taps + fit - 1) / fit;
  ptrdiff_t taps = (g->taps + chunks - 1) / chunks, i;
  struct NAME(panel) p;
  for (p.n = 0; p.n < g->n; p.n += p.columns) {
    p.columns = least(g->n - p.n, 2 * LANES);
    p.width = p.columns > LANES ? 2 * LANES : LANES;
    for (p.tap = 0; p.tap < g->taps; p.tap += p.taps) {
      p.taps = least(taps, g->taps - p.tap);
      for (p.first = 0; p.first < g->ins; p.first += p.count) {
        p.count = least(piece, g->ins - p.first);
        p.begins = p.tap == 0 && p.first == 0;
        p.b = packed;
        p.b_row = p.width;
        if (to - from <= MAX_ROWS / 2 && g->b_step == 1 &&
            p.columns == p.width) {
          /* Packing would cost more than it gives. */
          p.b = g->b + (p.tap * g->ins + p.first) * g->b_row + p.n;
          p.b_row = g->b_row;
        } else
          for (i = 0; i < p.taps; i++)
            NAME(pack)
        (g, (p.tap + i) * g->ins + p.first, p.count, p.n, p.columns, p.width,
         packed + i * p.count * p.width);
        NAME(run_panel)(g, &p, from, to);
      }
    }
  }
}

#undef EACH_ROW
#undef VECTOR
