/* Walks a TensorFlow Lite model's operators, and reports left-out ones. */
#include <inttypes.h>
#include <string.h>

#include "import/tflite/tflite.h"

static const struct tflite_row {
  int64_t code;
  const char *name;
  tflite_op_fn *read;
  tflite_value_fn *value; /* instead of `read` */
  enum layer_word words[IMPORT_WORDS];
} rows[] = {
#define OP(number, name, function, ...) \
  {number, #name, function, NULL, {__VA_ARGS__}},
#define VALUE(number, name, function, ...) \
  {number, #name, NULL, function, {__VA_ARGS__}},
#include "ops/tflite.def"
};

static const char *const names[] = {
#include "import/tflite/names.def"
};

bool tflite_type_at(struct graph *graph, size_t index,
                    struct import_type *type) {
  const size_t count = sizeof rows / sizeof *rows;
  if (index >= count)
    return import_function_type(graph, IN_TFLITE, "%.*s", index - count, type);
  import_type_set(type, rows[index].name, rows[index].words);
  return true;
}

/* The name of a builtin operator in the schema; NULL: a later one. */
static const char *builtin_name(int64_t code) {
  return code >= 0 && code < (int64_t)(sizeof names / sizeof *names)
             ? names[code]
             : NULL;
}

/* The row of an operator; a function of ops.def without one is a layer. A name
 * of its own that a builtin operator has must be the schema's. */
static struct tflite_row find_row(const struct tflite *t) {
  const char *custom = t->at->custom, *name = builtin_name(t->at->code);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].code == t->at->code &&
        (!*custom || strcmp(rows[i].name, custom) == 0))
      return rows[i];
  const struct function *function =
      name ? function_find(IN_TFLITE, slice_of(name)) : NULL;
  if (function && (!*custom || strcmp(name, custom) == 0))
    return (struct tflite_row){
        t->at->code, name, NULL, tflite_plain, {function->word}};
  return (struct tflite_row){.name = NULL};
}

enum layer_word tflite_word(const struct tflite *t) {
  return find_row(t).words[0];
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
    return graph_fail(t->graph, 0, "the input `%.64s` is listed twice",
                      tensor->name);
  if (t->batch == 0 && tensor->rank > 0)
    t->batch = tensor->dims[0];
  if (!tflite_shape(t, tensor))
    return false;
  const char *dtype = !whole                         ? NULL
                      : tensor->type == TFLITE_INT64 ? "i64"
                                                     : "i32";
  tflite_keep_steps(t, tensor,
                    graph_input(t->graph, tensor->name, &tensor->shape, dtype));
  return true;
}

/* Inputs with shapes are not added: operators that read them are refused. One
 * value is a batch of one. */
static bool read_inputs(struct tflite *t) {
  for (uint64_t i = 0; i < t->inputs.count && !t->graph->failed; i++) {
    struct tflite_tensor *tensor = tflite_tensor_at(t, &t->inputs, i);
    if (!tensor)
      return graph_fail(t->graph, 0, "input %" PRIu64 " does not exist", i);
    bool whole = tensor->type == TFLITE_INT32 || tensor->type == TFLITE_INT64;
    bool one = tensor->rank == 1 && tensor->dims[0] == 1 && !whole;
    if (tensor->rank > 1 || one)
      add_input(t, tensor);
  }
  return !t->graph->failed;
}

/* The operator's part of a name; fused operators add their own. */
static const char *name_of(struct tflite *t, const struct tflite_tensor *out) {
  size_t length = 0;
  while (out && length < 200 && out->name[length] && out->name[length] != ';')
    length++;
  return out ? arena_copy(t->graph->arena, out->name, length) : "?";
}

enum { SHAPE = 77 };

void tflite_begin(struct tflite *t, const struct tflite_op *op) {
  t->at = op;
  t->name = name_of(t, tflite_out(t, 0));
  const char *name = builtin_name(op->code);
  t->word = *op->custom ? op->custom
            : name      ? name
                        : graph_text(t->graph, "operator %" PRId64, op->code);
  t->graph->at = (struct graph_origin){.name = t->name, .kind = t->word};
}

static bool refuse_op(struct tflite *t, bool known) {
  const char *state = NULL;
  for (uint64_t i = 0; i < t->at->inputs.count; i++) {
    const struct tflite_tensor *in = tflite_in(t, i);
    if (in && in->state)
      state = in->name;
  }
  if (state)
    tflite_fail(t,
                "it keeps its state, `%.64s`, between runs, which netc "
                "supports only for SVDF and variables",
                state);
  else
    tflite_fail(t, known ? "its input is left out"
                         : "netc has no equivalent of it");
  return graph_help_leave(t->graph);
}

