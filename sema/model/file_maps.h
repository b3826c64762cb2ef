/* File maps: flattened maps as weight files store them: docs/weights.md. */
#ifndef NETC_SEMA_MODEL_FILE_MAPS_H
#define NETC_SEMA_MODEL_FILE_MAPS_H

#include "sema/model/model.h"

/*
 * PyTorch flattens a map as CxHxW, netc as HxWxC. In files, the weights after
 * such a vector, or before one that becomes a map, have PyTorch's order. By
 * node.
 */
struct file_maps {
  const struct shape **vector;   /* map that its vector is flattened from */
  const struct shape **becoming; /* map that its vector becomes */
  bool *channels_first;          /* PyTorch has its channels first */
};

void file_maps_find(const struct model *model, struct arena *arena,
                    struct file_maps *maps);

#endif
