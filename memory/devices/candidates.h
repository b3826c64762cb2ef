/* Candidates: every way of placing a net, in an order of its own. */
#ifndef NETC_MEMORY_DEVICES_CANDIDATES_H
#define NETC_MEMORY_DEVICES_CANDIDATES_H

#include "memory/devices/placement.h"

struct place_candidate {
  struct train_settings settings;
  size_t order;
  double least;  /* seconds: neither bound nor prediction is shorter */
  int64_t holds; /* bytes: its most loaded device has no fewer */
};

struct candidates {
  VEC(struct place_candidate) at;
};

void candidates_find(const struct place_request *request,
                     const struct work *work, struct runs *runs,
                     struct arena *arena, struct candidates *all);

#endif
