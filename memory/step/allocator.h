/*
 * Allocator: PyTorch's caching allocator on a GPU, which hands out parts of
 * segments and keeps the segments (c10/cuda/CUDACachingAllocator.cpp, without
 * expandable segments). tests/test_recorded.c replays recorded requests.
 */
#ifndef NETC_MEMORY_STEP_ALLOCATOR_H
#define NETC_MEMORY_STEP_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* A part of a segment and its neighbours; 0: none. */
struct allocator_block {
  int64_t bytes, address;
  uint32_t before, after;
  bool large, given;
};

/* A free block with its sort key. */
struct allocator_free {
  int64_t bytes, address;
  uint32_t block;
};

struct allocator_chunk;

struct allocator {
  struct arena *arena;
  VEC(struct allocator_block) blocks; /* index 0 means none */
  VEC(uint32_t) spare;                /* indices of joined blocks, for reuse */
  VEC(struct allocator_chunk *)
  free[2];                       /* sorted; [0] in small segments */
  struct allocator_chunk *empty; /* for reuse, or NULL */
  VEC(int64_t) segments;         /* bytes of each */
  int64_t reserved, allocated;   /* bytes now; the cache never shrinks */
  int64_t most;                  /* maximum of `allocated` */
};

void allocator_open(struct allocator *a, struct arena *arena);

/* The smallest free block that holds a request; the lowest of equals. */
uint32_t allocator_take(struct allocator *a, int64_t bytes);

/* Frees a block and joins it with free neighbours. */
void allocator_give(struct allocator *a, uint32_t block);

#endif
