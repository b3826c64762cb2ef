/* attention: parameters, MACs and KV cache. */
#include <string.h>

#include "base/check.h"
#include "layers/sequence/attention.h"

/* True if the projection has a bias: all have one, or those of `bias=`. */
static bool has_bias(const struct attention *attention, int projection) {
  projection %= PROJECTION_JOINT;
  struct slice letters = word_at(ATTENTION_BIASES, attention->biases);
  return !attention->nobias && !slice_is(letters, "none") &&
         memchr(letters.at, "qkvo"[projection], letters.length);
}

static bool is_adapted(const struct attention *attention, int projection) {
  projection %= PROJECTION_JOINT;
  if (!attention->lora.rank)
    return false;
  return (projection != PROJECTION_KEY || attention->adapted == LORA_QKV ||
          attention->adapted == LORA_QKVO) &&
         (projection != PROJECTION_OUT || attention->adapted == LORA_QKVO);
}

/* True if keys and values come from another tensor. */
static bool crosses(const struct layer *layer) {
  return attention_keys(layer->args) && !attention_is_joint(layer->args);
}

/* Merges the projection `from` into the matrix of `to`. */
static void pack(struct projection *to, struct projection *from) {
  if (!add_i64(to->out, from->out, &to->out) ||
      !add_i64(to->biases, from->biases, &to->biases))
    to->out = INT64_MAX; /* reported as an overflow later */
  to->adapted = to->adapted || from->adapted;
  from->out = from->biases = 0;
}

void attention_projections(const struct layer *layer,
                           struct projection projections[PROJECTIONS]) {
  const struct attention *attention = layer->args;
  struct attention_sizes s = attention_sizes(layer);
  bool joint = attention_is_joint(attention);
  int64_t seen = joint ? s.channels : s.key_channels;
  const int64_t in[PROJECTIONS] = {
      s.channels,    seen,           joint ? seen : s.value_channels,
      s.value_width, s.key_channels, s.key_channels,
      s.key_channels};
  bool gated = attention->gate == ATTENTION_GATE_CHANNELS;
  int64_t asks = attention->noqueries ? 0 : s.width;
  const int64_t out[PROJECTIONS] = {size_product(asks, gated ? 2 : 1),
                                    s.kv_width,
                                    attention->novalues ? 0 : s.kv_value_width,
                                    attention->noout || joint ? 0 : s.out,
                                    joint ? s.width : 0,
                                    joint ? s.kv_width : 0,
                                    joint ? s.kv_width : 0};
  int next = 0;
  for (int i = 0; i < PROJECTIONS; i++)
    projections[i] =
        (struct projection){.in = in[i],
                            .out = out[i],
                            .biases = has_bias(attention, i) ? out[i] : 0,
                            .adapted = is_adapted(attention, i)};
  if (attention_is_packed(attention)) {
    int first = crosses(layer) ? PROJECTION_KEY : PROJECTION_QUERY;
    for (int i = first + 1; i < PROJECTION_OUT; i++)
      pack(&projections[first], &projections[i]);
    for (int i = PROJECTION_JOINT + 1; i < PROJECTIONS; i++)
      pack(&projections[PROJECTION_JOINT], &projections[i]);
    if (attention->adapted == LORA_PADDED) /* < out, which is checked */
      projections[first].padded = projections[first].out - s.kv_width;
  }
  for (int i = 0; i < PROJECTIONS; i++) {
    struct projection *p = &projections[i];
    p->first = next;
    p->count = p->out == 0 ? 0 : p->biases ? 2 : 1;
    p->adapted = p->adapted && p->out;
    next += p->count + (p->adapted ? lora_count(&attention->lora) : 0);
  }
}

/* Norms of queries and keys of each stream. */
static int norm_count(const struct attention *attention) {
  return attention_is_joint(attention) ? 4 : 2;
}

static bool norm_has_bias(const struct attention *attention) {
  return attention->qknorm != QKLN_OWN &&
         !attention_norm_is_rms(attention->qknorm);
}

