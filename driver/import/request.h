/* Importing: the request of `netc import`, or of another command with a file of
 * another framework, and the source made from it. */
#ifndef NETC_DRIVER_IMPORT_REQUEST_H
#define NETC_DRIVER_IMPORT_REQUEST_H

#include "driver/opening.h"
#include "driver/options.h"
#include "driver/output.h"
#include "import/reader.h"

enum { REQUEST_INPUTS = 16, REQUEST_SIZES = 32 };

struct import_request {
  const char *path, *output, *weights, *from;
  struct import_options options;
  struct import_input inputs[REQUEST_INPUTS];
  struct import_size sizes[REQUEST_SIZES];
  struct import_arg args[REQUEST_SIZES];
  struct import_scalar scalars[REQUEST_SIZES];
  const char *parameters[REQUEST_SIZES];
  struct arena arena;
  struct bytes formatted;
  struct opened_file opening;
  struct netc *netc;
  enum netc_status loaded; /* the library's last status */
  bool types;              /* list the types that are read */
  int status;
};

/* Takes an option of `netc import` (`user`: the request), or an --input
 * alone. */
int request_take(void *user, enum option_id option, const char *name,
                 char *value);
int request_take_input(struct import_request *r, char *value);

/* A context that opens no files: a source inside a model may have a foreign
 * `use`, which netc never writes there. */
struct netc *request_context(void);

/* Translates the file into a source, proves it, and stores it in
 * `formatted`. */
int request_make_source(struct import_request *r,
                        const struct opened_file *opening, struct graph *graph,
                        struct imported *result);

/* Reports why a graph failed. */
int request_refuse(const struct import_request *r, struct graph *graph);

/* "nets/yolov3.weights" for "nets/yolov3.cfg" */
const char *request_beside(struct import_request *r, const char *suffix);

/* Reports that an output would replace its input. */
int request_would_replace(const char *path);

/* True for a file with only tensors, whose net is recognised. */
bool request_is_weights(struct opened_file *opening);

#endif
