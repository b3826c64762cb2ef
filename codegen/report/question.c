/* Question: the net's size, and what is asked about it, in two lines. */
#include "codegen/report/question.h"

#include <inttypes.h>

#include "codegen/cards.h"
#include "codegen/grid.h"
#include "codegen/report/board.h"
#include "layers/lora.h"
#include "sema/model/optimizer.h"
#include "sema/model/weights.h"

void question_put_counts(const struct report_question *q) {
  const struct cost *total = &q->c->model->total;
  text_short_count(q->line, total->params, 'B');
  text_put(q->line, " parameters");
  if (total->active < total->params) {
    text_put(q->line, ", ");
    text_short_count(q->line, total->active, 'B');
    text_put(q->line, " active");
  }
  if (!q->predict && total->trainable < total->params) {
    text_put(q->line, ", ");
    text_short_count(q->line, total->trainable, 'B');
    text_put(q->line, " trained");
  }
}

enum { LONGEST_WEIGHTS = 40 };

/* "nvfp4 but for head", of many parts the first type. */
static void put_weights(const struct report_question *q,
                        const struct infer_settings *infer) {
  struct slice weights = settings_weights(infer);
  const char *blank = memchr(weights.at, ' ', weights.length);
  size_t first = blank ? (size_t)(blank - weights.at) : weights.length;
  if (first == weights.length)
    text_puts(q->line, weights);
  else if (weights.length <= LONGEST_WEIGHTS)
    text_printf(q->line, "%.*s but for%.*s", (int)first, weights.at,
                (int)(weights.length - first), weights.at + first);
  else
    text_printf(q->line, "%s and others", weights_word(infer->weight_dtype));
}

/* "float32", "mixed precision", "q4_k_m" */
static void put_type(const struct report_question *q) {
  const struct train_settings *train = &q->c->settings->train;
  const struct infer_settings *infer = &q->c->settings->infer;
  if (q->predict && infer->weight_dtype)
    put_weights(q, infer);
  else if (q->predict)
    text_put(q->line, element_long_name(infer->dtype));
  else if (train->precision == PRECISION_MIXED)
    text_put(q->line, "mixed precision");
  else if (train->precision == PRECISION_MASTER)
    text_put(q->line, "16 bits with a 32-bit copy");
  else
    text_put(q->line, element_long_name(train->dtype));
}

/* Layers of attention; `unfused`: of these, those without a fused kernel in
 * PyTorch because of the argument `why`. */
struct attending {
  int64_t all, unfused;
  const char *why;
};

static struct attending find_attending(const struct model *model) {
  const struct shape **in = model_layer_room(model);
  struct attending found = {0};
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    const char *why = layer.kind->unfused ? layer.kind->unfused(&layer) : NULL;
    found.all += layer.kind->heads != NULL;
    found.unfused += why != NULL;
    found.why = why ? why : found.why;
  }
  return found;
}

/* "naive attention, "; of other runtimes than PyTorch only what was chosen. */
static void put_attention(const struct report_question *q) {
  static const char *const words[] = {"", "fused", "naive", "eager"};
  const struct settings *settings = q->c->settings;
  int chosen =
      q->predict ? settings->infer.attention : settings->train.attention;
  bool torch = !q->predict || settings->infer.runtime == RUNTIME_PYTORCH;
  bool serves = q->a && q->a->asked == ASKED_SERVING;
  if (!chosen && torch)
    chosen = profile_at(settings->train.profile)->fused_attention || serves
                 ? TAPE_FUSED
                 : TAPE_NAIVE;
  struct attending found = find_attending(q->c->model);
  if (!chosen || !found.all)
    return;
  if (chosen != TAPE_FUSED || !torch || !found.unfused)
    text_printf(q->line, "%s attention, ", words[chosen]);
  else if (found.unfused < found.all)
    text_printf(q->line, "fused attention except with %s, ", found.why);
  else
    text_printf(q->line, "naive attention (%s), ", found.why);
}

/* "PyTorch on CUDA", "llama.cpp on RTX 4090", "PyTorch on 8 x H100" */
static void put_runtime(const struct report_question *q) {
  const struct train_settings *train = &q->c->settings->train;
  const struct profile *profile = profile_at(train->profile);
  int runtime =
      q->predict ? q->c->settings->infer.runtime : (int)RUNTIME_PYTORCH;
  bool torch = runtime <= RUNTIME_PYTORCH;
  bool device = q->a && q->a->device.bytes;
  if (torch && !device) {
    text_put(q->line, profile->title);
    return;
  }
  text_put(q->line, torch ? profile->framework : runtime_name(runtime));
  if (!device)
    return;
  text_put(q->line, " on ");
  if (q->a->served && q->a->served->cards > 1 && !q->a->served->staged &&
      q->a->card) {
    cards_put_all(q->line, q->a->served);
    return;
  }
  if (q->a->devices > 1)
    text_printf(q->line, "%" PRId64 " x ", q->a->devices);
  if (q->a->firmware)
    board_put_name(q->c, q->a->firmware, q->line);
  else if (q->a->card)
    gpu_put_title(q->line, q->a->card);
  else
    text_short_size(q->line, train->memory, output_units(q->c));
}

/* "LoRA of rank 8 on attention, " */
static void put_adapters(const struct report_question *q) {
  const struct adapters *adapters = &q->c->expansion->adapters;
  if (q->predict || !adapters->rank)
    return;
  struct slice type = {0}, on = {0};
  if (adapters->type)
    type = word_at(LORA_TYPES, adapters->type);
  if (adapters->on)
    on = word_at(LORA_ON, adapters->on);
  text_printf(q->line, "LoRA of rank %" PRId64 "%s%.*s on %.*s%s%s, ",
              adapters->rank, type.length ? " in " : "", SLICE_ARG(type),
              SLICE_ARG(on), on.length ? " of " : "",
              !adapters->all                    ? "attention"
              : q->c->expansion->adapters_spare ? "all dense layers but the "
                                                  "output"
                                                : "all dense layers");
}

void question_put(const struct report_question *q) {
  const struct train_settings *train = &q->c->settings->train;
  const struct answer *a = q->a;
  if (!q->predict)
    text_printf(q->line, "train, batch %s, %s, ", count_text(train->batch).text,
                optimizer_title(train->optimizer));
  else if (a && a->asked == ASKED_SERVING && a->served)
    text_printf(q->line, "inference, %s sequence%s of %s tokens, ",
                count_text(a->sequences).text, a->sequences == 1 ? "" : "s",
                count_text(a->context).text);
  else
    text_printf(q->line, "inference, batch %s, ",
                count_text(q->c->settings->infer.batch).text);
  put_adapters(q);
  put_type(q);
  text_put(q->line, ", ");
  put_attention(q);
  put_runtime(q);
}
