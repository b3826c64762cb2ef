/* Weight formats: the bytes of each tensor, by its role in the net. */
#include "memory/weight_format.h"

#include <string.h>

#include "base/check.h"

struct finder {
  const struct model *model;
  struct weight_roles *roles;
  struct params params; /* of a node, as its layer lists them */
  const struct layer_kind **fronts;
  size_t front_count;
  int64_t words, width; /* of the first embedding */
  size_t table;         /* index of its parameter */
  unsigned char *from;  /* by node: inputs it depends on, bits of from_input */
  bool *tower;          /* by node: as weight_tensor's */
  int64_t *depth;       /* by node: number of blocks it depends on */
  bool states;          /* the last block has a recurrent layer */
};

enum from_input { FROM_TOKENS = 1, FROM_OTHERS = 2 };

static bool begins(const char *name, const char *with) {
  return strncmp(name, with, strlen(with)) == 0;
}

/* By the parameter names of PyTorch's modules. */
static enum weight_role role_in_attention(const char *name) {
  if (begins(name, "k_proj"))
    return ROLE_KEY;
  if (begins(name, "in_proj"))
    return ROLE_JOINT;
  if (begins(name, "v_proj") || begins(name, "kv_"))
    return begins(name, "kv_a") ? ROLE_LATENT : ROLE_VALUE;
  if (begins(name, "out_proj") || begins(name, "o_proj"))
    return ROLE_ATTENDED;
  if (begins(name, "q_a"))
    return ROLE_LATENT;
  return begins(name, "q_") ? ROLE_QUERY : ROLE_OTHER;
}

/* The same of a layer with a state: Mamba's and delta nets' modules. */
static enum weight_role role_in_state(const char *name) {
  if (begins(name, "out_proj") || begins(name, "o_proj"))
    return ROLE_STATED;
  if (begins(name, "in_proj_qkv"))
    return ROLE_JOINT;
  if (begins(name, "q_proj") || begins(name, "k_proj") ||
      begins(name, "v_proj"))
    return role_in_attention(name);
  if (begins(name, "in_proj.") || begins(name, "in_proj_z") ||
      begins(name, "g_"))
    return ROLE_GATE;
  return strstr(name, "_proj") ? ROLE_DECAY : ROLE_OTHER;
}

static bool is_front(const struct finder *f, const struct layer_kind *kind) {
  for (size_t i = 0; i < f->front_count; i++)
    if (f->fronts[i] == kind)
      return true;
  return false;
}

static enum weight_role role_of(const struct finder *f, const struct node *node,
                                size_t index, const struct param *param) {
  const struct weight_tensor *tensor = &f->roles->at[index];
  if (param->rank != 2 || param->buffer || param->order == FILE_FLAT)
    return ROLE_OTHER;
  if (node->kind->input == INPUT_INDEX)
    return ROLE_TABLE;
  if (node->kind->cache)
    return param->name ? role_in_attention(param->name) : ROLE_OTHER;
  if (node->kind->state)
    return param->name ? role_in_state(param->name) : ROLE_OTHER;
  if (!node->kind->macs) /* it is added, not multiplied */
    return ROLE_OTHER;
  if (is_front(f, node->kind) && param->name &&
      strcmp(param->name, "weight") == 0) /* not the one of `latent` */
    return ROLE_ROUTER;
  if (tensor->out == 1 && f->roles->have_experts[tensor->block])
    return ROLE_ROUTER; /* the gate of shared experts */
  if (f->words && tensor->out == f->words)
    return ROLE_HEAD;
  return tensor->out == f->width ? ROLE_BACK : ROLE_LINEAR;
}

static void note_table(struct finder *f, size_t index,
                       const struct param *param) {
  if (f->words)
    return;
  f->words = param->dim[0];
  f->width = param->dim[1];
  f->table = index;
  f->roles->tied = true; /* until there is a separate head */
}

static void find_param(struct finder *f, const struct node *node, size_t index,
                       const struct param *param) {
  struct weight_roles *roles = f->roles;
  struct weight_tensor *tensor = &roles->at[index];
  *tensor =
      (struct weight_tensor){.block = max_i64(roles->blocks - 1, 0),
                             .attention = max_i64(roles->attentions - 1, 0),
                             .expert = node->copies > 1,
                             .tower = f->tower[node - f->model->nodes.at]};
  roles->have_experts[tensor->block] |= tensor->expert;
  if (param->rank == 2)
    tensor->in = param->dim[0];
  if (param->rank > 1)
    tensor->out = param->dim[param->rank - 1];
  tensor->role = role_of(f, node, index, param);
  if (tensor->role == ROLE_TABLE)
    note_table(f, index, param);
  else if (tensor->role == ROLE_HEAD &&
           f->model->params.at[index].same != f->table)
    roles->tied = false;
  else if (tensor->role == ROLE_QUERY && !roles->queries && !tensor->tower)
    roles->queries = tensor->out;
  else if (tensor->role == ROLE_KEY && !roles->keys && !tensor->tower)
    roles->keys = tensor->out;
}

