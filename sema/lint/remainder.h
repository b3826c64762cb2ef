/* Remainders: windows whose steps do not tile the map they read. */
#ifndef NETC_SEMA_LINT_REMAINDER_H
#define NETC_SEMA_LINT_REMAINDER_H

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

/* Sizes of an input at which no layer after it leaves a remainder. */
struct clean_sizes {
  bool searched, has_below, has_above;
  struct shape below, above;
};

/*
 * Finds the nearest such sizes by trying one after the other. Where `in.h` or
 * `if` would see another size, the net is built anew. `input` is its number
 * among the inputs; `left` is what all searches of a net may still do.
 */
struct clean_sizes clean_sizes_find(const struct expansion *expansion,
                                    const struct block *program,
                                    const struct model *model, int64_t input,
                                    int64_t *left);

/* What `left` begins with: in nodes that are built. */
int64_t clean_sizes_effort(const struct model *model);

#endif
