/* Sections of Darknet: darknet.c reads them, and the rows of darknet.def
 * translate them into layers. */
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
  const char *missing[DARKNET_MISSING]; /* options that were not found */
  size_t missing_count;
};

struct darknet {
  struct graph *graph;
  VEC(struct darknet_section) sections;
  const struct import_options *options;
  VEC(int) layers;               /* output node, by Darknet's layer number */
  enum layer_word word;          /* the first word of the current row */
  struct darknet_values *values; /* NULL: values are not needed */
};

/* Removes blanks at both ends. */
struct slice darknet_trim(struct slice text);

/* The first option of that name. */
struct darknet_option *darknet_find(struct darknet_section *s, const char *key);
/* Notes unread options that resemble a missing one. */
void darknet_note_slips(struct darknet *d, struct darknet_section *s);
struct slice darknet_word(struct darknet_section *s, const char *key,
                          const char *usual);
/* Reads the leading digits; false if there are none or too many. */
bool darknet_integer(struct darknet *d, size_t line, struct slice text,
                     int64_t *value);

/* The maximum absolute value of a section's numbers. */
#define DARKNET_MOST (1 << 30)
int64_t darknet_number(struct darknet *d, struct darknet_section *s,
                       const char *key, int64_t usual);

/* A number of at least `least`, or `usual` if it is missing. */
int64_t darknet_at_least(struct darknet *d, struct darknet_section *s,
                         const char *key, int64_t usual, int64_t least);

/* Fails at the section. The result is a valid node that nobody uses. */
#define DARKNET_FAIL(d, s, ...) \
  (graph_fail((d)->graph, (s)->line, __VA_ARGS__), 0)

/* Layers: each function adds layers after a node and returns the last one. */

typedef int darknet_add_fn(struct darknet *d, struct darknet_section *s,
                           int input);
#define SECTION(name, short_name, function, ...) darknet_add_fn function;
#include "ops/darknet.def"
#undef SECTION

struct darknet_size {
  int64_t height, width, channels;
};

struct darknet_size darknet_size(struct darknet *d, int index);
/* Adds the section's activation. */
int darknet_activate(struct darknet *d, struct darknet_section *s, int input,
                     const char *usual);
/* The section's kernel and stride, which may differ between axes. */
struct graph_window darknet_window(struct darknet *d, struct darknet_section *s,
                                   int64_t usual_size);
void darknet_strides(struct darknet *d, struct darknet_section *s,
                     struct graph_window *w);

/*
 * Opens the file of weights if values are needed, reads it in the order of the
 * sections to its last byte, and closes it. Call darknet_values_end in any
 * case.
 */
bool darknet_values_open(struct darknet *d);
bool darknet_values_end(struct darknet *d);
void darknet_values_close(struct darknet *d);
/* Takes the next values as a tensor of the layer. */
void darknet_take(struct darknet *d, struct darknet_section *s,
                  struct graph_node *node, const char *name, int64_t count);
/* Fails if values are needed: netc would not compute the same with them. */
void darknet_lacks_values(struct darknet *d, const struct darknet_section *s);

/* Adds the layers of a section; returns its output node. */
int darknet_layer(struct darknet *d, struct darknet_section *s);

#endif
