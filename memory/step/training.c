/* Training: the exact bytes of a step under a profile. */
#include "memory/step/training.h"

#include "base/check.h"
#include "sema/model/cost.h"
#include "sema/model/weights.h"

bool model_buffer_bytes(const struct model *model, bool training, int element,
                        int64_t *bytes) {
  enum param_sum sum = training ? SUM_BUFFERS : SUM_READ_BUFFERS;
  if (!model_param_bytes(model, sum, element, bytes))
    return false;
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].shares == NO_NODE &&
        (training || !model->nodes.at[i].train_only) &&
        !add_i64(*bytes, node_index_bytes(&model->nodes.at[i]), bytes))
      return false;
  return true;
}

/* Bytes of the batch, and how much the allocator adds. */
static bool input_bytes(const struct model *model,
                        const struct train_settings *train,
                        struct training *t) {
  t->input = 0;
  t->input_rounding = 0;
  for (size_t i = 0; i < model->sources.count; i++) {
    const struct node *node = &model->nodes.at[model->sources.at[i]];
    int64_t bytes;
    if (!shape_bytes(node->out, train->dtype, &bytes) ||
        !mul_i64(bytes, train->batch, &bytes) ||
        !add_i64(t->input, bytes, &t->input) ||
        !add_i64(t->input_rounding, allocation_rest(t->profile, bytes),
                 &t->input_rounding))
      return false;
  }
  return true;
}

/*
 * `dtype=bf16 precision=mixed`: the passes use 16 bits, parameters have 32.
 * `precision=master`: both have 16, bf16 unless another type was chosen.
 */
static void choose_types(struct train_settings *train) {
  bool half = element_bits(train->dtype) == 16;
  if (train->precision == PRECISION_MIXED && half)
    train->dtype = ELEMENT_F32;
  if (train->precision == PRECISION_MASTER && !half)
    train->dtype = ELEMENT_BF16;
}

bool step_is_apart(const struct step *step, size_t param) {
  return (step->packed && step->packed[param]) ||
         step->model->params.at[param].element;
}

/* Bytes of a frozen matrix; of a part of it, all scales of its rows. */
static bool frozen_bytes(const struct step *step, size_t param, int64_t count,
                         int64_t *bytes) {
  const struct weights_type *type = weights_type(step->settings.base);
  const struct shape *matrix = step->model->params.at[param].matrix;
  return type->scope == SCOPE_LINEARS && matrix
             ? weights_linear_bytes(type, matrix->dim[0], matrix->dim[1], 0,
                                    count, bytes)
             : block_bytes(&type->block, count, bytes);
}

bool step_param_bytes(const struct step *step, size_t param, int64_t count,
                      int64_t *bytes) {
  const struct train_settings *train = &step->settings;
  return step->packed && step->packed[param]
             ? frozen_bytes(step, param, count, bytes)
             : element_bytes(
                   param_element(&step->model->params.at[param], train->dtype),
                   count, bytes);
}

void step_types(const struct train_settings *train, struct simulation *s) {
  bool apart = gradient_element(train) != train->dtype;
  s->element = train->dtype;
  s->summed = apart ? gradient_element(train) : 0;
  s->saved_bits = saved_bits(train);
  s->gradients_before = train->accumulate > 1 || apart ||
                        profile_at(train->profile)->zeroes_gradients ||
                        train->keep_gradients == TOGGLE_ON;
}

enum { BASE_KEEPS = KEPT_OWN - 1 }; /* a place that products do not use */

/*
 * Besides the matrix itself, in bytes for each value:
 *
 * int8, bitsandbytes/autograd/_functions.py, MatMul8bitLt, with rows quantized
 * twice: `CAt` is kept beside the input; `CA`, `C32A` and the product in 32
 * bits are there in forward; backward dequantizes the matrix. Copies of
 * outliers depend on data and are not counted.
 *
 * gptq, auto_gptq/nn_modules/qlinear/qlinear_cuda.py, QuantLinear with
 * `trainable`: torch.matmul() keeps the dequantized matrix, and the codes, the
 * scales and the differences are there while it is computed.
 */
