/* Memory: the exact memory of training and inference under a profile. */
#ifndef NETC_MEMORY_MEMORY_H
#define NETC_MEMORY_MEMORY_H

#include "memory/beside.h"
#include "memory/devices/fit.h"
#include "memory/inference.h"
#include "memory/lengths.h"
#include "memory/devices/reserved.h"
#include "memory/devices/time.h"
#include "sema/model/rule.h"

/* One item per layer and kind of tensor. */
struct alive_list {
  struct step_alive *at;
  size_t count, room;
};

struct memory {
  struct rule rule;
  struct training training;
  const struct step *step;       /* as traced; NULL: a large net */
  int64_t *saved_by_node;        /* bytes that each node keeps for backward */
  struct alive_list alive;       /* at the peak, largest first */
  VEC(struct node_range) ranges; /* checkpointed */
  int64_t extra_macs;            /* recomputed for these, per sample */
  struct fit fit;                /* if a device is named */
  struct parallel parallel;      /* if there are several devices */
  struct inference inference;
  struct beside_nets
      beside; /* other nets of the process; filled by the caller */
  struct lengths_peaks lengths; /* the same */
};

/*
 * Finds the largest batch that fits each of `count` devices of `bytes`, with
 * the settings of `memory`. Returns false for nets whose many layers would make
 * it slow.
 */
bool memory_largest_batches(const struct memory *memory, size_t count,
                            const int64_t *bytes, int64_t *batches);

/*
 * Judges the step of `memory` on card `gpu` in `settings`, whose device is
 * changed. False: the step or a message may depend on the device.
 */
bool memory_on_card(struct memory *memory, struct settings *settings, int gpu,
                    struct arena *arena);

/* The step of the most loaded device, which may be the only one. */
struct stage memory_device(const struct memory *memory);

/*
 * Runs the step of memory_find once more and calls `each` at every moment,
 * because a list of moments could be larger than the net. `shared`: use the
 * most loaded of several devices, as parallel_moments does.
 */
void memory_moments(const struct model *model, const struct settings *settings,
                    const struct memory *memory, bool shared, moment_fn *each,
                    void *user);

/* Bytes that the allocator of the most loaded device reserves; 0: unknown. */
struct reserved memory_reserved(const struct model *model,
                                const struct settings *settings,
                                const struct memory *memory);

/*
 * Duration of a step on the devices of the settings. False if no device is
 * named or its data are unknown; time->missing has the reason.
 */
bool memory_time(const struct model *model, const struct settings *settings,
                 const struct memory *memory, struct step_time *time);

/* True if settings or the net's own budget could report a fault. */
bool memory_is_asked(const struct settings *settings);

/* True if the net's costs show that no sum of memory_find can overflow. */
bool memory_is_small(const struct model *model,
                     const struct settings *settings);

/* Finds all of `memory`. Reports a sum beyond 63 bits and returns false. */
bool memory_find(const struct model *model, const struct settings *settings,
                 struct diags *diags, struct memory *memory);

#endif
