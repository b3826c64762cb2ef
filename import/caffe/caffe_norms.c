/* Caffe's norms, and a softmax over another axis than that of channels. */
#include "import/caffe/caffe.h"

/* Statistics alone; a Scale after it makes it the usual bn. */
bool caffe_batch_norm(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_BN);
  double eps =
      prototxt_real(c->graph, caffe_param(c, "batch_norm_param"), "eps", 1e-5);
  graph_flag(c->graph, node, "noaffine");
  graph_eps(c->graph, node, eps);
  return caffe_give(c, node);
}

/* SegNet's, and that of Caffe for videos: with a scale and a shift. */
bool caffe_whole_norm(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_BN);
  double eps = prototxt_real(c->graph, caffe_param(c, "bn_param"), "eps", 1e-5);
  graph_eps(c->graph, node, eps);
  return caffe_give(c, node);
}

bool caffe_lrn(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "lrn_param");
  struct slice region = prototxt_text(p, "norm_region", "ACROSS_CHANNELS");
  struct graph_node *node = caffe_first(c, WORD_LRN);
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
