/* Uses: checks that the given settings affect an output. */
#ifndef NETC_LIBRARY_USES_H
#define NETC_LIBRARY_USES_H

#include "library/context.h"

/* True if a prediction is asked for: by the caller, or by a board. */
bool uses_prediction(const struct netc *netc, bool asked);

/* False, with a message, if a setting would have to be used but is not:
 * uses.def. */
bool uses_all(struct call *call, const char *output, bool predict);

/* True if a setting asks about inference. */
bool uses_of_inference(struct slice setting);

/* True if the user asks how a net is served: what divides training, too, then
 * divides that. */
bool uses_serves(const struct netc *netc);

#endif
