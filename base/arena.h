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
  struct guard *guard;         /* where arena_fail goes */
  struct arena *outer, *inner; /* arena_open_in: inner ones close first */
  struct arena *earlier;       /* opened in the same one, and closed later */
};

/* `resize` may be NULL for the C library's allocator. */
void arena_open(struct arena *arena, netc_resize_fn *resize, void *user);

/* Frees all that was ever allocated from it. */
void arena_close(struct arena *arena);

/*
 * Zeroed room for `count` items of `size` bytes. Never returns NULL: an
 * overflow or a failing allocator goes to the arena's guard, so that no
 * caller needs an error path for it.
 */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* The same without zeros, for what is written before it is read. */
void *arena_room(struct arena *arena, size_t count, size_t size);

/* Gives back `bytes` at `at`, if nothing was allocated after them, or if they
   are so many that they have a block of their own. */
void arena_take_back(struct arena *arena, void *at, size_t bytes);

/* A place in an arena, to give back all that was allocated after it. */
struct arena_mark {
  char *next, *end;
};

struct arena_mark arena_mark(const struct arena *arena);

/* Gives it back, as far as it lies in the block of the mark. */
void arena_release(struct arena *arena, struct arena_mark mark);

/* A copy of `length` bytes with a NUL after it. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);

/*
 * An array `at` with room for `*room` items of which `count` are used,
 * made larger; what is new is not zeroed. The old array must not be used
 * afterwards.
 */
void *arena_grow(struct arena *arena, void *at, size_t *room, size_t count,
                 size_t size);

/* The same with room for at least `more` items. */
void *arena_grow_by(struct arena *arena, void *at, size_t *room, size_t count,
                    size_t more, size_t size);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), 1, sizeof(type)))

/*
 * An arena inside another, for what is needed only for a while: close it when
 * it is over. Out of memory closes it and goes to where `outer` says.
 */
void arena_open_in(struct arena *arena, struct arena *outer);

/* The outermost arena, whose guard is gone to when memory runs out. */
struct arena *arena_root(struct arena *arena);

/* The innermost one that is open inside it; itself, if there is none. */
struct arena *arena_deepest(struct arena *arena);

/* Goes to the guard of the outermost one. */
_Noreturn void arena_fail(struct arena *arena);

/* A growing array: struct { type *at; size_t count, room; }. */
#define VEC(type)       \
  struct {              \
    type *at;           \
    size_t count, room; \
  }

/* Appends a zeroed item and yields its address. */
#define VEC_PUSH(arena, vec)                                             \
  ((vec)->count == (vec)->room                                           \
       ? (void)((vec)->at = arena_grow((arena), (vec)->at, &(vec)->room, \
                                       (vec)->count, sizeof *(vec)->at)) \
       : (void)0,                                                        \
   memset(&(vec)->at[(vec)->count], 0, sizeof *(vec)->at),               \
   &(vec)->at[(vec)->count++])

/* `more` items, at least one, at the end, which are not zeroed: the address of
   the first. */
#define VEC_MORE(arena, vec, more)                                          \
  ((vec)->room - (vec)->count < (more)                                      \
       ? (void)((vec)->at =                                                 \
                    arena_grow_by((arena), (vec)->at, &(vec)->room,         \
                                  (vec)->count, (more), sizeof *(vec)->at)) \
       : (void)0,                                                           \
   (vec)->count += (more), (vec)->at + (vec)->count - (more))

/* Room for `wanted` items before the first one: no growing, no waste. */
#define VEC_RESERVE(arena, vec, wanted)                               \
  ((vec)->room ? (void)0                                              \
               : (void)((vec)->at = arena_room((arena), (wanted) + 1, \
                                               sizeof *(vec)->at),    \
                        (vec)->room = (wanted) + 1))

#endif
