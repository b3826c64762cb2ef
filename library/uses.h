/* Uses: whether what was chosen is used for what an output answers. */
#ifndef NETC_LIBRARY_USES_H
#define NETC_LIBRARY_USES_H

#include "library/context.h"

/* False, and said, if a setting is not, and would have to be: uses.def. */
bool uses_all(struct call *call, const char *output, bool predict);

#endif
