/* Parallel: memory of each of several devices that train a net. */
#ifndef NETC_MEMORY_DEVICES_PARALLEL_H
#define NETC_MEMORY_DEVICES_PARALLEL_H

#include "memory/devices/borders.h"
#include "memory/step/training.h"

/* Kinds of transfers. */
enum traffic {
  TRAFFIC_ALL_REDUCE,
  TRAFFIC_ALL_GATHER,
  TRAFFIC_REDUCE_SCATTER,
  TRAFFIC_ALL_TO_ALL,
  TRAFFIC_POINT_TO_POINT,
  TRAFFIC_HOST, /* to the host's memory and back */
  TRAFFIC_COUNT
};

/* Groups of devices that communicate. */
enum among {
  AMONG_TENSOR,
  AMONG_CONTEXT,
  AMONG_EXPERTS,
  AMONG_COPIES, /* data and context parallel */
  AMONG_STAGES,
  AMONG_HOST,
  AMONG_COUNT
};

/* One device of a stage. All sizes in bytes. */
struct stage {
  struct node_range nodes;  /* of its first part */
  struct node_range *parts; /* all parts; `part_count` */
  size_t part_count;
  int64_t parameters, gradients, optimizer, buffers, input;
  int64_t master;   /* 32-bit copy of the parameters */
  int64_t averaged; /* their average */
  int64_t paged;    /* of these, bytes present only in the optimizer step */
  bool steps;       /* the peak is in the optimizer step */
  int64_t gathered; /* parameters and gradients of the largest unit, gathered */
  int64_t whole;    /* of these, bytes that stay between passes */
  int64_t buckets;  /* copies of gradients in transfer */
  int64_t activations; /* saved for backward, of all microbatches in flight */
  int64_t deferred;    /* saved for deferred weight gradients */
  int64_t temporary;   /* at the peak, including the optimizer step */
  int64_t workspace;   /* of the optimizer step */
  int64_t clip;        /* of gradient clipping, before the step */
  int64_t flat;        /* flat copy of the parameters gathered after the step */
  int64_t flat_part;   /* the device's own share of it */
  int64_t in_flight;   /* microbatches; with several parts, of parts */
  int64_t values, trained; /* parameters of its layers, before ZeRO */
  int64_t rounding;        /* by the allocator; of a device by itself */
  int64_t peak;
  int64_t host;                    /* in the host's memory */
  int64_t sent[TRAFFIC_COUNT];     /* per step; it receives as many */
  int64_t sent_among[AMONG_COUNT]; /* the same bytes by group */
  int64_t sent_far; /* of those to experts, bytes that leave the host */
  int64_t touched;  /* by a microbatch's operations other than products */
};

struct parallel {
  int64_t devices;    /* 0: one device, nothing computed */
  int64_t microbatch; /* samples */
  VEC(struct stage) stages;
  size_t most_loaded;
  size_t units;               /* that the net can be cut into */
  struct node_turns repeated; /* what it is cut between turns of; or count 0 */
  int64_t host_devices;       /* that share a host's memory */
  int64_t host;               /* bytes of all of these, the most of any host */
};

/* A whole step on one device, as a stage. */
struct stage stage_of_step(const struct training *step);

/* The same with its nodes and touched bytes; in `arena`. */
struct stage stage_of_net(const struct step *step,
                          const struct training *training, struct arena *arena);

/* True if the settings ask for several devices or for offloading. */
bool parallel_wanted(const struct train_settings *train);

/*
 * Simulates the devices.
 *
 * Data parallel: every device has its own batch, and copies of gradients in
 * transfer (DistributedDataParallel). ZeRO (Rajbhandari et al. 2019, arXiv
 * 1910.02054): 1 shards the optimizer state, 2 also the gradients, 3 also the
 * parameters, where the largest unit is gathered together with the next one:
 * stage.c. Sharded layers: shard.h.
 *
 * Pipeline: cut as in cut.h or, with cut=memory, to minimize the most loaded
 * stage by dynamic programming. Stage i of P keeps min(P - i, M) microbatches
 * (PipeDream-Flush, arXiv 2006.09503), or all M (GPipe, arXiv 1811.06965). With
 * V parts each (Narayanan et al. 2021, arXiv 2104.04473) it keeps the
 * activations of 2 (P - i - 1) + (V - 1) P + 1 forward passes of parts. Without
 * bubbles (Qi et al. 2024, arXiv 2401.10241, section 2) it keeps P - i
 * microbatches, or 2 (P - i) - 1, and the inputs of i, or 2 i, weight
 * gradients.
 *
 * `arena` is for the search, the stages are in `lasting`. False if a sum passes
 * 2^63 - 1.
 */
bool parallel_find(const struct step *step, struct arena *arena,
                   struct arena *lasting, struct parallel *parallel);

/*
 * Calls `each` at every moment of one microbatch on the most loaded device,
 * while as many earlier ones as the schedule allows wait for backward. Moments
 * include their activations and the gradients of parameters.
 */
void parallel_moments(const struct step *step, const struct parallel *parallel,
                      struct arena *arena, moment_fn *each, void *user);

/* Peak of the most loaded device; INT64_MAX if a sum passes 2^63 - 1. */
int64_t parallel_peak(const struct step *step, struct arena *arena,
                      struct peak_line *line, int64_t *host);

/*
 * True if FSDP under a pipeline keeps gradients of the microbatches unsharded,
 * and parameters gathered until the last one: PyTorch's
 * torch/distributed/pipelining/stage.py (backward_maybe_with_nosync) turns
 * reshard_after_backward and gradient synchronization off until then.
 */
static inline bool parallel_holds_whole(const struct train_settings *train,
                                        int64_t microbatches) {
  return train->zero >= 2 && train->pipeline > 1 && microbatches > 1;
}

/* Repeating blocks in all parts of a stage. */
int64_t parallel_turns(const struct parallel *parallel,
                       const struct stage *stage);

/* A stage's peak as a line over the batch. */
struct peak_line stage_line(const struct stage *stage);

#endif