static void count_kernel(struct step *step, const struct tape_op *op,
                         struct op_facts *facts, int64_t count) {
  const struct tape *tape = &step->trace.tape;
  enum width width = tape->mixed ? WIDTH_LOW : WIDTH_NET;
  const struct extent *in = tape_extent(tape, tape_input(tape, op, 0));
  bool kept = tape->values.at[op->first_out].needs_gradient;
  if (base_kernel(step->settings.base) == BASE_INT8) {
    struct extent bytes = *in;
    bytes.width = WIDTH_BOOL;
    if (kept)
      facts->kept[BASE_KEEPS] = bytes;
    bytes.count = size_product(in->count, 3);
    facts->work = bytes;
    facts->back_work = extent_fixed(count, in->width);
    return;
  }
  facts->work = extent_fixed(size_product(count, 4), WIDTH_BOOL);
  if (kept)
    facts->kept[BASE_KEEPS] = extent_fixed(count, width);
  if (tape->mixed && facts->kept[KEPT_CASTS].count >= count)
    facts->kept[KEPT_CASTS].count -= count;
}

/*
 * Frozen matrices of products are in blocks, and are unpacked in use:
 * bitsandbytes/autograd/_functions.py, MatMul4Bit. Not so embeddings and
 * outputs of the net: transformers/integrations/bitsandbytes.py,
 * get_keys_to_not_convert().
 */
static void pack_matrices(struct step *step, struct arena *arena) {
  const struct model *model = step->model;
  struct tape *tape = &step->trace.tape;
  bool through_f16 =
      tape->profile->packed_keeps_input && step->settings.dtype == ELEMENT_BF16;
  step->packed = NULL;
  if (!step->settings.base)
    return;
  step->packed =
      arena_alloc(arena, model->params.count + 1, sizeof *step->packed);
  for (size_t i = 0; i < tape->ops.count; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    const struct extent *in =
        op->facts->in_count ? tape_extent(tape, tape_input(tape, op, 0)) : NULL;
    bool product = op->facts->splits && in &&
                   (in->width <= WIDTH_LOW || width_element(in->width));
    for (int k = 0; product && k < op->facts->frozen_count; k++) {
      size_t param =
          tape->params
              .at[op->first_param + (size_t)(op->facts->param_count + k)];
      const struct model_param *p = &model->params.at[param];
      if (p->rank < 2 || p->element || trace_is_output(model, op->node))
        continue;
      step->packed[param] = true;
      struct op_facts *facts = tape_own_facts(tape, i);
      if (base_kernel(step->settings.base) != BASE_BLOCKS) {
        count_kernel(step, op, facts, p->count);
        continue;
      }
      int64_t all;
      if (!add_i64(facts->unpacked.count,
                   size_product(1 + through_f16, p->count), &all))
        all = INT64_MAX; /* reported as an overflow later */
      facts->unpacked = extent_fixed(all, tape->mixed ? WIDTH_LOW : WIDTH_NET);
      if (tape->mixed && facts->kept[KEPT_CASTS].count >= p->count)
        facts->kept[KEPT_CASTS].count -= p->count; /* it is unpacked instead */
    }
  }
}

/* True unless nothing is trained in a segment or before it, so that it keeps
 * nothing and is not recomputed. */
static bool learns(const struct tape *tape, const struct segment *segment) {
  for (size_t i = segment->first; i < segment->end; i++)
    if (tape->values.at[tape->ops.at[i].first_out].needs_gradient)
      return true;
  return false;
}

/* Adds the core of each attention as a segment and counts its MACs. */
static void add_cores(struct step *step, size_t from, size_t to,
                      struct arena *arena) {
  const struct tape *tape = &step->trace.tape;
  if (step->settings.checkpoint != CHECKPOINT_SELECTIVE)
    return;
  for (size_t i = from, end; i < to; i = end) {
    end = i + 1;
    while (tape->ops.at[i].facts->core && end < to &&
           tape->ops.at[end].facts->core &&
           tape->ops.at[end].node == tape->ops.at[i].node)
      end++;
    struct segment core = {i, end};
    if (!tape->ops.at[i].facts->core || !learns(tape, &core))
      continue;
    *VEC_PUSH(arena, &step->segments) = core;
    for (size_t k = i; k < end; k++)
      step->extra_macs += tape->ops.at[k].facts->macs; /* at most the total */
  }
}

