/* Optimizers: what they keep for each parameter, and what a step needs. */
#ifndef NETC_SEMA_MODEL_OPTIMIZER_H
#define NETC_SEMA_MODEL_OPTIMIZER_H

#include "layers/tape/profile.h"
#include "sema/model/model.h"
#include "sema/model/settings.h"

/* Before the step, where gradients are clipped to a norm of all of them. */
struct clipping {
  int how;         /* enum clip; CLIP_OFF: they are not */
  int64_t tensors; /* whose norms are taken */
  int64_t chunks;  /* foreach: of the largest tensor */
  int64_t largest; /* values of it */
  int64_t copied;  /* bytes of gradients in 32 bits, which are clipped */
  int64_t bytes;   /* at most, beside the gradients: all of it */
};

struct optimizer_cost {
  int64_t state;     /* bytes, from step to step */
  int64_t master;    /* and the copy in 32 bits of what is trained */
  int64_t rounding;  /* of its tensors, by the allocator */
  int64_t workspace; /* bytes, at most, inside a step */
  struct clipping clip;
};

/* What an allocator makes a tensor larger by. */
static inline int64_t allocation_rest(const struct profile *profile,
                                      int64_t bytes) {
  return (profile->block - bytes % profile->block) % profile->block;
}

/* Parameters [first, end) of a model; `share` of each is on this device. */
struct param_range {
  size_t first, end;
  const int64_t *share; /* by parameter, its values there; NULL: all of them */
  const bool *only;     /* by parameter: it is meant; NULL: all of them are */
  int64_t sharing;      /* devices that each tensor is shared by; 0: one */
};

/*
 * What it keeps for parameters, and what its step needs. With a copy in 32
 * bits (`precision=master`) the state has 32 bits, too, tensors lie one behind
 * the other, and one kernel steps (FusedAdam of NVIDIA's apex, DeepSpeed):
 * it needs the gradients in 32 bits, so that others are copied. False if a
 * sum passes 2^63 - 1.
 */
bool optimizer_cost(const struct model *model, const struct param_range *range,
                    const struct train_settings *train,
                    struct optimizer_cost *cost);

/* What it needs to step one parameter of so many bytes, if not INT64_MAX. */
int64_t optimizer_alone(const struct train_settings *train, int64_t bytes);

/*
 * The same for many parts of a net: sums over parameters [0, range->end), in
 * `arena`, from which the cost of a part follows at once. NULL if one passes
 * 2^63 - 1. optimizer_part() is false where the sums do not say it: parameters
 * are shared, or the optimizer goes tensor by tensor, and the one before
 * counts.
 */
struct optimizer_sums;
const struct optimizer_sums *optimizer_sums(const struct model *model,
                                            const struct param_range *range,
                                            const struct train_settings *train,
                                            struct arena *arena);
bool optimizer_part(const struct optimizer_sums *sums, size_t first, size_t end,
                    const struct train_settings *train,
                    struct optimizer_cost *cost);

#endif
