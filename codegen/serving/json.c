/* JSON: the section on serving, for programs. */
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

void serving_put_json(struct json_writer *w) {
  struct serving_report r = {.c = w->c};
  const struct serving_answer *a = &r.a;
  struct json *json = &w->json;
  if (!serving_report_find(&r))
    return;
  json_member_open(json, "serving", '{');
  json_member_int(json, "devices", a->devices);
  json_member_int(json, "context", a->context);
  json_member_int(json, "sequences", a->sequences);
  put_part(json, &a->card);
  if (a->blocks)
    put_places(json, a);
  if (a->devices > 1) {
    put_json_traffic(json, "prefill_sent", &a->prefill_traffic);
    put_json_traffic(json, "decode_sent", &a->decode_traffic);
  }
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
