/* Arena plan: offsets at which no buffers in memory at the same time overlap,
 * in the smallest arena that can be found. */
#ifndef NETC_MEMORY_PLAN_PLAN_H
#define NETC_MEMORY_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/progress.h"

/*
 * Maximum effort: placements that the search tries. Large parts, in which each
 * placement takes many steps, get fewer of them.
 */
#define PLAN_NODES 2000000
#define PLAN_STEPS 6000000000

/* In memory during [lower, upper). An empty interval or no bytes: offset 0. */
struct plan_buffer {
  int64_t lower, upper; /* any unit of time */
  int64_t size;         /* bytes, not negative */
  int64_t align;        /* bytes; 0: as in the options */
  int64_t offset;       /* bytes; output */
};

/*
 * Buffer `read` ends where `made` begins; `made` is written row by row while
 * `read` is read. They may share bytes if `made` begins at least `below` bytes
 * below `read` (rows are written from the first one on) or at least `above`
 * bytes above it (from the last one on). A buffer is `read` in at most one
 * overlap, and `made` in at most one.
 */
struct plan_overlap {
  size_t read, made;    /* buffers */
  int64_t below, above; /* bytes; above: positive */
};

struct plan_options {
  int64_t align;    /* bytes, for buffers without their own; 0: 1 */
  int64_t capacity; /* bytes: stop at a plan that fits; 0: find the lowest */
  uint64_t nodes;   /* effort; 0: the default above */
  uint64_t seed;    /* of the random search; 0: the default */
  struct progress *progress; /* reports the effort; or NULL */
  const struct plan_overlap *overlaps;
  size_t overlap_count; /* if positive, no buffer has its own alignment */
};

struct plan {
  int64_t height;      /* bytes of the arena */
  int64_t lower_bound; /* proven: no plan is lower */
  bool optimal;        /* height is lower_bound */
  uint64_t nodes;      /* effort spent */
};

enum plan_status {
  PLAN_DONE,
  PLAN_TOO_LARGE, /* sizes and alignments together exceed 2^61 */
  PLAN_BUG,       /* the verifier rejects the plan: a bug in netc */
};

/*
 * Plans `count` buffers. Sizes are rounded up to the greatest common divisor of
 * the alignments, so that with one alignment the height is a multiple of it. If
 * the capacity cannot be reached, the lowest plan found is returned: compare
 * plan->height. Equal input gives an equal plan on every machine, because
 * effort is counted, not timed, and no decision depends on floating point.
 * Memory comes from `arena` and is freed before the return; the arena also
 * handles exhaustion.
 */
enum plan_status plan_arena(struct arena *arena, struct plan_buffer *buffers,
                            size_t count, const struct plan_options *options,
                            struct plan *plan);

/*
 * True if all offsets are aligned and within `height` bytes, and no two buffers
 * share a byte at the same time unless an overlap permits it. O(n log n); with
 * overlaps, O(n) times the buffers in memory at once. Independent of the
 * planner's code.
 */
bool plan_verify(struct arena *arena, const struct plan_buffer *buffers,
                 size_t count, const struct plan_options *options,
                 int64_t height);

#endif
