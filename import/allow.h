/* What a net's author chose, which whoever has its source is told of once. */
#ifndef NETC_IMPORT_ALLOW_H
#define NETC_IMPORT_ALLOW_H

#include "base/text.h"
#include "netc.h"

/*
 * Puts the source that `netc` compiled, with a line that allows its warnings
 * about such choices. How many these are; 0: it is as it was.
 *
 * Such a line is a file's, not of what is compiled here and now: `netc check
 * model.onnx` shows all.
 */
size_t import_allow(struct netc *netc, struct slice source, struct text *out);

#endif
