/*
 * The library's part of <stdio.h>, strtod and strtof, in a quarter of the
 * code that wasi-libc has for it: no files, no wide characters, no numbers in
 * hexadecimal. Reals are written and read exactly, by integers of many words.
 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Integers of many words, the lowest first. */
enum {
  WORDS = 160,
  MOST_DIGITS = 400, /* of what is read: no more make a difference */
  MOST_PRECISION = 60
};
struct big {
  int count; /* the highest word is not 0 */
  uint32_t word[WORDS];
};

/* *b = *b * factor + more */
static void multiply(struct big *b, uint32_t factor, uint32_t more) {
  uint64_t rest = more;
  for (int i = 0; i < b->count; i++) {
    rest += (uint64_t)b->word[i] * factor;
    b->word[i] = (uint32_t)rest;
    rest >>= 32;
  }
  if (rest && b->count < WORDS)
    b->word[b->count++] = (uint32_t)rest;
}

/* *b /= divisor; what is left. */
static uint32_t divide(struct big *b, uint32_t divisor) {
  uint64_t rest = 0;
  for (int i = b->count - 1; i >= 0; i--) {
    rest = rest << 32 | b->word[i];
    b->word[i] = (uint32_t)(rest / divisor);
    rest %= divisor;
  }
  while (b->count && !b->word[b->count - 1])
    b->count--;
  return (uint32_t)rest;
}

static void shift_left(struct big *b, int bits) {
  for (; bits > 0 && b->count; bits -= 16)
    multiply(b, 1u << (bits < 16 ? bits : 16), 0);
}

/* Divided by 2^bits, halves to the even neighbour; `more` is whether something
 * was lost below. */
static void shift_right(struct big *b, int bits, bool more) {
  bool half = false;
  for (; bits > 0; bits -= 16) {
    int step = bits < 16 ? bits : 16;
    uint32_t rest = divide(b, 1u << step);
    more = more || half || (rest & ((1u << (step - 1)) - 1));
    half = rest >> (step - 1);
  }
  if (!half || (!more && !(b->count && b->word[0] % 2)))
    return;
  if (!b->count)
    b->word[b->count++] = 0;
  for (int i = 0; !++b->word[i]; i++)
    if (i + 1 == b->count)
      b->word[b->count++] = 0;
}

static int bits_of(const struct big *b) {
  return b->count ? 32 * b->count - __builtin_clz(b->word[b->count - 1]) : 0;
}

/* *b *= 10^power; true if what that is below 1 is lost. */
static bool scale(struct big *b, int power) {
  bool lost = false;
  for (; power > 0; power--)
    multiply(b, 10, 0);
  for (; power < 0; power++)
    lost = divide(b, 10) || lost;
  return lost;
}

/* Writing */

/* The digits of value * 10^power, rounded; their count. */
static int digits_of(double value, int power, char *to) {
  struct big b = {0};
  char reversed[MOST_DIGITS * 4];
  int exponent, count = 0;
  uint64_t bits = (uint64_t)ldexp(frexp(value, &exponent), 53);
  b.word[0] = (uint32_t)bits;
  b.word[1] = (uint32_t)(bits >> 32);
  b.count = bits ? 2 : 0;
  exponent -= 53;
  if (power < 0) { /* two bits more tell halves from what is about them */
    shift_left(&b, exponent > 0 ? exponent + 2 : 2);
    exponent = exponent > 0 ? -2 : exponent - 2;
  }
  bool lost = scale(&b, power);
  if (exponent > 0)
    shift_left(&b, exponent);
  else
    shift_right(&b, -exponent, lost);
  while (b.count)
    reversed[count++] = (char)('0' + divide(&b, 10));
  for (int i = 0; i < count; i++)
    to[i] = reversed[count - 1 - i];
  return count;
}

/* %.*f of a finite value that is not negative. */
static int put_fixed(char *to, double value, int decimals) {
  char digits[MOST_DIGITS * 4];
  int count = digits_of(value, decimals, digits), length = 0;
  int whole = count > decimals ? count - decimals : 0;
  memcpy(to, digits, (size_t)whole);
  length = whole;
  if (!whole)
    to[length++] = '0';
  if (decimals)
    to[length++] = '.';
  for (int i = count - whole; i < decimals; i++)
    to[length++] = '0';
  memcpy(to + length, digits + whole, (size_t)(count - whole));
  return length + count - whole;
}

