/* Settings: what `train`, `infer`, `budget` and the command line choose. */
#ifndef NETC_SEMA_SETTINGS_H
#define NETC_SEMA_SETTINGS_H

#include "layers/layer.h"
#include "layers/profile.h"

/* In the order of their words in settings.c, from 1. */
enum element {
  ELEMENT_F64 = 1,
  ELEMENT_F32,
  ELEMENT_TF32,
  ELEMENT_F16,
  ELEMENT_BF16,
  ELEMENT_FP8,
  ELEMENT_I8,
  ELEMENT_I4,
};

enum optimizer {
  OPTIMIZER_NONE,
#define OPTIMIZER(id, ...) OPTIMIZER_##id,
#include "sema/optimizers.def"
#undef OPTIMIZER
};

enum precision { PRECISION_FULL = 1, PRECISION_MIXED };
enum loss { LOSS_NONE = 1, LOSS_SUM, LOSS_CROSSENTROPY, LOSS_MSE, LOSS_BCE };
enum rule_kind { RULE_OPTIMIZER = 1, RULE_X3 };
enum pipeline_schedule { PIPELINE_PIPEDREAM = 1, PIPELINE_GPIPE };
enum toggle { TOGGLE_ON = 1, TOGGLE_OFF };

enum { CHECKPOINT_AUTO = -1 };

struct train_settings {
  int64_t batch;
  int64_t accumulate; /* batches whose gradients are summed before a step */
  int64_t checkpoint; /* segments; 0: none but the source's; or AUTO */
  int64_t memory;     /* bytes of the device; 0: not asked */
  int gpu;            /* a row of gpus; 0: not asked */
  int64_t data_parallel, zero, tensor_parallel, pipeline, microbatches;
  int pipeline_schedule;
  int optimizer, dtype, precision, loss, rule, in_place, profile;
  int64_t misc; /* bytes; -1: the input batch */
};

struct infer_settings {
  int64_t batch;
  int dtype, fold;
  int64_t align;  /* bytes, of every buffer in the arena */
  int64_t decode; /* positions that are kept for attention; 0: none */
};

/* Promises; 0: none. */
struct budget {
  int64_t params, macs, infer, train, arena;
};

struct settings {
  struct train_settings train;
  struct infer_settings infer;
  struct budget budget;
  struct span budget_spans[5]; /* by row of budget_specs */
  bool trains;                 /* the source or the user spoke of training */
};

extern const struct arg_spec train_specs[];
extern const struct arg_spec infer_specs[];
extern const struct arg_spec budget_specs[];

/* The defaults. */
void settings_open(struct settings *settings);

/* The words of an option's value: "momentum". */
struct slice optimizer_name(int optimizer);
struct slice loss_name(int loss);

/* Bytes of a device: nvidia-smi's memory.total. */
int64_t gpu_bytes(int gpu);

/* Bits of a value: 4 for i4. tf32 is stored in 32. */
int element_bits(int element);

/* Bytes of `count` values; false if they pass 2^63 - 1. */
bool element_bytes(int element, int64_t count, int64_t *bytes);

/* Values of state for each parameter by the rule of thumb. */
int optimizer_values(int optimizer);

/* Bits of each of them; 0: as many as the parameter has. */
int optimizer_value_bits(int optimizer);

#endif
