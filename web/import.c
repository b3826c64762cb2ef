/*
 * Files of others, as `netc import` reads them: a file of the page becomes a
 * source. It is read in parts (web/files.c).
 */
#include <string.h>

#include "base/file.h"
#include "import/allow.h"
#include "import/proof.h"
#include "import/pytorch/modules.h"
#include "import/recognise.h"
#include "web/session.h"

enum { MOST_TEXT = 1 << 26 }; /* bytes of a file that is read whole */

/* Nets of the zoo lie in the page's folder. */
static bool find_template(const char *name, struct slice *text) {
  return web_find(strncmp(name, "zoo/", 4) == 0 ? name + 4 : name, text);
}

static int refuse(const struct graph *graph) {
  const struct graph_error *e = &graph->error;
  struct text out = text_to(graph->arena, web_put, NULL);
  web_clear();
  if (e->line)
    text_printf(&out, "line %zu: ", e->line);
  text_puts(&out, e->message);
  if (e->help.length)
    text_printf(&out, "\nhelp: %.*s", SLICE_ARG(e->help));
  text_flush(&out);
  return NETC_ERROR;
}

static bool put_text(void *user, const char *bytes, size_t length) {
  text_puts(user, (struct slice){bytes, length});
  return true;
}

static int put_source(struct netc *netc, struct arena *arena) {
  struct text source = text_new(arena), out = text_to(arena, web_put, NULL);
  enum netc_status status = netc_emit(netc, "fmt", NULL, put_text, &source);
  if (status == NETC_OK)
    import_allow(netc, text_slice(&source), &out);
  text_flush(&out);
  return (int)status;
}

static int put_errors(struct netc *netc) {
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++)
    netc_diagnostic_emit(netc, i, NETC_STYLE_TEXT, web_put, NULL);
  return NETC_ERROR;
}

/* Shows the source that was made of the file, or else its errors. */
static int make_source(struct netc *netc, struct graph *graph,
                       const struct import_reader *reader, const char *path,
                       struct slice file, bool no_source) {
  struct import_options options = {.template_of = find_template,
                                   .path = path,
                                   .folder = ".",
                                   .no_source = no_source};
  struct import_proof proof = {.netc = netc, .path = path};
  struct imported result;
  struct slice name = {path, strcspn(path, ".")};
  if (!import_file(reader, file, graph_text(graph, "%.*s", SLICE_ARG(name)),
                   &options, graph, &result))
    return refuse(graph);
  web_clear();
  if (graph->kept && import_holds(&proof, graph, &result)) {
    web_put(NULL, graph->source.at, graph->source.length);
    return NETC_OK;
  }
  if (graph->kept) { /* perhaps another version's */
    graph_open(graph, graph->arena);
    return make_source(netc, graph, reader, path, file, true);
  }
  if (import_prove(&proof, graph, false, &result))
    return put_source(netc, graph->arena);
  return graph->failed ? refuse(graph) : put_errors(netc);
}

/* An empty file, or one of another kind than its name says. */
static int refuse_name(struct graph *graph, enum file_kind_id id, bool empty) {
  const char *name = file_kind(id)->name;
  if (empty)
    graph_fail(graph, 0, "the file is empty");
  else
    graph_fail(graph, 0, "its name says %.*s, but its first bytes do not",
               (int)strcspn(name, ","), name);
  return refuse(graph);
}

/* A kind that has no reader; `help` has at most the file's name in it. */
static int refuse_kind(struct graph *graph, enum file_kind_id id,
                       const char *path, const char *why) {
  const struct file_kind *kind = file_kind(id);
  struct text help = text_new(graph->arena);
  /* The program unpacks once, and names what is left. */
  const char *name = id == KIND_GZIP ? "compressed with gzip" : kind->name;
  graph_fail(graph, 0, "this is %s%s%s", name, *why ? ": " : "", why);
  for (const char *at = kind->help; at && *at; at++)
    if (at[0] == '%' && (at[1] == 's' || at[1] == 'd'))
      text_put(&help, *++at == 's' ? path : ".");
    else
      text_putc(&help, *at);
  graph->error.help = text_slice(&help);
  return refuse(graph);
}

