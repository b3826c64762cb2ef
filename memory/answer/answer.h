/*
 * Answer: what is asked of a net, and the number that answers it. Whatever
 * says how much a net takes, or whether it fits, reads it here.
 */
#ifndef NETC_MEMORY_ANSWER_ANSWER_H
#define NETC_MEMORY_ANSWER_ANSWER_H

#include "memory/memory.h"
#include "memory/serving/serving.h"
#include "sema/model/gpu.h"

/* A prediction of several sequences at once is served. */
enum asked { ASKED_TRAINING, ASKED_PREDICTION, ASKED_SERVING };

/* In bytes, of the most loaded device where there are several. */
struct answer {
  enum asked asked;
  int64_t bytes;   /* INT64_MAX: so many devices cannot share the net */
  int64_t alone;   /* the same on a device that shares nothing */
  int64_t planned; /* of a prediction by netc's own plan; else 0 */
  int64_t devices;
  bool uneven;              /* the others have less */
  enum fit_verdict verdict; /* VERDICT_NONE: no device was named */
  const struct gpu *card;   /* that was named; or NULL */
  struct fit_device device; /* or what a process has of it */
  int64_t host, host_room;  /* in the host's memory; what it has, 0: not said */
  int64_t largest_batch;    /* that fits; -1: not asked */
  int64_t longest_context;  /* -1: not asked, or nothing looks back */
  int64_t context, sequences;          /* served */
  int64_t most_sequences;              /* of `context`; -1: not asked */
  int64_t positions;                   /* in all; -1: not asked */
  const struct serving_answer *served; /* as the settings have it; or NULL */
};

struct answer_request {
  const struct model *model;
  const struct settings *settings;
  const struct memory *memory;
  bool predict;
  bool table; /* of what is served, too */
  struct arena *arena;
};

/* False if a sum passes 2^63 - 1. */
bool answer_find(const struct answer_request *request, struct answer *answer);

/* Weights, arena and cache: INT64_MAX if the sum passes it. */
int64_t answer_planned_bytes(const struct inference *inference);

#endif
