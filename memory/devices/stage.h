/* Inside parallel: a stage of a pipeline, as a device has it. */
#ifndef NETC_MEMORY_DEVICES_STAGE_H
#define NETC_MEMORY_DEVICES_STAGE_H

#include "memory/devices/flight.h"
#include "memory/devices/parallel.h"
#include "memory/devices/shard.h"
#include "memory/step/alike.h"
#include "memory/checkpoint/units.h"

/* A part that has been run, with one microbatch in flight. */
struct known {
  uint64_t key;
  size_t units; /* 0: none */
  struct stage stage;
};

struct search {
  const struct step *step;
  const struct step *plain; /* as it was before devices shared it out */
  struct arena *arena;
  const struct train_settings *train;
  struct trace *trace;
  struct shards shards;
  const struct value_sums *sums; /* of parameters, by node: values.c */
  /* Of layers, and of experts; NULL: not yet. */
  const struct optimizer_sums *optimizer[2];
  const int64_t *alone[2]; /* by node: stage_alone() of all, and trained */
  bool *expert;            /* by parameter: it is one of several experts' */
  bool *dense;             /* it is not */
  int64_t microbatch, microbatches;
  struct alike alike;
  struct known *known; /* stages that have been measured, in known_room */
  size_t known_room;
  struct units chain;
  const struct unit_linked *
      *linked;  /* by unit: three from it on; NULL: not yet */
  int64_t *cut; /* nodes before each unit, and all of them after the last */
  size_t units;
  size_t stages;
  size_t parts; /* of all stages; more than these: each has several */
  struct stage *of_device; /* its parts, while they are measured */
  struct in_turn *turns;
  bool overflow;
};

/* Devices that hold the same, and those of them that share it by ZeRO. */
struct copies_of {
  int64_t devices, sharing;
};

/*
 * `own` becomes a tape as one device runs it, and the search one for where it
 * is cut; `step` has the checkpoints that were chosen.
 */
void search_open(struct search *s, struct step *own, const struct step *step,
                 struct arena *arena);

/* Where people would cut the net. */
struct net_borders;
const struct net_borders *search_borders(struct search *s);

static inline bool offloads(const struct train_settings *train,
                            enum offload what) {
  return train->offload & (int)what;
}

/* a + b, a * b; they note what passes 2^63 - 1. */
int64_t stage_sum(struct search *s, int64_t a, int64_t b);
int64_t stage_product(struct search *s, int64_t a, int64_t b);

/* Of those that are stepped, while they are gathered. */
int64_t stage_flat_copies(struct search *s, const struct stage *stage);

/* Of layers, or of experts: data and context parallel devices together. */
struct copies_of stage_copies(const struct search *s, bool experts);

/* Bytes of the parameters of nodes, before they are shared by ZeRO. */
enum stage_values { VALUES_ALL, VALUES_TRAINED, VALUES_BUFFERS, VALUES_KINDS };
struct stage_held {
  int64_t dense, expert;
  int64_t small; /* of the dense ones, those that are never shared */
};
struct stage_held stage_values(struct search *s, struct node_range nodes,
                               enum stage_values kind, int element);

/* By node: bytes of its own parameters that ZeRO shares. */
const int64_t *stage_alone(struct search *s, enum stage_values kind);

/* And how many these are. */
int64_t stage_count(struct search *s, struct node_range nodes,
                    enum stage_values kind);

/* Sums over the nodes, from which those of parts follow. */
void stage_sums_open(struct search *s);

/* The operations of nodes [first, end); the loss belongs to the last one. */
struct segment stage_ops(const struct search *s, struct node_range nodes);

/* Runs a microbatch through a part of the net; what it keeps for backward. */
int64_t stage_run(struct search *s, struct node_range nodes, moment_fn *each,
                  void *user);

/* As stage_run() runs it; some of it may be changed before. */
struct simulation stage_simulation(const struct search *s,
                                   struct node_range nodes,
                                   struct arena *arena);

/* What a run of some units depends on. */
struct run_key stage_key(const struct search *s, uint64_t part);

/* What a device of units [from, to) has, with one microbatch in flight; no
   peak. */
struct stage stage_measure(struct search *s, size_t from, size_t to);

/* Bytes that gradients of weights read: inputs, and gradients of outputs. */
int64_t stage_weight_bytes(struct search *s, struct node_range nodes);

/* Fills in what a device of the stage sends: traffic.c. */
void stage_traffic(struct search *s, struct stage *stage);

#endif
