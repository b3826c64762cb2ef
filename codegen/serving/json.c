/* JSON: the section on serving, for programs. */
#include "codegen/asked.h"
#include "codegen/serving/report.h"

static void put_rows(struct json *json, const char *key,
                     const struct served *rows, int count) {
  json_member_open(json, key, '[');
  for (int i = 0; i < count; i++) {
    json_put_open(json, '{');
    json_member_int(json, "context", rows[i].context);
    json_member_int(json, "sequences", rows[i].sequences);
    json_member_int(json, "sequence_cache_bytes", rows[i].cache);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_json_traffic(struct json *json, const char *key,
                             const struct served_traffic *traffic) {
  json_member_open(json, key, '{');
  json_member_int(json, "all_reduce_bytes", traffic->all_reduce);
  json_member_int(json, "all_gather_bytes", traffic->all_gather);
  json_put_close(json, '}');
}

/* Weights, KV cache and steps on one device or host. */
static void put_part(struct json *json, const struct served_part *part) {
  json_member_int(json, "weight_bytes", part->weights);
  json_member_int(json, "cache_bytes", part->cache);
  json_member_int(json, "sequence_cache_bytes", part->sequence);
  json_member_some(json, "sequence_state_bytes", part->state);
  json_member_some(json, "sequence_source_bytes", part->source);
  json_member_int(json, "prefill_bytes", part->prefill);
  json_member_int(json, "decode_bytes", part->decode);
  json_member_some(json, "compute_bytes", part->compute);
  json_member_some(json, "sampler_bytes", part->sampler);
  json_member_int(json, "need_bytes", part->need);
}

/* Each of several cards. */
static void put_cards(struct json *json, const struct serving_answer *a) {
  json_member_open(json, a->staged ? "stages" : "cards", '[');
  for (int i = 0; i < a->cards; i++) {
    const struct served_card *card = &a->by_card[i];
    json_put_open(json, '{');
    if (card->gpu)
      json_member_string(json, "gpu", slice_of(card->gpu->word));
    json_member_int(json, "first_layer", card->first);
    json_member_int(json, "last_layer", card->last);
    json_member_bool(json, "output", card->output);
    put_part(json, &card->part);
    json_member_some(json, "room_bytes", card->device.room);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

/* Layers on the card, and the contents of its host's memory. */
static void put_places(struct json *json, const struct serving_answer *a) {
  json_member_int(json, "layers", a->blocks);
  json_member_int(json, "gpu_layers", a->on_card);
  json_member_some(json, "next_layer_bytes", a->next);
  json_member_some(json, "copied_weight_bytes", a->copied);
  json_put_key(json, "host");
  json_put_open(json, '{');
  put_part(json, &a->host);
  json_member_some(json, "room_bytes", a->host_room);
  json_put_close(json, '}');
}

static void put_time(struct json *json, const struct serving_time *time) {
  static const char *const names[SPEED_PARTS] = {
      "weight_seconds", "cache_seconds", "product_seconds", "score_seconds"};
  bool predicted = time->predicted > 0, prompt = time->prompt > 0;
  json_member_open(json, "time", '{');
  json_member_known(json, "predicted_seconds", time->predicted);
  json_member_known(json, "bound_seconds", time->bound);
  json_member_known(json, "prefill_seconds",
                    prompt ? time->prompt : time->prompt_bound);
  json_member_known(json, "tokens_per_second", time->tokens);
  json_member_string(json, "basis",
                     slice_of(predicted ? "calibrated" : "bound"));
  json_member_string(json, "prefill_basis",
                     slice_of(prompt ? "calibrated" : "bound"));
  if (predicted) {
    json_member_int(json, "runs", time->runs);
    json_member_int(json, "cards", time->cards);
    json_member_known(json, "median_error", time->error);
  }
  if (prompt)
    json_member_known(json, "prefill_median_error", time->prompt_error);
  if (time->lacks || time->missing)
    json_member_string(json, "missing",
                       slice_of(time->lacks ? time->lacks : time->missing));
  json_member_open(json, "parts", '{');
  for (int i = 0; i < SPEED_PARTS; i++)
    json_member_known(json, names[i], time->parts[i]);
  json_member_int(json, "layer_count", time->layers);
  json_put_close(json, '}');
  json_put_close(json, '}');
}

void serving_put_json(struct json_writer *w) {
  struct serving_report r = {.c = w->c};
  const struct serving_answer *a = &r.a;
  struct json *json = &w->json;
  if (!serving_report_find(&r))
    return;
  json_member_open(json, "serving", '{');
  json_member_int(json, "devices", asked_of(w->c)->devices);
  json_member_int(json, "context", a->context);
  json_member_int(json, "sequences", a->sequences);
  put_part(json, &a->card);
  if (a->blocks && !a->staged)
    put_places(json, a);
  if (a->cards > 1)
    put_cards(json, a);
  if (a->devices > 1) {
    put_json_traffic(json, "prefill_sent", &a->prefill_traffic);
    put_json_traffic(json, "decode_sent", &a->decode_traffic);
  }
  if (gpu_of(&r.c->settings->train))
    put_time(json, &a->time);
  if (a->device.bytes) {
    json_member_int(json, "device_bytes", a->device.bytes);
    json_member_int(json, "framework_bytes", a->device.taken);
    json_member_int(json, "reserve_bytes", a->device.reserve);
    json_member_int(json, "room_bytes", a->device.room);
    json_member_bool(json, "fits", verdict_holds(serving_verdict(a)));
    json_member_string(json, "verdict", slice_of(fit_word(serving_verdict(a))));
    json_member_int(json, "longest_context", a->longest);
    json_member_int(json, "most_sequences", a->most);
    if (a->positions >= 0)
      json_member_int(json, "positions", a->positions);
    put_rows(json, "by_context", a->by_context, a->count);
    put_rows(json, "by_sequences", a->by_sequences, a->count);
  }
  json_put_close(json, '}');
}
