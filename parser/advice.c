/*
 * Advice: suggests a fix for a syntax error. Each rule below looks at the text
 * of the line for one common mistake and says how to write it in netc.
 */
#include "parser/advice.h"

#include "layers/foreign/foreign.h"
#include "layers/layer.h"

struct advice {
  struct parser *p;
  struct diagnostic *d;
  enum token found;
  struct span span;
  struct slice word;   /* the text that was found */
  struct slice line;   /* the rest of the line, from `word` on */
  struct slice before; /* the statement up to `word`, trimmed */
};

/* Text */

static bool is_blank(char c) {
  return scan_is_blank(c) || c == '\n';
}

static struct slice trim(struct slice s) {
  while (s.length && is_blank(s.at[0]))
    s.at++, s.length--;
  while (s.length && is_blank(s.at[s.length - 1]))
    s.length--;
  return s;
}

static bool begins(struct slice s, const char *with) {
  size_t length = strlen(with);
  return s.length >= length && memcmp(s.at, with, length) == 0;
}

/* The word at the start of a text. */
static struct slice first_word(struct slice s) {
  size_t length = 0;
  while (length < s.length && is_word_byte(s.at[length]))
    length++;
  return (struct slice){s.at, length};
}

static struct slice last_word(struct slice s) {
  size_t start = s.length;
  while (start > 0 && is_word_byte(s.at[start - 1]))
    start--;
  return slice_from(s, start);
}

static bool begins_with_word(struct slice s, const char *word) {
  return slice_is(first_word(s), word);
}

/* Up to the end of the line, without a comment. */
static struct slice to_line_end(struct slice s) {
  size_t length = 0;
  while (length < s.length && s.at[length] != '\n' && s.at[length] != '#')
    length++;
  return trim((struct slice){s.at, length});
}

static size_t find_byte(struct slice s, char c) {
  size_t at = 0;
  while (at < s.length && s.at[at] != c)
    at++;
  return at;
}

/* The statement before a place. */
static struct slice statement_before(const struct parser *p, uint32_t place) {
  const struct scan *scan = &p->scan;
  size_t end = place - scan->base;
  size_t start = scan_statement_begin(scan->text, end);
  return trim((struct slice){scan->text.at + start, end - start});
}

/* Rules, one for each mistake. Each returns true if it was that one. */

static bool comment(struct advice *a) {
  struct slice text = a->p->scan.text;
  size_t at = a->span.begin - a->p->scan.base;
  if (at > 0 && text.at[at - 1] == '/')
    at--;
  struct slice here = slice_from(text, at);
  if (!begins(here, "//") && !begins(here, "/*"))
    return false;
  uint32_t place = a->p->scan.base + (uint32_t)at;
  struct span slashes = {place, place + 2};
  if (here.length > 2 && is_digit(here.at[2])) {
    diag_offer(a->d, slashes, slice_of("/"),
               "a stride has one `/`; `//` needs a blank on both sides or on "
               "none");
    return true;
  }
  diag_help(a->d, "a comment begins with `#` and ends with the line");
  if (begins(here, "//"))
    diag_offer(a->d, slashes, slice_of("#"), "write `#`");
  return true;
}

/* MLP(512), nn.Bidirectional(...): the help names the layer to write
 * instead. */
static bool foreign_word(struct advice *a) {
  struct slice word = a->word;
  if (a->found == TOKEN_DOT)
    word = first_word(slice_from(a->line, 1));
  else if (a->found != TOKEN_FUNC)
    return false;
  const struct foreign_layer *layer =
      layer_kind_find(word) ? NULL : foreign_layer_find(word);
  if (!layer || !*layer->note)
    return false;
  if (*layer->ours)
    diag_otherwise(a->d, "%s", layer->note);
  else
    diag_help(a->d, "%s", layer->note);
  return true;
}

/* `add` with its blocks on the next lines */
static bool operands(struct advice *a) {
  if (a->found != TOKEN_BRACE || a->p->scan.before != TOKEN_BRACE_CLOSE)
    return false;
  diag_help(a->d, "write blocks after the layer that joins them, on the same "
                  "line: `add { ... } { ... }`");
  return true;
}

/* net "my net", net my-net */
static bool net_name(struct advice *a) {
  if (!begins_with_word(a->before, "net") || a->found == TOKEN_END)
    return false;
  struct slice name =
      a->before.length > 3 ? trim(slice_from(a->before, 3)) : a->word;
  struct slice end = to_line_end(a->line);
  name.length = (size_t)(end.at + end.length - name.at);
  struct text text = text_new(a->p->arena);
  for (size_t i = 0; i < name.length; i++) {
    char c = name.at[i];
    if (is_word_byte(c))
      text_putc(&text, c);
    else if (c != '"' && i > 0)
      text_putc(&text, '_');
  }
  uint32_t begin = a->p->scan.base + (uint32_t)(name.at - a->p->scan.text.at);
  diag_offer(a->d, (struct span){begin, begin + (uint32_t)name.length},
             text_slice(&text),
             "a name has letters, digits and `_`: `net %.*s`", SLICE_ARG(text));
  diag_otherwise(a->d, "a name has letters, digits and `_`: `net %.*s`",
                 SLICE_ARG(text));
  return true;
}

