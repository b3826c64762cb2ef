/*
 * Statements of other languages: `for i in range(3):`, `x = F.relu(x)`,
 * `batch_size = 32`. There is a rule for each kind; layers are in line.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "layers/foreign/phrase.h"

#include "layers/foreign/line.h"
#include "layers/layer.h"

bool phrase_is_one_of(struct slice word, const char *words) {
  return word_index(words, word) != 0;
}

struct slice phrase_after_word(struct slice s) {
  return slice_plain(slice_from(s, slice_word(s).length));
}

bool phrase_is_name(struct slice s) {
  return s.length && slice_word(s).length == s.length && !is_digit(s.at[0]) &&
         !slice_is(s, "_");
}

struct slice phrase_bare(struct slice line) {
  return slice_trim(slice_plain(line), ";, \t");
}

void phrase_put_logic(struct text *out, struct slice s, bool compares) {
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

int phrase_numbers(struct slice s, struct slice *numbers, int most) {
  int count = 0;
  for (size_t i = 0; i < s.length;) {
    if (!is_word_byte(s.at[i])) {
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

/* Joins */

/* True if the word names the current tensor. */
static bool is_current(struct slice word) {
  return phrase_is_one_of(word,
                          "x out y h prev previous last self current input _ "
                          "this hidden output");
}

/* Writes operands, labels and blocks, without separators. Returns their number;
 * -1: there is something else. */
static int put_operands(struct text *out, struct slice rest) {
  int count = 0;
  rest = slice_trim(rest, "()[] \t");
  for (size_t i = 0; i < rest.length;) {
    struct slice here = slice_from(rest, i);
    size_t length = slice_word(here).length;
    if (here.at[0] == '{')
      length = slice_close(here) + 1;
    while (here.at[0] != '{' && length < here.length &&
           (here.at[length] == '.' || is_word_byte(here.at[length])))
      length++;
    if (!length) {
      if (!strchr(" ,+()[]\t\n", here.at[0]))
        return -1;
      i++;
      continue;
    }
    struct slice operand = slice_to(here, length);
    i += length;
    if (slice_is(operand, "dim") || slice_is(operand, "axis") ||
        slice_is_number(operand))
      break;
    if (is_current(operand))
      continue;
    text_printf(out, " %.*s", SLICE_ARG(operand));
    count++;
  }
  return count;
}

