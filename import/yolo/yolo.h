/*
 * State of reading YOLO's YAML: yaml.c parses the part of YAML that these files
 * use, yolo.c the modules, which become calls of the defs in
 * examples/yolo/blocks/modules.net.
 */
#ifndef NETC_IMPORT_YOLO_YOLO_H
#define NETC_IMPORT_YOLO_YOLO_H

#include "base/map.h"
#include "import/reader.h"

enum { YOLO_DEEPEST = 8, YOLO_VALUES = 100000, YOLO_MODULES = 2000 };

/* A word, a list, or the members of an object, which have keys. */
struct yolo_value {
  size_t line;
  bool list;
  struct slice key, text;
  VEC(struct yolo_value *) items;
};

struct yolo_module {
  const struct yolo_row *row;
  size_t line;
  int64_t repeats, channels; /* of the output; 0: a head */
  const struct yolo_value *args;
  VEC(int64_t) from; /* indices of modules; -1: the input */
  bool read;         /* by one that is not next */
};

struct yolo {
  struct graph *graph;
  const struct import_options *options;
  struct yolo_value *root;
  VEC(struct yolo_module *) modules;
  int64_t classes, boxes;    /* boxes: anchors at each place, or 0 */
  int64_t points;            /* values of the key points */
  double depth, width, most; /* most: of channels before the width */
  char scale;                /* 0: none */
  struct map strange;        /* names of modules that netc does not know */
  bool light;                /* heads of C3k2 and later */
  struct text out;
  struct yolo_module *at; /* the current module, and its index */
  int64_t index;
};

typedef bool yolo_fn(struct yolo *y);

/* Fills y->root; false with the graph's error. */
bool yolo_parse(struct yolo *y, struct slice file);
/* A member, the last of its name; or NULL. */
const struct yolo_value *yolo_member(const struct yolo_value *object,
                                     const char *key);

#endif
