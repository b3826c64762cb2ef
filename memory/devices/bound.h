/* Bound: a lower bound of the duration of a step. */
#ifndef NETC_MEMORY_DEVICES_BOUND_H
#define NETC_MEMORY_DEVICES_BOUND_H

#include "memory/devices/parallel.h"
#include "sema/model/gpu.h"

/* Prefix sums over the nodes: MACs of a sample as a step runs them. */
struct work {
  double *forward, *backward; /* one entry more than nodes */
  double *weights;            /* matrix values that every pass reads */
  double *core; /* attention that `checkpoint=selective` recomputes */
  double *scores, *scores_back; /* scores in the first two */
};

/* The devices; `network` is in MB/s per device to other hosts. */
struct bound_cluster {
  const struct gpu *gpu;
  int64_t devices, of_host;
  int64_t network;
};

/* Bytes that may stay in a card's caches from one pass to the next. */
enum { CACHED = 128 << 20 };

/* MACs of a sample that an attention layer takes for scores and weighted sums;
 * other layers have none. */
double bound_scores(const struct model *model, int64_t node);

/* Peak rate of a step's products in 10^9 operations/s; 0: unknown. */
int64_t bound_rate(const struct train_settings *train, const struct gpu *gpu);

/* The devices per host and their network from the settings, or for a rate of 0
 * from the maker's machine. */
struct bound_cluster bound_cluster_of(const struct train_settings *train,
                                      const struct gpu *gpu, int64_t devices,
                                      int64_t network);

/* The figure that a bound needs and that is unknown; NULL: none. */
const char *bound_lacks(const struct bound_cluster *cluster,
                        const struct train_settings *train);

/* A bound in seconds. */
struct place_bound {
  double step;     /* maximum of the following */
  double computes; /* passes with the pipeline's bubble, and optimizer step */
  double near, far, host; /* transfers over each kind of link */
  double bubble; /* the part of `computes` in which the pipeline waits */
};

/*
 * Counts MACs by the layers' rules. Attention scores count half, because a
 * kernel may skip the masked half.
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
 * at the maker's peak rates, with all transfers hidden behind computation. MACs
 * are those of forward, of backward (gradients of trained parameters and of the
 * values on the way to them) and of recomputed segments. Bytes are those of
 * matrices, read forward and backward, and of saved activations, written and
 * read; 128 MiB of them may stay in caches. The optimizer reads and writes its
 * state. Roofline: Williams et al. 2009; bubbles: Narayanan et al. 2021, arXiv
 * 2104.04473, section 2.2.
 *
 * With `places`, where one tensor alone leads on, stages are those of the cut
 * whose slowest stage is fastest, and bytes are shared evenly. Otherwise they
 * are those of `parallel`.
 *
 * Devices are numbered by tensor, context, data and stage, the first fastest,
 * as in Megatron-LM. So a group of n is on ceil(n / k) hosts, and each device
 * has to send (hosts - 1) / (n - 1) of a ring's bytes to another host.
 */
struct place_bound bound_find(const struct work *work, const struct step *step,
                              const struct parallel *parallel,
                              const struct bound_cluster *cluster,
                              const struct cuts *places, struct arena *arena);

/* MACs of a sample through a stage and back; `scores` is part of them. */
struct stage_work {
  double macs, scores;
};

struct stage_work bound_work(const struct work *work, const struct step *step,
                             const struct stage *stage);

/* Number of microbatches that pass a stage in a step. */
int64_t bound_passes(const struct step *step, const struct parallel *parallel);

/* The part of a stage's seconds for which later stages wait. */
double bound_waited(const struct train_settings *train, double seconds);

/* Seconds per step that a stage's bytes among these devices take. */
double bound_sent(const struct train_settings *train, enum among among,
                  const struct stage *stage,
                  const struct bound_cluster *cluster);

/* Minimum seconds that a stage's bytes take over each kind of link. */
void bound_links(const struct train_settings *train, const struct stage *stage,
                 const struct bound_cluster *cluster,
                 struct place_bound *bound);

/* A bound without the stages. `again`: recomputed MACs of a sample. */
double bound_least(const struct work *work, const struct model *model,
                   const struct train_settings *train, double again,
                   const struct bound_cluster *cluster);

#endif
