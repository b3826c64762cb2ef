/* Tensors without values, and the calls of ATen that they come from. */
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "import/python/python.h"

/* Scalar types of torch/_export/serde/schema.py. */
enum { TYPE_REAL = 7, TYPE_WHOLE = 5, TYPE_TRUTH = 12 };

/* Tensors */

static struct py_value *new_tensor(struct py *p, const char *word, int rank,
                                   const struct py_size *sizes, int type) {
  struct py_value *v = py_make(p, PY_TENSOR);
  struct py_tensor *t = v ? ARENA_NEW(p->arena, struct py_tensor) : NULL;
  if (!t)
    return NULL;
  v->tensor = t;
  t->name = graph_text(p->graph, "%s_%zu", word, ++p->names);
  t->rank = rank;
  t->type = type;
  if (rank > 0)
    memcpy(t->sizes, sizes, (size_t)rank * sizeof *sizes);
  return v;
}

struct py_value *py_tensor(struct py *p, int rank, const struct py_size *sizes,
                           int type) {
  struct py_value *v = new_tensor(p, "constant", rank, sizes, type);
  if (!v)
    return NULL;
  v->tensor->leaf = true;
  *VEC_PUSH(p->arena, &p->leaves) = v->tensor;
  return v;
}

struct py_value *py_tensor_copy(struct py *p, const struct py_value *v) {
  const struct py_tensor *t = v->tensor;
  struct py_value *copy = py_tensor(p, t->rank, t->sizes, t->type);
  if (copy) {
    copy->tensor->trained = t->trained;
    copy->tensor->frozen = t->frozen;
  }
  return copy;
}

static struct py_value *size_value(struct py *p, struct py_size size) {
  struct py_value *v = py_int(p, size.count);
  if (v)
    v->power = size.power;
  return v;
}

/* An input whose sizes are not known has a batch, and says so if more of it
 * is asked for. */
struct py_value *py_shape(struct py *p, struct py_value *tensor) {
  static const struct py_size batch = {1, 1};
  const struct py_tensor *t = tensor->tensor;
  struct py_value *v = py_make(p, PY_TUPLE);
  if (!v)
    return NULL;
  v->self = t->rank < 0 ? tensor : NULL;
  if (t->rank < 0)
    py_push(p, &v->items, size_value(p, batch));
  for (int i = 0; i < t->rank; i++)
    py_push(p, &v->items, size_value(p, t->sizes[i]));
  return p->error ? NULL : v;
}

static json_t *size_json(struct py_size size) {
  return size.power ? json_pack("{s:{}}", "as_expr")
                    : json_pack("{s:I}", "as_int", (json_int_t)size.count);
}

static void describe(struct py *p, const struct py_tensor *t) {
  json_t *sizes = json_array();
  for (int i = 0; i < t->rank; i++)
    json_array_append_new(sizes, size_json(t->sizes[i]));
  json_object_set_new(p->about, t->name,
                      json_pack("{s:i,s:o}", "dtype", t->type, "sizes", sizes));
}

/* Arguments */

static json_t *name_json(const struct py_tensor *t) {
  return json_pack("{s:s}", "name", t->name);
}

/* False: a parameter that PyTorch does not know of. */
static bool reads(struct py *p, struct py_value *v) {
  struct py_tensor *t = v->tensor;
  if (t->trained && !t->path.length && !p->building)
    return py_fail(p, "it has parameters that PyTorch does not register: use "
                      "nn.ModuleList, not a list");
  if (p->calls.count)
    *VEC_PUSH(p->arena, &p->calls.at[p->calls.count - 1].reads) = t;
  return true;
}

static bool all_of(const struct py_value *v, enum py_type type) {
  for (size_t i = 0; i < v->items.count; i++)
    if (v->items.at[i]->type != type)
      return false;
  return true;
}

static json_t *list_json(struct py *p, const struct py_value *v) {
  json_t *list = json_array();
  bool tensors = all_of(v, PY_TENSOR) && v->items.count;
  bool whole = all_of(v, PY_INT);
  const char *key = tensors ? "as_tensors"
                    : whole ? "as_ints"
                            : "as_optional_tensors";
  for (size_t i = 0; i < v->items.count; i++) {
    struct py_value *item = v->items.at[i];
    json_t *one = NULL;
    if (whole)
      one = item->power ? json_pack("{s:{}}", "as_expr")
                        : json_integer((json_int_t)item->integer);
    else if (item->type == PY_TENSOR && reads(p, item))
      one = tensors ? name_json(item->tensor)
                    : json_pack("{s:o}", "as_tensor", name_json(item->tensor));
    else if (item->type == PY_NONE)
      one = json_pack("{s:b}", "as_none", 1);
    if (!one) {
      py_fail(p, "%s in a list of a call is not supported", py_what(item));
      one = json_null();
    }
    json_array_append_new(list, one);
  }
  return json_pack("{s:o}", key, list);
}

