/* Time: how long a step takes, predicted from runs that others published. */
#ifndef NETC_MEMORY_DEVICES_TIME_H
#define NETC_MEMORY_DEVICES_TIME_H

#include "memory/devices/bound.h"

/* Of what a step's seconds consist. */
enum time_part {
  TIME_PRODUCTS,  /* of matrices, at the peak */
  TIME_ATTENTION, /* of positions that meet, causal ones half; at the speed of
                     Ampere's instructions, which published kernels use */
  TIME_MEMORY,    /* bytes that all other operations and the optimizer touch */
  TIME_SENT,      /* bytes, over the links */
  TIME_PARTS
};

/* A whole training of so many tokens or samples, and its price; 0: not asked,
   or nothing is predicted. */
struct time_cost {
  double hours, money;
};

struct step_time {
  struct place_bound bound;
  double parts[TIME_PARTS]; /* of the stage that takes longest */
  double predicted;         /* seconds; 0: see `missing` */
  double mfu; /* of the peak: operations without those that are repeated */
  struct time_cost cost;
  const char *missing; /* why nothing is predicted; or NULL */
};

/* Why no step of this net on this device is predicted; NULL: it is. */
const char *time_missing(const struct model *model,
                         const struct train_settings *train,
                         const struct gpu *gpu);

/* Likewise, of how devices share it. */
const char *time_missing_way(const struct train_settings *train);

/* Whether what is asked of it can be said; else an error. */
bool time_check(const struct model *model, const struct settings *settings,
                struct diags *diags);

struct time_cost time_cost(const struct model *model,
                           const struct train_settings *train, int64_t devices,
                           double predicted);

/* Seconds that parts take, if there are figures of the card. */
double time_sum(const struct gpu *gpu, const double parts[TIME_PARTS]);

/*
 * The parts of each stage times what their like took of the device in published
 * runs (times.def); M microbatches of the slowest stage and one of the others,
 * of V parts each a V-th of these. With `places` the bound is of the fastest
 * cut, the prediction of the stages that `parallel` has.
 */
struct step_time time_find(const struct work *work, const struct step *step,
                           const struct parallel *parallel,
                           const struct bound_cluster *cluster,
                           const struct cuts *places, const char *missing,
                           struct arena *arena);

#endif