struct attention_places attention_places(const struct layer *layer) {
  const struct attention *attention = layer->args;
  struct attention_places places = {-1, {-1, -1, -1, -1}, {-1, -1}, -1, -1};
  struct projection all[PROJECTIONS];
  attention_projections(layer, all);
  const struct projection *last = &all[PROJECTIONS - 1];
  int next = last->first + last->count +
             (last->adapted ? lora_count(&attention->lora) : 0);
  if (attention->relative.rank)
    places.relative = next++;
  for (int i = attention->noqueries;
       attention->qknorm && i < norm_count(attention); i++) {
    places.norm[i] = next;
    next += norm_has_bias(attention) ? 2 : 1;
  }
  for (int i = 0; attention->talking && i < 2; i++) {
    places.talk[i] = next;
    next += 2;
  }
  if (attention->sinks)
    places.sinks = next++;
  if (attention->gate == ATTENTION_GATE_HEADS)
    places.gate = next;
  return places;
}

/* One bias for each head and distance of two positions. */
static void relative_params(const struct attention *attention,
                            struct params *params) {
  const struct sizes *window = &attention->relative;
  struct param table = {.name = "relative_position_bias_table",
                        .rank = window->rank + 1,
                        .order = FILE_FLAT,
                        .spread = 0.1};
  for (int i = 0; i < window->rank; i++)
    table.dim[i] = 2 * window->at[i] - 1;
  table.dim[window->rank] = attention->heads;
  if (window->rank)
    params_add(params, table);
}

/*
 * torch.nn.MultiheadAttention keeps queries, keys and values in one tensor,
 * even if they come from two inputs: `packed`. Separate projections have the
 * names of fairseq and of transformers' BART; those of the other stream of
 * `joint` have diffusers' names.
 */
static void name_projection(const struct layer *layer, int which,
                            const struct projection all[PROJECTIONS],
                            struct param *weight, struct param *bias) {
  static const char *const names[PROJECTIONS][2] = {
      {"q_proj.weight", "q_proj.bias"},
      {"k_proj.weight", "k_proj.bias"},
      {"v_proj.weight", "v_proj.bias"},
      {"out_proj.weight", "out_proj.bias"},
      {"add_q_proj.weight", "add_q_proj.bias"},
      {"add_k_proj.weight", "add_k_proj.bias"},
      {"add_v_proj.weight", "add_v_proj.bias"}};
  const struct attention *attention = layer->args;
  const struct projection *q = &all[PROJECTION_QUERY];
  const struct projection *k = &all[PROJECTION_KEY];
  bool packed = attention_is_packed(attention) && which != PROJECTION_OUT;
  weight->name = names[which][0];
  bias->name = names[which][1];
  if (packed && which == PROJECTION_JOINT) {
    weight->name = "add_qkv_proj.weight";
    bias->name = "add_qkv_proj.bias";
  } else if (packed && q->in == k->in) {
    weight->name = "in_proj_weight";
    bias->name = "in_proj_bias";
  } else if (packed && which == PROJECTION_KEY) {
    weight->name = "kv_proj.weight";
    bias->name = "kv_proj.bias";
  }
  if (packed && crosses(layer) && q->in == k->in) {
    if (!add_i64(q->out, k->out, &weight->rows) ||
        !add_i64(q->biases, k->biases, &bias->rows))
      weight->rows = INT64_MAX; /* reported as an overflow later */
    weight->first = which == PROJECTION_KEY ? q->out : 0;
    bias->first = which == PROJECTION_KEY ? q->biases : 0;
  }
}

