/* Layers in the syntax of other frameworks, one a line. */
#ifndef NETC_LAYERS_FOREIGN_LINE_H
#define NETC_LAYERS_FOREIGN_LINE_H

#include "layers/foreign/foreign.h"

struct layer_kind;

/* The layer of a word in any spelling or framework, or NULL. */
const struct layer_kind *line_layer(struct slice word);

/*
 * Writes the line's layer in netc's syntax, with that label. False: it is no
 * layer, or has a value that fits nowhere; the text is then undefined. `why`
 * explains the mistake.
 */
bool line_write(struct arena *arena, struct slice line, struct slice label,
                struct text *out, const char **why);

#endif
