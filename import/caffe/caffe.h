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
  struct caffe_values *values;  /* NULL: they are not wanted */
};

enum { CAFFE_MOST = 1 << 30 };

/* The current layer's; false with the graph's error. */
bool caffe_add(struct caffe *caffe);

/* Says that blob `top` of the current layer is what `node` gives. */
void caffe_set(struct caffe *caffe, size_t top, int node);

/* For the layers. */

const struct graph_shape *caffe_shape(struct caffe *caffe, int index);
/* Values of that shape; 0: too many to count. */
int64_t caffe_count(const struct graph_shape *shape);
/* Channels of the first bottom. */
int64_t caffe_channels(struct caffe *caffe);
/* Axis 1 of N x C x H x W is netc's last, axis 2 its first; -1: the batch. */
int caffe_axis(const struct graph_shape *shape, int64_t axis);
struct graph_node *caffe_part(struct caffe *caffe, int input, int axis,
                              int64_t from, int64_t to);
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

/*
 * The .caffemodel, if values are wanted: opened, and closed after all layers,
 * with a note of what none of them has taken.
 */
bool caffe_values_open(struct caffe *caffe);
void caffe_values_end(struct caffe *caffe);
/* A blob of the current layer as a weight of a node; NULL: they are not
   wanted, or there is an error. */
float *caffe_take(struct caffe *caffe, struct graph_node *node,
                  const char *name, int place, int64_t count);
/* Whether values are wanted, which this layer's cannot be converted to. */
bool caffe_lacks_values(struct caffe *caffe, const char *why);
/* A trained tensor: its sizes in the file, and its values. */
#define CAFFE_TENSOR(caffe, node, name, place, ...) \
  caffe_tensor((caffe), (node), (name), (place),    \
               (const int64_t[]){__VA_ARGS__},      \
               sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void caffe_tensor(struct caffe *caffe, struct graph_node *node,
                  const char *name, int place, const int64_t *sizes,
                  size_t count);

bool caffe_convolution(struct caffe *caffe);
bool caffe_depthwise(struct caffe *caffe);
bool caffe_grouped(struct caffe *caffe);
bool caffe_deconvolution(struct caffe *caffe);
bool caffe_inner_product(struct caffe *caffe);
bool caffe_batch_norm(struct caffe *caffe);
bool caffe_whole_norm(struct caffe *caffe);
bool caffe_lrn(struct caffe *caffe);
/* Of a blob of two axes, over the second. */
bool caffe_turned_softmax(struct caffe *caffe);
bool caffe_upsample(struct caffe *caffe);
bool caffe_pooling(struct caffe *caffe);
bool caffe_flatten(struct caffe *caffe);
bool caffe_reshape(struct caffe *caffe);
bool caffe_permute(struct caffe *caffe);
bool caffe_crop(struct caffe *caffe);
bool caffe_reorg(struct caffe *caffe);
bool caffe_shuffle(struct caffe *caffe);
bool caffe_embed(struct caffe *caffe);
bool caffe_reduction(struct caffe *caffe);
bool caffe_roi_pooling(struct caffe *caffe);

/* Whether netc has that type, as it is written today. */
bool caffe_knows_type(const char *type);
/* Today's name of a type of the old `layers`: CONVOLUTION; NULL: none. */
const char *caffe_type(struct slice old);

#endif
