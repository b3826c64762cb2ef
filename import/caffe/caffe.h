/* A Caffe net while it is read: caffe.c walks it, caffe_layers.c knows types.
 */
#ifndef NETC_IMPORT_CAFFE_CAFFE_H
#define NETC_IMPORT_CAFFE_CAFFE_H

#include "import/caffe/prototxt.h"
#include "import/reader.h"

/* A layer of the file, with what it reads. */
struct caffe_layer {
  struct prototxt_field *message;
  const char *name, *type; /* of today: "Convolution" */
  size_t line;
  size_t bottom_count;
  const int *bottoms; /* nodes */
  size_t top_count;
  struct slice *tops;
};

struct caffe {
  struct graph *graph;
  const struct import_options *options;
  struct prototxt_field *layers; /* of the net, with its other fields */
  struct map blobs; /* by name: the node that made it last, plus 1 */
  const struct caffe_layer *at; /* that is being read */
};

enum { CAFFE_MOST = 1 << 30 };

/* The current layer's; false with the graph's error. */
bool caffe_add(struct caffe *caffe);

/* Says that blob `top` of the current layer is what `node` gives. */
void caffe_set(struct caffe *caffe, size_t top, int node);

/* For the layers. */

const struct graph_shape *caffe_shape(struct caffe *caffe, int index);
/* The `..._param` message of the layer, or NULL. */
struct prototxt_field *caffe_param(const struct caffe *caffe, const char *name);
/* A layer of netc on the first bottom, for now with its shape. */
struct graph_node *caffe_first(struct caffe *caffe, enum layer_word word);
/* Its first top is that node; returns whether all went well. */
bool caffe_give(struct caffe *caffe, const struct graph_node *node);
/* "`conv1` (Convolution): WHAT"; false. */
bool caffe_fail(struct caffe *caffe, const char *what);
/* Fails unless the first bottom is a picture. */
bool caffe_is_map(struct caffe *caffe);

bool caffe_convolution(struct caffe *caffe);
bool caffe_deconvolution(struct caffe *caffe);
bool caffe_inner_product(struct caffe *caffe);
bool caffe_batch_norm(struct caffe *caffe);
bool caffe_whole_norm(struct caffe *caffe);
bool caffe_lrn(struct caffe *caffe);
/* Of a blob of two axes, over the second. */
bool caffe_turned_softmax(struct caffe *caffe);
bool caffe_upsample(struct caffe *caffe);
bool caffe_pooling(struct caffe *caffe);

/* Whether netc has that type, as it is written today. */
bool caffe_knows_type(const char *type);
/* Today's name of a type of the old `layers`: CONVOLUTION; NULL: none. */
const char *caffe_type(struct slice old);

#endif
