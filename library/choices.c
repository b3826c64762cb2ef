/* Completion: the words that are allowed at a byte, from the tokens before
 * it. */
#include "library/hover.h"
#include "library/names.h"
#include "library/repair.h"
#include "sema/binding/expander.h"

struct choices {
  struct load *load;
  VEC(struct netc_choice) all;
};

/* A place in a source, with the tokens of its statement before it. */
struct spot {
  uint32_t place;
  const struct source_token *first, *last; /* NULL: a statement begins here */
};

static void add(struct choices *c, enum netc_token_kind kind, const char *text,
                const char *detail, int64_t layer_kind, int64_t argument) {
  *VEC_PUSH(&c->load->arena, &c->all) =
      (struct netc_choice){.kind = kind,
                           .text = text,
                           .detail = detail ? detail : "",
                           .name = -1,
                           .layer_kind = layer_kind,
                           .argument = argument};
}

static void add_layers(struct choices *c, bool tail) {
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *kind = layer_kind_at(i);
    if (!tail || (!kind->join && !kind->source && !kind->front))
      add(c, NETC_TOKEN_LAYER, kind->name, kind->summary, (int64_t)i, -1);
  }
}

static bool is_visible(const struct source_name *name, uint32_t place) {
  return (place > name->from && place <= name->to) ||
         (name->used_to && place > name->used_from && place <= name->used_to);
}

static void add_names(struct choices *c, const struct source_names *names,
                      const struct spot *spot, unsigned kinds) {
  for (size_t i = 0; i < names->all.count; i++) {
    const struct source_name *name = &names->all.at[i];
    bool own = spot->first && name->kind == NETC_NAME_LET &&
               name->span.begin >= spot->first->span.begin;
    if (!(kinds >> name->kind & 1) || !is_visible(name, spot->place) ||
        (own && name->span.begin < spot->place))
      continue;
    add(c, names_token(name->kind),
        context_keep(&c->load->arena, name->name).at, "", -1, -1);
    c->all.at[c->all.count - 1].name = (int64_t)i;
  }
}

enum {
  LABELS = 1 << NETC_NAME_LABEL,
  DEFS = 1 << NETC_NAME_DEF,
  CONSTANTS = 1 << NETC_NAME_PARAM | 1 << NETC_NAME_LET |
              1 << NETC_NAME_ARGUMENT | 1 << NETC_NAME_TURN
};

static const char *with_sign(struct choices *c, struct slice name) {
  struct text text = text_new(&c->load->arena);
  text_puts(&text, name);
  text_putc(&text, '=');
  return text_string(&text);
}

/* Adds the keys and words of a table of arguments. */
static void add_options(struct choices *c, const struct arg_spec *specs,
                        int64_t kind) {
  struct arena *arena = &c->load->arena;
  bool setting = kind < 0 && specs != row_specs;
  for (int64_t i = 0; specs && specs[i].name; i++) {
    const struct arg_spec *spec = &specs[i];
    int64_t row = setting ? -1 : i;
    if (spec->now)
      continue;
    if (spec->type == TYPE_PADDING || spec->place == PLACE_STRIDE)
      add(c, NETC_TOKEN_OPTION, spec->place == PLACE_STRIDE ? "/" : spec->name,
          spec->doc, kind, row);
    if (spec->place == PLACE_KEY || spec->place == PLACE_POSITION)
      add(c, NETC_TOKEN_OPTION, with_sign(c, slice_of(spec->name)), spec->doc,
          kind, row);
    for (int k = 1; spec->place == PLACE_WORD && word_at(spec->words, k).length;
         k++)
      add(c, NETC_TOKEN_OPTION, context_keep(arena, word_at(spec->words, k)).at,
          spec->doc, kind, row);
  }
}

static void add_words(struct choices *c, const char *words,
                      enum netc_token_kind kind) {
  for (int i = 1; word_at(words, i).length; i++)
    add(c, kind, context_keep(&c->load->arena, word_at(words, i)).at, "", -1,
        -1);
}

static void add_values(struct choices *c, const struct source_names *names,
                       const struct spot *spot) {
  add_names(c, names, spot, CONSTANTS);
  for (size_t i = 0; eval_function(i); i++)
    add(c, NETC_TOKEN_FUNCTION, eval_function(i), "", -1, -1);
}

/* Adds choices after the word of a layer or def. */
static void add_arguments(struct choices *c, const struct source_names *names,
                          const struct spot *spot) {
  const struct word_role *role =
      spot->first->role >= 0 ? &names->roles.at[spot->first->role] : NULL;
  int64_t kind = role ? role->layer_kind : -1;
  if (role && role->kind == NETC_TOKEN_DEF) {
    const struct stmt *def = names->all.at[role->name].stmt;
    for (const struct def_param *p = def->more->params; p; p = p->next)
      add(c, NETC_TOKEN_CONSTANT, with_sign(c, p->name), "", -1, -1);
  } else if (kind >= 0) {
    const struct layer_kind *layer = layer_kind_at((size_t)kind);
    add_options(c, layer->specs, kind);
    add_options(c, row_specs, -1);
    if (layer->join)
      add_names(c, names, spot, LABELS);
    add_layers(c, true);
  }
  add_values(c, names, spot);
}

