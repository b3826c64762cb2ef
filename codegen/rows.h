/* Rows: what a report, a table and a diagram show as one line or box. */
#ifndef NETC_CODEGEN_ROWS_H
#define NETC_CODEGEN_ROWS_H

#include "codegen/backend.h"

/*
 * A statement with its tail; with --expand, a layer; with --depth, a group
 * that is folded. Rows partition the nodes, so their sums are the totals.
 */
struct row {
  int64_t first, end; /* the nodes [first, end) */
  int64_t head;       /* the node whose layer is shown */
  int64_t group;      /* the folded group, or NO_NODE */
  int64_t owner;      /* the group it stands in */
  struct cost cost;
  bool shares;          /* its parameters are another row's */
  size_t first_warning; /* in model->warnings */
  size_t warning_count;
};

struct rows {
  struct row *at;
  size_t count;
  int64_t *of_node; /* by node: its row */
  uint64_t *words;  /* by row: a hash of its layer; NULL: not asked for yet */
  uint64_t *series; /* the same without the numbers of labels: `x[3]` */
};

/* The rows of a compiled net. A few of one group may not be neighbours. */
struct rows rows_of(const struct compiled *c);

void row_put_name(struct text *out, const struct compiled *c,
                  const struct row *row);

/* The same without the names of `group` and those around it. */
void row_put_name_inside(struct text *out, const struct compiled *c,
                         const struct row *row, int64_t group);

/* As written, with values; a join with what it joins, if `operands`. */
void row_put_layer(struct text *out, const struct compiled *c,
                   const struct row *row, bool operands);

/* The same, in tails only what acts: no `identity`. */
void row_put_acting(struct text *out, const struct compiled *c,
                    const struct row *row, bool operands);

/* The shape that leaves the row. */
const struct shape *row_shape(const struct compiled *c, const struct row *row);

/* The report's table, without what is above it: report.c */
void report_put_table(const struct compiled *c, struct text *out);

/* "image", "sequence", "sample": one of a batch. */
const char *sample_word(const struct compiled *c);

#endif
