/* Reads a file of Python: chooses its module, evaluates it, and gives the
 * calls to the reader of torch.export. */
#include <inttypes.h>
#include <string.h>

#include "import/python/python.h"

enum { MOST_FILE = 4 << 20, MOST_ATTEMPTS = 6 };

static const char help[] = EXPORT_PROGRAM;

static void begin(struct py *p, const struct py_node *library) {
  *p = (struct py){.graph = p->graph,
                   .arena = p->arena,
                   .options = p->options,
                   .files = p->files,
                   .about = json_object()};
  p->none = py_make(p, PY_NONE);
  p->no = py_make(p, PY_BOOL);
  p->yes = py_make(p, PY_BOOL);
  p->training = py_make(p, PY_BOOL);
  p->dots = py_make(p, PY_BUILTIN);
  p->yes->integer = 1;
  p->building = true;
  py_run(p, library, &p->library);
}

static void end(struct py *p) {
  for (size_t i = 0; i < p->calls.count; i++)
    json_decref(p->calls.at[i].json);
  json_decref(p->about);
}

/* The module of the file */

/* Deeper in an expression no class is made; steps are charged, since each
 * class is looked for in all others. */
static bool is_used_in(struct py *p, const struct py_node *node,
                       struct slice name, int depth) {
  if (depth > 400 || !py_charge(p, 1))
    return false;
  if (node->kind == NODE_NAME && slice_equal(node->text, name))
    return true;
  for (size_t i = 0; i < node->count; i++)
    if (node->kids[i] && is_used_in(p, node->kids[i], name, depth + 1))
      return true;
  return false;
}

static bool has_forward(const struct py_node *class) {
  const struct py_node *block = class->kids[1];
  for (size_t i = 0; i < block->count; i++)
    if (block->kids[i]->kind == NODE_DEF &&
        slice_is(block->kids[i]->text, "forward"))
      return true;
  return false;
}

/* A class of nn.Module, or one whose base is not in the file. */
static bool is_candidate(struct py *p, const struct py_node *node,
                         const struct py_value *class) {
  const struct py_value *module = py_library(p, slice_of("Module"));
  struct py_value *forward = class->type == PY_CLASS
                                 ? py_find_in_class(p, (struct py_value *)class,
                                                    slice_of("forward"), NULL)
                                 : NULL;
  if (class->type != PY_CLASS)
    return class->type == PY_UNKNOWN && has_forward(node);
  return forward && (py_is_a(class, module) || has_forward(node));
}

/* The only module that a file without classes imports from others. */
static struct py_value *imported_module(struct py *p,
                                        const struct py_node *file) {
  const struct py_value *module = py_library(p, slice_of("Module"));
  struct py_value *found = NULL;
  for (size_t i = 0; i < file->count; i++) {
    const struct py_node *node = file->kids[i];
    for (size_t k = 1; node->kind == NODE_FROM && k < node->count; k += 2) {
      const struct map_entry *entry =
          map_find(&p->globals.names, node->kids[k]->text);
      struct py_value *v = entry ? entry->pointer : NULL;
      if (!v || v == found || v->type != PY_CLASS || !v->node->line ||
          !py_is_a(v, module) ||
          !py_find_in_class(p, v, slice_of("forward"), NULL))
        continue;
      if (found) {
        py_fail(p, "the file has no module of its own, and imports several");
        p->help =
            graph_text(p->graph,
                       "choose one: --arg class=%.*s, or "
                       "--arg class=%.*s",
                       SLICE_ARG(found->text), SLICE_ARG(node->kids[k]->text));
        return NULL;
      }
      found = v;
    }
  }
  return found;
}

