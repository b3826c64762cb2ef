/*
 * The residual blocks of all layers, from what configs say of them: a list of
 * kinds, a text with a letter for each layer, an interval, how many of the
 * first are dense, or a table. Kinds and letters are rows of huggingface.def.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "import/huggingface/huggingface.h"

/* `NAME_I` of a list, or NULL. */
static const struct fact *item(const struct hugging *h, const char *name,
                               int64_t i) {
  return hugging_fact(h,
                      slice_of(graph_text(h->graph, "%s_%" PRId64, name, i)));
}

static const struct fact *fact(const struct hugging *h, const char *name) {
  return hugging_fact(h, slice_of(name));
}

/* 0: the config does not say it. */
static int64_t number(const struct hugging *h, const char *name) {
  const struct fact *f = fact(h, name);
  return f && f->kind == FACT_INT && f->integer > 0 ? f->integer : 0;
}

/* The block of a config's word or letter; NULL: none is known. */
static const char *block_of(struct slice word) {
#define BLOCK(theirs, block)  \
  if (slice_is(word, theirs)) \
    return block;
#include "import/huggingface/huggingface.def"
  return NULL;
}

static const char *refuse(struct hugging *h, const struct fact *at,
                          struct slice word, int64_t layer) {
  struct fact named = *at;
  named.text = word;
  fact_fail(h->facts, &named,
            "`%.*s`: layer %" PRId64 " is `%.*s`, a kind of block that netc "
            "does not know",
            SLICE_ARG(*fact_shown(at)), layer, SLICE_ARG(word));
  graph_help(h->graph,
             "examples/huggingface/blocks has those that it knows; write the "
             "net with them, or export it to ONNX");
  return NULL;
}

static bool is_true(const struct fact *f) {
  return f && f->kind == FACT_BOOL && f->integer;
}

/* The text with a letter for each layer, or NULL. */
static const struct fact *letters_of(const struct hugging *h) {
  const struct fact *f = fact(h, "hybrid_override_pattern");
  return f && f->kind == FACT_WORD ? f : NULL;
}

/* True if a list of layers, as `mlp_only_layers`, has this one: it is read
 * once. */
static bool lists(struct hugging *h, const char *name, int64_t layer) {
  struct arena *arena = h->graph->arena;
  const struct fact *f;
  for (size_t i = 0; i < h->listed.count; i++)
    if (strcmp(h->listed.at[i].name, name) == 0)
      return h->listed.at[i].has[layer];
  bool *has = arena_alloc(arena, HUGGING_MOST_LAYERS + 1, sizeof *has);
  for (int64_t k = 0; (f = item(h, name, k)); k++)
    if (f->kind == FACT_INT && f->integer >= 0 &&
        f->integer <= HUGGING_MOST_LAYERS)
      has[f->integer] = true;
  VEC_PUSH(arena, &h->listed);
  h->listed.at[h->listed.count - 1].name = name;
  h->listed.at[h->listed.count - 1].has = has;
  return has[layer];
}

/* By the number that a list has for the layer; NULL: none, or refused. */
static const char *by_value(struct hugging *h, int64_t i) {
  const struct fact *f = NULL, *found = NULL;
#define VALUE(name, number, block)                      \
  if ((f = item(h, name, i)) && f->integer == (number)) \
    return block;                                       \
  found = f ? f : found;
#include "import/huggingface/huggingface.def"
  return found ? refuse(h, found, found->text, i + 1) : NULL;
}

/* By the letters of a text, `LLLG`, in turn; NULL: refused. */
static const char *by_letter(struct hugging *h, const struct fact *letters,
                             int64_t i) {
  struct slice letter = {letters->text.at + (size_t)i % letters->text.length,
                         1};
  const char *block = block_of(letter);
  return block ? block : refuse(h, letters, letter, i + 1);
}

static bool is_text(const struct fact *f) {
  return f && f->kind == FACT_WORD && f->text.length > 0;
}

