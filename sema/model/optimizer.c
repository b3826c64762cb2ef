/*
 * Optimizers: state per parameter, and memory of a step.
 *
 * Sources: torch/optim/ of PyTorch 1.13, measured, and of PyTorch since 2.1,
 * read: test_peak_memory_foreach of its test/test_optim.py agrees. No weight
 * decay except AdamW's. Lion from arXiv 2302.06675; Adafactor without first
 * moment from arXiv 1804.04235, as in transformers/optimization.py; 8-bit Adam
 * from bitsandbytes; Adam with 16-bit moments from NVIDIA/TransformerEngine,
 * transformer_engine/pytorch/optimizers/fused_adam.py: exp_avg_dtype and
 * exp_avg_sq_dtype, which Megatron-LM sets (--use-precision-aware-optimizer).
 */
#include "sema/model/optimizer.h"

#include "base/check.h"

/* In values, unless bytes are stated. */
struct optimizer_facts {
  int whole;      /* state tensors as large as the parameter */
  bool factored;  /* or a 32-bit row and column of it */
  bool quantized; /* or two byte tensors, with a maximum per block */
  int halves;     /* or 16-bit tensors with a 32-bit scale each, which a step
                     widens, all at once: get_unscaled_state() */
  int scalars;    /* 32-bit numbers per tensor: the step count, which foreach
                     optimizers keep in CPU memory */
  int loop;       /* workspace per tensor, in sizes of the largest */
  int previous;   /* and of the previous tensor, which is still in use */
  int numbers;    /* bytes of additional single numbers */
  int foreach;    /* workspace for all tensors, in their total size */
  int largest;    /* and in sizes of the largest */
};

