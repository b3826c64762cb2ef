/* Weights in files, and in the block that inference reads. */
#include <string.h>

#include "layers/param.h"
#include "library/context.h"
#include "memory/program.h"
#include "memory/q8.h"
#include "sema/model/file_maps.h"
#include "sema/model/weight_block.h"
#include "sema/model/weights.h"

struct weights {
  VEC(struct netc_weight) files;
  VEC(const char *) own_names; /* names in files, inside their layers: weight */
  VEC(const char *) torch;     /* names in files, on demand */
  VEC(struct netc_tensor) tensors;
  int64_t *tensor_of; /* by parameter of the model */
};

struct found {
  size_t tensor, file;
};

struct collecting {
  struct load *load;
  const struct model *model;
  struct arena *arena; /* of the load */
  struct weights *weights;
  struct weight_block block;
  struct params params;
  const struct shape **in; /* room for a layer's inputs */
  struct file_maps maps;
  const struct program *program; /* in 8 bits, or NULL */
  /* By parameter of a layer: indices + 1 of its tensor and file. */
  VEC(struct found) found;
};

static void view_param(const struct collecting *c, size_t index,
                       const struct param *param, struct param_view *view) {
  const struct node *node = &c->model->nodes.at[index];
  const struct shape *in = NULL, *out = c->maps.vector[index];
  if (node->input_count == 1 && node->out->rank == 1) {
    int64_t from = node_input(c->model, node, 0);
    in = c->maps.vector[from];
    if (model_input(c->model, node)->rank > 1 && c->maps.channels_first[from])
      in = model_input(c->model, node);
  }
  param_view(param, in, out ? out : c->maps.becoming[index], view);
}

/* Lists */

static int64_t *keep_sizes(struct collecting *c, const int64_t *sizes,
                           int count) {
  int64_t *kept = arena_alloc(c->arena, (size_t)count + 1, sizeof *kept);
  memcpy(kept, sizes, (size_t)count * sizeof *kept);
  return kept;
}

static const char *file_name(struct collecting *c, size_t index,
                             const char *name) {
  struct text text = text_new(c->arena);
  for (const char *at = load_layer_name(c->load, index); *at; at++)
    if (*at != ']') /* skip[3] is skip.3, as in a ModuleList */
      text_putc(&text, *at == '[' ? '.' : *at);
  text_printf(&text, ".%s", name);
  return context_keep(c->arena, text_slice(&text)).at;
}

/* The file's tensor of a parameter, which another part of it may share. */
static size_t add_file(struct collecting *c, size_t index,
                       const struct param *param,
                       const struct param_view *view) {
  const char *name = file_name(c, index, param->name);
  for (size_t i = c->weights->files.count; param->rows && i-- > 0;) {
    const struct netc_weight *file = &c->weights->files.at[i];
    if (file->layer != (int64_t)index)
      break;
    if (strcmp(file->name, name) == 0)
      return i;
  }
  *VEC_PUSH(c->arena, &c->weights->files) =
      (struct netc_weight){.name = name,
                           .layer = (int64_t)index,
                           .rank = view->rank,
                           .dims = keep_sizes(c, view->dim, view->rank),
                           .count = view->count,
                           .buffer = param->buffer,
                           .trained = !param->buffer && !param->fixed,
                           .center = param->center,
                           .spread = param->spread,
                           .sines = param->sines};
  *VEC_PUSH(c->arena, &c->weights->own_names) = param->name;
  return c->weights->files.count - 1;
}

static double eps_of(const struct node *node) {
  const struct arg_spec *spec = node->kind->specs;
  for (; spec && spec->name; spec++)
    if (spec->type == TYPE_REAL && strcmp(spec->name, "eps") == 0)
      return *(const double *)((const char *)node->args + spec->offset);
  return 0;
}

