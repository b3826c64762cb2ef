/* Texts about a choice of a completion. */
#ifndef NETC_LIBRARY_HOVER_H
#define NETC_LIBRARY_HOVER_H

#include "library/context.h"

/* Sets `detail` and `doc`, which are valid until the next load. */
void hover_describe(struct netc *netc, struct netc_choice *choice);

#endif
