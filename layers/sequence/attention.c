/* attention: every position attends to every other, with several heads. */
#include "layers/sequence/attention.h"

#include <inttypes.h>

#include "base/check.h"

static const struct arg_spec attention_specs[] = {
    ATTENTION_HEADS(attention),
    ATTENTION_CAUSAL(attention),
    ARG(INT, KEY, "kv", attention, kv, .min = 1, .fallback = "heads",
        .doc = "number of key and value heads, each shared by heads / kv "
               "query heads"),
    ARG(INT, KEY, "dim", attention, dim, .min = 1,
        .fallback = "channels / heads", .doc = "features of one head"),
    ARG(INT, KEY, "vdim", attention, vdim, .min = 1, .fallback = "dim",
        .doc = "features of one head of values (MiMo-V2-Flash)"),
    ARG(INT, KEY, "window", attention, window, .min = 1, .fallback = "all",
        .doc = "window in tokens: the latest ones, or without `causal` half "
               "of them on each side"),
    ARG(INT, KEY, "indextop", attention, indextop, .min = 1, .fallback = "all",
        .doc = "number of keys that each query reads, as layers beside it "
               "choose (MiniMax-M3)"),
    ARG(INPUT, KEY, "cross", attention, cross,
        .doc = "label of the tensor attended to, instead of the input"),
    ARG(INPUT, KEY, "values", attention, values,
        .doc = "label of the tensor that values are computed from, if not "
               "the keys' (DETR)"),
    ARG(INPUT, KEY, "joint", attention, joint,
        .doc = "label of a second stream, placed in front, with its own "
               "projections and norms; returns both without the output "
               "projection (SD3, Flux)"),
    ARG(INPUT, KEY, "mask", attention, mask,
        .doc = "label of a tensor added to the scores, as attn_mask of "
               "scaled_dot_product_attention: heads x queries x keys, or "
               "sizes that broadcast to it"),
    ARG(SIZES, KEY, "relative", attention, relative, .min = 1,
        .fallback = "none",
        .doc = "learned bias by relative position, in windows of this size"),
    ARG(SIZES, KEY, "shift", attention, shift, .min = 0, .fallback = "none",
        .varies = true, /* differs between alternating blocks */
        .doc = "with `relative`: shift that `roll` applied before the map "
               "was cut into windows, for all axes or by axis; masks pairs "
               "from opposite edges (Swin)"),
    ARG(WORDS, WORD, "rope", attention, rope, .words = "rope",
        .number = "rotary",
        .doc = "rotary position embedding of queries and keys"),
    ARG(INT, KEY, "rotary", attention, rotary, .min = 2, .fallback = "all",
        .doc = "number of leading features of a head that rope rotates (Phi)"),
    ROPE_SPECS(attention, turns),
    ATTENTION_DROPOUT(attention),
    ARG(WORDS, WORD, "nobias", attention, nobias, .words = "nobias",
        .doc = "projections without biases"),
    ARG(CHOICE, KEY, "bias", attention, biases, .words = ATTENTION_BIASES,
        .initial = 1, .fallback = "qkvo",
        .doc = "projections that have biases"),
    ARG(WORDS, WORD, "packed", attention, packed, .words = "packed",
        .doc = "one matrix for queries, keys and values, with the same counts"),
    ARG(WORDS, WORD, "views", attention, views, .words = "views",
        .doc = "packed, with views instead of copies of its parts (timm)"),
    ARG(WORDS, WORD, "sbhd", attention, sbhd, .words = "sbhd sbhd=all",
        .doc = "tokens before samples in memory, so that a fused output is "
               "copied (Megatron, nanotron; with `packed` "
               "torch.nn.MultiheadAttention, which copies its input, too, "
               "unless batch_first=False: `sbhd=all`)"),
    ARG(INT, KEY, "out", attention, out, .min = 1, .fallback = "channels",
        .doc = "features of the output"),
    ARG(WORDS, WORD, "noout", attention, noout, .words = "noout",
        .doc = "without the output projection: heads x dim features"),
    ARG(CHOICE, KEY, "gate", attention, gate, .words = "channels heads",
        .fallback = "none",
        .doc = "output gate, a sigmoid: for each channel, from queries of "
               "twice the size (Qwen3-Next), or for each head, from a matrix "
               "of its own (Step 3.5)"),
    ARG(WORDS, WORD, "noqueries", attention, noqueries, .words = "noqueries",
        .doc = "without a projection and norm of queries: they are the input"),
    ARG(WORDS, WORD, "novalues", attention, novalues, .words = "novalues",
        .doc = "without a projection of values: the projected keys are the "
               "values, too (Gemma 4's global layers)"),
    ARG(WORDS, WORD, "shared", attention, shared, .words = "shared",
        .doc = "with `novalues`: the values are the normalised and rotated "
               "keys, which are cached once (DeepSeek-V4)"),
    ARG(WORDS, WORD, "uncached", attention, uncached, .words = "uncached",
        .doc = "keeps nothing in the KV cache: servers read the keys and "
               "values of an earlier layer (Gemma 3n, Gemma 4)"),
    ARG(WORDS, WORD, "vnorm", attention, vnorm, .words = "vnorm",
        .doc = "normalise each head of values by rmsnorm without weights "
               "(Gemma 4)"),
    ARG(CHOICE, KEY, "scale", attention, scale, .words = "scores queries none",
        .fallback = "scores; queries if packed and not causal, or packed sbhd",
        .doc = "tensor that is divided by the root of dim"),
    ARG(WORDS, WORD, "qknorm", attention, qknorm, .words = ATTENTION_NORMS,
        .doc = "normalise queries and keys by rmsnorm or ln: each head "
               "(Qwen3, Gemma 3), all heads at once (OLMo 2), or each head "
               "with its own weights (Command R+)"),
    ARG(REAL, KEY, "softcap", attention, softcap, .low = 0, .high = 1e9,
        .fallback = "none",
        .doc = "bounds scores: softcap * tanh(score / softcap) (Gemma 2)"),
    ARG(WORDS, WORD, "sinks", attention, sinks, .words = "sinks",
        .doc = "a learned score for each head, which takes part in the softmax "
               "(gpt-oss)"),
    ARG(WORDS, WORD, "talking", attention, talking, .words = "talking",
        .doc = "mix the heads before and after softmax (CaiT)"),
    ATTENTION_KERNEL(attention),
    LORA_SPECS(attention, lora),
    ARG(CHOICE, KEY, "lora_on", attention, adapted, .words = LORA_ON,
        .initial = 1, .fallback = "qv",
        .doc = "projections with adapters; `padded`: queries and values of a "
               "packed matrix, with zeros for the keys (litgpt)"),
    SPEC_END};

