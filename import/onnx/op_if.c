/*
 * If with a constant condition: the chosen graph replaces the operator. The
 * graph may read values of enclosing graphs, and its own names do not hide
 * theirs.
 */
#include <string.h>

#include "import/onnx/reader.h"

static void find_inside(struct onnx *x, const Onnx__GraphProto *g,
                        struct onnx_captured *inside);

/* Notes a name that a graph does not define itself. */
static void capture(struct onnx *x, const struct map *own, const char *name,
                    struct onnx_captured *inside) {
  if (!*name || map_find(own, slice_of(name)) ||
      map_add(x->arena, &inside->seen, slice_of(name))->number++)
    return;
  *VEC_PUSH(x->arena, &inside->names) = name;
}

static void find_inside(struct onnx *x, const Onnx__GraphProto *g,
                        struct onnx_captured *inside) {
  struct map own = {0};
  for (size_t i = 0; i < g->n_input; i++)
    map_add(x->arena, &own, slice_of(g->input[i]->name));
  for (size_t i = 0; i < g->n_initializer; i++)
    map_add(x->arena, &own, slice_of(g->initializer[i]->name));
  for (size_t i = 0; i < g->n_node; i++)
    for (size_t k = 0; k < g->node[i]->n_output; k++)
      map_add(x->arena, &own, slice_of(g->node[i]->output[k]));
  for (size_t i = 0; i < g->n_node; i++) {
    struct onnx_captured deeper = {.seen = {0}};
    for (size_t k = 0; k < g->node[i]->n_input; k++)
      capture(x, &own, g->node[i]->input[k], inside);
    onnx_find_captured(x, g->node[i], &deeper);
    for (size_t k = 0; k < deeper.names.count; k++)
      capture(x, &own, deeper.names.at[k], inside);
  }
  for (size_t i = 0; i < g->n_output; i++)
    capture(x, &own, g->output[i]->name, inside);
}

void onnx_find_captured(struct onnx *x, const Onnx__NodeProto *proto,
                        struct onnx_captured *inside) {
  for (size_t i = 0; i < proto->n_attribute; i++)
    if (proto->attribute[i]->g)
      find_inside(x, proto->attribute[i]->g, inside);
}

/* Gives an output of the graph as an output of the operator. */
static bool give(struct onnx *x, size_t out, const struct onnx_value *value) {
  if (value->absent) {
    x->values.at[x->at->outs[out]].absent = true;
    return true;
  }
  return value->constant ? onnx_give_constant(x, out, value->constant)
                         : onnx_give(x, out, value->view);
}

bool op_if(struct onnx *x) {
  struct constant *condition = onnx_constant(x, 0);
  if (!condition && x->options->allow_unknown)
    return onnx_leave_out(x, true);
  if (!condition) {
    onnx_fail(x, "its condition depends on the inputs; only a constant "
                 "condition is supported");
    return graph_help_leave(x->graph);
  }
  if (!constant_load(x, condition))
    return false;
  if (condition->count != 1)
    return onnx_fail(x, "its condition is not one value");
  bool first = constant_is_real(condition) ? constant_real(condition, 0) != 0
                                           : constant_whole(condition, 0) != 0;
  const char *name = first ? "then_branch" : "else_branch";
  const Onnx__AttributeProto *graph = onnx_attribute(x, name);
  if (!graph || !graph->g)
    return onnx_fail(x, "it has no graph `%s`", name);
  struct onnx_value *outs =
      arena_alloc(x->arena, x->at->out_count + 1, sizeof *outs);
  if (!onnx_read_graph(x, graph->g, outs, x->at->out_count))
    return false;
  for (size_t i = 0; i < x->at->out_count; i++)
    if (x->at->outs[i] >= 0 &&
        (outs[i].view || outs[i].constant || outs[i].absent) &&
        !give(x, i, &outs[i]))
      return false;
  return true;
}
