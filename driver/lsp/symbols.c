/* The outline: layers and definitions, nested by their braces. */
#include <stdlib.h>

#include "driver/lsp/document.h"
#include "driver/lsp/shown.h"
#include "driver/output.h"

/* The protocol's numbers. */
enum outline_kind {
  SYMBOL_NAMESPACE = 3,
  SYMBOL_FUNCTION = 12,
  SYMBOL_VARIABLE = 13,
  SYMBOL_CONSTANT = 14,
  SYMBOL_OBJECT = 19,
};

struct outline_row {
  size_t begin, end;           /* bytes of the whole statement, */
  size_t name_begin, name_end; /* and of its name */
  enum outline_kind kind;
  char *name;
  struct bytes detail;
};

struct outline {
  struct lsp_document *d;
  struct outline_row *at;
  size_t count;
};

static struct outline_row *add_symbol(struct outline *o, size_t begin,
                                      size_t end) {
  struct outline_row *at = realloc(o->at, (o->count + 1) * sizeof *at);
  if (!at)
    return NULL;
  o->at = at;
  at[o->count] = (struct outline_row){
      .begin = begin, .end = end, .name_begin = begin, .name_end = end};
  return &at[o->count++];
}

/* The end of a statement: of its line, or of its braces. */
static size_t statement_end(const struct outline *o, size_t token_index) {
  struct netc_token token = {.size = sizeof token};
  const char *text = o->d->text.at + o->d->text.mark;
  size_t end = 0, depth = 0;
  for (size_t i = token_index; netc_token(o->d->check, 0, i, &token) == NETC_OK;
       i++) {
    char first = text[token.place.begin];
    bool sign = token.kind == NETC_TOKEN_OPERATOR;
    if (end && depth == 0 &&
        ((sign && (first == ';' || first == '}')) ||
         memchr(text + end, '\n', token.place.begin - end)))
      break;
    if (token.kind == NETC_TOKEN_COMMENT)
      continue;
    depth += sign && (first == '{' || first == '[');
    depth -= depth && sign && (first == '}' || first == ']');
    end = token.place.end;
  }
  return end;
}

static void add_names(struct outline *o) {
  static const enum outline_kind kinds[] = {[NETC_NAME_LABEL] =
                                                SYMBOL_NAMESPACE,
                                            [NETC_NAME_DEF] = SYMBOL_FUNCTION,
                                            [NETC_NAME_PARAM] = SYMBOL_CONSTANT,
                                            [NETC_NAME_LET] = SYMBOL_VARIABLE,
                                            [NETC_NAME_ARGUMENT] = 0,
                                            [NETC_NAME_TURN] = 0};
  struct netc_token token = {.size = sizeof token};
  struct netc_name name = {.size = sizeof name};
  for (size_t i = 0; netc_token(o->d->check, 0, i, &token) == NETC_OK; i++) {
    if (!token.defines || token.name < 0 ||
        netc_name_at(o->d->check, (size_t)token.name, &name) != NETC_OK ||
        !kinds[name.kind])
      continue;
    struct outline_row *symbol =
        add_symbol(o, token.place.begin, statement_end(o, i));
    if (!symbol)
      return;
    symbol->name_end = token.place.end;
    symbol->kind = kinds[name.kind];
    symbol->name = path_copy(name.name, strlen(name.name), "");
  }
}

/* The label before a layer, whose statement it names. */
static struct outline_row *label_of(struct outline *o, size_t labels,
                                    size_t begin) {
  const char *text = o->d->text.at + o->d->text.mark;
  size_t at = begin;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == ':'))
    at--;
  for (size_t i = 0; i < labels && at < begin; i++)
    if (o->at[i].kind == SYMBOL_NAMESPACE && o->at[i].name_end == at)
      return &o->at[i];
  return NULL;
}

static int by_place(const void *a, const void *b) {
  const struct outline_row *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return (x->end < y->end) - (x->end > y->end);
}