const char *attention_steps(const struct attention *attention) {
  return attention->softcap > 0 ? "softcap"
         : attention->sinks     ? "sinks"
         : attention->talking   ? "talking heads"
                                : NULL;
}

struct attention_sizes attention_sizes(const struct layer *layer) {
  const struct attention *attention = layer->args;
  const struct shape *in = layer->in[0];
  const struct shape *seen = layer->in[attention_keys(attention)];
  bool joint = attention_is_joint(attention);
  int64_t joined = joint ? seen->dim[seen->rank - 2] : 0;
  int64_t own = in->dim[in->rank - 2];
  struct attention_sizes s = {
      .groups = 1,
      .queries = size_sum(own, joined),
      .keys = joint ? size_sum(own, joined) : seen->dim[seen->rank - 2],
      .joined = joined,
      .channels = shape_channels(in),
      .key_channels = shape_channels(seen),
      .value_channels = shape_channels(layer->in[attention_values(attention)]),
      .heads = attention->heads,
      .kv = attention->kv ? attention->kv : attention->heads,
  };
  for (int i = 0; i < in->rank - 2; i++)
    s.groups *= in->dim[i]; /* no overflow: divides the input's count */
  s.dim = attention->dim ? attention->dim : s.channels / s.heads;
  s.vdim = attention->vdim ? attention->vdim : s.dim;
  if (!mul_i64(s.dim, s.heads, &s.width) || !mul_i64(s.dim, s.kv, &s.kv_width))
    s.width = s.kv_width = INT64_MAX; /* reported as an overflow later */
  s.value_width = size_product(s.vdim, s.heads);
  s.kv_value_width = size_product(s.vdim, s.kv);
  s.out = attention->noout || joint ? s.value_width
          : attention->out          ? attention->out
                                    : s.channels;
  return s;
}

