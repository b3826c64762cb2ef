/*
 * -o x.onnx, for any net in netc.h: a model is built or refused, then written.
 * The caller opens files, provides weights and prints.
 */
#ifndef NETC_EXPORT_ONNX_H
#define NETC_EXPORT_ONNX_H

#include "base/text.h"
#include "export/model.h"
#include "netc.h"

/* Weights go to a file beside the model if they have more bytes than this; the
 * second limit is for weights without values. */
#define ONNX_INSIDE ((int64_t)1 << 30)
#define ONNX_INSIDE_EMPTY ((int64_t)1 << 26)

/* Builds a model of the loaded net. NULL: `why` has the reason and the
 * layer. */
struct onnx_model *onnx_build(struct netc *netc, int opset, struct arena *arena,
                              struct text *why);

/* The net with other sizes. */
struct onnx_sample {
  struct onnx_model *model;
  bool perhaps; /* dropped if it has other operators because of sizes of 1 */
};

/* An open axis of inputs. */
struct onnx_axis {
  const char *name;
  const int64_t *sizes; /* by sample */
};

/* Open axes: samples in one arena. The first one is not `perhaps` and becomes
 * the model. */
struct onnx_opening {
  const struct onnx_sample *samples;
  size_t count;
  bool batched; /* the batch differs, too */
  const struct onnx_axis *axes;
  size_t axis_count;
  const struct onnx_model *upper; /* with the largest sizes; NULL: not needed */
};

/*
 * Opens the axes in which the samples differ. False: `why` names a difference
 * that is not a size.
 */
bool onnx_open(const struct onnx_opening *opening, struct text *why);

/* Meaning of integers: (number - zero) x scale, with one of each, or one for
 * each place of the first axis. */
struct onnx_q8_steps {
  size_t count;
  const float *scale;
  const int32_t *zero;
  bool wide; /* 32 bits, with zeros of 0 */
};

/* Steps of a weight and of a layer's output; false: none. */
struct onnx_scales {
  void *user;
  bool (*weight)(void *user, size_t weight, struct onnx_q8_steps *steps);
  bool (*output)(void *user, const char *layer, struct onnx_q8_steps *steps);
};

/* Quantises to 8 bits the layers that have scales; returns whether any has.
 * Weights with steps are then written as integers of 1 or 4 bytes. */
bool onnx_quantise(struct onnx_model *model, const struct onnx_scales *from);

/* Bytes of the model's weights. */
int64_t onnx_weight_bytes(const struct onnx_model *model);

/* Values of weights, numbered as in netc_weight(). */
struct onnx_weights {
  void *user;
  const char *beside; /* name of the file for weights; NULL: inside */
  /* Writes a weight, 4 bytes a value unless quantised, to the sink or to the
   * file beside the model. */
  void (*put)(void *user, size_t weight);
};

/* Writes the model. The caller checks for errors of the sinks. */
void onnx_write(struct onnx_model *model, const struct onnx_weights *from,
                netc_sink_fn *sink, void *user);

#endif
