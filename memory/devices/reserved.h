/*
 * Reserved: memory that the allocator of the most loaded device reserves
 * (memory/step/reserve.h). Not for pipelines, whose microbatches are counted,
 * not run.
 */
#ifndef NETC_MEMORY_DEVICES_RESERVED_H
#define NETC_MEMORY_DEVICES_RESERVED_H

#include "memory/devices/parallel.h"
#include "memory/step/reserve.h"

bool reserved_is_known(const struct step *step);

/* For a step on one device; false: unknown. */
bool reserved_alone(const struct step *step, const struct training *t,
                    struct arena *arena, struct reserved *reserved);

/* For one of several devices; false: unknown. */
bool reserved_shared(const struct step *step, const struct parallel *parallel,
                     struct arena *arena, struct reserved *reserved);

#endif