/* The inputs that a node depends on. A net without tokens has no towers. */
static void find_inputs(struct finder *f) {
  const struct model *model = f->model;
  bool tokens = false;
  for (size_t i = 0; i < model->predicted_sources; i++) {
    int64_t source = model->sources.at[i];
    bool words = model->nodes.at[source].out->dtype != DTYPE_FLOAT;
    f->from[source] = words ? FROM_TOKENS : FROM_OTHERS;
    tokens = tokens || words;
  }
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      f->from[i] |= f->from[node_input(model, node, k)];
  }
  for (size_t i = 0; i < model->nodes.count; i++)
    f->tower[i] = tokens && f->from[i] == FROM_OTHERS;
}

/* Attention and a recurrent layer side by side are one block. */
static void count_block(struct finder *f, int64_t index) {
  const struct node *node = &f->model->nodes.at[index];
  bool has_block =
      node->kind->cache ? node->kind->heads != NULL : node->kind->state != NULL;
  if (!has_block || f->tower[index])
    return;
  bool beside =
      f->depth[index] < f->roles->blocks && (node->kind->state || f->states);
  f->roles->blocks += !beside;
  f->roles->attentions += node->kind->cache != NULL;
  f->states = node->kind->state != NULL;
  f->depth[index] = f->roles->blocks;
}

static void find_node(struct finder *f, int64_t index,
                      const struct shape **in) {
  const struct node *node = &f->model->nodes.at[index];
  struct layer layer = model_layer(f->model, index, in);
  f->params.all.count = 0;
  if (!node->kind->params || !node->param_count)
    return;
  layer_params(&layer, &f->params);
  count_block(f, index);
  f->roles->experts = max_i64(f->roles->experts, node->copies);
  for (int i = 0; i < node->param_count; i++) {
    size_t each = (size_t)(i / node->copies);
    if (each < f->params.all.count)
      find_param(f, node, node->first_param + (size_t)i,
                 &f->params.all.at[each]);
  }
}

void weight_roles_find(const struct model *model, struct arena *arena,
                       struct weight_roles *roles) {
  const struct shape **in = model_layer_room(model);
  struct finder f = {
      .model = model,
      .roles = roles,
      .params = {.arena = arena},
      .fronts = arena_alloc(arena, model->nodes.count + 1,
                            sizeof(struct layer_kind *)),
      .from = arena_alloc(arena, model->nodes.count + 1, 1),
      .tower = arena_alloc(arena, model->nodes.count + 1, sizeof(bool)),
      .depth = arena_alloc(arena, model->nodes.count + 1, sizeof(int64_t))};
  find_inputs(&f);
  *roles = (struct weight_roles){
      .at = arena_alloc(arena, model->params.count + 1, sizeof *roles->at),
      .have_experts = arena_alloc(arena, model->nodes.count + 1,
                                  sizeof *roles->have_experts)};
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct layer_kind *front = model->nodes.at[i].kind->front;
    if (front && !is_front(&f, front))
      f.fronts[f.front_count++] = front;
  }
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++)
      f.depth[i] = max_i64(f.depth[i], f.depth[node_input(model, node, k)]);
    if (!node->train_only)
      find_node(&f, (int64_t)i, in);
  }
}

/* Mixes of llama.cpp's files */

static bool is_some(enum some where, int64_t i, int64_t count) {
  bool ends = i < count / 8 || i >= 7 * count / 8;
  switch (where) {
  case SOME_ALL: return true;
  case SOME_TWO: return i < 2;
  case SOME_FOUR: return i < 4;
  case SOME_SIXTEENTH: return i < count / 16;
  case SOME_EIGHTH: return i < count / 8;
  case SOME_ENDS: return ends;
  case SOME_MORE: return ends || (i - count / 8) % 3 == 2;
  }
  return false;
}

static enum blocks choose(const struct some_blocks *some, int64_t i,
                          int64_t count) {
  return is_some(some->where, i, count) ? some->first : some->others;
}

