/*
 * Quantised weights: each tool says in a place of its own how it stores them.
 * A method that no reader here understands is refused by its name, since
 * weights of torch_dtype would be a wrong number.
 */
#define _GNU_SOURCE /* memmem */
#include "import/huggingface/quantised.h"

#include <inttypes.h>

#include "base/file.h"
#include "layers/foreign/words.h"

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
  const char *folder = h->options->folder;
  if (!folder ||
      !stored_is_inside(graph->arena, folder,
                        graph_text(graph, "%s/%s", folder, modelopt)))
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
    fact.shown = slice_of(
        graph_text(graph, "%s.%.*s", modelopt, SLICE_ARG(*fact_shown(&fact))));
    fact.line = fact.column = 0;
    *to = fact;
  }
  struct fact *whole = fact_put(h->facts, slice_of(modelopt));
  whole->kind = FACT_OBJECT;
  whole->integer = (int64_t)facts.all.count;
  whole->text = slice_of("an object");
  return true;
}

struct quantised_reader {
  struct hugging *h;
  const struct fact *place;
  const char *at;    /* what its members' names begin with, */
  const char *word;  /* of the tool's row */
  const char *stays; /* key of the modules that stay; "" */
  bool regular;      /* names may be regular expressions */
  struct quantised q;
  const struct fact *wrong; /* what is not understood; NULL: all of it */
};

/* Members */

static const struct fact *member(const struct quantised_reader *r,
                                 const char *key) {
  return fact_of(r->h->facts, graph_text(r->h->graph, "%s_%s", r->at, key));
}

static bool is(const struct quantised_reader *r, const char *key,
               const char *word) {
  const struct fact *fact = member(r, key);
  return fact && fact->kind != FACT_OBJECT && slice_is(fact->text, word);
}

static int64_t integer(const struct quantised_reader *r, const char *key,
                       int64_t usual) {
  const struct fact *fact = member(r, key);
  return fact && fact->kind == FACT_INT ? fact->integer : fact ? 0 : usual;
}

/* False, at a member or at the place itself. */
static bool wrong(struct quantised_reader *r, const struct fact *fact) {
  r->wrong = fact ? fact : r->place;
  return false;
}

/* The text between the two in a member's name: of "P_extra_config_a_bits"
 * it is "a"; without an end all that follows. */
static bool between(const struct quantised_reader *r, const struct fact *fact,
                    const char *key, const char *end, struct slice *middle) {
  const char *begin = graph_text(r->h->graph, "%s_%s", r->at, key);
  if (!slice_begins(fact->name, begin) || !slice_ends(fact->name, end) ||
      fact->name.length <= strlen(begin) + strlen(end))
    return false;
  *middle = slice_less(slice_from(fact->name, strlen(begin)), strlen(end));
  return true;
}

/* Rules */

/* Without the backslashes that JSON asks for. */
static struct slice unescaped(struct arena *arena, struct slice text) {
  struct text out = text_new(arena);
  for (size_t i = 0; i < text.length; i++) {
    i += text.at[i] == '\\' && i + 1 < text.length;
    text_putc(&out, text.at[i]);
  }
  return text_slice(&out);
}

static bool is_regular(const struct quantised_reader *r, struct slice pattern) {
  return r->regular && (memmem(pattern.at, pattern.length, ".*", 2) ||
                        memchr(pattern.at, '\\', pattern.length));
}

static bool add_rule(struct quantised_reader *r, struct slice name,
                     const char *type, const struct fact *fact) {
  struct arena *arena = r->h->graph->arena;
  struct slice pattern = unescaped(arena, name);
  struct regular *regular = NULL;
  bool marked = slice_begins(pattern, "re:") || slice_begins(pattern, "-:");
  if (marked || is_regular(r, pattern)) {
    pattern = slice_from(pattern, marked ? slice_find(pattern, ":") + 1 : 0);
    regular = regular_new(arena, pattern);
    if (!regular)
      return wrong(r, fact);
  }
  *VEC_PUSH(arena, &r->q.rules) =
      (struct module_rule){pattern, regular, type, fact};
  return true;
}

