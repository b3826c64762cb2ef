/* Templates of completion for shells, which the build makes into C. */
#ifndef NETC_DRIVER_COMPLETION_H
#define NETC_DRIVER_COMPLETION_H

#include <stddef.h>

/* The lines of netc.bash.in; NULL after the last. */
extern const char *const completion_bash[];

#endif
