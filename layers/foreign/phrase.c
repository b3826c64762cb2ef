/*
 * Statements as other languages have them: `for i in range(3):`, `x =
 * F.relu(x)`, `batch_size = 32`. A rule for each kind; those of layers are in
 * line.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "layers/foreign/line.h"
#include "layers/foreign/words.h"
#include "layers/layer.h"

struct phrase {
  struct arena *arena;
  struct slice line;
  struct text *out;
  const char *why;
  bool open; /* its body is on the lines that follow */
  int depth; /* of calls in calls */
};

enum { DEEPEST = 8 };

static bool is_one_of(struct slice word, const char *words) {
  struct slice known;
  for (int i = 1; (known = word_at(words, i)).length; i++)
    if (slice_equal(known, word))
      return true;
  return false;
}

/* What is left after a word, without blanks. */
static struct slice after_word(struct slice s) {
  return slice_plain(slice_from(s, slice_word(s).length));
}

static bool is_name_of(struct slice s) {
  return s.length && slice_word(s).length == s.length &&
         !is_digit_char(s.at[0]) && !slice_is(s, "_");
}

/* The line without what ends it in other languages. */
static struct slice bare(struct slice line) {
  return slice_trim(slice_plain(line), ";, \t");
}

static bool put_line(struct phrase *p, struct slice line);
static bool put_statement(struct phrase *p, struct slice line);

/* &&, || and ! in words; a lone = compares where `compares`. */
static void put_logic(struct text *out, struct slice s, bool compares) {
  s = slice_plain(s);
  for (size_t i = 0; i < s.length; i++) {
    char next = i + 1 < s.length ? s.at[i + 1] : ' ';
    bool lone = compares && s.at[i] == '=' && next != '=' && i &&
                !strchr("=!<>", s.at[i - 1]);
    if (lone)
      text_put(out, "==");
    else if (s.at[i] == '!' && next != '=')
      text_put(out, "not ");
    else if ((s.at[i] == '&' || s.at[i] == '|') && next == s.at[i])
      text_put(out, s.at[i++] == '&' ? "and" : "or");
    else
      text_putc(out, s.at[i]);
  }
}

/* What is not said here at all */

/* import "a.net", #include "a.net", use a.net */
static bool taken_in(struct phrase *p) {
  struct slice line = bare(p->line), word = slice_word(line);
  struct slice rest = after_word(line);
  bool quoted = rest.length && rest.at[0] == '"';
  if (is_one_of(word, "import include require from using") && quoted) {
    size_t end = slice_find(slice_from(rest, 1), "\"");
    text_printf(p->out, "use \"%.*s\"",
                SLICE_ARG(slice_to(slice_from(rest, 1), end)));
    p->why = "another file is taken in by `use`";
    return true;
  }
  if (slice_begins(line, "#include") || slice_is(word, "use")) {
    bool use = slice_is(word, "use");
    struct slice path = slice_trim(use ? rest : slice_from(line, 8), " \"<>'");
    if (!path.length)
      return false;
    text_printf(p->out, "use \"%.*s\"", SLICE_ARG(path));
    p->why = "a path is written in quotes, after `use`";
    return true;
  }
  return false;
}

/* class Net(nn.Module):, def forward(self, x):, head: */
static bool method(struct phrase *p) {
  struct slice line = bare(p->line), word = slice_word(line);
  struct slice rest = after_word(line);
  if (slice_is(word, "class") && is_name_of(slice_word(rest))) {
    text_printf(p->out, "net %.*s", SLICE_ARG(slice_word(rest)));
    p->why = "a net is named by `net NAME`; its layers follow";
    return true;
  }
  if (slice_is(word, "def") &&
      is_one_of(slice_word(rest),
                "__init__ forward call __call__ build main")) {
    p->why = "layers follow each other as they are written, without a method";
    return true;
  }
  if (slice_find(line, "Sequential()") < line.length) {
    p->why = "layers follow each other as they are written";
    return true;
  }
  if (line.length > 1 && line.at[line.length - 1] == ':' &&
      is_name_of(slice_to(line, line.length - 1)) &&
      !is_one_of(word, "else repeat")) {
    p->why = "a group is `name: { ... }`";
    return true;
  }
  return false;
}

