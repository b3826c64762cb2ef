/* Runs that hand tensors on: labels with an index, in a `for`. */
#ifndef NETC_IMPORT_SERIES_H
#define NETC_IMPORT_SERIES_H

#include "import/parameter.h"

/* Runs [0, count) of equal length that follow each other in a block. */
struct series_runs {
  struct run first;
  size_t count;
};

/*
 * Whether they differ in their labels alone, and these by turn: what a run
 * makes is named by the same one of the runs behind it each time, as `h[i-1]`.
 * Before the first turn other tensors stand for it, `h[0]`.
 */
bool series_fits(struct source_plan *plan, const struct series_runs *runs);

/*
 * Gives these labels their index, in the first run too, which becomes the body
 * for all. Returns the first and last turn.
 */
void series_make(struct source_plan *plan, const struct series_runs *runs,
                 struct statement *loop, int64_t turns[2]);

#endif
