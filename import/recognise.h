/* Recognising: the net that has these weights, by their names and shapes. */
#ifndef NETC_IMPORT_RECOGNISE_H
#define NETC_IMPORT_RECOGNISE_H

#include "import/tensors/tensors.h"
#include "netc.h"

/* The source of a net of the zoo; false: it is not here. */
typedef bool recognise_zoo_fn(void *user, const char *net,
                              struct slice *source);

struct recognised {
  struct text source;
  const char *label; /* "ResNet-50"; NULL: nothing is recognised */
  size_t names;      /* of tensors, by which */
  int64_t classes;   /* 0: not known */
  bool guess;        /* a chain of layers, whose activations are made up */
};

/*
 * Finds the net of the zoo whose names and counts a file has. Its params, and
 * the channels of its input, are set in the source, whose first line says so.
 * `netc` compiles what is tried.
 */
void recognise_zoo(const struct tensor_file *file, const char *name,
                   struct netc *netc, recognise_zoo_fn *zoo, void *user,
                   struct arena *arena, struct recognised *result);

/* The same for linear and convolutional layers in the order of the file: a
   guess. */
void recognise_chain(const struct tensor_file *file, const char *name,
                     struct netc *netc, struct arena *arena,
                     struct recognised *result);

/* Whether a file has names that torchvision gives a net of the zoo. */
bool recognise_names(const struct tensor_file *file);

/* Sets params of a source, as a row has them: "depth=50 groups=32". False: it
   has none of that name. */
bool recognise_set_params(struct arena *arena, const char *params,
                          struct slice *source);

/* Whether a source compiles to a net with as many parameters and statistics
   as the file has. */
bool recognise_holds(const struct tensor_file *file, struct netc *netc,
                     struct slice source);

#endif
