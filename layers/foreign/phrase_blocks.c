/*
 * Statements with a body in other languages: `for i in range(3):`, `if in.c ==
 * 3 {`, `def block(c):`.
 */
#include "layers/foreign/phrase.h"

#include <inttypes.h>
#include <stdlib.h>

#include "layers/layer.h"

/* Bodies: { ... }, or the text after a colon. */

void phrase_put_call(struct text *out, struct slice word, struct slice call) {
  call = slice_less(slice_from(call, 1), 1);
  text_puts(out, word);
  while (call.length) {
    text_putc(out, ' ');
    text_puts(out, slice_item(&call));
  }
}

static bool put_body(struct phrase *p, struct slice rest) {
  struct text *out = p->out;
  rest = slice_trim(rest, " \t\n=");
  if (slice_begins(rest, ":") || slice_starts_word(rest, "do") ||
      slice_starts_word(rest, "then"))
    rest = slice_plain(slice_from(rest, rest.at[0] == ':'   ? 1
                                        : rest.at[0] == 'd' ? 2
                                                            : 4));
  p->open = !rest.length;
  if (p->open)
    text_put(out, " {");
  else if (slice_begins(rest, "{"))
    text_printf(out, " %.*s", SLICE_ARG(rest));
  else {
    struct slice word = slice_word(rest), after = slice_from(rest, word.length);
    text_put(out, " { ");
    if (slice_begins(after, "(") && slice_close(after) + 1 == after.length)
      phrase_put_call(out, word, after);
    else
      text_puts(out, rest);
    text_put(out, " }");
  }
  return true;
}

static size_t body_begin(struct slice s) {
  size_t brace = slice_find(s, "{"), colon = slice_find(s, ": ");
  if (colon == s.length && s.length && s.at[s.length - 1] == ':')
    colon = s.length - 1;
  size_t block = slice_find(s, " do ");
  size_t best = brace < colon ? brace : colon;
  return best < block ? best : block;
}

static void put_less_one(struct text *out, struct slice high) {
  if (slice_is_number(high)) {
    char digits[24] = "";
    memcpy(digits, high.at, high.length < sizeof digits ? high.length : 0);
    text_int(out, strtoll(digits, NULL, 10) - 1);
  } else {
    text_printf(out, "%.*s - 1", SLICE_ARG(high));
  }
}

/* Writes the range of `1...3`, `0..<3`, `range(3)`, `1 to 3`, `1:3`, `3`. */
static bool put_range(struct text *out, struct slice s) {
  struct slice n[8];
  bool less = slice_find(s, "<") < s.length && slice_find(s, "<=") == s.length;
  bool python = slice_find(s, "range") < s.length;
  bool c = slice_find(s, ";") < s.length;
  struct slice words = python ? slice_from(s, slice_find(s, "(")) : s;
  int count = phrase_numbers(words, n, 8), at = 0;
  struct slice kept[8];
  for (int i = 0; i < count; i++)
    if (!phrase_is_one_of(n[i], "to do in downto int i j k") ||
        slice_is_number(n[i]))
      kept[at++] = n[i];
  if (c && at > 2 && !slice_is_number(kept[0]))
    return false;
  if (at == 1 && !python && !c) {
    text_printf(out, "1..%.*s", SLICE_ARG(kept[0]));
    return true;
  }
  if (at == 1) {
    text_put(out, "0..");
    put_less_one(out, kept[0]);
    return true;
  }
  if (at != 2 && !(c && at == 2))
    return false;
  text_printf(out, "%.*s..", SLICE_ARG(kept[0]));
  if (less || python)
    put_less_one(out, kept[1]);
  else
    text_puts(out, kept[1]);
  return true;
}

/* Writes the rows of [64 3; 128 4], [(64,3), (128,4)], [[64 3] [128 4]]. */
static bool put_rows(struct text *out, struct slice s) {
  int rows = 0, values = 0;
  s = slice_plain(s);
  if (!slice_begins(s, "[") && !slice_begins(s, "("))
    return false;
  s = slice_to(slice_from(s, 1), slice_close(s) - 1);
  bool nested = slice_find(s, "[") < s.length || slice_find(s, "(") < s.length;
  text_putc(out, '[');
  for (size_t i = 0; i < s.length; i++) {
    char c = s.at[i];
    if (nested ? c == ']' || c == ')' : c == ';' || c == '\n')
      rows++, values = 0;
    if (!is_word_byte(c) && c != '.')
      continue;
    size_t end = i;
    while (end < s.length && (is_word_byte(s.at[end]) || s.at[end] == '.'))
      end++;
    text_put(out, values ? " " : rows ? "; " : "");
    text_puts(out, slice_trim(slice_to(slice_from(s, i), end - i), "'\""));
    values++;
    i = end - 1;
  }
  text_putc(out, ']');
  return true;
}

