/* Convolutions and pools of a graph, for all readers. */
#ifndef NETC_IMPORT_WINDOW_H
#define NETC_IMPORT_WINDOW_H

#include "import/graph.h"

/* By spatial axis, in netc's order: height, width or depth, height, width. */
struct graph_window {
  int axes;
  bool tf; /* before and after are TensorFlow's SAME, at this size */
  int64_t kernel[3], stride[3], dilate[3], before[3], after[3];
};

/* A window that is equal on all axes, without padding. */
struct graph_window window_square(int axes, int64_t kernel, int64_t stride);

/* False if the layer's rule finds its window larger than the padded input;
 * a layer that it refuses for another reason is reported later. */
bool window_fits(struct graph *graph, const struct graph_node *node);

/* Adds the help for a window that is larger than its padded input; false. */
bool window_help(struct graph *graph);

/*
 * Outputs along an axis of `in` values, rounded down; 0 or less if the window
 * does not fit. Arguments below 2^40, as every reader checks.
 */
int64_t window_count(const struct graph_window *w, int axis, int64_t in);

/* Rounded up: a last window that is cut off counts, if it begins inside. */
int64_t window_count_up(const struct graph_window *w, int axis, int64_t in);

/* Pads as TensorFlow's SAME does for a map of that size. */
void window_same(struct graph_window *w, const int64_t *in);

/*
 * `conv`, or `dwconv` where each of the input's channels has a group of its
 * own; the shape follows where the input's is known.
 */
struct graph_node *window_conv(struct graph *graph, int input,
                               int64_t in_channels, int64_t channels,
                               int64_t groups, const struct graph_window *w);

/*
 * `deconv`, with padding that is cut off and `more` at the end, NULL for none;
 * false where nothing is left, which is the caller's to say.
 */
bool window_deconv(struct graph *graph, int input, int64_t channels,
                   int64_t groups, const struct graph_window *w,
                   const int64_t *more, struct graph_node **node);

/* `pool` or `avgpool`; `ceil` rounds up. The shape is the caller's. */
struct graph_node *window_pool(struct graph *graph, enum layer_word word,
                               int input, const struct graph_window *w,
                               bool ceil);

/* The stride argument; `usual` leaves it out where it is that on each axis. */
void window_stride(struct graph *graph, struct graph_node *node,
                   const struct graph_window *w, const int64_t *usual);

#endif
