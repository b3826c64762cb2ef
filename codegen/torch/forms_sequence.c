/* Dense layers and layers for sequences. */
#include "codegen/torch/form.h"

/* Dense */

/* The layer whose weights another one uses. */
struct tie {
  bool transposed;           /* its outputs are the inputs here */
  struct torch_seen in, out; /* order of the values in vectors */
};

/* Weights are O x I of the owner, in the order of its vectors. */
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

/* True if the order fits: a bias has its file's order, and rows of vectors are
 * not reordered. */
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
    f->helpers |= HELPER_BIT << HELPER_Learned;
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
  const struct param *weight = form_matrix(f);
  if (weight->tied) {
    put_tied(f);
    return;
  }
  f->out = form_dense_out(f);
  const char *end = form_start_weights(f);
  MAKE(f, "nn.Linear(%i, %i%k%s", "in_features", weight->dim[0], "out_features",
       weight->dim[1], "bias", "True", form_truth(form_param(f, "bias")), end);
  CALL(f, "%m(%c)", form_module(f), dense_input(f));
}

/* Starts of sequences */

void form_embed(struct torch_form *f) {
  MAKE(f, "nn.Embedding(%i, %i)", "entries", form_int(f, "entries"), "features",
       form_int(f, "features"));
  CALL(f, "%m(%c)", form_module(f), form_in(f, 0, LAST));
  f->out = LAST;
}

/*
 * True if the places are as many as an input has tokens, which may be fewer at
 * run time. Rows of a map do not count, since another size would get other
 * places.
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
    f->helpers |= HELPER_BIT << HELPER_Fixed | HELPER_BIT << HELPER_sines;
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
  if (form_int(f, "at") >= 0) { /* one row for all */
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
  f->helpers |= HELPER_BIT << HELPER_Distances;
  MAKE(f, "Distances(%v%k%k%k%k)", "window",
       form_list(f, window->at, window->rank), "buckets", "None",
       buckets ? form_number(f, buckets) : slice_of("None"), "most", "128",
       form_number(f, form_int(f, "most")), "causal", "False",
       form_truth(form_word(f, "causal")), "buffer", "False",
       form_truth(form_word(f, "buffer")));
  CALL(f, "%m()", form_module(f));
  f->out = (struct torch_seen){
      .order = ORDER_LAST, .one = true, .table = true, .views = true};
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

/* Recurrent */

void form_recurrent(struct torch_form *f) {
  bool lstm = f->word == WORD_LSTM, bidir = form_word(f, "bidir");
  bool last = form_word(f, "last"), keeps = form_word(f, "keepcell");
  bool given = form_given(f, "state");
  if (form_word(f, "bias") == 2)
    f->refuses = "one bias for each gate, but PyTorch has two";
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
  if (keeps)
    f->helpers |= HELPER_BIT << HELPER_with_cell;
  CALL(f, keeps ? "with_cell(*" : last && bidir ? "torch.cat(list(" : "");
  CALL(f, "%m(%c", form_module(f), form_in(f, 0, LAST));
  if (given)
    CALL(f, lstm ? ", (" : ", ");
  for (int i = 1; i <= (given ? 1 + lstm : 0); i++)
    CALL(f, "%s%c.reshape(1, -1, %i)", i > 1 ? ", " : "", form_in(f, i, LAST),
         "units", form_int(f, "units"));
  CALL(f, given && lstm ? "))" : ")");
  CALL(f, keeps ? ")" : !last ? "[0]" : lstm ? "[1][0]" : "[1]");
  if (last)
    CALL(f, bidir ? "[-2:]), 1)" : "[-1]");
  f->out = LAST;
}

/* Sizes as in layers/sequence/ssm.c, by the shapes of the parameters. */
void form_ssm(struct torch_form *f) {
  bool heads = form_int(f, "heads") > 0;
  int64_t channels = shape_channels(f->layer->in[0]);
  int64_t inner = form_param(f, "out_proj.weight")->dim[0];
  int64_t mixed = form_param(f, "conv1d.weight")->dim[2];
  int64_t groups = form_int(f, "groups");
  struct slice conv = form_number(f, form_int(f, "conv"));
  struct slice conv_bias = form_truth(form_param(f, "conv1d.bias"));
  struct slice proj_bias = form_truth(form_param(f, "in_proj.bias"));
  f->out = LAST;
  CALL(f, "%m(%c)", form_module(f), form_in(f, 0, LAST));
  if (heads) {
    f->helpers |= HELPER_BIT << HELPER_HeadsScan;
    MAKE(f, "HeadsScan(%i, %i, %i, %i%k%k%k%k%k)", "channels", channels,
         "inner", inner, "state", (mixed - inner) / (2 * groups), "heads",
         form_int(f, "heads"), "groups", "1", form_number(f, groups), "conv",
         "4", conv, "conv_bias", "True", conv_bias, "proj_bias", "False",
         proj_bias, "norm", "True", form_truth(form_param(f, "norm.weight")));
    return;
  }
  f->helpers |= HELPER_BIT << HELPER_SelectiveScan;
  MAKE(f, "SelectiveScan(%i, %i, %i, %i%k%k%k)", "channels", channels, "inner",
       inner, "state", form_param(f, "A_log")->dim[1], "rank",
       form_param(f, "dt_proj.weight")->dim[0], "conv", "4", conv, "conv_bias",
       "True", conv_bias, "proj_bias", "False", proj_bias);
}

