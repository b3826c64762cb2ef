/*
 * Operations on tensors outside of layers: TensorFlow's functions in Keras 2
 * (TFOpLambda), and the operations of Keras 3. Arguments are in the call or in
 * the config, by position or by name.
 */
#include <ctype.h>
#include <string.h>

#include "import/keras/keras.h"

/* An argument by name, or a constant by position. */
static json_t *argument(const struct keras_call *call, const char *name,
                        size_t place) {
  for (size_t i = 0; i < call->operand_count; i++)
    if (call->operands[i].key && strcmp(call->operands[i].key, name) == 0 &&
        !call->operands[i].is_tensor)
      return call->operands[i].value;
  size_t at = 0;
  for (size_t i = 0; i < call->operand_count; i++)
    if (!call->operands[i].key && at++ == place)
      return call->operands[i].is_tensor ? NULL : call->operands[i].value;
  return keras_member(call->config, name);
}

static json_t *either(const struct keras_call *call, const char *first,
                      const char *second, size_t place) {
  json_t *value = argument(call, first, place);
  return value ? value : argument(call, second, place);
}

/* An axis: `axis`, or the argument at that position. */
static bool take_axis(struct keras_call *call, size_t place, int64_t *axis) {
  const json_t *given = argument(call, "axis", place);
  return !given ||
         keras_integer(call, given, "axis", -LIMIT_RANK, LIMIT_RANK, axis);
}

/* Elementwise. */

struct two {
  const char *word;
  const struct keras_operand *a, *b;
};

/* The operands of `x + y`; one may be a number. */
static bool take_two(struct keras_call *call, struct two *two) {
  const struct keras_operand *found[2] = {NULL, NULL};
  size_t count = 0;
  for (size_t i = 0; i < call->operand_count && count < 2; i++) {
    const struct keras_operand *o = &call->operands[i];
    if (!o->key || word_index("x y x1 x2", slice_of(o->key)))
      found[count++] = o;
  }
  two->a = found[0];
  two->b = found[1];
  return count == 2 || keras_fail(call, "it needs two operands");
}

static bool give_by_number(struct keras_call *call, enum layer_word word,
                           const struct keras_tensor *x, double value) {
  return keras_give_like(
      call, graph_with(call->graph, word, x->node, value)->index, x);
}

/* c - x and c / x as layers on x. */
static bool give_swapped(struct keras_call *call, enum layer_word word,
                         const struct keras_tensor *x, double value) {
  bool sub = word == WORD_SUB;
  struct graph_node *node =
      keras_node(call, sub ? WORD_NEG : WORD_POW, x->node);
  if (!sub)
    graph_flag(call->graph, node, "-1");
  struct keras_tensor swapped = *x;
  swapped.node = node->index;
  return give_by_number(call, sub ? WORD_ADD : WORD_MUL, &swapped, value);
}

/* relu6(x + 3) / 6 */
static bool give_hard_sigmoid(struct keras_call *call, enum layer_word word,
                              const struct keras_tensor *x, double value) {
  static const enum layer_word words[] = {WORD_ADD, WORD_RELU6};
  const struct graph_node *clipped = graph_at(call->graph, x->node);
  double factor = word == WORD_DIV ? 1 / value : value;
  if ((word != WORD_MUL && word != WORD_DIV) || factor < 0.166666 ||
      factor > 0.166667 || clipped->inputs.count != 1)
    return false;
  const struct graph_node *more = graph_at(call->graph, clipped->inputs.at[0]);
  if (more->args.count != 1 || strcmp(more->args.at[0].value, "3") != 0)
    return false;
  int input = keras_withdraw(call, x->node, words, 2);
  return input >= 0 &&
         keras_give_like(call, keras_node(call, WORD_HSIGMOID, input)->index,
                         x);
}

