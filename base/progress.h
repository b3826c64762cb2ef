/* Progress: who is told how far a long search has come. */
#ifndef NETC_BASE_PROGRESS_H
#define NETC_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* `total` 0: nobody knows how much there will be. */
typedef void progress_fn(void *user, const char *what, int64_t done,
                         int64_t total);

struct progress {
  progress_fn *tell;
  void *user;
};

/* NULL: nobody wants to know. */
static inline void progress_tell(const struct progress *progress,
                                 const char *what, int64_t done,
                                 int64_t total) {
  if (progress && progress->tell)
    progress->tell(progress->user, what, done, total);
}

#endif
