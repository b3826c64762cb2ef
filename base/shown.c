/* Shown: makes foreign text safe for a terminal. */
#include "base/shown.h"

#include <stdio.h>

#include "base/utf8.h"

bool shown_is_hidden(uint32_t point) {
  static const uint32_t ranges[][2] = {
      {0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
      {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
      {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE007F}};
  if (point >= ' ' && point <= '~')
    return false; /* fast path */
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (point >= ranges[i][0] && point <= ranges[i][1])
      return true;
  return false;
}

/* Terminals may misinterpret bytes that are not UTF-8. */
static bool is_harmless(const char *at, size_t length) {
  return length && !shown_is_hidden(utf8_code_point(at, length));
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
      text_bytes(out, at, length);
    } else {
      text_put(out, "\xEF\xBF\xBD");
    }
    i += length ? length : 1;
  }
  return column;
}

void shown_format(char *to, size_t room, struct arena *arena,
                  const char *format, va_list args) {
  struct text raw = text_new(arena), shown = text_new(arena);
  text_vprintf(&raw, format, args);
  shown_put(&shown, text_slice(&raw), 0);
  snprintf(to, room, "%.*s", SLICE_ARG(shown));
}
