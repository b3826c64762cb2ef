/*
 * Allocator: the caching one of PyTorch on a GPU, which gives parts of
 * segments and keeps these (c10/cuda/CUDACachingAllocator.cpp, without
 * expandable segments). tests/test_recorded.c runs recorded requests.
 */
#ifndef NETC_MEMORY_STEP_ALLOCATOR_H
#define NETC_MEMORY_STEP_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* A part of a segment, between its neighbours; 0: none. */
struct allocator_block {
  int64_t bytes, address;
  uint32_t before, after;
  bool large, given;
};

/* A free block, with the key that free blocks are sorted by. */
struct allocator_free {
  int64_t bytes, address;
  uint32_t block;
};

struct allocator_chunk;

struct allocator {
  struct arena *arena;
  VEC(struct allocator_block) blocks; /* the first is none */
  VEC(uint32_t) spare;                /* places of blocks that are joined */
  VEC(struct allocator_chunk *)
  free[2];                       /* sorted: in small, in large segments */
  struct allocator_chunk *empty; /* one that may be used again, or NULL */
  VEC(int64_t) segments;         /* their bytes */
  int64_t reserved, allocated;   /* now; a cache does not shrink */
  int64_t most;                  /* that were allocated */
};

void allocator_open(struct allocator *a, struct arena *arena);

/* The block that holds a request: the smallest, of them the lowest. */
uint32_t allocator_take(struct allocator *a, int64_t bytes);

/* It may be given again; free neighbours become one. */
void allocator_give(struct allocator *a, uint32_t block);

#endif
