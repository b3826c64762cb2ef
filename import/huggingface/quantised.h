/* Quantised weights: which of a net's matrices have which type. */
#ifndef NETC_IMPORT_HUGGINGFACE_QUANTISED_H
#define NETC_IMPORT_HUGGINGFACE_QUANTISED_H

#include "import/huggingface/huggingface.h"
#include "sema/model/weights.h"

/* Modules whose names match have another type than the others. */
struct regular;
struct module_rule {
  struct slice pattern;    /* a name, in which `*` is any part */
  struct regular *regular; /* NULL: the pattern is none */
  const char *type; /* a word of `weight_dtype`; NULL: the net's `dtype` */
  const struct fact *fact;
};

/* The facts that a tool gives, in any place and words. */
struct quantised {
  const char *type; /* of the modules that no rule names; NULL: the net's */
  unsigned parts;   /* that `type` applies to, a bit for each weights_part */
  bool within;      /* rules name any part of a module's name */
  VEC(struct module_rule) rules; /* of those that match the last counts, */
};                               /* but one without a type wins over all */

/*
 * A regular expression of Python: characters, classes, groups, `|`, `*`, `+`,
 * `?`, `$` and an `^` that it begins with; NULL: it has others.
 */
struct regular *regular_new(struct arena *arena, struct slice pattern);

/* True if it matches the beginning of a text. */
bool regular_matches(const struct regular *regular, struct slice text);

/*
 * The value of `weight_dtype=` for all that; NULL: the graph says what is wrong
 * with it, at the rule's fact. "" if nothing is quantised.
 */
const char *quantised_words(struct hugging *h, const struct quantised *q);

#endif
