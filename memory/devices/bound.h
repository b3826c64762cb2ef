/* Bound: no step can be shorter than this. */
#ifndef NETC_MEMORY_DEVICES_BOUND_H
#define NETC_MEMORY_DEVICES_BOUND_H

#include "memory/devices/parallel.h"
#include "sema/model/gpu.h"

/* Multiply-adds of a sample in the nodes before each, as a step runs them. */
struct work {
  double *forward, *backward; /* one more than there are nodes */
  double *weights;            /* values of matrices that every pass reads */
  double *core; /* of attention, that `checkpoint=selective` computes again */
  double *scores, *scores_back; /* of attention's, which are in the first two */
};

/* The devices: `network` is MB/s of each to other hosts. */
struct bound_cluster {
  const struct gpu *gpu;
  int64_t devices, of_host;
  int64_t network;
};

/* 10^9 operations a second of a step's products; 0: there is no figure. */
int64_t bound_rate(const struct train_settings *train, const struct gpu *gpu);

/* The devices of a host and their network, by settings, and for a rate of 0 by
   the maker's machine. */
struct bound_cluster bound_cluster_of(const struct train_settings *train,
                                      const struct gpu *gpu, int64_t devices,
                                      int64_t network);

/* What is not known of them that a bound is made of; NULL: nothing. */
const char *bound_lacks(const struct bound_cluster *cluster,
                        const struct train_settings *train);

/* Seconds. */
struct place_bound {
  double step;     /* the longest of these: */
  double computes; /* passes with the pipeline's bubble, optimizer's step */
  double near, far, host; /* bytes sent over each kind of link */
  double bubble;          /* what of `computes` the pipeline waits */
};

/*
 * Counted by the layers' rules. Scores of attention count half, for a kernel
 * may leave out what a causal mask hides.
 */
struct work work_find(const struct model *model,
                      const struct train_settings *train, struct arena *arena);

/*
 * A step cannot be shorter than
 *
 *   max(passes + optimizer, sent / link for each kind of link)
 *   passes = max over stages p of  t(0) + .. + t(p - 1) + M t(p)
 *   t = max(2 MACs b / (tensor x context x operations a second),
 *           bytes that have to come from memory / its bandwidth)
 *
 * with everything at the maker's peak and all that is sent hidden behind what
 * is computed. MACs are those of forward, backward (gradients of what is
 * trained, and of what leads there) and of segments that are computed again.
 * Bytes are matrices, read forward and backward, and what is kept, written
 * and read; 128 MiB of them may stay in caches. The optimizer reads and writes
 * its state. Roofline: Williams et al. 2009; bubbles: Narayanan et al. 2021,
 * arXiv 2104.04473, section 2.2.
 *
 * With `places`, where one tensor alone leads on, stages are those of the cut
 * whose slowest one is fastest, and what reads memory is shared evenly; else
 * they are `parallel`'s.
 *
 * Devices are numbered by tensor, context, data and stage, the first fastest,
 * as Megatron-LM does, so that a group of n lies in ceil(n / k) hosts; of what
 * a ring sends, (hosts - 1) / (n - 1) has to leave a host by each device.
 */
struct place_bound bound_find(const struct work *work, const struct step *step,
                              const struct parallel *parallel,
                              const struct bound_cluster *cluster,
                              const struct cuts *places, struct arena *arena);

/* MACs of a sample through a stage and back; attention's, which are in them. */
struct stage_work {
  double macs, scores;
};

struct stage_work bound_work(const struct work *work, const struct step *step,
                             const struct stage *stage);

/* How often in a step a microbatch passes a stage. */
int64_t bound_passes(const struct step *step, const struct parallel *parallel);

/* What of a stage's seconds others wait for before they can begin. */
double bound_waited(const struct train_settings *train, double seconds);

/* Seconds that a stage's bytes among these devices take in a step. */
double bound_sent(const struct train_settings *train, enum among among,
                  const struct stage *stage,
                  const struct bound_cluster *cluster);

/* Of a stage: seconds that its bytes take at least over each kind of link. */
void bound_links(const struct train_settings *train, const struct stage *stage,
                 const struct bound_cluster *cluster,
                 struct place_bound *bound);

/* The same without knowing the stages: not above any of theirs. `again`: MACs
   of a sample that are computed once more. */
double bound_least(const struct work *work, const struct model *model,
                   const struct train_settings *train, double again,
                   const struct bound_cluster *cluster);

#endif
