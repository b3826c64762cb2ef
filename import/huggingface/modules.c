/*
 * From modules to parts: tools name those of PyTorch, netc knows what a matrix
 * is to the net. A part stands for its modules in each layer.
 */
#include <inttypes.h>

#include "import/huggingface/quantised.h"
#include "layers/foreign/words.h"

enum { MOST_TRIALS = 2000000 }; /* of a rule on a layer */

static const struct module {
  enum weights_part part;
  const char *needs; /* a key of the config, or one after `!` that it lacks */
  const char *names; /* what they are called in one or another model */
} modules[] = {
#define MODULE(part, needs, names) {WEIGHTS_OF_##part, needs, names},
#include "import/huggingface/huggingface.def"
};

struct finder {
  struct hugging *h;
  const struct quantised *q;
  int64_t layers, dense; /* layers without experts come first */
  const int64_t *only;   /* the layer that a rule names; -1: any */
  bool experts;
  /* For each layer and part: the word, "" for the net's type; NULL: none. */
  const char *(*at)[WEIGHTS_OF_COUNT];
};

/* Names */

/* The beginning of a text, up to its end or a dot. */
static bool globs(struct slice pattern, struct slice text) {
  size_t p = 0, t = 0, star = SIZE_MAX, from = 0;
  for (;;) {
    if (p == pattern.length && (t == text.length || text.at[t] == '.'))
      return true;
    if (p < pattern.length && pattern.at[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.length && t < text.length &&
               (pattern.at[p] == text.at[t] || pattern.at[p] == '?')) {
      p++;
      t++;
    } else if (star != SIZE_MAX && from < text.length) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
}

/* A name without what the model's text part is called. */
static struct slice inner(struct slice name) {
  static const char *const outer[] = {"model.language_model.",
                                      "language_model.model.",
                                      "language_model.",
                                      "text_model.",
                                      "transformer.",
                                      "backbone.",
                                      "model.",
                                      "*."};
  for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
    if (slice_begins(name, outer[i]) &&
        (*outer[i] != '*' ||
         slice_begins(slice_from(name, strlen(outer[i])), "layers.")))
      return slice_from(name, strlen(outer[i]));
  return name;
}

/* A pattern names a module, or one that it is in: its parts stand together. */
static bool names(struct slice pattern, struct slice module) {
  if (globs(pattern, module))
    return true;
  for (size_t i = 0; i < module.length; i++)
    if (module.at[i] == '.' && globs(pattern, slice_from(module, i + 1)))
      return true;
  return false;
}

static bool fits(const struct finder *f, const struct module_rule *rule,
                 struct slice module) {
  static const char *const outer[] = {"model.", "language_model.model.",
                                      "model.language_model.", ""};
  if (!rule->regular)
    return names(inner(rule->pattern), module);
  for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
    if (regular_matches(rule->regular,
                        slice_of(graph_text(f->h->graph, "%s%.*s", outer[i],
                                            SLICE_ARG(module)))))
      return true;
  return false;
}

/* Parts */

static int64_t number_of(const struct hugging *h, const char *name) {
  const struct fact *fact = hugging_fact(h, slice_of(name));
  return fact && fact->kind == FACT_INT ? fact->integer : 0;
}

static bool is_listed(const struct hugging *h, const char *name) {
  const struct fact *fact = hugging_fact(h, slice_of(name));
  return fact && fact->kind == FACT_OBJECT && fact->integer > 0;
}

static bool has(const struct finder *f, const struct module *module) {
  const char *key = module->needs;
  return !*key || (hugging_fact(f->h, slice_of(key + (*key == '!'))) != NULL) ==
                      (*key != '!');
}

static bool is_there(const struct finder *f, enum weights_part part,
                     int64_t layer) {
  bool several = is_listed(f->h, "mlp_only_layers") ||
                 number_of(f->h, "decoder_sparse_step") > 1;
  if (part == WEIGHTS_OF_MLP)
    return !f->experts || several || layer < f->dense;
  if (part >= WEIGHTS_OF_EXPERTS || part == WEIGHTS_OF_ROUTER)
    return f->experts && layer >= f->dense;
  return true;
}

/* "linear_attn.out_proj" is in layers of that type alone. */
static bool is_of_layer(const struct finder *f, struct slice name,
                        int64_t layer) {
  const struct fact *type = hugging_fact(
      f->h, slice_of(graph_text(f->h->graph, "layer_types_%" PRId64, layer)));
  bool linear = type && slice_is(type->text, "linear_attention");
  return !(linear && slice_begins(name, "self_attn.")) &&
         !(!linear && slice_begins(name, "linear_attn."));
}

/* The word of a module: "" is the net's type. */
static const char *type_of(const struct finder *f, const struct module *module,
                           int64_t layer) {
  bool inside =
      module->part != WEIGHTS_OF_HEAD && module->part != WEIGHTS_OF_TABLE;
  bool usual = f->q->type && f->q->parts & 1U << module->part;
  const char *type = usual ? f->q->type : "";
  struct slice all = slice_of(module->names);
  while (all.length) {
    struct slice name = slice_to(all, slice_find(all, " "));
    all = slice_from(all, name.length + 1);
    if (!is_of_layer(f, name, layer))
      continue;
    struct slice full =
        inside ? slice_of(graph_text(f->h->graph, "layers.%" PRId64 ".%.*s",
                                     layer, SLICE_ARG(name)))
               : name;
    for (size_t i = 0; i < f->q->rules.count; i++) {
      const struct module_rule *rule = &f->q->rules.at[i];
      if ((f->only[i] >= 0 && f->only[i] != layer) || !fits(f, rule, full))
        continue;
      if (!rule->type)
        return "";
      type = rule->type;
    }
  }
  return type;
}

static bool find_part(struct finder *f, const struct module *module,
                      int64_t layer) {
  const char **at = &f->at[layer][module->part];
  if (!is_there(f, module->part, layer) || !has(f, module))
    return true;
  const char *type = type_of(f, module, layer);
  if (*at && strcmp(*at, type) != 0) {
    graph_fail(f->h->graph, 0,
               "the matrices of `%s` in layer %" PRId64
               " have several types: %s, and `%s` %s",
               weights_part_word(module->part), layer, **at ? *at : "the net's",
               module->names, *type ? type : "the net's");
    return graph_help(f->h->graph,
                      "`--allow-unknown --weight-dtype TYPE` counts all "
                      "weights in a type of `netc help settings`");
  }
  *at = type;
  return true;
}

/* The list */

/* The type that a list begins with: of most layers' largest part. */
static const char *first_type(const struct finder *f) {
  static const enum weights_part order[] = {
      WEIGHTS_OF_EXPERTS, WEIGHTS_OF_MLP,  WEIGHTS_OF_O,    WEIGHTS_OF_Q,
      WEIGHTS_OF_SHARED,  WEIGHTS_OF_K,    WEIGHTS_OF_V,    WEIGHTS_OF_QKV,
      WEIGHTS_OF_LATENTS, WEIGHTS_OF_HEAD, WEIGHTS_OF_TABLE};
  if (f->q->type)
    return f->q->type;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    for (int64_t layer = f->layers; layer-- > 0;)
      if (f->at[layer][order[i]] && *f->at[layer][order[i]])
        return f->at[layer][order[i]];
  return NULL;
}

/* Whether all parts of a set have the same type in all layers: "", NULL. */
static bool agree(const struct finder *f, unsigned parts, const char **type) {
  *type = NULL;
  for (int64_t layer = 0; layer < f->layers; layer++)
    for (int part = 1; part < WEIGHTS_OF_COUNT; part++) {
      const char *own = f->at[layer][part];
      if (!(parts & 1U << part) || !own)
        continue;
      if (*type && strcmp(*type, own) != 0)
        return false;
      *type = own;
    }
  return true;
}

/* What the list's first type gives a part. */
static const char *usual_of(const char *first, int part) {
  bool any =
      weights_type(weights_find(slice_of(first)))->scope == SCOPE_MATRICES;
  bool aside = part == WEIGHTS_OF_TABLE || part == WEIGHTS_OF_HEAD ||
               part == WEIGHTS_OF_ROUTER;
  return any || !aside ? first : "";
}

static void put_part(struct text *out, const char *word, const char *type) {
  text_printf(out, " %s%s%s", word, *type ? ":" : "", type);
}

/* "mlp@0-2 mlp@7": runs of layers whose type is not the usual. */
static void put_runs(const struct finder *f, int part, const char *usual,
                     struct text *out, int *count) {
  for (int64_t from = 0, end; from < f->layers; from = end) {
    const char *type = f->at[from][part];
    for (end = from + 1; end < f->layers; end++)
      if (type && f->at[end][part] && strcmp(type, f->at[end][part]) != 0)
        break;
      else if (!type != !f->at[end][part])
        break;
    if (!type || strcmp(type, usual) == 0)
      continue;
    const char *word = weights_part_word((enum weights_part)part);
    put_part(out,
             end - from > 1
                 ? graph_text(f->h->graph, "%s@%" PRId64 "-%" PRId64, word,
                              from, end - 1)
                 : graph_text(f->h->graph, "%s@%" PRId64, word, from),
             type);
    ++*count;
  }
}

static const char *put_list(const struct finder *f, const char *first) {
  struct text out = text_new(f->h->graph->arena);
  const char *type;
  int count = 0;
  text_put(&out, first);
  bool attention = agree(f, weights_attention, &type);
  if (attention && type && strcmp(type, first) != 0) {
    put_part(&out, "attention", type);
    count++;
  }
  for (int part = 1; part < WEIGHTS_OF_COUNT; part++) {
    const char *usual = usual_of(first, part);
    if (attention && weights_attention & 1U << part)
      continue;
    if (!agree(f, 1U << part, &type)) {
      put_runs(f, part, usual, &out, &count);
    } else if (type && strcmp(type, usual) != 0) {
      put_part(&out, weights_part_word((enum weights_part)part), type);
      count++;
    }
  }
  if (count > MOST_WEIGHTS_PARTS) {
    graph_fail(f->h->graph, 0,
               "its weights have other types in %d places, more than %d", count,
               MOST_WEIGHTS_PARTS);
    graph_help(f->h->graph,
               "`--allow-unknown --weight-dtype TYPE` counts all weights in a "
               "type of `netc help settings`");
    return NULL;
  }
  return graph_text(f->h->graph, count ? "\"%.*s\"" : "%.*s", SLICE_ARG(out));
}

/* 3 of "model.layers.3.mlp", but "model.layers.3*" is also 30. */
static int64_t layer_of(const struct module_rule *rule) {
  struct slice name = inner(rule->pattern);
  int64_t layer = 0;
  size_t at = 7;
  if (rule->regular || !slice_begins(name, "layers."))
    return -1;
  for (; at < name.length && at < 16 && is_digit(name.at[at]); at++)
    layer = 10 * layer + name.at[at] - '0';
  return at > 7 && (at == name.length || name.at[at] == '.') ? layer : -1;
}

/* How many layers there are, if only as the rules have it. */
static int64_t count_layers(const struct hugging *h, const int64_t *only,
                            size_t count) {
  int64_t layers = number_of(h, "num_hidden_layers");
  if (layers > 0)
    return layers <= HUGGING_MOST_LAYERS ? layers : 1; /* refused elsewhere */
  for (size_t i = 0; i < count; i++)
    if (only[i] >= layers && only[i] < HUGGING_MOST_LAYERS)
      layers = only[i] + 1;
  return layers > 0 ? layers : 1;
}

const char *quantised_words(struct hugging *h, const struct quantised *q) {
  struct arena *arena = h->graph->arena;
  int64_t *only = arena_alloc(arena, q->rules.count + 1, sizeof *only);
  for (size_t i = 0; i < q->rules.count; i++)
    only[i] = layer_of(&q->rules.at[i]);
  struct finder f = {.h = h,
                     .q = q,
                     .only = only,
                     .layers = count_layers(h, only, q->rules.count),
                     .dense = number_of(h, "first_k_dense_replace"),
                     .experts = number_of(h, "num_experts") > 0 ||
                                number_of(h, "num_local_experts") > 0 ||
                                number_of(h, "n_routed_experts") > 0};
  if ((uint64_t)f.layers * q->rules.count > MOST_TRIALS) {
    graph_fail(h->graph, 0, "its list of %zu modules is too long",
               (size_t)q->rules.count);
    return NULL;
  }
  f.at = arena_alloc(arena, (size_t)f.layers, sizeof *f.at);
  for (int64_t layer = 0; layer < f.layers; layer++)
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
      if (!find_part(&f, &modules[i], layer))
        return NULL;
  const char *first = first_type(&f);
  return first ? put_list(&f, first) : "";
}