/* The last module that no other class uses. */
static struct py_value *choose(struct py *p, const struct py_node *file) {
  struct py_value *chosen = NULL, *object = NULL;
  for (size_t i = 0; i < file->count; i++) {
    const struct py_node *node = file->kids[i];
    const struct map_entry *entry = map_find(&p->globals.names, node->text);
    bool used = false;
    if (node->kind == NODE_ASSIGN && node->kids[0]->kind == NODE_NAME &&
        (entry = map_find(&p->globals.names, node->kids[0]->text)) &&
        py_is_module(p, entry->pointer))
      object = entry->pointer;
    if (node->kind != NODE_CLASS || !entry ||
        !is_candidate(p, node, entry->pointer))
      continue;
    for (size_t k = 0; !used && !p->error && k < file->count; k++)
      used = used || (k != i && file->kids[k]->kind == NODE_CLASS &&
                      is_used_in(p, file->kids[k], node->text, 0));
    if (!used)
      chosen = entry->pointer;
  }
  return chosen ? chosen : object ? object : imported_module(p, file);
}

/* --arg */

static const char *given_arg(const struct py *p, const char *name) {
  for (size_t i = 0; i < p->options->arg_count; i++)
    if (strcmp(p->options->args[i].name, name) == 0)
      return p->options->args[i].value;
  return NULL;
}

/* The usual value of an argument of what is made; NULL: none. */
static const struct py_node *usual_of(struct py *p, struct py_value *root,
                                      const char *name) {
  const struct py_value *f = root;
  if (root->type == PY_CLASS)
    f = py_find_in_class(p, root, slice_of("__init__"), NULL);
  for (size_t i = 0; f && f->type == PY_FUNCTION && i < f->node->kids[0]->count;
       i++)
    if (slice_is(f->node->kids[0]->kids[i]->text, name))
      return f->node->kids[0]->kids[i]->kids[0];
  return NULL;
}

/* A literal or a name of the file; else it is a text. So is a name whose
 * argument is usually one: backbone=resnet50. */
static struct py_value *arg_value(struct py *p, const char *text,
                                  const struct py_node *usual) {
  const struct py_node *node = py_parse_expression(p->arena, slice_of(text), 1);
  struct py_value *v = NULL;
  bool word = node->kind == NODE_NAME && usual && usual->kind == NODE_TEXT;
  if (node->kind != NODE_OTHER && !word)
    v = py_evaluate(p, node, &p->globals);
  if (v)
    return v;
  p->error = NULL;
  return py_text(p, slice_of(text));
}

/* Functions of the file that make the class without arguments. */
static const char *makers(struct py *p, const struct py_node *file,
                          struct slice class) {
  struct text text = text_new(p->arena);
  int count = 0;
  for (size_t i = 0; i < file->count && count < 4; i++) {
    const struct py_node *node = file->kids[i];
    bool plain = node->kind == NODE_DEF && is_used_in(p, node, class, 0);
    for (size_t k = 0; plain && k < node->kids[0]->count; k++)
      plain = node->kids[0]->kids[k]->op || node->kids[0]->kids[k]->kids[0];
    if (plain)
      text_printf(&text, "%s--arg class=%.*s", count++ ? ", " : "",
                  SLICE_ARG(node->text));
  }
  return count ? text_string(&text) : NULL;
}

/* Fails if arguments without a usual value are not given. */
static bool has_args(struct py *p, const struct py_node *file,
                     struct py_value *root) {
  struct py_value *f = root;
  struct text text = text_new(p->arena);
  int count = 0;
  if (root->type == PY_CLASS)
    f = py_find_in_class(p, root, slice_of("__init__"), NULL);
  if (!f || f->type != PY_FUNCTION)
    return true;
  const struct py_node *params = f->node->kids[0];
  for (size_t i = root->type == PY_CLASS; i < params->count; i++) {
    const struct py_node *param = params->kids[i];
    const char *name = graph_text(p->graph, "%.*s", SLICE_ARG(param->text));
    if (!param->op && !param->kids[0] && !given_arg(p, name))
      text_printf(&text, "%s--arg %s=VALUE", count++ ? " " : "", name);
  }
  if (!count)
    return true;
  struct slice name = root->type == PY_CLASS ? root->text : f->node->text;
  const char *made = makers(p, file, name);
  p->line = f->node->line;
  py_fail(p, "`%.*s` needs arguments that have no usual value",
          SLICE_ARG(name));
  p->help =
      graph_text(p->graph, "give %s: %s%s%s", count == 1 ? "it" : "them",
                 text_string(&text), made ? ", or a function that does: " : "",
                 made ? made : "");
  return false;
}

