/* Allocator: the caching one of PyTorch on a GPU. */
#include "memory/step/allocator.h"

#include <string.h>

#include "base/check.h"

#define BLOCK 512                  /* kMinBlockSize */
#define SMALL ((int64_t)1 << 20)   /* kSmallSize, and rests that stay */
#define SMALL_SEGMENT (2 * SMALL)  /* kSmallBuffer */
#define LARGE_SEGMENT (20 * SMALL) /* kLargeBuffer, */
#define LARGE (10 * SMALL)         /* below kMinLargeAlloc; */
#define ROUND (2 * SMALL)          /* others by kRoundLarge */

static int64_t up_to(int64_t bytes, int64_t whole) {
  return ceil_div_i64(bytes, whole) * whole;
}

void allocator_open(struct allocator *a, struct arena *arena) {
  *a = (struct allocator){.arena = arena};
  *VEC_PUSH(arena, &a->blocks) = (struct allocator_block){0};
}

/* Where a free block of so many bytes stands, or would. */
static size_t place_of(const struct allocator *a, bool large, int64_t bytes,
                       int64_t address) {
  const struct allocator_free *at = a->free[large].at.at;
  size_t low = 0, high = a->free[large].at.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    bool less = at[middle].bytes < bytes ||
                (at[middle].bytes == bytes && at[middle].address < address);
    low = less ? middle + 1 : low;
    high = less ? high : middle;
  }
  return low;
}

static void put_free(struct allocator *a, uint32_t block) {
  const struct allocator_block *b = &a->blocks.at[block];
  size_t to = place_of(a, b->large, b->bytes, b->address);
  struct allocator_free put = {b->bytes, b->address, block};
  VEC_PUSH(a->arena, &a->free[b->large].at);
  struct allocator_free *at = a->free[b->large].at.at;
  memmove(at + to + 1, at + to,
          (a->free[b->large].at.count - 1 - to) * sizeof *at);
  at[to] = put;
}

static void take_free(struct allocator *a, bool large, size_t from) {
  struct allocator_free *at = a->free[large].at.at;
  a->free[large].at.count--;
  memmove(at + from, at + from + 1,
          (a->free[large].at.count - from) * sizeof *at);
}

static uint32_t new_block(struct allocator *a, struct allocator_block block) {
  uint32_t at = (uint32_t)a->blocks.count;
  if (a->spare.count)
    at = a->spare.at[--a->spare.count];
  else
    VEC_PUSH(a->arena, &a->blocks);
  a->blocks.at[at] = block;
  return at;
}

/* A segment of its own, above all others. */
static uint32_t new_segment(struct allocator *a, bool large, int64_t bytes) {
  int64_t size = !large          ? SMALL_SEGMENT
                 : bytes < LARGE ? LARGE_SEGMENT
                                 : up_to(bytes, ROUND);
  struct allocator_block block = {
      .bytes = size, .address = a->reserved, .large = large};
  a->reserved += size;
  *VEC_PUSH(a->arena, &a->segments) = size;
  return new_block(a, block);
}

/* What is left of a block is free, if it is worth while. */
static void split(struct allocator *a, uint32_t block, int64_t bytes) {
  struct allocator_block *b = &a->blocks.at[block];
  int64_t rest = b->bytes - bytes;
  if (b->large ? rest <= SMALL : rest < BLOCK)
    return;
  uint32_t other =
      new_block(a, (struct allocator_block){.bytes = rest,
                                            .address = b->address + bytes,
                                            .before = block,
                                            .after = b->after,
                                            .large = b->large});
  b = &a->blocks.at[block];
  if (b->after)
    a->blocks.at[b->after].before = other;
  b->after = other;
  b->bytes = bytes;
  put_free(a, other);
}

uint32_t allocator_take(struct allocator *a, int64_t bytes) {
  int64_t size = up_to(max_i64(bytes, 1), BLOCK);
  bool large = size > SMALL;
  size_t at = place_of(a, large, size, 0);
  uint32_t block;
  if (at < a->free[large].at.count) {
    block = a->free[large].at.at[at].block;
    take_free(a, large, at);
  } else {
    block = new_segment(a, large, size);
  }
  split(a, block, size);
  a->blocks.at[block].given = true;
  a->allocated += a->blocks.at[block].bytes;
  a->most = max_i64(a->most, a->allocated);
  return block;
}

/* Joins what follows a block to it. */
static void join(struct allocator *a, uint32_t block) {
  struct allocator_block *b = &a->blocks.at[block];
  const struct allocator_block *after = &a->blocks.at[b->after];
  *VEC_PUSH(a->arena, &a->spare) = b->after;
  b->bytes += after->bytes;
  b->after = after->after;
  if (b->after)
    a->blocks.at[b->after].before = block;
}

static bool takes_free(struct allocator *a, uint32_t block) {
  const struct allocator_block *b = &a->blocks.at[block];
  if (!block || b->given)
    return false;
  take_free(a, b->large, place_of(a, b->large, b->bytes, b->address));
  return true;
}

void allocator_give(struct allocator *a, uint32_t block) {
  struct allocator_block *b = &a->blocks.at[block];
  uint32_t before = b->before;
  a->allocated -= b->bytes;
  b->given = false;
  if (takes_free(a, b->after))
    join(a, block);
  if (takes_free(a, before)) {
    join(a, before);
    block = before;
  }
  put_free(a, block);
}
