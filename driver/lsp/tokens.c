/* Semantic tokens and folding ranges, from the tokens of a source. */
#include <stdlib.h>

#include "driver/lsp/document.h"

/* Semantic tokens */

enum { MODIFIER_DECLARATION = 1, MODIFIER_LIBRARY = 2 };

static const struct token_type {
  const char *name; /* the protocol's name; NULL: not sent */
  int modifiers;
} types[] = {
    [NETC_TOKEN_COMMENT] = {"comment", 0},
    [NETC_TOKEN_KEYWORD] = {"keyword", 0},
    [NETC_TOKEN_LAYER] = {"class", MODIFIER_LIBRARY},
    [NETC_TOKEN_OPTION] = {"property", 0},
    [NETC_TOKEN_FUNCTION] = {"method", MODIFIER_LIBRARY},
    [NETC_TOKEN_DEF] = {"function", 0},
    [NETC_TOKEN_LABEL] = {"variable", 0},
    [NETC_TOKEN_CONSTANT] = {"parameter", 0},
    [NETC_TOKEN_WORD] = {NULL, 0},
    [NETC_TOKEN_NUMBER] = {"number", 0},
    [NETC_TOKEN_STRING] = {"string", 0},
    [NETC_TOKEN_OPERATOR] = {"operator", 0},
};

json_t *lsp_token_legend(void) {
  json_t *names = json_array();
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    json_array_append_new(
        names, json_string(types[i].name ? types[i].name : "string"));
  return json_pack("{s:{s:o, s:[s, s]}, s:b}", "legend", "tokenTypes", names,
                   "tokenModifiers", "declaration", "defaultLibrary", "full",
                   1);
}

static void put_number(json_t *data, size_t number) {
  json_array_append_new(data, json_integer((json_int_t)number));
}

json_t *lsp_tokens(struct lsp_server *server, const json_t *params,
                   struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  struct netc_token token = {.size = sizeof token};
  size_t line = 0, last = 0; /* of the token before; `last`: its first byte */
  if (!d)
    return NULL;
  json_t *data = json_array();
  for (size_t i = 0; netc_token(d->check, 0, i, &token) == NETC_OK; i++) {
    const struct token_type *type = &types[token.kind];
    size_t begin = token.place.begin + d->text.mark;
    size_t length = token.place.end - token.place.begin;
    if (!type->name)
      continue;
    size_t now = lsp_text_line_of(&d->text, begin);
    if (now != line || i == 0)
      last = d->text.lines[now];
    put_number(data, now - line);
    put_number(data, lsp_text_units(d->text.at + last, begin - last,
                                    server->encoding));
    put_number(data,
               lsp_text_units(d->text.at + begin, length, server->encoding));
    put_number(data, (size_t)token.kind);
    put_number(data, (size_t)(type->modifiers |
                              (token.defines ? MODIFIER_DECLARATION : 0)));
    line = now;
    last = begin;
  }
  return json_pack("{s:o}", "data", data);
}

/* Folding */

enum { MOST_OPEN = 256 };

static void put_fold(json_t *all, size_t first, size_t last, const char *kind) {
  if (last <= first)
    return;
  json_t *fold = json_pack("{s:I, s:I}", "startLine", (json_int_t)first,
                           "endLine", (json_int_t)last);
  if (kind)
    json_object_set_new(fold, "kind", json_string(kind));
  json_array_append_new(all, fold);
}

/* Consecutive lines of comments. */
struct comment_lines {
  size_t first, next; /* next 0: none */
};

static void end_comments(json_t *all, struct comment_lines *lines) {
  if (lines->next)
    put_fold(all, lines->first, lines->next - 1, "comment");
  lines->next = 0;
}

json_t *lsp_folding(struct lsp_server *server, const json_t *params,
                    struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  struct netc_token token = {.size = sizeof token};
  struct comment_lines comments = {0, 0};
  size_t open[MOST_OPEN], depth = 0, last = SIZE_MAX;
  if (!d)
    return NULL;
  json_t *all = json_array();
  for (size_t i = 0; netc_token(d->check, 0, i, &token) == NETC_OK; i++) {
    size_t byte = token.place.begin + d->text.mark;
    size_t line = lsp_text_line_of(&d->text, byte);
    char first = d->text.at[byte];
    bool alone = token.kind == NETC_TOKEN_COMMENT && line != last;
    if (alone && comments.next == line) {
      comments.next = line + 1;
    } else {
      end_comments(all, &comments);
      if (alone)
        comments = (struct comment_lines){line, line + 1};
    }
    last = line;
    if (token.kind != NETC_TOKEN_OPERATOR)
      continue;
    if ((first == '{' || first == '[') && depth < MOST_OPEN)
      open[depth++] = line;
    else if ((first == '}' || first == ']') && depth > 0) {
      depth--; /* the line of the bracket stays visible */
      put_fold(all, open[depth], line > 0 ? line - 1 : 0, NULL);
    }
  }
  end_comments(all, &comments);
  return all;
}
