/*
 * Converts a layer from another language, or with mistakes, to netc's syntax:
 * `self.c1 = nn.Conv2d(3, 64, 3)`, `conv 64, 3x3, stride=2`, `conv3-64`. No
 * value is dropped: a line with a value that fits nowhere is not converted.
 */
#include "layers/foreign/line.h"

#include <stdlib.h>

#include "layers/foreign/items.h"

#include "layers/layer.h"

/* Writing one layer */

struct layer_writing {
  struct arena *arena;
  const struct layer_kind *kind;
  struct slice label;
  struct slice units, kernel, stride, pad;
  struct slice numbers[MOST_ITEMS], sizes[MOST_ITEMS];
  int number_count, size_count;
  struct text options, tail;
  bool same; /* TensorFlow's padding */
  bool failed;
  const char *why;
};

static bool is_false_value(struct slice value) {
  return items_among(value, "false no off none 0");
}

/* Sets an option; a second, different value is a failure. */
static void put_once(struct layer_writing *w, struct slice *at,
                     struct slice value) {
  w->failed = w->failed || (at->at && !slice_equal(*at, value));
  *at = value;
}

static bool is_truth(struct slice value) {
  return is_false_value(value) || items_among(value, "true yes on 1");
}

static void put_pad(struct layer_writing *w, struct slice value) {
  w->same = w->same || items_among(value, "same");
  if (items_among(value, "same half auto"))
    put_once(w, &w->pad, slice_of("pad"));
  else if (items_among(value, "valid none 0 0x0")) {
    put_once(w, &w->pad, slice_of(""));
  } else {
    struct text text = text_new(w->arena);
    text_put(&text, "pad=");
    text_puts(&text, value);
    put_once(w, &w->pad, text_slice(&text));
  }
}

static void put_option(struct layer_writing *w, const char *name,
                       struct slice value) {
  if (!items_spec(w->kind, name)) {
    w->failed = true;
    return;
  }
  text_printf(&w->options, " %s=", name);
  text_puts(&w->options, value);
}

static void put_tail_layer(struct layer_writing *w, struct slice word) {
  const struct layer_kind *kind = line_layer(word);
  if (is_false_value(word) || slice_is(word, "linear"))
    return;
  w->failed = w->failed || !kind;
  if (kind)
    text_printf(&w->tail, " %s", kind->name);
}

/* Writes a key and its value by the key's meaning. */
static void put_keyed(struct layer_writing *w, const struct item *item) {
  const char *meaning = items_meaning(w->kind, item->key);
  items_say_why(&w->why, meaning ? items_why(meaning, item->key) : NULL);
  if (meaning && !is_truth(item->value) &&
      items_among(slice_of(meaning),
                  "bias frozen inplace bn ceil bidir states")) {
    w->failed = true;
  } else if (!meaning) {
    struct text name = text_new(w->arena);
    text_puts(&name, item->key);
    text_putc(&name, '\0');
    const struct arg_spec *spec = items_spec(w->kind, name.at);
    if (!spec || spec->place != PLACE_WORD || !is_truth(item->value))
      put_option(w, name.at, item->value);
    else if (!is_false_value(item->value)) /* batch_first=True */
      text_printf(&w->options, " %s", spec->name);
  } else if (strcmp(meaning, "units") == 0)
    put_once(w, &w->units, item->value);
  else if (strcmp(meaning, "kernel") == 0)
    put_once(w, &w->kernel, item->value);
  else if (strcmp(meaning, "stride") == 0)
    put_once(w, &w->stride, item->value);
  else if (strcmp(meaning, "pad") == 0)
    put_pad(w, item->value);
  else if (strcmp(meaning, "tail") == 0 || strcmp(meaning, "norm") == 0)
    put_tail_layer(w, item->value);
  else if (strcmp(meaning, "label") == 0)
    w->label = item->value;
  else if (strcmp(meaning, "share") == 0 || strcmp(meaning, "heads") == 0 ||
           strcmp(meaning, "factor") == 0)
    w->numbers[w->number_count++] = item->value;
  else if (strcmp(meaning, "bias") == 0)
    text_put(&w->options, is_false_value(item->value) ? " nobias" : "");
  else if (strcmp(meaning, "ceil") == 0 || strcmp(meaning, "bidir") == 0) {
    if (!is_false_value(item->value))
      text_printf(&w->options, " %s", meaning);
  } else if (strcmp(meaning, "frozen") == 0)
    text_put(&w->options, is_false_value(item->value) ? " frozen" : "");
  else if (strcmp(meaning, "states") == 0)
    text_put(&w->options, is_false_value(item->value) ? " last" : "");
  else if (strcmp(meaning, "eps") == 0)
    text_put(&w->options, "");
  else if (strcmp(meaning, "bn") == 0)
    text_put(&w->tail, is_false_value(item->value) ? "" : " bn");
  else if (strcmp(meaning, "inplace") == 0)
    text_put(&w->options,
             is_false_value(item->value) ? " inplace=off" : " inplace=on");
  else if (strcmp(meaning, "-") != 0)
    put_option(w, meaning, item->value);
}

