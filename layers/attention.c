/* attention: every position looks at every other, by several heads. */
#include "layers/attention.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"

enum { BIASES_QKVO, BIASES_QVO, BIASES_QKV };
enum { LORA_QV = 1, LORA_QKV, LORA_QKVO };

static const struct arg_spec attention_specs[] = {
    {.name = "heads",
     .type = TYPE_INT,
     .place = PLACE_POSITION,
     .required = true,
     .offset = offsetof(struct attention, heads),
     .min = 1,
     .doc = "heads of the queries"},
    {.name = "causal",
     .type = TYPE_WORDS,
     .place = PLACE_WORD,
     .words = "causal",
     .offset = offsetof(struct attention, causal),
     .doc = "no position sees later ones"},
    {.name = "kv",
     .type = TYPE_INT,
     .place = PLACE_KEY,
     .offset = offsetof(struct attention, kv),
     .min = 1,
     .fallback = "heads",
     .doc = "heads of keys and values, each shared by heads / kv queries"},
    {.name = "dim",
     .type = TYPE_INT,
     .place = PLACE_KEY,
     .offset = offsetof(struct attention, dim),
     .min = 1,
     .fallback = "channels / heads",
     .doc = "features of one head"},
    {.name = "window",
     .type = TYPE_INT,
     .place = PLACE_KEY,
     .offset = offsetof(struct attention, window),
     .min = 1,
     .fallback = "all",
     .doc = "latest positions that each one sees"},
    {.name = "cross",
     .type = TYPE_INPUT,
     .place = PLACE_KEY,
     .offset = offsetof(struct attention, cross),
     .doc = "looks at the tensor of that label instead of its input"},
    {.name = "relative",
     .type = TYPE_SIZES,
     .place = PLACE_KEY,
     .offset = offsetof(struct attention, relative),
     .min = 1,
     .fallback = "none",
     .doc = "learned bias by relative position in windows of this size"},
    {.name = "rope",
     .type = TYPE_WORDS,
     .place = PLACE_WORD,
     .words = "rope",
     .offset = offsetof(struct attention, rope),
     .doc = "turns queries and keys by their position"},
    {.name = "dropout",
     .type = TYPE_REAL,
     .place = PLACE_KEY,
     .offset = offsetof(struct attention, dropout),
     .low = 0,
     .high = 1,
     .fallback = "0",
     .doc = "share of the attention weights that is dropped"},
    {.name = "nobias",
     .type = TYPE_WORDS,
     .place = PLACE_WORD,
     .words = "nobias",
     .offset = offsetof(struct attention, nobias),
     .doc = "projections without biases"},
    {.name = "bias",
     .type = TYPE_CHOICE,
     .place = PLACE_KEY,
     .words = "qkvo qvo qkv",
     .offset = offsetof(struct attention, biases),
     .initial = 1,
     .fallback = "qkvo",
     .doc = "which of the four projections have biases"},
    {.name = "packed",
     .type = TYPE_WORDS,
     .place = PLACE_WORD,
     .words = "packed",
     .offset = offsetof(struct attention, packed),
     .doc = "one matrix for queries, keys and values: the same counts"},
    {.name = "kernel",
     .type = TYPE_WORDS,
     .place = PLACE_WORD,
     .words = "fused naive",
     .offset = offsetof(struct attention, kernel),
     .fallback = "the profile's",
     .doc = "whether the attention weights are ever stored"},
    LORA_SPECS(attention, lora),
    {.name = "lora_on",
     .type = TYPE_CHOICE,
     .place = PLACE_KEY,
     .words = "qv qkv qkvo",
     .offset = offsetof(struct attention, adapted),
     .initial = 1,
     .fallback = "qv",
     .doc = "the projections that have them"},
    SPEC_END};

struct attention_sizes attention_sizes(const struct layer *layer) {
  const struct attention *attention = layer->args;
  const struct shape *in = layer->in[0];
  const struct shape *seen = layer->in[layer->input_count - 1];
  struct attention_sizes s = {
      .groups = 1,
      .queries = in->dim[in->rank - 2],
      .keys = seen->dim[seen->rank - 2],
      .channels = shape_channels(in),
      .key_channels = shape_channels(seen),
      .heads = attention->heads,
      .kv = attention->kv ? attention->kv : attention->heads,
  };
  for (int i = 0; i < in->rank - 2; i++)
    s.groups *= in->dim[i]; /* a part of the input's count: no overflow */
  s.dim = attention->dim ? attention->dim : s.channels / s.heads;
  if (!mul_i64(s.dim, s.heads, &s.width) || !mul_i64(s.dim, s.kv, &s.kv_width))
    s.width = s.kv_width = INT64_MAX; /* counted as an overflow later */
  return s;
}

