/* Tokens of Python, with its lines and indentation. */
#include <string.h>

#include "import/python/syntax.h"

enum { DEEPEST_INDENT = 100 };

struct scanner {
  struct arena *arena;
  struct slice rest;
  struct py_tokens out;
  int line, step; /* step 0: lines are not counted */
  int brackets, depth;
  size_t indents[DEEPEST_INDENT];
  bool inner;
};

static struct py_token *add(struct scanner *s, enum py_token_kind kind,
                            size_t length) {
  struct py_token *token = VEC_PUSH(s->arena, &s->out);
  token->kind = kind;
  token->text = slice_to(s->rest, length);
  token->line = s->line;
  s->rest = slice_from(s->rest, length);
  return token;
}

static char byte(const struct scanner *s, size_t at) {
  return at < s->rest.length ? s->rest.at[at] : '\0';
}

static bool is_name_byte(char c) {
  return is_word_byte(c) || (unsigned char)c >= 0x80;
}

static size_t name_length(const struct scanner *s) {
  size_t length = 0;
  while (is_name_byte(byte(s, length)))
    length++;
  return length;
}

/* Digits, letters, `_`, a dot, and a sign after an exponent. */
static size_t number_length(const struct scanner *s) {
  size_t length = 0;
  bool hex = byte(s, 0) == '0' && (byte(s, 1) == 'x' || byte(s, 1) == 'X');
  while (is_word_byte(byte(s, length)) || byte(s, length) == '.' ||
         ((byte(s, length) == '-' || byte(s, length) == '+') && !hex &&
          length > 0 &&
          (byte(s, length - 1) == 'e' || byte(s, length - 1) == 'E')))
    length++;
  return length;
}

/* The length of a text's prefix before its quote; -1: it is none. */
static int prefix_length(const struct scanner *s) {
  for (int i = 0; i < 3; i++) {
    if (byte(s, (size_t)i) == '"' || byte(s, (size_t)i) == '\'')
      return i;
    if (!byte(s, (size_t)i) || !strchr("rRbBuUfF", byte(s, (size_t)i)))
      return -1;
  }
  return -1;
}

static void scan_text(struct scanner *s, size_t prefix) {
  struct slice letters = slice_to(s->rest, prefix);
  char quote = byte(s, prefix);
  bool three = byte(s, prefix + 1) == quote && byte(s, prefix + 2) == quote;
  size_t width = three ? 3 : 1, from = prefix + width, at = from;
  int line = s->line;
  for (; at < s->rest.length; at++) {
    char c = byte(s, at);
    if (c == '\\')
      at++;
    else if (c == quote &&
             (!three || (byte(s, at + 1) == quote && byte(s, at + 2) == quote)))
      break;
    else if (c == '\n' && !three)
      break;
    if (byte(s, at) == '\n')
      line += s->step;
  }
  bool closed = byte(s, at) == quote;
  struct slice text = slice_to(slice_from(s->rest, from), at - from);
  struct py_token *token =
      add(s, closed ? TOKEN_TEXT : TOKEN_BAD, at + (closed ? width : 0));
  token->text = text;
  for (size_t i = 0; i < letters.length; i++) {
    token->raw |= strchr("rR", letters.at[i]) != NULL;
    token->parts |= strchr("fF", letters.at[i]) != NULL;
    token->bytes |= strchr("bB", letters.at[i]) != NULL;
  }
  s->line = line;
}

/* The longest sign that the rest begins with. */
static void scan_sign(struct scanner *s) {
  static const char *const signs[] = {
      "**=", "//=", ">>=", "<<=", "...", "==", "!=", "<=",
      ">=",  "->",  ":=",  "+=",  "-=",  "*=", "/=", "%=",
      "&=",  "|=",  "^=",  "@=",  "**",  "//", "<<", ">>"};
  char c = byte(s, 0);
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (slice_begins(s->rest, signs[i])) {
      add(s, TOKEN_SIGN, strlen(signs[i]));
      return;
    }
  if (!strchr("+-*/%@&|^~<>()[]{},:.;=", c)) {
    add(s, TOKEN_BAD, 1);
    return;
  }
  if (strchr("([{", c))
    s->brackets++;
  if (strchr(")]}", c) && s->brackets > 0)
    s->brackets--;
  add(s, TOKEN_SIGN, 1);
}

/* Blanks at the start of a line; false: the line is empty. */
static bool scan_indent(struct scanner *s) {
  size_t width = 0, at = 0;
  for (; byte(s, at) == ' ' || byte(s, at) == '\t' || byte(s, at) == '\f'; at++)
    width = byte(s, at) == '\t' ? width / 8 * 8 + 8 : width + 1;
  char c = byte(s, at);
  s->rest = slice_from(s->rest, at);
  if (c == '\n' || c == '\r' || c == '#' || !s->rest.length)
    return false;
  if (width > s->indents[s->depth]) {
    add(s, s->depth + 1 < DEEPEST_INDENT ? TOKEN_INDENT : TOKEN_BAD, 0);
    if (s->depth + 1 < DEEPEST_INDENT)
      s->indents[++s->depth] = width;
  }
  while (s->depth > 0 && width < s->indents[s->depth]) {
    s->depth--;
    add(s, TOKEN_DEDENT, 0);
  }
  return true;
}

static void end_line(struct scanner *s) {
  if (s->out.count && s->out.at[s->out.count - 1].kind != TOKEN_LINE)
    add(s, TOKEN_LINE, 0);
}

/* Takes what is no token: blanks, comments, ends of lines. */
static bool skip(struct scanner *s, bool *fresh) {
  char c = byte(s, 0);
  if (c == '#') {
    s->rest = slice_from(s->rest, slice_line_end(s->rest, 0));
  } else if (c == '\\' && (byte(s, 1) == '\n' || byte(s, 1) == '\r')) {
    s->rest = slice_from(s->rest, byte(s, 1) == '\r' ? 3 : 2);
    s->line += s->step;
  } else if (c == '\n') {
    if (!s->brackets && !s->inner) {
      end_line(s);
      *fresh = true;
    }
    s->line += s->step;
    s->rest = slice_from(s->rest, 1);
  } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
    s->rest = slice_from(s->rest, 1);
  } else {
    return false;
  }
  return true;
}

struct py_tokens py_scan(struct arena *arena, struct slice file, int line,
                         bool inner) {
  struct scanner s = {.arena = arena,
                      .rest = file,
                      .line = line,
                      .step = line > 0,
                      .inner = inner};
  bool fresh = !inner;
  if (slice_begins(s.rest, "\xef\xbb\xbf"))
    s.rest = slice_from(s.rest, 3);
  while (s.rest.length) {
    if (fresh) {
      fresh = false;
      if (!scan_indent(&s) && !s.rest.length)
        break;
    }
    if (skip(&s, &fresh))
      continue;
    int prefix = prefix_length(&s);
    if (prefix >= 0)
      scan_text(&s, (size_t)prefix);
    else if (is_digit(byte(&s, 0)) ||
             (byte(&s, 0) == '.' && is_digit(byte(&s, 1))))
      add(&s, TOKEN_NUMBER, number_length(&s));
    else if (is_name_byte(byte(&s, 0)))
      add(&s, TOKEN_NAME, name_length(&s));
    else
      scan_sign(&s);
  }
  end_line(&s);
  while (s.depth-- > 0)
    add(&s, TOKEN_DEDENT, 0);
  add(&s, TOKEN_END, 0);
  return s.out;
}
