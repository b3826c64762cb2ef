/* Inside parallel: a stage of a pipeline, as a device has it. */
#ifndef NETC_MEMORY_STAGE_H
#define NETC_MEMORY_STAGE_H

#include "step/alike.h"
#include "memory/parallel.h"
#include "memory/shard.h"

/* A part that has been run, with one microbatch in flight. */
struct known {
  uint64_t key;
  size_t units; /* 0: none */
  struct stage stage;
};

struct search {
  const struct step *step;
  struct arena *arena;
  const struct train_settings *train;
  struct trace *trace;
  struct shards shards;
  bool *expert; /* by parameter: it is one of several experts' */
  bool *dense;  /* it is not */
  int64_t microbatch, microbatches;
  struct alike alike;
  struct known *known; /* stages that have been measured, in known_room */
  size_t known_room;
  int64_t *cut; /* nodes before each unit, and all of them behind the last */
  size_t units;
  size_t stages;
  size_t parts; /* of all stages; more than these: each has several */
  bool overflow;
};

/* Devices that hold the same, and those of them that share it by ZeRO. */
struct copies_of {
  int64_t devices, sharing;
};

static inline bool offloads(const struct train_settings *train,
                            enum offload what) {
  return train->offload & (int)what;
}

/* a + b, a * b; they note what passes 2^63 - 1. */
int64_t stage_sum(struct search *s, int64_t a, int64_t b);
int64_t stage_product(struct search *s, int64_t a, int64_t b);

/* Of layers, or of experts: data and context parallel devices together. */
struct copies_of stage_copies(const struct search *s, bool experts);

/* Bytes of the parameters of nodes, before they are shared by ZeRO. */
enum stage_values { VALUES_ALL, VALUES_TRAINED, VALUES_BUFFERS };
struct stage_held {
  int64_t dense, expert;
  int64_t small; /* of the dense ones, those that are never shared */
};
struct stage_held stage_values(struct search *s, struct node_range nodes,
                               enum stage_values kind, int element);

/* The operations of nodes [first, end); the loss belongs to the last one. */
struct segment stage_ops(const struct search *s, struct node_range nodes);

/* Runs a microbatch through a part of the net; what it keeps for backward. */
int64_t stage_run(struct search *s, struct node_range nodes, moment_fn *each,
                  void *user);

/* What a device of a part has, with one microbatch in flight; no peak. `key`:
   equal for parts that run alike. */
struct stage stage_measure(struct search *s, struct node_range nodes,
                           uint64_t key);

/* Bytes that gradients of weights read: inputs, and gradients of outputs. */
int64_t stage_weight_bytes(struct search *s, struct node_range nodes);

/* Fills in what a device of the stage sends: traffic.c. */
void stage_traffic(struct search *s, struct stage *stage);

#endif
