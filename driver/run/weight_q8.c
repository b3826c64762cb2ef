/*
 * The block of a net of 8 bits: biases of 32 bits, then for each operation the
 * scales and zeros that its kernel reads, weights, and tables
 * (docs/weights.md). All are made of the scale and zero of each layer's output
 * and of each tensor of weights; real weights get a scale for each output.
 */
#include <math.h>

#include "driver/run/weight_set.h"
#include "runtime/netrt.h"

/* What a layer's output stands for: (q - zero) * scale. */
struct q8_step {
  double scale;
  int32_t zero;
  bool known;
};

struct q8_making {
  const struct weight_set *set;
  const char *path;      /* of the file; NULL: all is made up */
  struct arena *scratch; /* of an operation */
  struct q8_step *steps; /* by layer */
  unsigned char *block;
  int status;
};

static const char *layer_name(const struct q8_making *m, int64_t index) {
  struct netc_layer layer = {.size = sizeof layer};
  netc_layer(m->set->netc, (size_t)index, &layer);
  return layer.name;
}

static bool refuse(struct q8_making *m, int64_t layer, const char *format, ...)
    PRINTF_LIKE(3, 4);
static bool refuse(struct q8_making *m, int64_t layer, const char *format,
                   ...) {
  struct text text = text_new(m->scratch);
  va_list args;
  text_printf(&text, "%s: ", layer_name(m, layer));
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  m->status =
      complain_of(EXIT_SOURCE, m->path, "`--dtype f32` computes in float32",
                  "%s", text_string(&text));
  return false;
}

/* The block */

static void put_word(struct q8_making *m, int64_t at, uint32_t word) {
  memcpy(m->block + at, &word, sizeof word);
}

static void put_int(struct q8_making *m, int64_t at, int32_t value) {
  put_word(m, at, (uint32_t)value);
}

static void put_real(struct q8_making *m, int64_t at, double value) {
  float real = (float)value;
  uint32_t bits;
  memcpy(&bits, &real, sizeof bits);
  put_word(m, at, bits);
}

/* Steps */

static struct q8_step made_up(const struct netc_q8 *q8) {
  bool softmax = strcmp(q8->code, "q8softmax") == 0;
  bool positive =
      strncmp(q8->clamp, "relu", 4) == 0 || strncmp(q8->was, "relu", 4) == 0;
  return softmax    ? (struct q8_step){1.0 / 256, -128, true}
         : positive ? (struct q8_step){4.0 / 255, -128, true}
                    : (struct q8_step){8.0 / 255, 0, true};
}

/* As the file has it. */
static struct q8_step stored_step(struct q8_making *m, int64_t layer) {
  struct text key = text_new(m->scratch);
  text_printf(&key, "%s.output", layer_name(m, layer));
  const struct tensor_steps *found =
      m->set->file ? tensors_steps(m->set->file, text_string(&key)) : NULL;
  if (!found)
    return (struct q8_step){0};
  return (struct q8_step){(double)found->scale[0], found->zero[0], true};
}

bool weight_q8_keeps_step(const struct netc_q8 *q8) {
  static const char *const codes[] = {"q8maxpool", "q8adaptmax", "q8pad",
                                      "copy", "concat"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(q8->code, codes[i]) == 0)
      return true;
  return false;
}

static bool is_mean(const struct netc_q8 *q8) {
  return strcmp(q8->code, "q8avgpool") == 0 ||
         strcmp(q8->code, "q8adaptavg") == 0;
}

static bool same_step(const struct q8_step *a, const struct q8_step *b) {
  return a->zero == b->zero && !(a->scale < b->scale) && !(a->scale > b->scale);
}

/* Scales and zeros that fit 8 bits. */
static bool check_step(struct q8_making *m, int64_t layer,
                       const struct q8_step *step) {
  if (!step->known)
    return refuse(m, layer,
                  "the weights have no scale for its output, which int8 needs");
  if (step->zero < INT8_MIN || step->zero > INT8_MAX)
    return refuse(m, layer, "the zero point of its output is %ld, not int8",
                  (long)step->zero);
  return true;
}

