/* Flight: what waits on a device of a pipeline for its backward. */
#ifndef NETC_MEMORY_DEVICES_FLIGHT_H
#define NETC_MEMORY_DEVICES_FLIGHT_H

#include "sema/model/settings.h"

/* Of `microbatches`, those that the `stage`-th of some stages has at once:
   their activations, and what gradients of weights that are put off read. */
int64_t flight_kept(const struct train_settings *train, int64_t stage,
                    int64_t stages, int64_t microbatches);
int64_t flight_late(const struct train_settings *train, int64_t stage,
                    int64_t stages, int64_t microbatches);

/* Of a part of a device, what one microbatch keeps, and what its gradients of
   weights read, in bytes; and how many of these there are at the peak. */
struct in_turn {
  int64_t bytes, late_bytes;
  int64_t kept, late;
};

/*
 * Parts of device `index` of `stages`, each of which has `count` parts:
 * interleaved, where each `stages` microbatches take turns in them, or, with
 * schedule=zb_v, the `index`-th from both ends.
 */
void flight_turns(const struct train_settings *train, int64_t stages,
                  int64_t index, int64_t microbatches, struct in_turn *parts,
                  int64_t count);

#endif
