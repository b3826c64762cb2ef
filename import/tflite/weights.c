/*
 * The weights of a TensorFlow Lite model: their sizes in the file, and their
 * values as reals. 8-bit weights and their biases are multiplied by their
 * scale.
 */
#include <inttypes.h>

#include "import/tflite/tflite.h"

static int bytes_of(int64_t type) {
  switch (type) {
  case TFLITE_FLOAT32:
  case TFLITE_INT32: return 4;
  case TFLITE_FLOAT16:
  case TFLITE_INT16: return 2;
  case TFLITE_INT64: return 8;
  case TFLITE_INT8:
  case TFLITE_UINT8: return 1;
  default: return 0;
  }
}

/* A float16 as a real: sign, 5 bits of exponent, 10 of fraction. */
static double half(int64_t bits) {
  int power = (int)(bits >> 10 & 31), steps = (int)(bits & 1023);
  double value = power ? 1024 + steps : steps;
  for (int i = power ? power : 1; i < 25; i++)
    value /= 2;
  for (int i = 25; i < power; i++)
    value *= 2;
  return bits & 0x8000 ? -value : value;
}

/* Scales and zeros: one for all values, or one for each index of an axis. */
struct steps {
  int64_t inner, count; /* values per index; number of indices */
  double *scale, *zero;
};

static bool find_steps(struct tflite *t, const struct tflite_tensor *tensor,
                       struct steps *steps, struct arena *arena) {
  int64_t axis = tensor->rank == 1 ? 0 : tensor->axis; /* biases state axis 3 */
  uint64_t count = tensor->scales.count;
  *steps = (struct steps){.inner = 1, .count = (int64_t)count};
  if (count > 1 && (axis < 0 || axis >= tensor->rank ||
                    (uint64_t)tensor->dims[axis] != count))
    return tflite_fail(t, "the scales of `%.64s` do not match an axis",
                       tensor->name);
  for (int i = (int)axis + 1; count > 1 && i < tensor->rank; i++)
    steps->inner *= tensor->dims[i];
  steps->scale = arena_room(arena, (size_t)count + 1, sizeof(double));
  steps->zero = arena_room(arena, (size_t)count + 1, sizeof(double));
  for (uint64_t i = 0; i < count; i++) {
    steps->scale[i] = flat_item_real(&t->flat, &tensor->scales, i);
    steps->zero[i] = (double)flat_item(&t->flat, &tensor->zeros, i, 8);
  }
  return bytes_ok(&t->flat.in);
}

static int64_t stored_at(struct byte_reader *r,
                         const struct tflite_tensor *tensor, int64_t i) {
  int bytes = bytes_of(tensor->type);
  bytes_go(r, (uint64_t)(i * bytes));
  bool positive =
      tensor->type == TFLITE_UINT8 || tensor->type == TFLITE_FLOAT16;
  return positive ? (int64_t)bytes_unsigned(r, bytes) : bytes_signed(r, bytes);
}

/* A stored number as a real, with the scale of its index among all values. */
static double value_at(struct byte_reader *r,
                       const struct tflite_tensor *tensor,
                       const struct steps *steps, int64_t i, int64_t dense) {
  if (tensor->type == TFLITE_FLOAT32) {
    bytes_go(r, (uint64_t)(i * 4));
    return bytes_real(r, 4);
  }
  int64_t stored = stored_at(r, tensor, i);
  if (tensor->type == TFLITE_FLOAT16)
    return half(stored);
  if (steps->count == 0)
    return (double)stored;
  int64_t place = steps->count < 2 ? 0 : dense / steps->inner % steps->count;
  return steps->scale[place] * ((double)stored - steps->zero[place]);
}

/* Distance between unsigned and signed 8-bit values. */
static int offset_of(const struct tflite_tensor *tensor) {
  return tensor->type == TFLITE_UINT8 ? 128 : 0;
}

/* True for 8-bit values with scales, and for their 32-bit biases. */
static bool has_steps(const struct tflite_tensor *tensor) {
  return tensor->scales.count > 0 &&
         (tensor->type == TFLITE_INT8 || tensor->type == TFLITE_UINT8 ||
          tensor->type == TFLITE_INT32);
}

/* Reads all values at once, as the file is read in large blocks. Integers are
 * kept, too, if `stored` is not NULL. */
static bool read_values(struct tflite *t, const struct tflite_tensor *tensor,
                        struct arena *scratch, float *values, int32_t *stored) {
  struct steps steps;
  struct byte_store store;
  struct byte_reader r;
  size_t size = (size_t)tensor->data.count;
  int64_t count = (int64_t)size / bytes_of(tensor->type), *places = NULL;
  char *raw = arena_room(scratch, size, 1);
  if (!find_steps(t, tensor, &steps, scratch) ||
      !bytes_go(&t->flat.in, tensor->data.at) ||
      !bytes_copy(&t->flat.in, raw, size))
    return false;
  if (tensor->sparsity.at &&
      !(places = tflite_places(t, tensor, count, scratch)))
    return false;
  for (int64_t i = 0; places && i < tensor->count; i++) {
    values[i] = 0;
    if (stored)
      stored[i] =
          (int32_t)(steps.count ? steps.zero[0] : 0) - offset_of(tensor);
  }
  store = byte_store_of((struct slice){raw, size});
  bytes_open(&r, &store, 0, size);
  for (int64_t i = 0; i < count; i++) {
    int64_t place = places ? places[i] : i;
    values[place] = (float)value_at(&r, tensor, &steps, i, place);
    if (stored)
      stored[place] = (int32_t)(stored_at(&r, tensor, i) - offset_of(tensor));
  }
  return true;
}

