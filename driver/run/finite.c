/*
 * netc run: warns if outputs are NaN or infinite. Runs the net again to name
 * the first operation that makes such a value.
 */
#include <math.h>

#include "driver/run/run.h"

/* The kind of value to look for, and the first operation that makes it. */
struct culprit {
  bool nan; /* otherwise infinity */
  uint32_t op;
};

static bool is_wrong(float value, bool nan) {
  return nan ? isnan(value) != 0 : isinf(value) != 0;
}

/* True if an operand has such a value. */
static bool has(const struct netrt *net, const struct netrt_operand *made,
                bool nan) {
  struct run_made values = run_made_of(net, made);
  float value;
  while (run_made_next(&values, &value))
    if (is_wrong(value, nan))
      return true;
  return false;
}

static int look(void *user, const struct netrt *net, uint32_t op,
                enum netrt_when when) {
  struct culprit *culprit = user;
  const struct netrt_model *model = net->model;
  if (when != NETRT_AFTER ||
      !has(net, &model->operands[model->ops[op].operands], culprit->nan))
    return 0;
  culprit->op = op;
  return 1;
}

static void name_culprit(struct running *r, bool nan) {
  struct culprit culprit = {.nan = nan, .op = r->model.op_count};
  r->net.hook = look;
  r->net.hook_user = &culprit;
  r->net.flags |= NETRT_APART;
  run_put_inputs(r);
  netrt_run(&r->net);
  r->net.hook = NULL;
  r->net.flags &= ~(unsigned)NETRT_APART;
  if (culprit.op == r->model.op_count)
    return;
  const struct netrt_op *op = &r->model.ops[culprit.op];
  say("   = note: `%s` of `%s` is the first operation that produces one",
      netrt_kernels[op->kernel]->name, r->model.layers[op->layer]);
  fputc('\n', stderr);
}

void run_warn_not_finite(struct running *r) {
  size_t nans = 0, wrong = 0;
  for (uint32_t i = 0; i < r->model.output_count; i++) {
    size_t count = netrt_values(&r->model, &r->model.outputs[i].operand);
    const float *values = run_output(r, i);
    size_t here = 0;
    for (size_t k = 0; k < count; k++) {
      nans += is_wrong(values[k], true) ? 1 : 0;
      here += isfinite(values[k]) ? 0 : 1;
    }
    wrong += here;
    if (here) {
      say("netc: warning: output `%s`: %zu of %zu values are NaN or infinite",
          r->model.outputs[i].name, here, count);
      fputc('\n', stderr);
    }
  }
  if (wrong)
    name_culprit(r, nans > 0);
}
