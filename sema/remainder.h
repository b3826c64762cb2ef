/* Remainders: windows whose steps do not tile the map they read. */
#ifndef NETC_SEMA_REMAINDER_H
#define NETC_SEMA_REMAINDER_H

#include "sema/expand.h"

/* One spatial axis of a layer with windows. */
struct remainder {
  int64_t unread;  /* values at the end that no window reads */
  int64_t skipped; /* values between two windows: stride beyond kernel */
};

/* Fills one for each axis; returns their number, 0 without windows. */
int remainders_of(const struct model *model, int64_t node,
                  const struct shape **in, struct window *windows,
                  struct remainder *remainders);

/* Sizes of an input at which no layer behind it leaves a remainder. */
struct clean_sizes {
  bool searched, has_below, has_above;
  struct shape below, above;
};

/*
 * Finds the nearest such sizes by building the net again and again with
 * other ones: what `in.h` and `if` depend on is tried as it is. `input` is
 * its number among the inputs.
 */
struct clean_sizes clean_sizes_find(const struct expansion *expansion,
                                    const struct block *program,
                                    const struct model *model, int64_t input);

#endif
