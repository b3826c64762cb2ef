/* Caffe's norms, and a softmax over another axis than that of channels. */
#include "import/caffe/caffe.h"

/* Statistics alone; a Scale after it makes it the usual bn. */
bool caffe_batch_norm(struct caffe *c, const struct caffe_layer *l) {
  struct graph_node *node = caffe_layer_on(c, l, WORD_BN, l->bottoms[0]);
  double eps =
      prototxt_real(c->graph, caffe_param(l, "batch_norm_param"), "eps", 1e-5);
  graph_arg(c->graph, node, PART_NONE, "", "noaffine");
  graph_arg(c->graph, node, PART_NONE, "eps=", caffe_number(c, eps));
  node->args.at[1].usual = caffe_number(c, 1e-5);
  return caffe_give(c, l, node->index);
}

/* SegNet's, and that of Caffe for videos: with a scale and a shift. */
bool caffe_whole_norm(struct caffe *c, const struct caffe_layer *l) {
  struct graph_node *node = caffe_layer_on(c, l, WORD_BN, l->bottoms[0]);
  double eps = prototxt_real(c->graph, caffe_param(l, "bn_param"), "eps", 1e-5);
  graph_arg(c->graph, node, PART_NONE, "eps=", caffe_number(c, eps));
  node->args.at[0].usual = caffe_number(c, 1e-5);
  return caffe_give(c, l, node->index);
}

bool caffe_lrn(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *p = caffe_param(l, "lrn_param");
  struct slice region = prototxt_text(p, "norm_region", "ACROSS_CHANNELS");
  struct graph_node *node = caffe_layer_on(c, l, WORD_LRN, l->bottoms[0]);
  graph_int(c->graph, node, PART_NONE, "",
            prototxt_int(c->graph, p, "local_size", 5, 1, CAFFE_MOST));
  if (slice_is(region, "WITHIN_CHANNEL") || slice_is(region, "1"))
    graph_arg(c->graph, node, PART_NONE, "", "within");
  return caffe_give(c, l, node->index);
}

/* Over the other axis of two: transposed, and back. */
bool caffe_turned_softmax(struct caffe *c, const struct caffe_layer *l) {
  int node = l->bottoms[0];
  static const enum layer_word words[] = {WORD_PERMUTE, WORD_SOFTMAX,
                                          WORD_PERMUTE};
  for (int i = 0; i < 3; i++) {
    struct graph_node *next = caffe_layer_on(c, l, words[i], node);
    node = next->index;
    if (i == 1)
      continue;
    graph_int(c->graph, next, PART_NONE, "", 1);
    graph_int(c->graph, next, PART_NONE, "", 0);
    int64_t first = next->shape.size[0];
    next->shape.size[0] = next->shape.size[1];
    next->shape.size[1] = first;
  }
  return caffe_give(c, l, node);
}
