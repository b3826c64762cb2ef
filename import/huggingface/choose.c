/* From facts to choices: template, head, rotation, types of weights. */
#include <inttypes.h>

#include "base/suggest.h"
#include "import/huggingface/huggingface.h"
#include "layers/foreign/words.h"

static const struct template_type types[] = {
#define TYPE(name, file, defaults) {name, file, defaults},
#include "import/huggingface/huggingface.def"
};

struct word_pair {
  const char *from, *to;
};

/* Other names of a param. */
static const struct word_pair names[] = {
#define NAMED(param, key) {param, key},
#include "import/huggingface/huggingface.def"
};

/* The word of `head` for the end of a class. */
static const struct word_pair heads[] = {
#define HEAD(end, word) {end, word},
#include "import/huggingface/huggingface.def"
};

bool huggingface_type(struct graph *graph, size_t index,
                      struct import_type *type) {
  static const enum layer_word none[IMPORT_WORDS] = {WORD_NONE};
  (void)graph;
  if (index >= sizeof types / sizeof *types)
    return false;
  import_type_set(type, types[index].name, none);
  return true;
}

bool hugging_refuse(struct hugging *h, const struct fact *fact,
                    const char *what) {
  return fact_fail(h->facts, fact, "`%.*s` is %.*s, not %s",
                   SLICE_ARG(*fact_shown(fact)), SLICE_ARG(fact->text), what);
}

/* The type, and what it takes where the config is silent. */

const struct template_type *hugging_type(struct slice name) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (slice_is(name, types[i].name))
      return &types[i];
  return NULL;
}

/* True if a class is that of the type: DeepseekV3 and deepseek_v3. */
static bool is_class_of(struct slice class, const char *type) {
  size_t at = 0;
  for (; *type; type++) {
    if (*type == '_' || *type == '-')
      continue;
    while (at < class.length && class.at[at] == '_') /* Qwen3_5 */
      at++;
    char upper = (char)(*type >= 'a' && *type <= 'z' ? *type - 32 : *type);
    if (at == class.length || (class.at[at] != *type && class.at[at] != upper))
      return false;
    at++;
  }
  return at == class.length;
}

/* By the class in `architectures`, without its head. */
static const struct template_type *type_of_class(const struct fact *fact) {
  if (!fact || fact->kind != FACT_WORD)
    return NULL;
  struct slice class = fact->text;
  size_t cut = slice_find(class, "For");
  class.length = cut < class.length ? cut : slice_find(class, "LMHead");
  if (slice_ends(class, "Model"))
    class.length -= 5;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (is_class_of(class, types[i].name))
      return &types[i];
  return NULL;
}

static const struct template_type *type_of_word(const struct fact *fact) {
  return fact && fact->kind == FACT_WORD ? hugging_type(fact->text) : NULL;
}

/* The name of the type: of diffusers the class, which JAX's begin with Flax. */
static const struct fact *said_name(struct hugging *h) {
  static const char flax[] = "Flax";
  struct fact *class = fact_of(h->facts, "_class_name")
                           ? fact_put(h->facts, slice_of("_class_name"))
                           : NULL;
  if (!class)
    return fact_of(h->facts, "model_type");
  if (class->kind == FACT_WORD && slice_begins(class->text, flax))
    class->text = slice_from(class->text, sizeof flax - 1);
  return class;
}

/*
 * If a class and a model_type have the same net, the latter has its own
 * defaults; else the class counts, as in transformers' `auto_map`. What neither
 * names may be a model with parts.
 */
static const struct template_type *said_type(struct hugging *h) {
  const char *other = hugging_other_type(h);
  if (other)
    return hugging_type(slice_of(other));
  const struct template_type *named = type_of_word(said_name(h));
  const struct template_type *class =
      type_of_class(fact_of(h->facts, "architectures_0"));
  if (named && class && strcmp(named->file, class->file) == 0)
    return named;
  if (class || named)
    return class ? class : named;
#define PART(part)                                                     \
  if (!class)                                                          \
    class = type_of_class(fact_of(h->facts, part "_architectures_0")); \
  if (!class)                                                          \
    class = type_of_word(fact_of(h->facts, part "_model_type"));
#include "import/huggingface/huggingface.def"
  return class;
}

