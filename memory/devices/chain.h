/* Chain: what a stage of many units takes, from runs of three of them each. */
#ifndef NETC_MEMORY_DEVICES_CHAIN_H
#define NETC_MEMORY_DEVICES_CHAIN_H

#include "memory/devices/stage.h"

/* Which units may be joined; `far` if that is known, or NULL. */
void chain_open(struct search *s, const size_t *far);

/*
 * As if units [from, to) were run at once: what they keep for backward, and
 * the most that is alive, without gradients of parameters. False where they
 * cannot be joined: memory/checkpoint/units.h.
 */
bool chain_run(struct search *s, size_t from, size_t to, struct ran *ran);

#endif
