/* Cut check: whether turns that were given are the net's, and even ones. */
#ifndef NETC_MEMORY_DEVICES_CUT_CHECK_H
#define NETC_MEMORY_DEVICES_CUT_CHECK_H

#include "memory/devices/parallel.h"

/* False: one of `cut="4,4,8"` is wrong, which has been said. */
bool cut_check(const struct model *model, const struct settings *settings,
               struct diags *diags);

/* A stage with a tenth more MACs than the mean is warned of. */
void cut_warn(const struct model *model, const struct settings *settings,
              const struct parallel *parallel, struct diags *diags);

#endif
