/* Texts for an editor about a place: the word there, a choice, or the layers
 * around it. */
#include "library/hover.h"

#include "library/names.h"

enum { MOST_ROWS = 4 };

/* Arguments */

struct form_text {
  char *at;
  size_t room, length;
};

static void form_put(struct form_text *form, char c) {
  if (form->length + 1 < form->room)
    form->at[form->length] = c;
  form->length++;
}

size_t netc_argument_form(const struct netc_argument *argument, char *form,
                          size_t room) {
  struct form_text out = {form, room, 0};
  const char *at;
  if (argument->form == NETC_STRIDE)
    form_put(&out, '/');
  if (argument->form == NETC_WORD)
    for (at = argument->words; *at; at++)
      form_put(&out, *at == ' ' ? '|' : *at);
  else
    for (at = argument->name; *at; at++)
      form_put(&out, argument->form != NETC_KEY && *at >= 'a' && *at <= 'z'
                         ? (char)(*at - 'a' + 'A')
                         : *at);
  if (argument->form == NETC_KEY) {
    form_put(&out, '=');
    for (at = argument->value; *at; at++)
      form_put(&out, *at);
  }
  if (room)
    form[out.length < room ? out.length : room - 1] = '\0';
  return out.length;
}

static void put_form(struct text *out, const struct netc_argument *argument) {
  size_t length = netc_argument_form(argument, NULL, 0);
  char *form = arena_alloc(out->arena, length + 1, 1);
  netc_argument_form(argument, form, length + 1);
  text_put(out, form);
}

static void put_doc(struct text *out, const struct netc_argument *argument) {
  text_put(out, argument->doc);
  if (*argument->words && argument->form != NETC_WORD)
    text_printf(out, "; one of %s", argument->words);
}

static void put_fallback(struct text *out,
                         const struct netc_argument *argument) {
  if (*argument->fallback)
    text_printf(out, " (%s)", argument->fallback);
}

/* "groups=N: purpose (1)" */
static void put_argument(struct text *out,
                         const struct netc_argument *argument) {
  put_form(out, argument);
  text_put(out, ": ");
  put_doc(out, argument);
  put_fallback(out, argument);
  text_putc(out, '\n');
}

static bool find_argument(int64_t layer_kind, int64_t argument,
                          struct netc_argument *found) {
  *found = (struct netc_argument){.size = sizeof *found};
  return argument >= 0 &&
         (layer_kind < 0
              ? netc_row_argument((size_t)argument, found)
              : netc_layer_argument((size_t)layer_kind, (size_t)argument,
                                    found)) == NETC_OK;
}

static bool find_setting(struct slice word, struct netc_argument *found) {
  struct netc_setting setting = {.size = sizeof setting};
  *found = (struct netc_argument){.size = sizeof *found};
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++)
    if (slice_is(word, setting.name))
      return netc_setting_argument(i, found) == NETC_OK;
  return false;
}

/* Names */

static const char *name_word(enum netc_name_kind kind) {
  static const char *const words[] = {
      [NETC_NAME_LABEL] = "label",       [NETC_NAME_DEF] = "def",
      [NETC_NAME_PARAM] = "param",       [NETC_NAME_LET] = "let",
      [NETC_NAME_ARGUMENT] = "argument", [NETC_NAME_TURN] = "loop variable"};
  return words[kind];
}

/* "param depth = 50, of 18 34 50" */
static bool put_param(struct text *out, struct netc *netc, const char *name) {
  struct netc_param param = {.size = sizeof param};
  for (size_t i = 0; netc_param(netc, i, &param) == NETC_OK; i++)
    if (strcmp(param.name, name) == 0) {
      text_printf(out, "param %s = %s%s%s", name, param.value,
                  *param.allowed ? ", of " : "", param.allowed);
      return true;
    }
  return false;
}

/* Choices */

/* Type and default of an option, or kind of a name. */
static void put_detail(struct text *out, struct netc *netc,
                       const struct netc_choice *choice) {
  struct netc_argument argument;
  struct netc_name name = {.size = sizeof name};
  if (find_argument(choice->layer_kind, choice->argument, &argument)) {
    put_form(out, &argument);
    put_fallback(out, &argument);
  } else if (choice->name >= 0 &&
             netc_name_at(netc, (size_t)choice->name, &name) == NETC_OK) {
    if (name.kind != NETC_NAME_PARAM || !put_param(out, netc, name.name))
      text_printf(out, "%s, line %u", name_word(name.kind),
                  (unsigned)name.place.line);
  } else {
    text_put(out, choice->detail);
  }
}

/* Arguments of a layer, or purpose of an option. */
static void put_documentation(struct text *out,
                              const struct netc_choice *choice) {
  struct netc_argument argument;
  if (find_argument(choice->layer_kind, choice->argument, &argument))
    put_doc(out, &argument);
  else if (choice->kind == NETC_TOKEN_LAYER && choice->layer_kind >= 0)
    for (int64_t i = 0; find_argument(choice->layer_kind, i, &argument); i++)
      put_argument(out, &argument);
}

void hover_describe(struct netc *netc, struct netc_choice *choice) {
  struct text detail = text_new(&netc->load->arena);
  struct text doc = text_new(&netc->load->arena);
  put_detail(&detail, netc, choice);
  put_documentation(&doc, choice);
  choice->detail = text_string(&detail);
  choice->doc = text_string(&doc);
}

/* Rows */

