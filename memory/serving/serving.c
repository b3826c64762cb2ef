/* Serving: weights, KV cache and steps of one of the devices. */
#include "memory/serving/serving.h"

#include <string.h>

#include "base/check.h"
#include "memory/devices/shard.h"
#include "memory/step/simulate.h"
#include "sema/model/weight_block.h"
#include "sema/model/weights.h"

static void add_layer(struct serving *s, const struct layer *layer,
                      int64_t node) {
  struct served_layer served = {.node = node,
                                .kept = layer->kind->cache(layer)};
  if (layer->kind->heads)
    served.heads = layer->kind->heads(layer);
  /* Each device has at least one head of keys. */
  int64_t share = max_i64(served.heads.keys / s->devices, 1);
  int64_t whole = max_i64(served.heads.keys, 1);
  served.kept.each = served.kept.each / whole * share;
  served.kept.values = served.kept.values / whole * share;
  if (served.kept.each > 0)
    *VEC_PUSH(s->arena, &s->layers) = served;
}

/* A state of a layer that keeps tokens, too, is the same on all devices. */
static void add_state(struct serving *s, const struct layer *layer,
                      int64_t node) {
  int64_t window, state = layer->kind->state(layer, &window);
  int64_t devices = layer->kind->cache ? 1 : s->devices;
  if (state > 0)
    *VEC_PUSH(s->arena, &s->layers) =
        (struct served_layer){.node = node,
                              .state = ceil_div_i64(state, devices),
                              .recent = ceil_div_i64(window, devices)};
}

static void find_layers(struct serving *s) {
  const struct shape **in = model_layer_room(s->model);
  for (size_t i = 0; i < s->model->nodes.count; i++) {
    struct layer layer = model_layer(s->model, (int64_t)i, in);
    if (s->model->nodes.at[i].train_only)
      continue;
    if (layer.kind->cache)
      add_layer(s, &layer, (int64_t)i);
    if (layer.kind->state)
      add_state(s, &layer, (int64_t)i);
  }
}

/* Each device has at least one head of keys and values. */
static int64_t share_of(const struct serving *s, enum weight_role role,
                        int64_t bytes) {
  int64_t keys = 0;
  for (size_t i = 0; i < s->layers.count && !keys; i++)
    keys = s->layers.at[i].heads.keys;
  if (role <= ROLE_ROUTER || role == ROLE_LATENT)
    return role == ROLE_TABLE || role == ROLE_HEAD
               ? ceil_div_i64(bytes, s->devices)
               : bytes;
  if (keys && s->roles.keys && (role == ROLE_KEY || role == ROLE_VALUE))
    return ceil_div_i64(bytes, min_i64(keys, s->devices));
  return ceil_div_i64(bytes, s->devices);
}

bool serving_weight(const struct serving *s, size_t index, int64_t *bytes) {
  const struct model_param *param = &s->model->params.at[index];
  const struct infer_settings *infer = &s->settings->infer;
  *bytes = 0;
  if (param->shared || param->buffer || param->train_only)
    return true;
  if (!weight_bytes(s->model, &s->roles, infer, index, bytes) ||
      (*bytes == WEIGHT_PLAIN &&
       !weight_block_bytes(
           infer->dtype, param->count,
           param->bias && !infer->weight_dtype ? param->count : 0, bytes)))
    return false;
  if (s->whole_tower && s->roles.at[index].tower)
    return true;
  int64_t experts = s->experts[index], degree = infer->expert_parallel;
  if (experts && degree > 1) /* whole experts, of some devices one more */
    *bytes = *bytes / experts * ceil_div_i64(experts, degree);
  else
    *bytes = share_of(s, s->roles.at[index].role, *bytes);
  return true;
}

/* Finds the head; nodes after it process few tokens. */
static void find_head(struct serving *s) {
  const struct model *model = s->model;
  s->head = (int64_t)model->nodes.count;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->param_count; k++)
      if (s->roles.at[node->first_param + (size_t)k].role == ROLE_HEAD)
        s->head = (int64_t)i;
  }
}

/* Activations */