/* Byte offset of a tensor with `wide` bias values before it. */
static int64_t byte_offset(const struct collecting *c, int64_t at, int64_t wide,
                           bool bias) {
  if (at < 0)
    return -1;
  if (!c->program)
    return at * 4;
  return bias ? wide * 4 : c->program->narrow + at - wide;
}

/* Sets offset, type and scales of a tensor with fewer bits. */
static void make_narrow(const struct collecting *c, size_t stored,
                        struct netc_tensor *tensor) {
  const struct infer_settings *infer = &c->load->settings.infer;
  int bits = weight_block_narrow_bits(infer);
  tensor->scales = -1;
  if (c->block.narrow[stored] < 0)
    return;
  tensor->offset = 4 * c->block.count + c->block.narrow[stored] * bits / 8;
  tensor->type = infer->weight_dtype == KERNELS_I8    ? NETC_I8
                 : infer->weight_dtype == KERNELS_F16 ? NETC_F16
                                                      : NETC_BF16;
  if (c->block.scale[stored] >= 0)
    tensor->scales = 4 * c->block.scale[stored];
}

static enum netc_type type_of(const struct collecting *c, bool bias) {
  return !c->program ? NETC_FLOAT : bias ? NETC_I32 : NETC_I8;
}

static void add_tensor(struct collecting *c, size_t index, size_t number) {
  const struct node *node = &c->model->nodes.at[index];
  const struct param *param = &c->params.all.at[number];
  size_t stored = node->first_param + number;
  struct param_view view;
  if (c->model->params.at[stored].same != stored)
    return;
  view_param(c, index, param, &view);
  size_t file = add_file(c, index, param, &view);
  if (node->train_only)
    return; /* inference does not read it */
  c->found.at[number] = (struct found){c->weights->tensors.count + 1, file + 1};
  c->weights->tensor_of[stored] = (int64_t)c->weights->tensors.count;
  *VEC_PUSH(c->arena, &c->weights->tensors) = (struct netc_tensor){
      .layer = (int64_t)index,
      .name = param->name,
      .weight = (int64_t)file,
      .first = view.first,
      .rank = view.axes,
      .dims = keep_sizes(c, view.size, view.axes),
      .strides = keep_sizes(c, view.stride, view.axes),
      .count = c->model->params.at[stored].count,
      .offset = byte_offset(c, c->block.at[stored], c->block.wide[stored],
                            c->model->params.at[stored].bias),
      .type = type_of(c, c->model->params.at[stored].bias),
      .norm = c->block.norm[stored],
      .eps = eps_of(node),
      .parts = {-1, -1, -1}};
  make_narrow(c, stored,
              &c->weights->tensors.at[c->weights->tensors.count - 1]);
}

/* Sets the tensors from which a weight is computed; all of them exist by
 * now. */
static void add_parts(struct collecting *c, size_t number) {
  static const enum netc_computed ways[] = {
      [WEIGHTS_PLAIN] = NETC_AS_STORED,
      [WEIGHTS_WNORM] = NETC_WEIGHT_NORM,
      [WEIGHTS_SPECTRAL] = NETC_SPECTRAL_NORM,
      [WEIGHTS_WS] = NETC_STANDARDISED,
      [WEIGHTS_DORA] = NETC_DORA,
      [WEIGHTS_PADDED] = NETC_LORA_PADDED};
  const struct param *param = &c->params.all.at[number];
  if (!c->found.at[number].tensor)
    return;
  struct netc_tensor *tensor =
      &c->weights->tensors.at[c->found.at[number].tensor - 1];
  tensor->computed = ways[param->computed];
  tensor->factor = param->factor;
  tensor->axis = param->order == FILE_IN_FIRST ? 1 : 0;
  for (int i = 0; i < COMPUTED_PARTS; i++)
    if (param->parts[i])
      tensor->parts[i] =
          (int64_t)c->found.at[(int64_t)number + param->parts[i]].file - 1;
}

