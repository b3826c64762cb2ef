/* Time: estimates the duration of a step from published runs. */
#include "memory/devices/time.h"

#include <string.h>

#include "base/check.h"
#include "sema/model/given.h"

/* Measured time of published runs on a card, relative to its peak rates. */
struct time_card {
  const char *card;
  double multiprocessors, gigahertz;
  double times[TIME_PARTS];
};

static const struct time_card cards[] = {
#define TIME(card, multiprocessors, gigahertz, ...) \
  {card, multiprocessors, gigahertz, {__VA_ARGS__}},
#include "memory/devices/times.def"
};

static const struct time_card *card_of(const struct gpu *gpu) {
  for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
    if (strcmp(cards[i].card, gpu->word) == 0)
      return &cards[i];
  return NULL;
}

static bool knows_experts(const struct gpu *gpu) {
#define EXPERTS(card) strcmp(gpu->word, card) == 0 ||
  return
#include "memory/devices/times.def"
      false;
}

/* Cases without a comparable published run */

/* True for a decoder: causal attention, and matrices at every token. */
static bool is_decoder(const struct model *model) {
  const struct shape **in = model_layer_room(model);
  double like = 0, all = 0;
  bool looks = false;
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    double macs = (double)model_cost(model, (int64_t)i)->train_macs;
    bool back = layer_keeps_tokens(&layer);
    looks |= back;
    all += macs;
    like += back || layer.kind->per_position ? macs : 0;
  }
  return looks && like >= 0.99 * all;
}

const char *time_missing(const struct model *model,
                         const struct train_settings *train,
                         const struct gpu *gpu) {
  if (!card_of(gpu))
    return "no published run on this card";
  if (element_bits(train->dtype) != 16 && train->precision == PRECISION_FULL)
    return "published runs compute in 16 bits";
  if (model->total.trainable < model->total.params || train->base)
    return "published runs train all parameters";
  if (model_has_experts(model) && !knows_experts(gpu))
    return "published runs on this card have no experts, or disagree";
  if (model_has_experts(model) && train->moe <= EXPERTS_ONE_BY_ONE)
    return "published runs have no experts one after the other: "
           "`moe=grouped`";
  if (!is_decoder(model))
    return "published runs are of language models";
  return NULL;
}

const char *time_missing_way(const struct train_settings *train) {
  return train->offload                ? "published runs offload nothing"
         : train->context_parallel > 1 ? "published runs do not use context "
                                         "parallelism"
                                       : NULL;
}

/* Stages */

/* Parts of the time for all passes of a stage, and once per step. */
struct stage_time {
  double passes[TIME_PARTS], once[TIME_PARTS];
};

/* Attention operations per second: 2,048 per multiprocessor and clock. */
static double attention_rate(const struct train_settings *train,
                             const struct gpu *gpu) {
  const struct time_card *card = card_of(gpu);
  return card ? card->multiprocessors * card->gigahertz * 2048e9
              : (double)bound_rate(train, gpu) * 1e9;
}

static struct stage_time parts_of(const struct work *work,
                                  const struct step *step,
                                  const struct parallel *parallel,
                                  const struct stage *stage,
                                  const struct bound_cluster *cluster) {
  const struct train_settings *train = &step->settings;
  const struct gpu *gpu = cluster->gpu;
  double count = (double)bound_passes(step, parallel);
  double bandwidth = (double)gpu->bandwidth * 1e9;
  double samples = 2 * count * (double)parallel->microbatch /
                   (double)train->tensor_parallel /
                   (double)train->context_parallel;
  struct stage_work own = bound_work(work, step, stage);
  struct stage_time time = {{0}, {0}};
  time.passes[TIME_PRODUCTS] =
      (own.macs - own.scores) * samples / (double)bound_rate(train, gpu) / 1e9;
  time.passes[TIME_ATTENTION] =
      own.scores * samples / attention_rate(train, gpu);
  time.passes[TIME_MEMORY] = count * (double)stage->touched / bandwidth;
  time.once[TIME_MEMORY] =
      2 * ((double)stage->optimizer + (double)stage->master) / bandwidth;
  time.once[TIME_SENT] = bound_sent(train, AMONG_COPIES, stage, cluster);
  for (int among = 0; among < AMONG_HOST; among++)
    if (among != AMONG_COPIES)
      time.passes[TIME_SENT] +=
          bound_sent(train, (enum among)among, stage, cluster);
  return time;
}

static double sum_of(const double parts[TIME_PARTS], const double *times) {
  double sum = 0;
  for (int i = 0; i < TIME_PARTS; i++)
    sum += parts[i] * (times ? times[i] : 1);
  return sum;
}

