/* Memory: what training and prediction take, exactly, by a profile. */
#ifndef NETC_SEMA_MEMORY_H
#define NETC_SEMA_MEMORY_H

#include "sema/inference.h"
#include "sema/optimizer.h"
#include "sema/simulate.h"

/* A training step. Everything in bytes. */
struct training {
  const struct profile *profile;
  int64_t parameters, gradients, optimizer, buffers, input;
  int64_t saved;                   /* kept for backward */
  int64_t forward, backward, step; /* peaks of the three phases */
  int64_t peak;                    /* of the whole step */
  struct moment at;                /* where it is, without what stays */
  int64_t *saved_by_node;
};

struct memory {
  struct training training;
  struct inference inference;
};

/* Reports an overflow at the net and returns false. */
bool memory(const struct model *model, const struct settings *settings,
            struct diags *diags, struct memory *memory);

#endif
