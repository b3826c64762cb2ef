/* Echo: what a layer records that one like it has recorded before. */
#ifndef NETC_MEMORY_STEP_ECHO_H
#define NETC_MEMORY_STEP_ECHO_H

#include "sema/model/model.h"
#include "layers/tape/tape.h"

struct echo; /* the layers of late, and where on the tape they are */

/* NULL: nothing can be echoed on such a tape. */
struct echo *echo_open(struct tape *tape, const struct model *model);

/*
 * Records node `index`, which reads the values `in`, by a copy of what a node
 * like it has recorded; returns its output, or SIZE_MAX: there is none.
 */
size_t echo_node(struct echo *echo, int64_t index, const size_t *in);

/* Between both the layer of a node records. */
void echo_begin(struct echo *echo, int64_t index, const size_t *in);
void echo_end(struct echo *echo, size_t out);

#endif
