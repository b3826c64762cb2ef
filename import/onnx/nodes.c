/* Nodes of the graph: layers, joins, weights, and facts about them. */
#include <math.h>
#include <string.h>

#include "import/onnx/reader.h"

struct extra *onnx_extra(struct onnx *x, int index) {
  while (x->extras.count <= (size_t)index)
    VEC_PUSH(x->arena, &x->extras);
  return &x->extras.at[index];
}

void onnx_begin(struct onnx *x, const struct onnx_op *op) {
  x->at = op;
  x->graph->at = (struct graph_origin){0};
  if (op)
    x->graph->at =
        (struct graph_origin){.name = op->name, .kind = op->type, .source = op};
}

const char *onnx_real_text(struct onnx *x, double value) {
  return graph_number(x->graph, graph_single(value));
}

void onnx_set_number(struct onnx *x, struct graph_node *node, double number) {
  struct extra *extra = onnx_extra(x, node->index);
  extra->number = number;
  extra->has_number = true;
  graph_flag(x->graph, node, onnx_real_text(x, number));
}

void onnx_put_eps(struct onnx *x, struct graph_node *node, double eps) {
  graph_arg(x->graph, node, PART_NONE, "eps=", onnx_real_text(x, eps));
  graph_usual(node, onnx_real_text(x, 1e-5));
}

void onnx_add_weight(struct onnx *x, struct graph_node *node, const char *name,
                     const struct constant *from) {
  *VEC_PUSH(x->arena, &onnx_extra(x, node->index)->weights) =
      (struct from_weight){name, from, false, false};
}

const struct constant *onnx_find_weight(struct onnx *x, int node,
                                        const char *name) {
  const struct extra *extra = onnx_extra(x, node);
  for (size_t i = 0; i < extra->weights.count; i++)
    if (strcmp(extra->weights.at[i].name, name) == 0)
      return extra->weights.at[i].from;
  return NULL;
}

struct graph_node *onnx_weight(struct onnx *x, struct constant *c) {
  struct graph_node *node = graph_join(x->graph, WORD_WEIGHT);
  if (c->rank > LIMIT_RANK)
    onnx_fail(x, "a constant has %d axes, which is not supported", c->rank);
  else if (c->rank > 0)
    graph_arg(x->graph, node, PART_OTHER, "",
              graph_sizes(x->graph, c->dims, c->rank));
  if (!c->trained)
    graph_flag(x->graph, node, "fixed");
  if (c->name)
    node->name = c->name;
  onnx_add_weight(x, node, "weight", c);
  return node;
}
