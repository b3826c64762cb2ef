/* Open documents: opening, changing, compiling, closing. */
#include "driver/lsp/document.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "driver/output.h"

/* Texts for `use` */

/* Reads regular files only; a pipe or device could block, or be the wire. */
static enum netc_found read_plain(const char *path, netc_sink_fn *sink,
                                  void *sink_user) {
  char piece[1 << 16];
  struct stat info;
  size_t count;
  if (stat(path, &info) != 0)
    return errno == ENOENT || errno == ENOTDIR ? NETC_ABSENT : NETC_UNREADABLE;
  FILE *file = S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
  if (!file)
    return NETC_UNREADABLE;
  bool taken = true;
  while (taken && (count = fread(piece, 1, sizeof piece, file)) > 0)
    taken = sink(sink_user, piece, count);
  bool whole = taken && !ferror(file);
  fclose(file);
  return whole ? NETC_FOUND : NETC_UNREADABLE;
}

enum netc_found document_read(struct lsp_server *server, const char *path,
                              netc_sink_fn *sink, void *sink_user) {
  const struct lsp_document *open = document_of_path(server, path);
  if (!open)
    return read_plain(path, sink, sink_user);
  return sink(sink_user, open->text.at, open->text.length) ? NETC_FOUND
                                                           : NETC_UNREADABLE;
}

static enum netc_found read_source(void *user, const char *path,
                                   netc_sink_fn *sink, void *sink_user) {
  return document_read(user, path, sink, sink_user);
}

struct netc *document_context(struct lsp_server *server) {
  struct netc *netc = netc_open(NULL, NULL);
  if (netc) {
    netc_on_read(netc, read_source, server);
    netc_on_progress(netc, lsp_goes_on, server);
  }
  return netc;
}

/* Documents */

struct lsp_document *document_find(struct lsp_server *server, const char *uri) {
  for (size_t i = 0; i < server->document_count; i++)
    if (strcmp(server->documents[i]->uri, uri) == 0)
      return server->documents[i];
  return NULL;
}

struct lsp_document *document_of_path(struct lsp_server *server,
                                      const char *path) {
  for (size_t i = 0; i < server->document_count; i++)
    if (strcmp(server->documents[i]->path, path) == 0)
      return server->documents[i];
  return NULL;
}

static void drop_used(struct lsp_document *d) {
  for (size_t i = 0; i < d->used_count; i++)
    lsp_text_drop(&d->used[i]);
  free(d->used);
  d->used = NULL;
  d->used_count = 0;
}

void document_close(struct lsp_document *d) {
  struct lsp_server *server = d->server;
  for (size_t i = 0; i < server->document_count; i++)
    if (server->documents[i] == d)
      server->documents[i] = server->documents[--server->document_count];
  drop_used(d);
  document_unpublish(d);
  netc_close(d->check);
  netc_close(d->full);
  lsp_text_drop(&d->text);
  free(d->uri);
  free(d->path);
  free(d);
}

static struct lsp_document *open_document(struct lsp_server *server,
                                          const char *uri) {
  struct lsp_document *d = calloc(1, sizeof *d);
  if (!d || server->document_count == LSP_MOST_DOCUMENTS) {
    free(d);
    return NULL;
  }
  d->server = server;
  d->uri = path_copy(uri, strlen(uri), "");
  d->path = path_of_uri(uri);
  d->check = document_context(server);
  server->documents[server->document_count++] = d;
  if (!d->uri || !d->path || !d->check) {
    document_close(d);
    return NULL;
  }
  netc_mode(d->check, NETC_FOR_CHECK);
  netc_partial(d->check, true);
  netc_recall(d->check, true);
  return d;
}

/* True if its net reads the file, or has a file that it could not read. */
static bool uses_file(const struct lsp_document *d, const char *path) {
  struct netc_diagnostic wrong = {.size = sizeof wrong};
  const char *source;
  for (size_t i = 0; (source = netc_source(d->check, i)); i++)
    if (strcmp(source, path) == 0)
      return true;
  for (size_t i = 0; netc_diagnostic(d->check, i, &wrong) == NETC_OK; i++)
    if (strcmp(wrong.slug, "cannot-read") == 0)
      return true;
  return false;
}

/* Marks the nets that use this file for compilation. */
static void touch_users(struct lsp_server *server, const char *path) {
  for (size_t i = 0; i < server->document_count; i++) {
    struct lsp_document *d = server->documents[i];
    d->dirty = d->dirty || uses_file(d, path);
  }
}

static const char *uri_of(const json_t *params) {
  return json_string_value(
      json_object_get(json_object_get(params, "textDocument"), "uri"));
}

