/* Parallel: what each of several devices holds while a net is trained. */
#ifndef NETC_MEMORY_DEVICES_PARALLEL_H
#define NETC_MEMORY_DEVICES_PARALLEL_H

#include "memory/devices/borders.h"
#include "memory/step/training.h"

/* How bytes go from device to device. */
enum traffic {
  TRAFFIC_ALL_REDUCE,
  TRAFFIC_ALL_GATHER,
  TRAFFIC_REDUCE_SCATTER,
  TRAFFIC_ALL_TO_ALL,
  TRAFFIC_POINT_TO_POINT,
  TRAFFIC_HOST, /* to the host's memory and back */
  TRAFFIC_COUNT
};

/* Among which devices they go. */
enum among {
  AMONG_TENSOR,
  AMONG_CONTEXT,
  AMONG_EXPERTS,
  AMONG_COPIES, /* data and context parallel */
  AMONG_STAGES,
  AMONG_HOST,
  AMONG_COUNT
};

/* One device of a stage. Everything in bytes. */
struct stage {
  struct node_range nodes;  /* of its first part */
  struct node_range *parts; /* all of them, in `part_count` */
  size_t part_count;
  int64_t parameters, gradients, optimizer, buffers, input;
  int64_t master;      /* parameters once more, in 32 bits */
  int64_t averaged;    /* and their average */
  int64_t paged;       /* of these, what only the step has there */
  bool steps;          /* the peak is in the optimizer's step */
  int64_t gathered;    /* parameters and gradients of the largest unit, whole */
  int64_t whole;       /* of these, what stays between passes */
  int64_t buckets;     /* copies of gradients on their way to other devices */
  int64_t activations; /* kept for backward, of all batches in flight */
  int64_t deferred;    /* kept for gradients of weights that are yet to come */
  int64_t temporary;   /* at the peak, with what an optimizer's step needs */
  int64_t workspace;   /* of the optimizer's step */
  int64_t clip;        /* before it, where gradients are clipped */
  int64_t flat;        /* after it: a flat copy of what is gathered then */
  int64_t flat_part;   /* of which a device has stepped so much */
  int64_t in_flight;   /* microbatches; of parts, if it has several */
  int64_t values, trained; /* parameters of its layers, before ZeRO */
  int64_t rounding;        /* by the allocator; of a device by itself */
  int64_t peak;
  int64_t host;                    /* what it has in the host's memory */
  int64_t sent[TRAFFIC_COUNT];     /* in a step; as much is received */
  int64_t sent_among[AMONG_COUNT]; /* the same bytes */
  int64_t touched; /* that a microbatch's operations without products touch */
};

struct parallel {
  int64_t devices;    /* in all; 0: only one, nothing was computed */
  int64_t microbatch; /* samples */
  VEC(struct stage) stages;
  size_t most_loaded;
  size_t units;             /* that the net can be cut into */
  struct repeated repeated; /* what it is cut between turns of; or count 0 */
  int64_t host_devices;     /* that share a host's memory */
  int64_t host;             /* bytes of all of these, the most of any host */
};

/* A whole step, of one device, as the stage that it is. */
struct stage stage_of_step(const struct training *step);

/* The same with its nodes, and what a traced step touches; in `arena`. */
struct stage stage_of_net(const struct step *step,
                          const struct training *training, struct arena *arena);

/* Whether the settings ask for several devices, or for a host. */
bool parallel_wanted(const struct train_settings *train);

/*
 * Data parallel: every device has a batch of its own, and a copy of the
 * gradients on their way (DistributedDataParallel). ZeRO (Rajbhandari et al.
 * 2019, arXiv 1910.02054): 1 divides the optimizer's state, 2 also the
 * gradients, 3 also the parameters, where the largest unit is gathered whole,
 * and the next one with it: stage.c. Shared layers: shard.h. Pipeline: cut as
 * cut.h says or, with cut=memory, so that the most loaded stage has least, by
 * dynamic programming; stage i of P keeps min(P - i, M) microbatches
 * (PipeDream-Flush, arXiv 2006.09503), or all M (GPipe, arXiv 1811.06965); with
 * V parts each (Narayanan et al. 2021, arXiv 2104.04473) what 2 (P - i - 1) +
 * (V - 1) P + 1 forward passes of parts leave behind. Without bubbles (Qi et
 * al. 2024, arXiv 2401.10241, section 2): P - i, or 2 (P - i) - 1, and what i,
 * or 2 i, gradients of weights need besides. `arena` is used for the search,
 * the stages are in `lasting`. False if a sum passes 2^63 - 1.
 */
bool parallel_find(const struct step *step, struct arena *arena,
                   struct arena *lasting, struct parallel *parallel);

/*
 * Calls `each` at every moment of one microbatch on the most loaded device,
 * when as many earlier ones as the schedule allows wait for their backward:
 * their activations and the gradients of parameters are in the moments.
 */
void parallel_moments(const struct step *step, const struct parallel *parallel,
                      struct arena *arena, moment_fn *each, void *user);

/* Of the most loaded device; INT64_MAX if a sum passes 2^63 - 1. */
int64_t parallel_peak(const struct step *step, struct arena *arena,
                      struct peak_line *line, int64_t *host);

/*
 * FSDP under a pipeline sums gradients of its microbatches whole, and gives
 * parameters up after the last one: PyTorch's torch/distributed/pipelining/
 * stage.py (backward_maybe_with_nosync) turns reshard_after_backward and the
 * synchronization of gradients off until then.
 */
static inline bool parallel_holds_whole(const struct train_settings *train,
                                        int64_t microbatches) {
  return train->zero >= 2 && train->pipeline > 1 && microbatches > 1;
}

/* Turns of what repeats that a stage has in all of its parts. */
int64_t parallel_turns(const struct parallel *parallel,
                       const struct stage *stage);

/* The line that a stage's peak is on. */
struct peak_line stage_line(const struct stage *stage);

#endif
