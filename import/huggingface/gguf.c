/*
 * Facts from GGUF: its keys are those of a config.json in other words, and
 * its table of tensors is the check.
 */
#include "import/huggingface/gguf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "layers/foreign/words.h"

/* A float: as many digits as it has, a whole number as one, and no zeros before
 * an exponent. */
static struct slice text_of_real(struct graph *graph, double real) {
  struct slice text = slice_of(graph_text(graph, "%.7g", real));
  double rounded = strtod(text.at, NULL);
  size_t mark = slice_find(text, "e-0");
  if (fabs(rounded) < 1e15 && floor(rounded) >= rounded)
    return slice_of(graph_text(graph, "%.0f", rounded));
  if (mark == text.length)
    return text;
  struct slice start = slice_to(text, mark + 2),
               end = slice_from(text, mark + 3);
  return slice_of(
      graph_text(graph, "%.*s%.*s", SLICE_ARG(start), SLICE_ARG(end)));
}

static struct slice text_of(struct graph *graph,
                            const struct gguf_value *value) {
  switch (value->kind) {
  case GGUF_INTEGER:
    return slice_of(graph_text(graph, "%" PRId64, value->integer));
  case GGUF_REAL: return text_of_real(graph, value->real);
  case GGUF_TEXT: return value->text;
  default: return slice_of("a list");
  }
}

static void put(struct gguf_facts *g, const char *name, enum fact_kind kind,
                struct slice text, int64_t integer) {
  struct fact *fact = fact_put(g->facts, slice_of(name));
  fact->kind = kind;
  fact->text = text;
  fact->integer = integer;
}

static void put_value(struct gguf_facts *g, const char *name,
                      const struct gguf_value *value) {
  static const enum fact_kind kinds[] = {[GGUF_INTEGER] = FACT_INT,
                                         [GGUF_REAL] = FACT_REAL,
                                         [GGUF_TEXT] = FACT_WORD,
                                         [GGUF_LIST] = FACT_OBJECT};
  put(g, name, kinds[value->kind], text_of(g->graph, value), value->integer);
}

static bool has_tensor(const struct gguf_facts *g, const char *name) {
  for (size_t i = 0; i < g->file.tensors.count; i++)
    if (strcmp(g->file.tensors.at[i].name, name) == 0)
      return true;
  return false;
}

const struct gguf_value *gguf_key(const struct gguf_facts *g, const char *key) {
  return gguf_find(&g->gguf, graph_text(g->graph, "%.*s.%s",
                                        SLICE_ARG(g->architecture), key));
}

/* One that all layers have, of those that have some: 0, if none has. NULL:
 * there is no such number. */
static const struct gguf_value *only(const struct gguf_value *list) {
  const struct gguf_value *first = NULL;
  for (uint64_t i = 0; i < list->count; i++) {
    const struct gguf_value *item = &list->items[i];
    if (item->kind != GGUF_INTEGER)
      return NULL;
    if (item->integer && first && first->integer &&
        first->integer != item->integer)
      return NULL;
    if (!first || item->integer)
      first = item;
  }
  return first;
}

/* `some`: 0 says nothing, and never of a list. */
static void put_key(struct gguf_facts *g, const char *key, const char *name,
                    bool some) {
  const struct gguf_value *value = gguf_key(g, key), *one;
  if (value && value->kind == GGUF_LIST && (one = only(value))) {
    value = one;
    some = true;
  }
  bool zero = value && ((value->kind == GGUF_INTEGER && value->integer == 0) ||
                        (value->kind == GGUF_REAL && fabs(value->real) <= 0));
  if (!value || (some && zero))
    return;
  put_value(g, name, value);
  fact_put(g->facts, slice_of(name))->shown = slice_of(
      graph_text(g->graph, "%.*s.%s", SLICE_ARG(g->architecture), key));
}

/* "llama.block_count" is `num_hidden_layers` of a llama. */
static void put_keys(struct gguf_facts *g) {
  const struct gguf_value *value;
#define GGUF_KEY(key, name) put_key(g, key, name, false);
#define GGUF_SOME(key, name) put_key(g, key, name, true);
#define GGUF_CHOICE(its, key, number, name, word)                  \
  if ((!*its || slice_is(g->architecture, its)) &&                 \
      (value = gguf_key(g, key)) && value->kind == GGUF_INTEGER && \
      value->integer == (number))                                  \
    fact_put_text(g->facts, slice_of(name), slice_of(word));
#include "import/huggingface/huggingface.def"
}

/* Sizes that stand in the tensors alone, and what they tell by being there. */
static void put_tensors(struct gguf_facts *g) {
  static const char *const tables[][2] = {
      {"token_embd.weight", "vocab_size"},
      {"per_layer_token_embd.weight", "vocab_size_per_layer_input"}};
  for (size_t i = 0; i < g->file.tensors.count; i++) {
    const struct stored_tensor *t = &g->file.tensors.at[i];
    for (size_t k = 0; k < 2; k++)
      if (strcmp(t->name, tables[k][0]) == 0 && t->rank == 2)
        put(g, tables[k][1], FACT_INT,
            slice_of(graph_text(g->graph, "%" PRId64, t->dims[0])), t->dims[0]);
  }
  bool tied = !has_tensor(g, "output.weight");
  put(g, "tie_word_embeddings", FACT_BOOL, slice_of(tied ? "true" : "false"),
      tied);
}

