/* A Caffe net while it is read: caffe.c walks it, caffe_layers.c knows types.
 */
#ifndef NETC_IMPORT_CAFFE_CAFFE_H
#define NETC_IMPORT_CAFFE_CAFFE_H

#include "import/caffe/prototxt.h"
#include "import/reader.h"

struct caffe {
  struct graph *graph;
  const struct import_options *options;
  struct prototxt_field *layers; /* of the net, with its other fields */
  struct map blobs; /* by name: the node that made it last, plus 1 */
};

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

enum { CAFFE_MOST = 1 << 30 };

/* The layers of that type; false with the graph's error. */
bool caffe_add(struct caffe *caffe, const struct caffe_layer *layer);

/* Says that blob `top` of a layer is what `node` gives. */
void caffe_set(struct caffe *caffe, const struct caffe_layer *layer, size_t top,
               int node);

/* For the layers. */

struct graph_node *caffe_node(struct caffe *caffe, int index);
const struct graph_shape *caffe_shape(struct caffe *caffe, int index);
/* The `..._param` message of a layer, or NULL. */
struct prototxt_field *caffe_param(const struct caffe_layer *layer,
                                   const char *name);
/* Gives a node the name, type and line of the layer. */
struct graph_node *caffe_dress(const struct caffe_layer *layer,
                               struct graph_node *node);
/* A layer of netc on a tensor, for now with its shape. */
struct graph_node *caffe_layer_on(struct caffe *caffe,
                                  const struct caffe_layer *layer,
                                  enum layer_word word, int input);
/* Its first top is that node; returns whether all went well. */
bool caffe_give(struct caffe *caffe, const struct caffe_layer *layer, int node);
/* "`conv1` (Convolution): WHAT"; false. */
bool caffe_fail(struct caffe *caffe, const struct caffe_layer *layer,
                const char *what);
/* A real as text. */
const char *caffe_number(struct caffe *caffe, double value);
/* Fails unless the first bottom is a picture. */
bool caffe_is_map(struct caffe *caffe, const struct caffe_layer *layer);

bool caffe_convolution(struct caffe *caffe, const struct caffe_layer *layer);
bool caffe_deconvolution(struct caffe *caffe, const struct caffe_layer *layer);
bool caffe_inner_product(struct caffe *caffe, const struct caffe_layer *layer);
bool caffe_batch_norm(struct caffe *caffe, const struct caffe_layer *layer);
bool caffe_whole_norm(struct caffe *caffe, const struct caffe_layer *layer);
bool caffe_lrn(struct caffe *caffe, const struct caffe_layer *layer);
/* Of a blob of two axes, over the second. */
bool caffe_turned_softmax(struct caffe *caffe, const struct caffe_layer *layer);
bool caffe_upsample(struct caffe *caffe, const struct caffe_layer *layer);
bool caffe_pooling(struct caffe *caffe, const struct caffe_layer *layer);

/* Whether netc has that type, as it is written today. */
bool caffe_knows_type(const char *type);
/* Today's name of a type of the old `layers`: CONVOLUTION; NULL: none. */
const char *caffe_type(struct slice old);

#endif