enum { EXTENTS = KEPT_COUNT + 2 }; /* per operation */

static struct extent *extent_at(struct op_facts *facts, int i) {
  return i < KEPT_COUNT    ? &facts->kept[i]
         : i == KEPT_COUNT ? &facts->work
                           : &facts->back_work;
}

/* Keeps the traced sizes, because each simulation changes them. */
static void keep_extents(struct serving *s) {
  struct tape *tape = &s->trace.tape;
  s->values = arena_alloc(s->arena, tape->values.count + 1, sizeof *s->values);
  s->storages =
      arena_alloc(s->arena, tape->storages.count + 1, sizeof *s->storages);
  s->extents =
      arena_alloc(s->arena, tape->ops.count * EXTENTS + 1, sizeof *s->extents);
  s->recorded = tape->extents.count;
  for (size_t i = 0; i < tape->extents.count; i++)
    s->meets = s->meets || tape->extents.at[i].meets;
  for (size_t i = 0; i < tape->values.count; i++)
    s->values[i] = tape->values.at[i].extent;
  for (size_t i = 0; i < tape->storages.count; i++)
    s->storages[i] = tape->storages.at[i].extent;
  s->facts = arena_alloc(s->arena, tape->ops.count + 1, sizeof *s->facts);
  for (size_t i = 0; i < tape->ops.count; i++) {
    s->facts[i] = tape_own_facts(tape, i);
    for (int k = 0; k < EXTENTS; k++) {
      s->extents[i * EXTENTS + (size_t)k] = *extent_at(s->facts[i], k);
      s->meets = s->meets || extent_at(s->facts[i], k)->meets;
    }
  }
}

/*
 * Scales a traced extent to the step. Values that do not depend on the tokens
 * belong to an encoder and have their traced size per sequence. Values that are
 * not `there`, where the step is simulated, need nothing.
 */
static bool scale(const struct serving *s, int64_t node, bool there, bool after,
                  const struct extent *was, struct extent *is) {
  const struct served_step *step = &s->last;
  int64_t rows = node >= s->head ? step->ends : step->rows, count;
  *is = *was;
  if (!there)
    is->count = 0;
  if (!there || (was->fixed && !was->meets) || !was->count)
    return true;
  if (!after)
    return mul_i64(was->count, step->sources, &is->count);
  if (!mul_i64(was->count, rows, &count))
    return false;
  is->count = ceil_div_i64(count, s->words);
  if (!was->meets)
    return true;
  if (!mul_i64(is->count, step->context, &count))
    return false;
  is->count = ceil_div_i64(count, s->words);
  return true;
}

/* Index of the scaled extent on the tape. */
static uint32_t scaled(struct serving *s, uint32_t storage, bool after,
                       uint32_t was, bool *fits) {
  struct tape *tape = &s->trace.tape;
  struct extent is;
  *fits = scale(s, tape->storages.at[storage].node,
                !s->parted || s->reaches[s->at][storage], after,
                &tape->extents.at[was], &is) &&
          *fits;
  return tape_keep_extent(tape, is);
}

static bool scale_all(struct serving *s) {
  struct tape *tape = &s->trace.tape;
  bool fits = true;
  tape->extents.count = s->recorded; /* removes those of the last simulation */
  for (size_t i = 0; i < tape->values.count; i++) {
    struct tape_value *value = &tape->values.at[i];
    value->extent = scaled(s, value->storage, !s->after || s->values_after[i],
                           s->values[i], &fits);
  }
  for (size_t i = 0; i < tape->storages.count; i++)
    tape->storages.at[i].extent =
        scaled(s, (uint32_t)i, !s->after || s->storages_after[i],
               s->storages[i], &fits);
  for (size_t i = 0; i < tape->ops.count; i++) {
    bool after = !s->after || s->values_after[tape->ops.at[i].first_out];
    bool there = serving_place(s, tape->ops.at[i].node) == s->at;
    for (int k = 0; k < EXTENTS; k++)
      fits = scale(s, tape->ops.at[i].node, there, after,
                   &s->extents[i * EXTENTS + (size_t)k],
                   extent_at(s->facts[i], k)) &&
             fits;
  }
  return fits;
}

