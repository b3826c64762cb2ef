/*
 * Given names: modules are named as in a file of weights. A common prefix there
 * is a module here if it is one in the net; other names are in an
 * nn.ModuleDict.
 */
#include "codegen/torch/python.h"

static struct slice step_of(struct slice path) {
  const char *dot = memchr(path.at, '.', path.length);
  return dot ? (struct slice){path.at, (size_t)(dot - path.at)} : path;
}

/* The path after the first `length` bytes and their dot. */
static struct slice after(struct slice path, size_t length) {
  length += length > 0 && length < path.length;
  return slice_from(path, length);
}

static struct slice parent_of(struct slice path) {
  while (path.length > 0 && path.at[path.length - 1] != '.')
    path.length--;
  return slice_less(path, 1);
}

static bool is_inside(struct slice path, struct slice of) {
  return of.length == 0 ||
         (path.length > of.length && path.at[of.length] == '.' &&
          memcmp(path.at, of.at, of.length) == 0);
}

/* The common leading steps. */
static struct slice shared(struct slice a, struct slice b) {
  while (a.length && !slice_equal(a, b) && !is_inside(b, a))
    a = parent_of(a);
  return a;
}

static bool is_number(struct slice step) {
  for (size_t i = 0; i < step.length; i++)
    if (!is_digit(step.at[i]))
      return false;
  return step.length > 0;
}

/* True if `self.` may be followed by it: not a number, and not a name of Python
 * or nn.Module. */
static bool is_attribute(const struct python *p, struct slice step) {
  return slice_equal(step, python_attribute(p->arena, step));
}

/* True if all names with the prefix are in the unit and can be attributes. */
static bool is_unit(const struct python *p, int64_t first, int64_t end,
                    struct slice prefix) {
  for (int64_t i = 0; i < (int64_t)p->model->nodes.count; i++) {
    struct slice path = p->given[i].path;
    if (path.length && is_inside(path, prefix) &&
        (i < first || i >= end ||
         !is_attribute(p, step_of(after(path, prefix.length)))))
      return false;
  }
  return true;
}

bool python_given_unit(const struct python *p, int64_t first, int64_t end,
                       struct slice around, struct slice *prefix) {
  bool any = false;
  for (int64_t i = first; i < end; i++) {
    struct slice path = p->given[i].path;
    if (path.length)
      *prefix = any ? shared(*prefix, parent_of(path)) : parent_of(path);
    any = any || path.length;
  }
  for (; any && prefix->length > around.length; *prefix = parent_of(*prefix))
    if (is_unit(p, first, end, *prefix))
      return is_inside(*prefix, around);
  return false;
}

/* features["0"] of features.0; a parameter is an attribute: encoder.places. */
static struct slice expression_of(struct arena *arena, struct slice path,
                                  bool alone) {
  struct text text = text_new(arena);
  struct slice step = step_of(path);
  text_puts(&text, step);
  while ((path = after(path, step.length)).length) {
    step = step_of(path);
    bool attribute = alone && step.length == path.length;
    text_printf(&text, attribute ? ".%.*s" : "[\"%.*s\"]", SLICE_ARG(step));
  }
  return text_slice(&text);
}

void python_give_name(struct python *p, int64_t unit, struct python_own *own) {
  struct slice path = own->node < 0 ? p->units.at[unit_as_node(own->node)].given
                                    : p->given[own->node].path;
  bool alone = own->node >= 0 && p->given[own->node].alone;
  own->given = path.length > 0;
  own->place = -1;
  if (!own->given)
    return;
  path = after(path, p->units.at[unit].given.length);
  own->base = expression_of(p->arena, path, alone);
  struct slice list = parent_of(path), last = after(path, list.length);
  if (!list.length || !is_number(last) || last.length > 6)
    return;
  own->list = expression_of(p->arena, list, false);
  own->place = 0;
  for (size_t i = 0; i < last.length; i++)
    own->place = 10 * own->place + last.at[i] - '0';
}