/* The argument that names an input; NULL: it is the current tensor. */
static const char *input_word(const struct layer *layer, int input) {
  const struct attention *attention = layer->args;
  return input > attention_values(attention) ? "mask"
         : input > attention_keys(attention) ? "values"
         : input == 0                        ? NULL
         : attention_is_joint(attention)     ? "joint"
                                             : "cross";
}

static bool check_sequence(struct layer *layer) {
  for (int i = 0; i <= attention_values(layer->args); i++) {
    if (layer->in[i]->rank >= 2)
      continue;
    struct diagnostic *d =
        layer_fail(layer, WRONG_RANK, input_word(layer, i),
                   "attention needs a sequence (LxC), not %s",
                   shape_text(layer->in[i]).text);
    if (i == 0)
      layer_offer_before(d, "reshape 1x_");
    return diag_help(d, "`reshape 1x_` makes a sequence of one position");
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
    layer_offer_divisor(d, "heads", s->heads, s->channels);
    return diag_help(d,
                     "choose a number of heads that divides %" PRId64 ", or "
                     "give the features of a head by `dim=`",
                     s->channels);
  }
  if (s->heads % s->kv != 0) {
    struct diagnostic *d =
        layer_fail(layer, GROUPS_DO_NOT_DIVIDE, "kv",
                   "%" PRId64 " heads of keys and values do not divide %" PRId64
                   " heads of queries",
                   s->kv, s->heads);
    layer_offer_divisor(d, "kv", s->kv, s->heads);
    return diag_help(d, "each head of keys and values must serve the same "
                        "number of heads of queries");
  }
  return true;
}

/* Checks that there is a value for each key. */
static bool check_values(struct layer *layer) {
  const struct attention *attention = layer->args;
  struct shape keys = *layer->in[attention_keys(attention)];
  const struct shape *values = layer->in[attention_values(attention)];
  if (!attention->values.name.length)
    return true;
  const char *word = attention->packed  ? "packed"
                     : attention->views ? "views"
                                        : NULL;
  if (attention_is_joint(attention))
    return layer_refuse(layer, DUPLICATE_ARGUMENT, "values",
                        "`joint` already has the values of both streams");
  if (word) {
    struct diagnostic *d = layer_fail(
        layer, DUPLICATE_ARGUMENT, "values",
        "with `%s`, keys and values are products of one tensor", word);
    return diag_help(
        d, "leave out `%s`: the number of parameters stays the same", word);
  }
  keys.dim[keys.rank - 1] = shape_channels(values);
  if (shape_equal(&keys, values))
    return true;
  keys = *layer->in[attention_keys(attention)];
  struct diagnostic *d =
      layer_fail(layer, SHAPE_MISMATCH, "values",
                 "the values, %s, do not match the keys, %s",
                 shape_text(values).text, shape_text(&keys).text);
  return diag_help(d, "all axes but the channels must be equal");
}

