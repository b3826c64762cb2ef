/*
 * State of reading a net of ncnn: its .param, a layer in each line, with the
 * numbers of its parameters. read.c parses the text, layers.c translates each
 * layer into ONNX's operators (ops/ncnn.def), which the ONNX reader reads.
 * Sizes of weights are in the text; their values are in a .bin, which is not
 * read.
 */
#ifndef NETC_IMPORT_NCNN_NCNN_H
#define NETC_IMPORT_NCNN_NCNN_H

#include "base/map.h"
#include "import/onnx/said.h"

enum { NCNN_PARAMS = 32, NCNN_LIST = 64, NCNN_LAYERS = 100000 };

/* A parameter: one number, or a list. */
struct ncnn_param {
  bool given, list;
  double value;
  int count;
  double values[NCNN_LIST];
};

struct ncnn {
  struct onnx_said s;
  struct graph *graph;
  const struct import_options *options;
  struct map axes;         /* number of axes of each blob, without the batch */
  struct map read;         /* of each blob how many layers read it */
  struct map left;         /* blobs of layers that are left out */
  VEC(const char *) given; /* blobs in the order in which they are made */

  /* The current layer. */
  size_t line;
  struct slice type, name;
  VEC(const char *) ins, outs;
  struct ncnn_param params[NCNN_PARAMS];
  struct ncnn_param hints; /* sizes of outputs: axes, then w h c of each */
  const struct ncnn_row *row;
};

typedef bool ncnn_fn(struct ncnn *n);

struct ncnn_row {
  const char *type, *onnx;
  ncnn_fn *say;
};

#define NCNN(type, onnx, function) ncnn_fn function;
#include "ops/ncnn.def"
#undef NCNN

/* Fails with "`conv1` (Convolution): ..."; returns false. */
bool ncnn_fail(struct ncnn *n, const char *format, ...) PRINTF_LIKE(2, 3);

/* A parameter of the current layer, or `usual`. */
int64_t ncnn_int(const struct ncnn *n, int id, int64_t usual);
double ncnn_real(const struct ncnn *n, int id, double usual);

/* An integer of a parameter's list. */
int64_t ncnn_item(const struct ncnn *n, int id, int index);

/* Axes of a blob without the batch; 0: not known. */
int ncnn_axes(const struct ncnn *n, const char *blob);
void ncnn_set_axes(struct ncnn *n, const char *blob, int axes);

/* The first input of the current layer, and its axes. */
const char *ncnn_in(struct ncnn *n);
int ncnn_axes_in(const struct ncnn *n);

/* A node of the current layer with room for `more` inputs besides its own. */
Onnx__NodeProto *ncnn_node(struct ncnn *n, const char *type, size_t more);
/* The same of a value and, if it is not NULL, another one. */
Onnx__NodeProto *ncnn_with(struct ncnn *n, const char *type, const char *value,
                           const char *other);
/* Makes the node's result the layer's first output; true. */
bool ncnn_give(struct ncnn *n, Onnx__NodeProto *node, int axes);

/* A row beside a map has a value for each channel: c becomes c, 1, 1. `axes` of
 * the value, and of what is beside it. */
const char *ncnn_by_channels(struct ncnn *n, const char *value, int axes,
                             int beside);

/* Leaves out the current layer and its outputs. */
void ncnn_leave(struct ncnn *n);
bool ncnn_is_left(const struct ncnn *n, const char *blob);

/* Translates the current layer. */
bool ncnn_say(struct ncnn *n);

#endif
