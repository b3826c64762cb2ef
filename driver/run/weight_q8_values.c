/*
 * The block of an 8-bit net: weights, biases and constants. Integers are taken
 * from the file, reals are rounded.
 */
#include "driver/run/weight_q8.h"

/* Gathers integers in the order of the net. */
static bool gather_ints(struct q8_making *m, const struct netc_tensor *tensor,
                        const struct stored_tensor *stored, int32_t *to) {
  int64_t wrong, count = stored->count;
  struct scattered from = {.type = VALUE_I32,
                           .axes = tensor->rank,
                           .size = tensor->dims,
                           .stride = tensor->strides};
  int32_t *all = arena_room(m->scratch, (size_t)count + 1, sizeof *all);
  if (!tensors_ints(m->set->file, stored, 0, count, all))
    return false; /* reported by weight_set_check */
  from.at = (const unsigned char *)(all + tensor->first);
  return scattered_ints(&from, to, &wrong);
}

static const struct stored_tensor *
whole_tensor(const struct q8_making *m, const struct netc_tensor *tensor) {
  const struct stored_tensor *stored =
      tensor->weight >= 0 ? m->set->from[tensor->weight] : NULL;
  bool whole = stored && !value_is_real(stored->type) && tensor->norm < 0 &&
               tensor->computed == NETC_AS_STORED;
  return whole ? stored : NULL;
}

/* Integer weights with zero points of 0, as the kernels need. */
static const struct stored_tensor *kept_weights(const struct q8_making *m,
                                                const struct netc_q8 *q8) {
  const struct stored_tensor *stored =
      whole_tensor(m, &m->set->tensors.at[q8->weight]);
  const struct tensor_steps *steps =
      stored ? tensors_steps(m->set->file, stored->name) : NULL;
  for (size_t i = 0; steps && i < steps->count; i++)
    if (steps->zero[i])
      return NULL;
  return stored;
}

/* The index in the file of value `at` of a tensor. */
static int64_t file_place(const struct netc_tensor *tensor, int64_t at) {
  int64_t place = tensor->first;
  for (int i = tensor->rank; i-- > 0; at /= tensor->dims[i])
    place += at % tensor->dims[i] * tensor->strides[i];
  return place;
}

/* The place where output `o` begins in the file, or just its number for a
 * deconv, whose outputs are not the first axis. */
static int64_t file_output(const struct netc_q8 *q8,
                           const struct netc_tensor *tensor, int64_t o) {
  return strcmp(q8->was, "deconv") == 0 ? o : file_place(tensor, o);
}

/* Integer weights: takes the file's scale for each output. */
static bool take_whole(struct q8_making *m, const struct netc_q8 *q8,
                       const struct netc_tensor *tensor,
                       const struct stored_tensor *stored, int32_t *values,
                       double *scales) {
  const struct tensor_steps *steps = tensors_steps(m->set->file, stored->name);
  int64_t each = stored->count / (int64_t)steps->count;
  if (strcmp(q8->was, "deconv") == 0)
    each = steps->count == 1 ? q8->outputs : 1;
  for (int64_t o = 0; o < q8->outputs; o++)
    scales[o] = (double)steps->scale[file_output(q8, tensor, o) / each];
  if (!gather_ints(m, tensor, stored, values))
    return false;
  for (int64_t i = 0; i < tensor->count; i++)
    if (values[i] < INT8_MIN || values[i] > INT8_MAX)
      return weight_q8_refuse(m, q8->layer, "its weights do not fit 8 bits");
  return true;
}

/* Real weights: computes a scale for each output. */
static void round_reals(const struct netc_q8 *q8, int64_t count,
                        const float *reals, int32_t *values, double *scales) {
  for (int64_t o = 0; o < q8->outputs; o++) {
    double largest = 0;
    for (int64_t i = o; i < count; i += q8->outputs)
      largest = fmax(largest, fabs((double)reals[i]));
    scales[o] = (double)weight_set_scale(largest);
    for (int64_t i = o; i < count; i += q8->outputs)
      values[i] = (int32_t)nearbyint((double)reals[i] / scales[o]);
  }
}

