/* Shards: a tape as one of several devices runs it that share each layer. */
#ifndef NETC_MEMORY_SHARD_H
#define NETC_MEMORY_SHARD_H

#include "memory/trace.h"

/*
 * Layers with weights have 1 / `devices` of them each. Where the result of
 * one leads to another by operations that keep channels apart, what is
 * between them is shared out, too: the first is split by its columns, the
 * second by its rows (Shoeybi et al. 2019, "Megatron-LM", arXiv 1909.08053).
 * Changes the tape. `share` gets the values of each parameter on a device.
 */
void shard_trace(struct trace *trace, const struct model *model,
                 int64_t devices, int64_t *share, struct arena *arena);

#endif
