/*
 * -o x.onnx, of any net that netc.h shows: a model is built or refused, then
 * written. Who asks for it opens files, knows the weights and prints.
 */
#ifndef NETC_CODEGEN_ONNX_ONNX_H
#define NETC_CODEGEN_ONNX_ONNX_H

#include "base/text.h"
#include "export/model.h"
#include "netc.h"

/* More bytes of weights than this go to a file beside the model; and of such
 * as are not given. */
#define ONNX_INSIDE ((int64_t)1 << 30)
#define ONNX_INSIDE_EMPTY ((int64_t)1 << 26)

/* The net that is loaded. NULL: `why` says why not, and which layer. */
struct onnx_model *onnx_build(struct netc *netc, int opset, struct arena *arena,
                              struct text *why);

/* The net with other sizes. */
struct onnx_sample {
  struct onnx_model *model;
  bool perhaps; /* left out if sizes of 1 give it other operators */
};

/* An axis of inputs that is left open. */
struct onnx_axis {
  const char *name;
  const int64_t *sizes; /* in each sample */
};

/* What is known of axes that are left open: samples in one arena, of which the
 * first, without "perhaps", becomes the model. */
struct onnx_opening {
  const struct onnx_sample *samples;
  size_t count;
  bool batched; /* the batch differs, too */
  const struct onnx_axis *axes;
  size_t axis_count;
  const struct onnx_model *upper; /* with the largest sizes; NULL: no matter */
};

/*
 * Leaves open what differs between samples of one net. False: `why` says where
 * it is more than a size.
 */
bool onnx_open(const struct onnx_opening *opening, struct text *why);

/* What whole numbers stand for: (number - zero) x scale, with one of both or
 * one for each place of the first axis. */
struct onnx_q8_steps {
  size_t count;
  const float *scale;
  const int32_t *zero;
  bool wide; /* of 32 bits: zeros are 0 */
};

/* Of a weight, and of the output of a layer; false: there are none. */
struct onnx_scales {
  void *user;
  bool (*weight)(void *user, size_t weight, struct onnx_q8_steps *steps);
  bool (*output)(void *user, const char *layer, struct onnx_q8_steps *steps);
};

/* Makes it one of 8 bits, where layers have scales; whether any has. Weights
 * with steps are then asked for as these numbers, of 1 byte or of 4. */
bool onnx_quantise(struct onnx_model *model, const struct onnx_scales *from);

/* Bytes of its weights. */
int64_t onnx_weight_bytes(const struct onnx_model *model);

/* Values of weights, by the numbers of netc_weight. */
struct onnx_weights {
  void *user;
  const char *beside; /* the name of a file for all of them; NULL: inside */
  /* Writes all of a weight, 4 bytes a value unless it is quantised, to where
   * the sink's bytes go or to the file beside the model. */
  void (*put)(void *user, size_t weight);
};

/* Writes the model; the caller knows whether the sinks took all of it. */
void onnx_write(struct onnx_model *model, const struct onnx_weights *from,
                netc_sink_fn *sink, void *user);

#endif