static bool is_step(char c) {
  return c == '[' || c == '.';
}

bool python_given_in(struct slice base, struct slice container) {
  return base.length > container.length && is_step(base.at[container.length]) &&
         memcmp(base.at, container.at, container.length) == 0;
}

/* True if a module before this one in the unit is in the same container. */
static bool is_there(const struct python_unit *unit, size_t item, size_t own,
                     struct slice container) {
  for (size_t i = 0; i <= item; i++)
    for (size_t o = 0; o < unit->items[i].own.count && (i < item || o < own);
         o++)
      if (python_given_in(unit->items[i].own.at[o].base, container))
        return true;
  return false;
}

void python_put_containers(const struct python *p, int64_t index, size_t item,
                           size_t own, struct slice name,
                           struct torch_code *out) {
  const struct python_unit *unit = &p->units.at[index];
  for (size_t i = 0; i < name.length; i++) {
    struct slice container = {name.at, i};
    if (is_step(name.at[i]) && !is_there(unit, item, own, container))
      code_format(out, "self.%S = nn.ModuleDict()\n", container);
  }
}

/* True if it may be a key of nn.ModuleDict, which has attributes of its own. */
static bool is_key(struct slice step) {
  static const char *const names[] = {"keys", "values", "items",
                                      "pop",  "update", "clear"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (slice_is(step, names[i]))
      return false;
  for (size_t i = 0; i < step.length; i++)
    if (step.at[i] <= ' ' || step.at[i] > '~' || strchr("\"\\[]", step.at[i]))
      return false;
  return step.length > 0;
}

/* True if Python can use the name, in containers or as an attribute. */
static bool is_name(const struct python *p, const struct module_name *name) {
  struct slice path = name->path;
  struct slice step = step_of(path);
  bool right = is_attribute(p, step);
  while (right && step.length < path.length) {
    path = after(path, step.length);
    step = step_of(path);
    right = is_key(step);
  }
  return right && (!name->alone || is_attribute(p, step));
}

static void refuse(struct python *p, int64_t node, const char *why) {
  struct text text = text_new(p->arena);
  text_put(&text, "`");
  model_put_name(&text, p->model, node);
  text_printf(&text, "` cannot be named `%.*s` in PyTorch: %s",
              SLICE_ARG(p->given[node].path), why);
  p->refuses = text_string(&text);
}

const char *python_misnamed(const struct python *p, int64_t node,
                            const char *tensor) {
  struct text text = text_new(p->arena);
  text_put(&text, "`");
  model_put_name(&text, p->model, node);
  text_printf(&text,
              ".%s` cannot be named `%.*s`: the module of its layer names its "
              "tensors differently",
              tensor, SLICE_ARG(p->given[node].path));
  return text_string(&text);
}

void python_check_given(struct python *p) {
  struct map taken = {0};
  int64_t count = (int64_t)p->model->nodes.count;
  for (int64_t i = 0; i < count && !p->refuses; i++) {
    if (!p->given[i].path.length)
      continue;
    if (map_add(p->arena, &taken, p->given[i].path)->number++)
      refuse(p, i, "another layer has this name");
    else if (!is_name(p, &p->given[i]))
      refuse(p, i, "netc cannot write such a name");
  }
  for (int64_t i = 0; i < count && !p->refuses; i++)
    for (struct slice of = parent_of(p->given[i].path); of.length;
         of = parent_of(of))
      if (map_find(&taken, of))
        refuse(p, i, "it would be inside another layer");
}

void python_check_keys(struct python *p) {
  for (size_t i = 0; i < p->model->nodes.count && !p->refuses; i++)
    if (p->given[i].path.length && p->made[i].path.length &&
        !slice_equal(p->given[i].path, python_key(p, (int64_t)i)))
      refuse(p, (int64_t)i, "its module is part of another module");
}
