/* What the editor asks of the net after a load, as JSON; places are bytes. */
#include "web/session.h"

/* Diagnostics */

static void put_place(struct web_answer *a, const struct netc_place *place) {
  web_member(a, "file", place->file);
  json_member_int(&a->json, "line", place->line);
  json_member_int(&a->json, "begin", (int64_t)place->begin);
  json_member_int(&a->json, "end", (int64_t)place->end);
}

static void put_texts(struct web_answer *a, const char *key,
                      const char *const *texts, size_t count) {
  json_member_open(&a->json, key, '[');
  for (size_t i = 0; i < count; i++)
    json_put_string(&a->json, slice_of(texts[i]));
  json_put_close(&a->json, ']');
}

static void put_diagnostic(struct web_answer *a,
                           const struct netc_diagnostic *d) {
  json_put_open(&a->json, '{');
  put_place(a, &d->place);
  json_member_bool(&a->json, "error", d->severity == NETC_SEVERITY_ERROR);
  web_member(a, "slug", d->slug);
  web_member(a, "message", d->message);
  web_member(a, "here", d->here);
  put_texts(a, "notes", d->notes, d->note_count);
  put_texts(a, "help", d->help, d->help_count);
  json_member_open(&a->json, "labels", '[');
  for (size_t i = 0; i < d->label_count; i++) {
    json_put_open(&a->json, '{');
    put_place(a, &d->labels[i].place);
    web_member(a, "text", d->labels[i].text);
    json_put_close(&a->json, '}');
  }
  json_put_close(&a->json, ']');
  json_member_open(&a->json, "fixes", '[');
  for (size_t i = 0; i < d->fixit_count; i++) {
    json_put_open(&a->json, '{');
    put_place(a, &d->fixits[i].place);
    web_member(a, "text", d->fixits[i].text);
    json_put_close(&a->json, '}');
  }
  json_put_close(&a->json, ']');
  json_put_close(&a->json, '}');
}

WEB_EXPORT(web_diagnostics) void web_diagnostics(void);
void web_diagnostics(void) {
  struct netc_diagnostic d = {.size = sizeof d};
  struct web_answer a;
  web_say(&a, '[');
  for (size_t i = 0; netc_diagnostic(web_net, i, &d) == NETC_OK; i++)
    put_diagnostic(&a, &d);
  web_say_end(&a, ']');
}

/* Tokens and hints */

/* Four numbers each: enum netc_token_kind, begin, end, whether it defines. */
WEB_EXPORT(web_tokens) void web_tokens(void);
void web_tokens(void) {
  struct netc_token t = {.size = sizeof t};
  struct web_answer a;
  web_say(&a, '[');
  for (size_t i = 0; netc_token(web_net, 0, i, &t) == NETC_OK; i++) {
    json_put_int(&a.json, t.kind);
    json_put_int(&a.json, (int64_t)t.place.begin);
    json_put_int(&a.json, (int64_t)t.place.end);
    json_put_int(&a.json, t.defines);
  }
  web_say_end(&a, ']');
}

WEB_EXPORT(web_hints) void web_hints(void);
void web_hints(void) {
  struct netc_hint hint = {.size = sizeof hint};
  struct web_answer a;
  web_say(&a, '[');
  for (size_t i = 0; netc_hint(web_net, 0, i, &hint) == NETC_OK; i++) {
    json_put_open(&a.json, '{');
    json_member_int(&a.json, "byte", (int64_t)hint.byte);
    web_member(&a, "shape", hint.shape);
    json_member_bool(&a.json, "recalled", hint.recalled);
    json_put_close(&a.json, '}');
  }
  web_say_end(&a, ']');
}

/* Completion */

