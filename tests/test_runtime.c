/*
 * The runtime's kernels beside PyTorch's outputs: tests/data/runtime, made by
 * tools/runtime_cases.py. Each case runs densely and strided, plain and fast,
 * in parts and in place, in a build that checks every byte of the arena.
 */
#include <math.h>
#include <pthread.h>

#include "tests/one_op.h"

struct input {
  int rank;
  int32_t size[NETRT_RANK];
  double scale, plus;
  int32_t index;
  uint8_t type;
};

struct one_case {
  char name[96];
  int code, ins, number_count, real_count;
  uint32_t seed;
  int32_t numbers[24];
  float reals[4];
  struct input in[OPERANDS], out;
  int32_t work;
  const float *expected;
};

static struct one_case *cases;
static size_t case_count;

/* Reading the cases. */

static size_t values_of(const struct input *in) {
  size_t values = 1;
  for (int i = 0; i < in->rank; i++)
    values *= (size_t)in->size[i];
  return values;
}

static struct input read_input(const char *text) {
  struct input in = {.scale = 1, .type = NETRT_F32};
  char *at = (char *)(uintptr_t)text;
  do
    in.size[in.rank++] = (int32_t)strtol(at, &at, 10);
  while (*at++ == 'x');
  const char *word = strstr(text, "scale=");
  in.scale = word ? atof(word + 6) : 1;
  word = strstr(text, "plus=");
  in.plus = word ? atof(word + 5) : 0;
  word = strstr(text, " i");
  if (word) {
    in.type = strncmp(word, " i64", 4) == 0 ? NETRT_I64 : NETRT_I32;
    in.index = atoi(word + 5);
  }
  return in;
}

static void begin_case(char *line) {
  char *name = strchr(line, ' ');
  cases = realloc(cases, (case_count + 1) * sizeof *cases);
  struct one_case *c = &cases[case_count];
  *c = (struct one_case){.seed = (uint32_t)case_count * 2654435761u + 1};
  snprintf(c->name, sizeof c->name, "%s", line);
  *name = '\0';
  c->code = code_of(line);
  case_count++;
}

static void read_line(char *line, const float **expected) {
  struct one_case *c = case_count ? &cases[case_count - 1] : NULL;
  char *rest = strchr(line, ' ') + 1;
  if (strncmp(line, "case ", 5) == 0)
    begin_case(rest);
  else if (strncmp(line, "in ", 3) == 0)
    c->in[c->ins++] = read_input(rest);
  else if (strncmp(line, "work ", 5) == 0)
    c->work = atoi(rest);
  else if (strncmp(line, "numbers ", 8) == 0)
    c->number_count = read_numbers(rest, c->numbers);
  else if (strncmp(line, "reals ", 6) == 0)
    for (char *at = rest; *at; at += *at == ' ')
      c->reals[c->real_count++] = strtof(at, &at);
  else {
    c->out = read_input(rest);
    c->expected = *expected;
    *expected += values_of(&c->out);
  }
}

static void read_cases(void) {
  size_t length;
  char *text = read_text("tests/data/runtime/cases.txt", NULL);
  char *binary = read_text("tests/data/runtime/cases.bin", &length);
  assert_true(text && binary);
  const float *expected = (const float *)(void *)binary;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    read_line(line, &expected);
  assert_true((const char *)expected == binary + length);
  free(text); /* the values stay */
}

/* Its model. */

struct bench {
  struct one_op one;
  const struct one_case *c;
  bool strided, in_place;
};

/* Spreads an operand over the sizes of the output: strides of 0. */
static bool broadcasts(int code) {
  return code == NETRT_ADD || code == NETRT_SUB || code == NETRT_MUL ||
         code == NETRT_DIV || code == NETRT_MAX || code == NETRT_MIN;
}

static bool recurrent(int code) {
  return code == NETRT_RNN || code == NETRT_LSTM || code == NETRT_GRU;
}

