/* Protobuf's text format as a tree of fields, for Caffe's .prototxt. */
#ifndef NETC_IMPORT_CAFFE_PROTOTXT_H
#define NETC_IMPORT_CAFFE_PROTOTXT_H

#include "import/graph.h"

struct prototxt_field {
  struct slice name, value; /* `value` is empty for a message */
  bool is_string;
  size_t line;
  struct prototxt_field *inside, *next; /* `inside`: first field of a message */
};

/* The fields of a text; NULL with the graph's error if it is not valid. */
bool prototxt_read(struct graph *graph, struct slice text,
                   struct prototxt_field **fields);

/* The first field of that name below `message`, or NULL. */
struct prototxt_field *prototxt_find(const struct prototxt_field *message,
                                     const char *name);
/* The next field of the same name after `field`. */
struct prototxt_field *prototxt_again(const struct prototxt_field *field);

/* The field's value; `usual` if `message` is NULL or has no such field. */
struct slice prototxt_text(const struct prototxt_field *message,
                           const char *name, const char *usual);
bool prototxt_bool(const struct prototxt_field *message, const char *name,
                   bool usual);
/* An integer within [least, most]; else the graph's error and `usual`. */
int64_t prototxt_int(struct graph *graph, const struct prototxt_field *message,
                     const char *name, int64_t usual, int64_t least,
                     int64_t most);
/* A finite real; else the graph's error and `usual`. */
double prototxt_real(struct graph *graph, const struct prototxt_field *message,
                     const char *name, double usual);

/* A field's own value as an integer within [least, most]; else an error. */
int64_t prototxt_value(struct graph *graph, const struct prototxt_field *field,
                       int64_t least, int64_t most);

#endif
