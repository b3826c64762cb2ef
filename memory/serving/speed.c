/* Speed: time of a decode step and of a prompt, from published runs. */
#include "memory/serving/speed.h"

#include "base/check.h"
#include "memory/devices/time.h"
#include "memory/inference_time.h"
#include "memory/serving/serving.h"

/* A row of speeds.def. */
struct speed {
  int64_t capability;
  double weights, cache, layer, products, scores;
  int64_t runs, cards, error, prompt_error;
};

static const struct speed speeds[] = {
#define SPEED(...) {__VA_ARGS__},
#include "memory/serving/speeds.def"
#undef SPEED
};

static const struct speed *speed_of(const struct gpu *gpu) {
  for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
    if (speeds[i].capability == gpu->capability)
      return &speeds[i];
  return NULL;
}

/* Work of a step */

/* MACs on one device. */
struct served_macs {
  double token;  /* of a token, without scores and logits */
  double logits; /* of a token that gets them */
  double source; /* of an encoder, per sequence */
};

/* A served layer's MACs of scores for one token and one attended token. */
static double pair_macs(const struct serving *s,
                        const struct served_layer *layer) {
  double words = (double)s->words;
  double seen = layer->kept.source ? (double)layer->kept.source
                : layer->kept.window
                    ? (double)min_i64(layer->kept.window, s->words)
                    : words;
  return bound_scores(s->model, layer->node) / words / seen;
}

static struct served_macs find_macs(const struct serving *s,
                                    enum served_place card) {
  struct served_macs found = {0, 0, 0};
  for (size_t i = 0; i < s->model->nodes.count; i++) {
    double macs = (double)model_cost(s->model, (int64_t)i)->macs;
    if (s->model->nodes.at[i].train_only ||
        serving_place(s, (int64_t)i) != card)
      continue;
    macs = (macs - bound_scores(s->model, (int64_t)i));
    if (!s->whole_tower || s->after[i])
      macs /= (double)s->devices;
    if (s->after && !s->after[i])
      found.source += macs;
    else if ((int64_t)i >= s->head)
      found.logits += macs / (double)s->words;
    else
      found.token += macs / (double)s->words;
  }
  return found;
}

/* Pairs of a token and one that it attends to, in a prompt. */
static double pairs_of(const struct served_layer *layer, double prompt) {
  double window = (double)layer->kept.window;
  if (layer->kept.source)
    return prompt * (double)layer->kept.source;
  return !layer->kept.window || window > prompt
             ? prompt * prompt / 2
             : prompt * window - window * window / 2;
}

static double prompt_scores(const struct serving *s, enum served_place card,
                            int64_t context) {
  double sum = 0;
  for (size_t i = 0; i < s->layers.count; i++)
    if (!s->layers.at[i].state &&
        serving_place(s, s->layers.at[i].node) == card)
      sum += pair_macs(s, &s->layers.at[i]) *
             pairs_of(&s->layers.at[i], (double)context);
  return sum / (double)s->devices;
}

/* The work of one card. */
struct card_work {
  const struct serving *s;
  enum served_place card;
  const struct gpu *gpu;
  int64_t context, sequences;
  struct served_macs macs;
  double scores;             /* of a prompt */
  double parts[SPEED_PARTS]; /* seconds */
};

static bool card_weight(const void *user, size_t index, int64_t *bytes) {
  const struct card_work *w = user;
  *bytes = 0; /* a tower runs once, before the prompt */
  return w->s->roles.at[index].tower || !w->s->held[w->card][index] ||
         serving_weight(w->s, index, bytes);
}

/* Times */

enum { FEWEST = 1000000000 }; /* parameters of a published run's model */