/* The first axis runs fastest if strided. */
static void lay_out(struct bench *b, struct netrt_operand *operand,
                    const struct input *in, const struct input *as,
                    bool strided) {
  int32_t own[NETRT_RANK], spread[NETRT_RANK], step = 1;
  for (int i = 0; i < in->rank; i++) {
    int axis = strided ? i : in->rank - 1 - i;
    own[axis] = in->size[axis] == 1 && as != in ? 0 : step;
    step *= in->size[axis];
    step += strided ? i + 1 : 0;
  }
  for (int i = 0; i < as->rank; i++) {
    int axis = i - (as->rank - in->rank);
    spread[i] = axis < 0 ? 0 : own[axis];
  }
  operand->type = in->type;
  one_op_shape(&b->one, operand, as->rank, as->size, spread);
}

static void add_input(struct bench *b, int i, bool weight) {
  const struct one_case *c = b->c;
  struct netrt_operand *operand = &b->one.operands[1 + i];
  bool matrix = recurrent(c->code) && i > 0; /* its rows are dense */
  lay_out(b, operand, &c->in[i], broadcasts(c->code) ? &c->out : &c->in[i],
          b->strided && !matrix);
  operand->place = weight ? NETRT_IN_WEIGHTS : NETRT_IN_ARENA;
  one_op_input(&b->one, operand);
}

static void add_work(struct bench *b) {
  const struct input work = {.rank = 1, .size = {b->c->work}};
  struct netrt_operand *operand = &b->one.operands[1 + b->c->ins];
  lay_out(b, operand, &work, &work, false);
  one_op_place(&b->one, operand);
  one_op_buffer(&b->one, operand, 0);
  b->one.op.works = 1;
}

static void open_bench(struct bench *b, const struct one_case *c,
                       struct netrt *net) {
  struct one_op *one = &b->one;
  bool in_weights = c->seed & 1 << 4;
  b->c = c;
  one_op_begin(one, c->name, c->code, c->ins, c->numbers, c->number_count);
  memcpy(one->reals, c->reals, sizeof one->reals);
  lay_out(b, &one->operands[0], &c->out, &c->out, b->strided);
  for (int i = 0; i < c->ins; i++)
    add_input(b, i, i > 0 && in_weights);
  one_op_output(one, b->in_place);
  if (c->work)
    add_work(b);
  one_op_open(one, net);
}

/* The values that tools/runtime_cases.py made. */
static void fill_input(struct bench *b, int i, uint32_t *state) {
  const struct input *in = &b->c->in[i];
  const struct netrt_operand *operand = &b->one.operands[1 + i];
  const int32_t *stride =
      &b->one.numbers[operand->shape + 2 * operand->rank - (uint32_t)in->rank];
  unsigned char *data = one_op_data(&b->one, operand);
  int32_t at[NETRT_RANK] = {0};
  for (size_t k = 0; k < values_of(in); k++) {
    size_t offset = 0;
    *state = *state * 1664525u + 1013904223u;
    double value = (double)(*state >> 8) / (1 << 23) - 1;
    for (int a = 0; a < in->rank; a++)
      offset += (size_t)at[a] * (size_t)stride[a];
    if (in->type == NETRT_F32)
      ((float *)(void *)data)[offset] = (float)(value * in->scale + in->plus);
    else if (in->type == NETRT_I32)
      ((int32_t *)(void *)data)[offset] =
          (int32_t)((value + 1) / 2 * in->index);
    else
      ((int64_t *)(void *)data)[offset] =
          (int64_t)((value + 1) / 2 * in->index);
    for (int a = in->rank - 1; a >= 0 && ++at[a] == in->size[a]; a--)
      at[a] = 0;
  }
}

/* Comparing. */

/* Values of one output are compared with the largest of them. */
static double worst_error(const float *expected, const float *actual,
                          size_t count) {
  double largest = 1e-30, worst = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(expected[i]))
      largest = fmax(largest, fabs((double)expected[i]));
  for (size_t i = 0; i < count; i++) {
    double error = fabs((double)expected[i] - (double)actual[i]) / largest;
    if (isfinite(expected[i]) ? !(error <= worst) : expected[i] != actual[i])
      worst = isfinite(error) ? error : INFINITY;
  }
  return worst;
}