/* %.*g: without zeros at its end. */
static int put_general(char *to, double value, int precision) {
  char digits[MOST_DIGITS * 4];
  int exponent = 0, count = 0, length = 0, decimals;
  precision = precision ? precision : 1;
  (void)frexp(value, &exponent);
  exponent = (int)floor((exponent - 1) * 0.30103 - 0.001); /* or 1 less */
  while (value > 0 && (count = digits_of(value, precision - 1 - exponent,
                                         digits)) != precision)
    exponent += count > precision ? 1 : -1;
  while (count > 1 && digits[count - 1] == '0')
    count--;
  if (exponent >= -4 && exponent < precision) {
    decimals = count - 1 - exponent;
    return put_fixed(to, value, value > 0 && decimals > 0 ? decimals : 0);
  }
  to[length++] = digits[0];
  if (count > 1)
    to[length++] = '.';
  memcpy(to + length, digits + 1, (size_t)(count - 1));
  length += count - 1;
  to[length++] = 'e';
  to[length++] = exponent < 0 ? '-' : '+';
  exponent = abs(exponent);
  if (exponent >= 100)
    to[length++] = (char)('0' + exponent / 100);
  to[length++] = (char)('0' + exponent / 10 % 10);
  to[length++] = (char)('0' + exponent % 10);
  return length;
}

static int put_real(char *to, char kind, double value, int precision) {
  int length = 0;
  precision = precision < 0 ? 6 : precision;
  precision = precision > MOST_PRECISION ? MOST_PRECISION : precision;
  if (signbit(value))
    to[length++] = '-';
  if (!isfinite(value)) {
    memcpy(to + length, isnan(value) ? "nan" : "inf", 3);
    return length + 3;
  }
  return length + (kind == 'f'
                       ? put_fixed(to + length, fabs(value), precision)
                       : put_general(to + length, fabs(value), precision));
}

static int put_integer(char *to, uint64_t value, uint32_t base, char ten) {
  char reversed[24];
  int count = 0;
  do {
    uint32_t digit = (uint32_t)(value % base);
    reversed[count++] =
        (char)(digit < 10 ? '0' + digit : (uint32_t)ten + digit - 10);
    value /= base;
  } while (value);
  for (int i = 0; i < count; i++)
    to[i] = reversed[count - 1 - i];
  return count;
}

/* snprintf */

struct sink {
  char *at;
  size_t room, length;
};

static void put(struct sink *s, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++, s->length++)
    if (s->length + 1 < s->room)
      s->at[s->length] = bytes[i];
}

static void fill(struct sink *s, char c, int count) {
  for (; count > 0; count--)
    put(s, &c, 1);
}

struct conversion {
  bool left, zeros, wide; /* 64 bits */
  int width, precision;   /* below 0: none is given */
  char kind;
};

static int read_count(const char **format, int otherwise) {
  int count = otherwise;
  for (; **format >= '0' && **format <= '9'; ++*format)
    count = (count > 0 ? count : 0) * 10 + (**format - '0');
  return count;
}

/* Words that stand for themselves until the next. */
static void put_padded(struct sink *s, const struct conversion *c,
                       const char *text, size_t length) {
  int pad = c->width - (int)length;
  bool sign = c->zeros && length && *text == '-';
  if (sign)
    put(s, text, 1);
  if (!c->left)
    fill(s, c->zeros ? '0' : ' ', pad);
  put(s, text + sign, length - sign);
  if (c->left)
    fill(s, ' ', pad);
}

static void put_number(struct sink *s, const struct conversion *c,
                       uint64_t value) {
  char text[32];
  int length = 0;
  bool hexadecimal = (c->kind | 32) == 'x';
  if ((c->kind == 'd' || c->kind == 'i') && (int64_t)value < 0) {
    text[length++] = '-';
    value = 0 - value;
  }
  length += put_integer(text + length, value,
                        hexadecimal      ? 16
                        : c->kind == 'o' ? 8
                                         : 10,
                        c->kind == 'X' ? 'A' : 'a');
  put_padded(s, c, text, (size_t)length);
}

static void put_text(struct sink *s, const struct conversion *c,
                     const char *text) {
  size_t length = 0;
  while (length != (size_t)c->precision && text[length])
    length++;
  put_padded(s, c, text, length);
}

