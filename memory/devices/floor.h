/* Floor: what no placement can be below, without simulating it. */
#ifndef NETC_MEMORY_DEVICES_FLOOR_H
#define NETC_MEMORY_DEVICES_FLOOR_H

#include "memory/devices/borders.h"
#include "memory/devices/placement.h"

/* A microbatch through the whole net on one device. */
struct floor_passage {
  int64_t checkpoint, samples;
  double *kept;   /* bytes that nodes before each keep for backward */
  double again;   /* MACs of a sample that are computed once more */
  double longest; /* those of the largest segment */
  double touched; /* bytes */
};

/* What a sample's passes send among the devices that share layers. */
struct floor_sharing {
  int64_t tensor, sequence, context, expert;
  int64_t sent[AMONG_COUNT];
};

/* The most MACs of a stage, of all. */
struct floor_stage {
  int64_t pipeline, virtual_stages;
  double share;
};

struct floor {
  const struct place_request *request;
  const struct work *work;
  struct arena *arena;
  double *values, *trained;      /* parameters of the nodes before each */
  double bytes, summed, stepped; /* of a parameter, gradient, state */
  VEC(struct floor_passage) passages;
  VEC(struct floor_sharing) sharings;
  VEC(struct floor_stage) stages;
  struct runs *runs;
  struct net_borders *borders; /* NULL: not yet */
  const char *missing;         /* why no times are predicted; or NULL */
};

/* By how much longer than its bound what is not predicted is taken to be:
   published runs come first. */
#define FLOOR_NOT_PREDICTED 1e6

void floor_open(struct floor *floor, const struct place_request *request,
                const struct work *work, struct runs *runs,
                struct arena *arena);

/* Seconds, predicted or at all, and bytes of the most loaded device, that it
   has at least. */
double floor_seconds(struct floor *floor, const struct train_settings *train,
                     int64_t samples);
int64_t floor_bytes(struct floor *floor, const struct train_settings *train,
                    int64_t samples);

#endif
