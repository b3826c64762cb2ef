/*
 * Lists of a config as a template takes them, a param for each member, and what
 * a template is without: rows of huggingface.def.
 */
#include <inttypes.h>

#include "import/huggingface/huggingface.h"

enum { MOST_MEMBERS = 64 }; /* that are looked at */

enum list_rule {
  LIST_ONLY,
  LIST_NEEDED,
  LIST_EQUAL,
  LIST_SPREAD,
  LIST_MEMBER,
  LIST_PAIRED,
  LIST_LENGTH,
  LIST_FINAL,
};

/* Rows of huggingface.def in their order, for the template `net`. */
static const struct list_row {
  enum list_rule rule;
  const char *net, *a, *b, *c, *d;
} rows[] = {
#define ONLY(net, key, text) {LIST_ONLY, net, key, text, "", ""},
#define NEEDED(net, key) {LIST_NEEDED, net, key, "", "", ""},
#define EQUAL(net, list, other) {LIST_EQUAL, net, list, other, "", ""},
#define SPREAD(net, key, list) {LIST_SPREAD, net, key, list, "", ""},
#define MEMBER(net, list, word, key, name) \
  {LIST_MEMBER, net, list, word, key, name},
#define PAIRED(net, list, word, other, theirs) \
  {LIST_PAIRED, net, list, word, other, theirs},
#define LENGTH(net, list, name) {LIST_LENGTH, net, list, name, "", ""},
#define FINAL(net, list, name) {LIST_FINAL, net, list, name, "", ""},
#include "import/huggingface/huggingface.def"
};

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
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].rule == LIST_MEMBER &&
        strcmp(h->type->file, rows[i].net) == 0 &&
        strcmp(rows[i].a, list) == 0 && slice_is(word, rows[i].b))
      return true;
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

/* False: refused. */
static bool follow(struct hugging *h, const struct list_row *row) {
  switch (row->rule) {
  case LIST_ONLY: return is_only(h, row->a, row->b);
  case LIST_NEEDED: return is_needed(h, row->a);
  case LIST_EQUAL: return are_equal(h, row->a, row->b);
  case LIST_PAIRED: return are_paired(h, row->a, row->b, row->c, row->d);
  case LIST_SPREAD: spread(h, row->a, row->b); break;
  case LIST_LENGTH: put_integer(h, row->b, length_of(h, row->a)); break;
  case LIST_FINAL: put_final(h, row->a, row->b); break;
  case LIST_MEMBER:
    if (!has_words(h, row->a))
      return false;
    put_members(h, row->a, row->b, row->c, row->d);
    break;
  }
  return true;
}

bool hugging_lists(struct hugging *h) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(h->type->file, rows[i].net) == 0 && !follow(h, &rows[i]))
      return false;
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
