/* Allows, in an imported source, the warnings about its author's choices. */
#ifndef NETC_IMPORT_ALLOW_H
#define NETC_IMPORT_ALLOW_H

#include "base/text.h"
#include "netc.h"

/*
 * Writes to `out` the source that `netc` compiled, with an `allow` line for its
 * warnings about such choices. Returns the number of warnings; if it is 0, the
 * source is unchanged.
 *
 * The line is only added to an imported file: `netc check model.onnx` shows all
 * warnings.
 */
size_t import_allow(struct netc *netc, struct slice source, struct text *out);

#endif
