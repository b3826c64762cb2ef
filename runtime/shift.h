/*
 * Windows of a map that was rolled: on which side of the seam a position is.
 * Code generators precompute masks with it, too.
 */
#ifndef NETRT_SHIFT_H
#define NETRT_SHIFT_H

#include <stdint.h>

/* Numbers of `shifted` in ops.def: the number of axes, then for each the
 * window's size, the number of windows, and the shift. */
enum { SHIFT_RANK, SHIFT_AXES, SHIFT_NUMBERS = 3 };

/*
 * A bit for each axis, set in the last window for positions that came from the
 * other edge. Positions with equal numbers attend to each other.
 */
static inline int netrt_side(const int32_t *args, int64_t window,
                             int64_t place) {
  int side = 0, i;
  for (i = args[SHIFT_RANK] - 1; i >= 0; i--) {
    const int32_t *axis = args + SHIFT_AXES + SHIFT_NUMBERS * i;
    int last = window % axis[1] == axis[1] - 1;
    side = 2 * side + (last && place % axis[0] >= axis[0] - axis[2]);
    window /= axis[1];
    place /= axis[0];
  }
  return side;
}

#endif
