/* Inputs of the net, parameters without values, and the order of axes. */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/reader.h"

enum { MOST_LOOKUPS = 1 << 28 }; /* over all operators */

/* Inputs of operators that are weights rather than tensors of the net. */
static const struct onnx_place {
  const char *type;
  unsigned from, to;
} weight_places[] = {
    {"Conv", 1, 2},  {"ConvTranspose", 1, 2},
    {"PRelu", 1, 1}, {"BatchNormalization", 1, 4},
    {"LSTM", 1, 3},  {"InstanceNormalization", 1, 2},
    {"GRU", 1, 3},   {"LayerNormalization", 1, 2},
    {"RNN", 1, 3},
};

const Onnx__TypeProto__Tensor *onnx_tensor_type(const Onnx__TypeProto *type) {
  bool tensor = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  return tensor ? type->tensor_type : NULL;
}

int64_t onnx_dim_size(const struct onnx *x,
                      const Onnx__TensorShapeProto__Dimension *dim,
                      const char **name) {
  *name = NULL;
  if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
    return dim->dim_value;
  if (dim->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM ||
      !dim->dim_param)
    return 0;
  const struct map_entry *entry = map_find(&x->sizes, slice_of(dim->dim_param));
  *name = entry ? NULL : dim->dim_param;
  return entry ? entry->number : 0;
}

static bool is_end(struct slice end, struct slice name) {
  return slice_ends_in(name, end);
}

bool onnx_is_weight_name(const char *name) {
  static const char ends[] = ".weight .bias running_mean running_var "
                             "in_proj_weight in_proj_bias";
  return word_index_as(ends, slice_of(name), is_end);
}

/* True if --parameter names it. */
static bool is_named(const struct onnx *x, const char *name) {
  for (size_t i = 0; i < x->options->parameter_count; i++)
    if (strcmp(x->options->parameters[i], name) == 0)
      return true;
  return false;
}

/* Fails if a name of --parameter is not an input. */
static bool names_inputs(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  for (size_t i = 0; i < x->options->parameter_count; i++) {
    const char *name = x->options->parameters[i];
    size_t k = 0;
    while (k < g->n_input && strcmp(g->input[k]->name, name) != 0)
      k++;
    if (k == g->n_input)
      return onnx_fail(x, "--parameter: the file has no input `%s`",
                       onnx_shown(x, name));
  }
  return true;
}

/* True for an input that is a parameter, exported without its values. */
static bool is_parameter(struct onnx *x, int index,
                         const Onnx__ValueInfoProto *info) {
  if (onnx_is_weight_name(x->values.at[index].name) || is_named(x, info->name))
    return true;
  for (size_t i = 0; i < x->ops.count; i++)
    for (size_t k = 0; k < x->ops.at[i].in_count; k++) {
      const struct onnx_op *op = &x->ops.at[i];
      if (op->ins[k] != index)
        continue;
      for (size_t p = 0; p < sizeof weight_places / sizeof *weight_places; p++)
        if (strcmp(op->type, weight_places[p].type) == 0 &&
            k >= weight_places[p].from && k <= weight_places[p].to)
          return true;
    }
  return false;
}

static bool is_of_reals(const Onnx__ValueInfoProto *info) {
  const Onnx__TypeProto__Tensor *tensor = onnx_tensor_type(info->type);
  int type = tensor ? tensor->elem_type : 0;
  return type == TYPE_FLOAT || type == TYPE_DOUBLE || type == 10 || type == 16;
}

/*
 * The index of the first input that is a weight; n_input if there is none.
 * PyTorch's `export_params=False` lists inputs first, then parameters, those of
 * a module before those of its children. So inputs after a weight are
 * parameters, whatever their names; those before the first weight may be
 * either.
 */
static size_t first_parameter(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  size_t i = 0;
  for (; i < g->n_input; i++) {
    const struct map_entry *e =
        map_find(&x->names, slice_of(g->input[i]->name));
    if (e && !x->values.at[e->number - 1].made &&
        onnx_is_weight_name(g->input[i]->name))
      break;
  }
  return i;
}

static size_t axes_count(const Onnx__ValueInfoProto *info) {
  const Onnx__TypeProto__Tensor *type = onnx_tensor_type(info->type);
  return type && type->shape ? type->shape->n_dim : SIZE_MAX;
}