bool keras_op_by_value(struct keras_call *call) {
  struct two two;
  if (!take_two(call, &two))
    return false;
  if (two.a->is_tensor && two.b->is_tensor) {
    int a = keras_exact(call, &two.a->tensor);
    int b = keras_exact(call, &two.b->tensor);
    return keras_give(
        call, graph_pair(call->graph, call->row->words[0], a, b)->index);
  }
  const struct keras_operand *x = two.a->is_tensor ? two.a : two.b;
  const json_t *value = two.a->is_tensor ? two.b->value : two.a->value;
  if (!x->is_tensor || !json_is_number(value))
    return keras_fail(call, "only constants that are numbers are supported");
  double number = json_number_value(value);
  if (give_hard_sigmoid(call, call->row->words[0], &x->tensor, number))
    return true;
  bool ordered =
      call->row->words[0] == WORD_SUB || call->row->words[0] == WORD_DIV;
  return x == two.b && ordered
             ? give_swapped(call, call->row->words[0], &x->tensor, number)
             : give_by_number(call, call->row->words[0], &x->tensor, number);
}

bool keras_op_power(struct keras_call *call) {
  struct two two;
  if (!take_two(call, &two))
    return false;
  if (!two.a->is_tensor || two.b->is_tensor || !json_is_number(two.b->value))
    return keras_fail(call, "only powers that are numbers are supported");
  return give_by_number(call, call->row->words[0], &two.a->tensor,
                        json_number_value(two.b->value));
}

bool keras_op_square(struct keras_call *call) {
  return give_by_number(call, call->row->words[0], &call->inputs[0], 2);
}

bool keras_op_rsqrt(struct keras_call *call) {
  return give_by_number(call, call->row->words[0], &call->inputs[0], -0.5);
}

bool keras_op_leaky(struct keras_call *call) {
  const json_t *slope = either(call, "negative_slope", "alpha", 1);
  return give_by_number(call, call->row->words[0], &call->inputs[0],
                        json_is_number(slope) ? json_number_value(slope) : 0.2);
}

bool keras_op_softmax(struct keras_call *call) {
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t value = -1;
  if (!take_axis(call, 1, &value))
    return false;
  int at = keras_axis(call, in, value);
  if (at != in->rank - 1)
    return keras_fail(call, "only a softmax over channels is supported");
  return keras_plain(call);
}

bool keras_op_same(struct keras_call *call) {
  return keras_give_same(call, keras_exact(call, call->inputs));
}

/* Clamps between two numbers. */
bool keras_op_clip(struct keras_call *call) {
  static const char *const names[2][2] = {{"x_min", "clip_value_min"},
                                          {"x_max", "clip_value_max"}};
  struct keras_tensor x = call->inputs[0];
  for (size_t i = 0; i < 2; i++) {
    const json_t *value = either(call, names[i][0], names[i][1], i + 1);
    if (!json_is_number(value))
      return keras_fail(call, "its bounds are not numbers");
    x.node = graph_with(call->graph, i ? WORD_MIN : WORD_MAX, x.node,
                        json_number_value(value))
                 ->index;
  }
  return keras_give_same(call, x.node);
}

/* Over axes. */

static bool take_axes(struct keras_call *call, const json_t *list,
                      bool axes[LIMIT_RANK]) {
  size_t count = json_is_array(list) ? json_array_size(list) : 1;
  if (!list)
    return keras_fail(call,
                      "netc has no equivalent of one value for all samples");
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_is_array(list) ? json_array_get(list, i) : list;
    int64_t axis;
    if (!keras_integer(call, item, "axis", -LIMIT_RANK, LIMIT_RANK, &axis))
      return false;
    int at = keras_axis(call, &call->inputs[0].shape, axis);
    if (at < 0)
      return false;
    axes[at] = true;
  }
  return true;
}

bool keras_op_reduce(struct keras_call *call) {
  const json_t *keep = argument(call, "keepdims", 2);
  bool axes[LIMIT_RANK] = {false};
  int left = 0;
  if (!take_axes(call, argument(call, "axis", 1), axes))
    return false;
  struct graph_node *node =
      graph_reduce(call->graph, call->row->words[0],
                   keras_exact(call, call->inputs), axes, json_is_true(keep));
  for (int i = 0; i < call->inputs[0].shape.rank; i++)
    left += !axes[i] || json_is_true(keep);
  if (left == 0)
    return keras_fail(
        call,
        "netc has no equivalent of a single value; `keepdims` keeps its axes");
  return keras_give(call, node->index);
}

/* Shapes. Lists include the batch. */

bool keras_op_reshape(struct keras_call *call) {
  const json_t *target = either(call, "newshape", "shape", 1);
  struct graph_shape out;
  if (!keras_fill_shape(call, target, 1, "shape", &out))
    return false;
  return keras_give_reshaped(call, &out);
}

