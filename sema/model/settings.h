/* Settings: choices of `train`, `infer`, `budget` and the command line. */
#ifndef NETC_SEMA_MODEL_SETTINGS_H
#define NETC_SEMA_MODEL_SETTINGS_H

#include "layers/layer.h"
#include "layers/tape/profile.h"

/* Types of values, from 1: indices into the words of a setting. */
enum element {
  ELEMENT_NONE,
#define ELEMENT(constant, ...) ELEMENT_##constant,
#include "sema/model/elements.def"
  ELEMENT_END
};

/* Their words, each after a blank. */
extern const char element_words[];
#define ELEMENT_WORDS (&element_words[1])

enum optimizer {
  OPTIMIZER_NONE,
#define OPTIMIZER(id, ...) OPTIMIZER_##id,
#include "sema/model/optimizers.def"
#undef OPTIMIZER
};

/* Other choices: a list makes the enum, from 1, and the words of a setting. */
#define PRECISIONS(choice)                                        \
  choice(PRECISION_FULL, "full") choice(PRECISION_MIXED, "mixed") \
      choice(PRECISION_MASTER, "master")
#define UPDATES(choice)                                         \
  choice(UPDATE_FOREACH, "foreach") choice(UPDATE_LOOP, "loop") \
      choice(UPDATE_FUSED, "fused") choice(UPDATE_BACKWARD, "backward")
#define CLIPS(choice)                                           \
  choice(CLIP_OFF, "off") choice(CLIP_ON, "on")                 \
      choice(CLIP_FOREACH, "foreach") choice(CLIP_LOOP, "loop") \
          choice(CLIP_FUSED, "fused") choice(CLIP_DOUBLE, "double")
#define LOSSES(choice)                                                  \
  choice(LOSS_NONE, "none") choice(LOSS_SUM, "sum")                     \
      choice(LOSS_CROSSENTROPY, "crossentropy") choice(LOSS_MSE, "mse") \
          choice(LOSS_BCE, "bce")                                       \
              choice(LOSS_FUSED_CROSSENTROPY, "fused_crossentropy")     \
                  choice(LOSS_FOCAL, "focal")                           \
                      choice(LOSS_SMOOTH_L1, "smooth_l1")               \
                          choice(LOSS_DICE, "dice")
#define LOSS_DTYPES(choice)                                     \
  choice(LOSS_DTYPE_F32, "f32") choice(LOSS_DTYPE_SAME, "same") \
      choice(LOSS_DTYPE_REGISTERS, "registers")                 \
          choice(LOSS_DTYPE_INPLACE, "inplace")                 \
              choice(LOSS_DTYPE_OVERWRITTEN, "overwritten")     \
                  choice(LOSS_DTYPE_SHIFTED, "shifted")
#define RULES(choice) choice(RULE_OPTIMIZER, "optimizer") choice(RULE_X3, "x3")
#define PIPELINES(choice)                                                 \
  choice(PIPELINE_PIPEDREAM, "pipedream") choice(PIPELINE_GPIPE, "gpipe") \
      choice(PIPELINE_ZB_H1, "zb_h1") choice(PIPELINE_ZB_H2, "zb_h2")     \
          choice(PIPELINE_ZB_V, "zb_v")
#define CUTS(choice)                                    \
  choice(CUT_LAYERS, "layers") choice(CUT_MACS, "macs") \
      choice(CUT_MEMORY, "memory")
#define SAVED(choice) \
  choice(SAVED_I8, "i8") choice(SAVED_I4, "i4") choice(SAVED_I2, "i2")