/* Indices are compared as numbers. */
static void copy_values(const struct netrt *net, const struct input *out,
                        float *to) {
  size_t count = values_of(out);
  if (out->type == NETRT_F32) {
    netrt_copy_output(net, 0, to);
    return;
  }
  int64_t *indices = calloc(count, sizeof *indices);
  netrt_copy_output(net, 0, indices);
  for (size_t i = 0; i < count; i++)
    to[i] = (float)indices[i];
  free(indices);
}

static void run_form(const struct one_case *c, const char *form, bool strided,
                     bool in_place, unsigned flags, unsigned threads) {
  struct bench b = {.strided = strided, .in_place = in_place};
  struct netrt net;
  uint32_t state = c->seed;
  open_bench(&b, c, &net);
  for (int i = 0; i < c->ins; i++)
    fill_input(&b, i, &state);
  net.flags = flags;
  net.threads = threads;
  net.parallel = threads ? backwards : NULL;
  int status = (int)netrt_run(&net);
  size_t count = values_of(&c->out);
  float *actual = calloc(count, sizeof *actual);
  copy_values(&net, &c->out, actual);
  double error = worst_error(c->expected, actual, count);
  if (status || !(error <= 1e-5))
    print_error("%s, %s: %s, error %g\n", c->name, form,
                netrt_status_text((enum netrt_status)status), error);
  assert_int_equal(status, NETRT_OK);
  assert_true(error <= 1e-5);
  assert_true(net.high_water <= b.one.model.arena_bytes);
  netrt_close(&net);
  free(actual);
  one_op_close(&b.one);
}

static void matches_torch(void **state) {
  const struct one_case *c = *state;
  bool same = c->out.rank == c->in[0].rank;
  for (int i = 0; same && i < c->out.rank; i++)
    same = c->out.size[i] == c->in[0].size[i];
  run_form(c, "plain", false, false, NETRT_REFERENCE, 0);
  run_form(c, "strided, plain", true, false, NETRT_REFERENCE, 0);
  run_form(c, "fast", false, false, 0, 0);
  run_form(c, "fast, AVX2", false, false, NETRT_NO_AVX512, 0);
  run_form(c, "fast, no AVX", false, false, NETRT_NO_AVX2, 0);
  run_form(c, "strided", true, false, 0, 0);
  run_form(c, "in parts", false, false, 0, 3);
  if (!operations[c->code].elementwise || !same)
    return;
  run_form(c, "in place, plain", false, true, NETRT_REFERENCE, 0);
  run_form(c, "in place", false, true, 0, 0);
  run_form(c, "in place, strided", true, true, 0, 0);
}

/* NaN, infinite and far values: the fast kernels' are the plain ones'. */
static void run_far(const char *name, unsigned flags, float *to) {
  static const float far[] = {NAN, -INFINITY, INFINITY, -1e30f, 1e30f, -89, 89};
  struct one_case c = {.code = code_of(name), .ins = 1, .reals = {0.25f}};
  struct bench b = {.strided = false};
  struct netrt net;
  c.in[0] = c.out = (struct input){.rank = 1, .size = {40}};
  open_bench(&b, &c, &net);
  for (size_t i = 0; i < 40; i++)
    ((float *)netrt_input(&net, 0))[i] = far[i % (sizeof far / sizeof *far)];
  net.flags = flags;
  assert_int_equal(netrt_run(&net), NETRT_OK);
  netrt_copy_output(&net, 0, to);
  netrt_close(&net);
  one_op_close(&b.one);
}

static void far_values_are_alike(void **state) {
  (void)state;
  static const char *const names[] = {
      "relu", "relu6", "leaky",   "elu",      "selu",   "gelu", "silu",
      "mish", "tanh",  "sigmoid", "hsigmoid", "hswish", "scale"};
  static const unsigned flags[] = {0, NETRT_NO_AVX512, NETRT_NO_AVX2};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
      float plain[40], fast[40];
      run_far(names[i], NETRT_REFERENCE, plain);
      run_far(names[i], flags[k], fast);
      for (int at = 0; at < 40; at++)
        if (isfinite(plain[at]) ? !(fabsf(plain[at] - fast[at]) <=
                                    1e-5f * (1 + fabsf(plain[at])))
            : isnan(plain[at])  ? !isnan(fast[at])
                                : plain[at] != fast[at])
          fail_msg("%s: %d: %g, %g", names[i], at, (double)plain[at],
                   (double)fast[at]);
    }
}