static bool check_cross(struct layer *layer) {
  if (!attention_keys(layer->args))
    return true;
  const struct shape *in = layer->in[0], *seen = layer->in[1];
  bool same = in->rank == seen->rank;
  for (int i = 0; same && i < in->rank - 2; i++)
    same = in->dim[i] == seen->dim[i];
  if (same)
    return true;
  struct diagnostic *d =
      layer_fail(layer, SHAPE_MISMATCH,
                 attention_is_joint(layer->args) ? "joint" : "cross",
                 "cannot attend from %s to %s", shape_text(in).text,
                 shape_text(seen).text);
  return diag_help(d, "all axes before the last two must be equal");
}

/* Checks that rope rotates pairs within a head. */
static bool check_rotary(struct layer *layer, const struct attention_sizes *s) {
  const struct attention *attention = layer->args;
  if (!attention->rotary)
    return true;
  if (!attention->rope) {
    struct diagnostic *d =
        layer_fail(layer, MISSING_ARGUMENT, "rotary",
                   "`rotary` without `rope` rotates nothing");
    diag_offer(d, (struct span){d->span.begin, d->span.begin},
               slice_of("rope "), "write `rope` before it");
    return diag_help(d, "`rope rotary=%" PRId64 "`", attention->rotary);
  }
  if (attention->rotary % 2 == 0 && attention->rotary <= s->dim)
    return true;
  struct diagnostic *d = layer_fail(layer, OUT_OF_RANGE, "rotary",
                                    "rope rotates pairs of the %" PRId64
                                    " features of a head, not %" PRId64,
                                    s->dim, attention->rotary);
  layer_offer_value(d, "rotary", min_i64(attention->rotary, s->dim) / 2 * 2);
  return false;
}

static bool check_rope(struct layer *layer, const struct attention_sizes *s) {
  const struct attention *attention = layer->args;
  if (!attention->rope || attention->rotary || s->dim % 2 == 0)
    return true;
  struct diagnostic *d = layer_fail(
      layer, OUT_OF_RANGE, "rope",
      "rope rotates pairs of features, but a head has an odd number, %" PRId64,
      s->dim);
  return diag_help(d, "choose another number of heads, or give `dim=`");
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
                                    "the relative bias is for %s%" PRId64 " "
                                    "positions, but there are %" PRId64,
                                    fits ? "" : "over ", positions, s->keys);
  return diag_help(
      d, "`relative=7x7` is for windows of 49 positions, which `reshape` and "
         "`permute` make; earlier axes are a batch");
}

bool attention_is_shifted(const struct attention *attention) {
  for (int i = 0; i < attention->shift.rank; i++)
    if (attention->shift.at[i])
      return true;
  return false;
}

static bool check_grid(const struct layer *layer, int axes) {
  int grid = layer->in[0]->rank - 2;
  if (grid == axes)
    return true;
  struct diagnostic *d = layer_fail(
      layer, WRONG_RANK, "shift",
      "a shift along %d %s needs a grid of windows with as many axes: %s has "
      "%d before its positions and channels",
      axes, axes == 1 ? "axis" : "axes", shape_text(layer->in[0]).text, grid);
  return diag_help(d, "a map cut into windows of 7x7 is `reshape (h/7) x "
                      "(w/7) x 49 x c`");
}

/* Checks the windows of a map that was shifted with `roll`. */
static bool check_shift(struct layer *layer) {
  const struct attention *attention = layer->args;
  const struct sizes *window = &attention->relative, *shift = &attention->shift;
  if (!attention_is_shifted(attention))
    return true;
  if (!window->rank) {
    struct diagnostic *d = layer_fail(layer, MISSING_ARGUMENT, "shift",
                                      "`shift` needs the size of the windows");
    layer_offer_omission(layer, d);
    return diag_help(d, "`relative=7x7` gives it");
  }
  if (shift->rank != 1 && shift->rank != window->rank)
    return layer_refuse(layer, WRONG_RANK, "shift",
                        "the shift has %d axes, but the windows have %d",
                        shift->rank, window->rank);
  for (int i = 0; i < window->rank; i++)
    if (size_at(shift, i, 0) >= window->at[i])
      return layer_refuse(layer, OUT_OF_RANGE, "shift",
                          "a shift of %" PRId64 " must be smaller than the "
                          "window of %" PRId64,
                          size_at(shift, i, 0), window->at[i]);
  return check_grid(layer, window->rank);
}

