/* Inlay hints: shapes at line ends. Code lenses: costs and memory of a net. */
#include "driver/lsp/document.h"
#include "driver/lsp/shown.h"

json_t *lsp_inlay_hints(struct lsp_server *server, const json_t *params,
                        struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  struct netc_hint hint = {.size = sizeof hint};
  const json_t *range = json_object_get(params, "range");
  size_t begin = 0, end = SIZE_MAX;
  if (!d)
    return NULL;
  if (range) {
    begin = lsp_text_byte_at(&d->text, server->encoding,
                             json_object_get(range, "start"));
    end = lsp_text_byte_at(&d->text, server->encoding,
                           json_object_get(range, "end"));
  }
  json_t *all = json_array();
  for (size_t i = 0; netc_hint(d->check, 0, i, &hint) == NETC_OK; i++) {
    size_t byte = hint.byte + d->text.mark;
    struct bytes label = {0};
    if (byte < begin || byte > end)
      continue;
    lsp_put(&label, "-> %s%s", hint.recalled ? "~" : "", hint.shape);
    json_t *made =
        json_pack("{s:o, s:o, s:b}", "position",
                  lsp_text_position(&d->text, server->encoding, byte), "label",
                  lsp_take(&label), "paddingLeft", 1);
    if (hint.recalled)
      json_object_set_new(made, "tooltip",
                          json_string("what it was before the error"));
    json_array_append_new(all, made);
  }
  return all;
}

/* Code lenses */

static json_t *lens_at(const struct lsp_document *d, size_t byte,
                       struct bytes *title) {
  return json_pack("{s:o, s:{s:o, s:s}}", "range",
                   document_range(d, byte, byte), "command", "title",
                   lsp_take(title), "command", "");
}

/* The place of the first token that is no comment. */
static size_t first_line(const struct lsp_document *d) {
  struct netc_token token = {.size = sizeof token};
  for (size_t i = 0; netc_token(d->check, 0, i, &token) == NETC_OK; i++)
    if (token.kind != NETC_TOKEN_COMMENT)
      return token.place.begin;
  return 0;
}

static void put_training(struct bytes *title, struct netc *netc) {
  struct netc_training training = {.size = sizeof training};
  struct netc_inference inference = {.size = sizeof inference};
  struct netc_answer answer = {.size = sizeof answer};
  if (netc_training(netc, &training) == NETC_OK)
    lsp_put(title, "training %s (batch %lld, %s)",
            size_text(training.peak_bytes, UNITS_IEC).text,
            (long long)training.batch, training.optimizer);
  if (netc_answer(netc, false, &answer) == NETC_OK && answer.on_device)
    lsp_put(title, ", %s", answer.verdict);
  if (netc_inference(netc, &inference) == NETC_OK)
    lsp_put(title, " · inference %s",
            size_text(inference.weight_bytes + inference.arena_bytes, UNITS_IEC)
                .text);
}

json_t *lsp_code_lenses(struct lsp_server *server, const json_t *params,
                        struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  struct netc_totals totals = {.size = sizeof totals};
  struct bytes counts = {0}, memory = {0};
  struct netc *netc = d ? document_full(d, error) : NULL;
  if (error->code)
    return NULL;
  json_t *all = json_array();
  if (!netc || netc_totals(netc, &totals) != NETC_OK)
    return all; /* costs of a net with errors are unknown */
  size_t byte = first_line(d);
  lsp_put(&counts, "%s parameters · %s MACs",
          count_text(totals.param_count).text,
          count_text(totals.mac_count).text);
  put_training(&memory, netc);
  json_array_append_new(all, lens_at(d, byte, &counts));
  json_array_append_new(all, lens_at(d, byte, &memory));
  return all;
}
