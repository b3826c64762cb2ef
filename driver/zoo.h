/* The zoo: nets that came with netc, by their names. */
#ifndef NETC_DRIVER_ZOO_H
#define NETC_DRIVER_ZOO_H

#include "base/arena.h"
#include "driver/command.h"

/* Whether an operand is "zoo:NAME". */
bool zoo_is_name(const char *operand);

/* The folder of the examples, whether it is there or not. */
const char *zoo_examples(struct arena *arena);

/* The file of "zoo:NAME", in the arena; NULL and a complaint: it has none. */
const char *zoo_path(struct arena *arena, const char *operand);

/* "zoo:resnet -D depth=50" for "resnet50"; empty: nothing is alike. */
struct zoo_text {
  char text[160];
};
struct zoo_text zoo_suggestion(const char *word);

#endif
