/* Layers with windows on a map: convolution and pooling. */
#include "codegen/torch/form.h"

/* One number for each spatial axis. */
struct number_list {
  int64_t at[3];
};

static struct number_list numbers_of(const struct window *windows, int axes,
                                     size_t member) {
  struct number_list numbers = {{0}};
  for (int i = 0; i < axes; i++)
    memcpy(&numbers.at[i], (const char *)&windows[i] + member,
           sizeof numbers.at[i]);
  return numbers;
}

#define EACH(windows, axes, member) \
  numbers_of(windows, axes, offsetof(struct window, member)).at

static bool all_are(const int64_t *values, int count, int64_t value) {
  for (int i = 0; i < count; i++)
    if (values[i] != value)
      return false;
  return true;
}

/* True if padding is equal on both sides. TensorFlow's depends on the size if
 * there is a stride. */
static bool is_even(const struct torch_form *f, const struct window *windows,
                    int axes) {
  bool tf = form_padding(f, "pad")->mode == PADDING_TF;
  for (int i = 0; i < axes; i++)
    if (windows[i].before != windows[i].after ||
        (tf && windows[i].stride > 1 && windows[i].before > 0))
      return false;
  return true;
}

/* Pads by a separate tensor if the sides differ. */
static const struct torch_code *padded(struct torch_form *f,
                                       const struct window *windows, int axes,
                                       const char *value) {
  struct torch_code *code = ARENA_NEW(f->arena, struct torch_code);
  *code = code_new(f->arena);
  code_format(code, "F.pad(%c, %v%s)", form_in(f, 0, FIRST), "pad",
              form_pads(f, EACH(windows, axes, before),
                        EACH(windows, axes, after), axes),
              value);
  return code;
}

static int64_t groups_of(const struct torch_form *f) {
  const struct param *weight = form_matrix(f);
  return weight->groups ? weight->groups : 1;
}

/* Makes a convolution; returns true if it pads by itself, equally on both
 * sides. */
static bool make_conv(struct torch_form *f, const char *module,
                      const struct window *windows, int axes, const char *end) {
  bool even = is_even(f, windows, axes);
  struct slice padding = form_number(f, 0);
  if (even)
    padding = form_tuple(f, EACH(windows, axes, before), axes);
  MAKE(f, "%s(%i, %i, %v%k%k%k%k%k%s", module, "in_channels",
       shape_channels(f->layer->in[0]), "out_channels",
       shape_channels(&f->layer->out), "kernel_size",
       form_tuple(f, EACH(windows, axes, kernel), axes), "stride", "1",
       form_tuple(f, EACH(windows, axes, stride), axes), "padding", "0",
       padding, "dilation", "1",
       form_tuple(f, EACH(windows, axes, dilation), axes), "groups", "1",
       form_number(f, groups_of(f)), "bias", "True",
       form_truth(form_param(f, "bias")), end);
  return even;
}

void form_conv(struct torch_form *f) {
  static const char *const modules[] = {"nn.Conv1d", "nn.Conv2d", "nn.Conv3d"};
  struct window windows[3];
  int axes = f->layer->kind->windows(f->layer, windows);
  const char *end = form_start_weights(f);
  bool even = make_conv(f, modules[axes - 1], windows, axes, end);
  CALL(f, "%m(%c)", form_module(f),
       even ? form_in(f, 0, FIRST) : padded(f, windows, axes, ""));
  f->out = FIRST;
}

/* Offsets and masks come from other layers. */
void form_deformconv(struct torch_form *f) {
  struct window windows[3];
  int axes = f->layer->kind->windows(f->layer, windows);
  bool even = make_conv(f, "torchvision.ops.DeformConv2d", windows, axes, ")");
  CALL(f, "%m(%c", form_module(f),
       even ? form_in(f, 0, FIRST) : padded(f, windows, axes, ""));
  for (int i = 1; i < f->layer->input_count; i++)
    CALL(f, ", %c", form_in(f, i, FIRST));
  CALL(f, ")");
  f->out = FIRST;
}

/* Crops the output where the padding differs between sides. */
static void crop_to_output(struct torch_form *f, const int64_t *before,
                           int axes) {
  CALL(f, "[:, :");
  for (int i = 0; i < axes; i++)
    CALL(f, ", %i:%i", "begin", before[i], "end",
         before[i] + f->layer->out.dim[i]);
  CALL(f, "]");
}