/* Of value `i` that an operation reads: a layer's, or a constant's. */
static bool input_step(struct q8_making *m, const struct netc_q8 *q8, size_t i,
                       struct q8_step *step) {
  if (q8->ins[i] >= 0) {
    *step = m->steps[q8->ins[i]];
    return check_step(m, q8->ins[i], step);
  }
  const struct netc_tensor *tensor = &m->set->tensors.at[q8->tensors[i]];
  const struct stored_tensor *stored = m->set->from[tensor->weight];
  const struct tensor_steps *found =
      stored ? tensors_steps(m->set->file, stored->name) : NULL;
  *step = found ? (struct q8_step){(double)found->scale[0], found->zero[0],
                                   found->count == 1}
                : (struct q8_step){4.0 / 255, 0, !stored};
  return step->known ||
         refuse(m, tensor->layer, "its values need one scale for all of them");
}

static bool output_step(struct q8_making *m, const struct netc_q8 *q8) {
  struct q8_step *step = &m->steps[q8->out], in;
  *step = stored_step(m, q8->out);
  if (!step->known && (weight_q8_keeps_step(q8) || is_mean(q8))) {
    if (!input_step(m, q8, 0, step))
      return false;
  } else if (!step->known && !m->set->file) {
    *step = made_up(q8);
  }
  if (!check_step(m, q8->out, step))
    return false;
  for (size_t i = 0; weight_q8_keeps_step(q8) && i < q8->in_count; i++)
    if (!input_step(m, q8, i, &in))
      return false;
    else if (!same_step(&in, step))
      return refuse(m, q8->layer,
                    "its output has another scale or zero point than %s",
                    q8->in_count > 1 ? "an operand" : "its input");
  return true;
}

/* Values of tensors */

/* Whole numbers in the order of the net. */
static bool gather_ints(struct q8_making *m, const struct netc_tensor *tensor,
                        const struct stored_tensor *stored, int32_t *to) {
  int64_t wrong, count = stored->count;
  struct scattered from = {.type = VALUE_I32,
                           .axes = tensor->rank,
                           .size = tensor->dims,
                           .stride = tensor->strides};
  int32_t *all = arena_room(m->scratch, (size_t)count + 1, sizeof *all);
  if (!tensors_ints(m->set->file, stored, 0, count, all))
    return false; /* weight_set_check says it */
  from.at = (const unsigned char *)(all + tensor->first);
  return scattered_ints(&from, to, &wrong);
}

static const struct stored_tensor *
whole_tensor(const struct q8_making *m, const struct netc_tensor *tensor) {
  const struct stored_tensor *stored =
      tensor->weight >= 0 ? m->set->from[tensor->weight] : NULL;
  bool whole = stored && !value_is_real(stored->type) && tensor->norm < 0;
  return whole ? stored : NULL;
}

/* The place in the file of value `at` of a tensor. */
static int64_t file_place(const struct netc_tensor *tensor, int64_t at) {
  int64_t place = tensor->first;
  for (int i = tensor->rank; i-- > 0; at /= tensor->dims[i])
    place += at % tensor->dims[i] * tensor->strides[i];
  return place;
}

/* Weights of whole numbers: of each output the scale that the file has. */
static bool take_whole(struct q8_making *m, const struct netc_q8 *q8,
                       const struct netc_tensor *tensor,
                       const struct stored_tensor *stored, int32_t *values,
                       double *scales) {
  const struct tensor_steps *steps = tensors_steps(m->set->file, stored->name);
  int64_t each = stored->count / (int64_t)steps->count;
  for (size_t i = 0; i < steps->count; i++)
    if (steps->zero[i])
      return refuse(m, q8->layer,
                    "the zero point of its weights is %ld, and the kernels of "
                    "8 bits take 0",
                    (long)steps->zero[i]);
  for (int64_t o = 0; o < q8->outputs; o++)
    scales[o] = (double)steps->scale[file_place(tensor, o) / each];
  if (!gather_ints(m, tensor, stored, values))
    return false;
  for (int64_t i = 0; i < tensor->count; i++)
    if (values[i] < INT8_MIN || values[i] > INT8_MAX)
      return refuse(m, q8->layer, "its weights pass 8 bits");
  return true;
}

/* Real weights: the largest of each output is 127. */
static void round_reals(const struct netc_q8 *q8, int64_t count,
                        const float *reals, int32_t *values, double *scales) {
  for (int64_t o = 0; o < q8->outputs; o++) {
    double largest = 0;
    for (int64_t i = o; i < count; i += q8->outputs)
      largest = fmax(largest, fabs((double)reals[i]));
    scales[o] = largest > 0 ? (double)(float)(largest / 127) : 1;
    for (int64_t i = o; i < count; i += q8->outputs)
      values[i] = (int32_t)nearbyint((double)reals[i] / scales[o]);
  }
}