static double finite(double value) {
  return value != value     ? 0
         : value > FLT_MAX  ? FLT_MAX
         : value < -FLT_MAX ? -FLT_MAX
                            : value;
}

static json_t *value_json(struct py *p, struct py_value *v) {
  switch (v->type) {
  case PY_BOOL: return json_pack("{s:b}", "as_bool", (int)v->integer);
  case PY_INT:
    return v->power ? json_pack("{s:{}}", "as_sym_int")
                    : json_pack("{s:I}", "as_int", (json_int_t)v->integer);
  case PY_REAL: return json_pack("{s:f}", "as_float", finite(v->real));
  case PY_TEXT:
    return json_pack("{s:s%}", "as_string", v->text.at ? v->text.at : "",
                     v->text.length);
  case PY_TENSOR:
    return reads(p, v) ? json_pack("{s:o}", "as_tensor", name_json(v->tensor))
                       : NULL;
  case PY_LIST:
  case PY_TUPLE: return list_json(p, v);
  default: py_fail(p, "%s in a call is not supported", py_what(v)); return NULL;
  }
}

/* True if an argument is computed from an input or a parameter. */
static bool is_live(const struct py_value *v) {
  if (v->type == PY_TENSOR)
    return v->tensor->live || v->tensor->trained || v->tensor->input;
  for (size_t i = 0;
       (v->type == PY_LIST || v->type == PY_TUPLE) && i < v->items.count; i++)
    if (is_live(v->items.at[i]))
      return true;
  return false;
}

static bool take_sizes(struct py *p, const struct py_value *v,
                       struct py_size *sizes, int *rank) {
  *rank = 0;
  if (!v || (v->type != PY_LIST && v->type != PY_TUPLE) ||
      v->items.count > MOST_AXES)
    return py_fail(p, "these sizes of a tensor are not supported");
  for (size_t i = 0; i < v->items.count; i++) {
    const struct py_value *size = v->items.at[i];
    if (size->type != PY_INT)
      return py_fail(p, "%s as a size of a tensor is not supported",
                     py_what(size));
    if (size->integer < 1 || size->integer > MOST_SIZE)
      return py_fail(p, "a tensor of sizes %s is not supported",
                     py_shown(p, v));
    sizes[(*rank)++] = (struct py_size){size->integer, size->power};
  }
  return true;
}

static int type_of(const struct py_value *v, int usual) {
  static const char reals[] = "float32 float float16 half bfloat16 float64 "
                              "double";
  static const char whole[] = "int64 long int32 int int16 int8 uint8";
  if (!v || v->type != PY_TEXT)
    return v && v->type == PY_BUILTIN && slice_is(v->text, "bool") ? TYPE_TRUTH
                                                                   : usual;
  return word_index(reals, v->text)   ? TYPE_REAL
         : word_index(whole, v->text) ? TYPE_WHOLE
         : slice_is(v->text, "bool")  ? TYPE_TRUTH
                                      : usual;
}

static struct py_value *arg(const struct py_args *a, size_t index) {
  return index < a->by_place.count ? a->by_place.at[index] : NULL;
}

/* Calls */

/* Opens a call; its inputs are written. */
static json_t *open_call(struct py *p, struct py_args *a, bool *live) {
  struct slice name = a->by_place.at[0]->text;
  json_t *inputs = json_array();
  for (size_t i = 0; i + 1 < a->by_name.count; i += 2) {
    struct py_value *value = a->by_name.at[i + 1];
    if (value->type == PY_NONE)
      continue;
    *live = *live || is_live(value);
    json_t *json = value_json(p, value);
    if (!json)
      py_fail(p, "this argument of a call is not supported");
    else
      json_array_append_new(
          inputs, json_pack("{s:s%,s:o}", "name", a->by_name.at[i]->text.at,
                            a->by_name.at[i]->text.length, "arg", json));
  }
  const char *target =
      graph_text(p->graph, "torch.ops.aten.%.*s.default", SLICE_ARG(name));
  const char *stack = graph_text(p->graph, ";L,%.*s,%.*s", SLICE_ARG(p->module),
                                 SLICE_ARG(p->class));
  return json_pack("{s:s,s:o,s:{s:s}}", "target", target, "inputs", inputs,
                   "metadata", "nn_module_stack",
                   p->module.length ? stack : "");
}