/* Writes a bare word before the tail. False: it may be a layer of the tail. */
static bool put_own_word(struct layer_writing *w, struct slice word) {
  const char *name = w->kind->name;
  bool pools = strcmp(name, "pool") == 0 || strcmp(name, "avgpool") == 0;
  if (items_spec(w->kind, "pad") &&
      items_among(word, "same valid pad padded")) {
    w->same = w->same || items_among(word, "same");
    if (!slice_is(word, "valid"))
      put_once(w, &w->pad, slice_of("pad"));
    if (!slice_is(word, "pad"))
      items_say_why(&w->why,
                    "`pad` keeps the size at stride 1, `pad=tf` is "
                    "TensorFlow's SAME; without it there is no padding");
    return true;
  }
  if (pools && items_among(word, "max average avg mean global")) {
    bool mean = items_among(word, "average avg mean") ||
                strcmp(w->kind->name, "avgpool") == 0;
    const char *kind = slice_is(word, "global") ? mean ? "gap" : "gmp"
                       : mean                   ? "avgpool"
                                                : "pool";
    w->kind = layer_kind_find(slice_of(kind));
    items_say_why(&w->why,
                  "`pool` takes the maximum and `avgpool` the mean of a "
                  "window; `gap` is the mean and `gmp` the maximum of the "
                  "whole map");
    return true;
  }
  if (slice_is(word, "inplace")) {
    text_put(&w->options, " inplace=on");
    items_say_why(&w->why, "write `inplace=on` or `inplace=off`");
    return true;
  }
  for (const struct arg_spec *spec = w->kind->specs; spec && spec->name;
       spec++) {
    int index = word_index_as(spec->words, word, foreign_same);
    if (index) {
      text_putc(&w->options, ' ');
      text_puts(&w->options, word_at(spec->words, index));
      return true;
    }
  }
  return false;
}

/* Writes a layer of the tail: `dropout 0.2`, `LeakyReLU(0.1)`. Returns the
 * number of items used. */
static int put_tail(struct layer_writing *w, const struct items *items,
                    int at) {
  const struct item *item = &items->at[at];
  struct slice word = item->kind == ITEM_CALL ? item->key : item->value;
  const struct layer_kind *kind = line_layer(word);
  if (!kind || kind->join) {
    w->failed = true;
    return 1;
  }
  struct items inner = {.arena = w->arena, .of = kind};
  int used = 1;
  if (item->kind == ITEM_CALL)
    items_read(&inner, item->value);
  while (item->kind == ITEM_WORD && at + used < items->count &&
         items->at[at + used].kind <= ITEM_KEYED)
    inner.at[inner.count++] = items->at[at + used++];
  text_printf(&w->tail, " %s", kind->name);
  bool takes = kind->specs && kind->specs[0].name;
  int shown = 0;
  for (int i = 0; i < inner.count && takes; i++) {
    if (inner.at[i].kind == ITEM_WORD && slice_is(inner.at[i].value, "x"))
      continue;
    const char *key = inner.at[i].kind == ITEM_KEYED
                          ? items_meaning(kind, inner.at[i].key)
                          : NULL;
    if (key && (strcmp(key, "-") == 0 || strcmp(key, "inplace") == 0))
      continue;
    items_say_why(&w->why,
                  "arguments of a layer that follows need parentheses: "
                  "`dropout(0.2)`");
    text_put(&w->tail, shown++ ? ", " : "(");
    if (inner.at[i].kind == ITEM_KEYED && !(key && strcmp(key, "share") == 0))
      text_printf(&w->tail, "%.*s=", SLICE_ARG(inner.at[i].key));
    text_puts(&w->tail, inner.at[i].value);
  }
  text_put(&w->tail, shown ? ")" : "");
  if (inner.count && !takes && strcmp(kind->family, "Normalisation") != 0)
    w->failed = w->failed || inner.at[0].kind <= ITEM_SIZES;
  w->failed = w->failed || inner.failed;
  return used;
}