/* Why there is no comparable published run; NULL: there is. */
static const char *find_missing(const struct serving *s, const struct gpu *gpu,
                                int64_t sequences) {
  const struct infer_settings *infer = &s->settings->infer;
  if (infer->runtime != RUNTIME_LLAMA_CPP)
    return "published runs are of llama.cpp";
  if (!speed_of(gpu))
    return "no published run on a card of this architecture";
  if (s->devices > 1 || s->cards > 1 || (s->parted && s->on_card < s->blocks))
    return "published runs have the whole net on one card";
  if (sequences > 1)
    return "published runs decode one sequence";
  if (model_has_experts(s->model))
    return "published runs have no experts";
  if (s->model->predicted.params < FEWEST)
    return "published runs have a billion parameters and more";
  for (size_t i = 0; i < s->layers.count; i++)
    if (s->layers.at[i].state || s->layers.at[i].kept.source)
      return "published runs have attention alone";
  return NULL;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* The fastest rate that products may have: blocks may run in 8 bits. */
static double best_rate(const struct infer_settings *infer,
                        const struct gpu *gpu) {
  double rate = inference_rate(gpu, infer->dtype);
  double narrow = (double)gpu_rate(gpu, ELEMENT_I8) * 1e9;
  if (infer->weight_dtype)
    return larger(rate, larger(narrow, inference_rate(gpu, ELEMENT_FP8)));
  /* f16 may be summed in 16 bits, at half the rate of i8. */
  return element_bits(infer->dtype) == 16 ? larger(rate, narrow / 2) : rate;
}

static double bytes_seconds(const struct gpu *gpu, double bytes) {
  return bytes > 0 ? bytes / ((double)gpu->bandwidth * 1e9) : 0;
}

/* Cards decode one after the other, and work on a prompt at the same time. */
static void add_bounds(const struct card_work *w, struct serving_time *time) {
  double rate = best_rate(&w->s->settings->infer, w->gpu);
  double cached = bytes_seconds(w->gpu, CACHED);
  double read = w->parts[SPEED_WEIGHTS], kept = w->parts[SPEED_CACHE];
  double tokens = 2 * (w->macs.token + w->macs.logits) * (double)w->sequences;
  double prompt = 2 * (w->macs.token * (double)w->context + w->macs.logits +
                       w->macs.source + w->scores);
  double decode_bytes = larger(read + kept - cached, 0);
  double prompt_bytes = larger(read - cached, 0);
  time->bound += larger(decode_bytes, rate > 0 ? tokens / rate : 0);
  time->prompt_bound = larger(
      time->prompt_bound, rate > 0 ? larger(prompt_bytes, prompt / rate) : 0);
}

static void add_card(struct card_work *w, struct serving_time *time) {
  const struct serving *s = w->s;
  double narrow = (double)gpu_rate(w->gpu, ELEMENT_I8) * 1e9;
  double cache = (double)serving_read(s, w->card, w->context);
  w->macs = find_macs(s, w->card);
  w->scores = prompt_scores(s, w->card, w->context);
  w->parts[SPEED_WEIGHTS] =
      bytes_seconds(w->gpu, inference_reads(s->model, card_weight, w));
  w->parts[SPEED_CACHE] = bytes_seconds(w->gpu, cache * (double)w->sequences);
  if (narrow > 0) {
    double tokens =
        w->macs.token * (double)w->context + w->macs.logits + w->macs.source;
    w->parts[SPEED_PRODUCTS] = 2 * tokens / narrow;
    w->parts[SPEED_SCORES] = 2 * w->scores / narrow;
  }
  for (int i = 0; i < SPEED_PARTS; i++)
    time->parts[i] += w->parts[i];
  add_bounds(w, time);
}

static void predict(const struct speed *speed, struct serving_time *time) {
  const double *parts = time->parts;
  time->predicted = speed->weights * parts[SPEED_WEIGHTS] +
                    speed->cache * parts[SPEED_CACHE] +
                    speed->layer * 1e-6 * (double)time->layers;
  time->prompt = speed->products * parts[SPEED_PRODUCTS] +
                 speed->scores * parts[SPEED_SCORES];
  time->runs = speed->runs;
  time->cards = speed->cards;
  time->error = (double)speed->error / 1000;
  time->prompt_error = (double)speed->prompt_error / 1000;
}

static void round_all(struct serving_time *time) {
  double *const all[] = {&time->predicted, &time->bound, &time->prompt,
                         &time->prompt_bound, &time->tokens};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    *all[i] = time_rounded(*all[i]);
  for (int i = 0; i < SPEED_PARTS; i++)
    time->parts[i] = time_rounded(time->parts[i]);
}

bool speed_find(struct serving *s, int64_t context, int64_t sequences,
                struct serving_time *time) {
  const struct gpu *gpu = gpu_of(&s->settings->train);
  *time = (struct serving_time){.layers = (int64_t)s->layers.count};
  if (!gpu)
    return false;
  time->missing = find_missing(s, gpu, sequences);
  for (int card = 0; card < s->cards; card++)
    if (!serving_gpu(s->settings, card)->bandwidth)
      time->lacks = "the bandwidth of its memory";
  if (time->lacks)
    return true;
  for (int card = 0; card < s->cards; card++) {
    struct card_work work = {.s = s,
                             .card = (enum served_place)card,
                             .gpu = serving_gpu(s->settings, card),
                             .context = context,
                             .sequences = sequences};
    add_card(&work, time);
  }
  if (!time->missing)
    predict(speed_of(gpu), time);
  double step = time->missing ? time->bound : time->predicted;
  time->tokens = step > 0 ? (double)sequences / step : 0;
  round_all(time);
  return true;
}
