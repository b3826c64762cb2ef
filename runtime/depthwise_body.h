/*
 * Depthwise convolution for one instruction set (isa.h). A vector of channels
 * moves along a line of the map, four pixels at a time, so that weights are
 * loaded once.
 */
typedef float NAME(vector) __attribute__((vector_size(LANES * 4), aligned(4)));
#define VECTOR NAME(vector)
#define AT(p) (*(const VECTOR *)(const void *)(p))

/* Pixels from ow on. `check`: some of their taps are outside the map. */
static inline __attribute__((always_inline)) TARGET void
NAME(pixels)(const struct kernel_conv *c, const struct depthwise_line *l,
             ptrdiff_t ow, ptrdiff_t channel, const int pixels,
             const int check) {
  const struct kernel_window *w = &c->window;
  ptrdiff_t step = c->in.stride[3], apart = w->stride[2] * step, z, y, x;
  float *out = l->out + ow * c->out.stride[3] + channel;
  const VECTOR zero = {0};
  VECTOR sum = c->bias ? AT(c->bias + channel) : zero;
  VECTOR x0 = sum, x1 = sum, x2 = sum, x3 = sum;
  if (l->skip) {
    const float *skip = l->skip + ow * c->skip.stride[3] + channel;
    x0 += AT(skip);
    if (pixels > 1) {
      x1 += AT(skip + c->skip.stride[3]);
      x2 += AT(skip + 2 * c->skip.stride[3]);
      x3 += AT(skip + 3 * c->skip.stride[3]);
    }
  }
  ptrdiff_t from = ow * w->stride[2] - w->before[2];
  for (z = l->from[0]; z < l->to[0]; z++)
    for (y = l->from[1]; y < l->to[1]; y++) {
      const float *in = l->in + z * w->dilation[0] * c->in.stride[1] +
                        y * w->dilation[1] * c->in.stride[2] + from * step +
                        channel;
      const float *weight =
          c->weight + z * c->tap_stride[0] + y * c->tap_stride[1] + channel;
      for (x = 0; x < w->kernel[2]; x++) {
        const float *at = in + x * w->dilation[2] * step;
        VECTOR factor = AT(weight + x * c->tap_stride[2]);
        ptrdiff_t place = from + x * w->dilation[2];
        if (check && (place < 0 || place >= c->in.size[3]))
          continue;
        x0 += AT(at) * factor;
        if (pixels > 1) {
          x1 += AT(at + apart) * factor;
          x2 += AT(at + 2 * apart) * factor;
          x3 += AT(at + 3 * apart) * factor;
        }
      }
    }
  *(VECTOR *)(void *)out = x0;
  if (pixels > 1) {
    *(VECTOR *)(void *)(out + c->out.stride[3]) = x1;
    *(VECTOR *)(void *)(out + 2 * c->out.stride[3]) = x2;
    *(VECTOR *)(void *)(out + 3 * c->out.stride[3]) = x3;
  }
}

static TARGET void NAME(depthwise_line)(const struct kernel_conv *c,
                                        const struct depthwise_line *l) {
  ptrdiff_t channel, ow;
  for (channel = 0; channel + LANES <= c->out.size[4]; channel += LANES)
    for (ow = 0; ow < c->out.size[3];) {
      int whole = ow >= l->inner_from && ow < l->inner_to;
      if (whole && ow + 4 <= l->inner_to) {
        NAME(pixels)(c, l, ow, channel, 4, 0);
        ow += 4;
      } else if (whole)
        NAME(pixels)(c, l, ow++, channel, 1, 0);
      else
        NAME(pixels)(c, l, ow++, channel, 1, 1);
    }
  if (channel < c->out.size[4])
    depthwise_rest(c, l, channel);
}

#undef AT
#undef VECTOR