/* Lines of calls, for messages about them. */
static void keep_line(struct py *p, const char *name) {
  const char *key = p->module.length
                        ? graph_text(p->graph, "%.*s", SLICE_ARG(p->module))
                        : name;
  map_add(p->arena, &p->lines, slice_of(key))->number = p->line;
}

static struct py_value *new_output(struct py *p, struct py_args *a,
                                   const struct py_value *sizes, bool live) {
  struct py_size all[MOST_AXES];
  struct py_value *type = arg(a, 2), *v;
  int rank;
  if (!take_sizes(p, sizes, all, &rank))
    return NULL;
  v = new_tensor(
      p, graph_text(p->graph, "%.*s", SLICE_ARG(a->by_place.at[0]->text)), rank,
      all, type_of(type, TYPE_REAL));
  if (v) {
    v->tensor->live = live;
    describe(p, v->tensor);
    keep_line(p, v->tensor->name);
  }
  return v;
}

enum trace_outputs { OUTPUT_ONE, OUTPUT_PARTS, OUTPUT_MANY };

static struct py_value *trace(struct py *p, struct py_args *a,
                              enum trace_outputs how) {
  struct py_value *all = py_make(p, PY_TUPLE), *sizes = arg(a, 1);
  bool live = false;
  json_t *names = json_array();
  if (!all || !sizes || p->calls.count >= MOST_OPERATORS ||
      !exported_knows(arg(a, 0)->text)) {
    json_decref(names);
    return py_fail(p, "netc has no equivalent of `%.*s`",
                   SLICE_ARG(arg(a, 0)->text));
  }
  size_t index = p->calls.count;
  VEC_PUSH(p->arena, &p->calls);
  json_t *call = open_call(p, a, &live);
  p->calls.at[index].json = call;
  for (size_t i = 0;
       !p->error && i < (how == OUTPUT_ONE ? 1 : sizes->items.count); i++) {
    struct py_value *out =
        new_output(p, a, how == OUTPUT_ONE ? sizes : sizes->items.at[i], live);
    if (!out)
      break;
    json_t *name = name_json(out->tensor);
    json_array_append_new(names, how == OUTPUT_PARTS
                                     ? name
                                     : json_pack("{s:o}", "as_tensor", name));
    py_push(p, &all->items, out);
    *VEC_PUSH(p->arena, &p->calls.at[index].makes) = out->tensor;
  }
  if (how == OUTPUT_PARTS)
    names = json_pack("[{s:o}]", "as_tensors", names);
  json_object_set_new(call, "outputs", names);
  if (p->error)
    return NULL;
  return how == OUTPUT_ONE ? all->items.at[0] : all;
}

struct py_value *trace_one(struct py *p, struct py_args *a) {
  return trace(p, a, OUTPUT_ONE);
}

struct py_value *trace_parts(struct py *p, struct py_args *a) {
  return trace(p, a, OUTPUT_PARTS);
}

struct py_value *trace_many(struct py *p, struct py_args *a) {
  return trace(p, a, OUTPUT_MANY);
}

struct py_value *trace_leaf(struct py *p, struct py_args *a) {
  struct py_size sizes[MOST_AXES];
  int rank;
  if (!take_sizes(p, arg(a, 0), sizes, &rank))
    return NULL;
  struct py_value *v = py_tensor(p, rank, sizes, type_of(arg(a, 1), TYPE_REAL));
  if (v)
    v->tensor->trained = arg(a, 2) && arg(a, 2)->integer;
  return v;
}

/* Sizes of two operands, each a list, as one. */
struct py_value *trace_broadcast(struct py *p, struct py_args *a) {
  const struct py_list *x = &arg(a, 0)->items, *y = &arg(a, 1)->items;
  struct py_value *v = py_make(p, PY_LIST), *one = py_int(p, 1);
  size_t rank = x->count > y->count ? x->count : y->count;
  for (size_t i = 0; v && one && i < rank; i++) {
    struct py_value *m = i + x->count < rank ? one : x->at[i + x->count - rank];
    struct py_value *n = i + y->count < rank ? one : y->at[i + y->count - rank];
    bool left = m->integer == 1 && !m->power;
    bool same = m->integer == n->integer && m->power == n->power;
    if (!left && !same && (n->integer != 1 || n->power))
      return py_fail(p, "tensors of sizes %s and %s do not fit together",
                     py_shown(p, arg(a, 0)), py_shown(p, arg(a, 1)));
    py_push(p, &v->items, left ? n : m);
  }
  return p->error ? NULL : v;
}

