/* Sliding windows: the arithmetic of convolution and pooling. */
#include "layers/window.h"

#include <inttypes.h>

#include "base/check.h"
#include "layers/tape/lowering.h"

/* Larger sizes are refused, so that sums of a few sizes cannot overflow. */
#define LARGEST_SIZE ((int64_t)1 << 40)

int64_t window_extent(const struct window *window) {
  return window->dilation * (window->kernel - 1) + 1;
}

static void set_padding(struct window *w, const struct padding *pad, int axis) {
  int64_t all;
  switch (pad->mode) {
  case PADDING_NONE: break;
  case PADDING_SAME:
    all = window_extent(w) - 1;
    w->before = all / 2;
    w->after = all - w->before;
    break;
  case PADDING_GIVEN:
    w->before = size_at(&pad->before, axis, 0);
    w->after = size_at(&pad->after, axis, 0);
    break;
  case PADDING_TF: /* the output is ceil(in / stride) */
    all = (ceil_div_i64(w->in, w->stride) - 1) * w->stride + window_extent(w) -
          w->in;
    all = max_i64(all, 0);
    w->before = all / 2;
    w->after = all - w->before;
    w->same = true;
    break;
  }
}

static int64_t windows_that_fit(const struct window *w) {
  int64_t room = w->in + w->before + w->after - window_extent(w);
  if (room < 0)
    return 0;
  if (!w->ceil)
    return room / w->stride + 1;
  int64_t out = ceil_div_i64(room, w->stride) + 1;
  if ((out - 1) * w->stride >= w->in + w->before)
    out--;
  return out;
}

void window_plan(const struct layer *layer, const struct window_args *args,
                 struct window *windows) {
  for (int i = 0; i < shape_spatial(layer->in[0]); i++) {
    struct window *w = &windows[i];
    int64_t kernel = size_at(&args->kernel, i, 1);
    *w = (struct window){
        .in = layer->in[0]->dim[i],
        .kernel = kernel,
        .dilation = size_at(&args->dilation, i, 1),
        .stride =
            size_at(&args->stride, i, args->stride_is_kernel ? kernel : 1),
        .ceil = args->ceil,
    };
    set_padding(w, &args->pad, i);
    w->out = windows_that_fit(w);
  }
}

static bool small_enough(const struct layer *layer, const char *arg,
                         const struct sizes *sizes) {
  for (int i = 0; i < sizes->rank; i++) {
    if (sizes->at[i] <= LARGEST_SIZE)
      continue;
    return layer_refuse(layer, OUT_OF_RANGE, arg,
                        "%" PRId64 " is above the maximum size, 2^40",
                        sizes->at[i]);
  }
  return true;
}

bool window_check_args(const struct layer *layer,
                       const struct window_args *args) {
  if (!layer_check_map(layer))
    return false;
  const struct {
    const char *name;
    const struct sizes *sizes;
  } all[] = {
      {"kernel", &args->kernel},   {"stride", &args->stride},
      {"dilate", &args->dilation}, {"pad", &args->pad.before},
      {"pad", &args->pad.after},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!layer_check_sizes(layer, all[i].name, all[i].sizes) ||
        !small_enough(layer, all[i].name, all[i].sizes))
      return false;
  struct shape map = *layer->in[0];
  for (int i = 0; i < shape_spatial(&map); i++) {
    int64_t extent;
    int64_t kernel = size_at(&args->kernel, i, 1);
    if (mul_i64(size_at(&args->dilation, i, 1), kernel, &extent) &&
        extent <= LARGEST_SIZE && map.dim[i] <= LARGEST_SIZE)
      continue;
    return layer_refuse(layer, OUT_OF_RANGE, "kernel",
                        "the window or the map passes 2^40 along one axis");
  }
  return true;
}

static void put_sizes(struct text *out, const struct window *windows, int n,
                      size_t member) {
  for (int i = 0; i < n; i++) {
    const char *w = (const char *)&windows[i];
    int64_t value;
    memcpy(&value, w + member, sizeof value);
    if (i)
      text_putc(out, 'x');
    text_int(out, value);
  }
}

