/* Beside: several nets in one process. */
#include "memory/beside.h"

#include "base/check.h"
#include "layers/tape/shape.h"

int64_t beside_total(const struct beside_nets *beside, bool predict,
                     int64_t standing, int64_t peak) {
  int64_t kept = standing, pass = peak - standing;
  for (size_t i = 0; i < beside->count; i++) {
    const struct beside_pass *other = beside_pass_of(&beside->at[i], predict);
    kept = size_sum(kept, other->standing);
    pass = max_i64(pass, other->peak - other->standing);
  }
  return size_sum(kept, pass);
}
