/*
 * Sizes and numbers that a file leaves open: --dim and --value give them. One
 * error asks for all of them, with the command to type.
 */
#include <string.h>

#include "import/onnx/reader.h"

static const struct import_scalar *scalar_of(const struct onnx *x,
                                             const char *name) {
  for (size_t i = 0; i < x->options->scalar_count; i++)
    if (strcmp(x->options->scalars[i].name, name) == 0)
      return &x->options->scalars[i];
  return NULL;
}

static const char *number_text(struct onnx *x, double number) {
  return graph_text(x->graph, "%.15g", number);
}

/* Fails if a name of --value is not an input. */
bool onnx_check_scalars(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  for (size_t i = 0; i < x->options->scalar_count; i++) {
    const char *name = x->options->scalars[i].name;
    size_t k = 0;
    while (k < g->n_input && strcmp(g->input[k]->name, name) != 0)
      k++;
    if (k == g->n_input)
      return onnx_fail(x, "--value: the file has no input `%s`",
                       onnx_shown(x, name));
  }
  return true;
}

bool onnx_add_scalar(struct onnx *x, const Onnx__ValueInfoProto *info,
                     struct onnx_value *value, bool *done) {
  const struct import_scalar *given = scalar_of(x, info->name);
  const Onnx__TypeProto__Tensor *type = onnx_tensor_type(info->type);
  int64_t dims[MOST_AXES];
  *done = given;
  if (!given)
    return true;
  if (!type || !type->shape || type->shape->n_dim > MOST_AXES)
    return onnx_fail(x, "the input `%s` is not a tensor with a shape",
                     onnx_shown(x, info->name));
  for (size_t i = 0; i < type->shape->n_dim; i++) {
    const char *name;
    int64_t size = onnx_dim_size(x, type->shape->dim[i], &name);
    if (size > 1)
      return onnx_fail(x, "--value: the input `%s` has more than one value",
                       onnx_shown(x, info->name));
    dims[i] = 1;
  }
  struct constant *c =
      constant_new(x, type->elem_type, (int)type->shape->n_dim, dims);
  if (constant_is_real(c)) {
    float *real = constant_reals(x, 1);
    real[0] = (float)given->value;
    c->real = real;
  } else {
    int64_t *whole = constant_wholes(x, 1);
    whole[0] = (int64_t)given->value;
    c->whole = whole;
  }
  value->constant = c;
  graph_note(x->graph, "The input `%s` is %s, by --value.",
             onnx_shown(x, info->name), number_text(x, given->value));
  return !x->graph->failed;
}

/* The value of a constant that is not yet read; or NULL. */
static struct constant *constant_at(struct onnx *x, int value) {
  struct constant *c = x->values.at[value].constant;
  for (size_t i = 0; i < x->ops.count && !c; i++) {
    const struct onnx_op *op = &x->ops.at[i];
    if (strcmp(op->type, "Constant") != 0 || op->outs[0] != value)
      continue;
    onnx_begin(x, op);
    const Onnx__AttributeProto *a = onnx_attribute(x, "value");
    c = a && a->t ? constant_of(x, a->t) : NULL;
    onnx_begin(x, NULL);
  }
  return c && c->count == 1 && constant_known(x, c) ? c : NULL;
}

/* The number that the graph compares an input with, as text; or NULL. */
static const char *compared_with(struct onnx *x, int input) {
  static const char compares[] =
      "Equal Greater Less GreaterOrEqual LessOrEqual";
  for (size_t i = 0; i < x->ops.count; i++) {
    const struct onnx_op *op = &x->ops.at[i];
    if (op->in_count != 2 || !word_index(compares, slice_of(op->type)))
      continue;
    for (size_t k = 0; k < 2; k++) {
      int other = op->ins[k] == input ? op->ins[1 - k] : -1;
      struct constant *c = other < 0 ? NULL : constant_at(x, other);
      if (c)
        return number_text(x, constant_is_real(c)
                                  ? constant_real(c, 0)
                                  : (double)constant_whole(c, 0));
    }
  }
  return NULL;
}

