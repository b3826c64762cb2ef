/* netc lsp: the loop, the table of methods, start and end. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver/lsp/document.h"
#include "driver/options.h"

/* Milliseconds between checks that the client is running, and between reads of
 * the wire during work. */
enum { CLIENT_WATCH = 2000, WIRE_WATCH = 10 };

static const struct lsp_method {
  const char *name;
  lsp_request_fn *request; /* NULL: a notification */
  lsp_notice_fn *notice;
} methods[] = {
#define REQUEST(name, function) {name, function, NULL},
#define NOTICE(name, function) {name, NULL, function},
#include "driver/lsp/methods.def"
#undef REQUEST
#undef NOTICE
};

static const struct lsp_method *find_method(const char *name) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    if (strcmp(methods[i].name, name) == 0)
      return &methods[i];
  return NULL;
}

/* Sending */

/* Takes ownership of the message. */
static void send_message(struct lsp_server *server, json_t *message) {
  char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
  if (text)
    wire_write(&server->wire, slice_of(text));
  free(text);
  json_decref(message);
}

void lsp_notify(struct lsp_server *server, const char *method, json_t *params) {
  send_message(server, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
                                 method, "params", params));
}

void lsp_complain(struct lsp_server *server, const char *format, ...) {
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  lsp_notify(server, "window/showMessage",
             json_pack("{s:i, s:o}", "type", 1, "message",
                       lsp_string(slice_of(message))));
}

json_t *lsp_fail(struct lsp_error *error, enum lsp_code code,
                 const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  error->code = code;
  return NULL;
}

static void send_error(struct lsp_server *server, const json_t *id,
                       const struct lsp_error *error) {
  json_t *to = id ? json_deep_copy(id) : json_null();
  send_message(server,
               json_pack("{s:s, s:o, s:{s:i, s:o}}", "jsonrpc", "2.0", "id", to,
                         "error", "code", error->code, "message",
                         lsp_string(slice_of(error->message))));
}

/* Reading ahead */

/* Replaces half of a pair of \u escapes by U+FFFD of equal length, so that
 * positions stay right. Editors send one if a deletion splits the pair. */
static void mend_surrogates(char *at, size_t length) {
  for (size_t i = 0; i + 5 < length; i++) {
    if (at[i] != '\\')
      continue;
    bool code = at[i + 1] == 'u' && (at[i + 2] == 'd' || at[i + 2] == 'D');
    bool half = code && at[i + 3] && strchr("89abAB", at[i + 3]);
    bool rest = code && at[i + 3] && strchr("cdefCDEF", at[i + 3]);
    bool pair = half && i + 11 < length && at[i + 6] == '\\' &&
                at[i + 7] == 'u' && strchr("dD", at[i + 8]) &&
                strchr("cdefCDEF", at[i + 9]);
    if ((half && !pair) || rest)
      memcpy(at + i + 2, "fffd", 4);
    i += pair ? 11 : code ? 5 : 1;
  }
}

static void cancel_request(struct lsp_server *server, const json_t *id) {
  if (!id)
    return;
  if (server->running && json_equal(server->running, id))
    server->cancelled = true;
  for (size_t i = server->first; i < server->count; i++)
    if (json_equal(json_object_get(server->queue[i].message, "id"), id))
      server->queue[i].cancelled = true;
}

static void put_waiting(struct lsp_server *server, json_t *message) {
  const char *method = json_string_value(json_object_get(message, "method"));
  if (method && strcmp(method, "$/cancelRequest") == 0)
    cancel_request(server,
                   json_object_get(json_object_get(message, "params"), "id"));
  if (server->first > 0) {
    memmove(server->queue, server->queue + server->first,
            (server->count - server->first) * sizeof *server->queue);
    server->count -= server->first;
    server->first = 0;
  }
  server->queue[server->count++] = (struct lsp_waiting){message, false};
}

static bool is_full(const struct lsp_server *server) {
  return server->count - server->first >= LSP_MOST_WAITING;
}

static void take_frames(struct lsp_server *server) {
  struct slice frame;
  enum lsp_frame found;
  while (!is_full(server) &&
         (found = wire_take(&server->wire, &frame)) != LSP_FRAME_NONE) {
    struct lsp_error error;
    json_error_t reason;
    json_t *message = NULL;
    if (found == LSP_FRAME_WHOLE) {
      mend_surrogates((char *)frame.at, frame.length);
      message = json_loadb(frame.at, frame.length,
                           JSON_ALLOW_NUL | JSON_DECODE_ANY, &reason);
      frame = slice_of(reason.text);
      if (!message)
        wire_refuse(&server->wire);
    }
    if (message) {
      put_waiting(server, message);
    } else {
      lsp_fail(&error, LSP_PARSE_ERROR, "%.*s", SLICE_ARG(frame));
      send_error(server, NULL, &error);
    }
  }
}

