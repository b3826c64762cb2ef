/* One argument on its way into the struct that a layer declares. */
#ifndef NETC_SEMA_BINDING_SLOT_H
#define NETC_SEMA_BINDING_SLOT_H

#include "sema/binding/expander.h"

struct slot {
  struct expander *e;
  struct binding *b;
  const struct arg_spec *spec;
  const struct expr *expr;
  struct value value;
  void *at;
  struct slice nearest; /* value that is allowed, of one that is not */
};

/* Stores its value by the type of its row; false: a diagnostic says why not. */
bool slot_store(struct slot *s);

/* The same of a bare word, for a row that has a list of words. */
bool slot_choose(struct slot *s, struct slice word);

#endif
