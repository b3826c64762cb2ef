/*
 * Origins: the sources, settings and version of a result, as one short word. It
 * is stored with results, so that those of another question are refused when
 * they are read back.
 */
#ifndef NETC_DRIVER_ORIGIN_H
#define NETC_DRIVER_ORIGIN_H

#include "driver/net_options.h"

/* "netc-0.2-SOURCES-SETTINGS", hashes of twelve digits; or without settings. */
struct origin_word {
  char text[64];
};

/*
 * Origin of a loaded net: hashes of all sources and of options that change
 * figures. Ranges do not count, as their values are in the rows.
 */
struct origin_word origin_of_rows(const struct net_options *options);

/* Origin of a net's computation: layers and shapes, without settings and names
 * of files. False if memory ran out. */
bool origin_of_layers(struct netc *netc, struct origin_word *origin);

/* How a stored origin differs, as the end of a sentence: "of another source";
 * NULL: equal. */
const char *origin_differs(const struct origin_word *origin,
                           struct slice stored);

/* True if the stored origin is that of another net. Versions are ignored while
 * layers are written in the same words. */
bool origin_other_net(const struct origin_word *origin, struct slice stored);

#endif