/* Reads what has arrived, after at most `milliseconds`. */
static void read_ahead(struct lsp_server *server, int milliseconds) {
  if (!is_full(server) && wire_read(&server->wire, milliseconds))
    take_frames(server);
}

static bool is_waiting(const struct lsp_server *server, const char *method) {
  for (size_t i = server->first; i < server->count; i++) {
    const char *name =
        json_string_value(json_object_get(server->queue[i].message, "method"));
    if (name && strcmp(name, method) == 0)
      return true;
  }
  return false;
}

static bool client_is_gone(const struct lsp_server *server) {
  return server->client && kill(server->client, 0) != 0 && errno == ESRCH;
}

/* A pending text change makes the current work obsolete. */
bool lsp_goes_on(void *user, const char *what, int64_t done, int64_t total) {
  struct lsp_server *server = user;
  struct timespec now;
  (void)what;
  (void)done;
  (void)total;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t passed = (int64_t)(now.tv_sec - server->looked.tv_sec) * 1000 +
                   (now.tv_nsec - server->looked.tv_nsec) / 1000000;
  if (passed < WIRE_WATCH)
    return true;
  server->looked = now;
  read_ahead(server, 0);
  /* A client that says goodbye still reads; one that stops writing is gone. */
  bool is_left = server->wire.drained && !is_waiting(server, "shutdown");
  return !server->cancelled && !server->wire.ended && !is_left &&
         !is_waiting(server, "textDocument/didChange") &&
         !client_is_gone(server);
}

/* Start and end */

static bool can(const json_t *params, const char *a, const char *b,
                const char *c) {
  const json_t *at = json_object_get(params, "capabilities");
  return json_is_true(
      json_object_get(json_object_get(json_object_get(at, a), b), c));
}

static void choose_encoding(struct lsp_server *server, const json_t *params) {
  const json_t *general =
      json_object_get(json_object_get(params, "capabilities"), "general");
  const json_t *offered = json_object_get(general, "positionEncodings"), *name;
  size_t i;
  json_array_foreach(offered, i, name) {
    const char *word = json_string_value(name);
    if (word && encoding_find(word, &server->encoding))
      return;
  }
}

static bool takes_markdown(const json_t *params) {
  const json_t *at = json_object_get(params, "capabilities"), *format;
  size_t i;
  at = json_object_get(json_object_get(at, "textDocument"), "hover");
  json_array_foreach(json_object_get(at, "contentFormat"), i,
                     format) if (json_is_string(format) &&
                                 strcmp(json_string_value(format),
                                        "markdown") == 0) return true;
  return false;
}

json_t *lsp_initialize(struct lsp_server *server, const json_t *params,
                       struct lsp_error *error) {
  static const char abilities[] =
      "{\"textDocumentSync\": {\"openClose\": true, \"change\": 2,"
      "  \"save\": true},"
      " \"hoverProvider\": true, \"inlayHintProvider\": true,"
      " \"codeLensProvider\": {\"resolveProvider\": false},"
      " \"completionProvider\": {\"triggerCharacters\": [\"=\", \".\"]},"
      " \"signatureHelpProvider\": {\"triggerCharacters\": [\" \"]},"
      " \"definitionProvider\": true, \"referencesProvider\": true,"
      " \"renameProvider\": {\"prepareProvider\": true},"
      " \"documentSymbolProvider\": true,"
      " \"documentFormattingProvider\": true, \"foldingRangeProvider\": true,"
      " \"codeActionProvider\": {\"codeActionKinds\":"
      "  [\"quickfix\", \"source.fixAll\"]}}";
  const json_t *client = json_object_get(params, "processId");
  if (server->initialized)
    return lsp_fail(error, LSP_INVALID_REQUEST,
                    "the server is already initialized");
  server->initialized = true;
  server->client = (pid_t)json_integer_value(client);
  server->plain = !takes_markdown(params);
  server->versions =
      can(params, "workspace", "workspaceEdit", "documentChanges");
  server->nested = can(params, "textDocument", "documentSymbol",
                       "hierarchicalDocumentSymbolSupport");
  choose_encoding(server, params);
  json_t *all = json_loads(abilities, 0, NULL);
  json_object_set_new(all, "positionEncoding",
                      json_string(encoding_name(server->encoding)));
  json_object_set_new(all, "semanticTokensProvider", lsp_token_legend());
  return json_pack("{s:o, s:{s:s, s:s}}", "capabilities", all, "serverInfo",
                   "name", "netc", "version", netc_version());
}

json_t *lsp_shutdown(struct lsp_server *server, const json_t *params,
                     struct lsp_error *error) {
  (void)params;
  (void)error;
  server->shut_down = true;
  return json_null();
}

void lsp_exit(struct lsp_server *server, const json_t *params) {
  (void)params;
  server->exits = true;
}

void lsp_ignore(struct lsp_server *server, const json_t *params) {
  (void)server;
  (void)params;
}

