/*
 * Writes weights as safetensors: float32, or for an 8-bit net the integers of
 * its file with their scales and zero points.
 */
#include "driver/run/weight_set.h"
#include "import/tensors/safetensors.h"

enum { CHUNK = 1 << 16 }; /* values converted at a time */

/* 8-bit tensors and 32-bit biases are kept unchanged. */
static const struct stored_tensor *kept(const struct weight_set *set, bool q8,
                                        size_t weight) {
  const struct stored_tensor *stored = set->from[weight];
  bool whole = stored && stored->stepped && !stored->strides &&
               (stored->type == VALUE_I8 || stored->type == VALUE_I32);
  return q8 && whole ? stored : NULL;
}

static struct written_steps written(const struct tensor_steps *steps,
                                    const char *name, struct arena *arena) {
  struct text scale = text_new(arena), zero = text_new(arena);
  for (size_t i = 0; i < steps->count; i++) {
    text_printf(&scale, "%s%.9g", i ? " " : "", (double)steps->scale[i]);
    text_printf(&zero, "%s%ld", i ? " " : "", (long)steps->zero[i]);
  }
  return (struct written_steps){name, text_string(&scale), text_string(&zero)};
}

static void write_values(const struct weight_set *set, size_t weight,
                         const struct stored_tensor *whole, FILE *file,
                         struct arena *scratch) {
  int64_t left = set->weights.at[weight].count, at = 0;
  float *values = arena_alloc(scratch, CHUNK, sizeof *values);
  int32_t *words = arena_alloc(scratch, CHUNK, sizeof *words);
  for (; left > 0 && !ferror(file); left -= CHUNK, at += CHUNK) {
    int64_t now = left < CHUNK ? left : CHUNK;
    if (!whole) {
      weight_set_values(set, weight, at, now, values);
      floats_write(file, values, (size_t)now);
      continue;
    }
    if (!tensors_ints(set->file, whole, at, now, words))
      memset(words, 0, CHUNK * sizeof *words); /* reported by
                                                * weight_set_check */
    if (whole->type == VALUE_I32)
      words_write(file, (const uint32_t *)words, (size_t)now);
    for (int64_t i = 0; whole->type == VALUE_I8 && i < now; i++)
      fputc(words[i] & 255, file);
  }
}

void weight_set_write(const struct weight_set *set, FILE *file) {
  size_t count = set->weights.count;
  bool q8 = set->file && weight_set_is_q8(set);
  struct arena scratch;
  arena_open_in(&scratch, set->arena);
  struct written_tensor *tensors =
      arena_alloc(&scratch, count + 1, sizeof *tensors);
  VEC(struct written_steps) steps = {0};
  for (size_t i = 0; i < count; i++) {
    const struct netc_weight *weight = &set->weights.at[i];
    const struct stored_tensor *whole = kept(set, q8, i);
    tensors[i] =
        (struct written_tensor){.type = whole ? whole->type : VALUE_F32,
                                .name = weight_set_name(set, i),
                                .rank = weight->rank,
                                .dims = weight->dims,
                                .count = weight->count};
    if (whole)
      *VEC_PUSH(&scratch, &steps) = written(
          tensors_steps(set->file, whole->name), tensors[i].name, &scratch);
  }
  for (size_t i = 0; q8 && i < set->file->steps.count; i++) {
    const struct tensor_steps *from = &set->file->steps.at[i];
    if (slice_ends(slice_of(from->name), ".output"))
      *VEC_PUSH(&scratch, &steps) = written(from, from->name, &scratch);
  }
  struct written_about about = {steps.at, steps.count,
                                q8 ? set->file->origin : NULL};
  safetensors_write_header(file, tensors, count, &about, &scratch);
  for (size_t i = 0; i < count && !ferror(file); i++) {
    struct arena inner;
    arena_open_in(&inner, &scratch);
    write_values(set, i, kept(set, q8, i), file, &inner);
    arena_close(&inner);
  }
  arena_close(&scratch);
}
