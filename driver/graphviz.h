/* Graphviz: a diagram turned into a picture by `dot`, as a child process. */
#ifndef NETC_DRIVER_GRAPHVIZ_H
#define NETC_DRIVER_GRAPHVIZ_H

#include "driver/command.h"

/* The most seconds that `dot` may take. */
enum { DOT_SECONDS = 60 };

/*
 * Renders the diagram `dot` as "svg", "png" or "pdf" into `file`. Explains
 * what went wrong and returns an exit status.
 */
int render_diagram(const struct bytes *dot, const char *kind, FILE *file);

#endif