/* True if a product has the value where a dense layer has its matrix. */
static bool is_second_factor(const struct onnx *x, int value) {
  for (size_t i = 0; i < x->ops.count; i++) {
    const struct onnx_op *op = &x->ops.at[i];
    if (op->in_count > 1 && op->ins[1] == value &&
        word_index("MatMul Gemm", slice_of(op->type)))
      return true;
  }
  return false;
}

static void note_suspect(struct onnx *x, size_t index, int value,
                         size_t first) {
  const Onnx__ValueInfoProto *info = x->model->graph->input[index];
  bool before = index < first && first < x->model->graph->n_input;
  if (index > 0 && is_of_reals(info) &&
      (before || (axes_count(info) == 2 && is_second_factor(x, value)))) {
    x->suspect = info->name;
    graph_note(x->graph,
               "`%s` is read as an input. The file has no values of "
               "parameters; if it is a parameter, write --parameter %s.",
               info->name, info->name);
  }
}

enum taste { TASTE_NONE, TASTE_FIRST, TASTE_LAST };

/* The order of channels that an operator needs. */
static enum taste taste_of(const struct onnx_op *op, size_t input) {
  static const char first[] =
      "Conv ConvTranspose BatchNormalization MaxPool AveragePool "
      "GlobalAveragePool GlobalMaxPool InstanceNormalization Resize Upsample "
      "LRN DepthToSpace SpaceToDepth MaxRoiPool RoiAlign";
  static const char last[] =
      "MatMul Transpose LSTM GRU RNN LayerNormalization Einsum";
  if (input == 0 && word_index(first, slice_of(op->type)))
    return TASTE_FIRST;
  return word_index(last, slice_of(op->type)) ? TASTE_LAST : TASTE_NONE;
}

/* The order that the first operator with a preference needs. */
static enum taste taste_for(struct onnx *x, int index) {
  enum { MOST_LOOKS = 64 };
  int follow[MOST_LOOKS], count = 0;
  follow[count++] = index;
  for (size_t i = 0; i < x->ops.count; i++) {
    const struct onnx_op *op = &x->ops.at[i];
    for (size_t k = 0; k < op->in_count; k++)
      for (int f = 0; f < count; f++) {
        if (op->ins[k] != follow[f])
          continue;
        enum taste taste = taste_of(op, k);
        if (taste != TASTE_NONE)
          return taste;
        for (size_t o = 0; o < op->out_count && count < MOST_LOOKS; o++)
          if (op->outs[o] >= 0)
            follow[count++] = op->outs[o];
        f = count;
      }
  }
  return TASTE_NONE;
}

/* True for integers that only sums and the like read: they are no indices. */
static bool is_reckoned(const struct onnx *x, int input) {
  bool all = true, some = false;
  for (size_t i = 0; i < x->ops.count && all; i++)
    for (size_t k = 0; k < x->ops.at[i].in_count; k++) {
      if (x->ops.at[i].ins[k] != input)
        continue;
      all = all && word_index("Add Sub Mul Max Min Trilu CumSum",
                              slice_of(x->ops.at[i].type));
      some = true;
    }
  return all && some;
}

static const char *element_word(struct onnx *x, int type, int index,
                                bool *known) {
  *known = true;
  if ((type == TYPE_INT32 || type == TYPE_INT64) && is_reckoned(x, index)) {
    graph_note(x->graph, "Integer inputs are read as float32.");
    return NULL;
  }
  switch (type) {
  case TYPE_INT32: return "i32";
  case TYPE_INT64: return "i64";
  case TYPE_FLOAT:
  case TYPE_DOUBLE:
  case 10:
  case 16: return NULL;
  case 2:
  case 3:
    graph_note(x->graph, "8-bit integer inputs are read as float32.");
    return NULL;
  case 4:
  case 5:
  case 12:
  case 13:
    graph_note(x->graph, "Integer inputs are read as float32.");
    return NULL;
  case TYPE_BOOL:
    graph_note(x->graph, "Boolean inputs are read as 0 and 1.");
    return NULL;
  default: *known = false; return NULL;
  }
}

/* The command line's size, in netc's order, without the batch. */
static bool is_given(const struct onnx *x, const char *name,
                     struct graph_shape *given) {
  return import_given(x->options, slice_of(name), given);
}

