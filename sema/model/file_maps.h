/* Flattened maps, as far as files of weights know them: docs/weights.md. */
#ifndef NETC_SEMA_MODEL_FILE_MAPS_H
#define NETC_SEMA_MODEL_FILE_MAPS_H

#include "sema/model/model.h"

/*
 * PyTorch flattens a map as CxHxW, netc as HxWxC. Files have the axes of
 * weights after such a vector, or before one that becomes a map, in
 * PyTorch's order. All by node.
 */
struct file_maps {
  const struct shape **vector;   /* its vector is that map, flattened */
  const struct shape **becoming; /* its vector will be seen as that map */
  bool *channels_first;          /* PyTorch has its channels first */
};

void file_maps_find(const struct model *model, struct arena *arena,
                    struct file_maps *maps);

#endif