void form_deconv(struct torch_form *f) {
  const struct padding *pad = form_padding(f, "pad");
  int axes = shape_spatial(f->layer->in[0]);
  int64_t kernel[3], stride[3], dilation[3], outpad[3], before[3];
  int64_t none[3] = {0};
  bool even = true;
  for (int i = 0; i < axes; i++) {
    kernel[i] = size_at(form_sizes(f, "kernel"), i, 1);
    stride[i] = size_at(form_sizes(f, "stride"), i, 1);
    dilation[i] = size_at(form_sizes(f, "dilate"), i, 1);
    outpad[i] = size_at(form_sizes(f, "outpad"), i, 0);
    before[i] = size_at(&pad->before, i, 0);
    even = even && before[i] == size_at(&pad->after, i, 0);
  }
  const char *end = form_start_weights(f);
  MAKE(f, "nn.ConvTranspose%dd(%i, %i, %v%k%k%k%k%k%k%s", (int64_t)axes,
       "in_channels", shape_channels(f->layer->in[0]), "out_channels",
       shape_channels(&f->layer->out), "kernel_size",
       form_tuple(f, kernel, axes), "stride", "1", form_tuple(f, stride, axes),
       "padding", "0", form_tuple(f, even ? before : none, axes),
       "output_padding", "0", form_tuple(f, outpad, axes), "groups", "1",
       form_number(f, groups_of(f)), "bias", "True",
       form_truth(form_param(f, "bias")), "dilation", "1",
       form_tuple(f, dilation, axes), end);
  CALL(f, "%m(%c)", form_module(f), form_in(f, 0, FIRST));
  if (!even)
    crop_to_output(f, before, axes);
  f->out = FIRST;
}

/* PyTorch's pooling pads both sides equally, by at most half of the window. */
static bool takes_padding(const struct torch_form *f,
                          const struct window *windows, int axes) {
  for (int i = 0; i < axes; i++)
    if (2 * windows[i].before > windows[i].kernel)
      return false;
  return is_even(f, windows, axes);
}

/* Pads only as far as windows read, so that rounding up needs no argument. */
static void fit_padding(struct window *windows, int axes) {
  for (int i = 0; i < axes; i++) {
    struct window *w = &windows[i];
    int64_t reads = (w->out - 1) * w->stride + w->dilation * (w->kernel - 1);
    w->after = reads + 1 - w->in - w->before;
    w->ceil = false;
  }
}

static void put_pool(struct torch_form *f, const char *name,
                     const struct torch_code *in, const struct window *windows,
                     int axes, bool pads) {
  struct slice kernel = form_tuple(f, EACH(windows, axes, kernel), axes);
  struct slice stride = form_tuple(f, EACH(windows, axes, stride), axes);
  struct slice padding = form_number(f, 0);
  if (pads)
    padding = form_tuple(f, EACH(windows, axes, before), axes);
  CALL(f, "F.%s_pool%dd(%c, %v", name, (int64_t)axes, in, "kernel_size",
       kernel);
  if (slice_equal(stride, kernel))
    CALL(f, "%k", "padding", "0", padding);
  else
    CALL(f, ", %v%k", "stride", stride, "padding", "0", padding);
  f->out = FIRST;
}

void form_pool(struct torch_form *f) {
  struct window windows[3];
  int axes = f->layer->kind->windows(f->layer, windows);
  bool takes = takes_padding(f, windows, axes);
  if (!takes)
    fit_padding(windows, axes);
  put_pool(f, "max",
           takes ? form_in(f, 0, FIRST)
                 : padded(f, windows, axes, ", value=-math.inf"),
           windows, axes, takes);
  if (!takes)
    f->helpers |= HELPER_BIT << HELPER_math;
  CALL(f, "%k%s)", "dilation", "1",
       form_tuple(f, EACH(windows, axes, dilation), axes),
       windows[0].ceil ? ", ceil_mode=True" : "");
}

