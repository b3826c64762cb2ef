/* Echo: a layer's operations are copied from those of a like layer. */
#ifndef NETC_MEMORY_STEP_ECHO_H
#define NETC_MEMORY_STEP_ECHO_H

#include "sema/model/model.h"
#include "layers/tape/tape.h"

struct echo; /* recent layers and their places on the tape */

/* NULL if this tape cannot echo. */
struct echo *echo_open(struct tape *tape, const struct model *model);

/*
 * Records node `index`, which reads the values `in`, as a copy of a like node.
 * Returns its output, or SIZE_MAX if there is no like node.
 */
size_t echo_node(struct echo *echo, int64_t index, const size_t *in);

/* Called before and after a node's layer records. */
void echo_begin(struct echo *echo, int64_t index, const size_t *in);
void echo_end(struct echo *echo, size_t out);

#endif
