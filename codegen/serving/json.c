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
  json_member_int(json, "weight_bytes", a->weights);
  json_member_int(json, "cache_bytes", a->cache);
  json_member_int(json, "sequence_cache_bytes", a->sequence);
  if (a->state)
    json_member_int(json, "sequence_state_bytes", a->state);
  if (a->source)
    json_member_int(json, "sequence_source_bytes", a->source);
  json_member_int(json, "prefill_bytes", a->prefill);
  json_member_int(json, "decode_bytes", a->decode);
  if (a->sampler)
    json_member_int(json, "sampler_bytes", a->sampler);
  json_member_int(json, "need_bytes", a->need);
  if (a->devices > 1) {
    put_json_traffic(json, "prefill_sent", &a->prefill_traffic);
    put_json_traffic(json, "decode_sent", &a->decode_traffic);
  }
  if (a->device) {
    json_member_int(json, "device_bytes", a->device);
    json_member_int(json, "framework_bytes", a->taken);
    json_member_int(json, "reserve_bytes", a->reserve);
    json_member_int(json, "room_bytes", a->room);
    json_member_bool(json, "fits", a->need <= a->room);
    json_member_int(json, "longest_context", a->longest);
    json_member_int(json, "most_sequences", a->most);
    put_rows(json, "by_context", a->by_context, a->count);
    put_rows(json, "by_sequences", a->by_sequences, a->count);
  }
  json_put_close(json, '}');
}
