/*
 * The blocks of a net from the tensors of a GGUF: the table of tensors says
 * for certain which layers attend, which have experts, and which biases and
 * norms there are.
 */
#include <inttypes.h>

#include "import/huggingface/gguf.h"

/* Parts of a layer: rows GGUF_PART. */
enum {
  ATTENDS = 1 << 0,
  KEYS = 1 << 1,
  VALUES = 1 << 2,
  SINKS = 1 << 3,
  INDEXES = 1 << 4,
  DELTA = 1 << 5,
  MAMBA = 1 << 6,
  SHORT = 1 << 7,
  DENSE = 1 << 8,
  EXPERTS = 1 << 9,
  PICKS = 1 << 10,
  COMPRESSES = 1 << 11,
  HASHES = 1 << 12,
};

static void put_int(struct gguf_facts *g, const char *name, int64_t value) {
  fact_put_text(g->facts, slice_of(name),
                slice_of(graph_text(g->graph, "%" PRId64, value)));
}

/* 0: the file does not say it as one number. */
static int64_t said(const struct gguf_facts *g, const char *key) {
  const struct gguf_value *value = gguf_key(g, key);
  return value && value->kind == GGUF_INTEGER ? value->integer : 0;
}

static int64_t fact_int(const struct gguf_facts *g, const char *name) {
  const struct fact *fact = fact_of(g->facts, name);
  return fact && fact->kind == FACT_INT ? fact->integer : 0;
}

int64_t gguf_layer(struct slice name, struct slice *rest) {
  int64_t layer = 0;
  size_t at = 4;
  if (!slice_begins(name, "blk."))
    return -1;
  for (; at < name.length && is_digit(name.at[at]); at++)
    if (layer <= HUGGING_MOST_LAYERS)
      layer = 10 * layer + name.at[at] - '0';
  if (at == 4 || at == name.length || name.at[at] != '.')
    return -1;
  *rest = slice_from(name, at + 1);
  return layer;
}

/* The first tensor of that name in any layer, or NULL. */
static const struct stored_tensor *found(const struct gguf_facts *g,
                                         const char *name) {
  const struct map_entry *entry = map_find(&g->found, slice_of(name));
  return entry ? &g->file.tensors.at[entry->number] : NULL;
}

static uint32_t part_of(struct slice name) {
#define GGUF_PART(part, theirs) \
  if (slice_is(name, theirs))   \
    return part;
#include "import/huggingface/huggingface.def"
  return 0;
}

static void find_parts(struct gguf_facts *g) {
  for (size_t i = 0; i < g->file.tensors.count; i++) {
    struct slice name = slice_of(g->file.tensors.at[i].name), rest;
    int64_t layer = gguf_layer(name, &rest);
    if (layer < 0 || layer >= g->layers)
      continue;
    g->parts[layer] |= part_of(rest);
    if (!map_find(&g->found, rest))
      map_add(g->graph->arena, &g->found, rest)->number = (int64_t)i;
  }
}

/* Layers that read the latest tokens: a list, or all but each n-th. */
static bool find_windows(struct gguf_facts *g) {
  const struct gguf_value *pattern =
      gguf_key(g, "attention.sliding_window_pattern");
  int64_t every = 1;
#define GGUF_WINDOW(name, n, word)                                            \
  if (slice_is(g->architecture, name) && said(g, "attention.sliding_window")) \
    every = n;
#include "import/huggingface/huggingface.def"
  if (pattern && pattern->kind == GGUF_INTEGER)
    every = pattern->integer;
  bool list = pattern && pattern->kind == GGUF_LIST;
  if (list && pattern->count < (uint64_t)g->layers)
    return graph_fail(g->graph, 0,
                      "`attention.sliding_window_pattern` has %" PRIu64
                      " of %" PRId64 " layers",
                      pattern->count, g->layers);
  for (int64_t i = 0; i < g->layers; i++)
    g->window[i] = list ? pattern->items[i].integer != 0
                        : every == 0 || (every > 1 && i % every < every - 1);
  return true;
}

/* The part that mixes tokens, as `layer_types` of a config.json; "": nothing.
 */
static const char *mixer_of(const struct gguf_facts *g, int64_t i) {
  uint32_t parts = g->parts[i];
  if (parts & DELTA)
    return "linear_attention";
  if (parts & SHORT)
    return "conv";
  if (!(parts & ATTENDS))
    return parts & MAMBA ? "mamba" : "";
  if (parts & COMPRESSES)
    return parts & INDEXES ? "compressed_sparse_attention"
                           : "heavily_compressed_attention";
  if (parts & PICKS)
    return "minimax_m3_sparse";
  if (g->window[i])
    return "sliding_attention";
  if (found(g, "indexer.proj.weight") && !(parts & INDEXES))
    return "shared";
#define GGUF_WINDOW(name, n, word)                                            \
  if (slice_is(g->architecture, name) && said(g, "attention.sliding_window")) \
    return word;
#include "import/huggingface/huggingface.def"
  return "full_attention";
}

