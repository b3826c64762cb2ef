/* Time of inference: a lower bound for a batch. */
#include "memory/inference_time.h"

#include "base/check.h"
#include "memory/devices/time.h"
#include "memory/weight_format.h"
#include "sema/model/weight_block.h"

static double node_reads(const struct model *model, const struct node *node,
                         bool *seen, param_bytes_fn *bytes, const void *user) {
  double sum = 0;
  for (int i = 0; i < node->param_count; i++) {
    size_t root = model->params.at[node->first_param + (size_t)i].same;
    int64_t own;
    if (seen[root])
      continue;
    seen[root] = true;
    if (bytes(user, root, &own))
      sum += (double)own;
  }
  return node->copies > 1 ? sum * node->active / node->copies : sum;
}

double inference_reads(const struct model *model, param_bytes_fn *bytes,
                       const void *user) {
  struct arena scratch;
  double sum = 0;
  arena_open_in(&scratch, model->arena);
  bool *seen = arena_alloc(&scratch, model->params.count + 1, sizeof *seen);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    if (!node->train_only && model_cost(model, (int64_t)i)->macs)
      sum += node_reads(model, node, seen, bytes, user);
  }
  arena_close(&scratch);
  return sum;
}

double inference_rate(const struct gpu *gpu, int element) {
  int64_t rate = gpu_rate(gpu, element);
  int64_t half =
      max_i64(gpu_rate(gpu, ELEMENT_F16), gpu_rate(gpu, ELEMENT_BF16));
  int64_t single =
      max_i64(gpu_rate(gpu, ELEMENT_F32), gpu_rate(gpu, ELEMENT_TF32));
  if (element_bits(element) == 32)
    rate = single;
  else if (element_bits(element) <= 16 && (!rate || half > rate))
    rate = half ? half : single;
  return (double)rate * 1e9;
}

struct typed_params {
  const struct model *model;
  const struct infer_settings *infer;
  struct weight_roles roles;
};

static bool typed_bytes(const void *user, size_t index, int64_t *bytes) {
  const struct typed_params *t = user;
  const struct model_param *param = &t->model->params.at[index];
  *bytes = 0;
  if (param->buffer || param->part)
    return true;
  return weight_bytes(t->model, &t->roles, t->infer, index, bytes) &&
         (*bytes != WEIGHT_PLAIN ||
          weight_block_bytes(t->infer->dtype, param->count, 0, bytes));
}

bool inference_time_find(const struct model *model,
                         const struct settings *settings,
                         struct inference_time *time) {
  const struct infer_settings *infer = &settings->infer;
  const struct gpu *gpu = gpu_of(&settings->train);
  struct arena scratch;
  struct typed_params typed = {.model = model, .infer = infer};
  *time = (struct inference_time){0};
  if (!gpu)
    return false;
  double rate = inference_rate(gpu, infer->dtype);
  time->missing = !gpu->bandwidth ? "the bandwidth of its memory"
                  : rate <= 0     ? "its operations per second in that type"
                                  : NULL;
  if (!gpu->bandwidth)
    return true;
  arena_open_in(&scratch, model->arena);
  weight_roles_find(model, &scratch, &typed.roles);
  double bytes = inference_reads(model, typed_bytes, &typed) - CACHED;
  arena_close(&scratch);
  time->memory = bytes > 0 ? bytes / ((double)gpu->bandwidth * 1e9) : 0;
  if (rate > 0)
    time->products =
        2 * (double)model->predicted.macs * (double)infer->batch / rate;
  time->bound = time_rounded(time->products > time->memory ? time->products
                                                           : time->memory);
  return true;
}