static bool find_zoo(void *user, const char *net, struct slice *text) {
  struct graph *graph = user;
  return web_find(graph_text(graph, "%s.net", net), text);
}

/* The net that a file of weights belongs to. */
static int recognise(struct netc *netc, struct graph *graph,
                     enum file_kind_id kind, const char *path) {
  struct tensor_file file;
  struct recognised found = {.label = NULL};
  bool opened = tensors_open(&file, path, graph->arena);
  if (opened)
    recognise_zoo(&file, path, netc, find_zoo, graph, graph->arena, &found);
  if (opened && !found.label)
    recognise_chain(&file, path, netc, graph->arena, &found);
  const char *why = !opened
                        ? graph_text(graph, "%s", file.fault)
                        : "its tensors do not match any net that netc knows";
  tensors_close(&file);
  if (!found.label)
    return refuse_kind(graph, kind, path, why);
  web_clear();
  web_put(NULL, found.source.at, found.source.length);
  return NETC_OK;
}

/* The first bytes, or all of them; false: `graph` has the error. */
static bool read_part(struct graph *graph, struct byte_store *store,
                      uint64_t most, struct slice *part) {
  uint64_t size = store->size < most ? store->size : most;
  char *bytes = arena_alloc(graph->arena, (size_t)size + 1, 1);
  *part = (struct slice){bytes, (size_t)size};
  bytes[size] = '\0';
  return byte_store_read(store, 0, bytes, (size_t)size) ||
         graph_fail(graph, 0, "cannot be read: %s", store->fault);
}

static int open_file(struct netc *netc, struct graph *graph,
                     struct byte_store *store, const char *path) {
  static const struct import_reader modules = {.name = "PyTorch",
                                               .read = modules_read};
  struct slice file;
  if (!read_part(graph, store, FILE_HEAD, &file))
    return refuse(graph);
  enum file_kind_id kind = file_kind_of(path, file);
  const struct import_reader *reader = import_reader_of(kind);
  if (kind != KIND_COUNT && !file_kind_fits(kind, file))
    return refuse_name(graph, kind, file.length == 0);
  kind = kind == KIND_COUNT ? KIND_BINARY : kind;
  const struct file_kind *row = file_kind(kind);
  if (!reader && row->tensors && modules_are_in(path, graph->arena))
    return make_source(netc, graph, &modules, path, file, false);
  if (!reader && row->tensors)
    return recognise(netc, graph, kind, path);
  if (!reader)
    return refuse_kind(graph, kind, path, "");
  if (!row->header && !row->opens_file) {
    if (store->size > MOST_TEXT)
      graph_fail(graph, 0, "it has over %d bytes", MOST_TEXT);
    if (graph->failed || !read_part(graph, store, MOST_TEXT, &file))
      return refuse(graph);
  }
  if (file.length >= 3 && memcmp(file.at, "\xEF\xBB\xBF", 3) == 0)
    file = slice_from(file, 3);
  return make_source(netc, graph, reader, path, file, false);
}

/* A file of the page as a source, or what is wrong with it. */
WEB_EXPORT(web_import) int web_import(const char *path);
int web_import(const char *path) {
  struct netc *netc = netc_open(NULL, NULL);
  struct byte_store store;
  struct graph graph;
  struct arena arena;
  web_clear();
  if (!netc)
    return NETC_ERROR;
  arena_open(&arena, NULL, NULL);
  graph_open(&graph, &arena);
  bool opened = byte_store_open(&store, path);
  if (!opened)
    graph_fail(&graph, 0, "cannot be read: %s", store.fault);
  int status = opened ? open_file(netc, &graph, &store, path) : refuse(&graph);
  byte_store_close(&store);
  arena_close(&arena);
  netc_close(netc);
  return status;
}
