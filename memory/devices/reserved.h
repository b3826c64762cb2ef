/*
 * Reserved: what the allocator of the most loaded device holds, by
 * memory/step/reserve.h. Not of a pipeline, whose microbatches are counted
 * and not run.
 */
#ifndef NETC_MEMORY_DEVICES_RESERVED_H
#define NETC_MEMORY_DEVICES_RESERVED_H

#include "memory/devices/parallel.h"
#include "memory/step/reserve.h"

bool reserved_is_known(const struct step *step);

/* Of a step of one device; false: it is not known after all. */
bool reserved_alone(const struct step *step, const struct training *t,
                    struct arena *arena, struct reserved *reserved);

/* Of one of several. */
bool reserved_shared(const struct step *step, const struct parallel *parallel,
                     struct arena *arena, struct reserved *reserved);

#endif