static float *take_values(struct tflite *t, const struct tflite_tensor *tensor,
                          int32_t **stored) {
  struct arena scratch;
  int bytes = bytes_of(tensor->type);
  if (bytes == 0 || tensor->count < 1 ||
      (!tensor->sparsity.at &&
       (uint64_t)tensor->count * (unsigned)bytes != tensor->data.count)) {
    tflite_fail(t, "the values of `%.64s` have an unsupported type or number",
                tensor->name);
    return NULL;
  }
  if (!flat_spend(&t->flat, (uint64_t)tensor->count))
    return NULL;
  float *values = arena_room(t->graph->arena, (size_t)tensor->count, 4);
  arena_open_in(&scratch, t->graph->arena);
  *stored = has_steps(tensor)
                ? arena_room(t->graph->arena, (size_t)tensor->count, 4)
                : NULL;
  bool read = read_values(t, tensor, &scratch, values, *stored);
  arena_close(&scratch);
  return read ? values : NULL;
}

float *tflite_reals(struct tflite *t, const struct tflite_tensor *tensor) {
  int32_t *stored;
  return take_values(t, tensor, &stored);
}

/* Transposes values of 32 bits. */
static void *turned(struct tflite *t, const struct tflite_tensor *tensor,
                    const void *values, const int *order) {
  const uint32_t *from = values;
  uint32_t *to = arena_alloc(t->graph->arena, (size_t)tensor->count, 4);
  int64_t apart[LIMIT_RANK], step = 1, place[LIMIT_RANK] = {0}, at = 0;
  for (int i = tensor->rank; i-- > 0; step *= tensor->dims[i])
    apart[i] = step;
  for (int64_t i = 0; i < tensor->count; i++) {
    to[i] = from[at];
    for (int k = tensor->rank; k-- > 0;) {
      at += apart[order[k]];
      if (++place[k] < tensor->dims[order[k]])
        break;
      at -= apart[order[k]] * tensor->dims[order[k]];
      place[k] = 0;
    }
  }
  return to;
}

/* All but the first are preceded by a blank. */
static void put_steps(struct tflite *t, const struct tflite_tensor *tensor,
                      struct text *scales, struct text *zeros) {
  for (uint64_t i = 0; i < tensor->scales.count; i++) {
    text_put(scales, scales->length ? " " : "");
    text_real(scales, flat_item_real(&t->flat, &tensor->scales, i));
  }
  /* Without zeros, all are 0. */
  uint64_t count = tensor->zeros.count ? tensor->zeros.count : 1;
  for (uint64_t i = 0; i < count && tensor->scales.count; i++)
    text_printf(zeros, "%s%" PRId64, zeros->length ? " " : "",
                flat_item(&t->flat, &tensor->zeros, i, 8) - offset_of(tensor));
}

void tflite_steps(struct tflite *t, const struct tflite_tensor *const *tensors,
                  size_t count, const char **scale, const char **zero) {
  struct text scales = text_new(t->graph->arena);
  struct text zeros = text_new(t->graph->arena);
  if (!t->options->weights)
    return;
  for (size_t i = 0; i < count; i++)
    put_steps(t, tensors[i], &scales, &zeros);
  if (scales.length) {
    *scale = text_string(&scales);
    *zero = text_string(&zeros);
  }
}

bool tflite_take(struct tflite *t, struct graph_node *node, const char *name,
                 const struct tflite_tensor *tensor, const int *order) {
  graph_tensor(node, tensor->dims, (size_t)tensor->rank);
  if (!t->options->weights)
    return true;
  int32_t *stored;
  float *values = take_values(t, tensor, &stored);
  if (!values)
    return false;
  if (order)
    values = turned(t, tensor, values, order);
  if (order && stored)
    stored = turned(t, tensor, stored, order);
  struct graph_weight *w = VEC_PUSH(t->graph->arena, &node->weights);
  *w = (struct graph_weight){.name = name,
                             .count = tensor->count,
                             .is_matrix = node->word == WORD_FC,
                             .real = values,
                             .stored = stored};
  tflite_steps(t, &tensor, 1, &w->scale, &w->zero);
  return true;
}

bool tflite_take_bias(struct tflite *t, struct graph_node *node,
                      const char *name, uint64_t index, int64_t count) {
  const struct tflite_tensor *bias = tflite_in(t, index);
  node->bias = bias ? BIAS_WITH : BIAS_WITHOUT;
  if (!bias)
    return true;
  if (!tflite_is_constant(bias) || bias->node >= 0 || bias->count != count)
    return tflite_fail(t,
                       "its bias, `%.64s`, does not have one value for each "
                       "output, or is not in the file",
                       bias->name);
  return tflite_take(t, node, name, bias, NULL);
}
