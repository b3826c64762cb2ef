/* "Did you mean ...?": the closest of a set of known names. */
#ifndef NETC_BASE_SUGGEST_H
#define NETC_BASE_SUGGEST_H

#include "base/slice.h"

struct suggestion {
  struct slice wanted;
  struct slice best; /* .at NULL: nothing is close enough */
  size_t distance;
};

struct suggestion suggest_begin(struct slice wanted);

/* Compares with a known name; call once for each. */
void suggest_offer(struct suggestion *suggestion, struct slice known);

#endif
