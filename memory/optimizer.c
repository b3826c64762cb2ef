/*
 * Optimizers: what they keep for each parameter, and what a step needs.
 *
 * Sources: torch/optim/ of PyTorch 1.13, measured, and of PyTorch since 2.1,
 * read: test_peak_memory_foreach of its test/test_optim.py says the same; no
 * weight decay but AdamW's. Lion from arXiv 2302.06675; Adafactor without first
 * moment from arXiv 1804.04235 as transformers/optimization.py has it; 8-bit
 * Adam from bitsandbytes.
 */
#include "memory/optimizer.h"

#include "base/check.h"

/* In values, unless it says bytes. */
struct optimizer_facts {
  int state;
  int scalars;  /* of 32 bits for each tensor: the number of steps, which
                   foreach optimizers leave in the processor's memory */
  int loop;     /* workspace tensor by tensor, in sizes of the largest */
  int previous; /* and of the tensor before, whose result is still named */
  int numbers;  /* bytes of single numbers beside them */
  int foreach;  /* workspace for all tensors at once, in sizes of them all */
  int largest;  /* and in sizes of the largest */
};

static const struct optimizer_facts facts[] = {
    [OPTIMIZER_SGD] = {0},
    [OPTIMIZER_MOMENTUM] = {.state = 1},
    [OPTIMIZER_NESTEROV] = {.state = 1, .loop = 1},
    [OPTIMIZER_ADAGRAD] = {.state = 1, .scalars = 1, .loop = 1, .foreach = 2},
    [OPTIMIZER_RMSPROP] = {.state = 1, .loop = 1, .previous = 1, .foreach = 1},
    [OPTIMIZER_ADADELTA] = {.state = 2, .loop = 2, .foreach = 2},
    [OPTIMIZER_ADAM] = {.state = 2,
                        .scalars = 1,
                        .loop = 2,
                        .previous = 1,
                        .numbers = 12,
                        .foreach = 1},
    [OPTIMIZER_ADAMW] = {.state = 2,
                         .scalars = 1,
                         .loop = 2,
                         .previous = 1,
                         .numbers = 12,
                         .foreach = 1},
    [OPTIMIZER_ADAMAX] = {.state = 2, .scalars = 1, .loop = 3, .foreach = 1},
    [OPTIMIZER_LION] = {.state = 1, .loop = 1, .largest = 1},
    [OPTIMIZER_ADAFACTOR] = {.loop = 2, .largest = 2},
    [OPTIMIZER_ADAM8BIT] = {0},
};

enum {
  ADAM8BIT_SMALL = 4096, /* tensors below it keep two values of 32 bits */
  ADAM8BIT_BLOCK = 256,  /* values that share a maximum of 32 bits */
  ADAM8BIT_MAPS = 2048,  /* bytes of the two tables of codes */
};

/* Rows and columns of the last two axes; vectors keep every value. */
static bool adafactor_state(const struct model_param *param, int64_t *bytes) {
  int64_t values = param->count;
  if (param->rank > 1 && (!add_i64(param->count / param->rows,
                                   param->count / param->columns, &values)))
    return false;
  return mul_i64(values, 4, bytes);
}

static bool adam8bit_state(const struct model_param *param, int64_t *bytes) {
  int64_t blocks = ceil_div_i64(param->count, ADAM8BIT_BLOCK);
  if (param->count < ADAM8BIT_SMALL)
    return mul_i64(param->count, 8, bytes);
  return mul_i64(param->count, 2, bytes) && add_product_i64(blocks, 8, bytes);
}

static bool state_of(const struct model_param *param, int optimizer,
                     int element, const struct profile *profile,
                     int64_t *bytes) {
  const struct optimizer_facts *f = &facts[optimizer];
  int scalars = profile->foreach_optimizer ? 0 : f->scalars;
  if (optimizer == OPTIMIZER_ADAFACTOR)
    return adafactor_state(param, bytes);
  if (optimizer == OPTIMIZER_ADAM8BIT)
    return adam8bit_state(param, bytes);
  return element_bytes(element, param->count, bytes) &&
         mul_i64(*bytes, f->state, bytes) &&
         add_i64(*bytes, 4 * scalars, bytes);
}

/* Sums of a step over the parameters. */
struct sizes_seen {
  int64_t all, largest, previous, loop;
};

static bool see(struct sizes_seen *seen, const struct optimizer_facts *f,
                int64_t bytes) {
  int64_t loop;
  if (!mul_i64(bytes, f->loop, &loop) ||
      !add_product_i64(seen->previous, f->previous, &loop) ||
      !add_i64(seen->all, bytes, &seen->all))
    return false;
  seen->loop = max_i64(seen->loop, loop);
  seen->largest = max_i64(seen->largest, bytes);
  seen->previous = bytes;
  return true;
}

bool optimizer_cost(const struct model *model, const struct param_range *range,
                    int optimizer, int element, const struct profile *profile,
                    struct optimizer_cost *cost) {
  const struct optimizer_facts *f = &facts[optimizer];
  struct sizes_seen seen = {0};
  int64_t state, bytes;
  *cost = (struct optimizer_cost){0};
  if (optimizer == OPTIMIZER_ADAM8BIT)
    cost->state = ADAM8BIT_MAPS;
  for (size_t i = range->first; i < range->end; i++) {
    struct model_param share = model->params.at[i], *param = &share;
    bool repeated = param->shared && param->same >= range->first;
    if (param->buffer || param->fixed || repeated)
      continue;
    if (range->share)
      param->count = range->share[param->same];
    if (!state_of(param, optimizer, element, profile, &state) ||
        !add_i64(cost->state, state, &cost->state) ||
        !element_bytes(element, param->count, &bytes) || !see(&seen, f, bytes))
      return false;
  }
  cost->workspace = seen.loop;
  if (!profile->foreach_optimizer)
    return add_i64(cost->workspace, seen.all ? f->numbers : 0,
                   &cost->workspace);
  return mul_i64(seen.all, f->foreach, &cost->workspace) &&
         add_product_i64(seen.largest, f->largest, &cost->workspace);
}
