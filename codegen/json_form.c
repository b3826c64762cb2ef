/* json: builds rows from parts of earlier rows. */
#include "codegen/json_writer.h"

struct text *form_begin(struct json_writer *w, struct json_form *form) {
  struct text *out = w->json.out;
  form->text.arena = out->arena;
  form->text.length = 0;
  form->holes = 0;
  form->first = w->json.first;
  w->json.out = &form->text;
  w->json.first = true; /* form_open() separates the rows */
  return out;
}

void form_hole(struct json_writer *w, struct json_form *form) {
  form->ends[form->holes++] = form->text.length;
  w->json.after_key = false; /* the next value is not this key's */
  w->json.first = false;
}

void form_end(struct json_writer *w, struct json_form *form, struct text *out) {
  form->ends[form->holes] = form->text.length;
  w->json.out = out;
  w->json.first = form->first;
}

void form_open(struct json_writer *w, const struct json_form *form) {
  struct json *json = &w->json;
  if (!json->first)
    text_put(json->out, json->depth >= json->inline_depth ? ", " : ",");
  json->first = false;
  text_bytes(json->out, form->text.at, form->ends[0]);
}

static bool same_stem(const struct node *a, const struct node *b) {
  return a && a->group == b->group && a->name.at == b->name.at &&
         a->name.length == b->name.length &&
         a->name.repeated == b->name.repeated;
}

void names_put(struct names *names, struct text *out, const struct model *model,
               int64_t index) {
  const struct node *node = &model->nodes.at[index];
  if (node->head != index || !node->name.ordinal) {
    model_put_name(out, model, index);
    return;
  }
  if (!same_stem(names->like, node)) {
    names->like = node;
    names->stem.arena = out->arena;
    names->stem.length = 0;
    model_put_stem(&names->stem, model, index);
  }
  text_puts(out, text_slice(&names->stem));
  text_counter(out, &names->number, node->name.ordinal);
}
