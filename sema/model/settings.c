/* Settings: choices of `train`, `infer`, `budget` and the command line. */
#include "sema/model/settings.h"

#include <inttypes.h>

#include "base/check.h"
#include "sema/model/gpu.h"
#include "sema/model/recipe.h"
#include "sema/model/runtime.h"
#include "sema/model/weights.h"

static const char optimizer_words[] =
#define OPTIMIZER(id, word, ...) " " word
#include "sema/model/optimizers.def"
#undef OPTIMIZER
    ;

static const struct {
  const char *word, *title;
  int values, bits;
} optimizers[] = {
    {"", "", 0, 0},
#define OPTIMIZER(id, word, title, values, bits, ...) \
  {word, title, values, bits},
#include "sema/model/optimizers.def"
#undef OPTIMIZER
};

const char element_words[] =
#define ELEMENT(constant, word, ...) " " word
#include "sema/model/elements.def"
    ;

static const struct {
  int bits;
  const char *word, *long_name;
} elements[] = {
    {0, "", ""},
#define ELEMENT(constant, word, bits, long_name) {bits, word, long_name},
#include "sema/model/elements.def"
};

/* KV cache types: those of values, then blocks. */
static const char cache_words[] =
#define ELEMENT(constant, word, ...) " " word
#include "sema/model/elements.def"
#define KEPT(constant, word) " " word
#include "sema/model/elements.def"
    ;

static const struct {
  const char *word;
  enum blocks blocks;
} kept_types[] = {
#define KEPT(constant, word) {word, BLOCKS_##constant},
#include "sema/model/elements.def"
};

static const char gpu_words[] =
#define GPU(word, ...) " " word
#include "sema/model/gpus.def"
#undef GPU
    ;

static const char board_words[] =
#define BOARD(word, ...) " " word
#include "sema/model/boards.def"
    ;

static const char sampler_words[] =
#define SAMPLER(word, ...) " " word
#include "sema/model/samplers.def"
#undef SAMPLER
    ;

static const struct {
  int bytes, wide, sorted;
} samplers[] = {
    {0, 0, 0},
#define SAMPLER(word, bytes, wide, sorted) {bytes, wide, sorted},
#include "sema/model/samplers.def"
#undef SAMPLER
};

static const char precision_words[] = PRECISIONS(CHOICE_WORD);
static const char update_words[] = UPDATES(CHOICE_WORD);
static const char clip_words[] = CLIPS(CHOICE_WORD);
static const char loss_words[] = LOSSES(CHOICE_WORD);
static const char loss_dtype_words[] = LOSS_DTYPES(CHOICE_WORD);
static const char rule_words[] = RULES(CHOICE_WORD) " misc:SIZE";
static const char pipeline_words[] = PIPELINES(CHOICE_WORD);
static const char cut_words[] = CUTS(CHOICE_WORD);
static const char saved_words[] = SAVED(CHOICE_WORD);
static const char unit_words[] = UNITS(CHOICE_WORD);
static const char offload_words[] = OFFLOADS(CHOICE_WORD);
static const char scores_words[] = SCORES(CHOICE_WORD);
static const char fits_words[] = FITS(CHOICE_WORD);
static const char split_words[] = "off";
static const char toggle_words[] = TOGGLES(CHOICE_WORD);
static const char patches_words[] = PATCHES(CHOICE_WORD);

/* Words without the leading blank. */
#define CACHE_WORDS (&cache_words[1])
#define RECIPE_WORDS (&recipe_words[1])
#define WEIGHTS_WORDS (&weights_words[1])
#define BASE_WORDS (&base_words[1])
#define PROFILE_WORDS (&profile_words[1])
#define GPU_WORDS (&gpu_words[1])
#define BOARD_WORDS (&board_words[1])
#define SAMPLER_WORDS (&sampler_words[1])
#define OPTIMIZER_WORDS (&optimizer_words[1])
#define PRECISION_WORDS (&precision_words[1])
#define UPDATE_WORDS (&update_words[1])
#define CLIP_WORDS (&clip_words[1])
#define LOSS_WORDS (&loss_words[1])
#define LOSS_DTYPE_WORDS (&loss_dtype_words[1])
#define RULE_WORDS (&rule_words[1])
#define PIPELINE_WORDS (&pipeline_words[1])
#define CUT_WORDS (&cut_words[1])
#define RUNTIME_WORDS (&runtime_words[1])
#define SAVED_WORDS (&saved_words[1])
#define NORM_WORDS (&NORMS[1])
#define GLU_WORDS (&GLUS[1])
#define EXPERT_WORDS (&EXPERT_KERNELS[1])
#define ATTENTION_WORDS (&ATTENTION_KERNELS[1])
#define UNIT_WORDS (&unit_words[1])
#define GATHER_WORDS \
  "block layer reshard no_reshard prefetch no_prefetch small:N flat"
