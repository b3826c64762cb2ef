/* The table of modules in YOLO's YAML. */
#ifndef NETC_IMPORT_YOLO_MODULES_H
#define NETC_IMPORT_YOLO_MODULES_H

#include "import/yolo/yolo.h"

enum yolo_kind { YOLO_SAME, YOLO_CHANNELS, YOLO_REPEATS };

struct yolo_row {
  const char *name, *def;
  yolo_fn *write;
  enum yolo_kind kind;
  enum layer_word word;
};

#define SAME YOLO_SAME
#define CHANNELS YOLO_CHANNELS
#define REPEATS YOLO_REPEATS
#define YOLO(name, def, write, kind, word) yolo_fn write;
#include "ops/yolo.def"
#undef YOLO

const struct yolo_row *yolo_row_of(struct slice name);

/* Fails with "`Conv` WHAT" at the current module; returns false. */
bool yolo_fail(struct yolo *y, const char *what);

/* A number, `nc` too; false if the value is none. */
bool yolo_number(const struct yolo *y, const struct yolo_value *v,
                 double *number);

#endif
