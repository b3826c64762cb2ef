/* Attention: nn.MultiheadAttention if it fits, else a class in the output
 * file. */
#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "codegen/torch/form.h"
#include "layers/sequence/attention.h"

/* True for features that nn.MultiheadAttention does not have. */
static bool is_own(const struct torch_form *f) {
  return form_word(f, "causal") || form_int(f, "kv") || form_int(f, "dim") ||
         form_int(f, "window") || form_sizes(f, "relative")->rank ||
         form_word(f, "rope") || form_word(f, "views") || form_given(f, "mask");
}

static bool is_joint(const struct torch_form *f) {
  return form_given(f, "joint");
}

static bool has_values(const struct torch_form *f) {
  return form_given(f, "values");
}

static bool is_special(const struct torch_form *f) {
  return is_joint(f) || has_values(f) || form_int(f, "out") ||
         form_word(f, "noout") || form_word(f, "qknorm") ||
         form_real(f, "softcap") > 0 || form_word(f, "sinks") ||
         form_word(f, "talking") || form_int(f, "rotary") ||
         form_int(f, "vdim") || form_word(f, "gate") ||
         form_word(f, "noqueries") || form_word(f, "novalues") ||
         form_word(f, "vnorm") || form_real(f, "base") > 0 ||
         form_real(f, "stretch") > 0;
}

/* The letters of the projections that have a bias. */
static struct slice bias_letters(const struct torch_form *f) {
  if (form_word(f, "nobias"))
    return (struct slice){"", 0};
  return word_at(form_spec(f, "bias")->words, form_word(f, "bias"));
}

static bool has_letter(struct slice letters, char letter) {
  return letters.length && memchr(letters.at, letter, letters.length);
}

/* True if it is nn.MultiheadAttention, which has packed matrices and copies its
 * output to tokens x samples (F.multi_head_attention_forward). */
static bool is_module(const struct torch_form *f) {
  const struct shape *in = f->layer->in[0];
  int last = form_given(f, "cross") || is_joint(f);
  size_t letters = bias_letters(f).length;
  return form_word(f, "packed") && form_word(f, "sbhd") && in->rank == 2 &&
         !is_own(f) && !is_special(f) &&
         form_word(f, "scale") != ATTENTION_SCORES &&
         form_word(f, "scale") != ATTENTION_UNSCALED &&
         (letters == 0 || letters == strlen("qkvo")) &&
         shape_channels(in) == shape_channels(f->layer->in[last]) &&
         !f->in[0].one && !f->in[last].one;
}

/* True if the report counts each step of the scores: attention_trace(). */
static bool is_naive(const struct torch_form *f) {
  if (form_word(f, "kernel"))
    return form_word(f, "kernel") == ATTENTION_NAIVE;
  return f->naive ||
         (f->word == WORD_ATTENTION && form_sizes(f, "relative")->rank > 0);
}

/* The tensor that is divided by the root of a head's features. */
static struct slice scaled(const struct torch_form *f) {
  static const char *const scales[] = {"\"scores\"", "\"scores\"",
                                       "\"queries\"", "None"};
  bool module = form_word(f, "sbhd") && !form_word(f, "rope");
  bool queries = form_word(f, "packed") && !form_word(f, "views") &&
                 (!form_word(f, "causal") || module) && !is_joint(f);
  int scale = form_word(f, "scale");
  return slice_of(scales[scale ? scale : queries ? ATTENTION_QUERIES : 0]);
}

static void put_module(struct torch_form *f) {
  const struct torch_code *x = form_in(f, 0, LAST);
  const struct torch_code *seen = form_in(f, form_given(f, "cross"), LAST);
  MAKE(f, "nn.MultiheadAttention(%i, %i%k%k, batch_first=True)", "channels",
       shape_channels(f->layer->in[0]), "heads", form_int(f, "heads"),
       "dropout", "0", form_decimal(f, form_real(f, "dropout")), "bias", "True",
       form_truth(bias_letters(f).length));
  CALL(f, "%m(%c, %c, %c, %s=False)[0]", form_module(f), x, seen, seen,
       is_naive(f) ? "average_attn_weights" : "need_weights");
}

