/* Diagnostics for editors, and the edits that they offer. */
#include <stdlib.h>

#include "driver/lsp/document.h"

enum { SEVERITY_IS_ERROR = 1, SEVERITY_IS_WARNING = 2, TAG_UNNECESSARY = 1 };

/* True for a file with only defs, for `use`, which needs no input. */
static bool is_idle(const struct lsp_document *d,
                    const struct netc_diagnostic *diagnostic) {
  struct netc_name name = {.size = sizeof name};
  if (strcmp(diagnostic->slug, "no-input") != 0 || netc_layer_count(d->check))
    return false;
  for (size_t i = 0; netc_name_at(d->check, i, &name) == NETC_OK; i++)
    if (name.kind == NETC_NAME_DEF && document_has(d, &name.place))
      return true;
  return false;
}

static struct slice base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slice_of(slash ? slash + 1 : path);
}

/* Finds the `use` of that file, else the first `use`; false: there is none. */
static bool find_use(const struct lsp_document *d, const char *file,
                     struct netc_place *place) {
  struct netc_token token = {.size = sizeof token};
  struct slice name = base_name(file);
  bool used = false, found = false;
  const char *text = d->text.at + d->text.mark;
  for (size_t i = 0; netc_token(d->check, 0, i, &token) == NETC_OK; i++) {
    struct slice word = {text + token.place.begin,
                         token.place.end - token.place.begin};
    bool path = used && token.kind == NETC_TOKEN_STRING;
    used = token.kind == NETC_TOKEN_KEYWORD && slice_is(word, "use");
    if (!path || word.length < 2)
      continue;
    if (!found)
      *place = token.place;
    found = true;
    word.length--; /* drops the quote */
    if (word.length > name.length && memcmp(word.at + word.length - name.length,
                                            name.at, name.length) == 0) {
      *place = token.place;
      break;
    }
  }
  return found;
}

static void put_lines(struct bytes *out, const char *before,
                      const char *const *lines, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bytes_sink(out, before, strlen(before));
    bytes_sink(out, lines[i], strlen(lines[i]));
  }
}

static json_t *message_of(const struct netc_diagnostic *diagnostic,
                          bool elsewhere) {
  struct bytes text = {0};
  if (elsewhere) {
    char place[64];
    struct slice name = base_name(diagnostic->place.file);
    snprintf(place, sizeof place, ":%u:%u: ", (unsigned)diagnostic->place.line,
             (unsigned)diagnostic->place.column);
    bytes_sink(&text, name.at, name.length);
    bytes_sink(&text, place, strlen(place));
  }
  bytes_sink(&text, diagnostic->message, strlen(diagnostic->message));
  if (*diagnostic->here)
    put_lines(&text, "\n", &diagnostic->here, 1);
  put_lines(&text, "\nnote: ", diagnostic->notes, diagnostic->note_count);
  put_lines(&text, "\nhelp: ", diagnostic->help, diagnostic->help_count);
  json_t *message =
      lsp_string((struct slice){text.at ? text.at : "", text.length});
  bytes_free(&text);
  return message;
}

static void put_related(struct lsp_document *d, json_t *all,
                        const struct netc_place *place, const char *text) {
  json_t *location = document_location(d, place);
  if (location)
    json_array_append_new(all,
                          json_pack("{s:o, s:o}", "location", location,
                                    "message", lsp_string(slice_of(text))));
}

/* Takes ownership of `range` and `related`. */
static json_t *make_diagnostic(const struct netc_diagnostic *diagnostic,
                               json_t *range, json_t *related, bool elsewhere) {
  bool error = diagnostic->severity == NETC_SEVERITY_ERROR;
  json_t *made = json_pack(
      "{s:o, s:i, s:s, s:s, s:o}", "range", range, "severity",
      error ? SEVERITY_IS_ERROR : SEVERITY_IS_WARNING, "code", diagnostic->slug,
      "source", "netc", "message", message_of(diagnostic, elsewhere));
  if (json_array_size(related))
    json_object_set(made, "relatedInformation", related);
  if (strncmp(diagnostic->slug, "unused-", 7) == 0)
    json_object_set_new(made, "tags", json_pack("[i]", TAG_UNNECESSARY));
  json_decref(related);
  return made;
}

static void put_labels(struct lsp_document *d, json_t *related,
                       const struct netc_diagnostic *diagnostic) {
  for (size_t i = 0; i < diagnostic->label_count; i++)
    put_related(d, related, &diagnostic->labels[i].place,
                diagnostic->labels[i].text);
}

/* In the document itself; one of another file is at its `use`. */
static json_t *diagnostic_of(struct lsp_document *d,
                             const struct netc_diagnostic *diagnostic) {
  bool here = document_has(d, &diagnostic->place);
  struct netc_place place = diagnostic->place;
  if (!here && !find_use(d, place.file, &place))
    place.begin = place.end = 0;
  json_t *related = json_array();
  if (!here)
    put_related(d, related, &diagnostic->place, "see here");
  put_labels(d, related, diagnostic);
  return make_diagnostic(diagnostic, document_range(d, place.begin, place.end),
                         related, !here);
}

