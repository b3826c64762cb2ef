/* netc init: names of the templates. */
#ifndef NETC_DRIVER_INIT_H
#define NETC_DRIVER_INIT_H

#include <stddef.h>

/* By index from 0; NULL after the last. */
const char *init_template(size_t index);

#endif