/* Norms of each head, or of all heads: names of Qwen3 and OLMo 2. */
static void norm_params(const struct layer *layer, struct params *params) {
  static const char *const names[4][2] = {
      {"q_norm.weight", "q_norm.bias"},
      {"k_norm.weight", "k_norm.bias"},
      {"norm_added_q.weight", "norm_added_q.bias"},
      {"norm_added_k.weight", "norm_added_k.bias"}};
  const struct attention *attention = layer->args;
  struct attention_sizes s = attention_sizes(layer);
  bool all =
      attention_norm_is_all(attention->qknorm) || attention->qknorm == QKLN_OWN;
  for (int i = attention->noqueries;
       attention->qknorm && i < norm_count(attention); i++) {
    int64_t features = !all ? s.dim : i % 2 ? s.kv_width : s.width;
    params_add_vector(params, names[i][0], features, 1, 0);
    if (norm_has_bias(attention))
      params_add_vector(params, names[i][1], features, 0, 0);
  }
}

/* Names of CaiT, gpt-oss and Step 3.5. */
static void head_params(const struct layer *layer, struct params *params) {
  const struct attention *attention = layer->args;
  static const char *const names[2][2] = {{"proj_l.weight", "proj_l.bias"},
                                          {"proj_w.weight", "proj_w.bias"}};
  int64_t heads = attention->heads;
  for (int i = 0; attention->talking && i < 2; i++) {
    params_add_matrix(params, names[i][0], heads, heads);
    params_add_vector(params, names[i][1], heads, 0, spread_bias(heads));
  }
  if (attention->sinks)
    params_add_vector(params, "sinks", heads, 0, 1);
  if (attention->gate == ATTENTION_GATE_HEADS)
    params_add_matrix(params, "g_proj.weight", shape_channels(layer->in[0]),
                      heads);
}

/* Name of the weights' module; a packed projection is in the layer itself. */
static const char *adapter_prefix(const struct layer *layer, int which,
                                  const struct param *weight) {
  static const char *const names[PROJECTIONS] = {
      "q_proj.",     "k_proj.",     "v_proj.",    "out_proj.",
      "add_q_proj.", "add_k_proj.", "add_v_proj."};
  if (strcmp(weight->name, "add_qkv_proj.weight") == 0)
    return "add_qkv_proj.";
  if (strcmp(weight->name, "in_proj_weight") != 0)
    return strcmp(weight->name, "kv_proj.weight") == 0 ? "kv_proj."
                                                       : names[which];
  if (!crosses(layer))
    return "";
  return which == PROJECTION_QUERY ? "q_proj." : "kv_proj.";
}

/* With lora, only A and B are trained. */
void attention_params(const struct layer *layer, struct params *params) {
  const struct attention *attention = layer->args;
  size_t first = params->all.count;
  struct projection all[PROJECTIONS];
  attention_projections(layer, all);
  for (int i = 0; i < PROJECTIONS; i++) {
    const struct projection *p = &all[i];
    struct param weight = {.rank = 2,
                           .dim = {p->in, p->out},
                           .order = FILE_OUT_FIRST,
                           .narrow = true,
                           .spread = spread_linear(p->in)};
    struct param bias = {
        .rank = 1, .dim = {p->biases}, .spread = spread_bias(p->in)};
    name_projection(layer, i, all, &weight, &bias);
    size_t place = params->all.count;
    if (p->count > 0)
      params_add(params, weight);
    if (p->count > 1)
      params_add(params, bias);
    if (p->padded && p->adapted)
      lora_padded_params(params, p->in, p->padded, &attention->lora, place);
    else if (p->adapted)
      lora_params(params, p->in, p->out, &attention->lora, place,
                  adapter_prefix(layer, i, &weight));
  }
  relative_params(layer->args, params);
  norm_params(layer, params);
  head_params(layer, params);
  for (size_t i = first; attention->lora.rank && i < params->all.count; i++)
    params->all.at[i].fixed = !params->all.at[i].adapter;
}

static void product(struct terms *terms, int64_t groups, int64_t rows,
                    int64_t from, int64_t to) {
  terms_add(terms, (struct term){.factor = {groups, rows, from, to},
                                 .count = 4,
                                 .split = 2});
}

