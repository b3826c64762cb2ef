/* Answer: memory that serving needs, and what a device can serve. */
#include <string.h>

#include "base/check.h"
#include "memory/serving/serving.h"

static struct served_part part_of(struct serving *s, enum served_place place,
                                  int64_t context, int64_t sequences) {
  struct served_part part = {.weights = s->weights[place],
                             .sequence = serving_cache(s, place, context),
                             .state = serving_states(s, place),
                             .source = serving_source(s, place)};
  part.cache = size_product(part.sequence, sequences);
  if (serving_is_llama_cpp(s)) {
    part.compute = serving_compute(s, place, context, sequences);
    part.decode = part.prefill = part.compute;
    part.need = size_sum(size_sum(part.weights, part.cache), part.compute);
    return part;
  }
  part.decode = serving_step(s, place, serving_decoding(s, context, sequences));
  part.prefill = serving_step(s, place, serving_prompt(s, context, sequences));
  part.sampler = serving_sampler(s, place, sequences);
  part.need =
      size_sum(size_sum(part.weights, part.cache),
               max_i64(max_i64(part.prefill, part.decode), part.sampler));
  return part;
}

/* A search over one value in steps; the other one is fixed. */
struct serving_search {
  struct serving *serving;
  int64_t room[MOST_CARDS];
  int64_t host_room; /* 0: the host is not checked */
  int64_t sequences; /* 0: searched */
  int64_t context;   /* 0: searched, in whole blocks */
  int64_t most;      /* maximum steps */
};

/* Tokens at which an estimate is taken, as activations grow linearly. */
enum { SAMPLE = 1024 };

/* Estimates the need without a simulation. */
static int64_t estimate(struct serving *s, enum served_place place,
                        int64_t context, int64_t sequences) {
  if (serving_is_llama_cpp(s))
    return part_of(s, place, context, sequences).need;
  struct served_step one = {
      .rows = SAMPLE,
      .ends = s->settings->infer.scores == SCORES_ALL ? SAMPLE : 1,
      .context = s->meets ? context : 0};
  int64_t rows = serving_prompt(s, context, sequences).rows;
  double prompt = (double)serving_step(s, place, one) / SAMPLE * (double)rows;
  double decode =
      (double)serving_step(s, place, serving_decoding(s, context, SAMPLE)) /
      SAMPLE * (double)sequences;
  double sampler = (double)serving_sampler(s, place, sequences);
  double step = prompt > decode ? prompt : decode;
  step = sampler > step ? sampler : step;
  if (step > 9e18)
    return INT64_MAX;
  return size_sum(
      size_sum(s->weights[place],
               size_product(serving_cache(s, place, context), sequences)),
      (int64_t)step);
}

static int64_t need_in(const struct serving_search *q, enum served_place place,
                       int64_t value, bool exactly) {
  struct serving *s = q->serving;
  int64_t context =
      q->sequences ? value * serving_page(&s->settings->infer) : q->context;
  int64_t sequences = q->sequences ? q->sequences : value;
  return exactly ? part_of(s, place, context, sequences).need
                 : estimate(s, place, context, sequences);
}

static bool fits(const struct serving_search *q, int64_t value, bool exactly) {
  if (value == 0)
    return true;
  if (value > q->most)
    return false;
  for (int card = 0; card < q->serving->cards; card++)
    if (need_in(q, (enum served_place)card, value, exactly) > q->room[card])
      return false;
  return !q->host_room || need_in(q, ON_HOST, value, exactly) <= q->host_room;
}

/* The largest value that fits; `low` fits and `high` does not. */
static int64_t bisect(const struct serving_search *q, int64_t low, int64_t high,
                      bool exactly) {
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (fits(q, middle, exactly))
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The largest value that fits, exactly, starting at the estimate. 0: none. */
static int64_t largest(const struct serving_search *q) {
  int64_t low = bisect(q, 0, q->most + 1, false), high = low, step = 1;
  if (fits(q, low, true))
    for (high = low + 1; fits(q, high, true); step *= 2) {
      low = high;
      high = min_i64(low + step, q->most + 1);
    }
  else
    for (low = high - 1; !fits(q, low, true); step *= 2) {
      high = low;
      low = max_i64(high - step, 0);
    }
  return bisect(q, low, high, true);
}

static struct serving_search search_of(struct serving *s,
                                       const struct serving_answer *a) {
  struct serving_search q = {
      .serving = s, .room = {a->device.room}, .host_room = a->host_room};
  for (int card = 0; card < a->cards && a->cards > 1; card++)
    q.room[card] = a->by_card[card].device.room;
  return q;
}

static int64_t most_sequences(struct serving *s, const struct serving_answer *a,
                              int64_t context) {
  struct serving_search q = search_of(s, a);
  q.context = context;
  q.most = 1 << 20;
  return largest(&q);
}

/* Limited by the table of learned positions. */
static int64_t longest_context(struct serving *s,
                               const struct serving_answer *a,
                               int64_t sequences) {
  int64_t page = serving_page(&s->settings->infer), limit = a->limit;
  struct serving_search q = search_of(s, a);
  q.sequences = sequences;
  q.most = LONGEST_CONTEXT / page;
  int64_t found = largest(&q) * page;
  return limit ? min_i64(found, limit) : found;
}

/* Fills the table with common contexts and numbers of sequences. */
static void fill_table(struct serving *s, struct serving_answer *a) {
  static const int64_t contexts[SERVED_ROWS] = {2048,  4096,  8192,
                                                16384, 32768, 131072};
  static const int64_t sequences[SERVED_ROWS] = {1, 4, 16, 64, 128, 256};
  enum served_place card = (enum served_place)a->tightest;
  for (int i = 0; i < SERVED_ROWS; i++) {
    struct served *row = &a->by_context[i];
    row->context = contexts[i];
    if (a->limit) /* fractions of the limit */
      row->context = max_i64(a->limit >> (SERVED_ROWS - 1 - i), 1);
    row->cache = serving_cache(s, card, row->context);
    row->sequences = most_sequences(s, a, row->context);
    row = &a->by_sequences[i];
    row->sequences = sequences[i];
    row->context = longest_context(s, a, sequences[i]);
    row->cache = serving_cache(s, card, row->context);
  }
  a->count = SERVED_ROWS;
}

/* Rows of a learned table of positions, which is added, not multiplied. */
static int64_t table_of_positions(const struct model *model, const bool *after,
                                  int64_t words) {
  const struct shape **in = model_layer_room(model);
  struct params params = {.arena = model->arena};
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (!after[i] || !layer.kind->params || layer.kind->macs ||
        layer.kind->cache || layer.kind->input == INPUT_INDEX)
      continue;
    params.all.count = 0;
    layer.kind->params(&layer, &params);
    if (params.all.count == 1 && params.all.at[0].rank == 2 &&
        !params.all.at[0].buffer && params.all.at[0].dim[0] >= words)
      return params.all.at[0].dim[0];
  }
  return 0;
}

