/* Identifiers: names of a net as C identifiers. */
#ifndef NETC_CODEGEN_C_IDENTIFIER_H
#define NETC_CODEGEN_C_IDENTIFIER_H

#include "base/map.h"
#include "codegen/backend.h"

/* Names in use, and their prefix. */
struct identifiers {
  struct arena *arena;
  struct map taken, stems; /* stems with their endings */
  struct slice prefix;     /* "VGG16_" */
};

/* The prefix comes from the options or from the net's name. */
struct identifiers identifiers_open(const struct compiled *c);

/* The prefix in lower case, without its last character: "vgg16". */
struct slice identifiers_small(const struct identifiers *ids);

/*
 * "CONV1", or "CONV1_2" if CONV1 with one of the endings is in use; marks them
 * as used. `endings` ends with NULL and must outlive `ids`; each begins with an
 * underscore.
 */
struct slice identifiers_stem(struct identifiers *ids, struct slice text,
                              const char *const *endings);

/* Marks prefix and name as used. */
void identifiers_take(struct identifiers *ids, const char *name);

#endif
