/* Losses of a net's outputs: one kernel, or the operations of losses.def. */
#include "memory/step/loss.h"

#include "base/check.h"
#include "sema/model/degrees.h"

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

/* A loss of losses.def on `out`, which is cast as the options say. */
static size_t loss_run(struct trace *trace, size_t out,
                       const struct shape *shape, int loss,
                       const struct trace_options *options) {
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

/* A loss copies 16-bit outputs to 32 bits first; under autocast, its cast does.
 */
static enum width loss_width(const struct trace *trace, size_t out,
                             const struct trace_options *options) {
  int own = width_element(tape_extent(&trace->tape, out)->width);
  bool half = element_bits(own ? own : options->element) == 16;
  bool copied = options->loss_dtype == LOSS_DTYPE_F32 ||
                options->loss_dtype == LOSS_DTYPE_INPLACE ||
                options->loss_dtype == LOSS_DTYPE_OVERWRITTEN ||
                options->loss_dtype == LOSS_DTYPE_SHIFTED;
  return half && copied ? WIDTH_F32 : WIDTH_NET;
}

/* An output cast for the loss: `F.cross_entropy(out.float(), ..)`. */
static size_t loss_input(struct trace *trace, size_t out, enum width width) {
  struct extent extent = *tape_extent(&trace->tape, out);
  bool real = extent.width == WIDTH_NET || width_element(extent.width);
  if (!real || width == WIDTH_NET)
    return out;
  extent.width = width;
  return tape_run_on(
      &trace->tape, out,
      (struct operation){.name = "cast", .out = extent, .by_channel = true});
}

static enum cast loss_cast(const struct trace_options *options) {
  bool as_is = options->loss_dtype == LOSS_DTYPE_SAME; /* even under autocast */
  return as_is ? CAST_NONE : CAST_FULL;
}

/* One kernel, which keeps the output and the log-sum-exp of each row
 * (Dao-AILab/flash-attention, flash_attn/losses/cross_entropy.py). */
static size_t kernel_cross_entropy(struct trace *trace, size_t out,
                                   int64_t rows) {
  return tape_run_on(
      &trace->tape, out,
      (struct operation){.name = "crossentropy",
                         .out = extent_sample(rows, WIDTH_F32),
                         .keeps = KEEPS_IN(0),
                         .scores = true,
                         .kept = {extent_sample(rows, WIDTH_INDEX),
                                  extent_sample(rows, WIDTH_F32)},
                         .cast = CAST_NONE});
}

/*
 * Cross entropy of each row against a class. Devices that share the last
 * product have some of the classes each: VocabParallelCrossEntropy of
 * Megatron-LM, loss_parallel() of PyTorch. With `inplace`, backward has one
 * tensor besides the saved ones; a program that writes the gradient over the
 * softmax has none (nanotron's _ShardedCrossEntropy). Forward has more, so the
 * peak is the same. With `overwritten` forward writes over the copy, too.
 */
static size_t cross_entropy(struct trace *trace, size_t out, int64_t rows,
                            const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  struct extent values = *tape_extent(tape, out);
  enum width width = options->loss_width;
  bool over = options->loss_dtype == LOSS_DTYPE_OVERWRITTEN;
  bool in_place = options->loss_dtype == LOSS_DTYPE_INPLACE || over;
  if (options->loss_dtype == LOSS_DTYPE_REGISTERS)
    return kernel_cross_entropy(trace, out, rows);
  size_t log = tape_run_on(
      tape, loss_input(trace, out, width),
      (struct operation){.name = "logsoftmax",
                         .out = extent_sample(values.count, width),
                         .keeps = in_place ? 0 : KEEPS_OUT,
                         .result = over ? RESULT_VIEW : RESULT_NEW,
                         .gradient = in_place ? GRADIENT_SHARED : GRADIENT_NEW,
                         .by_channel = true,
                         .cast = loss_cast(options)});
  return tape_run_on(
      tape, log,
      (struct operation){.name = "crossentropy",
                         .out = extent_fixed(1, width),
                         .keeps = KEEPS_IN(0),
                         .gradient = over ? GRADIENT_SHARED : GRADIENT_NEW,
                         .scores = true,
                         .kept = {extent_sample(rows, WIDTH_INDEX),
                                  extent_fixed(1, WIDTH_F32)}});
}

/*
 * The output is what was cast, as in models of transformers before 4.46
 * (models/llama/modeling_llama.py: `logits = logits.float()`), and under
 * accelerate's convert_outputs_to_fp32(). The loss reads a copy of all tokens
 * but the last: `logits[..., :-1, :].contiguous()`, whose backward is a part of
 * zeros.
 */
static size_t shifted_cross_entropy(struct trace *trace, int64_t node,
                                    const struct shape *shape,
                                    const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  int64_t rows = shape_rows(shape);
  size_t out = tape_widen(
      tape, loss_input(trace, trace->value_of[node], options->loss_width));
  struct extent part = *tape_extent(tape, out);
  part.count -= part.count / shape->dim[0];
  trace->value_of[node] = tape_place(tape, out);
  out = tape_run_on(
      tape, out,
      (struct operation){.name = "copy", .out = part, .by_channel = true});
  return cross_entropy(trace, out, rows - rows / shape->dim[0], options);
}

/*
 * Rows in chunks, each with a loss, so that only a chunk is copied and has two
 * gradients (litgpt's chunked_cross_entropy; torchtune,
 * modules/loss/cross_entropy_loss.py).
 */
static size_t chunked_cross_entropy(struct trace *trace, size_t out,
                                    const struct shape *shape,
                                    const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  struct arena *arena = tape->arena;
  int64_t rows = shape_rows(shape), classes = shape_channels(shape);
  int64_t each = ceil_div_i64(rows, max_i64(options->loss_chunks, 1));
  int count = (int)ceil_div_i64(rows, each);
  if (count == 1)
    return cross_entropy(trace, out, rows, options);
  struct extent part = *tape_extent(tape, out), last = part;
  part.count = each * classes; /* less than the output */
  last.count -= (count - 1) * part.count;
  size_t first = tape_run_on(tape, out,
                             (struct operation){.name = "split",
                                                .out = part,
                                                .outs = count,
                                                .result = RESULT_VIEW,
                                                .by_channel = true});
  tape_resize(tape, first + (size_t)count - 1, last);
  size_t *losses = arena_alloc(arena, (size_t)count, sizeof *losses);
  for (int i = 0; i < count; i++)
    losses[i] = cross_entropy(trace, first + (size_t)i,
                              i < count - 1 ? each : rows - i * each, options);
  return tape_run(
      tape, &(struct operation){.name = "sum",
                                .in = losses,
                                .in_count = count,
                                .out = extent_fixed(1, options->loss_width),
                                .gradient = GRADIENT_SHARED});
}

/*
 * mse, bce: the target is as large as the output. The number that mse_loss()
 * gives is in a tensor of that size: TORCH_META_FUNC(mse_loss) of
 * ATen/native/Loss.cpp allocates it, then shrinks it. A
 * binary_cross_entropy_with_logits() has five tensors of work in 1.13, and two
 * in 2.6: ATen/native/Loss.cpp.
 */
static size_t compare(struct trace *trace, size_t out,
                      const struct shape *shape, int loss,
                      const struct trace_options *options) {
  struct tape *tape = &trace->tape;
  enum width width = options->loss_width;
  struct extent values = extent_sample(shape_values(shape), width);
  struct extent work = values;
  bool squares = loss == LOSS_MSE;
  if (!squares)
    work.count =
        size_product(values.count, tape->profile->sums_in_place ? 2 : 5);
  size_t number = tape_run_on(tape, loss_input(trace, out, width),
                              (struct operation){.name = "loss",
                                                 .out = extent_fixed(1, width),
                                                 .keeps = KEEPS_IN(0),
                                                 .kept = {values},
                                                 .work = work,
                                                 .cast = loss_cast(options)});
  if (squares && !tape->profile->mse_is_bare)
    tape->storages.at[tape->values.at[number].storage].extent =
        tape_keep_extent(tape, values);
  return number;
}

/* One number, whose gradient is expanded without memory. Autocast only sets its
 * type. */
static size_t sum(struct trace *trace, size_t out) {
  return tape_run_on(&trace->tape, out,
                     (struct operation){.name = "sum",
                                        .out = extent_fixed(1, WIDTH_NET),
                                        .gradient = GRADIENT_SHARED,
                                        .cast = CAST_OUT});
}

/* Makes an operation a view of the number that `value` is. */
static void leave_out(struct tape *tape, size_t at, size_t value) {
  const struct tape_op *op = &tape->ops.at[at];
  struct op_facts *facts = tape_own_facts(tape, at);
  facts->result = RESULT_VIEW;
  facts->gradient = GRADIENT_SHARED;
  facts->saved_count = 0;
  facts->work = facts->back_work = facts->back_more = (struct extent){0};
  memset(facts->kept, 0, sizeof facts->kept);
  for (int i = 0; i < facts->out_count; i++) {
    struct tape_value *out = &tape->values.at[op->first_out + (size_t)i];
    out->extent = tape->values.at[value].extent;
    out->storage = tape->values.at[value].storage;
  }
}

/*
 * The last product and the loss fused, over chunks of the rows: only one
 * chunk's logits are in memory, and gradients are computed at once
 * (linkedin/Liger-Kernel, ops/fused_linear_cross_entropy.py). 32 bits are used
 * in registers alone, and gradients overwrite the logits. By default the logits
 * of a chunk are no larger than the input; Liger also rounds the rows of a
 * chunk up to a power of two. Functions of single values behind the product, as
 * Gemma's softcap, are in the kernel.
 */
static size_t fused_cross_entropy(struct trace *trace,
                                  const struct model *model, int64_t node,
                                  int64_t chunks) {
  struct tape *tape = &trace->tape;
  size_t end = trace->op_end[node];
  node = degrees_head(model, node);
  size_t out = trace->value_of[node];
  size_t last = trace->op_end[node] - 1;
  const struct tape_op *op = &tape->ops.at[last];
  struct op_facts *facts = tape_own_facts(tape, last);
  const struct shape *shape = model->nodes.at[node].out;
  int64_t features = shape_channels(model_input(model, &model->nodes.at[node]));
  if (!chunks)
    chunks = ceil_div_i64(shape_channels(shape), features);
  struct extent logits = *tape_extent(tape, out); /* as wide as `back` */
  struct extent back = *tape_extent(tape, tape_input(tape, op, 0));
  logits.count = ceil_div_i64(logits.count, chunks);
  facts->name = "crossentropy";
  facts->saved_count = 0; /* the input is read, its gradient is kept */
  facts->ahead = true;
  facts->work = logits;
  facts->work.count += back.count; /* both are less than the sizes before */
  tape_resize(tape, out, extent_fixed(1, WIDTH_F32));
  tape->storages.at[tape->values.at[out].storage].extent =
      tape->values.at[out].extent;
  for (size_t i = last + 1; i < end; i++)
    leave_out(tape, i, out);
  return out;
}

static size_t loss_of(struct trace *trace, const struct model *model,
                      size_t output, const struct trace_options *options) {
  int64_t node = model->outputs.at[output].node;
  const struct shape *shape = model->nodes.at[node].out;
  int loss = loss_of_output(options->train, output);
  size_t out = trace->value_of[node];
  trace->tape.node = node;
  switch (loss) {
  case LOSS_FUSED_CROSSENTROPY:
    return fused_cross_entropy(trace, model, node, options->loss_chunks);
  case LOSS_SUM: return sum(trace, out);
  case LOSS_CROSSENTROPY:
    if (options->loss_dtype == LOSS_DTYPE_SHIFTED)
      return shifted_cross_entropy(trace, node, shape, options);
    return chunked_cross_entropy(trace, out, shape, options);
  case LOSS_MSE:
  case LOSS_BCE: return compare(trace, out, shape, loss, options);
  case LOSS_NONE: return out;
  default:
    out = loss_input(trace, out, options->loss_width);
    return loss_run(trace, out, shape, loss, options);
  }
}

void loss_trace(struct trace *trace, const struct model *model,
                const struct trace_options *options) {
  bool scored = !has_loss(options->train, LOSS_NONE);
  size_t pair[2];
  for (size_t i = 0; i < model->outputs.count; i++) {
    int64_t node = model->outputs.at[i].node;
    struct trace_options own = *options;
    own.loss_width = loss_width(trace, trace->value_of[node], options);
    pair[1] = loss_of(trace, model, i, &own);
    if (i > 0 && scored) {
      pair[0] = trace->ends.at[0];
      trace->ends.at[0] =
          tape_run(&trace->tape,
                   &(struct operation){.name = "add",
                                       .in = pair,
                                       .in_count = 2,
                                       .out = extent_fixed(1, own.loss_width),
                                       .gradient = GRADIENT_SHARED});
    } else {
      *VEC_PUSH(trace->tape.arena, &trace->ends) = pair[1];
    }
  }
  trace->has_loss = scored;
  trace->drops_outputs = trace->has_loss && options->drops_outputs;
  trace->scores = options->train->loss == LOSS_CROSSENTROPY;
}
