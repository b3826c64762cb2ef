/* Beside: several nets in one process. */
#include "memory/beside.h"

#include "base/check.h"
#include "layers/tape/shape.h"

int64_t beside_total(const struct beside_nets *beside, int64_t standing,
                     int64_t peak) {
  int64_t kept = standing, pass = peak - standing;
  for (size_t i = 0; i < beside->count; i++) {
    const struct beside_net *net = &beside->at[i];
    kept = size_sum(kept, net->standing);
    pass = max_i64(pass, net->peak - net->standing);
  }
  return size_sum(kept, pass);
}
