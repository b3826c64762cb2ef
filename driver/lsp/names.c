/* Names: definitions, references and renaming. */
#include <stdlib.h>

#include "driver/lsp/document.h"
#include "driver/lsp/mentions.h"

/* The name at a place; false: none. */
static bool name_asked(const struct lsp_document *d, size_t byte,
                       struct netc_token *token, struct netc_name *name) {
  *token = (struct netc_token){.size = sizeof *token};
  *name = (struct netc_name){.size = sizeof *name};
  int64_t at = netc_token_at(d->check, 0, byte);
  return at >= 0 && netc_token(d->check, 0, (size_t)at, token) == NETC_OK &&
         token->name >= 0 &&
         netc_name_at(d->check, (size_t)token->name, name) == NETC_OK;
}

/* The location of the start of a used file: `use "lib/x.net"`. */
static json_t *used_file(struct lsp_document *d,
                         const struct netc_token *token) {
  const char *text = d->text.at + d->text.mark, *path;
  struct slice word = {text + token->place.begin,
                       token->place.end - token->place.begin};
  if (token->kind != NETC_TOKEN_STRING || word.length < 3)
    return NULL;
  word = slice_less(slice_from(word, 1), 1);
  while (word.length > 2 && (memcmp(word.at, "./", 2) == 0)) {
    word = slice_from(word, 2);
  }
  for (size_t i = 1; (path = netc_source(d->check, i)); i++) {
    size_t length = strlen(path);
    struct netc_place place = {.file = path};
    if (length >= word.length &&
        memcmp(path + length - word.length, word.at, word.length) == 0)
      return document_location(d, &place);
  }
  return NULL;
}

json_t *lsp_definition(struct lsp_server *server, const json_t *params,
                       struct lsp_error *error) {
  size_t byte;
  struct lsp_document *d = document_pointed(server, params, &byte, error);
  struct netc_token token;
  struct netc_name name;
  json_t *location = NULL;
  if (!d)
    return NULL;
  if (name_asked(d, byte, &token, &name))
    location = document_location(d, &name.place);
  else if (token.place.file)
    location = used_file(d, &token);
  return location ? location : json_null();
}

json_t *lsp_references(struct lsp_server *server, const json_t *params,
                       struct lsp_error *error) {
  size_t byte;
  struct lsp_document *d = document_pointed(server, params, &byte, error);
  const json_t *context = json_object_get(params, "context");
  bool declared = json_is_true(json_object_get(context, "includeDeclaration"));
  struct netc_token token;
  struct netc_name name;
  struct lsp_mentions mentions = {0};
  if (!d)
    return NULL;
  json_t *all = json_array();
  if (name_asked(d, byte, &token, &name))
    mentions_find(d, &name, &mentions);
  for (size_t i = declared ? 0 : 1; i < mentions.count; i++) {
    json_t *location =
        document_location(mentions.at[i].document, &mentions.at[i].place);
    if (location)
      json_array_append_new(all, location);
  }
  mentions_free(&mentions);
  return all;
}

json_t *lsp_prepare_rename(struct lsp_server *server, const json_t *params,
                           struct lsp_error *error) {
  size_t byte;
  struct lsp_document *d = document_pointed(server, params, &byte, error);
  struct netc_token token;
  struct netc_name name;
  if (!d)
    return NULL;
  if (!name_asked(d, byte, &token, &name))
    return json_null();
  return json_pack("{s:o, s:s}", "range",
                   document_range(d, token.place.begin, token.place.end),
                   "placeholder", name.name);
}

static bool is_name(const char *word) {
  if (!word || !*word || is_digit(*word))
    return false;
  while (is_word_byte(*word))
    word++;
  return !*word;
}

static json_t *edits_of(const struct lsp_mentions *mentions,
                        const char *new_name) {
  json_t *by_uri = json_object();
  for (size_t i = 0; i < mentions->count; i++) {
    json_t *location =
        document_location(mentions->at[i].document, &mentions->at[i].place);
    const char *uri = json_string_value(json_object_get(location, "uri"));
    if (!uri)
      continue;
    if (!json_object_get(by_uri, uri))
      json_object_set_new(by_uri, uri, json_array());
    json_array_append_new(json_object_get(by_uri, uri),
                          json_pack("{s:O, s:s}", "range",
                                    json_object_get(location, "range"),
                                    "newText", new_name));
    json_decref(location);
  }
  return by_uri;
}

json_t *lsp_rename(struct lsp_server *server, const json_t *params,
                   struct lsp_error *error) {
  size_t byte;
  struct lsp_document *d = document_pointed(server, params, &byte, error);
  const char *word = json_string_value(json_object_get(params, "newName"));
  struct lsp_mentions mentions = {0};
  struct netc_token token;
  struct netc_name name;
  json_t *result = NULL;
  if (!d)
    return NULL;
  if (!name_asked(d, byte, &token, &name))
    return lsp_fail(error, LSP_FAILED, "there is no name here");
  if (!is_name(word))
    return lsp_fail(
        error, LSP_FAILED,
        "a name has letters, digits and _, and does not begin with a digit");
  mentions_find(d, &name, &mentions);
  if (mentions_may_become(&mentions, d, word, error))
    result = workspace_edit(server, edits_of(&mentions, word));
  mentions_free(&mentions);
  return result;
}
