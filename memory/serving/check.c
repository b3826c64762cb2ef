/* Check: whether a net can be served with the settings. */
#include <inttypes.h>

#include "base/check.h"
#include "base/text.h"
#include "sema/model/given.h"
#include "memory/serving/serving.h"
#include "sema/model/written.h"
#include "sema/model/weights.h"

bool serving_wanted(const struct settings *settings) {
  const struct infer_settings *infer = &settings->infer;
  return infer->context || infer->sequences || infer->prefill || infer->sinks ||
         infer->sampler || infer->step || infer->utilization ||
         infer->runtime == RUNTIME_LLAMA_CPP ||
         infer->runtime == RUNTIME_VLLM ||
         infer->gpu_layers != GPU_LAYERS_OFF || infer->host_experts ||
         infer->tensor_split == SPLIT_LIST;
}

bool serving_asked(const struct settings *settings) {
  const struct infer_settings *infer = &settings->infer;
  return serving_wanted(settings) || infer->tensor_parallel > 1;
}

enum { MOST_LISTED = 4096 }; /* devices listed in a message */

struct refusal {
  struct text *why, *help;
  const char *setting; /* the setting that causes it */
};

/* True if heads divide. Devices may share a head of keys, but not split it. */
static bool shares(const struct head_counts *heads, int64_t degree) {
  int64_t keys = heads->keys;
  return heads->queries % degree == 0 &&
         (!keys || keys % degree == 0 || degree % keys == 0);
}

/* Prints the degrees that divide all heads, as "1, 2, 4 or 8 devices". */
static void put_degrees(struct text *out, const struct head_counts *heads,
                        int64_t shared) {
  int64_t last = 0, count = 0;
  for (int64_t degree = 1; degree <= min_i64(shared, MOST_LISTED); degree++) {
    if (shared % degree != 0 || !shares(heads, degree))
      continue;
    if (last)
      text_printf(out, "%s%" PRId64, count++ ? ", " : "", last);
    last = degree;
  }
  text_printf(out, "%s%" PRId64 " device%s can share them", count ? " or " : "",
              last, last > 1 ? "s" : "");
}

static bool divides(struct refusal *r, const struct head_counts *heads,
                    int64_t shared, int64_t degree) {
  if (shares(heads, degree))
    return true;
  r->setting = "tensor_parallel";
  if (heads->queries % degree != 0)
    text_printf(r->why, "%" PRId64 " devices do not divide %" PRId64 " heads",
                degree, heads->queries);
  else
    text_printf(r->why,
                "%" PRId64 " devices neither divide %" PRId64
                " heads of keys nor are a multiple of them",
                degree, heads->keys);
  put_degrees(r->help, heads, shared);
  return false;
}

static bool has_positions(struct refusal *r, const struct model *model,
                          int64_t context) {
  int64_t limit = serving_position_limit(model);
  if (!limit || context <= limit)
    return true;
  r->setting = "context";
  text_printf(r->why,
              "a context of %" PRId64 " tokens is longer than the net's "
              "position table, which has %" PRId64,
              context, limit);
  text_printf(r->help, "the nearest is `context=%" PRId64 "`", limit);
  return false;
}

/* Checks that the net continues a sequence of tokens with causal layers. */
static bool is_served(struct refusal *r, const struct model *model) {
  int64_t words = serving_words(model);
  bool reads = false;
  for (size_t i = 0; i < model->predicted_sources; i++)
    reads = reads ||
            model->nodes.at[model->sources.at[i]].out->dtype != DTYPE_FLOAT;
  if (words >= 0)
    return true;
  if (words == NOTHING_GROWS && reads) {
    text_put(r->why, "this net has no causal attention, so it has no KV cache");
    text_put(r->help,
             written_attention(model) == NO_NODE
                 ? "write `attention 8 causal`"
                 : "attention written as matrix products has no KV cache; "
                   "`attention` with `causal` has one");
    return false;
  }
  text_put(r->why, "only language models can be served: this net continues no "
                   "sequence of tokens");
  text_put(r->help,
           "a language model has `input tokens 2048 : i32`, and other inputs "
           "by `cross=`; for other nets use `batch=` and `decode=`");
  return false;
}

