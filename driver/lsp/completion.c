/* Completion of words at a place, and signatures of layers. */
#include "driver/lsp/document.h"
#include "driver/lsp/shown.h"

/* The protocol's number for a kind of token. */
static int item_kind(enum netc_token_kind kind) {
  switch (kind) {
  case NETC_TOKEN_KEYWORD: return 14;
  case NETC_TOKEN_LAYER: return 7;   /* class */
  case NETC_TOKEN_OPTION: return 10; /* property */
  case NETC_TOKEN_FUNCTION:
  case NETC_TOKEN_DEF: return 3;
  case NETC_TOKEN_LABEL: return 18; /* reference */
  case NETC_TOKEN_CONSTANT: return 21;
  default: return 1;
  }
}

/* Adds a string unless it is empty. */
static void put_string(json_t *object, const char *key, const char *string) {
  if (*string)
    json_object_set_new(object, key, lsp_string(slice_of(string)));
}

/* The start of the word that ends at the byte. */
static size_t word_begin(const struct lsp_document *d, size_t byte) {
  const char *text = d->text.at + d->text.mark;
  while (byte > 0 && is_word_byte(text[byte - 1]))
    byte--;
  return byte;
}

/* The end of the word, with its = if the choice includes one. */
static size_t word_end(const struct lsp_document *d, size_t byte,
                       const char *choice) {
  const char *text = d->text.at + d->text.mark;
  size_t end = d->text.length - d->text.mark;
  while (byte < end && is_word_byte(text[byte]))
    byte++;
  if (*choice && choice[strlen(choice) - 1] == '=' && byte < end &&
      text[byte] == '=')
    byte++;
  return byte;
}

static json_t *item_of(const struct lsp_document *d,
                       const struct netc_choice *choice, size_t number,
                       size_t byte) {
  char order[24];
  snprintf(order, sizeof order, "%06zu", number);
  json_t *item = json_pack(
      "{s:s, s:i, s:s, s:{s:o, s:s}}", "label", choice->text, "kind",
      item_kind(choice->kind), "sortText", order, "textEdit", "range",
      document_range(d, word_begin(d, byte), word_end(d, byte, choice->text)),
      "newText", choice->text);
  put_string(item, "detail", choice->detail);
  put_string(item, "documentation", choice->doc);
  return item;
}

json_t *lsp_completion(struct lsp_server *server, const json_t *params,
                       struct lsp_error *error) {
  size_t byte;
  struct lsp_document *d = document_pointed(server, params, &byte, error);
  struct netc_choice choice = {.size = sizeof choice};
  if (!d)
    return NULL;
  json_t *items = json_array();
  for (size_t i = 0; netc_choice(d->check, 0, byte, i, &choice) == NETC_OK; i++)
    json_array_append_new(items, item_of(d, &choice, i, byte));
  return json_pack("{s:b, s:o}", "isIncomplete", 0, "items", items);
}

/* Signatures */

/* A layer's statement from its word to the cursor. */
struct call_site {
  struct netc_token head; /* the layer or def */
  int64_t option;         /* the last before the cursor, or -1 */
  size_t values;          /* positional values */
  bool within;            /* the cursor touches the last value */
};

/* True if a line ends between two bytes, without a `\`. */
static bool breaks(const struct lsp_document *d, size_t begin, size_t end) {
  const char *text = d->text.at + d->text.mark;
  for (size_t i = begin; i < end; i++)
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\\'))
      return true;
  return false;
}

static bool begins_value(const struct netc_token *token, char first) {
  return token->kind == NETC_TOKEN_NUMBER ||
         token->kind == NETC_TOKEN_CONSTANT || token->kind == NETC_TOKEN_WORD ||
         token->kind == NETC_TOKEN_LABEL || first == '(' || first == '{';
}

/* Counts values that are separated by blanks: `3x3` is one. */
static void count_value(struct call_site *site, const struct netc_token *token,
                        char first, size_t last_end, bool keyed) {
  if (token->kind == NETC_TOKEN_OPTION)
    site->option = token->argument;
  else if (!keyed && token->place.begin > last_end &&
           begins_value(token, first)) {
    site->values++;
    site->option = -1;
  }
}