/* The part that follows it, as `mlp_layer_types`. */
static const char *feed_of(const struct gguf_facts *g, int64_t i) {
  uint32_t parts = g->parts[i];
  return parts & HASHES    ? "hash_moe"
         : parts & EXPERTS ? "sparse"
         : parts & DENSE   ? "dense"
                           : "";
}

static void put_list(struct gguf_facts *g, const char *name,
                     const char *of(const struct gguf_facts *, int64_t)) {
  struct fact *list = fact_put(g->facts, slice_of(name));
  list->kind = FACT_OBJECT;
  list->text = slice_of("a list");
  list->integer = g->layers;
  for (int64_t i = 0; i < g->layers; i++)
    fact_put_text(g->facts,
                  slice_of(graph_text(g->graph, "%s_%" PRId64, name, i)),
                  slice_of(of(g, i)));
}

/* Layers with one part each, as Nemotron-H has them: `M*-E`. */
static bool put_letters(struct gguf_facts *g) {
  static const char *const letters[][2] = {
      {"mamba", "M"}, {"full_attention", "*"}, {"dense", "-"}, {"sparse", "E"}};
  struct text text = text_new(g->graph->arena);
  for (int64_t i = 0; i < g->layers; i++) {
    const char *mixer = mixer_of(g, i), *feed = feed_of(g, i);
    size_t before = text.length;
    for (size_t k = 0; k < 4 && (*mixer == '\0') != (*feed == '\0'); k++)
      if (strcmp(letters[k][0], *mixer ? mixer : feed) == 0)
        text_put(&text, letters[k][1]);
    if (text.length == before)
      return graph_fail(g->graph, 0,
                        "layer %" PRId64 " has parts that netc has no block "
                        "for",
                        i + 1);
  }
  fact_put_text(g->facts, slice_of("hybrid_override_pattern"),
                text_slice(&text));
  return true;
}

/* The number that a key has for a layer. */
static int64_t of_layer(const struct gguf_facts *g, const char *key,
                        int64_t i) {
  const struct gguf_value *value = gguf_key(g, key);
  if (value && value->kind == GGUF_LIST)
    value = (uint64_t)i < value->count ? &value->items[i] : NULL;
  return value && value->kind == GGUF_INTEGER ? value->integer : 0;
}

/* Layers of sizes that a search found, as Nemotron NAS has them: without keys
 * one product stands for the attention (llama.cpp: LLM_ARCH_DECI). */
static void put_table(struct gguf_facts *g) {
  static const char *const several[] = {"num_key_value_heads",
                                        "intermediate_size"};
  for (int64_t i = 0; i < g->layers; i++) {
    int64_t heads = of_layer(g, "attention.head_count", i);
    int64_t keys = of_layer(g, "attention.head_count_kv", i);
    int64_t width = of_layer(g, "feed_forward_length", i);
#define ROW(member) graph_text(g->graph, "block_configs_%" PRId64 "_" member, i)
    if (heads > 0 && keys > 0)
      put_int(g, ROW("attention_n_heads_in_group"), heads / keys);
    else
      fact_put_text(g->facts,
                    slice_of(heads > 0 ? ROW("attention_replace_with_linear")
                                       : ROW("attention_no_op")),
                    slice_of("true"));
    if (width > 0)
      put_int(g, ROW("ffn_intermediate_size"), width);
    else
      fact_put_text(g->facts, slice_of(ROW("ffn_no_op")), slice_of("true"));
#undef ROW
  }
  struct fact *table = fact_put(g->facts, slice_of("block_configs"));
  table->kind = FACT_OBJECT;
  table->text = slice_of("a list");
  table->integer = g->layers;
  for (size_t i = 0; i < sizeof several / sizeof *several; i++)
    fact_put(g->facts, slice_of(several[i]))->kind = FACT_NULL;
}

static bool put_order(struct gguf_facts *g) {
  bool apart = false, experts = false, same = true;
  for (int64_t i = 0; i < g->layers; i++) {
    const char *mixer = mixer_of(g, i), *feed = feed_of(g, i);
    if (!*mixer && !*feed)
      return graph_fail(g->graph, 0,
                        "its table of tensors has nothing of layer %" PRId64
                        " of %" PRId64 " that netc knows",
                        i + 1, g->layers);
    apart = apart || !*mixer || !*feed;
    experts = experts || (g->parts[i] & EXPERTS);
    same = same && strcmp(mixer, "full_attention") == 0;
  }
  if (apart)
    return put_letters(g);
  if (!same)
    put_list(g, "layer_types", mixer_of);
  if (experts)
    put_list(g, "mlp_layer_types", feed_of);
  return true;
}