static bool check_sequence(struct layer *layer) {
  for (int i = 0; i < layer->input_count; i++) {
    if (layer->in[i]->rank >= 2)
      continue;
    struct diagnostic *d =
        layer_fail(layer, WRONG_RANK, i ? "cross" : NULL,
                   "attention needs a sequence (LxC), not %s",
                   shape_text(layer->in[i]).text);
    diag_help(d, "a vector has one position only; `reshape 1x_` makes a "
                 "sequence of it");
    return false;
  }
  return true;
}

static bool check_heads(struct layer *layer, const struct attention_sizes *s) {
  const struct attention *attention = layer->args;
  if (!attention->dim && s->channels % s->heads != 0) {
    struct diagnostic *d =
        layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "heads",
                   "%" PRId64 " heads do not divide %" PRId64 " channels",
                   s->heads, s->channels);
    diag_help(d,
              "a number of heads that divides %" PRId64
              ", or the features of a head by `dim=`",
              s->channels);
    return false;
  }
  if (s->heads % s->kv != 0) {
    struct diagnostic *d =
        layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "kv",
                   "%" PRId64 " heads of keys and values do not divide %" PRId64
                   " heads of queries",
                   s->kv, s->heads);
    diag_help(d, "each head of keys and values serves the same number of "
                 "heads of queries");
    return false;
  }
  return true;
}

static bool check_cross(struct layer *layer) {
  if (layer->input_count == 1)
    return true;
  const struct shape *in = layer->in[0], *seen = layer->in[1];
  bool same = in->rank == seen->rank;
  for (int i = 0; same && i < in->rank - 2; i++)
    same = in->dim[i] == seen->dim[i];
  if (same)
    return true;
  struct diagnostic *d =
      layer_fail(layer, SHAPE_MISMATCH, "cross", "cannot attend from %s to %s",
                 shape_text(in).text, shape_text(seen).text);
  diag_help(d, "all axes before the last two must be equal");
  return false;
}

static bool check_rope(struct layer *layer, const struct attention_sizes *s) {
  const struct attention *attention = layer->args;
  if (!attention->rope || s->dim % 2 == 0)
    return true;
  struct diagnostic *d = layer_fail(
      layer, OUT_OF_RANGE, "rope",
      "rope turns pairs of features, but a head has %" PRId64, s->dim);
  diag_help(d, "another number of heads, or `dim=`");
  return false;
}

static bool check_relative(struct layer *layer,
                           const struct attention_sizes *s) {
  const struct sizes *window =
      &((const struct attention *)layer->args)->relative;
  int64_t positions = 1;
  bool fits = true;
  for (int i = 0; i < window->rank; i++)
    fits = fits && mul_i64(positions, window->at[i], &positions);
  if (!window->rank ||
      (fits && positions == s->keys && positions == s->queries))
    return true;
  struct diagnostic *d = layer_fail(layer, SHAPE_MISMATCH, "relative",
                                    "a relative bias for %s%" PRId64
                                    " positions, but there are %" PRId64,
                                    fits ? "" : "over ", positions, s->keys);
  diag_help(d, "`relative=7x7` is for windows of 49 positions, which `reshape` "
               "and `permute` make; axes before the last two are a batch");
  return false;
}

/* Two words on one thing. */
static bool check_bias_words(const struct layer *layer) {
  const struct attention *attention = layer->args;
  if (!attention->nobias || attention->biases == 1)
    return true;
  layer_fail(layer, DUPLICATE_ARGUMENT, "bias",
             "`nobias` leaves no projection a bias");
  return false;
}

static bool check_lora(const struct layer *layer) {
  const struct attention *attention = layer->args;
  if (attention->lora.rank || attention->adapted == LORA_QV)
    return lora_check(layer, &attention->lora);
  struct diagnostic *d = layer_fail(layer, MISSING_ARGUMENT, "lora_on",
                                    "`lora_on` without a rank says nothing");
  diag_help(d, "`lora=8` is a rank of 8");
  return false;
}

