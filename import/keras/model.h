/* A model's layers and calls, as the file joins them. */
#ifndef NETC_IMPORT_KERAS_MODEL_H
#define NETC_IMPORT_KERAS_MODEL_H

#include "import/keras/keras.h"
#include "import/keras/stored.h"

/* What a call is given, before it is made. */
struct keras_reference {
  const char *key; /* of a named argument; NULL */
  bool is_tensor;
  json_t *value; /* of a constant */
  const char *layer;
  int64_t call;  /* the file's number of one of the layer's calls */
  size_t output; /* of its outputs */
  size_t site;
  const json_t *shape; /* with the batch, as Keras 3 says it; NULL */
};

struct keras_site; /* a call of a layer */
typedef VEC(struct keras_reference) keras_references;

struct keras_model {
  bool built, frozen;
  VEC(struct keras_layer *) layers;
  struct map by_name;
  struct map classes; /* how many layers there are of each */
  VEC(struct keras_site) sites;
  VEC(size_t) inputs; /* sites of the InputLayers */
  keras_references outputs;
};

struct keras_layer {
  const char *name, *type;
  json_t *json, *config;
  struct keras_place place;
  bool frozen;
  const char *path; /* of its weights */
  size_t first_site, site_count;
  int64_t greatest;         /* number of a call that somebody names */
  struct keras_model model; /* of a nested model */
  bool ran;
  VEC(int) nodes; /* of its first call, those with weights */
};

struct keras_site {
  struct keras_layer *layer;
  keras_references args;
  enum { SITE_NEW, SITE_OPEN, SITE_DONE } state;
  VEC(struct keras_tensor) outputs;
  size_t uses, user; /* who reads it, and the last that does */
};

/* Fills in what a file says of a model. */
bool keras_build(struct keras *keras, struct keras_model *model, json_t *json);

#endif
