/* Whole modules of PyTorch: nets that are a chain of torch.nn's own. */
#ifndef NETC_IMPORT_PYTORCH_MODULES_H
#define NETC_IMPORT_PYTORCH_MODULES_H

#include "import/reader.h"

/* Whether a file of torch.save has an nn.Sequential, and not tensors alone. */
bool modules_are_in(const char *path, struct arena *arena);

/* Reads it from `options->path`. */
import_read_fn modules_read;

#endif
