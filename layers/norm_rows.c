/* Norms of rows, ln and rmsnorm, as operations; also inside other layers. */
#include "base/check.h"
#include "layers/norm.h"

struct operation norm_with_statistics(const struct tape *tape,
                                      struct operation op) {
  if (!tape->training && !tape->lowers && op.work.count == 0) {
    op.work = op.kept[0];
    op.work.count = size_sum(op.kept[0].count, op.kept[1].count);
  }
  return op;
}

/*
 * Kernels of apex keep the input and 32-bit statistics of each row, or the
 * output and 1/deviation alone, in autocast's type.
 */
static struct operation fused(const struct tape *tape, int64_t rows,
                              int statistics) {
  bool output = tape->norms == NORMS_EFFICIENT;
  int64_t kept = output ? rows : size_product(statistics, rows);
  return (struct operation){
      .keeps = output ? KEEPS_OUT : KEEPS_IN(0),
      .always_makes = true,
      .kept = {extent_sample(kept, WIDTH_F32)},
      .work = extent_sample(output ? (statistics - 1) * rows : 0, WIDTH_F32),
      .cast = CAST_LOW};
}

static bool is_fused(const struct tape *tape) {
  return (tape->norms == NORMS_FUSED || tape->norms == NORMS_EFFICIENT) &&
         !tape->lowers;
}

/* Keeps a 32-bit copy in place of the 16-bit `values`, and `kept` 32-bit
 * values. The result and `back` gradients have the size of the copy. */
static struct operation in_float(int64_t values, int64_t kept, int back) {
  if (!add_i64(values, kept, &kept))
    kept = INT64_MAX;
  return (struct operation){
      .always_makes = true,
      .kept = {extent_sample(kept, WIDTH_F32)},
      .work = extent_sample(values, WIDTH_F32),
      .back_work = extent_sample(size_product(back, values), WIDTH_F32)};
}

struct operation norm_ln(const struct tape *tape, int64_t rows,
                         int64_t values) {
  if (is_fused(tape))
    return fused(tape, rows, 2);
  if (tape->norms == NORMS_FLOAT && !tape->lowers)
    return in_float(values, size_product(2, rows), 2);
  return norm_with_statistics(
      tape,
      (struct operation){.keeps = KEEPS_IN(0),
                         .always_makes = true,
                         .layout = LAYOUT_ROWS,
                         .kept = {extent_sample(rows, WIDTH_F32),
                                  extent_sample(rows, WIDTH_F32)},
                         .cast = tape->profile->norm_in_float32 ? CAST_FULL
                                                                : CAST_NONE});
}

/* rmsnorm as one kernel, or computed in 32 bits. */
static struct operation rms_at_once(const struct tape *tape, int64_t rows,
                                    int64_t values, bool trained) {
  int64_t besides; /* the squares of torch1-cpu have 32 bits, too */
  if (is_fused(tape))
    return fused(tape, rows, 1);
  if (tape->lowers)
    return (struct operation){.cast = CAST_FULL};
  if (!add_i64(rows, tape->profile->mean_keeps_input ? values : 0, &besides))
    besides = INT64_MAX;
  struct operation op = in_float(values, besides, 3);
  op.kept[1] = extent_sample(trained ? values : 0, WIDTH_NET);
  return op;
}

/* rsqrt(mean(x^2) + eps) of each row */
static size_t rms_factors(struct tape *tape, size_t in, struct operation step,
                          int64_t rows) {
  struct extent each = extent_sample(rows, WIDTH_F32);
  struct operation square = step, mean = step, add = step, root = step;
  square.keeps = KEEPS_IN(0);
  square.elementwise = root.elementwise = add.elementwise = true;
  square.back_work = extent_sample(size_product(2, step.out.count), WIDTH_NET);
  mean.keeps = tape->profile->mean_keeps_input ? KEEPS_IN(0) : 0;
  mean.out = add.out = root.out = each;
  mean.layout = add.layout = root.layout = LAYOUT_ROWS;
  add.gradient = GRADIENT_SHARED;
  root.keeps = KEEPS_OUT;
  root.back_work = extent_sample(size_product(2, rows), WIDTH_F32);
  size_t value = tape_run_on(tape, in, square);
  value = tape_run_on(tape, value, mean);
  return tape_run_on(tape, tape_run_on(tape, value, add), root);
}

/* A map with channels first is transposed, and then read twice: its gradients
 * are summed after the transpose. */
static size_t as_rows(struct tape *tape, size_t in, struct operation step) {
  if (!layout_of_axes(tape, tape->values.at[in].strides))
    return in;
  step.out = *tape_extent(tape, in);
  step.result = RESULT_VIEW;
  step.layout = layout_of_rows(tape, in);
  step.gradient = GRADIENT_SHARED;
  return tape_run_on(tape, in, step);
}

/* scale * (x * rsqrt(mean(x^2) + eps)) in separate operations. */
static size_t rms_steps(struct tape *tape, size_t in,
                        const struct operation *whole, int64_t rows,
                        int scale) {
  struct operation step = {.name = whole->name,
                           .out = whole->out,
                           .layout = layout_of_rows(tape, in),
                           .by_channel = whole->by_channel,
                           .inner = true,
                           .cast = CAST_FULL};
  size_t pair[2] = {as_rows(tape, tape_widen(tape, in), step)};
  pair[1] = rms_factors(tape, pair[0], step, rows);
  step.in = pair;
  step.in_count = 2;
  step.keeps = KEEPS_IN(0) | KEEPS_IN(1);
  step.inner = false;
  step.elementwise = step.guarded = step.reduces = true;
  size_t value = tape_cast_as(tape, tape_run(tape, &step), in);
  if (scale < 0)
    return value;
  step.keeps = KEEPS_IN(0);
  step.cast = CAST_NONE;
  step.inner = true;
  step.reduces = false;
  step.first_param = scale;
  step.param_count = 1;
  if (tape_trains(tape, scale)) /* summed over the rows later */
    step.back_work = whole->out;
  return tape_run_on(tape, value, step);
}

size_t norm_rms(struct tape *tape, size_t in, struct operation whole,
                int64_t rows, int scale) {
  bool wide = tape->half && !tape->mixed && tape->profile->rms_in_float32;
  if (tape->norms == NORMS_PLAIN && !tape->lowers && !wide)
    return rms_steps(tape, in, &whole, rows, scale);
  bool trained = scale >= 0 && tape_trains(tape, scale);
  struct operation op = rms_at_once(tape, rows, whole.out.count, trained);
  op.name = whole.name;
  op.does = whole.does;
  op.out = whole.out;
  op.by_channel = whole.by_channel;
  op.first_param = scale < 0 ? 0 : scale;
  op.param_count = scale >= 0;
  return tape_run_on(tape, in, op);
}
