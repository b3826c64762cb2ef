/* Attributes of objects, classes, libraries and tensors. */
#include <string.h>

#include "import/python/python.h"

struct py_value *py_find_in_class(struct py *p, struct py_value *class,
                                  struct slice name, struct py_value **owner) {
  struct py_value **own = py_slot(p, &class->items, name, false);
  if (own) {
    if (owner)
      *owner = class;
    return *own;
  }
  for (size_t i = 0; i < class->bases.count; i++) {
    struct py_value *base = class->bases.at[i];
    struct py_value *found =
        base->type == PY_CLASS ? py_find_in_class(p, base, name, owner) : NULL;
    if (found)
      return found;
  }
  return NULL;
}

static struct py_value *bound(struct py *p, struct py_value *self,
                              struct py_value *callee) {
  struct py_value *v = py_make(p, PY_BOUND);
  if (v) {
    v->self = self;
    v->callee = callee;
  }
  return v;
}

/* A class's attribute as its object, or itself, has it. */
static struct py_value *of_class(struct py *p, struct py_value *found,
                                 struct py_value *self,
                                 struct py_value *class) {
  if (found->type != PY_FUNCTION || found->way == WAY_STATIC)
    return found;
  if (found->way == WAY_CLASS)
    return bound(p, class, found);
  if (found->way == WAY_PROPERTY && self)
    return py_call_with(p, found, self, NULL);
  return self ? bound(p, self, found) : found;
}

/* The first unknown base of a class; NULL: all are known. */
static const struct py_value *unknown_base(const struct py_value *class) {
  const struct py_value *unknown = NULL;
  for (size_t i = 0; !unknown && i < class->bases.count; i++) {
    const struct py_value *base = class->bases.at[i];
    unknown = base->type == PY_UNKNOWN ? base
              : base->type == PY_CLASS ? unknown_base(base)
                                       : NULL;
  }
  return unknown;
}

static struct py_value *of_object(struct py *p, struct py_value *v,
                                  struct slice name) {
  struct py_value **own = py_slot(p, &v->items, name, false);
  struct py_value *found =
      own ? NULL : py_find_in_class(p, v->owner, name, NULL);
  if (own)
    return *own;
  if (found)
    return of_class(p, found, v, v->owner);
  if (slice_is(name, "training") && py_is_module(p, v))
    return p->training;
  return slice_is(name, "__class__") ? v->owner : NULL;
}

static struct py_value *of_super(struct py *p, struct py_value *v,
                                 struct slice name) {
  for (size_t i = 0; i < v->owner->bases.count; i++) {
    struct py_value *base = v->owner->bases.at[i];
    struct py_value *found =
        base->type == PY_CLASS ? py_find_in_class(p, base, name, NULL) : NULL;
    if (found)
      return of_class(p, found, v->self, base);
    if (base->type == PY_UNKNOWN)
      return base;
  }
  return slice_is(name, "__init__") ? py_library(p, slice_of("_nothing"))
                                    : NULL;
}

static const char *type_name(int type) {
  return type == 7 ? "float32" : type == 12 ? "bool" : "int64";
}

static struct py_value *of_tensor(struct py *p, struct py_value *v,
                                  struct slice name) {
  struct py_value *function;
  if (slice_is(name, "shape"))
    return py_shape(p, v);
  if (slice_is(name, "ndim"))
    return py_int(p, v->tensor->rank);
  if (slice_is(name, "dtype"))
    return py_text(p, slice_of(type_name(v->tensor->type)));
  if (slice_is(name, "device"))
    return py_text(p, slice_of("cpu"));
  if (slice_is(name, "data"))
    return v;
  if (slice_is(name, "is_cuda"))
    return p->no;
  if (slice_is(name, "requires_grad"))
    return py_bool(p, v->tensor->trained && !v->tensor->frozen);
  if (slice_is(name, "T"))
    return py_call_library(p, "t", v, NULL);
  if (name.length && name.at[0] == '_')
    return NULL;
  function = py_library(p, name);
  if (!function && slice_ends(name, "_")) { /* relu_: writes over itself */
    function = py_library(p, slice_less(name, 1));
    struct py_value *over =
        function ? bound(p, v, py_library(p, slice_of("_over"))) : NULL;
    if (over)
      over->owner = function;
    return over;
  }
  if (function && function->type == PY_TEXT) { /* float(): to(dtype=float) */
    struct py_value *to = bound(p, v, py_library(p, slice_of("to")));
    if (to) {
      py_push(p, &to->items, py_text(p, slice_of("dtype")));
      py_push(p, &to->items, function);
    }
    return to;
  }
  return function && function->type == PY_FUNCTION ? bound(p, v, function)
                                                   : NULL;
}

/* Libraries */

struct py_value *py_library(struct py *p, struct slice name) {
  const struct map_entry *entry = map_find(&p->library.names, name);
  return entry ? entry->pointer : NULL;
}

