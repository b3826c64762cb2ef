/* The arena plan: an offset for every buffer, so that none that live at the
   same time overlap and the arena is as small as can be found. */
#ifndef NETC_MEMORY_PLAN_PLAN_H
#define NETC_MEMORY_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/progress.h"

/*
 * Effort: positions that the search tries before it settles for less. If each
 * takes many steps, because many buffers live long, there are fewer of them.
 */
#define PLAN_NODES 2000000
#define PLAN_STEPS 6000000000

/* Alive in [lower, upper); one that never lives or has no bytes gets 0. */
struct plan_buffer {
  int64_t lower, upper; /* any unit of time */
  int64_t size;         /* bytes, at least 0 */
  int64_t align;        /* bytes; 0: that of the options */
  int64_t offset;       /* bytes; out */
};

/*
 * Buffer `read` ends where `made` begins, and is read row by row while that is
 * written. They may share bytes there if `made` begins at least `below` bytes
 * below the other, for it is then written from the first row on; or at least
 * `above` bytes above it, from the last row on. A buffer is `read` of one
 * overlap at most, and `made` of one.
 */
struct plan_overlap {
  size_t read, made;    /* buffers */
  int64_t below, above; /* bytes; above: more than 0 */
};

struct plan_options {
  int64_t align;    /* bytes, of every buffer without one of its own; 0: 1 */
  int64_t capacity; /* bytes: any plan that fits will do; 0: the least */
  uint64_t nodes;   /* effort; 0: as above */
  uint64_t seed;    /* of the draws of the search; 0: the usual one */
  struct progress *progress; /* told of the effort; or NULL */
  const struct plan_overlap *overlaps;
  size_t overlap_count; /* with some, no buffer has an alignment of its own */
};

struct plan {
  int64_t height;      /* bytes of the arena */
  int64_t lower_bound; /* proven: no plan has less */
  bool optimal;        /* height is lower_bound */
  uint64_t nodes;      /* effort spent */
};

enum plan_status {
  PLAN_DONE,
  PLAN_TOO_LARGE, /* the sizes with their alignments exceed 2^61 */
  PLAN_BUG,       /* the verifier found fault with the plan: a bug of ours */
};

/*
 * Plans `count` buffers. Sizes are rounded up to the greatest common divisor
 * of the alignments, so that with one alignment the height is a multiple of
 * it. If the capacity cannot be reached, the least that was found is planned:
 * compare plan->height. Equal input gives an equal plan on every machine:
 * effort is counted, not timed, and nothing is decided by floating point.
 *
 * The arena gives the memory, all of which is freed before the return, and
 * the place to go to when there is none.
 */
enum plan_status plan_arena(struct arena *arena, struct plan_buffer *buffers,
                            size_t count, const struct plan_options *options,
                            struct plan *plan);

/*
 * True if all offsets are aligned, within `height` bytes, and no two buffers
 * share a byte at the same time, but for those that may. O(n log n), with
 * overlaps n times those that live at once; knows nothing of the planner.
 */
bool plan_verify(struct arena *arena, const struct plan_buffer *buffers,
                 size_t count, const struct plan_options *options,
                 int64_t height);

#endif