/* A net of 80 layers with grouped queries is a 70B model. */
static enum blocks blocks_of_values(const struct weights_mix *mix,
                                    const struct weight_roles *roles,
                                    int64_t attention) {
  int64_t shared = roles->keys ? roles->queries / roles->keys : 1;
  enum blocks found = choose(&mix->value, attention, roles->attentions);
  if (mix->value_of_four && (shared >= 4 || (mix->few && roles->experts >= 4)))
    found = mix->value_of_four;
  if (mix->few)
    return found;
  if (roles->experts == 8)
    return BLOCKS_Q8_0;
  found = found ? found : mix->most;
  bool raised = found == BLOCKS_Q3_K || found == BLOCKS_Q4_K;
  return roles->attentions == 80 && shared > 1 && raised ? BLOCKS_Q5_K : found;
}

/* Values of a row; the block size must divide them. */
static int64_t row_of(const struct weight_tensor *tensor) {
  return tensor->role == ROLE_TABLE ? tensor->out : tensor->in;
}

static enum blocks blocks_of_head(const struct weights_mix *mix, int64_t row) {
  enum blocks head = mix->head ? mix->head : BLOCKS_Q6_K;
  return row % blocks_values(mix->most) != 0 ? BLOCKS_Q8_0 : head;
}

static enum blocks blocks_of_keys(const struct weights_mix *mix,
                                  const struct weight_roles *roles) {
  if (roles->experts == 8)
    return mix->few ? BLOCKS_Q4_K : BLOCKS_Q8_0;
  return mix->key;
}

/* The type where it differs from most tensors; BLOCKS_NONE: it does not. */
static enum blocks blocks_besides(const struct weights_mix *mix,
                                  const struct weight_roles *roles,
                                  const struct weight_tensor *tensor) {
  switch (tensor->role) {
  case ROLE_OTHER:
  case ROLE_ROUTER: return BLOCKS_F32;
  case ROLE_HEAD: return blocks_of_head(mix, row_of(tensor));
  case ROLE_TABLE:
    return roles->tied ? blocks_of_head(mix, row_of(tensor)) : mix->table;
  case ROLE_QUERY: return mix->query;
  case ROLE_KEY: return blocks_of_keys(mix, roles);
  case ROLE_VALUE: return blocks_of_values(mix, roles, tensor->attention);
  case ROLE_JOINT: return mix->joint;
  case ROLE_ATTENDED:
    return roles->experts == 8 ? mix->attended_of_eight : mix->attended;
  case ROLE_BACK: return choose(&mix->back, tensor->block, roles->blocks);
  case ROLE_LINEAR: return choose(&mix->linear, tensor->block, roles->blocks);
  case ROLE_LATENT:
  case ROLE_DECAY:
  case ROLE_GATE:
  case ROLE_STATED: break;
  }
  return BLOCKS_NONE;
}

static enum blocks blocks_for(const struct weights_mix *mix,
                              const struct weight_roles *roles,
                              const struct weight_tensor *tensor) {
  enum blocks besides = blocks_besides(mix, roles, tensor);
  return besides ? besides : mix->most;
}

/* llama.cpp's tensor_type_fallback: a block must not span rows. */
static enum blocks that_divide(enum blocks blocks, int64_t row) {
  enum blocks small = blocks;
  if (blocks == BLOCKS_F32 || row % blocks_values(blocks) == 0)
    return blocks;
  switch (blocks) {
  case BLOCKS_Q2_K:
  case BLOCKS_Q3_K: small = BLOCKS_Q4_0; break;
  case BLOCKS_IQ1_S:
  case BLOCKS_IQ1_M:
  case BLOCKS_IQ2_XXS:
  case BLOCKS_IQ2_XS:
  case BLOCKS_IQ2_S:
  case BLOCKS_IQ3_XXS:
  case BLOCKS_IQ3_S:
  case BLOCKS_IQ4_XS: small = BLOCKS_IQ4_NL; break;
  case BLOCKS_Q4_K: small = BLOCKS_Q5_0; break;
  case BLOCKS_Q5_K: small = BLOCKS_Q5_1; break;
  case BLOCKS_Q6_K: small = BLOCKS_Q8_0; break;
  default: break;
  }
  return row % blocks_values(small) == 0 ? small : BLOCKS_F16;
}

static bool in_a_linear(enum weight_role role) {
  return role >= ROLE_LATENT;
}

/* Bits of the scales of tiles; the last tiles may be smaller. */
static bool bits_of_tiles(const struct weights_type *type,
                          const struct weight_tensor *tensor, int64_t *bits) {
  *bits = 0;
  return !type->tile || (mul_i64(ceil_div_i64(tensor->out, type->tile),
                                 ceil_div_i64(tensor->in, type->tile), bits) &&
                         mul_i64(*bits, type->by_tile, bits));
}

static bool bytes_of_linear(const struct weights_type *type,
                            const struct weight_tensor *tensor, int64_t count,
                            int64_t *bytes) {
  int64_t tiles;
  return bits_of_tiles(type, tensor, &tiles) &&
         weights_linear_bytes(type, tensor->in, tensor->out, tiles, count,
                              bytes);
}