static bool same_size(const struct py_value *a, const struct py_value *b) {
  return a->integer == b->integer && a->power == b->power;
}

/* Two sizes, or lists of them. */
struct py_value *trace_fits(struct py *p, struct py_args *a) {
  const struct py_value *x = arg(a, 0), *y = arg(a, 1);
  bool fits = same_size(x, y) && x->items.count == y->items.count;
  for (size_t i = 0; fits && i < x->items.count; i++)
    fits = same_size(x->items.at[i], y->items.at[i]);
  return py_bool(p, fits);
}

/* Inputs */

static const struct py_tensor *tensor_arg(const struct py_args *a) {
  return arg(a, 0) && arg(a, 0)->type == PY_TENSOR ? arg(a, 0)->tensor : NULL;
}

static struct py_input *input_of(struct py *p, const struct py_args *a) {
  const struct py_tensor *t = tensor_arg(a);
  return t && t->input ? &p->inputs[t->input - 1] : NULL;
}

struct py_value *trace_is_tensor(struct py *p, struct py_args *a) {
  return py_bool(p, tensor_arg(a) != NULL);
}

struct py_value *trace_is_open(struct py *p, struct py_args *a) {
  return py_bool(p, tensor_arg(a) && tensor_arg(a)->rank < 0);
}

static struct py_value *again(struct py *p) {
  p->again = true;
  return py_fail(p, "its input is known better now");
}

struct py_value *trace_settle(struct py *p, struct py_args *a) {
  struct py_input *input = input_of(p, a);
  struct py_size sizes[MOST_AXES];
  int rank;
  if (!input || !take_sizes(p, arg(a, 1), sizes, &rank) || rank > LIMIT_RANK)
    return p->none;
  input->settled = true;
  input->shape.rank = rank;
  for (int i = 0; i < rank; i++)
    input->shape.size[i] = sizes[i].count;
  return again(p);
}

struct py_value *trace_ask(struct py *p, struct py_args *a) {
  const struct py_input *input = input_of(p, a);
  bool several = input && p->input_count > 1;
  const char *sizes =
      arg(a, 1) ? graph_text(p->graph, "%.*s", SLICE_ARG(arg(a, 1)->text))
                : "HEIGHTxWIDTHxCHANNELS, LENGTHxCHANNELS or FEATURES";
  if (!p->error)
    p->help =
        graph_text(p->graph, "give it: --input %.*s%s%s",
                   several ? (int)input->name.length : 0,
                   several ? input->name.at : "", several ? "=" : "", sizes);
  return py_fail(p, "the size of its input is not in the file");
}

struct py_value *py_ask(struct py *p, struct py_value *tensor) {
  return trace_ask(p, &(struct py_args){.by_place = {&tensor, 1, 1}});
}

struct py_value *trace_indices(struct py *p, struct py_args *a) {
  struct py_input *input = input_of(p, a);
  if (!input || input->whole)
    return p->none;
  input->whole = true;
  return again(p);
}

/* Length and channels are given in netc's order; a call that needs PyTorch's
 * shows which of them the tensor has. */
struct py_value *trace_channels_first(struct py *p, struct py_args *a) {
  struct py_input *input = input_of(p, a);
  if (!input || input->channels_first || input->shape.rank != 2)
    return p->none;
  int64_t length = input->shape.size[0];
  input->channels_first = true;
  input->shape.size[0] = input->shape.size[1];
  input->shape.size[1] = length;
  return again(p);
}

bool py_put_steps_first(struct py *p, struct py_input *inputs) {
  bool sequences = p->input_count > 0;
  for (size_t i = 0; i < p->input_count; i++)
    sequences = sequences && inputs[i].shape.rank > 0 &&
                inputs[i].shape.rank < 3 && !inputs[i].channels_first;
  for (size_t i = 0; i < p->input_count && sequences; i++)
    inputs[i].steps_first = true;
  return sequences;
}

