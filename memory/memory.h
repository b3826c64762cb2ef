/* Memory: what training and prediction take, exactly, by a profile. */
#ifndef NETC_MEMORY_MEMORY_H
#define NETC_MEMORY_MEMORY_H

#include "memory/devices/fit.h"
#include "memory/inference.h"
#include "memory/devices/reserved.h"
#include "memory/devices/time.h"
#include "sema/model/rule.h"

/* Tensors of a layer and kind are one item. */
struct alive_list {
  struct step_alive *at;
  size_t count, room;
};

struct memory {
  struct rule rule;
  struct training training;
  const struct step *step;       /* as it was traced; NULL: the net is large */
  int64_t *saved_by_node;        /* bytes that each keeps for backward */
  struct alive_list alive;       /* at the peak, the largest first */
  VEC(struct node_range) ranges; /* checkpointed */
  int64_t extra_macs;            /* computed once more for them, a sample */
  struct fit fit;                /* if a device was named */
  struct parallel parallel;      /* if there are several */
  struct inference inference;
};

/*
 * The largest batch that fits each of `count` devices of `bytes`, with the
 * settings that `memory` was found with. For nets of so many layers that it
 * would take long, false.
 */
bool memory_largest_batches(const struct memory *memory, size_t count,
                            const int64_t *bytes, int64_t *batches);

/* The step of the device that holds most; there may be only that one. */
struct stage memory_device(const struct memory *memory);

/*
 * Runs the step that memory_find measured once more and calls `each` at every
 * moment; a list of them all could be larger than the net. `shared`: if there
 * are several devices, on the most loaded one, as parallel_moments has it.
 */
void memory_moments(const struct model *model, const struct settings *settings,
                    const struct memory *memory, bool shared, moment_fn *each,
                    void *user);

/* What the allocator of the most loaded device holds; 0: it is not known. */
struct reserved memory_reserved(const struct model *model,
                                const struct settings *settings,
                                const struct memory *memory);

/*
 * How long a step takes on the devices of the settings; false: none was named,
 * or its figures are not known, which time->missing then says.
 */
bool memory_time(const struct model *model, const struct settings *settings,
                 const struct memory *memory, struct step_time *time);

/* Whether settings or a budget of the net's own could say that it is wrong. */
bool memory_is_asked(const struct settings *settings);

/* Whether, as far as its costs say, no sum of memory_find can overflow. */
bool memory_is_small(const struct model *model,
                     const struct settings *settings);

/* Reports what does not fit into 63 bits, and returns false. */
bool memory_find(const struct model *model, const struct settings *settings,
                 struct diags *diags, struct memory *memory);

#endif