void lsp_did_open(struct lsp_server *server, const json_t *params) {
  const json_t *opened = json_object_get(params, "textDocument");
  const json_t *text = json_object_get(opened, "text");
  const char *uri = uri_of(params);
  if (!uri || !json_is_string(text))
    return;
  struct lsp_document *d = document_find(server, uri);
  if (!d)
    d = open_document(server, uri);
  struct slice bytes = {json_string_value(text), json_string_length(text)};
  if (!d || !lsp_text_take(&d->text, bytes)) {
    if (d)
      document_close(d);
    lsp_complain(server,
                 "netc cannot open %s: out of memory, or too many "
                 "files are open",
                 uri);
    return;
  }
  d->version = json_integer_value(json_object_get(opened, "version"));
  d->dirty = true;
  touch_users(server, d->path);
}

/* Applies a change of a range, or a new text. */
static bool change_text(struct lsp_document *d, const json_t *change) {
  const json_t *text = json_object_get(change, "text");
  const json_t *range = json_object_get(change, "range");
  struct slice bytes = {json_string_value(text), json_string_length(text)};
  if (!json_is_string(text))
    return true; /* nothing can be done */
  if (!json_is_object(range))
    return lsp_text_take(&d->text, bytes);
  enum lsp_encoding encoding = d->server->encoding;
  size_t begin =
      lsp_text_byte_at(&d->text, encoding, json_object_get(range, "start"));
  size_t end =
      lsp_text_byte_at(&d->text, encoding, json_object_get(range, "end"));
  if (end < begin)
    end = begin;
  if (d->text.length - (end - begin) + bytes.length > LSP_MOST_FRAME)
    return false;
  return lsp_text_replace(&d->text, begin, end, bytes);
}

void lsp_did_change(struct lsp_server *server, const json_t *params) {
  const char *uri = uri_of(params);
  struct lsp_document *d = uri ? document_find(server, uri) : NULL;
  const json_t *changes = json_object_get(params, "contentChanges"), *change;
  const json_t *version =
      json_object_get(json_object_get(params, "textDocument"), "version");
  size_t i;
  if (!d)
    return;
  json_array_foreach(changes, i, change) {
    if (change_text(d, change))
      continue;
    lsp_complain(server,
                 "netc no longer follows %s: it is larger than 64 MiB, "
                 "or memory has run out",
                 uri);
    document_close(d);
    return;
  }
  d->version = json_integer_value(version);
  d->dirty = true;
  touch_users(server, d->path);
}

/* Marks all documents, since used files may have changed. */
void lsp_files_changed(struct lsp_server *server, const json_t *params) {
  (void)params;
  for (size_t i = 0; i < server->document_count; i++)
    server->documents[i]->dirty = true;
}

void lsp_did_close(struct lsp_server *server, const json_t *params) {
  const char *uri = uri_of(params);
  struct lsp_document *d = uri ? document_find(server, uri) : NULL;
  if (!d)
    return;
  if (!json_object_get(server->published, uri))
    json_object_set_new(server->published, uri, json_array());
  char *path = path_copy(d->path, strlen(d->path), "");
  document_close(d);
  if (path)
    touch_users(server, path);
  free(path);
  lsp_publish(server);
}

/* Compiling */

bool document_update(struct lsp_document *d) {
  if (!d->dirty)
    return true;
  drop_used(d);
  d->status = netc_load_text(d->check, d->path, d->text.at, d->text.length);
  if (d->status == NETC_STOPPED)
    return false;
  d->dirty = d->is_full = false;
  document_publish(d);
  return true;
}

struct lsp_document *document_asked(struct lsp_server *server,
                                    const json_t *params,
                                    struct lsp_error *error) {
  const char *uri = uri_of(params);
  struct lsp_document *d = uri ? document_find(server, uri) : NULL;
  if (!d)
    lsp_fail(error, LSP_INVALID_PARAMS,
             uri ? "this document is not open" : "textDocument.uri is missing");
  else if (!document_update(d))
    lsp_fail(error, server->cancelled ? LSP_CANCELLED : LSP_CONTENT_MODIFIED,
             "the document changed in the meantime");
  else
    return d;
  return NULL;
}

struct netc *document_full(struct lsp_document *d, struct lsp_error *error) {
  if (d->status != NETC_OK)
    return NULL;
  if (!d->full && !(d->full = document_context(d->server))) {
    lsp_fail(error, LSP_INTERNAL_ERROR, "out of memory");
    return NULL;
  }
  if (!d->is_full)
    d->full_status =
        netc_load_text(d->full, d->path, d->text.at, d->text.length);
  d->is_full = d->full_status != NETC_STOPPED;
  if (d->full_status == NETC_STOPPED)
    lsp_fail(error, d->server->cancelled ? LSP_CANCELLED : LSP_CONTENT_MODIFIED,
             "the document changed in the meantime");
  return d->full_status == NETC_OK ? d->full : NULL;
}
