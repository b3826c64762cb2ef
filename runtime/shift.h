/*
 * Windows of a map that was moved in a circle: on which side of its edges each
 * position is. Masks that are computed beforehand are written with it, too.
 */
#ifndef NETRT_SHIFT_H
#define NETRT_SHIFT_H

#include <stdint.h>

/* The numbers of `shifted` in ops.def: how many axes there are, then of each
 * the size of a window, how many there are, and how far it was moved. */
enum { SHIFT_RANK, SHIFT_AXES, SHIFT_NUMBERS = 3 };

/*
 * A bit for each axis: set in the last window, from the place on that came from
 * the other edge. What sees each other has the same number.
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