/* In the order of enum tape_norms. */
#define NORMS " plain fused efficient float"
/* In the order of enum tape_glu. */
#define GLUS " plain fused"
/* In the order of enum tape_experts. */
#define EXPERT_KERNELS " one_by_one grouped deepep"
/* In the order of enum tape_attention. */
#define ATTENTION_KERNELS " fused naive eager"
#define UNITS(choice) choice(UNIT_BLOCK, "block") choice(UNIT_LAYER, "layer")
/* The index of a word has a bit for each of the three. */
#define OFFLOADS(choice)                                           \
  choice(OFFLOAD_OPTIMIZER, "optimizer")                           \
      choice(OFFLOAD_PARAMETERS, "parameters")                     \
          choice(OFFLOAD_OP, "optimizer_parameters")               \
              choice(OFFLOAD_ACTIVATIONS, "activations")           \
                  choice(OFFLOAD_OA, "optimizer_activations")      \
                      choice(OFFLOAD_PA, "parameters_activations") \
                          choice(OFFLOAD_ALL, "all")               \
                              choice(OFFLOAD_OFF, "none")
#define SCORES(choice) choice(SCORES_ALL, "all") choice(SCORES_LAST, "last")
#define FITS(choice) \
  choice(FITS_TRAINING, "training") choice(FITS_PREDICTION, "prediction")
#define PATCHES(choice) choice(PATCHES_AUTO, "auto") choice(PATCHES_OFF, "off")
#define TOGGLES(choice) choice(TOGGLE_ON, "on") choice(TOGGLE_OFF, "off")

#define CHOICE_CONSTANT(constant, word) constant,
#define CHOICE_WORD(constant, word) " " word

enum update { UPDATE_UNSET, UPDATES(CHOICE_CONSTANT) };
enum clip { CLIP_UNSET, CLIPS(CHOICE_CONSTANT) };
enum precision { PRECISION_UNSET, PRECISIONS(CHOICE_CONSTANT) };
enum loss {
  LOSS_UNSET,
  LOSSES(CHOICE_CONSTANT) LOSS_LIST /* one for each output */
};
enum loss_type { LOSS_DTYPE_UNSET, LOSS_DTYPES(CHOICE_CONSTANT) };
enum rule_kind { RULE_UNSET, RULES(CHOICE_CONSTANT) };
enum pipeline_schedule { PIPELINE_UNSET, PIPELINES(CHOICE_CONSTANT) };
enum cut_rule {
  CUT_UNSET,
  CUTS(CHOICE_CONSTANT) CUT_TURNS /* a list */
};
enum saved_type { SAVED_AS_IS, SAVED(CHOICE_CONSTANT) };
enum gathered_unit { UNIT_UNSET, UNITS(CHOICE_CONSTANT) };
enum offload { OFFLOAD_NONE, OFFLOADS(CHOICE_CONSTANT) };
enum scored_positions { SCORES_UNSET, SCORES(CHOICE_CONSTANT) };
enum budget_fits { FITS_UNASKED, FITS(CHOICE_CONSTANT) };
enum toggle { TOGGLE_UNSET, TOGGLES(CHOICE_CONSTANT) };
enum patches { PATCHES_UNSET, PATCHES(CHOICE_CONSTANT) };

enum { STEP_LLAMA_CPP = 1 };
enum { BUCKET_VIEW = -1 };
enum { SPLIT_OFF = 1, SPLIT_LIST };
enum { FLASH_ON = -1, FLASH_OFF = -2 }; /* else bytes */
enum { GPU_LAYERS_AUTO = -1, GPU_LAYERS_ALL = -2, GPU_LAYERS_OFF = -3 };
enum { EXPERTS_ALL = -1 };
enum { SETTING_ONE = 1000000 }; /* a decimal setting of 1 */

enum {
  CHECKPOINT_AUTO = -1,
  CHECKPOINT_SELECTIVE = -2,
  CHECKPOINT_BLOCKS = -3,
  CHECKPOINT_OPS = -4 /* blocks, in which some operations' results are kept */
};

#define SETTING_INT int64_t
#define SETTING_DECIMAL int64_t /* of SETTING_ONE parts */
#define SETTING_CHOICE int      /* index of its word, from 1; 0: not chosen */