static bool string(struct advice *a) {
  if (a->found != TOKEN_STRING || a->word.length < 2)
    return false;
  struct slice inside = slice_less(slice_from(a->word, 1), 1);
  diag_otherwise(a->d,
                 "write a name without quotes: `%.*s`; only a path needs them: "
                 "`use \"blocks.net\"`",
                 SLICE_ARG(inside));
  return true;
}

/* dropout 50% */
static bool percent(struct advice *a) {
  size_t end = a->before.length;
  if (end < 2 || a->before.at[end - 1] != '%')
    return false;
  size_t start = --end;
  while (start > 0 && a->before.at[start - 1] >= '0' &&
         a->before.at[start - 1] <= '9')
    start--;
  if (end - start == 0 || end - start > 2)
    return false;
  struct text share = text_new(a->p->arena);
  text_printf(
      &share, "0.%s%.*s", end - start == 1 ? "0" : "",
      (int)(a->before.at[end - 1] == '0' && end - start == 2 ? 1 : end - start),
      a->before.at + start);
  const char *text = a->p->scan.text.at, *from = a->before.at + start;
  uint32_t begin = a->p->scan.base + (uint32_t)(from - text);
  diag_offer(a->d, (struct span){begin, begin + (uint32_t)(end - start) + 1},
             text_slice(&share),
             "`%%` is a remainder; write the fraction as `%.*s`",
             SLICE_ARG(share));
  diag_otherwise(a->d, "`%%` is a remainder; write the fraction as `%.*s`",
                 SLICE_ARG(share));
  return true;
}

/* cut=4,4 and tensor_split=3,2: several numbers. */
static bool turns(struct advice *a) {
  static const char *const keys[] = {"cut=", "tensor_split="};
  struct slice text = a->p->scan.text;
  size_t comma = a->span.begin - a->p->scan.base, at = comma, end = comma;
  while (at > 0 && is_digit(text.at[at - 1]))
    at--;
  const char *key = slice_ends(slice_to(text, at), keys[0])   ? keys[0]
                    : slice_ends(slice_to(text, at), keys[1]) ? keys[1]
                                                              : NULL;
  if (a->found != TOKEN_COMMA || at == comma || !key)
    return false;
  while (end < text.length && (is_digit(text.at[end]) || text.at[end] == ','))
    end++;
  struct text quoted = text_new(a->p->arena);
  text_printf(&quoted, "\"%.*s\"", (int)(end - at), text.at + at);
  uint32_t base = a->p->scan.base;
  diag_offer(a->d, (struct span){base + (uint32_t)at, base + (uint32_t)end},
             text_slice(&quoted), "write `%s%.*s`", key, SLICE_ARG(quoted));
  diag_help(a->d, "write several numbers in quotes");
  return true;
}

/* `act=leaky 0.1` and `act=(leaky 0.1)`: a layer as a value. */
static bool layer_value(struct advice *a) {
  struct slice layer = last_word(a->before);
  struct slice front = slice_less(a->before, layer.length);
  bool number = a->found == TOKEN_INT || a->found == TOKEN_REAL;
  bool bracket = slice_ends(front, "=(");
  if (!number || !layer_kind_find(layer) ||
      !(bracket || slice_ends(front, "=")))
    return false;
  struct slice text = a->p->scan.text;
  uint32_t base = a->p->scan.base;
  struct span span = {base + (uint32_t)(layer.at - text.at), a->span.end};
  bool closed = begins(slice_from(text, span.end - base), ")");
  if (bracket)
    span = (struct span){span.begin - 1, span.end + 1};
  struct text value = text_new(a->p->arena);
  text_printf(&value, "%.*s(%.*s)", SLICE_ARG(layer), SLICE_ARG(a->word));
  if (!bracket || closed)
    diag_offer(a->d, span, text_slice(&value), "write `%.*s`",
               SLICE_ARG(value));
  diag_help(a->d, "a layer as an argument has its values in parentheses right "
                  "after it: `act=leaky(0.1)`");
  return true;
}

/* `repeat 3` with its brace on the next line. */
static bool brace_below(struct advice *a) {
  struct slice rest =
      slice_from(a->p->scan.text, a->span.begin - a->p->scan.base);
  size_t at = 0;
  while (at < rest.length && is_blank(rest.at[at]))
    at++;
  if (a->found != TOKEN_NEWLINE || at == rest.length || rest.at[at] != '{')
    return false;
  diag_help(a->d, "`{` must be on the line that it belongs to");
  diag_offer(a->d,
             (struct span){a->span.begin, a->span.begin + (uint32_t)at + 1},
             slice_of(" {"), "move it there");
  return true;
}

