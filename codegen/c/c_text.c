/* Functions that all writers of C share. */
#include "codegen/c/c_text.h"
#include "base/hash.h"

static bool is_plain(char c) {
  return c >= ' ' && c <= '~';
}

/* Octal escapes have a fixed length; `?` might begin a trigraph. */
void c_put_string(struct text *out, struct slice text) {
  text_putc(out, '"');
  for (size_t i = 0; i < text.length; i++) {
    char c = text.at[i];
    if (c == '"' || c == '\\' || c == '?')
      text_printf(out, "\\%c", c);
    else if (is_plain(c))
      text_putc(out, c);
    else
      text_printf(out, "\\%03o", (unsigned)(unsigned char)c);
  }
  text_putc(out, '"');
}

void c_put_comment(struct text *out, struct slice text) {
  for (size_t i = 0; i < text.length; i++) {
    char c = text.at[i], last = i ? text.at[i - 1] : '\0';
    if ((last == '*' && c == '/') || (last == '/' && c == '*'))
      text_putc(out, ' ');
    if (c == '\n')
      text_put(out, "\n * ");
    else
      text_putc(out, is_plain(c) && c != '\\' ? c : '?');
  }
}

void c_put_float(struct text *out, float value) {
  size_t begin = out->length;
  text_real(out, (double)value);
  struct slice number = {out->at + begin, out->length - begin};
  bool whole = true;
  for (size_t i = 0; i < number.length; i++)
    whole = whole && !strchr(".eE", number.at[i]);
  text_put(out, whole ? ".0f" : "f");
}

void c_put_hash(struct text *out, const struct compiled *c) {
  uint64_t hash = HASH_TEXT;
  for (size_t i = 0; i < c->sources->all.count; i++)
    hash = hash_text(hash, c->sources->all.at[i].text);
  text_printf(out, "%08lx%08lx", (unsigned long)(hash >> 32),
              (unsigned long)(hash & 0xffffffff));
}
