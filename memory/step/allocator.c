/* Allocator: PyTorch's caching allocator on a GPU. */
#include "memory/step/allocator.h"

#include "base/check.h"

#define BLOCK 512 /* kMinBlockSize */
#define SMALL                                                                 \
  ((int64_t)1 << 20)               /* kSmallSize, and remainders that are not \
                                    * split off */
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
 * Free blocks sorted by bytes, then by address, in an array of chunks: a search
 * takes few steps and an insertion moves few blocks, however many there are. A
 * step may free 100,000.
 */
enum { CHUNK = 64 };

struct allocator_chunk {
  size_t count; /* at least 1 */
  struct allocator_free at[CHUNK];
};

/* The place of a block; past the end: after the last block of the last
 * chunk. */
struct place {
  size_t chunk, at;
};

static bool is_below(const struct allocator_free *one,
                     const struct allocator_free *two) {
  return one->bytes < two->bytes ||
         (one->bytes == two->bytes && one->address < two->address);
}

/* The first block that is not below `key`. */
static struct place find_free(const struct allocator *a, bool large,
                              struct allocator_free key) {
  struct allocator_chunk *const *chunks = a->free[large].at;
  size_t low = 0, high = a->free[large].count;
  while (low < high) { /* the first chunk whose last block is not below it */
    size_t middle = low + (high - low) / 2;
    const struct allocator_chunk *chunk = chunks[middle];
    if (is_below(&chunk->at[chunk->count - 1], &key))
      low = middle + 1;
    else
      high = middle;
  }
  struct place place = {low, 0};
  if (low == a->free[large].count)
    return place;
  for (high = chunks[low]->count; place.at < high;) {
    size_t middle = place.at + (high - place.at) / 2;
    if (is_below(&chunks[low]->at[middle], &key))
      place.at = middle + 1;
    else
      high = middle;
  }
  return place;
}

static struct place place_of(const struct allocator *a, uint32_t block) {
  const struct allocator_block *b = &a->blocks.at[block];
  return find_free(a, b->large,
                   (struct allocator_free){b->bytes, b->address, block});
}

static void move(struct allocator_free *to, const struct allocator_free *from,
                 size_t count) {
  memmove(to, from, count * sizeof *to);
}

/* Inserts an empty chunk before index `at`. */
static struct allocator_chunk *add_chunk(struct allocator *a, bool large,
                                         size_t at) {
  struct allocator_chunk *chunk = a->empty;
  a->empty = NULL;
  if (!chunk)
    chunk = ARENA_NEW(a->arena, struct allocator_chunk);
  VEC_PUSH(a->arena, &a->free[large]);
  struct allocator_chunk **chunks = a->free[large].at + at;
  memmove(chunks + 1, chunks,
          (a->free[large].count - 1 - at) * sizeof(struct allocator_chunk *));
  return *chunks = chunk;
}

static void put_free(struct allocator *a, uint32_t block) {
  const struct allocator_block *b = &a->blocks.at[block];
  struct allocator_free key = {b->bytes, b->address, block};
  struct place to = find_free(a, b->large, key);
  if (to.chunk > 0 && to.chunk == a->free[b->large].count)
    to =
        (struct place){to.chunk - 1, a->free[b->large].at[to.chunk - 1]->count};
  else if (to.chunk == a->free[b->large].count)
    add_chunk(a, b->large, 0)->count = 0;
  struct allocator_chunk *chunk = a->free[b->large].at[to.chunk];
  if (chunk->count == CHUNK) { /* its upper half becomes a chunk */
    struct allocator_chunk *upper = add_chunk(a, b->large, to.chunk + 1);
    chunk->count = upper->count = CHUNK / 2;
    move(upper->at, chunk->at + CHUNK / 2, CHUNK / 2);
    if (to.at > CHUNK / 2) {
      chunk = upper;
      to.at -= CHUNK / 2;
    }
  }
  move(chunk->at + to.at + 1, chunk->at + to.at, chunk->count++ - to.at);
  chunk->at[to.at] = key;
}

static void take_free(struct allocator *a, bool large, struct place place) {
  struct allocator_chunk **chunks = a->free[large].at + place.chunk;
  struct allocator_chunk *chunk = *chunks;
  size_t after = --chunk->count - place.at;
  move(chunk->at + place.at, chunk->at + place.at + 1, after);
  if (chunk->count)
    return;
  a->empty = chunk;
  size_t left = --a->free[large].count - place.chunk;
  memmove(chunks, chunks + 1, left * sizeof(struct allocator_chunk *));
}

/* Puts `block` at a place. Mostly the order holds without a move. */
static void change_free(struct allocator *a, struct place place,
                        uint32_t block) {
  const struct allocator_block *b = &a->blocks.at[block];
  struct allocator_chunk *chunk = a->free[b->large].at[place.chunk];
  struct allocator_free key = {b->bytes, b->address, block};
  struct allocator_free *at = &chunk->at[place.at];
  if (place.at > 0 && place.at + 1 < chunk->count && is_below(at - 1, &key) &&
      is_below(&key, at + 1)) {
    *at = key;
    return;
  }
  take_free(a, b->large, place);
  put_free(a, block);
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

/* Adds a segment above all others. */
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

/* Splits a block as PyTorch does; returns the rest, or 0 if it is too small. */
static uint32_t split(struct allocator *a, uint32_t block, int64_t bytes) {
  struct allocator_block *b = &a->blocks.at[block];
  int64_t rest = b->bytes - bytes;
  if (b->large ? rest <= SMALL : rest < BLOCK)
    return 0;
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
  return other;
}

uint32_t allocator_take(struct allocator *a, int64_t bytes) {
  int64_t size = up_to(max_i64(bytes, 1), BLOCK);
  bool large = size > SMALL;
  struct place place = find_free(a, large, (struct allocator_free){size, 0, 0});
  bool found = place.chunk < a->free[large].count;
  uint32_t block = found ? a->free[large].at[place.chunk]->at[place.at].block
                         : new_segment(a, large, size);
  uint32_t rest = split(a, block, size);
  if (found && rest)
    change_free(a, place, rest);
  else if (found)
    take_free(a, large, place);
  else if (rest)
    put_free(a, rest);
  a->blocks.at[block].given = true;
  a->allocated += a->blocks.at[block].bytes;
  a->most = max_i64(a->most, a->allocated);
  return block;
}

/* Joins a block with the one after it. */
static void join(struct allocator *a, uint32_t block) {
  struct allocator_block *b = &a->blocks.at[block];
  const struct allocator_block *after = &a->blocks.at[b->after];
  *VEC_PUSH(a->arena, &a->spare) = b->after;
  b->bytes += after->bytes;
  b->after = after->after;
  if (b->after)
    a->blocks.at[b->after].before = block;
}

static bool is_free(const struct allocator *a, uint32_t block) {
  return block && !a->blocks.at[block].given;
}

void allocator_give(struct allocator *a, uint32_t block) {
  struct allocator_block *b = &a->blocks.at[block];
  uint32_t before = b->before, after = b->after;
  bool joins = is_free(a, before), joined = is_free(a, after);
  a->allocated -= b->bytes;
  b->given = false;
  if (joins && joined)
    take_free(a, b->large, place_of(a, after));
  struct place place = {0, 0};
  if (joins || joined)
    place = place_of(a, joins ? before : after);
  if (joined)
    join(a, block);
  if (joins)
    join(a, before);
  block = joins ? before : block;
  if (joins || joined)
    change_free(a, place, block);
  else
    put_free(a, block);
}