/* Rules of a list of names. */
static bool add_list(struct quantised_reader *r, const char *key,
                     const char *type) {
  const struct fact *list = member(r, key);
  for (int64_t i = 0; list && list->kind == FACT_OBJECT && i < list->integer;
       i++) {
    const struct fact *name =
        member(r, graph_text(r->h->graph, "%s_%" PRId64, key, i));
    if (!name || name->kind != FACT_WORD)
      return wrong(r, name ? name : list);
    if (!add_rule(r, name->text, type, name))
      return false;
  }
  return !list || list->kind == FACT_OBJECT || wrong(r, list);
}

/* Words of types */

/* "gptq_3_g64"; NULL: there is none. A group of -1 is a row. */
static const char *grouped_word(struct graph *graph, const char *stem,
                                int64_t bits, int64_t group) {
  const char *word =
      group == -1
          ? graph_text(graph, "%s_%" PRId64 "_row", stem, bits)
          : graph_text(graph, "%s_%" PRId64 "_g%" PRId64, stem, bits, group);
  int type = weights_find(slice_of(word));
  return type ? weights_word(type) : NULL;
}

/* Readers: r->q of a tool's config; false: r->wrong is not understood. */

#define OF(part) (1U << WEIGHTS_OF_##part)
enum { HEADS = OF(HEAD), ALL_PARTS = ~0U >> 1 };

static unsigned linear_parts(void) {
  return ALL_PARTS & ~(OF(TABLE) | OF(HEAD) | OF(ROUTER));
}

/*
 * Tools that go through the blocks of the language model alone. AutoAWQ
 * replaces the linear layers of get_model_layers() (_load_quantized_modules of
 * awq/models/base.py), but those whose names contain a word of
 * modules_to_not_convert (exclude_layers_to_not_quantize of
 * awq/quantize/quantizer.py; replace_with_awq_linear of transformers'
 * integrations/awq.py does the same when it reads the file). AutoRound does so
 * unless quant_nontext_module is set (auto_round/mllm/README.md), GPTQ in
 * optimum by block_name_to_quantize, mlx_vlm by skip_multimodal_module. The
 * output has its 16 bits unless GPTQModel's `lm_head` (False in its
 * QuantizeConfig) or AutoRound's --quant_lm_head says otherwise.
 */
static unsigned text_parts(unsigned parts) {
  return parts & ~OF(VISION);
}

static bool bits_and_group(struct quantised_reader *r, const char *stem) {
  int64_t bits = integer(r, "bits", 0), group = integer(r, "group_size", 0);
  r->q.type = grouped_word(r->h->graph, stem, bits, group);
  r->q.parts = text_parts(linear_parts());
  return r->q.type || wrong(r, member(r, "bits"));
}

/* GPTQModel: "dynamic": {"-:.*mlp.*": {}} leaves modules as they are. AutoAWQ:
 * `gate` leaves mlp.gate_proj as it is. */
static bool grouped(struct quantised_reader *r) {
  struct slice name;
  const struct fact *format = member(r, "checkpoint_format");
  if (!bits_and_group(r, r->word))
    return false;
  r->q.within = strcmp(r->word, "awq") == 0;
  if (format && !slice_is(format->text, "gptq") &&
      !slice_is(format->text, "gptq_v2") && !slice_is(format->text, "gemm"))
    return wrong(r, format);
  if (member(r, "modules_in_block_to_quantize"))
    return wrong(r, member(r, "modules_in_block_to_quantize"));
  if (is(r, "lm_head", "true"))
    r->q.parts |= HEADS;
  for (size_t i = 0; i < r->h->facts->all.count; i++) {
    const struct fact *fact = &r->h->facts->all.at[i];
    if (fact->kind != FACT_OBJECT || !between(r, fact, "dynamic_", "", &name))
      continue;
    if (!slice_begins(name, "-:"))
      return wrong(r, fact);
    if (!add_rule(r, name, NULL, fact))
      return false;
  }
  return true;
}

/* "extra_config": {"lm_head": {"bits": 16}} */
static bool rounded(struct quantised_reader *r) {
  r->regular = true;
  const struct fact *format = member(r, "packing_format");
  const struct fact *type = member(r, "data_type");
  struct slice name;
  if (type && !slice_is(type->text, "int"))
    return wrong(r, type);
  if (format && !slice_is(format->text, "auto_round:auto_gptq") &&
      !slice_is(format->text, "auto_round:auto_awq") &&
      !slice_is(format->text, "auto_round"))
    return wrong(r, format);
  if (!bits_and_group(r, r->word))
    return false;
  for (size_t i = 0; i < r->h->facts->all.count; i++) {
    const struct fact *fact = &r->h->facts->all.at[i];
    if (!between(r, fact, "extra_config_", "_bits", &name))
      continue;
    const char *key = graph_text(r->h->graph, "extra_config_%.*s_group_size",
                                 SLICE_ARG(name));
    int64_t group = integer(r, key, integer(r, "group_size", 0));
    bool stays = fact->kind == FACT_INT && fact->integer >= 16;
    const char *word =
        stays ? NULL : grouped_word(r->h->graph, r->word, fact->integer, group);
    if (!stays && !word)
      return wrong(r, fact);
    if (!add_rule(r, name, word, fact))
      return false;
  }
  return true;
}