bool keras_op_transpose(struct keras_call *call) {
  const json_t *axes = either(call, "axes", "perm", 1);
  if (json_integer_value(json_array_get(axes, 0)) != 0)
    return keras_fail(call, "it moves the batch");
  return keras_permute(call, call->inputs, axes, 1);
}

bool keras_op_squeeze(struct keras_call *call) {
  bool axes[LIMIT_RANK] = {false};
  struct graph_shape in = call->inputs[0].shape, out = {0};
  if (!take_axes(call, argument(call, "axis", 1), axes))
    return false;
  for (int i = 0; i < in.rank; i++) {
    if (!axes[i])
      out.size[out.rank++] = in.size[i];
    else if (in.size[i] != 1)
      return keras_fail(call, "it removes an axis whose size is not 1");
  }
  if (out.rank == 0)
    return keras_fail(call, "it leaves no axis");
  return keras_give_reshaped(call, &out);
}

bool keras_op_expand(struct keras_call *call) {
  struct graph_shape in = call->inputs[0].shape, out = {0};
  int64_t axis = -1;
  if (!take_axis(call, 1, &axis))
    return false;
  if (axis < 0)
    axis += in.rank + 2;
  if (axis < 1 || axis > in.rank + 1 || in.rank >= LIMIT_RANK - 1)
    return keras_fail(call, "its input has no such axis");
  for (int i = 0; i <= in.rank; i++) {
    if (i == axis - 1)
      out.size[out.rank++] = 1;
    if (i < in.rank)
      out.size[out.rank++] = in.size[i];
  }
  return keras_give_reshaped(call, &out);
}

bool keras_op_concat(struct keras_call *call) {
  int64_t axis = -1;
  return take_axis(call, call->input_count, &axis) && keras_concat(call, axis);
}

bool keras_op_matmul(struct keras_call *call) {
  const json_t *a = argument(call, "transpose_a", 2);
  const json_t *b = argument(call, "transpose_b", 3);
  const struct keras_tensor *x = call->inputs;
  if (call->input_count != 2 || json_is_true(a) || x[0].shape.rank < 2 ||
      x[0].shape.rank != x[1].shape.rank)
    return keras_fail(call, "it needs two tensors of equal rank, the first "
                            "not transposed");
  struct graph_node *node =
      graph_pair(call->graph, call->row->words[0], keras_exact(call, &x[0]),
                 keras_exact(call, &x[1]));
  if (json_is_true(b))
    graph_flag(call->graph, node, "transpose");
  return keras_give(call, node->index);
}

/* x[..., a:b]: a list of slices and numbers, the batch first. */
static bool get_part(struct keras_call *call, const json_t *item, int axis,
                     int *node) {
  const json_t *of = keras_member(item, "config");
  of = of ? of : item;
  const json_t *start = keras_member(of, "start");
  const json_t *stop = keras_member(of, "stop");
  const json_t *step = keras_member(of, "step");
  int64_t size = call->inputs[0].shape.size[axis], ends[2] = {0, size};
  const json_t *given[2] = {start, stop};
  if (step && json_integer_value(step) != 1)
    return keras_fail(call, "only contiguous parts are supported");
  for (int i = 0; i < 2; i++) {
    if (!given[i])
      continue;
    if (!keras_integer(call, given[i], "slice", -KERAS_MOST, KERAS_MOST,
                       &ends[i]))
      return false;
    ends[i] += ends[i] < 0 ? size : 0;
    ends[i] = ends[i] > size ? size : ends[i];
  }
  if (ends[0] < 0 || ends[1] <= ends[0])
    return keras_fail(call, "the part that it selects is empty");
  *node = graph_part(call->graph, *node, axis, ends[0], ends[1]);
  return true;
}