/* Adds it to the file that the document uses. */
static void put_elsewhere(struct lsp_document *d,
                          const struct netc_diagnostic *diagnostic) {
  json_t *location = document_location(d, &diagnostic->place);
  const char *uri = json_string_value(json_object_get(location, "uri"));
  struct netc_place use;
  if (uri) {
    json_t *related = json_array();
    put_labels(d, related, diagnostic);
    if (find_use(d, diagnostic->place.file, &use))
      put_related(d, related, &use, "used here");
    if (!json_object_get(d->elsewhere, uri))
      json_object_set_new(d->elsewhere, uri, json_array());
    json_array_append_new(
        json_object_get(d->elsewhere, uri),
        make_diagnostic(diagnostic,
                        json_incref(json_object_get(location, "range")),
                        related, false));
  }
  json_decref(location);
}

/* Publishing */

void document_publish(struct lsp_document *d) {
  struct netc_diagnostic diagnostic = {.size = sizeof diagnostic};
  document_unpublish(d);
  d->own = json_array();
  d->elsewhere = json_object();
  for (size_t i = 0; netc_diagnostic(d->check, i, &diagnostic) == NETC_OK;
       i++) {
    if (is_idle(d, &diagnostic))
      continue;
    json_array_append_new(d->own, diagnostic_of(d, &diagnostic));
    if (!document_has(d, &diagnostic.place))
      put_elsewhere(d, &diagnostic);
  }
  if (d->status != NETC_OK && d->status != NETC_ERROR)
    lsp_complain(d->server, "%s: %s", d->path,
                 d->status == NETC_NO_MEMORY ? "out of memory"
                                             : netc_message(d->check));
  json_object_del(d->server->published, d->uri); /* to send the version */
  lsp_publish(d->server);
}

void document_unpublish(struct lsp_document *d) {
  json_decref(d->own);
  json_decref(d->elsewhere);
  d->own = d->elsewhere = NULL;
}

/* True if another net that uses the file has the same diagnostic. */
static bool is_said(const json_t *all, const json_t *one) {
  const json_t *other;
  size_t i;
  json_array_foreach(
      all, i, other) if (json_equal(json_object_get(other, "range"),
                                    json_object_get(one, "range")) &&
                         json_equal(json_object_get(other, "code"),
                                    json_object_get(one, "code"))) return true;
  return false;
}

/* Adds diagnostics in used files to those of the files themselves. */
static void put_used(struct lsp_document *d, json_t *now) {
  const char *uri;
  json_t *found, *one;
  size_t i;
  json_object_foreach(d->elsewhere, uri, found) {
    const struct lsp_document *other = document_find(d->server, uri);
    if (other && other->dirty)
      continue;
    if (!json_object_get(now, uri))
      json_object_set_new(now, uri, json_array());
    json_t *all = json_object_get(now, uri);
    json_array_foreach(found, i, one) if (!is_said(all, one))
        json_array_append(all, one);
  }
}

static void send_diagnostics(struct lsp_server *server, const char *uri,
                             json_t *all) {
  const struct lsp_document *d = document_find(server, uri);
  json_t *params = json_pack("{s:s}", "uri", uri);
  if (d)
    json_object_set_new(params, "version", json_integer(d->version));
  json_object_set(params, "diagnostics", all);
  lsp_notify(server, "textDocument/publishDiagnostics", params);
}

/* Publishes changes; documents not compiled yet keep their diagnostics. */
void lsp_publish(struct lsp_server *server) {
  json_t *now = json_object(), *none = json_array(), *all;
  const char *uri;
  void *next;
  for (size_t i = 0; i < server->document_count; i++)
    if (server->documents[i]->own && !server->documents[i]->dirty)
      json_object_set_new(now, server->documents[i]->uri,
                          json_copy(server->documents[i]->own));
  for (size_t i = 0; i < server->document_count; i++)
    if (!server->documents[i]->dirty)
      put_used(server->documents[i], now);
  json_object_foreach(now, uri, all) {
    if (json_equal(json_object_get(server->published, uri), all))
      continue;
    send_diagnostics(server, uri, all);
    json_object_set(server->published, uri, all);
  }
  json_object_foreach_safe(server->published, next, uri, all) {
    const struct lsp_document *d = document_find(server, uri);
    if (json_object_get(now, uri) || (d && d->dirty))
      continue;
    if (json_array_size(all) || !d)
      send_diagnostics(server, uri, none);
    json_object_del(server->published, uri);
  }
  json_decref(none);
  json_decref(now);
}

/* Edits */

/* Adds an edit to those of its document. */
static void put_edit(struct lsp_document *d, json_t *by_uri,
                     const struct netc_fixit *fixit) {
  json_t *location = document_location(d, &fixit->place);
  const char *uri = json_string_value(json_object_get(location, "uri"));
  if (!uri)
    return;
  if (!json_object_get(by_uri, uri))
    json_object_set_new(by_uri, uri, json_array());
  json_array_append_new(json_object_get(by_uri, uri),
                        json_pack("{s:O, s:o}", "range",
                                  json_object_get(location, "range"), "newText",
                                  lsp_string(slice_of(fixit->text))));
  json_decref(location);
}