/* A call takes sequences as length, batch, features: if the tensor has the
 * batch in front, a net of sequences has it second. True: it has. */
struct py_value *trace_steps_first(struct py *p, struct py_args *a) {
  const struct py_tensor *t = tensor_arg(a);
  bool second = p->input_count && p->inputs[0].steps_first;
  bool front = t && t->rank > 1 && t->sizes[0].power && !t->sizes[1].power;
  p->sequences = p->sequences || !front;
  if (front && !second && py_put_steps_first(p, p->inputs))
    return again(p);
  return py_bool(p, second);
}

struct py_value *py_input(struct py *p, size_t index) {
  struct py_input *input = &p->inputs[index];
  struct py_size sizes[MOST_AXES] = {{1, 1}};
  struct py_value *v;
  for (int i = 0; i < input->shape.rank; i++)
    sizes[i + 1] = (struct py_size){input->shape.size[i], 0};
  if (input->steps_first) {
    sizes[0] = sizes[1];
    sizes[1] = (struct py_size){1, 1};
  }
  v = new_tensor(p, "input", input->shape.rank + 1, sizes,
                 input->whole ? TYPE_WHOLE : TYPE_REAL);
  if (!v)
    return NULL;
  v->tensor->name = graph_text(p->graph, "%.*s", SLICE_ARG(input->name));
  v->tensor->input = (int)index + 1;
  if (!input->settled)
    v->tensor->rank = -1;
  describe(p, v->tensor);
  return v;
}

/* Modules */

struct py_value *trace_become(struct py *p, struct py_args *a) {
  if (!tensor_arg(a) || !arg(a, 1) || arg(a, 1)->type != PY_TENSOR)
    return py_fail(p, "writing over a tensor so is not supported");
  if (tensor_arg(a) == arg(a, 1)->tensor ||
      (tensor_arg(a)->trained && p->building))
    return arg(a, 0);
  if (tensor_arg(a)->trained)
    return py_fail(p, "writing over a parameter is not supported");
  arg(a, 0)->tensor = arg(a, 1)->tensor;
  return arg(a, 0);
}

/* Modules or parameters of a module, each with its name. */
static struct py_value *named(struct py *p, struct py_args *a, bool modules) {
  struct py_value *v = py_make(p, PY_LIST);
  const struct py_list *all = &arg(a, 0)->items;
  for (size_t i = 0; v && i + 1 < all->count; i += 2) {
    struct py_value *one = all->at[i + 1];
    if (modules ? !py_is_module(p, one)
                : one->type != PY_TENSOR || !one->tensor->trained)
      continue;
    struct py_value *both = py_make(p, PY_TUPLE);
    if (!both)
      return NULL;
    py_push(p, &both->items, all->at[i]);
    py_push(p, &both->items, one);
    py_push(p, &v->items, both);
  }
  return p->error ? NULL : v;
}

struct py_value *trace_children(struct py *p, struct py_args *a) {
  return named(p, a, true);
}

struct py_value *trace_own(struct py *p, struct py_args *a) {
  return named(p, a, false);
}

struct py_value *trace_is_training(struct py *p, struct py_args *a) {
  const struct py_value *v = arg(a, 0);
  return py_bool(p,
                 v == p->training || (v && v->type == PY_BOOL && v->integer));
}

static bool name_below(struct py *p, struct py_value *module, int depth) {
  struct slice path = module->text;
  if (depth > 100 || !py_charge(p, module->items.count + 1))
    return py_fail(p, "modules are nested too deep");
  for (size_t i = 0; i + 1 < module->items.count; i += 2) {
    struct py_value *v = module->items.at[i + 1];
    struct slice key = module->items.at[i]->text;
    bool below = py_is_module(p, v);
    if (!below && v->type != PY_TENSOR)
      continue;
    struct slice own =
        slice_of(graph_text(p->graph, "%.*s%s%.*s", SLICE_ARG(path),
                            path.length ? "." : "", SLICE_ARG(key)));
    if (v->type == PY_TENSOR && !v->tensor->path.length)
      v->tensor->path = own;
    if (below && !v->text.length) {
      v->text = own;
      if (!name_below(p, v, depth + 1))
        return false;
    }
  }
  return true;
}

bool py_name_modules(struct py *p, struct py_value *root) {
  return name_below(p, root, 0);
}

/* The program */

