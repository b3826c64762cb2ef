/* Functions of values, pairs and rows, for contiguous rows. */
#include "values.h"

#include <string.h>

#ifdef NETRT_HAS_FAST

/* values of a task */
enum { GRAIN = 16384 };

struct unary_job {
  unary_fn *function;
  float *out;
  const float *in;
  float p;
};

static void unary_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct unary_job *job = data;
  job->function(job->out + from, job->in + from, to - from, job->p);
}

static int run_unary(const struct netrt *net, const struct netrt_op *op,
                     unary_fn *function, float p) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct unary_job job;
  struct kernel_walk walk;
  netrt_walk_open(&walk, views, 2);
  if (walk.length > 1 && (walk.step[0] != 1 || walk.step[1] != 1))
    return NOT_FOR_ME;
  job.function = function;
  job.p = p;
  do {
    job.out = netrt_floats(&views[0]) + walk.offset[0];
    job.in = netrt_floats(&views[1]) + walk.offset[1];
    netrt_run_parts(net, walk.length, GRAIN, unary_part, &job);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

/* The parameter of a function that has one, such as the slope of leaky. */
#define NUMBER(reals) (sizeof(reals) > 1 ? netrt_reals(net, op)[0] : 0)

#define OP(...)
#define FAST(code, id, reals)                                               \
  int netrt_fast_##id(const struct netrt *net, const struct netrt_op *op);  \
  int netrt_fast_##id(const struct netrt *net, const struct netrt_op *op) { \
    return run_unary(net, op, netrt_values_of(net)->id, NUMBER(reals));     \
  }
#include "ops.def"

/* Functions by kernel; a linked kernel links this one. */
static const struct function {
  netrt_kernel_fn *fast;
  size_t place; /* offset in struct values */
  int numbered; /* it has a parameter */
} functions[] = {
#define FAST(code, id, reals) \
  {netrt_fast_##id, offsetof(struct values, id), sizeof(reals) > 1},
#include "ops.def"
#undef OP
};

struct kernel_after netrt_after(const struct netrt *net) {
  static const float above[] = {0, INFINITY}, six[] = {0, 6};
  struct kernel_after after = {NULL, 0, NULL};
  const struct netrt_kernel *kernel;
  size_t i;
#ifdef NETRT_ONEDNN
  net = NULL; /* oneDNN computes the products */
#endif
  if (!net || !net->ahead)
    return after;
  kernel = net->model->kernels[net->ahead->kernel];
  for (i = 0; i < sizeof functions / sizeof *functions; i++)
    if (kernel->fast == functions[i].fast) {
      memcpy(&after.function,
             (const char *)netrt_values_of(net) + functions[i].place,
             sizeof after.function);
      if (functions[i].numbered)
        after.p = netrt_reals(net, net->ahead)[0];
    }
  if (kernel->fast == netrt_fast_relu)
    after.limits = above;
  else if (kernel->fast == netrt_fast_relu6)
    after.limits = six;
  return after;
}

struct pairs_job {
  pairs_fn *function;
  float *out;
  const float *a, *b;
  ptrdiff_t a_step, b_step;
};

static void pairs_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct pairs_job *job = data;
  job->function(job->out + from, job->a + from * job->a_step,
                job->b + from * job->b_step, job->a_step, job->b_step,
                to - from);
}

static int run_pairs(const struct netrt *net, const struct netrt_op *op,
                     pairs_fn *function) {
  struct netrt_view views[3];
  struct pairs_job job;
  struct kernel_walk walk;
  views[0] = netrt_out(net, op);
  views[1] = netrt_in(net, op, 0);
  views[2] = netrt_in(net, op, 1);
  netrt_walk_open(&walk, views, 3);
  if (walk.length > 1 &&
      (walk.step[0] != 1 || walk.step[1] > 1 || walk.step[2] > 1))
    return NOT_FOR_ME;
  job.function = function;
  job.a_step = walk.step[1];
  job.b_step = walk.step[2];
  do {
    job.out = netrt_floats(&views[0]) + walk.offset[0];
    job.a = netrt_floats(&views[1]) + walk.offset[1];
    job.b = netrt_floats(&views[2]) + walk.offset[2];
    netrt_run_parts(net, walk.length, GRAIN, pairs_part, &job);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

#define PAIRS(id)                                                           \
  int netrt_fast_##id(const struct netrt *net, const struct netrt_op *op);  \
  int netrt_fast_##id(const struct netrt *net, const struct netrt_op *op) { \
    return run_pairs(net, op, netrt_values_of(net)->id);                    \
  }

PAIRS(add)
PAIRS(sub)
PAIRS(mul)
PAIRS(max)

/* Rows of the last axis; all rows have equal distances. */
struct rows_job {
  const struct values *values;
  float *out;
  const float *in, *scale, *shift;
  ptrdiff_t out_row, in_row, n;
  float eps;
  int centre;
};

static void softmax_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct rows_job *job = data;
  for (; from < to; from++)
    job->values->softmax(job->out + from * job->out_row,
                         job->in + from * job->in_row, job->n);
}

