/* Templates for completion in shells, which the build converts to C. */
#ifndef NETC_DRIVER_COMPLETION_H
#define NETC_DRIVER_COMPLETION_H

#include <stddef.h>

/* Lines of netc.bash.in; NULL after the last. */
extern const char *const completion_bash[];

#endif
