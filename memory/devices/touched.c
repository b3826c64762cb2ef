/* Touched: bytes that operations other than products read and write. */
#include "memory/devices/touched.h"

#include "base/check.h"

/* Views read nothing, and products are counted separately. */
static bool touches(const struct op_facts *facts) {
  return facts->result != RESULT_VIEW && !facts->inner && !facts->splits &&
         facts->macs == 0;
}

int64_t touched_bytes(const struct trace *trace, const struct step *step,
                      struct segment ops, int64_t samples) {
  const struct tape *tape = &trace->tape;
  int64_t sum = 0;
  bool overflow = false;
  size_t next = 0;
  for (size_t i = ops.first; i < ops.end && !overflow; i++) {
    const struct tape_op *op = &tape->ops.at[i];
    int64_t bytes = 0;
    while (next < step->segments.count && step->segments.at[next].end <= i)
      next++;
    bool again =
        next < step->segments.count && step->segments.at[next].first <= i;
    for (int k = 0; touches(op->facts) && k < op->facts->in_count; k++)
      bytes = size_sum(
          bytes, extent_bytes(tape_extent(tape, tape_input(tape, op, k)),
                              samples, step->settings.dtype, 1, &overflow));
    for (int k = 0; touches(op->facts) && k < op->facts->out_count; k++)
      bytes = size_sum(
          bytes, extent_bytes(tape_extent(tape, op->first_out + (size_t)k),
                              samples, step->settings.dtype, 1, &overflow));
    sum = size_sum(sum, size_product(bytes, again ? 4 : 3));
  }
  return overflow ? INT64_MAX : sum;
}