/* An integer argument; None if it is 0. */
static struct slice or_none(const struct torch_form *f, const char *arg) {
  int64_t value = form_int(f, arg);
  return value ? form_number(f, value) : slice_of("None");
}

/* A real argument, written as an integer if it is one. */
static struct slice real_or(const struct torch_form *f, const char *arg,
                            const char *usual) {
  double value = form_real(f, arg);
  if (!(value > 0))
    return slice_of(usual);
  return value < floor(value) || value > floor(value)
             ? form_decimal(f, value)
             : form_number(f, (int64_t)value);
}

static struct slice quoted(const struct torch_form *f, struct slice word) {
  struct text text = text_new(f->arena);
  text_put(&text, "\"");
  text_puts(&text, word);
  text_put(&text, "\"");
  return text_slice(&text);
}

/* The constructor for qkln=own. */
static const char *own_norm(const struct torch_form *f) {
  int64_t dim = form_int(f, "dim");
  struct text text = text_new(f->arena);
  if (!dim)
    dim = shape_channels(f->layer->in[0]) / form_int(f, "heads");
  text_printf(&text, "lambda width, eps: HeadNorm(width, %" PRId64 ", eps)",
              dim);
  return text_string(&text);
}

/* Those of gates, and of values that are not like keys. */
static void put_parts(struct torch_form *f) {
  int gate = form_word(f, "gate");
  MAKE(f, "%k%k%k%k%k%k%k", "vdim", "None", or_none(f, "vdim"), "gate", "False",
       form_truth(gate == ATTENTION_GATE_CHANNELS), "head_gate", "False",
       form_truth(gate == ATTENTION_GATE_HEADS), "noqueries", "False",
       form_truth(form_word(f, "noqueries")), "novalues", "False",
       form_truth(form_word(f, "novalues")), "vnorm", "False",
       form_truth(form_word(f, "vnorm")), "shared", "False",
       form_truth(form_word(f, "shared")));
}

/* Writes the arguments that only some attentions have. */
static void put_special(struct torch_form *f) {
  struct slice qknorm = {"", 0}; /* qknorm, qkln=all, .. */
  if (form_word(f, "qknorm"))
    qknorm = word_at(form_spec(f, "qknorm")->words, form_word(f, "qknorm"));
  bool ln = qknorm.length > 2 && qknorm.at[2] == 'l';
  bool own = slice_ends(qknorm, "=own");
  bool all = own || slice_ends(qknorm, "=all");
  const char *norm = !qknorm.length ? "None" : ln ? "nn.LayerNorm" : "RMSNorm";
  struct slice out = or_none(f, "out");
  double cap = form_real(f, "softcap");
  if (form_word(f, "noout") && !is_joint(f)) /* a joint one has no output */
    out = form_number(f, 0);
  if (qknorm.length && !ln)
    f->helpers |= HELPER_BIT << HELPER_RMSNorm;
  if (own) {
    f->helpers |= HELPER_BIT << HELPER_HeadNorm;
    norm = own_norm(f);
  }
  MAKE(f, "%k%k%k%k%k%k%k%k%k%k", "out", "None", out, "norm", "None",
       slice_of(norm), "norm_all", "False", form_truth(all), "softcap", "None",
       cap > 0 ? form_decimal(f, cap) : slice_of("None"), "sinks", "False",
       form_truth(form_word(f, "sinks")), "talking", "False",
       form_truth(form_word(f, "talking")), "rotary", "None",
       or_none(f, "rotary"), "base", "10000", real_or(f, "base", "10000"),
       "stretch", "1", real_or(f, "stretch", "1"), "trained", "None",
       form_real(f, "stretch") > 1 ? or_none(f, "trained") : slice_of("None"));
  put_parts(f);
}

/* A causal window of all tokens hides none that `causal` does not. */
static struct slice window_of(const struct torch_form *f) {
  int64_t window = form_int(f, "window");
  int64_t hidden = form_word(f, "causal") ? window : window / 2;
  return window && hidden < attention_sizes(f->layer).keys
             ? form_number(f, window)
             : slice_of("None");
}