WEB_EXPORT(web_choices) void web_choices(size_t byte);
void web_choices(size_t byte) {
  struct netc_choice choice = {.size = sizeof choice};
  struct web_answer a;
  web_say(&a, '[');
  for (size_t i = 0; netc_choice(web_net, 0, byte, i, &choice) == NETC_OK;
       i++) {
    json_put_open(&a.json, '{');
    json_member_int(&a.json, "kind", choice.kind);
    web_member(&a, "text", choice.text);
    web_member(&a, "detail", choice.detail);
    web_member(&a, "doc", choice.doc);
    json_put_close(&a.json, '}');
  }
  web_say_end(&a, ']');
}

/* Hover */

WEB_EXPORT(web_hover) void web_hover(size_t byte);
void web_hover(size_t byte) {
  struct netc_token token = {.size = sizeof token};
  struct netc_hover hover = {.size = sizeof hover, .words = "", .rows = ""};
  struct web_answer a;
  web_say(&a, '{');
  if (netc_hover(web_net, 0, byte, &hover) == NETC_OK &&
      netc_token(web_net, 0, (size_t)hover.token, &token) == NETC_OK) {
    json_member_int(&a.json, "begin", (int64_t)token.place.begin);
    json_member_int(&a.json, "end", (int64_t)token.place.end);
  }
  web_member(&a, "words", hover.words);
  web_member(&a, "rows", hover.rows);
  web_say_end(&a, '}');
}

/* What can be chosen: of the net, and of every net */

static void put_inputs(struct web_answer *a) {
  struct netc_end input = {.size = sizeof input};
  struct netc_layer layer = {.size = sizeof layer};
  json_member_open(&a->json, "inputs", '[');
  for (size_t i = 0; netc_input(web_net, i, &input) == NETC_OK; i++) {
    if (netc_layer(web_net, (size_t)input.layer, &layer) != NETC_OK)
      continue;
    json_put_open(&a->json, '{');
    web_member(a, "name", input.name);
    json_member_open(&a->json, "sizes", '[');
    for (int k = 0; k < layer.out.rank; k++)
      json_put_int(&a->json, layer.out.dims[k]);
    json_put_close(&a->json, ']');
    json_put_close(&a->json, '}');
  }
  json_put_close(&a->json, ']');
}

WEB_EXPORT(web_facts) void web_facts(void);
void web_facts(void) {
  struct netc_param param = {.size = sizeof param};
  struct web_answer a;
  web_say(&a, '{');
  web_member(&a, "name", netc_name(web_net));
  json_member_bool(&a.json, "asks", netc_asks_inference(web_net));
  put_inputs(&a);
  json_member_open(&a.json, "params", '[');
  for (size_t i = 0; netc_param(web_net, i, &param) == NETC_OK; i++) {
    json_put_open(&a.json, '{');
    web_member(&a, "name", param.name);
    web_member(&a, "fallback", param.fallback);
    web_member(&a, "value", param.value);
    web_member(&a, "allowed", param.allowed);
    web_member(&a, "follows", param.follows);
    json_put_close(&a.json, '}');
  }
  json_put_close(&a.json, ']');
  web_say_end(&a, '}');
}

WEB_EXPORT(web_catalog) void web_catalog(void);
void web_catalog(void) {
  struct netc_output_kind kind = {.size = sizeof kind};
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  struct netc_gpu gpu = {.size = sizeof gpu};
  struct web_answer a;
  web_say(&a, '{');
  web_member(&a, "version", netc_version());
  json_member_open(&a.json, "outputs", '[');
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++)
    if (kind.purpose == NETC_FOR_FILES)
      json_put_string(&a.json, slice_of(kind.name));
  json_put_close(&a.json, ']');
  json_member_open(&a.json, "gpus", '[');
  for (size_t i = 0; netc_gpu(web_net, i, &gpu) == NETC_OK; i++)
    json_put_string(&a.json, slice_of(gpu.name));
  json_put_close(&a.json, ']');
  json_member_open(&a.json, "settings", '{');
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++)
    if (!setting.now && netc_setting_argument(i, &argument) == NETC_OK)
      web_member(&a, setting.name, argument.words);
  json_put_close(&a.json, '}');
  web_say_end(&a, '}');
}
