/* Importing: what is asked for, by `netc import` or of a file that another
   command was given, and the source that it becomes. */
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
  const char *parameters[REQUEST_SIZES];
  struct arena arena;
  struct bytes formatted;
  struct opened_file opening;
  struct netc *netc;
  enum netc_status loaded; /* what the library last said */
  bool types;              /* lists what is read */
  int status;
};

/* An option of `netc import` (`user`: the request), and an --input alone. */
int request_take(void *user, enum option_id option, const char *name,
                 char *value);
int request_take_input(struct import_request *r, char *value);

/* A context that opens no file: a file's own source may have a stranger's
 * `use`, which netc writes into none. */
struct netc *request_context(void);

/* The file as a source, which `formatted` has then, compared with it. */
int request_make_source(struct import_request *r,
                        const struct opened_file *opening, struct graph *graph,
                        struct imported *result);

/* Says why a graph failed. */
int request_refuse(const struct import_request *r, struct graph *graph);

/* "nets/yolov3.weights" for "nets/yolov3.cfg" */
const char *request_beside(struct import_request *r, const char *suffix);

/* An output would take the name of what it is made of. */
int request_would_replace(const char *path);

/* Tensors alone, of which the net is guessed. */
bool request_is_weights(struct opened_file *opening);

#endif