/* A sum keeps what is small beside it, and infinities. */
static void sums_are_exact(void **state) {
  (void)state;
  struct netrt_sum sum = {0, 0};
  netrt_sum_add(&sum, 1e8f);
  for (int i = 0; i < 1000; i++)
    netrt_sum_add(&sum, 1);
  netrt_sum_add(&sum, -1e8f);
  assert_true(netrt_sum_total(&sum) == 1000);
  netrt_sum_add(&sum, INFINITY);
  netrt_sum_add(&sum, 1);
  assert_true(netrt_sum_total(&sum) == INFINITY);
  netrt_sum_add(&sum, -INFINITY);
  assert_true(isnan(netrt_sum_total(&sum)));
}

/* Equal bytes, however many threads take part. */

struct crew {
  size_t count, next;
  void (*task)(void *data, size_t i);
  void *data;
  pthread_mutex_t mutex;
};

static void *take_tasks(void *user) {
  struct crew *crew = user;
  for (;;) {
    pthread_mutex_lock(&crew->mutex);
    size_t i = crew->next++;
    pthread_mutex_unlock(&crew->mutex);
    if (i >= crew->count)
      return NULL;
    crew->task(crew->data, i);
  }
}

static void in_threads(void *user, size_t count,
                       void (*task)(void *data, size_t i), void *data) {
  struct crew crew = {count, 0, task, data, PTHREAD_MUTEX_INITIALIZER};
  pthread_t threads[3];
  ++*(int *)user;
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, take_tasks, &crew), 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
}

/* Larger than the cases: fast and plain agree, threads and one do exactly. */
static void compare_large(struct one_case *c) {
  struct bench b[3] = {{.strided = false}};
  size_t count = values_of(&c->out);
  float *out[3];
  int calls = 0;
  c->seed = 1;
  for (int i = 0; i < 3; i++) {
    struct netrt net;
    uint32_t state = c->seed;
    open_bench(&b[i], c, &net);
    for (int k = 0; k < c->ins; k++)
      fill_input(&b[i], k, &state);
    net.flags = i == 0 ? NETRT_REFERENCE : 0;
    net.threads = i == 2 ? 3 : 0;
    net.parallel = i == 2 ? in_threads : NULL;
    net.parallel_user = &calls;
    assert_int_equal(netrt_run(&net), NETRT_OK);
    out[i] = calloc(count, sizeof **out);
    netrt_copy_output(&net, 0, out[i]);
    netrt_close(&net);
  }
#ifdef NETRT_ONEDNN
  calls++; /* it has threads of its own */
#endif
  double error = worst_error(out[0], out[1], count);
  if (!(error <= 2e-6) || !calls)
    print_error("%s: error %g, %d calls\n", c->name, error, calls);
  assert_true(error <= 2e-6);
  assert_memory_equal(out[1], out[2], count * sizeof **out);
  assert_true(calls > 0);
  for (int i = 0; i < 3; i++) {
    free(out[i]);
    one_op_close(&b[i].one);
  }
}

#define SHAPE(rank, ...) \
  { rank, {__VA_ARGS__}, 1, 0, 0, NETRT_F32 }

#define SMALL(rank, ...) \
  { rank, {__VA_ARGS__}, 0.0625F, 0, 0, NETRT_F32 }

/* Steps of a state: 0 to 2. */
#define ABOVE(rank, ...) \
  { rank, {__VA_ARGS__}, 1, 1, 0, NETRT_F32 }

