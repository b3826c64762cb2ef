/* Numbers: digits with `_` between them, a fraction, an exponent or a unit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "lexer/token.h"

static const struct {
  const char *name;
  int64_t factor;
  bool bytes;
} units[] = {
    {"", 1, false}, /* none */
    {"K", 1000, false},
    {"M", 1000000, false},
    {"G", 1000000000, false},
    {"B", 1, true},
    {"KB", 1000, true},
    {"MB", 1000000, true},
    {"GB", 1000000000, true},
    {"TB", 1000000000000, true},
    {"KiB", (int64_t)1 << 10, true},
    {"MiB", (int64_t)1 << 20, true},
    {"GiB", (int64_t)1 << 30, true},
    {"TiB", (int64_t)1 << 40, true},
};

struct number {
  int64_t digits; /* all digits, without the point */
  int64_t scale;  /* power of ten to divide `digits` by */
  bool overflow, fraction, exponent;
  size_t unit;
};

static size_t read_digits(struct number *n, struct slice text, size_t i,
                          bool fraction) {
  for (; i < text.length; i++) {
    bool between = text.at[i] == '_' && is_digit(text.at[i - 1]) &&
                   i + 1 < text.length && is_digit(text.at[i + 1]);
    if (between)
      continue;
    if (!is_digit(text.at[i]))
      break;
    n->overflow = n->overflow || !mul_i64(n->digits, 10, &n->digits) ||
                  !add_i64(n->digits, text.at[i] - '0', &n->digits) ||
                  (fraction && !mul_i64(n->scale, 10, &n->scale));
  }
  return i;
}

static bool read_exponent(struct slice text, size_t i) {
  i++; /* the e */
  if (i < text.length && (text.at[i] == '-' || text.at[i] == '+'))
    i++;
  size_t start = i;
  while (i < text.length && is_digit(text.at[i]))
    i++;
  return i > start && i == text.length;
}

/* False if the text is not a number. */
static bool read_number(struct number *n, struct slice text) {
  *n = (struct number){.scale = 1};
  size_t i = read_digits(n, text, 0, false);
  if (i + 1 < text.length && text.at[i] == '.' && is_digit(text.at[i + 1])) {
    n->fraction = true;
    i = read_digits(n, text, i + 1, true);
  }
  if (i < text.length && (text.at[i] == 'e' || text.at[i] == 'E')) {
    n->exponent = true;
    return read_exponent(text, i);
  }
  struct slice unit = slice_from(text, i);
  if (!unit.length)
    return true;
  for (size_t u = 1; u < sizeof units / sizeof *units; u++) {
    if (slice_is(unit, units[u].name)) {
      n->unit = u;
      return true;
    }
  }
  return false;
}

/*
 * strtod depends on the locale and does not accept `_`, so that it gets a copy.
 * The decimal point comes from printf: localeconv() is not thread-safe.
 */
