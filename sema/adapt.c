/*
 * LoRA for a whole net (`--lora`). All layers are frozen. Those with the chosen
 * matrices get A and B beside them, as if each had `lora=16`. `:all` leaves out
 * the output layer of a language model, as PEFT does: "if this is specified as
 * 'all-linear', then all linear/Conv1D modules are chosen [..], the output
 * layer excluded" (LoraConfig.target_modules).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "layers/lora.h"
#include "sema/statements.h"

/* NAME=X, a decimal number that is not given yet; strtod depends on the
 * locale. */
static bool take_real(struct slice word, const char *name, double most,
                      double *value) {
  double parts = 1;
  size_t at = strlen(name);
  if (!slice_begins(word, name) || at == word.length || *value > 0)
    return false;
  for (bool point = false; at < word.length; at++) {
    if (word.at[at] == '.' && !point) {
      point = true;
    } else if (is_digit(word.at[at])) {
      *value = 10 * *value + (word.at[at] - '0');
      parts *= point ? 10 : 1;
    } else {
      return false;
    }
  }
  *value /= parts;
  return *value > 0 && *value <= most;
}

static bool take_word(struct adapters *adapters, struct slice word) {
  int type = word_index(LORA_TYPES, word), on = word_index(LORA_ON, word);
  bool all = slice_is(word, "all");
  if (type ? adapters->type : (on || all) && (adapters->on || adapters->all))
    return false;
  adapters->type += type;
  adapters->on += on;
  adapters->all |= all;
  return type || on || all ||
         take_real(word, "alpha=", 1e9, &adapters->alpha) ||
         take_real(word, "dropout=", 1, &adapters->dropout);
}

bool adapters_read(const char *text, struct adapters *adapters) {
  char *at;
  errno = 0;
  long long rank = strtoll(text, &at, 10);
  bool more = true;
  *adapters = (struct adapters){.rank = rank};
  while (more && *at == ':') {
    struct slice word = {at + 1, strcspn(at + 1, ":")};
    more = take_word(adapters, word);
    at += 1 + word.length;
  }
  return more && !*at && at != text && !errno && rank > 0 && rank <= INT32_MAX;
}

static int row_of(const struct binding *b, const char *name) {
  for (int i = 0; b->specs[i].name; i++)
    if (strcmp(b->specs[i].name, name) == 0)
      return i;
  return -1;
}

static bool was_given(const struct binding *b, const char *name) {
  int row = row_of(b, name);
  return row >= 0 && b->given >> row & 1;
}

/* A layer with its own `lora`, or with shared weights, keeps what it has. */
static bool is_open(const struct binding *b) {
  return row_of(b, "lora") >= 0 && !was_given(b, "lora") &&
         !was_given(b, "tie") && !was_given(b, "weights");
}

static void *give(struct binding *b, const char *name, struct span span) {
  int row = row_of(b, name);
  b->given |= (uint64_t)1 << row;
  b->spans[row] = span;
  return (char *)b->args + b->specs[row].offset;
}

/* Rows of the largest table of vectors so far, which is the vocabulary; or 0.
 */
static int64_t vocabulary(struct expander *e) {
  const struct model *model = e->model;
  for (; e->scanned < (int64_t)model->nodes.count; e->scanned++) {
    const struct node *node = &model->nodes.at[e->scanned];
    int64_t width = shape_channels(node->out);
    if (node->kind->input == INPUT_INDEX && node->param_count > 0 && width > 0)
      e->vocabulary = max_i64(
          e->vocabulary, model->params.at[node->first_param].count / width);
  }
  return e->vocabulary;
}

/* True if a dense layer gives a score for each word. */
static bool is_head(struct expander *e, const struct binding *b) {
  int row = row_of(b, "units");
  int64_t words = vocabulary(e);
  return words > 0 && row >= 0 &&
         *(int64_t *)((char *)b->args + b->specs[row].offset) == words;
}

void adapt_binding(struct expander *e, struct binding *b,
                   const struct layer_kind *kind, struct span span) {
  static const char *const dense[] = {"linear", "fc"};
  const struct adapters *adapters = &e->in->adapters;
  if (!adapters->rank)
    return;
  bool attends = row_of(b, "lora_on") >= 0;
  bool wanted = attends;
  for (size_t i = 0; i < sizeof dense / sizeof *dense; i++)
    wanted = wanted || (adapters->all && strcmp(kind->name, dense[i]) == 0);
  if (!wanted)
    return;
  if (was_given(b, "lora"))
    e->in->adapters_used = e->in->adapters_own = true;
  if (!is_open(b))
    return;
  if (!attends && is_head(e, b)) {
    e->in->adapters_spare = true;
    return;
  }
  *(int64_t *)give(b, "lora", span) = adapters->rank;
  if (adapters->type)
    *(int *)give(b, "lora_dtype", span) = adapters->type;
  if (adapters->alpha > 0 && !was_given(b, "lora_alpha"))
    *(double *)give(b, "lora_alpha", span) = adapters->alpha;
  if (adapters->dropout > 0 && !was_given(b, "lora_dropout"))
    *(double *)give(b, "lora_dropout", span) = adapters->dropout;
  if (attends && !was_given(b, "lora_on")) {
    int all = word_index(LORA_ON, slice_of("qkvo"));
    *(int *)give(b, "lora_on", span) = adapters->on ? adapters->on : all;
  }
  e->in->adapters_used = true;
}
