/* Darknet's sections: what darknet.c reads becomes layers by the rows of
 * darknet.def. */
#ifndef NETC_IMPORT_DARKNET_DARKNET_H
#define NETC_IMPORT_DARKNET_DARKNET_H

#include "import/reader.h"
#include "import/window.h"

struct darknet_option {
  struct slice key, value;
  size_t line;
  bool read;
};

enum { DARKNET_MISSING = 24 };

struct darknet_section {
  struct slice name; /* without brackets */
  size_t line;
  VEC(struct darknet_option) options;
  const char *missing[DARKNET_MISSING]; /* options that were looked for */
  size_t missing_count;
};

struct darknet {
  struct graph *graph;
  VEC(struct darknet_section) sections;
  const struct import_options *options;
  VEC(int) layers;      /* by Darknet's number: the node of its output */
  enum layer_word word; /* the first of the row that is being read */
  struct darknet_values *values; /* NULL: they are not wanted */
};

/* Removes the blanks at both ends. */
struct slice darknet_trim(struct slice text);

/* The option of that name; the first one counts. */
struct darknet_option *darknet_find(struct darknet_section *s, const char *key);
/* Notes options that nobody has read and that look like one that is missing. */
void darknet_note_slips(struct darknet *d, struct darknet_section *s);
struct slice darknet_word(struct darknet_section *s, const char *key,
                          const char *usual);
/* The digits that it begins with; false: none, or too many. */
bool darknet_integer(struct darknet *d, size_t line, struct slice text,
                     int64_t *value);

/* No number of a section is larger, nor smaller than minus that. */
#define DARKNET_MOST (1 << 30)
int64_t darknet_number(struct darknet *d, struct darknet_section *s,
                       const char *key, int64_t usual);

/* A number of a section that has to be at least `least`, or `usual`. */
int64_t darknet_at_least(struct darknet *d, struct darknet_section *s,
                         const char *key, int64_t usual, int64_t least);

/* Fails at the section; the result, a node that exists, is not looked at. */
#define DARKNET_FAIL(d, s, ...) \
  (graph_fail((d)->graph, (s)->line, __VA_ARGS__), 0)

/* Layers: each function adds a section's to a node and returns the last. */

typedef int darknet_add_fn(struct darknet *d, struct darknet_section *s,
                           int input);
#define SECTION(name, short_name, function, ...) darknet_add_fn function;
#include "ops/darknet.def"
#undef SECTION

struct darknet_size {
  int64_t height, width, channels;
};

struct darknet_size darknet_size(struct darknet *d, int index);
/* The section's activation after a layer. */
int darknet_activate(struct darknet *d, struct darknet_section *s, int input,
                     const char *usual);
/* The layer; fails where its window is larger than its padded input. */
int darknet_fit(struct darknet *d, const struct darknet_section *s,
                const struct graph_node *node);
/* Kernel and stride of a section; some have a stride for each axis, too. */
struct graph_window darknet_window(struct darknet *d, struct darknet_section *s,
                                   int64_t usual_size);
void darknet_strides(struct darknet *d, struct darknet_section *s,
                     struct graph_window *w);

/*
 * The file of weights, if it is wanted: opened, and read in the order of the
 * sections, to its last byte. Close it in any case.
 */
bool darknet_values_open(struct darknet *d);
bool darknet_values_end(struct darknet *d);
void darknet_values_close(struct darknet *d);
/* The next values are a tensor of that layer. */
void darknet_take(struct darknet *d, struct darknet_section *s,
                  struct graph_node *node, const char *name, int64_t count);
/* An error if its values are wanted: they mean something else here. */
void darknet_lacks_values(struct darknet *d, const struct darknet_section *s);

/* Adds the layers of a section; returns the node of its output. */
int darknet_layer(struct darknet *d, struct darknet_section *s);

#endif
