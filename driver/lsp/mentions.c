/* All places of a name, and whether it can be renamed. */
#include "driver/lsp/mentions.h"

#include <stdlib.h>

static bool is_same(const struct netc_place *a, const struct netc_place *b) {
  return a->begin == b->begin && a->end == b->end &&
         strcmp(a->file, b->file) == 0;
}

static void put_mention(struct lsp_mentions *mentions, struct lsp_document *d,
                        const struct netc_place *place) {
  for (size_t i = 0; i < mentions->count; i++)
    if (is_same(&mentions->at[i].place, place))
      return;
  struct lsp_mention *at =
      realloc(mentions->at, (mentions->count + 1) * sizeof *at);
  if (!at)
    return;
  mentions->at = at;
  at[mentions->count++] = (struct lsp_mention){*place, d};
}

static void put_name(struct lsp_mentions *mentions, struct lsp_document *d,
                     const struct netc_name *name) {
  put_mention(mentions, d, &name->place);
  for (size_t i = 0; i < name->use_count; i++)
    put_mention(mentions, d, &name->uses[i]);
}

void mentions_find(struct lsp_document *d, const struct netc_name *name,
                   struct lsp_mentions *mentions) {
  const struct netc_place place = name->place;
  put_name(mentions, d, name);
  for (size_t i = 0; i < d->server->document_count; i++) {
    struct lsp_document *other = d->server->documents[i];
    struct netc_name found = {.size = sizeof found};
    if (other == d || !document_update(other))
      continue;
    for (size_t k = 0; netc_name_at(other->check, k, &found) == NETC_OK; k++)
      if (is_same(&found.place, &place))
        put_name(mentions, other, &found);
  }
}

void mentions_free(struct lsp_mentions *mentions) {
  free(mentions->at);
  *mentions = (struct lsp_mentions){0};
}

/* A trial of the new name */

struct renaming {
  const struct lsp_mentions *mentions;
  struct lsp_server *server;
  const char *word;
};

static int from_the_end(const void *a, const void *b) {
  const struct netc_place *x = a, *y = b;
  return (x->begin < y->begin) - (x->begin > y->begin);
}

/* Replaces the name in the text of that path. */
static bool put_word(const struct renaming *r, const char *path,
                     struct lsp_text *text) {
  struct netc_place *places = malloc((r->mentions->count + 1) * sizeof *places);
  size_t count = 0;
  bool put = places != NULL;
  for (size_t i = 0; put && i < r->mentions->count; i++)
    if (strcmp(r->mentions->at[i].place.file, path) == 0)
      places[count++] = r->mentions->at[i].place;
  if (count)
    qsort(places, count, sizeof *places, from_the_end);
  for (size_t i = 0; put && i < count; i++)
    put = lsp_text_replace(text, places[i].begin + text->mark,
                           places[i].end + text->mark, slice_of(r->word));
  free(places);
  return put;
}

static bool keep_piece(void *user, const char *bytes, size_t length) {
  return bytes_sink(user, bytes, length);
}

static enum netc_found read_renamed(void *user, const char *path,
                                    netc_sink_fn *sink, void *sink_user) {
  const struct renaming *r = user;
  struct bytes bytes = {0};
  struct lsp_text text = {0};
  enum netc_found found = document_read(r->server, path, keep_piece, &bytes);
  if (found == NETC_FOUND &&
      (!lsp_text_take(&text, (struct slice){bytes.at, bytes.length}) ||
       !put_word(r, path, &text) || !sink(sink_user, text.at, text.length)))
    found = NETC_UNREADABLE;
  lsp_text_drop(&text);
  bytes_free(&bytes);
  return found;
}

static const char *new_error(struct netc *before, struct netc *after) {
  struct netc_diagnostic d = {.size = sizeof d};
  size_t errors = 0;
  const char *last = NULL;
  for (size_t i = 0; netc_diagnostic(before, i, &d) == NETC_OK; i++)
    errors += d.severity == NETC_SEVERITY_ERROR;
  for (size_t i = 0; netc_diagnostic(after, i, &d) == NETC_OK; i++)
    if (d.severity == NETC_SEVERITY_ERROR) {
      last = errors ? last : d.message;
      errors -= errors > 0;
    }
  return last;
}

/* True if both nets have names with equal numbers of uses, in order. */
static bool are_used_alike(struct netc *before, struct netc *after) {
  struct netc_name a = {.size = sizeof a}, b = {.size = sizeof b};
  for (size_t i = 0;; i++) {
    bool more = netc_name_at(before, i, &a) == NETC_OK;
    if (more != (netc_name_at(after, i, &b) == NETC_OK))
      return false;
    if (!more)
      return true;
    if (a.kind != b.kind || a.use_count != b.use_count)
      return false;
  }
}

static bool may_become(struct renaming *r, struct lsp_document *d,
                       struct netc *netc, struct lsp_error *error) {
  struct lsp_text text = {0};
  netc_mode(netc, NETC_FOR_CHECK);
  netc_partial(netc, true);
  netc_on_read(netc, read_renamed, r);
  if (lsp_text_take(&text, (struct slice){d->text.at, d->text.length}) &&
      put_word(r, d->path, &text))
    netc_load_text(netc, d->path, text.at, text.length);
  lsp_text_drop(&text);
  const char *wrong = new_error(d->check, netc);
  if (wrong)
    lsp_fail(error, LSP_FAILED, "with that name: %s", wrong);
  else if (!are_used_alike(d->check, netc))
    lsp_fail(error, LSP_FAILED, "`%s` means something else here", r->word);
  return !error->code;
}

bool mentions_may_become(const struct lsp_mentions *mentions,
                         struct lsp_document *d, const char *word,
                         struct lsp_error *error) {
  struct renaming r = {mentions, d->server, word};
  for (size_t i = 0; i < d->server->document_count && !error->code; i++) {
    struct lsp_document *other = d->server->documents[i];
    bool has_it = other == d;
    for (size_t k = 0; k < mentions->count && !has_it; k++)
      has_it = mentions->at[k].document == other;
    struct netc *netc = has_it ? document_context(d->server) : NULL;
    if (has_it && !netc)
      lsp_fail(error, LSP_INTERNAL_ERROR, "out of memory");
    if (netc)
      may_become(&r, other, netc, error);
    netc_close(netc);
  }
  return !error->code;
}