static void threads_change_no_bit(void **state) {
  (void)state;
  struct one_case large[] = {
      {.name = "conv of many taps and channels",
       .code = NETRT_CONV,
       .ins = 3,
       .number_count = 7,
       .numbers = {1, 1, 1, 1, 1, 1, 1},
       .in = {SHAPE(4, 1, 33, 31, 70), SHAPE(4, 3, 3, 70, 45), SHAPE(1, 45)},
       .out = SHAPE(4, 1, 33, 31, 45)},
      {.name = "conv of few channels",
       .code = NETRT_CONV,
       .ins = 2,
       .number_count = 7,
       .numbers = {1, 2, 1, 3, 2, 1, 3},
       .in = {SHAPE(4, 2, 61, 50, 3), SHAPE(4, 7, 7, 3, 40)},
       .out = SHAPE(4, 2, 31, 25, 40)},
      {.name = "depthwise",
       .code = NETRT_CONV,
       .ins = 2,
       .number_count = 7,
       .numbers = {70, 2, 1, 1, 1, 1, 1},
       .in = {SHAPE(4, 1, 160, 30, 70), SHAPE(4, 3, 3, 1, 70)},
       .out = SHAPE(4, 1, 80, 30, 70)},
      {.name = "conv of groups of 4",
       .code = NETRT_CONV,
       .ins = 3,
       .number_count = 7,
       .numbers = {16, 1, 1, 1, 1, 1, 1},
       .in = {SHAPE(4, 1, 40, 21, 64), SHAPE(4, 3, 3, 4, 64), SHAPE(1, 64)},
       .out = SHAPE(4, 1, 40, 21, 64)},
      {.name = "conv of groups of 8, by 2",
       .code = NETRT_CONV,
       .ins = 2,
       .number_count = 7,
       .numbers = {10, 2, 1, 1, 2, 2, 3},
       .in = {SHAPE(4, 2, 31, 33, 80), SHAPE(4, 3, 3, 8, 80)},
       .out = SHAPE(4, 2, 16, 16, 80)},
      {.name = "conv of groups of 16",
       .code = NETRT_CONV,
       .ins = 2,
       .number_count = 7,
       .numbers = {3, 1, 1, 0, 1, 2, 2},
       .in = {SHAPE(4, 1, 20, 22, 48), SHAPE(4, 2, 3, 16, 48)},
       .out = SHAPE(4, 1, 19, 22, 48)},
      {.name = "deconv",
       .code = NETRT_DECONV,
       .ins = 2,
       .number_count = 7,
       .numbers = {1, 2, 1, 1, 2, 1, 1},
       .in = {SHAPE(4, 1, 16, 17, 40), SHAPE(4, 4, 4, 40, 36)},
       .out = SHAPE(4, 1, 32, 34, 36)},
      {.name = "linear of many rows",
       .code = NETRT_LINEAR,
       .ins = 3,
       .in = {SHAPE(2, 301, 600), SHAPE(2, 600, 100), SHAPE(1, 100)},
       .out = SHAPE(2, 301, 100)},
      {.name = "linear of one row",
       .code = NETRT_LINEAR,
       .ins = 2,
       .in = {SHAPE(2, 1, 1001), SHAPE(2, 1001, 2500)},
       .out = SHAPE(2, 1, 2500)},
      {.name = "gelu",
       .code = NETRT_GELU,
       .ins = 1,
       .in = {SHAPE(1, 70001)},
       .out = SHAPE(1, 70001)},
      {.name = "lstm both ways",
       .code = NETRT_LSTM,
       .ins = 9,
       .number_count = 2,
       .numbers = {2, 1},
       .work = 2 * 9 * 4 * 203,
       .in = {SHAPE(3, 2, 9, 70), SMALL(2, 70, 812), SMALL(2, 203, 812),
              SMALL(1, 812), SMALL(1, 812), SMALL(2, 70, 812),
              SMALL(2, 203, 812), SMALL(1, 812), SMALL(1, 812)},
       .out = SHAPE(3, 2, 9, 406)},
      {.name = "gru",
       .code = NETRT_GRU,
       .ins = 5,
       .number_count = 2,
       .numbers = {1, 1},
       .work = 1 * 5 * 3 * 700,
       .in = {SHAPE(3, 1, 5, 33), SMALL(2, 33, 2100), SMALL(2, 700, 2100),
              SMALL(1, 2100), SMALL(1, 2100)},
       .out = SHAPE(3, 1, 5, 700)},
      {.name = "gru that resets first",
       .code = NETRT_GRU,
       .ins = 5,
       .number_count = 2,
       .numbers = {1, 5},
       .work = 3 * 5 * 3 * 400,
       .in = {SHAPE(3, 3, 5, 33), SMALL(2, 33, 1200), SMALL(2, 400, 1200),
              SMALL(1, 1200), SMALL(1, 1200)},
       .out = SHAPE(3, 3, 5, 400)},
      {.name = "rnn",
       .code = NETRT_RNN,
       .ins = 4,
       .number_count = 2,
       .numbers = {1, 2},
       .work = 4 * 7 * 601,
       .in = {SHAPE(3, 4, 7, 20), SMALL(2, 20, 601), SMALL(2, 601, 601),
              SMALL(1, 601)},
       .out = SHAPE(3, 4, 7, 601)},
      {.name = "scan of channels",
       .code = NETRT_SCAN,
       .ins = 6,
       .work = 2 * 777 * 16,
       .in = {SHAPE(4, 2, 9, 1, 777), ABOVE(4, 2, 9, 1, 777),
              SHAPE(4, 2, 9, 1, 16), SHAPE(4, 2, 9, 1, 16),
              SHAPE(3, 1, 777, 16), SHAPE(2, 1, 777)},
       .out = SHAPE(4, 2, 9, 1, 777)},
      {.name = "scan of heads",
       .code = NETRT_SCAN,
       .ins = 6,
       .work = 12 * 70 * 33,
       .in = {SHAPE(4, 1, 9, 12, 70), ABOVE(4, 1, 9, 12, 1),
              SHAPE(4, 1, 9, 3, 33), SHAPE(4, 1, 9, 3, 33), SHAPE(3, 12, 1, 1),
              SHAPE(2, 12, 1)},
       .out = SHAPE(4, 1, 9, 12, 70)},
      {.name = "delta",
       .code = NETRT_DELTA,
       .ins = 6,
       .work = 8 * 24 * 75,
       .in = {SMALL(4, 2, 9, 4, 24), SMALL(4, 2, 9, 4, 24),
              SHAPE(4, 2, 9, 8, 75), ABOVE(4, 2, 9, 8, 24), SHAPE(3, 2, 9, 8),
              SHAPE(1, 8)},
       .out = SHAPE(4, 2, 9, 8, 75)}};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++)
    compare_large(&large[i]);
}

