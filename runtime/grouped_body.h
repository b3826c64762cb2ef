/*
 * Convolution of small groups for one instruction set (isa.h). Several groups
 * fill a vector of outputs, which moves along a line as in depthwise_body.h. A
 * group has as many inputs as outputs: 4, 8 or 16. A shuffle broadcasts input i
 * of each group to its outputs.
 */
typedef float NAME(groups) __attribute__((vector_size(LANES * 4), aligned(4)));
#define VECTOR NAME(groups)
#define FROM(p) (*(const VECTOR *)(const void *)(p))
#define PIXELS (LANES == 16 ? 8 : 4) /* at a time, in registers */

/* Shuffle indices by outputs of a group: input i of each group. */
#define FOUR(at) (at), (at), (at), (at)
#define EIGHT(at) FOUR(at), FOUR(at)
#if LANES == 16
#define PLACES_4(i) FOUR(i), FOUR(4 + (i)), FOUR(8 + (i)), FOUR(12 + (i))
#define PLACES_8(i) EIGHT(i), EIGHT(8 + (i))
#define PLACES_16(i) EIGHT(i), EIGHT(i)
#elif LANES == 8
#define PLACES_4(i) FOUR(i), FOUR(4 + (i))
#define PLACES_8(i) EIGHT(i)
#else
#define PLACES_4(i) FOUR(i)
#endif

#define EACH_PIXEL(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define TO_PIXEL(p, outs, i) \
  if (pixels > p)            \
    x##p += __builtin_shufflevector(v##p, v##p, PLACES_##outs(i)) * factor;
#define INPUT(outs, i)                                     \
  {                                                        \
    const VECTOR factor = FROM(weight + (i)*c->in_stride); \
    TO_PIXEL(0, outs, i)                                   \
    TO_PIXEL(1, outs, i)                                   \
    TO_PIXEL(2, outs, i)                                   \
    TO_PIXEL(3, outs, i)                                   \
    TO_PIXEL(4, outs, i)                                   \
    TO_PIXEL(5, outs, i)                                   \
    TO_PIXEL(6, outs, i)                                   \
    TO_PIXEL(7, outs, i)                                   \
  }
#define FOUR_INPUTS(outs, i) \
  INPUT(outs, i) INPUT(outs, i + 1) INPUT(outs, i + 2) INPUT(outs, i + 3)
#define INPUTS_4 FOUR_INPUTS(4, 0)
#define INPUTS_8 FOUR_INPUTS(8, 0) FOUR_INPUTS(8, 4)
#define INPUTS_16 \
  FOUR_INPUTS(16, 0) FOUR_INPUTS(16, 4) FOUR_INPUTS(16, 8) FOUR_INPUTS(16, 12)

#define BEGIN_PIXEL(p) VECTOR x##p = sum;
#define SKIP_PIXEL(p) \
  if (pixels > p)     \
    x##p += FROM(skip + (p)*c->skip.stride[3]);
#define LOAD_PIXEL(p) \
  const VECTOR v##p = pixels > p ? FROM(at + (p)*apart) : sum;
#define STORE_PIXEL(p) \
  if (pixels > p)      \
    *(VECTOR *)(void *)(out + (p)*c->out.stride[3]) = x##p;

/* Pixels from ow on, with `check` if some taps are outside;
 * then the whole line. */
#define GROUPED(outs)                                                         \
  static inline __attribute__((always_inline)) TARGET void NAME(              \
      grouped_pixels_##outs)(                                                 \
      const struct kernel_conv *c, const struct depthwise_line *l,            \
      ptrdiff_t ow, ptrdiff_t channel, const int pixels, const int check) {   \
    const struct kernel_window *w = &c->window;                               \
    ptrdiff_t step = c->in.stride[3], apart = w->stride[2] * step, z, y, x;   \
    float *out = l->out + ow * c->out.stride[3] + channel;                    \
    const VECTOR zero = {0};                                                  \
    VECTOR sum = c->bias ? FROM(c->bias + channel) : zero;                    \
    ptrdiff_t from = ow * w->stride[2] - w->before[2];                        \
    EACH_PIXEL(BEGIN_PIXEL)                                                   \
    if (l->skip) {                                                            \
      const float *skip = l->skip + ow * c->skip.stride[3] + channel;         \
      EACH_PIXEL(SKIP_PIXEL)                                                  \
    }                                                                         \
    for (z = l->from[0]; z < l->to[0]; z++)                                   \
      for (y = l->from[1]; y < l->to[1]; y++)                                 \
        for (x = 0; x < w->kernel[2]; x++) {                                  \
          ptrdiff_t place = from + x * w->dilation[2];                        \
          const float *at = l->in + z * w->dilation[0] * c->in.stride[1] +    \
                            y * w->dilation[1] * c->in.stride[2] +            \
                            place * step + channel;                           \
          const float *weight = c->weight + z * c->tap_stride[0] +            \
                                y * c->tap_stride[1] + x * c->tap_stride[2] + \
                                channel;                                      \
          if (check && (place < 0 || place >= c->in.size[3]))                 \
            continue;                                                         \
          EACH_PIXEL(LOAD_PIXEL)                                              \
          INPUTS_##outs                                                       \
        }                                                                     \
    EACH_PIXEL(STORE_PIXEL)                                                   \
  }                                                                           \
                                                                              \
  static TARGET void NAME(grouped_line_##outs)(                               \
      const struct kernel_conv *c, const struct depthwise_line *l) {          \
    ptrdiff_t channel, ow, next;                                              \
    for (ow = 0; ow < c->out.size[3]; ow = next) {                            \
      int whole = ow >= l->inner_from && ow < l->inner_to;                    \
      next = ow + 1;                                                          \
      if (whole && ow + PIXELS <= l->inner_to)                                \
        next = ow + PIXELS;                                                   \
      else if (whole && ow + 2 <= l->inner_to)                                \
        next = ow + 2;                                                        \
      for (channel = 0; channel < c->out.size[4]; channel += LANES)           \
        if (next == ow + PIXELS)                                              \
          NAME(grouped_pixels_##outs)(c, l, ow, channel, PIXELS, 0);          \
        else if (next == ow + 2)                                              \
          NAME(grouped_pixels_##outs)(c, l, ow, channel, 2, 0);               \
        else                                                                  \
          NAME(grouped_pixels_##outs)(c, l, ow, channel, 1, !whole);          \
    }                                                                         \
  }

GROUPED(4)
#if LANES >= 8
GROUPED(8)
#endif
#if LANES >= 16
GROUPED(16)
#endif

/* NULL: no kernel for groups of `outs` outputs. */
static line_fn *NAME(grouped_line)(ptrdiff_t outs) {
#if LANES >= 16
  if (outs == 16)
    return NAME(grouped_line_16);
#endif
#if LANES >= 8
  if (outs == 8)
    return NAME(grouped_line_8);
#endif
  return outs == 4 ? NAME(grouped_line_4) : NULL;
}

#undef PLACES_4
#undef PLACES_8
#undef PLACES_16
#undef FOUR
#undef EIGHT
#undef EACH_PIXEL
#undef TO_PIXEL
#undef INPUT
#undef FOUR_INPUTS
#undef INPUTS_4
#undef INPUTS_8
#undef INPUTS_16
#undef BEGIN_PIXEL
#undef SKIP_PIXEL
#undef LOAD_PIXEL
#undef STORE_PIXEL
#undef GROUPED
#undef PIXELS
#undef FROM
#undef VECTOR