static int64_t simulate_step(struct serving *s, struct served_step step) {
  struct arena scratch;
  struct simulation run = {.arena = &scratch,
                           .trace = &s->trace,
                           .model = s->model,
                           .batch = 1,
                           .element = s->settings->infer.dtype};
  s->last = step;
  if (!scale_all(s))
    return INT64_MAX;
  arena_open_in(&scratch, s->arena);
  simulate(&run);
  arena_close(&scratch);
  return run.overflow ? INT64_MAX : run.forward.bytes;
}

static bool same_step(struct served_step a, struct served_step b) {
  return a.rows == b.rows && a.ends == b.ends && a.sources == b.sources &&
         a.context == b.context;
}

int64_t serving_step(struct serving *s, enum served_place place,
                     struct served_step step) {
  uint64_t key = (uint64_t)step.rows * 7 + (uint64_t)step.ends +
                 (uint64_t)step.context * 5;
  struct known_step *known =
      &s->known[(key * 2 + (uint64_t)place) % KNOWN_STEPS];
  s->at = place;
  if (known->bytes < 0 || known->place != place ||
      !same_step(known->step, step))
    *known = (struct known_step){step, place, simulate_step(s, step)};
  return known->bytes;
}

/* For a net with an encoder, finds the values that depend on the tokens. */
static void part_source(struct serving *s, int64_t words) {
  const struct tape *tape = &s->trace.tape;
  if (s->model->predicted_sources < 2)
    return;
  s->after = serving_after(s->model, words, s->arena);
  s->whole_tower = serving_tower_is_whole(s->model, s->devices);
  s->values_after = serving_values_after(&s->trace, words, s->arena);
  s->storages_after =
      arena_alloc(s->arena, tape->storages.count + 1, sizeof(bool));
  for (size_t i = 0; i < tape->values.count; i++)
    s->storages_after[tape->values.at[i].storage] |= s->values_after[i];
}

/* Shards the layers as one of the devices runs them. */
static void share_layers(struct serving *s) {
  struct train_settings train = s->settings->train;
  struct shards shards;
  train.tensor_parallel = s->devices;
  train.sequence_parallel = TOGGLE_OFF;
  train.context_parallel = train.expert_parallel = 1;
  for (size_t i = 0; i < s->trace.tape.ops.count && s->whole_tower; i++)
    if (!s->after[s->trace.tape.ops.at[i].node])
      tape_own_facts(&s->trace.tape, i)->splits = false;
  shard_trace(&s->trace, s->model, &train, &shards, s->arena);
}

/*
 * vLLM's stages have equally many layers; of a remainder, the stages before the
 * last have one more each (vllm/distributed/utils.py, get_pp_indices).
 */
static void find_stages(struct serving *s) {
  int64_t stages = s->cards, layers = s->blocks - 1, sum = 0;
  for (int i = 0; i < stages; i++) {
    sum +=
        layers / stages + (i < stages - 1 && i >= stages - 1 - layers % stages);
    s->ends[i] = i < stages - 1 ? (double)sum / (double)s->blocks : 1;
  }
}

/* Shares as given, or by the memory of the cards, as llama.cpp does. */
static void find_shares(struct serving *s) {
  const struct split_list *split = s->settings->train.split;
  double sum = 0;
  for (int i = 0; i < s->cards; i++) {
    int64_t share = split->at[i].share;
    sum += (double)(share ? share : serving_device(s->settings, i).room);
    s->ends[i] = sum;
  }
  for (int i = 0; i < s->cards; i++)
    s->ends[i] /= sum;
}

static void find_places(struct serving *s) {
  const struct infer_settings *infer = &s->settings->infer;
  s->cards = 1;
  s->parted = serving_parts(infer);
  if (!s->parted)
    return;
  s->slot = arena_alloc(s->arena, s->model->nodes.count + 1, sizeof *s->slot);
  s->blocks = serving_layers(s->model, s->arena, s->slot);
  s->staged = infer->pipeline > 1;
  if (s->staged) {
    s->cards = (int)infer->pipeline;
    find_stages(s);
  } else if (infer->tensor_split == SPLIT_LIST) {
    s->cards = s->settings->train.split->count;
    find_shares(s);
  }
}

