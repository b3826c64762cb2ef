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
  const char *needs; /* the config has one of these keys; `!`: lacks it */
  const char *names; /* what they are called in one or another model */
} modules[] = {
#define MODULE(part, needs, names) {WEIGHTS_OF_##part, needs, names},
#include "import/huggingface/huggingface.def"
};

struct module_finder {
  struct hugging *h;
  const struct quantised *q;
  int64_t layers, blocks;
  struct layer_blocks layer; /* that is looked at */
  const int64_t *only;       /* the layer that a rule names; -1: any */
  /* For each block of `weight_dtype` and part: the word, "" for the net's type;
   * NULL: none. */
  const char *(*at)[WEIGHTS_OF_COUNT];
  const struct fact *fact; /* of the last rule that was for a module */
  bool *used;              /* rules that were */
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

static bool is_within(struct graph *graph, struct slice part,
                      struct slice name) {
  return slice_find(name, graph_text(graph, "%.*s", SLICE_ARG(part))) <
         name.length;
}

/* Layers of the language model and of a tower may have equal names. */
static bool is_of_text(struct slice pattern) {
  return slice_begins(inner(pattern), "layers.");
}

/* `own`: the module has this name in the net, not only in others. */
static bool fits(const struct module_finder *f, const struct module_rule *rule,
                 enum weights_part part, struct slice module, bool own) {
  static const char *const outer[] = {"model.", "language_model.model.",
                                      "model.language_model.", ""};
  if (!rule->regular && part == WEIGHTS_OF_VISION && is_of_text(rule->pattern))
    return false;
  if (!rule->regular)
    return names(inner(rule->pattern), module) ||
           (own && f->q->within &&
            is_within(f->h->graph, inner(rule->pattern), module));
  for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
    if (regular_matches(rule->regular,
                        slice_of(graph_text(f->h->graph, "%s%.*s", outer[i],
                                            SLICE_ARG(module)))))
      return true;
  return false;
}

/* Parts */

static bool has(const struct module_finder *f, const struct module *module) {
  struct slice keys = slice_of(module->needs);
  while (keys.length) {
    struct slice key = slice_to(keys, slice_find(keys, " "));
    bool lacks = *key.at == '!';
    keys = slice_from(keys, key.length + 1);
    if ((hugging_fact(f->h, slice_from(key, lacks)) != NULL) != lacks)
      return true;
  }
  return !*module->needs;
}

/* It has attention or a state: `part@N` counts these. */
static bool is_block(const struct module_finder *f) {
  return *f->layer.mixer && strcmp(f->layer.mixer, "short") != 0;
}

/* True if the layer that is looked at has matrices of this part. */
static bool is_there(const struct module_finder *f, enum weights_part part) {
  const char *feed = f->layer.feed;
  switch (part) {
  case WEIGHTS_OF_HEAD:
  case WEIGHTS_OF_TABLE: return true;
  case WEIGHTS_OF_VISION: return hugging_fact(f->h, slice_of("tower")) != NULL;
  case WEIGHTS_OF_UP:
  case WEIGHTS_OF_DOWN: return strcmp(feed, "dense") == 0;
  case WEIGHTS_OF_ROUTER:
  case WEIGHTS_OF_EXPERTS_UP:
  case WEIGHTS_OF_EXPERTS_DOWN:
  case WEIGHTS_OF_SHARED: return *feed && strcmp(feed, "dense") != 0;
  default: return is_block(f);
  }
}

/* "linear_attn.out_proj" is in layers of that type alone, "mixer.out_proj" in
 * those that are one module; Kimi's recurrent layers are called as attention
 * is. */
static bool is_of_layer(const struct module_finder *f, struct slice name) {
  bool delta = strcmp(f->layer.mixer, "delta") == 0;
  bool mamba = strcmp(f->layer.mixer, "mamba") == 0;
  if (f->layer.alone != slice_begins(name, "mixer."))
    return false;
  if (f->layer.alone && *f->layer.mixer)
    return mamba == (slice_is(name, "mixer.in_proj") ||
                     slice_is(name, "mixer.out_proj"));
  if (slice_begins(name, "linear_attn."))
    return delta;
  if (slice_begins(name, "conv."))
    return strcmp(f->layer.mixer, "short") == 0;
  if (slice_begins(name, "mamba."))
    return mamba || strcmp(f->layer.mixer, "parallel") == 0;
  return !slice_begins(name, "self_attn.") ||
         (!mamba &&
          (!delta || hugging_fact(f->h, slice_of("linear_attn_config"))));
}

/* The type's names of its feed-forward layers. */
static const char *called(const struct module_finder *f) {
#define CALLED(its, ours)                 \
  if (strcmp(f->h->type->name, its) == 0) \
    return ours;
#include "import/huggingface/huggingface.def"
  return "mlp.";
}

/* The word of a module: "" is the net's type; NULL: the layer has none. */
static const char *type_of(struct module_finder *f, const struct module *module,
                           int64_t layer) {
  bool inside = module->part != WEIGHTS_OF_HEAD &&
                module->part != WEIGHTS_OF_TABLE &&
                module->part != WEIGHTS_OF_VISION;
  bool there = false, usual = f->q->type && f->q->parts & 1U << module->part;
  const char *type = usual ? f->q->type : "";
  struct slice all = slice_of(module->names);
  bool said = slice_find(all, called(f)) < all.length, owned = false;
  while (all.length) {
    struct slice name = slice_to(all, slice_find(all, " "));
    all = slice_from(all, name.length + 1);
    if (inside && !is_of_layer(f, name))
      continue;
    bool own = !owned && (!said || slice_begins(name, called(f)));
    owned = owned || own;
    there = true;
    struct slice full =
        inside ? slice_of(graph_text(f->h->graph, "layers.%" PRId64 ".%.*s",
                                     layer, SLICE_ARG(name)))
               : name;
    for (size_t i = 0; i < f->q->rules.count; i++) {
      const struct module_rule *rule = &f->q->rules.at[i];
      if ((f->only[i] >= 0 && f->only[i] != layer) ||
          !fits(f, rule, module->part, full, own))
        continue;
      f->fact = rule->fact;
      f->used[i] = true;
      if (!rule->type)
        return "";
      type = rule->type;
    }
  }
  return there ? type : NULL;
}

static bool find_part(struct module_finder *f, const struct module *module,
                      int64_t layer) {
  const char **at = &f->at[f->blocks ? f->blocks - 1 : 0][module->part];
  if (!is_there(f, module->part) || !has(f, module))
    return true;
  const char *type = type_of(f, module, layer);
  if (!type)
    return true;
  if (*at && strcmp(*at, type) != 0) {
    struct fact none = {.line = 0};
    fact_fail(f->h->facts, f->fact ? f->fact : &none,
              "some matrices of `%s` in layer %" PRId64 " have the type %s, "
              "others have %s",
              weights_part_word(module->part), layer, **at ? *at : "of the net",
              *type ? type : "that of the net");
    return hugging_help_retype(f->h, NULL);
  }
  *at = type;
  return true;
}

/* The list */

/* The type that a list begins with: that of the largest part. */
static const char *first_type(const struct module_finder *f) {
  static const enum weights_part order[] = {
      WEIGHTS_OF_EXPERTS_UP, WEIGHTS_OF_UP,     WEIGHTS_OF_EXPERTS_DOWN,
      WEIGHTS_OF_DOWN,       WEIGHTS_OF_O,      WEIGHTS_OF_Q,
      WEIGHTS_OF_K,          WEIGHTS_OF_V,      WEIGHTS_OF_QKV,
      WEIGHTS_OF_LATENTS,    WEIGHTS_OF_SHARED, WEIGHTS_OF_HEAD,
      WEIGHTS_OF_TABLE};
  if (f->q->type)
    return f->q->type;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    for (int64_t block = f->blocks; block-- > 0;)
      if (f->at[block][order[i]] && *f->at[block][order[i]])
        return f->at[block][order[i]];
  return NULL;
}

/* The type that these parts have in a block; NULL: there are none of them. */
static const char *one_type(const struct module_finder *f, unsigned parts,
                            int64_t block) {
  const char *type = NULL;
  for (int part = 1; part < WEIGHTS_OF_COUNT; part++)
    if (parts & 1U << part && f->at[block][part])
      type = f->at[block][part];
  return type;
}

/* True if all these parts have one type, in each block. */
static bool agree(const struct module_finder *f, unsigned parts) {
  for (int64_t block = 0; block < f->blocks; block++)
    for (int part = 1; part < WEIGHTS_OF_COUNT; part++)
      if (parts & 1U << part && f->at[block][part] &&
          strcmp(f->at[block][part], one_type(f, parts, block)) != 0)
        return false;
  return true;
}

/* The type that a part has by the first word of the list. */
static const char *usual_of(const char *first, int part) {
  bool any =
      weights_type(weights_find(slice_of(first)))->scope == SCOPE_MATRICES;
  bool aside = part == WEIGHTS_OF_TABLE || part == WEIGHTS_OF_HEAD ||
               part == WEIGHTS_OF_ROUTER;
  return any || !aside ? first : "";
}

struct words_list {
  struct text text;
  int count;
};

/* "mlp@0-2:fp8"; of all layers that have some, "mlp". */
static void put_run(const struct module_finder *f, const char *word,
                    int64_t from, int64_t to, const char *type,
                    struct words_list *list) {
  text_printf(&list->text, " %s", word);
  if (from > 0 || to < f->blocks - 1)
    text_printf(&list->text, "@%" PRId64, from);
  if ((from > 0 || to < f->blocks - 1) && to > from)
    text_printf(&list->text, "-%" PRId64, to);
  text_printf(&list->text, "%s%s", *type ? ":" : "", type);
  list->count++;
}

/* Runs of blocks whose type is not the usual; those without go along. */
static void put_runs(const struct module_finder *f, const char *word,
                     unsigned parts, const char *usual,
                     struct words_list *list) {
  int64_t from = 0;
  const char *type = NULL;
  for (int64_t block = 0; block <= f->blocks; block++) {
    const char *own = block < f->blocks ? one_type(f, parts, block) : NULL;
    if (block < f->blocks && (!own || (type && strcmp(own, type) == 0)))
      continue;
    if (type && strcmp(type, usual) != 0)
      put_run(f, word, from, block - 1, type, list);
    from = type ? block : 0;
    type = own;
  }
}

static const char *put_list(const struct module_finder *f, const char *first) {
  struct words_list list = {.text = text_new(f->h->graph->arena)};
  unsigned done = 0;
  text_put(&list.text, first);
  for (int i = 0; i < WEIGHTS_SETS; i++) {
    const struct weights_set *set = &weights_sets[i];
    if (!agree(f, set->parts))
      continue;
    put_runs(f, set->word, set->parts, first, &list);
    done |= set->parts;
  }
  for (int part = 1; part < WEIGHTS_OF_COUNT; part++)
    if (!(done & 1U << part))
      put_runs(f, weights_part_word((enum weights_part)part), 1U << part,
               usual_of(first, part), &list);
  if (list.count > MOST_WEIGHTS_PARTS) {
    graph_fail(f->h->graph, 0,
               "its weights have other types in %d places, more than %d",
               list.count, MOST_WEIGHTS_PARTS);
    hugging_help_retype(f->h, NULL);
    return NULL;
  }
  return graph_text(f->h->graph, list.count ? "\"%.*s\"" : "%.*s",
                    SLICE_ARG(list.text));
}

/* 3 of "model.layers.3.mlp", but "model.layers.3*" is also 30, and so is
 * "model.layers.3" as a part of a name. */
static int64_t layer_of(const struct quantised *q,
                        const struct module_rule *rule) {
  struct slice name = inner(rule->pattern);
  int64_t layer = 0;
  size_t at = 7;
  if (rule->regular || !slice_begins(name, "layers."))
    return -1;
  for (; at < name.length && at < 16 && is_digit(name.at[at]); at++)
    layer = 10 * layer + name.at[at] - '0';
  bool ends = at == name.length && !q->within;
  return at > 7 && (ends || (at < name.length && name.at[at] == '.')) ? layer
                                                                      : -1;
}

/* False: a rule is for some layers, but nothing says how many there are. */
static bool count_layers(struct module_finder *f) {
  f->layers = hugging_layers(f->h);
  for (size_t i = 0; f->layers < 1 && i < f->q->rules.count; i++) {
    const struct module_rule *rule = &f->q->rules.at[i];
    struct slice name = inner(rule->pattern);
    if (slice_begins(name, "layers.") && name.length > 7 &&
        is_digit(name.at[7]) && !rule->regular) {
      fact_fail(f->h->facts, rule->fact,
                "`%.*s` is one of several layers, but the config has no "
                "`num_hidden_layers`",
                SLICE_ARG(rule->pattern));
      return graph_help(f->h->graph, "write the number of layers in it");
    }
  }
  if (f->layers < 1 || f->layers > HUGGING_MOST_LAYERS)
    f->layers = 1; /* all are alike; too many are refused with other keys */
  return true;
}

/* Names that a rule may have for what is no matrix, or none of a net here. */
static bool is_aside(struct slice name) {
  static const char *const parts[] = {"norm",   "bias",    "conv",   "gate",
                                      "router", "rotary",  "index_", "indexer",
                                      "mtp",    "experts."};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (slice_find(name, parts[i]) < name.length)
      return true;
  return false;
}

/* Modules of the net's layers that it does not have: no silence about them. */
static void note_unused(const struct module_finder *f) {
  const struct module_rule *first = NULL;
  int count = 0;
  for (size_t i = 0; i < f->q->rules.count; i++) {
    const struct module_rule *rule = &f->q->rules.at[i];
    if (f->used[i] || f->only[i] < 0 || f->only[i] >= f->layers ||
        is_aside(rule->pattern))
      continue;
    first = first ? first : rule;
    count++;
  }
  if (first)
    graph_note(f->h->graph,
               "its quantization names %d modules that netc does not place, "
               "the first is `%.*s`; they count as their neighbours do",
               count, SLICE_ARG(first->pattern));
}

const char *quantised_words(struct hugging *h, const struct quantised *q) {
  struct arena *arena = h->graph->arena;
  int64_t *only = arena_alloc(arena, q->rules.count + 1, sizeof *only);
  for (size_t i = 0; i < q->rules.count; i++)
    only[i] = layer_of(q, &q->rules.at[i]);
  struct module_finder f = {
      .h = h,
      .q = q,
      .only = only,
      .used = arena_alloc(arena, q->rules.count + 1, sizeof *f.used)};
  if (!count_layers(&f))
    return NULL;
  if ((uint64_t)f.layers * q->rules.count > MOST_TRIALS) {
    graph_fail(h->graph, 0, "its list of %zu modules is too long",
               (size_t)q->rules.count);
    return NULL;
  }
  f.at = arena_alloc(arena, (size_t)f.layers, sizeof *f.at);
  for (int64_t layer = 0; layer < f.layers; layer++) {
    if (!hugging_layer(h, layer, &f.layer))
      return NULL;
    f.blocks += is_block(&f);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
      if (!find_part(&f, &modules[i], layer))
        return NULL;
  }
  f.blocks += !f.blocks;
  note_unused(&f);
  const char *first = first_type(&f);
  return first ? put_list(&f, first) : "";
}