static bool unknown_axis(struct onnx *x, const char *name, int axis,
                         const char *param) {
  onnx_fail(x, "axis %d of the input `%s`%s%s%s has no size in the file", axis,
            onnx_shown(x, name), param ? " (`" : "", param ? param : "",
            param ? "`)" : "");
  if (param)
    graph_help(x->graph, "give it: --dim %s=VALUE", onnx_shown(x, param));
  else
    graph_help(x->graph, "give it: --input SIZES");
  return false;
}

/* The file's sizes; a dynamic batch is 1. */
static bool input_dims(struct onnx *x, const Onnx__ValueInfoProto *info,
                       bool given, int *rank, int64_t *dims) {
  const Onnx__TypeProto__Tensor *type = onnx_tensor_type(info->type);
  if (!type || !type->shape)
    return onnx_fail(x, "the input `%s` is not a tensor with a shape",
                     onnx_shown(x, info->name));
  const Onnx__TensorShapeProto *shape = type->shape;
  if (shape->n_dim > MOST_AXES)
    return onnx_fail(x, "the input `%s` has %zu axes; at most %d are supported",
                     onnx_shown(x, info->name), shape->n_dim, MOST_AXES);
  *rank = (int)shape->n_dim;
  int64_t values = 1;
  for (int i = 0; i < *rank; i++) {
    const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
    bool has =
        dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    const char *param =
        dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
            ? dim->dim_param
            : NULL;
    const struct map_entry *entry =
        param ? map_find(&x->sizes, slice_of(param)) : NULL;
    dims[i] = has && dim->dim_value ? dim->dim_value : 0;
    bool open = !entry && (!has || dim->dim_value <= 0);
    x->open_batch = x->open_batch || (open && i == x->batch_axis);
    if (entry)
      dims[i] = entry->number;
    else if (open)
      dims[i] = i == x->batch_axis || given ? 1 : 0;
    if (dims[i] == 0)
      return unknown_axis(x, info->name, i, param);
    if (dims[i] < 0 || dims[i] > MOST_SIZE || dims[i] > MOST_VALUES / values)
      return onnx_fail(
          x, "the input `%s` is too large: one axis has %" PRId64 " values",
          onnx_shown(x, info->name), dims[i]);
    values *= dims[i];
  }
  return true;
}

/* Marks values from which boxes of a map and their sample numbers are computed.
 * The first axis of such an input is not a batch. */
static const bool *find_boxes(const struct onnx *x) {
  bool *boxes = arena_alloc(x->arena, x->values.count + 1, sizeof *boxes);
  for (size_t i = x->ops.count; i-- > 0;) {
    const struct onnx_op *op = &x->ops.at[i];
    bool pools = strcmp(op->type, "RoiAlign") == 0, made = pools;
    for (size_t k = 0; k < op->out_count; k++)
      made = made || (op->outs[k] >= 0 && boxes[op->outs[k]]);
    for (size_t k = pools; k < op->in_count && made; k++)
      if (op->ins[k] >= 0)
        boxes[op->ins[k]] = true;
  }
  return boxes;
}

static void name_states(struct onnx *x, const Onnx__GraphProto *g,
                        struct map *names);

/* A graph inside a node gives the node's outputs. */
static void name_inner_states(struct onnx *x, const Onnx__NodeProto *node,
                              struct map *names) {
  for (size_t i = 0; i < node->n_attribute; i++) {
    const Onnx__GraphProto *g = node->attribute[i]->g;
    if (!g)
      continue;
    for (size_t k = 0; k < g->n_output && k < node->n_output; k++)
      if (map_find(names, slice_of(node->output[k])))
        map_add(x->arena, names, slice_of(g->output[k]->name));
    name_states(x, g, names);
  }
}

/* Adds the names of states before the first step. */
static void name_states(struct onnx *x, const Onnx__GraphProto *g,
                        struct map *names) {
  static const char moves[] =
      "Slice Split Gather Squeeze Unsqueeze Identity Cast";
  enum { INITIAL_STATE = 5, INITIAL_CELL };
  for (size_t i = g->n_node; i-- > 0;) {
    const Onnx__NodeProto *node = g->node[i];
    struct slice type = slice_of(node->op_type);
    bool made = false;
    name_inner_states(x, node, names);
    for (size_t k = 0; k < node->n_output && word_index(moves, type); k++)
      made = made || map_find(names, slice_of(node->output[k]));
    if (made && node->n_input > 0)
      map_add(x->arena, names, slice_of(node->input[0]));
    for (size_t k = INITIAL_STATE; k <= INITIAL_CELL && k < node->n_input; k++)
      if (word_index("LSTM GRU RNN", type))
        map_add(x->arena, names, slice_of(node->input[k]));
  }
}

