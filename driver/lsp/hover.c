/* Hover: the row of a layer with its formulas; what a word means. */
#include <inttypes.h>

#include "driver/lsp/document.h"
#include "driver/lsp/shown.h"

enum { MOST_ROWS = 4 };

/* Rows */

/* A layer with its tail, as a row of the report has them. */
struct hover_row {
  struct netc_layer head, last;
  struct bytes written;
  int64_t param_count, mac_count, saved_bytes;
};

static bool find_row(struct netc *netc, int64_t index, struct hover_row *row) {
  struct netc_layer layer = {.size = sizeof layer};
  *row = (struct hover_row){.head = {.size = sizeof row->head}};
  if (netc_layer(netc, (size_t)index, &row->head) != NETC_OK)
    return false;
  for (size_t i = (size_t)index;
       netc_layer(netc, i, &layer) == NETC_OK && layer.head == index; i++) {
    lsp_put(&row->written, "%s%s", i > (size_t)index ? " " : "", layer.written);
    row->last = layer;
    row->param_count += layer.param_count;
    row->mac_count += layer.mac_count;
    row->saved_bytes += layer.saved_bytes;
  }
  return true;
}

static void put_ends(struct bytes *out, struct netc *netc,
                     const struct hover_row *row) {
  struct netc_layer input = {.size = sizeof input};
  for (size_t i = 0; i < row->head.input_count; i++) {
    lsp_put(out, "%s", i ? ", " : "");
    if (netc_layer(netc, (size_t)row->head.inputs[i], &input) == NETC_OK)
      lsp_put_shape(out, &input.out);
  }
  lsp_put(out, "%s-> ", row->head.input_count ? " " : "");
  lsp_put_shape(out, &row->last.out);
  lsp_put(out, "\n");
}

static void put_row(struct bytes *out, struct netc *netc, int64_t index) {
  const char *formulas = "";
  struct hover_row row;
  if (!find_row(netc, index, &row))
    return;
  lsp_put(out, "%s  %.*s\n", row.head.name, (int)row.written.length,
          row.written.at);
  put_ends(out, netc, &row);
  bytes_free(&row.written);
  if (row.head.param_count == NETC_UNKNOWN)
    return; /* of a net in error */
  if (row.param_count || row.mac_count)
    lsp_put(out, "%s parameters, %s MACs\n", count_text(row.param_count).text,
            count_text(row.mac_count).text);
  if (row.saved_bytes)
    lsp_put(out, "%s kept for backward\n",
            size_text(row.saved_bytes, UNITS_IEC).text);
  if (netc_layer_formulas(netc, (size_t)index, &formulas) == NETC_OK)
    lsp_put(out, "%s", formulas);
}

/* The rows of the layers that are written there, of a loop the first ones. */
static void put_rows(struct bytes *out, struct netc *netc, size_t byte) {
  struct netc_layer layer = {.size = sizeof layer};
  const int64_t *layers;
  size_t count = netc_layers_at(netc, 0, byte, &layers);
  for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
    lsp_put(out, "%s", i ? "\n" : "");
    if (netc_layer(netc, (size_t)layers[i], &layer) == NETC_OK)
      put_row(out, netc, layer.head);
  }
  if (count > MOST_ROWS)
    lsp_put(out, "\nand %zu more that are written here\n", count - MOST_ROWS);
}

/* Words */

static enum netc_status find_setting(struct slice word,
                                     struct netc_argument *argument) {
  struct netc_setting setting = {.size = sizeof setting};
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++)
    if (slice_is(word, setting.name))
      return netc_setting_argument(i, argument);
  return NETC_USAGE;
}

static void put_option(struct bytes *out, const struct lsp_document *d,
                       const struct netc_token *token) {
  struct netc_argument argument = {.size = sizeof argument};
  struct slice word = {d->text.at + d->text.mark + token->place.begin,
                       token->place.end - token->place.begin};
  enum netc_status found =
      token->argument < 0 ? find_setting(word, &argument)
      : token->layer_kind >= 0
          ? netc_layer_argument((size_t)token->layer_kind,
                                (size_t)token->argument, &argument)
          : netc_row_argument((size_t)token->argument, &argument);
  if (found == NETC_OK)
    lsp_put_argument(out, &argument);
}

static void put_word(struct bytes *out, struct lsp_document *d,
                     const struct netc_token *token) {
  struct netc_layer_kind kind = {.size = sizeof kind};
  struct netc_name name = {.size = sizeof name};
  if (token->kind == NETC_TOKEN_LAYER && token->layer_kind >= 0 &&
      netc_layer_kind((size_t)token->layer_kind, &kind) == NETC_OK)
    lsp_put(out, "%s: %s\n", kind.name, kind.summary);
  else if (token->kind == NETC_TOKEN_OPTION)
    put_option(out, d, token);
  else if (token->name >= 0 &&
           netc_name_at(d->check, (size_t)token->name, &name) == NETC_OK)
    lsp_put(out, "%s %s, line %u, used %zu time%s\n", lsp_name_word(name.kind),
            name.name, (unsigned)name.place.line, name.use_count,
            name.use_count == 1 ? "" : "s");
}

static json_t *contents(const struct lsp_server *server,
                        const struct bytes *words, const struct bytes *rows) {
  struct bytes all = {0};
  if (words->length)
    lsp_put(&all, "%.*s", (int)words->length, words->at);
  if (rows->length)
    lsp_put(&all,
            server->plain   ? "%s%.*s"
            : words->length ? "%s\n```text\n%.*s```\n"
                            : "%s```text\n%.*s```\n",
            "", (int)rows->length, rows->at);
  json_t *made = json_pack(
      "{s:s, s:o}", "kind", server->plain ? "plaintext" : "markdown", "value",
      lsp_string((struct slice){all.at ? all.at : "", all.length}));
  bytes_free(&all);
  return made;
}

json_t *lsp_hover(struct lsp_server *server, const json_t *params,
                  struct lsp_error *error) {
  size_t byte;
  struct lsp_document *d = document_pointed(server, params, &byte, error);
  struct netc_token token = {.size = sizeof token};
  struct bytes words = {0}, rows = {0};
  if (!d)
    return NULL;
  struct netc *full = document_full(d, error);
  if (error->code)
    return NULL;
  int64_t at = netc_token_at(d->check, 0, byte);
  if (at >= 0 && netc_token(d->check, 0, (size_t)at, &token) == NETC_OK)
    put_word(&words, d, &token);
  put_rows(&rows, full ? full : d->check, byte);
  json_t *result = json_null();
  if (words.length || rows.length) {
    result = json_pack("{s:o}", "contents", contents(server, &words, &rows));
    if (at >= 0)
      json_object_set_new(
          result, "range",
          document_range(d, token.place.begin, token.place.end));
  }
  bytes_free(&words);
  bytes_free(&rows);
  return result;
}
