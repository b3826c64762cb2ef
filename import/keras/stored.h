/* Weights stored next to a model's JSON, found by layer. */
#ifndef NETC_IMPORT_KERAS_STORED_H
#define NETC_IMPORT_KERAS_STORED_H

#include "base/map.h"
#include "import/bytes/bytes.h"
#include "import/tensors/value.h"

enum { STORED_RANK = 16 };

struct keras_stored {
  const char *path;  /* "conv1/kernel:0" */
  const char *group; /* layer of the outermost model, or in files with paths
                        its own; NULL: none */
  enum value_type type;
  const char *strange; /* why its values cannot be read, or NULL */
  int rank;
  int64_t dims[STORED_RANK], count;
  struct byte_store *store; /* NULL: values are not needed */
  uint64_t at;
  double low, step; /* scale of integers; step 0: none */
  bool taken;
};

/* Weights are found by the names of layers or, in files of Keras 3, by paths
 * made of the names of classes: "layers/dense_1/vars/0". */
struct keras_weights {
  VEC(struct keras_stored) all; /* of a layer, in Keras' order */
  struct map keys;              /* by layer name or path */
  bool by_path;
  bool twice;         /* paths number each layer with weights twice */
  const char *layers; /* the folder of a model's layers in paths */
};

#endif