bool keras_op_get_item(struct keras_call *call) {
  const json_t *list = either(call, "key", "slice_spec", 1);
  struct graph_shape in = call->inputs[0].shape;
  size_t count = json_array_size(list);
  int node = keras_exact(call, call->inputs), at = 0;
  if (call->keras->channels_first[in.rank] || !json_is_array(list))
    return keras_fail(call, "netc has no equivalent of its indices");
  for (size_t i = 0; i < count; i++, at++) {
    const json_t *item = json_array_get(list, i);
    const char *type = keras_string(item, "class_name", "");
    if (strcmp(type, "__ellipsis__") == 0) {
      at = in.rank - (int)(count - i - 1);
      if (at < (i > 0))
        return keras_fail(call, "it has more indices than its input has axes");
      continue;
    }
    if (at == 0)
      continue; /* the batch */
    if (at > in.rank)
      return keras_fail(call, "it has more indices than its input has axes");
    if (!json_is_object(item))
      return keras_fail(
          call,
          "an index that removes an axis is not supported here; a slice is");
    if (!get_part(call, item, at - 1, &node))
      return false;
  }
  return keras_give(call, node);
}

/* Splits an axis into equal parts. */
bool keras_op_split(struct keras_call *call) {
  const json_t *parts =
      either(call, "indices_or_sections", "num_or_size_splits", 1);
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t count, value = 0;
  if (!keras_integer(call, parts, "sections", 1, 1024, &count) ||
      !take_axis(call, 2, &value))
    return false;
  int at = keras_axis(call, in, value);
  if (at < 0)
    return false;
  if (in->size[at] % count != 0)
    return keras_fail(call, "its parts are not equal");
  int input = keras_exact(call, call->inputs);
  int64_t size = in->size[at] / count;
  for (int64_t i = 0; i < count; i++)
    if (!keras_give(
            call, graph_part(call->graph, input, at, i * size, (i + 1) * size)))
      return false;
  return true;
}

/* The table: names without `tf.`, `math.` and the like, and without `_`. */

/* Gives a mask of valid steps (`mask_zero`); only mask arguments use it. */
bool keras_op_mask(struct keras_call *call) {
  return keras_give_same(call, KERAS_MASK);
}

static const struct keras_row operations[] = {
#define OPERATION(type, function, ...) {type, function, {__VA_ARGS__}},
#include "ops/keras.def"
};

bool keras_operation_type(struct graph *graph, size_t index,
                          struct import_type *type) {
  const size_t count = sizeof operations / sizeof *operations;
  if (index >= count)
    return keras_function_type(graph, IN_KERAS_OPERATIONS, "ops.%.*s",
                               index - count, type);
  import_type_set(type, graph_text(graph, "ops.%s", operations[index].type),
                  operations[index].words);
  return true;
}

/* True if "math.reduce_mean" or "Mean" is `mean`. */
static bool is_called(const char *theirs, struct slice name) {
  const char *dot = strrchr(theirs, '.');
  theirs = dot ? dot + 1 : theirs;
  if (strncmp(theirs, "reduce_", 7) == 0)
    theirs += 7;
  for (; *theirs; theirs++) {
    if (*theirs == '_')
      continue;
    if (slice_begins(name, "_"))
      name = slice_from(name, 1);
    if (!name.length || tolower((unsigned char)*theirs) != name.at[0])
      return false;
    name = slice_from(name, 1);
  }
  return name.length == 0;
}

/* The function of that name, or NULL. */
static const struct function *function_called(const char *theirs) {
  static const enum dialect dialects[] = {IN_KERAS, IN_KERAS_OPERATIONS};
  struct slice name;
  const struct function *function;
  for (size_t d = 0; d < sizeof dialects / sizeof *dialects; d++)
    for (size_t i = 0; (function = function_name_at(dialects[d], i, &name));
         i++)
      if (is_called(theirs, name))
        return function;
  return NULL;
}

bool keras_makes_mask(const char *function) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (operations[i].add == keras_op_mask &&
        is_called(function, slice_of(operations[i].type)))
      return true;
  return false;
}

bool keras_add_operation(struct keras_call *call, const char *function) {
  if (call->keras->lead > 0)
    return keras_fail(call, "operations are not supported in TimeDistributed");
  if (call->input_count == 0)
    return keras_fail(call, "it reads no tensor");
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (is_called(function, slice_of(operations[i].type))) {
      call->row = &operations[i];
      return call->row->add(call);
    }
  const struct function *known = function_called(function);
  if (known)
    return keras_give_same(
        call, keras_node(call, known->word, call->inputs[0].node)->index);
  return keras_leave(call, function,
                     graph_text(call->graph,
                                "netc has no equivalent of the operation %.64s",
                                function));
}