static void add_made_bias(struct collecting *c, size_t index) {
  const struct node *node = &c->model->nodes.at[index];
  int64_t channels = shape_channels(node->out);
  if (c->block.bias[index] < 0)
    return;
  *VEC_PUSH(c->arena, &c->weights->tensors) = (struct netc_tensor){
      .layer = (int64_t)index,
      .name = "bias",
      .weight = -1,
      .rank = 1,
      .dims = keep_sizes(c, &channels, 1),
      .strides = keep_sizes(c, &channels, 1),
      .count = channels,
      .offset =
          byte_offset(c, c->block.bias[index], c->block.made_wide[index], true),
      .type = type_of(c, true),
      .norm = c->block.made[index],
      .parts = {-1, -1, -1},
      .scales = -1};
}

static void collect_node(struct collecting *c, size_t index) {
  struct layer layer = model_layer(c->model, (int64_t)index, c->in);
  c->params.all.count = 0;
  layer_params(&layer, &c->params);
  c->found.count = 0;
  for (size_t i = 0; i < c->params.all.count; i++)
    *VEC_PUSH(c->arena, &c->found) = (struct found){0, 0};
  for (size_t i = 0; i < c->params.all.count; i++)
    add_tensor(c, index, i);
  for (size_t i = 0; i < c->params.all.count; i++)
    add_parts(c, i);
  add_made_bias(c, index);
}

static void collect(struct call *call) {
  struct load *load = call->netc->load;
  const struct inference *inference = &load->compiled.memory.inference;
  struct collecting c = {.load = load,
                         .model = &load->model,
                         .arena = &load->arena,
                         .weights = ARENA_NEW(&load->arena, struct weights),
                         .params = {.arena = &load->arena},
                         .in = model_layer_room(&load->model)};
  weight_block_find(c.model, &load->settings.infer, inference->folds.at,
                    inference->folds.count, &call->scratch, &c.block);
  file_maps_find(c.model, &call->scratch, &c.maps);
  if (q8_is_on(&load->settings.infer))
    c.program = load_program(load);
  c.weights->tensor_of = arena_alloc(c.arena, c.model->params.count + 1,
                                     sizeof *c.weights->tensor_of);
  for (size_t i = 0; i < c.model->nodes.count; i++)
    collect_node(&c, i);
  load->weights = c.weights;
}

static void call_weights(struct call *call) {
  const struct load *load = call->netc->load;
  if (!load || !load->compiled.model)
    call->status = NETC_USAGE;
  else if (!load->weights)
    collect(call);
}

int64_t load_tensor(struct call *call, size_t param) {
  call_weights(call);
  return call->netc->load->weights->tensor_of[param];
}

int64_t load_made_bias(struct call *call, int64_t layer) {
  call_weights(call);
  const struct weights *weights = call->netc->load->weights;
  for (size_t i = 0; i < weights->tensors.count; i++)
    if (weights->tensors.at[i].layer == layer &&
        weights->tensors.at[i].weight < 0)
      return (int64_t)i;
  return -1;
}

/* layer1.0.bn1 for layer1.0.bn1.weight; nothing without that ending. */
static struct slice module_of(struct slice tensor, const char *own) {
  size_t length = strlen(own) + 1;
  if (tensor.length <= length || !slice_ends(tensor, own) ||
      tensor.at[tensor.length - length] != '.')
    return (struct slice){NULL, 0};
  return slice_less(tensor, length);
}

/* As module_of(), for layer1.attn.qkv.weight: most programs use this name for
 * nn.MultiheadAttention's in_proj_weight. */