static double to_real(struct scan *scan, struct slice text) {
  struct text plain = text_new(scan->arena);
  char half[16];
  snprintf(half, sizeof half, "%.1f", 0.5);
  size_t point = strlen(half) - 2; /* the characters between 0 and 5 */
  for (size_t i = 0; i < text.length; i++) {
    char c = text.at[i];
    if (c == '.')
      text_bytes(&plain, half + 1, point);
    else if (is_digit(c) || c == 'e' || c == 'E' || c == '+' || c == '-')
      text_putc(&plain, c);
    else if (c != '_')
      break; /* a unit */
  }
  return strtod(text_string(&plain), NULL);
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_letters(struct slice a, const char *b) {
  size_t i = 0;
  for (; i < a.length && b[i]; i++)
    if (lower(a.at[i]) != lower(b[i]))
      return false;
  return i == a.length && !b[i];
}

const char *scan_unit(struct slice letters) {
  for (size_t u = 1; u < sizeof units / sizeof *units; u++)
    if (same_letters(letters, units[u].name))
      return units[u].name;
  return NULL;
}

bool scan_amount(struct slice text, int64_t *value) {
  struct number n;
  if (!text.length || !is_digit(*text.at) || !read_number(&n, text) ||
      n.exponent || n.overflow ||
      !mul_i64(n.digits, units[n.unit].factor, value) || *value % n.scale != 0)
    return false;
  *value /= n.scale;
  return true;
}

/* Explains 32X32X3, 8gb and `repeat 3x`. */
static bool hint_number(struct scan *scan, struct diagnostic *d,
                        struct slice text, struct span span) {
  struct text right = text_new(scan->arena);
  size_t digits = 0, large = 0;
  for (size_t i = 0; i < text.length; i++) {
    digits += is_digit(text.at[i]) && digits == i;
    large += text.at[i] == 'X';
    text_putc(&right, text.at[i] == 'X' ? 'x' : text.at[i]);
  }
  struct slice unit = slice_from(text, digits);
  const char *known = scan_unit(unit);
  if (known) {
    struct text unit_text = text_new(scan->arena);
    text_printf(&unit_text, "%.*s%s", (int)digits, text.at, known);
    diag_suggest(d, span, text_slice(&unit_text));
    return true;
  }
  if (large && unit.length > 1 && unit.at[0] == 'X' && is_digit(unit.at[1])) {
    diag_offer(d, span, text_slice(&right),
               "join sizes with a lower-case x: `%.*s`", SLICE_ARG(right));
    return true;
  }
  if (unit.length > 1 && unit.length <= 3 &&
      (unit.at[unit.length - 1] | 0x20) == 'b') { /* like a unit of bytes */
    diag_help(d,
              "units are K M G, and for bytes B KB MB GB TB KiB MiB GiB TiB");
    return true;
  }
  if (scan->last == TOKEN_KW_REPEAT && unit.length == 1) {
    diag_offer(d, span, (struct slice){text.at, digits},
               "write only the count: `repeat %.*s { ... }`", (int)digits,
               text.at);
    diag_otherwise(d, "write only the count: `repeat %.*s { ... }`",
                   (int)digits, text.at);
    return true;
  }
  struct slice shorter = slice_less(text, 1); /* 2., 1_, 3KiBs */
  struct slice singular = slice_less(unit, 1);
  if (unit.length == 1 ? strchr("._", *unit.at) != NULL
                       : slice_ends(unit, "s") && scan_unit(singular))
    diag_suggest(d, span, shorter);
  return false;
}

static int bad_number(struct scan *scan, struct slice text, bool joins) {
  struct span span = scan_here(scan);
  while (is_word_byte(scan_byte(scan, span.end)))
    span.end++;
  if (scan->silent)
    return TOKEN_ERROR;
  text.length = span.end - span.begin;
  struct diagnostic *d = diag(scan->diags, INVALID_NUMBER, span,
                              "`%.*s` is not a number", SLICE_ARG(text));
  if (hint_number(scan, d, text, span))
    return TOKEN_ERROR;
  if (joins)
    diag_otherwise(d, "join sizes with `x`: `3x3`; with names or expressions "
                      "put blanks around it: `3 x k`");
  else
    diag_otherwise(d, "numbers look like 64, 1_000_000, 4K, 0.5, 1e-3, 256KiB; "
                      "names start with a letter");
  return TOKEN_ERROR;
}

static int too_large(struct scan *scan, struct slice text) {
  struct diagnostic *d =
      diag(scan->diags, NUMBER_TOO_LARGE, scan_here(scan),
           "`%.*s` does not fit a 64-bit integer", SLICE_ARG(text));
  diag_help(d, "the largest integer is 9,223,372,036,854,775,807");
  return TOKEN_ERROR;
}

static int real_number(struct scan *scan, const struct number *n,
                       struct slice text) {
  scan->value->real = to_real(scan, text) * (double)units[n->unit].factor;
  if (isfinite(scan->value->real))
    return TOKEN_REAL;
  diag(scan->diags, NUMBER_TOO_LARGE, scan_here(scan),
       "`%.*s` does not fit a double", SLICE_ARG(text));
  return TOKEN_ERROR;
}

static int whole_number(struct scan *scan, const struct number *n,
                        struct slice text) {
  int64_t value;
  if (n->overflow || !mul_i64(n->digits, units[n->unit].factor, &value))
    return too_large(scan, text);
  if (value % n->scale == 0) {
    scan->value->integer = value / n->scale;
    return TOKEN_INT;
  }
  if (!units[n->unit].bytes)
    return real_number(scan, n, text);
  if (units[n->unit].factor > 1) { /* 39.38GiB, as other programs print it */
    scan->value->integer = value / n->scale;
    return TOKEN_INT;
  }
  struct diagnostic *d =
      diag(scan->diags, INVALID_NUMBER, scan_here(scan),
           "`%.*s` is not a whole number of bytes", SLICE_ARG(text));
  diag_help(d, "a byte cannot be divided; round the size");
  return TOKEN_ERROR;
}

int scan_number(struct scan *scan, size_t length) {
  struct slice text = scan_text(scan, length);
  struct number n;
  if (scan_byte(scan, scan->end) == 'x' && !scan_joins(scan))
    return bad_number(scan, text, true); /* 3x, 3xk */
  if (!read_number(&n, text))
    return bad_number(scan, text, false);
  bool real = n.exponent || (n.fraction && n.unit == 0);
  return real ? real_number(scan, &n, text) : whole_number(scan, &n, text);
}