/* The shift of the map along each axis of its windows. */
static struct slice shift_of(const struct torch_form *f) {
  const struct sizes *shift = form_sizes(f, "shift");
  int rank = form_sizes(f, "relative")->rank;
  int64_t by_axis[LIMIT_RANK];
  bool moved = false;
  for (int i = 0; i < rank; i++) {
    by_axis[i] = size_at(shift, i, 0);
    moved |= by_axis[i] > 0;
  }
  return moved ? form_list(f, by_axis, rank) : slice_of("None");
}

/* Adds axes of size 1 for those that the mask lacks, including the heads. */
static void put_mask(struct torch_form *f) {
  int last = f->layer->input_count - 1;
  int lacks = f->layer->in[0]->rank + 1 - f->layer->in[last]->rank;
  if (!form_given(f, "mask"))
    return;
  CALL(f, ", mask=%c", form_on(f, last, LAST));
  for (int i = 0; i < lacks; i++)
    CALL(f, i ? ", None" : "[:, None");
  if (lacks)
    CALL(f, "]");
}

/* Positions that rope has to know; the longer of two sequences. */
static struct slice positions(const struct torch_form *f) {
  struct attention_sizes sizes = attention_sizes(f->layer);
  return form_word(f, "rope")
             ? form_number(f, max_i64(sizes.queries, sizes.keys))
             : slice_of("None");
}

static void put_attention(struct torch_form *f, enum helper class) {
  const struct sizes *window = form_sizes(f, "relative");
  int64_t channels = shape_channels(f->layer->in[0]);
  int at = form_given(f, "cross") || is_joint(f);
  int64_t seen = shape_channels(f->layer->in[at]);
  struct slice none = slice_of("None");
  int64_t other = seen, kv = form_int(f, "kv");
  f->helpers |= HELPER_BIT << class;
  if (is_joint(f))
    seen = channels;
  MAKE(f, "%s(%i, %i%k%k%k%k%k%k%k%k%k%k%k%k%k%k", attention_name(class),
       "channels", channels, "heads", form_int(f, "heads"), "kv_heads", "None",
       kv && kv != form_int(f, "heads") ? form_number(f, kv) : none, "dim",
       "None", or_none(f, "dim"), "seen", "None",
       seen == channels ? none : form_number(f, seen), "bias", "\"qkvo\"",
       quoted(f, bias_letters(f)), "causal", "False",
       form_truth(form_word(f, "causal")), "window", "None", window_of(f),
       "relative", "None",
       window->rank ? form_list(f, window->at, window->rank) : none, "shift",
       "None", shift_of(f), "rope", "False", form_truth(form_word(f, "rope")),
       "length", "None", positions(f), "dropout", "0",
       form_decimal(f, form_real(f, "dropout")), "scale", "\"scores\"",
       scaled(f), "naive", "False", form_truth(is_naive(f)), "sbhd", "False",
       form_truth(form_word(f, "sbhd")));
  if (is_joint(f))
    MAKE(f, ", other=%i", "other", other);
  if (has_values(f))
    MAKE(f, ", values=%i", "values", shape_channels(f->layer->in[at + 1]));
  if (is_special(f))
    put_special(f);
  MAKE(f, ")");
  CALL(f, "%m(%c", form_module(f), form_in(f, 0, LAST));
  if (has_values(f))
    CALL(f, ", %c, %c", form_in(f, at, LAST), form_in(f, at + 1, LAST));
  else if (at)
    CALL(f, ", %c", form_in(f, 1, LAST));
  put_mask(f);
  CALL(f, ")");
}

/* True if the packed matrix has one bias or none. */
static bool is_bias_whole(const struct torch_form *f) {
  struct slice letters = bias_letters(f);
  bool all = has_letter(letters, 'q') && has_letter(letters, 'k') &&
             has_letter(letters, 'v');
  bool any = has_letter(letters, 'q') || has_letter(letters, 'k') ||
             has_letter(letters, 'v');
  return all == any;
}

/* For names of a file that has `qkv` and `proj`. */
static void put_qkv(struct torch_form *f) {
  if (form_given(f, "cross") || is_joint(f) || has_values(f) ||
      form_int(f, "out") || form_word(f, "noout"))
    f->refuses = "the names `qkv` and `proj` need self-attention with an "
                 "output of the same width";
  put_attention(f, HELPER_QkvAttention);
}

