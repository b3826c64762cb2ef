/* copy, concat, pad, roll, embed, gather, last: moves of values. */
#include "distance.h"
#include "kernel.h"

#include <string.h>

/* Rows of two axes, since shuffles have very short rows. */
struct plane {
  ptrdiff_t rows, out_row, in_row, length, out_step, in_step;
};

static void copy_words(const struct plane *p, uint32_t *out,
                       const uint32_t *in) {
  ptrdiff_t r, k;
  for (r = 0; r < p->rows; r++, out += p->out_row, in += p->in_row)
    if (p->out_step == 1 && p->in_step == 1)
      memcpy(out, in, (size_t)p->length * sizeof *out);
    else
      for (k = 0; k < p->length; k++)
        out[k * p->out_step] = in[k * p->in_step];
}

static void copy_bytes(const struct plane *p, int8_t *out, const int8_t *in) {
  ptrdiff_t r, k;
  for (r = 0; r < p->rows; r++, out += p->out_row, in += p->in_row)
    for (k = 0; k < p->length; k++)
      out[k * p->out_step] = in[k * p->in_step];
}

static void copy_doubles(const struct plane *p, uint64_t *out,
                         const uint64_t *in) {
  ptrdiff_t r, k;
  for (r = 0; r < p->rows; r++, out += p->out_row, in += p->in_row)
    for (k = 0; k < p->length; k++)
      out[k * p->out_step] = in[k * p->in_step];
}

/* Copies a view of any type to one of equal sizes. */
static void copy_view(const struct netrt_view *out,
                      const struct netrt_view *in) {
  struct netrt_view views[2];
  struct kernel_walk walk;
  struct plane p = {1, 0, 0, 1, 0, 0};
  ptrdiff_t each = (ptrdiff_t)netrt_type_bytes(out->type);
  views[0] = *out;
  views[1] = *in;
  netrt_walk_open(&walk, views, 2);
  p.length = walk.length;
  p.out_step = walk.step[0];
  p.in_step = walk.step[1];
  if (walk.rank > 0) {
    walk.rank--;
    p.rows = walk.size[walk.rank];
    p.out_row = walk.stride[0][walk.rank];
    p.in_row = walk.stride[1][walk.rank];
  }
  do {
    void *to = out->data + walk.offset[0] * each;
    const void *from = in->data + walk.offset[1] * each;
    if (each == 4)
      copy_words(&p, to, from);
    else if (each == 1)
      copy_bytes(&p, to, from);
    else
      copy_doubles(&p, to, from);
  } while (netrt_walk_next(&walk));
}

static int netrt_reference_copy(const struct netrt *net,
                                const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  copy_view(&out, &in);
  return NETRT_OK;
}

KERNEL(copy);

static int netrt_reference_concat(const struct netrt *net,
                                  const struct netrt_op *op) {
  int axis = netrt_args(net, op)[0];
  struct netrt_view out = netrt_out(net, op);
  uint32_t i;
  for (i = 0; i < op->ins; i++) {
    struct netrt_view in = netrt_in(net, op, i);
    out.size = in.size;
    copy_view(&out, &in);
    out.data += (size_t)in.size[axis] * (size_t)out.stride[axis] *
                netrt_type_bytes(out.type);
  }
  return NETRT_OK;
}

KERNEL(concat);

/* Source index of index `at`; -1: zero. */
static ptrdiff_t mirrored(ptrdiff_t at, ptrdiff_t size, int mode) {
  if (at >= 0 && at < size)
    return at;
  if (mode == 0)
    return -1;
  if (mode == 2 || size == 1)
    return at < 0 ? 0 : size - 1;
  at %= 2 * (size - 1); /* the border is not repeated */
  if (at < 0)
    at += 2 * (size - 1);
  return at < size ? at : 2 * (size - 1) - at;
}

/* Maps with at most one source position for each position. */
struct moving {
  struct kernel_map out, in;
  ptrdiff_t shift[3]; /* padding before, or distance of the roll */
  int mode;           /* 0 to 2 as in pad; 3: circular */
};

static ptrdiff_t comes_from(const struct moving *m, int axis, ptrdiff_t at) {
  ptrdiff_t size = m->in.size[axis + 1];
  at -= m->shift[axis];
  if (m->mode < 3)
    return mirrored(at, size, m->mode);
  at %= size;
  return at < 0 ? at + size : at;
}

static void move_position(const struct moving *m, ptrdiff_t batch,
                          const ptrdiff_t at[3]) {
  float *out = m->out.data + batch * m->out.stride[0];
  const float *in = m->in.data + batch * m->in.stride[0];
  ptrdiff_t c, to = m->out.stride[4], step = m->in.stride[4];
  int i, inside = 1;
  for (i = 0; i < 3; i++) {
    ptrdiff_t from = comes_from(m, i, at[i]);
    out += at[i] * m->out.stride[i + 1];
    inside = inside && from >= 0;
    in += inside ? from * m->in.stride[i + 1] : 0;
  }
  if (inside && to == 1 && step == 1)
    memcpy(out, in, (size_t)m->out.size[4] * sizeof *out);
  else
    for (c = 0; c < m->out.size[4]; c++)
      out[c * to] = inside ? in[c * step] : 0;
}

