/* Dense layers and those of sequences. */
#include <inttypes.h>
#include <math.h>

#include "codegen/torch/form.h"

/* Dense */

/* The other layer whose weights one uses. */
struct tie {
  bool transposed;           /* its outputs are this one's inputs */
  struct torch_seen in, out; /* how the values of vectors lie */
};

/* Its weights lie as O x I of its own, and as its own vectors do. */
static struct tie find_tie(const struct torch_form *f,
                           const struct param *own) {
  struct torch_form other = *f;
  const struct shape **in;
  struct layer layer;
  struct params params = {.arena = f->arena};
  size_t same = f->model->params.at[f->node->first_param].same;
  other.index = form_owner(f, 0);
  other.node = &f->model->nodes.at[other.index];
  in = arena_alloc(f->arena, (size_t)other.node->input_count + 1, sizeof *in);
  layer = model_layer(f->model, other.index, in);
  other.layer = &layer;
  layer.kind->params(&layer, &params);
  const struct param *param = &params.all.at[same - other.node->first_param];
  bool dense = param->order == FILE_OUT_FIRST;
  struct tie tie = {.in = LAST, .out = LAST};
  tie.transposed =
      own->dim[0] != own->dim[1] && param->dim[dense] != own->dim[1];
  if (dense && layer.out.rank == 1) {
    tie.in = form_dense_in(&other);
    tie.out = form_dense_out(&other);
  }
  if (tie.transposed) {
    struct torch_seen out = tie.out;
    tie.out = tie.in;
    tie.in = out;
  }
  return tie;
}

static bool lie_alike(struct torch_seen a, struct torch_seen b) {
  return a.order == b.order &&
         (a.order != ORDER_FLAT || shape_equal(a.map, b.map));
}

/* A bias of its own lies as its file says; rows of vectors are not turned. */
static bool fits_tie(const struct torch_form *f, const struct tie *tie) {
  bool flat = tie->in.order == ORDER_FLAT || tie->out.order == ORDER_FLAT;
  if (form_param(f, "bias") && !lie_alike(form_dense_out(f), tie->out))
    return false;
  return !flat || (f->layer->in[0]->rank == 1 && f->layer->out.rank == 1);
}

static void put_tied(struct torch_form *f) {
  struct tie tie = find_tie(f, &f->params.all.at[0]);
  bool flattens = f->layer->in[0]->rank > 1 && f->layer->out.rank == 1;
  if (!fits_tie(f, &tie))
    f->refuses = "`tie=` between vectors of which one is a flattened map";
  f->out = tie.out;
  if (flattens)
    CALL(f, "F.linear(%c.flatten(1), ", form_on(f, 0, LAST));
  else
    CALL(f, "F.linear(%c, ", form_in(f, 0, tie.in));
  form_parameter(f, &f->call, 0);
  CALL(f, tie.transposed ? ".t()" : "");
  if (form_param(f, "bias")) {
    f->helpers |= 1u << HELPER_Learned;
    MAKE(f, "Learned(bias=torch.zeros(%i))", "out_features",
         f->params.all.at[1].dim[0]);
    CALL(f, ", %m.bias", form_owner(f, 1));
  }
  CALL(f, ")");
}

/* fc flattens its input first. */
static const struct torch_code *dense_input(struct torch_form *f) {
  bool fc = f->word == WORD_FC;
  struct torch_seen seen =
      fc || f->layer->out.rank == 1 ? form_dense_in(f) : LAST;
  struct torch_code *flat = ARENA_NEW(f->arena, struct torch_code);
  if (!fc || f->layer->in[0]->rank == 1)
    return form_in(f, 0, seen);
  *flat = code_new(f->arena);
  struct torch_seen lies = seen.order == ORDER_FLAT ? FIRST : LAST;
  if (form_flat_anyhow(f->layer->in[0]))
    lies = f->in[0];
  code_format(flat, "%c.flatten(1)", form_on(f, 0, lies));
  return flat;
}

void form_dense(struct torch_form *f) {
  const struct param *weight = form_param(f, "weight");
  if (weight->tied) {
    put_tied(f);
    return;
  }
  f->out = form_dense_out(f);
  MAKE(f, "nn.Linear(%i, %i%k)", "in_features", weight->dim[0], "out_features",
       weight->dim[1], "bias", "True", form_truth(form_param(f, "bias")));
  CALL(f, "%m(%c)", form_module(f), dense_input(f));
}