static void suggest_types(struct suggestion *s) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    suggest_offer(s, slice_of(types[i].name));
}

static bool unknown_type(struct hugging *h, const struct fact *fact) {
  struct suggestion s = suggest_begin(fact->text);
  suggest_types(&s);
  struct slice nearest = s.best.at ? s.best : slice_of("llama");
  struct slice key = h->type_key ? slice_of(h->type_key) : fact->name;
  fact_fail(h->facts, fact, "the %.*s `%.*s` is not supported", SLICE_ARG(key),
            SLICE_ARG(fact->text));
  if (slice_is(key, "_class_name"))
    return graph_help(h->graph,
                      EXPORT_PROGRAM "; `netc import --types` lists the "
                                     "classes that netc reads");
  return graph_help(h->graph,
                    "`--as %.*s` reads it as a type that netc knows, if its "
                    "blocks are the same; `netc import --types` lists these",
                    SLICE_ARG(nearest));
}

static bool unknown_as(struct hugging *h) {
  struct slice name = slice_of(h->options->as);
  struct suggestion s = suggest_begin(name);
  suggest_types(&s);
  graph_fail(h->graph, 0, "`--as %.*s`: netc knows no such type",
             SLICE_ARG(name));
  if (s.best.at)
    return graph_help(h->graph, "did you mean `--as %.*s`?", SLICE_ARG(s.best));
  return graph_help(h->graph, "`netc import --types` lists the types");
}

static bool choose_type(struct hugging *h) {
  const struct fact *fact = said_name(h);
  if (h->options->as) {
    h->type = hugging_type(slice_of(h->options->as));
    return h->type || unknown_as(h);
  }
  h->type = said_type(h);
  if (h->type)
    return true;
  if (!fact) {
    graph_fail(h->graph, 0, "the config has no `model_type`");
    return graph_help(h->graph,
                      "`--as llama` reads it as that type, for example; "
                      "`netc import --types` lists the types");
  }
  return fact->kind == FACT_WORD
             ? unknown_type(h, fact)
             : hugging_refuse(h, fact, "the name of an architecture");
}

bool hugging_pair(const char **at, struct slice *name, struct slice *value) {
  *at += strspn(*at, " ");
  size_t length = strcspn(*at, " "), equals = strcspn(*at, "=");
  if (length == 0)
    return false;
  *name = (struct slice){*at, equals};
  *value = (struct slice){*at + equals + 1, length - equals - 1};
  *at += length;
  return true;
}

/* In the part that describes the language model, or of the whole. */
static const struct fact *in_parts(const struct hugging *h, struct slice name) {
  const struct fact *fact = NULL;
#define PART(part)           \
  if (!fact)                 \
    fact = fact_of(h->facts, \
                   graph_text(h->graph, part "_%.*s", SLICE_ARG(name)));
#include "import/huggingface/huggingface.def"
  return fact ? fact : fact_find(h->facts, name);
}

/* `a=@b` of a type's row: the type's key b has another meaning elsewhere. */
static const struct fact *renamed(const struct hugging *h, struct slice name) {
  struct slice key, value;
  for (const char *at = h->type && !h->type_key ? h->type->defaults : "";
       hugging_pair(&at, &key, &value);)
    if (slice_equal(key, name) && *value.at == '@')
      return in_parts(h, slice_from(value, 1));
  return NULL;
}

const struct fact *hugging_fact(const struct hugging *h, struct slice name) {
  const struct fact *fact = renamed(h, name);
  if (!fact)
    fact = in_parts(h, name);
  for (size_t i = 0; !fact && i < sizeof names / sizeof *names; i++)
    if (slice_is(name, names[i].from))
      fact = in_parts(h, slice_of(names[i].to));
  return fact;
}

/* Whether the file has it, if only as null. */
static bool is_said(const struct hugging *h, struct slice name) {
  const char *inner = graph_text(h->graph, "text_config_%.*s", SLICE_ARG(name));
  return map_find(&h->facts->places, name) ||
         map_find(&h->facts->places, slice_of(inner)) || hugging_fact(h, name);
}

