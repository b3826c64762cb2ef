/*
 * Origins: what was computed from which sources, with which settings and by
 * which version, as one short word. It is stored with results that are read
 * back later, so that those of another question are refused.
 */
#ifndef NETC_DRIVER_ORIGIN_H
#define NETC_DRIVER_ORIGIN_H

#include "driver/net_options.h"

/* "netc-0.2-SOURCES-SETTINGS", hashes of twelve digits; or without settings. */
struct origin_word {
  char text[64];
};

/*
 * The origin of a loaded net: hashes of the texts of all its sources, and of
 * options that change figures. Options with ranges do not count: their values
 * are in the rows.
 */
struct origin_word origin_of_rows(const struct net_options *options);

/* The origin of a net as it computes: its layers and shapes, without settings
   and names of files. False if memory ran out. */
bool origin_of_layers(struct netc *netc, struct origin_word *origin);

/* How a stored origin differs, as a sentence's end: "of another source"; NULL:
 * it does not. */
const char *origin_differs(const struct origin_word *origin,
                           struct slice stored);

/* True if a net with a stored origin is another one: the version does not
 * count, as long as layers are written in the same words. */
bool origin_other_net(const struct origin_word *origin, struct slice stored);

#endif
