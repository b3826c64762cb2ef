/* Cut check: validates given numbers of blocks, and warns of uneven stages. */
#ifndef NETC_MEMORY_DEVICES_CUT_CHECK_H
#define NETC_MEMORY_DEVICES_CUT_CHECK_H

#include "memory/devices/parallel.h"

/* Reports an error in `cut="4,4,8"` and returns false. */
bool cut_check(const struct model *model, const struct settings *settings,
               struct diags *diags);

/* Warns of a stage with a tenth more MACs than the mean. */
void cut_warn(const struct model *model, const struct settings *settings,
              const struct parallel *parallel, struct diags *diags);

#endif
