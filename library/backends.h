/* The table of outputs, from outputs.def. */
#ifndef NETC_LIBRARY_BACKENDS_H
#define NETC_LIBRARY_BACKENDS_H

#include "codegen/backend.h"

size_t backend_count(void);
const struct backend *backend_at(size_t index);

/* The kind with that name or word, or NULL. */
const struct backend *backend_find(struct slice name);

#endif
