/* Training: what a step takes, exactly, by a profile. */
#ifndef NETC_MEMORY_STEP_TRAINING_H
#define NETC_MEMORY_STEP_TRAINING_H

#include "sema/model/optimizer.h"
#include "sema/model/runs.h"
#include "memory/step/simulate.h"

/*
 * A peak as a line over the batch: bytes whatever the batch is, and those of
 * the current batch. It is the line of one moment, without the rounding of
 * tensors to blocks and without what a layer has for any batch.
 */
struct peak_line {
  int64_t fixed, moving;
};

/* A training step. Everything in bytes. */
struct training {
  const struct profile *profile;
  int64_t parameters, gradients, optimizer, buffers, input;
  int64_t master;                  /* parameters once more, in 32 bits */
  int64_t averaged;                /* and their average */
  int64_t paged;                   /* of these, what only the step has there */
  int64_t rounding;                /* of the tensors above, by the allocator */
  int64_t input_rounding;          /* of that, what the input has */
  int64_t workspace;               /* inside the optimizer's step */
  struct clipping clip;            /* before it */
  int64_t saved;                   /* kept for backward */
  int64_t forward, backward, step; /* peaks of the three phases */
  int64_t peak;                    /* of the whole step */
  struct moment at;                /* where it is, without what stays */
  struct peak_line line;           /* of the passes */
  int64_t standing; /* alive all the time: parameters, state, batch */
};

/* What is run: a tape serves every batch and optimizer. */
struct step {
  const struct model *model;
  struct train_settings settings;
  struct trace trace;
  VEC(struct node_range) ranges; /* checkpointed */
  VEC(struct segment) segments;  /* the same in operations */
  int64_t extra_macs;            /* that are computed once more, a sample */
  bool *packed;      /* by parameter: it is stored as `base=` says */
  struct runs *runs; /* of parts, which a search remembers; NULL: nothing */
  const struct training *alike; /* of another batch, all else equal; or NULL */
  bool leaps; /* iterations that are alike may be left out of the trace */
};

/* Records a step, with the ranges that are checkpointed. */
void step_trace(struct step *step, struct arena *arena);

/*
 * What it takes with the settings of the step; `base` may ask for more of
 * the simulation, whose `most` is of all that the step takes, and gets what
 * it found. False if a sum passes 2^63 - 1, or `most`.
 */
bool step_measure(const struct step *step, struct arena *arena,
                  struct simulation *base, struct training *training);

/* Only the peak; INT64_MAX if it passes 2^63 - 1, or `most`, where 0 is any. */
int64_t step_peak(const struct step *step, int64_t most, struct arena *arena,
                  struct peak_line *line);

/* Bytes of `count` values of a parameter; false if they pass 2^63 - 1. */
bool step_param_bytes(const struct step *step, size_t param, int64_t count,
                      int64_t *bytes);

/* What the settings say of the simulation: types, and what there is before. */
void step_types(const struct train_settings *train, struct simulation *s);

/* Buffers: running statistics, fixed tensors, counters. */
bool model_buffer_bytes(const struct model *model, bool training, int element,
                        int64_t *bytes);

#endif