static void fill(struct choices *c, const struct source_names *names,
                 const struct spot *spot) {
  const struct source_token *first = spot->first, *last = spot->last;
  enum token head = first ? first->token : TOKEN_END;
  if (last && last->token == TOKEN_DOT && last > first &&
      last[-1].token == TOKEN_KW_IN) {
    add_words(c, "c h w d len size", NETC_TOKEN_OPTION);
    return;
  }
  switch (head) {
  case TOKEN_END:
    add_names(c, names, spot, DEFS);
    add_layers(c, false);
    add_words(c,
              "input output net def let param repeat for if fork from again "
              "use train infer budget freeze checkpoint error warn "
              "allow",
              NETC_TOKEN_KEYWORD);
    break;
  case TOKEN_KW_FROM:
  case TOKEN_KW_AGAIN: add_names(c, names, spot, LABELS); break;
  case TOKEN_KW_TRAIN: add_options(c, train_specs, -1); break;
  case TOKEN_KW_INFER: add_options(c, infer_specs, -1); break;
  case TOKEN_KW_BUDGET: add_options(c, budget_specs, -1); break;
  case TOKEN_NAME: add_arguments(c, names, spot); break;
  default: add_values(c, names, spot);
  }
}

/* True if a line ends between two places of a statement. */
static bool line_ends(const struct load *load, struct span span) {
  struct slice text = sources_slice(&load->sources, span);
  for (size_t i = 0; i < text.length; i++)
    if (text.at[i] == '\n' && (i == 0 || text.at[i - 1] != '\\'))
      return true;
  return false;
}

/* The first token after a label or `fork`. */
static const struct source_token *head_of(const struct source_token *first,
                                          const struct source_token *last) {
  for (const struct source_token *t = first; t <= last; t++) {
    if (t->token == TOKEN_COLON && first->token == TOKEN_NAME)
      return t + 1;
    if (t->token != TOKEN_NAME && t->token != TOKEN_SUBSCRIPT &&
        t->token != TOKEN_INT && t->token != TOKEN_BRACKET_CLOSE)
      break;
  }
  while (first <= last && first->token == TOKEN_KW_FORK)
    first += 1 + (first < last && first[1].token == TOKEN_KW_TRAIN);
  return first;
}

static struct spot find_spot(const struct load *load,
                             const struct source_tokens *tokens,
                             uint32_t place) {
  struct spot spot = {place, NULL, NULL};
  size_t count = 0;
  while (count < tokens->all.count && tokens->all.at[count].span.end <= place)
    count++;
  while (count && tokens->all.at[count - 1].kind == NETC_TOKEN_COMMENT)
    count--;
  const struct source_token *all = tokens->all.at;
  bool typed = count && all[count - 1].span.end == place &&
               all[count - 1].kind != NETC_TOKEN_OPERATOR &&
               all[count - 1].kind != NETC_TOKEN_NUMBER;
  bool begins = typed && all[count - 1].begins;
  count -= typed;
  if (!count || begins ||
      line_ends(load, (struct span){all[count - 1].span.end, place}) ||
      all[count - 1].token == TOKEN_SEMICOLON ||
      all[count - 1].token == TOKEN_BRACE)
    return spot;
  size_t first = count - 1;
  while (first > 0 && !all[first].begins)
    first--;
  spot.last = &all[count - 1];
  spot.first = head_of(&all[first], spot.last);
  if (spot.first > spot.last)
    spot.first = spot.last = NULL;
  return spot;
}

struct choice_asking {
  size_t source, byte, index;
  struct netc_choice *to;
};

static void call_choice(struct call *call) {
  const struct choice_asking *asking = call->request;
  struct load *load = call->netc->load;
  struct last_choices *kept = &load->choices;
  if (!kept->known || kept->source != asking->source ||
      kept->byte != asking->byte) {
    struct choices c = {.load = load};
    const struct source_tokens *tokens = tokens_of(call, asking->source);
    struct spot spot = find_spot(
        load, tokens, tokens_place(load, asking->source, asking->byte));
    fill(&c, names_of(call->netc), &spot);
    *kept = (struct last_choices){true, asking->source, asking->byte,
                                  c.all.count, c.all.at};
  }
  call->status = NETC_USAGE;
  if (asking->index >= kept->count)
    return;
  struct netc_choice *choice = &kept->at[asking->index];
  if (!choice->doc)
    hover_describe(call->netc, choice);
  call->status = FILL(asking->to, choice);
}

enum netc_status netc_choice(struct netc *netc, size_t source, size_t byte,
                             size_t index, struct netc_choice *choice) {
  struct choice_asking asking = {source, byte, index, choice};
  if (!netc->load || source >= netc->load->units.count ||
      netc->load->units.at[source].source < 0)
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_choice, &asking);
}
