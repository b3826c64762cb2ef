/* The proof of an import: its source compiles to what the file says. */
#ifndef NETC_IMPORT_PROOF_H
#define NETC_IMPORT_PROOF_H

#include "import/reader.h"
#include "netc.h"

struct import_proof {
  struct netc *netc; /* has the source, once it holds */
  const char *path;  /* of the file, for diagnostics */
  enum netc_status loaded;
  const char *longer; /* "a line a layer": how the source was spelled out
                         before it held; NULL: it is the shortest */
};

/* Compiles what was imported; whether it says what the file does. */
bool import_holds(struct import_proof *proof, struct graph *graph,
                  const struct imported *result);

/*
 * The source as it is, or else in more lines, at last with one a layer. False:
 * `graph` failed, or else `netc` has the diagnostics.
 */
bool import_prove(struct import_proof *proof, struct graph *graph, bool flat,
                  struct imported *result);

#endif
