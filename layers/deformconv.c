/* deformconv: convolution whose windows read at positions
 * that the net gives. */
#include <inttypes.h>

#include "base/check.h"
#include "layers/conv.h"
#include "layers/tape/lowering.h"

static const struct arg_spec deformconv_specs[] = {
    CONV_CHANNELS,
    CONV_KERNEL,
    ARG(INPUT, KEY, "offsets", conv, offsets, .required = true,
        .doc = "label of the offsets: 2 channels for each value of a window, "
               "times the groups of the input"),
    ARG(INPUT, KEY, "mask", conv, mask,
        .doc = "label of the weights of the values: 1 channel for each "
               "(version 2)"),
    CONV_STRIDE,
    CONV_PAD,
    CONV_DILATE,
    CONV_GROUPS,
    CONV_BIAS,
    SPEC_END};

/* Values of a window with two axes. */
static int64_t window_values(const struct conv *conv) {
  return size_product(size_at(&conv->window.kernel, 0, 1),
                      size_at(&conv->window.kernel, 1, 1));
}

/* True if the input is a map of the output's size with `each` channels for each
 * of `groups`; `groups` 0: any number of groups. */
static bool check_beside(const struct layer *layer, int input, const char *arg,
                         int64_t each, int64_t groups) {
  const struct shape *in = layer->in[input], *out = &layer->out;
  bool fits = in->rank == 3 && in->dtype == DTYPE_FLOAT &&
              in->dim[0] == out->dim[0] && in->dim[1] == out->dim[1] &&
              (groups ? shape_channels(in) == size_product(each, groups)
                      : shape_channels(in) % each == 0);
  struct shape wanted =
      shape_with_channels(out, size_product(each, groups ? groups : 1));
  if (fits)
    return true;
  struct diagnostic *d = layer_fail(
      layer, SHAPE_MISMATCH, arg, "`%s=` takes %s here%s, not %s", arg,
      shape_text(&wanted).text, groups ? "" : ", or a multiple of its channels",
      shape_text(in).text);
  return diag_help(d,
                   "a `conv %" PRId64 "` with the same window and stride "
                   "gives that shape",
                   shape_channels(&wanted));
}

static bool deformconv_shape(struct layer *layer) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  if (layer->in[0]->rank != 3)
    return layer_refuse(layer, WRONG_RANK, NULL,
                        "deformconv needs a map of HxWxC, not %s",
                        shape_text(layer->in[0]).text);
  if (!window_check(layer, &conv->window, windows) || !conv_check_groups(layer))
    return false;
  layer->out = window_shape(layer, windows, conv->channels);
  int64_t each = window_values(conv);
  if (!check_beside(layer, 1, "offsets", size_product(2, each), 0))
    return false;
  int64_t groups = shape_channels(layer->in[1]) / each / 2;
  if (shape_channels(layer->in[0]) % groups)
    return layer_refuse(layer, GROUPS_DO_NOT_DIVIDE, "offsets",
                        "offsets of %" PRId64 " groups do not divide %" PRId64
                        " input channels",
                        groups, shape_channels(layer->in[0]));
  return layer->input_count < 3 || check_beside(layer, 2, "mask", each, groups);
}

/* A view that holds the bias: its gradient is computed after the others. */
static size_t bias_last(struct tape *tape, size_t in) {
  return tape_run_on(tape, in,
                     (struct operation){.name = "bias",
                                        .out = *tape_extent(tape, in),
                                        .result = RESULT_VIEW,
                                        .gradient = GRADIENT_SHARED,
                                        .first_param = 1,
                                        .param_count = 1});
}

/*
 * torchvision/csrc/ops/cpu/deform_conv2d_kernel.cpp: the windows of at most 32
 * samples are columns of a matrix, and two more tensors have the output's size.
 * Backward of several samples needs one more of its gradient. Inputs are copied
 * unless they are maps with channels first. Every input and the weights get a
 * gradient, even if none is needed. Without a bias, a bias of zeros is kept,
 * and since torchvision 0.15 a value for each sample without a mask.
 */
static size_t deformconv_trace(const struct layer *layer, struct tape *tape,
                               const size_t *in) {
  const struct conv *conv = layer->args;
  struct window windows[3];
  int axes = conv_windows(layer, windows);
  bool bias = conv->bias != BIAS_NO, masked = layer->input_count > 2;
  size_t read[4] = {window_pad(layer, &conv->window, tape, in[0], false), in[1],
                    masked ? in[2] : 0};
  bool zeros = !bias && !tape->lowers; /* in place of a bias */
  if (zeros)
    read[2 + masked] = tape_run(
        tape,
        &(struct operation){.name = "zeros",
                            .out = extent_fixed(conv->channels, WIDTH_NET)});
  bool fills = !masked && tape->profile->fills_mask;
  if (fills)
    read[2 + zeros] =
        tape_run(tape, &(struct operation){.name = "zeros",
                                           .out = extent_sample(1, WIDTH_NET)});
  if (bias && !tape->lowers)
    read[0] = bias_last(tape, read[0]);
  struct strides out = strides_of(&layer->out);
  struct lowering does = {.opcode = DOES_DEFORMCONV, .out = &out};
  lowering_add(&does, conv->groups);
  lowering_add(&does, masked);
  window_lower(&does, windows, axes, false);
  struct extent made = extent_of(&layer->out), columns = made;
  columns.count = size_product(
      shape_rows(&layer->out),
      size_product(shape_channels(layer->in[0]), window_values(conv)));
  columns.at_once = 32;
  for (int i = 0; i < layer->input_count; i++)
    columns.count =
        size_sum(columns.count, layout_copied(tape, read[i], layer->in[i]));
  struct extent work = columns, back = columns, again = made;
  for (int i = 0; i < layer->input_count; i++)
    if (!tape->values.at[read[i]].needs_gradient)
      back.count = size_sum(back.count, shape_values(layer->in[i]));
  back.count = size_sum(back.count, fills);
  work.count = size_sum(work.count, size_product(2, made.count));
  again.several = true;
  if (conv->channels == 1)
    again.count = 0; /* it is a matrix already */
  if (tape->lowers)
    work.count = 0;
  return tape_run(
      tape, &(struct operation){
                .name = layer->kind->name,
                .does = &does,
                .in = read,
                .in_count = layer->input_count + zeros + fills,
                .out = made,
                .layout = layout_of_map(tape, in[0], &layer->out, LAST_NEVER),
                .param_count = bias && tape->lowers ? 2 : 1,
                .keeps = KEEPS_IN(0) | KEEPS_IN(1) | KEEPS_IN(2) | KEEPS_IN(3),
                .work = work,
                .back_work = back,
                .back_more = again,
                .packs_gradient = packing_of(&layer->out),
                .gives_frozen = true,
                .cast = CAST_FULL});
}

LAYER_KIND(deformconv, "Convolution",
           "convolution whose windows read at offsets that the net computes",
           LAYER_ARGS(conv, deformconv_specs), .shape = deformconv_shape,
           .params = conv_params, .macs = conv_macs, .trace = deformconv_trace,
           .windows = conv_windows, .opcode = DOES_DEFORMCONV);
