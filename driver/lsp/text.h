/* Texts in the terms of the protocol: lines, and positions in code units. */
#ifndef NETC_DRIVER_LSP_TEXT_H
#define NETC_DRIVER_LSP_TEXT_H

#include <jansson.h>

#include "base/slice.h"

/* The unit of `character` in a position. */
enum lsp_encoding { LSP_UTF16, LSP_UTF8, LSP_UTF32 };

/* The encoding with that name; false: none. */
bool encoding_find(const char *name, enum lsp_encoding *encoding);
const char *encoding_name(enum lsp_encoding encoding);

/* A text and the starts of its lines, which end with \n, \r\n or \r. */
struct lsp_text {
  char *at; /* owned; a NUL follows */
  size_t length;
  size_t mark; /* bytes of a byte order mark, before the library's byte 0 */
  size_t *lines;
  size_t line_count;
};

/* Copies the text; false: out of memory, and nothing has changed. */
bool lsp_text_take(struct lsp_text *text, struct slice bytes);
void lsp_text_drop(struct lsp_text *text);

/* Bytes and positions; positions past the end of a line or text are at its
 * end. */
size_t lsp_text_byte_at(const struct lsp_text *text, enum lsp_encoding encoding,
                        const json_t *position);
size_t lsp_text_line_of(const struct lsp_text *text, size_t byte);
size_t lsp_text_units(const char *at, size_t length,
                      enum lsp_encoding encoding);
json_t *lsp_text_position(const struct lsp_text *text,
                          enum lsp_encoding encoding, size_t byte);
json_t *lsp_text_range(const struct lsp_text *text, enum lsp_encoding encoding,
                       size_t begin, size_t end);

/* Replaces [begin, end) by `bytes`. */
bool lsp_text_replace(struct lsp_text *text, size_t begin, size_t end,
                      struct slice bytes);

/* A JSON string; invalid UTF-8 becomes U+FFFD. */
json_t *lsp_string(struct slice bytes);

#endif
