/* Outputs that the program makes, not the library: formats of others. */
#ifndef NETC_DRIVER_EXPORT_H
#define NETC_DRIVER_EXPORT_H

#include "driver/command.h"

enum { OPSET_LEAST = 11, OPSET_USUAL = 13, OPSET_MOST = 21 };

/* What is exported, and where to. */
struct export_request {
  struct netc *netc;   /* with the net */
  const char *net;     /* its path, for messages */
  const char *path;    /* of the output; "-": standard output */
  FILE *file;          /* of the same */
  const char *weights; /* a safetensors file; NULL: none */
  int64_t opset;
  bool keeps_source; /* in the file, where that is the whole net */
  bool dynamic;      /* the batch is left open */
  bool names_input;  /* --input has a name, be it the only one */
  /* Compiles the net anew, with what was set since, perhaps without a word; an
   * exit status. */
  int (*recompile)(void *user, bool quiet);
  void *user;
  char *refused; /* where it goes why no model is written of this net, of that
                    room; NULL: it is complained of */
  size_t refused_room;
};

/* Complains, and returns an exit status; EXIT_DONE, too, where it is refused
 * without complaint. */
typedef int export_fn(const struct export_request *request);

struct export_kind {
  const char *name, *summary;
  export_fn *write;
};

/* NULL after the last one; the same by name. */
const struct export_kind *export_at(size_t index);
const struct export_kind *export_find(const char *name);

export_fn export_onnx;

#endif