/* Every operation has a case with the fewest and the most operands. */
static void every_kernel_has_cases(void **state) {
  (void)state;
  bool all = true;
  for (int code = 0; code < NETRT_CODES; code++) {
    int fewest = 1000, most = 0, batches = 0;
    if (strncmp(operations[code].name, "q8", 2) == 0)
      continue; /* test_q8.c */
    if (code == NETRT_LINEBUFFER)
      continue; /* test_program.c */
    if (code == NETRT_NCONV || code == NETRT_NLINEAR || code == NETRT_NEXPERTS)
      continue; /* test_narrow.c */
    assert_string_equal(netrt_kernels[code]->name, operations[code].name);
    for (size_t i = 0; i < case_count; i++)
      if (cases[i].code == code) {
        fewest = cases[i].ins < fewest ? cases[i].ins : fewest;
        most = cases[i].ins > most ? cases[i].ins : most;
        batches |= cases[i].out.size[0] == 1 ? 1 : 2;
      }
    bool complete =
        fewest == operations[code].ins && batches == 3 &&
        (operations[code].most < 0 || most == operations[code].most);
    if (!complete)
      print_error("%s: %d to %d operands, batches %d\n", operations[code].name,
                  fewest, most, batches);
    all = all && complete;
  }
  assert_true(all);
}

/* Mistakes that the checks find. */

static int writes_beyond(const struct netrt *net, const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op);
  for (int i = 0; i < out.size[0]; i++)
    netrt_floats(&out)[i] = 1;
  net->arena[net->model->arena_bytes - 1] ^= 1;
  return NETRT_OK;
}

static int writes_its_input(const struct netrt *net,
                            const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  for (int i = 0; i < out.size[0]; i++)
    netrt_floats(&out)[i] = netrt_floats(&in)[i]++;
  return NETRT_OK;
}

