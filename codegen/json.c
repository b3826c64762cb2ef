/* json: the report for programs; docs/report.schema.json describes it. */
#include "base/json.h"

#include "codegen/rows.h"

struct writer {
  const struct compiled *c;
  const struct emit_options *options;
  struct json json;
  struct text scratch;
};

static struct slice made(struct writer *w) {
  struct slice text = text_slice(&w->scratch);
  w->scratch.length = 0;
  return text;
}

static void put_shape(struct writer *w, const struct shape *shape) {
  json_put_open(&w->json, '[');
  for (int i = 0; i < shape->rank; i++)
    json_put_int(&w->json, shape->dim[i]);
  json_put_close(&w->json, ']');
}

static void put_sizes(struct json *json, const struct sizes *sizes) {
  json_put_open(json, '[');
  for (int i = 0; i < sizes->rank; i++)
    json_put_int(json, sizes->at[i]);
  json_put_close(json, ']');
}

static void put_size(struct json *json, int64_t size) {
  if (size == SIZE_ANY)
    json_put_null(json);
  else
    json_put_int(json, size);
}

static void put_padding(struct json *json, const struct padding *pad) {
  if (pad->mode == PADDING_SAME) {
    json_put_string(json, slice_of("same"));
    return;
  }
  json_put_open(json, '{');
  json_put_key(json, "before");
  put_sizes(json, &pad->before);
  json_put_key(json, "after");
  put_sizes(json, &pad->after);
  json_put_close(json, '}');
}

static void put_axes(struct json *json, const struct axes *axes) {
  static const char *const letters[] = {"c", "w", "h", "d", "l"};
  json_put_open(json, '[');
  for (int i = 0; i < axes->count; i++) {
    if (axes->at[i] >= AXIS_C)
      json_put_string(json, slice_of(letters[axes->at[i] - AXIS_C]));
    else
      json_put_int(json, axes->at[i]);
  }
  json_put_close(json, ']');
}

static void put_attribute(struct json *json, const struct arg_spec *spec,
                          const void *at) {
  const struct range *range = at;
  const struct shape *shape = at;
  json_put_key(json, spec->name);
  switch (spec->type) {
  case TYPE_INT:
    if (spec->words && *(const int64_t *)at < 0)
      json_put_string(json, word_at(spec->words, 1));
    else
      json_put_int(json, *(const int64_t *)at);
    break;
  case TYPE_REAL: json_put_real(json, *(const double *)at); break;
  case TYPE_SIZES: put_sizes(json, at); break;
  case TYPE_PADDING: put_padding(json, at); break;
  case TYPE_SHAPE:
    json_put_open(json, '[');
    for (int i = 0; i < shape->rank; i++)
      put_size(json, shape->dim[i]);
    json_put_close(json, ']');
    break;
  case TYPE_RANGE:
    json_put_open(json, '[');
    put_size(json, range->from);
    put_size(json, range->to);
    json_put_close(json, ']');
    break;
  case TYPE_AXIS:
  case TYPE_AXES: put_axes(json, at); break;
  case TYPE_WORDS:
  case TYPE_CHOICE:
    if (spec->type == TYPE_CHOICE && *(const int *)at == 0)
      json_put_null(json); /* not chosen */
    else if (spec->type == TYPE_WORDS && !word_at(spec->words, 2).length)
      json_put_bool(json, *(const int *)at != 0);
    else
      json_put_string(json, word_at(spec->words, *(const int *)at));
    break;
  case TYPE_BIAS:
    json_put_bool(json, *(const enum bias *)at == BIAS_YES);
    break;
  case TYPE_LAYER:
  case TYPE_INPUT:
    json_put_string(json, ((const struct layer_ref *)at)->name);
    break;
  }
}

static void put_attributes(struct writer *w, const struct node *node) {
  const struct arg_spec *specs = node->kind->specs;
  json_put_key(&w->json, "attributes");
  json_put_open(&w->json, '{');
  for (int i = 0; specs && specs[i].name; i++)
    if (node->given >> i & 1)
      put_attribute(&w->json, &specs[i],
                    (const char *)node->args + specs[i].offset);
  json_put_close(&w->json, '}');
}

