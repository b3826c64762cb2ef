/* Open documents: their texts, and the library's results for them. */
#ifndef NETC_DRIVER_LSP_DOCUMENT_H
#define NETC_DRIVER_LSP_DOCUMENT_H

#include "driver/lsp/server.h"

struct lsp_document {
  struct lsp_server *server;
  char *uri;  /* in the client's form */
  char *path; /* name for the library */
  struct lsp_text text;
  json_int_t version;
  bool dirty; /* changed since it was compiled */
  enum netc_status status;
  struct netc *check; /* diagnostics, shapes, names, tokens */
  struct netc *full;  /* costs and memory; NULL: not requested yet */
  bool is_full;       /* `full` is of this text */
  enum netc_status full_status;
  json_t *own;           /* diagnostics of the last compilation, */
  json_t *elsewhere;     /* and those of files that it uses, by URI */
  struct lsp_text *used; /* by number of the source: texts of files */
  size_t used_count;
};

struct lsp_document *document_find(struct lsp_server *server, const char *uri);
struct lsp_document *document_of_path(struct lsp_server *server,
                                      const char *path);

/* The document in `params`, compiled; NULL: sets the error. */
struct lsp_document *document_asked(struct lsp_server *server,
                                    const json_t *params,
                                    struct lsp_error *error);

/* Compiles it if it changed and publishes diagnostics; false: stopped. */
bool document_update(struct lsp_document *document);

/* The document's net with costs and memory; NULL: errors, or *error is set. */
struct netc *document_full(struct lsp_document *document,
                           struct lsp_error *error);

/* Reads a text for `use`: an open document, else a file. */
enum netc_found document_read(struct lsp_server *server, const char *path,
                              netc_sink_fn *sink, void *sink_user);

/* A context that reads with document_read(). */
struct netc *document_context(struct lsp_server *server);

void document_close(struct lsp_document *document);

/* As document_asked(), with the byte in the net's text to which a request
 * points. */
struct lsp_document *document_pointed(struct lsp_server *server,
                                      const json_t *params, size_t *byte,
                                      struct lsp_error *error);

/* Ranges in the document itself, or locations in other sources of its net. */
json_t *document_range(const struct lsp_document *document, size_t begin,
                       size_t end);
bool document_has(const struct lsp_document *document,
                  const struct netc_place *place);
json_t *document_location(struct lsp_document *document,
                          const struct netc_place *place);

/* The path of a URI, from malloc. */
char *path_of_uri(const char *uri);

/* diagnostics.c: publishes or withdraws its diagnostics. */
void document_publish(struct lsp_document *document);
void document_unpublish(struct lsp_document *document);

/* Sends all diagnostics that have changed, in open documents and in files that
 * they use. */
void lsp_publish(struct lsp_server *server);

/* A workspace edit from edits by URI, with versions if the client takes them;
 * takes ownership. */
json_t *workspace_edit(struct lsp_server *server, json_t *by_uri);

#endif
