/* UTF-8: length and code point of a sequence. */
#include "base/utf8.h"

static int is_tail(unsigned char c) {
  return (c & 0xC0) == 0x80;
}

size_t utf8_length(const char *at, size_t length) {
  const unsigned char *s = (const unsigned char *)at;
  if (length == 0)
    return 0;
  if (s[0] < 0x80)
    return 1;
  size_t need = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
  if (s[0] < 0xC2 || s[0] > 0xF4 || length < need)
    return 0;
  for (size_t i = 1; i < need; i++)
    if (!is_tail(s[i]))
      return 0;
  int overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
  int surrogate = s[0] == 0xED && s[1] > 0x9F;
  int too_large = s[0] == 0xF4 && s[1] > 0x8F;
  return overlong || surrogate || too_large ? 0 : need;
}

uint32_t utf8_code_point(const char *at, size_t length) {
  const unsigned char *s = (const unsigned char *)at;
  uint32_t value = length == 1 ? s[0] : s[0] & (0x7Fu >> length);
  for (size_t i = 1; i < length; i++)
    value = value << 6 | (s[i] & 0x3Fu);
  return value;
}