static void find_experts(struct serving *s) {
  const struct model *model = s->model;
  s->experts =
      arena_alloc(s->arena, model->params.count + 1, sizeof *s->experts);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->param_count && node->copies > 1; k++)
      s->experts[node->first_param + (size_t)k] = node->copies;
  }
}

bool serving_open(const struct model *model, const struct settings *settings,
                  struct arena *arena, struct serving *s) {
  struct profile *profile = ARENA_NEW(arena, struct profile);
  struct trace_options options = {.profile = profile,
                                  .attention = settings->infer.attention,
                                  .element = settings->infer.dtype,
                                  .in_place =
                                      settings->train.inplace == TOGGLE_ON};
  *profile = *profile_at(settings->train.profile);
  profile->fused_attention = true;
  profile->fused_steps = settings->infer.runtime != RUNTIME_PYTORCH;
  *s = (struct serving){.model = model,
                        .settings = settings,
                        .arena = arena,
                        .devices = settings->infer.tensor_parallel};
  int64_t words = serving_words(model);
  weight_roles_find(model, arena, &s->roles);
  find_places(s);
  find_experts(s);
  find_layers(s);
  find_head(s);
  s->words = serving_length(model);
  trace_model(&s->trace, model, &options, arena);
  part_source(s, words);
  if (s->devices > 1)
    share_layers(s);
  keep_extents(s);
  return serving_put(s, settings->infer.gpu_layers < 0
                            ? s->blocks
                            : settings->infer.gpu_layers);
}

int64_t serving_scores(const struct serving *s) {
  const struct model *model = s->model;
  int64_t last = model->outputs.at[model->predicted_outputs - 1].node;
  bool scores = s->head < (int64_t)model->nodes.count;
  return shape_channels(model->nodes.at[scores ? s->head : last].out);
}

int64_t serving_sampler(const struct serving *s, enum served_place place,
                        int64_t sequences) {
  const struct infer_settings *infer = &s->settings->infer;
  int64_t count, scores, copies;
  int64_t last = (int64_t)s->model->nodes.count - 1;
  if (!infer->sampler || serving_place(s, min_i64(s->head, last)) != place)
    return 0;
  return mul_i64(serving_scores(s), sequences, &count) &&
                 element_bytes(infer->dtype, count, &scores) &&
                 mul_i64(count, sampler_bytes(s->settings), &copies) &&
                 add_i64(scores, copies, &scores)
             ? scores
             : INT64_MAX;
}

/* KV cache */

static int64_t whole_blocks(const struct serving *s, int64_t positions) {
  int64_t page = serving_page(&s->settings->infer);
  return ceil_div_i64(positions, page) * page;
}

/* Tokens of a context that a layer keeps. */
static int64_t kept_tokens(const struct serving *s,
                           const struct served_layer *layer, int64_t context) {
  const struct infer_settings *infer = &s->settings->infer;
  int64_t all = whole_blocks(s, context);
  int64_t window = layer->kept.window;
  if (layer->kept.source)
    return whole_blocks(s, layer->kept.source);
  if (!window)
    return all;
  if (serving_is_llama_cpp(s))
    return min_i64(all, whole_blocks(s, window + infer->ubatch));
  /* The window may begin anywhere in a block. A prefill chunk keeps the tokens
   * of its first position until it has run. */
  window = whole_blocks(s, window - 1 + infer->prefill) + infer->page;
  return min_i64(all, window + whole_blocks(s, infer->sinks));
}

int64_t serving_vectors(const struct serving *s,
                        const struct served_layer *layer, int64_t context) {
  return ceil_div_i64(kept_tokens(s, layer, context),
                      max_i64(layer->kept.rate, 1));
}

static bool is_at(const struct serving *s, size_t layer,
                  enum served_place place) {
  return serving_place(s, s->layers.at[layer].node) == place;
}