/* MACs of a product with a matrix: for each value of its output, the features
 * of its input, which are the matrix's first axis. */
static int64_t product_macs(const struct step *step, const struct tape_op *op) {
  const struct tape *tape = &step->trace.tape;
  if (!op->facts->splits ||
      op->facts->param_count + op->facts->frozen_count < 1)
    return 0;
  const struct model_param *param =
      &step->model->params.at[tape->params.at[op->first_param]];
  return param->matrix ? size_product(tape_extent(tape, op->first_out)->count,
                                      param->matrix->dim[0])
                       : 0;
}

int64_t step_held_macs(const struct step *step, int64_t node) {
  const struct trace *trace = &step->trace;
  int64_t all = model_cost(step->model, node)->train_macs, rest = all, held = 0;
  bool sdpa = false;
  if (!trace->held)
    return 0;
  for (size_t i = node ? trace->op_end[node - 1] : 0; i < trace->op_end[node];
       i++) {
    const struct tape_op *op = &trace->tape.ops.at[i];
    int64_t macs = product_macs(step, op);
    rest = max_i64(rest - macs, 0);
    held = size_sum(held, trace->held[i] ? macs : 0);
    sdpa = sdpa || (op->facts->sdpa && trace->held[i]);
  }
  return min_i64(size_sum(held, sdpa ? rest : 0), all);
}

/*
 * Holds results in a segment, as torchtitan's selective activation
 * checkpointing by operation does: those of attention, and those of every
 * second matrix product; the other products are computed again
 * (pytorch/torchtitan, torchtitan/distributed/activation_checkpoint.py).
 */
static void hold_results(struct step *step, const struct segment *segment,
                         struct arena *arena) {
  const struct tape *tape = &step->trace.tape;
  size_t products = 0;
  if (!step->trace.held)
    step->trace.held =
        arena_alloc(arena, tape->ops.count + 1, sizeof *step->trace.held);
  for (size_t i = segment->first; i < segment->end; i++) {
    const struct op_facts *facts = tape->ops.at[i].facts;
    bool mm = facts->mm && !(facts->bias_after && step->settings.batch == 1);
    step->trace.held[i] = facts->sdpa || (mm && products++ % 2 == 0);
  }
}

static void add_range(struct step *step, struct node_range range,
                      struct arena *arena) {
  struct segment segment = {range.first ? step->trace.op_end[range.first - 1]
                                        : 0,
                            range.end ? step->trace.op_end[range.end - 1] : 0};
  if (!learns(&step->trace.tape, &segment))
    return;
  *VEC_PUSH(arena, &step->segments) = segment;
  if (step->settings.checkpoint == CHECKPOINT_OPS)
    hold_results(step, &segment, arena);
  for (int64_t k = range.first; k < range.end; k++)
    step->extra_macs += model_cost(step->model, k)->train_macs -
                        step_held_macs(step, k); /* at most the total */
}

void step_trace(struct step *step, struct arena *arena) {
  choose_types(&step->settings);
  const struct train_settings *train = &step->settings;
  const struct profile *profile = profile_at(train->profile);
  struct trace_options options = {
      .profile = profile,
      .training = true,
      .in_place = train->inplace == TOGGLE_ON,
      .mixed = train->precision == PRECISION_MIXED,
      .half = element_bits(train->dtype) == 16 ||
              train->precision == PRECISION_MIXED,
      .element = train->dtype,
      .norms = train->norms,
      .attention = train->attention,
      .glu = train->glu,
      .experts = train->moe,
      .packed = train->base && (profile->packed_keeps_input ||
                                base_kernel(train->base) == BASE_INT8),
      .in_blocks = train->precision == PRECISION_MIXED
                       ? base_kernel(train->base)
                       : BASE_NONE,
      .train = train,
      .loss_dtype = train->loss_dtype,
      .loss_chunks = train->loss_chunks,
      .drops_outputs = train->keep_outputs == TOGGLE_OFF,
      .ranges = step->ranges.at,
      .range_count = step->ranges.count,
      .holds = train->checkpoint == CHECKPOINT_OPS,
      .leaps = step->leaps};
  size_t done = 0;
  trace_model(&step->trace, step->model, &options, arena);
  pack_matrices(step, arena);
  step->segments.count = 0;
  step->extra_macs = 0;
  for (size_t i = 0; i < step->ranges.count; i++) {
    struct node_range range = step->ranges.at[i];
    add_cores(step, done, range.first ? step->trace.op_end[range.first - 1] : 0,
              arena);
    add_range(step, range, arena);
    done = range.end ? step->trace.op_end[range.end - 1] : 0;
  }
  add_cores(step, done, step->trace.tape.ops.count, arena);
}

