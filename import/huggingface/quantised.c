/*
 * Quantised weights: each tool says in a place of its own how it stores them.
 * What no row of huggingface.def counts is refused by its name, since weights
 * of torch_dtype would be a wrong number.
 */
#include "base/file.h"
#include "import/huggingface/huggingface.h"

static const char modelopt[] = "hf_quant_config.json";

/* Members of a config that say so, also those of a part of a model. */
static const char *const places[] = {"quantization_config", "quantization",
                                     "compression_config", modelopt};

/* The file that NVIDIA's modelopt writes beside config.json becomes a member.
 */
static bool read_beside(struct hugging *h) {
  struct facts facts;
  struct slice text;
  struct graph *graph = h->graph;
  if (!h->options->folder)
    return true;
  enum file_status status = file_read(
      graph->arena, graph_text(graph, "%s/%s", h->options->folder, modelopt),
      &text);
  if (status == FILE_ABSENT)
    return true;
  if (status != FILE_OK || !facts_read_json(&facts, graph, text)) {
    graph->failed = false;
    return graph_fail(graph, 0, "cannot read %s", modelopt);
  }
  for (size_t i = 0; i < facts.all.count; i++) {
    struct fact fact = facts.all.at[i];
    const char *name =
        graph_text(graph, "%s_%.*s", modelopt, SLICE_ARG(fact.name));
    struct fact *to = fact_put(h->facts, slice_of(name));
    fact.name = to->name;
    fact.line = fact.column = 0;
    *to = fact;
  }
  struct fact *whole = fact_put(h->facts, slice_of(modelopt));
  whole->kind = FACT_OBJECT;
  whole->integer = (int64_t)facts.all.count;
  whole->text = slice_of("an object");
  return true;
}

/*
 * True if members of a place are those of "bits=4 group_size=64 mode=none";
 * `members` is how many it has.
 */
static bool has_all(const struct hugging *h, const struct fact *place,
                    const char *conditions) {
  struct slice name, value;
  while (hugging_pair(&conditions, &name, &value)) {
    const char *key = graph_text(h->graph, "%.*s_%.*s", SLICE_ARG(place->name),
                                 SLICE_ARG(name));
    const struct fact *fact = fact_of(h->facts, key);
    struct slice is = fact ? fact->text : slice_of("none");
    if (slice_is(name, "members"))
      is = slice_of(graph_text(h->graph, "%lld", (long long)place->integer));
    if (!slice_equal(is, value))
      return false;
  }
  return true;
}

static const char *type_of(const struct hugging *h, const struct fact *place) {
#define QUANTISED(at, conditions, word)                           \
  if (slice_is(place->name, at) && has_all(h, place, conditions)) \
    return word;
#include "import/huggingface/huggingface.def"
  return NULL;
}

/* "hqq", "NVFP4", "3 bits" */
static const char *method_of(struct hugging *h, const struct fact *place) {
  static const char *const keys[] = {"quant_method", "quantization_quant_algo",
                                     "bits"};
  bool named = !slice_is(place->name, "quantization"); /* MLX names no method */
  for (size_t i = named ? 0 : 2; i < (named ? 2U : 3U); i++) {
    const struct fact *fact =
        fact_of(h->facts, graph_text(h->graph, "%.*s_%s",
                                     SLICE_ARG(place->name), keys[i]));
    if (fact && fact->kind != FACT_OBJECT)
      return graph_text(h->graph, named ? "%.*s" : "%.*s bits of MLX",
                        SLICE_ARG(fact->text));
  }
  return "which names no method";
}

static bool refuse(struct hugging *h, const struct fact *place) {
  const char *method = method_of(h, place);
  if (h->options->allow_unknown) {
    graph_note(h->graph,
               "its %.*s, %s, is not counted: netc counts the weights in the "
               "net's type",
               SLICE_ARG(place->name), method);
    return true;
  }
  fact_fail(h->facts, place, "its %.*s, %s, is not supported",
            SLICE_ARG(place->name), method);
  return graph_help(
      h->graph,
      "netc supports gptq, awq (groups of 32, 64, 128), bitsandbytes, fp8 (by "
      "tensor, or tiles of 128 x 128), fp8 of modelopt except for lm_head, and "
      "4 or 8 bits of MLX in groups of 64; `--allow-unknown --weight-dtype "
      "TYPE` counts all weights in a type of `netc help settings`");
}

/* Also text_config_quantization_config; but hf_quant_config.json_quantization
 * is a member of a place. */
static bool is_place(const struct fact *fact) {
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (slice_is(fact->name, places[i]))
      return true;
  return slice_ends(fact->name, "_quantization_config");
}

bool hugging_quantised(struct hugging *h) {
  if (!read_beside(h))
    return false;
  for (size_t i = 0; i < h->facts->all.count; i++) {
    const struct fact *place = &h->facts->all.at[i];
    if (!is_place(place) || place->kind == FACT_NULL ||
        (place->kind == FACT_OBJECT && place->integer == 0))
      continue;
    if (place->kind != FACT_OBJECT)
      return hugging_refuse(h, place, "an object");
    const char *type = type_of(h, place);
    h->quantised = true;
    if (!type || (h->weight_dtype && strcmp(type, h->weight_dtype) != 0)) {
      h->weight_dtype = NULL;
      return refuse(h, place);
    }
    h->weight_dtype = type;
  }
  return true;
}