/* The block that mixes the tokens of a layer; NULL: refused. */
static const char *mixer_of(struct hugging *h, int64_t i) {
  const struct fact *f = NULL;
  const char *block;
#define LIST(name) \
  if (!f)          \
    f = item(h, name, i);
#include "import/huggingface/huggingface.def"
#define LETTERS(name)         \
  if (is_text(fact(h, name))) \
    return by_letter(h, fact(h, name), i);
#include "import/huggingface/huggingface.def"
  if (f) {
    block = block_of(f->text);
    return block ? block : refuse(h, f, f->text, i + 1);
  }
  block = by_value(h, i);
  if (block || h->graph->failed)
    return block;
#define LAYERS(name, first, those, others) \
  if (fact(h, name))                       \
    return lists(h, name, i + (first)) ? those : others;
#define EVERY(name, nth, others) \
  if (number(h, name))           \
    return (i + 1) % number(h, name) ? others : nth;
#include "import/huggingface/huggingface.def"
  return "attend";
}

static bool has_experts(const struct hugging *h) {
  return number(h, "num_experts") > 0;
}

/* True if a text of numbers, "3,4,5", has this one. */
static bool text_lists(struct slice text, int64_t layer) {
  int64_t value = 0;
  for (size_t i = 0; i < text.length; i++) {
    if (is_digit(text.at[i]) && value <= HUGGING_MOST_LAYERS)
      value = 10 * value + text.at[i] - '0';
    bool ends = i + 1 == text.length || !is_digit(text.at[i + 1]);
    if (is_digit(text.at[i]) && ends && value == layer)
      return true;
    value = ends ? 0 : value;
  }
  return false;
}

/* The block after it: "dense" or "experts"; NULL: refused. */
static const char *feed_of(struct hugging *h, int64_t i) {
  const struct fact *kind = item(h, "mlp_layer_types", i);
  const struct fact *flag = item(h, "moe_layer_freq", i);
  const struct fact *text = fact(h, "moe_layers_enum");
  int64_t every = number(h, "decoder_sparse_step");
  if (!every)
    every = number(h, "interleave_moe_layer_step");
  if (kind) {
    const char *block = block_of(kind->text);
    return block ? block : refuse(h, kind, kind->text, i + 1);
  }
  if (!has_experts(h) || i < number(h, "first_k_dense_replace") ||
      lists(h, "mlp_only_layers", i))
    return "dense";
  if (i < number(h, "num_hash_layers"))
    return "hashed";
  if (flag)
    return flag->integer ? "experts" : "dense";
  if (fact(h, "moe_layers"))
    return lists(h, "moe_layers", i) ? "experts" : "dense";
  if (text && text->kind == FACT_WORD)
    return text_lists(text->text, i) ? "experts" : "dense";
  return every && (i + 1) % every ? "dense" : "experts";
}

/* `none` of a type's row: another block of the layer has this one, too. "": the
 * layer has none. */
static void push(struct hugging *h, struct known_list *list,
                 const char *block) {
  if (!*block || strcmp(block, "none") == 0)
    return;
  *VEC_PUSH(h->graph->arena, &list->all) = slice_of(block);
}

/* True if a kind that reads all tokens is meant so, though the type has windows
 * by default: a list has both kinds, or windows begin later (Qwen2). */
static bool reads_all(const struct hugging *h, int64_t layer) {
#define LIST(name)          \
  if (item(h, name, layer)) \
    return true;
#include "import/huggingface/huggingface.def"
  return layer < number(h, "max_window_layers");
}

/* True if the config has that word, or that value, for the key. */
static bool says(const struct hugging *h, const char *key, const char *word) {
  const struct fact *f = fact(h, key);
  return f && slice_is(f->text, word);
}

/* The type's own block of a kind, as `attend=latent` of its row: the last. A
 * window that the config turns off is none. */
static const char *own_block(struct hugging *h, const char *block,
                             int64_t layer) {
  struct slice name, value, own = slice_of(block);
  for (const char *at = h->type->defaults; hugging_pair(&at, &name, &value);)
    if (slice_is(name, block))
      own = value;
  if (slice_is(own, "window") &&
      (!fact(h, "sliding_window") ||
       (strcmp(block, "window") != 0 && reads_all(h, layer))))
    own = slice_of("attend");
#define INSTEAD(key, word, usual, another)             \
  if (strcmp(block, usual) == 0 && says(h, key, word)) \
    own = slice_of(another);
#define LAST(key, with, usual, another)                             \
  if (slice_is(own, usual) && (!*with || is_true(fact(h, with))) && \
      number(h, key) < hugging_layers(h) &&                         \
      layer + number(h, key) >= hugging_layers(h))                  \
    return another;
#include "import/huggingface/huggingface.def"
  return graph_text(h->graph, "%.*s", SLICE_ARG(own));
}

