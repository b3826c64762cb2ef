/* Source map: the texts of a compilation, and positions in them. */
#ifndef NETC_BASE_SOURCE_H
#define NETC_BASE_SOURCE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/slice.h"

/*
 * Bytes [begin, end) in the concatenation of all texts. Line and column are
 * computed only for printing.
 */
struct span {
  uint32_t begin, end;
};

struct source {
  struct slice name; /* as the user wrote it */
  struct slice text; /* immutable */
  uint32_t base;     /* offset of its first byte among all texts */
  uint32_t *lines;   /* offsets of line starts; NULL until needed */
  size_t line_count;
  size_t late_line; /* line of the last request */
  /* Code points before every COLUMN_STEP bytes, for very long lines. */
  uint32_t *code_points;
};

struct sources {
  struct arena *arena;
  VEC(struct source) all;
};

/*
 * Adds a text, which must live as long as the arena. Returns its index, or -1
 * if LIMIT_SOURCE_BYTES would be exceeded.
 */
int sources_add(struct sources *sources, struct slice name, struct slice text);

/* The name of a text that is a command-line option. */
#define COMMAND_LINE "<command line>"

/* A position as in editors: line and column from 1. */
struct position {
  const struct source *source;
  uint32_t line, column; /* column in code points */
  struct slice text;     /* the whole line without its end */
  uint32_t offset;       /* bytes from the line's start */
};

struct position sources_position(struct sources *sources, uint32_t offset);

/* The text of a span. */
struct slice sources_slice(const struct sources *sources, struct span span);

/* The text from a place to the end of its source. */
struct slice sources_rest(const struct sources *sources, uint32_t offset);

static inline struct span span_join(struct span a, struct span b) {
  return (struct span){a.begin, b.end};
}

#endif