/* Answering */

static json_t *answer_request(struct lsp_server *server, const char *name,
                              const json_t *params, struct lsp_error *error) {
  const struct lsp_method *method = find_method(name);
  if (!server->initialized && strcmp(name, "initialize") != 0)
    return lsp_fail(error, LSP_NOT_INITIALIZED,
                    "the first request must be initialize");
  if (server->shut_down)
    return lsp_fail(error, LSP_INVALID_REQUEST,
                    "the server has been shut down");
  if (!method || !method->request)
    return lsp_fail(error, LSP_UNKNOWN_METHOD, "unknown method `%s`", name);
  return method->request(server, params, error);
}

static void answer(struct lsp_server *server, const struct lsp_waiting *waiting,
                   const json_t *id, const char *name) {
  const json_t *params = json_object_get(waiting->message, "params");
  struct lsp_error error = {.code = 0};
  json_t *result = NULL;
  server->running = id;
  server->cancelled = false;
  if (waiting->cancelled)
    lsp_fail(&error, LSP_CANCELLED, "cancelled");
  else
    result = answer_request(server, name, params, &error);
  server->running = NULL;
  server->cancelled = false;
  if (!result && !error.code)
    lsp_fail(&error, LSP_INTERNAL_ERROR, "out of memory");
  if (error.code)
    send_error(server, id, &error);
  else
    send_message(server, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id",
                                   id, "result", result));
  if (error.code)
    json_decref(result);
}

static bool is_id(const json_t *id) {
  return json_is_string(id) || json_is_integer(id);
}

static void take_message(struct lsp_server *server,
                         const struct lsp_waiting *waiting) {
  const json_t *message = waiting->message;
  const json_t *id = json_object_get(message, "id");
  const char *name = json_string_value(json_object_get(message, "method"));
  struct lsp_error error;
  if (!name &&
      (json_object_get(message, "result") || json_object_get(message, "error")))
    return; /* a response, though the server sends no requests */
  if (!name || (id && !is_id(id))) {
    lsp_fail(&error, LSP_INVALID_REQUEST,
             "the message is neither a request nor a notification");
    send_error(server, is_id(id) ? id : NULL, &error);
  } else if (id) {
    answer(server, waiting, id, name);
  } else {
    const struct lsp_method *method = find_method(name);
    bool may = server->initialized || strcmp(name, "exit") == 0;
    if (method && method->notice && may && !server->shut_down)
      method->notice(server, json_object_get(message, "params"));
    else if (strcmp(name, "exit") == 0)
      server->exits = true;
  }
}

/* Updates the diagnostics of one changed document; false: there is none. */
static bool update_one(struct lsp_server *server) {
  for (size_t i = 0; i < server->document_count; i++)
    if (server->documents[i]->dirty) {
      document_update(server->documents[i]);
      return true;
    }
  return false;
}

static void serve(struct lsp_server *server) {
  take_frames(server);
  while (!server->exits) {
    if (server->first < server->count) {
      struct lsp_waiting waiting = server->queue[server->first++];
      take_message(server, &waiting);
      json_decref(waiting.message);
      continue;
    }
    read_ahead(server, 0);
    take_frames(server);
    if (server->first < server->count)
      continue;
    if (server->wire.ended || server->wire.drained || client_is_gone(server))
      return;
    if (!update_one(server))
      read_ahead(server, server->client ? CLIENT_WATCH : -1);
  }
}

/* Removes --stdio, which editors pass and which is the only way. */
static int drop_stdio(int argc, char **argv) {
  int kept = 0;
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "--stdio") != 0)
      argv[kept++] = argv[i];
  argv[kept] = NULL;
  return kept;
}

int command_lsp(int argc, char **argv) {
  struct operands operands;
  argc = drop_stdio(argc, argv);
  if (!options_read(COMMAND_LSP, argc, argv, NULL, NULL, &operands))
    return operands.status;
  if (operands.count)
    return complain(EXIT_USAGE, "netc lsp takes no file: an editor starts it "
                                "and sends its texts");
  struct lsp_server *server = calloc(1, sizeof *server);
  struct lsp_waiting *queue = calloc(LSP_MOST_WAITING, sizeof *queue);
  int status = EXIT_DONE;
  if (!server || !queue) {
    status = complain(EXIT_IO, "out of memory");
  } else {
    server->wire = (struct lsp_wire){.in = STDIN_FILENO, .out = STDOUT_FILENO};
    server->queue = queue;
    server->published = json_object();
    serve(server);
    status = server->shut_down ? EXIT_DONE : EXIT_SOURCE;
    while (server->document_count)
      document_close(server->documents[0]);
    while (server->first < server->count)
      json_decref(server->queue[server->first++].message);
    json_decref(server->published);
    wire_close(&server->wire);
  }
  free(queue);
  free(server);
  return status;
}
