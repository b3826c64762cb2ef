/* Reads the items of a layer's line, in any order and spelling. */
#include "layers/foreign/items.h"

#include <stdlib.h>

#include "layers/layer.h"

/* Layers by any name */

const struct layer_kind *line_layer(struct slice word) {
  const struct layer_kind *kind = layer_kind_find(word);
  const struct foreign_layer *row = kind ? NULL : foreign_layer_find(word);
  if (row && *row->ours)
    kind = layer_kind_find(slice_of(row->ours));
  for (size_t i = 0; !kind && !row && i < layer_kind_count(); i++)
    if (foreign_same(word, slice_of(layer_kind_at(i)->name)))
      kind = layer_kind_at(i);
  return kind;
}

const struct arg_spec *items_spec(const struct layer_kind *kind,
                                  const char *name) {
  const struct arg_spec *spec = kind ? kind->specs : NULL;
  for (; spec && spec->name; spec++)
    if (strcmp(spec->name, name) == 0)
      return spec;
  return NULL;
}

bool items_has_units(const struct layer_kind *kind) {
  const struct arg_spec *spec = kind->specs;
  return spec && spec->name && spec->place == PLACE_POSITION &&
         spec->type == TYPE_INT;
}

/* Keys by meaning. */
static const struct {
  const char *keys, *ours, *why;
} keys[] = {
    {"k kernel kernel_size ksize size filter_size pool_size window "
     "window_shape pool receptive_field",
     "kernel", "the window is a value: `conv 64 3x3`, `pool 2x2`"},
    {"s stride strides subsample step", "stride", "a stride is written `/2`"},
    {"p padding pad paddings border border_mode pads", "pad",
     "`pad` keeps the size at stride 1, `pad=1` adds one row and column at "
     "each side"},
    {"d dilation dilate dilations dilation_rate dilation_factor", "dilate",
     "dilation is written `dilate=2`"},
    {"g groups group num_groups feature_group_count", "groups",
     "groups are written `groups=2`"},
    {"filters out_channels channels num_output nb_filter features c "
     "out_features units hidden_size output_size num_filters out dim_out "
     "num_classes width neurons hidden_units output_dim",
     "units",
     "channels and widths are the first value: `conv 64 3x3`, `fc 10`"},
    {"in_channels in_features num_features normalized_shape input_shape "
     "input_dim in_dim input_size embed_dim num_channels n_channels "
     "data_format batch_first in_planes",
     "-", "input channels are inferred"},
    {"activation act nonlinearity activation_fn non_linearity", "tail",
     "an activation follows the layer: `conv 64 3x3 relu`"},
    {"norm normalization normalizer normalizer_fn", "norm",
     "a norm follows the layer: `conv 64 3x3 bn`"},
    {"bias use_bias bias_term", "bias",
     "`nobias` leaves the bias out; `true` and `false` are in small letters"},
    {"name label", "label",
     "a name is written as a label: `conv1: conv 64 3x3`"},
    {"rate prob p drop_rate", "share", "the share is a value: `dropout 0.5`"},
    {"inplace in_place", "inplace", "write `inplace=on` or `inplace=off`"},
    {"batch_normalize bn batch_norm use_bn", "bn",
     "a norm follows the layer: `conv 64 3x3 bn`"},
    {"heads num_heads n_heads nhead h", "heads",
     "heads are the first value: `attention 8`"},
    {"bidirectional", "bidir", "`bidir` runs in both directions"},
    {"ceil_mode", "ceil", "`ceil` rounds up"},
    {"scale_factor factor scale", "factor", "the factor is a value: `up 2`"},
    {"trainable requires_grad", "frozen",
     "`frozen` excludes a layer from training: `conv 64 3x3 frozen`"},
    {"eps epsilon", "eps", "a norm that has an epsilon takes `eps=`"},
    {"num_layers n_layers", "layers", "stacked layers are written `layers=2`"},
    {"return_sequences", "states",
     "a recurrent layer returns all states; `last` returns the last one"},
    {"lr momentum kernel_initializer align_corners count_include_pad seed "
     "training stateful unroll recurrent_activation recurrent_initializer "
     "bias_initializer kernel_regularizer",
     "-", "it changes no shape, count or byte"},
};

bool items_among(struct slice word, const char *words) {
  return word_index_as(words, word, foreign_same) != 0;
}