static int reads_what_is_dead(const struct netrt *net,
                              const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op);
  for (int i = 0; i < out.size[0]; i++)
    netrt_floats(&out)[i] += 1;
  return NETRT_OK;
}

static int forgets_a_value(const struct netrt *net, const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op);
  for (int i = 1; i < out.size[0]; i++)
    netrt_floats(&out)[i] = 1;
  return NETRT_OK;
}

static int does_well(const struct netrt *net, const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  for (int i = 0; i < out.size[0]; i++)
    netrt_floats(&out)[i] = netrt_floats(&in)[i] * 2;
  return NETRT_OK;
}

/* Input, inner result, output; a byte is left over at the end. */
static const int32_t chain_numbers[] = {4, 1};
static const struct netrt_operand chain_operands[] = {
    {16, 0, 1, 0, 0}, {0, 0, 1, 0, 0}, {32, 0, 1, 0, 0}, {16, 0, 1, 0, 0}};
static const struct netrt_op chain_ops[] = {
    {.operands = 0, .ins = 1, .outs = 1},
    {.operands = 2, .ins = 1, .outs = 1, .kernel = 1}};
static const struct netrt_port chain_in = {"x", {0, 0, 1, 0, 0}, 0},
                               chain_out = {"y", {32, 0, 1, 0, 0}, 0};
static const struct netrt_buffer chain_buffers[] = {
    {0, 16, 0, 0}, {16, 16, 0, 1}, {32, 16, 1, 2}};

static struct netrt_model chain_of(const struct netrt_kernel *const *kernels) {
  return (struct netrt_model){.name = "chain",
                              .version = NETRT_VERSION,
                              .batch = 1,
                              .arena_bytes = 64,
                              .ops = chain_ops,
                              .operands = chain_operands,
                              .numbers = chain_numbers,
                              .kernels = kernels,
                              .inputs = &chain_in,
                              .outputs = &chain_out,
                              .buffers = chain_buffers,
                              .op_count = 2,
                              .operand_count = 4,
                              .number_count = 2,
                              .kernel_count = 2,
                              .input_count = 1,
                              .output_count = 1,
                              .buffer_count = 3};
}

static enum netrt_status run_chain(netrt_kernel_fn *second, size_t *high) {
  static NETRT_ALIGNED unsigned char arena[64];
  struct netrt_kernel good = {"good", does_well, NULL};
  struct netrt_kernel other = {"other", second, NULL};
  const struct netrt_kernel *kernels[] = {&good, &other};
  struct netrt_model model = chain_of(kernels);
  struct netrt net;
  assert_int_equal(netrt_open(&net, &model, NULL, 0, arena, sizeof arena), 0);
  enum netrt_status status = NETRT_OK;
  for (int turn = 0; turn < 2 && status == NETRT_OK; turn++) {
    float *in = netrt_input(&net, 0);
    for (int i = 0; i < 4; i++)
      in[i] = (float)i;
    status = netrt_run(&net);
    const float *out = netrt_output(&net, 0);
    assert_true(second != does_well || out[3] == 12);
  }
  assert_true(status == NETRT_OK || net.failed_op == 1);
  *high = net.high_water;
  netrt_close(&net);
  return status;
}

static void the_plan_is_checked(void **state) {
  (void)state;
  size_t high;
  assert_int_equal(run_chain(does_well, &high), NETRT_OK);
  assert_int_equal(high, 48);
  assert_int_equal(run_chain(writes_beyond, &high), NETRT_STRAY_WRITE);
  assert_int_equal(run_chain(writes_its_input, &high), NETRT_STRAY_WRITE);
  assert_int_equal(run_chain(reads_what_is_dead, &high), NETRT_DEAD_READ);
  assert_int_equal(run_chain(forgets_a_value, &high), NETRT_DEAD_READ);
}

