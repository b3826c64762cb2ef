/* Recognises a net by the names and shapes of its weights. */
#ifndef NETC_IMPORT_RECOGNISE_H
#define NETC_IMPORT_RECOGNISE_H

#include "import/tensors/tensors.h"
#include "netc.h"

/* Gives the source of a net of the zoo; false if it is missing. */
typedef bool recognise_zoo_fn(void *user, const char *net,
                              struct slice *source);

struct recognised {
  struct text source;
  const char *label; /* "ResNet-50"; NULL: nothing is recognised */
  size_t names;      /* number of tensors used */
  int64_t classes;   /* 0: unknown */
  bool guess;        /* a chain of layers, with assumed activations */
};

/*
 * Finds the net of the zoo with the file's names and counts. Its params and the
 * channels of its input are set in the source, and its first line says so.
 * `netc` compiles the candidates.
 */
void recognise_zoo(const struct tensor_file *file, const char *name,
                   struct netc *netc, recognise_zoo_fn *zoo, void *user,
                   struct arena *arena, struct recognised *result);

/* Guesses a chain of linear and convolutional layers, in file order. */
void recognise_chain(const struct tensor_file *file, const char *name,
                     struct netc *netc, struct arena *arena,
                     struct recognised *result);

/* True if a file has torchvision's tensor names of a net of the zoo. */
bool recognise_names(const struct tensor_file *file);

/* Sets params of a source: "depth=50 groups=32". False if one is missing. */
bool recognise_set_params(struct arena *arena, const char *params,
                          struct slice *source);

/* A source of the zoo with another number of classes than ImageNet's 1000. */
void recognise_put_classes(struct text *out, struct slice source,
                           int64_t classes);

/* True if a source compiles to a net with as many parameters and statistics as
 * the file has. */
bool recognise_holds(const struct tensor_file *file, struct netc *netc,
                     struct slice source);

#endif
