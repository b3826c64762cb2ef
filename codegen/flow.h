/* Flow: few enough boxes to draw a net with, and what leads from one to
   another. */
#ifndef NETC_CODEGEN_FLOW_H
#define NETC_CODEGEN_FLOW_H

#include "codegen/rows.h"

/* Rows [first, end) that follow one another and look alike, or were elided. */
struct flow_box {
  size_t first, end;
  bool elided;
};

/* The largest tensor that one box reads of another. */
struct flow_edge {
  size_t from, to; /* boxes, from < to */
  int64_t node;    /* that makes it */
  int lane;        /* of those that pass over boxes, from 1; 0: to the next */
};

/* When are neighbours of a chain drawn as one? */
enum flow_alike {
  FLOW_SHAPES, /* their outputs have the same shape */
  FLOW_LAYERS  /* they are the same layer of the same shape and cost */
};

struct flow {
  const struct compiled *c;
  struct emit_options options; /* with the depth that was chosen */
  bool folded;                 /* groups are, so that the boxes fit */
  struct rows rows;
  struct flow_box *boxes;
  size_t count;
  size_t elided; /* rows without a box of their own */
  VEC(struct flow_edge) edges;
  int lanes;
  size_t hidden; /* edges that found no lane */
};

/* At most `most` boxes, in the order of the source. */
struct flow flow_of(const struct compiled *c,
                    const struct emit_options *options, size_t most,
                    enum flow_alike alike);

/* How many rows a box stands for. */
static inline size_t flow_size(const struct flow_box *box) {
  return box->end - box->first;
}

/* The row that a box shows: its last. */
static inline const struct row *flow_row(const struct flow *flow,
                                         const struct flow_box *box) {
  return &flow->rows.at[box->end - 1];
}

/* "conv1", "conv1 x 3", "57 rows". */
void flow_put_name(struct text *out, const struct flow *flow,
                   const struct flow_box *box);

/* Its layer as written, or the shape of an input; nothing that the name says.
 */
void flow_put_layer(struct text *out, const struct flow *flow,
                    const struct flow_box *box);

/* The shape that an edge carries, if what made it got another one. */
void flow_put_change(struct text *out, const struct flow *flow,
                     const struct flow_edge *edge);

/* What was done so that it fits, in sentences; or nothing. */
void flow_put_remarks(struct text *out, const struct flow *flow);

#endif
