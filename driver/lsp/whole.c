/* Requests for a net as a whole: formatting, diagram and answer. */
#include "driver/lsp/document.h"
#include "driver/lsp/shown.h"

/* Formatting */

/* An edit of the lines that differ, so that the cursor keeps its place. */
static json_t *line_edit(const struct lsp_document *d, struct slice made) {
  const char *text = d->text.at + d->text.mark;
  size_t length = d->text.length - d->text.mark;
  size_t least = length < made.length ? length : made.length;
  size_t head = 0, tail = 0;
  while (head < least && text[head] == made.at[head])
    head++;
  while (head > 0 && text[head - 1] != '\n')
    head--;
  while (tail < least - head &&
         text[length - 1 - tail] == made.at[made.length - 1 - tail])
    tail++;
  while (tail > 0 &&
         ((length > tail && text[length - 1 - tail] != '\n') ||
          (made.length > tail && made.at[made.length - 1 - tail] != '\n')))
    tail--;
  struct slice rest = slice_less(slice_from(made, head), tail);
  return json_pack("[{s:o, s:o}]", "range",
                   document_range(d, head, length - tail), "newText",
                   lsp_string(rest));
}

json_t *lsp_formatting(struct lsp_server *server, const json_t *params,
                       struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  struct bytes made = {0};
  json_t *edits = NULL;
  if (!d)
    return NULL;
  struct slice text = {d->text.at + d->text.mark,
                       d->text.length - d->text.mark};
  if (netc_emit(d->check, "fmt", NULL, bytes_sink, &made) != NETC_OK)
    lsp_fail(error, LSP_FAILED, "a source with syntax errors is left as it is");
  else if (slice_equal(text, (struct slice){made.at, made.length}))
    edits = json_array();
  else
    edits = line_edit(d, (struct slice){made.at, made.length});
  bytes_free(&made);
  return edits;
}

/* The diagram */

static const char *first_error(const struct lsp_document *d) {
  struct netc_diagnostic diagnostic = {.size = sizeof diagnostic};
  for (size_t i = 0; netc_diagnostic(d->check, i, &diagnostic) == NETC_OK; i++)
    if (diagnostic.severity == NETC_SEVERITY_ERROR)
      return diagnostic.message;
  return "it has errors";
}

/* The options of a request: {"depth": 1, "direction": "right"}. */
static struct netc_options look_of(const json_t *params) {
  struct netc_options look = {.size = sizeof look};
  json_int_t depth = json_integer_value(json_object_get(params, "depth"));
  const char *direction =
      json_string_value(json_object_get(params, "direction"));
  if (depth > 0 && depth < 1000)
    look.depth = (int)depth;
  if (direction && strcmp(direction, "right") == 0)
    look.direction = NETC_RIGHT;
  return look;
}

static json_t *fail_emit(struct netc *netc, enum netc_status status,
                         const struct lsp_server *server,
                         struct lsp_error *error) {
  return lsp_fail(error,
                  status != NETC_STOPPED ? LSP_FAILED
                  : server->cancelled    ? LSP_CANCELLED
                                         : LSP_CONTENT_MODIFIED,
                  "no diagram: %s", netc_message(netc));
}

/* An output that is JSON; NULL: `*status` or `netc` says why. */
static json_t *emitted(struct netc *netc, const char *kind,
                       const struct netc_options *look,
                       enum netc_status *status) {
  struct bytes text = {0};
  *status = netc_emit(netc, kind, look, bytes_sink, &text);
  json_t *read =
      *status == NETC_OK ? json_loadb(text.at, text.length, 0, NULL) : NULL;
  bytes_free(&text);
  return read;
}

json_t *lsp_preview(struct lsp_server *server, const json_t *params,
                    struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  struct netc_options look = look_of(params);
  struct bytes svg = {0};
  json_t *result = NULL, *card = NULL;
  struct netc *netc = d ? document_full(d, error) : NULL;
  if (error->code)
    return NULL;
  if (!netc)
    return lsp_fail(error, LSP_FAILED, "no diagram: %s", first_error(d));
  look.source_labels = true; /* with links to the lines */
  enum netc_status status = netc_emit(netc, "svg", &look, bytes_sink, &svg);
  if (status == NETC_OK)
    card = emitted(netc, "txt.card", &look, &status);
  if (card)
    result =
        json_pack("{s:s, s:I, s:o, s:O}", "uri", d->uri, "version", d->version,
                  "svg", lsp_string((struct slice){svg.at, svg.length}), "card",
                  json_object_get(card, "html"));
  else
    fail_emit(netc, status, server, error);
  bytes_free(&svg);
  json_decref(card);
  return result;
}

json_t *lsp_view(struct lsp_server *server, const json_t *params,
                 struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  enum netc_status status;
  json_t *view = d ? emitted(d->check, "txt.view", NULL, &status) : NULL;
  if (d && !view)
    fail_emit(d->check, status, server, error);
  return view;
}
