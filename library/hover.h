/* What is said of a choice in a completion. */
#ifndef NETC_LIBRARY_HOVER_H
#define NETC_LIBRARY_HOVER_H

#include "library/context.h"

/* Gives it its `detail` and `doc`; they live as long as the load. */
void hover_describe(struct netc *netc, struct netc_choice *choice);

#endif