static struct py_value *build(struct py *p, const struct py_node *file) {
  const char *name = given_arg(p, "class");
  const struct map_entry *entry =
      name ? map_find(&p->globals.names, slice_of(name)) : NULL;
  struct py_value *root =
      name ? entry ? entry->pointer : NULL : choose(p, file);
  struct py_args a = {0};
  if (name && strchr(name, '.')) /* EfficientNet.from_name */
    root = py_evaluate(p, py_parse_expression(p->arena, slice_of(name), 1),
                       &p->globals);
  if (p->error)
    return NULL;
  if (!root && name)
    return py_fail(p, "--arg class: the file has no class or function `%s`",
                   name);
  if (!root)
    return py_fail(p, "the file has no class of torch.nn.Module with a "
                      "`forward`");
  if (py_is_module(p, root))
    return root;
  if (!has_args(p, file, root))
    return NULL;
  for (size_t i = 0; i < p->options->arg_count; i++) {
    const struct import_arg *arg = &p->options->args[i];
    if (strcmp(arg->name, "class") == 0)
      continue;
    py_push(p, &a.by_name, py_text(p, slice_of(arg->name)));
    py_push(p, &a.by_name,
            arg_value(p, arg->value, usual_of(p, root, arg->name)));
  }
  struct py_value *module = p->error ? NULL : py_call(p, root, &a);
  if (module && !py_is_module(p, module))
    return py_fail(p, "what it makes is no module");
  return module;
}

/* Inputs */

/* netc's order has the channels last. */
static void take_shape(struct py_input *input,
                       const struct graph_shape *shape) {
  int rank = shape->rank;
  bool maps = rank > 2;
  input->settled = true;
  input->shape = *shape;
  for (int i = 0; maps && i < rank; i++)
    input->shape.size[i] = shape->size[i ? i - 1 : rank - 1];
}

/* Gives forward() its inputs by name, as the command line has them. */
static bool take_inputs(struct py *p, struct py_value *module,
                        struct py_input *known, struct py_args *a) {
  struct py_value *f =
      py_find_in_class(p, module->owner, slice_of("forward"), NULL);
  if (!f || f->type != PY_FUNCTION)
    return py_fail(p, "`%.*s` has no `forward`",
                   SLICE_ARG(module->owner->text));
  const struct py_node *params = f->node->kids[0];
  for (size_t i = 1; i < params->count; i++) {
    const struct py_node *param = params->kids[i];
    struct graph_shape shape = {0};
    bool usual = param->op || param->kids[0], named = false;
    for (size_t k = 0; k < p->options->input_count; k++)
      named = named || (p->options->inputs[k].name &&
                        slice_is(param->text, p->options->inputs[k].name));
    if (usual && !named)
      continue;
    if (p->input_count == PY_INPUTS)
      return py_fail(p, "more than %d inputs are not supported", PY_INPUTS);
    struct py_input *input = &p->inputs[p->input_count];
    *input = known[p->input_count++];
    input->name = param->text;
    if (!input->settled && import_given(p->options, param->text, &shape))
      take_shape(input, &shape);
  }
  for (size_t i = 0; i < p->input_count; i++) {
    py_push(p, &a->by_name, py_text(p, p->inputs[i].name));
    py_push(p, &a->by_name, py_input(p, i));
  }
  return !p->error;
}

static json_t *attempt(struct py *p, const struct py_node *file,
                       struct py_input *known) {
  struct py_args a = {0};
  py_run_given(p);
  struct py_value *module = build(p, file), *out;
  if (!module || !py_name_modules(p, module))
    return NULL;
  p->building = false;
  p->class = module->owner->text;
  p->line = module->owner->node->line;
  out = take_inputs(p, module, known, &a) ? py_call(p, module, &a) : NULL;
  memcpy(known, p->inputs, sizeof p->inputs);
  if (!out)
    return NULL;
  p->graph->name = graph_text(p->graph, "%.*s", SLICE_ARG(p->class));
  return py_program(p, out);
}