static struct slice module_of_qkv(struct slice tensor, const char *own) {
  static const char *const names[][2] = {{"in_proj_weight", "qkv.weight"},
                                         {"in_proj_bias", "qkv.bias"},
                                         {"out_proj.weight", "proj.weight"},
                                         {"out_proj.bias", "proj.bias"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(own, names[i][0]) == 0)
      return module_of(tensor, names[i][1]);
  return (struct slice){NULL, 0};
}

/* The only tensor of a layer may be a parameter of the enclosing module. */
static bool may_be_alone(const struct weights *w, size_t index) {
  int64_t layer = w->files.at[index].layer;
  bool after = index > 0 && w->files.at[index - 1].layer == layer;
  return !after &&
         (index + 1 == w->files.count || w->files.at[index + 1].layer != layer);
}

static struct module_name name_alone(const struct weights *w, size_t index,
                                     const struct netc_options *options) {
  const struct netc_weight *file = &w->files.at[index];
  struct module_name name = {.path = slice_of(options->tensor_names[index]),
                             .alone = true,
                             .shape = {file->rank, file->dims}};
  if (options->tensor_shapes)
    name.shape = options->tensor_shapes[index];
  return name;
}

const struct module_name *load_module_names(struct call *call,
                                            const struct netc_options *options,
                                            const char **why) {
  call_weights(call);
  const struct weights *w = call->netc->load->weights;
  size_t nodes = call->netc->load->model.nodes.count;
  struct module_name *names =
      arena_alloc(&call->scratch, nodes + 1, sizeof *names);
  const char *const *tensors = options->tensor_names;
  for (size_t i = 0; i < w->files.count; i++) {
    struct module_name *known = &names[w->files.at[i].layer];
    struct slice tensor = slice_of(tensors[i]);
    struct slice path = module_of(tensor, w->own_names.at[i]);
    if (!path.length) {
      path = module_of_qkv(tensor, w->own_names.at[i]);
      known->qkv = known->qkv || path.length;
    }
    if (path.length &&
        (!known->path.length || slice_equal(known->path, path))) {
      known->path = path;
      continue;
    }
    if (may_be_alone(w, i) && *tensors[i]) {
      *known = name_alone(w, i, options);
      continue;
    }
    struct text text = text_new(&call->scratch);
    text_printf(&text,
                "`%s` cannot be named `%s`: the module of its layer names its "
                "tensors differently",
                w->files.at[i].name, tensors[i]);
    *why = text_string(&text);
    return NULL;
  }
  return names;
}

enum netc_status netc_weight(struct netc *netc, size_t index,
                             struct netc_weight *weight) {
  enum netc_status status = context_call(netc, CALL_READS, call_weights, NULL);
  if (status != NETC_OK)
    return status;
  const struct weights *weights = netc->load->weights;
  return index < weights->files.count ? FILL(weight, &weights->files.at[index])
                                      : NETC_USAGE;
}

static void call_torch_names(struct call *call) {
  struct load *load = call->netc->load;
  call_weights(call);
  if (call->status != NETC_OK || load->weights->torch.count)
    return;
  const struct slice *names = python_names(&load->compiled);
  for (size_t i = 0; i < load->weights->files.count; i++) {
    const struct netc_weight *file = &load->weights->files.at[i];
    struct text name = text_new(&load->arena);
    if (names) {
      text_printf(&name, "%.*s.%s", SLICE_ARG(names[file->layer]),
                  load->weights->own_names.at[i]);
      text_putc(&name, '\0');
    }
    *VEC_PUSH(&load->arena, &load->weights->torch) = name.at;
  }
}

enum netc_status netc_weight_torch_name(struct netc *netc, size_t index,
                                        const char **name) {
  enum netc_status status =
      context_call(netc, CALL_READS, call_torch_names, NULL);
  if (status != NETC_OK)
    return status;
  const struct weights *weights = netc->load->weights;
  if (index >= weights->torch.count)
    return NETC_USAGE;
  *name = weights->torch.at[index];
  return NETC_OK;
}

enum netc_status netc_tensor(struct netc *netc, size_t index,
                             struct netc_tensor *tensor) {
  enum netc_status status = context_call(netc, CALL_READS, call_weights, NULL);
  if (status != NETC_OK)
    return status;
  const struct weights *weights = netc->load->weights;
  return index < weights->tensors.count
             ? FILL(tensor, &weights->tensors.at[index])
             : NETC_USAGE;
}
