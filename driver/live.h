/* `-o x.html --live`: a page that compiles its net again on demand. */
#ifndef NETC_DRIVER_LIVE_H
#define NETC_DRIVER_LIVE_H

#include "driver/net_options.h"

/* EXIT_DONE if the page can honour the options; else complains. */
int live_check(const struct net_options *options);

/* Writes `page`, the "html" of netc_emit(), with the compiler in it. */
int live_write(struct netc *netc, const struct net_options *options,
               const struct bytes *page, FILE *file);

#endif
