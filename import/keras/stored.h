/* Weights that a saved model has besides its JSON, found by layer. */
#ifndef NETC_IMPORT_KERAS_STORED_H
#define NETC_IMPORT_KERAS_STORED_H

#include "base/map.h"
#include "import/bytes/bytes.h"
#include "import/tensors/value.h"

enum { STORED_RANK = 16 };

struct keras_stored {
  const char *path;  /* "conv1/kernel:0" */
  const char *group; /* the layer of the outermost model or, in files by path,
                        its own; NULL: unsaid */
  enum value_type type;
  const char *strange; /* why its values cannot be read; NULL */
  int rank;
  int64_t dims[STORED_RANK], count;
  struct byte_store *store; /* NULL: they are not needed */
  uint64_t at;
  double low, step; /* what whole numbers stand for; step 0: themselves */
  bool taken;
};

/*
 * How they are found: by the names of layers, or, in files of Keras 3, by
 * paths made of the names of classes: "layers/dense_1/vars/0".
 */
struct keras_weights {
  VEC(struct keras_stored) all; /* of a layer, in the order Keras lists them */
  struct map keys;              /* what they are found by */
  bool by_path;
  const char *layers; /* what a path calls the layers of a model */
};

#endif
