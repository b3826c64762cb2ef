/*
 * The block of weights for inference: tensors in netc's order, with norms and
 * scales folded into the layers before them:
 *
 *   scale = weight / sqrt(running_var + eps)
 *   W' = W * scale by its last axis, b' = (b - running_mean) * scale + bias
 */
#include <math.h>

#include "driver/run/weight_set.h"
#include "import/tensors/safetensors.h"

bool weight_set_is_q8(const struct weight_set *set) {
  struct netc_q8_block q8 = {.size = sizeof q8};
  return netc_q8_block(set->netc, &q8) == NETC_OK;
}

int64_t weight_set_block_bytes(const struct weight_set *set) {
  struct netc_q8_block q8 = {.size = sizeof q8};
  int64_t count = 0;
  if (netc_q8_block(set->netc, &q8) == NETC_OK)
    return q8.bytes;
  for (size_t i = 0; i < set->tensors.count; i++) {
    const struct netc_tensor *tensor = &set->tensors.at[i];
    int64_t outs = tensor->rank ? tensor->dims[tensor->rank - 1] : 0;
    if (tensor->offset < 0)
      continue;
    switch (tensor->type) {
    case NETC_I8: count += tensor->count + 4 * outs; break;
    case NETC_F16:
    case NETC_BF16: count += 2 * tensor->count; break;
    default: count += 4 * tensor->count;
    }
  }
  return count;
}

bool weight_set_is_narrow(const struct weight_set *set) {
  for (size_t i = 0; i < set->tensors.count; i++)
    if (set->tensors.at[i].type != NETC_FLOAT)
      return !weight_set_is_q8(set);
  return false;
}

bool weight_set_is_bytes(const struct weight_set *set) {
  return weight_set_is_q8(set) || weight_set_is_narrow(set);
}

/* All values of a weight, in memory while they are needed. */
void weight_set_gather(const struct weight_set *set,
                       const struct netc_tensor *tensor, float *to) {
  const struct netc_weight *weight = &set->weights.at[tensor->weight];
  struct scattered from = {.type = VALUE_F32,
                           .axes = tensor->rank,
                           .size = tensor->dims,
                           .stride = tensor->strides};
  struct arena scratch;
  arena_open_in(&scratch, set->arena);
  float *all = arena_room(&scratch, (size_t)weight->count + 1, sizeof *all);
  weight_set_values(set, (size_t)tensor->weight, 0, weight->count, all);
  weight_set_compute(set, tensor, all);
  from.at = (const unsigned char *)(all + tensor->first);
  scattered_floats(&from, to);
  arena_close(&scratch);
}

/* The effect of a norm on a channel: (x - mean) * scale + shift. */
struct folding {
  int64_t channels;
  double eps;
  const float *weight, *bias, *mean, *variance; /* NULL: none */
};

static double scale_at(const struct folding *f, int64_t channel) {
  double scale = f->weight ? (double)f->weight[channel] : 1;
  if (f->variance)
    scale /= sqrt((double)f->variance[channel] + f->eps);
  return scale;
}

