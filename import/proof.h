/* Proves an import: compiles its source and compares it with the file. */
#ifndef NETC_IMPORT_PROOF_H
#define NETC_IMPORT_PROOF_H

#include "import/reader.h"
#include "netc.h"

struct import_proof {
  struct netc *netc; /* has the source after a success */
  const char *path;  /* path of the file, for diagnostics */
  enum netc_status loaded;
  const char *longer; /* "a line a layer": layout that held; NULL: shortest */
};

/* Compiles the source; returns whether it agrees with the file. */
bool import_holds(struct import_proof *proof, struct graph *graph,
                  const struct imported *result);

/* Tries the source, then longer layouts, at last one layer per line. False:
 * `graph` has the error, or else `netc` has the diagnostics. */
bool import_prove(struct import_proof *proof, struct graph *graph, bool flat,
                  struct imported *result);

#endif
