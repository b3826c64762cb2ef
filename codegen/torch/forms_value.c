/* Layers that work value by value: norms, activations, learned factors. */
#include "codegen/torch/form.h"

/* Norms */

/* A norm with a scale but no shift; the modules of torch.nn have both. */
static const char *start_norm(struct torch_form *f) {
  if (!form_param(f, "weight") || form_param(f, "bias"))
    return ")";
  f->helpers |= HELPER_BIT << HELPER_without_bias;
  MAKE(f, "without_bias(");
  return "))";
}

static void call_module(struct torch_form *f, struct torch_seen map) {
  f->out = form_by_value(f, map);
  CALL(f, "%m(%c)", form_module(f), form_in(f, 0, f->out));
}

static int64_t axes_of_norm(struct torch_form *f) {
  int axes = shape_spatial(f->layer->in[0]);
  if (axes > 3)
    f->refuses = "more than 3 axes of positions, which PyTorch's norms of "
                 "channels do not take";
  return axes ? axes : 1;
}

void form_bn(struct torch_form *f) {
  const char *end = start_norm(f);
  MAKE(f, "nn.BatchNorm%dd(%i%k%k%s", axes_of_norm(f), "channels",
       shape_channels(f->layer->in[0]), "eps", "1e-05",
       form_decimal(f, form_real(f, "eps")), "affine", "True",
       form_truth(form_param(f, "weight")), end);
  call_module(f, FIRST);
}

/* A norm without weights is a function. */
void form_instnorm(struct torch_form *f) {
  bool affine = form_param(f, "weight");
  int64_t axes = axes_of_norm(f);
  if (affine) {
    const char *end = start_norm(f);
    MAKE(f, "nn.InstanceNorm%dd(%i%k, affine=True%s", axes, "channels",
         shape_channels(f->layer->in[0]), "eps", "1e-05",
         form_decimal(f, form_real(f, "eps")), end);
    call_module(f, FIRST);
    return;
  }
  f->out = FIRST;
  CALL(f, "F.instance_norm(%c%k)", form_in(f, 0, FIRST), "eps", "1e-05",
       form_decimal(f, form_real(f, "eps")));
}

/* In a file's vector, the groups of a flattened map are not contiguous. */
void form_gn(struct torch_form *f) {
  struct torch_seen seen = form_by_value(f, FIRST);
  struct slice eps = form_decimal(f, form_real(f, "eps"));
  if (form_param(f, "weight")) {
    if (seen.order == ORDER_FLAT)
      f->refuses = "groups of a flattened map, whose channels are not "
                   "contiguous";
    const char *end = start_norm(f);
    MAKE(f, "nn.GroupNorm(%i, %i%k%s", "groups", form_int(f, "groups"),
         "channels", shape_channels(f->layer->in[0]), "eps", "1e-05", eps, end);
    call_module(f, FIRST);
    return;
  }
  f->out = f->layer->in[0]->rank > 1 ? FIRST : LAST;
  CALL(f, "F.group_norm(%c, %i%k)", form_in(f, 0, f->out), "groups",
       form_int(f, "groups"), "eps", "1e-05", eps);
}

void form_ln(struct torch_form *f) {
  struct slice eps = form_decimal(f, form_real(f, "eps"));
  int64_t channels = shape_channels(f->layer->in[0]);
  if (form_param(f, "weight")) {
    const char *end = start_norm(f);
    MAKE(f, "nn.LayerNorm(%i%k%s", "channels", channels, "eps", "1e-05", eps,
         end);
    call_module(f, LAST);
    return;
  }
  f->out = LAST;
  CALL(f, "F.layer_norm(%c, (%i,)%k)", form_in(f, 0, LAST), "channels",
       channels, "eps", "1e-05", eps);
}

void form_rmsnorm(struct torch_form *f) {
  struct slice eps = form_decimal(f, form_real(f, "eps"));
  if (form_param(f, "weight")) {
    f->helpers |= HELPER_BIT << HELPER_RMSNorm;
    MAKE(f, "RMSNorm(%i, eps=%v)", "channels", shape_channels(f->layer->in[0]),
         "eps", eps);
    call_module(f, LAST);
    return;
  }
  f->helpers |= HELPER_BIT << HELPER_rms_norm;
  f->out = LAST;
  CALL(f, "rms_norm(%c, (%i,), eps=%v)", form_in(f, 0, LAST), "channels",
       shape_channels(f->layer->in[0]), "eps", eps);
}