int vsnprintf(char *to, size_t room, const char *format, va_list args) {
  char real[MOST_DIGITS * 4];
  struct sink s = {to, room, 0};
  while (*format) {
    size_t plain = strcspn(format, "%");
    put(&s, format, plain);
    format += plain;
    if (!*format++)
      break;
    struct conversion c = {.precision = -1};
    for (; *format == '-' || *format == '0'; format++)
      *(*format == '-' ? &c.left : &c.zeros) = true;
    bool star = *format == '*';
    c.width = star ? va_arg(args, int) : read_count(&format, 0);
    format += star;
    if (*format == '.') {
      star = *++format == '*';
      c.precision = star ? va_arg(args, int) : read_count(&format, 0);
      format += star;
    }
    c.wide = format[0] == 'l' && format[1] == 'l';
    format += strspn(format, "lzh");
    c.kind = *format++;
    switch (c.kind) {
    case '%': put(&s, "%", 1); break;
    case 'c':
      *real = (char)va_arg(args, int);
      put(&s, real, 1);
      break;
    case 's': put_text(&s, &c, va_arg(args, const char *)); break;
    case 'd':
    case 'i':
      put_number(
          &s, &c,
          (uint64_t)(c.wide ? va_arg(args, long long) : va_arg(args, int)));
      break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      put_number(&s, &c,
                 c.wide ? va_arg(args, unsigned long long)
                        : va_arg(args, unsigned));
      break;
    case 'f':
    case 'g':
      put_padded(
          &s, &c, real,
          (size_t)put_real(real, c.kind, va_arg(args, double), c.precision));
      break;
    default: abort(); /* the library has no other */
    }
  }
  if (room)
    to[s.length < room ? s.length : room - 1] = '\0';
  return (int)s.length;
}

int snprintf(char *to, size_t room, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = vsnprintf(to, room, format, args);
  va_end(args);
  return length;
}

/* Reading */

/* Bits of the reals of a type, and the power of two below all of them. */
struct real_type {
  int bits, least;
};

/* The nearest real of the type to *b * 10^power. */
static double nearest(struct big *b, int power, struct real_type type) {
  int shift = power < 0 ? 64 - 4 * power : 0;
  shift_left(b, shift);
  bool lost = scale(b, power);
  int over = bits_of(b) - type.bits, least = shift - type.least;
  over = over < least ? least : over; /* fewer bits near 0 */
  if (over > 0)
    shift_right(b, over, lost);
  double high = b->count > 1 ? b->word[1] : 0, low = b->count ? b->word[0] : 0;
  return ldexp(high * 0x1p32 + low, (over > 0 ? over : 0) - shift);
}

static double read(const char *text, char **end, struct real_type type) {
  struct big b = {0};
  const char *at = text + (*text == '-' || *text == '+');
  int count = 0, power = 0;
  bool any = false, point = false;
  for (; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
    point = point || *at == '.';
    if (*at == '.')
      continue;
    any = true;
    if (count < MOST_DIGITS) {
      if (!b.count && *at != '0')
        b.word[b.count++] = 0;
      multiply(&b, 10, (uint32_t)(*at - '0'));
      count += b.count > 0;
      power -= point;
    } else {
      b.word[0] |= *at != '0';
      power += !point;
    }
  }
  const char *digits = at + 1 + (*at && (at[1] == '-' || at[1] == '+'));
  if (any && (*at | 32) == 'e' && *digits >= '0' && *digits <= '9') {
    bool negative = at[1] == '-';
    int exponent = 0;
    for (at = digits; *at >= '0' && *at <= '9'; at++)
      exponent = exponent < 100000 ? exponent * 10 + (*at - '0') : exponent;
    power += negative ? -exponent : exponent;
  }
  if (end)
    *end = (char *)(any ? at : text);
  double value = !b.count               ? 0
                 : count + power > 310  ? (double)INFINITY
                 : count + power < -330 ? 0
                                        : nearest(&b, power, type);
  return *text == '-' ? -value : value;
}

double strtod(const char *text, char **end) {
  return read(text, end, (struct real_type){53, 1074});
}

#ifndef NETC_FEW
float strtof(const char *text, char **end) {
  return (float)read(text, end, (struct real_type){24, 149});
}
#endif
