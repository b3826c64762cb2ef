/*
 * Convolution as matrix products that read rows directly from the map: pixels
 * of a line have equal distances. Padding is a row of zeros. Pixels are
 * gathered only where some of a line are outside the map.
 */
#include "onednn.h"

#include <string.h>

#ifdef NETRT_HAS_FAST

int netrt_fast_conv(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_nconv(const struct netrt *net, const struct netrt_op *op);

struct conv_source {
  const struct kernel_conv *conv;
  ptrdiff_t channel; /* first channel of the group */
  ptrdiff_t width;   /* taps of the width merged into one: 1, or all */
  ptrdiff_t ins;     /* inputs of a single tap */
};

/* The line of pixel m at a tap, and its column; NULL: outside
 * in depth or height. */
static const float *begin_of(const struct conv_source *s, uint32_t m,
                             uint32_t tap, ptrdiff_t *column) {
  const struct kernel_conv *c = s->conv;
  const struct kernel_window *w = &c->window;
  uint32_t rest = m / (uint32_t)c->out.size[3];
  uint32_t columns = (uint32_t)(w->kernel[2] / s->width);
  uint32_t x = tap % columns, up = tap / columns;
  ptrdiff_t z = 0, y;
  y = (ptrdiff_t)(rest % (uint32_t)c->out.size[2]) * w->stride[1] -
      w->before[1] + (ptrdiff_t)(up % (uint32_t)w->kernel[1]) * w->dilation[1];
  rest /= (uint32_t)c->out.size[2];
  if (c->out.size[1] > 1 || w->kernel[0] > 1 || w->before[0]) {
    z = (ptrdiff_t)(rest % (uint32_t)c->out.size[1]) * w->stride[0] -
        w->before[0] +
        (ptrdiff_t)(up / (uint32_t)w->kernel[1]) * w->dilation[0];
    rest /= (uint32_t)c->out.size[1];
  }
  *column = (ptrdiff_t)(m % (uint32_t)c->out.size[3]) * w->stride[2] -
            w->before[2] + (ptrdiff_t)x * w->dilation[2];
  if (z < 0 || z >= c->in.size[1] || y < 0 || y >= c->in.size[2])
    return NULL;
  return c->in.data + (ptrdiff_t)rest * c->in.stride[0] + z * c->in.stride[1] +
         y * c->in.stride[2] + s->channel;
}

/* Copies values [from, from + count) of adjacent taps, with
 * zeros outside the map. */
static void gather(const struct conv_source *s, const float *line,
                   ptrdiff_t column, ptrdiff_t from, ptrdiff_t count,
                   float *to) {
  const struct kernel_map *in = &s->conv->in;
  ptrdiff_t i;
  if (s->width > 1) { /* pixels are contiguous */
    ptrdiff_t begin = column * s->ins + from;
    ptrdiff_t first = least(most(0, -begin), count);
    ptrdiff_t end = most(first, least(count, in->size[3] * s->ins - begin));
    for (i = 0; i < first; i++)
      to[i] = 0;
    for (; i < end; i++)
      to[i] = line[begin + i];
    for (; i < count; i++)
      to[i] = 0;
    return;
  }
  for (i = 0; i < count;) {
    ptrdiff_t place = column + (from + i) / s->ins;
    ptrdiff_t inner = (from + i) % s->ins;
    ptrdiff_t length = least(s->ins - inner, count - i);
    if (place >= 0 && place < in->size[3])
      memcpy(to + i, line + place * in->stride[3] + inner,
             (size_t)length * sizeof *to);
    else
      memset(to + i, 0, (size_t)length * sizeof *to);
    i += length;
  }
}

static struct gemm_rows conv_rows(const struct gemm *gemm, ptrdiff_t m,
                                  ptrdiff_t rows, ptrdiff_t tap, ptrdiff_t from,
                                  ptrdiff_t count, float *scratch) {
  const struct conv_source *s = gemm->user;
  const struct kernel_conv *c = s->conv;
  ptrdiff_t column, last, step = c->window.stride[2], i;
  const float *line = begin_of(s, (uint32_t)m, (uint32_t)tap, &column);
  struct gemm_rows found;
  found.a = scratch;
  found.step = 0;
  if (!line) {
    memset(scratch, 0, (size_t)count * sizeof *scratch);
    return found;
  }
  last = column + (rows - 1) * step + s->width - 1;
  if (column >= 0 && last < c->in.size[3]) {
    found.a = line + column * c->in.stride[3] + from;
    found.step = step * c->in.stride[3];
    return found;
  }
  found.step = count;
  for (i = 0; i < rows; i++)
    gather(s, line, column + i * step, from, count, scratch + i * count);
  return found;
}

/* True if the pixels of the last `axes` axes have equal distances. */
static int pixels_are_even(const struct kernel_map *map, int axes) {
  ptrdiff_t expected = map->stride[3] * map->size[3];
  int i;
  for (i = 2; i > 3 - axes; i--) {
    if (map->size[i] != 1 && map->stride[i] != expected)
      return 0;
    expected *= map->size[i];
  }
  return 1;
}

static int is_pointwise(const struct kernel_conv *c) {
  const struct kernel_window *w = &c->window;
  int i;
  for (i = 0; i < 3; i++)
    if (w->kernel[i] != 1 || w->stride[i] != 1 || w->before[i] != 0 ||
        c->in.size[i + 1] != c->out.size[i + 1])
      return 0;
  return pixels_are_even(&c->in, 4);
}

static int is_depthwise(const struct kernel_conv *c) {
  return c->groups > 1 && c->groups == c->in.size[4] &&
         c->groups == c->out.size[4];
}

/* True if taps of the width are merged: pixels have few channels. */
static int merges_width(const struct kernel_conv *c, ptrdiff_t ins) {
  return c->groups == 1 && ins < 32 && c->window.dilation[2] == 1 &&
         c->in.stride[3] == ins && c->window.kernel[2] > 1 &&
         ins * c->window.kernel[2] <= GEMM_DEPTH;
}

struct conv_job {
  const struct netrt *net;
  struct kernel_conv conv;
  struct narrow_weights narrow;
};

static void run_group(const struct conv_job *job, ptrdiff_t group) {
  const struct kernel_conv *c = &job->conv;
  ptrdiff_t ins = c->in.size[4] / c->groups, outs = c->out.size[4] / c->groups;
  const struct kernel_window *w = &c->window;
  struct conv_source s;
  struct gemm g = {0};
  s.conv = c;
  s.channel = group * ins;
  s.ins = ins;
  s.width = merges_width(c, ins) ? w->kernel[2] : 1;
  g.out = c->out.data + group * outs;
  g.out_row = c->out.stride[3];
  g.b = job->narrow.at ? NULL : c->weight + group * outs;
  g.narrow = job->narrow;
  g.narrow_first = g.narrow_out = group * outs;
  g.b_row = c->in_stride;
  g.b_step = 1;
  g.panels = c->panels;
  g.bias = c->bias ? c->bias + group * outs : NULL;
  g.m = c->out.size[0] * c->out.size[1] * c->out.size[2] * c->out.size[3];
  g.n = outs;
  g.taps = w->kernel[0] * w->kernel[1] * w->kernel[2] / s.width;
  g.ins = ins * s.width;
  g.line = c->out.size[3];
  g.rows = conv_rows;
  g.user = &s;
  g.a = c->in.data + s.channel;
  g.a_row = c->in.stride[3];
  if (is_pointwise(c)) {
    g.rows = NULL;
    g.line = g.m;
  }
  if (c->skip.data)
    g.skip = c->skip.data + group * outs;
  g.skip_row = c->skip.stride[3];
  g.after = c->after;
  netrt_gemm(job->net, &g);
}

enum { DEPTHWISE_VALUES = 4096, DEPTHWISE_CHANNELS = 32 };

static ptrdiff_t taps_of(const struct kernel_conv *c) {
  return c->window.kernel[0] * c->window.kernel[1] * c->window.kernel[2];
}

/* Converts the weights of some channels to floats, tap after tap. */
static void widen_channels(struct kernel_conv *part,
                           const struct narrow_weights *narrow,
                           ptrdiff_t channel, float *to) {
  const ptrdiff_t *size = part->window.kernel, *stride = part->tap_stride;
  ptrdiff_t count = part->groups, tap = 0, z, y, x;
  for (z = 0; z < size[0]; z++)
    for (y = 0; y < size[1]; y++)
      for (x = 0; x < size[2]; x++)
        widen(narrow, z * stride[0] + y * stride[1] + x * stride[2] + channel,
              channel, count, to + tap++ * count);
  part->weight = to;
  part->tap_stride[2] = count;
  part->tap_stride[1] = count * size[2];
  part->tap_stride[0] = count * size[2] * size[1];
}

static int narrow_depthwise(const struct conv_job *job) {
  const struct kernel_conv *c = &job->conv;
  float weights[DEPTHWISE_VALUES];
  ptrdiff_t all = DEPTHWISE_VALUES / taps_of(c), first;
  all -= all % DEPTHWISE_CHANNELS;
  for (first = 0; first < c->groups; first += all) {
    struct kernel_conv part = *c;
    part.groups = least(all, c->groups - first);
    part.in.size[4] = part.out.size[4] = part.groups;
    part.in.data += first;
    part.out.data += first;
    if (part.skip.data)
      part.skip.data += first;
    if (part.bias)
      part.bias += first;
    widen_channels(&part, &job->narrow, first, weights);
    netrt_fast_depthwise(job->net, &part);
  }
  return NETRT_OK;
}

static int make_groups(void *user) {
  struct conv_job *job = user;
  ptrdiff_t group;
  if (is_depthwise(&job->conv))
    return job->narrow.at ? narrow_depthwise(job)
                          : netrt_fast_depthwise(job->net, &job->conv);
  if (job->conv.groups > 1 && !job->narrow.at &&
      netrt_fast_grouped(job->net, &job->conv) == NETRT_OK)
    return NETRT_OK;
  for (group = 0; group < job->conv.groups; group++)
    run_group(job, group);
  return NETRT_OK;
}

static int run_conv(const struct netrt *net, const struct netrt_op *op,
                    struct kernel_conv c, struct narrow_weights narrow) {
  struct conv_job job;
  struct kernel_rows rows;
  int status;
  ptrdiff_t ins = c.in.size[4] / c.groups;
  ptrdiff_t pixels = c.out.size[0] * c.out.size[1] * c.out.size[2];
  if (c.in.stride[4] != 1 || c.out.stride[4] != 1 ||
      (c.bias && c.bias_stride != 1) || !weights_are_rows(&c, ins) ||
      pixels * c.out.size[3] > INT32_MAX)
    return NOT_FOR_ME;
  job.net = net;
  job.conv = c;
  job.narrow = narrow;
  rows.out = &job.conv.out;
  rows.in = &job.conv.in;
  rows.window = &job.conv.window;
  rows.make = make_groups;
  rows.user = &job;
  if (narrow.at && is_depthwise(&c) &&
      taps_of(&c) > DEPTHWISE_VALUES / DEPTHWISE_CHANNELS)
    return NOT_FOR_ME;
  if (!narrow.at && !netrt_overlap(&rows) &&
      netrt_onednn_conv(net, op, &c) == NETRT_OK)
    return NETRT_OK;
  if (!is_depthwise(&c) &&
      (!pixels_are_even(&c.out, 4) || c.out.size[4] / c.groups < 4))
    return NOT_FOR_ME;
  if (c.skip.data && (!pixels_are_even(&c.skip, 4) || c.skip.stride[4] != 1))
    return NOT_FOR_ME;
  job.conv.after = netrt_after(net);
  status = netrt_by_rows(&rows);
  return status == NETRT_OK && job.conv.after.function ? DONE_AHEAD : status;
}

int netrt_fast_conv(const struct netrt *net, const struct netrt_op *op) {
  const struct narrow_weights none = {NULL, NULL, NETRT_F32};
  return run_conv(net, op, conv_of(net, op), none);
}

int netrt_fast_nconv(const struct netrt *net, const struct netrt_op *op) {
  struct narrow_weights narrow;
  struct kernel_conv c = nconv_of(net, op, &narrow);
  return run_conv(net, op, c, narrow);
}

#else
typedef int netrt_fast_conv_is_off; /* an empty file is not valid C */
#endif
