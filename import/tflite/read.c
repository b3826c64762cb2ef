/* Walks a TensorFlow Lite model's operators, and what all of them need. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "import/tflite/tflite.h"

static const struct tflite_row {
  int64_t code;
  const char *name;
  tflite_op_fn *read;
  enum layer_word words[IMPORT_WORDS];
} rows[] = {
#define OP(number, name, function, ...) \
  {number, #name, function, {__VA_ARGS__}},
#include "import/tflite/ops.def"
#undef OP
};

static const char *const names[] = {
#include "import/tflite/names.def"
};

bool tflite_type_at(struct graph *graph, size_t index,
                    struct import_type *type) {
  (void)graph;
  if (index >= sizeof rows / sizeof *rows)
    return false;
  import_type_set(type, rows[index].name, rows[index].words);
  return true;
}

enum layer_word tflite_word(const struct tflite *t) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].code == t->at->code)
      return rows[i].words[0];
  return WORD_NONE;
}

bool tflite_fail(struct tflite *t, const char *format, ...) {
  va_list args;
  struct text text = text_new(t->graph->arena);
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  return graph_fail(t->graph, 0, "`%.64s` (%.64s): %.*s", t->name, t->word,
                    (int)text.length, text.at);
}

/* Operands */

static struct tflite_tensor *
tensor_of(struct tflite *t, const struct flat_vector *list, uint64_t index) {
  int64_t at = index < list->count ? flat_item(&t->flat, list, index, 4) : -1;
  return at >= 0 && (uint64_t)at < t->tensors.count ? &t->tensors.at[at] : NULL;
}

struct tflite_tensor *tflite_in(struct tflite *t, uint64_t index) {
  return tensor_of(t, &t->at->inputs, index);
}

struct tflite_tensor *tflite_out(struct tflite *t, uint64_t index) {
  return tensor_of(t, &t->at->outputs, index);
}

struct tflite_tensor *tflite_value(struct tflite *t, uint64_t index) {
  struct tflite_tensor *tensor = tflite_in(t, index);
  if (tensor && tensor->node >= 0)
    return tensor;
  if (!tensor)
    tflite_fail(t, "it has no operand %" PRIu64, index);
  else if (tensor->state)
    tflite_fail(t,
                "it keeps `%.64s` from one prediction to the next, and "
                "netc's nets keep nothing",
                tensor->name);
  else
    tflite_fail(t, "its operand `%.64s` is %s", tensor->name,
                tflite_is_constant(tensor) ? "a constant"
                                           : "given by nothing before it");
  return NULL;
}

struct tflite_tensor *tflite_weight(struct tflite *t, uint64_t index,
                                    int rank) {
  struct tflite_tensor *tensor = tflite_in(t, index);
  if (tensor && tflite_is_constant(tensor) && tensor->node < 0 &&
      tensor->rank == rank && tensor->count > 0)
    return tensor;
  if (tensor && tensor->node >= 0)
    tflite_fail(t, "its weights, `%.64s`, are not in the file", tensor->name);
  else
    tflite_fail(t, "its weights do not have %d axes", rank);
  return NULL;
}

int64_t tflite_int(struct tflite *t, unsigned field, int bytes, int64_t usual) {
  return flat_int(&t->flat, &t->at->options, field, bytes, usual);
}

bool tflite_ints(struct tflite *t, uint64_t index, const char *what, int most,
                 int64_t *values, int *count) {
  struct tflite_tensor *tensor = tflite_in(t, index);
  if (!tensor)
    return tflite_fail(t, "its %s is missing", what);
  if (tensor->node >= 0 || !tflite_is_constant(tensor)) {
    tflite_fail(t, "its %s, `%.64s`, is not in the file", what, tensor->name);
    return graph_help(t->graph,
                      "convert the model with a fixed shape of its inputs");
  }
  int bytes = tensor->type == TFLITE_INT64 ? 8 : 4;
  if ((tensor->type != TFLITE_INT32 && bytes == 4) || tensor->count < 1 ||
      tensor->count > most ||
      (uint64_t)tensor->count * (unsigned)bytes != tensor->data.count)
    return tflite_fail(t, "its %s, `%.64s`, is not supported", what,
                       tensor->name);
  *count = (int)tensor->count;
  for (int i = 0; i < *count; i++)
    values[i] = flat_item(&t->flat, &tensor->data, (uint64_t)i, bytes);
  return true;
}

int tflite_axis(struct tflite *t, const struct tflite_tensor *tensor,
                int64_t axis) {
  axis += axis < 0 ? tensor->rank : 0;
  if (axis > 0 && axis < tensor->rank)
    return (int)axis - 1;
  tflite_fail(t, axis == 0 ? "its axis is the batch"
                           : "its input has no such axis");
  return -1;
}

/* Nodes */