/* llama.cpp: recurrent_type_r and _s of llama_model::create_memory. */
int serving_state_type(const struct serving *s) {
  const struct infer_settings *infer = &s->settings->infer;
  return infer->state_dtype        ? infer->state_dtype
         : serving_is_llama_cpp(s) ? (int)ELEMENT_F32
                                   : infer->dtype;
}

int serving_window_type(const struct serving *s) {
  return serving_is_llama_cpp(s) ? (int)ELEMENT_F32 : s->settings->infer.dtype;
}

int64_t serving_states(const struct serving *s, enum served_place place) {
  int64_t states = 0, recent = 0, bytes, more;
  for (size_t i = 0; i < s->layers.count; i++)
    if (is_at(s, i, place) &&
        !(add_i64(states, s->layers.at[i].state, &states) &&
          add_i64(recent, s->layers.at[i].recent, &recent)))
      return INT64_MAX;
  return element_bytes(serving_state_type(s), states, &bytes) &&
                 element_bytes(serving_window_type(s), recent, &more) &&
                 add_i64(bytes, more, &bytes)
             ? bytes
             : INT64_MAX;
}

/* The parts of the KV cache that count. */
enum cache_part { KEPT_ALL, KEPT_OF_SOURCE, KEPT_READ };

/* Keys and values of a layer on the device; false if they pass 2^63 - 1. A
 * decode step reads the indexer's keys of all tokens, and the chosen tokens. */
static bool add_kept(const struct serving *s, const struct served_layer *layer,
                     int64_t context, enum cache_part part, int64_t *keys,
                     int64_t *values) {
  const struct cache_terms *kept = &layer->kept;
  int64_t vectors = serving_vectors(s, layer, context);
  int64_t read =
      part == KEPT_READ && kept->top ? min_i64(kept->top, vectors) : vectors;
  int64_t mine = size_product(kept->each - kept->values, read);
  mine = size_sum(mine, size_product(kept->index, vectors - read));
  return add_i64(*keys, mine, keys) &&
         add_i64(*values, size_product(kept->values, read), values);
}

static int64_t kept_bytes(const struct serving *s, enum served_place place,
                          int64_t context, enum cache_part kept) {
  int64_t keys = 0, values = 0, bytes;
  for (size_t i = 0; i < s->layers.count; i++) {
    const struct served_layer *layer = &s->layers.at[i];
    if (!layer->kept.each || !is_at(s, i, place) ||
        (kept == KEPT_OF_SOURCE && !layer->kept.source))
      continue;
    if (!add_kept(s, layer, context, kept, &keys, &values))
      return INT64_MAX;
  }
  return cache_bytes(&s->settings->infer, keys, values, &bytes) ? bytes
                                                                : INT64_MAX;
}

int64_t serving_source(const struct serving *s, enum served_place place) {
  return kept_bytes(s, place, 0, KEPT_OF_SOURCE);
}

int64_t serving_cache(const struct serving *s, enum served_place place,
                      int64_t context) {
  return size_sum(kept_bytes(s, place, context, KEPT_ALL),
                  serving_states(s, place));
}

int64_t serving_read(const struct serving *s, enum served_place place,
                     int64_t context) {
  return size_sum(kept_bytes(s, place, context, KEPT_READ),
                  serving_states(s, place));
}

struct served_step serving_prompt(const struct serving *s, int64_t context,
                                  int64_t sequences) {
  const struct infer_settings *infer = &s->settings->infer;
  struct served_step step = {.rows = context,
                             .ends = 1,
                             .sources = 1,
                             .context = s->meets ? context : 0};
  if (infer->prefill) { /* both are at most 2^30 */
    step.rows =
        max_i64(min_i64(infer->prefill, context * sequences), sequences);
    step.ends = sequences;
  }
  if (infer->scores == SCORES_ALL)
    step.ends = step.rows;
  return step;
}

struct served_step serving_decoding(const struct serving *s, int64_t context,
                                    int64_t sequences) {
  return (struct served_step){
      .rows = sequences, .ends = sequences, .context = s->meets ? context : 0};
}
