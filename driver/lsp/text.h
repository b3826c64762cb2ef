/* Texts as the protocol sees them: lines, and positions in units of a code. */
#ifndef NETC_DRIVER_LSP_TEXT_H
#define NETC_DRIVER_LSP_TEXT_H

#include <jansson.h>

#include "base/slice.h"

/* What `character` of a position counts. */
enum lsp_encoding { LSP_UTF16, LSP_UTF8, LSP_UTF32 };

/* The encoding of that name; false: there is none. */
bool encoding_find(const char *name, enum lsp_encoding *encoding);
const char *encoding_name(enum lsp_encoding encoding);

/* A text and where its lines begin; lines end with \n, \r\n or \r. */
struct lsp_text {
  char *at; /* its own; with a NUL after it */
  size_t length;
  size_t mark; /* bytes of a byte order mark, which netc does not count */
  size_t *lines;
  size_t line_count;
};

/* Copies the text; false: no memory for it, and nothing has changed. */
bool lsp_text_take(struct lsp_text *text, struct slice bytes);
void lsp_text_drop(struct lsp_text *text);

/* Bytes and positions; what is past the end of a line or text is its end. */
size_t lsp_text_byte_at(const struct lsp_text *text, enum lsp_encoding encoding,
                        const json_t *position);
size_t lsp_text_line_of(const struct lsp_text *text, size_t byte);
size_t lsp_text_units(const char *at, size_t length,
                      enum lsp_encoding encoding);
json_t *lsp_text_position(const struct lsp_text *text,
                          enum lsp_encoding encoding, size_t byte);
json_t *lsp_text_range(const struct lsp_text *text, enum lsp_encoding encoding,
                       size_t begin, size_t end);

/* Puts `bytes` in the place of [begin, end). */
bool lsp_text_replace(struct lsp_text *text, size_t begin, size_t end,
                      struct slice bytes);

/* A string of JSON; what is no UTF-8 in it becomes U+FFFD. */
json_t *lsp_string(struct slice bytes);

#endif
