/* Shown: what others wrote, as a terminal may be given it. */
#ifndef NETC_BASE_SHOWN_H
#define NETC_BASE_SHOWN_H

#include "base/text.h"

/*
 * Copies a text that is to be read by people. Control characters, with which
 * a terminal could be made to do things, become `?`; those beyond ASCII and
 * the marks that turn the direction of what follows (Unicode's Bidi_Control,
 * https://trojansource.codes) U+FFFD. A tab fills up to a multiple of `tab`
 * columns; with 0 it is a control character. Returns the columns written.
 */
size_t shown_put(struct text *out, struct slice text, size_t tab);

#endif