json_t *workspace_edit(struct lsp_server *server, json_t *by_uri) {
  const char *uri;
  json_t *edits;
  if (!server->versions)
    return json_pack("{s:o}", "changes", by_uri);
  json_t *all = json_array();
  json_object_foreach(by_uri, uri, edits) {
    const struct lsp_document *d = document_find(server, uri);
    json_array_append_new(
        all,
        json_pack("{s:{s:s, s:o}, s:O}", "textDocument", "uri", uri, "version",
                  d ? json_integer(d->version) : json_null(), "edits", edits));
  }
  json_decref(by_uri);
  return json_pack("{s:o}", "documentChanges", all);
}

static void title_of(const struct netc_diagnostic *diagnostic, char *title,
                     size_t room) {
  const char *text = diagnostic->fixits[0].text;
  size_t length = strcspn(text, "\n");
  size_t shown = length < 60 ? length : 60;
  while (shown > 0 && shown < length && (text[shown] & 0xC0) == 0x80)
    shown--; /* whole characters only */
  if (diagnostic->fixit_count > 1)
    snprintf(title, room, "netc: mend [%s]", diagnostic->slug);
  else if (length == 0)
    snprintf(title, room, "netc: delete it [%s]", diagnostic->slug);
  else
    snprintf(title, room, "netc: write `%.*s`%s [%s]", (int)shown, text,
             text[shown] ? ".." : "", diagnostic->slug);
}

static bool wants(const json_t *params, const char *kind) {
  const json_t *only =
      json_object_get(json_object_get(params, "context"), "only");
  const json_t *word;
  size_t i;
  if (!json_is_array(only))
    return true;
  json_array_foreach(only, i, word) {
    const char *text = json_string_value(word);
    size_t length = text ? strlen(text) : 0;
    if (text && strncmp(kind, text, length) == 0 &&
        (kind[length] == '\0' || kind[length] == '.'))
      return true;
  }
  return false;
}

static json_t *action_for(struct lsp_document *d,
                          const struct netc_diagnostic *diagnostic) {
  char title[200];
  json_t *edits = json_object();
  title_of(diagnostic, title, sizeof title);
  for (size_t i = 0; i < diagnostic->fixit_count; i++)
    put_edit(d, edits, &diagnostic->fixits[i]);
  return json_pack("{s:o, s:s, s:[o], s:b, s:o}", "title",
                   lsp_string(slice_of(title)), "kind", "quickfix",
                   "diagnostics", diagnostic_of(d, diagnostic), "isPreferred",
                   1, "edit", workspace_edit(d->server, edits));
}

/* Collects all edits; of two that overlap, the first. */
static json_t *fix_all(struct lsp_document *d) {
  struct netc_diagnostic diagnostic = {.size = sizeof diagnostic};
  struct netc_place taken[200];
  size_t count = 0;
  json_t *edits = json_object();
  for (size_t i = 0; netc_diagnostic(d->check, i, &diagnostic) == NETC_OK; i++)
    for (size_t k = 0; k < diagnostic.fixit_count; k++) {
      const struct netc_fixit *fixit = &diagnostic.fixits[k];
      bool free = count < sizeof taken / sizeof *taken;
      for (size_t t = 0; t < count && free; t++)
        free = strcmp(taken[t].file, fixit->place.file) != 0 ||
               taken[t].end < fixit->place.begin ||
               fixit->place.end < taken[t].begin;
      if (!free)
        continue;
      taken[count++] = fixit->place;
      put_edit(d, edits, fixit);
    }
  return workspace_edit(d->server, edits);
}

json_t *lsp_actions(struct lsp_server *server, const json_t *params,
                    struct lsp_error *error) {
  struct lsp_document *d = document_asked(server, params, error);
  struct netc_diagnostic diagnostic = {.size = sizeof diagnostic};
  const json_t *range = json_object_get(params, "range");
  bool mends = false;
  if (!d)
    return NULL;
  size_t begin = lsp_text_byte_at(&d->text, server->encoding,
                                  json_object_get(range, "start"));
  size_t end = lsp_text_byte_at(&d->text, server->encoding,
                                json_object_get(range, "end"));
  json_t *all = json_array();
  for (size_t i = 0; netc_diagnostic(d->check, i, &diagnostic) == NETC_OK;
       i++) {
    if (!diagnostic.fixit_count)
      continue;
    mends = true;
    if (document_has(d, &diagnostic.place) && wants(params, "quickfix") &&
        diagnostic.place.begin + d->text.mark <= end &&
        diagnostic.place.end + d->text.mark >= begin)
      json_array_append_new(all, action_for(d, &diagnostic));
  }
  if (mends && wants(params, "source.fixAll"))
    json_array_append_new(all, json_pack("{s:s, s:s, s:o}", "title",
                                         "netc: mend all", "kind",
                                         "source.fixAll", "edit", fix_all(d)));
  return all;
}
