/* Dominators: the tensor through which all paths to a node lead. */
#ifndef NETC_IMPORT_DOMINATE_H
#define NETC_IMPORT_DOMINATE_H

#include "import/graph.h"

struct dominators {
  int *parent; /* the nearest dominator of a node; -1: none */
  bool *loose; /* computed from weights alone, without an input */
  /* Users of node i: uses[first_use[i] .. first_use[i + 1]). */
  int *first_use, *uses;
};

/* The graph must be sorted: inputs come before the nodes that read them. */
void dominate(struct dominators *tree, struct graph *graph);

#endif