static void wrong_tables_are_refused(void **state) {
  (void)state;
  static NETRT_ALIGNED unsigned char arena[128];
  struct netrt_model model = chain_of(netrt_kernels), bad;
  struct netrt_operand operands[4];
  struct netrt net;
  assert_int_equal(netrt_open(&net, NULL, NULL, 0, arena, 64), NETRT_BAD_MODEL);
  assert_int_equal(netrt_open(&net, &model, NULL, 0, arena, 63),
                   NETRT_SMALL_ARENA);
  assert_int_equal(netrt_open(&net, &model, arena, 4, arena, 64),
                   NETRT_WRONG_WEIGHTS);
  assert_int_equal(netrt_open(&net, &model, NULL, 0, arena + 2, 64),
                   NETRT_MISALIGNED);
  assert_int_equal(netrt_open(&net, &model, NULL, 0, arena, 128), NETRT_OK);
  assert_null(netrt_input(&net, 1));
  assert_null(netrt_output(&net, 1));
  netrt_close(&net);
  bad = model;
  bad.version++;
  assert_int_equal(netrt_open(&net, &bad, NULL, 0, arena, 64), NETRT_BAD_MODEL);
  bad = model;
  bad.operand_count = 3;
  assert_int_equal(netrt_open(&net, &bad, NULL, 0, arena, 64), NETRT_BAD_MODEL);
  bad = model;
  bad.operands = operands;
  memcpy(operands, chain_operands, sizeof operands);
  operands[3].offset = 52;
  assert_int_equal(netrt_open(&net, &bad, NULL, 0, arena, 64), NETRT_BAD_MODEL);
  /* Calls after a refused model do nothing. */
  assert_int_equal(netrt_run(&net), NETRT_BAD_MODEL);
  assert_null(netrt_input(&net, 0));
  assert_null(netrt_output(&net, 0));
  assert_int_equal(netrt_output_dense(&net, 0), 0);
  netrt_copy_output(&net, 0, NULL);
  netrt_close(&net);
  for (int i = 0; i <= NETRT_DEAD_READ + 1; i++)
    assert_true(strlen(netrt_status_text((enum netrt_status)i)) > 3);
}

static int stops_at(void *user, const struct netrt *net, uint32_t op,
                    enum netrt_when when) {
  int *calls = user;
  (void)net;
  ++*calls;
  return op == 1 && when == NETRT_BEFORE;
}

static void a_hook_sees_and_stops_a_run(void **state) {
  (void)state;
  static NETRT_ALIGNED unsigned char arena[64];
  struct netrt_kernel good = {"good", does_well, NULL};
  const struct netrt_kernel *kernels[] = {&good, &good};
  struct netrt_model model = chain_of(kernels);
  struct netrt net;
  int calls = 0;
  assert_int_equal(netrt_open(&net, &model, NULL, 0, arena, sizeof arena), 0);
  net.hook = stops_at;
  net.hook_user = &calls;
  memset(netrt_input(&net, 0), 0, 16);
  assert_int_equal(netrt_run(&net), NETRT_STOPPED);
  assert_int_equal(calls, 3);
  netrt_close(&net);
}

/* An index that is not in the table is no crash. */
static void indices_are_looked_at(void **state) {
  (void)state;
  for (size_t i = 0; i < case_count; i++) {
    if (cases[i].code != NETRT_EMBED)
      continue;
    struct one_case c = cases[i];
    struct bench b = {.strided = false};
    struct netrt net;
    uint32_t seed = c.seed;
    open_bench(&b, &c, &net);
    for (int k = 0; k < c.ins; k++)
      fill_input(&b, k, &seed);
    *(int32_t *)netrt_input(&net, 0) = 11;
    assert_int_equal(netrt_run(&net), NETRT_BAD_INDEX);
    netrt_close(&net);
    one_op_close(&b.one);
  }
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(every_kernel_has_cases),
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(the_plan_is_checked),
      cmocka_unit_test(wrong_tables_are_refused),
      cmocka_unit_test(far_values_are_alike),
      cmocka_unit_test(sums_are_exact),
      cmocka_unit_test(a_hook_sees_and_stops_a_run),
      cmocka_unit_test(indices_are_looked_at),
  };
  read_cases();
  return run_table("runtime", cases, case_count, sizeof *cases, matches_torch,
                   others, sizeof others / sizeof *others);
}