#define OFFLOAD_WORDS (&offload_words[1])
#define PATCHES_WORDS (&patches_words[1])
#define SCORES_WORDS (&scores_words[1])
#define TOGGLE_WORDS (&toggle_words[1])
#define FITS_WORDS (&fits_words[1])

#define ROW(section, kind, member, ...)        \
  {.name = #member,                            \
   .type = TYPE_##kind,                        \
   .place = PLACE_KEY,                         \
   .offset = offsetof(struct section, member), \
   __VA_ARGS__},

const struct arg_spec train_specs[] = {
#define TRAIN(kind, name, ...) ROW(train_settings, kind, name, __VA_ARGS__)
#include "sema/model/settings.def"
    SPEC_END};

const struct arg_spec infer_specs[] = {
#define INFER(kind, name, ...) ROW(infer_settings, kind, name, __VA_ARGS__)
#include "sema/model/settings.def"
    SPEC_END};

const struct arg_spec budget_specs[] = {
#define BUDGET(kind, name, ...) ROW(budget, kind, name, __VA_ARGS__)
#include "sema/model/settings.def"
    SPEC_END};

const size_t train_spec_count = sizeof train_specs / sizeof *train_specs - 1;
_Static_assert(sizeof train_specs / sizeof *train_specs <= LIMIT_SPECS + 1,
               "all settings may be given at once");

