/*
 * netc run --check: runs the net with fast and with plain kernels and compares
 * the outputs value by value. If they differ, it names the first operation
 * whose result differs.
 */
#include <math.h>

#include "driver/run/run.h"

/* Maximum difference of a fast kernel, relative to the root mean square. */
#define TOLERANCE 1e-4

/* Sums over the result of each operation, with either kind of kernel. */
struct marks {
  double *sum, *square; /* by operation */
};

static void mark(const struct netrt *net, uint32_t op, double *sum,
                 double *square) {
  const struct netrt_model *model = net->model;
  struct run_made made =
      run_made_of(net, &model->operands[model->ops[op].operands]);
  float value;
  *sum = *square = 0;
  while (run_made_next(&made, &value)) {
    *sum += (double)value;
    *square += (double)value * (double)value;
  }
}

static int note_made(void *user, const struct netrt *net, uint32_t op,
                     enum netrt_when when) {
  struct marks *marks = user;
  if (when == NETRT_AFTER)
    mark(net, op, &marks->sum[op], &marks->square[op]);
  return 0;
}

/* Runs operations one by one, so that each result can be read. */
static int run_marked(struct running *r, struct marks *marks) {
  uint32_t count = r->model.op_count;
  marks->sum = arena_alloc(&r->arena, count + 1U, sizeof *marks->sum);
  marks->square = arena_alloc(&r->arena, count + 1U, sizeof *marks->square);
  r->net.hook = note_made;
  r->net.hook_user = marks;
  r->net.flags |= NETRT_APART;
  run_put_inputs(r);
  int status = run_explain(r, netrt_run(&r->net));
  r->net.hook = NULL;
  r->net.flags &= ~(unsigned)NETRT_APART;
  return status;
}

/* Sums over many values differ less than single values. */
static bool far(double a, double b, double scale) {
  return !(fabs(a - b) <= TOLERANCE * scale + 1e-30);
}

static void name_first(const struct running *r, const struct marks *fast,
                       const struct marks *plain) {
  for (uint32_t i = 0; i < r->model.op_count; i++) {
    const struct netrt_op *op = &r->model.ops[i];
    double values =
        (double)netrt_values(&r->model, &r->model.operands[op->operands]);
    if (!far(fast->square[i], plain->square[i], plain->square[i]) &&
        !far(fast->sum[i], plain->sum[i], sqrt(plain->square[i] * values)))
      continue;
    say("   = note: the first operation that differs is `%s` of `%s`",
        netrt_kernels[op->kernel]->name, r->model.layers[op->layer]);
    fputc('\n', stderr);
    return;
  }
}

static bool compare(struct running *r, uint32_t i, const float *fast) {
  const struct netrt_port *port = &r->model.outputs[i];
  const float *plain = run_output(r, i);
  size_t count = netrt_values(&r->model, &port->operand);
  double largest = 0, sum = 0;
  bool finite = true;
  for (size_t k = 0; k < count; k++) {
    double difference = fabs((double)plain[k] - (double)fast[k]);
    largest = difference > largest ? difference : largest;
    sum += (double)plain[k] * (double)plain[k];
    finite = finite && isfinite(difference);
  }
  double rms = count ? sqrt(sum / (double)count) : 0;
  double share = rms > 0 ? largest / rms : largest;
  bool right = finite && share <= TOLERANCE;
  say("%s: the largest difference from the plain kernels is %.2g of the rms, "
      "%.3g%s",
      port->name, share, rms, right ? "" : ": too much");
  fputc('\n', stderr);
  return right;
}

int run_check(struct running *r) {
  uint32_t outputs = r->model.output_count;
  float **values = arena_alloc(&r->arena, outputs + 1U, sizeof *values);
  struct marks fast, plain;
  bool right = true;
  run_put_inputs(r);
  int status = run_explain(r, netrt_run(&r->net));
  for (uint32_t i = 0; i < outputs && status == EXIT_DONE; i++)
    values[i] = run_output(r, i);
  if (status == EXIT_DONE)
    status = run_marked(r, &fast);
  r->net.flags |= NETRT_REFERENCE;
  if (status == EXIT_DONE)
    status = run_marked(r, &plain);
  for (uint32_t i = 0; i < outputs && status == EXIT_DONE; i++)
    right = compare(r, i, values[i]) && right;
  r->net.flags &= ~(unsigned)NETRT_REFERENCE;
  if (status == EXIT_DONE && !right)
    name_first(r, &fast, &plain);
  return status ? status : right ? EXIT_DONE : EXIT_BUG;
}
