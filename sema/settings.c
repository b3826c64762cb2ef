/* Settings: what `train`, `infer`, `budget` and the command line choose. */
#include "sema/settings.h"

#include "base/check.h"

#define ELEMENTS "f64 f32 tf32 f16 bf16 fp8 i8 i4"
/* A blank stands before each, the first one too. */
static const char optimizer_words[] =
#define OPTIMIZER(id, word, ...) " " word
#include "sema/optimizers.def"
#undef OPTIMIZER
    ;
#define OPTIMIZERS (optimizer_words + 1)

static const struct {
  int values, bits;
} optimizers[] = {
#define OPTIMIZER(id, word, values, bits, ...) \
  [OPTIMIZER_##id] = {values, bits},
#include "sema/optimizers.def"
#undef OPTIMIZER
};

/* As nvidia-smi prints memory.total, in MiB. */
static const struct {
  const char *name;
  int64_t mebibytes;
} gpus[] = {
    {"t4", 15360},      {"l4", 23034},      {"a10", 23028},
    {"v100", 16384},    {"v100-32", 32768}, {"a100-40", 40960},
    {"a100-80", 81920}, {"h100", 81559},    {"h200", 143771},
    {"rtx3060", 12288}, {"rtx3090", 24576}, {"rtx4090", 24564},
    {"rtx5090", 32607},
};
#define GPUS                                                          \
  "t4 l4 a10 v100 v100-32 a100-40 a100-80 h100 h200 rtx3060 rtx3090 " \
  "rtx4090 rtx5090"

#define LOSSES "none sum crossentropy mse bce"

#define KEY(arg, t, type_name, member, ...)                   \
  {                                                           \
    .name = arg, .type = t, .place = PLACE_KEY,               \
    .offset = offsetof(struct type_name, member), __VA_ARGS__ \
  }

const struct arg_spec train_specs[] = {
    KEY("batch", TYPE_INT, train_settings, batch, .min = 1, .initial = 1,
        .fallback = "1", .doc = "samples in a step"),
    KEY("optimizer", TYPE_CHOICE, train_settings, optimizer,
        .words = OPTIMIZERS, .initial = OPTIMIZER_MOMENTUM,
        .fallback = "momentum", .doc = "decides the state by parameter"),
    KEY("dtype", TYPE_CHOICE, train_settings, dtype, .words = ELEMENTS,
        .initial = ELEMENT_F32, .fallback = "f32",
        .doc = "type of parameters and activations"),
    KEY("precision", TYPE_CHOICE, train_settings, precision,
        .words = "full mixed", .initial = PRECISION_FULL, .fallback = "full",
        .doc = "mixed computes in 16 bits and keeps parameters in 32"),
    KEY("loss", TYPE_CHOICE, train_settings, loss, .words = LOSSES,
        .initial = LOSS_NONE, .fallback = "none",
        .doc = "computed on the output"),
    KEY("rule", TYPE_CHOICE, train_settings, rule, .words = "optimizer x3",
        .initial = RULE_OPTIMIZER, .fallback = "optimizer",
        .doc = "rule of thumb: copies of the parameters that are counted"),
    KEY("inplace", TYPE_CHOICE, train_settings, in_place, .words = "on off",
        .initial = TOGGLE_ON, .fallback = "on",
        .doc = "whether relu and its like overwrite their input"),
    KEY("profile", TYPE_CHOICE, train_settings, profile, .words = PROFILES,
        .initial = 1, .fallback = "torch2-cuda",
        .doc = "the framework whose memory is computed"),
    KEY("accumulate", TYPE_INT, train_settings, accumulate, .min = 1,
        .initial = 1, .fallback = "1",
        .doc = "batches whose gradients are summed before a step"),
    KEY("checkpoint", TYPE_INT, train_settings, checkpoint, .min = 1,
        .words = "auto", .fallback = "none",
        .doc = "segments that keep only their inputs, or as few as fit"),
    KEY("memory", TYPE_INT, train_settings, memory, .min = 1,
        .fallback = "not asked", .doc = "bytes of the device: does it fit?"),
    KEY("gpu", TYPE_CHOICE, train_settings, gpu, .words = GPUS,
        .fallback = "not asked", .doc = "the device, by its name"),
    KEY("data_parallel", TYPE_INT, train_settings, data_parallel, .min = 1,
        .max = 1 << 20, .initial = 1, .fallback = "1",
        .doc = "devices with a batch each"),
    KEY("zero", TYPE_INT, train_settings, zero, .min = 1, .max = 3,
        .fallback = "none",
        .doc = "ZeRO: these share optimizer, gradients, parameters"),
    KEY("tensor_parallel", TYPE_INT, train_settings, tensor_parallel, .min = 1,
        .max = 1 << 20, .initial = 1, .fallback = "1",
        .doc = "devices that share each layer with weights"),
    KEY("pipeline", TYPE_INT, train_settings, pipeline, .min = 1, .max = 10000,
        .initial = 1, .fallback = "1",
        .doc = "devices with a part of the layers each"),
    KEY("microbatches", TYPE_INT, train_settings, microbatches, .min = 1,
        .fallback = "the stages", .doc = "parts of the batch in a pipeline"),
    KEY("schedule", TYPE_CHOICE, train_settings, pipeline_schedule,
        .words = "pipedream gpipe", .initial = PIPELINE_PIPEDREAM,
        .fallback = "pipedream",
        .doc = "of the pipeline: PipeDream's one forward, one backward"),
    KEY("misc", TYPE_INT, train_settings, misc, .min = 0, .initial = -1,
        .fallback = "the batch", .doc = "rule of thumb: further bytes"),
    SPEC_END};

_Static_assert(sizeof train_specs / sizeof *train_specs <= LIMIT_SPECS + 1,
               "all settings may be given at once");

const struct arg_spec infer_specs[] = {
    KEY("batch", TYPE_INT, infer_settings, batch, .min = 1, .initial = 1,
        .fallback = "1", .doc = "samples at a time"),
    KEY("dtype", TYPE_CHOICE, infer_settings, dtype, .words = ELEMENTS,
        .initial = ELEMENT_F32, .fallback = "f32",
        .doc = "type of parameters and activations"),
    KEY("fold", TYPE_CHOICE, infer_settings, fold, .words = "on off",
        .initial = TOGGLE_ON, .fallback = "on",
        .doc = "whether bn becomes part of the weights before it"),
    KEY("align", TYPE_INT, infer_settings, align, .min = 1, .max = 1 << 20,
        .initial = 64, .fallback = "64", .doc = "bytes, of buffers"),
    KEY("decode", TYPE_INT, infer_settings, decode, .min = 1,
        .fallback = "none",
        .doc = "positions whose keys and values attention keeps"),
    SPEC_END};

const struct arg_spec budget_specs[] = {
    KEY("params", TYPE_INT, budget, params, .doc = "parameters"),
    KEY("macs", TYPE_INT, budget, macs, .doc = "MACs for one sample"),
    KEY("infer", TYPE_INT, budget, infer, .doc = "bytes at prediction"),
    KEY("train", TYPE_INT, budget, train, .doc = "bytes of a training step"),
    KEY("arena", TYPE_INT, budget, arena, .doc = "bytes of the arena"),
    SPEC_END};

static void set_defaults(void *section, const struct arg_spec *specs) {
  for (; specs->name; specs++) {
    void *at = (char *)section + specs->offset;
    if (specs->type == TYPE_INT)
      *(int64_t *)at = specs->initial;
    else
      *(int *)at = (int)specs->initial;
  }
}

void settings_open(struct settings *settings) {
  memset(settings, 0, sizeof *settings);
  set_defaults(&settings->train, train_specs);
  set_defaults(&settings->infer, infer_specs);
  set_defaults(&settings->budget, budget_specs);
}

int64_t gpu_bytes(int gpu) {
  return gpus[gpu - 1].mebibytes << 20;
}

struct slice optimizer_name(int optimizer) {
  return word_at(OPTIMIZERS, optimizer);
}

struct slice loss_name(int loss) {
  return word_at(LOSSES, loss);
}

int element_bits(int element) {
  switch (element) {
  case ELEMENT_F64: return 64;
  case ELEMENT_F16:
  case ELEMENT_BF16: return 16;
  case ELEMENT_FP8:
  case ELEMENT_I8: return 8;
  case ELEMENT_I4: return 4;
  default: return 32;
  }
}

bool element_bytes(int element, int64_t count, int64_t *bytes) {
  int64_t bits;
  if (!mul_i64(count, element_bits(element), &bits))
    return false;
  *bytes = ceil_div_i64(bits, 8);
  return true;
}

int optimizer_values(int optimizer) {
  return optimizers[optimizer].values;
}

int optimizer_value_bits(int optimizer) {
  return optimizers[optimizer].bits;
}
