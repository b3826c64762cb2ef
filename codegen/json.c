/* json: the report for programs; docs/report.schema.json describes it. */
#include "codegen/json_writer.h"
#include "codegen/section.h"

static void put_settings(struct json_writer *w) {
  const struct settings *s = w->c->settings;
  const struct {
    const char *name;
    const struct arg_spec *specs;
    const void *section;
  } sections[] = {{"train", train_specs, &s->train},
                  {"infer", infer_specs, &s->infer},
                  {"budget", budget_specs, &s->budget}};
  json_member_open(&w->json, "settings", '{');
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    const struct arg_spec *specs = sections[i].specs;
    json_member_open(&w->json, sections[i].name, '{');
    for (; specs->name; specs++) {
      const void *at = (const char *)sections[i].section + specs->offset;
      if (specs->parts == PARTS_ONLY) {
        settings_put_parts(&w->scratch, sections[i].specs, specs,
                           sections[i].section);
        json_member_string(&w->json, specs->name, writer_text(w));
      } else if (specs->type == TYPE_CHOICE && *(const int *)at)
        json_member_string(&w->json, specs->name,
                           settings_choice(s, specs, *(const int *)at));
      else
        writer_put_argument(w, specs, at);
    }
    json_put_close(&w->json, '}');
  }
  json_put_close(&w->json, '}');
}

static void put_ends(struct json_writer *w) {
  const struct model *model = w->c->model;
  json_member_open(&w->json, "inputs", '[');
  for (size_t i = 0; i < model->sources.count; i++) {
    int64_t index = model->sources.at[i];
    const struct shape *shape = model->nodes.at[index].out;
    json_put_open(&w->json, '{');
    model_put_name(&w->scratch, model, index);
    json_member_string(&w->json, "name", writer_text(w));
    json_member_int(&w->json, "layer", index);
    json_put_key(&w->json, "shape");
    writer_put_shape(w, shape);
    json_member_string(&w->json, "dtype",
                       slice_of(shape->dtype == DTYPE_FLOAT ? "float"
                                : shape->dtype == DTYPE_I32 ? "i32"
                                                            : "i64"));
    if (model->nodes.at[index].train_only)
      json_member_bool(&w->json, "only_training", true);
    json_put_close(&w->json, '}');
  }
  json_put_close(&w->json, ']');
  json_member_open(&w->json, "outputs", '[');
  for (size_t i = 0; i < model->outputs.count; i++) {
    const struct output *output = &model->outputs.at[i];
    json_put_open(&w->json, '{');
    if (output->name.at)
      text_puts(&w->scratch, output->name);
    else
      model_put_name(&w->scratch, model, output->node);
    json_member_string(&w->json, "name", writer_text(w));
    json_member_int(&w->json, "layer", output->node);
    json_put_key(&w->json, "shape");
    writer_put_shape(w, model->nodes.at[output->node].out);
    if (output->train_only)
      json_member_bool(&w->json, "only_training", true);
    json_put_close(&w->json, '}');
  }
  json_put_close(&w->json, ']');
}

static void put_totals(struct json_writer *w) {
  const struct model *model = w->c->model;
  json_member_open(&w->json, "totals", '{');
  writer_put_cost(w, &model->total);
  json_member_int(&w->json, "param_bytes", w->c->memory.rule.prediction_params);
  json_member_int(&w->json, "activation_bytes", model->total.activation_bytes);
  json_put_close(&w->json, '}');
}

static void put_rule(struct json_writer *w) {
  const struct rule *rule = &w->c->memory.rule;
  struct json *json = &w->json;
  json_member_open(json, "rule", '{');
  json_member_int(json, "batch", w->c->settings->train.batch);
  json_member_string(json, "optimizer",
                     slice_of(optimizer_word(w->c->settings->train.optimizer)));
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

static void put_diagnostics(struct json_writer *w) {
  const struct diags *diags = w->c->diags;
  json_member_open(&w->json, "diagnostics", '[');
  for (size_t i = 0; i < diags->all.count; i++)
    diag_render_json(&w->json, w->c->sources, diags->all.at[i]);
  json_put_close(&w->json, ']');
}

void emit_json(const struct compiled *c, struct text *out) {
  struct json_writer w = {
      .c = c, .json = json_writer(out, 3), .scratch = text_new(c->arena)};
  json_put_open(&w.json, '{');
  json_member_string(&w.json, "schema", slice_of("netc.report/1"));
  json_member_string(&w.json, "net", c->model->name);
  json_member_string(&w.json, "source", c->sources->all.at[c->source].name);
  put_settings(&w);
  put_ends(&w);
  writer_put_layers(&w);
  put_totals(&w);
  put_rule(&w);
  writer_put_answer(&w);
  writer_put_beside(&w);
  writer_put_lengths(&w);
  writer_put_files(&w);
  writer_put_board(&w);
  writer_put_training(&w);
  writer_put_inference(&w);
#define SECTION(name) name.json(&w);
#include "codegen/sections.def"
  put_diagnostics(&w);
  json_put_close(&w.json, '}');
  text_putc(out, '\n');
}
