/* Shards: a tape as one of several devices runs it that share each layer. */
#ifndef NETC_MEMORY_DEVICES_SHARD_H
#define NETC_MEMORY_DEVICES_SHARD_H

#include "memory/step/trace.h"

/* How an operation with weights is shared out. */
enum shard_role {
  SHARD_NONE,
  SHARD_COLUMNS, /* reads all channels, makes some */
  SHARD_ROWS,    /* reads some, and the devices' sums are all of its output */
  SHARD_LOOKUP,  /* rows of a table: likewise, of indices */
  SHARD_RING,    /* keys and values of others go by */
  SHARD_EXCHANGE /* rows go to experts, or come back */
};

/* What one device has, and how its operations are shared out. */
struct shards {
  int64_t *share;        /* by parameter: its values on a device */
  enum shard_role *role; /* by operation */
  struct extent *moved;  /* by operation: what devices send to each other,
                            whole, or of a ring what each of them has */
};

/*
 * Tensor parallel: layers with weights have 1 / `tensor_parallel` of them
 * each. Where the result of one leads to another by operations that keep
 * channels apart, what is between them is shared out, too: the first is split
 * by its columns, the second by its rows (Shoeybi et al. 2019, "Megatron-LM",
 * arXiv 1909.08053). With `sequence_parallel` everything else is shared out by
 * its positions; what a layer with weights reads is gathered while it runs,
 * and its sums are whole before they are shared out (Korthikanti et al. 2022,
 * arXiv 2205.05198, section 4.2.2).
 *
 * Context parallel: everything is shared out by its positions; keys and values
 * go round, so that two blocks of others' are there besides (Liu et al. 2023,
 * "Ring Attention", arXiv 2310.01889, section 3).
 *
 * Expert parallel: experts are shared out; rows are there as they are sent and
 * as they come (Lepikhin et al. 2020, "GShard", arXiv 2006.16668).
 *
 * Changes the tape.
 */
void shard_trace(struct trace *trace, const struct model *model,
                 const struct train_settings *train, struct shards *shards,
                 struct arena *arena);

#endif