static bool else_if(struct advice *a) {
  bool found = slice_is(a->word, "elif") || slice_is(a->word, "elseif");
  if (!found && !begins_with_word(a->before, "elif") &&
      !begins_with_word(a->before, "elseif"))
    return false;
  if (found)
    diag_offer(a->d, a->span, slice_of("else if"), "write `} else if ... {`");
  diag_otherwise(a->d, "write `} else if ... {`");
  return true;
}

static bool names_nothing(enum token token) {
  return token >= TOKEN_KW_NET;
}

static bool keyword(struct advice *a) {
  enum token before = a->p->scan.before;
  enum token word = a->found == TOKEN_COLON ? before : a->found;
  if (a->found == TOKEN_KW_ELSE || a->found == TOKEN_KW_IF ||
      !names_nothing(word))
    return false;
  diag_help(a->d, "%s is a keyword and cannot be used as a name",
            token_words(word));
  return true;
}

static bool file_end(struct advice *a) {
  const struct scan *scan = &a->p->scan;
  if (a->found != TOKEN_END)
    return false;
  if (a->p->value_alone) {
    diag_help(a->d, "the braces of a message contain a value: `{depth}`; write "
                    "`{{` for a brace");
    return true;
  }
  diag_help(a->d, "is a closing bracket missing?");
  if (scan->depth == 1 && scan->open[0] == '{')
    diag_offer(a->d, (struct span){scan->end, scan->end}, slice_of("}\n"),
               "write `}` after its last statement");
  return true;
}

/* Advice that depends on the token alone. */
static bool by_token(struct advice *a) {
  switch (a->found) {
  case TOKEN_KW_ELSE:
    diag_otherwise(a->d, "write `else` after the closing brace: `} else {`");
    return true;
  case TOKEN_EQUAL:
  case TOKEN_UNEQUAL:
  case TOKEN_LESS:
  case TOKEN_LESS_EQUAL:
  case TOKEN_GREATER:
  case TOKEN_GREATER_EQUAL:
    diag_otherwise(a->d, "as an argument, a comparison needs parentheses: "
                         "`(a == b)`");
    return true;
  case TOKEN_BRACE_CLOSE:
    diag_offer_omission(a->d, a->span, "leave it out; or is a `{` missing?");
    diag_otherwise(a->d, "is there a `}` too many, or is a `{` missing?");
    return true;
  case TOKEN_DOT:
    diag_offer(a->d, (struct span){a->span.begin, a->span.begin}, slice_of("0"),
               "a number starts with a digit: `0.5`");
    diag_otherwise(a->d, "a number starts with a digit: `0.5`");
    return true;
  case TOKEN_COMMA:
    diag_otherwise(a->d,
                   "separate arguments with blanks, and statements with `;`");
    return true;
  case TOKEN_RANGE:
    diag_otherwise(a->d,
                   "only `for`, `param`, labels and the sizes of an input have "
                   "ranges; `netc sweep` tries several values");
    return true;
  case TOKEN_BY:
    diag_help(a->d, "between two values x joins sizes, as in `3x3`; write a "
                    "name x in parentheses: `(x)`");
    return true;
  case TOKEN_STRIDE:
    diag_otherwise(a->d,
                   "to divide, write `/` with blanks on both sides or on none");
    return true;
  default: return false;
  }
}

static bool (*const rules[])(struct advice *) = {
    comment, layer_value, foreign_word, net_name, string,  percent, turns,
    else_if, brace_below, operands,     file_end, keyword, by_token};

void advice_give(struct parser *p, struct diagnostic *d, enum token found,
                 struct span span) {
  struct advice advice = {.p = p, .d = d, .found = found, .span = span};
  struct advice *a = &advice;
  const struct scan *scan = &a->p->scan;
  size_t at = a->span.begin - scan->base;
  a->word = sources_slice(a->p->diags->sources, a->span);
  a->line = slice_from(scan->text, at);
  a->line.length = find_byte(a->line, '\n');
  a->before = statement_before(a->p, a->span.begin);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i](a))
      return;
}

/* Counts the braces that the skipped rest of the line opens. */
static int count_open(const struct parser *p, struct span span) {
  struct slice rest = to_line_end(
      slice_from(p->scan.text, (size_t)(span.begin - p->scan.base)));
  int open = 0;
  for (size_t i = 0; i < rest.length; i++)
    open += (rest.at[i] == '{') - (rest.at[i] == '}');
  return open > 0 ? open : 0;
}

void advice_skip_line(struct parser *p, struct span span) {
  p->error_at = span.begin;
  if (p->scan.silent)
    return; /* its braces are already counted */
  p->skipped_braces += count_open(p, span);
  p->scan.silent = true;
}