static bool find_call(const struct lsp_document *d, size_t byte,
                      struct call_site *site) {
  struct netc_token token = {.size = sizeof token};
  const char *text = d->text.at + d->text.mark;
  size_t last = 0;
  bool found = false, keyed = false;
  for (size_t i = 0; netc_token(d->check, 0, i, &token) == NETC_OK &&
                     token.place.begin < byte;
       i++) {
    char first = text[token.place.begin];
    if (breaks(d, last, token.place.begin) || first == ';' || first == '{' ||
        first == '}')
      found = false;
    if (token.kind == NETC_TOKEN_LAYER ||
        (token.kind == NETC_TOKEN_DEF && !token.defines)) {
      *site = (struct call_site){.head = token, .option = -1};
      found = true;
    } else if (found) {
      count_value(site, &token, first, last, keyed);
    }
    keyed = first == '=' || first == '/';
    last = token.place.end;
  }
  site->within = last >= byte;
  return found && !breaks(d, last, byte) && byte > site->head.place.end;
}

static json_t *parameter_of(size_t begin, size_t end,
                            const struct netc_argument *argument) {
  return json_pack("{s:[I, I], s:o}", "label", (json_int_t)begin,
                   (json_int_t)end, "documentation",
                   lsp_string(slice_of(argument->doc)));
}

/* The index of the value that is being written, or of the next one. */
static size_t value_index(const struct call_site *site) {
  return site->values - (site->values && site->within);
}

static void put_form(struct bytes *out, const struct netc_argument *argument) {
  char form[512];
  netc_argument_form(argument, form, sizeof form);
  lsp_put(out, "%s", form);
}

static json_t *signature_of_layer(const struct call_site *site) {
  struct netc_layer_kind kind = {.size = sizeof kind};
  struct netc_argument argument = {.size = sizeof argument};
  size_t number = (size_t)site->head.layer_kind, place = 0;
  json_int_t active = site->option;
  struct bytes label = {0};
  json_t *parameters = json_array();
  if (netc_layer_kind(number, &kind) != NETC_OK)
    return json_null();
  lsp_put(&label, "%s", kind.name);
  for (size_t i = 0; netc_layer_argument(number, i, &argument) == NETC_OK;
       i++) {
    lsp_put(&label, argument.required ? " " : " [");
    size_t begin = label.length;
    put_form(&label, &argument);
    json_array_append_new(parameters,
                          parameter_of(begin, label.length, &argument));
    if (!argument.required)
      lsp_put(&label, "]");
    if (argument.form != NETC_POSITION)
      continue;
    if (site->option < 0 && place++ <= value_index(site))
      active = (json_int_t)i;
  }
  json_t *signature =
      json_pack("{s:o, s:o, s:o}", "label", lsp_take(&label), "documentation",
                lsp_string(slice_of(kind.summary)), "parameters", parameters);
  return json_pack("{s:[o], s:i, s:I}", "signatures", signature,
                   "activeSignature", 0, "activeParameter",
                   active < 0 ? 0 : active);
}

/* A signature as in the definition: "block(c, s=1)". */
static json_t *signature_of_def(struct lsp_document *d,
                                const struct call_site *site) {
  struct netc_name name = {.size = sizeof name};
  size_t length, source = 0;
  const char *path;
  if (site->head.name < 0 ||
      netc_name_at(d->check, (size_t)site->head.name, &name) != NETC_OK)
    return json_null();
  while ((path = netc_source(d->check, source)) &&
         strcmp(path, name.place.file) != 0)
    source++;
  const char *text = netc_source_text(d->check, source, &length);
  if (!text)
    return json_null();
  size_t end = name.place.end;
  while (end < length && text[end] != '{' && text[end] != '\n')
    end++;
  while (end > name.place.end && text[end - 1] == ' ')
    end--;
  return json_pack("{s:[{s:o}], s:i, s:I}", "signatures", "label",
                   lsp_string((struct slice){text + name.place.begin,
                                             end - name.place.begin}),
                   "activeSignature", 0, "activeParameter",
                   (json_int_t)value_index(site));
}

json_t *lsp_signature(struct lsp_server *server, const json_t *params,
                      struct lsp_error *error) {
  size_t byte;
  struct lsp_document *d = document_pointed(server, params, &byte, error);
  struct call_site site = {.option = -1};
  if (!d)
    return NULL;
  if (!find_call(d, byte, &site))
    return json_null();
  return site.head.kind == NETC_TOKEN_DEF ? signature_of_def(d, &site)
                                          : signature_of_layer(&site);
}