static void add_leaf(struct py *p, const struct py_tensor *t) {
  bool named = t->path.length > 0;
  const char *path =
      named ? graph_text(p->graph, "%.*s", SLICE_ARG(t->path)) : t->name;
  const char *kind = t->trained ? "parameter" : "buffer";
  describe(p, t);
  json_array_append_new(
      p->specs, json_pack("{s:{s:{s:s},s:s}}", kind, "arg", "name", t->name,
                          t->trained ? "parameter_name" : "buffer_name", path));
}

/* Counts the parameters, and names those that no output depends on: PyTorch
 * counts them. */
static void count_parameters(struct py *p) {
  int64_t all = 0, frozen = 0;
  const char *first = NULL;
  size_t count = 0;
  for (size_t i = 0; i < p->leaves.count; i++) {
    const struct py_tensor *t = p->leaves.at[i];
    int64_t sizes[MOST_AXES];
    if (!t->trained || !t->path.length)
      continue;
    for (int k = 0; k < t->rank; k++)
      sizes[k] = t->sizes[k].count;
    int64_t values = graph_count(sizes, (size_t)t->rank);
    all = values > INT64_MAX - all ? INT64_MAX : all + values;
    frozen += t->frozen && all < INT64_MAX ? values : 0;
    if (t->used)
      p->parameters += all == INT64_MAX ? 0 : values;
    else if (!count++)
      first = graph_text(p->graph, "%.*s", SLICE_ARG(t->path));
  }
  if (frozen)
    graph_note(p->graph,
               "%" PRId64 " of the %" PRId64 " parameters have "
               "requires_grad=False and are trained here: write `frozen` "
               "after their layers.",
               frozen, all);
  if (first)
    graph_note(p->graph,
               "`forward` does not use %" PRId64 " of the %" PRId64
               " parameters that PyTorch counts: `%s`%s.",
               all - p->parameters, all, first,
               count > 1 ? graph_text(p->graph, " and %zu more tensor%s",
                                      count - 1, count > 2 ? "s" : "")
                         : "");
}

/* Marks what the outputs depend on; gives the calls that make it. */
static json_t *needed_calls(struct py *p) {
  json_t *calls = json_array();
  for (size_t i = p->calls.count; i-- > 0;) {
    struct py_traced *c = &p->calls.at[i];
    for (size_t k = 0; k < c->makes.count; k++)
      c->needed = c->needed || c->makes.at[k]->used;
    for (size_t k = 0; c->needed && k < c->reads.count; k++)
      c->reads.at[k]->used = true;
  }
  for (size_t i = 0; i < p->calls.count; i++)
    if (p->calls.at[i].needed)
      json_array_append(calls, p->calls.at[i].json);
  return calls;
}

static bool add_outputs(struct py *p, struct py_value *out, json_t *to,
                        int depth) {
  bool dict = out->type == PY_DICT;
  if (out->type == PY_TENSOR) {
    if (!reads(p, out))
      return false;
    out->tensor->used = true;
    json_array_append_new(to, json_pack("{s:{s:{s:o}}}", "user_output", "arg",
                                        "as_tensor", name_json(out->tensor)));
    return true;
  }
  if ((!dict && out->type != PY_LIST && out->type != PY_TUPLE) || depth > 8)
    return out->type == PY_NONE ||
           py_fail(p, "`forward` gives %s", py_what(out));
  for (size_t i = dict; i < out->items.count; i += 1 + dict)
    if (!add_outputs(p, out->items.at[i], to, depth + 1))
      return false;
  return true;
}

json_t *py_program(struct py *p, struct py_value *out) {
  json_t *outputs = json_array();
  if (!add_outputs(p, out, outputs, 0)) {
    json_decref(outputs);
    return NULL;
  }
  json_t *calls = needed_calls(p);
  p->specs = json_array();
  for (size_t i = 0; i < p->leaves.count; i++)
    if (p->leaves.at[i]->used)
      add_leaf(p, p->leaves.at[i]);
  for (size_t i = 0; i < p->input_count; i++)
    json_array_append_new(p->specs,
                          json_pack("{s:{s:{s:{s:s%}}}}", "user_input", "arg",
                                    "as_tensor", "name", p->inputs[i].name.at,
                                    p->inputs[i].name.length));
  count_parameters(p);
  json_t *program =
      json_pack("{s:{s:{s:o,s:O},s:{s:O,s:o}}}", "graph_module", "graph",
                "nodes", calls, "tensor_values", p->about, "signature",
                "input_specs", p->specs, "output_specs", outputs);
  json_decref(p->specs);
  return program;
}