/* A tower whose heads do not divide is whole on each device. */
static bool heads_divide(struct refusal *r, const struct model *model,
                         int64_t degree) {
  const struct shape **in = model_layer_room(model);
  struct arena scratch;
  bool divide = true;
  int64_t shared = 0;
  arena_open_in(&scratch, model->arena);
  const bool *after = serving_after(model, serving_words(model), &scratch);
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (layer.kind->cache && layer.kind->heads && after[i])
      shared = gcd_i64(layer.kind->heads(&layer).queries, shared);
  }
  for (size_t i = 0; i < model->nodes.count && divide; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (!layer.kind->cache || !layer.kind->heads || !after[i])
      continue;
    struct head_counts heads = layer.kind->heads(&layer);
    divide = divides(r, &heads, shared, degree);
  }
  arena_close(&scratch);
  return divide;
}

/* The setting that divides layers among cards and their host. */
static const char *parting(const struct infer_settings *infer) {
  return infer->host_experts                 ? "host_experts"
         : infer->tensor_split == SPLIT_LIST ? "tensor_split"
         : infer->pipeline > 1               ? "pipeline"
                                             : "gpu_layers";
}

static int64_t count_layers(const struct model *model) {
  struct arena scratch;
  arena_open_in(&scratch, model->arena);
  int64_t layers = serving_layers(
      model, &scratch,
      arena_alloc(&scratch, model->nodes.count + 1, sizeof(int32_t)));
  arena_close(&scratch);
  return layers;
}

/* Checks that the layers can be stages, without a part on the host. */
static bool is_pipeline(struct refusal *r, const struct model *model,
                        const struct infer_settings *infer) {
  int64_t layers = count_layers(model) - 1;
  r->setting = "pipeline";
  if (parting(infer) != r->setting || infer->gpu_layers != GPU_LAYERS_OFF) {
    const char *other = parting(infer);
    other = strcmp(other, r->setting) == 0 ? "gpu_layers" : other;
    text_printf(r->why, "`%s=` and `pipeline=` both divide the layers", other);
    text_printf(r->help, "use one of the two: `%s=%s` or `pipeline=1`", other,
                infer->host_experts ? "0" : "off");
    return false;
  }
  int64_t most = min_i64(layers, MOST_CARDS);
  if (infer->pipeline <= most)
    return true;
  text_printf(r->why,
              "serving counts at most %" PRId64 " stages of this net, not "
              "%" PRId64,
              most, infer->pipeline);
  text_printf(r->help, "the nearest is `pipeline=%" PRId64 "`", most);
  return false;
}

/* Checks that layers can be divided among cards and their host. */
static bool can_part(struct refusal *r, const struct model *model,
                     const struct infer_settings *infer) {
  bool split = infer->tensor_split == SPLIT_LIST;
  if (!serving_parts(infer))
    return true;
  r->setting = parting(infer);
  if (infer->host_experts && !model_has_experts(model)) {
    text_put(r->why, "no layer of this net has experts");
    text_put(r->help,
             "`gpu_layers=auto` puts as many layers on the card as fit");
    return false;
  }
  if (infer->pipeline > 1)
    return is_pipeline(r, model, infer);
  if (infer->tensor_parallel > 1) {
    text_printf(r->why,
                "`%s=` gives whole layers to %s, `tensor_parallel=` a part of "
                "each layer to each card",
                r->setting, split ? "each card" : "a card and its host");
    text_put(r->help, "use one of the two");
    return false;
  }
  return true;
}

