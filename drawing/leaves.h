/*
 * Leaves: the lines of a folded net that a picture shows, where inner ones
 * are left out until few enough remain. They partition the rows.
 */
#ifndef NETC_DRAWING_LEAVES_H
#define NETC_DRAWING_LEAVES_H

#include "codegen/fold.h"

struct leaf {
  const struct fold_line *line;
  int64_t turns; /* of it and of what is around it: how often it is there */
};

/* Leaves [first, end) that are there several times, one turn after another. */
struct leaf_frame {
  size_t first, end;
  int64_t times;
};

struct leaves {
  const struct compiled *c;
  struct rows rows;
  struct folds folds;
  struct leaf *at;
  size_t count;
  size_t *of_row;                /* by row: its leaf */
  VEC(struct leaf_frame) frames; /* outer ones first */
  bool closed;                   /* inner lines are left out, so that it fits */
};

/* All rows, folded so or as the options say, each line that has no inner one.
 */
struct leaves leaves_of(const struct compiled *c, enum fold_how how);

/*
 * One level less. False, with nothing changed, if there is none, or if fewer
 * than `fewest` leaves would remain.
 */
bool leaves_close(struct leaves *leaves, size_t fewest);

/* The last row of its first turn: whose shape leaves it. */
static inline const struct row *leaf_row(const struct leaves *leaves,
                                         const struct leaf *leaf) {
  return &leaves->rows.at[leaf->line->row + leaf->line->period - 1];
}

/* "conv1", "bottleneck1", "ln1..add2": without its turns. */
void leaf_put_name(struct text *out, const struct leaves *leaves,
                   const struct leaf *leaf);

/* The same of a layer without the groups around it; "ln1..". */
void leaf_put_own_name(struct text *out, const struct leaves *leaves,
                       const struct leaf *leaf);

/* Its layer as written, the call of a group, "9 rows". */
void leaf_put_layer(struct text *out, const struct leaves *leaves,
                    const struct leaf *leaf);

#endif