/* Tensors are in the order of layers; finds a layer's first by bisection. */
static size_t first_tensor(const struct weight_set *set, int64_t layer) {
  size_t low = 0, high = set->tensors.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (set->tensors.at[middle].layer < layer)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void read_norm(const struct weight_set *set, int64_t layer,
                      struct arena *scratch, struct folding *f) {
  size_t i = first_tensor(set, layer);
  for (; i < set->tensors.count && set->tensors.at[i].layer == layer; i++) {
    const struct netc_tensor *tensor = &set->tensors.at[i];
    float *values =
        arena_alloc(scratch, (size_t)tensor->count + 1, sizeof *values);
    weight_set_gather(set, tensor, values);
    f->eps = tensor->eps;
    f->channels = tensor->count;
    if (strcmp(tensor->name, "weight") == 0)
      f->weight = values;
    else if (strcmp(tensor->name, "bias") == 0)
      f->bias = values;
    else if (strcmp(tensor->name, "running_mean") == 0)
      f->mean = values;
    else
      f->variance = values;
  }
}

static void fold_weight(const struct folding *f, float *at, int64_t count) {
  for (int64_t channel = 0; channel < f->channels; channel++) {
    double scale = scale_at(f, channel);
    for (int64_t i = channel; i < count; i += f->channels)
      at[i] = (float)((double)at[i] * scale);
  }
}

static void fold_bias(const struct folding *f, float *at) {
  for (int64_t i = 0; i < f->channels; i++) {
    double mean = f->mean ? (double)f->mean[i] : 0;
    double shift = f->bias ? (double)f->bias[i] : 0;
    at[i] = (float)(((double)at[i] - mean) * scale_at(f, i) + shift);
  }
}

static void fold(const struct weight_set *set, const struct netc_tensor *tensor,
                 float *at) {
  struct folding f = {.channels = 0};
  struct arena scratch;
  arena_open_in(&scratch, set->arena);
  read_norm(set, tensor->norm, &scratch, &f);
  if (strcmp(tensor->name, "bias") == 0)
    fold_bias(&f, at);
  else
    fold_weight(&f, at, tensor->count);
  arena_close(&scratch);
}

void weight_set_tensor(const struct weight_set *set,
                       const struct netc_tensor *tensor, float *to) {
  if (tensor->weight >= 0)
    weight_set_gather(set, tensor, to);
  else
    memset(to, 0, (size_t)tensor->count * sizeof *to);
  if (tensor->norm >= 0)
    fold(set, tensor, to);
}

/* Writes a tensor of fewer bits. */
static bool put_narrow(const struct weight_set *set,
                       const struct netc_tensor *tensor, unsigned char *block) {
  struct arena scratch;
  arena_open_in(&scratch, set->arena);
  float *values =
      arena_room(&scratch, (size_t)tensor->count + 1, sizeof *values);
  weight_set_tensor(set, tensor, values);
  int status = weight_narrow_put(set, tensor, values, block);
  arena_close(&scratch);
  return status == EXIT_DONE;
}

int weight_set_block(const struct weight_set *set, const char *path,
                     void *block) {
  if (weight_set_is_q8(set))
    return weight_set_q8(set, path, block);
  for (size_t i = 0; i < set->tensors.count; i++) {
    const struct netc_tensor *tensor = &set->tensors.at[i];
    if (tensor->offset < 0)
      continue;
    if (tensor->type == NETC_FLOAT)
      weight_set_tensor(set, tensor, (float *)block + tensor->offset / 4);
    else if (!put_narrow(set, tensor, block))
      return EXIT_SOURCE;
  }
  return weight_set_check(set, path);
}

/* Bytes of a narrow value, and the number of bytes in words. */
static size_t narrow_bytes(const struct weight_set *set) {
  for (size_t i = 0; i < set->tensors.count; i++)
    if (set->tensors.at[i].type == NETC_F16 ||
        set->tensors.at[i].type == NETC_BF16)
      return 2;
  return 1;
}

static int64_t wide_bytes(const struct weight_set *set) {
  struct netc_q8_block q8 = {.size = sizeof q8};
  int64_t bytes = weight_set_block_bytes(set);
  if (netc_q8_block(set->netc, &q8) == NETC_OK)
    return q8.narrow;
  for (size_t i = 0; i < set->tensors.count; i++) {
    const struct netc_tensor *tensor = &set->tensors.at[i];
    if (tensor->type != NETC_FLOAT && tensor->offset >= 0 &&
        tensor->offset < bytes)
      bytes = tensor->offset;
  }
  return bytes;
}

void weight_set_write_block(const struct weight_set *set, const void *block,
                            FILE *file) {
  const unsigned char *from = block;
  size_t bytes = (size_t)weight_set_block_bytes(set);
  size_t wide = (size_t)wide_bytes(set), each = narrow_bytes(set);
  words_write(file, block, wide / 4);
  for (size_t i = wide; i < bytes; i += each) {
    uint16_t half;
    if (each == 1) {
      fwrite(from + i, 1, bytes - i, file);
      return;
    }
    memcpy(&half, from + i, sizeof half);
    fputc(half & 255, file);
    fputc(half >> 8, file);
  }
}