static int32_t limited(double value, int32_t low, int32_t high) {
  value = nearbyint(value);
  return value <= low ? low : value >= high ? high : (int32_t)value;
}

static bool put_weights(struct q8_making *m, const struct netc_q8 *q8,
                        double *scales) {
  const struct netc_tensor *tensor = &m->set->tensors.at[q8->weight];
  const struct stored_tensor *stored = whole_tensor(m, tensor);
  size_t count = (size_t)tensor->count;
  int32_t *values = arena_alloc(m->scratch, count + 1, sizeof *values);
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

/* In units of the input's scale times the weights'. */
static bool put_bias(struct q8_making *m, const struct netc_q8 *q8,
                     const struct q8_step *in, const double *scales) {
  if (q8->bias < 0)
    return true;
  const struct netc_tensor *tensor = &m->set->tensors.at[q8->bias];
  const struct stored_tensor *stored = whole_tensor(m, tensor);
  size_t count = (size_t)tensor->count;
  int32_t *values = arena_alloc(m->scratch, count + 1, sizeof *values);
  if (stored && !gather_ints(m, tensor, stored, values))
    return false;
  if (!stored) {
    float *reals = arena_alloc(m->scratch, count + 1, sizeof *reals);
    weight_set_tensor(m->set, tensor, reals);
    for (size_t i = 0; i < count; i++)
      values[i] = limited((double)reals[i] / (in->scale * scales[i]),
                          INT32_MIN / 2, INT32_MAX / 2);
  }
  for (size_t i = 0; i < count; i++)
    put_int(m, tensor->offset + 4 * (int64_t)i, values[i]);
  return true;
}

/* Operations */

/* The least and the largest value that the output may have. */
static void limits_of(const struct netc_q8 *q8, const struct q8_step *out,
                      int32_t limits[2]) {
  double low = -INFINITY, high = INFINITY;
  if (strncmp(q8->clamp, "relu", 4) == 0)
    low = 0;
  if (strcmp(q8->clamp, "relu6") == 0)
    high = 6;
  if (strcmp(q8->clamp, "hardtanh") == 0) {
    low = q8->reals[0];
    high = q8->reals[1];
  }
  limits[0] =
      limited(out->zero + nearbyint(low / out->scale), INT8_MIN, INT8_MAX);
  limits[1] =
      limited(out->zero + nearbyint(high / out->scale), INT8_MIN, INT8_MAX);
}

static void put_range(struct q8_making *m, const struct netc_q8 *q8,
                      const struct q8_step *in, const struct q8_step *out) {
  int32_t limits[2];
  limits_of(q8, out, limits);
  put_int(m, q8->words, in->zero);
  put_int(m, q8->words + 4, out->zero);
  put_int(m, q8->words + 8, limits[0]);
  put_int(m, q8->words + 12, limits[1]);
}

static bool make_product(struct q8_making *m, const struct netc_q8 *q8,
                         const struct q8_step *in, const struct q8_step *out) {
  double *scales =
      arena_alloc(m->scratch, (size_t)q8->outputs + 1, sizeof *scales);
  if (!put_weights(m, q8, scales) || !put_bias(m, q8, &in[0], scales))
    return false;
  for (int64_t o = 0; o < q8->outputs; o++)
    put_real(m, q8->scales + 4 * o, in->scale * scales[o] / out->scale);
  put_range(m, q8, in, out);
  return true;
}

static bool make_mean(struct q8_making *m, const struct netc_q8 *q8,
                      const struct q8_step *in, const struct q8_step *out) {
  put_real(m, q8->scales, in->scale / out->scale);
  put_range(m, q8, in, out);
  return true;
}

static bool make_pad(struct q8_making *m, const struct netc_q8 *q8,
                     const struct q8_step *in, const struct q8_step *out) {
  (void)out;
  put_int(m, q8->words, in->zero);
  return true;
}

/* Factors of 21 bits, as XNNPACK has them: the larger one has all of these. */
static bool make_add(struct q8_making *m, const struct netc_q8 *q8,
                     const struct q8_step *in, const struct q8_step *out) {
  double a = in[0].scale / out->scale, b = in[1].scale / out->scale;
  int32_t limits[2], sign = strcmp(q8->was, "sub") == 0 ? -1 : 1;
  int power, shift;
  frexp(fmax(a, b), &power);
  shift = 21 - power < 30 ? 21 - power : 30;
  if (shift < 1)
    return refuse(m, q8->layer,
                  "its operands' scales are too large for its "
                  "output's");
  limits_of(q8, out, limits);
  const int32_t words[] = {in[0].zero,
                           in[1].zero,
                           (int32_t)nearbyint(ldexp(a, shift)),
                           sign * (int32_t)nearbyint(ldexp(b, shift)),
                           shift,
                           out->zero,
                           limits[0],
                           limits[1]};
  for (int i = 0; i < 8; i++)
    put_int(m, q8->words + 4 * i, words[i]);
  return true;
}

static bool make_mul(struct q8_making *m, const struct netc_q8 *q8,
                     const struct q8_step *in, const struct q8_step *out) {
  int32_t limits[2];
  limits_of(q8, out, limits);
  const int32_t words[] = {in[0].zero, in[1].zero, out->zero, limits[0],
                           limits[1]};
  put_real(m, q8->scales, in[0].scale * in[1].scale / out->scale);
  for (int i = 0; i < 5; i++)
    put_int(m, q8->words + 4 * i, words[i]);
  return true;
}

static bool make_softmax(struct q8_making *m, const struct netc_q8 *q8,
                         const struct q8_step *in, const struct q8_step *out) {
  const struct q8_step wanted = {1.0 / 256, -128, true};
  if (!same_step(out, &wanted))
    return refuse(m, q8->layer,
                  "probabilities of 8 bits have a scale of 1/256 "
                  "and a zero point of -128");
  for (int i = 0; i < 8; i++) {
    double power = exp(-ldexp(in->scale, i)) * 4294967296.0;
    put_word(m, q8->words + 4 * i,
             power >= 4294967295.0 ? UINT32_MAX : (uint32_t)(power + 0.5));
  }
  return true;
}

/* All values at once, by the runtime's kernel in float32. */
static bool evaluate(const struct netc_q8 *q8, float values[256]) {
  const int32_t numbers[2] = {256, 1};
  const float reals[3] = {(float)q8->reals[0], (float)q8->reals[1],
                          (float)q8->reals[2]};
  const struct netrt_operand operands[2] = {{0, 0, 1, NETRT_F32, 0},
                                            {0, 0, 1, NETRT_F32, 0}};
  struct netrt_op op = {.ins = 1, .outs = 1};
  struct netrt_model model = {.version = NETRT_VERSION,
                              .batch = 1,
                              .arena_bytes = 256 * sizeof *values,
                              .ops = &op,
                              .operands = operands,
                              .numbers = numbers,
                              .reals = reals,
                              .kernels = netrt_kernels,
                              .op_count = 1,
                              .operand_count = 2,
                              .number_count = 2,
                              .real_count = 3,
                              .kernel_count = NETRT_CODES};
  struct netrt net;
  for (unsigned i = 0; i < NETRT_CODES; i++)
    if (strcmp(netrt_kernels[i]->name, q8->was) == 0)
      op.kernel = (uint8_t)i;
  if (netrt_open(&net, &model, NULL, 0, values, model.arena_bytes) != NETRT_OK)
    return false;
  net.flags = NETRT_REFERENCE;
  bool done = netrt_run(&net) == NETRT_OK;
  netrt_close(&net);
  return done;
}

static bool make_table(struct q8_making *m, const struct netc_q8 *q8,
                       const struct q8_step *in, const struct q8_step *out) {
  float values[256];
  for (int i = 0; i < 256; i++)
    values[i] = (float)((i - 128 - in->zero) * in->scale);
  if (!evaluate(q8, values))
    return refuse(m, q8->layer, "`%s` cannot be computed", q8->was);
  for (int i = 0; i < 256; i++) {
    double value = (double)values[i] / out->scale;
    m->block[q8->table + i] = (unsigned char)limited(
        isnan(value) ? out->zero : out->zero + nearbyint(value), INT8_MIN,
        INT8_MAX);
  }
  return true;
}

static bool make_nothing(struct q8_making *m, const struct netc_q8 *q8,
                         const struct q8_step *in, const struct q8_step *out) {
  (void)m, (void)q8, (void)in, (void)out;
  return true;
}

static bool make_op(struct q8_making *m, const struct netc_q8 *q8) {
  static const struct {
    const char *code;
    bool (*make)(struct q8_making *m, const struct netc_q8 *q8,
                 const struct q8_step *in, const struct q8_step *out);
  } rows[] = {{"q8conv", make_product}, {"q8linear", make_product},
              {"q8avgpool", make_mean}, {"q8adaptavg", make_mean},
              {"q8pad", make_pad},      {"q8add", make_add},
              {"q8mul", make_mul},      {"q8softmax", make_softmax},
              {"q8table", make_table},  {"", make_nothing}};
  struct q8_step in[2] = {{0}};
  size_t row = 0;
  for (size_t i = 0; i < q8->in_count && i < 2; i++)
    if (!input_step(m, q8, i, &in[i]))
      return false;
  while (*rows[row].code && strcmp(rows[row].code, q8->code) != 0)
    row++;
  return rows[row].make(m, q8, in, &m->steps[q8->out]);
}

/* Constants that are values, each with its scale. */
static bool put_constants(struct q8_making *m, const struct netc_q8 *q8) {
  for (size_t i = 0; i < q8->in_count; i++) {
    if (q8->ins[i] >= 0)
      continue;
    const struct netc_tensor *tensor = &m->set->tensors.at[q8->tensors[i]];
    size_t count = (size_t)tensor->count;
    float *reals = arena_alloc(m->scratch, count + 1, sizeof *reals);
    struct q8_step step;
    if (!input_step(m, q8, i, &step))
      return false;
    weight_set_tensor(m->set, tensor, reals);
    for (size_t k = 0; k < count; k++)
      m->block[tensor->offset + (int64_t)k] = (unsigned char)limited(
          step.zero + nearbyint((double)reals[k] / step.scale), INT8_MIN,
          INT8_MAX);
  }
  return true;
}

/* Inputs of the net have steps of their own. */
static void find_inputs(struct q8_making *m,
                        const struct netc_q8_block *block) {
  for (size_t i = 0; i < block->port_count; i++) {
    struct netc_end end = {.size = sizeof end};
    if (netc_input(m->set->netc, i, &end) != NETC_OK)
      break;
    struct q8_step *step = &m->steps[end.layer];
    *step = stored_step(m, end.layer);
    if (!step->known && !m->set->file)
      *step = (struct q8_step){1.0 / 128, 0, true};
  }
}

static bool put_ports(struct q8_making *m, const struct netc_q8_block *block) {
  for (size_t i = 0; i < block->port_count; i++) {
    const struct q8_step *step = &m->steps[block->port_layers[i]];
    if (!check_step(m, block->port_layers[i], step))
      return false;
    put_real(m, block->ports + 8 * (int64_t)i, step->scale);
    put_int(m, block->ports + 8 * (int64_t)i + 4, step->zero);
  }
  return true;
}

int weight_set_q8(const struct weight_set *set, const char *path,
                  unsigned char *bytes) {
  struct netc_q8_block block = {.size = sizeof block};
  struct netc_q8 q8 = {.size = sizeof q8};
  struct netc_layer layer = {.size = sizeof layer};
  struct q8_making m = {.set = set, .path = path, .block = bytes};
  size_t layers = 0;
  netc_q8_block(set->netc, &block);
  while (netc_layer(set->netc, layers, &layer) == NETC_OK)
    layers++;
  memset(bytes, 0, (size_t)block.bytes);
  m.scratch = set->arena;
  m.steps = arena_alloc(set->arena, layers + 1, sizeof *m.steps);
  bool made = true;
  find_inputs(&m, &block);
  for (size_t i = 0; made && netc_q8(set->netc, i, &q8) == NETC_OK; i++) {
    struct arena own;
    arena_open_in(&own, set->arena);
    m.scratch = &own;
    made = output_step(&m, &q8) && put_constants(&m, &q8) && make_op(&m, &q8);
    arena_close(&own);
    m.scratch = set->arena;
  }
  made = made && put_ports(&m, &block);
  return m.status != EXIT_DONE ? m.status
         : made                ? EXIT_DONE
                               : weight_set_check(set, path);
}
