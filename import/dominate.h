/* Dominators: through which tensor all that a tensor is made from must go. */
#ifndef NETC_IMPORT_DOMINATE_H
#define NETC_IMPORT_DOMINATE_H

#include "import/graph.h"

struct dominators {
  int *parent; /* the nearest dominator of a node; -1: none */
  bool *loose; /* made from weights alone, not from an input */
  /* Who uses a node: uses[first_use[i] .. first_use[i + 1]). */
  int *first_use, *uses;
};

/* Nodes come in an order in which inputs stand before what they feed. */
void dominate(struct dominators *tree, struct graph *graph);

#endif
