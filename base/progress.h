/* Progress: who is told how far long work has come, and may stop it. */
#ifndef NETC_BASE_PROGRESS_H
#define NETC_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* `total` 0: nobody knows how much there will be. False: stop. */
typedef bool progress_fn(void *user, const char *what, int64_t done,
                         int64_t total);

struct progress {
  progress_fn *tell;
  void *user;
  struct arena *arena; /* stopped work goes to its guard */
  bool stopped;        /* that, and not memory, is why */
};

/* NULL: nobody wants to know. Does not return to work that is stopped. */
static inline void progress_tell(struct progress *progress, const char *what,
                                 int64_t done, int64_t total) {
  if (!progress || !progress->tell ||
      progress->tell(progress->user, what, done, total))
    return;
  progress->stopped = true;
  arena_fail(progress->arena);
}

#endif