bool phrase_loop(struct phrase *p) {
  struct slice line = slice_plain(p->line);
  if (!slice_starts_word(line, "for") && !slice_starts_word(line, "foreach"))
    return false;
  struct slice rest = phrase_after_word(line);
  size_t end = body_begin(rest);
  if (slice_begins(rest, "(") && slice_find(rest, ";") < rest.length)
    end = slice_close(rest) + 1;
  struct slice head = slice_plain(slice_to(rest, end));
  struct slice names = head, range = head;
  size_t in = slice_find(head, " in ");
  p->why = "a loop is `for i in 1..3 { ... }`, with both ends, or `repeat 3 { "
           "... }`";
  if (in < head.length) {
    names = slice_to(head, in);
    range = slice_plain(slice_from(head, in + 4));
  } else {
    range = slice_trim(head, "()");
    if (slice_starts_word(range, "int") || slice_starts_word(range, "let") ||
        slice_starts_word(range, "var"))
      range = phrase_after_word(range);
    names = slice_word(range);
    range = slice_plain(slice_from(range, names.length));
  }
  struct slice n[8];
  int count = phrase_numbers(names, n, 8);
  if (count < 1 || slice_is(n[0], "in"))
    return false;
  if (count == 1 && slice_is(n[0], "_")) {
    struct slice times[4];
    struct slice all = slice_from(range, slice_find(range, "("));
    if (phrase_numbers(all, times, 4) != 1)
      return false;
    text_printf(p->out, "repeat %.*s", SLICE_ARG(times[0]));
    return put_body(p, slice_from(rest, end));
  }
  text_put(p->out, "for");
  for (int i = 0; i < count; i++) {
    text_putc(p->out, ' ');
    if (slice_is(n[i], "x"))
      text_putc(p->out, 'i');
    else
      phrase_put_name(p->out, n[i]);
  }
  text_put(p->out, " in ");
  bool table = range.length && (range.at[0] == '[' || range.at[0] == '(') &&
               in < head.length;
  if (table || count > 1) {
    p->why = "the rows of a table end with `;`, and values are separated by "
             "blanks: `for c n in [64 3; 128 4] { ... }`";
    if (!put_rows(p->out, range))
      return false;
  } else if (slice_find(range, ",") < range.length &&
             slice_find(range, "range") == range.length) {
    struct text list = text_new(p->arena);
    text_printf(&list, "[%.*s]", SLICE_ARG(range));
    if (!put_rows(p->out, text_slice(&list)))
      return false;
  } else if (!put_range(p->out, range)) {
    return false;
  }
  return put_body(p, slice_from(rest, end));
}

/* loop 3 { .. }, repeat 3 res 64, 3 * res 64, 4x { .. }, x4 { .. },
   res 64 x3 */