/* Checks that devices have whole experts. */
static bool has_experts(struct refusal *r, const struct model *model,
                        const struct infer_settings *infer) {
  int64_t most = 0;
  if (infer->expert_parallel == 1)
    return true;
  r->setting = "expert_parallel";
  for (size_t i = 0; i < model->nodes.count; i++)
    most = max_i64(most, model->nodes.at[i].copies);
  if (most < 2) {
    text_put(r->why, "no layer of this net has experts");
    text_put(r->help, "`tensor_parallel=` divides any net");
  } else if (infer->expert_parallel > most) {
    text_printf(r->why, "%" PRId64 " devices cannot share %" PRId64 " experts",
                infer->expert_parallel, most);
    text_printf(r->help, "the nearest is `expert_parallel=%" PRId64 "`", most);
  } else if (infer->expert_parallel % infer->tensor_parallel != 0) {
    text_printf(r->why,
                "expert_parallel=%" PRId64 " is not a multiple of "
                "tensor_parallel=%" PRId64,
                infer->expert_parallel, infer->tensor_parallel);
    text_put(r->help, "experts are shared by all devices of one or several "
                      "tensor-parallel groups");
  } else
    return true;
  return false;
}

/* Checks that quantized blocks do not span heads or latent vectors. */
static bool blocks_divide(struct refusal *r, const struct model *model,
                          const struct infer_settings *infer) {
  const struct shape **in = model_layer_room(model);
  const struct block_type *k = cache_blocks(cache_type(infer));
  const struct block_type *v = cache_blocks(cache_type_v(infer));
  if (!k && !v)
    return true;
  r->setting = "cache";
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (model->nodes.at[i].train_only || !layer_keeps_tokens(&layer))
      continue;
    int64_t keys = layer.kind->heads ? layer.kind->heads(&layer).keys : 0;
    struct cache_terms kept = layer.kind->cache(&layer);
    int64_t head = (kept.each - kept.values) / max_i64(keys, 1);
    if (head % (k ? k : v)->block == 0)
      continue;
    text_printf(r->why,
                "blocks of %d values do not divide the %" PRId64 " of a head",
                (k ? k : v)->block, head);
    text_put(r->help, "`cache=i8` has one type for all values");
    return false;
  }
  return true;
}

/* The setting that requests serving. */
static const char *asking(const struct infer_settings *infer) {
  return infer->context                        ? "context"
         : infer->sequences                    ? "sequences"
         : infer->prefill                      ? "prefill"
         : infer->sinks                        ? "sinks"
         : infer->sampler                      ? "sampler"
         : infer->runtime == RUNTIME_LLAMA_CPP ? "runtime"
         : infer->utilization                  ? "utilization"
         : infer->runtime == RUNTIME_VLLM      ? "runtime"
                                               : parting(infer);
}

/* src/llama-context.cpp: "V cache quantization requires flash_attn". */
static bool keeps_values(struct refusal *r,
                         const struct infer_settings *infer) {
  r->setting = asking(infer);
  if (serving_is_fused(infer) || !cache_blocks(cache_type_v(infer)))
    return true;
  r->setting = infer->attention ? "attention" : "flash";
  text_printf(
      r->why,
      "llama.cpp needs flash attention for a KV cache with values in %s",
      cache_word(cache_type_v(infer)));
  text_printf(r->help,
              "use `attention=fused`, or `cache=\"%s f16\"`, which has values "
              "in f16",
              cache_word(cache_type(infer)));
  return false;
}

/* Rejects settings that llama.cpp's step does not have. */
static bool step_has(struct refusal *r, const struct infer_settings *infer) {
  if (infer->step != STEP_LLAMA_CPP)
    return true;
  r->setting = infer->prefill               ? "prefill"
               : infer->sampler             ? "sampler"
               : infer->sinks               ? "sinks"
               : infer->utilization         ? "utilization"
               : infer->tensor_parallel > 1 ? "tensor_parallel"
               : infer->expert_parallel > 1 ? "expert_parallel"
               : infer->pipeline > 1        ? "pipeline"
                                            : NULL;
  if (!r->setting)
    return keeps_values(r, infer);
  text_printf(r->why, "`%s=` does not apply to llama.cpp", r->setting);
  text_put(r->help,
           infer->prefill ? "`ubatch=` is the number of tokens in a step"
           : infer->pipeline > 1
               ? "`tensor_split=1,1` gives each card a part of the layers"
               : "leave it out, or choose `runtime=pytorch`");
  return false;
}