static bool attention_shape(struct layer *layer) {
  if (!check_sequence(layer))
    return false;
  struct attention_sizes sizes = attention_sizes(layer);
  return check_bias_words(layer) && check_lora(layer) &&
         check_heads(layer, &sizes) && check_cross(layer) &&
         check_rope(layer, &sizes) && check_relative(layer, &sizes) &&
         layer_same_shape(layer);
}

/* With biases for queries, keys, values and the output, or some of them. */
static bool has_bias(const struct attention *attention, int projection) {
  int biases = attention->biases - 1;
  if (attention->nobias)
    return false;
  return !(projection == PROJECTION_KEY && biases == BIASES_QVO) &&
         !(projection == PROJECTION_OUT && biases == BIASES_QKV);
}

static bool is_adapted(const struct attention *attention, int projection) {
  if (!attention->lora.rank)
    return false;
  return (projection != PROJECTION_KEY || attention->adapted >= LORA_QKV) &&
         (projection != PROJECTION_OUT || attention->adapted == LORA_QKVO);
}

/* Puts the projection `from` into the matrix of `to`. */
static void pack(struct projection *to, struct projection *from) {
  if (!add_i64(to->out, from->out, &to->out) ||
      !add_i64(to->biases, from->biases, &to->biases))
    to->out = INT64_MAX; /* counted as an overflow later */
  to->adapted = to->adapted || from->adapted;
  from->out = from->biases = 0;
}

void attention_projections(const struct layer *layer,
                           struct projection projections[4]) {
  const struct attention *attention = layer->args;
  struct attention_sizes s = attention_sizes(layer);
  const int64_t in[4] = {s.channels, s.key_channels, s.key_channels, s.width};
  const int64_t out[4] = {s.width, s.kv_width, s.kv_width, s.channels};
  int next = 0;
  for (int i = 0; i < 4; i++)
    projections[i] =
        (struct projection){.in = in[i],
                            .out = out[i],
                            .biases = has_bias(attention, i) ? out[i] : 0,
                            .adapted = is_adapted(attention, i)};
  if (attention->packed) {
    int first = layer->input_count > 1 ? PROJECTION_KEY : PROJECTION_QUERY;
    for (int i = first + 1; i < PROJECTION_OUT; i++)
      pack(&projections[first], &projections[i]);
  }
  for (int i = 0; i < 4; i++) {
    struct projection *p = &projections[i];
    p->first = next;
    p->count = p->out == 0 ? 0 : p->biases ? 2 : 1;
    p->adapted = p->adapted && p->out;
    next += p->count + (p->adapted ? 2 : 0);
  }
}

/* One bias for every head and pair of positions that are equally far. */
static void relative_params(const struct attention *attention,
                            struct params *params) {
  const struct sizes *window = &attention->relative;
  struct param table = {.name = "relative_position_bias_table",
                        .rank = window->rank + 1,
                        .order = FILE_FLAT,
                        .fixed = attention->lora.rank > 0,
                        .spread = 0.1};
  for (int i = 0; i < window->rank; i++)
    table.dim[i] = 2 * window->at[i] - 1;
  table.dim[window->rank] = attention->heads;
  if (window->rank)
    params_add(params, table);
}

/*
 * torch.nn.MultiheadAttention keeps queries, keys and values in one tensor,
 * also where they come from two inputs; `packed` here means that. Those that
 * are apart have the names of fairseq and of transformers' BART.
 */
static void name_projection(const struct layer *layer, int which,
                            const struct projection all[4],
                            struct param *weight, struct param *bias) {
  static const char *const names[4][2] = {{"q_proj.weight", "q_proj.bias"},
                                          {"k_proj.weight", "k_proj.bias"},
                                          {"v_proj.weight", "v_proj.bias"},
                                          {"out_proj.weight", "out_proj.bias"}};
  const struct attention *attention = layer->args;
  const struct projection *q = &all[PROJECTION_QUERY];
  const struct projection *k = &all[PROJECTION_KEY];
  bool packed = attention->packed && which != PROJECTION_OUT;
  weight->name = names[which][0];
  bias->name = names[which][1];
  if (packed && q->in == k->in) {
    weight->name = "in_proj_weight";
    bias->name = "in_proj_bias";
  } else if (packed && which == PROJECTION_KEY) {
    weight->name = "kv_proj.weight";
    bias->name = "kv_proj.bias";
  }
  if (packed && layer->input_count > 1 && q->in == k->in) {
    if (!add_i64(q->out, k->out, &weight->rows) ||
        !add_i64(q->biases, k->biases, &bias->rows))
      weight->rows = INT64_MAX; /* counted as an overflow later */
    weight->first = which == PROJECTION_KEY ? q->out : 0;
    bias->first = which == PROJECTION_KEY ? q->biases : 0;
  }
}

