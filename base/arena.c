/* Arena: all memory of one compilation, freed at once. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"

/* With ASan, free space of a block is poisoned, and so are a few bytes after
 * each allocation: an access past its end is reported. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)0)
enum { ARENA_GAP = 0 };
#endif

enum {
  ARENA_ALIGN = 8,         /* enough for all types in use */
  ARENA_BLOCK = 64 * 1024, /* bytes; larger requests get their own block */
};

struct arena_block {
  struct arena_block *next, *prev;
  size_t size; /* bytes of the block, with this header */
};

static size_t header_size(void) {
  return (sizeof(struct arena_block) + ARENA_ALIGN - 1) / ARENA_ALIGN *
         ARENA_ALIGN;
}

static void *libc_resize(void *user, void *old, size_t size) {
  (void)user;
  if (size == 0) {
    free(old);
    return NULL;
  }
  return realloc(old, size);
}

void arena_open(struct arena *arena, netc_resize_fn *resize, void *user) {
  memset(arena, 0, sizeof *arena);
  arena->resize = resize ? resize : libc_resize;
  arena->user = user;
}

void arena_close(struct arena *arena) {
  while (arena->inner)
    arena_close(arena->inner);
  struct arena_block *block = arena->blocks;
  while (block) {
    struct arena_block *next = block->next;
    ASAN_UNPOISON_MEMORY_REGION(block, block->size);
    arena->resize(arena->user, block, 0);
    block = next;
  }
  arena->blocks = NULL;
  arena->next = arena->end = NULL;
  if (arena->outer)
    arena->outer->inner = arena->earlier;
}

void arena_open_in(struct arena *arena, struct arena *outer) {
  arena_open(arena, outer->resize, outer->user);
  outer = arena_deepest(outer); /* the outer one is closed after this one */
  arena->outer = outer;
  arena->earlier = outer->inner;
  outer->inner = arena;
}

struct arena *arena_root(struct arena *arena) {
  while (arena->outer)
    arena = arena->outer;
  return arena;
}

struct arena *arena_deepest(struct arena *arena) {
  while (arena->inner)
    arena = arena->inner;
  return arena;
}

_Noreturn void arena_fail(struct arena *arena) {
  guard_fail(arena_root(arena)->guard);
}

static void link_block(struct arena *arena, struct arena_block *block) {
  block->prev = NULL;
  block->next = arena->blocks;
  if (block->next)
    block->next->prev = block;
  arena->blocks = block;
}

static struct arena_block *new_block(struct arena *arena, size_t payload) {
  size_t size = header_size() + payload;
  struct arena_block *block = NULL;
  if (size > payload)
    block = arena->resize(arena->user, NULL, size);
  if (!block)
    arena_fail(arena);
  block->size = size;
  link_block(arena, block);
  return block;
}

/* Bytes of an allocation, at least one. */
static size_t round_up(struct arena *arena, size_t count, size_t size) {
  if (size && count > (SIZE_MAX / 2 - ARENA_ALIGN) / size)
    arena_fail(arena);
  size_t bytes = count * size;
  bytes = (bytes ? bytes : 1) + ARENA_GAP;
  return (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
}

static char *raw_alloc(struct arena *arena, size_t bytes) {
  if (bytes > ARENA_BLOCK / 4)
    return (char *)new_block(arena, bytes) + header_size();
  if ((size_t)(arena->end - arena->next) < bytes) {
    char *start = (char *)new_block(arena, ARENA_BLOCK) + header_size();
    arena->next = start;
    arena->end = start + ARENA_BLOCK;
    ASAN_POISON_MEMORY_REGION(start, ARENA_BLOCK);
  }
  char *result = arena->next;
  arena->next += bytes;
  ASAN_UNPOISON_MEMORY_REGION(result, bytes - ARENA_GAP);
  return result;
}

void *arena_room(struct arena *arena, size_t count, size_t size) {
  return raw_alloc(arena, round_up(arena, count, size));
}

void *arena_alloc(struct arena *arena, size_t count, size_t size) {
  return memset(arena_room(arena, count, size), 0, count * size);
}

static void free_own_block(struct arena *arena, char *at) {
  struct arena_block *block = (void *)(at - header_size());
  if (block->next)
    block->next->prev = block->prev;
  if (block->prev)
    block->prev->next = block->next;
  else
    arena->blocks = block->next;
  ASAN_UNPOISON_MEMORY_REGION(block, block->size);
  arena->resize(arena->user, block, 0);
}

void arena_take_back(struct arena *arena, void *at, size_t bytes) {
  size_t size = round_up(arena, bytes, 1);
  if (size > ARENA_BLOCK / 4) {
    free_own_block(arena, at);
  } else if ((char *)at + size == arena->next) {
    arena->next = at;
    ASAN_POISON_MEMORY_REGION(at, size);
  }
}

struct arena_mark arena_mark(const struct arena *arena) {
  return (struct arena_mark){arena->next, arena->end};
}

void arena_release(struct arena *arena, struct arena_mark mark) {
  if (arena->end == mark.end) {
    arena->next = mark.next;
    ASAN_POISON_MEMORY_REGION(mark.next, (size_t)(mark.end - mark.next));
  }
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length) {
  char *copy = arena_room(arena, length + 1, 1);
  if (length)
    memcpy(copy, bytes, length);
  copy[length] = '\0';
  return copy;
}

/* A large array has a block of its own, which the allocator
 * can extend in place. */
static char *grow_own_block(struct arena *arena, char *at, size_t bytes) {
  struct arena_block *old = (void *)(at - header_size());
  struct arena_block *block =
      arena->resize(arena->user, old, header_size() + bytes);
  if (!block)
    arena_fail(arena); /* the old block is still linked and gets freed */
  block->size = header_size() + bytes;
  if (block->next)
    block->next->prev = block;
  if (block->prev)
    block->prev->next = block;
  else
    arena->blocks = block;
  return (char *)block + header_size();
}

void *arena_grow(struct arena *arena, void *at, size_t *room, size_t count,
                 size_t size) {
  size_t new_room = *room ? *room * 2 : 8;
  size_t bytes = round_up(arena, new_room, size);
  char *grown;
  if (at && round_up(arena, *room, size) > ARENA_BLOCK / 4) {
    grown = grow_own_block(arena, at, bytes);
  } else {
    grown = raw_alloc(arena, bytes);
    if (count)
      memcpy(grown, at, count * size);
  }
  *room = new_room;
  return grown;
}

void *arena_grow_by(struct arena *arena, void *at, size_t *room, size_t count,
                    size_t more, size_t size) {
  do
    at = arena_grow(arena, at, room, count, size);
  while (*room - count < more);
  return at;
}
