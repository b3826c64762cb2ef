/* Caffe's norms, and a softmax over another axis than that of channels. */
#include "import/caffe/caffe.h"

/* Sums of batches, and by what they are divided (batch_norm_layer.cpp). */
static void take_statistics(struct caffe *c, struct graph_node *node) {
  int64_t channels = caffe_channels(c);
  struct graph_node none = {0};
  float *sums[] = {caffe_take(c, node, "running_mean", 0, channels),
                   caffe_take(c, node, "running_var", 1, channels)};
  const float *factor = caffe_take(c, &none, "", 2, 1);
  float by = !factor || !(*factor < 0 || *factor > 0) ? 0 : 1 / *factor;
  for (int i = 0; i < 2 && factor; i++)
    for (int64_t k = 0; k < channels; k++)
      sums[i][k] *= by;
}

/* Statistics alone; a Scale after it makes it the usual bn. */
bool caffe_batch_norm(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_BN);
  double eps =
      prototxt_real(c->graph, caffe_param(c, "batch_norm_param"), "eps", 1e-5);
  graph_flag(c->graph, node, "noaffine");
  graph_eps(c->graph, node, eps);
  take_statistics(c, node);
  return caffe_give(c, node);
}

/* SegNet's, and that of Caffe for videos: with a scale and a shift. */
bool caffe_whole_norm(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_BN);
  double eps = prototxt_real(c->graph, caffe_param(c, "bn_param"), "eps", 1e-5);
  graph_eps(c->graph, node, eps);
  if (caffe_lacks_values(c, "its weights are not converted: forks of Caffe "
                            "differ in what they are"))
    return false;
  GRAPH_TENSOR(node, 2, node->shape.size[node->shape.rank - 1]);
  return caffe_give(c, node);
}

bool caffe_lrn(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "lrn_param");
  struct slice region = prototxt_text(p, "norm_region", "ACROSS_CHANNELS");
  struct graph_node *node = caffe_first(c, WORD_LRN);
  double alpha = prototxt_real(c->graph, p, "alpha", 1);
  double beta = prototxt_real(c->graph, p, "beta", 0.75);
  double k = prototxt_real(c->graph, p, "k", 1);
  if (alpha < 1e-4 || alpha > 1e-4 || beta < 0.75 || beta > 0.75 || k < 1 ||
      k > 1)
    graph_note(c->graph,
               "`%s` (LRN) has alpha %s, beta %s and k %s; here they are "
               "0.0001, 0.75 and 1.",
               c->at->name, graph_number(c->graph, alpha),
               graph_number(c->graph, beta), graph_number(c->graph, k));
  graph_int(c->graph, node, PART_NONE, "",
            prototxt_int(c->graph, p, "local_size", 5, 1, CAFFE_MOST));
  if (slice_is(region, "WITHIN_CHANNEL") || slice_is(region, "1"))
    graph_flag(c->graph, node, "within");
  return caffe_give(c, node);
}

/* Over the other axis of two: transposed, and back. */
bool caffe_turned_softmax(struct caffe *c) {
  struct graph_node *node = graph_at(c->graph, c->at->bottoms[0]);
  static const enum layer_word words[] = {WORD_PERMUTE, WORD_SOFTMAX,
                                          WORD_PERMUTE};
  for (int i = 0; i < 3; i++) {
    node = graph_layer(c->graph, words[i], node->index);
    if (i == 1)
      continue;
    graph_int(c->graph, node, PART_NONE, "", 1);
    graph_int(c->graph, node, PART_NONE, "", 0);
    int64_t first = node->shape.size[0];
    node->shape.size[0] = node->shape.size[1];
    node->shape.size[1] = first;
  }
  return caffe_give(c, node);
}
