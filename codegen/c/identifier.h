/* Identifiers: names of a net as C has them. */
#ifndef NETC_CODEGEN_C_IDENTIFIER_H
#define NETC_CODEGEN_C_IDENTIFIER_H

#include "base/map.h"
#include "codegen/backend.h"

/* Names that are taken, and what each begins with. */
struct identifiers {
  struct arena *arena;
  struct map taken, stems; /* stems with their endings */
  struct slice prefix;     /* "VGG16_" */
};

/* The prefix is that of the options, or comes from the net's name. */
struct identifiers identifiers_open(const struct compiled *c);

/* The prefix without its last character, in small letters: "vgg16". */
struct slice identifiers_small(const struct identifiers *ids);

/*
 * "CONV1", or "CONV1_2" if a name of CONV1 with one of the endings is taken;
 * then they are. `endings` ends with NULL, and outlives them; each begins with
 * an underscore.
 */
struct slice identifiers_stem(struct identifiers *ids, struct slice text,
                              const char *const *endings);

/* Takes prefix and name. */
void identifiers_take(struct identifiers *ids, const char *name);

#endif