const char *items_meaning(const struct layer_kind *kind, struct slice key) {
  static const char placed[] = "kernel stride pad bias channels units";
  for (const struct arg_spec *spec = kind ? kind->specs : NULL;
       spec && spec->name; spec++)
    if (slice_is(key, spec->name) && !items_among(key, placed))
      return NULL; /* the layer's own option */
  bool share = kind && kind->specs && kind->specs[0].name &&
               kind->specs[0].type == TYPE_REAL;
  if (share && items_among(key, "rate prob p drop_rate"))
    return "share";
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (items_among(key, keys[i].keys))
      return keys[i].ours;
  return NULL;
}

const char *items_why(const char *meaning, struct slice key) {
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(meaning, keys[i].ours) == 0 && items_among(key, keys[i].keys))
      return keys[i].why;
  return NULL;
}

void items_say_why(const char **why, const char *what) {
  if (!*why)
    *why = what;
}

/* Reading items */

static void put_item(struct items *items, enum item_kind kind, struct slice key,
                     struct slice value) {
  if (items->count == MOST_ITEMS)
    items->failed = true;
  else
    items->at[items->count++] = (struct item){kind, key, value};
}

/* Length of 3x3, 3*3 or 64 at the start; 0: there is none. */
size_t items_number_length(struct slice s) {
  size_t i = s.length && s.at[0] == '-', digits = i;
  while (i < s.length &&
         (is_digit(s.at[i]) ||
          (i + 1 < s.length && strchr(".xX*e", s.at[i]) &&
           (is_digit(s.at[i + 1]) || (s.at[i] == 'e' && s.at[i + 1] == '-')) &&
           i > digits) ||
          (s.at[i] == '-' && i && s.at[i - 1] == 'e')))
    i++;
  return i > digits ? i : 0;
}

/* Joins the numbers of a text with x; other separators are dropped. */
static struct slice joined(struct items *items, struct slice s) {
  struct text out = text_new(items->arena);
  bool apart = false;
  s = slice_trim(s, "()[]{} \t,");
  for (size_t i = 0; i < s.length; i++) {
    if (is_digit(s.at[i]) || s.at[i] == '.' || s.at[i] == '_' ||
        s.at[i] == '-') {
      if (apart)
        text_putc(&out, 'x');
      text_putc(&out, s.at[i]);
      apart = false;
    } else if (strchr(" ,xX*\t", s.at[i])) {
      apart = true;
    } else {
      return (struct slice){0};
    }
  }
  return text_slice(&out);
}

static void put_number(struct items *items, struct slice key, struct slice s) {
  struct slice value = joined(items, s);
  bool sizes = memchr(value.at ? value.at : "", 'x', value.length);
  bool real = slice_is_number(s) || memchr(s.at, 'e', s.length);
  if (!value.length)
    value = s;
  put_item(items,
           key.at           ? ITEM_KEYED
           : real || !sizes ? ITEM_NUMBER
                            : ITEM_SIZES,
           key, value);
}

/* Separators of other languages, where netc has blanks. */
static void skip_sign(struct items *items, struct slice s) {
  items->failed = items->failed || slice_begins(s, "==");
  items->failed = items->failed || !strchr(" \t\n,|@+-=>:;&.", s.at[0]) ||
                  (s.at[0] == '.' && s.length > 1 && is_digit(s.at[1]));
  if (s.at[0] == ',')
    items_say_why(&items->why,
                  "separate arguments with blanks, and statements with `;`");
  else if (!strchr(" \t\n", s.at[0]))
    items_say_why(&items->why,
                  "layers that follow are written after it, separated by "
                  "blanks: `conv 64 3x3 pad bn relu`");
}

static bool is_option_key(const struct items *items, struct slice word) {
  const char *meaning = items_meaning(items->of, word);
  if (!meaning || !items->of)
    return false;
  return items_spec(items->of, meaning) ||
         (strcmp(meaning, "units") == 0 && items_has_units(items->of) &&
          word.length > 1) ||
         strcmp(meaning, "share") == 0;
}