static void put_source(struct writer *w, struct span span) {
  struct position p = sources_position(w->c->sources, span.begin);
  json_put_key(&w->json, "source");
  json_put_open(&w->json, '{');
  json_member_string(&w->json, "file", p.source->name);
  json_member_int(&w->json, "line", p.line);
  json_member_int(&w->json, "col", p.column);
  json_put_close(&w->json, '}');
}

static void put_inputs(struct writer *w, const struct node *node) {
  const struct model *model = w->c->model;
  json_put_key(&w->json, "inputs");
  json_put_open(&w->json, '[');
  for (int i = 0; i < node->input_count; i++)
    json_put_int(&w->json, node_input(model, node, i));
  json_put_close(&w->json, ']');
  json_put_key(&w->json, "in");
  json_put_open(&w->json, '[');
  for (int i = 0; i < node->input_count; i++)
    put_shape(w, &model->nodes.at[node_input(model, node, i)].out);
  json_put_close(&w->json, ']');
  json_put_key(&w->json, "out");
  json_put_open(&w->json, '[');
  put_shape(w, &node->out);
  json_put_close(&w->json, ']');
  shape_axes(&w->scratch, &node->out, LAYOUT_HWC);
  json_member_string(&w->json, "axes", made(w));
}

static void put_cost(struct writer *w, const struct cost *cost) {
  struct json *json = &w->json;
  json_member_int(json, "param_count", cost->params);
  json_member_int(json, "trainable_count", cost->trainable);
  json_member_int(json, "buffer_count", cost->buffers);
  json_member_int(json, "activation_count", cost->activations);
  json_member_int(json, "mac_count", cost->macs);
}

static void put_layer(struct writer *w, int64_t index, size_t *warning) {
  const struct model *model = w->c->model;
  const struct node *node = &model->nodes.at[index];
  struct json *json = &w->json;
  json_put_open(json, '{');
  json_member_int(json, "index", index);
  model_put_name(&w->scratch, model, index);
  json_member_string(json, "name", made(w));
  json_member_string(json, "op", slice_of(node->kind->name));
  put_source(w, node->span);
  put_inputs(w, node);
  put_attributes(w, node);
  put_cost(w, &model->costs[index]);
  json_member_int(json, "saved_bytes", w->c->memory.saved_by_node[index]);
  json_put_key(json, "warnings");
  json_put_open(json, '[');
  for (; *warning < model->warnings.count &&
         model->warnings.at[*warning].node == index;
       (*warning)++)
    json_put_string(
        json, slice_of(slug_info(model->warnings.at[*warning].slug)->name));
  json_put_close(json, ']');
  json_put_close(json, '}');
}

static void put_layers(struct writer *w) {
  size_t warning = 0;
  json_put_key(&w->json, "layers");
  json_put_open(&w->json, '[');
  for (size_t i = 0; i < w->c->model->nodes.count; i++)
    put_layer(w, (int64_t)i, &warning);
  json_put_close(&w->json, ']');
}

static void put_settings(struct writer *w) {
  const struct settings *s = w->c->settings;
  const struct {
    const char *name;
    const struct arg_spec *specs;
    const void *section;
  } sections[] = {{"train", train_specs, &s->train},
                  {"infer", infer_specs, &s->infer},
                  {"budget", budget_specs, &s->budget}};
  json_put_key(&w->json, "settings");
  json_put_open(&w->json, '{');
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    const struct arg_spec *specs = sections[i].specs;
    json_put_key(&w->json, sections[i].name);
    json_put_open(&w->json, '{');
    for (; specs->name; specs++)
      put_attribute(&w->json, specs,
                    (const char *)sections[i].section + specs->offset);
    json_put_close(&w->json, '}');
  }
  json_put_close(&w->json, '}');
}

