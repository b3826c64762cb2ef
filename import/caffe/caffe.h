/*
 * A Caffe net while it is read: caffe.c walks it, and the rows of caffe.def
 * know its types.
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
  struct map blobs;            /* by name: the node that made it last, plus 1 */
  struct caffe_values *values; /* NULL: they are not wanted */
  /* The layer that is being read: */
  const struct caffe_layer *at;
  int in;                              /* its first bottom */
  enum layer_word word;                /* the first of its row */
  const struct prototxt_field *params; /* its message of parameters, or NULL */
};

enum { CAFFE_MOST = 1 << 30 };

/* The current layer's; false with the graph's error. */
bool caffe_add(struct caffe *caffe);

/* Makes `node` the blob `top` of the current layer. */
void caffe_set(struct caffe *caffe, size_t top, int node);

/* Parameters of the current layer. */

/* An integer of at least `least`, or `usual`. */
int64_t caffe_int(struct caffe *caffe, const char *name, int64_t usual,
                  int64_t least);
double caffe_real(struct caffe *caffe, const char *name, double usual);
bool caffe_bool(struct caffe *caffe, const char *name, bool usual);
/* True if it is given as that enumerator, by word or by number. */
bool caffe_is(struct caffe *caffe, const char *name, const char *word,
              const char *number);
/* `axis`, of which -1 is the last. */
int64_t caffe_given_axis(struct caffe *caffe, int64_t usual);

/* Layers. */

/* The sizes of the first bottom, and its channels. */
const struct graph_shape *caffe_shape(struct caffe *caffe);
int64_t caffe_channels(struct caffe *caffe);
/* Axis 1 of N x C x H x W is netc's last, axis 2 its first; -1: the batch. */
int caffe_axis(const struct graph_shape *shape, int64_t axis);
struct graph_node *caffe_part(struct caffe *caffe, int input, int axis,
                              int64_t from, int64_t to);
/* A layer of netc on the first bottom. */
struct graph_node *caffe_first(struct caffe *caffe, enum layer_word word);
/* A layer with a number, on another one. */
struct graph_node *caffe_with_real(struct caffe *caffe, enum layer_word word,
                                   int input, double value);
/* Makes the node the first top; returns whether all went well. */
bool caffe_give(struct caffe *caffe, const struct graph_node *node);
/* "`conv1` (Convolution): WHAT"; false. */
bool caffe_fail(struct caffe *caffe, const char *what);
/* True if its `axis` is that of channels, the usual one. */
bool caffe_is_by_channel(struct caffe *caffe);
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
/* True, with an error, if values are wanted: this layer's are not converted. */
bool caffe_lacks_values(struct caffe *caffe, const char *why);
/* A trained tensor: its sizes in the file, and its values. */
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

/* True if netc has that type, as it is written today. */
bool caffe_knows_type(const char *type);
/* Today's name of a type of the old `layers`: CONVOLUTION; NULL: none. */
const char *caffe_type(struct slice old);

#endif
