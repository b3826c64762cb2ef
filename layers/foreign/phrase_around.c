/*
 * Code around layers in other languages: included files, classes and methods,
 * settings, constants and labels.
 */
#include "layers/foreign/phrase.h"

#include "layers/foreign/line.h"
#include "layers/layer.h"

/* Statements that netc does not need */

/* import "a.net", #include "a.net", use a.net */
bool phrase_taken_in(struct phrase *p) {
  struct slice line = phrase_bare(p->line), word = slice_word(line);
  struct slice rest = phrase_after_word(line);
  bool quoted = rest.length && rest.at[0] == '"';
  if (phrase_is_one_of(word, "import include require from using") && quoted) {
    struct slice path = slice_from(rest, 1);
    path = slice_to(path, slice_find(path, "\""));
    text_printf(p->out, "use \"%.*s\"", SLICE_ARG(path));
    return phrase_said(p, "`use` includes another file");
  }
  if (slice_begins(line, "#include") || slice_is(word, "use")) {
    bool use = slice_is(word, "use");
    struct slice path = slice_trim(use ? rest : slice_from(line, 8), " \"<>'");
    if (!path.length)
      return false;
    text_printf(p->out, "use \"%.*s\"", SLICE_ARG(path));
    return phrase_said(p, "a path is written in quotes, after `use`");
  }
  return false;
}

/* class Net(nn.Module):, def forward(self, x):, head: */
bool phrase_method(struct phrase *p) {
  struct slice line = phrase_bare(p->line), word = slice_word(line);
  struct slice rest = phrase_after_word(line);
  if (slice_is(word, "class") && phrase_is_name(slice_word(rest))) {
    text_put(p->out, "net ");
    text_puts(p->out, slice_word(rest));
    return phrase_said(p, "a net is named by `net NAME`; its layers follow");
  }
  if (slice_is(word, "def") &&
      phrase_is_one_of(slice_word(rest),
                       "__init__ forward call __call__ build main"))
    return phrase_said(
        p, "layers follow each other as they are written, without a method");
  if (slice_find(line, "Sequential()") < line.length)
    return phrase_said(p, "layers follow each other as they are written");
  if (line.length > 1 && line.at[line.length - 1] == ':' &&
      phrase_is_name(slice_less(line, 1)) &&
      !phrase_is_one_of(word, "else repeat"))
    return phrase_said(p, "a group is `name: { ... }`");
  return false;
}

bool phrase_leave_out(struct phrase *p) {
  struct slice line = phrase_bare(p->line), word = slice_word(line);
  struct slice rest = phrase_after_word(line);
  if (phrase_is_one_of(word, "import from") && !slice_begins(rest, "{")) {
    p->why = phrase_is_one_of(word, "import")
                 ? "no import is needed: netc knows all layers by name"
                 : NULL;
    return slice_is(word, "import") || slice_find(line, "import") < line.length;
  }
  if (slice_is(word, "return") && (!rest.length || phrase_is_name(rest)))
    return phrase_said(
        p, "the last tensor is the output; another one is made current by "
           "`from LABEL`");
  size_t method = slice_find(line, ".");
  if (phrase_is_one_of(word, "model net network") && method == word.length &&
      phrase_is_one_of(slice_word(slice_from(line, method + 1)),
                       "summary to cuda cpu eval train build half float"))
    return phrase_said(p, "netc reports every layer and trains nothing");
  if (phrase_is_one_of(word, "print disp summary show plot assert") &&
      slice_begins(rest, "("))
    return phrase_said(p, "the report shows every layer");
  if (phrase_is_one_of(
          word, "super pass end endfor endif self classificationLayer") &&
      (slice_begins(rest, "()") || slice_begins(rest, "(") || !rest.length))
    return phrase_said(p, "leave it out: a net has no such statement");
  if (slice_is(word, "output") && line_layer(slice_word(rest)) &&
      slice_word(rest).length < rest.length) {
    p->why = "`output NAME` gives a tensor a name, and applies no layer";
    return phrase_put_line(p, rest);
  }
  if (slice_is(word, "output") && slice_is_number(rest)) {
    text_printf(p->out, "fc %.*s", SLICE_ARG(rest));
    return phrase_said(
        p, "`output NAME` gives a tensor a name; a dense layer is `fc 10`");
  }
  if (line.length && ((unsigned char)line.at[0] >= 0x80 || line.at[0] == '"') &&
      slice_find(line, ":") == line.length) {
    text_printf(p->out, "# %.*s", SLICE_ARG(line));
    return phrase_said(p, "a comment begins with `#`");
  }
  if (line.length && line.at[0] == '@')
    return phrase_said(p, "a net has no decorators");
  if (slice_begins(line, "->"))
    return phrase_said(
        p, "write a mark after its layer, on the same line: `pool 2x2 -> "
           "16x16x3`");
  return line.length && strchr("}])$", line.at[0]) && line.length <= 2;
}