static bool leave_out(struct phrase *p) {
  struct slice line = bare(p->line), word = slice_word(line);
  struct slice rest = after_word(line);
  if (is_one_of(word, "import from") && !slice_begins(rest, "{")) {
    p->why = is_one_of(word, "import")
                 ? "nothing is imported: layers are known by their names"
                 : NULL;
    return slice_is(word, "import") || slice_find(line, "import") < line.length;
  }
  if (slice_is(word, "return") && (!rest.length || is_name_of(rest))) {
    p->why = "the last tensor is the output; another one is made current by "
             "`from LABEL`";
    return true;
  }
  if (is_one_of(word, "print disp summary show plot assert") &&
      slice_begins(rest, "(")) {
    p->why = "the report shows every layer";
    return true;
  }
  if (is_one_of(word, "super pass end endfor endif self classificationLayer") &&
      (slice_begins(rest, "()") || slice_begins(rest, "(") || !rest.length)) {
    p->why = "there is nothing to say for it here";
    return true;
  }
  if (slice_is(word, "output") && line_layer(slice_word(rest)) &&
      slice_word(rest).length < rest.length) {
    p->why = "`output NAME` gives a tensor a name, and applies no layer";
    return put_line(p, rest);
  }
  if (slice_is(word, "output") && slice_is_number(rest)) {
    text_printf(p->out, "fc %.*s", SLICE_ARG(rest));
    p->why = "`output NAME` gives a tensor a name; a dense layer is `fc 10`";
    return true;
  }
  if (line.length && ((unsigned char)line.at[0] >= 0x80 || line.at[0] == '"') &&
      slice_find(line, ":") == line.length) {
    text_printf(p->out, "# %.*s", SLICE_ARG(line));
    p->why = "a comment begins with `#`";
    return true;
  }
  if (line.length && line.at[0] == '@') {
    p->why = "there are no decorators";
    return true;
  }
  if (slice_begins(line, "->")) {
    p->why = "a mark stands after its layer, on the same line: `pool 2x2 -> "
             "16x16x3`";
    return true;
  }
  return line.length && strchr("}])$", line.at[0]) && line.length <= 2;
}

/* Settings */

