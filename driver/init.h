/* netc init: the templates, by name. */
#ifndef NETC_DRIVER_INIT_H
#define NETC_DRIVER_INIT_H

#include <stddef.h>

/* From 0; NULL after the last. */
const char *init_template(size_t index);

#endif