static int64_t int_of(struct slice s) {
  char digits[24] = "";
  memcpy(digits, s.at, s.length < sizeof digits ? s.length : 0);
  return strtoll(digits, NULL, 10);
}

/* 3x3x64: window and channels together. */
static void split_sizes(struct layer_writing *w) {
  struct slice all = w->sizes[0];
  size_t last = all.length;
  int signs = 0;
  for (size_t i = 0; i < all.length; i++)
    signs += all.at[i] == 'x';
  while (last > 0 && all.at[last - 1] != 'x')
    last--;
  if (signs != 2 || w->number_count || w->units.at)
    return;
  items_say_why(&w->why, "channels come first, then the window: `conv 64 3x3`");
  w->units = slice_from(all, last);
  w->sizes[0] = slice_to(all, last - 1);
}

/* Assigns bare numbers to channels, window, stride and padding. */
static void place_conv(struct layer_writing *w) {
  struct slice n[8] = {{0}};
  int count = 0, at = 0;
  if (w->size_count == 1) {
    split_sizes(w);
    w->kernel = w->sizes[0];
  }
  w->failed = w->failed || w->size_count > 1 || w->number_count > 5 ||
              (w->units.at && w->number_count);
  for (int i = 0; i < w->number_count && i < 8; i++)
    n[count++] = w->numbers[i];
  bool window = w->kernel.at;
  bool numbers = count > 1 && slice_is_number(n[0]) && slice_is_number(n[1]);
  bool inputs = !numbers ? false
                : window
                    ? count >= 2 && !w->units.at && int_of(n[0]) < int_of(n[1])
                    : count >= 3 && int_of(n[0]) < int_of(n[1]) &&
                          int_of(n[1]) > int_of(n[2]);
  if (inputs) {
    at++;
    items_say_why(&w->why, "input channels are inferred");
  }
  if (!w->units.at && at < count)
    w->units = n[at++];
  w->failed = w->failed || (window && !w->size_count && at < count);
  if (!window && at < count)
    w->kernel = n[at++];
  if (w->kernel.at && !window && at == 2 && count == 3 &&
      slice_equal(w->kernel, n[at])) { /* 64 3 3 */
    struct text both = text_new(w->arena);
    text_printf(&both, "%.*sx%.*s", SLICE_ARG(n[at]), SLICE_ARG(n[at]));
    w->kernel = text_slice(&both);
    items_say_why(&w->why, "the sizes of a window are joined by x");
    at++;
  }
  if (at < count)
    items_say_why(&w->why, "a stride is written `/2`, padding `pad=1`");
  if (!w->stride.at && at < count)
    w->stride = n[at++];
  if (!w->pad.at && at < count)
    put_pad(w, n[at++]);
  if (!w->kernel.at && w->units.at)
    w->kernel = slice_of("3x3");
  w->failed = w->failed || at < count;
}

static void place_window(struct layer_writing *w) {
  int at = 0;
  if (w->size_count && !w->kernel.at)
    w->kernel = w->sizes[0];
  else if (!w->kernel.at && w->number_count)
    w->kernel = w->numbers[at++];
  else if (!w->kernel.at)
    w->kernel = slice_of("2x2");
  if (!w->stride.at && at < w->number_count)
    w->stride = w->numbers[at++];
  if (!w->pad.at && at < w->number_count)
    put_pad(w, w->numbers[at++]);
  w->failed = w->failed || at < w->number_count || w->size_count > 1;
}

static void put_value(struct text *out, struct slice value) {
  if (value.length)
    text_printf(out, " %.*s", SLICE_ARG(value));
}

/* Functions without a value whose number means another layer. */
static bool put_function(struct layer_writing *w, struct text *out) {
  if (w->number_count != 1)
    return false;
  struct slice number = w->numbers[0];
  if (strcmp(w->kind->name, "softmax") == 0) {
    text_printf(out, "fc %.*s softmax", SLICE_ARG(number));
    items_say_why(&w->why,
                  "softmax has no size; give it to the dense layer before it");
    return true;
  }
  bool six = slice_is(number, "6");
  if (strcmp(w->kind->name, "relu") != 0 ||
      !(six || slice_begins(number, "0.")))
    return false;
  text_put(out, six ? "relu6" : "leaky ");
  text_puts(out, six ? slice_of("") : number);
  items_say_why(&w->why, "`leaky` has a slope below zero, and `relu6` a "
                         "bound of 6");
  return true;
}

