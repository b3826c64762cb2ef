/* The graph of a program: its tensors, inputs, parameters, calls, outputs. */
#include <stdarg.h>
#include <string.h>

#include "import/exported/exported.h"

enum { OPSET = 23 };

bool exported_fail(struct exported *p, const char *format, ...) {
  struct text text = text_new(p->graph->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  return graph_fail(p->graph, 0, "`%.100s` (%.80s): %.*s", p->s.at, p->target,
                    (int)text.length, text.at);
}

/* Types */

/* ScalarType of torch/_export/serde/schema.py as data types of onnx.proto. */
static int type_of(json_int_t scalar) {
  static const int types[] = {0, 2, 3, 5, 6, 7, 10, 1, 11, 0, 14, 15, 9, 16};
  bool known =
      scalar > 0 && scalar < (json_int_t)(sizeof types / sizeof *types);
  return known ? types[scalar] : 0;
}

/* {"as_int": 3}, or {"as_expr": ..} of a size that is computed. */
static int64_t size_of(const json_t *size) {
  const json_t *plain = json_object_get(size, "as_int");
  return json_is_integer(plain) ? json_integer_value(plain) : -1;
}

bool exported_meta(const struct exported *p, const char *value,
                   struct meta *m) {
  const json_t *about = json_object_get(p->about, value);
  const json_t *sizes = json_object_get(about, "sizes");
  size_t rank = json_array_size(sizes);
  *m = (struct meta){.rank = (int)rank};
  if (!json_is_array(sizes) || rank > MOST_AXES)
    return false;
  m->type = type_of(json_integer_value(json_object_get(about, "dtype")));
  for (size_t i = 0; i < rank; i++) {
    m->dims[i] = size_of(json_array_get(sizes, i));
    if (m->dims[i] > MOST_SIZE || m->dims[i] < -1)
      return false;
  }
  return m->type != 0;
}

/* Arguments */

const json_t *exported_arg(const struct exported *p, const char *name) {
  size_t i;
  json_t *input;
  json_array_foreach(json_object_get(p->call, "inputs"), i, input) {
    const char *called = json_string_value(json_object_get(input, "name"));
    const json_t *arg = json_object_get(input, "arg");
    if (called && strcmp(called, name) == 0)
      return json_object_get(arg, "as_none") ? NULL : arg;
  }
  return NULL;
}

int64_t exported_int(const struct exported *p, const char *name,
                     int64_t usual) {
  const json_t *value = json_object_get(exported_arg(p, name), "as_int");
  return json_is_integer(value) ? json_integer_value(value) : usual;
}

double exported_real(const struct exported *p, const char *name, double usual) {
  const json_t *arg = exported_arg(p, name);
  const json_t *value = json_object_get(arg, "as_float");
  if (!value)
    value = json_object_get(arg, "as_int");
  return json_is_number(value) ? json_number_value(value) : usual;
}

bool exported_true(const struct exported *p, const char *name, bool usual) {
  const json_t *value = json_object_get(exported_arg(p, name), "as_bool");
  return json_is_boolean(value) ? json_is_true(value) : usual;
}

const char *exported_word(const struct exported *p, const char *name) {
  return json_string_value(json_object_get(exported_arg(p, name), "as_string"));
}

int exported_ints(struct exported *p, const char *name, int64_t *to, int most) {
  const json_t *arg = exported_arg(p, name);
  const json_t *list = json_object_get(arg, "as_ints");
  size_t i;
  json_t *item;
  if (json_object_get(arg, "as_int") && most > 0) {
    *to = exported_int(p, name, 0);
    return 1;
  }
  if (!list)
    list = json_object_get(arg, "as_sym_ints");
  if (json_array_size(list) > (size_t)most) {
    exported_fail(p, "its `%s` has more than %d numbers", name, most);
    return -1;
  }
  json_array_foreach(list, i, item) {
    to[i] = json_is_integer(item) ? json_integer_value(item) : size_of(item);
    if (to[i] > INT64_MAX / 4 || to[i] < INT64_MIN / 4)
      to[i] = to[i] < 0 ? INT64_MIN / 4 : INT64_MAX / 4;
  }
  return (int)i;
}

/* The name in ONNX of {"name": "p_conv1_weight"}. */
static const char *named(const struct exported *p, const json_t *tensor) {
  const char *name = json_string_value(json_object_get(tensor, "name"));
  const struct map_entry *entry =
      name ? map_find(&p->names, slice_of(name)) : NULL;
  return entry ? entry->pointer : name;
}

const char *exported_tensor(struct exported *p, const char *name) {
  const json_t *arg = exported_arg(p, name);
  const json_t *tensor = json_object_get(arg, "as_tensor");
  if (!tensor)
    tensor = json_object_get(json_object_get(arg, "as_optional_tensor"),
                             "as_tensor");
  return tensor ? named(p, tensor) : NULL;
}

const char *exported_item(struct exported *p, const char *name, size_t index) {
  const json_t *arg = exported_arg(p, name);
  const json_t *list = json_object_get(arg, "as_tensors");
  if (list)
    return named(p, json_array_get(list, index));
  list = json_object_get(arg, "as_optional_tensors");
  return named(p, json_object_get(json_array_get(list, index), "as_tensor"));
}

const char *exported_operand(struct exported *p, const char *name) {
  const char *tensor = exported_tensor(p, name);
  const json_t *arg = exported_arg(p, name);
  struct meta self;
  if (tensor || !arg)
    return tensor;
  bool whole = exported_meta_of(p, "self", &self) && self.type == TYPE_INT64 &&
               json_object_get(arg, "as_int");
  return whole ? said_int(&p->s, exported_int(p, name, 0))
               : said_real(&p->s, exported_real(p, name, 0));
}

const char *exported_own(const struct exported *p, const char *name) {
  const json_t *tensor = json_object_get(exported_arg(p, name), "as_tensor");
  return json_string_value(json_object_get(tensor, "name"));
}

bool exported_meta_of(struct exported *p, const char *name, struct meta *m) {
  const char *value = exported_own(p, name);
  if (value && exported_meta(p, value, m))
    return true;
  *m = (struct meta){.rank = 0};
  return exported_fail(p, "the sizes of its `%s` are not in the file", name);
}

/* Outputs */

const char *exported_out(const struct exported *p, size_t index) {
  const json_t *outputs = json_object_get(p->call, "outputs");
  const json_t *list =
      json_object_get(json_array_get(outputs, 0), "as_tensors");
  const json_t *tensor =
      list ? json_array_get(list, index)
           : json_object_get(json_array_get(outputs, index), "as_tensor");
  return json_string_value(json_object_get(tensor, "name"));
}

bool exported_out_meta(struct exported *p, size_t index, struct meta *m) {
  const char *name = exported_out(p, index);
  if (name && exported_meta(p, name, m))
    return true;
  *m = (struct meta){.rank = 0};
  return exported_fail(p, "the sizes of its output are not in the file");
}

bool exported_reads(const struct exported *p, size_t index) {
  const char *name = exported_out(p, index);
  return name && map_find(&p->used, slice_of(name));
}

Onnx__NodeProto *exported_node(struct exported *p, const char *type,
                               size_t ins) {
  size_t outs = json_array_size(json_object_get(
      json_array_get(json_object_get(p->call, "outputs"), 0), "as_tensors"));
  return said_node(&p->s, type, ins,
                   outs + json_array_size(json_object_get(p->call, "outputs")));
}

bool exported_give(struct exported *p, Onnx__NodeProto *node, size_t out) {
  const char *name = exported_out(p, out);
  struct meta m;
  if (!name)
    return exported_fail(p, "it has no output %zu", out);
  said_give(&p->s, node, name);
  if (exported_meta(p, name, &m))
    *VEC_PUSH(p->graph->arena, &p->s.values) =
        said_info(&p->s, name, m.type, m.dims, m.rank);
  return true;
}

bool exported_give_same(struct exported *p, const char *value) {
  const char *name = exported_out(p, 0);
  if (!name || !value)
    return exported_fail(p, "it has no tensor");
  map_add(p->graph->arena, &p->names, slice_of(name))->pointer =
      said_copy(&p->s, value);
  return true;
}

/* The signature */

/* A parameter, buffer or constant by the author's name. */
static void add_tensor(struct exported *p, const json_t *spec, const char *key,
                       bool trained) {
  const char *own = json_string_value(json_object_get(spec, key));
  const char *name =
      json_string_value(json_object_get(json_object_get(spec, "arg"), "name"));
  struct meta m;
  if (!own || !name || !exported_meta(p, name, &m))
    return;
  struct map_entry *known = map_add(p->graph->arena, &p->own, slice_of(own));
  struct map_entry *called =
      map_add(p->graph->arena, &p->names, slice_of(name));
  if (known->pointer) { /* of two modules: `head.weight = embed.weight` */
    called->pointer = known->pointer;
    return;
  }
  Onnx__TensorProto *c = said_tensor(&p->s, own, m.type, m.dims, m.rank);
  const struct map_entry *entry = map_find(&p->stored, slice_of(own));
  const struct exported_stored *at = entry ? entry->pointer : NULL;
  if (at && p->file)
    said_stored(&p->s, c, p->file, at->at, at->bytes);
  else /* packed, or not in the file */
    said_stored(&p->s, c, "", 0, 0);
  if (!trained)
    said_buffer(&p->s, c);
  known->pointer = called->pointer = c->name;
}

static bool add_input(struct exported *p, const json_t *spec) {
  const json_t *arg = json_object_get(spec, "arg");
  const char *name = json_string_value(
      json_object_get(json_object_get(arg, "as_tensor"), "name"));
  struct meta m;
  if (!name)
    return true; /* a number, which the program has fixed */
  if (!exported_meta(p, name, &m))
    return graph_fail(p->graph, 0,
                      "input `%.100s` has no sizes and type that "
                      "are supported",
                      name);
  *VEC_PUSH(p->graph->arena, &p->s.inputs) =
      said_info(&p->s, name, m.type, m.dims, m.rank);
  return true;
}

static bool read_inputs(struct exported *p, const json_t *specs) {
  size_t i;
  json_t *spec;
  json_array_foreach(specs, i, spec) {
    json_t *parameter = json_object_get(spec, "parameter");
    json_t *buffer = json_object_get(spec, "buffer");
    json_t *constant = json_object_get(spec, "tensor_constant");
    json_t *input = json_object_get(spec, "user_input");
    if (parameter)
      add_tensor(p, parameter, "parameter_name", true);
    else if (buffer)
      add_tensor(p, buffer, "buffer_name", false);
    else if (constant)
      add_tensor(p, constant, "tensor_constant_name", false);
    else if (input && !add_input(p, input))
      return false;
  }
  return true;
}

static bool read_outputs(struct exported *p, const json_t *specs) {
  size_t i;
  json_t *spec;
  struct meta m;
  json_array_foreach(specs, i, spec) {
    const json_t *arg =
        json_object_get(json_object_get(spec, "user_output"), "arg");
    const json_t *tensor = json_object_get(arg, "as_tensor");
    const char *name = json_string_value(json_object_get(tensor, "name"));
    if (name && exported_meta(p, name, &m))
      *VEC_PUSH(p->graph->arena, &p->s.outputs) =
          said_info(&p->s, named(p, tensor), m.type, m.dims, m.rank);
  }
  return p->s.outputs.count > 0 ||
         graph_fail(p->graph, 0, "the program gives no tensor");
}

/* Calls */

/*
 * The module that a call is in: the path of the last entry of
 * "L__self__,,Net;L__self___conv1,conv1,torch.nn.modules.conv.Conv2d".
 */
static const char *module_of(struct exported *p) {
  const char *stack = json_string_value(
      json_object_get(json_object_get(p->call, "metadata"), "nn_module_stack"));
  const char *last = stack ? strrchr(stack, ';') : NULL;
  const char *path = last ? strchr(last, ',') : NULL;
  size_t length = path ? strcspn(path + 1, ",;") : 0;
  return length ? graph_text(p->graph, "%.*s", (int)length, path + 1) : NULL;
}

/* "torch.ops.aten.relu_.default" is `relu`, with what it writes over. */
static bool read_target(struct exported *p) {
  const char *target = json_string_value(json_object_get(p->call, "target"));
  struct slice name = slice_of(target ? target : "");
  const char *out = exported_out(p, 0), *module = module_of(p);
  if (slice_begins(name, "torch.ops."))
    name = slice_from(name, strlen("torch.ops."));
  p->target = name.at;
  p->s.at = module ? module : out ? out : p->target;
  p->op = p->overload = slice_of("");
  if (!slice_begins(name, "aten."))
    return out != NULL;
  name = slice_from(name, strlen("aten."));
  size_t length = 0;
  while (length < name.length && name.at[length] != '.')
    length++;
  p->op = exported_op(slice_to(name, length));
  p->overload = slice_from(name, length < name.length ? length + 1 : length);
  return out != NULL;
}

/* Notes all names of tensors below a value; JSON's depth has a limit. */
static void note_used(struct exported *p, const json_t *value) {
  const char *key;
  json_t *item;
  size_t i;
  const char *name = json_string_value(json_object_get(value, "name"));
  if (name)
    map_add(p->graph->arena, &p->used, slice_of(name));
  json_array_foreach(value, i, item) note_used(p, item);
  json_object_foreach((json_t *)value, key, item) note_used(p, item);
}

/* Notes the tensors that calls read, and those that the program gives. */
static void find_used(struct exported *p, const json_t *nodes,
                      const json_t *outputs) {
  size_t i;
  json_t *node;
  json_array_foreach(nodes, i, node)
      note_used(p, json_object_get(node, "inputs"));
  note_used(p, outputs);
}

static bool read_calls(struct exported *p, const json_t *nodes) {
  size_t i;
  json_t *node;
  json_array_foreach(nodes, i, node) {
    if (i >= MOST_OPERATORS)
      return graph_fail(p->graph, 0, "it has more than %d calls",
                        MOST_OPERATORS);
    p->call = node;
    /* Calls without tensors compute sizes or check them; shapes of outputs
     * are in the file. */
    if (read_target(p) && !(exported_say(p) && !p->graph->failed))
      return false;
  }
  return true;
}

static bool exported_read_graph(struct exported *p) {
  const json_t *module = json_object_get(p->root, "graph_module");
  const json_t *graph = json_object_get(module, "graph");
  const json_t *signature = json_object_get(module, "signature");
  p->about = json_object_get(graph, "tensor_values");
  if (!json_is_object(p->about) || !json_is_object(signature))
    return graph_fail(p->graph, 0, "its JSON has no graph of torch.export");
  find_used(p, json_object_get(graph, "nodes"),
            json_object_get(signature, "output_specs"));
  return read_inputs(p, json_object_get(signature, "input_specs")) &&
         read_calls(p, json_object_get(graph, "nodes")) &&
         read_outputs(p, json_object_get(signature, "output_specs"));
}

/* Two modules share a tensor only if their author says so. */
static bool read_model(struct exported *p, struct byte_store *store) {
  struct import_options *options =
      ARENA_NEW(p->graph->arena, struct import_options);
  *options = *p->options;
  options->own_vectors = true;
  return exported_read_graph(p) &&
         onnx_read_model(p->graph, store, said_model(&p->s, "", OPSET),
                         options);
}

static bool read_program(struct exported *p, struct byte_store *store,
                         struct slice file) {
  bool json = slice_begins(file, "{");
  const char *path = p->options->path;
  const char *slash = path ? strrchr(path, '/') : NULL;
  p->file = path ? slash ? slash + 1 : path : NULL;
  return (json ? exported_parse(p, file) : exported_open(p, store)) &&
         read_model(p, store);
}

bool exported_read(struct graph *graph, struct slice file,
                   const struct import_options *options) {
  struct exported p = {.graph = graph, .options = options};
  struct byte_store store = import_bytes(options, file);
  said_open(&p.s, graph);
  bool read = read_program(&p, &store, file);
  json_decref(p.root);
  byte_store_close(&store);
  return read;
}

bool exported_read_json(struct graph *graph, json_t *root,
                        const struct import_options *options) {
  struct exported p = {.graph = graph, .options = options, .root = root};
  struct byte_store none = byte_store_of(slice_of(""));
  said_open(&p.s, graph);
  bool read = read_model(&p, &none);
  json_decref(p.root);
  byte_store_close(&none);
  return read;
}