/* A number for each layer: one of those that read all, one of the others. */
static void put_counts(struct gguf_facts *g, const char *key,
                       const char *const names[2]) {
  const struct gguf_value *value = gguf_key(g, key);
  if (!value || value->kind != GGUF_LIST || value->count < (uint64_t)g->layers)
    return;
  for (int kind = 0; kind < 2; kind++) {
    int64_t number = 0;
    bool same = true;
    for (int64_t i = 0; i < g->layers; i++) {
      int64_t here = value->items[i].integer;
      if (!(g->parts[i] & ATTENDS) || g->window[i] != kind || here == 0)
        continue;
      same = same && (number == 0 || number == here);
      number = here;
    }
    if (number && same) {
      put_int(g, names[kind], number);
    } else if (number) {
      struct fact *fact = fact_put(g->facts, slice_of(names[kind]));
      fact->kind = FACT_OBJECT;
      fact->text = slice_of("a list of several");
    }
  }
}

/* Facts of the layers' tensors. */
static void put_found(struct gguf_facts *g) {
  const struct stored_tensor *t;
#define GGUF_FOUND(name, fact, word) \
  if (!*name || found(g, name))      \
    fact_put_text(g->facts, slice_of(fact), slice_of(word));
#define GGUF_SIZE(name, axis, fact)                                     \
  if (!fact_of(g->facts, fact) && (t = found(g, name)) && t->rank >= 2) \
    put_int(g, fact, t->dims[t->rank - (axis)]);
#include "import/huggingface/huggingface.def"
  t = found(g, "attn_q_norm.weight");
  int64_t heads = fact_int(g, "num_attention_heads");
  int64_t dim = fact_int(g, "head_dim");
  if (dim == 0 && heads > 0)
    dim = fact_int(g, "hidden_size") / heads;
  bool all = t && heads > 1 && t->count % heads == 0 && t->count / heads == dim;
  bool own = t && t->rank == 2; /* a norm for each head, by ln */
  fact_put_text(g->facts, slice_of("qk_ln"), slice_of(own ? "own" : "none"));
  fact_put_text(g->facts, slice_of("qk_norm"),
                slice_of(!t || own ? "none"
                         : all     ? "all"
                                   : "head"));
}

/* Members that some kinds of layers have, and others have not. */
static void put_kinds(struct gguf_facts *g) {
  static const char *const sinks[] = {"attention_sinks", "window_sinks"};
  bool alike = false;
  for (int64_t i = 0; i < g->layers; i++)
    alike = alike ||
            ((g->parts[i] & (ATTENDS | KEYS | VALUES)) == (ATTENDS | KEYS) &&
             !g->window[i]);
  if (alike)
    fact_put_text(g->facts, slice_of("keys_are_values"), slice_of("true"));
  for (int kind = 0; kind < 2; kind++) {
    bool any = false;
    for (int64_t i = 0; i < g->layers; i++)
      any = any || (g->window[i] == kind && (g->parts[i] & SINKS));
    fact_put_text(g->facts, slice_of(sinks[kind]),
                  slice_of(any ? "true" : "false"));
  }
}

/* Sizes of heads that are sums or products in GGUF. */
static bool put_heads(struct gguf_facts *g) {
  int64_t inner = said(g, "ssm.inner_size");
  int64_t heads = said(g, "ssm.time_step_rank");
  int64_t rope = said(g, "rope.dimension_count");
  int64_t key = said(g, "attention.key_length_mla");
  if (heads > 0 && inner > 0 && inner % heads == 0) {
    put_int(g, "mamba_head_dim", inner / heads);
    put_int(g, "linear_value_head_dim", inner / heads);
  }
  if (gguf_key(g, "kda.head_dim")) {
    put_int(g, "linear_num_key_heads", said(g, "attention.head_count"));
    put_int(g, "linear_num_value_heads", said(g, "attention.head_count"));
  }
  if (!gguf_key(g, "attention.kv_lora_rank"))
    return true;
  if (!key)
    key = said(g, "attention.key_length");
  if (key <= rope || rope < 1)
    return graph_fail(g->graph, 0,
                      "`attention.key_length` is %" PRId64 ", and "
                      "`rope.dimension_count` %" PRId64 ": a part of a key is "
                      "rotated",
                      key, rope);
  put_int(g, "qk_nope_head_dim", key - rope);
  return true;
}

bool gguf_put_layers(struct gguf_facts *g) {
  static const char *const heads[] = {"num_attention_heads", "window_heads"};
  static const char *const keys[] = {"num_key_value_heads", "window_kv_heads"};
  size_t layers = (size_t)g->layers;
  g->parts = arena_alloc(g->graph->arena, layers + 1, sizeof *g->parts);
  g->window = arena_alloc(g->graph->arena, layers + 1, sizeof *g->window);
  for (size_t i = 0; i < layers; i++)
    g->parts[i] = 0;
  find_parts(g);
  bool table = slice_is(g->architecture, "deci");
  if (!find_windows(g) || (!table && !put_order(g)) || !put_heads(g))
    return false;
  put_counts(g, "attention.head_count", heads);
  if (table)
    put_table(g);
  else
    put_counts(g, "attention.head_count_kv", keys);
  put_found(g);
  put_kinds(g);
  return true;
}
