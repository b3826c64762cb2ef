/* Arena: all memory of one compilation, freed at once. */
#ifndef NETC_BASE_ARENA_H
#define NETC_BASE_ARENA_H

#include <stddef.h>
#include <string.h>

/*
 * One function for all of malloc, realloc and free, as in Lua: `old` is NULL
 * for a new block, `size` is 0 to free. Returns NULL when out of memory.
 */
typedef void *netc_resize_fn(void *user, void *old, size_t size);

struct arena_block;
struct guard;

struct arena {
  netc_resize_fn *resize;
  void *user;
  struct arena_block *blocks;
  char *next; /* free space of the current block */
  char *end;
  struct guard *guard;         /* arena_fail() jumps there */
  struct arena *outer, *inner; /* arena_open_in(); inner ones close first */
  struct arena *earlier;       /* opened before it in `outer`; closes later */
};

/* `resize` may be NULL for the C library's allocator. */
void arena_open(struct arena *arena, netc_resize_fn *resize, void *user);

/* Frees everything allocated from it. */
void arena_close(struct arena *arena);

/*
 * Zeroed memory for `count` items of `size` bytes. Never returns NULL: on
 * overflow or without memory it jumps to the arena's guard, so that callers
 * need no error path.
 */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* arena_alloc() without zeroing, for memory that is written
 * before it is read. */
void *arena_room(struct arena *arena, size_t count, size_t size);

/* Frees `bytes` at `at` if they are the last allocation, or so many that they
 * have a block of their own. */
void arena_take_back(struct arena *arena, void *at, size_t bytes);

/* A position in an arena, to free everything allocated after it. */
struct arena_mark {
  char *next, *end;
};

struct arena_mark arena_mark(const struct arena *arena);

/* Frees to the mark, if the current block is still the mark's. */
void arena_release(struct arena *arena, struct arena_mark mark);

/* Copies `length` bytes and appends a NUL. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);

/*
 * Enlarges the array `at` with room for `*room` items, of which `count` are
 * used. New items are not zeroed. The old array must not be used afterwards.
 */
void *arena_grow(struct arena *arena, void *at, size_t *room, size_t count,
                 size_t size);

/* The same with room for at least `more` items. */
void *arena_grow_by(struct arena *arena, void *at, size_t *room, size_t count,
                    size_t more, size_t size);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), 1, sizeof(type)))

/*
 * Opens an arena inside another, for temporary memory; the caller closes it.
 * Out of memory closes it and jumps to the guard of `outer`.
 */
void arena_open_in(struct arena *arena, struct arena *outer);

/* The outermost arena, whose guard handles running out of memory. */
struct arena *arena_root(struct arena *arena);

/* The innermost arena that is open inside it, or itself. */
struct arena *arena_deepest(struct arena *arena);

/* Jumps to the guard of the outermost arena. */
_Noreturn void arena_fail(struct arena *arena);

/* A growing array: struct { type *at; size_t count, room; }. */
#define VEC(type)       \
  struct {              \
    type *at;           \
    size_t count, room; \
  }

/* Appends a zeroed item; its address. */
#define VEC_PUSH(arena, vec)                                             \
  ((vec)->count == (vec)->room                                           \
       ? (void)((vec)->at = arena_grow((arena), (vec)->at, &(vec)->room, \
                                       (vec)->count, sizeof *(vec)->at)) \
       : (void)0,                                                        \
   memset(&(vec)->at[(vec)->count], 0, sizeof *(vec)->at),               \
   &(vec)->at[(vec)->count++])

/* Appends `more` items, at least one, without zeroing; the
 * first one's address. */
#define VEC_MORE(arena, vec, more)                                          \
  ((vec)->room - (vec)->count < (more)                                      \
       ? (void)((vec)->at =                                                 \
                    arena_grow_by((arena), (vec)->at, &(vec)->room,         \
                                  (vec)->count, (more), sizeof *(vec)->at)) \
       : (void)0,                                                           \
   (vec)->count += (more), (vec)->at + (vec)->count - (more))

/* Reserves `wanted` items before the first is appended. */
#define VEC_RESERVE(arena, vec, wanted)                               \
  ((vec)->room ? (void)0                                              \
               : (void)((vec)->at = arena_room((arena), (wanted) + 1, \
                                               sizeof *(vec)->at),    \
                        (vec)->room = (wanted) + 1))

#endif