static const char *setting_of(struct slice key) {
  static const struct {
    const char *words, *ours;
  } rows[] = {{"batch batch_size batchsize bs minibatch mini_batch BATCH_SIZE",
               "batch"},
              {"optimizer optim opt solver", "optimizer"},
              {"loss criterion loss_fn objective", "loss"},
              {"precision amp", "precision"},
              {"dtype", "dtype"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_one_of(key, rows[i].words))
      return rows[i].ours;
  return NULL;
}

static const char unsaid[] =
    "lr learning_rate epochs epoch weight_decay momentum num_epochs seed "
    "shuffle scheduler metrics verbose device num_workers decay steps "
    "max_epochs iterations";

/* batch=64, optimizer: "adam": those that are settings. */
static bool put_settings(struct phrase *p, struct slice rest) {
  int count = 0;
  rest = slice_trim(rest, "{}() \t\n:");
  while (rest.length) {
    struct slice key = slice_word(rest);
    rest = slice_trim(slice_from(rest, key.length), " =:,;\t\n");
    size_t length = 0;
    while (length < rest.length && !strchr(" ,;}\n", rest.at[length]))
      length++;
    struct slice value = slice_trim(slice_to(rest, length), "'\"");
    rest = slice_trim(slice_from(rest, length), " ,;\t\n}");
    const char *ours = setting_of(key);
    if (!key.length || !value.length)
      return false;
    if (is_one_of(key, unsaid)) {
      p->why = "it changes no shape, count or byte";
      continue;
    }
    const char *known = foreign_choice_find(ours ? ours : "", value);
    text_put(p->out, count++ ? " " : "");
    if (ours)
      text_put(p->out, ours);
    else
      text_puts(p->out, key);
    if (known && !strchr(known, ' '))
      text_printf(p->out, "=%s", known);
    else
      text_printf(p->out, "=%.*s", SLICE_ARG(value));
  }
  return true;
}

static bool setting(struct phrase *p) {
  struct slice line = bare(p->line), word = slice_word(line);
  struct slice rest = after_word(line);
  size_t compile = slice_find(line, ".compile(");
  if (compile < line.length) {
    rest = slice_trim(slice_from(line, compile + strlen(".compile(")), ")");
    word = slice_of("train");
  }
  bool section = is_one_of(word, "train infer budget training inference");
  if (section && !is_one_of(word, "train infer budget"))
    word = slice_is(word, "training") ? slice_of("train") : slice_of("infer");
  bool single =
      setting_of(word) || (is_one_of(word, unsaid) && slice_begins(rest, "="));
  if ((!section && !single) || !rest.length || slice_begins(rest, "("))
    return false;
  size_t before = p->out->length;
  p->why = "settings stand on a `train` line: `train batch=32 optimizer=adam`";
  text_printf(p->out, "%.*s ", SLICE_ARG(section ? word : slice_of("train")));
  size_t empty = p->out->length;
  if (!put_settings(p, section ? rest : line))
    return false;
  if (p->out->length == empty)
    p->out->length = before;
  return true;
}

/* Names */

/* A word that may be a name here: those of the language get a `_`. */
static void put_name(struct text *out, struct slice name) {
  if (name.length && is_digit_char(name.at[0]))
    text_putc(out, 'n');
  for (size_t i = 0; i < name.length; i++)
    text_putc(out, is_word_char(name.at[i]) ? name.at[i] : '_');
  if (is_one_of(name, "net input fork from again output def let param repeat "
                      "for in if else use train infer budget and or not true "
                      "false x"))
    text_putc(out, '_');
}

/* let c := 4, const c = 4, int c = 4 */
static bool constant(struct phrase *p) {
  struct slice line = bare(p->line), word = slice_word(line);
  struct slice rest = after_word(line);
  bool param = slice_is(word, "param");
  bool typed = param || is_one_of(word, "let const var int float double local "
                                        "auto final val set define constant");
  struct slice name = typed ? slice_word(rest) : word;
  struct slice value = typed ? after_word(rest) : rest;
  bool numbered =
      slice_begins(value, ":") && slice_is_number(slice_trim(value, ": "));
  if (param && name.length && !value.length) {
    text_printf(p->out, "param %.*s = 1", SLICE_ARG(name));
    p->why = "a param has a default: `param depth = 4`";
    return true;
  }
  if (!name.length || (!typed && !numbered && !slice_begins(value, "=") &&
                       !slice_begins(value, ":=")))
    return false;
  value = slice_trim(value, ":= \t");
  if (value.length == 0 || slice_begins(value, "{") ||
      (!typed && (line_layer(slice_word(value)) || line_layer(name))))
    return false;
  text_put(p->out, param ? "param " : "let ");
  put_name(p->out, name);
  if (memchr(value.at, '(', value.length) && !slice_begins(value, "("))
    return false; /* a call is no constant */
  text_put(p->out, " = ");
  put_logic(p->out, value, false);
  p->why = "a constant is defined with `let`";
  return true;
}

/* a:b: relu, stage-1: relu, "stem": relu, 1st: relu, conv1 = conv 64 3x3 */
static bool label(struct phrase *p) {
  struct slice line = bare(p->line);
  size_t end = 0;
  while (end < line.length &&
         (is_word_char(line.at[end]) || strchr("-.\"':", line.at[end])))
    end++;
  struct slice head = slice_to(line, end), rest = slice_from(line, end);
  if (!head.length || head.at[head.length - 1] != ':' || !rest.length)
    return false;
  put_name(p->out, slice_trim(head, ":\"'"));
  text_put(p->out, ":");
  text_puts(p->out, rest);
  p->why = "a label has letters, digits and `_`, and begins with a letter";
  return true;
}

/* Bodies: { ... }, or what stands after a colon. */

/* block(4, s=2) without its parentheses */
static void put_call(struct text *out, struct slice word, struct slice call) {
  call = slice_to(slice_from(call, 1), call.length - 2);
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
      put_call(out, word, after);
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

/* The numbers of a text, up to four; false if there is anything else. */
static int numbers_in(struct slice s, struct slice *numbers, int most) {
  int count = 0;
  for (size_t i = 0; i < s.length;) {
    if (!is_word_char(s.at[i])) {
      i++;
      continue;
    }
    struct slice word = slice_word(slice_from(s, i));
    if (count == most)
      return -1;
    numbers[count++] = word;
    i += word.length;
  }
  return count;
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

/* low and high of `1...3`, `0..<3`, `range(3)`, `1 to 3`, `1:3`, `3` */
static bool put_range(struct text *out, struct slice s) {
  struct slice n[8];
  bool less = slice_find(s, "<") < s.length && slice_find(s, "<=") == s.length;
  bool python = slice_find(s, "range") < s.length;
  bool c = slice_find(s, ";") < s.length;
  struct slice words = python ? slice_from(s, slice_find(s, "(")) : s;
  int count = numbers_in(words, n, 8), at = 0;
  struct slice kept[8];
  for (int i = 0; i < count; i++)
    if (!is_one_of(n[i], "to do in downto int i j k") || slice_is_number(n[i]))
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

/* A table of rows: [64 3; 128 4], [(64,3), (128,4)], [[64 3] [128 4]] */
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
    if (!is_word_char(c) && c != '.')
      continue;
    size_t end = i;
    while (end < s.length && (is_word_char(s.at[end]) || s.at[end] == '.'))
      end++;
    text_put(out, values ? " " : rows ? "; " : "");
    text_puts(out, slice_trim(slice_to(slice_from(s, i), end - i), "'\""));
    values++;
    i = end - 1;
  }
  text_putc(out, ']');
  return true;
}

static bool loop(struct phrase *p) {
  struct slice line = slice_plain(p->line);
  if (!slice_starts_word(line, "for") && !slice_starts_word(line, "foreach"))
    return false;
  struct slice rest = after_word(line);
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
      range = after_word(range);
    names = slice_word(range);
    range = slice_plain(slice_from(range, names.length));
  }
  struct slice n[8];
  int count = numbers_in(names, n, 8);
  if (count < 1 || slice_is(n[0], "in"))
    return false;
  if (count == 1 && slice_is(n[0], "_")) {
    struct slice times[4];
    struct slice all = slice_from(range, slice_find(range, "("));
    if (numbers_in(all, times, 4) != 1)
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
      put_name(p->out, n[i]);
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

/* loop 3 { .. }, repeat 3 res 64, 3 * res 64, 4x { .. }, res 64 x3 */
static bool repetition(struct phrase *p) {
  struct slice line = slice_plain(p->line), word = slice_word(line);
  struct slice rest = after_word(line), count = word;
  p->why = "what is repeated stands in braces: `repeat 3 { ... }`";
  if (is_one_of(word, "loop repeat times do stack")) {
    rest = slice_trim(rest, "() ");
    count = slice_word(rest);
    rest = slice_plain(slice_from(rest, count.length));
    if (slice_begins(rest, ":") || slice_starts_word(rest, "times"))
      rest = slice_plain(slice_from(rest, rest.at[0] == ':' ? 1 : 5));
  } else if (slice_begins(line, "[") || slice_begins(line, "(")) {
    size_t close = slice_close(line);
    count = slice_trim(slice_to(line, close), "[]() x*");
    rest = slice_plain(slice_from(line, close + 1));
  } else if (word.length && is_digit_char(word.at[0])) {
    count = slice_trim(word, "xX");
    if (count.length == word.length && !slice_begins(rest, "*") &&
        !slice_starts_word(rest, "x"))
      return false;
    rest = slice_trim(rest, "* ");
    if (slice_starts_word(rest, "x"))
      rest = after_word(rest);
  } else {
    size_t star = slice_find(line, "*"), by = slice_find(line, " x");
    size_t at = star < line.length ? star : by;
    if (at >= line.length || memchr(line.at, '=', line.length) ||
        slice_find(line, "**") < line.length || !is_name_of(word))
      return false;
    count = slice_plain(slice_trim(slice_from(line, at), "*x "));
    rest = slice_plain(slice_to(line, at));
    word = slice_word(rest);
    struct slice inside = after_word(rest);
    if (slice_begins(inside, "(")) {
      struct text call = text_new(p->arena);
      text_printf(&call, "%.*s %.*s", SLICE_ARG(word),
                  SLICE_ARG(slice_trim(inside, "()")));
      rest = text_slice(&call);
    }
  }
  bool open = is_one_of(word, "loop repeat") && !rest.length;
  if (!slice_is_number(count) || (!rest.length && !open) ||
      slice_begins(rest, "="))
    return false;
  text_printf(p->out, "repeat %.*s", SLICE_ARG(count));
  return put_body(p, rest);
}

/* if in.c==3: relu; conv 64 3x3 if in.c == 3; if in.c = 3 { .. } */
static bool condition(struct phrase *p) {
  struct slice line = slice_plain(p->line);
  size_t at = slice_find(line, " if ");
  p->why = "a condition is `if a == b { ... } else { ... }`";
  if (slice_starts_word(line, "if")) {
    struct slice rest = after_word(line);
    size_t end =
        slice_begins(rest, "(") ? slice_close(rest) + 1 : body_begin(rest);
    struct slice test = slice_to(rest, end);
    text_put(p->out, "if ");
    put_logic(p->out, test, true);
    return put_body(p, slice_from(rest, end));
  }
  if (at >= line.length)
    return false;
  text_printf(p->out, "if %.*s { %.*s }",
              SLICE_ARG(slice_plain(slice_from(line, at + 4))),
              SLICE_ARG(slice_plain(slice_to(line, at))));
  return true;
}

/* block res(c) { .. }, def res c { .. }, def res(c): conv c 3x3 */
static bool definition(struct phrase *p) {
  struct slice line = slice_plain(p->line), word = slice_word(line);
  if (!is_one_of(word, "def block function func fn module define macro fun "
                       "subgraph proc layer component template class"))
    return false;
  struct slice rest = after_word(line), name = slice_word(rest);
  struct slice more = slice_plain(slice_from(rest, name.length)), params = {0};
  if (!is_name_of(name) || body_begin(more) >= more.length)
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
  put_name(p->out, name);
  int count = 0;
  struct slice all = params;
  while (all.length) {
    struct slice param = slice_item(&all), key = slice_word(param);
    struct slice value = slice_trim(slice_from(param, key.length), " =:");
    if (is_one_of(key, "self x input inputs"))
      continue;
    text_put(p->out, count++ ? ", " : "(");
    put_name(p->out, key);
    if (value.length && slice_find(param, "=") < param.length)
      text_printf(p->out, "=%.*s", SLICE_ARG(value));
    else if (value.length)
      text_printf(p->out, ", %.*s", SLICE_ARG(value));
  }
  text_put(p->out, count ? ")" : "");
  p->why = "a part to be called is `def NAME(c) { ... }`; its last tensor is "
           "what it gives";
  size_t keyword = slice_find(more, "return ");
  struct text body = text_new(p->arena);
  text_puts(&body, slice_to(more, keyword));
  text_puts(&body, slice_from(more, keyword + strlen("return ")));
  return put_body(p, text_slice(&body));
}

/* Joins */

/* What is the current tensor anyway. */
static bool is_current(struct slice word) {
  return is_one_of(word, "x out y h prev previous last self current input _ "
                         "this hidden output");
}

/* Operands: labels and blocks, without what separates them. */
static int put_operands(struct text *out, struct slice rest) {
  int count = 0;
  rest = slice_trim(rest, "()[] \t");
  for (size_t i = 0; i < rest.length;) {
    struct slice here = slice_from(rest, i);
    size_t length = slice_word(here).length;
    if (here.at[0] == '{')
      length = slice_close(here) + 1;
    while (here.at[0] != '{' && length < here.length &&
           (here.at[length] == '.' || is_word_char(here.at[length])))
      length++;
    if (!length) {
      if (!strchr(" ,+()[]\t\n", here.at[0]))
        return -1;
      i++;
      continue;
    }
    struct slice operand = slice_to(here, length);
    i += length;
    if (slice_is(operand, "dim") || slice_is(operand, "axis"))
      break;
    if (is_current(operand))
      continue;
    text_printf(out, " %.*s", SLICE_ARG(operand));
    count++;
  }
  return count;
}

static bool join(struct phrase *p) {
  struct slice line = bare(p->line), word = slice_word(line);
  struct slice rest = slice_from(line, word.length);
  size_t assigned = slice_find(line, "=");
  if (slice_begins(line, "+") && is_name_of(slice_trim(line, "+= "))) {
    text_printf(p->out, "add %.*s", SLICE_ARG(slice_trim(line, "+= ")));
    p->why = "tensors are added by a layer: `add LABEL`";
    return true;
  }
  if (is_name_of(word) && !is_current(word) && assigned < line.length &&
      slice_is(slice_plain(slice_from(line, assigned + 1)), "x")) {
    put_name(p->out, word);
    text_put(p->out, ": identity");
    p->why = "a tensor has the label of the layer that makes it, or of "
             "`identity`";
    return true;
  }
  if (is_current(word) && assigned < line.length) { /* x = x + skip, x += y */
    bool plus = assigned && line.at[assigned - 1] == '+';
    rest = slice_plain(slice_from(line, assigned + 1));
    word = slice_word(rest);
    if (plus || slice_find(rest, " + ") < rest.length) {
      if (slice_find(rest, "(") < rest.length)
        return false;
      text_put(p->out, "add");
      p->why = "tensors are added by a layer: `add LABEL`";
      return put_operands(p->out, rest) > 0;
    }
    while (slice_find(rest, ".") < slice_find(rest, "("))
      rest = slice_from(rest, slice_find(rest, ".") + 1);
    word = slice_word(rest);
    rest = slice_from(rest, word.length);
  }
  const struct layer_kind *kind = line_layer(word);
  bool branch = is_one_of(word, "branch residual skip shortcut parallel "
                                "branches inception");
  p->why = "what is joined are labels and blocks, separated by blanks: `add "
           "skip`, `concat { ... } { ... }`";
  if (branch) {
    bool sum = is_one_of(word, "residual skip shortcut");
    text_put(p->out, sum ? "add" : "concat");
    rest = slice_plain(rest);
    if (!rest.length || rest.at[0] == '-')
      return false;
    if (rest.at[0] == '{') {
      text_printf(p->out, " %.*s", SLICE_ARG(rest));
      bool one = slice_close(rest) + 1 == rest.length;
      text_put(p->out, one ? " {}" : "");
      return true;
    }
    bool padded = slice_find(rest, "pad") < rest.length;
    text_printf(p->out, " { %.*s%s } {}", SLICE_ARG(rest),
                padded ? "" : " pad");
    return true;
  }
  if (!kind || !kind->join)
    return false;
  text_put(p->out, kind->name);
  return put_operands(p->out, rest) > 0;
}

/* Inputs */

static bool input(struct phrase *p) {
  struct slice line = bare(p->line), n[8];
  size_t assigned = slice_find(line, "=");
  struct slice left = slice_word(line), rest = after_word(line);
  if (slice_begins(rest, "=") && slice_find(line, "(") > assigned &&
      !is_one_of(left, "input_shape input shape input_size"))
    rest = line = slice_plain(slice_from(line, assigned + 1));
  while (slice_find(line, ".") < slice_find(line, "("))
    line = slice_from(line, slice_find(line, ".") + 1);
  struct slice word = slice_word(line);
  if (!is_one_of(word, "input Input inputs InputLayer imageInputLayer data "
                       "placeholder input_shape shape Placeholder INPUT"))
    return false;
  rest = after_word(line);
  size_t shape = slice_find(rest, "shape");
  if (shape < rest.length)
    rest = slice_from(rest, shape + 5);
  if (slice_find(rest, "Normalization") < rest.length)
    rest = slice_to(rest, slice_find(rest, "Normalization") - 1);
  struct text apart = text_new(p->arena);
  for (size_t i = 0; i < rest.length; i++)
    text_putc(&apart, strchr("xX", rest.at[i]) ? ' ' : rest.at[i]);
  int count = numbers_in(text_slice(&apart), n, 8);
  int from = 0;
  text_put(p->out, "input ");
  if (count > 0 && !is_digit_char(n[0].at[0])) {
    put_name(p->out, n[from++]);
    text_putc(p->out, ' ');
  }
  while (count - from > 1 && is_one_of(n[from], "None batch N B"))
    from++;
  bool first = count - from == 3 && is_one_of(n[from], "1 3") &&
               !is_one_of(n[from + 2], "1 3");
  if (count == from)
    text_put(p->out, "224x224x3");
  for (int i = from; i < count; i++) {
    int at = first ? from + (i - from + 1) % 3 : i;
    text_put(p->out, i > from ? "x" : "");
    text_puts(p->out, n[at]);
  }
  p->why = "sizes are joined by x, channels last, without the batch";
  return count >= 1;
}

/* Layers */

/* `self.conv1 = ..`: conv1; x and its like are no labels. */
static struct slice label_before(struct slice *line) {
  size_t assigned = slice_find(*line, "=");
  struct slice left = slice_plain(slice_to(*line, assigned));
  if (assigned >= line->length || slice_find(*line, "(") < assigned)
    return (struct slice){NULL, 0};
  if (slice_begins(left, "self."))
    left = slice_from(left, 5);
  if (!is_name_of(left))
    return (struct slice){NULL, 0};
  *line = slice_plain(slice_from(*line, assigned + 1));
  bool flows = is_current(left) ||
               is_one_of(left, "inputs outputs model net layer layers logits "
                               "feat features z");
  return flows ? (struct slice){NULL, 0} : left;
}

/* What is inside of model.add(..), Sequential(.., ..): each a statement. */
static bool put_list(struct phrase *p, struct slice list) {
  int count = 0;
  list = slice_trim(list, "[] \t\n");
  while (list.length) {
    struct slice item = slice_item(&list);
    if (!item.length)
      continue;
    text_put(p->out, count++ ? "; " : "");
    if (!put_line(p, item))
      return false;
  }
  return count > 0;
}

/* - [-1, 1, Conv, [64, 3, 2]] of YOLO's YAML. */
static bool yolo(struct phrase *p, struct slice line) {
  struct slice list, item[4], arguments, n[8];
  if (!slice_begins(line, "- [") && !slice_begins(line, "-["))
    return false;
  list = slice_from(line, slice_find(line, "[") + 1);
  list = slice_to(list, list.length - 1);
  for (int i = 0; i < 4; i++)
    item[i] = slice_trim(slice_item(&list), "'\"");
  struct slice name = item[2];
  while (slice_find(name, ".") < name.length)
    name = slice_from(name, slice_find(name, ".") + 1);
  arguments = slice_trim(item[3], "[]");
  int count = numbers_in(arguments, n, 8);
  const struct foreign_layer *row = foreign_layer_find(name);
  if (row && !*row->ours) {
    p->why = row->note;
    text_puts(p->out, name);
    return true;
  }
  if (!slice_is(item[0], "-1") || count < 0) {
    p->why = "layers are joined by their labels: `concat LABEL`";
    text_puts(p->out, name);
    return true;
  }
  bool repeats = slice_is_number(item[1]) && !slice_is(item[1], "1");
  if (repeats)
    text_printf(p->out, "repeat %.*s { ", SLICE_ARG(item[1]));
  if (slice_is(name, "Conv") && count >= 2) {
    text_printf(p->out, "conv %.*s %.*s", SLICE_ARG(n[0]), SLICE_ARG(n[1]));
    if (count > 2 && !slice_is(n[2], "1"))
      text_printf(p->out, " /%.*s", SLICE_ARG(n[2]));
    text_put(p->out, " pad bn silu");
    p->why = "YOLO's Conv is a convolution with `bn` and `silu`";
  } else if (slice_is(name, "Upsample") && count >= 2) {
    text_printf(p->out, "up %.*s", SLICE_ARG(n[1]));
    p->why = "enlarging by a factor is `up 2`";
  } else if (!line_write(p->arena, name, (struct slice){NULL, 0}, p->out,
                         &p->why)) {
    return false;
  }
  text_put(p->out, repeats ? " }" : "");
  return true;
}

/* convolution2dLayer(3, 64, 'Padding', 'same') of MATLAB, as a call. */
static struct slice matlab(struct phrase *p, struct slice line) {
  struct slice word = slice_word(line);
  size_t end = slice_find(word, "Layer");
  if (end == word.length || end + 5 != word.length)
    return line;
  struct slice rest = slice_from(line, word.length);
  struct slice inside =
      slice_to(slice_from(rest, 1), rest.length ? slice_close(rest) - 1 : 0);
  word = slice_to(word, end);
  bool conv = slice_find(word, "onvolution") < word.length;
  struct text out = text_new(p->arena);
  struct slice first = conv ? slice_item(&inside) : (struct slice){NULL, 0};
  text_put(&out, conv ? "conv(" : "");
  if (!conv)
    text_printf(&out, "%.*s(",
                SLICE_ARG(slice_to(word, slice_find(word, "2d"))));
  if (conv)
    text_puts(&out, slice_item(&inside));
  text_put(&out, conv ? ", " : "");
  text_puts(&out, first);
  while (inside.length) {
    struct slice item = slice_item(&inside);
    bool key = item.length && strchr("'\"", item.at[0]) && inside.length;
    text_put(&out, ", ");
    if (key)
      text_printf(&out, "%.*s=", SLICE_ARG(slice_trim(item, "'\"")));
    text_puts(&out, key ? slice_item(&inside) : item);
  }
  text_putc(&out, ')');
  return text_slice(&out);
}

static bool put_line(struct phrase *p, struct slice line) {
  if (p->depth++ > DEEPEST)
    return false;
  bool put = put_statement(p, line);
  p->depth--;
  return put;
}

static bool put_statement(struct phrase *p, struct slice line) {
  line = slice_trim(bare(line), "`$");
  if (yolo(p, line))
    return true;
  if (slice_begins(line, "- "))
    line = slice_plain(slice_from(line, 2));
  if (slice_starts_word(line, "return") && after_word(line).length)
    line = after_word(line);
  const char *why = NULL;
  struct slice label = label_before(&line);
  if (label.at)
    why = "a layer is labelled with a colon: `conv1: conv 64 3x3`";
  size_t colon = slice_find(line, ":");
  struct slice named = slice_trim(slice_to(line, colon), "\"' ()");
  if (!label.at && colon < line.length && is_name_of(named) &&
      colon + 1 < line.length) { /* conv1: .. and (conv1): .. */
    if (named.at != line.at)
      why = "a label stands alone: `conv1: conv 64 3x3`";
    label = named;
    line = slice_plain(slice_from(line, colon + 1));
  }
  size_t open = slice_find(line, "(");
  struct slice callee = slice_to(line, open);
  size_t dot = callee.length;
  while (dot > 0 && callee.at[dot - 1] != '.')
    dot--;
  struct slice method = slice_from(callee, dot);
  bool wraps = is_one_of(method, "add append Sequential sequential") &&
               !is_one_of(callee, "add") && open < line.length;
  if (wraps)
    return put_list(p, slice_to(slice_from(line, open + 1),
                                slice_close(slice_from(line, open)) - 1));
  if (line.length > 1 && (line.at[0] == '(' || line.at[0] == '[') &&
      slice_close(line) + 1 == line.length) {
    why = "a layer stands without brackets";
    line = slice_plain(slice_to(slice_from(line, 1), line.length - 2));
  }
  line = matlab(p, line);
  if ((is_one_of(method, "flatten Flatten") && open + 2 < line.length) ||
      (is_one_of(method, "view reshape") &&
       slice_find(line, "-1") < line.length)) {
    text_put(p->out, "flatten");
    p->why = "all sizes but the batch become one by `flatten`";
    return true;
  }
  struct text name = text_new(p->arena);
  if (label.at)
    put_name(&name, label);
  size_t before = p->out->length;
  if (line_write(p->arena, line, text_slice(&name), p->out, &p->why)) {
    p->why = p->why && !label.at ? p->why : why ? why : p->why;
    return true;
  }
  p->out->length = before;
  return false;
}

/* block(4, s=2) of a def, dropout = 0.5, a + b */
static bool call(struct phrase *p) {
  struct slice line = bare(p->line), word = slice_word(line);
  struct slice rest = after_word(line);
  bool sum = slice_begins(rest, "+") || slice_begins(rest, "-") ||
             slice_begins(rest, "*");
  if (!is_name_of(word) || !rest.length)
    return false;
  if (sum && is_name_of(slice_plain(slice_from(rest, 1)))) {
    p->why = "tensors are joined by a layer: `add a b`";
    text_printf(p->out, "%s %.*s %.*s",
                rest.at[0] == '+'   ? "add"
                : rest.at[0] == '-' ? "sub"
                                    : "mul",
                SLICE_ARG(word), SLICE_ARG(slice_plain(slice_from(rest, 1))));
    return true;
  }
  if (slice_begins(rest, "=") && line_layer(word)) {
    p->why = "the value of a layer follows without `=`";
    text_printf(p->out, "%.*s %.*s", SLICE_ARG(word),
                SLICE_ARG(slice_trim(rest, "= ")));
    return true;
  }
  struct slice named = label_before(&line);
  if (named.at) {
    word = slice_word(line);
    rest = slice_from(line, word.length);
  } else if (slice_begins(rest, "=")) {
    rest = after_word(line);
    word = slice_word(line);
  }
  if (!slice_begins(rest, "(") || slice_close(rest) + 1 != rest.length)
    return false;
  p->why = "arguments follow without parentheses";
  if (named.at)
    text_printf(p->out, "%.*s: ", SLICE_ARG(named));
  put_call(p->out, word, rest);
  return true;
}

/* `maxpool(enc1, 2)`: the tensor that it is applied to comes first. */
static bool applied(struct phrase *p) {
  struct slice line = bare(p->line);
  label_before(&line);
  size_t open = slice_find(line, "(");
  struct slice inside = slice_from(line, open + 1),
               tensor = slice_item(&inside);
  tensor = slice_trim(tensor, ")");
  if (open >= line.length || !is_name_of(tensor) || is_current(tensor) ||
      slice_is(tensor, "self"))
    return false;
  struct text rest = text_new(p->arena);
  text_printf(&rest, "%.*s(%.*s", SLICE_ARG(slice_to(line, open)),
              SLICE_ARG(inside));
  text_put(&rest, inside.length ? "" : ")");
  text_printf(p->out, "from %.*s; ", SLICE_ARG(tensor));
  p->why = "a layer takes the current tensor, which `from LABEL` chooses";
  return put_line(p, text_slice(&rest));
}

/* x = self.conv1(x) */
static bool declared(struct phrase *p) {
  struct slice line = bare(p->line);
  label_before(&line);
  if (slice_starts_word(line, "return"))
    line = after_word(line);
  if (!slice_begins(line, "self.") || slice_find(line, "(") == line.length)
    return false;
  p->why = "a layer is applied where it stands: write it here";
  return true;
}

/* Net( ... ) and layers = [ ... ] over several lines */
static bool several(struct phrase *p) {
  struct slice line = bare(p->line);
  size_t open = 0, count = 0;
  while (open < line.length && line.at[open] != '(' && line.at[open] != '[')
    open++;
  struct slice all = slice_from(line, open);
  if (slice_find(line, "\n") == line.length || slice_close(all) == all.length)
    return false;
  all = slice_to(slice_from(all, 1), slice_close(all) - 1);
  all = slice_plain(all);
  if (slice_begins(all, "[") && slice_close(all) + 1 == all.length)
    all = slice_plain(slice_to(slice_from(all, 1), all.length - 2));
  while (all.length) {
    int depth = 0;
    size_t end = 0;
    for (; end < all.length; end++) {
      char c = all.at[end];
      depth += (c == '(' || c == '[') - (c == ')' || c == ']');
      if (depth == 0 && (c == '\n' || c == ',' || c == ';'))
        break;
    }
    struct slice item = bare(slice_to(all, end));
    all = slice_plain(slice_from(all, end + 1));
    if (!item.length || slice_starts_word(item, "classificationLayer"))
      continue;
    text_put(p->out, count++ ? "\n" : "");
    struct phrase one = {p->arena, item, p->out, NULL, false, p->depth};
    if (!input(&one) && !put_line(p, item))
      return false;
  }
  p->why = "layers follow each other on lines of their own";
  return count > 1;
}

static bool layer(struct phrase *p) {
  return put_line(p, p->line);
}

static bool (*const rules[])(struct phrase *) = {
    taken_in,   method,    leave_out,  several,  setting, loop,
    repetition, condition, definition, input,    join,    layer,
    constant,   label,     applied,    declared, call};

bool foreign_read(struct arena *arena, int which, struct foreign_line *line) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    struct text out = text_new(arena);
    struct phrase phrase = {arena, line->at, &out, NULL, false, 0};
    if (!rules[i](&phrase) || slice_equal(text_slice(&out), line->at) ||
        which-- > 0)
      continue;
    line->ours = text_slice(&out);
    line->why = phrase.why;
    line->open = phrase.open;
    return true;
  }
  return false;
}
