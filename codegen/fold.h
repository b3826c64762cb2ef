/*
 * Folding: rows as a tree of groups, in which equal turns that follow each
 * other are shown once, `x 12`.
 */
#ifndef NETC_CODEGEN_FOLD_H
#define NETC_CODEGEN_FOLD_H

#include "codegen/rows.h"

/*
 * A line of a report or a box of a diagram, in preorder. A part of several
 * rows, a group or what repeats, is a line of its own; the lines of one turn
 * follow it at the next `depth`. Turns are equal if a reader sees no
 * difference: layers with arguments, shapes, costs, and inputs either from
 * the same distance or the very same tensor. Turns keep to groups.
 */
struct fold_line {
  size_t row;    /* the first one, in rows.at */
  size_t period; /* rows of one turn */
  int64_t times; /* turns */
  int depth;
  int64_t group;  /* that a turn is, or NO_NODE */
  int64_t inside; /* the group around it, whose name its names leave out */
  bool varies;    /* FOLD_ALIKE: the turns have other sizes */
};

struct folds {
  struct fold_line *at;
  size_t count;
  int deepest;
};

enum fold_how {
  FOLD_NONE,  /* each row is a line, and groups have none */
  FOLD_EQUAL, /* turns that are equal */
  FOLD_ALIKE, /* also those that are written alike, of other sizes or inputs */
};

/* All rows as lines. */
struct folds folds_of(const struct compiled *c, struct rows *rows,
                      enum fold_how how);

/* The costs of all turns of a line. */
struct cost fold_cost(const struct rows *rows, const struct fold_line *line);

#endif