static bool flag(const struct gguf_facts *g, const char *key) {
  const struct gguf_value *value = gguf_find(&g->gguf, key);
  return value && value->kind == GGUF_INTEGER && value->integer;
}

static bool count_bytes(const struct gguf_facts *g, int64_t *bytes) {
  *bytes = 0;
  for (size_t i = 0; i < g->file.tensors.count; i++) {
    uint64_t more = g->file.tensors.at[i].bytes;
    if (more > INT64_MAX || !add_i64(*bytes, (int64_t)more, bytes))
      return false;
  }
  return true;
}

/* A language model reads pictures or sounds by it: no net of its own. */
static bool is_projector(struct gguf_facts *g) {
  bool sees = flag(g, "clip.has_vision_encoder");
  bool hears = flag(g, "clip.has_audio_encoder");
  int64_t bytes;
  if (!count_bytes(g, &bytes))
    return graph_fail(g->graph, 0, "its tensors have more than 2^63 bytes");
  graph_fail(g->graph, 0,
             "it is %s encoder with a projector, for --mmproj of llama.cpp: "
             "%zu tensors, %s bytes",
             sees && hears ? "a vision and audio"
             : hears       ? "an audio"
                           : "a vision",
             g->file.tensors.count, count_text(bytes).text);
  return graph_help(g->graph,
                    "give the GGUF of its language model; these bytes are "
                    "needed beside it");
}

/* The type of an architecture, and what its files do not say. */
static struct slice type_of(struct gguf_facts *g) {
  struct slice type = g->architecture, name, text;
  const char *facts = "";
  const struct gguf_value *value;
#define GGUF_TYPE(its, theirs, more)    \
  if (slice_is(g->architecture, its)) { \
    type = slice_of(theirs);            \
    facts = more;                       \
  }
#include "import/huggingface/huggingface.def"
#define GGUF_FROM(its, key, number, theirs)                           \
  if (slice_is(g->architecture, its) && (value = gguf_key(g, key)) && \
      value->kind == GGUF_INTEGER && value->integer >= (number))      \
    type = slice_of(theirs);
#include "import/huggingface/huggingface.def"
  while (hugging_pair(&facts, &name, &text))
    if (!fact_find(g->facts, name))
      fact_put_text(g->facts, name, text);
  return type;
}

/* Layers that predict later tokens are beside the net. */
static void count_layers(struct gguf_facts *g) {
  const struct fact *all = fact_of(g->facts, "num_hidden_layers");
  const struct fact *more = fact_of(g->facts, "num_nextn_predict_layers");
  int64_t layers = all && all->kind == FACT_INT ? all->integer : 0;
  int64_t further = more && more->kind == FACT_INT ? more->integer : 0;
  if (layers < 1 || layers > HUGGING_MOST_LAYERS || further < 0 ||
      further >= layers)
    return;
  g->layers = layers - further;
  g->further = further;
  fact_put_text(g->facts, slice_of("num_hidden_layers"),
                slice_of(graph_text(g->graph, "%" PRId64, g->layers)));
}

static bool put_type(struct gguf_facts *g, const char *as) {
  const struct gguf_value *value = gguf_find(&g->gguf, "general.architecture");
  if (!value || value->kind != GGUF_TEXT)
    return graph_fail(g->graph, 0, "it does not say its architecture");
  g->architecture = value->text;
  if (slice_is(value->text, "clip"))
    return is_projector(g);
  put_keys(g);
  put_tensors(g);
  count_layers(g);
  struct slice named = type_of(g);
  put(g, "model_type", FACT_WORD, named, 0);
  if (slice_is(named, "bert"))
    put(g, "architectures_0", FACT_WORD, slice_of("BertEncoder"), 0);
  const struct template_type *type = hugging_type(as ? slice_of(as) : named);
  return !type || strcmp(type->file, "decoder") != 0 || gguf_put_layers(g);
}

static const char *word_of_type(const struct gguf_facts *g,
                                const char **dtype) {
  const struct gguf_value *value = gguf_find(&g->gguf, "general.file_type");
  int64_t type = value && value->kind == GGUF_INTEGER ? value->integer : 0;
  *dtype = type == 0 ? "f32" : type == 32 ? "bf16" : "f16";
#define GGUF_FILE(number, word) \
  if (type == (number))         \
    return word;
#include "import/huggingface/huggingface.def"
  return NULL;
}

