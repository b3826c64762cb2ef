/* Flow: reduces a net to few enough boxes to draw, and the edges between
 * them. */
#ifndef NETC_DRAWING_FLOW_H
#define NETC_DRAWING_FLOW_H

#include "drawing/leaves.h"

/* Consecutive leaves [first, end) that look alike or are elided. */
struct flow_box {
  size_t first, end;
  bool elided;
};

/* The largest tensor that one box reads from another. */
struct flow_edge {
  size_t from, to; /* boxes, from < to */
  int64_t node;    /* the node that makes it */
  int lane;        /* lane over boxes, from 1; 0: to the next box */
};

/* Boxes [first, end) that are repeated. */
struct flow_frame {
  size_t first, end;
  int64_t times;
};

struct flow {
  const struct compiled *c;
  struct leaves leaves;
  struct flow_box *boxes;
  size_t count;
  bool alike;    /* iterations drawn as one may differ in sizes */
  size_t elided; /* leaves in the elided box */
  VEC(struct flow_frame) frames;
  VEC(struct flow_edge) edges;
  size_t hidden; /* edges that found no lane */
};

/* The chains of leaves that are one box: none, those with one output shape, or
 * with one map size. */
enum flow_join { FLOW_LEAVES, FLOW_SHAPES, FLOW_SIZES };

/* At most `most` boxes, in the order of the source. */
struct flow flow_of(const struct compiled *c, size_t most, enum flow_join join);

/*
 * Gives edges lanes; edges of one box may share one. `rows` has the row of each
 * edge, below the number of boxes, or -1 for none; NULL: edges to the next box
 * have none, the others are in one row.
 */
void flow_choose_lanes(struct flow *flow, const int *rows);

/* The number of leaves in a box. */
static inline size_t flow_size(const struct flow_box *box) {
  return box->end - box->first;
}

static inline const struct leaf *flow_leaf(const struct flow *flow,
                                           const struct flow_box *box) {
  return &flow->leaves.at[box->first];
}

/* The number of times that the net has the box, with all its leaves. */
int64_t flow_turns(const struct flow *flow, const struct flow_box *box);

/* The last row of a box, whose shape is the box's output. */
static inline const struct row *flow_row(const struct flow *flow,
                                         const struct flow_box *box) {
  return leaf_row(&flow->leaves, &flow->leaves.at[box->end - 1]);
}

/* True if a box stands for several rows: a group or a repeat. */
static inline bool flow_is_group(const struct flow *flow,
                                 const struct flow_box *box) {
  return flow_leaf(flow, box)->line->period > 1 ||
         flow_row(flow, box)->group != NO_NODE;
}

/* " x 3", or " +2" if the others differ from the first, or nothing. */
void flow_put_count(struct text *out, const struct flow *flow,
                    const struct flow_box *box);

/* "conv1", "conv1 x 3", "57 boxes left out". */
void flow_put_name(struct text *out, const struct flow *flow,
                   const struct flow_box *box);

/* The layer as written, or the shape of an input, without what the name
 * says. */
void flow_put_layer(struct text *out, const struct flow *flow,
                    const struct flow_box *box);

/* The shape on an edge, if the node changes its input's shape. */
void flow_put_change(struct text *out, const struct flow *flow,
                     const struct flow_edge *edge);

/* Sentences on what was left out or joined to fit; may be empty. */
void flow_put_remarks(struct text *out, const struct flow *flow);

#endif
