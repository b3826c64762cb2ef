/* Depthwise convolution, and convolution of small groups, by output line. */
#include "conv.h"
#include "isa.h"

#ifdef NETRT_HAS_FAST

/* One line of the output. */
struct depthwise_line {
  const float *in; /* depth and height of the first tap; column 0 */
  float *out;
  const float *skip;              /* NULL: none */
  ptrdiff_t from[2], to[2];       /* taps inside the map, by depth and height */
  ptrdiff_t inner_from, inner_to; /* pixels whose taps are all inside */
};

/* Channels that do not fill a vector. */
static void depthwise_rest(const struct kernel_conv *c,
                           const struct depthwise_line *l, ptrdiff_t channel) {
  const struct kernel_window *w = &c->window;
  ptrdiff_t ow, x, y, z, o;
  for (o = channel; o < c->out.size[4]; o++)
    for (ow = 0; ow < c->out.size[3]; ow++) {
      float sum = (l->skip ? l->skip[ow * c->skip.stride[3] + o] : 0) +
                  (c->bias ? c->bias[o] : 0);
      for (z = l->from[0]; z < l->to[0]; z++)
        for (y = l->from[1]; y < l->to[1]; y++)
          for (x = 0; x < w->kernel[2]; x++) {
            ptrdiff_t at =
                ow * w->stride[2] - w->before[2] + x * w->dilation[2];
            if (at >= 0 && at < c->in.size[3])
              sum += l->in[z * w->dilation[0] * c->in.stride[1] +
                           y * w->dilation[1] * c->in.stride[2] +
                           at * c->in.stride[3] + o] *
                     c->weight[z * c->tap_stride[0] + y * c->tap_stride[1] +
                               x * c->tap_stride[2] + o];
          }
      l->out[ow * c->out.stride[3] + o] = sum;
    }
}

typedef void line_fn(const struct kernel_conv *c,
                     const struct depthwise_line *line);

#define BODY "depthwise_body.h"
#include "isa_each.h"

/* gcc 12 and clang: a shuffle with constant indices. */
#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define HAS_SHUFFLE 1
#define BODY "grouped_body.h"
#include "isa_each.h"
#endif
#endif

static struct depthwise_line line_of(const struct kernel_conv *c,
                                     ptrdiff_t at) {
  const struct kernel_window *w = &c->window;
  ptrdiff_t height = at % c->out.size[2], rest = at / c->out.size[2];
  ptrdiff_t depth = rest % c->out.size[1], batch = rest / c->out.size[1];
  ptrdiff_t z = depth * w->stride[0] - w->before[0];
  ptrdiff_t y = height * w->stride[1] - w->before[1];
  ptrdiff_t last =
      c->in.size[3] + w->before[2] - (w->kernel[2] - 1) * w->dilation[2] - 1;
  struct depthwise_line l;
  l.in = c->in.data + batch * c->in.stride[0] + z * c->in.stride[1] +
         y * c->in.stride[2];
  l.out = c->out.data + batch * c->out.stride[0] + depth * c->out.stride[1] +
          height * c->out.stride[2];
  l.skip = NULL;
  if (c->skip.data)
    l.skip = c->skip.data + batch * c->skip.stride[0] +
             depth * c->skip.stride[1] + height * c->skip.stride[2];
  taps_inside(z, w->dilation[0], w->kernel[0], c->in.size[1], &l.from[0],
              &l.to[0]);
  taps_inside(y, w->dilation[1], w->kernel[1], c->in.size[2], &l.from[1],
              &l.to[1]);
  l.inner_from = (w->before[2] + w->stride[2] - 1) / w->stride[2];
  l.inner_to = last < 0 ? 0 : least(last / w->stride[2] + 1, c->out.size[3]);
  return l;
}

struct depthwise_job {
  const struct kernel_conv *conv;
  line_fn *line;
};

/* Applies the next function while the line is in the cache. */
static void finish_line(const struct kernel_conv *c, float *line) {
  const struct kernel_after *after = &c->after;
  ptrdiff_t width = c->out.size[3], channels = c->out.size[4], x;
  if (c->out.stride[3] == channels) {
    after->function(line, line, width * channels, after->p);
    return;
  }
  for (x = 0; x < width; x++, line += c->out.stride[3])
    after->function(line, line, channels, after->p);
}

static void lines_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct depthwise_job *job = data;
  for (; from < to; from++) {
    struct depthwise_line l = line_of(job->conv, from);
    job->line(job->conv, &l);
    if (job->conv->after.function)
      finish_line(job->conv, l.out);
  }
}

static int run_lines(const struct netrt *net, const struct kernel_conv *c,
                     line_fn *line, ptrdiff_t ins) {
  struct depthwise_job job;
  ptrdiff_t lines = c->out.size[0] * c->out.size[1] * c->out.size[2];
  job.conv = c;
  job.line = line;
  netrt_run_parts(net, lines,
                  1 + 30000 / (c->out.size[3] * c->out.size[4] * ins),
                  lines_part, &job);
  return NETRT_OK;
}

int netrt_fast_depthwise(const struct netrt *net, const struct kernel_conv *c) {
  line_fn *line = base_depthwise_line;
#if ISA_HAS_X86
  enum isa isa = isa_of(net);
  line = isa == ISA_AVX512 ? avx512_depthwise_line
         : isa == ISA_AVX2 ? avx2_depthwise_line
                           : line;
#endif
  return run_lines(net, c, line, 1);
}

int netrt_fast_grouped(const struct netrt *net, const struct kernel_conv *c) {
#ifdef HAS_SHUFFLE
  ptrdiff_t ins = c->in.size[4] / c->groups, outs = c->out.size[4] / c->groups;
  line_fn *line = base_grouped_line(outs);
  ptrdiff_t lanes = 4;
#if ISA_HAS_X86
  enum isa isa = isa_of(net);
  if (isa == ISA_AVX512) {
    line = avx512_grouped_line(outs);
    lanes = 16;
  } else if (isa == ISA_AVX2) {
    line = avx2_grouped_line(outs);
    lanes = 8;
  }
#endif
  if (line && ins == outs && c->out.size[4] % lanes == 0)
    return run_lines(net, c, line, ins);
#endif
  (void)net, (void)c;
  return NOT_FOR_ME;
}

#else
typedef int netrt_depthwise_is_off; /* an empty file is not valid C */
#endif