bool phrase_repetition(struct phrase *p) {
  struct slice line = slice_plain(p->line), word = slice_word(line);
  struct slice rest = phrase_after_word(line), count = word;
  p->why = "put the repeated layers in braces: `repeat 3 { ... }`";
  if (phrase_is_one_of(word, "loop repeat times do stack")) {
    rest = slice_trim(rest, "() ");
    count = slice_word(rest);
    rest = slice_plain(slice_from(rest, count.length));
    if (slice_begins(rest, ":") || slice_starts_word(rest, "times"))
      rest = slice_plain(slice_from(rest, rest.at[0] == ':' ? 1 : 5));
  } else if (slice_begins(line, "[") || slice_begins(line, "(")) {
    size_t close = slice_close(line);
    count = slice_trim(slice_to(line, close), "[]() x*");
    rest = slice_plain(slice_from(line, close + 1));
  } else if (word.length && is_digit(word.at[0])) {
    count = slice_trim(word, "xX");
    if (count.length == word.length && !slice_begins(rest, "*") &&
        !slice_starts_word(rest, "x"))
      return false;
    rest = slice_trim(rest, "* ");
    if (slice_starts_word(rest, "x"))
      rest = phrase_after_word(rest);
  } else if (slice_begins(word, "x") && slice_begins(rest, "{")) {
    count = slice_from(word, 1);
  } else {
    size_t star = slice_find(line, "*"), by = slice_find(line, " x");
    size_t at = star < line.length ? star : by;
    if (at >= line.length || memchr(line.at, '=', line.length) ||
        slice_find(line, "**") < line.length || !phrase_is_name(word))
      return false;
    count = slice_plain(slice_trim(slice_from(line, at), "*x "));
    rest = slice_plain(slice_to(line, at));
    word = slice_word(rest);
    struct slice inside = phrase_after_word(rest);
    if (slice_begins(inside, "(")) {
      struct text call = text_new(p->arena);
      text_printf(&call, "%.*s ", SLICE_ARG(word));
      text_puts(&call, slice_trim(inside, "()"));
      rest = text_slice(&call);
    }
  }
  bool open = phrase_is_one_of(word, "loop repeat") && !rest.length;
  if (!slice_is_number(count) || (!rest.length && !open) ||
      slice_begins(rest, "="))
    return false;
  text_printf(p->out, "repeat %.*s", SLICE_ARG(count));
  return put_body(p, rest);
}

/* if in.c==3: relu; conv 64 3x3 if in.c == 3; if in.c = 3 { .. } */
bool phrase_condition(struct phrase *p) {
  struct slice line = slice_plain(p->line);
  size_t at = slice_find(line, " if ");
  p->why = "a condition is `if a == b { ... } else { ... }`";
  if (slice_starts_word(line, "if")) {
    struct slice rest = phrase_after_word(line);
    size_t end =
        slice_begins(rest, "(") ? slice_close(rest) + 1 : body_begin(rest);
    struct slice test = slice_to(rest, end);
    text_put(p->out, "if ");
    phrase_put_logic(p->out, test, true);
    return put_body(p, slice_from(rest, end));
  }
  if (at >= line.length)
    return false;
  struct slice test = slice_plain(slice_from(line, at + 4));
  struct slice body = slice_plain(slice_to(line, at));
  text_printf(p->out, "if %.*s { %.*s }", SLICE_ARG(test), SLICE_ARG(body));
  return true;
}

/* block res(c) { .. }, def res c { .. }, def res(c): conv c 3x3 */
bool phrase_definition(struct phrase *p) {
  struct slice line = slice_plain(p->line), word = slice_word(line);
  if (!phrase_is_one_of(word,
                        "def block function func fn module define macro fun "
                        "subgraph proc layer component template class"))
    return false;
  struct slice rest = phrase_after_word(line), name = slice_word(rest);
  struct slice more = slice_plain(slice_from(rest, name.length)), params = {0};
  if (!phrase_is_name(name) || body_begin(more) >= more.length)
    return false;
  if (slice_begins(more, "(")) {
    size_t close = slice_close(more);
    params = slice_to(slice_from(more, 1), close - 1);
    more = slice_from(more, close + 1);
  } else {
    size_t end = body_begin(more);
    params = slice_plain(slice_to(more, end));
    more = slice_from(more, end);
  }
  more = slice_plain(more);
  if (slice_begins(more, "->"))
    more = slice_from(more, body_begin(more));
  text_put(p->out, "def ");
  phrase_put_name(p->out, name);
  int count = 0;
  struct slice all = params;
  while (all.length) {
    struct slice param = slice_item(&all), key = slice_word(param);
    struct slice value = slice_trim(slice_from(param, key.length), " =:");
    if (phrase_is_one_of(key, "self x input inputs"))
      continue;
    text_put(p->out, count++ ? ", " : "(");
    phrase_put_name(p->out, key);
    if (value.length && slice_find(param, "=") < param.length)
      text_printf(p->out, "=%.*s", SLICE_ARG(value));
    else if (value.length)
      text_printf(p->out, ", %.*s", SLICE_ARG(value));
  }
  text_put(p->out, count ? ")" : "");
  p->why = "define a reusable block with `def NAME(c) { ... }`; it returns "
           "its last tensor";
  size_t keyword = slice_find(more, "return ");
  struct text body = text_new(p->arena);
  text_puts(&body, slice_to(more, keyword));
  text_puts(&body, slice_from(more, keyword + strlen("return ")));
  return put_body(p, text_slice(&body));
}
