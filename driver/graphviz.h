/* Graphviz: makes pictures of diagrams with `dot` as a child process. */
#ifndef NETC_DRIVER_GRAPHVIZ_H
#define NETC_DRIVER_GRAPHVIZ_H

#include "driver/command.h"

/* Time limit of `dot` in seconds, unless NETC_DOT_SECONDS is set. */
enum { DOT_SECONDS = 60 };

/* Kinds of pictures by index; NULL after the last. */
const char *picture_at(size_t index);

/* The kind with that name, or NULL. */
const char *picture_find(const char *kind);

/*
 * Writes a PNG of `dot` to `file`. Explains errors and returns an exit
 * status.
 */
int graphviz_render(const struct bytes *dot, FILE *file);

#endif