/* Adds each layer once, even if loops and calls repeat it. */
static void add_layers(struct outline *o) {
  struct netc_layer layer = {.size = sizeof layer};
  size_t labels = o->count, seen = SIZE_MAX;
  for (size_t i = 0; netc_layer(o->d->check, i, &layer) == NETC_OK; i++) {
    if ((size_t)layer.head != i || strcmp(layer.op, "?") == 0 ||
        !document_has(o->d, &layer.place) || layer.place.begin == seen)
      continue;
    seen = layer.place.begin;
    struct outline_row *symbol = label_of(o, labels, layer.place.begin);
    const char *dot = strrchr(layer.name, '.');
    const char *name = dot ? dot + 1 : layer.name;
    if (!symbol) {
      symbol = add_symbol(o, layer.place.begin, layer.place.end);
      if (!symbol)
        return;
      symbol->name = path_copy(name, strlen(name), "");
    } else if (symbol->kind == SYMBOL_OBJECT) {
      continue;
    }
    symbol->kind = SYMBOL_OBJECT;
    if (symbol->end < layer.place.end)
      symbol->end = layer.place.end;
    if (symbol->detail.length == 0)
      lsp_put_shape(&symbol->detail, &layer.out);
  }
}

static void drop_symbol(struct outline_row *symbol) {
  free(symbol->name);
  bytes_free(&symbol->detail);
}

/* Keeps the first of several layers at one place. */
static void sort_symbols(struct outline *o) {
  size_t kept = 0;
  if (o->count)
    qsort(o->at, o->count, sizeof *o->at, by_place);
  for (size_t i = 0; i < o->count; i++)
    if (kept && o->at[kept - 1].begin == o->at[i].begin &&
        o->at[kept - 1].end == o->at[i].end)
      drop_symbol(&o->at[i]);
    else
      o->at[kept++] = o->at[i];
  o->count = kept;
}

static json_t *symbol_json(struct outline *o, struct outline_row *s) {
  const struct lsp_document *d = o->d;
  return json_pack("{s:o, s:i, s:o, s:o, s:o}", "name",
                   lsp_string(slice_of(s->name ? s->name : "")), "kind",
                   (int)s->kind, "detail", lsp_take(&s->detail), "range",
                   document_range(d, s->begin, s->end), "selectionRange",
                   document_range(d, s->name_begin, s->name_end));
}

/* Takes symbols from *next on that begin before `end`. */
static json_t *nest(struct outline *o, size_t *next, size_t end, int depth) {
  json_t *all = json_array();
  while (*next < o->count && o->at[*next].begin < end) {
    struct outline_row *symbol = &o->at[(*next)++];
    json_t *made = symbol_json(o, symbol);
    if (depth < 200 && *next < o->count && o->at[*next].begin < symbol->end)
      json_object_set_new(made, "children",
                          nest(o, next, symbol->end, depth + 1));
    json_array_append_new(all, made);
  }
  return all;
}

/* For clients without nested symbols. */
static json_t *flat(struct outline *o) {
  json_t *all = json_array();
  for (size_t i = 0; i < o->count; i++) {
    const struct outline_row *s = &o->at[i];
    json_array_append_new(
        all, json_pack("{s:o, s:i, s:{s:s, s:o}}", "name",
                       lsp_string(slice_of(s->name ? s->name : "")), "kind",
                       (int)s->kind, "location", "uri", o->d->uri, "range",
                       document_range(o->d, s->begin, s->end)));
  }
  return all;
}

json_t *lsp_symbols(struct lsp_server *server, const json_t *params,
                    struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  struct outline o = {.d = d};
  size_t next = 0;
  if (!d)
    return NULL;
  add_names(&o);
  add_layers(&o);
  sort_symbols(&o);
  json_t *all = server->nested ? nest(&o, &next, SIZE_MAX, 0) : flat(&o);
  for (size_t i = 0; i < o.count; i++)
    drop_symbol(&o.at[i]);
  free(o.at);
  return all;
}