void form_deltanet(struct torch_form *f) {
  bool channels = form_word(f, "decay") == 2;
  bool packed = form_word(f, "packed");
  int64_t heads = form_int(f, "heads"), kheads = form_int(f, "kheads");
  int64_t dim = form_int(f, "dim"), vdim = form_int(f, "vdim");
  f->out = LAST;
  f->helpers |= channels ? HELPER_BIT << HELPER_ChannelDeltaNet
                         : HELPER_BIT << HELPER_DeltaNet;
  MAKE(f, "%s(%i, %i, %i, %i, %i%k%k)",
       channels ? "ChannelDeltaNet" : "DeltaNet", "channels",
       shape_channels(f->layer->in[0]), "heads", heads, "kheads",
       kheads ? kheads : heads, "dim", dim, "vdim", vdim ? vdim : dim, "conv",
       "4", form_number(f, form_int(f, "conv")), channels ? "low" : "packed",
       channels ? "True" : "False",
       form_truth(channels ? form_word(f, "gate") != 1 : packed));
  CALL(f, "%m(%c)", form_module(f), form_in(f, 0, LAST));
}

/* Experts */

/* The features of the experts' sum. */
static int64_t summed_channels(const struct torch_form *f) {
  const struct model *model = f->model;
  if (form_int(f, "latent"))
    return form_int(f, "latent");
  for (size_t i = (size_t)f->index + 1; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    if (node->kind->front && node_input(model, node, 1) == f->index)
      return shape_channels(node->out);
  }
  return shape_channels(f->layer->in[0]);
}

/*
 * One expert after the other runs on the tokens that chose it, as in
 * MixtralSparseMoeBlock of transformers. Its rows get as many axes in front as
 * layers expect.
 */
void form_router(struct torch_form *f) {
  static const char *const words[] = {"False", "True"};
  double scale = form_real(f, "scale");
  int64_t latent = form_int(f, "latent");
  bool limited = form_real(f, "capacity") > 0;
  if (f->node->copies != 1)
    f->refuses = "experts inside of experts";
  f->helpers |= HELPER_BIT << HELPER_route;
  f->out = LAST;
  f->repeats = f->opens = true;
  int64_t channels = shape_channels(f->layer->in[0]);
  struct slice bias = slice_of(words[form_word(f, "bias") != 0]);
  if (latent) {
    f->helpers |= HELPER_BIT << HELPER_LatentRouter;
    MAKE(f, "LatentRouter(%i, %i, %i%k)", "channels", channels, "experts",
         form_int(f, "experts"), "latent", latent, "bias", "True", bias);
  } else {
    MAKE(f, "nn.Linear(%i, %i%k)", "channels", channels, "experts",
         form_int(f, "experts"), "bias", "True", bias);
  }
  if (limited) {
    CALL(f, "tokens = %c\nsamples = len(tokens)\n", form_in(f, 0, LAST));
    CALL(f, "tokens = tokens.flatten(0, -2)\n");
  } else {
    CALL(f, "tokens = %c.flatten(0, -2)\n", form_on(f, 0, LAST));
  }
  CALL(f, "weights, chosen = route(%m(tokens), %i%k%k%k)\n", form_module(f),
       "top", form_int(f, "top"), "norm", "True",
       form_truth(form_word(f, "norm") == 1), "sigmoid", "False",
       form_truth(form_word(f, "scores") == 2), "scale", "None",
       scale > 0 ? form_decimal(f, scale) : slice_of("None"));
  if (limited) {
    f->helpers |= HELPER_BIT << HELPER_admit;
    CALL(f, "chosen = admit(chosen, samples, %i)\n", "room",
         f->layer->out.dim[1]);
  }
  if (latent)
    CALL(f, "tokens = %m.fc1_latent_proj(tokens)\n", form_module(f));
  CALL(f, "total = tokens.new_zeros(len(tokens), %i)\n", "channels",
       summed_channels(f));
  CALL(f, "for expert in range(%i):\n", "experts", form_int(f, "experts"));
  CALL(f, "    at, place = torch.where(chosen == expert)\ntokens[at]");
  for (int i = 1; i < f->layer->out.rank; i++)
    CALL(f, i == 1 ? "[None" : ", None");
  CALL(f, "]");
}

void form_moe(struct torch_form *f) {
  f->out = LAST;
  f->repeats = f->closes = true;
  CALL(f, "rows = %c.flatten(0, -2) * weights[at, place, None]\n",
       form_on(f, 0, LAST));
  CALL(f, "total.index_add_(0, at, rows.to(total.dtype))\n");
  if (form_int(f, "latent")) {
    MAKE(f,
         "nn.ModuleDict(dict(fc2_latent_proj=nn.Linear(%i, %i, "
         "bias=False)))",
         "latent", form_int(f, "latent"), "channels",
         shape_channels(&f->layer->out));
    CALL(f, "%m[\"fc2_latent_proj\"](total)", form_module(f));
  } else {
    CALL(f, "total");
  }
  CALL(f, ".view(*%c.shape[:-1], -1)", form_on(f, 2, LAST));
}
