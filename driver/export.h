/* Outputs that the program makes, not the library: formats of other tools. */
#ifndef NETC_DRIVER_EXPORT_H
#define NETC_DRIVER_EXPORT_H

#include "driver/command.h"

enum { OPSET_LEAST = 11, OPSET_USUAL = 13, OPSET_MOST = 21 };

/* A net to export, and its destination. */
struct export_request {
  struct netc *netc;   /* has the net */
  const char *net;     /* path of the net, for messages */
  const char *path;    /* of the output; "-": standard output */
  FILE *file;          /* `path`, open */
  const char *weights; /* a safetensors file; NULL: none */
  int64_t opset;
  bool keeps_source; /* if the source is the whole net */
  bool dynamic;      /* leaves the batch open */
  bool names_input;  /* --input has a name, even for a single input */
  /* Compiles the net again with the current settings; without messages if
   * `quiet`. Returns an exit status. */
  int (*recompile)(void *user, bool quiet);
  void *user;
  char *refused; /* buffer for the reason of a refusal, with its room; NULL:
                  * complain instead */
  size_t refused_room;
};

/* Complains and returns an exit status; EXIT_DONE also after a refusal without
 * complaint. */
typedef int export_fn(const struct export_request *request);

struct export_kind {
  const char *name, *summary;
  export_fn *write;
};

/* By index, NULL after the last; and by name. */
const struct export_kind *export_at(size_t index);
const struct export_kind *export_find(const char *name);

export_fn export_onnx;

#endif
