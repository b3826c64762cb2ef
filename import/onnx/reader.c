/*
 * Reads an ONNX model into a graph: values by name, operators in the file's
 * order, each translated by a row of ops/onnx.def. github.com/onnx/onnx,
 * docs/IR.md.
 */
#include "import/onnx/reader.h"

#include <inttypes.h>
#include <string.h>

static const struct onnx_row {
  const char *name;
  onnx_op_fn *read;
  onnx_view_fn *view; /* instead of `read` */
  enum layer_word words[IMPORT_WORDS];
} rows[] = {
#define OP(name, function, ...) {#name, function, NULL, {__VA_ARGS__}},
#define VIEW(name, function, ...) {#name, NULL, function, {__VA_ARGS__}},
#include "ops/onnx.def"
};

/* The row of an operator. A function of ops.def needs none. */
static struct onnx_row row_named(const char *name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, name) == 0)
      return rows[i];
  const struct function *function = function_find(IN_ONNX, slice_of(name));
  if (function)
    return (struct onnx_row){name, NULL, op_plain, {function->word}};
  return (struct onnx_row){.name = NULL};
}

/* Lists rows, functions without a row, and operators that are only folded. */
bool onnx_type(struct graph *graph, size_t index, struct import_type *type) {
  size_t at = sizeof rows / sizeof *rows;
  if (index < at) {
    import_type_set(type, rows[index].name, rows[index].words);
    return true;
  }
  for (size_t i = 0; import_function_type(graph, IN_ONNX, "%.*s", i, type); i++)
    if (row_named(type->name).name == type->name && at++ == index)
      return true;
  for (size_t i = 0; (type->name = fold_name(i)); i++)
    if (!row_named(type->name).name && at++ == index) {
      type->words[0] = WORD_NONE;
      return true;
    }
  return false;
}

/* Reading. */

static bool read_sizes(struct onnx *x) {
  for (size_t i = 0; i < x->options->size_count; i++) {
    const struct import_size *size = &x->options->sizes[i];
    map_add(x->arena, &x->sizes, slice_of(size->name))->number = size->value;
  }
  return true;
}

/* A node's operands, then the outer values that its inner graphs read. */
static void add_op(struct onnx *x, struct onnx_op *op,
                   const Onnx__NodeProto *proto) {
  struct onnx_captured inside = {.seen = {0}};
  onnx_find_captured(x, proto, &inside);
  *op = (struct onnx_op){.proto = proto,
                         .type = proto->op_type ? proto->op_type : "",
                         .name = proto->name && *proto->name ? proto->name
                                 : proto->n_output > 0       ? proto->output[0]
                                                             : "",
                         .in_count = proto->n_input + inside.names.count,
                         .out_count = proto->n_output};
  op->ins = arena_alloc(x->arena, op->in_count + 1, sizeof *op->ins);
  op->outs = arena_alloc(x->arena, op->out_count + 1, sizeof *op->outs);
  for (size_t i = 0; i < op->in_count; i++) {
    const char *name = i < proto->n_input ? proto->input[i]
                                          : inside.names.at[i - proto->n_input];
    op->ins[i] = *name ? onnx_value_index(x, name) : -1;
    if (op->ins[i] >= 0)
      x->values.at[op->ins[i]].uses++;
  }
  for (size_t i = 0; i < op->out_count; i++)
    op->outs[i] = *proto->output[i] ? onnx_made_index(x, proto->output[i]) : -1;
}

static bool read_opset(struct onnx *x) {
  const Onnx__ModelProto *model = x->model;
  x->opset = 1;
  for (size_t i = 0; i < model->n_opset_import; i++) {
    const Onnx__OperatorSetIdProto *set = model->opset_import[i];
    if (!set->domain || !*set->domain || strcmp(set->domain, "ai.onnx") == 0)
      x->opset = set->version;
  }
  if (model->n_functions > 0)
    return onnx_fail(
        x, "the model defines functions (`%s`), which are not supported",
        onnx_shown(x, model->functions[0]->name));
  if (x->opset < 1 || x->opset > 1000)
    return onnx_fail(x, "opset %" PRId64 " does not exist", x->opset);
  return true;
}

