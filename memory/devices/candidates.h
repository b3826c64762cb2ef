/* Candidates: all ways to place a net, in a fixed order. */
#ifndef NETC_MEMORY_DEVICES_CANDIDATES_H
#define NETC_MEMORY_DEVICES_CANDIDATES_H

#include "memory/devices/placement.h"

struct place_candidate {
  struct train_settings settings;
  size_t order;
  double least;  /* seconds: lower bound of bound and estimate */
  int64_t holds; /* bytes: lower bound of the most loaded device */
};

struct candidates {
  VEC(struct place_candidate) at;
};

void candidates_find(const struct place_request *request,
                     const struct work *work, struct arena *arena,
                     struct candidates *all);

#endif
