/* Allocator: the caching one of PyTorch on a GPU. */
#include "memory/step/allocator.h"

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

/*
 * Free blocks by bytes, then by address: a search tree that is a heap by what
 * is mixed of their places, so that it stays low. A step may free 100,000.
 */
static bool is_less(const struct allocator *a, uint32_t x, uint32_t y) {
  const struct allocator_block *one = &a->blocks.at[x], *two = &a->blocks.at[y];
  return one->bytes < two->bytes ||
         (one->bytes == two->bytes && one->address < two->address);
}

static uint32_t rank(uint32_t block) {
  block = (block ^ block >> 16) * 0x7feb352d; /* a bijection: no two equal */
  return (block ^ block >> 15) * 0x846ca68b;
}

/* Those below `key`, and the others. */
static void part(struct allocator *a, uint32_t tree, uint32_t key,
                 uint32_t *less, uint32_t *others) {
  while (tree) {
    struct allocator_block *b = &a->blocks.at[tree];
    if (is_less(a, tree, key)) {
      *less = tree;
      less = &b->right;
      tree = b->right;
    } else {
      *others = tree;
      others = &b->left;
      tree = b->left;
    }
  }
  *less = *others = 0;
}

/* All of `less` are below all of `more`. */
static uint32_t unite(struct allocator *a, uint32_t less, uint32_t more) {
  uint32_t root = 0, *to = &root;
  while (less && more) {
    bool first = rank(less) > rank(more);
    *to = first ? less : more;
    if (first) {
      to = &a->blocks.at[less].right;
      less = *to;
    } else {
      to = &a->blocks.at[more].left;
      more = *to;
    }
  }
  *to = less ? less : more;
  return root;
}

static void put_free(struct allocator *a, uint32_t block) {
  struct allocator_block *b = &a->blocks.at[block];
  uint32_t *tree = &a->free[b->large], less, more;
  part(a, *tree, block, &less, &more);
  b->left = b->right = 0;
  *tree = unite(a, unite(a, less, block), more);
}

static void take_free(struct allocator *a, uint32_t block) {
  uint32_t *tree = &a->free[a->blocks.at[block].large], less, more, *at = &more;
  part(a, *tree, block, &less, &more);
  while (*at != block) /* the least of these */
    at = &a->blocks.at[*at].left;
  *at = a->blocks.at[block].right;
  *tree = unite(a, less, more);
}

/* The least that holds so many bytes; 0: none. */
static uint32_t find_free(const struct allocator *a, bool large,
                          int64_t bytes) {
  uint32_t found = 0, tree = a->free[large];
  while (tree) {
    const struct allocator_block *b = &a->blocks.at[tree];
    found = b->bytes >= bytes ? tree : found;
    tree = b->bytes >= bytes ? b->left : b->right;
  }
  return found;
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
  uint32_t block = find_free(a, large, size);
  if (block)
    take_free(a, block);
  else
    block = new_segment(a, large, size);
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
  take_free(a, block);
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