/* Checks that vLLM's utilization is the only reserve, without a host. */
static bool share_is_whole(struct refusal *r, const struct settings *settings) {
  bool parted =
      serving_parts(&settings->infer) && settings->infer.pipeline == 1;
  if (!settings->infer.utilization || (settings->train.reserve < 0 && !parted))
    return true;
  r->setting = "utilization";
  text_printf(r->why, "`%s=` and vLLM's `utilization=` exclude each other",
              parted ? parting(&settings->infer) : "reserve");
  text_put(r->help, "use one of the two");
  return false;
}

/* Checks that named cards are the only device. */
static bool is_one_device(struct refusal *r, const struct settings *settings) {
  const struct train_settings *train = &settings->train;
  bool split = settings->infer.tensor_split == SPLIT_LIST;
  int named = split ? train->split->at[0].gpu : 0;
  if (!named || (train->gpu == named && !train->memory))
    return true;
  r->setting = "tensor_split";
  text_printf(r->why,
              "`%s=` and the cards of `tensor_split=` both name the "
              "devices",
              train->memory ? "memory" : "gpu");
  text_put(r->help,
           "use one of the two; `gpu=rtx4090 tensor_split=\"3,2\"` has "
           "equal cards");
  return false;
}

/* netc's runtime has one device. */
static bool has_devices(struct refusal *r, const struct infer_settings *infer) {
  const char *setting = infer->tensor_parallel > 1   ? "tensor_parallel"
                        : infer->expert_parallel > 1 ? "expert_parallel"
                        : serving_parts(infer)       ? parting(infer)
                                                     : NULL;
  if (infer->runtime != RUNTIME_NETRT || !setting)
    return true;
  r->setting = setting;
  text_printf(r->why, "`%s=` does not apply to netrt, which has one device",
              r->setting);
  text_put(r->help, "leave it out, or choose another `runtime=`");
  return false;
}

static bool is_possible(struct refusal *r, const struct model *model,
                        const struct settings *settings) {
  const struct infer_settings *infer = &settings->infer;
  return is_served(r, model) && can_part(r, model, infer) &&
         has_experts(r, model, infer) && is_one_device(r, settings) &&
         has_devices(r, infer) && blocks_divide(r, model, infer) &&
         step_has(r, infer) && share_is_whole(r, settings) &&
         heads_divide(r, model, infer->tensor_parallel) &&
         has_positions(r, model, infer->context);
}

bool serving_possible(const struct model *model,
                      const struct settings *settings, struct text *why,
                      struct text *help) {
  struct refusal r = {why, help, NULL};
  return is_possible(&r, model, settings);
}

/* Checks that unusually large contexts and sequences can be counted. */
static bool is_countable(const struct model *model,
                         const struct settings *settings) {
  enum { USUAL = 1 << 30 }; /* tokens in total */
  const struct infer_settings *infer = &settings->infer;
  struct arena scratch;
  struct serving_answer answer;
  struct settings same = *settings;
  struct model copy = *model;
  int64_t context = infer->context;
  if (!context &&
      !shape_count(model->nodes.at[serving_words(model)].out, &context))
    return false;
  if (context <= USUAL / max_i64(infer->sequences, 1))
    return true;
  same.train.gpu = 0;
  same.train.memory = 0; /* do not check whether it fits */
  arena_open_in(&scratch, model->arena);
  copy.arena = &scratch;
  bool counted = serving_find(&copy, &same, &scratch, false, &answer);
  arena_close(&scratch);
  return counted;
}

bool serving_check(const struct model *model, const struct settings *settings,
                   struct diags *diags) {
  struct text why = text_new(model->arena), help = text_new(model->arena);
  struct refusal r = {&why, &help, asking(&settings->infer)};
  enum slug slug = OUT_OF_RANGE;
  if (!serving_wanted(settings))
    return true;
  if (is_possible(&r, model, settings)) {
    if (is_countable(model, settings))
      return true;
    slug = TOO_LARGE;
    text_put(&why, "serving needs more than 2^63 - 1 bytes");
    text_put(&help, "use a shorter `context=` or fewer `sequences=`");
  }
  struct span place = given_infer(model, settings, r.setting);
  given_help(diag(diags, slug, place, "%.*s", SLICE_ARG(why)), place, "%.*s",
             SLICE_ARG(help));
  return false;
}
