/* roialign, roipool: compute torchvision.ops. */
#include "kernel.h"

enum { MOST_POINTS = 1 << 12 }; /* maximum of a cell by axis */

struct rois {
  struct kernel_map in;
  struct netrt_view out, boxes;
  float scale;
  int samples, aligned;
};

/* A box on one axis: its start, and the size of a cell. */
struct roi_span {
  float start, cell;
  ptrdiff_t points;
};

/* Two positions of an axis and the weight of the second; 0: outside. */
static int between(float at, ptrdiff_t size, ptrdiff_t place[2], float *part) {
  if (!(at >= -1 && at <= (float)size))
    return 0;
  if (at < 0)
    at = 0;
  place[0] = (ptrdiff_t)at;
  if (place[0] >= size - 1) {
    place[0] = place[1] = size - 1;
    *part = 0;
  } else {
    place[1] = place[0] + 1;
    *part = at - (float)place[0];
  }
  return 1;
}

static float point(const struct kernel_map *in, const float *from, float h,
                   float w) {
  ptrdiff_t y[2], x[2];
  float down, right, sum = 0;
  int i, k;
  if (!between(h, in->size[2], y, &down) || !between(w, in->size[3], x, &right))
    return 0;
  for (i = 0; i < 2; i++)
    for (k = 0; k < 2; k++)
      sum += (i ? down : 1 - down) * (k ? right : 1 - right) *
             from[y[i] * in->stride[2] + x[k] * in->stride[3]];
  return sum;
}

static struct roi_span span_of(const struct rois *r, float from, float to,
                               ptrdiff_t cells) {
  struct roi_span s;
  float offset = r->aligned ? 0.5f : 0, length;
  s.start = from * r->scale - offset;
  length = to * r->scale - offset - s.start;
  if (!r->aligned && length < 1)
    length = 1;
  s.cell = length / (float)cells;
  s.points = r->samples;
  if (s.points == 0 && s.cell > 0) /* boxes may be anything, even NaN */
    s.points = (ptrdiff_t)ceilf(fminf(s.cell, MOST_POINTS));
  return s;
}

static float aligned_cell(const struct rois *r, const float *from,
                          const struct roi_span s[2], const ptrdiff_t at[2]) {
  ptrdiff_t i, k, count = most(s[0].points * s[1].points, 1);
  float sum = 0;
  for (i = 0; i < s[0].points; i++)
    for (k = 0; k < s[1].points; k++)
      sum += point(
          &r->in, from,
          s[0].start + ((float)at[0] + ((float)i + 0.5f) / (float)s[0].points) *
                           s[0].cell,
          s[1].start + ((float)at[1] + ((float)k + 0.5f) / (float)s[1].points) *
                           s[1].cell);
  return sum / (float)count;
}

/* Maximum of a cell, whose bounds are rounded outwards. */
static float largest_cell(const struct rois *r, const float *from,
                          const struct roi_span s[2], const ptrdiff_t at[2]) {
  ptrdiff_t low[2], high[2], h, w;
  float found = 0;
  int i, any = 0;
  for (i = 0; i < 2; i++) {
    float first = floorf((float)at[i] * s[i].cell);
    float end = ceilf((float)(at[i] + 1) * s[i].cell);
    float size = (float)r->in.size[i + 2];
    low[i] = (ptrdiff_t)fminf(fmaxf(first + s[i].start, 0), size);
    high[i] = (ptrdiff_t)fminf(fmaxf(end + s[i].start, 0), size);
  }
  for (h = low[0]; h < high[0]; h++)
    for (w = low[1]; w < high[1]; w++) {
      float x = from[h * r->in.stride[2] + w * r->in.stride[3]];
      found = !any || x > found ? x : found;
      any = 1;
    }
  return found;
}

static struct roi_span whole_span(const struct rois *r, float from, float to,
                                  ptrdiff_t cells) {
  struct roi_span s;
  s.start = roundf(from * r->scale);
  s.cell = fmaxf(roundf(to * r->scale) - s.start + 1, 1) / (float)cells;
  s.points = 0;
  return s;
}

/* Computes all cells of a box for all channels. */
static void one_box(const struct rois *r, ptrdiff_t b, ptrdiff_t n, int align) {
  const int32_t *to = r->out.stride, *size = r->out.size;
  const float *box =
      netrt_floats(&r->boxes) + b * r->boxes.stride[0] + n * r->boxes.stride[1];
  ptrdiff_t step = r->boxes.stride[2], at[2], c;
  struct roi_span s[2];
  int i;
  for (i = 0; i < 2; i++) { /* height: 1 and 3; width: 0 and 2 */
    float from = box[(1 - i) * step], end = box[(3 - i) * step];
    s[i] = align ? span_of(r, from, end, size[i + 2])
                 : whole_span(r, from, end, size[i + 2]);
  }
  for (at[0] = 0; at[0] < size[2]; at[0]++)
    for (at[1] = 0; at[1] < size[3]; at[1]++)
      for (c = 0; c < size[4]; c++) {
        const float *from =
            r->in.data + b * r->in.stride[0] + c * r->in.stride[4];
        netrt_floats(&r->out)[b * to[0] + n * to[1] + at[0] * to[2] +
                              at[1] * to[3] + c * to[4]] =
            align ? aligned_cell(r, from, s, at) : largest_cell(r, from, s, at);
      }
}

static int all_boxes(const struct netrt *net, const struct netrt_op *op,
                     int align) {
  struct netrt_view in = netrt_in(net, op, 0);
  struct rois r;
  ptrdiff_t b, n;
  r.in = netrt_map_of(&in);
  r.out = netrt_out(net, op);
  r.boxes = netrt_in(net, op, 1);
  r.scale = netrt_reals(net, op)[0];
  r.samples = align ? netrt_args(net, op)[0] : 0;
  r.aligned = align ? netrt_args(net, op)[1] : 0;
  for (b = 0; b < r.out.size[0]; b++)
    for (n = 0; n < r.out.size[1]; n++)
      one_box(&r, b, n, align);
  return NETRT_OK;
}

static int netrt_reference_roialign(const struct netrt *net,
                                    const struct netrt_op *op) {
  return all_boxes(net, op, 1);
}

static int netrt_reference_roipool(const struct netrt *net,
                                   const struct netrt_op *op) {
  return all_boxes(net, op, 0);
}

KERNEL(roialign);
KERNEL(roipool);