void form_attention(struct torch_form *f) {
  bool packed = form_word(f, "packed") || form_word(f, "views");
  bool qkv = f->given && f->given[f->index].qkv;
  int64_t top = form_int(f, "indextop");
  f->out = LAST;
  f->repeats = true;
  if (top && top < attention_sizes(f->layer).keys) {
    f->refuses = "`indextop`: the keys that layers beside it choose";
  } else if (packed && !is_bias_whole(f)) {
    f->refuses = "a bias of parts of a packed matrix";
  } else if (qkv) {
    put_qkv(f);
  } else if (is_module(f)) {
    put_module(f);
  } else {
    put_attention(
        f, has_values(f) ? HELPER_ValuesAttention
           : is_joint(f)
               ? (packed ? HELPER_PackedJointAttention : HELPER_JointAttention)
               : (packed ? HELPER_PackedAttention : HELPER_Attention));
  }
}

/* Multi-head latent attention. Without `dim` a head has channels / heads. */
void form_mla(struct torch_form *f) {
  int64_t channels = shape_channels(f->layer->in[0]);
  int64_t heads = form_int(f, "heads"), dim = form_int(f, "dim");
  int64_t vdim = form_int(f, "vdim");
  dim = dim ? dim : channels / heads;
  int64_t index = form_int(f, "index"), index_dim = form_int(f, "indexdim");
  int64_t top = form_int(f, "indextop");
  if (top && !index)
    f->refuses = "`indextop` of an earlier layer's indexer";
  f->helpers |= HELPER_BIT << HELPER_LatentAttention;
  if (index)
    f->helpers |= HELPER_BIT << HELPER_Indexer;
  MAKE(f, "LatentAttention(%i, %i, %i, %i, %i, %i%k%k%k%k%k%k%k%k", "channels",
       channels, "heads", heads, "latent", form_int(f, "latent"), "rope",
       form_int(f, "rope"), "dim", dim, "vdim", vdim ? vdim : dim, "qlatent",
       "None", or_none(f, "qlatent"), "causal", "False",
       form_truth(form_word(f, "causal")), "naive", "False",
       form_truth(is_naive(f)), "length", "None",
       form_number(f, shape_rows(f->layer->in[0])), "base", "10000",
       real_or(f, "base", "10000"), "stretch", "1", real_or(f, "stretch", "1"),
       "trained", "None",
       form_real(f, "stretch") > 1 ? or_none(f, "trained") : slice_of("None"),
       "dropout", "0", form_decimal(f, form_real(f, "dropout")));
  MAKE(f, "%k%k%k)", "index", "None", or_none(f, "index"), "indexdim", "128",
       form_number(f, index_dim ? index_dim : 128), "indextop", "2048",
       form_number(f, top ? top : 2048));
  CALL(f, "%m(%c)", form_module(f), form_in(f, 0, LAST));
  f->out = LAST;
}

/* [(80, 80), (40, 40)] */
static struct slice list_maps(const struct torch_form *f) {
  const struct map_list *maps = form_maps(f, "maps");
  struct text text = text_new(f->arena);
  for (int i = 0; i < maps->count; i++) {
    const int64_t size[2] = {size_at(&maps->at[i], 0, 1),
                             size_at(&maps->at[i], 1, 1)};
    text_put(&text, i ? ", " : "[");
    text_puts(&text, form_list(f, size, 2));
  }
  text_put(&text, "]");
  return text_slice(&text);
}

void form_deformattn(struct torch_form *f) {
  int last = f->layer->input_count - 1;
  int values = form_given(f, "values") ? last : 0;
  int64_t channels = shape_channels(f->layer->in[0]);
  int64_t seen = shape_channels(f->layer->in[values]);
  f->helpers |= HELPER_BIT << HELPER_DeformableAttention;
  MAKE(f, "DeformableAttention(%i, %i, %v%k%k)", "channels", channels, "heads",
       form_int(f, "heads"), "maps", list_maps(f), "points", "4",
       form_number(f, form_int(f, "points")), "seen", "None",
       seen == channels ? slice_of("None") : form_number(f, seen));
  CALL(f, "%m(%c, %c, %c)", form_module(f), form_in(f, 0, LAST),
       form_in(f, 1, LAST), form_in(f, values, LAST));
  f->out = LAST;
  f->repeats = !values;
}