int64_t serving_position_limit(const struct model *model) {
  int64_t count = 0, words = serving_words(model);
  if (words < 0 || !shape_count(model->nodes.at[words].out, &count))
    return 0;
  return table_of_positions(model, serving_after(model, words, model->arena),
                            count);
}

/* The layers that a card has. */
static void find_range(const struct serving *s, enum served_place place,
                       struct served_card *card) {
  card->first = s->blocks;
  card->last = 0;
  card->output = false;
  for (size_t i = 0; i < s->model->nodes.count; i++) {
    int64_t slot = s->slot[i];
    if (!slot || serving_place(s, (int64_t)i) != place)
      continue;
    if (slot == s->blocks) {
      card->output = true;
      continue;
    }
    card->first = min_i64(card->first, slot);
    card->last = max_i64(card->last, slot);
  }
}

/* The parts of all cards, and the one that has the least memory left. */
static void find_cards(struct serving *s, struct serving_answer *a) {
  a->tightest = 0;
  if (s->cards == 1) {
    a->card = part_of(s, ON_CARD, a->context, a->sequences);
    return;
  }
  for (int i = 0; i < s->cards; i++) {
    struct served_card *card = &a->by_card[i];
    card->gpu = serving_gpu(s->settings, i);
    card->device = serving_device(s->settings, i);
    card->part = part_of(s, (enum served_place)i, a->context, a->sequences);
    find_range(s, (enum served_place)i, card);
    const struct served_card *full = &a->by_card[a->tightest];
    if (card->device.room - card->part.need <
        full->device.room - full->part.need)
      a->tightest = i;
  }
  a->card = a->by_card[a->tightest].part;
  a->device = a->by_card[a->tightest].device;
}

/* Finds the largest number of layers on the cards; zero is always possible. */
static bool choose_layers(struct serving *s, struct serving_answer *a) {
  int64_t low = 0, high = s->blocks + 1;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (!serving_put(s, middle))
      return false;
    find_cards(s, a);
    if (a->card.need <= a->device.room)
      low = middle;
    else
      high = middle;
  }
  return serving_put(s, low);
}

static bool find_parts(struct serving *s, struct serving_answer *a) {
  find_cards(s, a);
  if (!s->parted)
    return a->card.need < INT64_MAX;
  a->host = part_of(s, ON_HOST, a->context, a->sequences);
  a->blocks = s->blocks;
  a->on_card = s->on_card;
  a->copied = s->copied;
  a->host_room = s->settings->train.host_memory;
  if (a->on_card < a->blocks) {
    if (!serving_put(s, a->on_card + 1))
      return false;
    a->next =
        part_of(s, (enum served_place)a->tightest, a->context, a->sequences)
            .need;
    if (!serving_put(s, a->on_card))
      return false;
  }
  return a->card.need < INT64_MAX && a->host.need < INT64_MAX;
}

bool serving_find(const struct model *model, const struct settings *settings,
                  struct arena *arena, bool table, struct serving_answer *a) {
  struct serving s;
  const struct infer_settings *infer = &settings->infer;
  *a = (struct serving_answer){.devices = infer->tensor_parallel,
                               .positions = -1};
  if (!serving_open(model, settings, arena, &s))
    return false;
  a->limit = serving_position_limit(model);
  a->context = infer->context ? infer->context : s.words;
  a->sequences = max_i64(infer->sequences, 1);
  a->device = serving_device(settings, 0);
  a->cards = s.cards;
  a->staged = s.staged;
  for (size_t i = 0; i < model->params.count; i++)
    a->uneven = a->uneven || s.experts[i] % infer->expert_parallel;
  a->strict = infer->utilization > 0;
  if (s.parted && a->device.bytes && infer->gpu_layers == GPU_LAYERS_AUTO &&
      !choose_layers(&s, a))
    return false;
  if (!find_parts(&s, a))
    return false;
  if (s.devices > 1 &&
      (!serving_traffic(&s, serving_prompt(&s, a->context, a->sequences),
                        &a->prefill_traffic) ||
       !serving_traffic(&s, serving_decoding(&s, a->context, a->sequences),
                        &a->decode_traffic)))
    return false;
  speed_find(&s, a->context, a->sequences, &a->time);
  if (!a->device.bytes)
    return true;
  a->most = most_sequences(&s, a, a->context);
  a->longest = longest_context(&s, a, a->sequences);
  serving_positions_in_all(&s, a);
  if (table && model->nodes.count <= QUICK_NODES)
    fill_table(&s, a);
  return true;
}
