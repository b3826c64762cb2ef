/* Runs that pass tensors on to later ones: labels with an index, in a `for`. */
#ifndef NETC_IMPORT_SERIES_H
#define NETC_IMPORT_SERIES_H

#include "import/parameter.h"

/* Runs [0, count) of equal length, one after the other in a block. */
struct series_runs {
  struct source_run first;
  size_t count;
};

/* True if each label names a tensor of its run, or the same one before all. */
bool series_is_repeat(struct source_plan *plan, const struct series_runs *runs);

/*
 * True if the runs differ in their labels alone, and a label always names the
 * tensor made the same number of runs earlier, as `h[i-1]`. Tensors from before
 * the loop take the first indices, as `h[0]`.
 */
bool series_fits(struct source_plan *plan, const struct series_runs *runs);

/* Gives these labels their index, also in the first run, which becomes the
 * common body. Returns the first and last iteration. */
void series_make(struct source_plan *plan, const struct series_runs *runs,
                 struct statement *loop, int64_t iterations[2]);

#endif
