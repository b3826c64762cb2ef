/* The weights of a net: the library's lists, and their values. */
#include "driver/run/weight_set.h"

#include <inttypes.h>
#include <math.h>

void weight_set_open(struct weight_set *set, struct netc *netc,
                     struct arena *arena) {
  struct netc_weight weight = {.size = sizeof weight};
  struct netc_tensor tensor = {.size = sizeof tensor};
  *set = (struct weight_set){.netc = netc, .arena = arena};
  for (size_t i = 0; netc_weight(netc, i, &weight) == NETC_OK; i++)
    *VEC_PUSH(arena, &set->weights) = weight;
  for (size_t i = 0; netc_tensor(netc, i, &tensor) == NETC_OK; i++)
    *VEC_PUSH(arena, &set->tensors) = tensor;
  set->from = arena_alloc(arena, set->weights.count + 1, sizeof *set->from);
  set->first = arena_alloc(arena, set->weights.count, sizeof *set->first);
  set->next = arena_alloc(arena, set->tensors.count, sizeof *set->next);
  for (size_t i = set->tensors.count; i > 0; i--) {
    int64_t of = set->tensors.at[i - 1].weight;
    if (of < 0) /* a bias that folding creates */
      continue;
    set->next[i - 1] = set->first[of];
    set->first[of] = i;
  }
}

const char *weight_set_torch_name(const struct weight_set *set, size_t weight) {
  const char *name = NULL;
  return netc_weight_torch_name(set->netc, weight, &name) == NETC_OK ? name
                                                                     : NULL;
}

struct sizes_text sizes_text(int rank, const int64_t *sizes) {
  struct sizes_text to = {"one value"};
  size_t used = 0;
  for (int i = 0; i < rank; i++)
    used += (size_t)snprintf(to.text + used, sizeof to.text - used,
                             "%s%" PRId64, i ? "x" : "", sizes[i]);
  return to;
}

/* Random values */

/* splitmix64 (Steele et al., 2014, "Fast Splittable Pseudorandom Number
 * Generators"): a number at any index without the ones before. */
static uint64_t random_bits(uint64_t seed, uint64_t place) {
  uint64_t z = seed + (place + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

/* Seeds by name (FNV-1a), so that a weight keeps its values if layers
 * change. */
static uint64_t seed_of(const struct weight_set *set, const char *name) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (; *name; name++)
    hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001B3);
  return random_bits(hash ^ set->seed, set->seed);
}

/* 2^24 values around 0, without 0. One rounding, so equal on all machines. */
static float random_value(uint64_t seed, uint64_t place, double spread) {
  int64_t step = (int64_t)(random_bits(seed, place) >> 40) * 2 + 1 - 16777216;
  return (float)((double)step * (spread / 16777216));
}

/* Vaswani et al., 2017: pairs of a sine and a cosine with falling frequency. */
static float sine_value(const struct netc_weight *weight, int64_t place) {
  int64_t width = weight->dims[weight->rank - 1];
  int64_t row = place / width, column = place % width;
  double angle =
      (double)row / pow(10000, (double)(column / 2 * 2) / (double)width);
  return (float)(column % 2 ? cos(angle) : sin(angle));
}

/* Between -1/4 and 1/4, so that a variance of 1 stays positive. */
static float shift_at(int64_t place) {
  return (float)(place % 64 * 37 % 64 - 32) / 128.0F;
}

static void make_up(const struct weight_set *set,
                    const struct netc_weight *weight, int64_t first,
                    int64_t count, float *to) {
  uint64_t seed = seed_of(set, weight->name);
  for (int64_t i = 0; i < count; i++) {
    if (weight->sines)
      to[i] = sine_value(weight, first + i);
    else
      to[i] = (float)weight->center +
              random_value(seed, (uint64_t)(first + i), weight->spread);
    if (set->shifted && weight->rank == 1)
      to[i] += shift_at(first + i);
  }
}

void weight_set_values(const struct weight_set *set, size_t weight,
                       int64_t first, int64_t count, float *to) {
  const struct stored_tensor *stored = set->from[weight];
  if (set->rounded && set->rounded[weight])
    memcpy(to, set->rounded[weight] + first, (size_t)count * sizeof *to);
  else if (!stored)
    make_up(set, &set->weights.at[weight], first, count, to);
  else if (!tensors_floats(set->file, stored, first, count, to))
    memset(to, 0, (size_t)count * sizeof *to); /* reported by
                                                * weight_set_check */
}

int weight_set_check(const struct weight_set *set, const char *path) {
  if (!set->file || !*set->file->fault)
    return EXIT_DONE;
  return complain_of(EXIT_IO, path, NULL, "%s", set->file->fault);
}