static bool add_initializers(struct onnx *x, const Onnx__GraphProto *g) {
  if (g->n_node > MOST_OPERATORS)
    return onnx_fail(x, "the model has %zu nodes; at most %d are supported",
                     g->n_node, MOST_OPERATORS);
  if (g->n_sparse_initializer > 0)
    return onnx_fail(x, "sparse initializers are not supported");
  for (size_t i = 0; i < g->n_initializer; i++) {
    int index = onnx_made_index(x, g->initializer[i]->name);
    if (x->values.at[index].made)
      return onnx_fail(x, "two initializers are called `%s`",
                       onnx_shown(x, g->initializer[i]->name));
    struct constant *c = constant_of(x, g->initializer[i]);
    c->trained = constant_is_real(c);
    x->values.at[index].constant = c;
    x->values.at[index].made = true;
  }
  return !x->graph->failed;
}

static bool read_names(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  if (!add_initializers(x, g))
    return false;
  for (size_t i = 0; i < g->n_node && !x->graph->failed; i++)
    add_op(x, VEC_PUSH(x->arena, &x->ops), g->node[i]);
  for (size_t i = 0; i < g->n_value_info; i++) {
    int index = onnx_value_index(x, g->value_info[i]->name);
    x->values.at[index].type = g->value_info[i]->type;
  }
  for (size_t i = 0; i < g->n_output; i++) {
    int index = onnx_value_index(x, g->output[i]->name);
    x->values.at[index].type = g->output[i]->type;
    x->values.at[index].output = true;
  }
  return !x->graph->failed;
}

/* netc's own files name the buffers, separated by blanks, and mark initializers
 * that are no tensors of the net: `constant/3`. They merge no vectors. */
static void find_buffers(struct onnx *x) {
  const Onnx__ModelProto *model = x->model;
  bool ours = model->producer_name && strcmp(model->producer_name, "netc") == 0;
  x->own_vectors = x->options->own_vectors || ours;
  for (size_t i = 0; ours && i < x->values.count; i++) {
    struct onnx_value *value = &x->values.at[i];
    if (value->constant && strncmp(value->name, "constant", 8) == 0)
      value->constant->trained = false;
  }
  for (size_t i = 0; i < model->n_metadata_props; i++) {
    const Onnx__StringStringEntryProto *entry = model->metadata_props[i];
    if (!entry->key || !entry->value || strcmp(entry->key, "netc.buffers") != 0)
      continue;
    for (const char *at = entry->value; *at;) {
      size_t length = strcspn(at, " ");
      struct map_entry *name = map_find(&x->names, (struct slice){at, length});
      struct onnx_value *value = name ? &x->values.at[name->number - 1] : NULL;
      if (value && value->constant) {
        value->constant->trained = false;
        value->constant->buffer = true;
      }
      if (value)
        value->buffer = true;
      at += length + (at[length] == ' ');
    }
  }
}

/* Operators. */

static struct onnx_row row_of(const struct onnx_op *op) {
  const char *domain = op->proto->domain;
  bool usual = !domain || !*domain || /* from_torch writes `netc` */
               word_index("ai.onnx com.microsoft netc", slice_of(domain));
  return usual ? row_named(op->type) : (struct onnx_row){.name = NULL};
}

enum layer_word onnx_word(const struct onnx *x) {
  return row_of(x->at).words[0];
}

bool onnx_knows(const struct onnx_op *op) {
  return row_of(op).name;
}

/* True if all inputs of a node exist. An inner graph may read left-out values
 * if another one is chosen. */
