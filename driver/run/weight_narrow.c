/*
 * Weights of 8 or 16 bits for float32 values (`--weight-dtype`), rounded to
 * nearest, ties to even. 8-bit weights have a scale for each output, whose
 * maximum is 127. The runtime widens them during use (runtime/narrow.h).
 */
#include <math.h>

#include "driver/run/weight_set.h"

#define LARGEST_HALF 65504

/* bfloat16: float32 without its last 16 bits. */
static uint16_t bfloat_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* IEEE half precision: 11 bits, or a multiple of 2^-24. */
static uint16_t half_of(float value) {
  double size = fabs((double)value);
  uint32_t sign = signbit(value) ? 0x8000 : 0;
  int power;
  if (size < 0x1p-14)
    return (uint16_t)(sign | (uint32_t)nearbyint(size * 0x1p24));
  frexp(size, &power); /* a carry goes into the exponent */
  double steps = nearbyint(ldexp(size, 11 - power)) - 1024;
  return (uint16_t)(sign | ((uint32_t)(power + 14) * 1024 + (uint32_t)steps));
}

static void put_half(unsigned char *block, int64_t at, uint16_t half) {
  memcpy(block + at, &half, sizeof half);
}

static int put_halves(const struct weight_set *set,
                      const struct netc_tensor *tensor, const float *values,
                      unsigned char *block) {
  bool brain = tensor->type == NETC_BF16;
  for (int64_t i = 0; i < tensor->count; i++) {
    if (!brain && !(fabs((double)values[i]) < LARGEST_HALF + 16))
      return complain(EXIT_SOURCE,
                      "`%s` has the value %g, which float16 cannot represent: "
                      "choose `--weight-dtype bf16`",
                      set->weights.at[tensor->weight].name, (double)values[i]);
    put_half(block, tensor->offset + 2 * i,
             brain ? bfloat_of(values[i]) : half_of(values[i]));
  }
  return EXIT_DONE;
}

static void put_bytes(const struct netc_tensor *tensor, const float *values,
                      unsigned char *block) {
  int64_t outs = tensor->dims[tensor->rank - 1];
  for (int64_t o = 0; o < outs; o++) {
    double largest = 0;
    for (int64_t i = o; i < tensor->count; i += outs)
      largest = fmax(largest, fabs((double)values[i]));
    float scale = weight_set_scale(largest);
    memcpy(block + tensor->scales + 4 * o, &scale, sizeof scale);
    for (int64_t i = o; i < tensor->count; i += outs)
      block[tensor->offset + i] = (unsigned char)(int8_t)nearbyint(
          fmax(-127, fmin(127, (double)values[i] / (double)scale)));
  }
}

int weight_narrow_put(const struct weight_set *set,
                      const struct netc_tensor *tensor, const float *values,
                      unsigned char *block) {
  for (int64_t i = 0; i < tensor->count; i++)
    if (!isfinite(values[i]))
      return complain(EXIT_SOURCE,
                      "`%s` has a value that is NaN or infinite, which "
                      "`--weight-dtype` cannot round; `netc weights --check` "
                      "counts them",
                      set->weights.at[tensor->weight].name);
  if (tensor->type != NETC_I8)
    return put_halves(set, tensor, values, block);
  put_bytes(tensor, values, block);
  return EXIT_DONE;
}

/* Back to float32 */

/* A tensor from the block. */
static void widen(const struct netc_tensor *tensor, const unsigned char *block,
                  float *to) {
  int64_t one = 1, outs = tensor->dims[tensor->rank - 1];
  struct scattered from = {.type = tensor->type == NETC_I8     ? VALUE_I8
                                   : tensor->type == NETC_BF16 ? VALUE_BF16
                                                               : VALUE_F16,
                           .axes = 1,
                           .size = &tensor->count,
                           .stride = &one,
                           .at = block + tensor->offset};
  scattered_floats(&from, to);
  for (int64_t i = 0; tensor->type == NETC_I8 && i < tensor->count; i++) {
    float scale;
    memcpy(&scale, block + tensor->scales + 4 * (i % outs), sizeof scale);
    to[i] *= scale;
  }
}

/* The index in the file of a value of the tensor. */
static int64_t place_of(const struct netc_tensor *tensor, int64_t at) {
  int64_t place = tensor->first;
  for (int axis = tensor->rank; axis-- > 0; at /= tensor->dims[axis])
    place += at % tensor->dims[axis] * tensor->strides[axis];
  return place;
}

/* A folded norm has scaled a value before rounding, so the file's values are
 * rounded by the same ratio. */
static void round_tensor(struct weight_set *set,
                         const struct netc_tensor *tensor,
                         const unsigned char *block) {
  size_t weight = (size_t)tensor->weight, count = (size_t)tensor->count;
  int64_t all = set->weights.at[weight].count;
  struct arena scratch;
  arena_open_in(&scratch, set->arena);
  float *own = arena_room(&scratch, count + 1, sizeof *own);
  float *used = arena_room(&scratch, count + 1, sizeof *used);
  float *wide = arena_room(&scratch, count + 1, sizeof *wide);
  float *to = set->rounded[weight];
  weight_set_gather(set, tensor, own);
  weight_set_tensor(set, tensor, used);
  widen(tensor, block, wide);
  if (!to) {
    to = arena_room(set->arena, (size_t)all + 1, sizeof *to);
    weight_set_values(set, weight, 0, all, to);
    set->rounded[weight] = to;
  }
  for (int64_t i = 0; i < tensor->count; i++) {
    double factor = used[i] != 0 ? (double)wide[i] / (double)used[i] : 1;
    to[place_of(tensor, i)] = (float)((double)own[i] * factor);
  }
  arena_close(&scratch);
}

bool weight_narrow_round(struct weight_set *set, const unsigned char *block) {
  bool computed = false;
  set->rounded =
      arena_alloc(set->arena, set->weights.count + 1, sizeof *set->rounded);
  for (size_t i = 0; i < set->tensors.count; i++) {
    const struct netc_tensor *tensor = &set->tensors.at[i];
    if (tensor->type == NETC_FLOAT || tensor->offset < 0 || tensor->weight < 0)
      continue;
    computed = computed || tensor->computed != NETC_AS_STORED;
    if (tensor->computed == NETC_AS_STORED)
      round_tensor(set, tensor, block);
  }
  return !computed;
}
