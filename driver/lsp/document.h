/* Open documents: their texts, and what the library knows of them. */
#ifndef NETC_DRIVER_LSP_DOCUMENT_H
#define NETC_DRIVER_LSP_DOCUMENT_H

#include "driver/lsp/server.h"

struct lsp_document {
  struct lsp_server *server;
  char *uri;  /* as the client writes it */
  char *path; /* what the library calls it */
  struct lsp_text text;
  json_int_t version;
  bool dirty; /* not compiled as it is now */
  enum netc_status status;
  struct netc *check; /* diagnostics, shapes, names, tokens */
  struct netc *full;  /* costs and memory; NULL: nobody has asked */
  bool is_full;       /* of this text */
  enum netc_status full_status;
  json_t *own;           /* what is wrong with it as it was last compiled, */
  json_t *elsewhere;     /* and in files that it uses, by URI */
  struct lsp_text *used; /* by number of the source: those of files */
  size_t used_count;
};

struct lsp_document *document_find(struct lsp_server *server, const char *uri);
struct lsp_document *document_of_path(struct lsp_server *server,
                                      const char *path);

/* The document that `params` name, compiled; NULL, and the error set. */
struct lsp_document *document_asked(struct lsp_server *server,
                                    const json_t *params,
                                    struct lsp_error *error);

/* Compiles it if it changed, and says what is wrong with it; false: stopped. */
bool document_update(struct lsp_document *document);

/* Its net with costs and memory; NULL: it has errors, or why in *error. */
struct netc *document_full(struct lsp_document *document,
                           struct lsp_error *error);

/* A text for `use`: what is open as it is open, else a file. */
enum netc_found document_read(struct lsp_server *server, const char *path,
                              netc_sink_fn *sink, void *sink_user);

/* A context that reads with it. */
struct netc *document_context(struct lsp_server *server);

void document_close(struct lsp_document *document);

/* The same with the byte of the net's text where a request points. */
struct lsp_document *document_pointed(struct lsp_server *server,
                                      const json_t *params, size_t *byte,
                                      struct lsp_error *error);

/* A place of the document itself, or of another source of its net. */
json_t *document_range(const struct lsp_document *document, size_t begin,
                       size_t end);
bool document_has(const struct lsp_document *document,
                  const struct netc_place *place);
json_t *document_location(struct lsp_document *document,
                          const struct netc_place *place);

/* The path that a URI names, from malloc. */
char *path_of_uri(const char *uri);

/* diagnostics.c: what is wrong with it, to the client. */
void document_publish(struct lsp_document *document);
void document_unpublish(struct lsp_document *document);

/* What has changed of all that is wrong: in open documents, and in files that
 * they use. */
void lsp_publish(struct lsp_server *server);

/* Edits by URI as the client takes them, with versions; takes them. */
json_t *workspace_edit(struct lsp_server *server, json_t *by_uri);

#endif
