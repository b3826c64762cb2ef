/*
 * Lists of a config as a template takes them, a param for each member, and what
 * a template is without: rows of huggingface.def.
 */
#include <inttypes.h>

#include "import/huggingface/huggingface.h"

enum { MOST_MEMBERS = 64 }; /* that are looked at */

static const struct fact *fact(const struct hugging *h, const char *name) {
  return fact_of(h->facts, name);
}

static const char *item_name(const struct hugging *h, const char *list,
                             int64_t i) {
  return graph_text(h->graph, "%s_%" PRId64, list, i);
}

static const struct fact *item(const struct hugging *h, const char *list,
                               int64_t i) {
  return fact(h, item_name(h, list, i));
}

/* 0: it is no list. */
static int64_t length_of(const struct hugging *h, const char *list) {
  const struct fact *f = fact(h, list);
  return !f || f->kind != FACT_OBJECT ? 0
         : f->integer > MOST_MEMBERS  ? MOST_MEMBERS
                                      : f->integer;
}

static void put_copy(struct hugging *h, const char *name,
                     const struct fact *value) {
  struct fact copy = *value, *put = fact_put(h->facts, slice_of(name));
  copy.name = put->name;
  *put = copy;
}

static void put_integer(struct hugging *h, const char *name, int64_t value) {
  fact_put_text(h->facts, slice_of(name),
                slice_of(graph_text(h->graph, "%" PRId64, value)));
  fact_put(h->facts, slice_of(name))->counted = true;
}

/* One value for all members of another list. */
static void spread(struct hugging *h, const char *key, const char *list) {
  const struct fact *value = fact(h, key);
  if (!value || value->kind == FACT_OBJECT)
    return;
  struct fact copy = *value; /* adding facts moves them */
  for (int64_t i = 0; i < length_of(h, list); i++)
    put_copy(h, item_name(h, key, i), &copy);
}

/* The key's member for members of the list that are that word; "": 0. */
static void put_members(struct hugging *h, const char *list, const char *word,
                        const char *key, const char *name) {
  for (int64_t i = 0; i < length_of(h, list); i++) {
    const struct fact *f = item(h, list, i);
    const struct fact *value = *key ? item(h, key, i) : NULL;
    if (!f || f->kind != FACT_WORD || !slice_is(f->text, word))
      continue;
    if (value)
      put_copy(h, item_name(h, name, i), value);
    else
      put_integer(h, item_name(h, name, i), 0);
  }
}

static void put_final(struct hugging *h, const char *list, const char *name) {
  const struct fact *f = fact(h, list);
  if (f && f->kind == FACT_OBJECT)
    f = item(h, list, length_of(h, list) - 1);
  if (f)
    put_copy(h, name, f);
}

static bool is_word_of(const struct hugging *h, const char *list,
                       struct slice word) {
#define MEMBER(net, key, theirs, other, name)                      \
  if (strcmp(h->type->file, net) == 0 && strcmp(key, list) == 0 && \
      slice_is(word, theirs))                                      \
    return true;
#include "import/huggingface/huggingface.def"
  return false;
}

static bool has_words(struct hugging *h, const char *list) {
  for (int64_t i = 0; i < length_of(h, list); i++) {
    const struct fact *f = item(h, list, i);
    if (f && (f->kind != FACT_WORD || !is_word_of(h, list, f->text)))
      return hugging_refuse(h, f, "a kind of block that netc knows here");
  }
  return true;
}

/* False: they are there, but not as long. */
static bool are_equal(struct hugging *h, const char *list, const char *other) {
  const struct fact *f = fact(h, list);
  return !f || f->kind != FACT_OBJECT || !fact(h, other) ||
         length_of(h, list) == length_of(h, other) ||
         fact_fail(h->facts, f,
                   "`%s` has %" PRId64 " members, but `%s` has %" PRId64, list,
                   length_of(h, list), other, length_of(h, other));
}

/* Where one list has a word, the other has its own, from its end. */
static bool are_paired(struct hugging *h, const char *list, const char *word,
                       const char *other, const char *theirs) {
  int64_t length = length_of(h, list);
  for (int64_t i = 0; i < length; i++) {
    const struct fact *f = item(h, list, i);
    const struct fact *pair = item(h, other, length - 1 - i);
    if (f && pair && slice_is(f->text, word) && !slice_is(pair->text, theirs))
      return hugging_refuse(h, pair, theirs);
  }
  return true;
}

static bool is_needed(struct hugging *h, const char *list) {
  const struct fact *f = fact(h, list);
  if (f && f->kind != FACT_OBJECT)
    return hugging_refuse(h, f, "a list");
  return f || graph_fail(h->graph, 0, "the config has no `%s`", list);
}

/* A template is made for one value of a key; "": it is not there. */
static bool is_only(struct hugging *h, const char *key, const char *text) {
  const struct fact *f = fact(h, key);
  bool list = f && f->kind == FACT_OBJECT && f->integer == 0; /* an empty one */
  return !f || list || slice_is(f->text, text) ||
         hugging_refuse(h, f, "supported here");
}

bool hugging_lists(struct hugging *h) {
#define IN(net) (strcmp(h->type->file, net) == 0)
#define ONLY(net, key, text)             \
  if (IN(net) && !is_only(h, key, text)) \
    return false;
#define NEEDED(net, key)             \
  if (IN(net) && !is_needed(h, key)) \
    return false;
#define EQUAL(net, list, other)              \
  if (IN(net) && !are_equal(h, list, other)) \
    return false;
#define SPREAD(net, key, list) \
  if (IN(net))                 \
    spread(h, key, list);
#define MEMBER(net, list, word, key, name) \
  if (IN(net)) {                           \
    if (!has_words(h, list))               \
      return false;                        \
    put_members(h, list, word, key, name); \
  }
#define PAIRED(net, list, word, other, theirs)              \
  if (IN(net) && !are_paired(h, list, word, other, theirs)) \
    return false;
#define LENGTH(net, list, name) \
  if (IN(net))                  \
    put_integer(h, name, length_of(h, list));
#define FINAL(net, list, name) \
  if (IN(net))                 \
    put_final(h, list, name);
#include "import/huggingface/huggingface.def"
#undef IN
  return true;
}

bool hugging_lists_fit(struct hugging *h) {
  for (size_t i = 0; i < h->params.count; i++) {
    struct slice name = h->params.at[i];
    if (!slice_ends(name, "_0"))
      continue;
    const struct fact *list = hugging_fact(h, slice_less(name, 2));
    size_t room = 0;
    for (size_t j = 0; j < h->params.count; j++) {
      struct slice other = h->params.at[j];
      room += other.length == name.length &&
              memcmp(other.at, name.at, name.length - 1) == 0;
    }
    if (list && list->kind == FACT_OBJECT && list->integer > (int64_t)room)
      return fact_fail(h->facts, list,
                       "`%.*s` has %" PRId64 " members; a net of netc has at "
                       "most %zu",
                       SLICE_ARG(*fact_shown(list)), list->integer, room);
  }
  return true;
}