/* The scores' shape: groups, heads, queries, keys. False: too many axes. */
static bool find_scores(const struct layer *layer,
                        const struct attention_sizes *s, struct shape *scores) {
  int groups = layer->in[0]->rank - 2;
  *scores = (struct shape){.rank = groups + 3};
  if (scores->rank > LIMIT_RANK)
    return false;
  for (int i = 0; i < groups; i++)
    scores->dim[i] = layer->in[0]->dim[i];
  scores->dim[groups] = s->heads;
  scores->dim[groups + 1] = s->queries;
  scores->dim[groups + 2] = s->keys;
  return true;
}

/* True if the mask broadcasts to the scores: one for each
 * group, or one for all. */
static bool mask_fits(const struct shape *mask, const struct shape *scores) {
  bool each = true, same = true, fits = mask->rank <= scores->rank;
  for (int i = 1; fits && i <= mask->rank; i++) {
    int64_t size = mask->dim[mask->rank - i];
    bool whole = size == scores->dim[scores->rank - i];
    fits = whole || size == 1;
    each = each && (whole || i <= 3);
    same = same && (size == 1 || i <= 3);
  }
  return fits && (same || (each && mask->rank == scores->rank));
}

static bool check_mask(struct layer *layer, const struct attention_sizes *s) {
  int input = attention_mask(layer->args);
  struct shape scores;
  if (!input)
    return true;
  if (!find_scores(layer, s, &scores))
    return layer_refuse(layer, WRONG_RANK, "mask",
                        "scores of %s would have more than %d axes",
                        shape_text(layer->in[0]).text, LIMIT_RANK);
  if (mask_fits(layer->in[input], &scores))
    return true;
  struct diagnostic *d =
      layer_fail(layer, SHAPE_MISMATCH, "mask",
                 "the mask, %s, does not broadcast to the scores, %s",
                 shape_text(layer->in[input]).text, shape_text(&scores).text);
  return diag_help(d,
                   "from the last axis on, sizes must be equal, or 1; %" PRId64
                   "x%" PRId64 " is shared by all heads",
                   s->queries, s->keys);
}

/* Refuses what fused kernels do not support. */
static bool check_kernel(const struct layer *layer) {
  const struct attention *attention = layer->args;
  if (attention->kernel != ATTENTION_FUSED || !attention_steps(attention))
    return true;
  struct diagnostic *d =
      layer_fail(layer, OUT_OF_RANGE, "kernel", "a fused kernel has no %s",
                 attention_steps(attention));
  return diag_help(d, "leave out `fused`; the attention weights are then "
                      "stored");
}

/* Checks the arguments of two streams that become one sequence. */
static bool check_joint(const struct layer *layer) {
  const struct attention *attention = layer->args;
  struct diagnostic *d;
  if (!attention_is_joint(attention))
    return true;
  if (attention->cross.name.length)
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT, "joint",
                                "`cross` attends to one tensor, `joint` to "
                                "two; choose one");
  if (!attention->out && !attention->noout)
    return true;
  d = layer_fail(layer, DUPLICATE_ARGUMENT, attention->out ? "out" : "noout",
                 "`joint` returns both streams without the output projection");
  layer_offer_omission(layer, d);
  return diag_help(d, "write `p: split l ..` after it, and a `linear` for "
                      "each");
}

static bool check_out(const struct layer *layer) {
  const struct attention *attention = layer->args;
  if (!attention->noout || !attention->out)
    return true;
  return layer_refuse_surplus(
      layer, DUPLICATE_ARGUMENT, "out",
      "`noout` removes the projection that would have that many features");
}

