/* Caffe's norms, and softmax over an axis other than channels. */
#include "import/caffe/caffe.h"

/* The file has sums over batches, and the number to divide them by
 * (batch_norm_layer.cpp). */
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

/* A BatchNorm has only statistics; with the next Scale, it is the usual bn. */
bool caffe_batch_norm(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_BN);
  graph_flag(c->graph, node, "noaffine");
  graph_eps(c->graph, node, caffe_real(c, "eps", 1e-5));
  take_statistics(c, node);
  return caffe_give(c, node);
}

/* Batch norms of SegNet and of Caffe for videos have a scale and a shift. */
bool caffe_whole_norm(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_BN);
  graph_eps(c->graph, node, caffe_real(c, "eps", 1e-5));
  if (caffe_lacks_values(c, "its weights are not converted, because forks of "
                            "Caffe define them differently"))
    return false;
  GRAPH_TENSOR(node, 2, caffe_channels(c));
  return caffe_give(c, node);
}

bool caffe_lrn(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_LRN);
  double alpha = caffe_real(c, "alpha", 1);
  double beta = caffe_real(c, "beta", 0.75);
  double k = caffe_real(c, "k", 1);
  if (alpha < 1e-4 || alpha > 1e-4 || beta < 0.75 || beta > 0.75 || k < 1 ||
      k > 1)
    graph_note(c->graph,
               "`%s` (LRN) has alpha %s, beta %s and k %s; netc uses 0.0001, "
               "0.75 and 1.",
               c->at->name, graph_number(c->graph, alpha),
               graph_number(c->graph, beta), graph_number(c->graph, k));
  graph_int(c->graph, node, PART_NONE, "", caffe_int(c, "local_size", 5, 1));
  if (caffe_is(c, "norm_region", "WITHIN_CHANNEL", "1"))
    graph_flag(c->graph, node, "within");
  return caffe_give(c, node);
}

bool caffe_normalize(struct caffe *c) {
  if (caffe_bool(c, "across_spatial", true) ||
      caffe_bool(c, "channel_shared", true))
    return caffe_fail(
        c, "only a norm over channels with a factor for each is supported");
  struct graph_node *node =
      graph_layer(c->graph, WORD_SCALE, caffe_first(c, WORD_L2NORM)->index);
  CAFFE_TENSOR(c, node, "weight", 0, caffe_channels(c));
  return caffe_give(c, node);
}

/* Transposes the two axes. */
static int transposed(struct caffe *c, int input) {
  struct graph_node *node = graph_layer(c->graph, WORD_PERMUTE, input);
  graph_int(c->graph, node, PART_NONE, "", 1);
  graph_int(c->graph, node, PART_NONE, "", 0);
  return node->index;
}

bool caffe_softmax(struct caffe *c) {
  if (caffe_shape(c)->rank == 2 && caffe_given_axis(c, 1) == 2) {
    int turned = transposed(c, c->in);
    turned = graph_layer(c->graph, WORD_SOFTMAX, turned)->index;
    return caffe_give(c, graph_at(c->graph, transposed(c, turned)));
  }
  if (!caffe_is_by_channel(c))
    return caffe_fail(c, "only a softmax over channels is supported");
  return caffe_plain(c);
}