static bool bitsandbytes(struct quantised_reader *r) {
  r->q.parts = linear_parts();
  r->q.type = is(r, "load_in_8bit", "true")                ? "int8"
              : !is(r, "load_in_4bit", "true")             ? NULL
              : is(r, "bnb_4bit_use_double_quant", "true") ? "bnb4"
                                                           : "bnb4_f32";
  return r->q.type || wrong(r, NULL);
}

static bool experts(struct quantised_reader *r) {
  r->q.parts = OF(EXPERTS_UP) | OF(EXPERTS_DOWN);
  r->q.type = r->word;
  return true;
}

/* The word of {"num_bits": 4, "type": "int", "group_size": 32, ..}. */
static const char *compressed_word(struct quantised_reader *r,
                                   struct slice group) {
#define KEY(end) \
  graph_text(r->h->graph, "config_groups_%.*s_" end, SLICE_ARG(group))
  int64_t bits = integer(r, KEY("weights_num_bits"), 0);
  int64_t size = integer(r, KEY("weights_group_size"), -1);
  const char *strategy = KEY("weights_strategy");
  bool rows = is(r, strategy, "channel"), tiles = is(r, strategy, "block");
  bool one = is(r, strategy, "tensor") || !member(r, strategy);
  if (is(r, KEY("weights_type"), "float")) {
    bool square = is(r, KEY("weights_block_structure_0"), "128") &&
                  is(r, KEY("weights_block_structure_1"), "128");
    return bits == 4 && size == 16   ? "nvfp4"
           : bits == 4 && size == 32 ? "mxfp4"
           : bits != 8               ? NULL
           : size == 32              ? "mxfp8"
           : tiles && square         ? "fp8_128"
           : rows                    ? "fp8_ct"
           : one                     ? "fp8"
                                     : NULL;
  }
  const struct fact *format = member(r, KEY("format"));
  format = format ? format : member(r, "format");
  if (format && slice_is(format->text, "int-quantized"))
    return bits == 8 && rows ? "int8_ct" : NULL;
  bool zeros = is(r, KEY("weights_symmetric"), "false");
  return format && slice_is(format->text, "pack-quantized")
             ? grouped_word(r->h->graph, zeros ? "ct_zero" : "ct", bits,
                            rows ? -1 : size)
             : NULL;
#undef KEY
}

static bool add_group(struct quantised_reader *r, struct slice group,
                      const struct fact *weights) {
  const char *word = compressed_word(r, group);
  const char *key =
      graph_text(r->h->graph, "config_groups_%.*s_targets", SLICE_ARG(group));
  if (!word)
    return wrong(r, weights);
  if (!is(r, graph_text(r->h->graph, "%s_0", key), "Linear"))
    return add_list(r, key, word) && (member(r, key) || wrong(r, weights));
  r->q.type = word;
  r->q.parts = linear_parts() | HEADS;
  return true;
}

static bool compressed(struct quantised_reader *r) {
  const struct fact *status = member(r, "quantization_status");
  const struct fact *sparse = member(r, "sparsity_config_format");
  struct slice group;
  bool any = false;
  if (status && !slice_is(status->text, "compressed"))
    return wrong(r, status);
  if (sparse && !slice_is(sparse->text, "dense"))
    return wrong(r, sparse);
  for (size_t i = 0; i < r->h->facts->all.count; i++) {
    const struct fact *fact = &r->h->facts->all.at[i];
    if (fact->kind != FACT_OBJECT ||
        !between(r, fact, "config_groups_", "_weights", &group))
      continue;
    if (!add_group(r, group, fact))
      return false;
    any = true;
  }
  return any || wrong(r, NULL);
}

