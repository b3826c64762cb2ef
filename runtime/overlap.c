/*
 * Windows whose output overlaps their input run row by row, so that a row is
 * written after its bytes have been read for the last time. Rows run from the
 * first if the output starts before the input, else from the last.
 */
#include "kernel.h"

static const unsigned char *begin_of(const struct kernel_map *map) {
  const void *begin = map->data;
  return map->data ? begin : (const unsigned char *)map->small;
}

static ptrdiff_t bytes_of(const struct kernel_map *map, ptrdiff_t values) {
  return map->data ? values * (ptrdiff_t)sizeof *map->data : values;
}

/* The end of a map. */
static const unsigned char *end_of(const struct kernel_map *map) {
  ptrdiff_t values = 1;
  int i;
  for (i = 0; i < 5; i++)
    values += (map->size[i] - 1) * map->stride[i];
  return begin_of(map) + bytes_of(map, values);
}

/* Advances a map by `values`. */
static void go(struct kernel_map *map, ptrdiff_t values) {
  if (map->data)
    map->data += values;
  else
    map->small += values;
}

int netrt_overlap(const struct kernel_rows *rows) {
  const struct kernel_map *out = rows->out, *in = rows->in;
  if (begin_of(out) >= end_of(in) || begin_of(in) >= end_of(out))
    return 0;
  return begin_of(out) < begin_of(in) ? 1 : -1;
}

/* State of a run by rows. */
struct rows_run {
  const struct kernel_rows *rows;
  int way, axis;
  const unsigned char *begin, *end; /* of the whole input */
};

#ifdef NETRT_CHECK
/* FNV-1a of the input that row `at` and later rows may read. */
static uint64_t sum_of_live(const struct rows_run *r, ptrdiff_t at) {
  const struct kernel_map *in = r->rows->in;
  const struct kernel_window *w = r->rows->window;
  int axis = r->axis;
  ptrdiff_t first = at * w->stride[axis - 1] - w->before[axis - 1];
  ptrdiff_t last = first + (w->kernel[axis - 1] - 1) * w->dilation[axis - 1];
  ptrdiff_t from = most(0, least(first, in->size[axis]));
  ptrdiff_t to = most(0, least(last + 1, in->size[axis]));
  const unsigned char *byte = r->begin, *end = r->end;
  uint64_t sum = UINT64_C(14695981039346656037);
  if (r->way > 0)
    byte = begin_of(in) + bytes_of(in, from * in->stride[axis]);
  else
    end = begin_of(in) + bytes_of(in, to * in->stride[axis]);
  for (; byte < end; byte++)
    sum = (sum ^ *byte) * UINT64_C(1099511628211);
  return sum;
}
#endif

/* Computes row `at` of a sample. */
static int make_row(const struct rows_run *r, ptrdiff_t at) {
  struct kernel_map *out = r->rows->out;
  ptrdiff_t *before = &r->rows->window->before[r->axis - 1];
  ptrdiff_t by = at * r->rows->window->stride[r->axis - 1];
  int status;
#ifdef NETRT_CHECK
  uint64_t sum = sum_of_live(r, at);
#endif
  go(out, at * out->stride[r->axis]);
  *before -= by;
  status = r->rows->make(r->rows->user);
  *before += by;
#ifdef NETRT_CHECK
  if (status == NETRT_OK && sum != sum_of_live(r, at))
    return NETRT_STRAY_WRITE;
#endif
  return status;
}

int netrt_by_rows(const struct kernel_rows *rows) {
  struct kernel_map *out = rows->out, *in = rows->in;
  struct rows_run r;
  const struct kernel_map to = *out, from = *in;
  ptrdiff_t lines, all, i;
  int status = NETRT_OK;
  r.rows = rows;
  r.way = netrt_overlap(rows);
  if (!r.way)
    return rows->make(rows->user);
  for (r.axis = 1; r.axis < 3 && out->size[r.axis] == 1; r.axis++)
    ; /* the first axis with several rows */
  r.begin = begin_of(in);
  r.end = end_of(in);
  lines = out->size[r.axis];
  all = lines * out->size[0];
  out->size[r.axis] = out->size[0] = in->size[0] = 1;
  for (i = 0; i < all && status == NETRT_OK; i++) {
    ptrdiff_t at = r.way > 0 ? i : all - 1 - i;
    out->data = to.data;
    out->small = to.small;
    in->data = from.data;
    in->small = from.small;
    go(out, at / lines * out->stride[0]);
    go(in, at / lines * in->stride[0]);
    status = make_row(&r, at % lines);
  }
  return status;
}
