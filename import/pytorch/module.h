/* A module of PyTorch while it is read: modules.c walks the tree, classes.c
   knows what each class becomes, module.c what one holds. */
#ifndef NETC_IMPORT_PYTORCH_MODULE_H
#define NETC_IMPORT_PYTORCH_MODULE_H

#include "import/reader.h"
#include "import/tensors/pickle.h"
#include "import/tensors/tensors.h"

enum { MODULE_MOST = 1 << 30 }; /* of a size */

struct modules {
  struct graph *graph;
  const struct import_options *options;
  struct tensor_file file;
  struct text path;                  /* of the module: "features.3" */
  const struct pickle_value *module; /* that is read */
  struct slice class;                /* of it: "Conv2d" */
  int at;                            /* the node that it reads */
  int depth, count;
};

/* "`features.3` (Conv2d): WHAT"; false. */
bool module_fail(struct modules *m, const char *format, ...) PRINTF_LIKE(2, 3);

/* "Conv2d" of torch.nn.modules.conv.Conv2d; another class whole. */
struct slice module_class(const struct pickle_value *module);

/* Options: what the module has under that key. */
const struct pickle_value *module_option(const struct modules *m,
                                         const char *key);
bool module_is_true(const struct modules *m, const char *key, bool usual);
bool module_size(struct modules *m, const char *key, int64_t least,
                 int64_t *to);
/* A number, or one for each axis. */
bool module_sizes(struct modules *m, const char *key, int axes, int64_t least,
                  int64_t *to);
bool module_real(struct modules *m, const char *key, double *to);

/* Of what it reads. */
const struct graph_shape *module_shape(const struct modules *m);
bool module_has_channels(struct modules *m, int64_t channels);

/* A layer on what it reads; and what it gives, for the next one. */
struct graph_node *module_layer(struct modules *m, enum layer_word word);
bool module_give(struct modules *m, const struct graph_node *node);

/* Tensors: whether it has one, and its values, as many as its options say. */
bool module_has_tensor(const struct modules *m, const char *name);
bool module_take(struct modules *m, struct graph_node *node, const char *name,
                 int64_t count);

/* A class of torch.nn; without `add` it is that layer. */
struct module_row {
  const char *class;
  bool (*add)(struct modules *m);
  enum layer_word words[IMPORT_WORDS];
};

/* Without a class: netc knows none of that name; classes.c */
struct module_row module_row(struct slice class);

/* Those that an nn.Sequential has; modules.c */
bool module_add_children(struct modules *m);

#endif