double time_rounded(double value) {
  double scale = 1;
  while (value > 0 && value * scale < 1e5 && scale < 1e18)
    scale *= 10;
  return value < 1e12 ? (double)(int64_t)(value * scale + 0.5) / scale : value;
}

/* Tokens of a sample: the size of its first integer input; 0: none. */
static int64_t tokens_of(const struct model *model) {
  for (size_t i = 0; i < model->sources.count; i++) {
    const struct shape *shape = model->nodes.at[model->sources.at[i]].out;
    int64_t count = 0;
    if (shape->dtype != DTYPE_FLOAT && shape_count(shape, &count))
      return count;
  }
  return 0;
}

bool time_check(const struct model *model, const struct settings *settings,
                struct diags *diags) {
  const struct train_settings *train = &settings->train;
  struct span place =
      given_train(model, settings, train->tokens ? "tokens" : "price");
  if (train->tokens && train->samples) {
    given_help(diag(diags, OUT_OF_RANGE, place,
                    "tokens and samples both set the length of the training"),
               place, "leave one of them out");
    return false;
  }
  if (train->tokens && !tokens_of(model)) {
    given_help(
        diag(diags, OUT_OF_RANGE, place, "no input of the net takes tokens"),
        place, "set the length of the training with `samples=%lld`",
        (long long)train->tokens);
    return false;
  }
  if (train->price && !train->tokens && !train->samples) {
    given_help(diag(diags, MISSING_ARGUMENT, place,
                    "a price needs the length of the training"),
               place, "add `tokens=1e12` or `samples=1e9`");
    return false;
  }
  return true;
}

struct time_cost time_cost(const struct model *model,
                           const struct train_settings *train, int64_t devices,
                           double predicted) {
  double batch = (double)train->batch * (double)train->accumulate *
                 (double)train->data_parallel;
  double samples = (double)train->samples;
  if (train->tokens)
    samples = (double)train->tokens / (double)tokens_of(model);
  double hours = samples / batch * predicted / 3600;
  double price = (double)train->price / 1e6;
  return (struct time_cost){time_rounded(hours),
                            time_rounded(hours * (double)devices * price)};
}

bool time_is_known(const struct gpu *gpu) {
  return card_of(gpu) != NULL;
}

double time_sum(const struct gpu *gpu, const double parts[TIME_PARTS]) {
  const struct time_card *card = card_of(gpu);
  return sum_of(parts, card ? card->times : NULL);
}

static void round_time(struct step_time *time) {
  struct place_bound *b = &time->bound;
  double *const all[] = {&b->step, &b->computes, &b->near,         &b->far,
                         &b->host, &b->bubble,   &time->predicted, &time->mfu};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    *all[i] = time_rounded(*all[i]);
  for (int i = 0; i < TIME_PARTS; i++)
    time->parts[i] = time_rounded(time->parts[i]);
}

struct step_time time_find(const struct work *work, const struct step *step,
                           const struct parallel *parallel,
                           const struct bound_cluster *cluster,
                           const struct cuts *places, const char *missing,
                           struct arena *arena) {
  struct step_time time = {.missing = missing};
  const struct time_card *card = card_of(cluster->gpu);
  const struct train_settings *train = &step->settings;
  double count = (double)bound_passes(step, parallel);
  double waited = 0, most = 0, longest = 0;
  const double *times = card ? card->times : NULL;
  time.bound = bound_find(work, step, parallel, cluster, places, arena);
  for (size_t p = 0; p < parallel->stages.count; p++) {
    struct stage_time own =
        parts_of(work, step, parallel, &parallel->stages.at[p], cluster);
    double passes = sum_of(own.passes, times);
    double all = passes + sum_of(own.once, times);
    waited += bound_waited(train, passes / count);
    if (p && all <= most)
      continue;
    most = all;
    longest = passes;
    for (int i = 0; i < TIME_PARTS; i++)
      time.parts[i] = own.passes[i] + own.once[i];
  }
  if (card)
    time.likely = most + waited - bound_waited(train, longest / count);
  if (missing) {
    round_time(&time);
    return time;
  }
  time.predicted = time.likely;
  size_t end = step->model->nodes.count;
  double macs = work->forward[end] + work->backward[end] + work->scores[end] +
                work->scores_back[end];
  double samples = (double)train->batch * (double)train->accumulate *
                   (double)train->data_parallel;
  time.mfu = 2 * macs * samples / (double)cluster->devices /
             ((double)bound_rate(train, cluster->gpu) * 1e9) / time.predicted;
  round_time(&time);
  return time;
}
