/* Floor: lower bounds of a placement without simulating it. */
#ifndef NETC_MEMORY_DEVICES_FLOOR_H
#define NETC_MEMORY_DEVICES_FLOOR_H

#include "memory/devices/borders.h"
#include "memory/devices/placement.h"

/* A microbatch through the whole net on one device. */
struct floor_passage {
  int64_t checkpoint, samples;
  double *kept;   /* prefix sums of bytes kept for backward */
  double again;   /* recomputed MACs of a sample */
  double longest; /* those of the largest segment */
  double touched; /* bytes */
};

/* Bytes of a sample's passes among devices that share layers. */
struct floor_sharing {
  int64_t tensor, sequence, context, expert, within;
  int64_t sent[AMONG_COPIES], far; /* of those to experts, to other hosts */
};

/* The largest stage's share of all MACs. */
struct floor_stage {
  int64_t pipeline, virtual_stages;
  double share;
};

struct floor {
  const struct place_request *request;
  const struct work *work;
  struct arena *arena;
  double *values, *trained;      /* prefix sums of parameters */
  double bytes, summed, stepped; /* bytes per parameter, gradient, state */
  VEC(struct floor_passage) passages;
  VEC(struct floor_sharing) sharings;
  VEC(struct floor_stage) stages;
  struct net_borders *borders; /* NULL: not computed yet */
  const char *missing;         /* why times cannot be estimated; or NULL */
};

/*
 * Factor on the seconds of a placement without an estimate, so that those like
 * published runs rank first; `known`: of a card on which runs were measured,
 * whose nets without an estimate still prefer ways of parallelism that have
 * one.
 */
static inline double floor_behind(bool known,
                                  const struct train_settings *train) {
  return known && time_missing_way(train) ? 1e12 : 1e6;
}

void floor_open(struct floor *floor, const struct place_request *request,
                const struct work *work, struct arena *arena);

/* Lower bounds of a placement's seconds, estimated or by the bound, and of the
 * bytes of its most loaded device. */
double floor_seconds(struct floor *floor, const struct train_settings *train,
                     int64_t samples);
int64_t floor_bytes(struct floor *floor, const struct train_settings *train,
                    int64_t samples);

#endif
