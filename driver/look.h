/* Options for the look of outputs: each sets a member, or complains and returns
 * an exit status. */
#ifndef NETC_DRIVER_LOOK_H
#define NETC_DRIVER_LOOK_H

#include "driver/options.h"
#include "netc.h"

/* --columns name,output,macs */
int look_set_columns(struct netc_options *look, const char *list);

/* --sort macs */
int look_set_sort(struct netc_options *look, char *value);
int look_set_top(struct netc_options *look, enum option_id option,
                 const char *value);
int look_set_unfold(struct netc_options *look, const char *value);

/* --width 240pt and --height 200mm, in tenths of a point. */
int look_set_length(enum option_id option, const char *value, int64_t *length);

#endif
