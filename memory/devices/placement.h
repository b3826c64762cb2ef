/* Placement: how a number of devices may train a net, and what is best. */
#ifndef NETC_MEMORY_DEVICES_PLACEMENT_H
#define NETC_MEMORY_DEVICES_PLACEMENT_H

#include "memory/devices/fit.h"
#include "memory/devices/time.h"

struct place_request {
  const struct model *model;
  const struct train_settings *train; /* degrees that are not 1 are kept */
  struct bound_cluster cluster;
  int64_t batch; /* samples in a step, of all devices */
  bool cut;      /* as it was given, which the time is of, too */
  bool zero;     /* likewise: 0 stays, too */
};

struct placement {
  struct train_settings settings; /* with which a report says the same */
  int64_t peak;                   /* of the most loaded device, bytes */
  int64_t host;                   /* of a host's memory, all its devices */
  int64_t microbatch, passes;     /* samples, and how often in a step */
  struct step_time time;
  double rank;  /* seconds, predicted or at least, to three digits; what is not
                   predicted comes after all that is */
  double sent;  /* the slowest link's, of several that are as fast */
  size_t order; /* of several that are as good, the first is taken */
};

struct place_placing {
  VEC(struct placement)
  best;                     /* none better in time and memory; fastest first */
  bool found;               /* some degrees share the net and the batch */
  enum fit_verdict verdict; /* unless it fits `best` has what lacks least */
  int64_t room;             /* bytes for a step */
  int64_t tried, measured;  /* placements; of these, not left out by bounds */
  const char *missing;      /* why no times are predicted; or NULL */
};

/*
 * All degrees of tensor, sequence, context, expert, pipeline and data
 * parallelism that divide the devices and what they share, with ZeRO 0 to 3,
 * microbatches, checkpoints (none, selective, a segment for each layer with
 * attention, or as many as the stages are cut from) and, with a host's memory,
 * what is offloaded there. Fast is what is predicted to be, or without
 * predictions what has a small bound; of those that are as fast in three
 * digits, what sends less, then what has larger microbatches. What floors say
 * cannot be better is not measured.
 * Slower ones are in `best` if they leave a tenth of the room more, and take at
 * most a quarter longer than the fastest. Everything is in `arena`.
 */
void place_find(const struct place_request *request, struct arena *arena,
                struct place_placing *placing);

#endif
