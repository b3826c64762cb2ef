/* Finds words of other frameworks and converts their calls to netc's. */
#include "layers/foreign/foreign.h"

#include "layers/foreign/words.h"
#include "layers/layer.h"
#include "ops/function.h"

static const struct foreign_layer layers[] = {
#define LAYER(word, ours, arguments, note) {word, ours, arguments, note},
#include "ops/typed.def"
};

/* Functions are found by their names in ops.def, unless a name only spells
 * netc's word differently. */
static const struct foreign_layer functions[] = {
#define FUNCTION(id, ...) {#id, #id, "-", ""},
#include "ops/ops.def"
};

static const struct foreign_option options[] = {
#define OPTION(word, ours, note) {word, ours, note},
#include "ops/typed.def"
};

static const struct {
  const char *option, *word, *ours;
} choices[] = {
#define CHOICE(option, word, ours) {option, word, ours},
#include "ops/typed.def"
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

size_t foreign_count(void) {
  return COUNT(layers) + COUNT(options) + COUNT(choices);
}

const char *foreign_layer_target(size_t index) {
  return index < COUNT(layers) ? layers[index].ours : NULL;
}

/* Words in a normal form */

struct plain {
  char at[64]; /* longer words match nothing */
  size_t length;
};

static void strip(struct plain *word, const char *prefix) {
  size_t length = strlen(prefix);
  if (word->length <= length || memcmp(word->at, prefix, length) != 0)
    return;
  word->length -= length;
  /* Valgrind takes glibc's checked memmove() for a memcpy() that overlaps. */
  for (size_t i = 0; i < word->length; i++)
    word->at[i] = word->at[i + length];
}

static struct plain plain_of(struct slice word) {
  struct plain plain = {.length = 0};
  for (size_t i = 0; i < word.length && plain.length < sizeof plain.at; i++) {
    char c = word.at[i];
    if (c >= 'A' && c <= 'Z')
      c = (char)(c - 'A' + 'a');
    if (c != '_' && c != '-' && c != ' ' && c != '.')
      plain.at[plain.length++] = c;
  }
  static const char *const makers[] = {"nvidia", "geforce", "tesla", "amd",
                                       "instinct"};
  for (size_t i = 0; i < COUNT(makers); i++)
    strip(&plain, makers[i]);
  return plain;
}

static bool plain_is(const struct plain *a, struct slice word) {
  struct plain b = plain_of(word);
  return a->length == b.length && a->length < sizeof a->at &&
         memcmp(a->at, b.at, a->length) == 0;
}

bool foreign_same(struct slice a, struct slice b) {
  struct plain plain = plain_of(a);
  return plain_is(&plain, b);
}

/* Exact spelling comes first: Conv2d is PyTorch's, Conv2D is Keras'. */
#define FIND(rows, word)                              \
  do {                                                \
    for (size_t i = 0; i < COUNT(rows); i++)          \
      if (slice_is(word, (rows)[i].word))             \
        return &(rows)[i];                            \
    struct plain plain = plain_of(word);              \
    for (size_t i = 0; i < COUNT(rows); i++)          \
      if (plain_is(&plain, slice_of((rows)[i].word))) \
        return &(rows)[i];                            \
  } while (0)

const struct foreign_layer *foreign_layer_find(struct slice word) {
  struct slice name;
  FIND(layers, word);
  struct plain plain = plain_of(word);
  const struct function *function;
  for (enum dialect d = 0; d < DIALECTS; d++)
    for (size_t i = 0; (function = function_name_at(d, i, &name)); i++)
      if (plain_is(&plain, name) &&
          !plain_is(&plain, slice_of(word_name(function->word))))
        return &functions[function - function_at(0)];
  return NULL;
}

const struct foreign_option *foreign_option_find(struct slice word) {
  FIND(options, word);
  return NULL;
}

const char *foreign_choice_find(const char *option, struct slice word) {
  for (size_t i = 0; i < COUNT(choices); i++)
    if (strcmp(choices[i].option, option) == 0 &&
        foreign_same(word, slice_of(choices[i].word)))
      return choices[i].ours;
  return NULL;
}

/* Calls */

enum { MOST_ITEMS = 24 };

struct foreign_call {
  struct slice key[MOST_ITEMS]; /* .at NULL: positional */
  struct slice value[MOST_ITEMS];
  bool used[MOST_ITEMS];
  int count;
};

static struct slice trim(struct slice s) {
  return slice_trim(s, " \t\r\n'\"");
}

static void add_item(struct foreign_call *call, struct slice item) {
  static const char tensors[] = "x y h out self inputs input hidden";
  int i = call->count;
  item = trim(item);
  size_t key = slice_find(item, "=");
  if (!item.length || i == MOST_ITEMS || word_index(tensors, item))
    return; /* F.relu(x): netc does not write the tensor */
  call->value[i] = item;
  if (key < slice_find(item, "(")) {
    call->key[i] = trim(slice_to(item, key));
    call->value[i] = trim(slice_from(item, key + 1));
  }
  call->count++;
}

static struct foreign_call read_call(struct slice arguments) {
  struct foreign_call call = {.count = 0};
  while (arguments.length)
    add_item(&call, slice_item(&arguments));
  return call;
}

/* (3, 3) is 3x3 in netc. */
static void put_value(struct text *out, struct slice value) {
  if (!slice_begins(value, "(") && !slice_begins(value, "[")) {
    text_puts(out, value);
    return;
  }
  value = slice_trim(value, "()[]");
  for (size_t i = 0; i < value.length; i++) {
    if (value.at[i] == ',')
      text_putc(out, 'x');
    else if (value.at[i] != ' ')
      text_putc(out, value.at[i]);
  }
}

static bool is_true(struct slice value) {
  return foreign_same(value, slice_of("true")) || slice_is(value, "1");
}

static bool is_false(struct slice value) {
  return foreign_same(value, slice_of("false")) || slice_is(value, "0") ||
         foreign_same(value, slice_of("none"));
}

/* A pool's stride is its window, if it has no other. */
static bool is_pool(const struct layer_kind *kind) {
  return kind && kind->windows && !kind->params;
}

/* True if a stride other than 1 is written, or is the window. */
static bool is_strided(const struct text *out, const struct layer_kind *kind) {
  struct slice text = text_slice(out);
  size_t stride = slice_find(text, " /");
  return stride < text.length
             ? !slice_is(slice_word(slice_from(text, stride + 2)), "1")
             : is_pool(kind);
}

/* At a stride, SAME is TensorFlow's: PyTorch has it at a stride of 1 alone. */
static void put_padding(struct text *out, const struct layer_kind *kind,
                        struct slice value) {
  if (foreign_same(value, slice_of("same")))
    text_put(out, is_strided(out, kind) ? " pad=tf" : " pad");
  else if (!is_false(value) && !foreign_same(value, slice_of("valid"))) {
    text_put(out, " pad=");
    put_value(out, value);
  }
}

static void put_tail(struct text *out, struct slice value) {
  const struct foreign_layer *layer = foreign_layer_find(value);
  if (is_false(value) || slice_is(value, "linear"))
    return;
  text_putc(out, ' ');
  if (layer && *layer->ours)
    text_put(out, layer->ours);
  else
    text_puts(out, value);
}

/* Writes the argument `value` by an item of a template. */
static void put_item(struct text *out, const struct layer_kind *kind,
                     struct slice how, struct slice value) {
  if (slice_is(how, "pad")) {
    put_padding(out, kind, value);
  } else if (slice_is(how, "tail")) {
    put_tail(out, value);
  } else if (slice_is(how, "nobias")) {
    text_put(out, is_false(value) ? " nobias" : "");
  } else if (slice_is(how, "ceil") || slice_is(how, "bidir")) {
    if (is_true(value))
      text_printf(out, " %.*s", SLICE_ARG(how));
  } else if (slice_is(how, "last")) { /* return_sequences */
    text_put(out, is_false(value) ? " last" : "");
  } else if (slice_is(how, "/")) {
    if ((slice_is(value, "1") && !is_pool(kind)) || is_false(value))
      return;
    text_put(out, " /");
    put_value(out, value);
  } else if (!slice_is(how, "-")) {
    text_putc(out, ' ');
    text_puts(out, how);
    text_put(out, how.length ? "=" : "");
    put_value(out, value);
  }
}

/* Splits `-name`, `/name`, `key=name`, `pad:name` or `name`. */
static struct slice item_name(struct slice item, struct slice *how) {
  size_t at = 0;
  *how = (struct slice){item.at, 0};
  if (item.at[0] == '-' || item.at[0] == '/') {
    how->length = 1;
    return slice_from(item, 1);
  }
  while (at < item.length && item.at[at] != '=' && item.at[at] != ':')
    at++;
  if (at == item.length)
    return item;
  how->length = at;
  return slice_from(item, at + 1);
}

/* Index of the argument at a place of the signature; -1: not given. */
static int find_item(const struct foreign_call *call, struct slice name,
                     int place) {
  int position = 0;
  for (int i = 0; i < call->count; i++) {
    if (call->key[i].at ? foreign_same(call->key[i], name)
                        : position++ == place)
      return i;
  }
  return -1;
}

/* Linear(512), LSTM(128, return_sequences=True): a single value is the output's
 * width, not the input's. */
static bool lacks_input(const struct foreign_call *call, const char *template) {
  struct slice how, width = item_name(word_at(template, 2), &how);
  int positions = 0;
  bool named = false;
  for (int i = 0; i < call->count; i++) {
    positions += !call->key[i].at && !slice_is(call->value[i], "x");
    named = named || (call->key[i].at && foreign_same(call->key[i], width));
  }
  return positions == 1 && !named && template[0] == '-' && template[1];
}

/* Keras' recurrent layers, which have no input's width, give the last state. */
static bool gives_last(const struct foreign_call *call, const char *template) {
  return lacks_input(call, template) ||
         find_item(call, slice_of("units"), -1) >= 0;
}

static void put_by_template(struct text *out, const struct layer_kind *kind,
                            struct foreign_call *call, const char *template) {
  struct slice item, how;
  int shift = 1 + lacks_input(call, template);
  for (int i = 1; (item = word_at(template, i)).length; i++) {
    struct slice name = item_name(item, &how);
    int at = name.length ? find_item(call, name, i - shift) : -1;
    if (at < 0) {
      if (slice_is(how, "last") && gives_last(call, template))
        text_put(out, " last");
      continue;
    }
    call->used[at] = true;
    put_item(out, kind, how, call->value[at]);
  }
}

/* Arguments that change no shape, count or byte, or are inferred. */
static bool may_be_lost(struct slice key) {
  static const char words[] =
      "inplace eps epsilon momentum affine track_running_stats device dtype "
      "name kernel_initializer bias_initializer kernel_regularizer input_shape "
      "input_dim batch_first data_format align_corners elementwise_affine "
      "count_include_pad return_indices dim axis";
  return word_index_as(words, key, foreign_same) != 0;
}

static bool is_whole(const struct foreign_call *call) {
  for (int i = 0; i < call->count; i++)
    if (!call->used[i] && !(call->key[i].at && may_be_lost(call->key[i])) &&
        !slice_is(call->value[i], "x"))
      return false;
  return true;
}

bool foreign_call(struct text *out, const struct foreign_layer *layer,
                  struct slice arguments) {
  struct foreign_call call = read_call(arguments);
  struct text written = text_new(out->arena);
  text_put(&written, layer->ours);
  put_by_template(&written, layer_kind_find(slice_of(layer->ours)), &call,
                  layer->arguments);
  text_puts(out, text_slice(&written));
  return strcmp(layer->arguments, "-") == 0 || is_whole(&call);
}

void foreign_put_option(struct text *out, const struct foreign_option *option,
                        struct slice value) {
  for (const char *c = option->ours; *c; c++) {
    if (*c == '%')
      put_value(out, value);
    else
      text_putc(out, *c);
  }
}