static void count_labels(struct hugging *h) {
  const struct fact *labels = fact_of(h->facts, "id2label");
  if (labels && labels->kind == FACT_OBJECT && labels->integer > 0 &&
      !fact_of(h->facts, "num_labels"))
    fact_put_text(h->facts, slice_of("num_labels"),
                  slice_of(graph_text(h->graph, "%" PRId64, labels->integer)));
}

static void put_defaults(struct hugging *h) {
  struct slice name, value;
  for (const char *at = h->type->defaults; hugging_pair(&at, &name, &value);)
    if (*value.at != '@' && !is_said(h, name))
      fact_put_text(h->facts, name, value);
}

/* What is said elsewhere, or in other words. */

bool hugging_unknown_head(struct hugging *h) {
  const struct fact *fact = fact_of(h->facts, "architectures_0");
  fact_fail(h->facts, fact, "the head of `%.*s` is not supported",
            SLICE_ARG(fact->text));
  return graph_help(h->graph,
                    "a class that ends in `Model` is the net without a head");
}

static bool choose_head(struct hugging *h) {
  const struct fact *fact = fact_of(h->facts, "architectures_0");
  if (fact_of(h->facts, "head"))
    fact_put(h->facts, slice_of("head"))->kind = FACT_NULL;
  if (!fact || fact->kind != FACT_WORD)
    return true;
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    if (slice_ends(fact->text, heads[i].from)) {
      fact_put_text(h->facts, slice_of("head"), slice_of(heads[i].to));
      return true;
    }
  return hugging_unknown_head(h);
}

/* `sliding_window` is there, but off. */
static void choose_window(struct hugging *h) {
  const struct fact *used = fact_of(h->facts, "use_sliding_window");
  if (used && used->kind == FACT_BOOL && !used->integer)
    fact_put(h->facts, slice_of("sliding_window"))->kind = FACT_NULL;
}

/* Rotations: linear and Llama 3.1's have words here, others none. */
static void choose_rotation(struct hugging *h) {
  const struct fact *type = hugging_fact(h, slice_of("rope_scaling_rope_type"));
  if (!type)
    type = hugging_fact(h, slice_of("rope_scaling_type"));
  if (!type || type->kind != FACT_WORD || slice_is(type->text, "linear") ||
      slice_is(type->text, "llama3"))
    return;
  if (!slice_is(type->text, "default"))
    graph_note(h->graph, "rope_scaling `%.*s` changes no size; it is left out",
               SLICE_ARG(type->text));
  fact_put(h->facts, slice_of("rope_scaling_factor"))->kind = FACT_NULL;
  fact_put(h->facts, slice_of("rope_scaling_original_max_position_embeddings"))
      ->kind = FACT_NULL;
}

/* netc's word for PyTorch's name of a type; NULL: it is none. */
static const char *type_word(const struct fact *fact) {
  static const char *const words[][2] = {{"float64", "f64"},
                                         {"float32", "f32"},
                                         {"float16", "f16"},
                                         {"bfloat16", "bf16"}};
  for (size_t i = 0; fact && i < sizeof words / sizeof *words; i++)
    if (fact->kind == FACT_WORD && slice_is(fact->text, words[i][0]))
      return words[i][1];
  return NULL;
}

static bool choose_dtype(struct hugging *h) {
  const struct fact *fact = hugging_fact(h, slice_of("torch_dtype"));
  const struct fact *state = hugging_fact(h, slice_of("mamba_ssm_dtype"));
  if (!fact)
    fact = hugging_fact(h, slice_of("dtype"));
  if (type_word(fact)) /* that of a GGUF is known */
    h->dtype = type_word(fact);
  h->state_dtype = type_word(state);
  if (state && !h->state_dtype && !slice_is(state->text, "auto"))
    return hugging_refuse(h, state, "a type of values");
  return !fact || h->dtype || hugging_refuse(h, fact, "a type of values");
}

bool hugging_choose(struct hugging *h) {
  if (!choose_type(h))
    return false;
  count_labels(h);
  put_defaults(h);
  choose_window(h);
  choose_rotation(h);
  return hugging_lists(h) && choose_head(h) && choose_dtype(h) &&
         hugging_quantised(h);
}