/* Of the module that the weights are in; a packed one is the layer itself. */
static const char *adapter_prefix(const struct layer *layer, int which,
                                  const struct param *weight) {
  static const char *const names[4] = {"q_proj.", "k_proj.", "v_proj.",
                                       "out_proj."};
  if (strcmp(weight->name, "in_proj_weight") != 0)
    return strcmp(weight->name, "kv_proj.weight") == 0 ? "kv_proj."
                                                       : names[which];
  if (layer->input_count == 1)
    return "";
  return which == PROJECTION_QUERY ? "q_proj." : "kv_proj.";
}

static void attention_params(const struct layer *layer, struct params *params) {
  const struct attention *attention = layer->args;
  struct projection all[4];
  attention_projections(layer, all);
  for (int i = 0; i < 4; i++) {
    const struct projection *p = &all[i];
    struct param weight = {.rank = 2,
                           .dim = {p->in, p->out},
                           .order = FILE_OUT_FIRST,
                           .spread = spread_linear(p->in)};
    struct param bias = {
        .rank = 1, .dim = {p->biases}, .spread = spread_bias(p->in)};
    weight.fixed = bias.fixed = attention->lora.rank > 0;
    name_projection(layer, i, all, &weight, &bias);
    if (p->count > 0)
      params_add(params, weight);
    if (p->count > 1)
      params_add(params, bias);
    if (p->adapted)
      lora_params(params, p->in, p->out, attention->lora.rank,
                  adapter_prefix(layer, i, &weight));
  }
  relative_params(layer->args, params);
}

static void product(struct terms *terms, int64_t groups, int64_t rows,
                    int64_t from, int64_t to) {
  terms_add(terms, (struct term){.factor = {groups, rows, from, to},
                                 .count = 4,
                                 .split = 2});
}

/* Four projections; scores and weighted sums of every head. */
static void attention_macs(const struct layer *layer, struct terms *terms) {
  const struct attention *attention = layer->args;
  struct attention_sizes s = attention_sizes(layer);
  int64_t seen = s.keys;
  if (attention->window)
    seen = min_i64(seen, attention->window);
  product(terms, s.groups, s.queries, s.channels, s.width);
  product(terms, s.groups, s.keys, s.key_channels, s.kv_width);
  product(terms, s.groups, s.keys, s.key_channels, s.kv_width);
  product(terms, s.groups, s.queries, s.width, seen);
  product(terms, s.groups, s.queries, seen, s.width);
  product(terms, s.groups, s.queries, s.width, s.channels);
  struct projection all[4];
  attention_projections(layer, all);
  for (int i = 0; i < 4; i++) {
    bool asks = i == PROJECTION_QUERY || i == PROJECTION_OUT;
    int64_t rows = asks ? s.queries : s.keys;
    if (!all[i].adapted)
      continue;
    product(terms, s.groups, rows, all[i].in, attention->lora.rank);
    product(terms, s.groups, rows, attention->lora.rank, all[i].out);
  }
}

/* Only positions that are looked back at are kept, and none beyond a window. */
static int64_t attention_cache(const struct layer *layer, int64_t context) {
  const struct attention *attention = layer->args;
  struct attention_sizes s = attention_sizes(layer);
  int64_t kept = layer->input_count > 1 ? s.keys : context;
  if (layer->input_count == 1 && !attention->causal)
    return 0;
  if (attention->window)
    kept = min_i64(kept, attention->window);
  return size_product(2,
                      size_product(s.groups, size_product(kept, s.kv_width)));
}

const struct layer_kind layer_attention = {
    .name = "attention",
    .summary = "multi-head attention with its four projections",
    .family = "Sequence",
    .specs = attention_specs,
    .args_size = sizeof(struct attention),
    .shape = attention_shape,
    .params = attention_params,
    .macs = attention_macs,
    .trace = attention_trace,
    .cache = attention_cache,
};