static int move_map(const struct netrt *net, const struct netrt_op *op,
                    int mode, const int32_t *shift) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct moving m;
  ptrdiff_t batch, at[3];
  int i, missing = 5 - out.rank;
  m.out = netrt_map_of(&out);
  m.in = netrt_map_of(&in);
  m.mode = mode;
  for (i = 0; i < 3; i++)
    m.shift[i] = i >= missing ? shift[i - missing] : 0;
  for (batch = 0; batch < m.out.size[0]; batch++)
    for (at[0] = 0; at[0] < m.out.size[1]; at[0]++)
      for (at[1] = 0; at[1] < m.out.size[2]; at[1]++)
        for (at[2] = 0; at[2] < m.out.size[3]; at[2]++)
          move_position(&m, batch, at);
  return NETRT_OK;
}

static int netrt_reference_pad(const struct netrt *net,
                               const struct netrt_op *op) {
  const int32_t *args = netrt_args(net, op);
  return move_map(net, op, args[0], args + 1);
}

static int netrt_reference_roll(const struct netrt *net,
                                const struct netrt_op *op) {
  return move_map(net, op, 3, netrt_args(net, op));
}

KERNEL(pad);
KERNEL(roll);

static int64_t index_at(const struct netrt_view *view, ptrdiff_t at) {
  if (view->type == NETRT_I64)
    return ((const int64_t *)(const void *)view->data)[at];
  return ((const int32_t *)(const void *)view->data)[at];
}

static int netrt_reference_embed(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), views[2];
  struct netrt_view table = netrt_in(net, op, 1);
  struct kernel_walk walk;
  ptrdiff_t c, rows = rows_of(&table, 1);
  views[0] = netrt_in(net, op, 0);
  views[1] = out;
  views[1].rank--; /* both have the indices' sizes */
  netrt_walk_open_outer(&walk, views, 2, 0);
  do {
    int64_t row = index_at(&views[0], walk.offset[0]);
    const float *from;
    float *to = netrt_floats(&out) + walk.offset[1];
    if (row < 0 || row >= rows)
      return NETRT_BAD_INDEX;
    from = netrt_floats(&table) + row_at(&table, 1, (ptrdiff_t)row);
    for (c = 0; c < size_back(&table, 0); c++)
      to[c * stride_back(&out, 0)] = from[c * stride_back(&table, 0)];
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(embed);

/* A view without its first two axes. */
static struct netrt_view row_of(struct netrt_view view) {
  view.size += 2;
  view.stride += 2;
  view.rank -= 2;
  return view;
}

static int netrt_reference_gather(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct netrt_view which = netrt_in(net, op, 1), views[2];
  ptrdiff_t n, i;
  views[0] = row_of(out);
  views[1] = row_of(in);
  for (n = 0; n < out.size[0]; n++)
    for (i = 0; i < out.size[1]; i++) {
      int64_t row = index_at(&which, n * which.stride[0] + i * which.stride[1]);
      struct kernel_walk walk;
      float *to = netrt_floats(&out) + n * out.stride[0] + i * out.stride[1];
      const float *from = netrt_floats(&in) + n * in.stride[0];
      if (row < 0 || row >= in.size[1])
        return NETRT_BAD_INDEX;
      from += (ptrdiff_t)row * in.stride[1];
      netrt_walk_open_outer(&walk, views, 2, 0);
      do
        to[walk.offset[0]] = from[walk.offset[1]];
      while (netrt_walk_next(&walk));
    }
  return NETRT_OK;
}

KERNEL(gather);

static int netrt_reference_distances(const struct netrt *net,
                                     const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op);
  int64_t *to = (int64_t *)(void *)out.data;
  ptrdiff_t n, q, k;
  for (n = 0; n < out.size[0]; n++)
    for (q = 0; q < out.size[1]; q++)
      for (k = 0; k < out.size[2]; k++)
        to[n * out.stride[0] + q * out.stride[1] + k * out.stride[2]] =
            netrt_distance(netrt_args(net, op), q, k);
  return NETRT_OK;
}

KERNEL(distances);

/* The first direction ends at the last step, the second one at the first. */
static int netrt_reference_last(const struct netrt *net,
                                const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  ptrdiff_t ways = netrt_args(net, op)[0], units = out.size[1] / ways;
  ptrdiff_t batch, c;
  for (batch = 0; batch < out.size[0]; batch++)
    for (c = 0; c < out.size[1]; c++) {
      ptrdiff_t step = c < units ? in.size[1] - 1 : 0;
      netrt_floats(&out)[batch * out.stride[0] + c * out.stride[1]] =
          netrt_floats(&in)[batch * in.stride[0] + step * in.stride[1] +
                            c * in.stride[2]];
    }
  return NETRT_OK;
}

KERNEL(last);
