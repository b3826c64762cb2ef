/* Splice: records a piece of the tape again further on. */
#ifndef NETC_MEMORY_STEP_SPLICE_H
#define NETC_MEMORY_STEP_SPLICE_H

#include "layers/tape/tape.h"

enum { SPLICE_SWAPS = 4 };

struct splice_swap {
  size_t from, to;
};

/* References to values, storages or parameters move by `by` from copy to copy.
 * References before `stays` are outside the piece: they are swapped, or else
 * stay. */
struct splice_move {
  size_t stays, by;
  int swaps;
  struct splice_swap swap[SPLICE_SWAPS];
};

struct splice {
  struct tape_marks first, length; /* the piece */
  struct tape_marks by;            /* distance of a copy from the one before */
  size_t nodes;                    /* the distance in nodes of the net */
  struct splice_move values, storages, params;
};

/* Appends `count` copies of the piece to the tape. */
void splice_append(struct tape *tape, const struct splice *splice,
                   size_t count);

/* The reference in copy `k` for `x` in the piece. */
static inline uint32_t splice_moved(const struct splice_move *move, uint32_t x,
                                    size_t k) {
  if (x >= move->stays)
    return x + (uint32_t)(k * move->by); /* 32 bits: splice_append() checks */
  for (int i = 0; i < move->swaps; i++)
    if (move->swap[i].from == x)
      return (uint32_t)move->swap[i].to;
  return x;
}

#endif