/*
 * Parameters, buffers and inputs are tensors in whole blocks. Gradients are
 * already rounded.
 */
static bool rounding_bytes(const struct step *step, struct training *t) {
  const struct model *model = step->model;
  for (size_t i = 0, alike; i < model->params.count; i += alike) {
    const struct model_param *param = &model->params.at[i];
    int64_t bytes;
    alike =
        step->packed ? 1 : model_params_alike(model, i, model->params.count);
    if (!param->shared && (!step_param_bytes(step, i, param->count, &bytes) ||
                           !add_product_i64(allocation_rest(t->profile, bytes),
                                            (int64_t)alike, &t->rounding)))
      return false;
  }
  return true;
}

/* Bytes of all parameters; those in blocks are counted apart. */
static bool parameter_bytes(const struct step *step, int64_t *bytes) {
  const struct model *model = step->model;
  int64_t plain = model->total.params, packed = 0, own;
  for (size_t i = 0; i < model->params.count; i++) {
    if (!step_is_apart(step, i) || model->params.at[i].shared ||
        model->params.at[i].buffer)
      continue;
    if (!step_param_bytes(step, i, model->params.at[i].count, &own) ||
        !add_i64(packed, own, &packed))
      return false;
    plain -= model->params.at[i].count;
  }
  return element_bytes(step->settings.dtype, plain, bytes) &&
         add_i64(*bytes, packed, bytes);
}

/* An average has the type of the stepped weights (torch/optim/swa_utils.py). */
static bool averaged_bytes(const struct step *step, int64_t *bytes) {
  const struct train_settings *train = &step->settings;
  bool master = train->precision == PRECISION_MASTER;
  *bytes = 0;
  return train->ema != TOGGLE_ON ||
         (master ? element_bytes(ELEMENT_F32, step->model->total.params, bytes)
                 : model_param_bytes(step->model, SUM_PARAMS, train->dtype,
                                     bytes));
}

/* A gradient has its parameter's type unless all have another one. */
static bool gradient_bytes(const struct step *step, int64_t *bytes) {
  const struct train_settings *train = &step->settings;
  return train->gradient_dtype
             ? element_bytes(train->gradient_dtype,
                             step->model->total.trainable, bytes)
             : model_param_bytes(step->model, SUM_TRAINED, train->dtype, bytes);
}

/* Bytes that are in memory for the whole step at any batch. */
static bool lasting_bytes(const struct step *step, struct training *t) {
  const struct model *model = step->model;
  const struct train_settings *train = &step->settings;
  struct optimizer_cost optimizer;
  struct param_range all = {.end = model->params.count};
  if (!parameter_bytes(step, &t->parameters) ||
      !averaged_bytes(step, &t->averaged) ||
      !gradient_bytes(step, &t->gradients) ||
      !optimizer_cost(model, &all, train, &optimizer) ||
      !model_buffer_bytes(model, true, train->dtype, &t->buffers))
    return false;
  t->optimizer = optimizer.state;
  t->master = optimizer.master;
  t->workspace = optimizer.workspace;
  t->clip = optimizer.clip;
  t->rounding = optimizer.rounding;
  if (train->update == UPDATE_BACKWARD) /* no gradients are left after
                                         * backward */
    t->gradients = t->workspace = 0;
  if (train->paged == TOGGLE_ON)
    t->paged = t->optimizer + t->master; /* at most the sum below */
  return rounding_bytes(step, t);
}

