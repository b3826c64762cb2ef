/* The language server: its state, and common functions of its methods. */
#ifndef NETC_DRIVER_LSP_SERVER_H
#define NETC_DRIVER_LSP_SERVER_H

#include <sys/types.h>
#include <time.h>

#include "driver/command.h"
#include "driver/lsp/text.h"
#include "driver/lsp/wire.h"
#include "netc_edit.h"

/* Error codes of JSON-RPC and of the protocol. */
enum lsp_code {
  LSP_PARSE_ERROR = -32700,
  LSP_INVALID_REQUEST = -32600,
  LSP_UNKNOWN_METHOD = -32601,
  LSP_INVALID_PARAMS = -32602,
  LSP_INTERNAL_ERROR = -32603,
  LSP_NOT_INITIALIZED = -32002,
  LSP_CANCELLED = -32800,
  LSP_CONTENT_MODIFIED = -32801,
  LSP_FAILED = -32803, /* the request cannot be fulfilled */
};

enum {
  LSP_MOST_DOCUMENTS = 1000,
  LSP_MOST_WAITING = 4096, /* messages that are read ahead */
};

struct lsp_document;

struct lsp_waiting {
  json_t *message;
  bool cancelled;
};

struct lsp_server {
  struct lsp_wire wire;
  struct lsp_waiting *queue; /* read but not answered */
  size_t first, count;
  struct lsp_document *documents[LSP_MOST_DOCUMENTS];
  size_t document_count;
  json_t *published; /* diagnostics that the client has, by URI */
  enum lsp_encoding encoding;
  bool initialized, shut_down, exits;
  bool plain;             /* the client shows no Markdown */
  bool versions;          /* it supports `documentChanges` */
  bool nested;            /* it supports nested symbols */
  pid_t client;           /* the server ends with it; 0: unknown */
  const json_t *running;  /* id of the request in progress */
  bool cancelled;         /* that request is cancelled */
  struct timespec looked; /* time of the last read during work */
};

/* The reason why a request has no result. */
struct lsp_error {
  enum lsp_code code; /* 0: none */
  char message[512];
};

/* Names of the types in semantic tokens: tokens.c. */
json_t *lsp_token_legend(void);

/* Sets the error; returns NULL. */
json_t *lsp_fail(struct lsp_error *error, enum lsp_code code,
                 const char *format, ...) PRINTF_LIKE(3, 4);

typedef json_t *lsp_request_fn(struct lsp_server *server, const json_t *params,
                               struct lsp_error *error);
typedef void lsp_notice_fn(struct lsp_server *server, const json_t *params);

#define REQUEST(name, function) lsp_request_fn function;
#define NOTICE(name, function) lsp_notice_fn function;
#include "driver/lsp/methods.def"
#undef REQUEST
#undef NOTICE

/* Sends a notification; takes ownership of `params`. */
void lsp_notify(struct lsp_server *server, const char *method, json_t *params);

/* "window/showMessage": an error outside of any request. */
void lsp_complain(struct lsp_server *server, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* Called during work; false if its result is no longer needed. */
bool lsp_goes_on(void *server, const char *what, int64_t done, int64_t total);

#endif
