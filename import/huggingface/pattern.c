/*
 * The residual blocks of all layers, from what configs say of them: a list of
 * kinds, a text with a letter for each layer, an interval, or how many of the
 * first are dense. Kinds and letters are rows of huggingface.def.
 */
#include <inttypes.h>

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
            SLICE_ARG(named.name), layer, SLICE_ARG(word));
  graph_help(h->graph,
             "examples/huggingface/blocks has those that it knows; write the "
             "net with them, or export it to ONNX");
  return NULL;
}

/* The text with a letter for each layer, or NULL. */
static const struct fact *letters_of(const struct hugging *h) {
  const struct fact *f = fact(h, "hybrid_override_pattern");
  return f && f->kind == FACT_WORD ? f : NULL;
}

/* What mixes the tokens of a layer; NULL: refused. */
static const char *mixer_of(struct hugging *h, int64_t i) {
  const struct fact *f = NULL;
#define LIST(name) \
  if (!f)          \
    f = item(h, name, i);
#include "import/huggingface/huggingface.def"
  if (f) {
    const char *block = block_of(f->text);
    return block ? block : refuse(h, f, f->text, i + 1);
  }
#define FLAG(name, one, zero) \
  if ((f = item(h, name, i))) \
    return f->integer ? one : zero;
#include "import/huggingface/huggingface.def"
#define EVERY(name, nth, others) \
  if (number(h, name))           \
    return (i + 1) % number(h, name) ? others : nth;
#include "import/huggingface/huggingface.def"
  return "attend";
}

/* True if a list of layers, as `mlp_only_layers`, has this one. */
static bool lists(const struct hugging *h, const char *name, int64_t layer) {
  const struct fact *f;
  for (int64_t k = 0; (f = item(h, name, k)); k++)
    if (f->kind == FACT_INT && f->integer == layer)
      return true;
  return false;
}

static bool has_experts(const struct hugging *h) {
  return number(h, "num_experts") > 0;
}

/* What follows it: "dense" or "experts"; NULL: refused. */
static const char *feed_of(struct hugging *h, int64_t i) {
  const struct fact *kind = item(h, "mlp_layer_types", i);
  const struct fact *flag = item(h, "moe_layer_freq", i);
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
  if (flag)
    return flag->integer ? "experts" : "dense";
  if (fact(h, "moe_layers"))
    return lists(h, "moe_layers", i) ? "experts" : "dense";
  return every && (i + 1) % every ? "dense" : "experts";
}

static void push(struct hugging *h, struct known_list *list,
                 const char *block) {
  *VEC_PUSH(h->graph->arena, &list->all) = slice_of(block);
}

/* The type's own kind of attention, `mixer` of its row. */
static const char *own_mixer(struct hugging *h, const char *block) {
  const struct fact *own = fact(h, "mixer");
  if (own && strcmp(block, "attend") == 0)
    block = graph_text(h->graph, "%.*s", SLICE_ARG(own->text));
  bool narrow = strcmp(block, "window") == 0 && fact(h, "sliding_window");
  return narrow || strcmp(block, "window") != 0 ? block : "attend";
}

/* One block for each letter: `M*-`. */
static bool spell(struct hugging *h, const struct fact *letters,
                  struct known_list *list) {
  for (size_t i = 0; i < letters->text.length; i++) {
    struct slice letter = {letters->text.at + i, 1};
    const char *block = block_of(letter);
    if (!block)
      return refuse(h, letters, letter, (int64_t)i + 1);
    push(h, list, own_mixer(h, block));
  }
  return true;
}

/* As many as the config says, or as a list has kinds. */
static int64_t layers_of(const struct hugging *h) {
  int64_t layers = number(h, "num_hidden_layers");
#define LIST(name)              \
  if (!layers && fact(h, name)) \
    layers = fact(h, name)->integer;
#include "import/huggingface/huggingface.def"
  return layers;
}

static bool fill(struct hugging *h, struct known_list *list) {
  const struct fact *letters = letters_of(h);
  int64_t layers = layers_of(h);
  bool apart = fact(h, "layers_block_type");
  if (letters)
    return spell(h, letters, list);
  if (layers > HUGGING_MOST_LAYERS)
    return hugging_refuse(h, fact(h, "num_hidden_layers"), "from 1 to 10,000");
  for (int64_t i = 0; i < layers; i++) {
    const char *mixer = mixer_of(h, i);
    const char *feed = mixer && !apart ? feed_of(h, i) : "";
    if (!mixer || !feed)
      return false;
    push(h, list, own_mixer(h, mixer));
    if (*feed)
      push(h, list, feed);
  }
  return true;
}

struct settled hugging_pattern(struct hugging *h, const struct settled *usual) {
  struct known_list *list = ARENA_NEW(h->graph->arena, struct known_list);
  if (!fill(h, list))
    return (struct settled){.kind = KNOWN_NOT};
  return list->all.count ? (struct settled){.kind = KNOWN_LIST, .list = list}
                         : *usual;
}