/* Reads a value after a key: a number, a tuple, a word or a string. */
static size_t read_value(struct items *items, struct slice key,
                         struct slice s) {
  size_t length = items_number_length(s);
  if (length) {
    put_number(items, key, slice_to(s, length));
    return length;
  }
  if (s.length && (s.at[0] == '(' || s.at[0] == '[')) {
    length = slice_close(s) + 1;
    struct slice inside = joined(items, slice_to(s, length));
    items->failed = items->failed || !inside.length || length > s.length;
    put_item(items, ITEM_KEYED, key, inside);
    return length;
  }
  if (s.length && (s.at[0] == '"' || s.at[0] == '\'')) {
    char quote[2] = {s.at[0], '\0'};
    size_t end = slice_find(slice_from(s, 1), quote);
    put_item(items, ITEM_KEYED, key, slice_to(slice_from(s, 1), end));
    return end + 2;
  }
  while (length < s.length &&
         (is_word_byte(s.at[length]) || (s.at[length] == '.' && length)))
    length++;
  struct slice word = slice_to(s, length);
  while (memchr(word.at, '.', word.length))
    word = slice_from(word, slice_find(word, ".") + 1);
  if (slice_begins(slice_from(s, length), "(")) /* nn.ReLU() */
    length += slice_close(slice_from(s, length)) + 1;
  items->failed = items->failed || !word.length;
  put_item(items, ITEM_KEYED, key, word);
  return length ? length : 1;
}

/* k3, s2, p1 */
static bool is_shorthand(struct slice word) {
  return word.length > 1 && strchr("kspgd", word.at[0]) &&
         slice_is_number(slice_from(word, 1));
}

static size_t read_word(struct items *items, struct slice s) {
  struct slice word = slice_word(s);
  size_t length = word.length;
  struct slice after = slice_from(s, length);
  size_t blanks = 0;
  while (blanks < after.length && after.at[blanks] == ' ')
    blanks++;
  struct slice next = slice_from(after, blanks);
  bool keyed = next.length > 1 && (next.at[0] == '=' || next.at[0] == ':') &&
               next.at[1] != '=' && next.at[1] != '>';
  if (slice_begins(after, ".") && after.length > 1 && is_word_byte(after.at[1]))
    return length + 1; /* nn.Conv2d, tf.keras.layers.Dense */
  if (slice_begins(after, "(")) {
    size_t end = slice_close(after);
    put_item(items, ITEM_CALL, word, slice_to(slice_from(after, 1), end - 1));
    return length + end + 1;
  }
  if (keyed) {
    size_t skip = 1;
    while (skip < next.length && next.at[skip] == ' ')
      skip++;
    return length + blanks + skip +
           read_value(items, word, slice_from(next, skip));
  }
  if (is_shorthand(word)) {
    put_number(items, slice_to(word, 1), slice_from(word, 1));
    return length;
  }
  bool number = items_number_length(next) || slice_begins(next, "(") ||
                slice_begins(next, "[");
  if (number && is_option_key(items, word))
    return length + blanks + read_value(items, word, next);
  put_item(items, ITEM_WORD, (struct slice){0}, word);
  return length;
}

static size_t read_item(struct items *items, struct slice s) {
  size_t length = items_number_length(s);
  if (length) {
    put_number(items, (struct slice){0}, slice_to(s, length));
    return length;
  }
  if (is_word_byte(s.at[0]))
    return read_word(items, s);
  switch (s.at[0]) {
  case '(':
  case '[': {
    size_t end = slice_close(s) + 1;
    struct slice inside = slice_to(slice_from(s, 1), end - 2);
    items_say_why(&items->why,
                  "sizes are joined by x, and arguments follow without "
                  "brackets: `conv 64 3x3`");
    if (end > s.length)
      items->failed = true;
    else if (joined(items, inside).length)
      put_number(items, (struct slice){0}, inside);
    else if (items->depth++ < DEEPEST)
      items_read(items, inside);
    else
      items->failed = true;
    return end;
  }
  case '/':
    length = items_number_length(slice_from(s, 1));
    if (!length || (items->count && s.at[-1] != ' ' &&
                    items->at[items->count - 1].kind != ITEM_SIZES))
      items->failed = true; /* 64/3 is a division */
    else
      put_item(items, ITEM_STRIDE, (struct slice){0},
               joined(items, slice_to(slice_from(s, 1), length)));
    return length + 1;
  case '"':
  case '\'': return read_value(items, slice_of("name"), s);
  default: skip_sign(items, s); return 1;
  }
}

void items_read(struct items *items, struct slice s) {
  while (s.length && !items->failed)
    s = slice_from(s, read_item(items, s));
}