static const struct optimizer_facts facts[] = {
#define OPTIMIZER(id, word, title, values, bits, ...) \
  [OPTIMIZER_##id] = {__VA_ARGS__},
#include "sema/model/optimizers.def"
#undef OPTIMIZER
};

enum {
  ADAM8BIT_SMALL = 4096, /* smaller tensors keep two 32-bit values */
  ADAM8BIT_BLOCK = 256,  /* values that share a 32-bit maximum */
  ADAM8BIT_MAPS = 2048,  /* bytes of the two code tables */
};

/* State of a parameter is computed tensor by tensor. */
struct optimizer_state {
  struct optimizer_cost *cost;
  const struct profile *profile;
  int update;     /* enum update */
  bool flat;      /* a flat copy is stepped */
  int64_t params; /* equal parameters in a row, as experts' */
};

static bool add_tensors(const struct optimizer_state *s, int64_t times,
                        int64_t values, int64_t width) {
  int64_t bytes;
  times *= s->params; /* fewer than bytes of memory */
  return mul_i64(values, width, &bytes) &&
         add_product_i64(bytes, times, &s->cost->state) &&
         add_product_i64(s->flat ? 0 : allocation_rest(s->profile, bytes),
                         times, &s->cost->rounding);
}

/* Rows and columns of the last two axes; vectors keep all values. */
static bool add_factored(const struct optimizer_state *s,
                         const struct model_param *param) {
  const struct shape *matrix = param->matrix;
  if (!matrix)
    return add_tensors(s, 1, param->count, 4);
  return add_tensors(s, 1, param->count / matrix->dim[0], 4) &&
         add_tensors(s, 1, param->count / matrix->dim[1], 4);
}

static bool add_quantized(const struct optimizer_state *s,
                          const struct model_param *param) {
  if (param->count < ADAM8BIT_SMALL)
    return add_tensors(s, 2, param->count, 4);
  return add_tensors(s, 2, param->count, 1) &&
         add_tensors(s, 2, ceil_div_i64(param->count, ADAM8BIT_BLOCK), 4);
}

/* The scales are no tensors of a flat copy. */
static bool add_halves(const struct optimizer_state *s, int halves,
                       int64_t values) {
  return add_tensors(s, halves, values, 2) &&
         add_tensors(s, s->flat ? 0 : halves, 1, 4);
}

/* Single numbers are not rounded. */
static bool add_state(const struct optimizer_state *s,
                      const struct optimizer_facts *f,
                      const struct model_param *param, int64_t bytes) {
  if (f->factored)
    return add_factored(s, param);
  if (f->quantized)
    return add_quantized(s, param);
  if (f->halves)
    return add_halves(s, f->halves, param->count);
  /* Fused kernels have the step count on the device: torch/optim/. */
  if (s->update == UPDATE_FUSED)
    return add_tensors(s, f->whole, bytes, 1) &&
           add_tensors(s, s->flat ? 0 : f->scalars, 1, 4);
  int scalars = s->update == UPDATE_FOREACH ? 0 : f->scalars;
  return add_tensors(s, f->whole, bytes, 1) &&
         add_product_i64(4 * s->params, scalars, &s->cost->state);
}

/* Sums over the parameters of a step. */
struct sizes_seen {
  int64_t all, largest, previous, loop;
  int64_t tensors, values; /* of the largest tensor */
};

static bool see(struct sizes_seen *seen, const struct optimizer_facts *f,
                int64_t bytes, int64_t params) {
  int64_t loop;
  if (params > 1) /* after the first, each follows one of its size */
    seen->previous = max_i64(seen->previous, bytes);
  if (!mul_i64(bytes, f->loop, &loop) ||
      !add_product_i64(seen->previous, f->previous, &loop) ||
      !add_product_i64(bytes, params, &seen->all))
    return false;
  seen->loop = max_i64(seen->loop, loop);
  seen->largest = max_i64(seen->largest, bytes);
  seen->previous = bytes;
  return true;
}

/* The update method of the settings or profile. A copy is stepped at once. */
static int update_of(const struct train_settings *train) {
  if (train->update && train->update != UPDATE_BACKWARD)
    return train->update;
  if (train->precision == PRECISION_MASTER)
    return UPDATE_FUSED;
  return profile_at(train->profile)->foreach_optimizer ? UPDATE_FOREACH
                                                       : UPDATE_LOOP;
}

/* State in 32 bits, of parameters that have `bytes` as they are stepped. */
static bool widened(const struct train_settings *train, int64_t bytes,
                    int tensors, int64_t *workspace) {
  bool master = train->precision == PRECISION_MASTER;
  int64_t width = master ? 4 : max_i64(element_bits(train->dtype) / 8, 1);
  return mul_i64(bytes / width, 4 * (int64_t)tensors, workspace);
}

/* Finds copies of gradients, and the kernels' workspace. */
static bool find_workspace(const struct train_settings *train, int update,
                           const struct sizes_seen *seen,
                           const struct optimizer_facts *f,
                           struct optimizer_cost *cost) {
  int64_t copied = 0;
  if (train->precision == PRECISION_MASTER &&
      element_bits(gradient_element(train)) != 32)
    copied = cost->master;
  if (f->halves)
    return widened(train, seen->all, f->halves, &cost->workspace) &&
           add_i64(cost->workspace, copied, &cost->workspace);
  switch (update) {
  case UPDATE_FUSED: cost->workspace = 0; break;
  case UPDATE_LOOP:
    cost->workspace = seen->loop;
    if (!add_i64(cost->workspace, seen->all ? f->numbers : 0, &cost->workspace))
      return false;
    break;
  default:
    if (!mul_i64(seen->all, f->foreach, &cost->workspace))
      return false;
  }
  return (update == UPDATE_LOOP ||
          add_product_i64(seen->largest, f->largest, &cost->workspace)) &&
         add_i64(cost->workspace, copied, &cost->workspace);
}

enum {
  CLIP_CHUNK = 65536, /* values that a thread block sums */
  CLIP_SUMS = 320,    /* sums over all thread blocks */
  CLIP_NUMBERS = 4,   /* the norm, and values derived from it */
};

static int clip_of(const struct train_settings *train) {
  if (train->clip != CLIP_ON)
    return train->clip;
  if (train->precision == PRECISION_MASTER)
    return CLIP_FUSED;
  return profile_at(train->profile)->foreach_optimizer ? CLIP_FOREACH
                                                       : CLIP_LOOP;
}

/* Adds `count` tensors of `values` values of `width` bytes. */
static bool add_sums(const struct profile *profile, int64_t count,
                     int64_t values, int64_t width, int64_t *bytes) {
  int64_t each;
  return mul_i64(values, width, &each) &&
         add_i64(each, allocation_rest(profile, each), &each) &&
         add_product_i64(each, count, bytes);
}

/*
 * clip_grad_norm_: a norm per tensor, a row of them, and a few numbers;
 * gradients are scaled in place. loop: measured on torch/nn/utils/clip_grad.py
 * of PyTorch 1.13. foreach: sums per chunk of each tensor, as many as the
 * largest has: ATen/native/cuda/ForeachReduceOp.cu. fused:
 * multi_tensor_l2norm_cuda of apex's csrc/multi_tensor_l2norm_kernel.cu.
 * double: get_grad_norm_direct() of DeepSpeed's runtime/zero/stage_1_and_2.py.
 */
static bool find_sums(const struct train_settings *train,
                      const struct sizes_seen *seen, int64_t sharing,
                      struct clipping *clip) {
  const struct profile *profile = profile_at(train->profile);
  int64_t width = max_i64(element_bits(gradient_element(train)) / 8, 1);
  int64_t numbers = 0, chunks;
  *clip = (struct clipping){.how = clip_of(train), .tensors = seen->tensors};
  if (clip->how == CLIP_OFF || seen->tensors == 0)
    return true;
  clip->largest = ceil_div_i64(seen->values, max_i64(sharing, 1));
  clip->chunks = ceil_div_i64(clip->largest, CLIP_CHUNK);
  switch (clip->how) {
  case CLIP_FOREACH:
    return mul_i64(clip->chunks, clip->tensors, &chunks) &&
           add_sums(profile, clip->tensors + 1, 1, width, &clip->bytes) &&
           add_sums(profile, 1, CLIP_SUMS, 4, &clip->bytes) &&
           add_sums(profile, 1, chunks, 4, &clip->bytes);
  case CLIP_FUSED:
    return add_sums(profile, 1, CLIP_SUMS, 4, &clip->bytes) &&
           add_sums(profile, 1, 1, 4, &clip->bytes);
  case CLIP_DOUBLE:
    return add_sums(profile, clip->tensors, 1, 8, &clip->bytes) &&
           add_sums(profile, 1, clip->largest, 8, &clip->bytes);
  default:
    if (!add_sums(profile, clip->tensors, 1, width, &clip->bytes) ||
        !add_sums(profile, 1, clip->tensors, width, &clip->bytes) ||
        !add_sums(profile, CLIP_NUMBERS, 1, width, &numbers))
      return false;
    clip->bytes = max_i64(clip->bytes, numbers);
    return true;
  }
}

/* With a 32-bit copy, the clipped gradients have 32 bits, too. */
static bool find_clip(const struct train_settings *train,
                      const struct sizes_seen *seen, int64_t sharing,
                      struct optimizer_cost *cost) {
  if (!find_sums(train, seen, sharing, &cost->clip))
    return false;
  if (cost->clip.bytes == 0 || train->precision != PRECISION_MASTER ||
      element_bits(gradient_element(train)) == 32)
    return true;
  cost->clip.copied = ceil_div_i64(cost->master, max_i64(sharing, 1));
  return add_i64(cost->clip.bytes, cost->clip.copied, &cost->clip.bytes);
}

static bool is_meant(const struct param_range *range, size_t index,
                     const struct model_param *param) {
  bool repeated = param->shared && param->same >= range->first;
  return !param->buffer && !param->fixed && !repeated &&
         (!range->only || range->only[index]);
}

static bool is_like(const struct model_param *a, const struct model_param *b) {
  return a->count == b->count && a->rank == b->rank &&
         a->element == b->element &&
         (a->matrix == b->matrix ||
          (a->matrix && b->matrix && shape_equal(a->matrix, b->matrix)));
}

static struct optimizer_state state_of(const struct train_settings *train,
                                       struct optimizer_cost *cost) {
  return (struct optimizer_state){cost, profile_at(train->profile),
                                  update_of(train),
                                  train->precision == PRECISION_MASTER, 1};
}

/* The part of a parameter on one of several devices. */
static struct model_param own_param(const struct model *model,
                                    const struct param_range *range,
                                    size_t index) {
  struct model_param own = model->params.at[index];
  if (range->share)
    own.count = range->share[own.same];
  return own;
}

int64_t optimizer_alone(const struct train_settings *train, int64_t bytes) {
  const struct optimizer_facts *f = &facts[train->optimizer];
  struct optimizer_cost cost = {0};
  struct sizes_seen seen = {0};
  bool fits = see(&seen, f, bytes, 1) &&
              find_workspace(train, update_of(train), &seen, f, &cost);
  return fits ? cost.workspace : INT64_MAX;
}

/* Adds parameters like `param`; *bytes is the size of one as stepped. */
static bool add_params(const struct optimizer_state *s,
                       const struct optimizer_facts *f,
                       const struct train_settings *train,
                       const struct model_param *param, int64_t *bytes) {
  int element = param_element(param, train->dtype);
  bool copied = s->flat && element_bits(element) < 32;
  return element_bytes(s->flat ? ELEMENT_F32 : element, param->count, bytes) &&
         add_product_i64(copied ? *bytes : 0, s->params, &s->cost->master) &&
         add_state(s, f, param, *bytes);
}

static bool step_params(const struct optimizer_state *s,
                        const struct optimizer_facts *f,
                        const struct train_settings *train,
                        const struct model_param *param,
                        struct sizes_seen *seen) {
  int64_t bytes;
  seen->tensors += s->params;
  seen->values = max_i64(seen->values, param->count);
  return s->params == 0 || (add_params(s, f, train, param, &bytes) &&
                            see(seen, f, bytes, s->params));
}

bool optimizer_cost(const struct model *model, const struct param_range *range,
                    const struct train_settings *train,
                    struct optimizer_cost *cost) {
  const struct optimizer_facts *f = &facts[train->optimizer];
  struct sizes_seen seen = {0};
  struct optimizer_state state = state_of(train, cost);
  struct model_param last = {0};
  *cost = (struct optimizer_cost){.state = f->quantized ? ADAM8BIT_MAPS : 0};
  bool apart = range->only || range->share; /* each has its own size */
  state.params = 0;
  for (size_t i = range->first, alike; i < range->end; i += alike) {
    alike = apart ? 1 : model_params_alike(model, i, range->end);
    if (!is_meant(range, i, &model->params.at[i]))
      continue;
    struct model_param own = own_param(model, range, i);
    if (state.params && is_like(&last, &own)) {
      state.params += (int64_t)alike;
      continue;
    }
    if (!step_params(&state, f, train, &last, &seen))
      return false;
    last = own;
    state.params = (int64_t)alike;
  }
  return step_params(&state, f, train, &last, &seen) &&
         find_workspace(train, state.update, &seen, f, cost) &&
         find_clip(train, &seen, range->sharing, cost);
}

/* Sums for parts of a net */

struct optimizer_sums {
  struct optimizer_cost before; /* of all earlier parameters */
  int64_t all;                  /* the same, in bytes */
  size_t shared;                /* earlier parameters that are shared */
  int64_t bytes;                /* its own; 0: it is not stepped */
};

const struct optimizer_sums *optimizer_sums(const struct model *model,
                                            const struct param_range *range,
                                            const struct train_settings *train,
                                            struct arena *arena) {
  const struct optimizer_facts *f = &facts[train->optimizer];
  struct optimizer_sums *sums =
      arena_alloc(arena, range->end + 1, sizeof *sums);
  struct param_range none = {.first = SIZE_MAX, .only = range->only};
  for (size_t i = 0; i < range->end; i++) {
    struct model_param own = own_param(model, range, i);
    struct optimizer_sums *next = &sums[i + 1];
    *next = sums[i];
    next->shared += own.shared;
    struct optimizer_state state = state_of(train, &next->before);
    if (is_meant(&none, i, &own) &&
        (!add_params(&state, f, train, &own, &sums[i].bytes) ||
         !add_i64(next->all, sums[i].bytes, &next->all)))
      return NULL;
  }
  return sums;
}

bool optimizer_part(const struct optimizer_sums *sums, size_t first, size_t end,
                    const struct train_settings *train,
                    struct optimizer_cost *cost) {
  const struct optimizer_facts *f = &facts[train->optimizer];
  const struct optimizer_sums *from = &sums[first], *to = &sums[end];
  int update = update_of(train);
  struct sizes_seen seen = {.all = to->all - from->all};
  if (to->shared > from->shared || update == UPDATE_LOOP ||
      train->clip != CLIP_OFF)
    return false;
  *cost = (struct optimizer_cost){
      .state = to->before.state - from->before.state,
      .master = to->before.master - from->before.master,
      .rounding = to->before.rounding - from->before.rounding};
  for (size_t i = first; i < end; i++)
    seen.largest = max_i64(seen.largest, sums[i].bytes);
  return add_i64(cost->state, f->quantized ? ADAM8BIT_MAPS : 0, &cost->state) &&
         find_workspace(train, update, &seen, f, cost);
}