/* A layer with its tail, as in a row of the report. */
struct hover_row {
  struct netc_layer head;
  int64_t last; /* last layer of the tail */
  int64_t param_count, mac_count, saved_bytes;
};

static bool put_written(struct text *out, struct netc *netc, int64_t index,
                        struct hover_row *row) {
  struct netc_layer layer = {.size = sizeof layer};
  *row = (struct hover_row){.head = {.size = sizeof row->head}};
  if (netc_layer(netc, (size_t)index, &row->head) != NETC_OK)
    return false;
  text_printf(out, "%s  ", row->head.name);
  for (size_t i = (size_t)index;
       netc_layer(netc, i, &layer) == NETC_OK && layer.head == index; i++) {
    text_printf(out, "%s%s", i > (size_t)index ? " " : "", layer.written);
    row->last = (int64_t)i;
    row->param_count += layer.param_count;
    row->mac_count += layer.mac_count;
    row->saved_bytes += layer.saved_bytes;
  }
  text_putc(out, '\n');
  return true;
}

static void put_shape(struct text *out, const struct load *load,
                      int64_t layer) {
  const struct shape *shape = load->model.nodes.at[layer].out;
  if (shape && shape->rank > 0)
    shape_put(out, shape, LAYOUT_HWC);
  else
    text_putc(out, '?');
}

static void put_ends(struct text *out, const struct load *load,
                     const struct hover_row *row) {
  for (size_t i = 0; i < row->head.input_count; i++) {
    text_put(out, i ? ", " : "");
    put_shape(out, load, row->head.inputs[i]);
  }
  text_put(out, row->head.input_count ? " -> " : "-> ");
  put_shape(out, load, row->last);
  text_putc(out, '\n');
}

static void put_row(struct text *out, struct netc *netc, int64_t index) {
  const char *formulas = "";
  struct hover_row row;
  if (!put_written(out, netc, index, &row))
    return;
  put_ends(out, netc->load, &row);
  if (row.head.param_count == NETC_UNKNOWN)
    return; /* the net has errors */
  if (row.param_count || row.mac_count)
    text_printf(out, "%s parameters, %s MACs\n",
                count_text(row.param_count).text,
                count_text(row.mac_count).text);
  if (row.saved_bytes)
    text_printf(out, "%s kept for backward\n",
                size_text(row.saved_bytes, UNITS_IEC).text);
  if (netc_layer_formulas(netc, (size_t)index, &formulas) == NETC_OK)
    text_put(out, formulas);
}

/* Rows of the layers made at a place; of loops only the first. */
static void put_rows(struct text *out, struct netc *netc, size_t source,
                     size_t byte) {
  struct netc_layer layer = {.size = sizeof layer};
  const int64_t *layers;
  size_t count = netc_layers_at(netc, source, byte, &layers);
  for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
    text_put(out, i ? "\n" : "");
    if (netc_layer(netc, (size_t)layers[i], &layer) == NETC_OK)
      put_row(out, netc, layer.head);
  }
  if (count > MOST_ROWS)
    text_printf(out, "\nand %zu more written here\n", count - MOST_ROWS);
}

/* Words */

static void put_word(struct text *out, struct netc *netc, struct slice word,
                     const struct netc_token *token) {
  struct netc_layer_kind kind = {.size = sizeof kind};
  struct netc_name name = {.size = sizeof name};
  struct netc_argument argument;
  if (token->kind == NETC_TOKEN_LAYER && token->layer_kind >= 0 &&
      netc_layer_kind((size_t)token->layer_kind, &kind) == NETC_OK)
    text_printf(out, "%s: %s\n", kind.name, kind.summary);
  else if (token->kind == NETC_TOKEN_OPTION &&
           (find_argument(token->layer_kind, token->argument, &argument) ||
            (token->argument < 0 && find_setting(word, &argument))))
    put_argument(out, &argument);
  else if (token->name >= 0 &&
           netc_name_at(netc, (size_t)token->name, &name) == NETC_OK)
    text_printf(out, "%s %s, line %u, used %zu time%s\n", name_word(name.kind),
                name.name, (unsigned)name.place.line, name.use_count,
                name.use_count == 1 ? "" : "s");
}

struct hover_asking {
  size_t source, byte;
  struct netc_hover *to;
};

static void call_hover(struct call *call) {
  const struct hover_asking *asking = call->request;
  struct load *load = call->netc->load;
  struct text words = text_new(&load->arena), rows = words;
  struct netc_token token = {.size = sizeof token};
  struct netc_hover hover = {
      .token = netc_token_at(call->netc, asking->source, asking->byte)};
  if (hover.token >= 0 && netc_token(call->netc, asking->source,
                                     (size_t)hover.token, &token) == NETC_OK) {
    uint32_t base = tokens_place(load, asking->source, 0);
    struct span span = {base + (uint32_t)token.place.begin,
                        base + (uint32_t)token.place.end};
    put_word(&words, call->netc, sources_slice(&load->sources, span), &token);
  }
  put_rows(&rows, call->netc, asking->source, asking->byte);
  hover.words = text_string(&words);
  hover.rows = text_string(&rows);
  call->status = FILL(asking->to, &hover);
}

enum netc_status netc_hover(struct netc *netc, size_t source, size_t byte,
                            struct netc_hover *hover) {
  struct hover_asking asking = {source, byte, hover};
  if (!netc->load || source >= netc->load->units.count ||
      netc->load->units.at[source].source < 0)
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_hover, &asking);
}
