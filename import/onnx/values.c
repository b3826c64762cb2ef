/* Values of a file: by name, as operands, and as outputs of operators. */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "import/onnx/reader.h"

static int value_of(struct onnx *x, struct map *names, const char *name) {
  struct map_entry *entry = map_add(x->arena, names, slice_of(name));
  if (!entry->number) {
    struct onnx_value *value = VEC_PUSH(x->arena, &x->values);
    value->name = name;
    entry->number = (int64_t)x->values.count;
  }
  return (int)entry->number - 1;
}

/* Searches the current graph, then enclosing ones. */
int onnx_value_index(struct onnx *x, const char *name) {
  for (struct onnx_scope *s = x->scope; s; s = s->outer) {
    const struct map_entry *entry = map_find(&s->names, slice_of(name));
    if (entry)
      return (int)entry->number - 1;
  }
  return value_of(x, &x->names, name);
}

int onnx_made_index(struct onnx *x, const char *name) {
  return value_of(x, x->scope ? &x->scope->names : &x->names, name);
}

struct onnx_value *onnx_operand(struct onnx *x, size_t index) {
  return &x->values.at[x->at->ins[index]];
}

bool onnx_has(const struct onnx *x, size_t index) {
  return index < x->at->in_count && x->at->ins[index] >= 0;
}

struct constant *onnx_constant(struct onnx *x, size_t index) {
  return onnx_has(x, index) ? onnx_operand(x, index)->constant : NULL;
}

/* A constant as a tensor of the net, such as learned queries. */
static const struct onnx_view *weight_view(struct onnx *x, struct constant *c) {
  struct onnx_axes axes = {.count = 0};
  struct onnx_view *view = ARENA_NEW(x->arena, struct onnx_view);
  for (int i = 0; i < c->rank; i++)
    if (i > 0 || c->dims[0] > 1 || x->batch_axis != 0)
      axes.order[axes.count++] = i;
  if (axes.count == 0 || axes.count > LIMIT_RANK || x->batch > 1)
    return NULL;
  struct onnx_layout dense = layout_dense(c->rank, c->dims);
  struct onnx_layout at = layout_order(&dense, axes.count, axes.order);
  int node = onnx_weight(x, constant_through(x, c, &at))->index;
  *view = view_fresh(x, node, c->rank, c->dims, axes.order, axes.count);
  return view;
}

const struct onnx_view *onnx_input(struct onnx *x, size_t index) {
  if (!onnx_has(x, index)) {
    onnx_fail(x, "input %zu is missing", index);
    return NULL;
  }
  struct onnx_value *value = onnx_operand(x, index);
  if (!value->view && value->constant && constant_is_real(value->constant))
    value->view = weight_view(x, value->constant);
  if (!value->view)
    onnx_fail(x, "input %zu is a constant, which is not supported here", index);
  return value->view;
}

/* Exporters record sizes of one input; --dim and --input set others. */
static bool is_stale(struct onnx *x, const char *name, const char *stated,
                     const char *dims) {
  if (x->options->size_count + x->options->input_count == 0)
    return false;
  if (!x->stale)
    graph_note(x->graph, "`%s` is %s in the file, and %s with the given sizes.",
               onnx_shown(x, name), stated, dims);
  return x->stale = true;
}

/* Fails if the file states another shape. */
static bool check_stated(struct onnx *x, const struct onnx_value *value,
                         int rank, const int64_t *dims) {
  const Onnx__TypeProto__Tensor *type = onnx_tensor_type(value->type);
  const Onnx__TensorShapeProto *shape = type ? type->shape : NULL;
  const char *open;
  if (!shape || shape->n_dim == 0)
    return true;
  bool same = (int)shape->n_dim == rank;
  for (int i = 0; same && i < rank; i++) {
    int64_t stated = onnx_dim_size(x, shape->dim[i], &open);
    same = stated <= 0 || stated == dims[i];
  }
  if (same)
    return true;
  struct text text = text_new(x->arena);
  for (size_t i = 0; i < shape->n_dim && i < MOST_AXES; i++)
    text_printf(&text, "%s%" PRId64, i ? "x" : "",
                onnx_dim_size(x, shape->dim[i], &open));
  const char *ours = graph_sizes(x->graph, dims, rank);
  return ((int)shape->n_dim == rank &&
          is_stale(x, value->name, text_string(&text), ours)) ||
         onnx_fail(x, "`%s` is %s in the file, but %s according to its inputs",
                   onnx_shown(x, value->name), text_string(&text), ours);
}

bool onnx_give_constant(struct onnx *x, size_t out, struct constant *constant) {
  if (out >= x->at->out_count || x->at->outs[out] < 0)
    return true;
  struct onnx_value *value = &x->values.at[x->at->outs[out]];
  if (value->buffer) { /* values are missing: a fill */
    constant->trained = constant->fill = false;
    constant->buffer = true;
    constant->unknown = true;
    constant->real = NULL;
  }
  value->constant = constant;
  return true;
}

bool onnx_give(struct onnx *x, size_t out, const struct onnx_view *view) {
  if (out >= x->at->out_count || x->at->outs[out] < 0 || x->graph->failed)
    return true;
  struct onnx_value *value = &x->values.at[x->at->outs[out]];
  for (int64_t i = 0, values = 1; i < view->at.rank; i++) {
    if (view->at.dim[i] > MOST_VALUES / values) {
      onnx_fail(x, "a tensor is too large: one axis has %" PRId64 " values",
                view->at.dim[i]);
      return true;
    }
    values *= max_i64(view->at.dim[i], 1); /* strides over empty axes, too */
  }
  if (view->at.rank > MOST_AXES) {
    onnx_fail(x, "a tensor has %d axes; at most %d are supported",
              view->at.rank, MOST_AXES);
    return true;
  }
  struct onnx_view *copy =
      x->spare.count > 0 ? (struct onnx_view *)x->spare.at[--x->spare.count]
                         : ARENA_NEW(x->arena, struct onnx_view);
  *copy = *view;
  value->view = copy;
  check_stated(x, value, view->at.rank, view->at.dim);
  return true;
}

bool onnx_give_node(struct onnx *x, const struct onnx_view *like, int node) {
  return onnx_give(x, 0, &(struct onnx_view){node, like->at});
}

bool onnx_give_fresh(struct onnx *x, int node, int rank, const int64_t *dims,
                     const struct onnx_axes *axes) {
  struct onnx_view view =
      view_fresh(x, node, rank, dims, axes->order, axes->count);
  onnx_give(x, 0, &view);
  return true;
}