static bool join(struct phrase *p) {
  struct slice line = phrase_bare(p->line), word = slice_word(line);
  struct slice rest = slice_from(line, word.length);
  struct slice added = slice_trim(line, "+= ");
  size_t assigned = slice_find(line, "=");
  if (slice_begins(line, "+") && phrase_is_name(added)) {
    text_printf(p->out, "add %.*s", SLICE_ARG(added));
    return phrase_said(p, "a layer adds tensors: `add LABEL`");
  }
  bool to_word = slice_trim(slice_to(line, assigned), " \t").length ==
                 word.length; /* not `train batch=x` */
  if (phrase_is_name(word) && !is_current(word) && assigned < line.length &&
      to_word && slice_is(slice_plain(slice_from(line, assigned + 1)), "x")) {
    phrase_put_name(p->out, word);
    text_put(p->out, ": identity");
    return phrase_said(
        p, "a tensor has the label of the layer that produces it; `identity` "
           "can carry a label, too");
  }
  if (is_current(word) && assigned < line.length) { /* x = x + skip, x += y */
    bool plus = assigned && line.at[assigned - 1] == '+';
    rest = slice_plain(slice_from(line, assigned + 1));
    word = slice_word(rest);
    if (plus || slice_find(rest, " + ") < rest.length) {
      if (slice_find(rest, "(") < rest.length)
        return false;
      text_put(p->out, "add");
      p->why = "a layer adds tensors: `add LABEL`";
      return put_operands(p->out, rest) > 0;
    }
    while (slice_find(rest, ".") < slice_find(rest, "("))
      rest = slice_from(rest, slice_find(rest, ".") + 1);
    word = slice_word(rest);
    rest = slice_from(rest, word.length);
  }
  const struct layer_kind *kind = line_layer(word);
  bool branch = phrase_is_one_of(word, "branch residual skip shortcut parallel "
                                       "branches inception");
  p->why = "operands are labels and blocks, separated by blanks: `add skip`, "
           "`concat { ... } { ... }`";
  if (branch) {
    bool sum = phrase_is_one_of(word, "residual skip shortcut");
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

/* The input's type in netc's syntax; "": values, NULL: not a type. */
static const char *type_of(struct slice word) {
  return phrase_is_one_of(word, "i8 int8")             ? " : i8"
         : phrase_is_one_of(word, "i32 int32 int")     ? " : i32"
         : phrase_is_one_of(word, "i64 int64 long")    ? " : i64"
         : phrase_is_one_of(word, "f32 float32 float") ? ""
                                                       : NULL;
}

static bool input(struct phrase *p) {
  struct slice line = phrase_bare(p->line), n[8];
  size_t assigned = slice_find(line, "=");
  struct slice left = slice_word(line), rest = phrase_after_word(line);
  if (slice_begins(rest, "=") && slice_find(line, "(") > assigned &&
      !phrase_is_one_of(left, "input_shape input shape input_size"))
    rest = line = slice_plain(slice_from(line, assigned + 1));
  while (slice_find(line, ".") < slice_find(line, "("))
    line = slice_from(line, slice_find(line, ".") + 1);
  struct slice word = slice_word(line);
  if (!phrase_is_one_of(word,
                        "input Input inputs InputLayer imageInputLayer data "
                        "placeholder input_shape shape Placeholder INPUT"))
    return false;
  rest = phrase_after_word(line);
  size_t shape = slice_find(rest, "shape");
  if (shape < rest.length)
    rest = slice_from(rest, shape + 5);
  if (slice_find(rest, "Normalization") < rest.length)
    rest = slice_to(rest, slice_find(rest, "Normalization") - 1);
  struct text apart = text_new(p->arena);
  for (size_t i = 0; i < rest.length; i++)
    text_putc(&apart, strchr("xX", rest.at[i]) ? ' ' : rest.at[i]);
  int count = phrase_numbers(text_slice(&apart), n, 8);
  int from = 0;
  text_put(p->out, "input ");
  static const char batch[] = "None batch N B";
  if (count > 0 && !is_digit(n[0].at[0]) && !phrase_is_one_of(n[0], batch)) {
    phrase_put_name(p->out, n[from++]);
    text_putc(p->out, ' ');
  }
  while (count - from > 1 && phrase_is_one_of(n[from], batch))
    from++;
  const char *type = count - from > 1 ? type_of(n[count - 1]) : NULL;
  count -= type != NULL;
  bool first = count - from == 3 && phrase_is_one_of(n[from], "1 3") &&
               !phrase_is_one_of(n[from + 2], "1 3");
  if (count == from)
    text_put(p->out, "224x224x3");
  for (int i = from; i < count; i++) {
    int at = first ? from + (i - from + 1) % 3 : i;
    text_put(p->out, i > from ? "x" : "");
    text_puts(p->out, n[at]);
  }
  text_puts(p->out, slice_of(type ? type : ""));
  p->why = !type   ? "sizes are joined by x, channels last, without the batch"
           : *type ? "the type of an input follows a colon"
                   : "an input without a type holds values";
  return count >= 1;
}

/* Layers */

/* `self.conv1 = ..`: conv1. x and similar names are no labels. */
static struct slice label_before(struct slice *line) {
  size_t assigned = slice_find(*line, "=");
  struct slice left = slice_plain(slice_to(*line, assigned));
  if (assigned >= line->length || slice_find(*line, "(") < assigned)
    return (struct slice){NULL, 0};
  if (slice_begins(left, "self."))
    left = slice_from(left, 5);
  if (!phrase_is_name(left))
    return (struct slice){NULL, 0};
  *line = slice_plain(slice_from(*line, assigned + 1));
  size_t callee = 0;
  while (callee < line->length &&
         (line->at[callee] == '.' || is_word_byte(line->at[callee])))
    callee++;
  bool called = slice_begins(slice_from(*line, callee), "(");
  bool flows =
      (called && is_current(left)) ||
      phrase_is_one_of(left, "inputs outputs model net layer layers logits "
                             "feat features z");
  return flows ? (struct slice){NULL, 0} : left;
}

/* Writes the items of model.add(..) or Sequential(.., ..) as statements. */
static bool put_list(struct phrase *p, struct slice list) {
  int count = 0;
  list = slice_trim(list, "[] \t\n");
  while (list.length) {
    struct slice item = slice_item(&list);
    if (!item.length)
      continue;
    text_put(p->out, count++ ? "; " : "");
    if (!phrase_put_line(p, item))
      return false;
  }
  return count > 0;
}

/* YOLO's YAML: - [-1, 1, Conv, [64, 3, 2]]. */
static bool yolo(struct phrase *p, struct slice line) {
  struct slice list, item[4], arguments, n[8];
  if (!slice_begins(line, "- [") && !slice_begins(line, "-["))
    return false;
  list = slice_from(line, slice_find(line, "[") + 1);
  list = slice_less(list, 1);
  for (int i = 0; i < 4; i++)
    item[i] = slice_trim(slice_item(&list), "'\"");
  struct slice name = item[2];
  while (slice_find(name, ".") < name.length)
    name = slice_from(name, slice_find(name, ".") + 1);
  arguments = slice_trim(item[3], "[]");
  int count = phrase_numbers(arguments, n, 8);
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

/* MATLAB's convolution2dLayer(3, 64, 'Padding', 'same') as a call. */
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
  text_puts(&out, conv ? slice_item(&inside)
                       : slice_to(word, slice_find(word, "2d")));
  text_put(&out, conv ? ", " : "(");
  text_puts(&out, first);
  while (inside.length) {
    struct slice item = slice_item(&inside);
    bool key = item.length && strchr("'\"", item.at[0]) && inside.length;
    text_put(&out, ", ");
    text_puts(&out, key ? slice_trim(item, "'\"") : slice_of(""));
    text_put(&out, key ? "=" : "");
    text_puts(&out, key ? slice_item(&inside) : item);
  }
  text_putc(&out, ')');
  return text_slice(&out);
}

/*
 * separableconv 64 3x3, SeparableConv2D(64, 3): a filter for each channel, with
 * the stride and padding, then a convolution of 1x1. In Keras, whose call it
 * is, the first one has no bias.
 */
static bool separable(struct phrase *p, struct slice line, struct slice label) {
  struct slice word = slice_word(line), rest = slice_from(line, word.length);
  const struct foreign_layer *row = foreign_layer_find(word);
  if (!row || !word_index("SeparableConv2D SeparableConv1D separable_conv "
                          "separable sepconv",
                          slice_of(row->word)))
    return false;
  struct text as_conv = text_new(p->arena), conv = text_new(p->arena);
  struct text depthwise = text_new(p->arena), across = text_new(p->arena);
  bool call = slice_begins(rest, "(");
  const char *why = NULL;
  text_printf(&as_conv, "%s%.*s", call ? "Conv2D" : "conv", SLICE_ARG(rest));
  if (!line_write(p->arena, text_slice(&as_conv), (struct slice){NULL, 0},
                  &conv, &why))
    return false;
  text_putc(&conv, '\0');
  struct slice part, units = word_at(conv.at, 2), kernel = word_at(conv.at, 3);
  text_printf(&depthwise, "dwconv %.*s", SLICE_ARG(kernel));
  text_printf(&across, "conv %.*s 1x1", SLICE_ARG(units));
  for (int i = 4; (part = word_at(conv.at, i)).length; i++) {
    bool window = part.at[0] == '/' || slice_begins(part, "pad") ||
                  slice_begins(part, "dilate");
    text_printf(window ? &depthwise : &across, " %.*s", SLICE_ARG(part));
  }
  text_puts(p->out, text_slice(&depthwise));
  text_put(p->out, call ? " nobias; " : "; ");
  if (label.length)
    text_printf(p->out, "%.*s: ", SLICE_ARG(label));
  text_puts(p->out, text_slice(&across));
  return kernel.length && phrase_said(p, "a separable convolution is "
                                         "`dwconv`, then `conv 1x1`");
}

static bool put_statement(struct phrase *p, struct slice line);

bool phrase_put_line(struct phrase *p, struct slice line) {
  if (p->depth++ > PHRASE_DEEPEST)
    return false;
  bool put = put_statement(p, line);
  p->depth--;
  return put;
}

/* TimeDistributed(Dense(10)): the dense layer of every position. */
static bool put_each(struct phrase *p, struct slice call) {
  size_t before = p->out->length;
  if (!phrase_put_line(p, slice_to(slice_from(call, 1), slice_close(call) - 1)))
    return false;
  struct slice layer = slice_from(text_slice(p->out), before);
  struct text each = text_new(p->arena);
  if (slice_begins(layer, "fc ")) {
    text_printf(&each, "linear %.*s", (int)layer.length - 3, layer.at + 3);
    p->out->length = before;
    text_puts(p->out, text_slice(&each));
  }
  return phrase_said(p, "`linear` acts on each position separately");
}

/*
 * Words and calls that are a layer of another name. True: it was one; *put is
 * false if what it has is unknown.
 */
static bool renamed(struct phrase *p, struct slice line, struct slice method,
                    bool *put) {
  size_t open = slice_find(line, "(");
  struct slice word = slice_word(line), after = phrase_after_word(line);
  struct slice inside = slice_from(line, open + 1);
  inside = slice_trim(slice_to(inside, slice_find(inside, ")")), "'\" ");
  *put = true;
  if (phrase_is_one_of(word, "bidirectional Bidirectional bi") &&
      after.length && is_word_byte(after.at[0])) {
    struct text turned = text_new(p->arena);
    text_printf(&turned, "%.*s bidir", SLICE_ARG(after));
    p->why = "`bidir` runs in both directions";
    *put = phrase_put_line(p, text_slice(&turned));
  } else if ((phrase_is_one_of(method, "flatten Flatten") &&
              open + 2 < line.length) ||
             (phrase_is_one_of(method, "view reshape") &&
              slice_find(line, "-1") < line.length)) {
    text_put(p->out, "flatten");
    p->why = "`flatten` merges all sizes but the batch";
  } else if (phrase_is_one_of(method, "Activation activation") &&
             line_layer(inside)) { /* Activation('relu') */
    text_put(p->out, line_layer(inside)->name);
    p->why = "an activation is a layer: `relu`";
  } else if (phrase_is_one_of(method, "TimeDistributed") &&
             open < line.length) {
    *put = put_each(p, slice_from(line, open));
  } else {
    return false;
  }
  return true;
}

static bool put_statement(struct phrase *p, struct slice line) {
  bool put;
  line = slice_trim(phrase_bare(line), "`$");
  if (yolo(p, line))
    return true;
  if (slice_begins(line, "- "))
    line = slice_plain(slice_from(line, 2));
  if (slice_starts_word(line, "return") && phrase_after_word(line).length)
    line = phrase_after_word(line);
  const char *why = NULL;
  struct slice label = label_before(&line);
  if (label.at)
    why = "a layer is labelled with a colon: `conv1: conv 64 3x3`";
  size_t colon = slice_find(line, ":");
  struct slice named = slice_trim(slice_to(line, colon), "\"' ()");
  if (!label.at && colon < line.length && phrase_is_name(named) &&
      colon + 1 < line.length) { /* conv1: .. and (conv1): .. */
    if (named.at != line.at)
      why = "write only the label: `conv1: conv 64 3x3`";
    label = named;
    line = slice_plain(slice_from(line, colon + 1));
  }
  size_t open = slice_find(line, "(");
  struct slice callee = slice_to(line, open);
  size_t dot = callee.length;
  while (dot > 0 && callee.at[dot - 1] != '.')
    dot--;
  struct slice method = slice_from(callee, dot);
  bool wraps = phrase_is_one_of(method, "add append Sequential sequential") &&
               !phrase_is_one_of(callee, "add") && open < line.length;
  if (wraps)
    return put_list(p, slice_to(slice_from(line, open + 1),
                                slice_close(slice_from(line, open)) - 1));
  if (line.length > 1 && (line.at[0] == '(' || line.at[0] == '[') &&
      slice_close(line) + 1 == line.length) {
    why = "a layer is written without brackets";
    line = slice_plain(slice_less(slice_from(line, 1), 1));
  }
  line = matlab(p, line);
  if (renamed(p, line, method, &put))
    return put;
  struct text name = text_new(p->arena);
  if (slice_is(label, "x")) /* joins sizes, but may be a label */
    text_puts(&name, label);
  else if (label.at)
    phrase_put_name(&name, label);
  if (separable(p, line, text_slice(&name)))
    return true;
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
  struct slice line = phrase_bare(p->line), word = slice_word(line);
  struct slice rest = phrase_after_word(line);
  bool sum = slice_begins(rest, "+") || slice_begins(rest, "-") ||
             slice_begins(rest, "*");
  struct slice other = sum ? slice_plain(slice_from(rest, 1)) : rest;
  if (!phrase_is_name(word) || !rest.length)
    return false;
  if (sum && phrase_is_name(other)) {
    p->why = "a layer joins tensors: `add a b`";
    text_printf(p->out, "%s %.*s %.*s",
                rest.at[0] == '+'   ? "add"
                : rest.at[0] == '-' ? "sub"
                                    : "mul",
                SLICE_ARG(word), SLICE_ARG(other));
    return true;
  }
  if (slice_begins(rest, "=") && line_layer(word)) {
    p->why = "the value of a layer is written without `=`";
    text_printf(p->out, "%.*s ", SLICE_ARG(word));
    text_puts(p->out, slice_trim(rest, "= "));
    return true;
  }
  struct slice named = label_before(&line);
  if (named.at) {
    word = slice_word(line);
    rest = slice_from(line, word.length);
  } else if (slice_begins(rest, "=")) {
    rest = phrase_after_word(line);
    word = slice_word(line);
  }
  if (!slice_begins(rest, "(") || slice_close(rest) + 1 != rest.length)
    return false;
  p->why = "arguments follow without parentheses";
  if (named.at)
    text_printf(p->out, "%.*s: ", SLICE_ARG(named));
  phrase_put_call(p->out, word, rest);
  return true;
}

/* `maxpool(enc1, 2)`: the first argument is the tensor to apply it to. */
static bool applied(struct phrase *p) {
  struct slice line = phrase_bare(p->line);
  label_before(&line);
  size_t open = slice_find(line, "(");
  struct slice inside = slice_from(line, open + 1),
               tensor = slice_item(&inside);
  tensor = slice_trim(tensor, ")");
  if (open >= line.length || !phrase_is_name(tensor) || is_current(tensor) ||
      slice_is(tensor, "self"))
    return false;
  struct text rest = text_new(p->arena);
  text_puts(&rest, slice_to(line, open));
  text_printf(&rest, "(%.*s", SLICE_ARG(inside));
  text_put(&rest, inside.length ? "" : ")");
  text_printf(p->out, "from %.*s; ", SLICE_ARG(tensor));
  p->why = "a layer takes the current tensor; `from LABEL` changes it";
  return phrase_put_line(p, text_slice(&rest));
}

/* x = self.conv1(x) */
static bool declared(struct phrase *p) {
  struct slice line = phrase_bare(p->line);
  label_before(&line);
  if (slice_starts_word(line, "return"))
    line = phrase_after_word(line);
  if (!slice_begins(line, "self.") || slice_find(line, "(") == line.length)
    return false;
  return phrase_said(p, "a layer is applied where it is written: write it "
                        "here");
}

/* Net( ... ) and layers = [ ... ] over several lines */
static bool several(struct phrase *p) {
  struct slice line = phrase_bare(p->line);
  size_t open = 0, count = 0;
  while (open < line.length && line.at[open] != '(' && line.at[open] != '[')
    open++;
  struct slice all = slice_from(line, open);
  if (slice_find(line, "\n") == line.length || slice_close(all) == all.length)
    return false;
  all = slice_to(slice_from(all, 1), slice_close(all) - 1);
  all = slice_plain(all);
  if (slice_begins(all, "[") && slice_close(all) + 1 == all.length)
    all = slice_plain(slice_less(slice_from(all, 1), 1));
  while (all.length) {
    int depth = 0;
    size_t end = 0;
    for (; end < all.length; end++) {
      char c = all.at[end];
      depth += (c == '(' || c == '[') - (c == ')' || c == ']');
      if (depth == 0 && (c == '\n' || c == ',' || c == ';'))
        break;
    }
    struct slice item = phrase_bare(slice_to(all, end));
    all = slice_plain(slice_from(all, end + 1));
    if (!item.length || slice_starts_word(item, "classificationLayer"))
      continue;
    text_put(p->out, count++ ? "\n" : "");
    struct phrase one = {p->arena, item, p->out, NULL, false, p->depth};
    if (!input(&one) && !phrase_put_line(p, item))
      return false;
  }
  p->why = "write each layer on its own line";
  return count > 1;
}

static bool layer(struct phrase *p) {
  return phrase_put_line(p, p->line);
}

static phrase_rule *const rules[] = {phrase_taken_in,
                                     phrase_method,
                                     phrase_leave_out,
                                     several,
                                     phrase_setting,
                                     phrase_loop,
                                     phrase_repetition,
                                     phrase_condition,
                                     phrase_definition,
                                     input,
                                     join,
                                     layer,
                                     phrase_constant,
                                     phrase_label,
                                     applied,
                                     declared,
                                     call};

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