/* True for values that hold states before the first step. Their axes are
 * layers, batch, features. */
static const bool *find_states(struct onnx *x) {
  bool *states = arena_alloc(x->arena, x->values.count + 1, sizeof *states);
  struct map names = {0};
  name_states(x, x->model->graph, &names);
  for (size_t i = 0; i < x->values.count; i++)
    states[i] = *x->values.at[i].name &&
                map_find(&names, slice_of(x->values.at[i].name));
  return states;
}

/* The batch axis of an input, which may differ from that of the others. */
static int batch_axis_of(const struct onnx *x, const Onnx__ValueInfoProto *info,
                         bool boxes, bool state) {
  if (boxes && axes_count(info) <= 2)
    return -1;
  return state && x->batch_axis >= 0 && axes_count(info) == 3 ? 1
                                                              : x->batch_axis;
}

static bool add_input(struct onnx *x, const Onnx__ValueInfoProto *info,
                      struct onnx_value *value, int index) {
  int64_t dims[MOST_AXES + 1];
  int rank;
  struct onnx_axes axes = {.count = 0};
  struct graph_shape shape = {0}, sizes = {0};
  bool known, given = is_given(x, info->name, &sizes);
  if (!input_dims(x, info, given, &rank, dims))
    return false;
  if (rank > x->batch_axis && x->batch_axis >= 0 && dims[x->batch_axis] > 1) {
    if (x->batch > 1 && x->batch != dims[x->batch_axis])
      return onnx_fail(x, "the inputs have different batches");
    x->batch = dims[x->batch_axis];
  }
  enum taste taste = taste_for(x, index);
  bool first =
      rank >= 3 && (taste == TASTE_FIRST ||
                    (taste == TASTE_NONE && rank >= 4 && x->batch_axis == 0));
  /* An image without a batch axis gets one in front. */
  int channels = x->batch_axis < 0 && rank == 3 ? 0 : 1;
  for (int i = 0; i < rank; i++)
    if (i != x->batch_axis && !(first && i == channels))
      axes.order[axes.count++] = i;
  if (first)
    axes.order[axes.count++] = channels;
  if (axes.count == 0 && rank > 0)
    axes.order[axes.count++] = 0;
  if (given && sizes.rank == axes.count)
    for (int i = 0; i < axes.count; i++)
      dims[axes.order[i]] = sizes.size[i];
  else if (given)
    return onnx_fail(x, "--input has %d sizes, but the input `%s` has %d",
                     sizes.rank, onnx_shown(x, info->name), axes.count);
  if (axes.count == 0 || axes.count > LIMIT_RANK)
    return onnx_fail(x, "the input `%s` has no axis except the batch",
                     onnx_shown(x, info->name));
  for (int i = 0; i < axes.count; i++)
    shape.size[shape.rank++] = dims[axes.order[i]];
  int type = onnx_tensor_type(info->type)->elem_type;
  const char *word = element_word(x, type, index, &known);
  if (!known)
    return onnx_fail(
        x, "the input `%s` has an element type (%d) that is not supported",
        onnx_shown(x, info->name), type);
  struct graph_node *node = graph_input(x->graph, info->name, &shape, word);
  onnx_extra(x, node->index);
  struct onnx_view *view = ARENA_NEW(x->arena, struct onnx_view);
  *view = view_fresh(x, node->index, rank, dims, axes.order, axes.count);
  value->view = view;
  return true;
}

/* Adds a parameter without values. */
static bool add_parameter(struct onnx *x, const Onnx__ValueInfoProto *info,
                          struct onnx_value *value) {
  int64_t dims[MOST_AXES + 1];
  int rank, batch_axis = x->batch_axis;
  x->batch_axis = -1;
  bool right = input_dims(x, info, false, &rank, dims);
  x->batch_axis = batch_axis;
  if (!right)
    return false;
  struct constant *c =
      constant_new(x, info->type->tensor_type->elem_type, rank, dims);
  c->unknown = c->trained = true;
  c->name = info->name;
  value->constant = c;
  return !x->graph->failed;
}