static void put_ends(struct writer *w) {
  const struct model *model = w->c->model;
  json_put_key(&w->json, "inputs");
  json_put_open(&w->json, '[');
  for (size_t i = 0; i < model->sources.count; i++) {
    int64_t index = model->sources.at[i];
    const struct shape *shape = &model->nodes.at[index].out;
    json_put_open(&w->json, '{');
    model_put_name(&w->scratch, model, index);
    json_member_string(&w->json, "name", made(w));
    json_member_int(&w->json, "layer", index);
    json_put_key(&w->json, "shape");
    put_shape(w, shape);
    json_member_string(&w->json, "dtype",
                       slice_of(shape->dtype == DTYPE_FLOAT ? "float"
                                : shape->dtype == DTYPE_I32 ? "i32"
                                                            : "i64"));
    json_put_close(&w->json, '}');
  }
  json_put_close(&w->json, ']');
  json_put_key(&w->json, "outputs");
  json_put_open(&w->json, '[');
  for (size_t i = 0; i < model->outputs.count; i++) {
    const struct output *output = &model->outputs.at[i];
    json_put_open(&w->json, '{');
    if (output->name.at)
      text_puts(&w->scratch, output->name);
    else
      model_put_name(&w->scratch, model, output->node);
    json_member_string(&w->json, "name", made(w));
    json_member_int(&w->json, "layer", output->node);
    json_put_key(&w->json, "shape");
    put_shape(w, &model->nodes.at[output->node].out);
    json_put_close(&w->json, '}');
  }
  json_put_close(&w->json, ']');
}

static void put_totals(struct writer *w) {
  const struct model *model = w->c->model;
  json_put_key(&w->json, "totals");
  json_put_open(&w->json, '{');
  put_cost(w, &model->total);
  json_member_int(&w->json, "param_bytes", w->c->rule.prediction_params);
  json_member_int(&w->json, "activation_bytes", model->total.activation_bytes);
  json_put_close(&w->json, '}');
}

static void put_rule(struct writer *w) {
  const struct rule *rule = &w->c->rule;
  struct json *json = &w->json;
  json_put_key(json, "rule");
  json_put_open(json, '{');
  json_member_int(json, "batch", w->c->settings->train.batch);
  json_member_string(json, "optimizer",
                     optimizer_name(w->c->settings->train.optimizer));
  json_member_int(json, "prediction_bytes", rule->prediction);
  json_member_int(json, "prediction_param_bytes", rule->prediction_params);
  json_member_int(json, "prediction_activation_bytes",
                  rule->prediction_activations);
  json_member_int(json, "training_bytes", rule->training);
  json_member_int(json, "training_param_bytes", rule->training_params);
  json_member_int(json, "training_activation_bytes",
                  rule->training_activations);
  json_member_int(json, "training_misc_bytes", rule->misc);
  json_put_close(json, '}');
}

/* The name of a node; null if there is none. */
static void put_member_name(struct writer *w, const char *key, int64_t node) {
  json_put_key(&w->json, key);
  if (node == NO_NODE) {
    json_put_null(&w->json);
    return;
  }
  model_put_name(&w->scratch, w->c->model, node);
  json_put_string(&w->json, made(w));
}

static const char *const phases[] = {"forward", "backward", "step"};
static const char *const parts[] = {"gradients", "saved", "temporary"};

static void put_range(struct writer *w, struct node_range range) {
  put_member_name(w, "first_layer", range.first);
  put_member_name(w, "last_layer", range.end - 1);
}