static bool check_inputs(struct onnx *x, bool *absent) {
  *absent = false;
  for (size_t i = 0; i < x->at->in_count; i++) {
    const struct onnx_value *value =
        x->at->ins[i] < 0 ? NULL : onnx_operand(x, i);
    if (!value)
      continue;
    if (!value->made)
      return onnx_fail(x, "it reads `%s`, which no node before it produces",
                       onnx_shown(x, value->name));
    *absent = *absent || (value->absent && i < x->at->proto->n_input);
  }
  return true;
}

static bool mark_outputs(struct onnx *x) {
  for (size_t i = 0; i < x->at->out_count; i++) {
    if (x->at->outs[i] < 0)
      continue;
    struct onnx_value *value = &x->values.at[x->at->outs[i]];
    if (value->made)
      return onnx_fail(x, "two nodes produce `%s`", onnx_shown(x, value->name));
    value->made = true;
  }
  return true;
}

/* Frees views after their last reader: views are large. */
static void drop_read(struct onnx *x) {
  for (size_t i = 0; i < x->at->in_count; i++) {
    struct onnx_value *value = x->at->ins[i] < 0 ? NULL : onnx_operand(x, i);
    if (!value || ++value->read < value->uses || value->output || !value->view)
      continue;
    *VEC_PUSH(x->arena, &x->spare) = value->view;
    value->view = NULL;
  }
}

bool onnx_read_op(struct onnx *x) {
  bool absent, done = false;
  if (!check_inputs(x, &absent) || !mark_outputs(x))
    return false;
  struct onnx_row row = row_of(x->at);
  if (absent && !onnx_read_regions(x, &done))
    return false;
  if (absent && !done)
    return onnx_leave_out(x, false);
  if (!done && !fold_constants(x, &done))
    return false;
  if (done)
    return true;
  if (!row.name && x->options->allow_unknown)
    return onnx_leave_out(x, true);
  if (!row.name) {
    onnx_fail(x, "netc supports it only on constants");
    return graph_help_leave(x->graph);
  }
  const struct onnx_view *in = row.view ? onnx_input(x, 0) : NULL;
  if (row.view ? !in || !row.view(x, in) : !row.read(x)) {
    onnx_fail(x, "netc has no equivalent of it");
    return onnx_leave_failed(x);
  }
  for (size_t i = 0; i < x->at->out_count; i++) {
    int out = x->at->outs[i];
    if (out >= 0 && x->values.at[out].uses + x->values.at[out].output > 0 &&
        !x->values.at[out].view && !x->values.at[out].constant &&
        !x->values.at[out].absent) {
      onnx_fail(x, "its output %zu is not supported", i);
      return onnx_leave_failed(x);
    }
  }
  return !x->graph->failed;
}

bool onnx_read_graph(struct onnx *x, const Onnx__GraphProto *g,
                     struct onnx_value *outs, size_t count) {
  const struct onnx_op *around = x->at;
  struct onnx_scope scope = {.outer = x->scope};
  if (g->n_output != count)
    return onnx_fail(x, "its graph has %zu outputs, but the operator has %zu",
                     g->n_output, count);
  x->scope = &scope;
  bool right = add_initializers(x, g);
  struct onnx_op *ops = arena_alloc(x->arena, g->n_node + 1, sizeof *ops);
  for (size_t i = 0; right && i < g->n_node; i++) {
    add_op(x, &ops[i], g->node[i]);
    for (size_t k = 0; k < ops[i].in_count; k++)
      if (ops[i].ins[k] >= 0) /* unknown number of readers: keep */
        x->values.at[ops[i].ins[k]].uses++;
  }
  for (size_t i = 0; right && i < count; i++)
    x->values.at[onnx_value_index(x, g->output[i]->name)].uses++;
  for (size_t i = 0; right && i < g->n_node; i++) {
    onnx_begin(x, &ops[i]);
    right = onnx_read_op(x);
  }
  for (size_t i = 0; right && i < count; i++) {
    outs[i] = x->values.at[onnx_value_index(x, g->output[i]->name)];
    if (!outs[i].made)
      right = onnx_fail(x, "no node produces the output `%s` of its graph",
                        onnx_shown(x, g->output[i]->name));
  }
  x->scope = scope.outer;
  onnx_begin(x, around);
  return right;
}

