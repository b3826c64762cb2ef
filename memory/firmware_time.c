/*
 * Time of an inference on a microcontroller, as a lower bound: the instructions
 * of all products, at the fewest that were counted for a product (memory/
 * instructions.def), at the most that a core executes in a cycle. Layers
 * without products, copies, flash that answers late and interrupts come on top.
 */
#include "base/check.h"
#include "memory/firmware.h"

enum product_kind { CONV, DEPTHWISE_9, DEPTHWISE, LINEAR, PRODUCT_KINDS };

/* Hundredths of an instruction for each product. */
static const struct counted {
  enum product_kind kind;
  int element;
  uint16_t hundredths[CORES_MEASURED];
} counted[] = {
#define INSTRUCTIONS(kind, element, ...) {kind, element, {__VA_ARGS__}},
#include "memory/instructions.def"
};

static int hundredths_of(enum product_kind kind, int element, int core) {
  int least = 0;
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
    int found = counted[i].hundredths[core];
    if (counted[i].element == element &&
        (kind == PRODUCT_KINDS || counted[i].kind == kind) &&
        (!least || found < least))
      least = found;
  }
  return least;
}

/* Taps of a window that are inside of the input, over all outputs. */
static double taps_inside(const struct window *w) {
  double inside = 0;
  for (int64_t k = 0; k < w->kernel; k++) {
    /* Outputs whose tap k is at 0 <= o * stride - before + k * dilation < in */
    int64_t at = k * w->dilation - w->before;
    int64_t first = at < 0 ? ceil_div_i64(-at, w->stride) : 0;
    int64_t last = w->in > at ? (w->in - 1 - at) / w->stride : -1;
    inside += (double)max_i64(min_i64(last, w->out - 1) - first + 1, 0);
  }
  return inside;
}

/* The fraction of a layer's products that are not with padding. */
static double fraction_inside(const struct layer *layer) {
  struct window windows[LIMIT_RANK];
  double fraction = 1;
  int axes = layer->kind->windows(layer, windows);
  for (int i = 0; i < axes; i++)
    fraction *= taps_inside(&windows[i]) /
                ((double)windows[i].out * (double)windows[i].kernel);
  return fraction;
}

/* The kind of a convolution; a weight of a depthwise one has one channel. */
static enum product_kind conv_kind(const struct model *model,
                                   const struct node *node,
                                   const struct layer *layer) {
  const struct model_param *weight = &model->params.at[node->first_param];
  struct window windows[LIMIT_RANK];
  int axes = layer->kind->windows(layer, windows);
  int64_t taps = 1;
  for (int i = 0; i < axes; i++)
    taps *= windows[i].kernel;
  if (!weight->grouped || weight->count != shape_channels(node->out) * taps)
    return CONV;
  return taps <= 9 ? DEPTHWISE_9 : DEPTHWISE;
}

static enum product_kind kind_of(const struct model *model,
                                 const struct node *node,
                                 const struct layer *layer) {
  return !node->param_count    ? PRODUCT_KINDS
         : node->kind->windows ? conv_kind(model, node, layer)
                               : LINEAR;
}

double firmware_instructions(const struct model *model,
                             const struct settings *settings, int core) {
  const struct shape **in = model_layer_room(model);
  int element = settings->infer.dtype == ELEMENT_I8 ? ELEMENT_I8 : ELEMENT_F32;
  double sum = 0;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    struct layer layer = model_layer(model, (int64_t)i, in);
    double macs = (double)model_cost(model, (int64_t)i)->macs;
    if (node->train_only || macs <= 0)
      continue;
    enum product_kind kind = kind_of(model, node, &layer);
    if (node->kind->windows)
      macs *= fraction_inside(&layer);
    sum += macs * hundredths_of(kind, element, core) / 100;
  }
  return sum;
}
