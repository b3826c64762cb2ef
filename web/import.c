/*
 * Files of others that need no other library: Darknet's .cfg, Caffe's
 * .prototxt and the config.json of Hugging Face become sources, as `netc
 * import` writes them.
 */
#include <string.h>

#include "import/allow.h"
#include "import/proof.h"
#include "web/session.h"

import_read_fn caffe_read, darknet_read, huggingface_read;

/* By what a name ends with; NULL: the page does not read it. */
static const struct import_reader *reader_of(struct slice name) {
  static const struct {
    const char *suffix;
    struct import_reader reader;
  } readers[] = {{".cfg", {"Darknet", darknet_read, KIND_DARKNET}},
                 {".prototxt", {"Caffe", caffe_read, KIND_CAFFE}},
                 {".json", {"Hugging Face", huggingface_read, KIND_CONFIG}}};
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    if (slice_ends(name, readers[i].suffix))
      return &readers[i].reader;
  return NULL;
}

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

/* Shows the source that was made of the file, or else its errors. */
static int make_source(struct netc *netc, struct graph *graph,
                       const struct import_reader *reader, const char *path,
                       const char *text) {
  struct import_options options = {.template_of = find_template};
  struct import_proof proof = {.netc = netc, .path = path};
  struct imported result;
  struct slice name = {path, strcspn(path, ".")};
  if (!import_file(reader, slice_of(text),
                   graph_text(graph, "%.*s", SLICE_ARG(name)), &options, graph,
                   &result))
    return refuse(graph);
  web_clear();
  if (import_prove(&proof, graph, false, &result))
    return put_source(netc, graph->arena);
  if (graph->failed)
    return refuse(graph);
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++)
    netc_diagnostic_emit(netc, i, NETC_STYLE_TEXT, web_put, NULL);
  return NETC_ERROR;
}

/* A file of that name as a source, or what is wrong with it. */
WEB_EXPORT(web_import) int web_import(const char *path, const char *text);
int web_import(const char *path, const char *text) {
  const struct import_reader *reader = reader_of(slice_of(path));
  struct netc *netc = reader ? netc_open(NULL, NULL) : NULL;
  int status = NETC_ERROR;
  struct graph graph;
  struct arena arena;
  web_clear();
  if (!netc)
    return status;
  arena_open(&arena, NULL, NULL);
  graph_open(&graph, &arena);
  status = make_source(netc, &graph, reader, path, text);
  arena_close(&arena);
  netc_close(netc);
  return status;
}
