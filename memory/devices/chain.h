/* Chain: memory of a stage of many units, from runs of three units each. */
#ifndef NETC_MEMORY_DEVICES_CHAIN_H
#define NETC_MEMORY_DEVICES_CHAIN_H

#include "memory/devices/stage.h"

/* Finds which units may be joined; `far`: the known result, or NULL. */
void chain_open(struct search *s, const size_t *far);

/*
 * Gives the result of running units [from, to) at once: bytes kept for
 * backward, and the peak without gradients of parameters. False where units
 * cannot be joined: memory/checkpoint/units.h.
 */
bool chain_run(struct search *s, size_t from, size_t to, struct ran *ran);

#endif
