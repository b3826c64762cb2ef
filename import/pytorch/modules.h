/* Whole PyTorch modules: nets that are a chain of torch.nn's own modules. */
#ifndef NETC_IMPORT_PYTORCH_MODULES_H
#define NETC_IMPORT_PYTORCH_MODULES_H

#include "import/reader.h"

/* True if a file of torch.save has an nn.Sequential, not just tensors. */
bool modules_are_in(const char *path, struct arena *arena);

/* Reads the nn.Sequential in `options->path`. */
import_read_fn modules_read;

#endif
