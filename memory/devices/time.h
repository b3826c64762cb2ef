/* Time: estimates the duration of a step from published runs. */
#ifndef NETC_MEMORY_DEVICES_TIME_H
#define NETC_MEMORY_DEVICES_TIME_H

#include "memory/devices/bound.h"

/* Parts of a step's time. */
enum time_part {
  TIME_PRODUCTS,  /* matrix products, at the peak rate */
  TIME_ATTENTION, /* attention scores, causal ones half; at the rate of Ampere's
                     instructions, which published kernels use */
  TIME_MEMORY,    /* bytes touched by all other operations and the optimizer */
  TIME_SENT,      /* bytes over the links */
  TIME_PARTS
};

/* Rounds to six digits, which are equal on all machines. */
double time_rounded(double value);

/* Duration and price of a whole training; 0: not requested, or no estimate. */
struct time_cost {
  double hours, money;
};

struct step_time {
  struct place_bound bound;
  double parts[TIME_PARTS]; /* of the slowest stage */
  double predicted;         /* seconds; 0: see `missing` */
  double likely; /* the same where no run was published; 0: unknown card */
  double mfu;    /* operations without recomputation / peak */
  struct time_cost cost;
  const char *missing; /* why there is no estimate; or NULL */
};

/* Why a step of this net on this device has no estimate; NULL: it has. */
const char *time_missing(const struct model *model,
                         const struct train_settings *train,
                         const struct gpu *gpu);

/* Why this way of parallelism has no estimate; NULL: it has. */
const char *time_missing_way(const struct train_settings *train);

/* Reports a requested time without an estimate as an error; returns false. */
bool time_check(const struct model *model, const struct settings *settings,
                struct diags *diags);

struct time_cost time_cost(const struct model *model,
                           const struct train_settings *train, int64_t devices,
                           double predicted);

/* True if published runs were measured on the card. */
bool time_is_known(const struct gpu *gpu);

/* Seconds that parts take, if the card's figures are known. */
double time_sum(const struct gpu *gpu, const double parts[TIME_PARTS]);

/*
 * Multiplies the parts of each stage by the ratios measured on the device in
 * published runs (times.def). Sums M microbatches of the slowest stage and one
 * of each other; with V parts, a V-th of these. With `places` the bound is of
 * the fastest cut, the estimate of the stages in `parallel`.
 */
struct step_time time_find(const struct work *work, const struct step *step,
                           const struct parallel *parallel,
                           const struct bound_cluster *cluster,
                           const struct cuts *places, const char *missing,
                           struct arena *arena);

#endif