/* A layer for each kind of them: the first. */
static void thin(struct hugging *h, struct known_list *list) {
  struct map seen = {0};
  size_t kept = 0;
  for (size_t i = 0; i < list->all.count; i++) {
    struct slice layer = list->all.at[i];
    if (map_find(&seen, layer))
      continue;
    map_add(h->graph->arena, &seen, layer);
    list->all.at[kept++] = layer;
  }
  list->all.count = kept;
}

/* The blocks after the first `count` are a layer: one item. */
static void join(struct hugging *h, struct known_list *list, size_t count) {
  struct text text = text_new(h->graph->arena);
  if (list->all.count <= count + 1)
    return;
  for (size_t i = count; i < list->all.count; i++)
    text_printf(&text, "%s%.*s", i > count ? "; " : "",
                SLICE_ARG(list->all.at[i]));
  list->all.at[count] = text_slice(&text);
  list->all.count = count + 1;
}

/* Nemotron NAS: a table whose rows have a part for each branch of a layer. */

static const struct fact *of_part(const struct hugging *h, int64_t i,
                                  const char *member) {
  return fact(h,
              graph_text(h->graph, "block_configs_%" PRId64 "_%s", i, member));
}

/* Two thirds of a multiple of the width, in full 256 (modeling_decilm.py). */
static int64_t width_of(const struct hugging *h, const struct fact *multiple) {
  double value =
      strtod(graph_text(h->graph, "%.*s", SLICE_ARG(multiple->text)), NULL);
  double width = floor(2 * value * (double)number(h, "hidden_size") / 3) / 256;
  return width > 0 && width < HUGGING_MOST ? 256 * (int64_t)ceil(width) : 0;
}

/* A layer that the table gives attention; any of a net without a table. */
static bool has_mixer(const struct hugging *h, int64_t i) {
  return !is_true(of_part(h, i, "attention_no_op")) &&
         !is_true(of_part(h, i, "attention_replace_with_linear"));
}

/* A row of the table without this part. */
static bool lacks(struct hugging *h, const char *part) {
  return fact_fail(h->facts, fact(h, "block_configs"),
                   "`block_configs` has a row without sizes of `%s`", part);
}

static bool tabulate_layer(struct hugging *h, int64_t i,
                           struct known_list *list) {
  const struct fact *group = of_part(h, i, "attention_n_heads_in_group");
  const struct fact *multiple = of_part(h, i, "ffn_ffn_mult");
  const struct fact *size = of_part(h, i, "ffn_intermediate_size");
  int64_t width = size && size->kind == FACT_INT ? size->integer
                  : multiple                     ? width_of(h, multiple)
                                                 : 0;
  int64_t heads = number(h, "num_attention_heads");
  if (is_true(of_part(h, i, "attention_replace_with_linear")))
    push(h, list, "straight");
  else if (group && group->integer > 0 && heads % group->integer == 0)
    push(h, list,
         graph_text(h->graph, "grouped %" PRId64, heads / group->integer));
  else if (!is_true(of_part(h, i, "attention_no_op")))
    return group ? hugging_refuse(h, group, "a divisor of the heads")
                 : lacks(h, "attention");
  if (is_true(of_part(h, i, "ffn_replace_with_linear")))
    push(h, list, "straight");
  else if (width > 0 && width < HUGGING_MOST)
    push(h, list, graph_text(h->graph, "sized %" PRId64, width));
  else if (!is_true(of_part(h, i, "ffn_no_op")))
    return multiple ? hugging_refuse(h, multiple, "a multiple of the width")
           : size   ? hugging_refuse(h, size, "from 1 to 2^30")
                    : lacks(h, "ffn");
  return true;
}

static bool tabulate(struct hugging *h, const struct fact *table,
                     struct known_list *list) {
  if (table->kind != FACT_OBJECT)
    return hugging_refuse(h, table, "a list");
  if (table->integer > HUGGING_MOST_LAYERS)
    return fact_fail(h->facts, table,
                     "`block_configs` has more than 10,000 layers");
  for (int64_t i = 0; i < table->integer; i++) {
    size_t before = list->all.count;
    if (!tabulate_layer(h, i, list))
      return false;
    join(h, list, before);
  }
  return list->all.count ||
         fact_fail(h->facts, table, "`block_configs` has no layer");
}

static bool is_feed(const char *block) {
  return strcmp(block, "dense") == 0 || strcmp(block, "experts") == 0;
}

