/* Places: of requests in a text, of the library in other files; URIs. */
#include <stdlib.h>

#include "driver/lsp/document.h"

/* The library counts bytes after a byte order mark. */
static size_t byte_at(const struct lsp_document *d, const json_t *position) {
  size_t byte = lsp_text_byte_at(&d->text, d->server->encoding, position);
  return byte > d->text.mark ? byte - d->text.mark : 0;
}

static bool is_count(const json_t *number) {
  return json_is_integer(number) && json_integer_value(number) >= 0;
}

struct lsp_document *document_pointed(struct lsp_server *server,
                                      const json_t *params, size_t *byte,
                                      struct lsp_error *error) {
  const json_t *position = json_object_get(params, "position");
  struct lsp_document *d = document_asked(server, params, error);
  if (!d)
    return NULL;
  if (!is_count(json_object_get(position, "line")) ||
      !is_count(json_object_get(position, "character"))) {
    lsp_fail(error, LSP_INVALID_PARAMS,
             "a position needs a line and a character");
    return NULL;
  }
  *byte = byte_at(d, position);
  return d;
}

static json_t *range_in(const struct lsp_text *text, enum lsp_encoding encoding,
                        size_t begin, size_t end) {
  return lsp_text_range(text, encoding, begin + text->mark, end + text->mark);
}

json_t *document_range(const struct lsp_document *d, size_t begin, size_t end) {
  return range_in(&d->text, d->server->encoding, begin, end);
}

bool document_has(const struct lsp_document *d,
                  const struct netc_place *place) {
  return strcmp(place->file, d->path) == 0;
}

/* The text of another source of its net as it was read; NULL: unknown. */
static const struct lsp_text *used_text(struct lsp_document *d,
                                        const char *file) {
  const char *path;
  size_t i = 0, length;
  while ((path = netc_source(d->check, i)) && strcmp(path, file) != 0)
    i++;
  const char *at = path ? netc_source_text(d->check, i, &length) : NULL;
  if (!at)
    return NULL;
  if (i >= d->used_count) {
    struct lsp_text *used = realloc(d->used, (i + 1) * sizeof *used);
    if (!used)
      return NULL;
    d->used = used;
    while (d->used_count <= i)
      d->used[d->used_count++] = (struct lsp_text){0};
  }
  if (!d->used[i].at && !lsp_text_take(&d->used[i], (struct slice){at, length}))
    return NULL;
  return &d->used[i];
}

/* URIs: RFC 3986 */

static bool is_plain(char c) {
  return is_word_byte(c) || (c && strchr("-.~/", c));
}

static char *uri_of_path(const char *path) {
  static const char digits[] = "0123456789ABCDEF";
  size_t length = strlen(path), used = 0;
  char *uri = malloc(3 * length + sizeof "file:///");
  if (!uri)
    return NULL;
  if (strstr(path, "://") || strncmp(path, "untitled:", 9) == 0) {
    memcpy(uri, path, length + 1); /* a document that is not a file */
    return uri;
  }
  memcpy(uri, "file://", 7);
  used = 7;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)path[i];
    if (is_plain(path[i])) {
      uri[used++] = path[i];
    } else {
      uri[used++] = '%';
      uri[used++] = digits[c >> 4];
      uri[used++] = digits[c & 15];
    }
  }
  uri[used] = '\0';
  return uri;
}

json_t *document_location(struct lsp_document *d,
                          const struct netc_place *place) {
  struct lsp_document *other =
      document_has(d, place) ? d : document_of_path(d->server, place->file);
  const struct lsp_text *text =
      other ? &other->text : used_text(d, place->file);
  char *uri = other ? NULL : uri_of_path(place->file);
  json_t *location = NULL;
  if (text && (other || uri))
    location = json_pack(
        "{s:o, s:o}", "uri", json_string(other ? other->uri : uri), "range",
        range_in(text, d->server->encoding, place->begin, place->end));
  free(uri);
  return location;
}

static int digit_of(char c) {
  return is_digit(c)            ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

char *path_of_uri(const char *uri) {
  size_t length = strlen(uri), used = 0;
  char *path = malloc(length + 1);
  if (!path)
    return NULL;
  const char *at = uri;
  if (strncmp(uri, "file://", 7) != 0) {
    memcpy(path, uri, length + 1);
    return path;
  }
  at += 7;
  at += strcspn(at, "/"); /* any host is taken for this one */
  while (*at) {
    int high = *at == '%' ? digit_of(at[1]) : -1;
    int low = high < 0 ? -1 : digit_of(at[2]);
    bool code = low >= 0 && high + low > 0;
    path[used++] = code ? (char)(high << 4 | low) : *at;
    at += code ? 3 : 1;
  }
  path[used] = '\0';
  return path;
}
