/*
 * Transposed convolution by outputs: every stride-th pixel of a line sums the
 * taps that reach it, which is a matrix product as for convolutions.
 */
#include "conv.h"
#include "gemm.h"

#include <string.h>

#ifdef NETRT_HAS_FAST

int netrt_fast_deconv(const struct netrt *net, const struct netrt_op *op);

enum { TAPS = 256 };

/* A tap that reaches the line: the input's line, and its first column. */
struct reach {
  const float *line;
  ptrdiff_t column;
};

struct deconv_phase {
  const struct kernel_conv *conv;
  struct reach reach[TAPS];
  ptrdiff_t rows[TAPS], taps;
};

/* Input index that a tap maps to `out`; -1: none. */
static ptrdiff_t comes_from(const struct kernel_conv *c, int axis,
                            ptrdiff_t out, ptrdiff_t tap) {
  ptrdiff_t at = out + c->window.before[axis] - tap * c->window.dilation[axis];
  if (at < 0 || at % c->window.stride[axis] != 0)
    return -1;
  at /= c->window.stride[axis];
  return at < c->in.size[axis + 1] ? at : -1;
}

/* Adds the taps of the width that the pixels of a phase need on one line. */
static void add_line(struct deconv_phase *p, const float *line, ptrdiff_t tap,
                     ptrdiff_t first, ptrdiff_t ins) {
  const struct kernel_window *w = &p->conv->window;
  ptrdiff_t x;
  for (x = 0; x < w->kernel[2]; x++) {
    ptrdiff_t at = first + w->before[2] - x * w->dilation[2];
    if (at % w->stride[2] != 0)
      continue;
    p->reach[p->taps].line = line;
    p->reach[p->taps].column = at / w->stride[2];
    p->rows[p->taps++] = (tap + x) * ins;
  }
}

static struct gemm_rows deconv_rows(const struct gemm *gemm, ptrdiff_t m,
                                    ptrdiff_t rows, ptrdiff_t tap,
                                    ptrdiff_t from, ptrdiff_t count,
                                    float *scratch) {
  const struct deconv_phase *p = gemm->user;
  const struct kernel_map *in = &p->conv->in;
  ptrdiff_t column = p->reach[tap].column + m, i;
  const float *line = p->reach[tap].line + from;
  struct gemm_rows found;
  if (column >= 0 && column + rows <= in->size[3]) {
    found.a = line + column * in->stride[3];
    found.step = in->stride[3];
    return found;
  }
  found.a = scratch;
  found.step = count;
  for (i = 0; i < rows; i++, scratch += count)
    if (column + i >= 0 && column + i < in->size[3])
      memcpy(scratch, line + (column + i) * in->stride[3],
             (size_t)count * sizeof *scratch);
    else
      memset(scratch, 0, (size_t)count * sizeof *scratch);
  return found;
}

struct deconv_job {
  const struct kernel_conv *conv;
  enum isa isa;
};

static void fill_bias(const struct gemm *g) {
  ptrdiff_t m, n;
  for (m = 0; m < g->m; m++)
    for (n = 0; n < g->n; n++)
      g->out[m * g->out_row + n] = g->bias ? g->bias[n] : 0;
}

/* Computes every stride-th pixel of an output line, from `first` on. */
static void run_phase(const struct deconv_job *job, const ptrdiff_t at[3],
                      ptrdiff_t first, ptrdiff_t group) {
  const struct kernel_conv *c = job->conv;
  const struct kernel_window *w = &c->window;
  ptrdiff_t ins = c->in.size[4] / c->groups, outs = c->out.size[4] / c->groups;
  ptrdiff_t y, z;
  struct deconv_phase p;
  struct gemm g = {0};
  p.conv = c;
  p.taps = 0;
  for (z = 0; z < w->kernel[0]; z++)
    for (y = 0; y < w->kernel[1]; y++) {
      ptrdiff_t depth = comes_from(c, 0, at[1], z);
      ptrdiff_t height = comes_from(c, 1, at[2], y);
      if (depth < 0 || height < 0)
        continue;
      add_line(&p,
               c->in.data + at[0] * c->in.stride[0] + depth * c->in.stride[1] +
                   height * c->in.stride[2] + group * ins,
               (z * w->kernel[1] + y) * w->kernel[2], first, ins);
    }
  g.out = c->out.data + at[0] * c->out.stride[0] + at[1] * c->out.stride[1] +
          at[2] * c->out.stride[2] + first * c->out.stride[3] + group * outs;
  g.out_row = w->stride[2] * c->out.stride[3];
  g.b = c->weight + group * outs;
  g.b_row = c->in_stride;
  g.b_step = 1;
  g.bias = c->bias ? c->bias + group * outs : NULL;
  g.m = g.line = (c->out.size[3] - first + w->stride[2] - 1) / w->stride[2];
  g.n = outs;
  g.taps = p.taps;
  g.ins = ins;
  g.tap_rows = p.rows;
  g.rows = deconv_rows;
  g.user = &p;
  g.a = NULL;
  g.a_row = 0;
  if (g.taps)
    netrt_gemm_part(job->isa, &g, 0, g.m);
  else
    fill_bias(&g);
}

static void lines_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct deconv_job *job = data;
  const struct kernel_conv *c = job->conv;
  ptrdiff_t first, group, at[3];
  for (; from < to; from++) {
    ptrdiff_t rest = from / c->out.size[2];
    at[2] = from % c->out.size[2];
    at[1] = rest % c->out.size[1];
    at[0] = rest / c->out.size[1];
    for (first = 0; first < least(c->window.stride[2], c->out.size[3]); first++)
      for (group = 0; group < c->groups; group++)
        run_phase(job, at, first, group);
  }
}

int netrt_fast_deconv(const struct netrt *net, const struct netrt_op *op) {
  struct kernel_conv c = conv_of(net, op);
  const ptrdiff_t *kernel = c.window.kernel;
  ptrdiff_t ins = c.in.size[4] / c.groups, lines;
  struct deconv_job job;
  if (c.in.stride[4] != 1 || c.out.stride[4] != 1 ||
      (c.bias && c.bias_stride != 1) || !weights_are_rows(&c, ins) ||
      kernel[0] * kernel[1] * kernel[2] > TAPS || c.out.size[4] / c.groups < 4)
    return NOT_FOR_ME;
  job.conv = &c;
  job.isa = isa_of(net);
  lines = c.out.size[0] * c.out.size[1] * c.out.size[2];
  netrt_run_parts(net, lines, 1, lines_part, &job);
  return NETRT_OK;
}

#else
typedef int netrt_fast_deconv_is_off; /* an empty file is not valid C */
#endif
