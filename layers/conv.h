/* Convolutions: shared by conv, dwconv, deconv and deformconv. */
#ifndef NETC_LAYERS_CONV_H
#define NETC_LAYERS_CONV_H

#include "layers/computed.h"
#include "layers/lora.h"
#include "layers/window.h"

struct conv {
  int64_t channels; /* of the output; dwconv: 0 */
  int64_t groups;
  int64_t multiplier; /* dwconv: outputs for each input channel */
  struct window_args window;
  struct sizes outpad;            /* deconv */
  struct layer_ref offsets, mask; /* deformconv */
  enum bias bias;
  int computed;     /* enum computed */
  int gain;         /* with `ws` */
  struct lora lora; /* conv */
};

#define CONV_CHANNELS                                                        \
  ARG(INT, POSITION, "channels", conv, channels, .required = true, .min = 1, \
      .grows = true, .doc = "channels of the output")
#define CONV_KERNEL WINDOW_KERNEL(conv, window.kernel)
#define CONV_STRIDE WINDOW_STRIDE(conv, window.stride, "1")
#define CONV_DILATE WINDOW_DILATE(conv, window.dilation)
#define CONV_GROUPS                                             \
  ARG(INT, KEY, "groups", conv, groups, .min = 1, .initial = 1, \
      .fallback = "1",                                          \
      .doc = "groups of channels that are convolved separately")
#define CONV_BIAS                                             \
  ARG(BIAS, WORD, "bias", conv, bias, .words = "bias nobias", \
      .fallback = "bias, nobias before bn",                   \
      .doc = "with or without a bias for each channel")
#define CONV_PAD                                                      \
  ARG(PADDING, KEY, "pad", conv, window.pad, .fallback = "0",         \
      .doc = "`pad` keeps the size at stride 1; `pad=1`, `pad=1x2`, " \
             "`pad=0:1`, `pad=tf`")

/* Reports an error unless groups divide the input's and output's channels. */
bool conv_check_groups(const struct layer *layer);

int conv_windows(const struct layer *layer, struct window *windows);

/* Adds weights and a bias for each output, stored in files in this order. */
void conv_add_params(const struct layer *layer, struct params *params,
                     enum file_order order);

/* PyTorch stores weights as N x C/G x K.. */
void conv_params(const struct layer *layer, struct params *params);

void conv_macs(const struct layer *layer, struct terms *terms);

/* Records the product; `padded` input needs no padding. */
size_t conv_run(const struct layer *layer, struct tape *tape, size_t in,
                bool padded);

#endif
