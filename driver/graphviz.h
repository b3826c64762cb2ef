/* Graphviz: a diagram turned into a picture by `dot`, as a child process. */
#ifndef NETC_DRIVER_GRAPHVIZ_H
#define NETC_DRIVER_GRAPHVIZ_H

#include "driver/command.h"

/* The most seconds that `dot` may take. */
enum { DOT_SECONDS = 60 };

/* The kinds of pictures, from 0; NULL behind the last. */
const char *picture_at(size_t index);

/* The same by name; NULL if there is none. */
const char *picture_find(const char *kind);

/*
 * Renders the diagram `dot` as "svg", "png" or "pdf" into `file`. Explains
 * what went wrong and returns an exit status.
 */
int render_diagram(const struct bytes *dot, const char *kind, FILE *file);

#endif