/* Copies these from a step with another batch. */
static void take_lasting(const struct training *from, struct training *t) {
  *t = (struct training){.profile = from->profile,
                         .parameters = from->parameters,
                         .gradients = from->gradients,
                         .optimizer = from->optimizer,
                         .buffers = from->buffers,
                         .master = from->master,
                         .averaged = from->averaged,
                         .paged = from->paged,
                         .rounding = from->rounding - from->input_rounding,
                         .workspace = from->workspace,
                         .clip = from->clip};
}

static bool standing_bytes(const struct step *step, struct training *t) {
  if (step->alike)
    take_lasting(step->alike, t);
  else if (!lasting_bytes(step, t))
    return false;
  return input_bytes(step->model, &step->settings, t) &&
         add_i64(t->rounding, t->input_rounding, &t->rounding) &&
         add_i64(t->parameters, t->optimizer, &t->standing) &&
         add_i64(t->standing, t->master, &t->standing) &&
         add_i64(t->standing, t->averaged, &t->standing) &&
         add_i64(t->standing, t->rounding, &t->standing) &&
         add_i64(t->standing, t->buffers, &t->standing) &&
         add_i64(t->standing, t->input, &t->standing);
}

/* In the step, only gradients and the optimizer's work space are left. */
static bool step_moment(const struct training *t, struct moment *moment) {
  *moment = (struct moment){.phase = PHASE_STEP, .node = NO_NODE};
  moment->parts[PART_GRADIENTS] = t->gradients;
  moment->parts[PART_TEMPORARY] = max_i64(t->workspace, t->clip.bytes);
  return add_i64(t->gradients, moment->parts[PART_TEMPORARY], &moment->bytes);
}

/* The line of the phase that grows most. */
static struct peak_line line_of(const struct training *t,
                                const struct simulation *s) {
  int64_t forward = s->forward.bytes - s->forward.parts[PART_GRADIENTS];
  int64_t backward = s->backward.bytes - s->backward.parts[PART_GRADIENTS];
  int64_t peak = forward > backward ? t->forward : t->backward;
  int64_t moving = max_i64(forward, backward) + t->input;
  return (struct peak_line){peak - moving, moving};
}

bool step_measure(const struct step *step, struct arena *arena,
                  struct simulation *s, struct training *t) {
  const struct train_settings *train = &step->settings;
  struct moment last;
  int64_t around; /* bytes that are in memory beside the passes */
  *t = (struct training){.profile = profile_at(train->profile)};
  if (!standing_bytes(step, t) || !step_moment(t, &last) ||
      !add_i64(t->standing, last.bytes, &t->step))
    return false;
  around = t->standing - t->paged;
  if (s->most)
    s->most = max_i64(s->most - around, 1);
  s->arena = arena;
  s->trace = &step->trace;
  s->model = step->model;
  s->batch = train->batch;
  step_types(train, s);
  s->stepped = train->update == UPDATE_BACKWARD ? train : NULL;
  s->skips = s->skips && !s->stepped;
  s->segments = step->segments.at;
  s->segment_count = step->segments.count;
  simulate(s);
  t->saved = s->saved;
  if (s->overflow || !add_i64(around, s->forward.bytes, &t->forward) ||
      !add_i64(around, s->backward.bytes, &t->backward))
    return false;
  t->peak = max_i64(t->step, max_i64(t->forward, t->backward));
  t->line = line_of(t, s);
  t->at = t->peak == t->backward  ? s->backward
          : t->peak == t->forward ? s->forward
                                  : last;
  return true;
}

int64_t step_peak(const struct step *step, int64_t most, struct arena *arena,
                  struct peak_line *line) {
  struct arena scratch;
  struct simulation s = {.most = most, .peaks_only = true, .skips = true};
  struct training training;
  arena_open_in(&scratch, arena);
  bool fits = step_measure(step, &scratch, &s, &training);
  arena_close(&scratch);
  *line = training.line;
  return fits ? training.peak : INT64_MAX;
}
