/* Hover: the meaning of a word, and a layer's row with its formulas. */
#include "driver/lsp/document.h"
#include "driver/lsp/shown.h"

static json_t *contents(const struct lsp_server *server, const char *words,
                        const char *rows) {
  struct bytes all = {0};
  lsp_put(&all, "%s", words);
  if (*rows)
    lsp_put(&all,
            server->plain ? "%s"
            : *words      ? "\n```text\n%s```\n"
                          : "```text\n%s```\n",
            rows);
  return json_pack("{s:s, s:o}", "kind",
                   server->plain ? "plaintext" : "markdown", "value",
                   lsp_take(&all));
}

json_t *lsp_hover(struct lsp_server *server, const json_t *params,
                  struct lsp_error *error) {
  size_t byte;
  struct lsp_document *d = document_pointed(server, params, &byte, error);
  struct netc_token token = {.size = sizeof token};
  struct netc_hover word = {.size = sizeof word}, rows = word;
  if (!d)
    return NULL;
  struct netc *full = document_full(d, error);
  if (error->code)
    return NULL;
  if (netc_hover(d->check, 0, byte, &word) != NETC_OK ||
      netc_hover(full ? full : d->check, 0, byte, &rows) != NETC_OK ||
      (!*word.words && !*rows.rows))
    return json_null();
  json_t *result =
      json_pack("{s:o}", "contents", contents(server, word.words, rows.rows));
  if (word.token >= 0 &&
      netc_token(d->check, 0, (size_t)word.token, &token) == NETC_OK)
    json_object_set_new(result, "range",
                        document_range(d, token.place.begin, token.place.end));
  return result;
}