/* The line of the call that a later error is about: "`conv1` (Conv): ..". */
static void find_line(struct py *p) {
  struct slice text = p->graph->error.message;
  const char *from = text.length ? memchr(text.at, '`', text.length) : NULL;
  if (!from || p->graph->error.line)
    return;
  text = slice_from(text, (size_t)(from + 1 - text.at));
  const char *to = memchr(text.at, '`', text.length);
  const struct map_entry *entry =
      to ? map_find(&p->lines, slice_to(text, (size_t)(to - text.at))) : NULL;
  if (entry)
    p->graph->error.line = (size_t)entry->number;
}

/* The file that the error's line is in. */
static void find_file(struct py *p) {
  struct graph_error *e = &p->graph->error;
  const struct py_file *file = py_file_of(p, (int)e->line);
  if (!e->line || file->first == 1)
    return;
  e->path = file->path;
  e->line -= (size_t)file->first - 1;
}

static const struct py_node *parse_library(struct graph *graph) {
  struct text text = text_new(graph->arena);
  for (size_t i = 0; python_torch[i]; i++) {
    text_put(&text, python_torch[i]);
    text_putc(&text, '\n');
  }
  return py_parse(graph->arena, text_slice(&text), 0);
}

/* A count that is not PyTorch's is none. */
static bool is_counted(struct py *p) {
  int64_t counted = 0;
  for (size_t i = 0; i < p->graph->nodes.count; i++)
    counted += p->graph->nodes.at[i]->params;
  if (counted == p->parameters)
    return true;
  graph_fail(p->graph, 0,
             "netc would count %" PRId64 " parameters instead of PyTorch's "
             "%" PRId64 ": it does not know this way to use one twice",
             counted, p->parameters);
  return graph_help(p->graph, "%s", help);
}

/* After an error, the same with the batch second, which calls of the net have
 * to confirm; else the error stays. */
static json_t *attempt_steps_first(struct py *p, const struct py_node *file,
                                   const struct py_node *library,
                                   struct py_input *known) {
  struct py first = *p;
  if (p->again || known[0].steps_first || !py_put_steps_first(p, known))
    return NULL;
  end(p);
  begin(p, library);
  json_t *program = attempt(p, file, known);
  if (program && p->sequences)
    return program;
  json_decref(program);
  p->error = first.error;
  p->error_line = first.error_line;
  p->help = first.help;
  return NULL;
}

bool python_read(struct graph *graph, struct slice file,
                 const struct import_options *options) {
  struct py p = {.graph = graph, .arena = graph->arena, .options = options};
  struct import_options without = *options;
  struct py_input known[PY_INPUTS] = {0};
  json_t *program = NULL;
  if (file.length > MOST_FILE)
    return graph_fail(graph, 0, "it is larger than %d MiB", MOST_FILE >> 20);
  const struct py_node *library = parse_library(graph);
  py_files files = {0};
  p.files = &files;
  py_open_files(&p, file);
  const struct py_node *tree = files.at[0]->tree;
  for (int i = 0; i < MOST_ATTEMPTS && !program; i++) {
    if (i)
      end(&p);
    begin(&p, library);
    program = attempt(&p, tree, known);
    if (!p.again)
      break;
  }
  if (!program)
    program = attempt_steps_first(&p, tree, library, known);
  if (program && known[0].steps_first)
    graph_note(graph, "`forward` takes length, batch, features: the batch is "
                      "the second axis of its inputs.");
  if (program) {
    without.input_count = 0; /* the program has their sizes */
    without.steps_first = known[0].steps_first;
    if (exported_read_json(graph, program, &without) && !graph->failed &&
        !options->allow_unknown)
      is_counted(&p);
  } else {
    graph_fail(graph, (size_t)p.error_line, "%s", p.error);
    graph_help(graph, "%s", p.help ? p.help : help);
  }
  if (graph->failed) {
    find_line(&p);
    find_file(&p);
  }
  end(&p);
  return !graph->failed;
}