static bool kernel_fits(const struct layer *layer, struct window *windows,
                        int n) {
  for (int i = 0; i < n; i++) {
    if (windows[i].out > 0)
      continue;
    struct text kernel = text_new(layer->site->diags->arena);
    put_sizes(&kernel, windows, n, offsetof(struct window, kernel));
    int64_t extent = window_extent(&windows[i]);
    int64_t padded = windows[i].in + windows[i].before + windows[i].after;
    struct diagnostic *d =
        layer_fail(layer, KERNEL_TOO_LARGE, "kernel",
                   "a window of %.*s does not fit the map of %s",
                   SLICE_ARG(kernel), shape_text(layer->in[0]).text);
    diag_here(d, "needs %" PRId64 " of %" PRId64 " values", extent, padded);
    if (d->span.begin > layer->site->span.begin)
      diag_offer(d, (struct span){d->span.end, d->span.end}, slice_of(" pad"),
                 "add `pad`");
    diag_otherwise(d, "add `pad`, use a smaller window, or drop a stride or "
                      "pooling before it");
    return false;
  }
  return true;
}

bool window_check(const struct layer *layer, const struct window_args *args,
                  struct window *windows) {
  if (!window_check_args(layer, args))
    return false;
  window_plan(layer, args, windows);
  return kernel_fits(layer, windows, shape_spatial(layer->in[0]));
}

void window_lower(struct lowering *to, const struct window *windows, int axes,
                  bool padded) {
  for (int i = 0; i < axes; i++) {
    lowering_add(to, windows[i].stride);
    lowering_add(to, windows[i].dilation);
    lowering_add(to, padded ? 0 : windows[i].before);
  }
}

void window_lower_pool(struct lowering *to, const struct window *windows,
                       int axes) {
  for (int i = 0; i < axes; i++) {
    lowering_add(to, windows[i].kernel);
    lowering_add(to, windows[i].stride);
    lowering_add(to, windows[i].dilation);
    lowering_add(to, windows[i].before);
    lowering_add(to, windows[i].after);
  }
}

struct slide window_slide(const struct window *windows) {
  return (struct slide){window_extent(&windows[0]), windows[0].stride,
                        windows[0].before};
}

struct shape window_shape(const struct layer *layer,
                          const struct window *windows, int64_t channels) {
  struct shape out = *layer->in[0];
  for (int i = 0; i < shape_spatial(&out); i++)
    out.dim[i] = windows[i].out;
  return shape_with_channels(&out, channels);
}

/*
 * torch.nn.functional.pad. TensorFlow's padding at a stride depends on the
 * input's size and is always a separate operation (timm's Conv2dSame and
 * MaxPool2dSame). Kernels of a plan read zeros outside of the map, with any
 * padding on each side.
 */
size_t window_pad(const struct layer *layer, const struct window_args *args,
                  struct tape *tape, size_t in, bool always) {
  struct window windows[3];
  struct shape padded = *layer->in[0];
  struct lowering does = {.opcode = DOES_PAD};
  window_plan(layer, args, windows);
  lowering_add(&does, 0);
  for (int i = 0; i < shape_spatial(layer->in[0]); i++) {
    const struct window *w = &windows[i];
    bool any = w->before || w->after;
    bool tf = args->pad.mode == PADDING_TF && w->stride > 1;
    always =
        always || (!tape->lowers && (w->before != w->after || (tf && any)));
    padded.dim[i] += w->before + w->after;
    lowering_add(&does, w->before);
  }
  if (!always || shape_equal(&padded, layer->in[0]))
    return in;
  struct strides out = strides_of(&padded);
  int64_t count;
  if (!shape_count(&padded, &count))
    count = INT64_MAX; /* reported by the sums */
  does.out = &out;
  return tape_run_on(
      tape, in,
      (struct operation){.name = "pad",
                         .does = &does,
                         .out = extent_sample(count, WIDTH_NET)});
}
