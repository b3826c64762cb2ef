/* State of reading a PyTorch module: modules.c walks the tree, classes.c
 * translates each class, module.c reads options and tensors. */
#ifndef NETC_IMPORT_PYTORCH_MODULE_H
#define NETC_IMPORT_PYTORCH_MODULE_H

#include "import/reader.h"
#include "import/tensors/pickle.h"
#include "import/tensors/tensors.h"

enum { MODULE_MOST = 1 << 30 }; /* maximum size */

struct modules {
  struct graph *graph;
  const struct import_options *options;
  struct tensor_file file;
  struct text path;                  /* path of the module: "features.3" */
  const struct pickle_value *module; /* the current module */
  struct slice class;                /* its class: "Conv2d" */
  int at;                            /* the node that it reads */
  int depth, count;
};

/* Fails with "`features.3` (Conv2d): WHAT"; returns false. */
#define module_fail(m, ...)                                            \
  graph_fail((m)->graph, 0, "`%.*s` (%.*s): %s", SLICE_ARG((m)->path), \
             SLICE_ARG((m)->class), graph_text((m)->graph, __VA_ARGS__))

/* "Conv2d" for torch.nn.modules.conv.Conv2d; the full name of other classes. */
struct slice module_class(const struct pickle_value *module);

/* Options: the value that the module has for a key. */
const struct pickle_value *module_option(const struct modules *m,
                                         const char *key);
bool module_is_true(const struct modules *m, const char *key, bool usual);
bool module_size(struct modules *m, const char *key, int64_t least,
                 int64_t *to);
/* Reads one number for all axes, or one for each. */
bool module_sizes(struct modules *m, const char *key, int axes, int64_t least,
                  int64_t *to);
bool module_real(struct modules *m, const char *key, double *to);

/* The shape of the module's input. */
const struct graph_shape *module_shape(const struct modules *m);
bool module_has_channels(struct modules *m, int64_t channels);

/* Adds a layer on the module's input; sets the next module's input. */
struct graph_node *module_layer(struct modules *m, enum layer_word word);
bool module_give(struct modules *m, const struct graph_node *node);

/* Tensors: true if the module has one. module_take reads the values and checks
 * their number, which follows from the options. */
bool module_has_tensor(const struct modules *m, const char *name);
bool module_take(struct modules *m, struct graph_node *node, const char *name,
                 int64_t count);

/* A class of torch.nn. Without `add`, it becomes the layer `word`. */
struct module_row {
  const char *class;
  bool (*add)(struct modules *m);
  enum layer_word words[IMPORT_WORDS];
};

/* classes.c: the row of a class; without `class` if netc lacks it. */
struct module_row module_row(struct slice class);

/* modules.c: adds the children of an nn.Sequential. */
bool module_add_children(struct modules *m);

#endif