static void put_checkpoints(struct writer *w) {
  const struct memory *m = &w->c->memory;
  struct json *json = &w->json;
  if (!m->ranges.count)
    return;
  json_member_int(json, "extra_mac_count", m->extra_macs);
  json_put_key(json, "checkpoints");
  json_put_open(json, '[');
  for (size_t i = 0; i < m->ranges.count; i++) {
    json_put_open(json, '{');
    put_range(w, m->ranges.at[i]);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_fit(struct writer *w) {
  const struct fit *fit = &w->c->memory.fit;
  struct json *json = &w->json;
  if (!fit->device)
    return;
  json_member_int(json, "largest_batch", fit->largest_batch);
  json_put_key(json, "fit");
  json_put_open(json, '{');
  json_member_int(json, "device_bytes", fit->device);
  json_member_int(json, "framework_bytes", fit->taken);
  json_member_int(json, "room_bytes", fit->room);
  json_put_key(json, "fits");
  json_put_bool(json, fit->peak <= fit->room);
  json_put_key(json, "ways");
  json_put_open(json, '[');
  for (size_t i = 0; i < fit->ways.count; i++) {
    const struct way_out *way = &fit->ways.at[i];
    json_put_open(json, '{');
    text_put(&w->scratch, way->what);
    if (way->number)
      text_printf(&w->scratch, " %lld", (long long)way->number);
    json_member_string(json, "options", made(w));
    json_member_int(json, "peak_bytes", way->peak);
    if (way->extra_macs)
      json_member_int(json, "extra_mac_count", way->extra_macs);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
  json_put_close(json, '}');
}

static void put_parallel(struct writer *w) {
  const struct parallel *p = &w->c->memory.parallel;
  struct json *json = &w->json;
  if (!p->stages.count)
    return;
  json_put_key(json, "parallel");
  json_put_open(json, '{');
  json_member_int(json, "device_count", p->devices);
  json_member_int(json, "microbatch", p->microbatch);
  json_member_int(json, "most_loaded_stage", (int64_t)p->most_loaded);
  json_put_key(json, "stages");
  json_put_open(json, '[');
  for (size_t i = 0; i < p->stages.count; i++) {
    const struct stage *stage = &p->stages.at[i];
    json_put_open(json, '{');
    put_range(w, stage->nodes);
    json_member_int(json, "parameter_bytes", stage->parameters);
    json_member_int(json, "gradient_bytes", stage->gradients);
    json_member_int(json, "optimizer_bytes", stage->optimizer);
    json_member_int(json, "buffer_bytes", stage->buffers);
    json_member_int(json, "input_bytes", stage->input);
    json_member_int(json, "gathered_bytes", stage->gathered);
    json_member_int(json, "bucket_bytes", stage->buckets);
    json_member_int(json, "saved_bytes", stage->activations);
    json_member_int(json, "temporary_bytes", stage->temporary);
    json_member_int(json, "in_flight_count", stage->in_flight);
    json_member_int(json, "peak_bytes", stage->peak);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
  json_put_close(json, '}');
}

/* What is alive at the peak, the largest first. */
static void put_alive(struct writer *w) {
  const struct memory *m = &w->c->memory;
  struct json *json = &w->json;
  json_put_key(json, "alive_at_peak");
  json_put_open(json, '[');
  for (size_t i = 0; i < m->alive.count; i++) {
    json_put_open(json, '{');
    put_member_name(w, "layer", m->alive.at[i].node);
    json_member_int(json, "bytes", m->alive.at[i].bytes);
    json_member_string(json, "kind", slice_of(parts[m->alive.at[i].part]));
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_timeline(struct writer *w) {
  const struct memory *m = &w->c->memory;
  struct json *json = &w->json;
  if (!m->timeline.count)
    return;
  json_put_key(json, "timeline");
  json_put_open(json, '[');
  for (size_t i = 0; i < m->timeline.count; i++) {
    const struct moment *moment = &m->timeline.at[i];
    json_put_open(json, '{');
    json_member_string(json, "phase", slice_of(phases[moment->phase]));
    put_member_name(w, "layer", moment->node);
    json_member_string(json, "op", slice_of(moment->op));
    for (int k = 0; k < PART_COUNT; k++) {
      text_printf(&w->scratch, "%s_bytes", parts[k]);
      text_putc(&w->scratch, '\0');
      json_put_key(json, made(w).at);
      json_put_int(json, moment->parts[k]);
    }
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
}

static void put_training(struct writer *w) {
  const struct training *t = &w->c->memory.training;
  const struct train_settings *train = &w->c->settings->train;
  struct json *json = &w->json;
  json_put_key(json, "training");
  json_put_open(json, '{');
  json_member_string(json, "profile", slice_of(t->profile->name));
  json_member_int(json, "batch", train->batch);
  json_member_string(json, "optimizer", optimizer_name(train->optimizer));
  json_member_int(json, "parameter_bytes", t->parameters);
  json_member_int(json, "gradient_bytes", t->gradients);
  json_member_int(json, "optimizer_bytes", t->optimizer);
  json_member_int(json, "workspace_bytes", t->workspace);
  json_member_int(json, "buffer_bytes", t->buffers);
  json_member_int(json, "input_bytes", t->input);
  json_member_int(json, "saved_bytes", t->saved);
  json_member_int(json, "forward_peak_bytes", t->forward);
  json_member_int(json, "backward_peak_bytes", t->backward);
  json_member_int(json, "step_peak_bytes", t->step);
  json_member_int(json, "peak_bytes", t->peak);
  json_member_string(json, "peak_phase", slice_of(phases[t->at.phase]));
  put_member_name(w, "peak_layer", t->at.node);
  put_alive(w);
  put_checkpoints(w);
  put_fit(w);
  put_parallel(w);
  put_timeline(w);
  json_put_close(json, '}');
}

static void put_arena(struct writer *w) {
  const struct inference *f = &w->c->memory.inference;
  struct json *json = &w->json;
  json_put_key(json, "arena");
  json_put_open(json, '{');
  json_member_int(json, "bytes", f->plan.height);
  json_member_int(json, "lower_bound_bytes", f->plan.lower_bound);
  json_put_key(json, "optimal");
  json_put_bool(json, f->plan.optimal);
  json_member_int(json, "align_bytes", w->c->settings->infer.align);
  json_put_key(json, "buffers");
  json_put_open(json, '[');
  for (size_t i = 0; i < f->arena.count; i++) {
    const struct arena_buffer *buffer = &f->arena.at[i];
    json_put_open(json, '{');
    model_put_name(&w->scratch, w->c->model, buffer->node);
    if (buffer->part)
      text_printf(&w->scratch, ".%s", buffer->part);
    json_member_string(json, "name", made(w));
    json_member_int(json, "layer", buffer->node);
    json_member_int(json, "offset", buffer->offset);
    json_member_int(json, "bytes", buffer->bytes);
    json_member_int(json, "first", buffer->first);
    json_member_int(json, "last", buffer->last);
    json_put_close(json, '}');
  }
  json_put_close(json, ']');
  json_put_close(json, '}');
}

static void put_inference(struct writer *w) {
  const struct inference *f = &w->c->memory.inference;
  const struct infer_settings *infer = &w->c->settings->infer;
  struct json *json = &w->json;
  json_put_key(json, "inference");
  json_put_open(json, '{');
  json_member_int(json, "batch", infer->batch);
  json_member_int(json, "parameter_bytes", f->parameters);
  json_member_int(json, "buffer_bytes", f->buffers);
  json_member_int(json, "weight_bytes", f->weights);
  json_member_int(json, "framework_peak_bytes", f->framework);
  json_member_int(json, "source_order_peak_bytes", f->source_order);
  json_member_int(json, "peak_live_bytes", f->live);
  json_put_key(json, "order_exact");
  json_put_bool(json, f->order_exact);
  put_member_name(w, "peak_layer", f->live_node);
  if (f->order.count) {
    json_put_key(json, "order");
    json_put_open(json, '[');
    for (size_t i = 0; i < f->order.count; i++)
      json_put_int(json, f->order.at[i]);
    json_put_close(json, ']');
  }
  if (infer->decode)
    json_member_int(json, "cache_bytes", f->cache);
  put_arena(w);
  json_put_close(json, '}');
}

static void put_diagnostics(struct writer *w) {
  const struct diags *diags = w->c->diags;
  json_put_key(&w->json, "diagnostics");
  json_put_open(&w->json, '[');
  for (size_t i = 0; i < diags->all.count; i++)
    diag_render_json(&w->json, w->c->sources, diags->all.at[i]);
  json_put_close(&w->json, ']');
}

void emit_json(const struct compiled *c, const struct emit_options *options,
               struct text *out) {
  struct writer w = {.c = c,
                     .options = options,
                     .json = json_writer(out, 3),
                     .scratch = text_new(c->arena)};
  json_put_open(&w.json, '{');
  json_member_string(&w.json, "schema", slice_of("netc.report/1"));
  json_member_string(&w.json, "net", c->model->name);
  json_member_string(&w.json, "source", c->sources->all.at[c->source].name);
  put_settings(&w);
  put_ends(&w);
  put_layers(&w);
  put_totals(&w);
  put_rule(&w);
  put_training(&w);
  put_inference(&w);
  put_diagnostics(&w);
  json_put_close(&w.json, '}');
  text_putc(out, '\n');
}
