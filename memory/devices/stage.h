/* Stage internals: the state of a search over pipeline stages. */
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
  const struct step *plain; /* before sharding */
  struct arena *arena;
  const struct train_settings *train;
  struct trace *trace;
  struct shards shards;
  const struct value_sums *sums; /* of parameters, by node: values.c */
  /* of layers, and of experts; NULL: not computed yet. */
  const struct optimizer_sums *optimizer[2];
  const int64_t *alone[2]; /* by node: stage_alone() of all, of trained */
  bool *expert;            /* by parameter: one of several experts */
  bool *dense;             /* the complement */
  int64_t microbatch, microbatches;
  struct alike alike;
  struct known *known; /* measured stages; `known_room` */
  size_t known_room;
  struct units chain;
  const struct unit_linked *
      *linked;  /* by unit: three from it on; NULL: not yet */
  int64_t *cut; /* nodes before each unit, and at the end all */
  size_t units;
  size_t stages;
  size_t parts; /* of all stages; above `stages`: several per device */
  struct stage *of_device; /* parts of the device being measured */
  struct in_turn *turns;
  bool overflow;
};

/* Devices with the same parameters, and how many of them shard by ZeRO. */
struct copies_of {
  int64_t devices, sharing;
};

/*
 * Opens a search. `own` becomes the tape that one device runs; `step` has the
 * chosen checkpoints.
 */
void search_open(struct search *s, struct step *own, const struct step *step,
                 struct arena *arena);

/* The same without cuts, sums of parameters and earlier tapes. */
void search_open_tape(struct search *s, struct step *own,
                      const struct step *step, struct arena *arena);

/* The usual places to cut the net. */
struct net_borders;
const struct net_borders *search_borders(struct search *s);

static inline bool offloads(const struct train_settings *train,
                            enum offload what) {
  return train->offload & (int)what;
}

/* a + b, a * b; they record overflow in the search. */
int64_t stage_sum(struct search *s, int64_t a, int64_t b);
int64_t stage_product(struct search *s, int64_t a, int64_t b);

/* Bytes of the flat copies while stepped parameters are gathered. */
int64_t stage_flat_copies(struct search *s, const struct stage *stage);

/* Copies of layers, or of experts, over data and context parallel devices. */
struct copies_of stage_copies(const struct search *s, bool experts);

/* Parameter bytes of nodes, before ZeRO. */
enum stage_values { VALUES_ALL, VALUES_TRAINED, VALUES_BUFFERS, VALUES_KINDS };
struct stage_held {
  int64_t dense, expert;
  int64_t small; /* of the dense ones, those never sharded */
};
struct stage_held stage_values(struct search *s, struct node_range nodes,
                               enum stage_values kind, int element);

/* By node: bytes of its own parameters that ZeRO shards. */
const int64_t *stage_alone(struct search *s, enum stage_values kind);

/* Number of those parameters. */
int64_t stage_count(struct search *s, struct node_range nodes,
                    enum stage_values kind);

/* Computes prefix sums over the nodes. */
void stage_sums_open(struct search *s);

/* The operations of nodes [first, end); the loss belongs to the last one. */
struct segment stage_ops(const struct search *s, struct node_range nodes);

/* Runs a microbatch through a part of the net; returns the saved bytes. */
int64_t stage_run(struct search *s, struct node_range nodes, moment_fn *each,
                  void *user);

/* The simulation that stage_run() runs, for changes before the run. */
struct simulation stage_simulation(const struct search *s,
                                   struct node_range nodes,
                                   struct arena *arena);

/* Everything on which a run of some units depends. */
struct run_key stage_key(const struct search *s, uint64_t part);

/* Memory of a device of units [from, to), with one microbatch in flight and
 * without the peak. */
struct stage stage_measure(struct search *s, size_t from, size_t to);

/* Bytes that weight gradients read: inputs, and gradients of outputs. */
int64_t stage_weight_bytes(struct search *s, struct node_range nodes);

/* Bytes that a device sends to others that share its layers, in a step of one
 * stage; 0 on overflow. */
struct stage traffic_of_layers(const struct step *step, struct arena *arena);

/* Finds the bytes that a device of the stage sends: traffic.c. */
void stage_traffic(struct search *s, struct stage *stage);

#endif