/* lstm 128 2, lstm 28 128 2: the last number is that of the layers. */
static void place_layers(struct layer_writing *w) {
  enum { MOST_LAYERS = 8 }; /* a larger number is a width: lstm 28 128 */
  int count = w->number_count;
  if (!items_spec(w->kind, "layers") || !items_has_units(w->kind) ||
      w->units.at || count < 2 || count > 3)
    return;
  struct slice last = w->numbers[count - 1], width = w->numbers[count - 2];
  if (!slice_is_number(last) || int_of(last) > MOST_LAYERS ||
      int_of(last) >= int_of(width))
    return;
  put_option(w, "layers", last);
  items_say_why(&w->why, "stacked layers are written `layers=2`");
  w->numbers[0] = width;
  w->number_count = 1;
}

static void put_numbers(struct layer_writing *w, struct text *out) {
  const struct layer_kind *kind = w->kind;
  const struct arg_spec *first = kind->specs;
  bool takes = first && first->name && first->place == PLACE_POSITION;
  if (put_function(w, out))
    return;
  place_layers(w);
  text_put(out, kind->name);
  put_value(out, w->units);
  put_value(out, w->kernel);
  bool norm = strcmp(kind->family, "Normalisation") == 0 && !takes;
  bool pair = items_has_units(kind) && !items_spec(kind, "kernel") &&
              w->number_count == 2 && !w->units.at &&
              (!first[1].name || first[1].place != PLACE_POSITION);
  if (pair || (norm && w->number_count))
    items_say_why(&w->why, "input channels are inferred");
  w->failed = w->failed ||
              (!takes && w->number_count && !(norm && w->number_count == 1)) ||
              (!takes && w->size_count);
  bool groups = pair && strcmp(kind->family, "Normalisation") == 0;
  for (int i = pair - groups; i < w->number_count - groups && takes; i++)
    put_value(out, w->numbers[i]);
  for (int i = 0; i < w->size_count && takes; i++)
    put_value(out, w->sizes[i]);
}

static bool write_layer(struct layer_writing *w, struct text *out) {
  const struct arg_spec *kernel = items_spec(w->kind, "kernel");
  if (kernel && kernel->place == PLACE_POSITION) {
    if (items_has_units(w->kind))
      place_conv(w);
    else
      place_window(w);
    w->number_count = w->size_count = 0;
  }
  if (w->label.length)
    text_printf(out, "%.*s: ", SLICE_ARG(w->label));
  put_numbers(w, out);
  bool one = items_among(w->stride, "1 1x1");
  bool pool = w->kind->windows && !w->kind->params; /* by its window */
  if (w->stride.at && (!one || pool))
    text_printf(out, " /%.*s", SLICE_ARG(w->stride));
  if (w->same && slice_is(w->pad, "pad") && (w->stride.at ? !one : pool))
    w->pad = slice_of("pad=tf");
  w->failed = w->failed || (w->stride.at && !items_spec(w->kind, "stride"));
  w->failed = w->failed || (w->pad.length && !items_spec(w->kind, "pad"));
  put_value(out, w->pad);
  text_puts(out, text_slice(&w->options));
  text_puts(out, text_slice(&w->tail));
  return !w->failed;
}

/* Writes layer `kind` with its items and its tail. */
static bool write_items(struct text *out, const struct layer_kind *kind,
                        struct slice label, struct items *items) {
  struct layer_writing w = {.arena = items->arena,
                            .kind = kind,
                            .label = label,
                            .options = text_new(items->arena),
                            .tail = text_new(items->arena),
                            .why = items->why};
  bool tail = false;
  for (int i = 0; i < items->count && !w.failed;) {
    const struct item *item = &items->at[i];
    bool word = item->kind == ITEM_WORD || item->kind == ITEM_CALL;
    if (word && !tail && item->kind == ITEM_WORD &&
        put_own_word(&w, item->value)) {
      i++;
      continue;
    }
    bool value = item->kind == ITEM_WORD && !tail && !line_layer(item->value);
    tail = tail || (word && !value);
    if (word && !value) {
      i += put_tail(&w, items, i);
      continue;
    }
    if (item->kind == ITEM_KEYED)
      put_keyed(&w, item);
    else if (item->kind == ITEM_STRIDE)
      put_once(&w, &w.stride, item->value);
    else if (item->kind == ITEM_SIZES)
      w.sizes[w.size_count++] = item->value;
    else if (w.size_count && items_spec(kind, "kernel") && !w.stride.at &&
             (w.number_count || !items_has_units(kind)) && !value)
      put_once(&w, &w.stride, item->value); /* conv 64 3x3 2, pool 2x2 2 */
    else if (w.size_count && w.stride.at && items_spec(kind, "pad"))
      put_pad(&w, item->value);
    else
      w.numbers[w.number_count++] = item->value;
    i++;
  }
  bool written = write_layer(&w, out);
  items->why = w.why;
  return written;
}