bool hugging_layer(struct hugging *h, int64_t i, struct layer_blocks *layer) {
  const struct fact *letters = letters_of(h);
  const char *mixer =
      is_text(letters) ? by_letter(h, letters, i) : mixer_of(h, i);
  bool alone = letters || fact(h, "layers_block_type");
  if (!mixer)
    return false;
  *layer = (struct layer_blocks){.mixer = "", .feed = "", .alone = alone};
  if (alone && is_feed(mixer))
    layer->feed = mixer;
  else if (has_mixer(h, i))
    layer->mixer = own_block(h, mixer, i);
  if (!alone)
    layer->feed = feed_of(h, i);
  return layer->feed != NULL;
}

int64_t hugging_layers(const struct hugging *h) {
  int64_t layers = number(h, "num_hidden_layers");
#define LIST(name)              \
  if (!layers && fact(h, name)) \
    layers = fact(h, name)->integer;
#include "import/huggingface/huggingface.def"
  return layers;
}

/* A pattern or a list that has not one item for each layer. */
static bool refuse_count(struct hugging *h, const struct fact *at,
                         int64_t items, int64_t layers) {
  return fact_fail(h->facts, at,
                   "`%.*s` has %" PRId64 " layers, but `num_hidden_layers` is "
                   "%" PRId64,
                   SLICE_ARG(*fact_shown(at)), items, layers);
}

/* The list of kinds that ends before the layers do, or NULL. Some go on with
 * the layers for multi-token prediction. */
static const struct fact *short_list(const struct hugging *h, int64_t layers) {
#define LIST(name)                                          \
  {                                                         \
    const struct fact *f = fact(h, name);                   \
    if (f && f->kind == FACT_OBJECT && f->integer < layers) \
      return f;                                             \
  }
#include "import/huggingface/huggingface.def"
  return NULL;
}

/* `usual`: layers of a config that says nothing of them. */
static bool fill(struct hugging *h, struct known_list *list, int64_t usual) {
  const struct fact *letters = letters_of(h), *table = fact(h, "block_configs");
  int64_t layers = hugging_layers(h) ? hugging_layers(h) : usual;
  struct layer_blocks blocks;
  if (letters && hugging_layers(h) && layers != (int64_t)letters->text.length)
    return refuse_count(h, letters, (int64_t)letters->text.length, layers);
  if (letters)
    layers = (int64_t)letters->text.length;
  else if (table)
    return tabulate(h, table, list);
  if (layers > HUGGING_MOST_LAYERS)
    return hugging_refuse(h, letters ? letters : fact(h, "num_hidden_layers"),
                          "from 1 to 10,000");
  const struct fact *few = letters ? NULL : short_list(h, layers);
  if (few)
    return refuse_count(h, few, few->integer, layers);
  for (int64_t i = 0; i < layers; i++) {
    size_t before = list->all.count;
    if (!hugging_layer(h, i, &blocks))
      return false;
    push(h, list, blocks.mixer);
    push(h, list, own_block(h, blocks.feed, i));
    join(h, list, before);
  }
  return true;
}

static bool has_block(const struct known_list *list, const char *block) {
  struct slice name;
  for (size_t i = 0; i < list->all.count; i++)
    for (struct slice calls = list->all.at[i]; known_call(&calls, &name);)
      if (slice_is(name, block))
        return true;
  return false;
}

/* Notes on parts that blocks leave out, and on unchecked types. */
static void note_blocks(struct hugging *h, const struct known_list *list) {
#define NOTE(block, text)     \
  if (has_block(list, block)) \
    graph_note(h->graph, text);
#define UNCHECKED(its)                 \
  if (strcmp(h->type->name, its) == 0) \
    graph_note(h->graph, "no published count checks this type");
#include "import/huggingface/huggingface.def"
}

struct settled hugging_pattern(struct hugging *h, const struct settled *usual) {
  struct known_list *list = ARENA_NEW(h->graph->arena, struct known_list);
  int64_t pairs = usual->list ? (int64_t)usual->list->all.count / 2 : 0;
  if (!fill(h, list, pairs))
    return (struct settled){.kind = KNOWN_NOT};
  if (h->trying)
    thin(h, list);
  note_blocks(h, list);
  return list->all.count ? (struct settled){.kind = KNOWN_LIST, .list = list}
                         : *usual;
}
