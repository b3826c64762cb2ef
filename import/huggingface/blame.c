/*
 * Errors of a composed net, told of the config: nobody has seen the source. A
 * key is to blame if another value of it gives the same message with another
 * number, or no error.
 */
#include <inttypes.h>

#include "import/huggingface/huggingface.h"
#include "netc.h"

struct blame {
  struct hugging *h;
  struct slice template, name, message;
  bool endless; /* too many layers: each trial takes long */
};

/* The first error of a net with the facts as they are; "": it has none. */
static struct slice first_error(const struct blame *b, bool *endless) {
  struct graph *graph = b->h->graph;
  struct netc_diagnostic d = {.size = sizeof d};
  struct slice message = {"", 0};
  struct text source;
  if (!settle_source(graph->arena, b->template, b->name, hugging_given, b->h,
                     &source))
    return graph->error.message;
  struct netc *netc = netc_open(NULL, NULL);
  bool wrong = netc && netc_load_text(netc, "template", source.at,
                                      source.length) != NETC_OK;
  for (size_t i = 0; wrong && netc_diagnostic(netc, i, &d) == NETC_OK; i++)
    if (d.severity == NETC_SEVERITY_ERROR && !message.length) {
      message =
          slice_of(arena_copy(graph->arena, d.message, strlen(d.message)));
      *endless = strcmp(d.slug, "too-many-layers") == 0;
    }
  netc_close(netc);
  return message;
}

static struct slice error_with(const struct blame *b, struct fact *fact,
                               struct fact other) {
  struct graph *graph = b->h->graph;
  struct graph_error error = graph->error;
  struct fact own = *fact;
  bool endless = false;
  *fact = other;
  struct slice message = first_error(b, &endless);
  *fact = own;
  graph->failed = false;
  graph->error = error;
  return message;
}

/* The end of the number that a text begins with: "1,025.5e-3". */
static size_t number_end(struct slice text, size_t at) {
  while (at < text.length &&
         (is_digit(text.at[at]) ||
          (strchr(",.e-", text.at[at]) && at + 1 < text.length &&
           (is_digit(text.at[at + 1]) || text.at[at + 1] == '-'))))
    at++;
  return at;
}

/* True if texts differ in numbers alone. */
static bool is_alike(struct slice a, struct slice b) {
  size_t i = 0, k = 0;
  while (i < a.length && k < b.length) {
    if (is_digit(a.at[i]) && is_digit(b.at[k])) {
      i = number_end(a, i);
      k = number_end(b, k);
    } else if (a.at[i++] != b.at[k++]) {
      return false;
    }
  }
  return i == a.length && k == b.length;
}

/* Another value of a number: one more (of the largest less), or a digit more.
 */
static struct fact changed(const struct blame *b, const struct fact *fact) {
  struct fact other = *fact;
  other.integer += other.integer == INT64_MAX ? -1 : 1;
  other.text =
      slice_of(fact->kind == FACT_INT
                   ? graph_text(b->h->graph, "%" PRId64, other.integer)
                   : graph_text(b->h->graph, "%.*s1", SLICE_ARG(fact->text)));
  return other;
}

/* With another number there, the message has another one, too, or is gone. */
static bool is_told(const struct blame *b, struct fact *fact) {
  if (b->endless || (fact->kind != FACT_INT && fact->kind != FACT_REAL))
    return false;
  struct slice message = error_with(b, fact, changed(b, fact));
  return !message.length ||
         (!slice_equal(message, b->message) && is_alike(message, b->message));
}

/* Without it, the net compiles. */
static bool is_cause(const struct blame *b, struct fact *fact) {
  struct fact none = *fact;
  if (b->endless && fact->kind != FACT_INT)
    return false;
  none.kind = FACT_NULL;
  return error_with(b, fact, none).length == 0;
}

/* The facts of params that a rule blames, in the order of params. */
static struct text list(const struct blame *b, size_t params,
                        bool rule(const struct blame *, struct fact *),
                        const struct fact **first) {
  struct hugging *h = b->h;
  struct text text = text_new(h->graph->arena);
  struct map seen = {0};
  for (size_t i = 0; i < params; i++) {
    const struct fact *fact = hugging_fact(h, h->params.at[i]);
    if (!fact || map_find(&seen, fact->name))
      continue;
    map_add(h->graph->arena, &seen, fact->name);
    struct fact *at = fact_put(h->facts, fact->name);
    if (!rule(b, at))
      continue;
    text_printf(&text, "%s`%.*s` is %.*s", *first ? ", " : "",
                SLICE_ARG(*fact_shown(at)), SLICE_ARG(at->text));
    if (!*first || (at->line && !(*first)->line))
      *first = at;
  }
  return text;
}

bool hugging_blame(struct hugging *h, struct slice template,
                   struct slice name) {
  struct blame b = {.h = h, .template = template, .name = name};
  size_t params = h->params.count;
  const struct fact *first = NULL;
  h->trying = true;
  b.message = first_error(&b, &b.endless);
  if (!b.message.length)
    return true;
  struct text keys = list(&b, params, is_told, &first);
  if (!first)
    keys = list(&b, params, is_cause, &first);
  return !first || fact_fail(h->facts, first, "%.*s: %.*s",
                             SLICE_ARG(b.message), SLICE_ARG(keys));
}
