/* Slot: one argument before it is stored in the layer's struct. */
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
  struct slice nearest; /* nearest allowed value of a wrong one */
};

/* Stores its value by the type of its row; false with a report. */
bool slot_store(struct slot *s);

/* Stores a bare word in a row that has a list of words. */
bool slot_choose(struct slot *s, struct slice word);

#endif
