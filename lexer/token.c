/* What the rules of scan.l call: words, numbers, blanks, brackets. */
#include "lexer/token.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/utf8.h"

const char *token_words(enum token token) {
  switch (token) {
  case TOKEN_END: return "end of file";
#define TOKEN(id, words) \
  case TOKEN_##id:       \
    return words;
#include "lexer/tokens.def"
#undef TOKEN
  default: return "invalid text";
  }
}

static struct span here(const struct scan *scan) {
  return (struct span){scan->begin, scan->end};
}

/* The token in the source itself, which outlives flex's buffer. */
static struct slice in_source(const struct scan *scan, size_t length) {
  return (struct slice){scan->text.at + (scan->begin - scan->base), length};
}

/* The byte at `offset` of the source map; 0 outside the text. */
static char byte_at(const struct scan *scan, uint32_t offset) {
  size_t at = (size_t)offset - scan->base; /* before the text: it wraps */
  return at < scan->text.length ? scan->text.at[at] : '\0';
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0' ||
         c == '\\';
}

static bool is_word_byte(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/* `skip[i]`: inside, blanks and line ends are as between parentheses. */
enum { SUBSCRIPT = 's' };

static char innermost(const struct scan *scan) {
  char open = scan->depth ? scan->open[scan->depth - 1] : '{';
  return open == SUBSCRIPT ? '(' : open;
}

/* Whether `else` is the next word, behind blanks, lines and comments. */
static bool else_follows(const struct scan *scan) {
  uint32_t at = scan->end;
  for (;;) {
    char c = byte_at(scan, at);
    if (c == '#')
      while (byte_at(scan, at) && byte_at(scan, at) != '\n')
        at++;
    else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
      at++;
    else
      break;
  }
  for (const char *word = "else"; *word; word++)
    if (byte_at(scan, at++) != *word)
      return false;
  return !is_word_byte(byte_at(scan, at));
}

bool scan_newline(const struct scan *scan) {
  if (scan->last == TOKEN_BRACE_CLOSE && else_follows(scan))
    return false;
  return innermost(scan) != '(';
}

bool scan_joins(const struct scan *scan) {
  if (byte_at(scan, scan->end) != 'x')
    return false;
  char next = byte_at(scan, scan->end + 1);
  return is_digit(next) || next == '_' || next == '(';
}

/* Words */

static const struct keyword {
  const char *text;
  int token;
} keywords['z' - 'a' + 1][5] = {
#define LETTER(letter) [letter - 'a']
    LETTER('a') = {{"and", TOKEN_KW_AND}, {"again", TOKEN_KW_AGAIN}},
    LETTER('b') = {{"budget", TOKEN_KW_BUDGET}},
    LETTER('d') = {{"def", TOKEN_KW_DEF}},
    LETTER('e') = {{"else", TOKEN_KW_ELSE}},
    LETTER('f') = {{"for", TOKEN_KW_FOR},
                   {"from", TOKEN_KW_FROM},
                   {"fork", TOKEN_KW_FORK},
                   {"false", TOKEN_KW_FALSE}},
    LETTER('i') = {{"in", TOKEN_KW_IN},
                   {"if", TOKEN_KW_IF},
                   {"input", TOKEN_KW_INPUT},
                   {"infer", TOKEN_KW_INFER}},
    LETTER('l') = {{"let", TOKEN_KW_LET}},
    LETTER('n') = {{"net", TOKEN_KW_NET}, {"not", TOKEN_KW_NOT}},
    LETTER('o') = {{"or", TOKEN_KW_OR}, {"output", TOKEN_KW_OUTPUT}},
    LETTER('p') = {{"param", TOKEN_KW_PARAM}},
    LETTER('r') = {{"repeat", TOKEN_KW_REPEAT}},
    LETTER('t') = {{"train", TOKEN_KW_TRAIN}, {"true", TOKEN_KW_TRUE}},
    LETTER('u') = {{"use", TOKEN_KW_USE}},
    LETTER('x') = {{"x", TOKEN_BY}},
#undef LETTER
};

static int keyword_of(struct slice word) {
  char first = *word.at;
  if (first < 'a' || first > 'z')
    return TOKEN_NAME;
  for (const struct keyword *k = keywords[first - 'a']; k->text; k++)
    if (slice_is(word, k->text))
      return k->token;
  return TOKEN_NAME;
}

bool is_name(struct slice text) {
  for (size_t i = 0; i < text.length; i++)
    if (!is_word_byte(text.at[i]))
      return false;
  return text.length && !is_digit(text.at[0]) && !slice_is(text, "_") &&
         keyword_of(text) == TOKEN_NAME; /* x and in need a look around */
}

/* The next byte that is not blank, and does not end the value. */
static uint32_t skip_blanks(const struct scan *scan) {
  bool lines = innermost(scan) == '(';
  uint32_t at = scan->end;
  for (;; at++) {
    char c = byte_at(scan, at);
    lines = lines || c == '\\';
    if (c != ' ' && c != '\t' && c != '\\' &&
        !(lines && (c == '\n' || c == '\r')))
      return at;
  }
}

/* `k=3`, and no `k==3` */
static bool is_key(const struct scan *scan, uint32_t at) {
  while (is_word_byte(byte_at(scan, at)))
    at++;
  return byte_at(scan, at) == '=' && byte_at(scan, at + 1) != '=';
}

/*
 * x joins what stands on both sides of it. Where nothing that has a size
 * stands before it, or none follows, it is a name like others.
 */
static bool is_join(const struct scan *scan) {
  bool names = !scan->parted &&
               (scan->first == TOKEN_KW_FOR || scan->first == TOKEN_KW_PARAM);
  if (!token_ends_operand(scan->last) || scan->last == TOKEN_BRACE_CLOSE ||
      scan->last == TOKEN_STRING || scan->headed || names)
    return false;
  uint32_t at = skip_blanks(scan);
  char next = byte_at(scan, at), after = byte_at(scan, at + 1);
  return next == '(' || (next == '-' && after != '>' && !is_blank(after)) ||
         (is_word_byte(next) && !is_key(scan, at));
}

/* `in` stands between names and values in loops and params; `in.c` is a size.
 */
static bool is_in(const struct scan *scan) {
  bool header = scan->first == TOKEN_KW_PARAM ||
                (scan->first == TOKEN_KW_FOR && !scan->parted);
  bool size =
      byte_at(scan, scan->end) == '.' && byte_at(scan, scan->end + 1) != '.';
  return size ||
         (header && innermost(scan) == '{' && token_ends_operand(scan->last));
}

int scan_word(struct scan *scan, size_t length) {
  struct slice word = in_source(scan, length);
  scan->value->text = word;
  int keyword = keyword_of(word);
  if ((keyword == TOKEN_BY && !is_join(scan)) ||
      (keyword == TOKEN_KW_IN && !is_in(scan)))
    keyword = TOKEN_NAME;
  if (keyword == TOKEN_NAME && byte_at(scan, scan->end) == '(')
    return TOKEN_FUNC;
  return keyword;
}

/* Signs that mean one thing with blanks around them and another without */

bool token_ends_operand(enum token token) {
  switch (token) {
  case TOKEN_NAME:
  case TOKEN_INT:
  case TOKEN_REAL:
  case TOKEN_STRING:
  case TOKEN_ANY:
  case TOKEN_PAREN_CLOSE:
  case TOKEN_BRACKET_CLOSE:
  case TOKEN_BRACE_CLOSE:
  case TOKEN_KW_TRUE:
  case TOKEN_KW_FALSE: return true;
  default: return false;
  }
}

/* A blank before and none behind: a sign or a stride, not an operator. */
static bool stands_alone(const struct scan *scan) {
  return is_blank(byte_at(scan, scan->begin - 1)) &&
         !is_blank(byte_at(scan, scan->end));
}

int scan_minus(struct scan *scan) {
  if (!token_ends_operand(scan->last))
    return TOKEN_NEGATE;
  bool starts_argument = (scan->arguments || innermost(scan) == '[') &&
                         innermost(scan) != '(' && stands_alone(scan);
  return starts_argument ? TOKEN_NEGATE : TOKEN_MINUS;
}

static bool is_stride(const struct scan *scan) {
  return scan->arguments && innermost(scan) == '{' &&
         token_ends_operand(scan->last) && stands_alone(scan);
}

int scan_slash(struct scan *scan) {
  return is_stride(scan) ? TOKEN_STRIDE : TOKEN_SLASH;
}

bool scan_floors(const struct scan *scan) {
  return !is_stride(scan);
}

/* These take one expression, in which `-` and `/` are always operators. */
static bool takes_expression(enum token token) {
  switch (token) {
  case TOKEN_KW_LET:
  case TOKEN_KW_PARAM:
  case TOKEN_KW_REPEAT:
  case TOKEN_KW_IF: return true;
  default: return false;
  }
}

/* A label's colon, or `fork`: a statement follows that takes arguments. */
static bool is_prefix(const struct scan *scan, enum token token) {
  return (token == TOKEN_COLON && scan->labels) || token == TOKEN_KW_FORK ||
         (token == TOKEN_KW_TRAIN && scan->last == TOKEN_KW_FORK);
}

/* A token inside a statement, or the first one. */
static void follow_inside(struct scan *scan, enum token token) {
  bool inside = scan->depth && scan->open[scan->depth - 1] == SUBSCRIPT;
  scan->headed = scan->at_start;
  if (scan->at_start) {
    scan->first = token;
    scan->parted = false;
    scan->arguments = !takes_expression(token);
  }
  scan->parted = scan->parted || token == TOKEN_ASSIGN || token == TOKEN_KW_IN;
  bool prefix = is_prefix(scan, token);
  if (!inside && token != TOKEN_BRACKET_CLOSE)
    scan->labels = scan->at_start && token == TOKEN_NAME;
  scan->at_start = prefix;
}

void scan_follow(struct scan *scan, enum token token) {
  scan->silent = scan->silent && token != TOKEN_NEWLINE;
  switch (token) {
  case TOKEN_NEWLINE:
  case TOKEN_SEMICOLON: scan->at_start = innermost(scan) == '{'; break;
  case TOKEN_BRACE:
  case TOKEN_KW_ELSE: /* `else if` */ scan->at_start = true; break;
  case TOKEN_BRACE_CLOSE: /* `add { a } /2`: arguments of the word before */
    scan->at_start = scan->headed = false;
    scan->arguments = true;
    break;
  default: follow_inside(scan, token);
  }
  scan->before = scan->last;
  scan->last = token;
}

/* Numbers: digits with `_` between, a fraction, an exponent or a unit */

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
  int64_t digits; /* all digits, the point left out */
  int64_t scale;  /* the power of ten by which they are too large */
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

/* False if the text is not a number at all. */
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
  struct slice unit = {text.at + i, text.length - i};
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
 * strtod follows the locale and takes no `_`: hand it what it wants. How a
 * point is written is what printf writes: localeconv is not thread-safe.
 */
static double to_real(struct scan *scan, struct slice text) {
  struct text plain = text_new(scan->arena);
  char half[16];
  snprintf(half, sizeof half, "%.1f", 0.5);
  size_t point = strlen(half) - 2; /* between 0 and 5 */
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

/* 32X32X3, 8gb and `repeat 3x`. */
static bool hint_number(struct scan *scan, struct diagnostic *d,
                        struct slice text, struct span span) {
  struct text right = text_new(scan->arena);
  size_t digits = 0, large = 0;
  for (size_t i = 0; i < text.length; i++) {
    digits += is_digit(text.at[i]) && digits == i;
    large += text.at[i] == 'X';
    text_putc(&right, text.at[i] == 'X' ? 'x' : text.at[i]);
  }
  struct slice unit = {text.at + digits, text.length - digits};
  const char *known = scan_unit(unit);
  if (known) {
    struct text unit_text = text_new(scan->arena);
    text_printf(&unit_text, "%.*s%s", (int)digits, text.at, known);
    diag_suggest(d, span, text_slice(&unit_text));
    return true;
  }
  if (large && unit.length > 1 && unit.at[0] == 'X' && is_digit(unit.at[1])) {
    diag_offer(d, span, text_slice(&right),
               "sizes are joined by a small x: `%.*s`", SLICE_ARG(right));
    return true;
  }
  if (unit.length > 1 && unit.length <= 3 &&
      (unit.at[unit.length - 1] | 0x20) == 'b') { /* of bytes, of sorts */
    diag_help(d, "units are K M G, and of bytes B KB MB GB TB KiB MiB GiB TiB");
    return true;
  }
  if (scan->last == TOKEN_KW_REPEAT && unit.length == 1) {
    diag_help(d, "the count stands alone: `repeat %.*s { ... }`", (int)digits,
              text.at);
    return true;
  }
  return false;
}

static int bad_number(struct scan *scan, struct slice text, bool joins) {
  struct span span = here(scan);
  while (is_word_byte(byte_at(scan, span.end)))
    span.end++;
  if (scan->silent)
    return TOKEN_ERROR;
  text.length = span.end - span.begin;
  struct diagnostic *d = diag(scan->diags, INVALID_NUMBER, span,
                              "`%.*s` is not a number", SLICE_ARG(text));
  if (hint_number(scan, d, text, span))
    return TOKEN_ERROR;
  if (joins)
    diag_otherwise(d,
                   "sizes are joined by `x`: `3x3`; with names or expressions "
                   "put blanks around it: `3 x k`");
  else
    diag_otherwise(d, "numbers look like 64, 1_000_000, 4K, 0.5, 1e-3, 256KiB; "
                      "names start with a letter");
  return TOKEN_ERROR;
}

static int too_large(struct scan *scan, struct slice text) {
  struct diagnostic *d =
      diag(scan->diags, NUMBER_TOO_LARGE, here(scan),
           "`%.*s` does not fit a 64-bit integer", SLICE_ARG(text));
  diag_help(d, "the largest integer is 9,223,372,036,854,775,807");
  return TOKEN_ERROR;
}

static int real_number(struct scan *scan, const struct number *n,
                       struct slice text) {
  scan->value->real = to_real(scan, text) * (double)units[n->unit].factor;
  if (isfinite(scan->value->real))
    return TOKEN_REAL;
  diag(scan->diags, NUMBER_TOO_LARGE, here(scan),
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
  if (units[n->unit].factor > 1) { /* 39.38GiB, as programs print it */
    scan->value->integer = value / n->scale;
    return TOKEN_INT;
  }
  struct diagnostic *d =
      diag(scan->diags, INVALID_NUMBER, here(scan),
           "`%.*s` is not a whole number of bytes", SLICE_ARG(text));
  diag_help(d, "there are no parts of a byte");
  return TOKEN_ERROR;
}

int scan_number(struct scan *scan, size_t length) {
  struct slice text = in_source(scan, length);
  struct number n;
  if (byte_at(scan, scan->end) == 'x' && !scan_joins(scan))
    return bad_number(scan, text, true); /* 3x, 3xk */
  if (!read_number(&n, text))
    return bad_number(scan, text, false);
  bool real = n.exponent || (n.fraction && n.unit == 0);
  return real ? real_number(scan, &n, text) : whole_number(scan, &n, text);
}

/* Strings and brackets */

int scan_string(struct scan *scan, size_t length) {
  struct slice quoted = in_source(scan, length);
  scan->value->text = (struct slice){quoted.at + 1, length - 2};
  return TOKEN_STRING;
}

int scan_open_string(struct scan *scan) {
  diag(scan->diags, UNTERMINATED_STRING, here(scan),
       "this string has no closing quote on its line");
  return TOKEN_ERROR;
}

/* `skip[i]` and `h[i][j]`, where `for c in [1 2]` has a blank. */
static bool is_subscript(const struct scan *scan, char bracket) {
  return bracket == '[' && !is_blank(byte_at(scan, scan->begin - 1)) &&
         (scan->last == TOKEN_NAME || scan->last == TOKEN_BRACKET_CLOSE);
}

int scan_open(struct scan *scan, char bracket) {
  if (scan->depth == LIMIT_DEPTH) {
    struct diagnostic *d =
        diag(scan->diags, NESTED_TOO_DEEP, here(scan),
             "brackets are nested more than %d deep", LIMIT_DEPTH);
    diag_help(d, "move the inner part into a `def`");
    scan->failed = true;
    return TOKEN_END;
  }
  bool subscript = is_subscript(scan, bracket);
  scan->open_at[scan->depth] = scan->begin;
  scan->open[scan->depth++] = subscript ? SUBSCRIPT : bracket;
  return subscript        ? TOKEN_SUBSCRIPT
         : bracket == '(' ? TOKEN_PAREN
         : bracket == '[' ? TOKEN_BRACKET
                          : TOKEN_BRACE;
}

/* What does not match is left to the parser, which knows what it expects. */
int scan_close(struct scan *scan, char bracket) {
  char open = bracket == ')' ? '(' : bracket == ']' ? '[' : '{';
  char other = bracket == ']' ? SUBSCRIPT : open;
  int depth = scan->depth;
  while (depth > 0 && scan->open[depth - 1] != open &&
         scan->open[depth - 1] != other)
    depth--;
  if (depth > 0)
    scan->depth = depth - 1;
  return bracket == ')'   ? TOKEN_PAREN_CLOSE
         : bracket == ']' ? TOKEN_BRACKET_CLOSE
                          : TOKEN_BRACE_CLOSE;
}

int scan_eof(struct scan *scan) {
  scan->begin = scan->end; /* no rule matched: the end is empty */
  return TOKEN_END;
}

/* Eight bytes of ASCII, of which none is NUL: most of any text. */
static bool are_ascii(const char *at) {
  const uint64_t ones = 0x0101010101010101, tops = ones << 7;
  uint64_t bytes;
  memcpy(&bytes, at, sizeof bytes);
  return !((bytes | (bytes - ones)) & tops);
}

bool scan_check_text(struct diags *diags, int source) {
  const struct source *s = &diags->sources->all.at[source];
  size_t i = 0;
  while (i < s->text.length) {
    if (s->text.length - i >= 8 && are_ascii(s->text.at + i)) {
      i += 8;
      continue;
    }
    size_t length = utf8_length(s->text.at + i, s->text.length - i);
    if (length == 0 || s->text.at[i] == '\0')
      break;
    i += length;
  }
  if (i == s->text.length)
    return true;
  struct span span = {s->base + (uint32_t)i, s->base + (uint32_t)i + 1};
  unsigned char byte = (unsigned char)s->text.at[i];
  struct diagnostic *d = byte == 0
                             ? diag(diags, INVALID_UTF8, span,
                                    "a NUL byte: this is not a text file")
                             : diag(diags, INVALID_UTF8, span,
                                    "byte 0x%02X is not valid UTF-8", byte);
  return diag_help(d, "save the file as UTF-8");
}
