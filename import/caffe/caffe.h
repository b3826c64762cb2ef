/* State of reading a Caffe net: caffe.c walks the layers, and the functions of
 * caffe.def's rows translate them. */
#ifndef NETC_IMPORT_CAFFE_CAFFE_H
#define NETC_IMPORT_CAFFE_CAFFE_H

#include "import/caffe/prototxt.h"
#include "import/reader.h"

/* A layer of the file, with its bottoms. */
struct caffe_layer {
  struct prototxt_field *message;
  const char *name, *type; /* as written today: "Convolution" */
  size_t line;
  size_t bottom_count;
  const int *bottoms; /* nodes */
  size_t top_count;
  struct slice *tops;
};

struct caffe {
  struct graph *graph;
  const struct import_options *options;
  struct prototxt_field *layers; /* all fields of the net */
  struct map blobs;              /* by name: last node that wrote it, plus 1 */
  struct caffe_values *values;   /* NULL: values are not needed */
  /* The current layer: */
  const struct caffe_layer *at;
  int in;                              /* its first bottom */
  enum layer_word word;                /* the first word of its row */
  const struct prototxt_field *params; /* its parameter message, or NULL */
};

enum { CAFFE_MOST = 1 << 30 };

/* Adds the current layer; false with the graph's error. */
bool caffe_add(struct caffe *caffe);

/* Makes `node` the blob `top` of the current layer. */
void caffe_set(struct caffe *caffe, size_t top, int node);

/* Parameters of the current layer. */

/* An integer of at least `least`, or `usual` if it is missing. */
int64_t caffe_int(struct caffe *caffe, const char *name, int64_t usual,
                  int64_t least);
double caffe_real(struct caffe *caffe, const char *name, double usual);
bool caffe_bool(struct caffe *caffe, const char *name, bool usual);
/* True if the parameter has that value of an enum, by word or by number. */
bool caffe_is(struct caffe *caffe, const char *name, const char *word,
              const char *number);
/* `axis`; -1 is the last one. */
int64_t caffe_given_axis(struct caffe *caffe, int64_t usual);

/* Layers. */

/* The shape of the first bottom, and its channels. */
const struct graph_shape *caffe_shape(struct caffe *caffe);
int64_t caffe_channels(struct caffe *caffe);
/* The node's axis for an axis of N x C x H x W: 1 is netc's last, 2 its first;
 * -1 for the batch. */
int caffe_axis(const struct graph_shape *shape, int64_t axis);
/* Adds a layer on the first bottom. */
struct graph_node *caffe_first(struct caffe *caffe, enum layer_word word);
/* Makes the node the first top; returns false after an error. */
bool caffe_give(struct caffe *caffe, const struct graph_node *node);
/* Fails with "`conv1` (Convolution): WHAT"; returns false. */
bool caffe_fail(struct caffe *caffe, const char *what);
/* True if `axis` is that of channels, the default. */
bool caffe_is_by_channel(struct caffe *caffe);
/* Fails unless the first bottom is a map. */
bool caffe_is_map(struct caffe *caffe);

/* Opens the .caffemodel if values are needed. caffe_values_end closes it and
 * notes the blobs that no layer took. */
bool caffe_values_open(struct caffe *caffe);
void caffe_values_end(struct caffe *caffe);
/* Takes a blob of the current layer as a weight of a node. NULL: values are not
 * needed, or there is an error. */
float *caffe_take(struct caffe *caffe, struct graph_node *node,
                  const char *name, int place, int64_t count);
/* True, with an error, if values are needed: this layer's are not converted. */
bool caffe_lacks_values(struct caffe *caffe, const char *why);
/* Adds a trained tensor: its sizes in the file, and its values. */
#define CAFFE_TENSOR(caffe, node, name, place, ...) \
  caffe_tensor((caffe), (node), (name), (place),    \
               (const int64_t[]){__VA_ARGS__},      \
               sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void caffe_tensor(struct caffe *caffe, struct graph_node *node,
                  const char *name, int place, const int64_t *sizes,
                  size_t count);

typedef bool caffe_add_fn(struct caffe *caffe);
#define TYPE(name, function, ...) caffe_add_fn function;
#include "ops/caffe.def"
#undef TYPE

/* True if netc has a type, by the name it has today. */
bool caffe_knows_type(const char *type);
/* Today's name of a type of the old `layers`, such as CONVOLUTION; or NULL. */
const char *caffe_type(struct slice old);

#endif