/* conv3x3, conv3, fc4096, maxpool2: the layer; `end` is set to where
 * its numbers begin. */
static const struct layer_kind *glued(struct slice word, size_t *end) {
  for (*end = word.length; *end > 0; --*end) {
    char last = word.at[*end - 1];
    if (!is_digit(last) && last != 'x')
      break;
  }
  if (*end == word.length || *end == 0 || !is_digit(word.at[*end]))
    return NULL;
  return line_layer(slice_to(word, *end));
}

/* Writes a call by the order of arguments in its framework. */
static bool write_call(struct text *out, struct slice label, struct slice word,
                       struct slice arguments, struct arena *arena) {
  const struct layer_kind *kind = line_layer(word);
  const struct foreign_layer *row =
      layer_kind_find(word) ? NULL : foreign_layer_find(word);
  if (label.length)
    text_printf(out, "%.*s: ", SLICE_ARG(label));
  if (row && *row->ours && *row->arguments)
    return foreign_call(out, row, arguments);
  if (!kind)
    return false;
  struct items items = {.arena = arena, .of = kind};
  while (slice_starts_word(arguments, "x"))
    slice_item(&arguments); /* netc does not write the tensor */
  items_read(&items, arguments);
  return !items.failed && write_items(out, kind, (struct slice){0}, &items);
}

bool line_write(struct arena *arena, struct slice line, struct slice label,
                struct text *out, const char **why) {
  struct slice word = slice_word(line), rest = slice_from(line, word.length);
  size_t end;
  while (slice_begins(rest, ".") && rest.length > 1 && word.length &&
         !is_digit(word.at[0]) &&
         is_word_byte(rest.at[1])) { /* nn., tf.keras.layers. */
    line = slice_from(rest, 1);
    word = slice_word(line);
    rest = slice_from(line, word.length);
  }
  if (slice_begins(rest, "(")) {
    size_t close = slice_close(rest);
    struct slice inside = slice_to(slice_from(rest, 1), close - 1);
    struct slice after = slice_plain(slice_from(rest, close + 1));
    if (after.length && after.at[0] == '(') /* Dense(10)(x) */
      after = slice_plain(slice_from(after, slice_close(after) + 1));
    size_t before = out->length;
    if (close < rest.length && !after.length &&
        write_call(out, label, word, inside, arena)) {
      *why = "arguments follow without parentheses";
      return true;
    }
    out->length = before;
  }
  const struct layer_kind *kind = line_layer(word);
  if (!kind && (kind = glued(word, &end)) != NULL)
    rest = slice_from(line, end);
  if (!kind && items_number_length(line)) { /* 64 conv 3x3 */
    size_t number = items_number_length(line);
    struct slice channels = slice_to(line, number);
    struct slice after = slice_plain(slice_from(line, number));
    kind = line_layer(slice_word(after));
    struct text turned = text_new(arena);
    text_printf(&turned, " %.*s ", SLICE_ARG(channels));
    text_puts(&turned, slice_from(after, slice_word(after).length));
    rest = text_slice(&turned);
  }
  struct items items = {.arena = arena, .of = kind};
  if (!kind || kind->join || kind->front)
    return false;
  if (kind != line_layer(word))
    items.why = "channels and the window are values after the word: `conv 64 "
                "3x3`";
  struct slice window = slice_to(rest, items_number_length(rest));
  struct slice channels = slice_from(rest, window.length);
  struct text vgg = text_new(arena);
  if (slice_begins(channels, "-") && slice_is_number(channels)) {
    channels = slice_from(channels, 1);
    text_printf(&vgg, "%.*s", SLICE_ARG(channels));
    if (window.length) /* conv3-64: VGG's table */
      text_printf(&vgg, " %.*sx%.*s pad", SLICE_ARG(window), SLICE_ARG(window));
    rest = text_slice(&vgg);
  }
  if (slice_begins(rest, "(") && slice_close(rest) < rest.length) {
    size_t close = slice_close(rest); /* conv(64, 3) relu */
    items_read(&items, slice_to(slice_from(rest, 1), close - 1));
    rest = slice_from(rest, close + 1);
  }
  items_read(&items, rest);
  bool written = !items.failed && write_items(out, kind, label, &items);
  *why = items.why;
  return written;
}
