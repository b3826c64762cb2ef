/* Training: the exact bytes of a step under a profile. */
#ifndef NETC_MEMORY_STEP_TRAINING_H
#define NETC_MEMORY_STEP_TRAINING_H

#include "sema/model/optimizer.h"
#include "sema/model/runs.h"
#include "memory/step/simulate.h"

/*
 * A peak as a linear function of the batch: bytes for any batch, and bytes that
 * scale, at the current batch. It is one moment, without rounding to blocks and
 * without a layer's bytes for any batch.
 */
struct peak_line {
  int64_t fixed, moving;
};

/* A training step. All in bytes. */
struct training {
  const struct profile *profile;
  int64_t parameters, gradients, optimizer, buffers, input;
  int64_t master;         /* 32-bit copy of the parameters */
  int64_t averaged;       /* moving average of the parameters */
  int64_t paged;          /* optimizer and master, if only in the step */
  int64_t rounding;       /* of the tensors above, by the allocator */
  int64_t input_rounding; /* the input's part of `rounding` */
  int64_t workspace;      /* inside the optimizer's step */
  struct clipping clip;   /* gradient clipping, before the step */
  int64_t saved;          /* kept for backward */
  int64_t forward, backward, step; /* peaks of the three phases */
  int64_t peak;                    /* maximum of the three */
  struct moment at;                /* its moment, without `standing` */
  struct peak_line line;           /* of the passes */
  int64_t standing; /* in memory all the time: parameters, state, batch */
};

/* Input of a simulation; one tape serves every batch and optimizer. */
struct step {
  const struct model *model;
  struct train_settings settings;
  struct trace trace;
  VEC(struct node_range) ranges; /* checkpointed */
  VEC(struct segment) segments;  /* `ranges` in operations */
  int64_t extra_macs;            /* recomputed MACs per sample */
  bool *packed;      /* by parameter: stored in the type of `base=` */
  struct runs *runs; /* results for parts that a search remembers, or NULL */
  const struct training *alike; /* another batch, measured; or NULL */
  bool leaps; /* equal iterations may be left out of the trace */
};

/* Records the tape of a step with its checkpointed ranges. */
void step_trace(struct step *step, struct arena *arena);

/* MACs of a node's results that checkpointed segments keep: checkpoint=ops. */
int64_t step_held_macs(const struct step *step, int64_t node);

/*
 * Measures a step. `base` may ask for more of the simulation and gets its
 * results; its `most` limits the whole step. False if a sum passes 2^63 - 1 or
 * `most`.
 */
bool step_measure(const struct step *step, struct arena *arena,
                  struct simulation *base, struct training *training);

/* The peak alone; INT64_MAX if it passes 2^63 - 1 or `most` (0: no limit). */
int64_t step_peak(const struct step *step, int64_t most, struct arena *arena,
                  struct peak_line *line);

/* True if a parameter is in blocks or has a type of its own. */
bool step_is_apart(const struct step *step, size_t param);

/* Bytes of `count` values of a parameter; false if they pass 2^63 - 1. */
bool step_param_bytes(const struct step *step, size_t param, int64_t count,
                      int64_t *bytes);

/* Sets the types and initial gradients of a simulation from the settings. */
void step_types(const struct train_settings *train, struct simulation *s);

/* Buffers: running statistics, fixed tensors, counters. */
bool model_buffer_bytes(const struct model *model, bool training, int element,
                        int64_t *bytes);

#endif
