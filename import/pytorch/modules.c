/*
 * Reads a whole nn.Sequential that torch.save wrote: a tree of modules with
 * their options as data. Other classes define the order of their modules in
 * code, which is never run here: they are refused by name.
 */
#include "import/pytorch/modules.h"

#include <inttypes.h>

#include "import/pytorch/module.h"

enum { MODULES_DEEPEST = 64, MODULES_COUNT = 20000 };

/* Hooks, as of weight_norm, are code that PyTorch runs before or after. */
static bool has_hooks(struct modules *m) {
  static const char *const keys[] = {"_forward_pre_hooks", "_forward_hooks"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const struct pickle_value *hooks = module_option(m, keys[i]);
    if (hooks && hooks->items.count)
      return true;
  }
  return false;
}

static bool add_module(struct modules *m, const struct pickle_value *module) {
  m->module = module;
  m->class = module_class(module);
  struct module_row row = module_row(m->class);
  m->graph->at = (struct graph_origin){
      .name = graph_text(m->graph, "%.*s", SLICE_ARG(m->path)),
      .kind = graph_text(m->graph, "%.*s", SLICE_ARG(m->class))};
  if (!row.class) {
    module_fail(
        m,
        "the computation of such a module is code, which is not in the file");
    return graph_help(m->graph, "torch.onnx.export(model, input, "
                                "\"model.onnx\") in Python, then `netc "
                                "model.onnx`");
  }
  if (has_hooks(m))
    return module_fail(m, "it has hooks, which are code");
  if (++m->count > MODULES_COUNT)
    return module_fail(m, "more than %d modules are not supported",
                       MODULES_COUNT);
  return row.add ? row.add(m) : module_give(m, module_layer(m, row.words[0]));
}

bool module_add_children(struct modules *m) {
  const struct pickle_value *children = module_option(m, "_modules");
  size_t length = m->path.length;
  bool right = true;
  if (!pickle_is(children, PICKLE_DICT))
    return module_fail(m, "it has no modules");
  if (m->depth == MODULES_DEEPEST)
    return module_fail(m,
                       "modules are nested %d levels deep, which is not "
                       "supported",
                       MODULES_DEEPEST);
  m->depth++;
  for (size_t i = 0; right && i + 1 < children->items.count; i += 2) {
    text_put(&m->path, length ? "." : "");
    text_puts(&m->path, children->items.at[i]->text);
    right = add_module(m, children->items.at[i + 1]);
    m->path.length = length;
  }
  m->depth--;
  return right;
}

/* The first module that is not a Sequential. */
static const struct pickle_value *first_of(const struct pickle_value *module) {
  for (int i = 0; i < MODULES_DEEPEST; i++) {
    const struct pickle_value *children = pickle_get(module, "_modules");
    if (!slice_is(module_class(module), "Sequential") ||
        !pickle_is(children, PICKLE_DICT) || children->items.count < 2)
      return module;
    module = children->items.at[1];
  }
  return module;
}

/* The first module determines the input. A map's size is not in the file. */
static bool add_input(struct modules *m) {
  struct graph_shape shape = {0};
  const struct pickle_value *channels;
  m->module = first_of(m->file.module);
  m->class = module_class(m->module);
  if (!import_given(m->options, slice_of(""), &shape)) {
    channels = module_option(m, "in_features");
    if (!pickle_is(channels, PICKLE_INTEGER) || channels->integer < 1 ||
        channels->integer > MODULE_MOST) {
      channels = module_option(m, "in_channels");
      int64_t count =
          pickle_is(channels, PICKLE_INTEGER) ? channels->integer : 3;
      graph_fail(m->graph, 0, "the size of its input is not in the file");
      return graph_help(m->graph,
                        slice_is(m->class, "Conv1d")
                            ? "give it: --input LENGTHx%" PRId64
                            : "give it: --input HEIGHTxWIDTHx%" PRId64,
                        count);
    }
    shape = (struct graph_shape){1, {channels->integer}};
  }
  m->at = graph_input(m->graph, NULL, &shape, NULL)->index;
  return true;
}

bool modules_read(struct graph *graph, struct slice head,
                  const struct import_options *options) {
  struct modules m = {.graph = graph, .options = options};
  (void)head;
  if (!tensors_open(&m.file, options->path, graph->arena))
    graph_fail(graph, 0, "%s", m.file.fault);
  m.path = text_new(graph->arena);
  if (!graph->failed && add_input(&m))
    add_module(&m, m.file.module);
  graph->at = (struct graph_origin){0};
  tensors_close(&m.file);
  return !graph->failed;
}

bool modules_are_in(const char *path, struct arena *arena) {
  struct tensor_file file;
  bool found = tensors_open(&file, path, arena) && file.module &&
               slice_is(module_class(file.module), "Sequential");
  tensors_close(&file);
  return found;
}
