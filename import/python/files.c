/*
 * Files that a module imports: those of its folder and of the packages that it
 * is in. They are parsed once and run in each attempt, as Python would.
 */
#include <string.h>

#include "import/bytes/bytes.h"
#include "import/python/python.h"

/* Bounds of a program; and folders that imports may go up. */
enum { MOST_FILES = 400, MOST_BYTES = 8 << 20, MOST_UP = 3 };

static const char *joined(struct py *p, const char *folder, struct slice name,
                          const char *end) {
  return strcmp(folder, ".") == 0
             ? graph_text(p->graph, "%.*s%s", SLICE_ARG(name), end)
             : graph_text(p->graph, "%s/%.*s%s", folder, SLICE_ARG(name), end);
}

/* The folder above. */
static const char *above(struct py *p, const char *folder) {
  const char *slash = strrchr(folder, '/'), *last = slash ? slash + 1 : folder;
  if (strcmp(folder, ".") == 0)
    return "..";
  if (strcmp(last, "..") == 0 || !*last)
    return graph_text(p->graph, "%s/..", folder);
  return !slash ? "."
         : slash == folder
             ? "/"
             : graph_text(p->graph, "%.*s", (int)(slash - folder), folder);
}

static bool exists(const char *path) {
  return file_identify(path).known;
}

static bool is_package(struct py *p, const char *folder) {
  return exists(joined(p, folder, slice_of("__init__"), ".py"));
}

/* Files */

static struct py_file *add_file(struct py *p, const char *path,
                                const char *folder, struct slice text) {
  struct py_file *file = ARENA_NEW(p->arena, struct py_file);
  const struct py_file *before =
      p->files->count ? p->files->at[p->files->count - 1] : NULL;
  file->path = path;
  file->folder = folder;
  file->id = file_identify(path);
  file->first = before ? before->first + before->count : 1;
  file->count = 2;
  for (size_t i = 0; i < text.length; i++)
    file->count += text.at[i] == '\n';
  *VEC_PUSH(p->arena, p->files) = file;
  return file;
}

void py_open_files(struct py *p, struct slice text) {
  const struct import_options *options = p->options;
  struct py_file *file = add_file(p, options->path ? options->path : "",
                                  options->path ? options->folder : NULL, text);
  file->tree = py_parse(p->arena, text, file->first);
}

struct py_file *py_file_of(const struct py *p, int line) {
  size_t at = p->files->count - 1;
  while (at > 0 && p->files->at[at]->first > line)
    at--;
  return p->files->at[at];
}

/* Reads and parses a file; NULL with an error. */
static struct py_file *read_file(struct py *p, const char *path,
                                 const char *folder) {
  struct byte_store store;
  uint64_t left = MOST_BYTES;
  struct slice text = {"", 0};
  for (size_t i = 0; i < p->files->count; i++)
    left -= p->files->at[i]->bytes < left ? p->files->at[i]->bytes : left;
  bool right = byte_store_open(&store, path);
  if (right && (store.size > left || p->files->count >= MOST_FILES)) {
    py_fail(p, "it imports more than %d files, or more than %d MiB", MOST_FILES,
            MOST_BYTES >> 20);
  } else if (right && store.size) {
    char *bytes = arena_room(p->arena, (size_t)store.size, 1);
    right = byte_store_read(&store, 0, bytes, (size_t)store.size);
    text = (struct slice){bytes, (size_t)store.size};
  }
  if (!right)
    py_fail(p, "%s cannot be read: %s", path, store.fault);
  byte_store_close(&store);
  if (p->error)
    return NULL;
  struct py_file *file = add_file(p, path, folder, text);
  file->bytes = text.length;
  file->tree = py_parse(p->arena, text, file->first);
  *VEC_PUSH(p->graph->arena, &p->graph->beside) = path;
  return file;
}

/* Runs a file once in each attempt; gives its names. */
static struct py_value *run_file(struct py *p, struct py_file *file) {
  struct py_value *function = p->function, *first = p->first;
  struct py_value *space = file->space;
  int line = p->line;
  if (space)
    return space;
  space = py_make(p, PY_SPACE);
  if (!space)
    return NULL;
  space->text = slice_of(file->path);
  space->file = file;
  space->scope =
      file->first == 1 ? &p->globals : ARENA_NEW(p->arena, struct py_scope);
  file->space = space;
  p->function = p->first = NULL;
  if (file->tree)
    py_run_file(p, file->tree, space->scope);
  p->function = function;
  p->first = first;
  p->line = line;
  return p->error ? NULL : space;
}

void py_run_given(struct py *p) {
  for (size_t i = 0; i < p->files->count; i++)
    p->files->at[i]->space = NULL;
  run_file(p, p->files->at[0]);
}

