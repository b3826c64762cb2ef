/* Rows: the lines or boxes of a report, a table or a diagram. */
#ifndef NETC_CODEGEN_ROWS_H
#define NETC_CODEGEN_ROWS_H

#include "codegen/backend.h"

/* A statement with its tail; with --expand, a layer; with --depth, a folded
 * group. Rows partition the nodes, so their sums are the totals. */
struct row {
  int64_t first, end; /* nodes [first, end) */
  int64_t head;       /* node of the layer shown */
  int64_t group;      /* the folded group, or NO_NODE */
  int64_t owner;      /* the enclosing group */
  struct cost cost;
  bool shares;          /* another row has its parameters */
  size_t first_warning; /* in model->warnings */
  size_t warning_count;
};

struct rows {
  struct row *at;
  size_t count;
  int64_t *of_node; /* by node: its row */
  uint64_t *words;  /* by row: hash of its layer; NULL: not computed */
  uint64_t *series; /* by row: hash without indices of labels: `x[3]` */
};

/* The rows of a compiled net. Rows of one group may be apart. */
struct rows rows_of(const struct compiled *c);

void row_put_name(struct text *out, const struct compiled *c,
                  const struct row *row);

/* Writes the id of a row's box in a diagram; of what has this name. */
void name_put_id(struct text *out, struct slice name);
void row_put_id(struct text *out, const struct compiled *c,
                const struct row *row);

/* Writes the name without `group` and the groups around it. */
void row_put_name_inside(struct text *out, const struct compiled *c,
                         const struct row *row, int64_t group);

/* As in the source, with values; `operands`: with a join's inputs. */
void row_put_layer(struct text *out, const struct compiled *c,
                   const struct row *row, bool operands);

/* As row_put_layer, but without `identity` in tails. */
void row_put_acting(struct text *out, const struct compiled *c,
                    const struct row *row, bool operands);

/* The output shape of the row. */
const struct shape *row_shape(const struct compiled *c, const struct row *row);

/* The report's table without the lines above it: report.c */
void report_put_table(const struct compiled *c, struct text *out);

/* One of a batch: "image", "sequence", "sample". */
const char *sample_word(const struct compiled *c);

#endif
