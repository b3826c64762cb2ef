/* Shards: the tape of one of several devices that share each layer. */
#ifndef NETC_MEMORY_DEVICES_SHARD_H
#define NETC_MEMORY_DEVICES_SHARD_H

#include "memory/step/trace.h"

/* How an operation with weights is split. */
enum shard_role {
  SHARD_NONE,
  SHARD_COLUMNS, /* all inputs, some outputs */
  SHARD_ROWS,    /* some inputs; the devices' outputs are summed */
  SHARD_LOOKUP,  /* rows of a table; outputs are summed */
  SHARD_RING,    /* keys and values of others pass in a ring */
  SHARD_EXCHANGE /* rows go to experts, or come back */
};

/* The shard of one device. */
struct shards {
  int64_t *share;        /* by parameter: values on a device */
  enum shard_role *role; /* by operation */
  struct extent *moved; /* by operation: tensor that devices exchange, whole; in
                           a ring, each device's part */
};

/*
 * Shards a tape in place.
 *
 * Tensor parallel: each device has 1 / `tensor_parallel` of layers with
 * weights. Where operations that keep channels apart connect two of these
 * layers, the values between them are sharded, too: the first layer is split by
 * columns, the second by rows (Shoeybi et al. 2019, "Megatron-LM", arXiv
 * 1909.08053). With `sequence_parallel` everything else is sharded by tokens.
 * The input of a layer with weights is gathered while it runs, and its sums are
 * complete before they are sharded (Korthikanti et al. 2022, arXiv 2205.05198,
 * section 4.2.2).
 *
 * Context parallel: everything is sharded by tokens. Keys and values go around
 * a ring, so that two blocks of other devices are also in memory (Liu et al.
 * 2023, "Ring Attention", arXiv 2310.01889, section 3).
 *
 * Expert parallel: experts are sharded. Rows are in memory as they are sent and
 * as they are received (Lepikhin et al. 2020, "GShard", arXiv 2006.16668).
 */
void shard_trace(struct trace *trace, const struct model *model,
                 const struct train_settings *train, struct shards *shards,
                 struct arena *arena);

#endif
