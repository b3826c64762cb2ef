/* Darknet's sections: what darknet.c reads and darknet_layers.c turns into
 * layers. */
#ifndef NETC_IMPORT_DARKNET_DARKNET_H
#define NETC_IMPORT_DARKNET_DARKNET_H

#include "import/reader.h"

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
  VEC(int) layers; /* by Darknet's number: the node of its output */
};

/* Without the blanks at both ends. */
struct slice darknet_trim(struct slice text);

/* The option of that name; the last one counts, as in Darknet's own list. */
struct darknet_option *darknet_find(struct darknet_section *s, const char *key);
/* Notes options that nobody has read and that look like one that is missing. */
void darknet_note_slips(struct darknet *d, struct darknet_section *s);
struct slice darknet_word(struct darknet_section *s, const char *key,
                          const char *usual);
bool darknet_integer(struct slice text, int64_t *value);

/* No number of a section is larger, nor smaller than minus that. */
#define DARKNET_MOST (1 << 30)
int64_t darknet_number(struct darknet *d, struct darknet_section *s,
                       const char *key, int64_t usual);

/* A number of a section that has to be at least `least`, or `usual`. */
int64_t darknet_at_least(struct darknet *d, struct darknet_section *s,
                         const char *key, int64_t usual, int64_t least);

/* Adds the layers of a section; returns the node of its output. */
int darknet_layer(struct darknet *d, struct darknet_section *s);

#endif