/* How sequences begin */

void form_embed(struct torch_form *f) {
  MAKE(f, "nn.Embedding(%i, %i)", "entries", form_int(f, "entries"), "features",
       form_int(f, "features"));
  CALL(f, "%m(%c)", form_module(f), form_in(f, 0, LAST));
  f->out = LAST;
}

/*
 * As many places as an input of the net has positions: it may be shorter. Rows
 * of a map are not that, of which another size would get other places.
 */
static bool is_any_length(const struct torch_form *f, int64_t places) {
  for (size_t i = 0; i < f->model->sources.count; i++) {
    const struct shape *in = f->model->nodes.at[f->model->sources.at[i]].out;
    bool words = in->rank == 1 && in->dtype != DTYPE_FLOAT;
    if ((words || in->rank == 2) && in->dim[0] == places)
      return true;
  }
  return false;
}

void form_posembed(struct torch_form *f) {
  const struct shape *in = f->layer->in[0];
  const struct param *table = form_param(f, "weight");
  int64_t places = shape_rows(in);
  if (table->sines) {
    f->helpers |= 1u << HELPER_Fixed | 1u << HELPER_sines;
    MAKE(f, "Fixed(weight=sines(%i, %i))", "positions", table->dim[0],
         "features", table->dim[1]);
  } else {
    static const char *const hints[] = {"positions", "features"};
    form_make_learned(f, "0.02 * torch.randn", hints);
  }
  CALL(f, "%c + ", form_on(f, 0, LAST));
  form_parameter(f, &f->call, 0);
  f->out = LAST;
  f->loose = true;
  if (form_int(f, "at") >= 0) { /* the same row for all */
    CALL(f, "[%i]", "row", form_int(f, "at"));
    return;
  }
  if (in->rank == 2 && is_any_length(f, places)) {
    CALL(f, "[:%c.shape[1]]", form_on(f, 0, LAST));
    f->repeats = true;
  } else if (table->dim[0] > places) {
    CALL(f, "[:%i]", "length", places);
  }
  if (in->rank > 2)
    CALL(f, ".reshape%S", form_list(f, in->dim, in->rank));
}

void form_distances(struct torch_form *f) {
  const struct sizes *window = form_sizes(f, "window");
  int64_t buckets = form_int(f, "buckets");
  f->helpers |= 1u << HELPER_Distances;
  MAKE(f, "Distances(%v%k%k%k)", "window",
       form_list(f, window->at, window->rank), "buckets", "None",
       buckets ? form_number(f, buckets) : slice_of("None"), "most", "128",
       form_number(f, form_int(f, "most")), "causal", "False",
       form_truth(form_word(f, "causal")));
  CALL(f, "%m()", form_module(f));
  f->out = (struct torch_seen){.order = ORDER_LAST, .one = true, .views = true};
}

void form_token(struct torch_form *f) {
  static const char *const hints[] = {"count", "features"};
  form_make_learned(f, "0.02 * torch.randn", hints);
  CALL(f, "torch.cat([");
  form_parameter(f, &f->call, 0);
  CALL(f, ".expand(len(%c), -1, -1), %c], 1)", form_in(f, 0, LAST),
       form_in(f, 0, LAST));
  f->out = LAST;
  f->repeats = true;
}

/* Attention */

/* What only netc's own form has, and not nn.MultiheadAttention. */
static bool is_own(const struct torch_form *f) {
  return form_word(f, "causal") || form_int(f, "kv") || form_int(f, "dim") ||
         form_int(f, "window") || form_sizes(f, "relative")->rank ||
         form_word(f, "rope") || form_word(f, "views");
}

static bool is_joint(const struct torch_form *f) {
  return form_given(f, "joint");
}

static bool has_values(const struct torch_form *f) {
  return form_given(f, "values");
}