bool weight_q8_put_weights(struct q8_making *m, const struct netc_q8 *q8,
                           double *scales) {
  const struct netc_tensor *tensor = &m->set->tensors.at[q8->weight];
  const struct stored_tensor *stored = kept_weights(m, q8);
  size_t count = (size_t)tensor->count;
  int32_t *values = arena_alloc(m->scratch, count + 1, sizeof *values);
  m->rounded += !stored && whole_tensor(m, tensor);
  if (stored) {
    if (!take_whole(m, q8, tensor, stored, values, scales))
      return false;
  } else {
    float *reals = arena_alloc(m->scratch, count + 1, sizeof *reals);
    weight_set_tensor(m->set, tensor, reals);
    round_reals(q8, tensor->count, reals, values, scales);
  }
  int64_t rows = tensor->count / q8->outputs;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t o = 0; o < q8->outputs; o++) {
      int64_t at = q8->outputs_first ? o * rows + i : i * q8->outputs + o;
      m->block[tensor->offset + at] =
          (unsigned char)values[i * q8->outputs + o];
    }
  return true;
}

/* In units of the input's scale times the weights' scale. */
bool weight_q8_put_bias(struct q8_making *m, const struct netc_q8 *q8,
                        const struct q8_step *in, const double *scales) {
  if (q8->bias < 0)
    return true;
  const struct netc_tensor *tensor = &m->set->tensors.at[q8->bias];
  const struct netc_tensor *weight = &m->set->tensors.at[q8->weight];
  const struct stored_tensor *stored = whole_tensor(m, tensor);
  if (whole_tensor(m, weight) && !kept_weights(m, q8))
    stored = NULL; /* its units are of a scale that has changed */
  size_t count = (size_t)tensor->count;
  int32_t *values = arena_alloc(m->scratch, count + 1, sizeof *values);
  if (stored && !gather_ints(m, tensor, stored, values))
    return false;
  if (!stored) {
    float *reals = arena_alloc(m->scratch, count + 1, sizeof *reals);
    weight_set_tensor(m->set, tensor, reals);
    for (size_t i = 0; i < count; i++)
      values[i] = weight_q8_limited((double)reals[i] / (in->scale * scales[i]),
                                    INT32_MIN / 2, INT32_MAX / 2);
  }
  for (size_t i = 0; i < count; i++)
    weight_q8_put_int(m, tensor->offset + 4 * (int64_t)i, values[i]);
  return true;
}

/* One common scale; slopes in the file are kept if their zero point is 0. */
bool weight_q8_put_slopes(struct q8_making *m, const struct netc_q8 *q8,
                          double *scale) {
  const struct netc_tensor *tensor = &m->set->tensors.at[q8->weight];
  const struct stored_tensor *stored = whole_tensor(m, tensor);
  const struct tensor_steps *steps =
      stored ? tensors_steps(m->set->file, stored->name) : NULL;
  size_t count = (size_t)tensor->count;
  int32_t *values = arena_alloc(m->scratch, count + 1, sizeof *values);
  if (steps && steps->count == 1 && steps->zero[0] == 0 &&
      stored->type == VALUE_I8) {
    *scale = (double)steps->scale[0];
    if (!gather_ints(m, tensor, stored, values))
      return false;
  } else {
    float *reals = arena_alloc(m->scratch, count + 1, sizeof *reals);
    const struct netc_q8 all = {.outputs = 1};
    weight_set_tensor(m->set, tensor, reals);
    round_reals(&all, tensor->count, reals, values, scale);
  }
  for (size_t i = 0; i < count; i++)
    m->block[tensor->offset + (int64_t)i] = (unsigned char)values[i];
  return true;
}

/* Constant operands, each with its scale. */
bool weight_q8_put_constants(struct q8_making *m, const struct netc_q8 *q8) {
  for (size_t i = 0; i < q8->in_count; i++) {
    if (q8->ins[i] >= 0)
      continue;
    const struct netc_tensor *tensor = &m->set->tensors.at[q8->tensors[i]];
    size_t count = (size_t)tensor->count;
    float *reals = arena_alloc(m->scratch, count + 1, sizeof *reals);
    struct q8_step step;
    if (!weight_q8_input_step(m, q8, i, &step))
      return false;
    weight_set_tensor(m->set, tensor, reals);
    for (size_t k = 0; k < count; k++)
      m->block[tensor->offset + (int64_t)k] = (unsigned char)weight_q8_limited(
          step.zero + nearbyint((double)reals[k] / step.scale), INT8_MIN,
          INT8_MAX);
  }
  return true;
}