/* All that is open: names for the message, options for the command. */
struct open_parts {
  struct text names, options;
  struct map asked; /* names of sizes */
  bool sole;        /* one input is not a number: its name is not needed */
};

static void add_open(struct open_parts *open, const char *name,
                     const char *option) {
  text_printf(&open->names, "%s%s", open->names.length ? ", " : "", name);
  if (*option)
    text_printf(&open->options, " %s", option);
}

/* Adds the open axes of an input, except the batch; each name once. */
static void add_axes(struct onnx *x, const Onnx__ValueInfoProto *info,
                     int batch_axis, struct open_parts *open) {
  const Onnx__TensorShapeProto *shape = onnx_tensor_type(info->type)->shape;
  bool unnamed = false;
  for (size_t i = 0; i < shape->n_dim; i++) {
    const char *param;
    int64_t size = onnx_dim_size(x, shape->dim[i], &param);
    if (size != 0 || (int)i == batch_axis)
      continue;
    if (param && map_add(x->arena, &open->asked, slice_of(param))->number++)
      continue;
    const char *where =
        graph_text(x->graph, "axis %zu of the input `%s`%s%s%s", i,
                   onnx_shown(x, info->name), param ? " (`" : "",
                   param ? onnx_shown(x, param) : "", param ? "`)" : "");
    const char *option =
        param     ? graph_text(x->graph, "--dim %s=VALUE", onnx_shown(x, param))
        : unnamed ? ""
        : open->sole ? "--input SIZES"
                     : graph_text(x->graph, "--input %s=SIZES",
                                  onnx_shown(x, info->name));
    unnamed = unnamed || !param;
    add_open(open, where, option);
  }
}

static void add_number(struct onnx *x, int index,
                       const Onnx__ValueInfoProto *info,
                       struct open_parts *open) {
  const char *name = onnx_shown(x, info->name);
  const char *number = compared_with(x, index);
  add_open(
      open, graph_text(x->graph, "the number `%s`", name),
      graph_text(x->graph, "--value %s=%s", name, number ? number : "VALUE"));
}

/* The value of an input that may leave sizes open, or -1. */
static int asked_index(const struct onnx *x, const Onnx__ValueInfoProto *info) {
  const Onnx__TypeProto__Tensor *type = onnx_tensor_type(info->type);
  const struct map_entry *entry = map_find(&x->names, slice_of(info->name));
  if (!entry || !type || !type->shape || type->shape->n_dim > MOST_AXES ||
      x->values.at[entry->number - 1].idle ||
      x->values.at[entry->number - 1].made)
    return -1;
  return (int)entry->number - 1;
}

bool onnx_ask(struct onnx *x, onnx_asked_fn *batch_axis, void *user) {
  const Onnx__GraphProto *g = x->model->graph;
  struct open_parts open = {text_new(x->arena), text_new(x->arena), {0}, false};
  int shaped = 0;
  for (size_t i = 0; i < g->n_input; i++)
    shaped += asked_index(x, g->input[i]) >= 0 &&
              onnx_tensor_type(g->input[i]->type)->shape->n_dim > 0;
  open.sole = shaped == 1;
  for (size_t i = 0; i < g->n_input; i++) {
    const Onnx__ValueInfoProto *info = g->input[i];
    const Onnx__TypeProto__Tensor *type = onnx_tensor_type(info->type);
    int index = asked_index(x, info), axis;
    if (index < 0)
      continue;
    if (type->shape->n_dim == 0 && !scalar_of(x, info->name))
      add_number(x, index, info, &open);
    else if (batch_axis(x, user, i, index, &axis))
      add_axes(x, info, axis, &open);
  }
  if (open.names.length == 0)
    return true;
  const char *path = x->options->path ? x->options->path : "FILE.onnx";
  onnx_fail(x, "the file leaves open: %.*s", (int)open.names.length,
            open.names.at);
  return graph_help(x->graph, "give it: netc %s%.*s", path,
                    (int)open.options.length, open.options.at);
}