/* A file that `base` has inside; `inside`: the folder, if it is a package. */
static struct py_value *load(struct py *p, const char *base, const char *path,
                             const char *inside) {
  struct file_id id = file_identify(path);
  for (size_t i = 0; i < p->files->count; i++)
    if (file_same(&p->files->at[i]->id, &id)) {
      p->files->at[i]->inside = inside;
      return run_file(p, p->files->at[i]);
    }
  if (!file_is_inside(p->arena, base, path))
    return py_fail(p,
                   "%s is a link out of the folder, which netc does not "
                   "follow",
                   path);
  struct py_file *file = inside && strcmp(inside, path) == 0
                             ? add_file(p, path, inside, slice_of(""))
                             : read_file(p, path, inside ? inside : base);
  if (!file)
    return NULL;
  file->inside = inside;
  return run_file(p, file);
}

/* The package or module of that name in a folder; NULL: there is none, or an
 * error. */
static struct py_value *child(struct py *p, const char *folder,
                              struct slice name) {
  const char *inside = joined(p, folder, name, "");
  const char *init = joined(p, inside, slice_of("__init__"), ".py");
  const char *path = joined(p, folder, name, ".py");
  if (!name.length || !py_charge(p, 200))
    return NULL;
  return exists(init)     ? load(p, folder, init, inside)
         : exists(path)   ? load(p, folder, path, NULL)
         : exists(inside) ? load(p, folder, inside, inside)
                          : NULL;
}

static struct slice root_of(struct slice path) {
  const char *dot = path.length ? memchr(path.at, '.', path.length) : NULL;
  return dot ? slice_to(path, (size_t)(dot - path.at)) : path;
}

/* "a.b.c" from a folder on; the root's value, too. */
static struct py_value *walk(struct py *p, const char *folder,
                             struct slice path, struct py_value **root) {
  struct py_value *v = NULL;
  *root = NULL;
  while (path.length && folder) {
    struct slice name = root_of(path);
    v = child(p, folder, name);
    if (!v)
      return NULL;
    *root = *root ? *root : v;
    folder = v->file->inside;
    path = slice_from(path, name.length + (name.length < path.length));
  }
  return path.length ? NULL : v;
}

/* Where modules are looked for */

/* `from ..a import b`: from the file's own folder, a folder up for each dot but
 * the first. */
static struct py_value *relative(struct py *p, const struct py_file *file,
                                 const struct py_node *node) {
  const char *folder = file->folder;
  struct py_value *root;
  for (int64_t i = 1; folder && i < node->integer; i++)
    folder = i > MOST_UP ? NULL : above(p, folder);
  if (!folder)
    return NULL;
  if (node->text.length)
    return walk(p, folder, node->text, &root);
  const char *init = joined(p, folder, slice_of("__init__"), ".py");
  return load(p, above(p, folder), exists(init) ? init : folder, folder);
}

static bool is_called(struct py *p, const char *folder, struct slice name) {
  struct slice real;
  return file_real(p->arena, folder, &real) && real.length > name.length &&
         slice_ends(real, graph_text(p->graph, "/%.*s", SLICE_ARG(name)));
}

/* `import a.b`: from the folder of the file that is read, or from one above
 * that has it in a package, or in a folder called `a`. */
static struct py_value *absolute(struct py *p, struct slice path,
                                 struct py_value **root) {
  const char *folder = p->files->at[0]->folder;
  struct py_value *found = NULL, *other, *other_root;
  bool packages = true, called = true;
  *root = NULL;
  for (int i = 0; folder && i <= MOST_UP && !p->error; i++) {
    other = packages || called ? walk(p, folder, path, &other_root) : NULL;
    if (other && found && other->file != found->file)
      return py_fail(p, "`%.*s` is both %s and %s", SLICE_ARG(path),
                     found->file->path, other->file->path);
    if (other && !found) {
      found = other;
      *root = other_root;
    }
    packages = packages && is_package(p, folder);
    called = is_called(p, folder, root_of(path));
    folder = above(p, folder);
  }
  return found;
}

/* Names */

/* Names of a file as a dict. */
static struct py_value *names_of(struct py *p, const struct py_scope *scope) {
  const struct map *names = &scope->names;
  struct py_value *v = py_charge(p, names->room) ? py_make(p, PY_DICT) : NULL;
  for (size_t i = 0; v && i < names->room; i++) {
    if (!names->entries[i].key.at)
      continue;
    py_push(p, &v->items, py_text(p, names->entries[i].key));
    py_push(p, &v->items, names->entries[i].pointer);
  }
  return p->error ? NULL : v;
}

struct py_value *py_file_name(struct py *p, struct py_value *space,
                              struct slice name) {
  const struct map_entry *entry = map_find(&space->scope->names, name);
  if (entry)
    return entry->pointer;
  if (slice_is(name, "__dict__"))
    return names_of(p, space->scope);
  return space->file->inside ? child(p, space->file->inside, name) : NULL;
}