/* Refuses two arguments for the same setting. */
static bool check_bias_words(const struct layer *layer) {
  const struct attention *attention = layer->args;
  if (!attention->nobias || attention->biases == 1)
    return true;
  return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT, "bias",
                              "`nobias` removes the biases of all projections");
}

/* Checks that there is one matrix; its parts have no lengths of their own. */
static bool check_padded(const struct layer *layer) {
  const struct attention *attention = layer->args;
  if (attention->adapted != LORA_PADDED)
    return true;
  if (attention->lora.dora)
    return layer_refuse_surplus(layer, OUT_OF_RANGE, "lora_on",
                                "`lora_on=padded` does not support `dora`");
  if (attention->lora.type)
    return layer_refuse_surplus(
        layer, OUT_OF_RANGE, "lora_on",
        "`lora_on=padded` does not support `lora_dtype`");
  if (attention_is_joint(attention))
    return layer_refuse_surplus(layer, OUT_OF_RANGE, "lora_on",
                                "`lora_on=padded` does not support `joint`");
  if (attention_is_packed(attention) && !attention_keys(attention))
    return true;
  struct diagnostic *d =
      layer_fail(layer, MISSING_ARGUMENT, "lora_on",
                 "`lora_on=padded` needs one matrix for queries, keys and "
                 "values");
  return diag_help(d, "write `packed` or `views`; or `lora_on=qv`");
}

static bool check_lora(const struct layer *layer) {
  const struct attention *attention = layer->args;
  if (attention->lora.rank && !check_padded(layer))
    return false;
  if (attention->lora.rank || attention->adapted == LORA_QV)
    return lora_check(layer, &attention->lora);
  struct diagnostic *d =
      layer_fail(layer, MISSING_ARGUMENT, "lora_on", "`lora_on` needs a rank");
  layer_offer_omission(layer, d);
  return diag_help(d, "`lora=8` is a rank of 8");
}

static bool find_out(struct layer *layer, const struct attention_sizes *s) {
  layer->out = shape_with_channels(layer->in[0], s->out);
  layer->out.dim[layer->out.rank - 2] = s->queries;
  return true;
}

static bool attention_shape(struct layer *layer) {
  if (!check_sequence(layer) || !check_joint(layer))
    return false;
  struct attention_sizes sizes = attention_sizes(layer);
  const struct attention *attention = layer->args;
  return check_bias_words(layer) && check_lora(layer) &&
         rope_check(layer, &attention->turns, attention->rope) &&
         check_heads(layer, &sizes) && check_cross(layer) &&
         attention_check_parts(layer, &sizes) && check_values(layer) &&
         check_rope(layer, &sizes) && check_rotary(layer, &sizes) &&
         check_relative(layer, &sizes) && check_shift(layer) &&
         check_mask(layer, &sizes) && check_kernel(layer) && check_out(layer) &&
         find_out(layer, &sizes);
}

/* The int64 index of a bias for each pair of positions: Swin's buffer. */
static int64_t attention_indices(const void *args, const struct shape *out) {
  const struct attention *attention = args;
  int64_t positions = attention->relative.rank > 0;
  (void)out;
  for (int i = 0; i < attention->relative.rank; i++)
    positions = size_product(positions, attention->relative.at[i]);
  return size_product(8, size_product(positions, positions));
}

static const char *attention_unfused(const struct layer *layer) {
  const struct attention *attention = layer->args;
  return attention->relative.rank ? "relative positions"
                                  : attention_steps(attention);
}

LAYER_KIND(attention, "Sequence",
           "multi-head attention with its four projections",
           LAYER_ARGS(attention, attention_specs), .shape = attention_shape,
           .params = attention_params, .macs = attention_macs,
           .trace = attention_trace, .index_bytes = attention_indices,
           .cache = attention_cache, .heads = attention_head_counts,
           .unfused = attention_unfused, .asks = true);
