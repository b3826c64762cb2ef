/* Arguments that mean something else here than what was meant. */
#ifndef NETC_BINDING_SLIP_H
#define NETC_BINDING_SLIP_H

#include "binding/expander.h"

/* Warns, or reports an error and returns true: then nothing is bound. */
bool slip_check(struct expander *e, struct binding *b,
                const struct arg_spec *spec, const struct expr *expr);

#endif