/* The shape without the batch; false, with an error. */
static bool take_shape(struct tflite *t, struct tflite_tensor *tensor) {
  if (tensor->count < 1)
    return graph_fail(t->graph, 0, "`%.64s` has no size that is supported",
                      tensor->name);
  if (tensor->rank < 1 || tensor->dims[0] != t->batch) {
    graph_fail(t->graph, 0,
               "`%.64s`: its first axis is not the batch, which is %" PRId64,
               tensor->name, t->batch);
    return false;
  }
  tensor->shape.rank = tensor->rank > 1 ? tensor->rank - 1 : 1;
  tensor->shape.size[0] = 1;
  for (int i = 1; i < tensor->rank; i++)
    tensor->shape.size[i - 1] = tensor->dims[i];
  return true;
}

struct graph_node *tflite_layer(struct tflite *t, enum layer_word word,
                                int input) {
  return graph_layer(t->graph, word, input);
}

int tflite_exact(struct tflite *t, const struct tflite_tensor *tensor) {
  const struct graph_shape *shape = &tensor->shape;
  if (graph_same_shape(&graph_at(t->graph, tensor->node)->shape, shape))
    return tensor->node;
  bool flat = shape->rank == 1;
  struct graph_node *node =
      tflite_layer(t, flat ? WORD_FLATTEN : WORD_RESHAPE, tensor->node);
  node->shape = *shape;
  if (!flat)
    graph_arg(t->graph, node, PART_OTHER, "",
              graph_sizes(t->graph, shape->size, shape->rank));
  return node->index;
}

static struct tflite_tensor *next_output(struct tflite *t, uint64_t index) {
  struct tflite_tensor *out = tflite_out(t, index);
  if (!out || out->node >= 0 || tflite_is_constant(out)) {
    tflite_fail(t, "its output %" PRIu64 " %s", index,
                out ? "is made twice" : "is missing");
    return NULL;
  }
  return take_shape(t, out) ? out : NULL;
}

/* The node gives the tensor, in steps of its size. */
static void keep_steps(struct tflite *t, struct tflite_tensor *tensor,
                       struct graph_node *node) {
  const struct tflite_tensor *const one = tensor;
  tensor->node = node->index;
  if (!node->scale)
    tflite_steps(t, &one, 1, &node->scale, &node->zero);
}

bool tflite_give(struct tflite *t, uint64_t index, struct graph_node *node) {
  struct tflite_tensor *out = next_output(t, index);
  if (!out || t->graph->failed)
    return false;
  node->shape = out->shape;
  keep_steps(t, out, node);
  return true;
}

bool tflite_give_active(struct tflite *t, struct graph_node *node,
                        int64_t activation) {
  static const enum layer_word words[] = {WORD_NONE, WORD_RELU, WORD_HARDTANH,
                                          WORD_RELU6, WORD_TANH};
  struct tflite_tensor *out = tflite_out(t, 0);
  if (activation < 0 || activation >= (int)(sizeof words / sizeof *words))
    return tflite_fail(t, "netc has no equivalent of its activation");
  if (out && take_shape(t, out))
    node->shape = out->shape;
  if (activation)
    node = tflite_layer(t, words[activation], node->index);
  return tflite_give(t, 0, node);
}

bool tflite_give_view(struct tflite *t, const struct tflite_tensor *from) {
  struct tflite_tensor *out = next_output(t, 0);
  if (!out)
    return false;
  if (out->count != from->count)
    return tflite_fail(t, "it gives %" PRId64 " values of %" PRId64, out->count,
                       from->count);
  keep_steps(t, out, graph_at(t->graph, from->node));
  return true;
}

/* The model */

static bool add_input(struct tflite *t, struct tflite_tensor *tensor) {
  bool whole = tensor->type == TFLITE_INT32 || tensor->type == TFLITE_INT64;
  if (tensor->open) {
    graph_fail(t->graph, 0, "its input `%.64s` leaves sizes open",
               tensor->name);
    return graph_help(t->graph,
                      "convert the model with a fixed shape of its inputs");
  }
  if (tensor->node >= 0)
    return graph_fail(t->graph, 0, "the input `%.64s` is there twice",
                      tensor->name);
  if (t->batch == 0 && tensor->rank > 0)
    t->batch = tensor->dims[0];
  if (!take_shape(t, tensor))
    return false;
  const char *dtype = !whole                         ? NULL
                      : tensor->type == TFLITE_INT64 ? "i64"
                                                     : "i32";
  keep_steps(t, tensor,
             graph_input(t->graph, tensor->name, &tensor->shape, dtype));
  return true;
}

/* Inputs that say shapes are none of the net's: operators refuse them. */
static bool read_inputs(struct tflite *t) {
  for (uint64_t i = 0; i < t->inputs.count && !t->graph->failed; i++) {
    struct tflite_tensor *tensor = tensor_of(t, &t->inputs, i);
    if (!tensor)
      return graph_fail(t->graph, 0, "input %" PRIu64 " does not exist", i);
    if (tensor->rank > 1)
      add_input(t, tensor);
  }
  return !t->graph->failed;
}

/* The part of a name that is the operator's own: others are fused with it. */
static const char *name_of(struct tflite *t, const struct tflite_tensor *out) {
  size_t length = 0;
  while (out && length < 200 && out->name[length] && out->name[length] != ';')
    length++;
  return out ? arena_copy(t->graph->arena, out->name, length) : "?";
}

