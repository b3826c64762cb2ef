/* Echo: a layer's operations are copied from those of a like layer. */
#ifndef NETC_MEMORY_STEP_ECHO_H
#define NETC_MEMORY_STEP_ECHO_H

#include "sema/model/model.h"
#include "layers/tape/tape.h"

struct echo; /* recent layers, and where on the tape they are */

/* NULL: nothing can be echoed on such a tape. */
struct echo *echo_open(struct tape *tape, const struct model *model);

/*
 * Records node `index`, which reads the values `in`, as a copy of a like node.
 * Returns its output, or SIZE_MAX if there is no like node.
 */
size_t echo_node(struct echo *echo, int64_t index, const size_t *in);

/* Called before and after the layer of a node records. */
void echo_begin(struct echo *echo, int64_t index, const size_t *in);
void echo_end(struct echo *echo, size_t out);

#endif
