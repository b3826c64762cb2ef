/* Shown: what others wrote, as a terminal may be given it. */
#include "base/shown.h"

#include "base/utf8.h"

static uint32_t code_point(const char *at, size_t length) {
  const unsigned char *s = (const unsigned char *)at;
  uint32_t value = length == 2 ? s[0] & 0x1Fu : length == 3 ? s[0] & 0xFu : 0;
  for (size_t i = 1; i < length && length < 4; i++)
    value = value << 6 | (s[i] & 0x3Fu);
  return value; /* those of four bytes are all harmless: 0 */
}

/* C1 controls, marks of direction, ends of lines and paragraphs. */
static bool is_hidden(uint32_t c) {
  return (c >= 0x80 && c <= 0x9F) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* Of bytes that are no UTF-8, terminals of old take some for C1 controls. */
static bool is_harmless(const char *at, size_t length) {
  unsigned char c = (unsigned char)*at;
  return length ? !is_hidden(code_point(at, length)) : c < 0x80 || c > 0x9F;
}

size_t shown_put(struct text *out, struct slice text, size_t tab) {
  size_t column = 0;
  for (size_t i = 0; i < text.length; column++) {
    const char *at = text.at + i;
    size_t length = utf8_length(at, text.length - i);
    unsigned char c = (unsigned char)*at;
    if (c == '\t' && tab) {
      size_t blanks = tab - column % tab;
      text_fill(out, ' ', blanks);
      column += blanks - 1;
    } else if (c < 0x20 || c == 0x7F) {
      text_putc(out, '?');
    } else if (is_harmless(at, length)) {
      text_bytes(out, at, length ? length : 1);
    } else {
      text_put(out, "\xEF\xBF\xBD");
    }
    i += length ? length : 1;
  }
  return column;
}
