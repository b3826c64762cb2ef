/*
 * A source with its params settled: what depends on them alone is written as
 * it comes out, branches that are not taken and defs that nothing calls go.
 */
#ifndef NETC_IMPORT_HUGGINGFACE_SETTLE_H
#define NETC_IMPORT_HUGGINGFACE_SETTLE_H

#include "import/huggingface/known.h"

/* The value of a param whose default is `usual`; KNOWN_NOT: refused. */
typedef struct settled settle_fn(void *user, const struct stmt *param,
                                 const struct settled *usual);

/*
 * `name` is the net's. False: a value was refused, or the text has syntax
 * errors.
 */
bool settle_source(struct arena *arena, struct slice source, struct slice name,
                   settle_fn *given, void *user, struct text *out);

#endif