static const char *algorithm_word(const struct fact *fact) {
  struct slice text = fact ? fact->text : (struct slice){"", 0};
#define ALGORITHM(theirs, word) \
  if (slice_is(text, theirs))   \
    return word;
#include "import/huggingface/huggingface.def"
  return NULL;
}

static bool mixed(struct quantised_reader *r) {
  struct slice name;
  for (size_t i = 0; i < r->h->facts->all.count; i++) {
    const struct fact *fact = &r->h->facts->all.at[i];
    if (!between(r, fact, "quantized_layers_", "_quant_algo", &name))
      continue;
    const char *word = algorithm_word(fact);
    if (!word || !add_rule(r, name, word, fact))
      return wrong(r, fact);
  }
  return r->q.rules.count || wrong(r, NULL);
}

/*
 * Experts of DeepSeek-V4 have four bits, in a file whose other layers have
 * eight: `expert_dtype` of its own, or the `quantized_layers` of modelopt,
 * which left the others as they were (vllm/models/deepseek_v4/quant_config.py).
 */
static bool experts_apart(struct quantised_reader *r) {
  const struct fact *algo = member(r, "quant_algo");
  const struct fact *type = hugging_fact(r->h, slice_of("expert_dtype"));
  if (algo)
    return slice_is(algo->text, "MIXED_PRECISION") ? mixed(r) : wrong(r, algo);
  if (!type || slice_is(type->text, "fp8"))
    return true;
  return slice_is(type->text, "fp4")
             ? add_rule(r, slice_of("experts"), "mxfp4", type)
             : wrong(r, type);
}

static bool tiled(struct quantised_reader *r) {
  const struct fact *tile = member(r, "weight_block_size");
  r->q.parts = linear_parts();
  r->q.type = tile ? "fp8_128" : r->word;
  if (tile && !(is(r, "weight_block_size_0", "128") &&
                is(r, "weight_block_size_1", "128")))
    return wrong(r, tile);
  return experts_apart(r);
}

/* Where no list says what stays, the names of the scales do. */
static bool stored_modules(struct quantised_reader *r) {
  const struct stored *stored = &r->h->stored;
  const char *word = r->q.type;
  r->q.type = NULL;
  for (size_t i = 0; i < stored->scaled.count; i++)
    if (!add_rule(r, stored->scaled.at[i], word, r->place))
      return false;
  return stored->scaled.count > 0;
}

/* True if these types are not needed: the command line has one for all. */
static bool retypes(const struct hugging *h) {
  return h->options->allow_unknown || h->options->retyped;
}

/* Some layers of most models stay, but nothing says which. */
static bool lacks_list(struct quantised_reader *r, const struct fact *algo) {
  struct hugging *h = r->h;
  if (retypes(h))
    return wrong(r, algo);
  fact_fail(h->facts, algo,
            "its %.*s says %.*s, but does not list the layers that stay as "
            "they are (`%s`)",
            SLICE_ARG(*fact_shown(r->place)), SLICE_ARG(algo->text), r->stays);
  return graph_help(h->graph,
                    "put the model's model.safetensors.index.json beside the "
                    "config: its scales name the quantised layers; or `netc "
                    "config.json --weight-dtype %s` counts all linear layers "
                    "in that type",
                    algorithm_word(algo));
}

/* modelopt quantises Linear layers, whose exceptions it lists. */
static bool algorithm(struct quantised_reader *r) {
  const struct fact *algo = member(r, "quant_algo");
  const struct fact *group = member(r, "group_size");
  if (is(r, "quant_algo", "MIXED_PRECISION"))
    return mixed(r);
  r->q.type = algorithm_word(algo);
  r->q.parts = linear_parts() | HEADS;
  if (!r->q.type)
    return wrong(r, algo);
  if (strcmp(r->q.type, "nvfp4") == 0 && group && group->integer != 16)
    return wrong(r, group);
  return member(r, r->stays) || stored_modules(r) || lacks_list(r, algo);
}

/* {"bits": 4, "group_size": 64} of a net, or of one of its modules. */
static const char *mlx_word(struct quantised_reader *r, const char *in) {
  struct graph *graph = r->h->graph;
  const char *mode = graph_text(graph, "%smode", in);
  int64_t bits =
      integer(r, graph_text(graph, "%sbits", in), integer(r, "bits", 0));
  int64_t group = integer(r, graph_text(graph, "%sgroup_size", in),
                          integer(r, "group_size", 0));
  mode = member(r, mode) ? mode : "mode";
  if (!member(r, mode) || is(r, mode, "affine"))
    return group > 0 ? grouped_word(graph, r->word, bits, group) : NULL;
  return group != 32            ? NULL
         : is(r, mode, "mxfp4") ? "mxfp4"
         : is(r, mode, "mxfp8") ? "mxfp8"
                                : NULL;
}

