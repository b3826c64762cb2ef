/*
 * Facts from GGUF: its keys are those of a config.json in other words, and
 * its table of tensors is the check.
 */
#include <inttypes.h>

#include "base/check.h"
#include "import/huggingface/huggingface.h"
#include "import/tensors/gguf.h"

struct gguf_facts {
  struct facts *facts;
  struct graph *graph;
  struct tensor_file file;
  struct gguf gguf;
};

static struct slice text_of(struct graph *graph,
                            const struct gguf_value *value) {
  switch (value->kind) {
  case GGUF_INTEGER:
    return slice_of(graph_text(graph, "%" PRId64, value->integer));
  case GGUF_REAL: /* a float: as many digits as it has */
    return slice_of(graph_text(graph, "%.7g", value->real));
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

/* "llama.block_count" is `num_hidden_layers` of a llama. */
static void put_keys(struct gguf_facts *g, struct slice architecture) {
#define GGUF_KEY(key, name)                                                    \
  {                                                                            \
    const struct gguf_value *value = gguf_find(                                \
        &g->gguf, graph_text(g->graph, "%.*s." key, SLICE_ARG(architecture))); \
    if (value)                                                                 \
      put_value(g, name, value);                                               \
  }
#include "import/huggingface/huggingface.def"
}

/* Sizes that stand in the tensors alone, and what they tell by being there. */
static void put_tensors(struct gguf_facts *g) {
  for (size_t i = 0; i < g->file.tensors.count; i++) {
    const struct stored_tensor *t = &g->file.tensors.at[i];
    if (strcmp(t->name, "token_embd.weight") == 0 && t->rank == 2)
      put(g, "vocab_size", FACT_INT,
          slice_of(graph_text(g->graph, "%" PRId64, t->dims[0])), t->dims[0]);
  }
  bool tied = !has_tensor(g, "output.weight");
  put(g, "tie_word_embeddings", FACT_BOOL, slice_of(tied ? "true" : "false"),
      tied);
}

static bool put_type(struct gguf_facts *g) {
  const struct gguf_value *value = gguf_find(&g->gguf, "general.architecture");
  if (!value || value->kind != GGUF_TEXT)
    return graph_fail(g->graph, 0, "it does not say its architecture");
  put_keys(g, value->text);
  put_tensors(g);
  const struct fact *experts = fact_of(g->facts, "num_local_experts");
  struct slice type = value->text;
  if (slice_is(type, "llama") && experts && experts->integer > 0)
    type = slice_of("mixtral");
#define GGUF_TYPE(architecture, name)      \
  if (slice_is(value->text, architecture)) \
    type = slice_of(name);
#include "import/huggingface/huggingface.def"
  put(g, "model_type", FACT_WORD, type, 0);
  if (slice_is(type, "bert"))
    put(g, "architectures_0", FACT_WORD, slice_of("BertEncoder"), 0);
  return true;
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

/* What is learned: rotations that Llama 3 has as a tensor are not. */
static bool count_values(struct gguf_facts *g, struct stored *stored) {
  stored->name = "its table of tensors";
  for (size_t i = 0; i < g->file.tensors.count; i++) {
    const struct stored_tensor *t = &g->file.tensors.at[i];
    if (strcmp(t->name, "rope_freqs.weight") == 0)
      continue;
    if (!add_i64(stored->values, t->count, &stored->values))
      return graph_fail(g->graph, 0,
                        "its tensors would have more than 2^63 values");
    stored_add_rows(stored, g->graph->arena, t);
  }
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
  if (!put_type(g))
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
                      .runtime = "llama.cpp"};
  struct gguf_facts g = {.facts = &facts, .graph = graph};
  bool right = read_file(&g, &h, head);
  tensors_close(&g.file);
  return right && hugging_make(&h);
}
