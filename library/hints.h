/* The shape at the end of each line, also remembered from earlier loads. */
#ifndef NETC_LIBRARY_HINTS_H
#define NETC_LIBRARY_HINTS_H

#include "library/context.h"

/* Hint for a line that makes a layer. */
struct line_hint {
  const char *shape; /* NULL: no layer */
  size_t end;        /* end of the line in its source */
  int64_t layer;     /* last layer of the line; -1: remembered */
  bool exact, recalled;
};

struct unit_hints {
  size_t count; /* lines */
  struct line_hint *lines;
  VEC(uint32_t) made; /* lines with a shape, on demand */
};

/* By unit. Computed once for a load, in its arena. */
const struct unit_hints *hints_of(struct call *call);

/* After a load: keeps the known shapes, and restores others from earlier
 * loads. */
void recall_lines(struct call *call);
void recall_close(struct netc *netc);

#endif