/* Repeating blocks in each part of a pipeline: "4,4,8". */
struct turn_list {
  struct slice text;
  int64_t count;
  const int64_t *at; /* each at most LIMIT_LAYERS */
};

/*
 * The cards among which tensor_split= divides the layers, each with its share
 * in millionths and its number as a device: "3,2", "rtx4090,rtx3060:0.5". At
 * most as many as llama.cpp's GGML_CUDA_MAX_DEVICES.
 */
enum { MOST_CARDS = 16 };
struct split_list {
  struct slice text;
  int count;
  struct split_card {
    int gpu;       /* 0: the one of gpu= or memory= */
    int64_t share; /* 0: by the memory of the cards */
  } at[MOST_CARDS];
};

/* The losses of the outputs, in their order: "smooth_l1 focal". */
struct loss_list {
  struct slice text;
  int count;
  const int *at; /* each an enum loss */
};

/*
 * memory and gpu: 0 if no device is named; checkpoint: 0 for only the source's,
 * or CHECKPOINT_*; misc: -1 for the input batch. `own`: devices that a user
 * added to the table; or NULL. `turns`: for CUT_TURNS. `split`: for SPLIT_LIST.
 * `losses`: for LOSS_LIST.
 */
struct gpus;
struct train_settings {
  const struct gpus *own;
  const struct turn_list *turns;
  const struct split_list *split;
  const struct loss_list *losses;
#define TRAIN(type, name, ...) SETTING_##type name;
#include "sema/model/settings.def"
};

struct weights_list;
struct infer_settings {
  const struct weights_list *weights; /* parts in other types; NULL: none */
#define INFER(type, name, ...) SETTING_##type name;
#include "sema/model/settings.def"
};

/* Limits that the net must keep; 0: none. */
struct budget {
#define BUDGET(type, name, ...) SETTING_##type name;
#include "sema/model/settings.def"
};

enum {
  TRAIN_COUNT = 0
#define TRAIN(...) +1
#include "sema/model/settings.def"
};

enum {
  INFER_COUNT = 0
#define INFER(...) +1
#include "sema/model/settings.def"
};

enum {
  BUDGET_COUNT = 0
#define BUDGET(...) +1
#include "sema/model/settings.def"
};

struct settings {
  struct train_settings train;
  struct infer_settings infer;
  struct budget budget;
  /* The last place of each, by row of its specs; end 0: not given. */
  struct span train_spans[TRAIN_COUNT], infer_spans[INFER_COUNT];
  struct span budget_spans[BUDGET_COUNT];
  uint64_t budget_given; /* rows of budget_specs, as bits */
  bool trains;           /* the source or the user mentions training */
};

extern const struct arg_spec train_specs[];
extern const size_t train_spec_count;
extern const struct arg_spec infer_specs[];
extern const struct arg_spec budget_specs[];

/* Sets the defaults. */
void settings_open(struct settings *settings);

/* "f32", "float32" */
const char *element_word(int element);
const char *element_long_name(int element);

/* The word of an option's value: "momentum". */
const char *optimizer_word(int optimizer);
/* "SGD with momentum" */
const char *optimizer_title(int optimizer);
struct slice loss_name(int loss);

/* The loss of an output, by its index. */
int loss_of_output(const struct train_settings *train, size_t output);

/* True if an output has that loss. */
bool has_loss(const struct train_settings *train, int loss);

/* ", mixed precision"; or empty. */
const char *precision_remark(int precision);

/* True if the setting's words are devices, to which a user may add. */
bool settings_is_gpu(const struct arg_spec *spec);

/* True if the setting's words are boards, whose chips are names, too. */
bool settings_is_board(const struct arg_spec *spec);

/* True if the setting's words are types of weights. */
bool settings_is_weights(const struct arg_spec *spec);
bool settings_is_loss(const struct arg_spec *spec);

