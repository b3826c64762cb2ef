/* Runs that hand tensors on: labels with an index, in a `for`. */
#ifndef NETC_IMPORT_SERIES_H
#define NETC_IMPORT_SERIES_H

#include "import/parameter.h"

/* Runs [0, count) of equal length that follow each other in a block. */
struct series_runs {
  struct source_run first;
  size_t count;
};

/* Whether their labels name the same: of each run, or before all of them. */
bool series_is_repeat(struct source_plan *plan, const struct series_runs *runs);

/*
 * Whether they differ in their labels alone, and these in step: what a run
 * makes is named by the same one of the runs after it each time, as `h[i-1]`.
 * Before the first iteration other tensors stand for it, `h[0]`.
 */
bool series_fits(struct source_plan *plan, const struct series_runs *runs);

/*
 * Gives these labels their index, in the first run too, which becomes the body
 * for all. Returns the first and last iteration.
 */
void series_make(struct source_plan *plan, const struct series_runs *runs,
                 struct statement *loop, int64_t iterations[2]);

#endif