static bool attempt(struct onnx *x) {
  if (!read_sizes(x) || !read_opset(x) || !read_names(x))
    return false;
  onnx_find_idle(x);
  find_buffers(x);
  onnx_find_folded(x);
  if (!onnx_refuse_unknown(x) || !onnx_read_inputs(x))
    return false;
  for (size_t i = 0; i < x->ops.count && !x->graph->failed; i++) {
    onnx_begin(x, &x->ops.at[i]);
    if (!x->at->idle && !onnx_read_op(x))
      return onnx_fail(x, "it is not supported");
    drop_read(x);
  }
  onnx_begin(x, NULL);
  if (x->graph->folded)
    graph_note(x->graph,
               x->options->assume_bn
                   ? "The file has a bias instead of %d of these batch norms."
                   : "Batch norms may be missing after %d convolutions: "
                     "--assume-bn.",
               x->graph->folded);
  return !x->graph->failed && onnx_finish(x);
}

/* Names that exporters give to every net. */
static bool says_something(const char *name) {
  static const char none[] =
      "torch_jit torch-jit-export main_graph graph tf2onnx onnx_graph";
  return name && *name && !word_index(none, slice_of(name));
}

/*
 * If a batch other than 1 turns out to be an ordinary axis, the file is read
 * again. If only the form of an operator prevents reading, and unknown
 * operators may be left out, a last reading leaves this one out.
 */
bool onnx_read_model(struct graph *graph, struct byte_store *store,
                     Onnx__ModelProto *model,
                     const struct import_options *options) {
  static const int axes[][3] = {{0, 1, -1}, {1, 0, -1}};
  const int *batch_axes = axes[options->steps_first];
  size_t last = sizeof *axes / sizeof **axes;
  bool whole = false; /* first axis is the batch, for all tensors */
  bool none = false;  /* first axis is an ordinary axis */
  struct graph clean, first = *graph;
  onnx_fill(model);
  if (says_something(model->graph->name))
    graph->name = model->graph->name;
  clean = *graph;
  for (size_t i = 0; i <= last; i++) {
    if ((whole && i < last) || (none && batch_axes[i % last] == 1) ||
        (i == last && !options->allow_unknown))
      continue;
    struct onnx x = {
        .graph = graph,
        .arena = graph->arena,
        .options = options,
        .store = store,
        .model = model,
        .batch_axis = i < last ? batch_axes[i]
                      : whole  ? 0
                               : -1,
        .lenient = i == last,
        .room = MOST_ROOM + 16 * (int64_t)(store->size >> 50 ? 0 : store->size),
        .batch = 1};
    clean.rules = graph->rules;
    clean.ruled_before = graph->ruled_before;
    *graph = clean;
    graph->nodes.count = 0;
    if ((i == 0 && onnx_take_source(&x)) || attempt(&x)) {
      if (x.batch_axis == 1 && x.batch > 1)
        graph_note(graph, "The batch is the second axis of the file's inputs.");
      return true;
    }
    if (i == 0)
      first = *graph;
    none = none || (i == 0 && x.over_batch);
    whole = whole || (i == 0 && x.batch == 1 && !x.other_batch && !none);
  }
  first.rules = graph->rules;
  *graph = first;
  return false;
}

bool onnx_read(struct graph *graph, struct slice file,
               const struct import_options *options) {
  struct byte_store store = import_bytes(options, file);
  Onnx__ModelProto *model;
  bool right = onnx_decode(graph, &store, &model) &&
               onnx_read_model(graph, &store, model, options);
  byte_store_close(&store);
  return right;
}