void form_lrn(struct torch_form *f) {
  f->out = FIRST;
  CALL(f, "F.local_response_norm(%c, %i)", form_in(f, 0, FIRST), "size",
       form_int(f, "size"));
}

/* The last axis in PyTorch, in the order of the input. */
static int64_t last_dim(const struct torch_form *f, struct torch_seen seen) {
  const struct shape *in = f->layer->in[0];
  return form_dim(in, in->rank - 1, seen.order);
}

void form_l2norm(struct torch_form *f) {
  CALL(f, "F.normalize(%c, dim=%d%k)", form_in(f, 0, f->in[0]),
       last_dim(f, f->in[0]), "eps", "1e-12",
       form_decimal(f, form_real(f, "eps")));
}

/* Activations */

static void end_activation(struct torch_form *f) {
  bool over = f->layer->kind->overwrites && f->in_place && !f->in[0].views;
  CALL(f, over ? ", inplace=True)" : ")");
}

void form_function(struct torch_form *f) {
  CALL(f, "%s(%c", function_of(f->word)->call, form_in(f, 0, f->in[0]));
  end_activation(f);
}

void form_hardtanh(struct torch_form *f) {
  CALL(f, "F.hardtanh(%c%k%k", form_in(f, 0, f->in[0]), "min_val", "-1",
       form_decimal(f, form_real(f, "low")), "max_val", "1",
       form_decimal(f, form_real(f, "high")));
  end_activation(f);
}

static void put_activation(struct torch_form *f, const char *call,
                           const char *arg, const char *key,
                           const char *usual) {
  CALL(f, "%s(%c%k", call, form_in(f, 0, f->in[0]), key, usual,
       form_decimal(f, form_real(f, arg)));
  end_activation(f);
}

void form_leaky(struct torch_form *f) {
  put_activation(f, "F.leaky_relu", "slope", "negative_slope", "0.01");
}

void form_elu(struct torch_form *f) {
  put_activation(f, "F.elu", "alpha", "alpha", "1");
}

void form_celu(struct torch_form *f) {
  put_activation(f, "F.celu", "alpha", "alpha", "1");
}

void form_gelu(struct torch_form *f) {
  CALL(f, "F.gelu(%c", form_in(f, 0, f->in[0]));
  if (form_word(f, "approximate"))
    CALL(f, "%k", "approximate", "\"none\"", slice_of("\"tanh\""));
  end_activation(f);
}

void form_prelu(struct torch_form *f) {
  if (form_word(f, "shared")) {
    MAKE(f, "nn.PReLU()");
    CALL(f, "%m(%c)", form_module(f), form_in(f, 0, f->in[0]));
    return;
  }
  MAKE(f, "nn.PReLU(%i)", "channels", shape_channels(f->layer->in[0]));
  call_module(f, FIRST);
}

void form_softmax(struct torch_form *f) {
  bool log = f->word == WORD_LOGSOFTMAX;
  const struct axes *axis = form_axes(f, "axis");
  const struct shape *in = f->layer->in[0];
  int at = axis->count ? axis_index(axis->at[0], in) : in->rank - 1;
  if (!log && form_word(f, "causal")) {
    f->helpers |= HELPER_BIT << HELPER_causal;
    f->out = LAST;
    CALL(f, "F.softmax(causal(%c), -1)", form_in(f, 0, LAST));
    return;
  }
  CALL(f, "F.%s(%c, %d)", log ? "log_softmax" : "softmax",
       form_in(f, 0, f->in[0]), (int64_t)form_dim(in, at, f->in[0].order));
}

/* Halves of a flattened map would not be contiguous. */
void form_glu(struct torch_form *f) {
  struct torch_seen seen = f->layer->in[0]->rank > 1 ? f->in[0] : LAST;
  f->out = seen;
  f->out.views = false;
  CALL(f, "F.glu(%c, %d)", form_in(f, 0, seen), last_dim(f, seen));
}

