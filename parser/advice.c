/*
 * A way out of a syntax error. What is wrong is seen best in the text itself:
 * each rule below looks at the line for one mistake that people make, and
 * says how it is written here.
 */
#include "parser/advice.h"

#include <stdlib.h>

#include "layers/foreign/foreign.h"
#include "layers/layer.h"

struct advice {
  struct parser *p;
  struct diagnostic *d;
  enum token found;
  struct span span;
  struct slice word;   /* the text that was found */
  struct slice line;   /* the rest of the line, from `word` */
  struct slice before; /* the statement up to `word`, without blanks around */
};

/* Text */

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

static struct slice trim(struct slice s) {
  while (s.length && is_blank(s.at[0]))
    s.at++, s.length--;
  while (s.length && is_blank(s.at[s.length - 1]))
    s.length--;
  return s;
}

static struct slice from(struct slice s, size_t at) {
  if (at > s.length)
    at = s.length;
  return (struct slice){s.at + at, s.length - at};
}

static bool begins(struct slice s, const char *with) {
  size_t length = strlen(with);
  return s.length >= length && memcmp(s.at, with, length) == 0;
}

/* The word at the start, and whether the text begins with it. */
static struct slice first_word(struct slice s) {
  size_t length = 0;
  while (length < s.length && is_word(s.at[length]))
    length++;
  return (struct slice){s.at, length};
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

/* What stands between the parenthesis at the start and its partner. */
static struct slice inside(struct slice s) {
  int depth = 0;
  size_t i = 0;
  for (; i < s.length; i++) {
    depth += (s.at[i] == '(') - (s.at[i] == ')');
    if (depth == 0)
      break;
  }
  return s.length ? (struct slice){s.at + 1, i - 1} : s;
}

/* The statement in front of a place. */
static struct slice statement_before(const struct parser *p, uint32_t place) {
  const struct scan *scan = &p->scan;
  size_t end = place - scan->base, start = end;
  while (start > 0 && !strchr("\n;{", scan->text.at[start - 1]))
    start--;
  return trim((struct slice){scan->text.at + start, end - start});
}

static struct slice layer_word(struct slice word) {
  size_t dot = word.length; /* nn.Conv2d: the part that names it */
  while (dot > 0 && word.at[dot - 1] != '.')
    dot--;
  return from(word, dot);
}

static bool is_layer(struct slice word) {
  return layer_kind_find(word) || foreign_layer_find(word);
}

/* `Conv2d(3, 64, 3)` or `conv 64 3`, as it is written here. */
static struct slice our_words(const struct advice *a, struct slice text) {
  struct text out = text_new(a->p->arena);
  size_t length = 0;
  while (length < text.length &&
         (is_word(text.at[length]) || text.at[length] == '.'))
    length++;
  struct slice word = layer_word((struct slice){text.at, length});
  struct slice rest = from(text, length);
  const struct foreign_layer *layer =
      layer_kind_find(word) ? NULL : foreign_layer_find(word);
  if (begins(rest, "(")) {
    foreign_call(&out, word, inside(rest));
  } else {
    if (layer && *layer->ours)
      text_put(&out, layer->ours);
    else
      text_puts(&out, word);
    text_puts(&out, rest);
  }
  return text_slice(&out);
}

/* Says how a layer of that text is written; its note, if none says it. */
static void say_layer(struct advice *a, const char *what, struct slice text) {
  struct slice word = layer_word(first_word(text));
  const struct foreign_layer *layer =
      layer_kind_find(word) ? NULL : foreign_layer_find(word);
  if (layer && !*layer->ours)
    diag_help(a->d, "%s", layer->note);
  else
    diag_help(a->d, "%s: `%.*s`", what, SLICE_ARG(our_words(a, text)));
}

/* Whether the file has a def of that name. */
static bool is_def(const struct advice *a, struct slice word) {
  struct slice text = a->p->scan.text;
  for (size_t i = 0; i + word.length + 4 < text.length; i++)
    if (memcmp(text.at + i, "def ", 4) == 0 &&
        slice_equal(first_word(from(text, i + 4)), word))
      return true;
  return false;
}

/* The rules: each for one mistake. True: it was that one. */

static bool comment(struct advice *a) {
  struct slice text = a->p->scan.text;
  size_t at = a->span.begin - a->p->scan.base;
  if (at > 0 && text.at[at - 1] == '/')
    at--;
  struct slice here = from(text, at);
  if (!begins(here, "//") && !begins(here, "/*"))
    return false;
  uint32_t place = a->p->scan.base + (uint32_t)at;
  diag_help(a->d, "comments begin with `#` and end with the line");
  if (begins(here, "//"))
    diag_fixit(a->d, (struct span){place, place + 2}, "#");
  return true;
}

/* conv(64, 3), Conv2d(3, 64, 3) */
static bool call(struct advice *a) {
  if (a->found != TOKEN_FUNC)
    return false;
  struct slice arguments = inside(from(a->line, a->word.length));
  const struct foreign_layer *layer =
      layer_kind_find(a->word) ? NULL : foreign_layer_find(a->word);
  struct text text = text_new(a->p->arena);
  if (layer && !*layer->ours && !is_def(a, a->word)) {
    diag_help(a->d, "%s", layer->note);
    return true;
  }
  foreign_call(&text, a->word, arguments);
  diag_help(a->d, "arguments follow without parentheses: `%.*s`",
            SLICE_ARG(text_slice(&text)));
  size_t end = a->word.length + arguments.length + 2;
  if (end <= a->line.length && is_layer(a->word))
    diag_fixit(a->d,
               (struct span){a->span.begin, a->span.begin + (uint32_t)end},
               "%.*s", SLICE_ARG(text_slice(&text)));
  return true;
}

/* relu() in a tail */
static bool empty_call(struct advice *a) {
  size_t length = a->before.length;
  if (a->found != TOKEN_PAREN_CLOSE || length < 2 ||
      a->before.at[length - 1] != '(')
    return false;
  size_t start = length - 1;
  while (start > 0 && is_word(a->before.at[start - 1]))
    start--;
  struct slice word = {a->before.at + start, length - 1 - start};
  if (!word.length)
    return false;
  diag_help(a->d, "without parentheses: `%.*s`", SLICE_ARG(our_words(a, word)));
  return true;
}

/* nn.Conv2d(3, 64, 3) */
static bool dotted(struct advice *a) {
  struct slice rest = to_line_end(from(a->line, 1));
  if (a->found != TOKEN_DOT || !is_layer(first_word(rest)))
    return false;
  say_layer(a, "layers are written without a module", rest);
  return true;
}

/* x = conv 64 3; c = 64; dropout = 0.5 */
static bool assignment(struct advice *a) {
  bool by = a->found == TOKEN_BY && a->before.length == 0;
  struct slice name = by ? a->word : a->before;
  struct slice rest = to_line_end(from(a->line, 1));
  if (by) {
    if (!begins(rest, "="))
      return false;
    diag_help(a->d, "the letter x joins sizes and names nothing else");
    rest = trim(from(rest, 1));
    name = slice_of("y");
  } else if (a->found != TOKEN_ASSIGN || a->p->scan.before != TOKEN_NAME ||
             first_word(name).length != name.length || !name.length) {
    return false;
  }
  if (layer_kind_find(name)) {
    diag_help(a->d, "its value follows without `=`: `%.*s %.*s`",
              SLICE_ARG(name), SLICE_ARG(rest));
  } else if (is_layer(layer_word(first_word(rest)))) {
    struct text text = text_new(a->p->arena);
    text_printf(&text, "%.*s: ", SLICE_ARG(name));
    text_puts(&text, our_words(a, rest));
    diag_help(a->d, "a layer is labelled with a colon: `%.*s`",
              SLICE_ARG(text_slice(&text)));
  } else {
    diag_help(a->d, "a constant is defined with `let`: `let %.*s = %.*s`",
              SLICE_ARG(name), SLICE_ARG(rest));
  }
  return true;
}

/* def f(c) = { and repeat 3: */
static bool before_body(struct advice *a) {
  static const char *const words[] = {"def",    "repeat", "for", "if",
                                      "} else", "else",   NULL};
  if (a->found != TOKEN_ASSIGN && a->found != TOKEN_COLON)
    return false;
  for (int i = 0; words[i]; i++) {
    bool alone = a->before.length == strlen(words[i]);
    if (!begins(a->before, words[i]) || (alone && i < 4))
      continue; /* `repeat: conv 8 3x3` */
    diag_help(a->d, "no `%.*s` stands before the body: `%.*s { ... }`",
              SLICE_ARG(a->word), SLICE_ARG(a->before));
    return true;
  }
  return false;
}

/* for i in range(3) */
static bool range(struct advice *a) {
  size_t at = 0;
  while (at < a->before.length && !begins(from(a->before, at), "range("))
    at++;
  if (at >= a->before.length || !begins(a->before, "for"))
    return false;
  struct slice bounds = inside(from(a->before, at + strlen("range")));
  size_t comma = find_byte(bounds, ',');
  struct slice low = trim((struct slice){bounds.at, comma});
  struct slice high = trim(from(bounds, comma + 1));
  if (comma == bounds.length)
    high = low, low = slice_of("0");
  char text[24] = "", *end = text;
  long last = 0;
  if (high.length < sizeof text) {
    memcpy(text, high.at, high.length);
    last = strtol(text, &end, 10);
  }
  if (end > text && !*end)
    diag_help(a->d, "a range includes both ends: `in %.*s..%ld`",
              SLICE_ARG(low), last - 1);
  else
    diag_help(a->d, "a range includes both ends: `in %.*s..%.*s - 1`",
              SLICE_ARG(low), SLICE_ARG(high));
  diag_help(a->d, "`repeat 3 { ... }` needs no name");
  return true;
}

/* (3, 224, 224) where sizes are meant: channels may come first. */
static bool tuple(struct advice *a) {
  size_t open = a->before.length;
  while (open > 0 && a->before.at[open - 1] != '(')
    open--;
  bool input = begins_with_word(a->before, "input");
  if (a->found != TOKEN_COMMA || (open == 0 && !input))
    return false;
  const char *start = a->before.at + (open ? open - 1 : strlen("input"));
  struct slice rest = {start, (size_t)(a->line.at + a->line.length - start)};
  struct slice size[LIMIT_RANK];
  rest = open ? inside(to_line_end(rest)) : to_line_end(rest);
  int count = 0;
  while (rest.length && count < LIMIT_RANK) {
    size_t comma = find_byte(rest, ',');
    size[count++] = trim((struct slice){rest.at, comma});
    rest = from(rest, comma + 1);
  }
  bool first = count == 3 && (slice_is(size[0], "3") || slice_is(size[0], "1"));
  struct text text = text_new(a->p->arena);
  for (int i = 0; i < count; i++) {
    text_put(&text, i ? "x" : "");
    text_puts(&text, size[first ? (i + 1) % count : i]);
  }
  diag_help(a->d, "sizes are joined by x, channels last: `%.*s`",
            SLICE_ARG(text_slice(&text)));
  return true;
}

/* input 8 8 3 */
static bool blanks(struct advice *a) {
  if (a->found != TOKEN_INT || !begins_with_word(a->before, "input"))
    return false;
  const char *start = a->before.at + strlen("input");
  struct slice end = to_line_end(a->line);
  struct slice rest =
      trim((struct slice){start, (size_t)(end.at + end.length - start)});
  struct text text = text_new(a->p->arena);
  while (rest.length) {
    struct slice size = first_word(rest);
    if (size.length == 0)
      return false;
    bool name = text.length == 0 && (size.at[0] < '0' || size.at[0] > '9');
    text_put(&text, text.length && !name ? "x" : "");
    if (!name)
      text_puts(&text, size);
    rest = trim(from(rest, size.length));
  }
  diag_help(a->d, "sizes are joined by x: `%.*s`",
            SLICE_ARG(text_slice(&text)));
  return true;
}

/* concat [a, b] */
static bool bracket(struct advice *a) {
  struct slice rest = from(a->line, 1);
  struct slice before = a->before;
  size_t open = find_byte(before, '[');
  if (open < before.length) { /* concat[a, b] */
    rest = from(a->before, open + 1);
    rest.length = (size_t)(a->line.at + a->line.length - rest.at);
    before.length = open;
  } else if (a->found != TOKEN_BRACKET) {
    return false;
  }
  if (!before.length || (a->found != TOKEN_BRACKET && !layer_kind_find(before)))
    return false;
  rest.length = find_byte(to_line_end(rest), ']');
  struct text text = text_new(a->p->arena);
  for (size_t i = 0; i < rest.length; i++)
    if (rest.at[i] != ',')
      text_putc(&text, rest.at[i]);
  diag_help(a->d, "values follow each other without brackets: `%.*s %.*s`",
            SLICE_ARG(before), SLICE_ARG(text_slice(&text)));
  return true;
}

/* `add` and its blocks on lines of their own */
static bool operands(struct advice *a) {
  if (a->found != TOKEN_BRACE || a->p->scan.before != TOKEN_BRACE_CLOSE)
    return false;
  diag_help(a->d, "blocks follow the layer that joins them, on its "
                  "line: `add { ... } { ... }`");
  return true;
}

/* net "my net", net my-net */
static bool net_name(struct advice *a) {
  if (!begins_with_word(a->before, "net") || a->found == TOKEN_END)
    return false;
  struct slice name = a->before.length > 3 ? trim(from(a->before, 3)) : a->word;
  struct slice end = to_line_end(a->line);
  name.length = (size_t)(end.at + end.length - name.at);
  struct text text = text_new(a->p->arena);
  for (size_t i = 0; i < name.length; i++) {
    char c = name.at[i];
    if (is_word(c))
      text_putc(&text, c);
    else if (c != '"' && i > 0)
      text_putc(&text, '_');
  }
  diag_help(a->d, "a name has letters, digits and `_`: `net %.*s`",
            SLICE_ARG(text_slice(&text)));
  return true;
}

static bool string(struct advice *a) {
  if (a->found != TOKEN_STRING || a->word.length < 2)
    return false;
  diag_help(a->d,
            "only a path is written in quotes: `use \"blocks.net\"`; a "
            "name stands alone: `%.*s`",
            (int)a->word.length - 2, a->word.at + 1);
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
  diag_help(
      a->d, "`%%` is a remainder; a share is written `0.%s%.*s`",
      end - start == 1 ? "0" : "",
      (int)(a->before.at[end - 1] == '0' && end - start == 2 ? 1 : end - start),
      a->before.at + start);
  return true;
}

static bool else_if(struct advice *a) {
  bool found = slice_is(a->word, "elif") || slice_is(a->word, "elseif");
  if (!found && !begins_with_word(a->before, "elif") &&
      !begins_with_word(a->before, "elseif"))
    return false;
  diag_help(a->d, "it is written `} else if ... {`");
  return true;
}

/* a + b on tensors */
static bool sum_of_tensors(struct advice *a) {
  const char *word = a->found == TOKEN_PLUS    ? "add"
                     : a->found == TOKEN_MINUS ? "sub"
                     : a->found == TOKEN_STAR  ? "mul"
                                               : NULL;
  struct slice right = first_word(trim(from(a->line, 1)));
  struct slice left = first_word(a->before);
  if (!word || !right.length || left.length != a->before.length)
    return false;
  diag_help(a->d, "tensors are joined by a layer: `%s %.*s %.*s`", word,
            SLICE_ARG(left), SLICE_ARG(right));
  return true;
}

static bool names_nothing(enum token token) {
  return token >= TOKEN_KW_NET;
}

static bool keyword(struct advice *a) {
  enum token before = a->p->scan.before;
  enum token word = a->found == TOKEN_COLON ? before : a->found;
  if (a->found == TOKEN_KW_ELSE || !names_nothing(word))
    return false;
  diag_help(a->d, "%s is a keyword and cannot be used as a name",
            token_words(word));
  return true;
}

/* Where the bracket stands that is still open. */
static bool file_end(struct advice *a) {
  const struct scan *scan = &a->p->scan;
  if (a->found != TOKEN_END)
    return false;
  if (a->p->value_alone) {
    diag_help(a->d, "a value stands between the braces of a message: "
                    "`{depth}`; a brace itself is written `{{`");
    return true;
  }
  if (scan->depth) {
    uint32_t at = scan->open_at[scan->depth - 1];
    diag_label(a->d, (struct span){at, at + 1}, "opened here");
  }
  diag_help(a->d, "is a closing bracket missing?");
  return true;
}

/* What to say of a token, whatever stands around it. */
static bool by_token(struct advice *a) {
  switch (a->found) {
  case TOKEN_KW_ELSE:
    diag_help(a->d, "`else` follows the closing brace: `} else {`");
    return true;
  case TOKEN_EQUAL:
  case TOKEN_UNEQUAL:
  case TOKEN_LESS:
  case TOKEN_LESS_EQUAL:
  case TOKEN_GREATER:
  case TOKEN_GREATER_EQUAL:
    diag_help(a->d, "as an argument, a comparison needs parentheses: "
                    "`(a == b)`");
    return true;
  case TOKEN_BRACE_CLOSE:
    diag_help(a->d, "is there a `}` too many, or is a `{` missing?");
    return true;
  case TOKEN_DOT:
    diag_help(a->d, "a number starts with a digit: `0.5`");
    return true;
  case TOKEN_COMMA:
    diag_help(a->d, "arguments are separated by blanks, statements by `;`");
    return true;
  case TOKEN_BY:
    diag_help(a->d, "the letter x joins sizes and names nothing else");
    return true;
  case TOKEN_STRIDE:
    diag_help(a->d, "to divide, write the `/` with blanks on both sides or on "
                    "none");
    return true;
  default: return false;
  }
}

static bool (*const rules[])(struct advice *) = {
    comment,     call,     empty_call, dotted,  net_name,
    before_body, range,    tuple,      blanks,  assignment,
    bracket,     string,   percent,    else_if, sum_of_tensors,
    operands,    file_end, keyword,    by_token};

void advice_give(struct parser *p, struct diagnostic *d, enum token found,
                 struct span span) {
  struct advice advice = {.p = p, .d = d, .found = found, .span = span};
  struct advice *a = &advice;
  const struct scan *scan = &a->p->scan;
  size_t at = a->span.begin - scan->base;
  a->word = sources_slice(a->p->diags->sources, a->span);
  a->line = from(scan->text, at);
  a->line.length = find_byte(a->line, '\n');
  a->before = statement_before(a->p, a->span.begin);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i](a))
      return;
}

/* Braces that the rest of the line opens, and that the parser skips. */
static int count_open(const struct parser *p, struct span span) {
  struct slice rest =
      to_line_end(from(p->scan.text, (size_t)(span.begin - p->scan.base)));
  int open = 0;
  for (size_t i = 0; i < rest.length; i++)
    open += (rest.at[i] == '{') - (rest.at[i] == '}');
  return open > 0 ? open : 0;
}

void advice_skip_line(struct parser *p, struct span span) {
  if (p->scan.silent)
    return; /* its braces are counted */
  p->skipped_braces += count_open(p, span);
  p->scan.silent = true;
}
