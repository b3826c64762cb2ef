/*
 * Answer: the requested figure for a net. Everything that reports a net's
 * memory, or whether it fits, reads it here.
 */
#ifndef NETC_MEMORY_ANSWER_ANSWER_H
#define NETC_MEMORY_ANSWER_ANSWER_H

#include "memory/firmware.h"
#include "memory/memory.h"
#include "memory/serving/serving.h"
#include "sema/model/gpu.h"

/* Inference on several sequences at once is serving. */
enum asked { ASKED_TRAINING, ASKED_PREDICTION, ASKED_SERVING };

/* Bytes of the most loaded device. */
struct answer {
  enum asked asked;
  int64_t bytes;   /* INT64_MAX: the devices cannot share the net */
  int64_t alone;   /* the same without sharing */
  int64_t planned; /* inference by netc's own plan; else 0 */
  int64_t devices;
  bool uneven;              /* the other devices need less */
  enum fit_verdict verdict; /* VERDICT_NONE: no device named */
  const struct gpu *card;   /* that was named; or NULL */
  struct fit_device device; /* or usable memory */
  int64_t host, host_room;  /* need and size of host memory; size 0: unknown */
  int64_t largest_batch;    /* that fits; -1: not computed */
  int64_t longest_context;  /* -1: not computed, or no causal layer */
  int64_t context, sequences;          /* for serving */
  int64_t most_sequences;              /* for `context`; -1: not computed */
  int64_t positions;                   /* total tokens; -1: not computed */
  const struct serving_answer *served; /* for the settings; or NULL */
  /* For a board, whose RAM `bytes` and `device` are about; or NULL. */
  const struct firmware *firmware;
};

struct answer_request {
  const struct model *model;
  const struct settings *settings;
  const struct memory *memory;
  bool predict;
  bool table; /* include the serving table */
  struct arena *arena;
};

/* False if a sum passes 2^63 - 1. */
bool answer_find(const struct answer_request *request, struct answer *answer);

/* Weights, arena and cache: INT64_MAX on overflow. */
int64_t answer_planned_bytes(const struct inference *inference);

#endif
