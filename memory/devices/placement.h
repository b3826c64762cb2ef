/* Placement: searches the ways in which several devices can train a net. */
#ifndef NETC_MEMORY_DEVICES_PLACEMENT_H
#define NETC_MEMORY_DEVICES_PLACEMENT_H

#include "memory/devices/fit.h"
#include "memory/devices/time.h"

struct place_request {
  const struct model *model;
  const struct train_settings *train; /* degrees other than 1 are fixed */
  struct bound_cluster cluster;
  int64_t batch; /* samples per step, of all devices */
  bool cut;      /* the cut is fixed, also for times */
  bool zero;     /* ZeRO is fixed, even at 0 */
};

struct placement {
  struct train_settings settings; /* a report with these gives the same */
  int64_t peak;                   /* most loaded device, bytes */
  int64_t host;                   /* bytes of all devices of a host */
  int64_t microbatch, passes;     /* samples, and microbatches per step */
  struct step_time time;
  double rank;  /* seconds to three digits; bounds rank last */
  double sent;  /* seconds on the slowest link, to break ties */
  size_t order; /* last tie-breaker */
};

struct place_placing {
  VEC(struct placement)
  best;       /* no other is better in time and memory; fastest first */
  bool found; /* some degrees divide the net and batch */
  enum fit_verdict verdict; /* does not fit: `best` has the nearest */
  int64_t room;             /* bytes for a step */
  int64_t tried, measured;  /* placements; measured: not excluded by bounds */
  const char *missing;      /* why no times are estimated; or NULL */
};

/*
 * Tries all degrees of tensor, sequence, context, expert, pipeline and data
 * parallelism that divide the devices and the net, with ZeRO 0 to 3,
 * microbatches, checkpoints (none, selective, a segment per layer with
 * attention, or one per unit of the cut) and offloading if the host's memory is
 * known. Placements are ranked by estimated time, or by the bound without an
 * estimate. At equal time to three digits, fewer bytes sent and then larger
 * microbatches win. Floors exclude placements that cannot be better before they
 * are measured. `best` includes slower ones that leave a tenth of the room more
 * and take at most a quarter longer than the fastest. Everything is in `arena`.
 */
void place_find(const struct place_request *request, struct arena *arena,
                struct place_placing *placing);

#endif