static bool refuse_op(struct tflite *t) {
  for (uint64_t i = 0; i < t->at->inputs.count; i++) {
    const struct tflite_tensor *in = tflite_in(t, i);
    if (in && in->state) {
      tflite_fail(t,
                  "it keeps its state, `%.64s`, from one prediction to the "
                  "next, and netc's nets keep nothing",
                  in->name);
      return graph_help(t->graph, "--allow-unknown leaves it out, with what "
                                  "follows from it");
    }
  }
  tflite_fail(t, "netc has no equivalent of it");
  return graph_help(t->graph,
                    "--allow-unknown leaves it out, with what follows from it");
}

static bool leave_out(struct tflite *t, bool known) {
  if (known) /* what follows from one that was */
    ;
  else if (!t->options->allow_unknown)
    return refuse_op(t);
  else
    graph_note(t->graph,
               "`%.64s` (%.64s) is left out, with what follows from it: netc "
               "has no equivalent.",
               t->name, t->word);
  for (uint64_t i = 0; i < t->at->outputs.count; i++) {
    struct tflite_tensor *out = tflite_out(t, i);
    if (out)
      out->unknown = true;
  }
  return true;
}

static bool read_op(struct tflite *t, const struct tflite_op *op) {
  const struct tflite_row *row = NULL;
  t->at = op;
  t->name = name_of(t, tflite_out(t, 0));
  t->word =
      *op->custom ? op->custom
      : op->code >= 0 && op->code < (int64_t)(sizeof names / sizeof *names)
          ? names[op->code]
          : graph_text(t->graph, "operator %" PRId64, op->code);
  t->graph->at = (struct graph_origin){.name = t->name, .kind = t->word};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    row = rows[i].code == op->code ? &rows[i] : row;
  bool unknown = false;
  for (uint64_t i = 0; i < op->inputs.count; i++) {
    const struct tflite_tensor *in = tflite_in(t, i);
    unknown = unknown || (in && in->unknown);
  }
  if (unknown || !row)
    return leave_out(t, unknown);
  t->word = row->name;
  t->graph->at.kind = row->name;
  return row->read(t);
}

static bool read_outputs(struct tflite *t) {
  bool some = false;
  for (uint64_t i = 0; i < t->outputs.count && !t->graph->failed; i++) {
    const struct tflite_tensor *tensor = tensor_of(t, &t->outputs, i);
    if (!tensor || (tensor->node < 0 && !tensor->unknown))
      return graph_fail(t->graph, 0, "output %" PRIu64 " is given by nothing",
                        i);
    if (tensor->unknown)
      continue;
    some = true;
    struct graph_node *node = graph_at(t->graph, tflite_exact(t, tensor));
    if (node->output || node->word == WORD_INPUT)
      node = graph_layer(t->graph, WORD_IDENTITY, node->index);
    const char *name = name_of(t, tensor);
    name = graph_identifier(t->graph, name);
    node->output = name ? name : "result";
  }
  return !t->graph->failed &&
         (some || graph_fail(t->graph, 0, "nothing of it is left"));
}

/* In what predictions are made: netc has one type for all. */
static void say_types(struct tflite *t) {
  size_t bytes = 0, words = 0, reals = 0, weights = 0;
  for (size_t i = 0; i < t->tensors.count; i++) {
    const struct tflite_tensor *x = &t->tensors.at[i];
    bool small = x->type == TFLITE_INT8 || x->type == TFLITE_UINT8;
    bool given =
        x->node >= 0 && graph_at(t->graph, x->node)->word != WORD_INPUT;
    weights += small && tflite_is_constant(x);
    bytes += given && small;
    words += given && x->type == TFLITE_INT16;
    reals += given && x->type == TFLITE_FLOAT32;
  }
  if (bytes > words && bytes > reals)
    t->graph->infer = "dtype=i8";
  else if (weights)
    graph_note(t->graph, "Weights are of 8 bits in the file, float32 here.");
  if (words)
    graph_note(t->graph,
               "Tensors between layers are int16 in the file, %s "
               "here.",
               t->graph->infer ? "int8" : "float32");
}

bool tflite_read(struct graph *graph, struct slice file,
                 const struct import_options *options) {
  struct tflite t = {.graph = graph, .options = options};
  struct byte_store store = import_bytes(options, file);
  bool opened = tflite_open(&t, &store) && read_inputs(&t);
  for (size_t i = 0;
       opened && i < t.ops.count && !graph->failed && bytes_ok(&t.flat.in); i++)
    read_op(&t, &t.ops.at[i]);
  graph->at = (struct graph_origin){0};
  if (opened && !graph->failed && read_outputs(&t))
    say_types(&t);
  if (!graph->failed && !bytes_ok(&t.flat.in))
    graph_fail(graph, 0, "%s", t.flat.in.fault);
  byte_store_close(&store);
  return !graph->failed;
}
