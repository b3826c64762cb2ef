/* Lengths of sequences that differ from batch to batch, and their peaks. */
#ifndef NETC_MEMORY_LENGTHS_H
#define NETC_MEMORY_LENGTHS_H

#include <stdint.h>

/* Numbers of tokens; `longest` 0: one length. */
struct lengths {
  int64_t shortest, mean, longest;
};

/* The peak of the longest is that of the step. 0: not known. */
struct lengths_peaks {
  struct lengths of;
  int64_t shortest_peak, mean_peak;
};

/*
 * Percent of the longest step's peak that an allocator held, whose blocks of
 * other lengths did not fit again: the maximum and the median of 16 runs of
 * ms-swift (modelscope/ms-swift docs/source_en/LLM/Benchmark.md: qwen, yi and
 * baichuan2 with max_length of 512 to 8192), of bytes reserved over netc's
 * peak.
 */
enum { LENGTHS_HELD_MOST = 186, LENGTHS_HELD = 112, LENGTHS_RUNS = 16 };

#endif
