/* Convolutions and pools of a graph, shared by all readers. */
#ifndef NETC_IMPORT_WINDOW_H
#define NETC_IMPORT_WINDOW_H

#include "import/graph.h"

/* By spatial axis in netc's order: height, width or depth, height, width. */
struct graph_window {
  int axes;
  bool tf; /* before and after are TensorFlow's SAME, at this size */
  int64_t kernel[3], stride[3], dilate[3], before[3], after[3];
};

/* A window with equal sizes on all axes, without padding. */
struct graph_window window_square(int axes, int64_t kernel, int64_t stride);

/* Adds help for a window larger than its padded input; returns false. */
bool window_help(struct graph *graph);

/*
 * Adds help for maps that are joined and differ: an input whose sides the
 * total stride divides, if it does not divide those of the only one, or else
 * `otherwise`. Returns false.
 */
bool window_meet_help(struct graph *graph, const char *otherwise);

/* Outputs along an axis of `in` values, rounded down; 0 or less if the window
 * does not fit. Arguments are below 2^40: every reader checks that. */
int64_t window_count(const struct graph_window *w, int axis, int64_t in);

/* Outputs rounded up: a cut-off last window counts if it begins inside. */
int64_t window_count_up(const struct graph_window *w, int axis, int64_t in);

/* Sets the padding of TensorFlow's SAME for a map of that size. */
void window_same(struct graph_window *w, const int64_t *in);

/* Adds `conv`, or `dwconv` if each input channel is a group of its own. */
struct graph_node *window_conv(struct graph *graph, int input,
                               int64_t in_channels, int64_t channels,
                               int64_t groups, const struct graph_window *w);

/* Adds `deconv`, with padding that is cut off and `more` at the end (NULL:
 * none). */
struct graph_node *window_deconv(struct graph *graph, int input,
                                 int64_t channels, int64_t groups,
                                 const struct graph_window *w,
                                 const int64_t *more);

/* Adds `pool` or `avgpool`; `ceil` rounds up. */
struct graph_node *window_pool(struct graph *graph, enum layer_word word,
                               int input, const struct graph_window *w,
                               bool ceil);

/* Adds the stride, which is omitted if it is `usual` on each axis. */
void window_stride(struct graph *graph, struct graph_node *node,
                   const struct graph_window *w, const int64_t *usual);

#endif
