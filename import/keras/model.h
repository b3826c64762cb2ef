/* Layers and calls of a model, and how the file joins them. */
#ifndef NETC_IMPORT_KERAS_MODEL_H
#define NETC_IMPORT_KERAS_MODEL_H

#include "import/keras/keras.h"
#include "import/keras/stored.h"

/* An argument of a call before the call is read. */
struct keras_reference {
  const char *key; /* of a named argument; else NULL */
  bool is_tensor;
  json_t *value; /* of a constant */
  const char *layer;
  int64_t call;  /* the file's number of the layer's call */
  size_t output; /* index of an output */
  size_t site;
  const json_t *shape; /* with the batch, in Keras 3; else NULL */
};

struct keras_site; /* a call of a layer */
typedef VEC(struct keras_reference) keras_references;

struct keras_model {
  bool built, frozen;
  VEC(struct keras_layer *) layers;
  struct map by_name;
  struct map classes; /* number of layers, by class */
  VEC(struct keras_site) sites;
  VEC(size_t) inputs; /* sites of the InputLayers */
  keras_references outputs;
};

struct keras_layer {
  const char *name, *type;
  json_t *json, *config;
  struct keras_place place;
  bool frozen;
  const char *path; /* path of its weights */
  size_t first_site, site_count;
  int64_t greatest;         /* maximum number of a call that is referenced */
  struct keras_model model; /* of a nested model */
  bool ran;
  VEC(int) nodes; /* nodes of its first call that have weights */
};

struct keras_site {
  struct keras_layer *layer;
  keras_references args;
  enum { SITE_NEW, SITE_OPEN, SITE_DONE } state;
  VEC(struct keras_tensor) outputs;
  size_t uses, user; /* number of readers; the last one */
};

/* Reads the description of a model. */
bool keras_build(struct keras *keras, struct keras_model *model, json_t *json);

#endif
