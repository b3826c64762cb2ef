/* Flight: microbatches on a pipeline's device that wait for backward. */
#ifndef NETC_MEMORY_DEVICES_FLIGHT_H
#define NETC_MEMORY_DEVICES_FLIGHT_H

#include "sema/model/settings.h"

/*
 * Maximum number of `microbatches` in flight on stage `stage` of `stages`:
 * those that keep activations, and those that keep inputs of deferred weight
 * gradients.
 */
int64_t flight_kept(const struct train_settings *train, int64_t stage,
                    int64_t stages, int64_t microbatches);
int64_t flight_late(const struct train_settings *train, int64_t stage,
                    int64_t stages, int64_t microbatches);

/* A part of a device: bytes that a microbatch keeps, and that its weight
 * gradients read, and the numbers of both at the peak. */
struct in_turn {
  int64_t bytes, late_bytes;
  int64_t kept, late;
};

/*
 * Fills in the `count` parts of device `index` of `stages`. Parts are
 * interleaved, each group of `stages` microbatches passing them in order, or
 * with schedule=zb_v the `index`-th from both ends.
 */
void flight_turns(const struct train_settings *train, int64_t stages,
                  int64_t index, int64_t microbatches, struct in_turn *parts,
                  int64_t count);

#endif
