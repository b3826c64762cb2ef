/* Queries of an editor: callers, names, tokens, layers. */
#include <stdlib.h>

#include "library/names.h"
#include "library/repair.h"
#include "lexer/scan.h"

struct edit_asking {
  size_t index, second; /* a layer and a depth, a source and a token, .. */
  void *to;
  int64_t found;
};

/* Callers */

static void call_caller(struct call *call) {
  static const enum netc_caller_kind kinds[] = {[FRAME_CALL] = NETC_CALLER_DEF,
                                                [FRAME_LOOP] = NETC_CALLER_LOOP,
                                                [FRAME_AGAIN] =
                                                    NETC_CALLER_AGAIN};
  const struct edit_asking *asking = call->request;
  struct load *load = call->netc->load;
  const struct frame *frame = load->model.nodes.at[asking->index].frame;
  for (size_t i = 0; frame && i < asking->second; i++)
    frame = frame->parent;
  call->status = NETC_USAGE;
  if (!frame)
    return;
  bool loop = frame_kind(frame) == FRAME_LOOP;
  struct netc_caller caller = {
      .kind = kinds[frame_kind(frame)],
      .name = loop ? "" : context_keep(&load->arena, frame->stmt->name).at,
      .place = load_place(load, frame->stmt->span),
      .turn = frame->total ? frame->ordinal : 0,
      .turns = frame->total};
  call->status = FILL(asking->to, &caller);
}

enum netc_status netc_layer_caller(struct netc *netc, size_t layer,
                                   size_t depth, struct netc_caller *caller) {
  struct edit_asking asking = {layer, depth, caller, 0};
  if (layer >= netc_layer_count(netc))
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_caller, &asking);
}

/* Names */

static void call_name_at(struct call *call) {
  const struct edit_asking *asking = call->request;
  struct load *load = call->netc->load;
  const struct source_names *names = names_of(call->netc);
  call->status = NETC_USAGE;
  if (asking->index >= names->all.count)
    return;
  const struct source_name *n = &names->all.at[asking->index];
  struct netc_place *uses =
      arena_alloc(&load->arena, n->uses.count + 1, sizeof *uses);
  for (size_t i = 0; i < n->uses.count; i++)
    uses[i] = load_place(load, n->uses.at[i]);
  struct netc_name name = {.kind = n->kind,
                           .name = context_keep(&load->arena, n->name).at,
                           .place = load_place(load, n->span),
                           .use_count = n->uses.count,
                           .uses = uses};
  call->status = FILL(asking->to, &name);
}

enum netc_status netc_name_at(struct netc *netc, size_t index,
                              struct netc_name *name) {
  struct edit_asking asking = {index, 0, name, 0};
  if (!netc->load)
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_name_at, &asking);
}

/* Tokens */

static enum netc_token_kind kind_of(enum token token, char first) {
  if (token >= TOKEN_KW_NET && token <= TOKEN_KW_FALSE)
    return NETC_TOKEN_KEYWORD;
  switch (token) {
  case TOKEN_INT:
  case TOKEN_REAL: return NETC_TOKEN_NUMBER;
  case TOKEN_STRING: return NETC_TOKEN_STRING;
  case TOKEN_NAME:
  case TOKEN_FUNC: return NETC_TOKEN_WORD;
  default:
    return token == TOKEN_ERROR && is_word_byte(first) ? NETC_TOKEN_WORD
                                                       : NETC_TOKEN_OPERATOR;
  }
}

/* Finds comments in the gaps between tokens, from `#` to the line's end. */
static void add_comments(struct arena *arena, struct source_tokens *tokens,
                         const struct source *source, uint32_t from,
                         uint32_t to) {
  for (uint32_t i = from; i < to;) {
    const char *at = source->text.at + (i - source->base);
    const char *mark = memchr(at, '#', to - i);
    if (!mark)
      return;
    uint32_t begin = i + (uint32_t)(mark - at), end = begin;
    while (end < to && source->text.at[end - source->base] != '\n')
      end++;
    *VEC_PUSH(arena, &tokens->all) = (struct source_token){
        {begin, end}, TOKEN_END, NETC_TOKEN_COMMENT, -1, false};
    i = end;
  }
}

static int64_t role_at(const struct source_names *names, struct span span) {
  size_t low = 0, high = names->roles.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (names->roles.at[middle].span.begin < span.begin)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < names->roles.count &&
               names->roles.at[low].span.begin == span.begin &&
               names->roles.at[low].span.end == span.end;
  return found ? (int64_t)low : -1;
}

