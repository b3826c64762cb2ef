/* Flow: few enough boxes to draw a net with, and what leads from one to
   another. */
#ifndef NETC_DRAWING_FLOW_H
#define NETC_DRAWING_FLOW_H

#include "drawing/leaves.h"

/* Leaves [first, end) that follow one another and look alike, or were elided.
 */
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

/* Boxes [first, end) that are there several times. */
struct flow_frame {
  size_t first, end;
  int64_t times;
};

struct flow {
  const struct compiled *c;
  struct leaves leaves;
  struct flow_box *boxes;
  size_t count;
  bool alike;    /* turns that are one may be of other sizes */
  size_t elided; /* leaves without a box of their own */
  VEC(struct flow_frame) frames;
  VEC(struct flow_edge) edges;
  int lanes;
  size_t hidden; /* edges that found no lane */
};

/*
 * At most `most` boxes, in the order of the source; with `by_shape`, what
 * follows in a chain and leaves the same shape is one.
 */
struct flow flow_of(const struct compiled *c, size_t most, bool by_shape);

/* How many leaves a box stands for. */
static inline size_t flow_size(const struct flow_box *box) {
  return box->end - box->first;
}

static inline const struct leaf *flow_leaf(const struct flow *flow,
                                           const struct flow_box *box) {
  return &flow->leaves.at[box->first];
}

/* How often the box is there, its leaves and their turns. */
int64_t flow_turns(const struct flow *flow, const struct flow_box *box);

/* The row whose shape leaves a box: its last. */
static inline const struct row *flow_row(const struct flow *flow,
                                         const struct flow_box *box) {
  return leaf_row(&flow->leaves, &flow->leaves.at[box->end - 1]);
}

/* Whether it stands for several rows, a group or what repeats. */
static inline bool flow_is_group(const struct flow *flow,
                                 const struct flow_box *box) {
  return flow_leaf(flow, box)->line->period > 1 ||
         flow_row(flow, box)->group != NO_NODE;
}

/* " x 3", or " +2" if others follow than the first is; or nothing. */
void flow_put_count(struct text *out, const struct flow *flow,
                    const struct flow_box *box);

/* "conv1", "conv1 x 3", "57 boxes left out". */
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