/* A member is a module, if it says how that is quantised, or that it is not
 * (mlx_lm/utils.py). */
static bool mlx(struct quantised_reader *r) {
  static const char *const keys[] = {"bits", "group_size", "mode"};
  struct slice name;
  int64_t known = 0;
  r->q.parts = text_parts(ALL_PARTS);
  r->q.type = mlx_word(r, "");
  if (!r->q.type)
    return wrong(r, NULL);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    known += member(r, keys[i]) != NULL;
  for (size_t i = 0; i < r->h->facts->all.count; i++) {
    const struct fact *fact = &r->h->facts->all.at[i];
    if ((fact->kind != FACT_OBJECT && fact->kind != FACT_BOOL) ||
        !between(r, fact, "", "", &name) ||
        slice_begins(name, "config")) /* of quantization_config */
      continue;
    bool object = fact->kind == FACT_OBJECT;
    const char *word =
        object ? mlx_word(r, graph_text(r->h->graph, "%.*s_", SLICE_ARG(name)))
               : NULL;
    known++;
    if (object && !word)
      return wrong(r, fact);
    if ((object || !fact->integer) && !add_rule(r, name, word, fact))
      return false;
  }
  return known == r->place->integer || wrong(r, NULL);
}

/* Places */

static const struct quantised_tool {
  const char *method;
  bool (*read)(struct quantised_reader *r);
  const char *word, *stays;
} tools[] = {
#define QUANTISED(method, read, word, stays) {method, read, word, stays},
#include "import/huggingface/huggingface.def"
};

/* "hqq", or of tools that name none, the tool; NULL: not known. */
static const char *method_of(const struct quantised_reader *r) {
  const struct fact *method = member(r, "quant_method");
  if (method)
    return graph_text(r->h->graph, "%.*s", SLICE_ARG(method->text));
  return slice_is(r->place->name, modelopt) ? modelopt
         : member(r, "quant_algo")          ? "modelopt"
         : slice_is(r->place->name, "quantization") ||
                 (member(r, "bits") && member(r, "group_size"))
             ? "MLX"
             : NULL;
}

/* "hqq", "NVFP4", "3 bits of MLX" */
static const char *said_of(const struct quantised_reader *r,
                           const char *method) {
  const struct fact *algo = member(r, "quant_algo"), *bits = member(r, "bits");
  if (!method)
    return "which names no method";
  if (algo)
    return graph_text(r->h->graph, "%.*s", SLICE_ARG(algo->text));
  return strcmp(method, "MLX") == 0 && bits
             ? graph_text(r->h->graph, "%.*s bits of MLX",
                          SLICE_ARG(bits->text))
             : method;
}

/* ": `config_groups_group_0` is an object" */
static const char *reason_of(const struct quantised_reader *r) {
  const struct fact *fact = r->wrong;
  if (!fact || fact == r->place)
    return "";
  struct slice name = *fact_shown(fact), place = *fact_shown(r->place);
  if (slice_begins(fact->name, r->at) && name.length > place.length)
    name = slice_from(name, place.length + 1);
  return fact->kind == FACT_OBJECT
             ? graph_text(r->h->graph, " because of its `%.*s`",
                          SLICE_ARG(name))
             : graph_text(r->h->graph, " with `%.*s` %.*s", SLICE_ARG(name),
                          SLICE_ARG(fact->text));
}

bool hugging_help_retype(struct hugging *h, const char *type) {
  return graph_help(h->graph,
                    "`netc config.json --weight-dtype %s` counts all weights "
                    "in %s",
                    type ? type : "TYPE",
                    type ? "that type" : "a type of `netc help settings`");
}