/* True if lists of numbers, or of cards, are allowed besides the words. */
bool settings_is_cut(const struct arg_spec *spec);
bool settings_is_split(const struct arg_spec *spec);
bool settings_takes_list(const struct arg_spec *spec);

/* True if the value is a list, which a source quotes: "4,4,8", "nvfp4 head". */
bool settings_is_list(const struct arg_spec *spec, struct slice word);

/* The setting that replaces an old name, or the name itself. */
struct slice settings_now(struct slice name);

/* True if the name is now a part of the value of `whole`: TRAIN_OLD. */
bool settings_is_part(const struct arg_spec *spec,
                      const struct arg_spec *whole);

/* True if a setting or a part of it, by the rows of its section, differs. */
bool settings_differ(const struct arg_spec *specs, const struct arg_spec *spec,
                     const void *a, const void *b);

/* Appends the value of a setting with parts: "layer no_reshard". */
void settings_put_parts(struct text *out, const struct arg_spec *specs,
                        const struct arg_spec *spec, const void *section);

/* The word of a choice of `train` or `infer`, including a user's device; or the
 * list. */
struct slice settings_choice(const struct settings *settings,
                             const struct arg_spec *spec, int index);

/* "nvfp4", or the list "nvfp4 head"; empty: that of the other values. */
struct slice settings_weights(const struct infer_settings *infer);

/* Devices of a host, if there are as many. */
static inline int64_t devices_of_host(const struct train_settings *train) {
  return train->host_devices ? train->host_devices : 8;
}

/* Tensor-parallel devices of an expert. */
static inline int64_t experts_tensor(const struct train_settings *train) {
  return train->expert_tensor_parallel ? train->expert_tensor_parallel
                                       : train->tensor_parallel;
}

/* True if a device has other experts than its data-parallel copies of layers.
 */
static inline bool experts_apart(const struct train_settings *train) {
  return train->expert_parallel > 1 ||
         experts_tensor(train) != train->tensor_parallel;
}

/* The type in which gradients of parameters are summed. */
static inline int gradient_element(const struct train_settings *train) {
  return train->gradient_dtype ? train->gradient_dtype : train->dtype;
}

/* Bits of a value: 4 for i4. tf32 is stored in 32. */
int element_bits(int element);

/* Bytes of `count` values; false if they pass 2^63 - 1. */
bool element_bytes(int element, int64_t count, int64_t *bytes);

static inline bool element_is_integer(int element) {
  return element == ELEMENT_I8 || element == ELEMENT_I4;
}

/* Types of keys and of values in the KV cache; above ELEMENT_END: blocks. */
static inline int cache_type(const struct infer_settings *infer) {
  return infer->cache ? infer->cache : infer->dtype;
}
static inline int cache_type_v(const struct infer_settings *infer) {
  return infer->cache_v ? infer->cache_v : cache_type(infer);
}
const char *cache_word(int type);

/* NULL: the type has no blocks. */
struct block_type;
const struct block_type *cache_blocks(int type);

/* KV cache bytes of `keys` and `values`; false if they pass 2^63 - 1. */
bool cache_bytes(const struct infer_settings *infer, int64_t keys,
                 int64_t values, int64_t *bytes);

/* Bits of a value saved for backward; 0: its own type. */
static inline int saved_bits(const struct train_settings *train) {
  return train->saved_dtype ? 16 >> train->saved_dtype : 0;
}

/* Number of parts per pipeline stage. */
static inline int64_t stage_parts(const struct train_settings *train) {
  return train->schedule == PIPELINE_ZB_V && train->pipeline > 1
             ? 2
             : train->virtual_stages;
}

/* State values per parameter by the rule of thumb. */
int optimizer_values(int optimizer);

/* Bytes of the sampler per logit, besides the logits. */
int sampler_bytes(const struct settings *settings);

/* Bits of each of them; 0: those of the parameter. */
int optimizer_value_bits(int optimizer);

#endif
