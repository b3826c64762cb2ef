/* The shape at the end of each line, and what is remembered of it. */
#ifndef NETC_LIBRARY_HINTS_H
#define NETC_LIBRARY_HINTS_H

#include "library/context.h"

/* Of a line that makes a layer. */
struct line_hint {
  const char *shape; /* NULL: it makes none */
  size_t end;        /* the byte of its source where it ends */
  int64_t layer;     /* the last one that it makes; -1: it is remembered */
  bool exact, recalled;
};

struct unit_hints {
  size_t count; /* of lines */
  struct line_hint *lines;
  VEC(uint32_t) made; /* those that have a shape, once asked for */
};

/* By unit; looked for once in a load, in its arena. */
const struct unit_hints *hints_of(struct call *call);

/* After a load: what is known now is kept, what no longer is comes back. */
void recall_lines(struct call *call);
void recall_close(struct netc *netc);

#endif
