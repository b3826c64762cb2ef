/* Optimizers: state per parameter, and memory of a step. */
#ifndef NETC_SEMA_MODEL_OPTIMIZER_H
#define NETC_SEMA_MODEL_OPTIMIZER_H

#include "layers/tape/profile.h"
#include "sema/model/model.h"
#include "sema/model/settings.h"

/* Clipping of gradients to a norm of all, before the step. */
struct clipping {
  int how;         /* enum clip; CLIP_OFF: none */
  int64_t tensors; /* with norms */
  int64_t chunks;  /* foreach: of the largest tensor */
  int64_t largest; /* its values */
  int64_t copied;  /* bytes of 32-bit gradients that are clipped */
  int64_t bytes;   /* maximum besides the gradients */
};

struct optimizer_cost {
  int64_t state;     /* bytes that persist between steps */
  int64_t master;    /* and of the 32-bit copy of trained parameters */
  int64_t rounding;  /* of its tensors, by the allocator */
  int64_t workspace; /* maximum bytes inside a step */
  struct clipping clip;
};

/* Bytes that an allocator adds to round a tensor. */
static inline int64_t allocation_rest(const struct profile *profile,
                                      int64_t bytes) {
  return (profile->block - bytes % profile->block) % profile->block;
}

/* Parameters [first, end) of a model, or this device's part of each. */
struct param_range {
  size_t first, end;
  const int64_t *share; /* by parameter: values on the device; NULL: all */
  const bool *only;     /* by parameter: included; NULL: all are */
  int64_t sharing;      /* devices that share each tensor; 0: one */
};

/*
 * State of the parameters, and memory of a step. With a 32-bit copy
 * (`precision=master`) the state has 32 bits, too, tensors are contiguous, and
 * one kernel steps them (FusedAdam of NVIDIA's apex, DeepSpeed). It reads
 * 32-bit gradients, so that others are copied. False if a sum passes 2^63 - 1.
 */
bool optimizer_cost(const struct model *model, const struct param_range *range,
                    const struct train_settings *train,
                    struct optimizer_cost *cost);

/* Bytes to step one parameter of so many bytes; INT64_MAX: overflow. */
int64_t optimizer_alone(const struct train_settings *train, int64_t bytes);

/*
 * The same for many parts of a net: prefix sums over parameters [0, range->end)
 * in `arena`, from which the cost of a part follows at once. NULL on overflow.
 * optimizer_part() is false where sums do not suffice: parameters are shared,
 * or the optimizer runs tensor by tensor and depends on the previous one.
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