/* MACs of lora for each adapted projection. */
static void adapter_macs(const struct layer *layer,
                         const struct attention_sizes *s, struct terms *terms) {
  const struct attention *attention = layer->args;
  struct projection all[PROJECTIONS];
  attention_projections(layer, all);
  for (int i = 0; i < PROJECTIONS; i++) {
    bool asks = i == PROJECTION_QUERY || i == PROJECTION_OUT ||
                attention_is_joint(attention);
    int64_t rows = i >= PROJECTION_JOINT ? s->joined
                   : asks                ? s->queries - s->joined
                                         : s->keys;
    if (!all[i].adapted)
      continue;
    product(terms, s->groups, rows, all[i].in,
            size_product(attention->lora.rank, all[i].padded ? 2 : 1));
    product(terms, s->groups, rows, attention->lora.rank,
            all[i].padded ? all[i].padded : all[i].out);
  }
}

/* Projections, then scores and weighted sums of all heads. */
void attention_macs(const struct layer *layer, struct terms *terms) {
  const struct attention *attention = layer->args;
  struct attention_sizes s = attention_sizes(layer);
  int64_t seen = s.keys, own = s.queries - s.joined;
  bool joint = attention_is_joint(attention);
  if (attention->window)
    seen = min_i64(seen, attention_behind(attention) + 1 +
                             attention_ahead(attention));
  if (attention->indextop)
    seen = min_i64(seen, attention->indextop);
  int64_t read = joint ? own : s.keys;
  int64_t width = joint ? s.channels : s.key_channels;
  bool gated = attention->gate == ATTENTION_GATE_CHANNELS;
  if (!attention->noqueries)
    product(terms, s.groups, own, s.channels,
            size_product(s.width, gated ? 2 : 1));
  if (attention->gate == ATTENTION_GATE_HEADS)
    product(terms, s.groups, own, s.channels, s.heads);
  product(terms, s.groups, read, width, s.kv_width);
  if (!attention->novalues)
    product(terms, s.groups, read, joint ? width : s.value_channels,
            s.kv_value_width);
  if (joint) {
    product(terms, s.groups, s.joined, s.key_channels, s.width);
    product(terms, s.groups, s.joined, s.key_channels, s.kv_width);
    product(terms, s.groups, s.joined, s.key_channels, s.kv_width);
  }
  product(terms, s.groups, s.queries, s.width, seen);
  product(terms, s.groups, s.queries, seen, s.value_width);
  if (!attention->noout && !joint)
    product(terms, s.groups, s.queries, s.value_width, s.out);
  if (attention->talking) {
    product(terms, s.groups, size_product(s.queries, seen), s.heads, s.heads);
    product(terms, s.groups, size_product(s.queries, seen), s.heads, s.heads);
  }
  adapter_macs(layer, &s, terms);
}

/*
 * Causal attention keeps the positions of the context, at most a window, also
 * if the keys are those of another tensor at the same positions (DeepSeek-V4).
 * Cross-attention keeps all: each query has its own window in them.
 */
struct cache_terms attention_cache(const struct layer *layer) {
  const struct attention *attention = layer->args;
  struct attention_sizes s = attention_sizes(layer);
  bool apart = crosses(layer) && !(attention->causal && s.keys == s.queries);
  struct cache_terms kept = {
      .values =
          attention->shared ? 0 : size_product(s.groups, s.kv_value_width),
      .window = apart ? 0 : attention->window,
      .source = apart ? s.keys : 0,
      .joined = s.joined,
      .top = attention->indextop};
  if (attention->uncached || (!apart && !attention->causal))
    return (struct cache_terms){0};
  kept.each = size_sum(size_product(s.groups, s.kv_width), kept.values);
  return kept;
}

struct head_counts attention_head_counts(const struct layer *layer) {
  struct attention_sizes s = attention_sizes(layer);
  return (struct head_counts){.queries = s.heads, .keys = s.kv};
}