void form_identity(struct torch_form *f) {
  CALL(f, "%c", form_in(f, 0, f->in[0]));
  f->out.views = f->in[0].views || !f->alone; /* it is the same tensor */
}

/* A rate of 0 is the identity. */
void form_dropout(struct torch_form *f) {
  double p = form_real(f, "p");
  if (p == 0) {
    form_identity(f);
    return;
  }
  CALL(f, "F.dropout(%c, %v, self.training", form_in(f, 0, f->in[0]), "dropout",
       form_decimal(f, p));
  end_activation(f);
  f->out.views = f->in[0].views || !f->alone; /* in inference */
}

void form_droppath(struct torch_form *f) {
  double p = form_real(f, "p");
  if (p == 0) {
    form_identity(f);
    return;
  }
  f->helpers |= HELPER_BIT << HELPER_drop_path;
  CALL(f, "drop_path(%c, %v, self.training)", form_in(f, 0, f->in[0]),
       "drop_path", form_decimal(f, p));
  f->out.views = f->in[0].views || !f->alone; /* in inference */
}

/* Learned */

/* A vector of channels for a map with channels first. */
static void put_vector(struct torch_form *f, size_t number,
                       struct torch_seen seen) {
  int after = f->layer->in[0]->rank - 1;
  form_parameter(f, &f->call, number);
  if (seen.order != ORDER_FIRST || after == 0)
    return;
  CALL(f, "[:");
  for (int i = 0; i < after; i++)
    CALL(f, ", None");
  CALL(f, "]");
}

enum { WEIGHT, BIAS }; /* in the order of the layer */

static void make_vectors(struct torch_form *f) {
  static const char *const hints[] = {"channels"};
  int64_t channels = shape_channels(f->layer->in[0]);
  if (!form_param(f, "bias")) {
    form_make_learned(f, "torch.ones", hints);
    return;
  }
  f->helpers |= HELPER_BIT << HELPER_Learned;
  MAKE(f, "Learned(weight=torch.ones(%i), bias=torch.zeros(%i))", "channels",
       channels, "channels", channels);
}

void form_scale(struct torch_form *f) {
  struct torch_seen seen = form_by_value(f, f->in[0]);
  make_vectors(f);
  CALL(f, "%c * ", form_on(f, 0, seen));
  put_vector(f, WEIGHT, seen);
  if (form_param(f, "bias")) {
    CALL(f, " + ");
    put_vector(f, BIAS, seen);
  }
  f->out = seen;
  f->loose = true;
}

void form_affine(struct torch_form *f) {
  struct torch_seen seen = form_by_value(f, f->in[0]);
  make_vectors(f);
  CALL(f, "torch.addcmul(");
  put_vector(f, BIAS, seen);
  CALL(f, ", %c, ", form_in(f, 0, seen));
  put_vector(f, WEIGHT, seen);
  CALL(f, ")");
  f->out = seen;
}

void form_weight(struct torch_form *f) {
  static const char *const hints[LIMIT_RANK] = {"size", "size", "size", "size",
                                                "size", "size", "size", "size"};
  const struct shape *shape = &f->layer->out;
  if (form_word(f, "fixed")) {
    f->helpers |= HELPER_BIT << HELPER_Fixed;
    MAKE(f, "Fixed(weight=torch.randn(%v))", "shape",
         form_list(f, shape->dim, shape->point ? 0 : shape->rank));
  } else {
    form_make_learned(f, "torch.randn", hints);
  }
  form_parameter(f, &f->call, 0);
  /* The weights of a file have at most 5 axes: layers/learned.c. */
  if (!form_word(f, "fixed") && !shape->point &&
      f->params.all.at[0].rank < shape->rank)
    CALL(f, ".view%S", form_list(f, shape->dim, shape->rank));
  f->out = (struct torch_seen){
      .order = ORDER_LAST, .one = !f->node->repeated, .views = true};
  if (f->node->repeated)
    CALL(f, ".expand(len(%x)", 0);
  else if (!shape->point)
    CALL(f, "[None]");
  for (int i = 0; f->node->repeated && i < shape->rank; i++)
    CALL(f, i + 1 < shape->rank ? ", -1" : ", -1)");
}
