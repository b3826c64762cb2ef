/*
 * Folding: rows as a tree of groups. Equal iterations in a row are shown once,
 * `x 12`.
 */
#ifndef NETC_CODEGEN_FOLD_H
#define NETC_CODEGEN_FOLD_H

#include "codegen/rows.h"

/*
 * A line of a report, in preorder. A part of several rows, a group or what
 * repeats, is a line of its own; the lines of one iteration follow it at the
 * next `depth`. Iterations are equal if a reader sees no difference: layers
 * with arguments, shapes, costs, and inputs either from the same distance or
 * the same tensor. Iterations do not cut groups.
 */
struct fold_line {
  size_t row;    /* the first one, in rows.at */
  size_t period; /* rows of one iteration */
  int64_t times; /* iterations */
  int depth;
  int64_t group;  /* the group that an iteration is, or NO_NODE */
  int64_t inside; /* the group around it, whose name its names leave out */
  bool varies;    /* FOLD_ALIKE: the iterations differ in sizes */
};

struct folds {
  struct fold_line *at;
  size_t count;
  int deepest;
};

enum fold_how {
  FOLD_NONE,  /* each row is a line, and groups have none */
  FOLD_EQUAL, /* equal iterations are one line */
  FOLD_ALIKE, /* so are those written alike, of other sizes or inputs */
};

/* Lines for all rows. */
struct folds folds_of(const struct compiled *c, struct rows *rows,
                      enum fold_how how);

/* The costs of all iterations of a line. */
struct cost fold_cost(const struct rows *rows, const struct fold_line *line);

#endif
