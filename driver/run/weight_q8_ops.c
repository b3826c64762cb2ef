/*
 * The block of an 8-bit net: scales, words and tables of an operation, as in
 * runtime/ops.def.
 */
#include "driver/run/weight_q8.h"
#include "runtime/netrt.h"

/* The minimum and maximum of an output. */
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
  limits[0] = weight_q8_limited(out->zero + nearbyint(low / out->scale),
                                INT8_MIN, INT8_MAX);
  limits[1] = weight_q8_limited(out->zero + nearbyint(high / out->scale),
                                INT8_MIN, INT8_MAX);
}

static void put_range(struct q8_making *m, const struct netc_q8 *q8,
                      const struct q8_step *in, const struct q8_step *out) {
  int32_t limits[2];
  limits_of(q8, out, limits);
  weight_q8_put_int(m, q8->words, in->zero);
  weight_q8_put_int(m, q8->words + 4, out->zero);
  weight_q8_put_int(m, q8->words + 8, limits[0]);
  weight_q8_put_int(m, q8->words + 12, limits[1]);
}

static bool make_product(struct q8_making *m, const struct netc_q8 *q8,
                         const struct q8_step *in, const struct q8_step *out) {
  double *scales =
      arena_alloc(m->scratch, (size_t)q8->outputs + 1, sizeof *scales);
  if (!weight_q8_put_weights(m, q8, scales) ||
      !weight_q8_put_bias(m, q8, &in[0], scales))
    return false;
  for (int64_t o = 0; o < q8->outputs; o++)
    weight_q8_put_real(m, q8->scales + 4 * o,
                       in->scale * scales[o] / out->scale);
  put_range(m, q8, in, out);
  return true;
}

/* Two scales: for values from 0 up, and for negative ones. */
static bool make_prelu(struct q8_making *m, const struct netc_q8 *q8,
                       const struct q8_step *in, const struct q8_step *out) {
  double slope;
  if (!weight_q8_put_slopes(m, q8, &slope))
    return false;
  weight_q8_put_real(m, q8->scales, in->scale / out->scale);
  weight_q8_put_real(m, q8->scales + 4, in->scale * slope / out->scale);
  put_range(m, q8, in, out);
  return true;
}

static bool make_mean(struct q8_making *m, const struct netc_q8 *q8,
                      const struct q8_step *in, const struct q8_step *out) {
  weight_q8_put_real(m, q8->scales, in->scale / out->scale);
  put_range(m, q8, in, out);
  return true;
}

static bool make_pad(struct q8_making *m, const struct netc_q8 *q8,
                     const struct q8_step *in, const struct q8_step *out) {
  (void)out;
  weight_q8_put_int(m, q8->words, in->zero);
  return true;
}

/* 21-bit factors, as in XNNPACK; the larger one uses all bits. */
static bool make_add(struct q8_making *m, const struct netc_q8 *q8,
                     const struct q8_step *in, const struct q8_step *out) {
  double a = in[0].scale / out->scale, b = in[1].scale / out->scale;
  int32_t limits[2], sign = strcmp(q8->was, "sub") == 0 ? -1 : 1;
  int power, shift;
  frexp(fmax(a, b), &power);
  shift = 21 - power < 30 ? 21 - power : 30;
  if (shift < 1)
    return weight_q8_refuse(m, q8->layer,
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
    weight_q8_put_int(m, q8->words + 4 * i, words[i]);
  return true;
}

static bool make_mul(struct q8_making *m, const struct netc_q8 *q8,
                     const struct q8_step *in, const struct q8_step *out) {
  int32_t limits[2];
  limits_of(q8, out, limits);
  const int32_t words[] = {in[0].zero, in[1].zero, out->zero, limits[0],
                           limits[1]};
  weight_q8_put_real(m, q8->scales, in[0].scale * in[1].scale / out->scale);
  for (int i = 0; i < 5; i++)
    weight_q8_put_int(m, q8->words + 4 * i, words[i]);
  return true;
}

static bool make_softmax(struct q8_making *m, const struct netc_q8 *q8,
                         const struct q8_step *in, const struct q8_step *out) {
  const struct q8_step wanted = {1.0 / 256, -128, true};
  if (!weight_q8_same_step(out, &wanted))
    return weight_q8_refuse(m, q8->layer,
                            "probabilities of 8 bits have a scale of 1/256 "
                            "and a zero point of -128");
  for (int i = 0; i < 8; i++) {
    double power = exp(-ldexp(in->scale, i)) * 4294967296.0;
    weight_q8_put_word(m, q8->words + 4 * i,
                       power >= 4294967295.0 ? UINT32_MAX
                                             : (uint32_t)(power + 0.5));
  }
  return true;
}

/* Evaluates all 256 values by the runtime's float32 kernel. */
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
    return weight_q8_refuse(m, q8->layer, "`%s` cannot be computed", q8->was);
  for (int i = 0; i < 256; i++) {
    double value = (double)values[i] / out->scale;
    m->block[q8->table + i] = (unsigned char)weight_q8_limited(
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

bool weight_q8_make_op(struct q8_making *m, const struct netc_q8 *q8) {
  static const struct {
    const char *code;
    bool (*make)(struct q8_making *m, const struct netc_q8 *q8,
                 const struct q8_step *in, const struct q8_step *out);
  } rows[] = {{"q8conv", make_product},    {"q8linear", make_product},
              {"q8deconv", make_product},  {"q8prelu", make_prelu},
              {"q8reduce", make_mean},     {"q8avgpool", make_mean},
              {"q8adaptavg", make_mean},   {"q8pad", make_pad},
              {"q8add", make_add},         {"q8mul", make_mul},
              {"q8softmax", make_softmax}, {"q8table", make_table},
              {"", make_nothing}};
  struct q8_step in[2] = {{0}};
  size_t row = 0;
  for (size_t i = 0; i < q8->in_count && i < 2; i++)
    if (!weight_q8_input_step(m, q8, i, &in[i]))
      return false;
  while (*rows[row].code && strcmp(rows[row].code, q8->code) != 0)
    row++;
  return rows[row].make(m, q8, in, &m->steps[q8->out]);
}
