/* Functions for the rules of scan.l: words, signs, strings, brackets. */
#include "lexer/token.h"

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

size_t scan_statement_begin(struct slice text, size_t at) {
  size_t begin = at;
  while (begin > 0 && !strchr("\n{;", text.at[begin - 1]))
    begin--;
  while (begin < at && scan_is_blank(text.at[begin]))
    begin++;
  return begin;
}

static bool is_blank(char c) {
  return scan_is_blank(c) || c == '\n' || c == '\0' || c == '\\';
}

/* `skip[i]`: blanks and line ends inside are as in parentheses. */
enum { SUBSCRIPT = 's' };

static char innermost(const struct scan *scan) {
  char open = scan->depth ? scan->open[scan->depth - 1] : '{';
  return open == SUBSCRIPT ? '(' : open;
}

/* True if `else` is the next word after blanks, line ends and comments. */
static bool else_follows(const struct scan *scan) {
  uint32_t at = scan->end;
  for (;;) {
    char c = scan_byte(scan, at);
    if (c == '#')
      while (scan_byte(scan, at) && scan_byte(scan, at) != '\n')
        at++;
    else if (scan_is_blank(c) || c == '\n')
      at++;
    else
      break;
  }
  for (const char *word = "else"; *word; word++)
    if (scan_byte(scan, at++) != *word)
      return false;
  return !is_word_byte(scan_byte(scan, at));
}

bool scan_newline(const struct scan *scan) {
  if (scan->last == TOKEN_BRACE_CLOSE && else_follows(scan))
    return false;
  return innermost(scan) != '(';
}

bool scan_joins(const struct scan *scan) {
  if (scan_byte(scan, scan->end) != 'x')
    return false;
  char next = scan_byte(scan, scan->end + 1);
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
         keyword_of(text) == TOKEN_NAME; /* x and in depend on the context */
}

/* Offset of the next byte that is not blank and does not end the value. */
static uint32_t skip_blanks(const struct scan *scan) {
  bool lines = innermost(scan) == '(';
  uint32_t at = scan->end;
  for (;; at++) {
    char c = scan_byte(scan, at);
    lines = lines || c == '\\';
    if (c != ' ' && c != '\t' && c != '\\' &&
        !(lines && (c == '\n' || c == '\r')))
      return at;
  }
}

/* `k=3`, but not `k==3`. */
static bool is_key(const struct scan *scan, uint32_t at) {
  while (is_word_byte(scan_byte(scan, at)))
    at++;
  return scan_byte(scan, at) == '=' && scan_byte(scan, at + 1) != '=';
}

/*
 * x joins the sizes on both sides. It is a name if no size is before it, or
 * none follows.
 */
static bool is_join(const struct scan *scan) {
  bool names = !scan->parted &&
               (scan->first == TOKEN_KW_FOR || scan->first == TOKEN_KW_PARAM);
  if (!token_ends_operand(scan->last) || scan->last == TOKEN_BRACE_CLOSE ||
      scan->last == TOKEN_STRING || scan->headed || names)
    return false;
  uint32_t at = skip_blanks(scan);
  char next = scan_byte(scan, at), after = scan_byte(scan, at + 1);
  return next == '(' || (next == '-' && after != '>' && !is_blank(after)) ||
         (is_word_byte(next) && !is_key(scan, at));
}

/* `in` separates names and values in loops and params; `in.c` is a size. */
static bool is_in(const struct scan *scan) {
  bool header = scan->first == TOKEN_KW_PARAM ||
                (scan->first == TOKEN_KW_FOR && !scan->parted);
  bool size = scan_byte(scan, scan->end) == '.' &&
              scan_byte(scan, scan->end + 1) != '.';
  return size ||
         (header && innermost(scan) == '{' && token_ends_operand(scan->last));
}

int scan_word(struct scan *scan, size_t length) {
  struct slice word = scan_text(scan, length);
  scan->value->text = word;
  int keyword = keyword_of(word);
  if ((keyword == TOKEN_BY && !is_join(scan)) ||
      (keyword == TOKEN_KW_IN && !is_in(scan)))
    keyword = TOKEN_NAME;
  if (keyword == TOKEN_NAME && scan_byte(scan, scan->end) == '(')
    return TOKEN_FUNC;
  return keyword;
}

/* Signs whose meaning depends on blanks around them */

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

/* With a blank before and none after, it is a sign or a stride, no operator. */
static bool stands_alone(const struct scan *scan) {
  return is_blank(scan_byte(scan, scan->begin - 1)) &&
         !is_blank(scan_byte(scan, scan->end));
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

/* Statements with one expression, in which `-` and `/` are always operators. */
static bool takes_expression(enum token token) {
  switch (token) {
  case TOKEN_KW_LET:
  case TOKEN_KW_PARAM:
  case TOKEN_KW_REPEAT:
  case TOKEN_KW_IF: return true;
  default: return false;
  }
}

/* A label's colon, or `fork`: a statement with arguments follows. */
static bool is_prefix(const struct scan *scan, enum token token) {
  return (token == TOKEN_COLON && scan->labels) || token == TOKEN_KW_FORK ||
         (token == TOKEN_KW_TRAIN && scan->last == TOKEN_KW_FORK);
}

/* Updates the context after a token in a statement, or after its first. */
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
  case TOKEN_BRACE_CLOSE: /* `add { a } /2`: further arguments of `add` */
    scan->at_start = scan->headed = false;
    scan->arguments = true;
    break;
  default: follow_inside(scan, token);
  }
  scan->before = scan->last;
  scan->last = token;
}

/* Strings and brackets */

int scan_string(struct scan *scan, size_t length) {
  struct slice quoted = scan_text(scan, length);
  scan->value->text = (struct slice){quoted.at + 1, length - 2};
  return TOKEN_STRING;
}

int scan_open_string(struct scan *scan) {
  diag(scan->diags, UNTERMINATED_STRING, scan_here(scan),
       "this string has no closing quote on its line");
  return TOKEN_ERROR;
}

/* `skip[i]` and `h[i][j]`; `for c in [1 2]` has a blank. */
static bool is_subscript(const struct scan *scan, char bracket) {
  return bracket == '[' && !is_blank(scan_byte(scan, scan->begin - 1)) &&
         (scan->last == TOKEN_NAME || scan->last == TOKEN_BRACKET_CLOSE);
}

int scan_open(struct scan *scan, char bracket) {
  if (scan->depth == LIMIT_DEPTH) {
    struct diagnostic *d =
        diag(scan->diags, NESTED_TOO_DEEP, scan_here(scan),
             "brackets are nested more than %d levels deep", LIMIT_DEPTH);
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

/* The parser reports brackets that do not match: it knows what it expects. */
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
  scan->begin = scan->end; /* the end matches no rule and is empty */
  return TOKEN_END;
}

/* True for eight bytes of ASCII without NUL, the common case. */
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
  struct diagnostic *d =
      byte == 0 ? diag(diags, INVALID_UTF8, span,
                       "the file has a NUL byte: it is not a text file")
                : diag(diags, INVALID_UTF8, span,
                       "byte 0x%02X is not valid UTF-8", byte);
  return diag_help(d, "save the file as UTF-8");
}