/* TensorFlow's mean does not count padding. */
void form_avgpool(struct torch_form *f) {
  struct window windows[3];
  int axes = f->layer->kind->windows(f->layer, windows);
  bool takes = takes_padding(f, windows, axes);
  bool tf = form_padding(f, "pad")->mode == PADDING_TF;
  if (!all_are(EACH(windows, axes, dilation), axes, 1)) {
    f->refuses = "`dilate` of a mean, which PyTorch's avg_pool does not have";
    return;
  }
  if (!takes && (windows[0].ceil || tf)) {
    f->refuses = tf ? "`pad=tf` that PyTorch's avg_pool does not take"
                    : "`ceil` with a padding that PyTorch's avg_pool does not "
                      "take";
    return;
  }
  put_pool(f, "avg",
           takes ? form_in(f, 0, FIRST) : padded(f, windows, axes, ""), windows,
           axes, takes);
  CALL(f, "%s%s)", windows[0].ceil ? ", ceil_mode=True" : "",
       tf ? ", count_include_pad=False" : "");
}

void form_adaptive(struct torch_form *f) {
  int axes = shape_spatial(&f->layer->out);
  bool mean = f->word == WORD_GAP || f->word == WORD_ADAPTPOOL;
  CALL(f, "F.adaptive_%s_pool%dd(%c, %v)", mean ? "avg" : "max", (int64_t)axes,
       form_in(f, 0, FIRST), "size", form_tuple(f, f->layer->out.dim, axes));
  f->out = FIRST;
}

/* Repeats places without samples for each sample. */
static const struct torch_code *places_of(struct torch_form *f) {
  const struct torch_code *in = form_in(f, 1, LAST);
  struct torch_code *code = ARENA_NEW(f->arena, struct torch_code);
  if (!f->in[1].one || f->in[0].one)
    return in;
  *code = code_new(f->arena);
  code_format(code, "%c.expand(len(%x)", form_on(f, 1, LAST), 0);
  for (int i = 0; i < f->layer->in[1]->rank; i++)
    code_format(code, ", -1");
  code_format(code, ")");
  f->repeats = true;
  return code;
}

/* torchvision's functions give the boxes of all samples as one batch. */
void form_roi(struct torch_form *f) {
  bool align = f->word == WORD_ROIALIGN;
  CALL(f, "torchvision.ops.roi_%s(%c, list(%c), %v, %v",
       align ? "align" : "pool", form_in(f, 0, FIRST), places_of(f), "size",
       form_tuple(f, f->layer->out.dim + 1, 2), "scale",
       form_decimal(f, form_real(f, "scale")));
  if (align)
    CALL(f, "%k%k", "sampling_ratio", "0",
         form_number(f, form_int(f, "samples")), "aligned", "False",
         form_truth(form_word(f, "aligned")));
  CALL(f, ").unflatten(0, (-1, %i)).movedim(2, 1)", "boxes",
       f->layer->out.dim[0]);
  f->out = FIRST;
}

/* Reshapes maps [batch, C, H, W] to [batch * groups, C / groups, H, W], or
 * back. */
static void put_sizes(struct torch_code *code, const struct shape *map,
                      int64_t groups) {
  code_format(code, ".reshape(-1, %i", "channels",
              shape_channels(map) / groups);
  for (int i = 0; i < shape_spatial(map); i++)
    code_format(code, ", %i", "size", map->dim[i]);
  code_format(code, ")");
}

void form_gridsample(struct torch_form *f) {
  static const char *const modes[] = {"\"bilinear\"", "\"bilinear\"",
                                      "\"nearest\"", "\"bicubic\""};
  static const char *const beyond[] = {"\"zeros\"", "\"zeros\"", "\"border\"",
                                       "\"reflection\""};
  const struct shape *map = f->layer->in[0], *places = f->layer->in[1];
  int64_t groups = places->rank > map->rank ? places->dim[0] : 1;
  struct torch_code in = code_new(f->arena);
  code_format(&in, "%c",
              groups > 1 ? form_on(f, 0, FIRST) : form_in(f, 0, FIRST));
  if (groups > 1)
    put_sizes(&in, map, groups);
  CALL(f, "F.grid_sample(%c, %c%s%k%k, align_corners=%S)", &in, places_of(f),
       places->rank > map->rank ? ".flatten(0, 1)" : "", "mode", "\"bilinear\"",
       slice_of(modes[form_word(f, "mode")]), "padding_mode", "\"zeros\"",
       slice_of(beyond[form_word(f, "beyond")]),
       form_truth(form_word(f, "corners")));
  if (groups > 1)
    put_sizes(&f->call, &f->layer->out, 1);
  f->out = FIRST;
}
