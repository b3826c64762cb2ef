/*
 * Runtime: chooses the program whose memory inference is computed for, sets
 * what it would set by itself, and finds the part of a device that it can use.
 */
#include "base/check.h"
#include "base/text.h"
#include "memory/serving/serving.h"
#include "sema/model/board.h"
#include "sema/model/given.h"
#include "sema/model/gpu.h"

/* vLLM's --gpu-memory-utilization. */
enum { USUAL_UTILIZATION = 900000 };

static void apply(const struct model *model, struct settings *settings);

static bool is_possible(const struct model *model,
                        const struct settings *settings) {
  struct text why = text_new(model->arena), help = why;
  return serving_possible(model, settings, &why, &help);
}

/* A trial with a runtime's settings; false if it would be refused. */
static bool try_runtime(const struct model *model,
                        const struct settings *settings, int runtime) {
  struct settings trial = *settings;
  trial.infer.runtime = runtime;
  apply(model, &trial);
  return is_possible(model, &trial);
}

static int choose(const struct model *model, const struct settings *settings) {
  const struct infer_settings *infer = &settings->infer;
  bool device = settings->train.gpu > 0;
  if (board_asked(settings))
    return RUNTIME_NETRT;
  if (infer->step == STEP_LLAMA_CPP || infer->tensor_split == SPLIT_LIST)
    return RUNTIME_LLAMA_CPP;
  if (infer->utilization)
    return RUNTIME_VLLM;
  int made_for = runtime_of_weights(infer->weight_dtype);
  if (made_for)
    return try_runtime(model, settings, made_for) ? made_for : RUNTIME_PYTORCH;
  if (infer->dtype == ELEMENT_I8 && !infer->weight_dtype && !device &&
      !serving_wanted(settings))
    return RUNTIME_NETRT;
  return RUNTIME_PYTORCH;
}

/*
 * Tokens of a step of vLLM's server: its max_num_batched_tokens
 * (get_batch_defaults() of vllm/engine/arg_utils.py).
 */
static int64_t batched_tokens(const struct settings *settings) {
  enum { LARGE = 70, FEW = 2048, MANY = 8192 };
  const struct gpu *gpu = gpu_of(&settings->train);
  int64_t bytes = gpu ? gpu_card_bytes(gpu) : settings->train.memory;
  bool large = bytes >> 30 >= LARGE;
  return large && !(gpu && strncmp(gpu->word, "a100", 4) == 0) ? MANY : FEW;
}

/* All that a runtime sets, unless the user has set it. */
static void apply(const struct model *model, struct settings *settings) {
  struct infer_settings *infer = &settings->infer;
  const struct train_settings *train = &settings->train;
  switch (infer->runtime) {
  case RUNTIME_LLAMA_CPP:
    infer->step = STEP_LLAMA_CPP;
    if (!infer->cache)
      infer->cache = ELEMENT_F16; /* --cache-type-k and -v */
    if (given_has_infer(settings, "gpu_layers") || infer->host_experts)
      return;
    infer->gpu_layers = GPU_LAYERS_ALL;
    if (!is_possible(model, settings)) /* it serves no sequence */
      infer->gpu_layers = GPU_LAYERS_OFF;
    return;
  case RUNTIME_VLLM:
    if (!infer->utilization && (train->gpu || train->memory) &&
        train->reserve < 0)
      infer->utilization = USUAL_UTILIZATION;
    if (!infer->prefill)
      infer->prefill = batched_tokens(settings);
    return;
  default: return;
  }
}

void runtime_settle(const struct model *model, struct settings *settings) {
  if (!settings->infer.runtime)
    settings->infer.runtime = choose(model, settings);
  apply(model, settings);
}

struct fit_device runtime_device(const struct settings *settings) {
  const struct train_settings *train = &settings->train;
  const struct infer_settings *infer = &settings->infer;
  struct fit_device d = fit_device(train, true);
  if (!d.bytes)
    return d;
  if (infer->utilization) {
    /* request_memory of vllm/v1/worker/utils.py */
    int64_t share = share_i64(d.bytes, infer->utilization, SETTING_ONE);
    d.taken = profile_at(train->profile)->beside;
    d.room = max_i64(share - d.taken, 1);
  } else if (infer->runtime == RUNTIME_NETRT) {
    d.taken = 0;
    d.room = d.bytes;
  } else if (infer->runtime == RUNTIME_LLAMA_CPP && train->reserve < 0) {
    d.room = max_i64(d.bytes - d.taken, 1); /* it allocates once, at start */
  }
  d.reserve = d.slack = max_i64(d.bytes - d.taken - d.room, 0);
  return d;
}

const struct gpu *serving_gpu(const struct settings *settings, int card) {
  const struct train_settings *train = &settings->train;
  bool listed = settings->infer.tensor_split == SPLIT_LIST &&
                train->split->at[card].gpu > 0;
  return listed ? gpu_at(train->own, train->split->at[card].gpu)
                : gpu_of(train);
}

struct fit_device serving_device(const struct settings *settings, int card) {
  struct settings of = *settings;
  if (settings->infer.tensor_split == SPLIT_LIST &&
      settings->train.split->at[card].gpu > 0) {
    of.train.gpu = settings->train.split->at[card].gpu;
    of.train.memory = 0;
  }
  return runtime_device(&of);
}
