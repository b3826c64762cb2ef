/* A Caffe net while it is read: caffe.c walks it, caffe_layers.c knows types.
 */
#ifndef NETC_IMPORT_CAFFE_H
#define NETC_IMPORT_CAFFE_H

#include "import/prototxt.h"
#include "import/reader.h"

struct caffe {
  struct graph *graph;
  const struct import_options *options;
  struct map blobs; /* by name: the node that made it last, plus 1 */
};

/* A layer of the file, with what it reads. */
struct caffe_layer {
  struct field *message;
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

/* Types that read data: their tops are inputs. */
bool caffe_is_data(const char *type);
/* Types that nothing of a prediction needs: losses, accuracy. */
bool caffe_is_left_out(const char *type);
/* Today's name of a type of the old `layers`: CONVOLUTION; NULL: none. */
const char *caffe_type(struct slice old);

#endif
