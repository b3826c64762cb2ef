/* Chain: what a long part of a net takes, from runs of three units each. */
#ifndef NETC_MEMORY_CHAIN_H
#define NETC_MEMORY_CHAIN_H

#include "memory/stage.h"

/* Which units may be joined. */
void chain_open(struct search *s);

/*
 * As if units [from, to) were run at once: what they keep for backward, and
 * the most that is alive, without gradients of parameters. One tensor alone
 * leads from each unit to the next, so that between two neighbours a unit adds
 * the same to what is alive, wherever the part begins and ends; runs of three
 * units say what. False where something reaches further: a shared parameter, a
 * checkpoint over a cut, a tensor that is read two units later.
 */
bool chain_run(struct search *s, size_t from, size_t to, struct ran *ran);

#endif
