/* Copies a tensor of a file into the weights of a node. */
#include "import/values.h"

float *values_take(struct graph *graph, struct graph_node *node,
                   const char *name, struct tensor_file *file,
                   const struct stored_tensor *t, int64_t count) {
  float *values = arena_room(graph->arena, (size_t)count + 1, sizeof *values);
  if (!tensors_floats(file, t, 0, count, values))
    return NULL;
  *VEC_PUSH(graph->arena, &node->weights) = (struct graph_weight){
      .name = name, .count = count, .as_file = true, .real = values};
  return values;
}
