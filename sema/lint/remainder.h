/* Remainders: windows whose steps do not tile the map they read. */
#ifndef NETC_SEMA_LINT_REMAINDER_H
#define NETC_SEMA_LINT_REMAINDER_H

#include "sema/expand.h"

/* One spatial axis of a layer with windows. */
struct remainder {
  int64_t unread;  /* values at the end that no window reads */
  int64_t skipped; /* values between two windows: stride beyond kernel */
};

/* Fills one per axis; returns their number, 0 without windows. */
int remainders_of(const struct model *model, int64_t node,
                  const struct shape **in, struct window *windows,
                  struct remainder *remainders);

/* Input sizes at which no later layer leaves a remainder. */
struct clean_sizes {
  bool searched, has_below, has_above;
  struct shape below, above;
};

/*
 * Finds the nearest such sizes by trying one after the other. Builds the net
 * again if `in.h` or `if` would read another size. `input` is the index of the
 * input; `left` is the remaining effort of all searches of a net.
 */
struct clean_sizes clean_sizes_find(const struct expansion *expansion,
                                    const struct block *program,
                                    const struct model *model, int64_t input,
                                    int64_t *left);

/* The initial value of `left`, in built nodes. */
int64_t clean_sizes_effort(const struct model *model);

#endif
