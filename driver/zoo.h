/* The zoo: nets that are installed with netc, by name. */
#ifndef NETC_DRIVER_ZOO_H
#define NETC_DRIVER_ZOO_H

#include "base/arena.h"
#include "driver/command.h"

/* True if an operand is "zoo:NAME". */
bool zoo_is_name(const char *operand);

/* The folder of the examples, which may not exist. */
const char *zoo_examples(struct arena *arena);

/* The file of "zoo:NAME", in the arena; NULL after a complaint. */
const char *zoo_path(struct arena *arena, const char *operand);

/* "zoo:resnet -D depth=50" for "resnet50"; empty: nothing similar. */
struct zoo_text {
  char text[160];
};
struct zoo_text zoo_suggestion(const char *word);

#endif