static void bind(struct py *p, struct py_scope *scope, struct slice name,
                 struct py_value *v) {
  map_add(p->arena, &scope->names, name)->pointer = v;
}

/* `from x import *`: __all__, or the names without `_` in front. */
static bool take_all(struct py *p, struct py_value *space,
                     struct py_scope *scope) {
  const struct map *names = &space->scope->names;
  const struct map_entry *all = map_find(names, slice_of("__all__"));
  const struct py_value *list = all ? all->pointer : NULL;
  if (scope == space->scope || !py_charge(p, names->room))
    return !p->error;
  for (size_t i = 0; list && list->type <= PY_TUPLE && i < list->items.count;
       i++) {
    struct py_value *v = list->items.at[i]->type == PY_TEXT
                             ? py_file_name(p, space, list->items.at[i]->text)
                             : NULL;
    if (v)
      bind(p, scope, list->items.at[i]->text, v);
  }
  for (size_t i = 0; !all && i < names->room; i++)
    if (names->entries[i].key.at && names->entries[i].key.at[0] != '_')
      bind(p, scope, names->entries[i].key, names->entries[i].pointer);
  for (size_t i = 0; !all && i < space->scope->stars.count; i++)
    py_push(p, &scope->stars, space->scope->stars.at[i]);
  return !p->error;
}

/* A name that is in no file. */
static struct py_value *absent(struct py *p, const struct py_node *node,
                               struct slice name, const char *why) {
  struct py_value *v = py_make(p, PY_UNKNOWN);
  if (!v)
    return NULL;
  const char *text =
      why ? graph_text(p->graph, "`%.*s` is not known: %s", SLICE_ARG(name),
                       why)
          : graph_text(p->graph, "`%.*s` is in another file%s%.*s",
                       SLICE_ARG(name),
                       node->text.length ? ", which is not there: " : "",
                       SLICE_ARG(node->text));
  v->text = slice_of(text);
  return v;
}

/* Takes an error of an import: its names are unknown. */
static const char *taken_error(struct py *p) {
  const char *why = p->error;
  if (!py_is_spent(p))
    p->error = NULL;
  return why;
}

static void count_absent(struct py *p, bool absent, struct slice name) {
  p->absent += absent;
  if (absent)
    p->absent_name = name;
}

static bool import_from(struct py *p, const struct py_node *node,
                        struct py_scope *scope) {
  struct slice root = root_of(node->text);
  bool ours = node->integer || !py_knows_library(root);
  struct py_value *space = NULL, *unused;
  if (ours)
    space = node->integer ? relative(p, py_file_of(p, node->line), node)
                          : absolute(p, node->text, &unused);
  const char *why = taken_error(p);
  if (!node->count && space)
    return take_all(p, space, scope);
  if (!node->count) {
    struct py_value *star =
        ours ? absent(p, node, slice_of("*"), why) : py_imported(p, node->text);
    if (star)
      py_push(p, &scope->stars, star);
  }
  for (size_t i = 0; i + 1 < node->count && !p->error; i += 2) {
    struct slice name = node->kids[i]->text;
    struct py_value *v = space ? py_file_name(p, space, name) : NULL;
    if (!v && space && !why)
      why = p->error ? taken_error(p)
                     : graph_text(p->graph, "%s has no such name",
                                  space->file->path);
    count_absent(p, !v && ours, root);
    if (!v && !why && !node->integer)
      v = py_imported(
          p, slice_of(graph_text(p->graph, "%.*s.%.*s", SLICE_ARG(node->text),
                                 SLICE_ARG(name))));
    v = v ? v : absent(p, node, name, why);
    if (v)
      bind(p, scope, node->kids[i + 1]->text, v);
  }
  return !p->error;
}

bool py_import(struct py *p, const struct py_node *node,
               struct py_scope *scope) {
  if (node->kind == NODE_FROM)
    return import_from(p, node, scope);
  for (size_t i = 0; i + 1 < node->count; i += 2) {
    struct slice path = node->kids[i]->text, alias = node->kids[i + 1]->text;
    struct slice root = root_of(path);
    struct py_value *top = NULL, *v = NULL;
    if (!py_knows_library(root))
      v = absolute(p, path, &top);
    count_absent(p, !v && !py_knows_library(root), root);
    const char *why = taken_error(p);
    if (why)
      v = top = absent(p, node, path, why);
    if (!alias.length) { /* `import torch.nn` sets `torch` */
      alias = root;
      v = top ? top : py_imported(p, root);
    }
    v = v ? v : py_imported(p, path);
    if (!v)
      return false;
    bind(p, scope, alias, v);
  }
  return !p->error;
}
