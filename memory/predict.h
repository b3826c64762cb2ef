/* Predict: whether a prediction fits a device, and how far it may grow. */
#ifndef NETC_MEMORY_PREDICT_H
#define NETC_MEMORY_PREDICT_H

#include "memory/devices/fit.h"
#include "memory/inference.h"

/* In bytes, run by the framework of the profile: nothing is folded. */
struct predict {
  int64_t device;         /* that it has; 0: not asked */
  int64_t taken, reserve; /* as for training */
  int64_t room;
  int64_t need;            /* parameters, buffers, activations, cache */
  int64_t largest_batch;   /* 0: not even one sample fits */
  int64_t longest_context; /* positions that attention may look back at, with
                              the batch; -1: none does */
};

/* False if a sum passes 2^63 - 1. */
bool predict_find(const struct model *model, const struct settings *settings,
                  struct predict *predict);

#endif