/* Settings */

static const char *setting_of(struct slice key) {
  static const struct {
    const char *words, *ours;
  } rows[] = {{"batch batch_size batchsize bs minibatch mini_batch BATCH_SIZE",
               "batch"},
              {"optimizer optim opt solver", "optimizer"},
              {"loss criterion loss_fn loss_func objective", "loss"},
              {"precision amp", "precision"},
              {"dtype", "dtype"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (phrase_is_one_of(key, rows[i].words))
      return rows[i].ours;
  return NULL;
}

static const char unsaid[] =
    "lr learning_rate epochs epoch weight_decay momentum num_epochs seed "
    "shuffle scheduler metrics verbose device num_workers decay steps "
    "max_epochs iterations";

/* Writes batch=64, optimizer: "adam", if they are settings. */
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
    if (phrase_is_one_of(key, unsaid)) {
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

/* criterion = nn.CrossEntropyLoss(), optimizer = optim.SGD(.., momentum=0.9) */
static bool put_object(struct phrase *p, struct slice line) {
  struct slice left = slice_word(line);
  const char *ours = setting_of(left);
  struct slice right = slice_plain(slice_from(line, slice_find(line, "=") + 1));
  size_t open = slice_find(right, "(");
  struct slice callee = slice_to(right, open);
  while (slice_find(callee, ".") < callee.length)
    callee = slice_from(callee, slice_find(callee, ".") + 1);
  if (!ours || open == right.length || !phrase_is_name(callee))
    return false;
  const char *known = foreign_choice_find(ours, callee);
  struct text lower = text_new(p->arena);
  for (size_t i = 0; i < callee.length; i++)
    text_putc(&lower, (char)(callee.at[i] | 32));
  struct slice call = slice_from(right, open);
  bool moves = slice_find(call, "momentum=") < call.length &&
               slice_find(call, "momentum=0)") == call.length;
  bool sgd = strcmp(ours, "optimizer") == 0 &&
             slice_is(text_slice(&lower), "sgd") && moves;
  text_printf(p->out, "train %s=", ours);
  if (sgd)
    text_put(p->out, "momentum");
  else if (known)
    text_put(p->out, known);
  else
    text_puts(p->out, text_slice(&lower));
  return phrase_said(p, "write settings on a `train` line: `train batch=32 "
                        "optimizer=adam`");
}

/* model.fit(x, y, batch_size=128): the text from the first key on. */
static struct slice keys_of(struct slice call) {
  struct slice rest = slice_trim(call, ")");
  while (rest.length) {
    struct slice next = rest, item = slice_item(&next);
    if (slice_find(item, "=") < item.length)
      return rest;
    rest = next;
  }
  return rest;
}

bool phrase_setting(struct phrase *p) {
  struct slice line = phrase_bare(p->line), word = slice_word(line);
  struct slice rest = phrase_after_word(line);
  if (slice_begins(rest, "=") && put_object(p, line))
    return true;
  size_t fit = slice_find(line, ".fit(");
  if (fit < line.length) {
    rest = keys_of(slice_from(line, fit + strlen(".fit(")));
    word = slice_of("train");
  }
  size_t compile = slice_find(line, ".compile(");
  if (compile < line.length) {
    rest = slice_trim(slice_from(line, compile + strlen(".compile(")), ")");
    word = slice_of("train");
  }
  bool section =
      phrase_is_one_of(word, "train infer budget training inference");
  if (section && !phrase_is_one_of(word, "train infer budget"))
    word = slice_is(word, "training") ? slice_of("train") : slice_of("infer");
  bool single = setting_of(word) ||
                (phrase_is_one_of(word, unsaid) && slice_begins(rest, "="));
  if ((!section && !single) || !rest.length || slice_begins(rest, "("))
    return false;
  size_t before = p->out->length;
  p->why = "write settings on a `train` line: `train batch=32 optimizer=adam`";
  text_puts(p->out, section ? word : slice_of("train"));
  text_putc(p->out, ' ');
  size_t empty = p->out->length;
  if (!put_settings(p, section ? rest : line))
    return false;
  if (p->out->length == empty)
    p->out->length = before;
  return true;
}

/* Names */

void phrase_put_name(struct text *out, struct slice name) {
  if (name.length && is_digit(name.at[0]))
    text_putc(out, 'n');
  for (size_t i = 0; i < name.length; i++)
    text_putc(out, is_word_byte(name.at[i]) ? name.at[i] : '_');
  if (phrase_is_one_of(name,
                       "net input fork from again output def let param repeat "
                       "for in if else use train infer budget and or not true "
                       "false x"))
    text_putc(out, '_');
}

/* param w in 8..64 = 16, param w = 16 in 8..64 step 8, param w in [s m] = m: in
 * netc, bounds follow the default, and steps belong to sweep. */
static bool put_bounded_param(struct phrase *p, struct slice name,
                              struct slice value) {
  size_t in = slice_begins(value, "in ") ? 0 : slice_find(value, " in ");
  if (in == value.length)
    return false;
  struct slice bounds = slice_plain(slice_from(value, in ? in + 4 : 3));
  struct slice first = slice_to(value, in);
  size_t equals = slice_find(bounds, "="), step = slice_find(bounds, " step ");
  if (!in) {
    first = slice_from(bounds, equals);
    bounds = slice_plain(slice_to(bounds, equals));
    step = slice_find(bounds, " step ");
  }
  if (!in || step < bounds.length) {
    first = slice_trim(first, "= \t");
    bounds = slice_plain(slice_to(bounds, step));
    size_t range = slice_find(bounds, "..");
    bool list = slice_begins(bounds, "[");
    if (!first.length)
      first = slice_to(bounds, range);
    if (!list && (range == bounds.length || !slice_is_number(first)))
      return false;
    if (list && slice_word(first).length != first.length)
      return false;
    text_printf(p->out, "param %.*s = %.*s in %.*s", SLICE_ARG(name),
                SLICE_ARG(first), SLICE_ARG(bounds));
    if (list)
      return phrase_said(p, "the values of a param follow its default");
    return phrase_said(p, "the bounds of a param follow its default; `netc "
                          "sweep -D w=8..64:8` takes steps");
  }
  return false;
}

/* let c := 4, const c = 4, int c = 4 */
bool phrase_constant(struct phrase *p) {
  struct slice line = phrase_bare(p->line), word = slice_word(line);
  struct slice rest = phrase_after_word(line);
  bool param = slice_is(word, "param");
  bool typed =
      param || phrase_is_one_of(word, "let const var int float double local "
                                      "auto final val set define constant");
  struct slice name = typed ? slice_word(rest) : word;
  struct slice value = typed ? phrase_after_word(rest) : rest;
  bool numbered =
      slice_begins(value, ":") && slice_is_number(slice_trim(value, ": "));
  if (param && name.length && !value.length) {
    text_printf(p->out, "param %.*s = 1", SLICE_ARG(name));
    return phrase_said(p, "a param has a default: `param depth = 4`");
  }
  if (param && name.length && put_bounded_param(p, name, value))
    return true;
  if (!name.length || (!typed && !numbered && !slice_begins(value, "=") &&
                       !slice_begins(value, ":=")))
    return false;
  value = slice_trim(value, ":= \t");
  if (value.length == 0 || slice_begins(value, "{") ||
      (!typed && (line_layer(slice_word(value)) || line_layer(name))))
    return false;
  text_put(p->out, param ? "param " : "let ");
  phrase_put_name(p->out, name);
  if (memchr(value.at, '(', value.length) && !slice_begins(value, "("))
    return false; /* a call is not a constant */
  text_put(p->out, " = ");
  phrase_put_logic(p->out, value, false);
  return phrase_said(p, param ? "a param is written `param depth = 4`"
                              : "define a constant with `let`");
}

/* a:b: relu, stage-1: relu, "stem": relu, 1st: relu, conv1 = conv 64 3x3 */
bool phrase_label(struct phrase *p) {
  struct slice line = phrase_bare(p->line);
  size_t end = 0;
  while (end < line.length &&
         (is_word_byte(line.at[end]) || strchr("-.\"':", line.at[end])))
    end++;
  struct slice head = slice_to(line, end), rest = slice_from(line, end);
  if (!head.length || head.at[head.length - 1] != ':' || !rest.length)
    return false;
  phrase_put_name(p->out, slice_trim(head, ":\"'"));
  text_put(p->out, ":");
  text_puts(p->out, rest);
  return phrase_said(
      p, "a label has letters, digits and `_`, and begins with a letter");
}
