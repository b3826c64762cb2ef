/* split: shared with sema, which adds a node for each part. */
#ifndef NETC_LAYERS_SPLIT_H
#define NETC_LAYERS_SPLIT_H

#include "layers/layer.h"

struct split {
  struct axes axis;
  struct numbers parts; /* one: the number of parts; several: their sizes */
};

/* Arguments of a part; they have no syntax. */
struct part {
  int64_t index; /* from 1 */
  const struct split *split;
};

extern const struct layer_kind layer_part; /* not in the table of layers */

enum { MOST_PARTS = 1024 };

int64_t split_count(const struct split *split);

#endif
