/* Inference: the memory of a prediction, from a plan or in a framework. */
#ifndef NETC_MEMORY_INFERENCE_H
#define NETC_MEMORY_INFERENCE_H

#include "sema/model/weight_block.h"
#include "memory/plan/plan.h"
#include "sema/model/settings.h"

/* A buffer of the arena, alive from step `first` to step `last`. */
struct arena_buffer {
  const char *part; /* inside its layer: "scores"; NULL: its output */
  int64_t offset, bytes;
  int32_t node;
  uint32_t first, last;
};

/* An operation that is part of what made its input: a limit of 8 bits (q8.h), a
 * sum. */
struct merged {
  int64_t node, into;
};

/* The first operations, line by line: line_buffers.h. */
struct inference_lines {
  size_t count;        /* 0: none are */
  int32_t first, last; /* their nodes */
  int64_t bytes;       /* of lines that are kept for a while */
  /* Of a stream: rows of its window, rows from an output to the next, and MACs
   * that this takes. window 0: it is none. */
  int64_t window, hop, macs;
  const char *fault;  /* what ends it, or why there is none; or NULL */
  const char *advice; /* what to do about that; or NULL */
  int32_t fault_node; /* of this one */
};

/* Everything in bytes, for the batch of the settings. */
struct inference {
  int64_t parameters, buffers;
  int64_t weights;      /* both, with what folds gone into the others */
  int64_t framework;    /* liveness as the profile's framework runs it */
  int64_t source_order; /* planned, in the order of the source */
  int64_t live;         /* in the best order that was found */
  int64_t live_node;    /* where that is */
  bool order_exact;     /* no order has less */
  int64_t cache;        /* keys and values of earlier positions */
  VEC(struct fold) folds;
  VEC(struct merged) merged;
  struct inference_lines lines;
  struct plan plan;
  VEC(struct arena_buffer) arena;
  VEC(struct plan_overlap) overlaps; /* of these */
  VEC(int64_t) order;  /* of nodes, if it is not that of the source */
  VEC(size_t) at_peak; /* of `arena`: alive at live_node */
};

/* False if a sum passes 2^63 - 1. */
bool inference_find(const struct model *model, const struct settings *settings,
                    struct inference *inference);

/*
 * Bytes that the profile's framework takes: parameters and buffers as they
 * are, activations at their peak, keys and values. False if a sum passes
 * 2^63 - 1.
 */
bool inference_in_framework(const struct model *model,
                            const struct settings *settings, int64_t *bytes);

#endif
