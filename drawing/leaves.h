/*
 * Leaves: the lines of a folded net that a picture shows. Inner lines are left
 * out until few enough leaves remain. The leaves partition the rows.
 */
#ifndef NETC_DRAWING_LEAVES_H
#define NETC_DRAWING_LEAVES_H

#include "codegen/fold.h"

struct leaf {
  const struct fold_line *line;
  int64_t turns; /* times that the net has it, with outer repeats */
};

/* Leaves [first, end) that repeat. */
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
  bool closed;                   /* inner lines were left out to fit */
};

/* All rows, folded by `how` or by the options; each line without inner ones. */
struct leaves leaves_of(const struct compiled *c, enum fold_how how);

/*
 * Leaves out the deepest level. False, with nothing changed, if there is none
 * or if fewer than `fewest` leaves would remain.
 */
bool leaves_close(struct leaves *leaves, size_t fewest);

/* The last row of its first iteration, whose shape is the leaf's output. */
static inline const struct row *leaf_row(const struct leaves *leaves,
                                         const struct leaf *leaf) {
  return &leaves->rows.at[leaf->line->row + leaf->line->period - 1];
}

/* The first node of its first row. */
static inline int64_t leaf_head(const struct leaves *leaves,
                                const struct leaf *leaf) {
  return (int64_t)leaves->rows.at[leaf->line->row].head;
}

/* "conv1", "bottleneck1", "ln1..add2": without the number of repeats. */
void leaf_put_name(struct text *out, const struct leaves *leaves,
                   const struct leaf *leaf);

/* The name of a layer without the groups around it; "ln1..". */
void leaf_put_own_name(struct text *out, const struct leaves *leaves,
                       const struct leaf *leaf);

/* The layer as written, the call of a group, or "9 rows". */
void leaf_put_layer(struct text *out, const struct leaves *leaves,
                    const struct leaf *leaf);

#endif
