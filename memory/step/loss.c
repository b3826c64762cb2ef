/* Losses that programs write out, as the operations of losses.def. */
#include "memory/step/loss.h"

enum { MOST_IN = 8 };

/* The size of a result. */
enum loss_size {
  VALUES,  /* as the output of the net */
  BITS,    /* as many, of a comparison */
  CLASSES, /* one for each channel of a sample */
  NUMBER,  /* one in all */
};

enum loss_value {
  NONE,
  LOSS_IN,
#define STEP(loss, value, ...) loss##_##value,
#include "memory/step/losses.def"
  LOSS_VALUES
};

static const struct loss_step {
  int loss;
  enum loss_value out;
  enum loss_size size;
  enum loss_value in[MOST_IN]; /* up to the first NONE */
  struct operation facts;
} steps[] = {
#define TAKES(...) \
  { __VA_ARGS__ }
#define STEP(which, value, operation, sized, takes, ...) \
  {.loss = LOSS_##which,                                 \
   .out = which##_##value,                               \
   .size = sized,                                        \
   .in = TAKES takes,                                    \
   .facts = {.name = operation, __VA_ARGS__}},
#include "memory/step/losses.def"
};

enum { STEPS = sizeof steps / sizeof *steps };

/* An extent of a step, which is in sizes of an output with `count` values. */
static struct extent sized(const struct tape *tape, struct extent extent,
                           int64_t count, enum width width) {
  if (extent.count < 0)
    return tape_number(tape);
  return extent_sample(size_product(extent.count, count), width);
}

static struct extent result(enum loss_size size, const struct shape *shape,
                            enum width width) {
  switch (size) {
  case CLASSES: return extent_sample(shape_channels(shape), width);
  case NUMBER: return extent_fixed(1, width);
  case BITS: width = WIDTH_BOOL; break;
  case VALUES: break;
  }
  return extent_sample(shape_values(shape), width);
}

size_t loss_run(struct trace *trace, size_t out, const struct shape *shape,
                int loss, const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  enum width width = options->loss_width;
  int64_t count = shape_values(shape);
  bool as_is = options->loss_dtype == LOSS_DTYPE_SAME;
  size_t values[LOSS_VALUES] = {0}, in[MOST_IN], last = out;
  values[LOSS_IN] = as_is ? out : tape_widen(tape, out);
  for (const struct loss_step *step = steps; step < steps + STEPS; step++) {
    if (step->loss != loss)
      continue;
    struct operation op = step->facts;
    for (; op.in_count < MOST_IN && step->in[op.in_count]; op.in_count++)
      in[op.in_count] = values[step->in[op.in_count]];
    op.in = in;
    op.out = result(step->size, shape, width);
    op.kept[0] = sized(tape, op.kept[0], count, width);
    op.work = sized(tape, op.work, count, width);
    op.back_work = sized(tape, op.back_work, count, width);
    values[step->out] = last = tape_run(tape, &op);
  }
  return last;
}