/* Learned, and not of a layer that predicts later tokens. */
static bool is_counted(const struct gguf_facts *g, struct slice name) {
  struct slice rest;
  int64_t layer = g->further ? gguf_layer(name, &rest) : -1;
#define GGUF_BUFFER(end)     \
  if (slice_ends(name, end)) \
    return false;
#include "import/huggingface/huggingface.def"
  return layer < g->layers;
}

/* The shape that PyTorch's tensor has. */
static struct stored_tensor reshaped(struct gguf_facts *g,
                                     const struct stored_tensor *t) {
  struct stored_tensor same = *t;
  struct slice rest = slice_of(t->name);
  int64_t *dims =
      arena_alloc(g->graph->arena, 2 + (size_t)t->rank, sizeof *dims);
  gguf_layer(slice_of(t->name), &rest);
  for (int i = 0; i < t->rank; i++)
    dims[i] = t->dims[i];
#define GGUF_TURNED(end)                      \
  if (slice_is(rest, end) && t->rank >= 2) {  \
    dims[t->rank - 1] = t->dims[t->rank - 2]; \
    dims[t->rank - 2] = t->dims[t->rank - 1]; \
    same.dims = dims;                         \
  }
#define GGUF_VECTOR(end)   \
  if (slice_is(rest, end)) \
    same.rank = 1;
#define GGUF_ROW(end)                        \
  if (slice_is(rest, end) && t->rank == 1) { \
    dims[1] = t->count;                      \
    same.rank = 2;                           \
    same.dims = dims;                        \
  }
#include "import/huggingface/huggingface.def"
  if (t->rank >= 2 && t->dims[t->rank - 1] == 1)
    same.rank = 1; /* a vector that is computed with as a column */
  return same;
}

static bool count_values(struct gguf_facts *g, struct stored *stored) {
  stored->name = "its table of tensors";
  for (size_t i = 0; i < g->file.tensors.count; i++) {
    const struct stored_tensor *t = &g->file.tensors.at[i];
    if (!is_counted(g, slice_of(t->name)))
      continue;
    if (!add_i64(stored->values, t->count, &stored->values))
      return graph_fail(g->graph, 0,
                        "its tensors would have more than 2^63 values");
    struct stored_tensor same = reshaped(g, t);
    stored_add_rows(stored, g->graph->arena, &same);
  }
  const struct gguf_value *value;
#define GGUF_LEARNED(key)                                             \
  if ((value = gguf_find(&g->gguf, key)) && value->kind == GGUF_LIST) \
    stored->values += (int64_t)value->count;
#include "import/huggingface/huggingface.def"
  return true;
}

/* Bytes of all tensors, and how many are of each type: "226 Q4_K, 65 F32". */
static void tell_types(struct gguf_facts *g) {
  struct text types = text_new(g->graph->arena);
  struct map counts = {0};
  VEC(const char *) words = {0};
  uint64_t bytes = 0;
  for (size_t i = 0; i < g->file.tensors.count; i++) {
    const struct stored_tensor *t = &g->file.tensors.at[i];
    struct map_entry *entry =
        map_add(g->graph->arena, &counts, slice_of(t->word));
    if (entry->number++ == 0)
      *VEC_PUSH(g->graph->arena, &words) = t->word;
    if (t->bytes > INT64_MAX - bytes)
      return;
    bytes += t->bytes;
  }
  for (size_t i = 0; i < words.count; i++)
    text_printf(&types, "%s%" PRId64 " %s", i ? ", " : "",
                map_find(&counts, slice_of(words.at[i]))->number, words.at[i]);
  if (bytes == 0)
    return;
  g->graph->stored_bytes = (int64_t)bytes;
  g->graph->stored_types = text_string(&types);
  graph_note(g->graph, "its tensors have %" PRIu64 " bytes: %s", bytes,
             g->graph->stored_types);
}

static bool read_file(struct gguf_facts *g, struct hugging *h,
                      struct slice head) {
  const char *path = h->options->path;
  g->file = (struct tensor_file){.store = byte_store_of(head)};
  if (path && !byte_store_open(&g->file.store, path))
    return graph_fail(g->graph, 0, "cannot be read: %s", g->file.store.fault);
  if (!gguf_read_keys(&g->file, g->graph->arena, &g->gguf))
    return graph_fail(g->graph, 0, "%s", g->file.fault);
  if (!gguf_read_parts(g, path) || !put_type(g, h->options->as))
    return false;
  h->weight_dtype = word_of_type(g, &h->dtype);
  if (!count_values(g, &h->stored))
    return false;
  tell_types(g);
  return true;
}

bool gguf_net_read(struct graph *graph, struct slice head,
                   const struct import_options *options) {
  struct facts facts = {.graph = graph};
  struct hugging h = {.facts = &facts,
                      .graph = graph,
                      .options = options,
                      .origin = "GGUF",
                      .type_key = "general.architecture",
                      .runtime = "llama.cpp"};
  struct gguf_facts g = {.facts = &facts, .graph = graph};
  bool right = read_file(&g, &h, head);
  tensors_close(&g.file);
  return right && hugging_make(&h);
}
