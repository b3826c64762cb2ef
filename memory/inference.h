/* Inference memory: planned by netc, or as a framework allocates it. */
#ifndef NETC_MEMORY_INFERENCE_H
#define NETC_MEMORY_INFERENCE_H

#include "sema/model/weight_block.h"
#include "memory/plan/plan.h"
#include "sema/model/settings.h"

/* A buffer of the arena, in memory from step `first` to step `last`. */
struct arena_buffer {
  const char *part; /* name in its layer, as "scores"; NULL: its output */
  int64_t offset, bytes;
  int32_t node;
  uint32_t first, last;
};

/* An operation that runs as part of the maker of its input: an int8 clamp
 * (q8.h) or a sum. */
struct merged {
  int64_t node, into;
};

/* The first operations, if they run line by line: line_buffers.h. */
struct inference_lines {
  size_t count;        /* 0: none */
  int32_t first, last; /* node range */
  int64_t bytes;       /* line buffers */
  /* For a stream: rows of the window, rows between outputs, and MACs per
   * output. window 0: not a stream. */
  int64_t window, hop, macs;
  const char *fault;  /* why the stream ends or there is none; or NULL */
  const char *advice; /* how to fix that; or NULL */
  int32_t fault_node; /* where it happens */
};

/* All sizes in bytes, for the batch of the settings. */
struct inference {
  int64_t parameters, buffers;
  int64_t weights;      /* parameters and buffers after folding */
  int64_t framework;    /* peak as the profile's framework runs it */
  int64_t source_order; /* planned peak in source order */
  int64_t live;         /* planned peak in the best order found */
  int64_t live_node;    /* node at that peak */
  bool order_exact;     /* no order needs less */
  int64_t cache;        /* KV cache */
  VEC(struct fold) folds;
  VEC(struct merged) merged;
  struct inference_lines lines;
  struct plan plan;
  VEC(struct arena_buffer) arena;
  VEC(struct plan_overlap) overlaps; /* of arena buffers */
  VEC(int64_t) order;                /* nodes; empty: source order */
  VEC(size_t) at_peak; /* indices into `arena`: in memory at live_node */
};

/* False if a sum passes 2^63 - 1. */
bool inference_find(const struct model *model, const struct settings *settings,
                    struct inference *inference);

/*
 * Bytes that the profile's framework needs: parameters and buffers without
 * folding, peak activations and the KV cache. False if a sum passes 2^63 - 1.
 */
bool inference_in_framework(const struct model *model,
                            const struct settings *settings, int64_t *bytes);

#endif
