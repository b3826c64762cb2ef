/* Layers as they are written elsewhere: one line. */
#ifndef NETC_LAYERS_FOREIGN_LINE_H
#define NETC_LAYERS_FOREIGN_LINE_H

#include "layers/foreign/foreign.h"

struct layer_kind;

/* The layer of a word in any spelling or framework, or NULL. */
const struct layer_kind *line_layer(struct slice word);

/*
 * Writes the layer of a line in our words, with that label; false: it is none,
 * or it has a value that finds no place. The text then has rubbish. `why`
 * says what the slip was.
 */
bool line_write(struct arena *arena, struct slice line, struct slice label,
                struct text *out, const char **why);

#endif
