/* Reads a PyTorch module's class, options and tensors. */
#include "import/pytorch/module.h"

#include <inttypes.h>
#include <string.h>

#include "import/values.h"

struct slice module_class(const struct pickle_value *module) {
  static const char nn[] = "torch.nn.modules.";
  const struct pickle_value *class =
      pickle_is(module, PICKLE_OBJECT) ? module->head : NULL;
  if (!pickle_is(class, PICKLE_GLOBAL))
    return slice_of("?");
  bool ours = class->text.length > sizeof nn &&
              memcmp(class->text.at, nn, sizeof nn - 1) == 0;
  size_t from = ours ? class->name : 0;
  return slice_from(class->text, from);
}

/* Options */

const struct pickle_value *module_option(const struct modules *m,
                                         const char *key) {
  return pickle_get(m->module, key);
}

bool module_is_true(const struct modules *m, const char *key, bool usual) {
  const struct pickle_value *value = module_option(m, key);
  return pickle_is(value, PICKLE_BOOL) ? value->integer != 0 : usual;
}

static bool take_size(struct modules *m, const char *key,
                      const struct pickle_value *value, int64_t least,
                      int64_t *to) {
  if (!pickle_is(value, PICKLE_INTEGER) || value->integer < least ||
      value->integer > MODULE_MOST)
    return module_fail(m, "its %s is not supported", key);
  *to = value->integer;
  return true;
}

bool module_size(struct modules *m, const char *key, int64_t least,
                 int64_t *to) {
  return take_size(m, key, module_option(m, key), least, to);
}

bool module_sizes(struct modules *m, const char *key, int axes, int64_t least,
                  int64_t *to) {
  const struct pickle_value *value = module_option(m, key);
  bool list = pickle_is(value, PICKLE_LIST);
  if (list && value->items.count != (size_t)axes)
    return module_fail(m, "its %s is not supported", key);
  for (int i = 0; i < axes; i++)
    if (!take_size(m, key, list ? value->items.at[i] : value, least, &to[i]))
      return false;
  return true;
}

bool module_real(struct modules *m, const char *key, double *to) {
  const struct pickle_value *value = module_option(m, key);
  bool real = pickle_is(value, PICKLE_REAL);
  if (!real && !pickle_is(value, PICKLE_INTEGER))
    return module_fail(m, "its %s is not supported", key);
  *to = real ? value->real : (double)value->integer;
  return true;
}

/* Shapes */

const struct graph_shape *module_shape(const struct modules *m) {
  return graph_shape(m->graph, m->at);
}

static int64_t channels_of(const struct modules *m) {
  const struct graph_shape *shape = module_shape(m);
  return shape->size[shape->rank - 1];
}

bool module_has_channels(struct modules *m, int64_t channels) {
  return channels_of(m) == channels ||
         module_fail(m,
                     "it needs %" PRId64 " channels or features, but its input "
                     "has %" PRId64,
                     channels, channels_of(m));
}

bool module_give(struct modules *m, const struct graph_node *node) {
  m->at = node->index;
  module_shape(m);
  return !m->graph->failed;
}

struct graph_node *module_layer(struct modules *m, enum layer_word word) {
  return graph_layer(m->graph, word, m->at);
}

/* Tensors */

bool module_has_tensor(const struct modules *m, const char *name) {
  const struct pickle_value *parameters = module_option(m, "_parameters");
  const struct pickle_value *value =
      parameters ? pickle_get(parameters, name) : NULL;
  return value && !pickle_is(value, PICKLE_NONE);
}

static bool take_values(struct modules *m, struct graph_node *node,
                        const char *name, const struct stored_tensor *t) {
  if (!value_is_real(t->type))
    return module_fail(m, "its %s contains %s", name, t->word);
  return values_take(m->graph, node, name, &m->file, t, t->count) ||
         module_fail(m, "its %s: %s", name, m->file.fault);
}

bool module_take(struct modules *m, struct graph_node *node, const char *name,
                 int64_t count) {
  const char *path = graph_text(m->graph, "%.*s.%s", SLICE_ARG(m->path), name);
  const struct stored_tensor *t = tensors_find(&m->file, path);
  if (!t || t->count != count)
    return module_fail(
        m, "its %s does not have the %" PRId64 " values that its options say",
        name, count);
  if (t->shared)
    return module_fail(m,
                       "it shares its %s with another module, which is not "
                       "supported here",
                       name);
  if (strncmp(name, "running_", 8) != 0)
    GRAPH_TENSOR(node, count);
  return !m->options->weights || take_values(m, node, name, t);
}
