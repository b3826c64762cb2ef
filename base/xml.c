/* XML: text without characters that XML forbids, and escapes. */
#include "base/xml.h"

#include "base/shown.h"
#include "base/utf8.h"

static bool is_for_xml(struct slice c) {
  return !(c.length == 3 && memcmp(c.at, "\xEF\xBF", 2) == 0 &&
           (unsigned char)c.at[2] >= 0xBE); /* U+FFFE, U+FFFF */
}

/* Writes the first character of a text, or a replacement for it. */
static size_t put_clean(struct text *out, struct slice text) {
  size_t length = utf8_length(text.at, text.length);
  struct slice c = {text.at, length};
  if (length == 0 || !is_for_xml(c))
    text_put(out, "\xEF\xBF\xBD");
  else if (*c.at == '\n')
    text_putc(out, '\n');
  else
    shown_put(out, c, 0);
  return length ? length : 1;
}

void text_put_clean(struct text *out, struct slice text) {
  for (size_t i = 0; i < text.length;)
    i += put_clean(out, slice_from(text, i));
}

static const char *entity_of(char c) {
  switch (c) {
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '&': return "&amp;";
  case '"': return "&quot;";
  default: return NULL;
  }
}

void put_xml(struct text *out, struct slice text) {
  for (size_t i = 0; i < text.length;) {
    char c = text.at[i];
    const char *entity = entity_of(c);
    if (entity)
      text_put(out, entity);
    else if (c >= ' ' && c <= '~')
      text_putc(out, c);
    else
      i += put_clean(out, slice_from(text, i)) - 1;
    i++;
  }
}
