/* Sliding windows: the arithmetic of convolution and pooling. */
#ifndef NETC_LAYERS_WINDOW_H
#define NETC_LAYERS_WINDOW_H

#include "layers/layer.h"

/* Arguments of such a layer. */
struct window_args {
  struct sizes kernel, stride, dilation;
  struct padding pad;
  int ceil;              /* 1: round the output up */
  int indices;           /* 1: a pool gives indices of the maxima, too */
  bool stride_is_kernel; /* default of the stride */
};

/* Rows of such arguments: `at` is the member of struct `of` that holds each. */
#define WINDOW_KERNEL(of, at)                                        \
  ARG(SIZES, POSITION, "kernel", of, at, .required = true, .min = 1, \
      .doc = "size of the window")
#define WINDOW_STRIDE(of, at, usual)                                \
  ARG(SIZES, STRIDE, "stride", of, at, .min = 1, .fallback = usual, \
      .doc = "stride: step from window to window")
#define WINDOW_PAD(of, at)                          \
  ARG(PADDING, KEY, "pad", of, at, .fallback = "0", \
      .doc = "`pad` keeps the size at stride 1; `pad=1`, `pad=0:1`")
#define WINDOW_DILATE(of, at)                                  \
  ARG(SIZES, KEY, "dilate", of, at, .min = 1, .fallback = "1", \
      .doc = "dilation: step inside the window")

/*
 * Fills a window for each spatial axis of the input:
 *   out = floor((in + before + after - D(K-1) - 1) / S) + 1
 * (torch.nn.Conv2d), or rounded up with `ceil`, where the last window must
 * then start inside the input or the padding before it (torch.nn.MaxPool2d).
 */
void window_plan(const struct layer *layer, const struct window_args *args,
                 struct window *windows);

/* Checks that the arguments fit the map and that no sum of them overflows. */
bool window_check_args(const struct layer *layer,
                       const struct window_args *args);

/* window_check_args(), and that each axis has a window. Fills `windows`. */
bool window_check(const struct layer *layer, const struct window_args *args,
                  struct window *windows);

/* The output's shape, with `channels` channels. */
struct shape window_shape(const struct layer *layer,
                          const struct window *windows, int64_t channels);

/*
 * Pads in a separate operation where a framework does: for uneven padding, and
 * for TensorFlow's at a stride. `always`: wherever there is padding, in a plan,
 * too. Returns the padded value, or `in`.
 */
size_t window_pad(const struct layer *layer, const struct window_args *args,
                  struct tape *tape, size_t in, bool always);

/* Numbers of convolution: stride, dilation, padding before of each axis. */
void window_lower(struct lowering *to, const struct window *windows, int axes,
                  bool padded);

/* Numbers of pooling: kernel, stride, dilation, padding before and after. */
void window_lower_pool(struct lowering *to, const struct window *windows,
                       int axes);

/* The window along the first axis. */
struct slide window_slide(const struct window *windows);

/* The effective size of a dilated kernel: D(K-1) + 1. */
int64_t window_extent(const struct window *window);

#endif
