/*
 * A TensorFlow Lite model's weights: what the file says of their sizes, and
 * their values as reals: those of 8 bits and their biases times their scale.
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

/* 16 bits as a real: sign, 5 of the exponent, 10 of the fraction. */
static double half(int64_t bits) {
  int power = (int)(bits >> 10 & 31), steps = (int)(bits & 1023);
  double value = power ? 1024 + steps : steps;
  for (int i = power ? power : 1; i < 25; i++)
    value /= 2;
  for (int i = 25; i < power; i++)
    value *= 2;
  return bits & 0x8000 ? -value : value;
}

/* A scale and a zero for all values, or for each place of an axis. */
struct tflite_steps {
  int64_t inner, count; /* values of a place, places */
};

static bool find_steps(struct tflite *t, const struct tflite_tensor *tensor,
                       struct tflite_steps *steps) {
  *steps = (struct tflite_steps){1, (int64_t)tensor->scales.count};
  if (steps->count < 2)
    return true;
  int64_t axis = tensor->rank == 1 ? 0 : tensor->axis; /* biases state 3 */
  if (axis < 0 || axis >= tensor->rank || tensor->dims[axis] != steps->count)
    return tflite_fail(t, "the scales of `%.64s` are not those of an axis",
                       tensor->name);
  for (int i = (int)axis + 1; i < tensor->rank; i++)
    steps->inner *= tensor->dims[i];
  return true;
}

/* The stored number as a real, by its scale if it has one. */
static double value_at(struct tflite *t, const struct tflite_tensor *tensor,
                       const struct tflite_steps *steps, int64_t i) {
  struct flat_file *f = &t->flat;
  int bytes = bytes_of(tensor->type);
  bytes_go(&f->in, tensor->data.at + (uint64_t)(i * bytes));
  if (tensor->type == TFLITE_FLOAT32)
    return bytes_real(&f->in, 4);
  bool positive =
      tensor->type == TFLITE_UINT8 || tensor->type == TFLITE_FLOAT16;
  int64_t stored = positive ? (int64_t)bytes_unsigned(&f->in, bytes)
                            : bytes_signed(&f->in, bytes);
  if (tensor->type == TFLITE_FLOAT16)
    return half(stored);
  if (steps->count == 0)
    return (double)stored;
  uint64_t place =
      steps->count < 2 ? 0 : (uint64_t)(i / steps->inner % steps->count);
  int64_t zero = 0;
  if (place < tensor->zeros.count) {
    bytes_go(&f->in, tensor->zeros.at + 8 * place);
    zero = bytes_signed(&f->in, 8);
  }
  bytes_go(&f->in, tensor->scales.at + 4 * place);
  return bytes_real(&f->in, 4) * ((double)stored - (double)zero);
}

float *tflite_reals(struct tflite *t, const struct tflite_tensor *tensor) {
  struct tflite_steps steps;
  int bytes = bytes_of(tensor->type);
  if (bytes == 0 || tensor->count < 1 ||
      (uint64_t)tensor->count * (unsigned)bytes != tensor->data.count) {
    tflite_fail(t,
                "the values of `%.64s` are of a type or number that is not "
                "supported",
                tensor->name);
    return NULL;
  }
  if (!find_steps(t, tensor, &steps) ||
      !flat_spend(&t->flat, (uint64_t)tensor->count))
    return NULL;
  float *values = arena_alloc(t->graph->arena, (size_t)tensor->count, 4);
  for (int64_t i = 0; i < tensor->count; i++)
    values[i] = (float)value_at(t, tensor, &steps, i);
  return values;
}

/* The values with their axes in another order. */
static float *turned(struct tflite *t, const struct tflite_tensor *tensor,
                     const float *from, const int *order) {
  float *to = arena_alloc(t->graph->arena, (size_t)tensor->count, 4);
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

/* Scales or zero points, "0.5 0.25"; NULL: there are none. */
static const char *list_of(struct tflite *t, const struct flat_vector *list,
                           bool real) {
  struct text text = text_new(t->graph->arena);
  for (uint64_t i = 0; i < list->count; i++) {
    bytes_go(&t->flat.in, list->at + i * (real ? 4 : 8));
    text_put(&text, i ? " " : "");
    if (real)
      text_real(&text, bytes_real(&t->flat.in, 4));
    else
      text_printf(&text, "%" PRId64, bytes_signed(&t->flat.in, 8));
  }
  return list->count ? text_string(&text) : NULL;
}

bool tflite_take(struct tflite *t, struct graph_node *node, const char *name,
                 const struct tflite_tensor *tensor, const int *order) {
  graph_tensor(node, tensor->dims, (size_t)tensor->rank);
  if (!t->options->weights)
    return true;
  float *values = tflite_reals(t, tensor);
  if (!values)
    return false;
  if (order)
    values = turned(t, tensor, values, order);
  const char *zero = list_of(t, &tensor->zeros, false);
  *VEC_PUSH(t->graph->arena, &node->weights) =
      (struct graph_weight){.name = name,
                            .count = tensor->count,
                            .is_matrix = node->word == WORD_FC,
                            .real = values,
                            .scale = list_of(t, &tensor->scales, true),
                            .zero = zero ? zero : "0"};
  return true;
}

bool tflite_take_bias(struct tflite *t, struct graph_node *node, uint64_t index,
                      int64_t count) {
  const struct tflite_tensor *bias = tflite_in(t, index);
  node->bias = bias ? BIAS_WITH : BIAS_WITHOUT;
  if (!bias)
    return true;
  if (!tflite_is_constant(bias) || bias->node >= 0 || bias->count != count)
    return tflite_fail(t,
                       "its bias, `%.64s`, is not one value for each "
                       "output, or not in the file",
                       bias->name);
  return tflite_take(t, node, "bias", bias, NULL);
}
