/* The values of a template's params, from facts. */
#include <stdlib.h>

#include "import/huggingface/huggingface.h"
#include "layers/foreign/words.h"

static bool is_allowed(const struct stmt *param, struct slice word) {
  bool any = false;
  for (const struct table_row *row = param->more->rows; row; row = row->next)
    for (const struct expr *x = row->values; x; x = x->next) {
      if (x->kind == EXPR_NAME && slice_equal(x->name, word))
        return true;
      any = true;
    }
  return !any;
}

/* A word as it is written here: gelu(approximate=tanh) of gelu_new. */
static struct settled word_of(struct hugging *h, const struct stmt *param,
                              const struct fact *fact) {
  const char *ours = NULL;
#define WORD(theirs, word)          \
  if (slice_is(fact->text, theirs)) \
    ours = word;
#include "import/huggingface/huggingface.def"
  if (param->more->rows && is_allowed(param, fact->text))
    ours = NULL; /* the template has the word itself */
  struct slice word = ours ? slice_of(ours) : fact->text;
  struct slice plain = word;
  const char *arguments = memchr(word.at, '(', word.length);
  if (arguments)
    plain.length = (size_t)(arguments - word.at);
  if (is_allowed(param, plain))
    return (struct settled){.kind = KNOWN_WORD, .text = word};
  if (slice_is(param->name, "head"))
    hugging_unknown_head(h);
  else
    hugging_refuse(h, fact, "supported here");
  return (struct settled){.kind = KNOWN_NOT};
}

/* `qk_norm` is true: the word of the type's row, which is `none` if its class
 * never has the part; or the first word that is one. */
static struct settled word_of_bool(struct hugging *h, const struct stmt *param,
                                   const struct fact *fact) {
  struct slice name, value, word = slice_of("off");
  const struct expr *allowed = param->more->rows->values;
  for (const char *at = h->type->defaults;
       fact->integer && hugging_pair(&at, &name, &value);)
    if (slice_equal(name, param->name) && *value.at != '@')
      word = value;
  if (!fact->integer && is_allowed(param, slice_of("none")))
    word = slice_of("none");
  for (; fact->integer && slice_is(word, "off") && allowed;
       allowed = allowed->next)
    if (!slice_is(allowed->name, "none"))
      word = allowed->name;
  if (is_allowed(param, word))
    return (struct settled){.kind = KNOWN_WORD, .text = word};
  hugging_refuse(h, fact, "true, false or a word that netc knows here");
  return (struct settled){.kind = KNOWN_NOT};
}

static struct settled integer_of(struct hugging *h, const struct fact *fact,
                                 const struct settled *usual) {
  bool none = usual->kind == KNOWN_INT && usual->integer < 1;
  int64_t least = none || fact->counted ? 0 : 1;
  bool layers = slice_find(fact->name, "layer") < fact->name.length &&
                slice_find(fact->name, "per_layer") == fact->name.length;
  int64_t most = layers ? HUGGING_MOST_LAYERS : HUGGING_MOST;
  if (fact->kind == FACT_INT && fact->integer >= least && fact->integer <= most)
    return known_int(fact->integer);
  hugging_refuse(h, fact,
                 layers  ? "from 1 to 10,000"
                 : least ? "from 1 to 2^30"
                         : "from 0 to 2^30");
  return (struct settled){.kind = KNOWN_NOT};
}

/* A param without a list of words is a size, or `none`. */
static struct settled size_or_none(struct hugging *h, const struct fact *fact,
                                   const struct settled *usual) {
  if (fact->kind == FACT_INT)
    return integer_of(h, fact, &(struct settled){.kind = KNOWN_INT});
  if (fact->kind == FACT_WORD && slice_is(fact->text, "none"))
    return *usual;
  hugging_refuse(h, fact, "a number or null");
  return (struct settled){.kind = KNOWN_NOT};
}

static struct settled real_of(struct hugging *h, const struct fact *fact) {
  bool negative = fact->text.length && *fact->text.at == '-';
  if (fact->kind == FACT_INT && !negative)
    return known_int(fact->integer);
  if (fact->kind == FACT_REAL && !negative)
    return (struct settled){
        .kind = KNOWN_REAL,
        .text = fact->text,
        .real =
            strtod(graph_text(h->graph, "%.*s", SLICE_ARG(fact->text)), NULL)};
  hugging_refuse(h, fact, "a number from 0 on");
  return (struct settled){.kind = KNOWN_NOT};
}

/* depths_0 is the first of the list `depths`: if that is shorter, 0 if this
 * means none, or none; KNOWN_NOT if `depths` is something else. */
static struct settled without_member(struct hugging *h, struct slice name,
                                     const struct settled *usual) {
  size_t length = name.length;
  while (length > 0 && is_digit(name.at[length - 1]))
    length--;
  if (length == name.length || length < 2 || name.at[length - 1] != '_')
    return *usual;
  name.length = length - 1;
  const struct fact *fact = hugging_fact(h, name);
  if (!fact)
    return *usual;
  if (fact->kind == FACT_OBJECT && usual->kind == KNOWN_INT && !usual->integer)
    return *usual;
  if (fact->kind == FACT_OBJECT)
    return (struct settled){.kind = KNOWN_WORD, .text = slice_of("none")};
  hugging_refuse(h, fact, "a list");
  return (struct settled){.kind = KNOWN_NOT};
}

bool hugging_counts(const struct hugging *h, const char *name) {
  bool towers = false, any = false;
  for (size_t i = 0; i < h->params.count; i++) {
    struct slice param = h->params.at[i];
    towers = towers || slice_is(param, "tower");
    any = any || slice_begins(param, name);
  }
  return any && (!towers || hugging_fact(h, slice_of("tower")));
}

struct settled hugging_given(void *user, const struct stmt *param,
                             const struct settled *usual) {
  struct hugging *h = user;
  const struct fact *fact = hugging_fact(h, param->name);
  *VEC_PUSH(h->graph->arena, &h->params) = param->name;
  h->headed = h->headed || slice_is(param->name, "head");
  if (slice_is(param->name, "pattern"))
    return hugging_pattern(h, usual);
  if (!fact)
    return without_member(h, param->name, usual);
  switch (usual->kind) {
  case KNOWN_BOOL:
    if (fact->kind == FACT_BOOL)
      return known_bool(fact->integer);
    if (fact->kind == FACT_OBJECT) /* a part of the net that is described */
      return known_bool(true);
    hugging_refuse(h, fact, "true or false");
    break;
  case KNOWN_WORD:
    if (!param->more->rows)
      return size_or_none(h, fact, usual);
    if (fact->kind == FACT_WORD)
      return word_of(h, param, fact);
    if (fact->kind == FACT_BOOL)
      return word_of_bool(h, param, fact);
    hugging_refuse(h, fact, "a word, true or false");
    break;
  case KNOWN_REAL: return real_of(h, fact);
  default: return integer_of(h, fact, usual);
  }
  return (struct settled){.kind = KNOWN_NOT};
}