static bool refuse(const struct quantised_reader *r, const char *method) {
  struct hugging *h = r->h;
  const char *said = said_of(r, method);
  if (h->graph->failed)
    return false;
  h->weight_dtype = NULL;
  if (h->options->retyped) {
    graph_note(h->graph,
               "its %.*s, %s, is not read: `--weight-dtype` has the type; for "
               "`netc import` add `--allow-unknown`",
               SLICE_ARG(*fact_shown(r->place)), said);
    return true;
  }
  if (h->options->allow_unknown) {
    graph_note(h->graph,
               "its %.*s, %s, is not counted: netc counts the weights in the "
               "net's type",
               SLICE_ARG(*fact_shown(r->place)), said);
    return true;
  }
  fact_fail(h->facts, r->wrong ? r->wrong : r->place,
            "its %.*s, %s, is not supported%s",
            SLICE_ARG(*fact_shown(r->place)), said, reason_of(r));
  struct text known = text_new(h->graph->arena);
  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
    if (strcmp(tools[i].method, modelopt) != 0)
      text_printf(&known, "%s%s", i ? ", " : "", tools[i].method);
  return graph_help(h->graph,
                    "netc reads %.*s with the types of `netc help settings`; "
                    "`netc config.json --weight-dtype TYPE` counts all weights "
                    "in one of them",
                    SLICE_ARG(known));
}

static bool read_place(struct hugging *h, const struct fact *place) {
  struct graph *graph = h->graph;
  bool beside = slice_is(place->name, modelopt);
  struct quantised_reader r = {.h = h,
                               .place = place,
                               .at = graph_text(graph, "%.*s%s",
                                                SLICE_ARG(place->name),
                                                beside ? "_quantization" : "")};
  const char *method = method_of(&r), *before = h->weight_dtype;
  const struct quantised_tool *tool = NULL;
  for (size_t i = 0; method && i < sizeof tools / sizeof *tools; i++)
    if (strcmp(method, tools[i].method) == 0)
      tool = &tools[i];
  bool again = h->quantised;
  h->quantised = true;
  if (!tool)
    return refuse(&r, method);
  r.word = tool->word;
  r.stays = tool->stays;
  bool read = tool->read(&r);
  if (slice_ends(place->name, "text_config_quantization_config"))
    r.q.parts = text_parts(r.q.parts);
  if (!read || (*r.stays && !add_list(&r, r.stays, NULL)))
    return refuse(&r, method);
  const char *words = quantised_words(h, &r.q);
  if (!words && !retypes(h))
    return false;
  if (!words)
    graph->failed = false;
  if (!words || (again && (!before || strcmp(words, before) != 0)))
    return refuse(&r, method);
  h->weight_dtype = *words ? words : NULL;
  return true;
}

/* Also text_config_quantization_config; but hf_quant_config.json_quantization
 * is a member of a place. */
static bool is_place(const struct fact *fact) {
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (slice_is(fact->name, places[i]))
      return true;
  return slice_ends(fact->name, "_quantization_config");
}

/* The file of a step that only changed experts: the config says it all. */
static bool is_step(const struct hugging *h, const struct fact *place) {
  return slice_is(place->name, modelopt) &&
         fact_is(h->facts, "quantization_config_quant_method", "fp8");
}

/* Weights with scales, but no word of what they are. */
static bool refuse_stored(struct hugging *h) {
  struct slice name = h->stored.scaled.at[0];
  h->quantised = true;
  if (h->options->retyped)
    return true;
  if (h->options->allow_unknown) {
    graph_note(h->graph,
               "%s has scales of `%.*s`, which are not counted: netc counts "
               "the weights in the net's type",
               h->stored.name, SLICE_ARG(name));
    return true;
  }
  graph_fail(h->graph, 0,
             "%s has scales of `%.*s`, but the config does not say how its "
             "weights are quantised",
             h->stored.name, SLICE_ARG(name));
  return graph_help(h->graph,
                    "the config needs its `quantization_config`, or %s beside "
                    "it; `netc config.json --weight-dtype TYPE` counts all "
                    "weights in a type of `netc help settings`",
                    modelopt);
}

bool hugging_quantised(struct hugging *h) {
  if (!read_beside(h))
    return false;
  for (size_t i = 0; i < h->facts->all.count; i++) {
    const struct fact *place = &h->facts->all.at[i];
    if (!is_place(place) || place->kind == FACT_NULL || is_step(h, place) ||
        (place->kind == FACT_OBJECT && place->integer == 0))
      continue;
    if (place->kind != FACT_OBJECT)
      return hugging_refuse(h, place, "an object");
    if (!read_place(h, place))
      return false;
  }
  return h->quantised || h->stored.scaled.count == 0 || refuse_stored(h);
}
