/* Gradients of parameters: made, summed, and kept until the step. */
#include "base/check.h"
#include "memory/step/run.h"
#include "sema/model/optimizer.h"

static size_t param_of(const struct run *run, const struct tape_op *op, int i) {
  return run->tape->params.at[op->first_param + (size_t)i];
}

/* Values of the net's type have the parameter's own. */
static int64_t param_bytes(struct run *run, size_t param, int element) {
  const struct model_param *of = &run->s->model->params.at[param];
  struct extent extent = {.count = of->count, .fixed = true};
  if (element == run->s->element)
    element = param_element(of, element);
  if (element == run->s->element)
    return run_bytes_of(run, &extent);
  return extent_bytes(&extent, 1, element, run->tape->profile->block,
                      &run->s->overflow);
}

void run_add_param_gradient(struct run *run, size_t param, bool view) {
  const struct simulation *s = run->s;
  if (!run->has_gradient[param]) {
    run_change(run, PART_GRADIENTS,
               param_bytes(run, param, s->summed ? s->summed : s->element));
    run->gradient_views[param] = view;
  }
  run->has_gradient[param] = true;
}

void run_add_to_param(struct run *run, const struct tape_op *op, size_t param) {
  bool in_place =
      run->s->gradients_before ||
      (run->tape->profile->sums_in_place && !run->gradient_views[param]);
  int64_t sum = in_place ? 0 : param_bytes(run, param, run->s->element);
  run_change(run, PART_TEMPORARY, sum);
  run_sample(run, op);
  run_change(run, PART_TEMPORARY, -sum);
  run->gradient_views[param] = false;
}

int64_t run_sample_gradients(struct run *run, const struct tape_op *op) {
  if (!op->facts->by_sample)
    return 0;
  size_t param = param_of(run, op, 0);
  struct extent extent = {.count = run->s->model->params.at[param].count};
  return run_bytes_of(run, &extent);
}

/* Summed before the gradients of its inputs go on, since the matrix was the
 * last to be broadcast over the samples. */
void run_sum_samples(struct run *run, const struct tape_op *op, int64_t each) {
  size_t param = param_of(run, op, 0);
  run_change(run, PART_TEMPORARY, param_bytes(run, param, run->s->element));
  run_sample(run, op);
  run_change(run, PART_TEMPORARY, -each);
}

/* The sum is transposed, so it is copied. */
void run_turn_sum(struct run *run, const struct tape_op *op) {
  size_t param = param_of(run, op, 0);
  int64_t bytes = param_bytes(run, param, run->s->element);
  if (run->has_gradient[param])
    run_add_to_param(run, op, param);
  run_add_param_gradient(run, param, true);
  run_sample(run, op);
  run_change(run, PART_TEMPORARY, -bytes);
}

void run_param_gradients(struct run *run, const struct tape_op *op,
                         bool *again) {
  for (int i = op->facts->by_sample; i < op->facts->param_count; i++) {
    size_t param = param_of(run, op, i);
    /* It is made in the net's type, then added to the earlier one. */
    again[i] =
        !op->facts->ahead && (run->has_gradient[param] || run->s->summed);
    if (again[i])
      run_change(run, PART_TEMPORARY, param_bytes(run, param, run->s->element));
    run_add_param_gradient(run, param, op->facts->matrix_last);
  }
}

/* Frees a gradient that has been added to its parameter's. */
static void drop_added(struct run *run, const struct tape_op *op, int i) {
  int64_t bytes = param_bytes(run, param_of(run, op, i), run->s->element);
  run_change(run, PART_TEMPORARY, -bytes);
}

bool run_sum_bias(struct run *run, const struct tape_op *op, bool *again) {
  const struct op_facts *facts = op->facts;
  if (!facts->matrix_last || facts->by_sample || facts->param_count != 2 ||
      !again[1])
    return false;
  run_add_to_param(run, op, param_of(run, op, 1));
  again[1] = false;
  return true;
}

void run_drop_bias(struct run *run, const struct tape_op *op) {
  drop_added(run, op, 1);
}

/* A product's matrix, whose gradient is transposed, comes last and alone. Other
 * gradients that are added stay until all have been: give_on(). */
void run_sum_param_gradients(struct run *run, const struct tape_op *op,
                             const bool *again) {
  int count = op->facts->param_count - op->facts->by_sample, added = 0;
  for (int k = 0; k < count; k++) {
    int i = op->facts->matrix_last ? op->facts->param_count - 1 - k : k;
    if (!again[i])
      continue;
    run_add_to_param(run, op, param_of(run, op, i));
    added++;
    if (op->facts->matrix_last)
      drop_added(run, op, i);
  }
  for (int i = 0; added && !op->facts->matrix_last && i < count; i++)
    if (again[i])
      drop_added(run, op, i);
}

int64_t run_frozen_bytes(struct run *run, const struct tape_op *op) {
  int64_t bytes = 0;
  size_t first = op->first_param + (size_t)op->facts->param_count;
  for (int i = 0; i < op->facts->frozen_count; i++)
    bytes = run_sum(run, bytes,
                    param_bytes(run, run->tape->params.at[first + (size_t)i],
                                run->s->element));
  return bytes;
}

/*
 * Bytes of the gradient of a bias that is added after the product, so its
 * gradient comes before the product's. If rows are a matrix anyway, one kernel
 * does both (ATen/native/Linear.cpp).
 */
int64_t run_bias_bytes(struct run *run, const struct tape_op *op) {
  bool together = run_value_at(run, op->first_out)->view;
  if (!op->facts->matrix_last || op->facts->param_count != 2 || together)
    return 0;
  return param_bytes(run, run->tape->params.at[op->first_param + 1],
                     run->s->element);
}

static void step_param(struct run *run, const struct tape_op *op,
                       size_t param) {
  if (!run->has_gradient[param] ||
      run->first_use[param] != (size_t)(op - run->tape->ops.at))
    return; /* another layer still adds to its gradient */
  int64_t bytes = param_bytes(run, param, run->s->element);
  int64_t work = optimizer_alone(run->s->stepped, bytes);
  run_change(run, PART_TEMPORARY, work);
  run_sample(run, op);
  run_change(run, PART_TEMPORARY, -work);
  run_change(run, PART_GRADIENTS, -bytes);
  run->has_gradient[param] = false;
}

/*
 * A hook steps each parameter whose gradient is complete and frees it:
 * register_post_accumulate_grad_hook() (torchtune's optimizer_in_bwd).
 */
void run_step_params(struct run *run, const struct tape_op *op) {
  for (int i = 0; i < op->facts->param_count; i++)
    step_param(run, op, param_of(run, op, i));
  for (int i = 0; i < op->facts->in_count; i++) {
    const struct tape_value *in = run_value_at(run, run_input_of(run, op, i));
    for (size_t k = 0; in->param && k < in->param_count; k++)
      step_param(run, op, in->param - 1 + k);
  }
}
