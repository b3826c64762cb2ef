/* Mistakes in arguments: legal text that likely means something else. */
#ifndef NETC_SEMA_BINDING_SLIP_H
#define NETC_SEMA_BINDING_SLIP_H

#include "sema/binding/expander.h"

/* Warns, or reports an error and returns true: then nothing is bound.
 * `argument`: the value with its key. */
bool slip_check(struct expander *e, struct binding *b,
                const struct arg_spec *spec, const struct expr *expr,
                struct span argument);

/* Reports `bn // note`, a comment of another language; false: it is none. */
bool slip_comment(struct expander *e, struct binding *b, const struct arg *arg);

/* Warns of a product of numbers in place of sizes joined by x: 32*32*3. */
void slip_product(struct expander *e, const struct expr *expr);

#endif
