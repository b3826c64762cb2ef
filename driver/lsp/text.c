/* Texts in the terms of the protocol. */
#include "driver/lsp/text.h"

#include <stdlib.h>

#include "base/utf8.h"

static const char *const encodings[] = {
    [LSP_UTF16] = "utf-16", [LSP_UTF8] = "utf-8", [LSP_UTF32] = "utf-32"};

bool encoding_find(const char *name, enum lsp_encoding *encoding) {
  for (int i = 0; i <= LSP_UTF32; i++)
    if (strcmp(encodings[i], name) == 0) {
      *encoding = (enum lsp_encoding)i;
      return true;
    }
  return false;
}

const char *encoding_name(enum lsp_encoding encoding) {
  return encodings[encoding];
}

/* Texts */

static bool is_line_end(const char *at, size_t i, size_t length) {
  return at[i] == '\n' ||
         (at[i] == '\r' && (i + 1 == length || at[i + 1] != '\n'));
}

/* Takes ownership of `length` bytes from malloc, with a NUL after them. */
static bool adopt(struct lsp_text *text, char *at, size_t length) {
  size_t count = 1;
  for (size_t i = 0; i < length; i++)
    count += is_line_end(at, i, length);
  size_t *lines = malloc(count * sizeof *lines);
  if (!lines) {
    free(at);
    return false;
  }
  lsp_text_drop(text);
  bool marked = length >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0;
  *text = (struct lsp_text){at, length, marked ? 3 : 0, lines, 0};
  lines[text->line_count++] = 0;
  for (size_t i = 0; i < length; i++)
    if (is_line_end(at, i, length))
      lines[text->line_count++] = i + 1;
  return true;
}

bool lsp_text_take(struct lsp_text *text, struct slice bytes) {
  struct lsp_text none = {0};
  char *at = malloc(bytes.length + 1);
  if (!at)
    return false;
  if (bytes.length)
    memcpy(at, bytes.at, bytes.length);
  at[bytes.length] = '\0';
  if (!adopt(&none, at, bytes.length))
    return false;
  lsp_text_drop(text);
  *text = none;
  return true;
}

bool lsp_text_replace(struct lsp_text *text, size_t begin, size_t end,
                      struct slice bytes) {
  size_t rest = text->length - end;
  char *at = malloc(begin + bytes.length + rest + 1);
  if (!at)
    return false;
  memcpy(at, text->at, begin);
  if (bytes.length)
    memcpy(at + begin, bytes.at, bytes.length);
  memcpy(at + begin + bytes.length, text->at + end, rest + 1);
  return adopt(text, at, begin + bytes.length + rest);
}

void lsp_text_drop(struct lsp_text *text) {
  free(text->at);
  free(text->lines);
  *text = (struct lsp_text){0};
}

/* Positions */

/* The size of the character at a place, in bytes and in units. */
static size_t step(const char *at, size_t length, enum lsp_encoding encoding,
                   size_t *units) {
  size_t bytes = utf8_length(at, length);
  if (bytes == 0)
    bytes = 1; /* invalid: editors show one character */
  *units = encoding == LSP_UTF8                 ? bytes
           : encoding == LSP_UTF16 && bytes > 3 ? 2
                                                : 1;
  return bytes;
}

size_t lsp_text_units(const char *at, size_t length,
                      enum lsp_encoding encoding) {
  size_t all = 0, units;
  if (encoding == LSP_UTF8)
    return length;
  for (size_t i = 0; i < length; all += units)
    i += step(at + i, length - i, encoding, &units);
  return all;
}

/* The end of a line without its line break. */
static size_t line_end(const struct lsp_text *text, size_t line) {
  if (line + 1 >= text->line_count)
    return text->length;
  size_t end = text->lines[line + 1] - 1;
  if (end > text->lines[line] && text->at[end] == '\n' &&
      text->at[end - 1] == '\r')
    end--;
  return end;
}

static size_t byte_at(const struct lsp_text *text, enum lsp_encoding encoding,
                      size_t line, size_t character) {
  if (line >= text->line_count)
    return text->length;
  size_t at = text->lines[line], end = line_end(text, line), units;
  while (at < end) {
    size_t bytes = step(text->at + at, end - at, encoding, &units);
    if (units > character)
      break; /* the position is at or in this character */
    character -= units;
    at += bytes;
  }
  return at;
}

static size_t number_of(const json_t *object, const char *key) {
  json_int_t number = json_integer_value(json_object_get(object, key));
  return number < 0 ? 0 : (size_t)number;
}

size_t lsp_text_byte_at(const struct lsp_text *text, enum lsp_encoding encoding,
                        const json_t *position) {
  return byte_at(text, encoding, number_of(position, "line"),
                 number_of(position, "character"));
}

size_t lsp_text_line_of(const struct lsp_text *text, size_t byte) {
  size_t low = 0, high = text->line_count;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    *(text->lines[middle] <= byte ? &low : &high) = middle;
  }
  return low;
}

json_t *lsp_text_position(const struct lsp_text *text,
                          enum lsp_encoding encoding, size_t byte) {
  size_t at = byte < text->length ? byte : text->length;
  size_t line = lsp_text_line_of(text, at), end = line_end(text, line);
  size_t begin = text->lines[line];
  json_t *position = json_object();
  at = at < end ? at : end;
  json_object_set_new(position, "line", json_integer((json_int_t)line));
  json_object_set_new(position, "character",
                      json_integer((json_int_t)lsp_text_units(
                          text->at + begin, at - begin, encoding)));
  return position;
}

json_t *lsp_text_range(const struct lsp_text *text, enum lsp_encoding encoding,
                       size_t begin, size_t end) {
  json_t *range = json_object();
  json_object_set_new(range, "start", lsp_text_position(text, encoding, begin));
  json_object_set_new(range, "end", lsp_text_position(text, encoding, end));
  return range;
}

json_t *lsp_string(struct slice bytes) {
  json_t *string = json_stringn(bytes.at, bytes.length);
  if (string)
    return string;
  char *clean = malloc(3 * bytes.length + 1);
  size_t used = 0;
  for (size_t i = 0; clean && i < bytes.length;) {
    size_t length = utf8_length(bytes.at + i, bytes.length - i);
    memcpy(clean + used, length ? bytes.at + i : "\xEF\xBF\xBD",
           length ? length : 3);
    used += length ? length : 3;
    i += length ? length : 1;
  }
  string = clean ? json_stringn(clean, used) : NULL;
  free(clean);
  return string;
}