static void scan_tokens(struct call *call, struct source_tokens *tokens,
                        int number) {
  struct load *load = call->netc->load;
  const struct source_names *names = names_of(call->netc);
  const struct source *source = &load->sources.all.at[number];
  struct scan scan = {0};
  struct diags quiet;
  diags_open(&quiet, &call->scratch, &load->sources);
  quiet.quiet = true;
  quiet.limit = INT64_MAX;
  scan_begin(&scan, &call->scratch, &quiet, number);
  uint32_t end = source->base;
  bool begins = true;
  for (;;) {
    union scan_value value;
    struct span span;
    enum token token = scan_next(&scan, &value, &span);
    add_comments(&load->arena, tokens, source, end, span.begin);
    if (token == TOKEN_END)
      break;
    end = span.end;
    if (token == TOKEN_NEWLINE) {
      begins = true;
      continue;
    }
    char first = source->text.at[span.begin - source->base];
    struct source_token found = {span, token, kind_of(token, first), -1,
                                 begins};
    begins = token == TOKEN_SEMICOLON || token == TOKEN_BRACE;
    if (found.kind == NETC_TOKEN_WORD)
      found.role = role_at(names, span);
    if (found.role >= 0)
      found.kind = names->roles.at[found.role].kind;
    *VEC_PUSH(&load->arena, &tokens->all) = found;
  }
  add_comments(&load->arena, tokens, source, end,
               source->base + (uint32_t)source->text.length);
}

const struct source_tokens *tokens_of(struct call *call, size_t unit) {
  struct load *load = call->netc->load;
  if (!load->tokens)
    load->tokens =
        arena_alloc(&load->arena, load->units.count, sizeof *load->tokens);
  struct source_tokens *tokens = &load->tokens[unit];
  if (!tokens->known && load->units.at[unit].source >= 0 &&
      load->units.at[unit].program) /* otherwise it is not UTF-8 */
    scan_tokens(call, tokens, load->units.at[unit].source);
  tokens->known = true;
  return tokens;
}

static void call_token(struct call *call) {
  struct edit_asking *asking = call->request;
  struct load *load = call->netc->load;
  const struct source_tokens *tokens = tokens_of(call, asking->second);
  call->status = NETC_USAGE;
  if (asking->index >= tokens->all.count)
    return;
  const struct source_token *t = &tokens->all.at[asking->index];
  const struct word_role *role =
      t->role >= 0 ? &names_of(call->netc)->roles.at[t->role] : NULL;
  struct netc_token token = {.kind = t->kind,
                             .place = load_place(load, t->span),
                             .defines = role && role->defines,
                             .name = role ? role->name : -1,
                             .layer_kind = role ? role->layer_kind : -1,
                             .argument = role ? role->argument : -1};
  call->status = FILL(asking->to, &token);
}

enum netc_status netc_token(struct netc *netc, size_t source, size_t index,
                            struct netc_token *token) {
  struct edit_asking asking = {index, source, token, 0};
  if (!netc->load || source >= netc->load->units.count)
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_token, &asking);
}

/* The first token that ends at or after `place`. */
static size_t token_from(const struct source_tokens *tokens, uint32_t place) {
  size_t low = 0, high = tokens->all.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (tokens->all.at[middle].span.end < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint32_t tokens_place(const struct load *load, size_t unit, size_t byte) {
  const struct source *source =
      &load->sources.all.at[load->units.at[unit].source];
  size_t most = source->text.length;
  return source->base + (uint32_t)(byte < most ? byte : most);
}

static void call_token_at(struct call *call) {
  struct edit_asking *asking = call->request;
  const struct source_tokens *tokens = tokens_of(call, asking->second);
  uint32_t place =
      tokens_place(call->netc->load, asking->second, asking->index);
  size_t i = token_from(tokens, place);
  if (i + 1 < tokens->all.count && tokens->all.at[i + 1].span.begin == place &&
      tokens->all.at[i + 1].kind != NETC_TOKEN_OPERATOR)
    i++; /* `(` before a name: takes the name */
  if (i < tokens->all.count && tokens->all.at[i].span.begin <= place)
    asking->found = (int64_t)i;
}

int64_t netc_token_at(struct netc *netc, size_t source, size_t byte) {
  struct edit_asking asking = {byte, source, NULL, -1};
  if (!netc->load || source >= netc->load->units.count ||
      netc->load->units.at[source].source < 0)
    return -1;
  context_call(netc, CALL_READS, call_token_at, &asking);
  return asking.found;
}

/* Layers */

static void call_layers_at(struct call *call) {
  struct edit_asking *asking = call->request;
  struct load *load = call->netc->load;
  uint32_t place = tokens_place(load, asking->second, asking->index);
  uint32_t least = UINT32_MAX;
  VEC(int64_t) found = {0};
  for (size_t i = 0; i < load->model.nodes.count; i++) {
    struct span span = repair_written(load, load->model.nodes.at[i].span);
    uint32_t width = span.end - span.begin;
    if (span.begin > place || span.end < place || width > least)
      continue;
    if (width < least)
      found.count = 0;
    least = width;
    *VEC_PUSH(&load->arena, &found) = (int64_t)i;
  }
  asking->found = (int64_t)found.count;
  *(const int64_t **)asking->to = found.at;
}

size_t netc_layers_at(struct netc *netc, size_t source, size_t byte,
                      const int64_t **layers) {
  struct edit_asking asking = {byte, source, layers, 0};
  *layers = NULL;
  if (!netc_layer_count(netc) || source >= netc->load->units.count)
    return 0;
  context_call(netc, CALL_READS, call_layers_at, &asking);
  return (size_t)asking.found;
}