static bool is_special(const struct torch_form *f) {
  return is_joint(f) || has_values(f) || form_int(f, "out") ||
         form_word(f, "noout") || form_word(f, "scale") ||
         form_word(f, "qknorm") || form_real(f, "softcap") > 0 ||
         form_word(f, "sinks") || form_word(f, "talking") ||
         form_int(f, "rotary") || form_real(f, "base") > 0 ||
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

/* What nn.MultiheadAttention is, and a plain one of its own matrices. */
static bool is_module(const struct torch_form *f) {
  const struct shape *in = f->layer->in[0];
  int last = form_given(f, "cross") || is_joint(f);
  size_t letters = bias_letters(f).length;
  return form_word(f, "packed") && in->rank == 2 && !is_own(f) &&
         !is_special(f) && (letters == 0 || letters == strlen("qkvo")) &&
         shape_channels(in) == shape_channels(f->layer->in[last]) &&
         !f->in[0].one && !f->in[last].one;
}

static void put_module(struct torch_form *f) {
  const struct torch_code *x = form_in(f, 0, LAST);
  const struct torch_code *seen = form_in(f, f->layer->input_count - 1, LAST);
  MAKE(f, "nn.MultiheadAttention(%i, %i%k%k, batch_first=True)", "channels",
       shape_channels(f->layer->in[0]), "heads", form_int(f, "heads"),
       "dropout", "0", form_decimal(f, form_real(f, "dropout")), "bias", "True",
       form_truth(bias_letters(f).length));
  CALL(f, "%m(%c, %c, %c, need_weights=False)[0]", form_module(f), x, seen,
       seen);
}

/* An argument that is 0 unless it is given. */
static struct slice or_none(const struct torch_form *f, const char *arg) {
  int64_t value = form_int(f, arg);
  return value ? form_number(f, value) : slice_of("None");
}

/* The same of a number that need not be whole. */
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

/* Of qkln=own. */
static const char *own_norm(const struct torch_form *f) {
  int64_t dim = form_int(f, "dim");
  struct text text = text_new(f->arena);
  if (!dim)
    dim = shape_channels(f->layer->in[0]) / form_int(f, "heads");
  text_printf(&text, "lambda width, eps: HeadNorm(width, %" PRId64 ", eps)",
              dim);
  return text_string(&text);
}

/* The arguments after those that every attention has. */
static void put_special(struct torch_form *f) {
  static const char *const scales[] = {"\"scores\"", "\"scores\"",
                                       "\"queries\"", "None"};
  struct slice qknorm = {"", 0}; /* qknorm, qkln=all, .. */
  if (form_word(f, "qknorm"))
    qknorm = word_at(form_spec(f, "qknorm")->words, form_word(f, "qknorm"));
  bool ln = qknorm.length > 2 && qknorm.at[2] == 'l';
  bool own = slice_ends(qknorm, "=own");
  bool all = own || slice_ends(qknorm, "=all");
  const char *norm = !qknorm.length ? "None" : ln ? "nn.LayerNorm" : "RMSNorm";
  struct slice out = or_none(f, "out");
  double cap = form_real(f, "softcap");
  if (form_word(f, "noout"))
    out = form_number(f, 0);
  if (qknorm.length && !ln)
    f->helpers |= 1u << HELPER_RMSNorm;
  if (own) {
    f->helpers |= 1u << HELPER_HeadNorm;
    norm = own_norm(f);
  }
  MAKE(f, "%k%k%k%k%k%k%k%k%k%k%k", "out", "None", out, "scale", "\"scores\"",
       slice_of(scales[form_word(f, "scale")]), "norm", "None", slice_of(norm),
       "norm_all", "False", form_truth(all), "softcap", "None",
       cap > 0 ? form_decimal(f, cap) : slice_of("None"), "sinks", "False",
       form_truth(form_word(f, "sinks")), "talking", "False",
       form_truth(form_word(f, "talking")), "rotary", "None",
       or_none(f, "rotary"), "base", "10000", real_or(f, "base", "10000"),
       "stretch", "1", real_or(f, "stretch", "1"), "trained", "None",
       or_none(f, "trained"));
}

static void put_attention(struct torch_form *f, const char *name) {
  const struct sizes *window = form_sizes(f, "relative");
  int64_t channels = shape_channels(f->layer->in[0]);
  int at = form_given(f, "cross") || is_joint(f);
  int64_t seen = shape_channels(f->layer->in[at]);
  struct slice none = slice_of("None");
  int64_t other = seen;
  if (is_joint(f))
    seen = channels;
  MAKE(f, "%s(%i, %i%k%k%k%k%k%k%k%k%k", name, "channels", channels, "heads",
       form_int(f, "heads"), "kv_heads", "None", or_none(f, "kv"), "dim",
       "None", or_none(f, "dim"), "seen", "None",
       seen == channels ? none : form_number(f, seen), "bias", "\"qkvo\"",
       quoted(f, bias_letters(f)), "causal", "False",
       form_truth(form_word(f, "causal")), "window", "None",
       or_none(f, "window"), "relative", "None",
       window->rank ? form_list(f, window->at, window->rank) : none, "rope",
       "False", form_truth(form_word(f, "rope")), "dropout", "0",
       form_decimal(f, form_real(f, "dropout")));
  if (is_joint(f))
    MAKE(f, ", other=%i", "other", other);
  if (has_values(f))
    MAKE(f, ", values=%i", "values", shape_channels(f->layer->in[at + 1]));
  if (is_special(f))
    put_special(f);
  MAKE(f, ")");
  CALL(f, "%m(%c", form_module(f), form_in(f, 0, LAST));
  if (has_values(f))
    CALL(f, ", (%c, %c)", form_in(f, at, LAST), form_in(f, at + 1, LAST));
  else if (f->layer->input_count > 1)
    CALL(f, ", %c", form_in(f, 1, LAST));
  CALL(f, ")");
}

/* One bias for a packed matrix, or none. */
static bool is_bias_whole(const struct torch_form *f) {
  struct slice letters = bias_letters(f);
  bool all = has_letter(letters, 'q') && has_letter(letters, 'k') &&
             has_letter(letters, 'v');
  bool any = has_letter(letters, 'q') || has_letter(letters, 'k') ||
             has_letter(letters, 'v');
  return all == any;
}

/* Whose file calls the matrices so. */
static void put_qkv(struct torch_form *f) {
  if (f->layer->input_count > 1 || form_int(f, "out") || form_word(f, "noout"))
    f->refuses = "the names `qkv` and `proj` are of an attention of one "
                 "sequence, and as wide";
  f->helpers |= 1u << HELPER_QkvAttention;
  put_attention(f, "QkvAttention");
}

void form_attention(struct torch_form *f) {
  bool packed = form_word(f, "packed") || form_word(f, "views");
  bool qkv = f->given && f->given[f->index].qkv;
  f->out = LAST;
  f->repeats = true;
  if (packed && !is_bias_whole(f)) {
    f->refuses = "a bias of parts of a packed matrix";
  } else if (qkv) {
    put_qkv(f);
  } else if (is_module(f)) {
    put_module(f);
  } else {
    static const char *const names[4][2] = {
        {"Attention", "PackedAttention"},
        {"SpecialAttention", "PackedSpecialAttention"},
        {"JointAttention", "PackedJointAttention"},
        {"ValuesAttention"}};
    static const enum helper own[4][2] = {
        {HELPER_Attention, HELPER_PackedAttention},
        {HELPER_SpecialAttention, HELPER_PackedSpecialAttention},
        {HELPER_JointAttention, HELPER_PackedJointAttention},
        {HELPER_ValuesAttention}};
    int kind = has_values(f) ? 3 : is_joint(f) ? 2 : is_special(f);
    f->helpers |= 1u << own[kind][packed];
    put_attention(f, names[kind][packed]);
  }
}

/* Recurrent */

void form_recurrent(struct torch_form *f) {
  bool lstm = f->word == WORD_LSTM, bidir = form_word(f, "bidir");
  bool last = form_word(f, "last");
  if (form_word(f, "bias") == 2)
    f->refuses = "one bias of each gate, where PyTorch has two";
  if (form_word(f, "reset") == 2)
    f->refuses = "`reset=before`: PyTorch's reset gate acts after the product";
  MAKE(f, "nn.%s(%i, %i%k%k, batch_first=True%k%k%k)",
       lstm                  ? "LSTM"
       : f->word == WORD_GRU ? "GRU"
                             : "RNN",
       "features", shape_channels(f->layer->in[0]), "units",
       form_int(f, "units"), "num_layers", "1",
       form_number(f, form_int(f, "layers")), "bias", "True",
       form_truth(!form_word(f, "nobias")), "dropout", "0",
       form_decimal(f, form_real(f, "dropout")), "bidirectional", "False",
       form_truth(bidir), "proj_size", "0",
       form_number(f, form_int(f, "proj")));
  if (last && bidir)
    CALL(f, "torch.cat(list(");
  CALL(f, "%m(%c)", form_module(f), form_in(f, 0, LAST));
  CALL(f, !last ? "[0]" : lstm ? "[1][0]" : "[1]");
  if (last)
    CALL(f, bidir ? "[-2:]), 1)" : "[-1]");
  f->out = LAST;
}