/* The part of the net that a parameter belongs to. */
static enum weights_part weight_part(const struct weight_roles *roles,
                                     size_t index) {
  static const enum weights_part parts[] = {
      [ROLE_TABLE] = WEIGHTS_OF_TABLE,   [ROLE_HEAD] = WEIGHTS_OF_HEAD,
      [ROLE_ROUTER] = WEIGHTS_OF_ROUTER, [ROLE_LATENT] = WEIGHTS_OF_LATENTS,
      [ROLE_QUERY] = WEIGHTS_OF_Q,       [ROLE_KEY] = WEIGHTS_OF_K,
      [ROLE_VALUE] = WEIGHTS_OF_V,       [ROLE_JOINT] = WEIGHTS_OF_QKV,
      [ROLE_ATTENDED] = WEIGHTS_OF_O,    [ROLE_LINEAR] = WEIGHTS_OF_UP,
      [ROLE_BACK] = WEIGHTS_OF_DOWN,     [ROLE_DECAY] = WEIGHTS_OF_DECAY,
      [ROLE_GATE] = WEIGHTS_OF_QKV,      [ROLE_STATED] = WEIGHTS_OF_O};
  const struct weight_tensor *tensor = &roles->at[index];
  enum weights_part part = parts[tensor->role];
  if (tensor->tower)
    return WEIGHTS_OF_VISION;
  if (part != WEIGHTS_OF_UP && part != WEIGHTS_OF_DOWN)
    return part;
  if (tensor->expert)
    return part == WEIGHTS_OF_UP ? WEIGHTS_OF_EXPERTS_UP
                                 : WEIGHTS_OF_EXPERTS_DOWN;
  return roles->have_experts[tensor->block] ? WEIGHTS_OF_SHARED : part;
}

unsigned weight_parts(const struct model *model,
                      const struct weight_roles *roles, int64_t first,
                      int64_t last) {
  unsigned parts = 0;
  for (size_t i = 0; i < model->params.count; i++)
    if ((roles->at[i].role != ROLE_OTHER || roles->at[i].tower) &&
        roles->at[i].block >= first && roles->at[i].block <= last)
      parts |= 1U << weight_part(roles, i);
  return parts;
}

/* A matrix in the type that its part has; a tower also has kernels. */
static bool bytes_of_part(int type, const struct weight_tensor *tensor,
                          const struct model_param *param, int64_t *bytes) {
  const struct weights_type *own = weights_type(type);
  bool linears = own->scope == SCOPE_LINEARS;
  *bytes = WEIGHT_PLAIN;
  if (!type || param->rank < 2 || (linears && tensor->role == ROLE_OTHER))
    return true;
  return linears ? bytes_of_linear(own, tensor, param->count, bytes)
                 : block_bytes(&own->block, param->count, bytes);
}

/* llama.cpp's converter writes a tower into a file of its own, in 16 bits
 * (convert_hf_to_gguf.py --mmproj). */
static enum blocks blocks_of_tower(const struct model_param *param) {
  return param->rank < 2 ? BLOCKS_F32 : BLOCKS_F16;
}

bool weight_bytes(const struct model *model, const struct weight_roles *roles,
                  const struct infer_settings *infer, size_t index,
                  int64_t *bytes) {
  const struct weights_type *type = weights_type(infer->weight_dtype);
  const struct model_param *param = &model->params.at[index];
  *bytes = WEIGHT_PLAIN;
  if (param->element)
    return element_bytes(param->element, param->count, bytes);
  if (!infer->weight_dtype)
    return true;
  const struct weight_tensor *tensor = &roles->at[index];
  const struct weights_other *other =
      weights_of_part(infer->weights, weight_part(roles, index), tensor->block);
  if (other)
    return bytes_of_part(other->type, tensor, param, bytes);
  if (type->scope == SCOPE_MATRICES)
    return param->rank < 2 || block_bytes(&type->block, param->count, bytes);
  if (type->scope == SCOPE_KERNELS && !param->narrow)
    return true;
  if (type->scope == SCOPE_KERNELS)
    return bytes_of_linear(type, tensor, param->count, bytes);
  if (type->scope == SCOPE_LINEARS)
    return !in_a_linear(tensor->role) ||
           bytes_of_linear(type, tensor, param->count, bytes);
  enum blocks blocks = tensor->tower
                           ? blocks_of_tower(param)
                           : that_divide(blocks_for(&type->mix, roles, tensor),
                                         max_i64(row_of(tensor), 1));
  return block_bytes(blocks_type(blocks), param->count, bytes);
}