static void set_defaults(void *section, const struct arg_spec *specs) {
  for (; specs->name; specs++) {
    void *at = (char *)section + specs->offset;
    if (arg_is_int64(specs))
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

bool settings_is_gpu(const struct arg_spec *spec) {
  return spec->words == GPU_WORDS;
}

bool settings_is_board(const struct arg_spec *spec) {
  return spec->words == BOARD_WORDS;
}

bool settings_is_cut(const struct arg_spec *spec) {
  return spec->words == CUT_WORDS;
}

bool settings_is_split(const struct arg_spec *spec) {
  return spec->words == split_words;
}

bool settings_is_weights(const struct arg_spec *spec) {
  return spec->words == WEIGHTS_WORDS || spec->words == BASE_WORDS;
}

bool settings_is_loss(const struct arg_spec *spec) {
  return spec->words == LOSS_WORDS;
}

bool settings_takes_list(const struct arg_spec *spec) {
  return settings_is_cut(spec) || settings_is_split(spec);
}

bool settings_is_list(const struct arg_spec *spec, struct slice word) {
  if (settings_is_cut(spec))
    return word.length && word.at[0] >= '0' && word.at[0] <= '9';
  if (settings_is_split(spec))
    return !word_index(spec->words, word);
  if (spec->parts && memchr(word.at, ':', word.length))
    return true;
  return (settings_is_weights(spec) || settings_is_loss(spec) || spec->parts) &&
         memchr(word.at, ' ', word.length);
}

bool settings_is_part(const struct arg_spec *spec,
                      const struct arg_spec *whole) {
  return spec->forms && strcmp(spec->now, whole->name) == 0;
}

static struct slice now_of(const struct arg_spec *specs, struct slice name) {
  for (; specs->name; specs++)
    if (specs->now && slice_is(name, specs->name))
      return slice_of(specs->now);
  return name;
}

struct slice settings_now(struct slice name) {
  return now_of(infer_specs, now_of(train_specs, name));
}

static int64_t stored(const struct arg_spec *spec, const void *section) {
  const void *at = (const char *)section + spec->offset;
  return arg_is_int64(spec) ? *(const int64_t *)at : *(const int *)at;
}

bool settings_differ(const struct arg_spec *specs, const struct arg_spec *spec,
                     const void *a, const void *b) {
  bool differ = stored(spec, a) != stored(spec, b);
  for (; spec->parts && specs->name; specs++)
    if (settings_is_part(specs, spec))
      differ = differ || stored(specs, a) != stored(specs, b);
  return differ;
}

void settings_put_parts(struct text *out, const struct arg_spec *specs,
                        const struct arg_spec *spec, const void *section) {
  size_t begin = out->length;
  int64_t own = stored(spec, section), value;
  int64_t dtype = 0; /* as which a setting without a value counts */
  for (int i = 0; specs[i].name; i++)
    if (strcmp(specs[i].name, "dtype") == 0)
      dtype = stored(&specs[i], section);
  if (own > 1)
    text_puts(out, word_at(spec->words, (int)own));
  for (; specs->name; specs++) {
    if (!settings_is_part(specs, spec) ||
        (value = stored(specs, section)) == specs->initial)
      continue;
    bool second = !*specs->forms;
    if (second && out->length == begin)
      text_puts(out, word_at(spec->words, (int)(own ? own : dtype)));
    text_put(out, out->length > begin ? " " : "");
    if (specs->type == TYPE_CHOICE)
      text_puts(out, word_at(second ? specs->words : specs->forms, (int)value));
    else
      text_printf(out, "%s%" PRId64, specs->forms, value);
  }
  if (out->length == begin)
    text_puts(out, word_at(spec->words, 1));
}

struct slice settings_weights(const struct infer_settings *infer) {
  return infer->weights ? infer->weights->text
                        : slice_of(weights_word(infer->weight_dtype));
}

struct slice settings_choice(const struct settings *settings,
                             const struct arg_spec *spec, int index) {
  const struct train_settings *train = &settings->train;
  if (spec->words == WEIGHTS_WORDS && index == settings->infer.weight_dtype)
    return settings_weights(&settings->infer);
  if (settings_is_weights(spec))
    return slice_of(weights_word(index));
  if (settings_is_cut(spec) && index == CUT_TURNS)
    return train->turns->text;
  if (settings_is_loss(spec) && index == LOSS_LIST)
    return train->losses->text;
  if (settings_is_split(spec) && index == SPLIT_LIST)
    return train->split->text;
  return settings_is_gpu(spec) && index
             ? slice_of(gpu_at(train->own, index)->word)
             : word_at(spec->words, index);
}

const char *element_word(int element) {
  return elements[element].word;
}

const char *element_long_name(int element) {
  return elements[element].long_name;
}

const char *optimizer_word(int optimizer) {
  return optimizers[optimizer].word;
}

const char *optimizer_title(int optimizer) {
  return optimizers[optimizer].title;
}

const char *precision_remark(int precision) {
  return precision == PRECISION_MIXED    ? ", mixed precision"
         : precision == PRECISION_MASTER ? ", 16 bits with a copy in 32"
                                         : "";
}

struct slice loss_name(int loss) {
  return word_at(LOSS_WORDS, loss);
}

int loss_of_output(const struct train_settings *train, size_t output) {
  const struct loss_list *losses = train->losses;
  if (train->loss != LOSS_LIST)
    return train->loss;
  return losses->at[output < (size_t)losses->count ? output : 0];
}

bool has_loss(const struct train_settings *train, int loss) {
  size_t count = train->loss == LOSS_LIST ? (size_t)train->losses->count : 1;
  for (size_t i = 0; i < count; i++)
    if (loss_of_output(train, i) == loss)
      return true;
  return false;
}

int sampler_bytes(const struct settings *settings) {
  const struct infer_settings *infer = &settings->infer;
  bool wide = element_bits(infer->dtype) >= 32;
  int sampler = infer->sampler;
  return (wide ? samplers[sampler].wide : samplers[sampler].bytes) +
         (profile_at(settings->train.profile)->caches ? samplers[sampler].sorted
                                                      : 0);
}

int element_bits(int element) {
  return elements[element].bits;
}

bool element_bytes(int element, int64_t count, int64_t *bytes) {
  int64_t bits;
  if (!mul_i64(count, element_bits(element), &bits))
    return false;
  *bytes = ceil_div_i64(bits, 8);
  return true;
}

const char *cache_word(int type) {
  return type < ELEMENT_END ? element_word(type)
                            : kept_types[type - ELEMENT_END].word;
}

const struct block_type *cache_blocks(int type) {
  return type < ELEMENT_END
             ? NULL
             : blocks_type(kept_types[type - ELEMENT_END].blocks);
}

static bool kept_bytes(int type, int64_t count, int64_t *bytes) {
  const struct block_type *blocks = cache_blocks(type);
  return blocks ? block_bytes(blocks, count, bytes)
                : element_bytes(type, count, bytes);
}

bool cache_bytes(const struct infer_settings *infer, int64_t keys,
                 int64_t values, int64_t *bytes) {
  int64_t more = 0;
  if (cache_type_v(infer) == cache_type(infer))
    return add_i64(keys, values, &keys) &&
           kept_bytes(cache_type(infer), keys, bytes);
  return kept_bytes(cache_type(infer), keys, bytes) &&
         kept_bytes(cache_type_v(infer), values, &more) &&
         add_i64(*bytes, more, bytes);
}

int optimizer_values(int optimizer) {
  return optimizers[optimizer].values;
}

int optimizer_value_bits(int optimizer) {
  return optimizers[optimizer].bits;
}