/* Makes the operator's inputs outputs if an output depends on it. */
static bool leave_out(struct tflite *t) {
  for (uint64_t i = 0; i < t->at->inputs.count; i++) {
    struct tflite_tensor *in = tflite_in(t, i);
    if (in && in->node >= 0)
      in->wanted = true;
  }
  for (uint64_t i = 0; i < t->at->outputs.count; i++) {
    struct tflite_tensor *out = tflite_out(t, i);
    if (out)
      out->unknown = true;
  }
  return true;
}

/* Leaves out an operator of indices: the number of its outputs, or of outputs
 * computed from them, depends on values. */
bool tflite_leave(struct tflite *t) {
  graph_note(t->graph, "`%.64s` (%.64s) is left out.", t->name, t->word);
  return leave_out(t);
}

/* Leaves out an operator after another; `moves`: it changes no values. */
static bool leave_more(struct tflite *t, bool moves) {
  return t->options->allow_unknown || moves ? leave_out(t) : refuse_op(t, true);
}

static bool leave_unknown(struct tflite *t) {
  if (!t->options->allow_unknown)
    return refuse_op(t, false);
  graph_note_left(t->graph, t->name, t->word);
  return leave_out(t);
}

/* The kinds of an operator's inputs. */
struct tflite_reads {
  bool unknown, sizes, values;
};

static struct tflite_reads look_at_operands(struct tflite *t) {
  struct tflite_reads found = {0};
  for (uint64_t i = 0; i < t->at->inputs.count; i++) {
    const struct tflite_tensor *in = tflite_in(t, i);
    found.unknown = found.unknown || (in && in->unknown);
    found.sizes = found.sizes || (in && in->sizes);
    found.values = found.values || (in && in->node >= 0);
  }
  return found;
}

static bool read_op(struct tflite *t, const struct tflite_op *op) {
  tflite_begin(t, op);
  struct tflite_row row = find_row(t);
  struct tflite_reads in = look_at_operands(t);
  bool sizes = op->code == SHAPE || (in.sizes && !in.values);
  for (uint64_t i = 0; sizes && i < op->outputs.count; i++)
    if (tflite_out(t, i))
      tflite_out(t, i)->sizes = true;
  if (sizes)
    return true;
  if (in.unknown)
    return leave_more(t, row.name && (row.words[0] == WORD_NONE ||
                                      row.words[0] == WORD_RESHAPE));
  if (!row.value)
    return row.read ? row.read(t) : leave_unknown(t);
  const struct tflite_tensor *first = tflite_value(t, 0);
  return first && row.value(t, first);
}

/* Marks an output of the file, or a tensor that a left-out output reads. */
static void put_output(struct tflite *t, const struct tflite_tensor *tensor) {
  struct graph_node *node = graph_at(t->graph, tflite_exact(t, tensor));
  if (node->output || node->word == WORD_INPUT)
    node = graph_layer(t->graph, WORD_IDENTITY, node->index);
  graph_output(t->graph, node, name_of(t, tensor));
}

static bool read_outputs(struct tflite *t) {
  bool some = false, less = false;
  for (uint64_t i = 0; i < t->outputs.count && !t->graph->failed; i++) {
    const struct tflite_tensor *tensor = tflite_tensor_at(t, &t->outputs, i);
    if (!tensor || (tensor->node < 0 && !tensor->unknown))
      return graph_fail(
          t->graph, 0, "output %" PRIu64 " is not produced by any operator", i);
    less = less || tensor->unknown;
    some = some || !tensor->unknown;
    if (!tensor->unknown)
      put_output(t, tensor);
  }
  for (size_t i = 0; less && i < t->tensors.count; i++) {
    const struct tflite_tensor *tensor = &t->tensors.at[i];
    const struct graph_node *node =
        tensor->wanted ? graph_at(t->graph, tensor->node) : NULL;
    if (!node || node->output || node->word == WORD_INPUT)
      continue;
    some = true;
    put_output(t, tensor);
  }
  tflite_put_states(t);
  return !t->graph->failed &&
         (some || graph_fail(t->graph, 0, "no layer of it remains"));
}

/* Notes the types of inference: netc has one type for all. */
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
    graph_note(t->graph, "The file's 8-bit weights are written as float32.");
  if (words)
    graph_note(t->graph,
               "Tensors between layers are int16 in the file; netc uses %s.",
               t->graph->infer ? "int8" : "float32");
}

bool tflite_read(struct graph *graph, struct slice file,
                 const struct import_options *options) {
  struct tflite t = {.graph = graph, .options = options};
  struct byte_store store = import_bytes(options, file);
  bool opened =
      tflite_open(&t, &store) && read_inputs(&t) && tflite_read_states(&t);
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
