/* Graphviz: `dot`, run as a child process, makes a picture of a diagram. */
#ifndef NETC_DRIVER_GRAPHVIZ_H
#define NETC_DRIVER_GRAPHVIZ_H

#include "driver/command.h"

/* The most seconds that `dot` may take; or NETC_DOT_SECONDS. */
enum { DOT_SECONDS = 60 };

/* The kinds of pictures, from 0; NULL after the last. */
const char *picture_at(size_t index);

/* The same by name; NULL if there is none. */
const char *picture_find(const char *kind);

/*
 * Makes a PNG of `dot` in `file`. Explains what went wrong and returns an exit
 * status.
 */
int graphviz_render(const struct bytes *dot, FILE *file);

#endif