/* Why netc does not do a thing of a library; NULL: the name is unknown. */
static const char *not_done(struct slice path) {
  static const struct {
    const char *names, *format;
  } rows[] = {
      {"torch.load os.path.exists os.listdir os.path.join json.load "
       "yaml.safe_load yaml.load pickle.load",
       "`%.*s` reads files, and netc reads none but those that are imported: "
       "give what it would read by --arg"},
      {"torch.utils.cpp_extension.load torch.ops.load_library",
       "`%.*s` compiles code, and netc executes nothing"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (word_index(rows[i].names, path))
      return rows[i].format;
  return NULL;
}

static struct py_value *unknown(struct py *p, const char *format,
                                struct slice path) {
  struct py_value *v = py_make(p, PY_UNKNOWN);
  if (v)
    v->text = slice_of(graph_text(p->graph, format, SLICE_ARG(path)));
  return v;
}

static bool is_space(struct slice path) {
  static const char spaces[] =
      "torch torch.nn torch.nn.functional torch.nn.init torch.nn.modules "
      "torch.nn.parameter torch.nn.utils torch.nn.utils.rnn torch.cuda "
      "torch.jit torch.linalg torch.special torch.backends torch.utils "
      "torch.utils.checkpoint torch.autograd torch.fft torch.amp "
      "torch.cuda.amp torch.utils.data torch.nn.modules.batchnorm "
      "torch.nn.modules.utils torch.nn.modules.conv collections.abc "
      "torch.backends.cudnn torch.utils.model_zoo torch.hub queue threading "
      "math numpy np "
      "collections functools copy typing abc dataclasses enum itertools "
      "warnings logging os sys time random pytorch_lightning lightning "
      "argparse";
  return word_index(spaces, path);
}

bool py_knows_library(struct slice root) {
  return is_space(root);
}

static struct slice last_of(struct slice path) {
  size_t at = path.length;
  while (at > 0 && path.at[at - 1] != '.')
    at--;
  return slice_from(path, at);
}

struct py_value *py_imported(struct py *p, struct slice path) {
  static const char theirs[] = "torch math numpy collections functools copy "
                               "pytorch_lightning lightning dataclasses "
                               "argparse itertools queue threading";
  struct slice last = last_of(path), root = path;
  const char *dot = memchr(path.at, '.', path.length);
  if (dot)
    root = slice_to(path, (size_t)(dot - path.at));
  if (is_space(path)) {
    struct py_value *space = py_make(p, PY_SPACE);
    if (space)
      space->text = path;
    return space;
  }
  if (slice_begins(path, "torch.nn.init."))
    return py_library(p, slice_of("_first"));
  if (slice_begins(path, "copy."))
    return py_builtin(p, slice_of("deepcopy"));
  bool own = last.at && last.at[0] == '_' && /* `_pair` is known to users */
             !slice_begins(path, "torch.nn.modules.") &&
             !slice_ends(last, "__");
  bool known = word_index(theirs, root) && dot && !own;
  struct py_value *found = known ? py_library(p, last) : NULL;
  if (slice_is(root, "numpy") || slice_is(root, "math")) {
    struct slice name =
        slice_of(graph_text(p->graph, "_math_%.*s", SLICE_ARG(last)));
    found = py_library(p, name);
    found = found ? found : py_builtin(p, name);
  }
  if (!found && known)
    found = py_builtin(p, last);
  const char *why = not_done(path);
  return found ? found
               : unknown(p, why ? why : "netc does not know `%.*s`", path);
}

struct py_value *py_attribute(struct py *p, struct py_value *v,
                              struct slice name, bool must) {
  struct py_value *found = NULL;
  const struct py_value *base;
  switch (v->type) {
  case PY_OBJECT: found = of_object(p, v, name); break;
  case PY_SUPER: found = of_super(p, v, name); break;
  case PY_TENSOR: found = of_tensor(p, v, name); break;
  case PY_CLASS:
    if (slice_is(name, "__name__"))
      return py_text(p, v->text);
    found = py_find_in_class(p, v, name, NULL);
    found = found ? of_class(p, found, NULL, v) : NULL;
    break;
  case PY_SPACE:
    if (v->file) {
      found = py_file_name(p, v, name);
      break;
    }
    found = py_imported(
        p, slice_of(graph_text(p->graph, "%.*s.%.*s", SLICE_ARG(v->text),
                               SLICE_ARG(name))));
    break;
  case PY_UNKNOWN: return py_fail(p, "%.*s", SLICE_ARG(v->text));
  case PY_TEXT:
    found = slice_is(name, "type") ? v /* device.type */
                                   : py_method(p, v, name);
    break;
  case PY_SLICE:
    found = v->items.at[slice_is(name, "stop") + 2 * slice_is(name, "step")];
    break;
  default: found = py_method(p, v, name);
  }
  if (found || !must || p->error)
    return found;
  if (v->type == PY_OBJECT && (base = unknown_base(v->owner)))
    return py_fail(p, "%.*s", SLICE_ARG(base->text));
  if (v->type == PY_OBJECT)
    return py_fail(p, "`%.*s` has no attribute `%.*s`",
                   SLICE_ARG(v->owner->text), SLICE_ARG(name));
  if (v->type == PY_SPACE)
    return py_fail(p, "%s has no `%.*s`", v->file->path, SLICE_ARG(name));
  return py_fail(p, "`%.*s` of %s is not supported", SLICE_ARG(name),
                 py_what(v));
}

bool py_set_attribute(struct py *p, struct py_value *v, struct slice name,
                      struct py_value *to) {
  if (v->type == PY_TENSOR && slice_is(name, "requires_grad")) {
    v->tensor->frozen = v->tensor->trained && py_truth(p, to) == 0;
    return !p->error;
  }
  if (v->type == PY_TENSOR && slice_is(name, "data"))
    return true;            /* other values */
  if (v->type == PY_TENSOR) /* `require_grad`: nothing reads it */
    return true;
  if (v->type != PY_OBJECT && v->type != PY_CLASS)
    return py_fail(p, "an attribute of %s cannot be set", py_what(v));
  struct py_value **slot = py_slot(p, &v->items, name, true);
  if (slot)
    *slot = to;
  return slot;
}
