/* `-o x.html --live`: a page that compiles its net again as it is asked. */
#ifndef NETC_DRIVER_LIVE_H
#define NETC_DRIVER_LIVE_H

#include "driver/net_options.h"

/* Whether these options can be answered in the page; else a complaint. */
int live_check(const struct net_options *options);

/* Writes `page`, as netc_emit gives "html", with the compiler in it. */
int live_write(struct netc *netc, const struct net_options *options,
               const struct bytes *page, FILE *file);

#endif
