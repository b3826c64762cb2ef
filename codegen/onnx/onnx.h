/*
 * -o x.onnx, of any net that netc.h shows: a model is built or refused, then
 * written. Who asks for it opens files, knows the weights and prints.
 */
#ifndef NETC_CODEGEN_ONNX_ONNX_H
#define NETC_CODEGEN_ONNX_ONNX_H

#include "base/text.h"
#include "codegen/onnx/model.h"
#include "netc.h"

/* More bytes of weights than this go to a file beside the model. */
#define ONNX_INSIDE ((int64_t)1 << 30)

/*
 * The net that is loaded. Without weights nodes fill their shapes, and only
 * sines are left to be asked for. NULL: `why` says why not, and which layer.
 */
struct onnx_model *onnx_build(struct netc *netc, int opset, bool weights,
                              struct arena *arena, struct text *why);

/* Bytes of the weights that it will ask for. */
int64_t onnx_weight_bytes(const struct onnx_model *model);

/* Values of weights, by the numbers of netc_weight. */
struct onnx_weights {
  void *user;
  const char *beside; /* the name of a file for all of them; NULL: inside */
  /* All of a weight where it lies as little-endian float32, or NULL. */
  const void *(*lie)(void *user, size_t weight);
  void (*read)(void *user, size_t weight, float *to);
  /* Puts them at the end of the file beside the model. */
  void (*append)(void *user, size_t weight);
};

/* Writes the model; the caller knows whether the sink took all of it. */
void onnx_write(struct onnx_model *model, const struct onnx_weights *from,
                netc_sink_fn *sink, void *user);

#endif