/*
 * Inputs with transformers' names for positions and masks become constants: all
 * tokens are there, in order. Masks of padding and tables of positions are then
 * constants, too.
 */
static bool add_positions(struct onnx *x, const Onnx__ValueInfoProto *info,
                          struct onnx_value *value, bool *done) {
  bool mask = strcmp(info->name, "attention_mask") == 0;
  bool places = strcmp(info->name, "position_ids") == 0;
  int64_t dims[MOST_AXES + 1], *to;
  struct graph_shape sizes;
  const Onnx__TypeProto__Tensor *tensor = onnx_tensor_type(info->type);
  int rank, type = tensor ? tensor->elem_type : 0;
  *done = (mask || places) && (type == TYPE_INT64 || type == TYPE_INT32);
  if (!*done)
    return true;
  if (!input_dims(x, info, is_given(x, info->name, &sizes), &rank, dims))
    return false;
  *done = rank == 2 && dims[0] == 1;
  if (!*done)
    return true;
  struct constant *c = constant_new(x, type, rank, dims);
  if (x->graph->failed || !constant_room(x, c->count))
    return false;
  to = arena_alloc(x->arena, (size_t)c->count + 1, sizeof *to);
  for (int64_t i = 0; i < c->count; i++)
    to[i] = mask ? 1 : i;
  c->whole = to;
  value->constant = c;
  graph_note(x->graph, "`%s` is left out: %s", info->name,
             mask ? "no token is padding." : "positions count up from 0.");
  return true;
}

/* Marks by value, and the first input that is a weight. */
struct input_marks {
  const bool *boxes, *states;
  size_t first;
};

/* True for an input that the command line does not size, and no parameter. */
static bool asks_sizes(struct onnx *x, void *user, size_t i, int index,
                       int *axis) {
  const struct input_marks *marks = user;
  struct graph_shape sizes;
  const Onnx__ValueInfoProto *info = x->model->graph->input[i];
  *axis = batch_axis_of(x, info, marks->boxes[index], marks->states[index]);
  return !is_given(x, info->name, &sizes) && !is_parameter(x, index, info) &&
         !(i > marks->first && is_of_reals(info));
}

bool onnx_read_inputs(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  size_t more = g->n_input -
                (g->n_input < g->n_initializer ? g->n_input : g->n_initializer);
  if (more > 16 && more > MOST_LOOKUPS / (x->ops.count + 1))
    return onnx_fail(x, "the model has too many inputs: %zu", g->n_input);
  if (!names_inputs(x))
    return false;
  struct input_marks marks = {find_boxes(x), find_states(x),
                              first_parameter(x)};
  size_t first = marks.first;
  if (!onnx_check_scalars(x) || !onnx_ask(x, asks_sizes, &marks))
    return false;
  for (size_t i = 0; i < g->n_input && !x->graph->failed; i++) {
    const Onnx__ValueInfoProto *info = g->input[i];
    const struct map_entry *entry = map_find(&x->names, slice_of(info->name));
    if (!entry || x->values.at[entry->number - 1].idle)
      continue; /* unused */
    int index = (int)entry->number - 1;
    struct onnx_value *value = &x->values.at[index];
    if (value->made && value->constant)
      continue; /* it is an initializer */
    if (value->made)
      return onnx_fail(x, "two inputs are called `%s`",
                       onnx_shown(x, info->name));
    value->made = true;
    bool done;
    if (!onnx_add_scalar(x, info, value, &done) ||
        (!done && !add_positions(x, info, value, &done)))
      return false;
    if (done)
      continue;
    int batch_axis = x->batch_axis;
    x->batch_axis =
        batch_axis_of(x, info, marks.boxes[index], marks.states[index]);
    bool parameter =
        is_parameter(x, index, info) || (i > first && is_of_reals(info));
    if (!parameter)
      note_suspect(x, i, index, first);
    bool right = parameter ? add_parameter(x, info, value)
                           : add_input(x, info, value, index);
    x->batch_axis = batch_axis;
    if (!right)
      return false;
  }
  return !x->graph->failed;
}