static void normalise_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct rows_job *job = data;
  for (; from < to; from++)
    job->values->normalise(job->out + from * job->out_row,
                           job->in + from * job->in_row, job->n, job->scale,
                           job->shift, job->eps, job->centre);
}

static int run_rows(const struct netrt *net, const struct netrt_op *op,
                    part_fn *part, struct rows_job *job) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct kernel_walk walk;
  if (!is_dense(&views[0], 1) || !is_dense(&views[1], 1))
    return NOT_FOR_ME;
  job->values = netrt_values_of(net);
  job->n = size_back(&views[0], 0);
  views[0].rank--;
  views[1].rank--;
  netrt_walk_open(&walk, views, 2);
  job->out_row = walk.step[0];
  job->in_row = walk.step[1];
  do {
    job->out = netrt_floats(&views[0]) + walk.offset[0];
    job->in = netrt_floats(&views[1]) + walk.offset[1];
    netrt_run_parts(net, walk.length, 1 + GRAIN / job->n, part, job);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

int netrt_fast_softmax(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_softmax(const struct netrt *net, const struct netrt_op *op) {
  struct rows_job job = {0};
  return run_rows(net, op, softmax_part, &job);
}

static int run_norm(const struct netrt *net, const struct netrt_op *op,
                    int centre) {
  struct rows_job job = {0};
  struct netrt_view vector;
  uint32_t i;
  job.centre = centre;
  job.eps = netrt_reals(net, op)[0];
  for (i = 1; i < op->ins; i++) {
    vector = netrt_in(net, op, i);
    if (!is_dense(&vector, 1))
      return NOT_FOR_ME;
    *(i == 1 ? &job.scale : &job.shift) = netrt_floats(&vector);
  }
  return run_rows(net, op, normalise_part, &job);
}

int netrt_fast_ln(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_ln(const struct netrt *net, const struct netrt_op *op) {
  return run_norm(net, op, 1);
}

int netrt_fast_rmsnorm(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_rmsnorm(const struct netrt *net, const struct netrt_op *op) {
  return run_norm(net, op, 0);
}

/* channels whose scale and shift are computed at a time */
enum { CHANNELS = 512 };

static void find_affine(const struct netrt *net, const struct netrt_op *op,
                        ptrdiff_t from, ptrdiff_t count, float *scale,
                        float *shift) {
  const float *vectors[4] = {NULL};
  float eps = netrt_reals(net, op)[0];
  int k, given = op->ins - 1, mean = given - 2; /* the last two vectors */
  ptrdiff_t i;
  for (k = 0; k < given; k++) {
    struct netrt_view view = netrt_in(net, op, (uint32_t)k + 1);
    vectors[k] = netrt_floats(&view) + from;
  }
  for (i = 0; i < count; i++) {
    float factor = 1 / sqrtf(vectors[mean + 1][i] + eps);
    scale[i] = mean > 0 ? vectors[0][i] * factor : factor;
    shift[i] = (mean > 1 ? vectors[1][i] : 0) - vectors[mean][i] * scale[i];
  }
}

int netrt_fast_bn(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_bn(const struct netrt *net, const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  const struct values *values = netrt_values_of(net);
  float scale[CHANNELS], shift[CHANNELS];
  ptrdiff_t channels = size_back(&views[0], 0), from, count, row;
  struct kernel_walk walk;
  uint32_t i;
  for (i = 0; i < op->ins; i++) {
    struct netrt_view view = netrt_in(net, op, i);
    if (!is_dense(&view, 1))
      return NOT_FOR_ME;
  }
  if (!is_dense(&views[0], 1))
    return NOT_FOR_ME;
  views[0].rank--;
  views[1].rank--;
  for (from = 0; from < channels; from += count) {
    count = least(channels - from, CHANNELS);
    find_affine(net, op, from, count, scale, shift);
    netrt_walk_open(&walk, views, 2);
    do
      for (row = 0; row < walk.length; row++)
        values->affine(netrt_floats(&views[0]) + walk.offset[0] +
                           row * walk.step[0] + from,
                       netrt_floats(&views[1]) + walk.offset[1] +
                           row * walk.step[1] + from,
                       scale, shift, count);
    while (netrt_walk_next(&walk));
  }
  return NETRT_OK;
}

#else
typedef int netrt_fast_values_is_off; /* an empty file is not valid C */
#endif
