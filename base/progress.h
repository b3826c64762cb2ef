/* Progress: reports of long work to a callback that may stop it. */
#ifndef NETC_BASE_PROGRESS_H
#define NETC_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* `total` 0: unknown. Returns false to stop. */
typedef bool progress_fn(void *user, const char *what, int64_t done,
                         int64_t total);

struct progress {
  progress_fn *tell;
  void *user;
  struct arena *arena; /* stopping jumps to its guard */
  bool stopped;        /* true if the callback stopped the work */
};

/* Reports progress; `progress` may be NULL. Does not return if stopped. */
static inline void progress_tell(struct progress *progress, const char *what,
                                 int64_t done, int64_t total) {
  if (!progress || !progress->tell ||
      progress->tell(progress->user, what, done, total))
    return;
  progress->stopped = true;
  arena_fail(progress->arena);
}

#endif
