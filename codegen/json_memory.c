/* json: the blocks about memory in training and inference. */
#include "base/check.h"
#include "codegen/asked.h"
#include "codegen/json_writer.h"
#include "memory/answer/files.h"
#include "memory/inference_time.h"
#include "sema/model/written.h"

struct slice writer_text(struct json_writer *w) {
  struct slice text = text_slice(&w->scratch);
  w->scratch.length = 0;
  return text;
}

/* The name of a node, or null. */
static void put_member_name(struct json_writer *w, const char *key,
                            int64_t node) {
  json_put_key(&w->json, key);
  if (node == NO_NODE) {
    json_put_null(&w->json);
    return;
  }
  model_put_name(&w->scratch, w->c->model, node);
  json_put_string(&w->json, writer_text(w));
}

static const char *const phases[] = {"forward", "backward", "step"};
static const char *const parts[] = {"gradients", "saved", "temporary"};

static void put_range(struct json_writer *w, struct node_range range) {
  put_member_name(w, "first_layer", range.first);
  put_member_name(w, "last_layer", range.end - 1);
}

static void put_checkpoints(struct json_writer *w) {
  const struct memory *m = &w->c->memory;
  struct json *json = &w->json;
  if (m->ranges.count || m->extra_macs)
    json_member_int(json, "extra_mac_count", m->extra_macs);
  if (!m->ranges.count)
    return;
  json_member_open(json, "checkpoints", '[');
  for (size_t i = 0; i < m->ranges.count; i++) {
    json_put_open(json, '{');
    put_range(w, m->ranges.at[i]);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

/* The named card; a process can use part of it. */
static void put_card(struct json *json, const struct gpu *card) {
  if (!card)
    return;
  json_member_open(json, "card", '{');
  json_member_string(json, "name", slice_of(card->word));
  json_member_int(json, "bytes", gpu_card_bytes(card));
  json_member_bool(json, "process_estimated", gpu_is_estimated(card));
  json_put_close(json, '}');
}

/* A device's memory, and the part that the net can use. */
static void put_device(struct json *json, const struct answer *a) {
  json_member_int(json, "device_bytes", a->device.bytes);
  put_card(json, a->card);
  json_member_int(json, "framework_bytes", a->device.taken);
  json_member_int(json, "reserve_bytes", max_i64(a->device.reserve, 0));
  json_member_int(json, "room_bytes", a->device.room);
  json_member_bool(json, "fits", verdict_holds(a->verdict));
  json_member_string(json, "verdict", slice_of(fit_word(a->verdict)));
}

/* Omits unknown values. */
static void put_known(struct json *json, const char *key, int64_t value) {
  if (value >= 0)
    json_member_int(json, key, value);
}

/* A type that the named card has no units for. */
static void put_type(struct json_writer *w) {
  const struct gpu *gpu = gpu_of(&w->c->settings->train);
  int element = gpu_lacks(w->c->settings, w->c->options->predict);
  struct json *json = &w->json;
  if (!element)
    return;
  json_member_open(json, "lacking_type", '{');
  json_member_string(json, "type", slice_of(element_word(element)));
  json_member_known(json, "capability", (double)gpu->capability / 10);
  json_member_known(json, "needed_capability",
                    (double)gpu_needed_capability(element) / 10);
  json_member_string(json, "instead", slice_of(gpu_instead(gpu, element)));
  json_put_close(json, '}');
}

/* The answer to the question, the same number as in all other outputs. */
static void put_runtime(struct json_writer *w) {
  json_member_string(&w->json, "runtime",
                     slice_of(runtime_word(w->c->settings->infer.runtime)));
}

/* The other nets of the process. */
void writer_put_beside(struct json_writer *w) {
  const struct beside_nets *beside = &w->c->memory.beside;
  struct json *json = &w->json;
  if (!beside->count)
    return;
  json_member_open(json, "beside", '[');
  for (size_t i = 0; i < beside->count; i++) {
    const struct beside_net *net = &beside->at[i];
    const struct beside_pass *pass =
        beside_pass_of(net, w->c->options->predict);
    json_put_open(json, '{');
    json_member_string(json, "net", slice_of(net->name));
    json_member_bool(json, "frozen", net->frozen);
    json_member_int(json, "batch", pass->batch);
    json_member_int(json, "parameters", net->params);
    json_member_int(json, "standing_bytes", pass->standing);
    json_member_int(json, "peak_bytes", pass->peak);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_length(struct json *json, const char *name, int64_t length,
                       int64_t peak) {
  json_member_open(json, name, '{');
  json_member_int(json, "length", length);
  json_member_some(json, "peak_bytes", peak);
  json_put_close(json, '}');
}

/* Lengths that differ from batch to batch. */
void writer_put_lengths(struct json_writer *w) {
  const struct lengths_peaks *lengths = &w->c->memory.lengths;
  struct json *json = &w->json;
  int64_t peak = memory_device(&w->c->memory).peak;
  if (!lengths->of.longest || w->c->options->predict)
    return;
  json_member_open(json, "lengths", '{');
  put_length(json, "shortest", lengths->of.shortest, lengths->shortest_peak);
  put_length(json, "mean", lengths->of.mean, lengths->mean_peak);
  put_length(json, "longest", lengths->of.longest, peak);
  json_member_int(json, "held_most_bytes",
                  size_product(peak, LENGTHS_HELD_MOST) / 100);
  json_put_close(json, '}');
}

void writer_put_files(struct json_writer *w) {
  struct model_files files = files_find(w->c->model, w->c->settings,
                                        &w->c->memory, w->c->options->predict);
  if (files.weights == INT64_MAX)
    return;
  json_member_open(&w->json, "files", '{');
  json_member_int(&w->json, "weights_bytes", files.weights);
  if (files.checkpoint < INT64_MAX)
    json_member_int(&w->json, "checkpoint_bytes", files.checkpoint);
  json_put_close(&w->json, '}');
}

void writer_put_answer(struct json_writer *w) {
  static const char *const questions[] = {[ASKED_TRAINING] = "training",
                                          [ASKED_PREDICTION] = "prediction",
                                          [ASKED_SERVING] = "serving"};
  const struct answer *a = asked_of(w->c);
  struct json *json = &w->json;
  if (!a || a->bytes == INT64_MAX)
    return;
  json_member_open(json, "answer", '{');
  json_member_string(json, "question", slice_of(questions[a->asked]));
  if (a->asked != ASKED_TRAINING)
    put_runtime(w);
  json_member_int(json, "bytes", a->bytes);
  json_member_int(json, "alone_bytes", a->alone);
  json_member_some(&w->json, "planned_bytes", a->planned);
  json_member_int(json, "devices", a->devices);
  if (a->host) {
    json_member_int(json, "host_bytes", a->host);
    json_member_some(&w->json, "host_room_bytes", a->host_room);
  }
  if (a->asked == ASKED_SERVING) {
    json_member_int(json, "context", a->context);
    json_member_int(json, "sequences", a->sequences);
  }
  if (a->served && a->served->blocks) {
    json_member_int(json, "layers", a->served->blocks);
    json_member_int(json, "gpu_layers", a->served->on_card);
    json_member_some(&w->json, "next_layer_bytes", a->served->next);
  }
  if (a->device.bytes) {
    put_device(json, a);
    json_member_int(json, "left_bytes", a->device.room - a->bytes);
    put_known(json, "largest_batch", a->largest_batch);
    put_known(json, "longest_context", a->longest_context);
    put_known(json, "most_sequences", a->most_sequences);
    put_known(json, "positions", a->positions);
  }
  put_type(w);
  json_put_close(json, '}');
}

/* A microcontroller; sizes that are not known are left out. */
void writer_put_board(struct json_writer *w) {
  const struct answer *a = asked_of(w->c);
  const struct firmware *f = a ? a->firmware : NULL;
  struct json *json = &w->json;
  if (!f)
    return;
  json_member_open(json, "board", '{');
  if (f->board) {
    json_member_string(json, "name", slice_of(f->board->word));
    json_member_string(json, "core", slice_of(core_word(f->board->core)));
  }
  json_member_string(json, "runtime", slice_of("netrt"));
  json_member_some(json, "ram_bytes", f->ram_room);
  json_member_some(json, "block_bytes", f->block);
  json_member_some(json, "flash_bytes", f->flash_room);
  json_member_int(json, "ram_need_bytes", f->ram);
  json_member_int(json, "flash_need_bytes", f->flash);
  json_member_string(json, "verdict", slice_of(fit_word(a->verdict)));
  json_member_bool(json, "measured", f->measured);
  json_member_int(json, "arena_bytes", f->arena);
  json_member_int(json, "stack_bytes", f->stack);
  json_member_int(json, "state_bytes", f->state);
  json_member_some(json, "loaded_bytes", f->loaded);
  json_member_int(json, "weight_bytes", f->weights);
  json_member_int(json, "table_bytes", f->tables);
  json_member_int(json, "code_bytes", f->code);
  json_member_some(json, "tflm_arena_bytes", f->instead);
  if (f->seconds > 0) {
    json_member_int(json, "bound_instructions", (int64_t)f->instructions);
    json_member_known(json, "bound_seconds", f->seconds);
  }
  if (f->why)
    json_member_string(json, "refusal", slice_of(f->why));
  json_put_close(json, '}');
}

static void put_fit(struct json_writer *w) {
  const struct fit *fit = &w->c->memory.fit;
  const struct train_settings *train = &w->c->settings->train;
  struct json *json = &w->json;
  if (!fit->device.bytes)
    return;
  json_member_int(json, "largest_batch", fit->largest_batch);
  json_member_open(json, "fit", '{');
  put_device(json,
             &(struct answer){.device = fit->device,
                              .card = train->memory ? NULL : gpu_of(train),
                              .verdict = fit_verdict(fit)});
  if (fit->host) {
    json_member_int(json, "host_bytes", fit->host);
    json_member_some(&w->json, "host_room_bytes", fit->host_room);
  }
  json_member_open(json, "ways", '[');
  for (size_t i = 0; i < fit->ways.count; i++) {
    const struct way_out *way = &fit->ways.at[i];
    json_put_open(json, '{');
    json_member_string(json, "options", slice_of(way->options));
    json_member_int(json, "peak_bytes", way->peak);
    json_member_some(json, "extra_mac_count", way->extra_macs);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
  json_put_close(json, '}');
}

static const char *const traffic[] = {
    "all_reduce_bytes", "all_gather_bytes",     "reduce_scatter_bytes",
    "all_to_all_bytes", "point_to_point_bytes", "host_link_bytes"};

/* Bytes that each device of a stage sends in a step, by kind. */
static void put_traffic(struct json_writer *w, const struct stage *stage) {
  json_member_open(&w->json, "sent", '{');
  for (int i = 0; i < TRAFFIC_COUNT; i++)
    json_member_some(&w->json, traffic[i], stage->sent[i]);
  json_put_close(&w->json, '}');
}

/* The parts of a net on a device that has several. */
static void put_parts(struct json_writer *w, const struct stage *stage) {
  struct json *json = &w->json;
  if (stage->part_count < 2)
    return;
  json_member_open(json, "parts", '[');
  for (size_t i = 0; i < stage->part_count; i++) {
    json_put_open(json, '{');
    put_range(w, stage->parts[i]);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_parallel(struct json_writer *w) {
  const struct parallel *p = &w->c->memory.parallel;
  struct json *json = &w->json;
  if (!p->stages.count)
    return;
  json_member_open(json, "parallel", '{');
  json_member_int(json, "device_count", p->devices);
  json_member_int(json, "microbatch", p->microbatch);
  json_member_int(json, "most_loaded_stage", (int64_t)p->most_loaded);
  if (p->host) {
    json_member_int(json, "host_device_count", p->host_devices);
    json_member_int(json, "host_bytes", p->host);
  }
  json_member_open(json, "stages", '[');
  for (size_t i = 0; i < p->stages.count; i++) {
    const struct stage *stage = &p->stages.at[i];
    json_put_open(json, '{');
    put_range(w, stage->nodes);
    put_parts(w, stage);
    json_member_int(json, "parameter_bytes", stage->parameters);
    json_member_int(json, "gradient_bytes", stage->gradients);
    json_member_int(json, "optimizer_bytes", stage->optimizer);
    json_member_some(&w->json, "master_bytes", stage->master);
    json_member_some(&w->json, "average_bytes", stage->averaged);
    json_member_some(&w->json, "paged_bytes", stage->paged);
    if (stage->paged)
      json_member_bool(&w->json, "peak_in_step", stage->steps);
    json_member_some(&w->json, "workspace_bytes", stage->workspace);
    json_member_some(&w->json, "clip_bytes", stage->clip);
    json_member_int(json, "buffer_bytes", stage->buffers);
    json_member_int(json, "input_bytes", stage->input);
    json_member_int(json, "gathered_bytes", stage->gathered);
    json_member_int(json, "bucket_bytes", stage->buckets);
    json_member_int(json, "saved_bytes", stage->activations);
    json_member_some(&w->json, "deferred_bytes", stage->deferred);
    json_member_int(json, "temporary_bytes", stage->temporary);
    json_member_int(json, "in_flight_count", stage->in_flight);
    if (p->repeated.count)
      json_member_int(json, "turn_count", parallel_turns(p, stage));
    json_member_int(json, "peak_bytes", stage->peak);
    json_member_some(&w->json, "host_bytes", stage->host);
    put_traffic(w, stage);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
  json_put_close(json, '}');
}

/* Tensors in memory at the peak, the largest first. */
static void put_alive(struct json_writer *w) {
  const struct memory *m = &w->c->memory;
  struct json *json = &w->json;
  json_member_open(json, "alive_at_peak", '[');
  for (size_t i = 0; i < m->alive.count; i++) {
    json_put_open(json, '{');
    put_member_name(w, "layer", m->alive.at[i].node);
    json_member_int(json, "bytes", m->alive.at[i].bytes);
    json_member_string(json, "kind", slice_of(parts[m->alive.at[i].part]));
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_moment(void *user, const struct moment *moment) {
  struct json_writer *w = user;
  struct json *json = &w->json;
  json_put_open(json, '{');
  json_member_string(json, "phase", slice_of(phases[moment->phase]));
  put_member_name(w, "layer", moment->node);
  json_member_string(json, "op", slice_of(moment->op));
  for (int k = 0; k < PART_COUNT; k++) {
    text_printf(&w->scratch, "%s_bytes", parts[k]);
    text_putc(&w->scratch, '\0');
    json_put_key(json, writer_text(w).at);
    json_put_int(json, moment->parts[k]);
  }
  json_put_close(json, '}');
}

static void put_timeline(struct json_writer *w) {
  const struct compiled *c = w->c;
  if (!w->c->options->timeline && !w->c->options->details)
    return;
  json_member_open(&w->json, "timeline", '[');
  memory_moments(c->model, c->settings, &c->memory, false, put_moment, w);
  json_put_close(&w->json, ']');
}

static void put_time(struct json_writer *w) {
  static const char *const names[TIME_PARTS] = {
      "product_seconds", "attention_seconds", "memory_seconds", "sent_seconds"};
  struct step_time time;
  struct json *json = &w->json;
  bool known = memory_time(w->c->model, w->c->settings, &w->c->memory, &time);
  if (!known && !time.missing)
    return;
  json_member_open(json, "time", '{');
  json_member_known(json, "predicted_seconds", time.predicted);
  json_member_known(json, "bound_seconds", time.bound.step);
  json_member_known(json, "mfu", time.mfu);
  if (time.cost.hours > 0)
    json_member_known(json, "hours", time.cost.hours);
  if (time.cost.money > 0)
    json_member_known(json, "money", time.cost.money);
  if (time.missing)
    json_member_string(json, "missing", slice_of(time.missing));
  if (known) {
    json_member_open(json, "parts", '{');
    for (int i = 0; i < TIME_PARTS; i++) {
      json_put_key(json, names[i]);
      json_put_real(json, time.parts[i]);
    }
    json_put_close(json, '}');
  }
  json_put_close(json, '}');
}

void writer_put_training(struct json_writer *w) {
  const struct training *t = &w->c->memory.training;
  const struct train_settings *train = &w->c->settings->train;
  struct json *json = &w->json;
  struct reserved reserved =
      memory_reserved(w->c->model, w->c->settings, &w->c->memory);
  json_member_open(json, "training", '{');
  json_member_string(json, "profile", slice_of(t->profile->name));
  json_member_bool(json, "measured", t->profile->measured);
  json_member_int(json, "batch", train->batch);
  json_member_string(json, "optimizer",
                     slice_of(optimizer_word(train->optimizer)));
  json_member_int(json, "parameter_bytes", t->parameters);
  json_member_int(json, "gradient_bytes", t->gradients);
  json_member_int(json, "optimizer_bytes", t->optimizer);
  json_member_some(&w->json, "master_bytes", t->master);
  json_member_some(&w->json, "average_bytes", t->averaged);
  json_member_some(&w->json, "paged_bytes", t->paged);
  json_member_int(json, "workspace_bytes", t->workspace);
  json_member_some(&w->json, "clip_bytes", t->clip.bytes);
  json_member_int(json, "buffer_bytes", t->buffers);
  json_member_int(json, "input_bytes", t->input);
  json_member_int(json, "rounding_bytes", t->rounding);
  json_member_int(json, "saved_bytes", t->saved);
  json_member_int(json, "forward_peak_bytes", t->forward);
  json_member_int(json, "backward_peak_bytes", t->backward);
  json_member_int(json, "step_peak_bytes", t->step);
  json_member_int(json, "peak_bytes", memory_device(&w->c->memory).peak);
  json_member_int(json, "alone_peak_bytes", t->peak);
  json_member_some(&w->json, "allocated_bytes", reserved.given);
  json_member_some(&w->json, "reserved_bytes", reserved.bytes);
  int64_t context = fit_context(train, reserved.bytes);
  json_member_some(&w->json, "context_bytes", context);
  json_member_some(&w->json, "occupied_bytes",
                   context ? reserved.bytes + context : 0);
  json_member_string(json, "peak_phase", slice_of(phases[t->at.phase]));
  put_member_name(w, "peak_layer", t->at.node);
  put_alive(w);
  put_checkpoints(w);
  put_fit(w);
  put_parallel(w);
  put_time(w);
  put_timeline(w);
  json_put_close(json, '}');
}

/* Forms of buffers' rows: most rows are like an earlier one. */
enum { PLACES = 64 };

enum { HOLE_NAME, HOLE_LAYER, HOLE_FIRST, HOLE_LAST };

struct json_place {
  const struct arena_buffer *buffer; /* NULL: none yet */
  struct json_form form;
  struct names names;
};

struct json_places {
  struct json_place at[PLACES];
  struct counter layer, first, last;
};

static bool same_place(const struct arena_buffer *a,
                       const struct arena_buffer *b) {
  return a->offset == b->offset && a->bytes == b->bytes && a->part == b->part;
}

static void write_place(struct json_writer *w, struct json_place *place,
                        const struct arena_buffer *buffer) {
  struct json_form *form = &place->form;
  struct json *json = &w->json;
  struct text *out = form_begin(w, form);
  place->buffer = buffer;
  json_put_open(json, '{');
  json_put_key(json, "name");
  text_putc(json->out, '"');
  form_hole(w, form);
  if (buffer->part)
    text_printf(json->out, ".%s", buffer->part);
  text_putc(json->out, '"');
  json_put_key(json, "layer");
  form_hole(w, form);
  json_member_int(json, "offset", buffer->offset);
  json_member_int(json, "bytes", buffer->bytes);
  json_put_key(json, "first");
  form_hole(w, form);
  json_put_key(json, "last");
  form_hole(w, form);
  json_put_close(json, '}');
  form_end(w, form, out);
}

static void put_buffer(struct json_writer *w, struct json_places *places,
                       const struct arena_buffer *buffer) {
  uint64_t hash = (uint64_t)buffer->offset ^ (uint64_t)buffer->bytes << 1;
  struct json_place *place = &places->at[(hash ^ hash >> 12) % PLACES];
  const struct json_form *form = &place->form;
  struct text *out = w->json.out;
  if (!place->buffer || !same_place(place->buffer, buffer))
    write_place(w, place, buffer);
  form_open(w, form);
  names_put(&place->names, out, w->c->model, buffer->node);
  form_put(out, form, HOLE_NAME);
  text_counter(out, &places->layer, buffer->node);
  form_put(out, form, HOLE_LAYER);
  text_counter(out, &places->first, buffer->first);
  form_put(out, form, HOLE_FIRST);
  text_counter(out, &places->last, buffer->last);
  form_put(out, form, HOLE_LAST);
}

static void put_arena(struct json_writer *w) {
  const struct inference *f = &w->c->memory.inference;
  struct json *json = &w->json;
  struct json_places *places = ARENA_NEW(json->out->arena, struct json_places);
  json_member_open(json, "arena", '{');
  json_member_int(json, "bytes", f->plan.height);
  json_member_int(json, "lower_bound_bytes", f->plan.lower_bound);
  json_member_bool(json, "optimal", f->plan.optimal);
  json_member_int(json, "align_bytes", w->c->settings->infer.align);
  json_member_open(json, "buffers", '[');
  for (size_t i = 0; i < f->arena.count; i++)
    put_buffer(w, places, &f->arena.at[i]);
  json_put_close(json, ']');
  json_put_close(json, '}');
}

/* How inference streams rows of the input, or why it does not. */
static void put_stream(struct json_writer *w,
                       const struct inference_lines *lines) {
  json_member_open(&w->json, "stream", '{');
  json_member_bool(&w->json, "possible", lines->window > 0);
  if (lines->window) {
    put_member_name(w, "last_layer", lines->last);
    json_member_int(&w->json, "window_rows", lines->window);
    json_member_int(&w->json, "hop_rows", lines->hop);
    json_member_int(&w->json, "state_bytes", lines->bytes);
    json_member_int(&w->json, "mac_count", lines->macs);
  }
  if (lines->fault) {
    put_member_name(w, "layer", lines->fault_node);
    json_member_string(&w->json, "reason", slice_of(lines->fault));
  }
  json_put_close(&w->json, '}');
}

/* The first stages, if they are computed row by row. */
static void put_patches(struct json_writer *w) {
  const struct inference_lines *lines = &w->c->memory.inference.lines;
  if (lines->window || lines->fault) {
    put_stream(w, lines);
    return;
  }
  if (!lines->count)
    return;
  json_member_open(&w->json, "patches", '{');
  put_member_name(w, "first_layer", lines->first);
  put_member_name(w, "last_layer", lines->last);
  json_member_int(&w->json, "operations", (int64_t)lines->count);
  json_member_int(&w->json, "row_bytes", lines->bytes);
  json_put_close(&w->json, '}');
}

/* For --predict: whether inference fits the named device. */
static void put_prediction_fit(struct json_writer *w) {
  const struct answer *a = w->c->options->predict ? asked_of(w->c) : NULL;
  struct json *json = &w->json;
  if (!a || a->asked != ASKED_PREDICTION || !a->device.bytes || a->firmware)
    return;
  json_member_open(json, "fit", '{');
  json_member_int(json, "need_bytes", a->bytes);
  put_device(json, a);
  put_known(json, "largest_batch", a->largest_batch);
  put_known(json, "longest_context", a->longest_context);
  json_put_close(json, '}');
}

/* A batch on the named device: only a bound is known. */
static void put_prediction_time(struct json_writer *w) {
  struct inference_time time;
  struct json *json = &w->json;
  if (!inference_time_find(w->c->model, w->c->settings, &time))
    return;
  json_member_open(json, "time", '{');
  json_member_known(json, "predicted_seconds", 0);
  json_member_known(json, "bound_seconds", time.bound);
  json_member_string(json, "basis", slice_of("bound"));
  if (time.missing)
    json_member_string(json, "missing", slice_of(time.missing));
  json_put_close(json, '}');
}

/* A layer of attention whose KV cache is not counted. */
static void put_lacks(struct json_writer *w) {
  int64_t node = unkept_attention(w->c->model);
  if (node != NO_NODE)
    put_member_name(w, "cache_lacks", node);
}

void writer_put_inference(struct json_writer *w) {
  const struct inference *f = &w->c->memory.inference;
  const struct infer_settings *infer = &w->c->settings->infer;
  struct json *json = &w->json;
  json_member_open(json, "inference", '{');
  put_runtime(w);
  json_member_int(json, "batch", infer->batch);
  json_member_int(json, "parameter_bytes", f->parameters);
  json_member_int(json, "buffer_bytes", f->buffers);
  json_member_int(json, "weight_bytes", f->weights);
  json_member_int(json, "framework_peak_bytes", f->framework);
  json_member_int(json, "source_order_peak_bytes", f->source_order);
  json_member_int(json, "peak_live_bytes", f->live);
  json_member_bool(json, "order_exact", f->order_exact);
  put_member_name(w, "peak_layer", f->live_node);
  if (f->order.count) {
    json_member_open(json, "order", '[');
    for (size_t i = 0; i < f->order.count; i++)
      json_put_int(json, f->order.at[i]);
    json_put_close(json, ']');
  }
  if (infer->decode)
    json_member_int(json, "cache_bytes", f->cache);
  if (infer->decode || infer->context || infer->sequences)
    put_lacks(w);
  put_prediction_fit(w);
  put_prediction_time(w);
  put_patches(w);
  put_arena(w);
  json_put_close(json, '}');
}
